#!/usr/bin/env python3
"""Compares cento with the naive references of the papers, row by row, on random corpora.

    reference/check.py target/debug/cento                      a few small corpora, in seconds
    reference/check.py target/release/cento --rounds 40 --size 120 --seed 7

Every round makes a corpus (`generate.py`), runs the real binary on it with many settings, computes the same
from the papers (`ardi.py`, `fetterly.py`, `najork.py`, `shivakumar.py`), and prints one line for each analysis.
Tables are read by the example `rows` of cento-find, which is built beside the binary.

What cannot be compared is what depends on a hash function: which 84 phrases are sampled from a page, and which
pairs of pages the sketches of `copies` miss. Of these it checks what holds for any function:

* copies: every removed page is removed for a kept page that precedes it and that it truly resembles, by the
  resemblance that is told; no two kept pages resemble each other, but for pairs that sketches may miss.
* phrases: a page of which no phrase is popular has no popular shingles; one of which all are has 84; sites have the
  mean and the deviation of the shingles of their pages; a covering set covers them, greedily, foreign pages first.

Words of scripts without spaces are those of cento's own dictionary (an index with `--chunk words:1`).
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Set, Tuple

sys.path.insert(0, str(Path(__file__).parent))

import ardi  # noqa: E402
import fetterly  # noqa: E402
import generate  # noqa: E402
import najork  # noqa: E402
import seo  # noqa: E402
import shivakumar  # noqa: E402
from corpus import (  # noqa: E402
    Page,
    by_value,
    chunks,
    cut,
    earlier,
    grams,
    is_unspaced,
    kept,
    normalise,
    precedence,
)

Row = Dict[str, object]
# How far two floating-point numbers may be apart that were computed from the same whole ones.
NEAR = 1e-6
# A pair of this resemblance is a candidate with a probability of 1 - 10^-6 or more by either cut of the sketch; of pairs
# between R and this, one in so many may be missed.
SURE = Fraction(97, 100)


class Cento:
    """The binary, and what reads its tables."""

    def __init__(self, binary: Path, rows: Path) -> None:
        self.binary = binary
        self.rows = rows
        self.folder = Path(".")
        self.runs = 0

    def run(self, *arguments: object) -> str:
        command = [str(self.binary), *map(str, arguments)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise Difference(f"{' '.join(command[1:])}: exit status {done.returncode}\n{done.stderr.strip()}")
        return done.stdout

    def find(self, *arguments: object) -> Callable[[str], List[Row]]:
        """Runs an analysis in a place of its own; answers how to read its tables."""
        self.runs += 1
        place = self.folder / f"findings-{self.runs}"
        self.run(*arguments, "--findings", place)

        def table(name: str) -> List[Row]:
            found = sorted(place.glob(f"*/*/{name}.parquet"))
            if len(found) != 1:
                raise Difference(f"{' '.join(map(str, arguments))}: {len(found)} tables are called {name}")
            return self.table(found[0])

        return table

    def table(self, *paths: Path) -> List[Row]:
        text = subprocess.run([self.rows, *paths], check=True, capture_output=True, text=True).stdout
        return [json.loads(line) for line in text.split("\n") if line]


class Difference(Exception):
    """cento and the reference do not agree."""


def same(one: object, other: object) -> bool:
    if isinstance(one, (int, float, Fraction)) and isinstance(other, (int, float, Fraction)):
        return abs(float(one) - float(other)) <= NEAR
    return one == other


def compare(what: str, expected: Iterable[Row], found: Iterable[Row], *key: str) -> int:
    """Compares rows by a key, in the columns that are expected. Answers how many there are."""
    def name(row: Row) -> Tuple:
        return tuple(row[column] for column in key)

    expected, found = list(expected), list(found)
    wanted = {name(row): row for row in expected}
    given = {name(row): row for row in found}
    if len(wanted) != len(expected) or len(given) != len(found):
        raise Difference(f"{what}: {len(found)} rows with {len(given)} keys, expected {len(wanted)}")
    for which in sorted(wanted.keys() - given.keys(), key=str)[:1]:
        raise Difference(f"{what}: no row {which}; {len(given)} rows instead of {len(wanted)}: {wanted[which]}")
    for which in sorted(given.keys() - wanted.keys(), key=str)[:1]:
        raise Difference(f"{what}: unexpected row {which}; {len(given)} rows instead of {len(wanted)}: {given[which]}")
    for which, row in wanted.items():
        for column, value in row.items():
            if not same(value, given[which].get(column)):
                told = given[which].get(column)
                shown = float(value) if isinstance(value, Fraction) else value
                raise Difference(f"{what}: {which}: {column} is {told}, expected {shown}")
    return len(wanted)


def expect(holds: bool, what: str) -> None:
    if not holds:
        raise Difference(what)


class Round:
    """One corpus, with everything that is compared on it."""

    def __init__(self, cento: Cento, made: generate.Made) -> None:
        self.cento = cento
        self.made = made
        self.pages = made.pages
        self.settings = 0
        self.rows = 0
        self.differences: List[str] = []

    @contextlib.contextmanager
    def setting(self) -> Iterator[None]:
        """One setting: a difference in it does not keep the next from being compared."""
        self.settings += 1
        try:
            yield
        except Difference as difference:
            self.differences.append(str(difference))

    def count(self, rows: int) -> None:
        self.rows += rows

    # --- what was read -----------------------------------------------------------------------------

    def check_pages(self) -> None:
        """Pages, texts, words and chunks, by the definitions of the design."""
        self.cento.run("index", "inputs", "-o", "words.cento", "--chunk", "words:1")
        self.cento.run("index", "inputs", "-o", "x.cento", "--hash", "sha1")
        texts = {row["page_id"]: row["text"] for row in self.table("words.cento", "text")}
        found = self.table("x.cento", "pages")
        urls = {row["page_id"]: row["url"] for row in found}
        for page in self.pages:
            # A row without an address is known by its file and number.
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
        """Compares words where spaces separate them, and takes cento's own where a dictionary does."""
        ranges = by_value((row["page_id"], row) for row in self.table("words.cento", "chunks"))
        for page in kept(self.pages):
            text = str(texts[page.page_id]).encode()
            rows = sorted(ranges.get(page.page_id, []), key=lambda row: row["ordinal"])
            forms = [normal_word(text[row["begin"] : row["end"]].decode()) for row in rows]
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

    def table(self, corpus: str, name: str) -> List[Row]:
        return self.cento.table(*sorted((self.cento.folder / corpus / name).glob("*.parquet")))

    # --- Fetterly: copies --------------------------------------------------------------------------

    def check_copies(self) -> None:
        for k, least, keep in [
            (5, "0.8", "earliest"),
            (3, "0.6", "first"),
            (5, "1", "earliest"),
            (1, "0.9", "longest"),
            (5, "0.7", "shortest-url"),
        ]:
            with self.setting():
                skip = self.cento.folder / f"skip-{k}-{least}-{keep}"
                options = ["-k", k, "--resemblance", least, "--keep", keep]
                table = self.cento.find("copies", "x.cento", *options, "--skip-list", skip)
                self.count(self.copies(table("pairs"), k, Fraction(least), keep))
                self.skip_list(f"copies {' '.join(map(str, options))}", skip, table("pairs"))
        with self.setting():
            self.megashingles()

    def copies(self, pairs: List[Row], k: int, least: Fraction, keep: str) -> int:
        by_id = {page.page_id: page for page in self.pages}
        order = fetterly.ORDERS[keep]
        removed = {row["page_id"]: row for row in pairs}
        kinds = fetterly.exact_kinds(self.pages, order)
        sets = {page.page_id: fetterly.gram_set(page, k) for page in kept(self.pages)}
        what = f"copies -k {k} --resemblance {float(least)} --keep {keep}"
        for page_id, row in removed.items():
            page, of = by_id[page_id], by_id[row["of_id"]]
            name = f"{what}: {page.url} ({page_id}) for {of.url} ({of.page_id})"
            expect(of.page_id not in removed, f"{name}: that page is removed too")
            expect(row["cause"] in causes(page, of), f"{name}: cause {row['cause']}, expected {causes(page, of)}")
            if page.reject is not None:
                # Files are compared whatever became of their text.
                kind = "revisit" if page.reject == "revisit" else "bytes"
                expect(row["kind"] == kind, f"{name}: a page rejected as {page.reject} is {row['kind']}")
                continue
            expect(order(of) < order(page), f"{name}: the page that is kept does not come first")
            alike = fetterly.resemblance(sets[page_id], sets[of.page_id])
            alike = Fraction(1) if page.text == of.text else alike
            expect(alike >= least, f"{name}: resemblance {float(alike)}")
            kind = kinds.get(page_id, "near")
            expect(row["kind"] == kind, f"{name}: kind {row['kind']}, expected {kind}")
            if row["kind"] == "near":
                expect(same(row["resemblance"], alike), f"{name}: resemblance {row['resemblance']}, not {float(alike)}")
        for page_id, kind in kinds.items():
            expect(page_id in removed, f"{what}: {by_id[page_id].url} ({page_id}) is kept, but has the {kind} of another")
        if not self.missed(what, removed.keys(), sets, least):
            naive = {found.page.page_id for found in fetterly.remove_near_duplicates(self.pages, k, least, order)}
            given = {page_id for page_id in removed if by_id[page_id].reject is None}
            expect(naive == given, f"{what}: removed {sorted(given)}, expected {sorted(naive)}")
        return len(pairs)

    def missed(self, what: str, removed: Iterable[int], sets: Dict, least: Fraction) -> int:
        """How many pairs of kept pages resemble each other after all. Few, and none that is nearly identical."""
        missed = 0
        left = [page for page in kept(self.pages) if page.page_id not in removed]
        for at, one in enumerate(left):
            for other in left[:at]:
                alike = fetterly.resemblance(sets[one.page_id], sets[other.page_id])
                if least < 1 and alike >= least:
                    missed += 1
                    expect(
                        alike < SURE and missed <= 1,
                        f"{what}: both {one.url} ({one.page_id}) and {other.url} ({other.page_id}) are kept, "
                        f"and resemble each other by {float(alike)}",
                    )
        return missed

    def skip_list(self, what: str, path: Path, pairs: List[Row]) -> None:
        """A crawler that obeys the list still fetches a page of every class, and every page that is unlike all others."""
        urls, prefixes = set(), []
        for line in path.read_text().split("\n"):
            kind, _, rest = line.partition("\t")
            if kind == "url":
                urls.add(rest.split("\t")[0])
            elif kind == "prefix":
                prefixes.append(rest.split("\t")[0])
        def is_skipped(page: Page) -> bool:
            return page.url in urls or any(page.url.partition("://")[2].startswith(prefix) for prefix in prefixes)

        kept_of = {row["page_id"]: row["of_id"] for row in pairs}
        classes = by_value((kept_of.get(page.page_id, page.page_id), page) for page in kept(self.pages))
        for members in classes.values():
            if all(is_skipped(page) for page in members):
                names = ", ".join(f"{page.url} ({page.page_id})" for page in members)
                raise Difference(f"{what} --skip-list: a crawler fetches none of the class {names}")

    def megashingles(self) -> None:
        """Equal sets of phrases give equal shingles, and pages that share no phrase none."""
        table = self.cento.find("copies", "x.cento", "--scheme", "megashingle")
        by_id = {page.page_id: page for page in self.pages}
        circles = {page.page_id: set(fetterly.circular_phrases(page.words, 5)) for page in kept(self.pages)}
        pairs = [row for row in table("pairs") if by_id[row["page_id"]].reject is None]
        class_of = {page_id: page_id for page_id in circles}
        class_of.update({row["page_id"]: row["of_id"] for row in pairs})
        for row in pairs:
            expect(row["of_id"] == class_of[row["of_id"]], f"megashingle: {row['of']} is removed too")
            members = [page_id for page_id, kept_id in class_of.items() if kept_id == row["of_id"]]
            linked = fetterly.closure(members, lambda one, other: bool(circles[one] & circles[other]))
            expect(len(linked) == 1, f"megashingle: a class of {row['of']} with pages that share no phrase")
            first = min((by_id[page_id] for page_id in members), key=precedence)
            expect(first.page_id == row["of_id"], f"megashingle: {row['of']} is kept, {first.url} comes first")
        for same_phrases in by_value((frozenset(circle), page_id) for page_id, circle in circles.items()).values():
            if circles[same_phrases[0]]:
                classes = {class_of[page_id] for page_id in same_phrases}
                expect(len(classes) == 1, f"megashingle: pages with the same phrases in {len(classes)} classes")
        self.count(len(pairs))

    # --- Fetterly: phrases -------------------------------------------------------------------------

    def check_phrases(self) -> None:
        for k, least, site in [(5, 2, "host"), (3, 5, "domain"), (4, 3, "ip")]:
            options = ["-k", k, "--min-pages", least, "--site", site, "--cover-pages", "all", "--cover-from", 1]
            options += ["--flag-pages", 3, "--flag-mean", 20, "--candidates", 65536]
            with self.setting():
                table = self.cento.find("phrases", "x.cento", *options, "--exact", "--no-collapse")
                self.count(self.phrases(table, k, least, site, self.pages, True))
        options = ["--min-pages", 3, "--cover-pages", "all", "--cover-from", 1]
        with self.setting():
            table = self.cento.find("phrases", "x.cento", *options, "--no-collapse")
            self.count(self.phrases(table, 5, 3, "host", self.pages, False))
        with self.setting():
            removed = {row["page_id"] for row in self.cento.find("copies", "x.cento")("pairs")}
            left = [page for page in self.pages if page.page_id not in removed]
            table = self.cento.find("phrases", "x.cento", *options, "--exact")
            self.count(self.phrases(table, 5, 3, "host", left, True))

    def phrases(self, table, k: int, least: int, site: str, pages: List[Page], exact: bool) -> int:
        what = f"phrases -k {k} --min-pages {least} --site {site}{' --exact' if exact else ''}"
        popular = fetterly.popular_phrases(pages, k, least, site)
        rows = 0
        if exact:
            expected = [
                {
                    "phrase": " ".join(found.phrase),
                    "pages": found.pages,
                    "sites": found.sites,
                    "page_id": found.first.page_id,
                }
                for found in popular
            ]
            rows += compare(f"{what}: phrases", expected, table("phrases"), "phrase")
        else:
            true = {" ".join(found.phrase): found for found in popular}
            for row in table("phrases"):
                found = true.get(row["phrase"])
                expect(found is not None, f"{what}: “{row['phrase']}” is not on {least} pages")
                expect(row["pages"] <= found.pages and row["sites"] <= found.sites, f"{what}: “{row['phrase']}” on {row['pages']} pages of {row['sites']} sites, truly {found.pages} of {found.sites}")
        rows += self.page_phrases(what, table, k, least, site, pages, exact)
        rows += self.covers(what, table, k, pages)
        return rows

    def page_phrases(self, what: str, table, k: int, least: int, site: str, pages: List[Page], exact: bool) -> int:
        account = {found.page.page_id: found for found in fetterly.page_phrases(pages, k, least, site)}
        found_pages = {row["page_id"]: row for row in table("pages")}
        expect(account.keys() == found_pages.keys(), f"{what}: {len(found_pages)} pages, not {len(account)}")
        for page_id, row in found_pages.items():
            true = account[page_id]
            name = f"{what}: {row['page']} ({page_id})"
            if exact:
                expect(row["phrases"] == true.phrases, f"{name}: {row['phrases']} phrases, not {true.phrases}")
                expect(row["popular_phrases"] == true.popular, f"{name}: {row['popular_phrases']} popular, not {true.popular}")
                share = Fraction(true.own, true.phrases) if true.phrases else None
                expect(share is None or same(row["originality"], share), f"{name}: originality {row['originality']}, not {share and float(share)}")
            if true.popular == 0:
                expect(row["popular"] == 0, f"{name}: {row['popular']} popular shingles, but no popular phrase")
            expect(row["popular"] <= row["shingles"] <= 84, f"{name}: {row['popular']} of {row['shingles']} shingles")
        sites = by_value((fetterly.site_of(page, site), page.page_id) for page in kept(pages))
        expected = []
        for name, members in sites.items():
            if not isinstance(name, str):
                continue
            counts = [int(found_pages[page_id]["popular"]) for page_id in members]
            mean, variance = fetterly.mean_and_variance(counts)
            row: Row = {"site": name, "pages": len(members), "mean": mean, "deviation": math.sqrt(variance)}
            if exact:
                row["flagged"] = fetterly.is_flagged(counts, 3, 20, 15) if "exact" in what and least != 3 else None
                if row["flagged"] is None:
                    del row["flagged"]
                phrases = sum(account[page_id].phrases for page_id in members)
                own = sum(account[page_id].own_site for page_id in members)
                if phrases:
                    row["originality"] = Fraction(own, phrases)
            expected.append(row)
        return len(found_pages) + compare(f"{what}: sites", expected, table("sites"), "site")

    def covers(self, what: str, table, k: int, pages: List[Page]) -> int:
        by_id = {page.page_id: page for page in pages}
        phrases = {page.page_id: set(fetterly.circular_phrases(page.words, k)) for page in kept(pages)}
        pages_found = {row["page_id"]: row for row in table("pages")}
        covers = by_value((row["page_id"], row) for row in table("covers"))
        for page_id, row in pages_found.items():
            name = f"{what}: cover of {row['page']} ({page_id})"
            donors = covers.get(page_id, [])
            expect((row["cover"] or 0) == len(donors), f"{name}: {row['cover']} pages, but {len(donors)} rows")
            if not donors:
                continue
            expect(len({donor["source_id"] for donor in donors}) == len(donors), f"{name}: a page twice")
            total = sum(donor["shingles"] for donor in donors)
            expect(total == row["popular"], f"{name}: {total} shingles covered of {row['popular']}")
            foreign = sum(donor["shingles"] for donor in donors if donor["foreign"])
            expect(foreign == row["foreign"], f"{name}: foreign {row['foreign']}, its rows {foreign}")
            page = by_id[page_id]
            for before, donor in zip([None, *donors], donors):
                source = by_id[donor["source_id"]]
                told = f"{name} by {source.url} ({source.page_id})"
                expect(source is not page, f"{told}: itself")
                expect(bool(phrases[page_id] & phrases[source.page_id]), f"{told}: no phrase in common")
                alike = (page.domain is not None and page.domain == source.domain) or (page.ip is not None and page.ip == source.ip)
                expect(donor["foreign"] == (not alike), f"{told}: foreign is {donor['foreign']}")
                if before is not None and before["foreign"] == donor["foreign"]:
                    expect(before["shingles"] >= donor["shingles"], f"{told}: gives more than the page before it")
                expect(before is None or before["foreign"] or not donor["foreign"], f"{told}: a foreign page after others")
        return sum(map(len, covers.values()))

    # --- Najork: quilts ----------------------------------------------------------------------------

    def check_quilts(self) -> None:
        half = Fraction(1, 2)
        for k, m, c, theta, foreign, phi in [
            (5, 50, 4, "0.5", "domain", "0"),
            (3, 10, 2, "0.3333", "host", "0.02"),
            (4, 5, 2, "0.5", "ip", "0"),
            (2, 100, 1, "0.8", "none", "0.1"),
            (5, 50, 1, "0.25", "domain", "0.2"),
            (7, 2, 1, "0.1", "none", "0"),
        ]:
            with self.setting():
                options = ["-k", k, "-m", m, "-c", c, "--theta", theta, "--foreign", foreign, "--min-share", phi]
                table = self.cento.find("quilts", "x.cento", *options)
                expected = najork.quilts(self.pages, k, m, c, Fraction(theta), foreign, Fraction(phi))
                what = f"quilts {' '.join(map(str, options))}"
                patches = [patch_row(quilt, rank) for quilt in expected for rank in range(len(quilt.sources))]
                self.count(compare(f"{what}: patches", patches, table("patches"), "page_id", "source_id"))
                self.patch_places(what, table("patches"), k)
                self.count(compare(what, [quilt_row(quilt, foreign) for quilt in expected], table("quilts"), "page_id"))
        pivot = {"k": 5, "m": 50, "c": 2, "theta": half, "foreign": "domain"}
        sweeps = {"k": [2, 3, 5, 8], "m": [2, 3, 10, 80], "c": [1, 2, 4, 6], "theta": ["0.2", "0.3333", "0.5", "1"]}
        options = []
        expected_rows: List[Row] = []
        for name, values in sweeps.items():
            options += ["--sweep", f"{name}={','.join(map(str, values))}"]
            numbers = [Fraction(value) if name == "theta" else value for value in values]
            for value, quilts, sources in najork.sweep(self.pages, name, numbers, **pivot):
                row = {**pivot, name: value}
                expected_rows.append({**{key: row[key] for key in ("k", "m", "c")}, "theta": float(row["theta"]), "swept": name, "quilts": quilts, "sources": sources})
        with self.setting():
            table = self.cento.find("quilts", "x.cento", "-c", 2, *options)
            self.count(compare("sweep", expected_rows, table("sweep"), "swept", "k", "m", "c", "theta"))

    def patch_places(self, what: str, patches: List[Row], k: int) -> None:
        """Where a patch is told to be, both texts have the same words."""
        by_id = {page.page_id: page for page in self.pages}
        for row in patches:
            page, source = by_id[row["page_id"]], by_id[row["source_id"]]
            if is_unspaced(page.text):
                continue
            text, other = page.text.encode(), source.text.encode()
            for begin, end, source_begin, source_end in zip(row["begins"], row["ends"], row["source_begins"], row["source_ends"]):
                here, there = text[begin:end].decode(), other[source_begin:source_end].decode()
                expect(words_of(here) == words_of(there), f"{what}: {page.url} at {begin}: “{here}”, in {source.url} “{there}”")
                expect(len(words_of(here)) >= k, f"{what}: {page.url} at {begin}: fewer than {k} words")

    # --- Shivakumar: overlap -----------------------------------------------------------------------

    def check_overlap(self) -> None:
        for kind, threshold, most in [("paragraph", 1, 0), ("lines:2", 2, 0), ("lines:1", 3, 6), ("words:5", 4, 0)]:
            with self.setting():
                self.count(self.pairs(kind, threshold, most))
            for by in ("host", "domain"):
                with self.setting():
                    self.count(self.servers(kind, threshold, most, by))
        with self.setting():
            self.replication()

    def pairs(self, kind: str, threshold: int, most: int) -> int:
        options = ["--chunk", kind, "--threshold", threshold, "--max-pages", most]
        what = f"overlap {' '.join(map(str, options))}"
        pages = self.spaced() if kind.startswith("words") else self.pages
        sets = shivakumar.page_sets(pages, kind)
        found = self.cento.find("overlap", "x.cento", *options)("pairs")
        if kind.startswith("words"):
            found = [row for row in found if {row["page_id"], row["of_id"]} <= sets.keys()]
        pairs = shivakumar.overlap(sets, threshold, most)
        coarse = shivakumar.coarse_overlap(shivakumar.without_common(sets, most), threshold)
        expect(sorted(map(repr, pairs)) == sorted(map(repr, coarse)), f"{what}: coarse counting differs")
        copies = {group[0].page_id: len(group) for group in shivakumar.text_classes(pages)}
        expected = [
            {
                "of_id": pair.one,
                "page_id": pair.other,
                "chunks": pair.shared,
                "of_chunks": pair.one_chunks,
                "page_chunks": pair.other_chunks,
                "of_share": Fraction(pair.shared, pair.one_chunks),
                "page_share": Fraction(pair.shared, pair.other_chunks),
                "of_copies": copies[pair.one],
                "page_copies": copies[pair.other],
            }
            for pair in pairs
        ]
        return compare(what, expected, found, "page_id", "of_id")

    def spaced(self) -> List[Page]:
        return [page for page in self.pages if not is_unspaced(page.text)]

    def servers(self, kind: str, threshold: int, most: int, by: str) -> int:
        if kind.startswith("words"):
            return 0
        options = ["--chunk", kind, "--threshold", threshold, "--max-pages", most, f"--servers={by}"]
        found = self.cento.find("overlap", "x.cento", *options)("servers")
        counts = {name: len(pages) for name, pages in by_value((server(page, by), page) for page in kept(self.pages)).items()}
        expected = []
        for pair in shivakumar.overlap(shivakumar.server_sets(self.pages, kind, by), threshold, most):
            one = (Fraction(pair.shared, pair.one_chunks), pair.one, pair.one_chunks)
            two = (Fraction(pair.shared, pair.other_chunks), pair.other, pair.other_chunks)
            expected.append(server_row(pair.shared, one, two, counts))
        for row in found:
            expect(row["server_share"] >= row["of_share"], f"overlap --servers: less of {row['server']} is in the other")
            row["pair"] = " ".join(sorted([row["server"], row["of"]]))
            sides = [(row["server"], row["server_share"], row["server_chunks"], row["server_pages"]), (row["of"], row["of_share"], row["of_chunks"], row["of_pages"])]
            for side, values in zip(("one", "two"), sorted(sides)):
                row.update({f"{side}_{name}": value for name, value in zip(("share", "chunks", "pages"), values[1:])})
        return compare(f"overlap {' '.join(map(str, options))}", expected, found, "pair")

    def replication(self) -> None:
        table = self.cento.find("overlap", "x.cento", "--replication")
        pages = kept(self.pages)
        sizes = {page.page_id: len(page.payload or b"") for page in pages}
        bars: List[Row] = []
        saved_rows: List[Row] = []
        for notion, threshold in shivakumar.NOTIONS:
            found = shivakumar.replicas(pages, notion, threshold)
            for least, count in shivakumar.figure_1(found):
                bars.append({"notion": notion, "from": least, "pages": count, "share": Fraction(count, len(pages))})
            saved = shivakumar.savings(pages, found)
            saved_rows.append(
                {
                    "notion": notion,
                    "pages": len(pages),
                    "saved_pages": len(saved),
                    "share": Fraction(len(saved), len(pages)),
                    "bytes": sum(sizes.values()),
                    "saved_bytes": sum(sizes[page_id] for page_id in saved),
                }
            )
        rows = compare("replication: replicas", bars, table("replicas"), "notion", "from")
        self.count(rows + compare("replication: savings", saved_rows, table("savings"), "notion"))

    # --- Ardi: discovery and detection -------------------------------------------------------------

    def check_discover(self) -> None:
        stops = self.stops()
        for threshold, without in [(1, False), (3, False), (6, True)]:
            with self.setting():
                options = ["--threshold", threshold, *(["--no-stop"] if without else [])]
                table = self.cento.find("discover", "x.cento", "-o", "blind.labels", *options)
                found = ardi.discover_blind(self.pages, "paragraph", threshold, set() if without else stops)
                what = f"discover {' '.join(map(str, options))}"
                self.count(compare(what, map(label_row, found), table("labels"), "hash"))
        for threshold in (1, 2):
            with self.setting():
                options = ["--of", "files", "--threshold", threshold]
                table = self.cento.find("discover", "x.cento", "-o", "files.labels", *options)
                files = ardi.discover_files(self.pages, threshold)
                expected = [
                    {"hash": hashlib.sha1(payload).hexdigest()[:32], "count": count} for payload, count in files.items()
                ]
                self.count(compare(f"discover {' '.join(map(str, options))}", expected, table("labels"), "hash"))
        for least in (0, 40, 100):
            with self.setting():
                options = ["--from", "originals.jsonl", "--min-length", least]
                table = self.cento.find("discover", "x.cento", "-o", "informed.labels", *options)
                found = ardi.discover_informed(self.made.originals, "paragraph", least, stops)
                expected = []
                for label in found:
                    row = label_row(label)
                    # Of originals it is not counted on how many domains they are.
                    del row["sites"]
                    expected.append({**row, "originals": sorted(page.page_id for page in label.originals)})
                given = [{**row, "originals": sorted(row["originals"])} for row in table("labels")]
                self.count(compare(f"discover {' '.join(map(str, options))}", expected, given, "hash"))

    def stops(self) -> Set[str]:
        """The list that comes with cento: one chunk a line."""
        chosen, section = set(), "chunks"
        for line in self.cento.run("labels", "stops").split("\n"):
            line = line.strip()
            if line.startswith("["):
                section = line.strip("[]")
            elif line and not line.startswith("#") and not line.startswith("version ") and section == "chunks":
                chosen.add(normalise(unescaped(line)))
        return chosen

    def check_detect(self) -> None:
        stops = self.stops()
        self.cento.run("discover", "x.cento", "-o", "blind.labels", "--threshold", "2", "--findings", "blind")
        blind = {label.chunk for label in ardi.discover_blind(self.pages, "paragraph", 2, stops)}
        informed = {label.chunk: label for label in ardi.discover_informed(self.made.originals, "paragraph", 30, stops)}
        third = ["--threshold", "0.3333333333"]
        for labels, options in [
            (blind, ["--labels", "blind.labels"]),
            (blind, ["--labels", "blind.labels", "--depth", "1", "--own", "alpha.com"]),
            (blind, ["--labels", "blind.labels", "--no-stop", *third]),
            (set(informed), ["--against", "originals.jsonl", "--min-length", "30"]),
        ]:
            with self.setting():
                table = self.cento.find("detect", "x.cento", *options)
                self.detect(table, options, labels, set() if "--no-stop" in options else stops)
                if "--against" in options:
                    self.matches(table, informed, stops)

    def detect(self, table, options: List[str], labels: Set[str], stops: Set[str]) -> None:
        what = f"detect {' '.join(options)}"
        own = ["alpha.com"] if "--own" in options else []
        depth = 1 if "--depth" in options else None
        given = Fraction(options[options.index("--threshold") + 1]) if "--threshold" in options else None
        pages = [page for page in kept(self.pages) if not ardi.is_own(page, own)]
        scores = [ardi.score(page, "paragraph", labels, stops) for page in pages]
        of_pages = ardi.moments([score.contains for score in scores if score.left])
        expected = [
            {
                "page_id": score.page.page_id,
                "chunks": score.chunks,
                "stopped": score.stopped,
                "matched": score.matched,
                "contains": score.contains,
                "target": ardi.exceeds(score.contains, of_pages, given),
            }
            for score in scores
            if score.matched
        ]
        self.count(compare(f"{what}: pages", expected, table("pages"), "page_id"))
        places = ardi.neighbourhoods(scores, depth)
        means = ardi.moments([place.mean for place in places])
        ratios = ardi.moments([place.ratio for place in places])
        found: List[Row] = []
        for place in places:
            flags = (ardi.exceeds(place.mean, means, given), ardi.exceeds(place.ratio, ratios, given))
            if place.matched:
                found.append(
                    {
                        "site": place.prefix,
                        "depth": place.depth,
                        "pages": len(place.scores),
                        "chunks": place.chunks,
                        "matched": place.matched,
                        "mean": place.mean,
                        "ratio": place.ratio,
                        "by_mean": flags[0],
                        "by_ratio": flags[1],
                        "flagged": any(flags),
                    }
                )
        self.count(compare(f"{what}: neighbourhoods", found, table("neighbourhoods"), "site"))
        self.count(compare(f"{what}: sites", [row for row in found if row["depth"] == 1], table("sites"), "site"))
        thresholds = []
        for name, moments, objects in [
            ("page", of_pages, sum(score.left > 0 for score in scores)),
            ("mean", means, len(places)),
            ("ratio", ratios, len(places)),
        ]:
            deviation = math.sqrt(moments.variance)
            limit = given if given is not None else float(moments.mean) + deviation
            thresholds.append({"score": name, "objects": objects, "mean": moments.mean, "deviation": deviation, "threshold": limit})
        self.count(compare(f"{what}: thresholds", thresholds, table("thresholds"), "score"))
        self.count(self.matched_chunks(what, table("chunks"), pages, labels, stops))
        self.count(self.histogram(what, table("histogram"), scores, places))

    def histogram(self, what: str, table: List[Row], scores, places) -> int:
        """A hundred bins, each of which has its lower end; 1 is in the last."""
        expected = []
        for name, values in [
            ("page", [score.contains for score in scores if score.left]),
            ("mean", [place.mean for place in places]),
            ("ratio", [place.ratio for place in places]),
        ]:
            bins = by_value((min(99, math.floor(value * 100)), value) for value in values)
            expected += [{"score": name, "bin": at, "objects": len(members)} for at, members in bins.items()]
        given = [{**row, "bin": round(row["begin"] * 100)} for row in table if row["objects"]]
        return compare(f"{what}: histogram", expected, given, "score", "bin")

    def matched_chunks(self, what: str, table: List[Row], pages: List[Page], labels: Set[str], stops: Set[str]) -> int:
        expected = [
            {"page_id": page.page_id, "ordinal": ordinal, "hash": sha1(chunk)}
            for page in pages
            for ordinal, chunk in enumerate(chunks(page))
            if chunk in labels and chunk not in stops
        ]
        return compare(f"{what}: chunks", expected, table, "page_id", "ordinal")

    def matches(self, table, informed: Dict[str, ardi.Label], stops: Set[str]) -> None:
        """From which original a page took how much."""
        holders = {chunk: sorted(page.page_id for page in label.originals) for chunk, label in informed.items()}
        sizes = {page.page_id: sum(page.page_id in holders[chunk] for chunk in holders) for page in self.made.originals}
        urls = {page.page_id: page.url for page in self.made.originals}
        expected = []
        for page in kept(self.pages):
            vector = list(enumerate(chunks(page)))
            left = sum(chunk not in stops for _, chunk in vector)
            hits = [(place, chunk) for place, chunk in vector if chunk in informed]
            given = ardi.takes(hits, holders)
            for original, places in by_value((original, place) for place, original in given.items()).items():
                distinct = {vector[place][1] for place in places}
                expected.append(
                    {
                        "page_id": page.page_id,
                        "original": urls[original],
                        "chunks": len(places),
                        "labels": len(distinct),
                        "of_page": Fraction(len(places), left),
                        "of_original": Fraction(len(distinct), sizes[original]),
                    }
                )
        self.count(compare("detect --against: matches", expected, table("matches"), "page_id", "original"))

    # --- Seo & Croft: containment ------------------------------------------------------------------

    def check_contamination(self) -> None:
        """`detect --grams`: the containment of items in pages, by all grams of k words."""
        for k, least in [(8, "0.5"), (3, "0.3333"), (5, "1")]:
            with self.setting():
                options = ["--against", "originals.jsonl", "--grams", k, "--min-share", least]
                table = self.cento.find("detect", "x.cento", *options)
                documents = {page.page_id: set(grams(page.words, k)) for page in kept(self.pages)}
                items, places, unspaced = [], [], set()
                for page in self.made.originals:
                    item = set(grams(page.words, k))
                    if is_unspaced(page.text):
                        unspaced.add(page.url)
                    if is_unspaced(page.text) or not item:
                        continue
                    share, shares = seo.shares_of_item(item, documents)
                    listed = {page_id: value for page_id, value in shares.items() if value >= Fraction(least)}
                    most = max(shares.values(), default=Fraction(0))
                    items.append({"item": page.url, "grams": len(item), "share": share, "pages": len(listed), "most": most})
                    for page_id, value in listed.items():
                        places.append({"item": page.url, "page_id": page_id, "share": value})
                what = f"detect {' '.join(map(str, options))}"
                for name, expected, key in [("items", items, ["item"]), ("places", places, ["item", "page_id"])]:
                    found = [row for row in table(name) if row["item"] not in unspaced]
                    self.count(compare(f"{what}: {name}", expected, found, *key))

    ANALYSES = ("pages", "copies", "phrases", "quilts", "overlap", "discover", "detect", "contamination")


