"""Definitions that the papers assume or leave open: pages, words, chunks, hosts and dates.

The other files of this folder implement one paper each and import this one. Nothing here is fast, and nothing
is shared with the Rust code, so an error would have to be made twice to go unnoticed.

* Word: a maximal run of letters, marks and numbers. Characters that Unicode calls default-ignorable (soft
  hyphens, zero-width spaces) are ignored. Words are compared by their normal form: NFKC
  and full case folding.
* Chunk: a paragraph (separated by blank lines), N lines, N words, or the document. Lines are as a reader
  sees them: longer ones are wrapped at 80 columns, at white space. Chunks are compared after white
  space is collapsed and case is folded. Empty chunks are ignored.
* The date of a page: the publication date if it is known, else the fetch date. A publication date after the
  fetch is wrong and does not count. A page without a date is
  neither earlier nor later than any other. Of a page that is published before another one was fetched,
  nobody knows whether it is the earlier one: a page is published at or before its fetch. A publication
  date without a time, or with a time and no zone, is a whole day, and is not earlier than a time of that
  day. A day is that of some place, and nobody knows which: it may begin 14 hours before the day in UTC and
  end 12 hours after it. Two days are compared as they are stated. A publication date after 2100 is wrong, and the first moment of 1970 is no date.
"""

from __future__ import annotations

import calendar
import datetime
import re
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Dict, Iterable, List, Optional, Sequence, Tuple
from urllib.parse import urlsplit

# The columns after which a line is wrapped.
COLUMNS = 80

# Suffixes of the public suffix list that have more than one label. The list is data and not a definition:
# the random corpora use no others.
TWO_LABEL_SUFFIXES = ("co.uk", "com.au")

# Query parameters that track visitors and do not change the page.
TRACKING = {
    "_ga", "dclid", "fbclid", "gclid", "gclsrc", "igshid", "mc_cid", "mc_eid", "mkt_tok", "msclkid", "ref",
    "ref_src", "twclid", "yclid",
}  # fmt: skip


@dataclass
class Page:
    """One page of a corpus."""

    page_id: int
    url: str
    text: str = ""
    payload: Optional[bytes] = None
    ip: Optional[str] = None
    published: Optional[int] = None  # milliseconds since 1970, negative before
    fetched: Optional[int] = None
    links: List[str] = field(default_factory=list)
    reject: Optional[str] = None
    # The words of a text in a script without spaces, from a dictionary.
    known_words: Optional[List[str]] = None

    @property
    def host(self) -> Optional[str]:
        return host_of(self.url)

    @property
    def domain(self) -> Optional[str]:
        return domain_of(self.host)

    @property
    def words(self) -> List[str]:
        if self.known_words is None:
            self.known_words = words(self.text)
        return self.known_words

    @property
    def date(self) -> Optional[int]:
        """The date of the page: publication, else fetch."""
        return self.published if self.is_published else self.fetched

    @property
    def is_published(self) -> bool:
        """Whether the date of the page is that of its publication. No page is published after its fetch."""
        return self.published is not None and (self.fetched is None or span(self.published)[0] <= self.fetched)


# --- words -----------------------------------------------------------------------------------------------

_IGNORABLE_RANGES = [
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
]  # fmt: skip


@lru_cache(maxsize=None)
def is_ignorable(character: str) -> bool:
    """Whether Unicode calls the character default-ignorable."""
    code = ord(character)
    return any(first <= code <= last for first, last in _IGNORABLE_RANGES)


@lru_cache(maxsize=None)
def is_word_character(character: str) -> bool:
    """Letters, marks and numbers."""
    return unicodedata.category(character)[0] in "LMN" and not is_ignorable(character)


@lru_cache(maxsize=None)
def normal_form(word: str) -> str:
    """The form by which words are compared."""
    bare = "".join(character for character in word if not is_ignorable(character))
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", bare).casefold())
    return "".join(character for character in folded if is_word_character(character))


def word_ranges(text: str) -> List[Tuple[int, int]]:
    """The ranges of the words of a text, in characters. For scripts with spaces."""
    ranges: List[Tuple[int, int]] = []
    begin: Optional[int] = None
    end = 0
    for at, character in enumerate(text):
        if is_word_character(character):
            if begin is None:
                begin = at
            end = at + 1
        elif not is_ignorable(character) and begin is not None:
            ranges.append((begin, end))
            begin = None
    if begin is not None:
        ranges.append((begin, end))
    return ranges


def words(text: str) -> List[str]:
    """The normal forms of the words of a text, in order."""
    return [normal_form(text[begin:end]) for begin, end in word_ranges(text)]


