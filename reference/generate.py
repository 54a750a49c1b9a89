"""Small random corpora with everything that is easy to get wrong.

A corpus is made of pages (`corpus.Page`) and written as the inputs that cento reads: JSON Lines of plain text,
JSON Lines of HTML, and a WARC archive. The expected result for each page follows from how it
was generated, not from how cento reads it.

Every corpus has duplicates (identical bytes, identical text in different bytes, chains of near-duplicates), pages quilted from
others with and without links to them, sentences that most pages have, stop chunks, repeated chunks, empty and
huge pages, pages shorter than a gram, pages without an address, a date or an IP address, dates before
1970, equal dates, several hosts on one domain and several domains on one address, tracking parameters, the
same URL captured twice, revisits with and without the address that they refer to, recursion errors, and
text in scripts without spaces. The order of the pages is random.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List, Optional, Tuple

from ardi import is_recursion_error
from corpus import Page, plain

SYLLABLES = "ba ce di fo gu ha ke li mo nu pa re si to vu wa xe yi zo".split()
# Words in which normal forms matter: case, ligatures, composed and decomposed letters, fractions, soft
# hyphens, zero-width spaces, and an apostrophe that is a letter.
ODD_WORDS = [
    "Straße", "STRASSE", "strasse", "café", "cafe\u0301", "ﬁsh", "FISH", "co\u00adoperate", "cooperate",
    "zero\u200bwidth", "zerowidth", "ΣΊΣΥΦΟΣ", "σίσυφος", "п\u02bcять", "½", "x²", "naïve", "١٢٣", "हिन्दी", "İstanbul",
]  # fmt: skip
UNSPACED = [
    "我们在春天的早晨走过城市的公园。", "研究人员发表了关于气候变化的新报告。", "他每天晚上都读一本书。",
    "日本の古い町並みは美しいです。", "ประเทศไทยมีอาหารอร่อยมากมาย", "图书馆里有许多古老的手稿和地图。",
]  # fmt: skip
STOP_CHUNK = "Read more"
NOTICE = "All rights reserved by the editors of this network of pages, who thank their readers for many years of trust."
HOSTS = [
    "www.alpha.com", "alpha.com", "news.alpha.com", "beta.org", "blog.beta.org", "gamma.co.uk", "www.gamma.co.uk",
    "delta.net", "epsilon.info", "zeta.com", "eta.org", "theta.net", "mirror.iota.com", "kappa.com.au",
]  # fmt: skip
ADDRESSES = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "198.51.100.7", None, None]
DAY = 86_400_000


@dataclass
class Record:
    """A page as it is written, and the expected result."""

    page: Page
    form: str  # text, html or warc
    html: Optional[str] = None
    raw: str = ""  # of plain text, as it is written
    date: Optional[str] = None  # of JSON Lines: the publication date
    refers_to: Optional[str] = None
    has_url: bool = True


@dataclass
class Made:
    """A corpus: its pages in the order of their ids, and the inputs that were written."""

    pages: List[Page]
    inputs: List[Path]
    originals: List[Page]
    originals_path: Path
    seed: int = 0
    notes: Dict[str, int] = field(default_factory=dict)


def rfc3339(millis: int) -> str:
    days, rest = divmod(millis, DAY)
    year, month, day = civil(days)
    seconds = rest // 1000
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{year:04}-{month:02}-{day:02}T{clock}Z"


def civil(days: int) -> Tuple[int, int, int]:
    """The date this many days after 1970, also before it (Python's own dates begin in the year 1)."""
    date = datetime.date(1970, 1, 1) + datetime.timedelta(days=days)
    return date.year, date.month, date.day


class Maker:
    def __init__(self, seed: int, size: int) -> None:
        self.random = random.Random(seed)
        self.size = size
        self.vocabulary = ["".join(self.random.choices(SYLLABLES, k=self.random.randint(1, 4))) for _ in range(300)]
        self.records: List[Record] = []
        self.count = 0

    # --- text ---------------------------------------------------------------------------------------

    def word(self) -> str:
        if self.random.random() < 0.03:
            return self.random.choice(ODD_WORDS)
        # Some words are much more frequent than others.
        word = self.vocabulary[int(len(self.vocabulary) * self.random.random() ** 2)]
        return word.capitalize() if self.random.random() < 0.1 else word

    def sentence(self, words: int) -> str:
        return " ".join(self.word() for _ in range(words)) + self.random.choice([".", "!", "?", ""])

    def paragraph(self) -> str:
        text = " ".join(self.sentence(self.random.randint(3, 14)) for _ in range(self.random.randint(1, 5)))
        if self.random.random() < 0.1:
            text = text.replace(" ", "\u00a0", 1)
        if self.random.random() < 0.2:
            # Hard line breaks: chunks of lines and of paragraphs differ.
            text = text.replace(". ", ".\n")
        return text

    def article(self) -> List[str]:
        parts = [self.paragraph() for _ in range(self.random.randint(2, 9))]
        if self.random.random() < 0.5:
            parts.append(NOTICE)
        if self.random.random() < 0.3:
            parts.insert(0, self.random.choice([STOP_CHUNK, STOP_CHUNK.upper(), "read   more"]))
        if self.random.random() < 0.2:
            parts.append(parts[0])
        return parts

    def edited(self, parts: List[str]) -> List[str]:
        """The same with a few words replaced."""
        changed = list(parts)
        for _ in range(self.random.randint(1, 3)):
            at = self.random.randrange(len(changed))
            words = changed[at].split(" ")
            words[self.random.randrange(len(words))] = self.word()
            changed[at] = " ".join(words)
        return changed

    # --- facts --------------------------------------------------------------------------------------

    def moment(self) -> Optional[int]:
        draw = self.random.random()
        if draw < 0.2:
            return None
        if draw < 0.3:
            return -5_000_000_000_000 + self.random.randrange(1000) * DAY  # about 1811
        if draw < 0.4:
            return -self.random.randrange(1, 800) * DAY // 2  # 1969: whole days, first days of months, and times
        if draw < 0.5:
            return 1_600_000_000_000  # equal dates
        if draw < 0.6:
            hours = self.random.randrange(2_000) % (24 * 8)  # days, and times near them
            return 1_500_000_000_000 // DAY * DAY + hours * DAY // 24
        return 1_500_000_000_000 + self.random.randrange(2_000) * DAY // 4 // 1000 * 1000

    def url(self, host: Optional[str] = None) -> str:
        self.count += 1
        folders = "".join(f"/{self.random.choice('abc')}" for _ in range(self.random.randrange(4)))
        url = f"https://{host or self.random.choice(HOSTS)}{folders}/page{self.count}"
        return url + self.random.choice(["", "", "", ".html", "?id=1", "?utm_source=feed", "?id=2&fbclid=x"])

    def add(self, parts: List[str], **given) -> Record:
        """A page of these paragraphs, with random facts by default."""
        form = given.get("form") or self.random.choice(["text", "text", "html", "warc"])
        page = Page(0, given.get("url") or self.url(), text=plain("\n\n".join(parts)))
        page.links = given.get("links", [])
        if page.links and form == "text":
            form = "html"
        page.ip = given["ip"] if "ip" in given else self.random.choice(ADDRESSES)
        date = given["date"] if "date" in given else self.moment()
        record = Record(page, form)
        if form == "text":
            record.raw = self.untidy("\n\n".join(parts))
            page.text = plain(record.raw)
            page.payload = record.raw.encode()
        else:
            # One paragraph of HTML is one line, whatever its line breaks.
            page.text = "\n\n".join(" ".join(part.split()) for part in parts if part.split())
            record.html = self.html(parts, page.links, date if form == "warc" else None)
            page.payload = record.html.encode()
        if form == "warc":
            fetched = 1_700_000_000_000 + self.random.randrange(10_000) * 1000
            page.fetched = given.get("fetched", fetched)
            page.published = date
        else:
            page.published = date
        record.date = rfc3339(date) if date is not None else None
        if date is not None and form != "warc" and self.count % 5 == 0:
            # A local time is read as its day.
            record.date = record.date.replace("T", " ").replace("Z", "")
            page.published = date // DAY * DAY
        self.records.append(record)
        return record

    def untidy(self, text: str) -> str:
        """Sometimes adds other line ends, trailing spaces, and stray Windows-1252 control characters."""
        draw = self.random.random()
        if draw < 0.1:
            return text.replace("\n", "\r\n") + "  \n"
        if draw < 0.2:
            return text.replace("\n\n", " \n\n\n\t\n")
        return text.replace(". ", "\u0097", 1) if draw < 0.3 else text

    def html(self, parts: List[str], links: List[str], published: Optional[int]) -> str:
        def escaped(text: str) -> str:
            return text.replace("&", "&amp;").replace("<", "&lt;")

        meta = ""
        if published is not None:
            meta = f'<meta property="article:published_time" content="{rfc3339(published)}">'
        # Links without text: they attribute, and add no words.
        anchors = "".join(f'<a href="{escaped(link)}"></a>' for link in links)
        body = "\n".join(f"<p>{escaped(part)}</p>" for part in parts)
        spaces = " " * self.random.randrange(3)
        return f"<!DOCTYPE html><html><head>{meta}</head><body>{spaces}{body}{anchors}</body></html>"

    # --- pages --------------------------------------------------------------------------------------

    def make(self) -> None:
        articles: List[Tuple[List[str], Record]] = []
        for _ in range(self.size):
            parts = self.article()
            articles.append((parts, self.add(parts)))
        for _ in range(self.size // 4):
            self.copies(*self.random.choice(articles))
        for _ in range(self.size // 4):
            self.quilt(articles)
        self.templates()
        self.mirrors()
        self.odd_pages(articles)
        self.captures(articles)
        self.random.shuffle(self.records)

    def copies(self, parts: List[str], record: Record) -> None:
        kind = self.random.choice(["bytes", "text", "near", "chain", "alias"])
        if kind == "bytes":
            copied = self.add(parts, form=record.form, links=record.page.links)
            copied.page.text, copied.page.payload = record.page.text, record.page.payload
            copied.html, copied.raw = record.html, record.raw
            if record.form == "warc":
                copied.page.published = record.page.published
        elif kind == "text":
            self.add(parts)
        elif kind == "near":
            self.add(self.edited(parts))
        elif kind == "chain":
            for _ in range(4):
                parts = self.edited(parts)
                self.add(parts)
        else:
            url = record.page.url.split("?")[0]
            self.add(parts, url=f"{url}?utm_campaign={self.count}", ip=record.page.ip)

    def quilt(self, articles: List[Tuple[List[str], Record]]) -> None:
        donors = self.random.sample(articles, self.random.randint(2, min(7, len(articles))))
        parts = [self.random.choice(parts) for parts, _ in donors]
        if self.random.random() < 0.5:
            parts.append(self.paragraph())
        linked = [record.page.url for _, record in donors if self.random.random() < 0.5]
        if self.random.random() < 0.3:
            linked = [self.random.choice(["http://www.", "https://"]) + "zeta.com/"]
        self.add(parts, links=linked if self.random.random() < 0.7 else [])

    def templates(self) -> None:
        parts = [self.paragraph() for _ in range(4)]
        for number in range(self.size // 6):
            self.add(parts[:2] + [self.sentence(6)] + parts[2:] + [f"Number {number}"], url=self.url("theta.net"))

    def mirrors(self) -> None:
        """A manual on three servers, in different folders; which server is first differs from page to page. Some
        pages are on one server only, or differ slightly."""
        places = [("beta.org", "/doc"), ("mirror.iota.com", "/pub/doc"), ("kappa.com.au", "/m")]
        for number in range(self.random.randint(5, 12)):
            parts = self.article()
            for host, folder in places:
                draw = self.random.random()
                if draw < 0.05:
                    continue
                text = self.article() if draw < 0.08 else self.edited(parts) if draw < 0.2 else parts
                self.add(text, url=f"https://{host}{folder}/chapter{number}.html", form="text")

    def odd_pages(self, articles: List[Tuple[List[str], Record]]) -> None:
        self.add([], form="text")
        self.add(["  ", ""], form="text")
        self.add(["word"], form="text")
        self.add(["three short words"])
        self.add(["three short words"])
        self.add([STOP_CHUNK, STOP_CHUNK])
        self.add(articles[0][0] * 40, form="text")
        huge = [self.paragraph() for _ in range(self.size)]
        self.add(huge)
        for _ in range(3):
            self.add([self.random.choice(UNSPACED) for _ in range(self.random.randint(2, 5))])
        self.add([UNSPACED[0], articles[1][0][0]])
        for path in ["/a/b/a/b/a/b/x", "/a/x/a/y/a/z/a/w", "/" + "/".join(f"p{n}" for n in range(97)), "/a/b/a/b/c"]:
            self.add(articles[2][0], url=f"https://trap.com{path}")
        for _ in range(3):
            record = self.add(self.article(), form="text")
            record.has_url = False

    def captures(self, articles: List[Tuple[List[str], Record]]) -> None:
        """Captures of the same URL, and revisits."""
        archived = [(parts, record) for parts, record in articles if record.form == "warc"]
        for parts, record in self.random.sample(archived, min(4, len(archived))):
            same = self.random.random() < 0.5
            self.add(parts if same else self.edited(parts), url=record.page.url, form="warc", ip=record.page.ip)
        for number, (parts, record) in enumerate(self.random.sample(archived, min(4, len(archived)))):
            page = Page(0, record.page.url if number % 2 else self.url(), payload=record.page.payload, reject="revisit")
            page.fetched = 1_710_000_000_000 + number * DAY
            page.ip = record.page.ip
            self.records.append(Record(page, "revisit", refers_to=record.page.url if number < 2 else None))

    # --- writing ------------------------------------------------------------------------------------

    def write(self, folder: Path) -> Made:
        folder.mkdir(parents=True)
        names = {"text": "a.jsonl", "html": "b.jsonl", "warc": "c.warc", "revisit": "c.warc"}
        inputs = sorted(set(names.values()))
        counts = {name: 0 for name in inputs}
        files = {name: bytearray() for name in inputs}
        for record in self.records:
            name = names[record.form]
            page = record.page
            page.page_id = inputs.index(name) << 32 | counts[name]
            counts[name] += 1
            files[name] += self.written(record)
            if page.reject is None and record.has_url and is_recursion_error(page.url):
                page.reject = "recursion"
            elif page.reject is None and not page.text:
                page.reject = "empty"
            if page.reject is not None:
                # The content and the publication date of a rejected page are not read.
                page.published = None
        for name, content in files.items():
            (folder / name).write_bytes(bytes(content))
        originals = self.originals()
        path = folder.parent / "originals.jsonl"
        path.write_text("".join(json.dumps({"url": page.url, "text": page.text}) + "\n" for page in originals))
        pages = sorted((record.page for record in self.records), key=lambda page: page.page_id)
        return Made(pages, [folder / name for name in inputs], originals, path)

    def originals(self) -> List[Page]:
        """Texts to search for: pages of the corpus, parts of pages, and one that is not in the corpus."""
        texts = [record.page.text for record in self.records if record.page.text and record.form in ("text", "html")]
        chosen = self.random.sample(texts, min(6, len(texts)))
        chosen += ["\n\n".join(text.split("\n\n")[:2]) for text in chosen[:3]]
        chosen.append(self.paragraph() + "\n\n" + self.paragraph())
        return [Page(at, f"https://original.org/{at}", text=plain(text)) for at, text in enumerate(chosen)]

    def written(self, record: Record) -> bytes:
        page = record.page
        if record.form in ("text", "html"):
            row: Dict[str, object] = {"text": record.raw} if record.form == "text" else {"html": record.html}
            if record.has_url:
                row["url"] = page.url
            if record.date is not None:
                row["date"] = record.date
            if page.ip is not None:
                row["ip"] = page.ip
            return json.dumps(row, ensure_ascii=self.random.random() < 0.5).encode() + b"\n"
        digest = base64.b32encode(hashlib.sha1(page.payload or b"").digest()).decode()
        head = [
            "WARC/1.0",
            f"WARC-Type: {'revisit' if record.form == 'revisit' else 'response'}",
            f"WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-{page.page_id & 0xFFFFFFFF:012x}>",
            f"WARC-Date: {rfc3339(page.fetched or 0)}",
            f"WARC-Target-URI: {page.url}",
            f"WARC-Payload-Digest: sha1:{digest}",
            "Content-Type: application/http; msgtype=response",
        ]
        if page.ip is not None:
            head.append(f"WARC-IP-Address: {page.ip}")
        body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
        if record.form == "revisit":
            head.append("WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest")
            if record.refers_to is not None:
                head.append(f"WARC-Refers-To-Target-URI: {record.refers_to}")
        else:
            body += page.payload or b""
        head.append(f"Content-Length: {len(body)}")
        return "\r\n".join(head).encode() + b"\r\n\r\n" + body + b"\r\n\r\n"


def make_hot(seed: int, pages: int, folder: Path) -> Made:
    """Many pages that share all lines but one, and a few that share none."""
    maker = Maker(seed, 1)
    shared = [maker.sentence(8) for _ in range(100)]
    for number in range(pages):
        maker.add(["\n".join([*shared, f"number {number}"])], form="text")
    for number in range(pages // 12):
        maker.add(["\n".join(maker.sentence(8) for _ in range(60))], form="text")
    maker.random.shuffle(maker.records)
    made = maker.write(folder)
    made.seed = seed
    return made


def make(seed: int, size: int, folder: Path) -> Made:
    """A random corpus in a folder."""
    maker = Maker(seed, size)
    maker.make()
    made = maker.write(folder)
    made.seed = seed
    return made
