"""Pages, texts, words and chunks against `corpus.py`."""

from __future__ import annotations

import hashlib
from typing import Dict

import generate
from corpus import by_value, chunks, cut, is_unspaced, kept, normal_form, normalise
from harness import Comparison, compare, expect, first_difference


class Pages(Comparison):
    def check_pages(self) -> None:
        """Compares pages, texts, words and chunks with their definitions."""
        self.cento.run("index", "inputs", "-o", "words.cento", "--chunk", "words:1")
        self.cento.run("index", "inputs", "-o", "x.cento", "--hash", "sha1")
        texts = {row["page_id"]: row["text"] for row in self.table("words.cento", "text")}
        found = self.table("x.cento", "pages")
        urls = {row["page_id"]: row["url"] for row in found}
        for page in self.pages:
            # The address of a row without one is its file and number.
            if str(urls.get(page.page_id, "")).startswith("inputs/"):
                page.url = f"inputs/a.jsonl#{page.page_id & 0xFFFFFFFF}"
        with self.setting():
            self.words(texts)
        expected = [
            {
                "page_id": page.page_id,
                "url": page.url,
                "host": page.host,
                "domain": page.domain,
                "ip": page.ip,
                "published_at": None if page.published is None or page.reject else generate.rfc3339(page.published),
                "fetched_at": None if page.fetched is None else generate.rfc3339(page.fetched),
                "payload_sha1": hashlib.sha1(page.payload or b"").hexdigest(),
                "words": len(page.words) if page.reject is None else None,
                "chunks": len(chunks(page)) if page.reject is None else None,
                "reject": page.reject,
            }
            for page in self.pages
        ]
        for row in found:
            if row["reject"] is not None:
                row["words"] = row["chunks"] = row["published_at"] = None
        with self.setting():
            self.count(compare("pages", expected, found, "page_id"))
        with self.setting():
            stored = [{"page_id": page.page_id, "text": page.text} for page in kept(self.pages)]
            self.count(compare("text", stored, self.table("x.cento", "text"), "page_id"))
        with self.setting():
            self.count(self.chunk_rows("x.cento", "paragraph", "space+case"))
        for kind, how in [("lines:1", "none"), ("lines:3", "space"), ("words:7", "space+case"), ("document", "none")]:
            with self.setting():
                corpus = f"{kind.replace(':', '-')}.cento"
                self.cento.run("index", "inputs", "-o", corpus, "--hash", "sha1", "--chunk", kind, "--normalise", how)
                self.count(self.chunk_rows(corpus, kind, how))

    def words(self, texts: Dict) -> None:
        """Compares words of scripts with spaces; for other scripts, uses the words of cento."""
        ranges = by_value((row["page_id"], row) for row in self.table("words.cento", "chunks"))
        for page in kept(self.pages):
            text = str(texts[page.page_id]).encode()
            rows = sorted(ranges.get(page.page_id, []), key=lambda row: row["ordinal"])
            forms = [normal_form(text[row["begin"] : row["end"]].decode()) for row in rows]
            if is_unspaced(page.text):
                page.known_words = forms
                continue
            expect(forms == page.words, f"words: {page.url}: {first_difference(page.words, forms)}")
        self.count(len(ranges))

    def chunk_rows(self, corpus: str, kind: str, how: str) -> int:
        """Compares chunks by the first 128 bits of their SHA-1."""
        expected = []
        for page in kept(self.pages):
            pieces = [normalise(chunk, how) for chunk in cut(page.text, kind)]
            if kind.startswith("words") and is_unspaced(page.text):
                continue
            for ordinal, chunk in enumerate(pieces):
                digest = hashlib.sha1(chunk.encode()).hexdigest()[:32]
                expected.append({"page_id": page.page_id, "ordinal": ordinal, "chunk_hash": digest})
        known = {row["page_id"] for row in expected}
        found = [row for row in self.table(corpus, "chunks") if row["page_id"] in known]
        return compare(f"chunks of {kind}, {how}", expected, found, "page_id", "ordinal")
