"""Shivakumar & Garcia-Molina 1998, "Finding near-replicas of documents on the web", as a naive program.

§2    A document is chunked, each chunk is fingerprinted, and Overlap is the table of triplets (d_i, d_j, F) for
      documents that share F fingerprints, for F >= T. A document is the *set* of its fingerprints.
§2.1  The sort-based approach makes every pair of documents of every fingerprint and counts them: `overlap`.
§2.2  Exact copies are removed first; the document with the smallest id represents all that have its text.
      Coarse counting then finds heavy pairs in fixed memory: `coarse_overlap`. It gives the same table.
§1    Servers: the same problem, with a server as the union of its documents.
§3    Figure 1: how many replicas a page has, itself among them, by three notions of a replica: the same
      text, 15 shared chunks of four lines, 25 shared chunks of two lines. A page is a replica of another
      by a notion of lines if it is an exact copy or shares that many chunks.
§3    Savings: a crawler that knows the replicas skips every replica of a visited page.

Where the paper leaves it open: pages are visited in order of date, and the earliest represents all that have
its text; pages without a date come last, and ties go to the lower id.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Dict, List, Sequence, Set, Tuple

from corpus import Page, by_value, chunks, kept, precedence

# The three notions of a replica of §3, with the number of chunks that must be shared.
NOTIONS = (("exact", 0), ("lines:4", 15), ("lines:2", 25))
# The bars of Figure 1: pages with at least this many replicas.
BARS = (1, 2, 3, 10, 100, 1000)


@dataclass(frozen=True)
class Overlap:
    """Two documents or servers, the number of chunks they share, and the number that each has."""

    one: object
    other: object
    shared: int
    one_chunks: int
    other_chunks: int


def shared_counts(sets: Dict[object, Set[str]]) -> Dict[Tuple, int]:
    """§2.1: every pair of every fingerprint, counted."""
    counts: Dict[Tuple, int] = {}
    fingerprints = by_value((chunk, name) for name, chunk_set in sets.items() for chunk in chunk_set)
    for names in fingerprints.values():
        for pair in combinations(sorted(names), 2):
            counts[pair] = counts.get(pair, 0) + 1
    return counts


def without_common(sets: Dict[object, Set[str]], most: int) -> Dict[object, Set[str]]:
    """The same sets without the chunks that are in more than `most` of them; 0 for no limit."""
    if most == 0:
        return sets
    fingerprints = by_value((chunk, name) for name, chunk_set in sets.items() for chunk in chunk_set)
    common = {chunk for chunk, names in fingerprints.items() if len(names) > most}
    return {name: chunk_set - common for name, chunk_set in sets.items()}


def overlap(sets: Dict[object, Set[str]], threshold: int, most: int = 0) -> List[Overlap]:
    """The Overlap table: all pairs that share at least `threshold` chunks."""
    sets = without_common(sets, most)
    return [
        Overlap(one, other, shared, len(sets[one]), len(sets[other]))
        for (one, other), shared in shared_counts(sets).items()
        if shared >= threshold
    ]


def coarse_overlap(sets: Dict[object, Set[str]], threshold: int, counters: int = 64) -> List[Overlap]:
    """§2.2: hashed counters, a bitmap of the heavy ones, candidates, and a count of the candidates alone."""
    def counter(pair: Tuple) -> int:
        return hash(pair) % counters

    fingerprints = by_value((chunk, name) for name, chunk_set in sets.items() for chunk in chunk_set)
    pairs = [pair for names in fingerprints.values() for pair in combinations(sorted(names), 2)]
    counts = [0] * counters
    for pair in pairs:
        counts[counter(pair)] += 1
    heavy = [count >= threshold for count in counts]
    candidates: Dict[Tuple, int] = {pair: 0 for pair in pairs if heavy[counter(pair)]}
    for pair in pairs:
        if pair in candidates:
            candidates[pair] += 1
    return [
        Overlap(one, other, shared, len(sets[one]), len(sets[other]))
        for (one, other), shared in candidates.items()
        if shared >= threshold
    ]


def text_classes(pages: Sequence[Page]) -> List[List[Page]]:
    """Pages with the same text, the first of each class first."""
    return list(by_value((page.text, page) for page in sorted(kept(pages), key=precedence)).values())


def page_sets(pages: Sequence[Page], kind: str) -> Dict[int, Set[str]]:
    """The distinct chunks of each page that represents its text. In §2.2, step 2, that is the one with the smallest id."""
    return {same[0].page_id: set(chunks(same[0], kind)) for same in text_classes(pages)}


def server_sets(pages: Sequence[Page], kind: str, by: str) -> Dict[str, Set[str]]:
    """A server is the union of its pages. Pages on an unknown server are ignored."""
    sets: Dict[str, Set[str]] = {}
    for page in kept(pages):
        server = page.host if by == "host" else page.domain
        if server is not None:
            sets.setdefault(server, set()).update(chunks(page, kind))
    return sets


def replicas(pages: Sequence[Page], notion: str, threshold: int) -> Dict[int, Set[int]]:
    """For each page the pages that are replicas of it by a notion, itself among them."""
    pages = kept(pages)
    sets = {page.page_id: set(chunks(page, notion)) for page in pages} if notion != "exact" else {}
    return {
        page.page_id: {
            other.page_id
            for other in pages
            if other.text == page.text
            or (notion != "exact" and len(sets[page.page_id] & sets[other.page_id]) >= threshold)
        }
        for page in pages
    }


def figure_1(found: Dict[int, Set[int]]) -> List[Tuple[int, int]]:
    """Figure 1: (minimum number of replicas, number of pages) for each bar."""
    rows = []
    for at, least in enumerate(BARS):
        most = BARS[at + 1] - 1 if at + 1 < len(BARS) else None
        count = sum(least <= len(copies) and (most is None or len(copies) <= most) for copies in found.values())
        rows.append((least, count))
    return rows


def savings(pages: Sequence[Page], found: Dict[int, Set[int]]) -> Set[int]:
    """The pages that a crawler skips: replicas of visited pages."""
    visited: Set[int] = set()
    saved: Set[int] = set()
    for page in sorted(kept(pages), key=precedence):
        if found[page.page_id] & visited:
            saved.add(page.page_id)
        else:
            visited.add(page.page_id)
    return saved
