"""Seo & Croft 2008, "Local Text Reuse Detection", as a naive program.

§3.2  Containment of A in B: C(A, B) = |F_A and F_B| / |F_A|, over the sets of their fingerprints. Most is at least
      0.8, considerable 0.5, partial 0.1 (Table 1).
§3.3  Categories of pairs (Table 2): C1 most-most, C2 most-considerable, C3 most-partial, C4 considerable-
      considerable, C5 considerable-partial, C6 partial-partial. Pairs below that are not related.
§4.1  Overlap methods slide a window of k words: `kgram` takes every window, `mod` those whose hash is 0
      modulo p, `winnow` the smallest hash of every w windows in a row, of several the rightmost.
§4.2  Non-overlap methods cut the text: hash-breaking ends a segment at a word whose hash is 0 modulo p;
      revised, it ignores segments of fewer than p words. `dct` takes the segments of revised hash-breaking and
      replaces the hash of a segment by the low frequencies of the cosine transform of its word hashes:
      median to 0, largest value to 1, transform, quantise, pack.
§6    Siblings of a document: the documents that it has a relation with, in a category or in all.
§6.2  Document slope curve: DSC[0] = 0, and each token that is a tag adds 1; the content is where the curve is
      flattest: `content_window` looks for the tokens between two positions that maximise words inside
      plus tags outside (Finn's criterion), which is the lowest slope of a long stretch.

The hash function is a parameter everywhere: the definitions do not depend on it. Figure 2, the layout of
a DCT fingerprint, is missing from the extracted text of the paper; `dct_fingerprint` has cento's layout, which with MD5
yields equal fingerprints for both pairs of sentences of §4.2.2 (see `self_check`).

§5    `reuse` finds all pairs with their categories, as `cento reuse` does: pages with the same set of fingerprints are
      one page, fingerprints on more than a number of pages are ignored, and each pair has a style (Tables 5 and 7).
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Callable, Dict, List, Optional, Sequence, Set, Tuple

WordHash = Callable[[str], int]
LEVELS = ((Fraction(8, 10), "most"), (Fraction(5, 10), "considerable"), (Fraction(1, 10), "partial"))
CATEGORIES = {
    ("most", "most"): "C1",
    ("most", "considerable"): "C2",
    ("most", "partial"): "C3",
    ("considerable", "considerable"): "C4",
    ("considerable", "partial"): "C5",
    ("partial", "partial"): "C6",
}


@dataclass(frozen=True)
class Fingerprint:
    """A fingerprint of the words from `begin` to before `end`."""

    value: object
    begin: int
    end: int


# --- §4 fingerprints -------------------------------------------------------------------------------------


def run_of(hashes: Sequence[int], run_hash: Callable[[Sequence[int]], int], begin: int, end: int) -> Fingerprint:
    return Fingerprint(run_hash(hashes[begin:end]), begin, end)


def kgram(hashes: Sequence[int], run_hash, k: int = 3) -> List[Fingerprint]:
    """§4.1.1: every run of k words."""
    return [run_of(hashes, run_hash, at, at + k) for at in range(len(hashes) - k + 1)]


def mod(hashes: Sequence[int], run_hash, k: int = 3, p: int = 6) -> List[Fingerprint]:
    """§4.1.2: the runs whose hash is 0 modulo p."""
    return [fingerprint for fingerprint in kgram(hashes, run_hash, k) if fingerprint.value % p == 0]


def winnow(hashes: Sequence[int], run_hash, k: int = 3, w: int = 10) -> List[Fingerprint]:
    """§4.1.3: the smallest of every w runs in a row; of several smallest the rightmost. (The robust variant of
    its authors keeps the one that the window before selected, so that repeats have fewer fingerprints;
    as a set of values the two are the same.) A text of fewer runs is one window."""
    runs = kgram(hashes, run_hash, k)
    w = min(w, len(runs))
    selected: List[Fingerprint] = []
    for begin in range(len(runs) - w + 1) if runs else []:
        window = runs[begin : begin + w]
        smallest = min(window, key=lambda run: (run.value, -run.begin))
        if smallest not in selected:
            selected.append(smallest)
    return selected


def segments(hashes: Sequence[int], p: int = 3, least: Optional[int] = None) -> List[Tuple[int, int]]:
    """§4.2.1: a word whose hash is 0 modulo p ends a segment. Revised: segments of fewer than p words are
    ignored. The words after the last breakpoint are a segment too."""
    least = p if least is None else least
    found = []
    begin = 0
    for at, value in enumerate(hashes):
        if value % p == 0 or at == len(hashes) - 1:
            if at + 1 - begin >= least:
                found.append((begin, at + 1))
            begin = at + 1
    return found


def hash_break(hashes: Sequence[int], run_hash, p: int = 3) -> List[Fingerprint]:
    """§4.2.1, revised hash-breaking."""
    return [run_of(hashes, run_hash, begin, end) for begin, end in segments(hashes, p)]


def cosine_transform(signal: Sequence[float]) -> List[float]:
    """§4.2.2, equation 7."""
    size = len(signal)
    return [
        sum(value * math.cos(math.pi / size * (n + 0.5) * k) for n, value in enumerate(signal)) for k in range(size)
    ]


def dct_coefficients(values: Sequence[int], count: int = 4) -> List[int]:
    """Steps ii to vi: the lowest coefficients, each one of eight steps. The root of N + 1/2 makes a step mean the
    same in short segments and in long ones."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    moved = [value - median for value in values]
    largest = max(abs(value) for value in moved)
    signal = [value / largest if largest else 0.0 for value in moved]
    scale = math.sqrt(len(values) + 0.5)
    return [
        max(0, min(7, math.floor(coefficient / scale + 0.5 + 4))) for coefficient in cosine_transform(signal)[:count]
    ]