def is_unspaced(text: str) -> bool:
    """Whether a text has characters of a script that is written without spaces."""
    return any(
        0x0E00 <= ord(c) <= 0x0EFF  # Thai, Lao
        or 0x1000 <= ord(c) <= 0x109F  # Myanmar
        or 0x1780 <= ord(c) <= 0x17FF  # Khmer
        or 0x3040 <= ord(c) <= 0x30FF  # Hiragana, Katakana
        or 0x3400 <= ord(c) <= 0x9FFF  # Han
        for c in text
    )


def grams(words: Sequence[str], k: int) -> List[Tuple[str, ...]]:
    """All runs of k words, in order: n - k + 1 of them, if any."""
    return [tuple(words[at : at + k]) for at in range(len(words) - k + 1)]


# --- chunks ----------------------------------------------------------------------------------------------


def plain(text: str) -> str:
    """A text as it is stored: lines without space at their ends, at most one blank line in a row. Characters
    from U+0080 to U+009F separate words: they are dashes and quotes of Windows-1252."""
    text = re.sub("[\u0080-\u0084\u0086-\u009f]", " ", text.replace("\r\n", "\n").replace("\r", "\n"))
    lines = [line.rstrip() for line in text.split("\n")]
    kept: List[str] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(line)
    return "\n".join(kept).strip()


