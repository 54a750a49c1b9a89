"""Najork 2012, "Detecting Quilted Web Pages at Scale", as a naive program.

§2    A document of n words has n - k + 1 overlapping k-grams; grams_k(d) is the *set* of them. docs_k(g) is
      the set of documents that have gram g. The patch grams of d are those that are on more than one and on
      at most m documents:  pgrams(d) = {g in grams_k(d) : 1 < |docs_k(g)| <= m}.
      patchfrac(d) = |pgrams(d)| / |grams_k(d)|.
      sources(d) is a minimal set of other documents whose grams cover pgrams(d); since that is NP-hard, the
      cover is greedy: take the document that has most of the uncovered grams, until no other document has
      any of the rest.
      d is (k, m, c, theta)-quilted iff patchfrac(d) >= theta and |sources(d)| >= c.
§3    Foreign-sourced quilts: a source must be on another server than d. The paper's server is the registered
      domain, or the IP address. It restricts the cover, and not which grams are patch grams.
§3    Sweeps: Table 1 and Figure 3 vary one of the parameters around a pivot.
§3    The last paragraph proposes phi: each source should add at least the share phi of the patch grams.
§4    Attribution, a link to the source, distinguishes a news digest from a scraper.

Where the paper leaves it open: ties go to the lowest page id; of the pages that have all grams
that a source adds, the earliest is named as the source, which changes neither the number of sources nor what
each adds; a gram is attributed if any foreign page that has it is linked, and the share of attributed grams is
of those that a foreign page has; a page is original in the grams that are on no other page, or only on pages
that are known to be later.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Dict, List, Optional, Sequence, Set, Tuple

from corpus import Page, earlier, grams, is_foreign, is_linked, kept, precedence

Gram = Tuple[str, ...]


@dataclass
class Quilt:
    """A quilted page."""

    page: Page
    grams: int
    patch_grams: int
    # Each source with the patch grams that it adds to those of the sources before it.
    sources: List[Tuple[Page, Set[Gram]]]
    foreign_grams: int
    attributed: Set[Gram]
    original_grams: int

    @property
    def patch_fraction(self) -> Fraction:
        return Fraction(self.patch_grams, self.grams)


def holders(pages: Sequence[Page], k: int) -> Dict[Gram, List[Page]]:
    """docs_k: for every gram, the pages that have it, in the order of their ids."""
    found: Dict[Gram, List[Page]] = {}
    for page in pages:
        for gram in set(grams(page.words, k)):
            found.setdefault(gram, []).append(page)
    return found


def greedy_cover(
    page: Page, wanted: Set[Gram], docs: Dict[Gram, List[Page]], foreign: str
) -> List[Tuple[Page, Set[Gram]]]:
    """The greedy algorithm of §2, with the condition of §3 on servers. C is a set of pairs (d', g)."""
    pairs = {
        (other.page_id, gram)
        for gram in wanted
        for other in docs[gram]
        if other.page_id != page.page_id and is_foreign(page, other, foreign)
    }
    by_id = {other.page_id: other for gram in wanted for other in docs[gram]}
    sources: List[Tuple[Page, Set[Gram]]] = []
    while pairs:
        gives: Dict[int, Set[Gram]] = {}
        for page_id, gram in pairs:
            gives.setdefault(page_id, set()).add(gram)
        added = gives[min(gives, key=lambda page_id: (-len(gives[page_id]), page_id))]
        having_all = [by_id[page_id] for page_id, given in gives.items() if given >= added]
        sources.append((min(having_all, key=precedence), added))
        pairs = {(page_id, gram) for page_id, gram in pairs if gram not in added}
    return sources


def quilts(
    pages: Sequence[Page],
    k: int = 5,
    m: int = 50,
    c: int = 4,
    theta: Fraction = Fraction(1, 2),
    foreign: str = "domain",
    phi: Fraction = Fraction(0),
) -> List[Quilt]:
    """All (k, m, c, theta)-quilted pages, with the greedy cover of each, in the order of their ids."""
    pages = kept(pages)
    docs = holders(pages, k)
    found = []
    for page in pages:
        own = set(grams(page.words, k))
        patches = {gram for gram in own if 1 < len(docs[gram]) <= m}
        if not own or Fraction(len(patches), len(own)) < theta:
            continue
        cover = greedy_cover(page, patches, docs, foreign)
        # Gains never increase, so the sources that add too little are the last ones.
        cover = [(source, added) for source, added in cover if Fraction(len(added), len(patches)) >= phi]
        if len(cover) < c:
            continue
        found.append(
            Quilt(
                page=page,
                grams=len(own),
                patch_grams=len(patches),
                sources=cover,
                foreign_grams=sum(bool(foreign_holders(page, docs[gram], foreign)) for gram in patches),
                attributed={
                    gram
                    for gram in patches
                    if any(is_linked(page, other) for other in foreign_holders(page, docs[gram], foreign))
                },
                original_grams=sum(is_original(page, docs[gram]) for gram in own),
            )
        )
    return found


def foreign_holders(page: Page, holders: List[Page], foreign: str) -> List[Page]:
    """The other pages that have a gram and are on another server."""
    return [other for other in holders if other is not page and is_foreign(page, other, foreign)]


def is_original(page: Page, holders: List[Page]) -> bool:
    """Whether a gram is on no other page, or only on pages that are known to be later."""
    return all(other is page or earlier(page, other) == "first" for other in holders)


def sweep(
    pages: Sequence[Page], name: str, values: Sequence, **pivot
) -> List[Tuple[object, int, Optional[Fraction]]]:
    """Table 1: for each value of one parameter the number of quilts, and their mean number of sources."""
    rows = []
    for value in values:
        found = quilts(pages, **{**pivot, name: value})
        mean = Fraction(sum(len(quilt.sources) for quilt in found), len(found)) if found else None
        rows.append((value, len(found), mean))
    return rows