def dct_fingerprint(values: Sequence[int], pair_hash: Callable[[int, int], int]) -> int:
    """Step vii, in cento's layout: the number of words modulo 16 (4 bits), 16 bits of a hash of the last word and
    of the one farthest from the median, and the four lowest coefficients (3 bits each), the lowest last."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    farthest = values[-1] if len(set(values)) == 1 else max(values, key=lambda value: abs(value - median))
    bits = (len(values) % 16) << 28 | (pair_hash(values[-1], farthest) & 0xFFFF) << 12
    for at, coefficient in enumerate(dct_coefficients(values)):
        bits |= coefficient << (3 * at)
    return bits


def dct(hashes: Sequence[int], pair_hash, p: int = 3) -> List[Fingerprint]:
    """§4.2.2: the segments of revised hash-breaking by their cosine transforms."""
    return [
        Fingerprint(dct_fingerprint(hashes[begin:end], pair_hash), begin, end) for begin, end in segments(hashes, p)
    ]


# --- §3 containment and categories -----------------------------------------------------------------------


def containment(one: Set, other: Set) -> Fraction:
    """Equation 1: the share of the fingerprints of one that the other has."""
    return Fraction(len(one & other), len(one)) if one else Fraction(0)


def level(share: Fraction) -> Optional[str]:
    """Table 1."""
    return next((name for least, name in LEVELS if share >= least), None)


def category(one: Set, other: Set) -> Optional[str]:
    """Table 2. A pair is related if at least a partial share of *each* is in the other."""
    levels = [level(containment(one, other)), level(containment(other, one))]
    if None in levels:
        return None
    order = [name for _, name in LEVELS]
    return CATEGORIES[tuple(sorted(levels, key=order.index))]  # type: ignore[index]


def siblings(sets: Dict[object, Set]) -> Dict[object, Dict[object, str]]:
    """§6: for every document the documents that it is related to, with the category."""
    found: Dict[object, Dict[object, str]] = {name: {} for name in sets}
    for one in sets:
        for other in sets:
            kind = category(sets[one], sets[other]) if one != other else None
            if kind is not None:
                found[one][other] = kind
    return found


def shares_of_item(item: Set, documents: Dict[object, Set]) -> Tuple[Fraction, Dict[object, Fraction]]:
    """The share of an item found anywhere in a collection, and C(item, document) for every document that has any of it."""
    anywhere = item & set().union(*documents.values())
    return containment(item, anywhere), {
        name: containment(item, document) for name, document in documents.items() if item & document
    }


# --- all pairs of a collection ---------------------------------------------------------------------------


@dataclass(frozen=True)
class ReusePair:
    """Two pages that share enough, with the sizes of both without ignored fingerprints."""

    one: int
    other: int
    shared: int
    one_size: int
    other_size: int
    category: str
    style: str
    frame: int
    frequent: int


@dataclass
class Reuse:
    """All pairs of a collection."""

    pairs: List[ReusePair]
    identical: List[Tuple[int, int]]
    ignored: Dict[object, int]
    representatives: List[int]
    copies: Dict[int, int]


def category_or_one_sided(one: Set, other: Set) -> Optional[str]:
    """Table 2; a pair of which one page reaches *partial* only is one-sided."""
    levels = [level(containment(one, other)), level(containment(other, one))]
    return category(one, other) if None not in levels else None if levels == [None, None] else "one-sided"


def style_of(kind: str, shared: int, frame: int, frequent: int, slots: bool, same_address: bool) -> str:
    """The first rule that applies. Pages of one set are no pair here, so aliases are captures of one address."""
    if same_address:
        return "alias"
    if frame and 2 * frame >= shared:
        return "frame"
    common = frequent > 0 and 2 * frequent >= shared - frame
    near = kind in ("C1", "C2", "C4")
    if common and near and slots:
        return "template"
    return "phrase" if common and not near else "reuse"


def reuse(
    sets: Dict[int, Set], host, order, most: int = 0, frame: bool = False, frequent: int = 10, address=lambda page: None
) -> Reuse:
    """All pairs of pages. `host` answers the host of a page, `address` its address if it has a host, and `order` its
    place in the order in which the first of several pages with the same set is chosen."""
    classes: Dict[frozenset, List[int]] = {}
    for page in sorted(sets, key=order):
        classes.setdefault(frozenset(sets[page]), []).append(page)
    firsts = {pages[0]: fingerprints for fingerprints, pages in classes.items()}
    on_pages: Dict[object, List[int]] = {}
    for page, fingerprints in firsts.items():
        for fingerprint in fingerprints:
            on_pages.setdefault(fingerprint, []).append(page)
    ignored = {value: len(pages) for value, pages in on_pages.items() if most and len(pages) > most}
    pages_of_host: Dict[str, int] = {}
    for page in firsts:
        pages_of_host[host(page)] = pages_of_host.get(host(page), 0) + 1
    # A fingerprint is in the frame of a host if it is on five of its pages, and on a fifth of them.
    framed: Set[Tuple[object, str]] = set()
    for value, pages in on_pages.items():
        counts: Dict[str, int] = {}
        for page in pages:
            counts[host(page)] = counts.get(host(page), 0) + 1
        framed |= {
            (value, name)
            for name, count in counts.items()
            if name is not None and count >= 5 and 5 * count >= pages_of_host[name]
        }
    def without(page: int) -> Set:
        return {
            value
            for value in firsts[page]
            if value not in ignored and not (frame and (value, host(page)) in framed)
        }

    rest = {page: without(page) for page in firsts}
    pairs = []
    ordered = sorted(firsts)
    for at, one in enumerate(ordered):
        for other in ordered[at + 1 :]:
            shared = rest[one] & rest[other]
            kind = category_or_one_sided(rest[one], rest[other]) if shared else None
            if kind is None:
                continue
            of_frame = {
                value
                for value in shared
                if not frame and ((value, host(one)) in framed or (value, host(other)) in framed)
            }
            common = {value for value in shared - of_frame if len(on_pages[value]) >= frequent}
            slots = rest[one] > shared and rest[other] > shared
            same_address = address(one) is not None and address(one) == address(other)
            style = style_of(kind, len(shared), len(of_frame), len(common), slots, same_address)
            pairs.append(
                ReusePair(
                    one, other, len(shared), len(rest[one]), len(rest[other]), kind, style, len(of_frame), len(common)
                )
            )
    identical = [(page, pages[0]) for pages in classes.values() for page in pages[1:]]
    copies = {pages[0]: len(pages) for pages in classes.values()}
    return Reuse(pairs, identical, ignored, list(firsts), copies)


# --- §6.2 document slope curve ---------------------------------------------------------------------------


def slope_curve(tokens: Sequence[bool]) -> List[int]:
    """Equation 9, for tokens that are tags (True) or words (False): the number of tags up to each token."""
    curve = [0]
    for is_tag in tokens:
        curve.append(curve[-1] + is_tag)
    return curve


def content_window(tokens: Sequence[bool]) -> Tuple[int, int]:
    """The tokens of the content body: those between which there are the most words, together with the most tags
    outside. Of several the first, and the shortest."""
    curve = slope_curve(tokens)
    best = (-1, 0, 0)
    for begin in range(len(tokens) + 1):
        for end in range(begin, len(tokens) + 1):
            inside = (end - begin) - (curve[end] - curve[begin])
            outside = curve[begin] + curve[-1] - curve[end]
            if inside + outside > best[0]:
                best = (inside + outside, begin, end)
    return best[1], best[2]


# --- the examples of the paper ---------------------------------------------------------------------------

MASK = (1 << 64) - 1
MULTIPLIER = 0xD1B54A32D192ED05
SPREAD = 0x9E3779B97F4A7C15


def cento_run_hash(hashes: Sequence[int]) -> int:
    """cento's hash of a run of word hashes: a polynomial modulo 2^64, mixed. Any well-mixed hash would do."""
    total = 0
    for value in hashes:
        total = (total * MULTIPLIER + value) & MASK
    total ^= (len(hashes) * SPREAD) & MASK
    total ^= total >> 32
    total = (total * 0xE9C94A8F6E2D7B4D) & MASK
    total ^= total >> 29
    total = (total * 0xA24BAED4963EE407) & MASK
    return total ^ (total >> 32)