@lru_cache(maxsize=None)
def columns(character: str) -> int:
    """The columns of a character on a terminal: two for wide ones, none for marks and ignorable ones."""
    if unicodedata.category(character) in ("Mn", "Me") or is_ignorable(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def width(text: str) -> int:
    return sum(map(columns, text))


def line_ranges(text: str) -> List[Tuple[int, int]]:
    """The lines of a text as a reader sees them, in characters: lines over 80 columns are wrapped at white space, which
    takes one column however long it is. Blank lines are ignored. (A run without white space that is longer than a
    line, as in Chinese, is broken in front of its words; that takes a dictionary, and no random corpus has any.)"""
    ranges: List[Tuple[int, int]] = []
    at = 0
    for line in text.split("\n"):
        begin = end = taken = 0
        for piece in re.finditer(r"\S+", line):
            wanted = width(piece.group())
            if taken and taken + 1 + wanted > COLUMNS:
                ranges.append((at + begin, at + end))
                taken = 0
            if taken == 0:
                begin, taken = piece.start(), wanted
            else:
                taken += 1 + wanted
            end = piece.end()
        if taken:
            ranges.append((at + begin, at + end))
        at += len(line) + 1
    return ranges


def cut(text: str, kind: str) -> List[str]:
    """The chunks of a text, in order, not normalised."""
    name, _, count = kind.partition(":")
    if name == "paragraph":
        paragraphs: List[str] = [""]
        for line in text.split("\n"):
            if line.strip():
                paragraphs[-1] += "\n" + line
            elif paragraphs[-1]:
                paragraphs.append("")
        return [paragraph.strip() for paragraph in paragraphs if paragraph.strip()]
    if name in ("lines", "words"):
        ranges = line_ranges(text) if name == "lines" else word_ranges(text)
        return [text[group[0][0] : group[-1][1]] for group in in_groups(ranges, int(count))]
    if name == "document":
        return [text.strip()] if text.strip() else []
    raise ValueError(f"no naive definition of chunks of {kind}")


def in_groups(items: Sequence, size: int) -> List[Sequence]:
    """Groups of consecutive items; the last may be smaller."""
    return [items[at : at + size] for at in range(0, len(items), size)]


def normalise(chunk: str, how: str = "space+case") -> str:
    """The form by which chunks are compared."""
    if how == "none":
        return chunk
    collapsed = " ".join(chunk.split())
    return collapsed if how == "space" else collapsed.casefold()


def chunks(page: Page, kind: str = "paragraph", how: str = "space+case") -> List[str]:
    """The chunks of a page as they are compared: a vector, in which a chunk may occur several times."""
    return [normalise(chunk, how) for chunk in cut(page.text, kind)]


# --- addresses and servers -------------------------------------------------------------------------------


@lru_cache(maxsize=None)
def host_of(url: str) -> Optional[str]:
    """The host of an address; None for a file."""
    return urlsplit(url).hostname if "://" in url else None


@lru_cache(maxsize=None)
def domain_of(host: Optional[str]) -> Optional[str]:
    """The registered domain: one label more than the public suffix."""
    if host is None or host.replace(".", "").isdigit():
        return host
    labels = host.split(".")
    suffix = 2 if ".".join(labels[-2:]) in TWO_LABEL_SUFFIXES else 1
    return ".".join(labels[-suffix - 1 :])


def server_of(page: Page, kind: str) -> Optional[str]:
    """The server of a page, by a notion of foreignness; None if it is unknown."""
    if kind == "domain":
        return page.domain
    if kind == "host":
        return page.host
    if kind == "ip":
        return page.ip
    raise ValueError(kind)


def is_foreign(page: Page, other: Page, kind: str) -> bool:
    """Whether two pages are on different servers. A page on an unknown server is foreign to all."""
    if kind == "none":
        return True
    one, two = server_of(page, kind), server_of(other, kind)
    return one is None or two is None or one != two


@lru_cache(maxsize=None)
def link_key(url: str) -> str:
    """The canonical form of a link: the address without scheme, fragment, `www.` and tracking parameters."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host.startswith("www.") and "." in host[4:]:
        host = host[4:]
    parameters = [part for part in re.split("[&;]", parts.query) if not is_tracking(part)]
    return host + (parts.path or "/") + (f"?{'&'.join(parameters)}" if parts.query and parameters else "")


def is_linked(page: Page, other: Page) -> bool:
    """Whether a page attributes another: it links to the other page, or to its domain if that is a different
    one. Links within a site are navigation, and attribute only their target."""
    targets = {link_key(link) for link in page.links}
    if link_key(other.url) in targets:
        return True
    domains = {domain_of(host_of(link)) for link in page.links}
    return other.domain is not None and other.domain != page.domain and other.domain in domains


# --- dates ---------------------------------------------------------------------------------------


def earlier(one: Page, other: Page) -> str:
    """Which of two pages is earlier by their dates: `first`, `second`, `same` or `unknown`."""
    if one.date is None or other.date is None:
        return "unknown"
    if one.date == other.date:
        # Two pages of one year need not be of the same day.
        day = 24 * 60 * 60 * 1000
        is_same = one.is_published == other.is_published and (not one.is_published or latest(one.date) - one.date < day)
        return "same" if is_same else "unknown"
    if is_before(one, other):
        return "first"
    return "second" if is_before(other, one) else "unknown"


def is_before(one: Page, other: Page) -> bool:
    if one.is_published and not other.is_published:
        return False
    both_days = one.is_published and other.is_published and is_day(one.published) and is_day(other.published)
    if both_days:
        return latest(one.published) < other.published
    end = span(one.published)[1] if one.is_published else one.fetched
    begin = span(other.published)[0] if other.is_published else other.fetched
    return end < begin


def is_day(millis: int) -> bool:
    """Whether a publication date may be a whole day, month or year."""
    return millis % (24 * 60 * 60 * 1000) == 0


def span(millis: int) -> Tuple[int, int]:
    """The first and last millisecond that a publication date may mean, in any time zone."""
    hour = 60 * 60 * 1000
    return (millis - 14 * hour, latest(millis) + 12 * hour) if is_day(millis) else (millis, millis)


def latest(millis: int) -> int:
    """The last millisecond that a publication date may mean: a date without a time is a whole day, and the first
    day of a month or a year may be all of it."""
    day = 24 * 60 * 60 * 1000
    if millis % day != 0:
        return millis
    begin = datetime.date(1970, 1, 1) + datetime.timedelta(days=millis // day)
    days = 1
    if (begin.month, begin.day) == (1, 1):
        days = 366 if calendar.isleap(begin.year) else 365
    elif begin.day == 1:
        days = calendar.monthrange(begin.year, begin.month)[1]
    return millis + days * day - 1


def is_tracking(parameter: str) -> bool:
    name = parameter.split("=")[0].lower()
    return name.startswith("utm_") or name in TRACKING


def has_tracking_parameters(url: str) -> bool:
    return any(is_tracking(parameter) for parameter in re.split("[&;]", urlsplit(url).query))


def precedence(page: Page) -> Tuple:
    """The order in which representatives are chosen: dated pages by date, then undated ones; of equal dates
    an address without tracking parameters first; then the lower page id."""
    undated = page.date is None
    return (undated, 0 if undated else page.date, has_tracking_parameters(page.url), page.page_id)


def kept(pages: Iterable[Page]) -> List[Page]:
    """The pages that were not rejected, in the order of their ids."""
    return sorted((page for page in pages if page.reject is None), key=lambda page: page.page_id)


def by_value(pairs: Iterable[Tuple]) -> Dict:
    """Groups by value: {value: [its members, in order]}."""
    groups: Dict = {}
    for value, item in pairs:
        groups.setdefault(value, []).append(item)
    return groups
