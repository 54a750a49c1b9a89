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

`cento reuse` is not there yet; this file is the definition that it will be compared with.
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
