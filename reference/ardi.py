"""Ardi & Heidemann 2014, "Web-scale Content Reuse Detection (extended)", as a naive program.

§3.1  Steps 1 and 2: the hash of every file, and the vector of the hashes of its chunks. A chunk may
      occur in a vector several times. (Here a chunk is its own hash: strings are compared.)
§3.2  Step 3a, informed discovery: every sufficiently long chunk of the originals is a label (over 100 bytes in
      §7). Step 3b, blind discovery: every object with more duplicates than a threshold that is not a stop
      chunk:  L = {o in C : duplicates(o) > threshold, o not a stop chunk}.
      Section 6.3 selects the N most frequent objects instead.
§3.3  Step 4, simple matching: the objects of the corpus that are labels. Step 5, partial matching:
      contains(L, f) = |L and c_f| / |c_f| over the chunk vector of f: repeats count on both sides.
      Step 6, bad neighbourhoods, after stop chunks were removed:
          badness(N) = the mean of contains(L, n) over the pages n of N.
      The text of §3.3 applies step 5 to all chunks of a neighbourhood instead: contains(L, N), the ratio.
      cento has both, and a neighbourhood is bad if either score is above its threshold.
      Thresholds are one standard deviation over the mean of all scores of a kind, unless they are set.
§3.3  A neighbourhood is all pages under a URL prefix: arxiv.org/archive/physics/x is in arxiv.org/,
      arxiv.org/archive/ and arxiv.org/archive/physics/.
§3.4.1, appendix A   Recursion errors: URLs that a crawler generates in a loop. More than 96 path
      components; cento adds a component that occurs at least 4 times, and a cycle of at least two
      components that occurs at least 3 times in a row.
§3.4.2  Stop chunks are ignored in the numerator and in the denominator.

A page with only stop chunks has no score and is not part of any mean. All comparisons with thresholds are
done in integers (see `exceeds`), because 1/3 + 0 > 1/3 must not depend on rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Dict, List, Optional, Sequence, Set, Tuple
from urllib.parse import urlsplit

from corpus import Page, by_value, chunks, cut, kept, normalise

# --- §3.4.1 recursion errors -----------------------------------------------------------------------------


def is_recursion_error(url: str, most: int = 96, repeats: int = 4, cycles: int = 3) -> bool:
    parts = [part for part in urlsplit(url).path.split("/") if part]
    if len(parts) > most or any(parts.count(part) >= repeats for part in parts):
        return True
    for length in range(2, len(parts) // cycles + 1):
        for begin in range(len(parts) - length * cycles + 1):
            cycle = parts[begin : begin + length]
            if parts[begin : begin + length * cycles] == cycle * cycles:
                return True
    return False


# --- §3.2 discovery --------------------------------------------------------------------------------------


@dataclass
class Label:
    """A label: a chunk to search for."""

    chunk: str
    count: int  # occurrences, including repetitions on one page
    pages: int
    sites: int  # registered domains
    first: Page
    originals: List[Page] = field(default_factory=list)


def occurrences(pages: Sequence[Page], kind: str) -> Dict[str, List[Page]]:
    """For every chunk, the pages that have it, once for each occurrence."""
    return by_value((chunk, page) for page in kept(pages) for chunk in chunks(page, kind))


def label_of(chunk: str, holders: List[Page]) -> Label:
    distinct = {page.page_id: page for page in holders}
    domains = {page.domain for page in distinct.values()} - {None}
    return Label(chunk, len(holders), len(distinct), len(domains), distinct[min(distinct)])


def discover_blind(pages: Sequence[Page], kind: str, threshold: int, stops: Set[str]) -> List[Label]:
    """Step 3b: the chunks that occur more often than a threshold and are not stop chunks."""
    found = occurrences(pages, kind)
    return [
        label_of(chunk, holders)
        for chunk, holders in found.items()
        if len(holders) > threshold and chunk not in stops
    ]


def discover_files(pages: Sequence[Page], threshold: int) -> Dict[bytes, int]:
    """Step 3b for files: the payloads that occur more often than a threshold. Files count even if their text was
    rejected, and a revisit counts as one more occurrence; recursion errors do not count (§3.4.1), and an
    empty file is a stop file."""
    found = by_value((page.payload, page) for page in pages if page.payload and page.reject != "recursion")
    return {payload: len(holders) for payload, holders in found.items() if len(holders) > threshold}


def discover_informed(originals: Sequence[Page], kind: str, least: int, stops: Set[str]) -> List[Label]:
    """Step 3a: every chunk of the originals of at least this many bytes that is not a stop chunk. The length is
    that of its first occurrence, before normalisation."""
    labels: Dict[str, Label] = {}
    lengths: Dict[str, int] = {}
    for page in kept(originals):
        for chunk in cut(page.text, kind):
            lengths.setdefault(normalise(chunk), len(chunk.encode()))
    for chunk, holders in occurrences(originals, kind).items():
        if lengths[chunk] >= least and chunk not in stops:
            label = label_of(chunk, holders)
            label.originals = list({page.page_id: page for page in holders}.values())
            labels[chunk] = label
    return list(labels.values())


# --- §3.3 detection --------------------------------------------------------------------------------------


@dataclass
class Score:
    """The score of a page: `matched` of its `chunks` are labels; stop chunks are ignored in both."""

    page: Page
    chunks: int
    stopped: int
    matched: int

    @property
    def left(self) -> int:
        return self.chunks - self.stopped

    @property
    def contains(self) -> Fraction:
        return Fraction(self.matched, self.left)


def score(page: Page, kind: str, labels: Set[str], stops: Set[str]) -> Score:
    vector = chunks(page, kind)
    stopped = sum(chunk in stops for chunk in vector)
    matched = sum(chunk in labels and chunk not in stops for chunk in vector)
    return Score(page, len(vector), stopped, matched)


def prefixes(page: Page) -> List[str]:
    """The neighbourhoods that a page is in, from its host down; those of a file are the folders of its path."""
    if page.host is None:
        folders = page.url.split("/")[:-1]
        return ["".join(folder + "/" for folder in folders[: depth + 1]) for depth in range(len(folders))]
    folders = urlsplit(page.url).path.split("/")[1:-1]
    return [page.host + "/" + "".join(folder + "/" for folder in folders[:depth]) for depth in range(len(folders) + 1)]


@dataclass
class Neighbourhood:
    prefix: str
    depth: int
    scores: List[Score]

    @property
    def chunks(self) -> int:
        return sum(score.left for score in self.scores)

    @property
    def matched(self) -> int:
        return sum(score.matched for score in self.scores)

    @property
    def mean(self) -> Fraction:
        """Step 6."""
        return sum((score.contains for score in self.scores), Fraction(0)) / len(self.scores)

    @property
    def ratio(self) -> Fraction:
        """§3.3."""
        return Fraction(self.matched, self.chunks)


def neighbourhoods(scores: Sequence[Score], depth: Optional[int] = None) -> List[Neighbourhood]:
    """All neighbourhoods of pages that have a score, with or without labels."""
    pairs = [
        ((prefix, level + 1), score)
        for score in scores
        if score.left > 0
        for level, prefix in enumerate(prefixes(score.page))
        if depth is None or level < depth
    ]
    return [Neighbourhood(prefix, level, members) for (prefix, level), members in by_value(pairs).items()]


@dataclass
class Moments:
    """The mean of some scores, and the square of their standard deviation (that of the population)."""

    mean: Fraction
    variance: Fraction


def moments(scores: Sequence[Fraction]) -> Moments:
    if not scores:
        return Moments(Fraction(0), Fraction(0))
    mean = sum(scores, Fraction(0)) / len(scores)
    squares = sum(((score - mean) ** 2 for score in scores), Fraction(0))
    return Moments(mean, squares / len(scores))


def exceeds(score: Fraction, moments: Moments, given: Optional[Fraction] = None) -> bool:
    """Whether a score is above its threshold: a fixed one, or the mean plus one standard deviation.

    x > mean + sigma  iff  x > mean and (x - mean)^2 > sigma^2: no root, and so no rounding.
    """
    if given is not None:
        return score > given
    return score > moments.mean and (score - moments.mean) ** 2 > moments.variance


def is_own(page: Page, own: Sequence[str]) -> bool:
    """Whether a page belongs to the owner: its domain, its host or a parent of its host is listed."""
    host = page.host or ""
    return any(page.domain == name or host == name or host.endswith("." + name) for name in own)


def takes(vector: Sequence[Tuple[int, str]], originals: Dict[str, List[int]]) -> Dict[int, int]:
    """The original of each matched chunk, by its position: {position: original}.

    A label may be on several originals. They are chosen greedily: first the one that has most of the page's
    matched chunks, then the one that has most of the rest; ties go to the first.
    """
    left = dict(vector)
    given: Dict[int, int] = {}
    while True:
        gives: Dict[int, List[int]] = {}
        for place, chunk in left.items():
            for original in originals.get(chunk, []):
                gives.setdefault(original, []).append(place)
        if not gives:
            return given
        best = min(gives, key=lambda original: (-len(gives[original]), original))
        for place in gives[best]:
            given[place] = best
            del left[place]
