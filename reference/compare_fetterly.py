"""Copies and phrases against `fetterly.py`."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Dict, Iterable, List, Tuple
from urllib.parse import urlsplit

import fetterly
from corpus import Page, by_value, earlier, is_foreign, kept, precedence
from harness import Comparison, Difference, Row, compare, expect, same

# Sketches miss a pair of this resemblance less than once in 100,000 times; one at R itself about once in 70.
SURE = Fraction(97, 100)

def address(url: str) -> Tuple[object, ...]:
    """What a URL leads to: without fragment and default port, with the host in lower case."""
    parts = urlsplit(url)
    port = None if (parts.scheme, parts.port) in (("http", 80), ("https", 443)) else parts.port
    return (parts.scheme, parts.hostname, port, parts.path or "/", parts.query) if parts.hostname else (url,)


def causes(page: Page, of: Page) -> Tuple[str, ...]:
    """The cause of a duplicate."""
    if page.host is not None and address(page.url) == address(of.url):
        return ("recapture",)
    if page.host is not None and page.host == of.host:
        return ("url-alias",)
    if page.host is None or of.host is None:
        return ("replica",)
    # Hosts on different known addresses and different domains are mirrors, never two names of one server.
    known_apart = page.ip is not None and of.ip is not None and page.ip != of.ip and page.domain != of.domain
    return ("replica",) if known_apart else ("server-alias", "replica")


class Fetterly(Comparison):
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
                options = ["--resemblance", least, "--keep", keep]
                # At a resemblance of 1 only exact duplicates are searched for, and grams are not computed.
                options += ["-k", k] if least != "1" else []
                table = self.cento.find("copies", "x.cento", *options, "--skip-list", skip, main="pairs")
                self.count(self.copies(table("pairs"), k, Fraction(least), keep))
                self.skip_list(f"copies {' '.join(map(str, options))}", skip, table("pairs"))
        with self.setting():
            self.megashingles()
        with self.setting():
            self.told_and_filtered()

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
            expect(row["rejected"] == page.reject, f"{name}: rejected is {row['rejected']}")
            first = {"first": "page", "second": "of"}.get(earlier(page, of), earlier(page, of))
            expect(row["earlier"] == first, f"{name}: earlier is {row['earlier']}, expected {first}")
            # A page may be removed for a page that it resembles, and still repeat the bytes of a third.
            repeats = kinds.get(page_id, "near")
            if page.reject is not None:
                # Files are compared even if their text was rejected.
                repeats = "revisit" if page.reject == "revisit" else "bytes"
                before = any(other.payload == page.payload and order(other) < order(page) for other in self.pages)
                expect(row["repeats"] == repeats or not before, f"{name}: repeats is {row['repeats']}, expected {repeats}")
                continue
            expect(row["repeats"] == repeats, f"{name}: repeats is {row['repeats']}, expected {repeats}")
            expect(order(of) < order(page), f"{name}: the page that is kept does not come first")
            alike = fetterly.resemblance(sets[page_id], sets[of.page_id])
            alike = Fraction(1) if page.text == of.text else alike
            expect(alike >= least, f"{name}: resemblance {float(alike)}")
            kind = "bytes" if page.payload == of.payload else "text" if page.text == of.text else "near"
            expect(row["kind"] == kind, f"{name}: kind {row['kind']}, expected {kind}")
            if kind == "near":
                expect(same(row["resemblance"], alike), f"{name}: resemblance {row['resemblance']}, not {float(alike)}")
        for page_id, kind in kinds.items():
            name = f"{by_id[page_id].url} ({page_id})"
            expect(page_id in removed, f"{what}: {name} is kept, but has the {kind} of another")
        if not self.missed(what, removed.keys(), sets, least):
            naive = {found.page.page_id for found in fetterly.remove_near_duplicates(self.pages, k, least, order)}
            given = {page_id for page_id in removed if by_id[page_id].reject is None}
            expect(naive == given, f"{what}: removed {sorted(given)}, expected {sorted(naive)}")
        return len(pairs)

    def missed(self, what: str, removed: Iterable[int], sets: Dict, least: Fraction) -> int:
        """Counts pairs of kept pages that resemble each other: few, and none nearly identical."""
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
        """A crawler that obeys the list still fetches a page of every class, including classes of one page."""
        urls, prefixes, fetched = set(), [], set()
        for line in path.read_text().split("\n"):
            kind, _, rest = line.partition("\t")
            if kind == "url":
                urls.add(rest.split("\t")[0])
            elif kind == "prefix":
                prefixes.append(rest.split("\t")[0])
            elif kind == "keep":
                fetched.add(rest.split("\t")[0])
        def is_skipped(page: Page) -> bool:
            bare = page.url.partition("://")[2]
            under = any(bare.startswith(prefix) for prefix in prefixes) and page.url not in fetched
            return page.url in urls or under

        kept_of = {row["page_id"]: row["of_id"] for row in pairs}
        classes = by_value((kept_of.get(page.page_id, page.page_id), page) for page in kept(self.pages))
        for members in classes.values():
            if all(is_skipped(page) for page in members):
                names = ", ".join(f"{page.url} ({page.page_id})" for page in members)
                raise Difference(f"{what} --skip-list: a crawler fetches none of the class {names}")

    def told_and_filtered(self) -> None:
        """The first sentence has the right counts, and a filtered corpus has no duplicates."""
        removed = len(fetterly.remove_near_duplicates(self.pages, 5, Fraction(8, 10)))
        text = self.cento.run("copies", "x.cento", "--filter", "-o", "unique")
        found = re.search(r"([0-9,]+) of ([0-9,]+) pages", text)
        told = found and tuple(int(number.replace(",", "")) for number in found.groups())
        pages = len(kept(self.pages))
        expect(told == (removed, pages), f"copies: {text.splitlines()[0]}: expected {removed} of {pages}")
        self.cento.run("index", "unique", "-o", "unique.cento")
        again = [row for row in self.cento.find("copies", "unique.cento")("pairs") if row["kind"] != "revisit"]
        left = {row["page_id"] for row in self.table("unique.cento", "pages") if row["reject"] is None}
        again = [row for row in again if row["page_id"] in left]
        expect(not again, f"copies --filter: a filtered corpus has {len(again)} copies left, such as {again[:1]}")
        self.count(len(left))

    def megashingles(self) -> None:
        """Equal sets of phrases have equal shingles; pages without a common phrase share none."""
        table = self.cento.find("copies", "x.cento", "--rule", "megashingle")
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
                table = self.cento.find("phrases", "x.cento", *options, "--exact", "--collapse=no", main="sites")
                self.count(self.phrases(table, k, least, site, self.pages, True))
        options = ["--min-pages", 3, "--cover-pages", "all", "--cover-from", 1]
        with self.setting():
            table = self.cento.find("phrases", "x.cento", *options, "--collapse=no")
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
                for count, most in [("pages", found.pages), ("sites", found.sites)]:
                    expect(row[count] <= most, f"{what}: “{row['phrase']}” on {row[count]} {count}, truly {most}")
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
                popular = row["popular_phrases"]
                expect(popular == true.popular, f"{name}: {popular} popular phrases, not {true.popular}")
                if true.phrases:
                    share, told = Fraction(true.own, true.phrases), row["originality"]
                    expect(same(told, share), f"{name}: originality {told}, not {float(share)}")
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
                foreign = is_foreign(page, source, "domain") and is_foreign(page, source, "ip")
                expect(donor["foreign"] == foreign, f"{told}: foreign is {donor['foreign']}")
                if before is not None and before["foreign"] == donor["foreign"]:
                    expect(before["shingles"] >= donor["shingles"], f"{told}: gives more than the page before it")
                in_order = before is None or before["foreign"] or not donor["foreign"]
                expect(in_order, f"{told}: a foreign page after others")
        return sum(map(len, covers.values()))
