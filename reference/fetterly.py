"""Fetterly, Manasse & Najork 2005, "Detecting Phrase-Level Duplication on the World Wide Web", naively.

§3    A k-phrase is k consecutive words. For feature vectors the document is a circle, so that n words have n
      phrases. Each of 84 hash functions selects the phrase of the smallest value: the 84 shingles of the
      document, with repetitions.
§3    Two documents are near-duplicates if two of the six non-overlapping runs of 14 shingles agree;
      classes are the transitive closure: `megashingle_classes`. All but one of each class are removed.
§3    A phrase is popular if enough documents have it: five in the paper, where a document has the phrases
      that were selected as its shingles; cento can count all of its phrases instead (`--exact`).
§3    Covering set of f: other documents that together have all popular shingles of f. Greedy: the document
      with most of the uncovered shingles; of equals the one with the largest intersection with all shingles
      of f. Documents of the same domain or address are used only if no other has any uncovered shingle.
      The foreign contribution is the number of shingles that documents of other addresses cover.
§3    Sites: the mean and the standard deviation of the number of popular shingles of the pages of a site;
      figures 8 and 9 show sites of at least 10 pages and a mean of at least 30; candidates for spam have a
      deviation below 15.

Where the paper leaves it open: near-duplicates are pages whose sets of k-grams (of the text
as a line, not as a circle) have a resemblance of at least R; a page is removed only if it resembles a page that
is kept, and the earlier page is kept. A phrase that joins the end of a page to its beginning is never shown.

Which shingles are selected depends on the hash function. `check.py` lists what does not depend on it and is
compared with cento.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from typing import Callable, Dict, List, Sequence, Set, Tuple

from corpus import Page, by_value, grams, kept, precedence

Phrase = Tuple[str, ...]
SHINGLES = 84
RUNS = 6


# --- shingles --------------------------------------------------------------------------------------------


def circular_phrases(words: Sequence[str], k: int) -> List[Phrase]:
    """The phrases of a document that is a circle: exactly as many as it has words."""
    return [tuple(words[(at + step) % len(words)] for step in range(k)) for at in range(len(words))]


def hashed(function: int, phrase: Phrase) -> int:
    """One of any number of hash functions. The paper's are Rabin fingerprints; any well-mixed ones would do."""
    text = f"{function}:" + " ".join(phrase)
    return int.from_bytes(hashlib.sha1(text.encode()).digest()[:8], "big")


def shingles(words: Sequence[str], k: int = 5, count: int = SHINGLES) -> List[Phrase]:
    """The phrase that each hash function selects; none if there are no words."""
    phrases = circular_phrases(words, k)
    return [min(phrases, key=lambda phrase: hashed(function, phrase)) for function in range(count)] if phrases else []


def megashingle_classes(vectors: Dict[int, List[Phrase]]) -> List[Set[int]]:
    """The classes of documents of which two of six runs of 14 shingles agree, transitively."""
    def runs(vector: List[Phrase]) -> List[Tuple[Phrase, ...]]:
        size = len(vector) // RUNS
        return [tuple(vector[run * size : (run + 1) * size]) for run in range(RUNS)]

    return closure(
        list(vectors),
        lambda one, other: bool(vectors[one])
        and bool(vectors[other])
        and sum(a == b for a, b in zip(runs(vectors[one]), runs(vectors[other]))) >= 2,
    )


def closure(items: Sequence, alike) -> List[Set]:
    """The classes of the transitive closure of a relation."""
    classes: List[Set] = []
    for item in items:
        touching = [found for found in classes if any(alike(item, other) for other in found)]
        for found in touching:
            classes.remove(found)
        classes.append({item}.union(*touching))
    return classes


# --- near-duplicates by true resemblance -----------------------------------------------------------------


def gram_set(page: Page, k: int) -> Set[Phrase]:
    """The distinct grams of a page. A text of fewer than k words is one gram, so that it can be compared."""
    found = set(grams(page.words, k))
    return found or ({tuple(page.words)} if page.words else set())


def resemblance(one: Set[Phrase], other: Set[Phrase]) -> Fraction:
    """The resemblance of two sets: the size of their intersection divided by that of their union."""
    either = len(one | other)
    return Fraction(len(one & other), either) if either else Fraction(1)


@dataclass
class Removed:
    """A removed page, and all kept pages that it resembles, with the resemblance."""

    page: Page
    alike: Dict[int, Fraction]


# Which of several pages is kept: the first by this order.
ORDERS: Dict[str, Callable[[Page], Tuple]] = {
    "earliest": precedence,
    "first": lambda page: (page.page_id,),
    "longest": lambda page: (-len(page.words), page.page_id),
    "shortest-url": lambda page: (len(page.url.encode()), page.page_id),
}


def remove_near_duplicates(
    pages: Sequence[Page], k: int, least: Fraction, order: Callable[[Page], Tuple] = precedence
) -> List[Removed]:
    """Keeps pages in order, unless they have the text of a kept page or resemble one."""
    kept_pages: List[Page] = []
    removed: List[Removed] = []
    sets = {page.page_id: gram_set(page, k) for page in kept(pages)}
    for page in sorted(kept(pages), key=order):
        alike = {}
        for other in kept_pages:
            value = Fraction(1) if page.text == other.text else resemblance(sets[page.page_id], sets[other.page_id])
            # With R = 1 only identical texts are duplicates: sets say nothing of order.
            if value >= least and (least < 1 or page.text == other.text):
                alike[other.page_id] = value
        if alike:
            removed.append(Removed(page, alike))
        else:
            kept_pages.append(page)
    return removed


