"""Functions for single texts."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Dict, List, NamedTuple, Optional, Union

from cento import _cento
from cento._errors import UsageError

#: The largest number that the library takes.
LARGEST = (1 << 32) - 1


#: Halves of surrogate pairs, which a string can have and a text cannot.
_SURROGATES = re.compile("[\ud800-\udfff]")


def _text(text: str) -> str:
    """Replaces lone surrogates by U+FFFD, as ``cento index`` does. All places stay the same."""
    if isinstance(text, str) and not text.isascii():
        return _SURROGATES.sub("\ufffd", text)
    return text


def _count(name: str, value: int) -> int:
    """Returns a number that is in range; anything else is an error of the caller."""
    if isinstance(value, int) and not 1 <= value <= LARGEST:
        raise UsageError(f"{name} must be from 1 to {LARGEST}, not {value}")
    return value

__all__ = [
    "Detector",
    "Estimate",
    "Fingerprint",
    "LabelMatch",
    "Passage",
    "Sketch",
    "Verdict",
    "Word",
    "fingerprints",
    "passages",
    "text_of_html",
    "words",
]


class Word(NamedTuple):
    """A word of a text: ``text[begin:end]``, and its normal form."""

    begin: int
    end: int
    normal: str


def words(text: str) -> List[Word]:
    """Returns the words of a text in any script, each with its place and its normal form.

    >>> cento.words("Straße, 東京都")
    [Word(begin=0, end=6, normal='strasse'), Word(begin=8, end=10, normal='東京'), Word(begin=10, end=11, normal='都')]
    """
    return [Word(*word) for word in _cento.words(_text(text))]


def text_of_html(html: str, content: str = "all") -> str:
    """Returns the visible text of an HTML page, as ``cento index`` stores it.

    ``content`` is that of ``cento index --content``.

    >>> cento.text_of_html("<title>A</title><p>One <b>two</b><script>3</script><p>Four")
    'One two\\n\\nFour'
    """
    return _cento.text_of_html(_text(html), content)


class Fingerprint(NamedTuple):
    """A fingerprint of a text: its hash, and the words ``text[begin:end]`` that it is of."""

    hash: int
    begin: int
    end: int


def fingerprints(text: str, scheme: str = "winnow") -> List[Fingerprint]:
    """Returns the fingerprints of a text.

    A scheme is ``kgram``, ``mod``, ``winnow``, ``break`` or ``dct`` (Seo & Croft 2008), with
    parameters such as ``winnow:k=5,w=10``. Hashes are the same in every version and on every
    machine.

    >>> text = "we hold these truths to be self evident that all men are created equal"
    >>> [text[one.begin:one.end] for one in cento.fingerprints(text, scheme="break:p=3")]
    ['we hold these truths to', 'be self evident that all', 'men are created equal']
    """
    return [Fingerprint(*one) for one in _cento.fingerprints(_text(text), scheme)]


class Estimate(NamedTuple):
    """An estimated share, and its confidence interval.

    ``value`` is None for the containment of a text in one that is so much longer that the sketches
    say nothing about it; the interval is then 0 to 1.
    """

    value: Optional[float]
    low: float
    high: float


class Sketch:
    """A sketch of a text: 84 numbers from which the similarity of two texts is estimated.

    A text is the set of its grams of ``k`` words, as for ``cento copies``; one with fewer words is
    a single gram.

    >>> a = cento.Sketch("it was the best of times it was the worst of times")
    >>> b = cento.Sketch("it was the best of times it was the age of wisdom")
    >>> a.resemblance(a).value
    1.0
    >>> a.parameters
    'minima:k=5,m=84'
    >>> low, high = a.resemblance(b)[1:]
    >>> low < 5 / 11 < high                  # 5 grams of five words are in both texts, 11 in either
    True
    """

    __slots__ = ("_sketch",)

    def __init__(self, text: str, *, k: int = 5, minima: int = 84) -> None:
        self._sketch = _cento.Sketch(_text(text), _count("k", k), _count("minima", minima))

    @classmethod
    def _of(cls, sketch: _cento.Sketch) -> Sketch:
        made = cls.__new__(cls)
        made._sketch = sketch
        return made

    @classmethod
    def from_minima(cls, minima: List[int], *, k: int = 5) -> Sketch:
        """Makes a sketch from stored ``minima``, with the ``k`` that they were made with."""
        return cls._of(_cento.Sketch.from_minima(minima, _count("k", k)))

    @property
    def parameters(self) -> str:
        """The parameters. Sketches with different parameters cannot be compared."""
        return self._sketch.parameters

    @property
    def minima(self) -> List[int]:
        """The numbers."""
        return self._sketch.minima

    def resemblance(self, other: Sketch, *, confidence: float = 0.95) -> Estimate:
        """Estimates the share of the grams of either text that are in both."""
        return Estimate(*self._sketch.resemblance(other._sketch, confidence))

    def containment(self, other: Sketch, *, confidence: float = 0.95) -> Estimate:
        """Estimates the share of this text's grams that the other text has."""
        return Estimate(*self._sketch.containment(other._sketch, confidence))

    def union(self, other: Sketch) -> Sketch:
        """Returns the sketch of the grams of both texts."""
        return Sketch._of(self._sketch.union(other._sketch))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sketch):
            return NotImplemented
        return (self.parameters, self.minima) == (other.parameters, other.minima)

    def __hash__(self) -> int:
        return hash((self.parameters, tuple(self.minima)))

    def __reduce__(self) -> Any:
        return _sketch_of, (self.minima, self._sketch.k)

    def __repr__(self) -> str:
        return f"<cento.Sketch {self.parameters}>"