# --- rows ------------------------------------------------------------------------------------------------


def unescaped(line: str) -> str:
    """A line of a stop list: backslashes stand before what would mean something else."""
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t", "r": "\r"}.get(found[1], found[1]), line)


def sha1(chunk: str) -> str:
    return hashlib.sha1(chunk.encode()).hexdigest()[:32]


def normal_word(word: str) -> str:
    from corpus import normal_form

    return normal_form(word)


def words_of(text: str) -> List[str]:
    from corpus import words

    return words(text)


def first_difference(expected: Sequence, found: Sequence) -> str:
    for at, (one, other) in enumerate(zip(expected, found)):
        if one != other:
            return f"number {at} is {other!r}, expected {one!r}"
    return f"{len(found)}, expected {len(expected)}"


def causes(page: Page, of: Page) -> Tuple[str, ...]:
    """Why there may be two pages."""
    if page.url == of.url:
        return ("recapture",)
    if page.host is not None and page.host == of.host:
        return ("url-alias",)
    if page.host is None or of.host is None:
        return ("replica",)
    # Hosts on different known addresses and different domains are mirrors, never two names of one server.
    known_apart = page.ip is not None and of.ip is not None and page.ip != of.ip and page.domain != of.domain
    return ("replica",) if known_apart else ("server-alias", "replica")