def cento_word_hash(word: str) -> Optional[int]:
    """cento's hash of a word of up to 16 bytes; longer ones have another."""
    data = word.encode()
    if len(data) > 16:
        return None

    def folded(one: int, other: int) -> int:
        product = one * other
        return (product & MASK) ^ (product >> 64)

    packed = data.ljust(16, b"\0")
    first, second = int.from_bytes(packed[:8], "little"), int.from_bytes(packed[8:], "little")
    return folded(folded(first ^ 0x649830016CFF3ECB, second ^ 0xF734FFA607418B61), 0xD5B8CD8A1AD1E147)


def cento_dct(hashes: Sequence[int], p: int) -> Set[int]:
    """`dct` with cento's hashes: the signal is the upper half of each."""
    found = set()
    for begin, end in segments(hashes, p):
        segment = hashes[begin:end]

        def pair(_: int, farthest: int) -> int:
            whole = next(value for value in segment if value >> 32 == farthest)
            if len({value >> 32 for value in segment}) == 1:
                whole = segment[-1]
            return cento_run_hash([segment[-1], whole]) >> 48

        found.add(dct_fingerprint([value >> 32 for value in segment], pair))
    return found


def scheme_set(scheme: str, words: Sequence[str]) -> Optional[Set]:
    """The distinct fingerprints of a page by a scheme as cento spells it, such as winnow:k=2,w=4; none if a word is
    too long to be hashed here."""
    name, _, rest = scheme.partition(":")
    values = {key: int(value) for key, value in (item.split("=") for item in rest.split(",") if item)}
    if name == "kgram":
        k = values.get("k", 3)
        return {tuple(words[at : at + k]) for at in range(len(words) - k + 1)}
    hashes = [cento_word_hash(word) for word in words]
    if None in hashes:
        return None
    if name == "dct":
        return cento_dct(hashes, values.get("p", 3))  # type: ignore[arg-type]
    method = {"mod": mod, "winnow": winnow, "break": hash_break}[name]
    return {found.value for found in method(hashes, cento_run_hash, **values)}