def _sketch_of(minima: List[int], k: int) -> Sketch:
    return Sketch.from_minima(minima, k=k)


class Passage(NamedTuple):
    """Text that two texts share: ``a[a_begin:a_end]`` and ``b[b_begin:b_end]``.

    ``kind`` is ``verbatim``, ``edited`` or ``scattered`` (``a`` is a summary of a part of ``b``);
    ``identical`` is the share of identical words, and ``words`` the number of words in ``a``.
    """

    a_begin: int
    a_end: int
    b_begin: int
    b_end: int
    words: int
    identical: float
    kind: str


def passages(a: str, b: str, *, min_chars: int = 160, fold: str = "none") -> List[Passage]:
    """Returns the passages that two texts share, like ``cento passages A B``.

    ``min_chars`` is the length of the shortest passage on each side. ``fold="ocr"`` tolerates
    confusable letters and words hyphenated at the end of a line.

    >>> verse = "Arms and the man I sing, who first from the coasts of Troy came to Italy. " * 3
    >>> [passage] = cento.passages("He wrote: " + verse, verse + "And more.")
    >>> passage.kind, passage.identical, passage.words
    ('verbatim', 1.0, 48)
    """
    found = _cento.passages(_text(a), _text(b), _count("min_chars", min_chars), fold)
    return [Passage(*a, *b, words, identical, kind) for a, b, words, identical, kind in found]


class LabelMatch(NamedTuple):
    """A chunk that is a label: ``text[begin:end]``, and the hash of the label in hex."""

    begin: int
    end: int
    label: str


class Verdict(NamedTuple):
    """What a detector found in a text.

    ``chunks`` is the number of its chunks, ``stopped`` how many are boilerplate, and ``matched``
    how many are labels. ``contains`` is the share of labels without boilerplate; None if nothing is
    left.
    """

    chunks: int
    stopped: int
    matched: int
    contains: Optional[float]
    found: List[LabelMatch]


class Detector:
    """Finds labels in texts, for crawlers and pipelines (Ardi & Heidemann 2014).

    ``labels`` is a file made by ``cento discover``. It is read into memory. With ``mapped=True`` it
    is mapped: opening it takes the same time for any number of labels, and processes share one
    copy, but nobody may overwrite the file in place or truncate it meanwhile, which could kill the
    process. (``cento discover`` replaces a file, which does no harm.) A detector can be used by
    many threads at a time, and it can be pickled: the other process opens the same file.
    """

    __slots__ = ("_detector", "labels", "mapped")

    def __init__(self, labels: Union[str, "os.PathLike[str]"], *, mapped: bool = False) -> None:
        self._detector = _cento.Detector(os.fspath(labels), mapped)
        #: The file of the labels. It is absolute: the process may change its folder.
        self.labels: str = os.path.abspath(labels)
        #: Whether it is mapped.
        self.mapped: bool = mapped

    @property
    def recipe(self) -> Dict[str, Any]:
        """What the labels are hashes of: how text is selected, cut, normalised and hashed."""
        recipe: Dict[str, Any] = json.loads(self._detector.recipe)
        return recipe

    def __len__(self) -> int:
        return len(self._detector)

    def check(self, page: str, *, html: bool = False) -> Verdict:
        """Returns the verdict on a page: its text, or with ``html=True`` its HTML.

        The places of the labels are those in the text; that of HTML is
        ``text_of_html(page, detector.recipe["content"])``.
        """
        if html:
            page = text_of_html(page, self.recipe["content"])
        found = self._detector.check(_text(page))
        matches = [LabelMatch(begin, end, label) for (begin, end), label in found["found"]]
        return Verdict(
            found["chunks"], found["stopped"], found["matched"], found["contains"], matches
        )

    def __reduce__(self) -> Any:
        return _detector_of, (self.labels, self.mapped)

    def __repr__(self) -> str:
        return f"<cento.Detector {self.labels!r}, {len(self):,} labels>"


def _detector_of(labels: str, mapped: bool) -> Detector:
    return Detector(labels, mapped=mapped)