def server(page: Page, by: str) -> Optional[str]:
    return page.host if by == "host" else page.domain


def server_row(shared: int, one: Tuple, two: Tuple, counts: Dict) -> Row:
    """The unordered pair, by name."""
    row: Row = {"pair": " ".join(sorted([one[1], two[1]])), "chunks": shared}
    for side, (share, name, size) in zip(("one", "two"), sorted([one, two], key=lambda side: side[1])):
        row.update({f"{side}_share": share, f"{side}_chunks": size, f"{side}_pages": counts[name]})
    return row


def quilt_row(quilt: najork.Quilt, foreign: str) -> Row:
    return {
        "page_id": quilt.page.page_id,
        "grams": quilt.grams,
        "patch_grams": quilt.patch_grams,
        "patch_fraction": quilt.patch_fraction,
        "sources": len(quilt.sources),
        "foreign_share": None if foreign == "none" else Fraction(quilt.foreign_grams, quilt.patch_grams),
        "attributed_share": Fraction(quilt.attributed_grams, quilt.patch_grams),
        "originality": Fraction(quilt.original_grams, quilt.grams),
    }


def patch_row(quilt: najork.Quilt, rank: int) -> Row:
    source, gain = quilt.sources[rank]
    words = {"first": "page", "second": "source", "same": "same", "unknown": "unknown"}
    return {
        "page_id": quilt.page.page_id,
        "source_id": source.page_id,
        "grams": gain,
        "share": Fraction(gain, quilt.patch_grams),
        "earlier": words[earlier(quilt.page, source)],
    }