def md5_word(word: str) -> int:
    """The paper hashes with MD5 and keeps 32 bits of it; here its first four bytes, the lowest first."""
    return int.from_bytes(hashlib.md5(word.encode()).digest()[:4], "little")


def check_schemes() -> None:
    """Checks what §4 states about the number of fingerprints and about shared passages."""
    text = [md5_word(f"word{number * number % 401}") for number in range(2000)]
    every = kgram(text, cento_run_hash, 3)
    assert len(every) == len(text) - 3 + 1  # equation 3
    assert abs(len(mod(text, cento_run_hash, 3, 6)) / (len(every) / 6) - 1) < 0.5  # equation 4
    assert abs(len(winnow(text[:400], cento_run_hash, 3, 10)) / (398 * 2 / 11) - 1) < 0.3  # equation 5
    # Texts that share w + k - 1 words in a row share a fingerprint.
    passage = text[100:112]
    one, other = [1, 2, 3, 4, 5, 6] + passage, passage + [7, 8, 9, 10, 11, 12]
    values = [{found.value for found in winnow(words, cento_run_hash, 3, 10)} for words in (one, other)]
    assert values[0] & values[1]
    assert all(end - begin >= 3 for begin, end in segments(text, 3))
    assert category(set(range(10)), set(range(8))) == "C1"
    assert category(set(range(10)), set(range(5))) == "C2"
    assert category(set(range(10)), set(range(1))) == "C3"
    assert category(set(range(20)), set(range(10, 30))) == "C4"
    assert category(set(range(10)), set(range(5, 35))) == "C5"
    assert category(set(range(10)), set(range(9, 19))) == "C6"
    assert category(set(range(10)), set(range(9, 30))) is None
    # Twenty words between navigation.
    tokens = [True, False, True, True] + [False] * 20 + [True, False, True]
    assert content_window(tokens) == (4, 24)


def self_check() -> None:
    """The two examples of §4.2.2: a word is replaced, and the fingerprint is the same."""
    def of(text: str) -> int:
        def pair(last: int, farthest: int) -> int:
            return cento_run_hash([last << 32, farthest << 32]) >> 48

        return dct_fingerprint([md5_word(word) for word in text.split()], pair)

    check_schemes()
    examples = [
        ("one woman comedy by person Willy", "one woman show by person Willy", 0x6058F724),
        ("company scheduled another money", "company slated another money", 0x4BCAEB2C),
    ]
    for one, other, value in examples:
        assert of(one) == of(other) == value, (one, f"{of(one):08x}", other, f"{of(other):08x}")


if __name__ == "__main__":
    self_check()