def exact_kinds(pages: Sequence[Page], order: Callable[[Page], Tuple] = precedence) -> Dict[int, str]:
    """Which pages have the bytes, or else the text, of a page that precedes them: {page_id: `bytes` or `text`}.
    This does not depend on which page it is removed for."""
    kinds: Dict[int, str] = {}
    ordered = sorted(kept(pages), key=order)
    for at, page in enumerate(ordered):
        before = ordered[:at]
        if page.payload is not None and any(other.payload == page.payload for other in before):
            kinds[page.page_id] = "bytes"
        elif any(other.text == page.text for other in before):
            kinds[page.page_id] = "text"
    return kinds


# --- popular phrases -------------------------------------------------------------------------------------


@dataclass
class Popular:
    phrase: Phrase
    pages: int
    sites: int
    first: Page


def site_of(page: Page, kind: str) -> object:
    """The site of a page; a page without one is its own site."""
    name = {"host": page.host, "domain": page.domain, "ip": page.ip}[kind]
    return name if name is not None else page.page_id


def has_site(page: Page, kind: str) -> bool:
    """Whether a page has a site of its name. The sites of a phrase are only such sites."""
    return site_of(page, kind) != page.page_id


def popular_phrases(pages: Sequence[Page], k: int, least: int, site: str) -> List[Popular]:
    """All phrases on at least this many pages."""
    holders = by_value((phrase, page) for page in kept(pages) for phrase in sorted(set(grams(page.words, k))))
    return [
        Popular(phrase, len(having), len({site_of(page, site) for page in having if has_site(page, site)}), having[0])
        for phrase, having in holders.items()
        if len(having) >= least
    ]


@dataclass
class PagePhrases:
    """How many distinct phrases a page has, and how many are popular, on no other page, on no other site."""

    page: Page
    phrases: int
    popular: int
    own: int
    own_site: int


def page_phrases(pages: Sequence[Page], k: int, least: int, site: str) -> List[PagePhrases]:
    holders = by_value((phrase, page) for page in kept(pages) for phrase in set(grams(page.words, k)))
    found = []
    for page in kept(pages):
        own = set(grams(page.words, k))
        found.append(
            PagePhrases(
                page,
                len(own),
                sum(len(holders[phrase]) >= least for phrase in own),
                sum(len(holders[phrase]) == 1 for phrase in own),
                sum(len({site_of(other, site) for other in holders[phrase]}) == 1 for phrase in own),
            )
        )
    return found


# --- covering sets ---------------------------------------------------------------------------------------


@dataclass
class Donor:
    """A page of a covering set, with the number of shingles it adds to those before it."""

    page_id: int
    shingles: int
    foreign: bool


def covering_set(
    vector: List[Phrase], popular: Set[Phrase], candidates: Dict[int, Tuple[Set[Phrase], bool]]
) -> List[Donor]:
    """The greedy cover of the popular shingles of a page. Candidates are {page_id: (phrases, is foreign)}."""
    uncovered = [phrase for phrase in vector if phrase in popular]
    cover: List[Donor] = []
    while True:
        def merit(page_id: int) -> Tuple:
            phrases, foreign = candidates[page_id]
            gain = sum(phrase in phrases for phrase in uncovered)
            return (gain > 0, foreign, gain, sum(phrase in phrases for phrase in vector), -page_id)

        best = max(candidates, key=merit, default=None)
        if best is None or not merit(best)[0]:
            return cover
        phrases, foreign = candidates[best]
        cover.append(Donor(best, sum(phrase in phrases for phrase in uncovered), foreign))
        uncovered = [phrase for phrase in uncovered if phrase not in phrases]


# --- sites -----------------------------------------------------------------------------------------------


def mean_and_variance(counts: Sequence[int]) -> Tuple[Fraction, Fraction]:
    mean = Fraction(sum(counts), len(counts))
    return mean, sum(((count - mean) ** 2 for count in counts), Fraction(0)) / len(counts)


def is_flagged(counts: Sequence[int], pages: int = 10, mean: int = 30, deviation: int = 15) -> bool:
    """Many pages, many popular shingles on each, and about as many on all: sliced and diced, or a template."""
    average, variance = mean_and_variance(counts)
    return len(counts) >= pages and average >= mean and variance < deviation**2


# --- statements of the paper -----------------------------------------------------------------------


def probability_of_agreement(commonality: float) -> float:
    """The probability that two of six runs of 14 shingles agree, for pages of this resemblance."""
    run = commonality ** (SHINGLES // RUNS)
    return 1 - (1 - run) ** RUNS - RUNS * run * (1 - run) ** (RUNS - 1)


def self_check() -> None:
    """Checks the probabilities that §3 states, and the definitions on a few words. Below 82.5 % commonality the paper
    says less than 5 %; its own rule gives 5.7 % there, and 5 % at 82 %."""
    assert probability_of_agreement(0.77) < 0.01 and probability_of_agreement(0.825) < 0.06
    assert probability_of_agreement(0.965) > 0.95
    assert circular_phrases(["one"], 3) == [("one", "one", "one")]
    text = "the quick brown fox jumps over the lazy dog while nobody looks".split()
    turned = text[5:] + text[:5]
    vectors = {0: shingles(text), 1: shingles(turned), 2: shingles("something else entirely is on this page".split())}
    assert len(vectors[0]) == SHINGLES and vectors[0] == vectors[1]
    assert sorted(map(sorted, megashingle_classes(vectors))) == [[0, 1], [2]]
    # A foreign page comes before one that has more but is of the same site.
    popular = set(vectors[0])
    some = set(list(dict.fromkeys(vectors[0]))[:2])
    cover = covering_set(vectors[0], popular, {7: (popular, False), 8: (some, True), 9: (set(), True)})
    assert [(donor.page_id, donor.foreign) for donor in cover] == [(8, True), (7, False)]
    assert sum(donor.shingles for donor in cover) == SHINGLES