def label_row(label: ardi.Label) -> Row:
    return {
        "hash": sha1(label.chunk),
        "count": label.count,
        "pages": label.pages,
        "sites": label.sites,
        "page_id": label.first.page_id,
    }


# --- running ---------------------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path, help="the cento to compare with")
    parser.add_argument("--tables", type=Path, help="the example `rows` of cento-find [default: beside the binary]")
    parser.add_argument("--rounds", type=int, default=3, help="how many corpora [default: 3]")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the first; each next one adds 1 [default: 1]")
    parser.add_argument("--size", type=int, default=30, help="about a third of the pages of a corpus [default: 30]")
    parser.add_argument("--only", help="analyses, with commas [default: all]")
    parser.add_argument("--keep", type=Path, help="keep the corpora in this folder")
    arguments = parser.parse_args()
    seo.self_check()
    binary = arguments.binary.resolve()
    rows = (arguments.tables or binary.parent / "examples" / "rows").resolve()
    for needed in (binary, rows):
        if not os.access(needed, os.X_OK):
            print(f"error: {needed} is not there\nhint: cargo build -p cento -p cento-find --bins --example rows", file=sys.stderr)
            return 2
    chosen = arguments.only.split(",") if arguments.only else list(Round.ANALYSES)
    passed = failed = 0
    place = Path(tempfile.mkdtemp(prefix="cento-reference-"))
    try:
        for seed in range(arguments.seed, arguments.seed + arguments.rounds):
            folder = place / f"seed-{seed}"
            cento = Cento(binary, rows)
            made = generate.make(seed, arguments.size, folder / "inputs")
            cento.folder = folder
            for analysis in Round.ANALYSES:
                if analysis not in chosen and analysis != "pages":
                    continue
                current = Round(cento, made)
                with current.setting():
                    getattr(current, f"check_{analysis}")()
                told = f"{analysis}: seed {seed}, {len(made.pages)} pages: {current.settings - 1} settings, {current.rows} rows"
                if current.differences:
                    failed += 1
                    print(f"{told}, {len(current.differences)} differences", *current.differences, sep="\n    ")
                else:
                    passed += 1
                    print(f"{told}, agree")
            if arguments.keep:
                shutil.copytree(folder, arguments.keep / folder.name, dirs_exist_ok=True)
            shutil.rmtree(folder)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
