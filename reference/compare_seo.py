"""Reuse and queries against `seo.py`.

The definitions hold for any hash function, but which fingerprints `mod`, `winnow`, `break` and `dct` select depends on it. So these
are computed with cento's hash of a word, of which `seo.py` has the part for words of up to 16 bytes; pages with longer words are
left out, and then only pairs of other pages are compared. `kgram` needs no hash: a fingerprint is a tuple of words.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Dict, List, Optional, Set, Tuple

import seo
from seo import category_or_one_sided
from corpus import Page, earlier, kept, precedence
from harness import Comparison, Row, compare, expect

SCHEMES = ("kgram", "kgram:k=1", "mod", "winnow", "winnow:k=2,w=4", "break", "dct", "dct:p=2")


class Seo(Comparison):
    def check_reuse(self) -> None:
        for number, scheme in enumerate(SCHEMES):
            for most in (0, 6) if scheme.startswith("kgram") else (0,):
                with self.setting():
                    self.count(self.reuse(scheme, most, frame=number % 2 == 1 and scheme.startswith("kgram")))

    def reuse(self, scheme: str, most: int, frame: bool) -> int:
        options = ["--scheme", scheme, "--max-pages", most, *(["--frame"] if frame else [])]
        what = f"reuse {' '.join(map(str, options))}"
        tables = self.cento.find("reuse", "x.cento", *options, main="pairs")
        sets: Dict[int, Set] = {}
        for page in kept(self.pages):
            found = seo.scheme_set(scheme, page.words)
            if found:
                sets[page.page_id] = found
        by_id = {page.page_id: page for page in self.pages}
        complete = all(seo.scheme_set(scheme, page.words) is not None for page in kept(self.pages))
        address = lambda page: by_id[page].url if by_id[page].host is not None else None
        reuse = seo.reuse(sets, by_id_host(by_id), lambda page: precedence(by_id[page]), most, frame, address=address)
        found_rows = tables("pairs")
        identical = tables("identical")
        if not complete:
            known = set(reuse.representatives)
            found_rows = [row for row in found_rows if {row["page_id"], row["of_id"]} <= known]
            identical = [row for row in identical if row["page_id"] in sets and row["of_id"] in sets]
        expected = [self.row(pair, reuse, by_id, complete) for pair in reuse.pairs]
        rows = compare(what, expected, found_rows, "page_id", "of_id")
        copies = [{"page_id": page, "of_id": of} for page, of in reuse.identical]
        rows += compare(f"{what}: identical", copies, identical, "page_id")
        if complete:
            ignored = sorted(count for count in reuse.ignored.values())
            expect(sorted(row["pages"] for row in tables("ignored")) == ignored, f"{what}: other fingerprints are ignored")
        return rows

    def check_query(self) -> None:
        for most in (0, 6):
            with self.setting():
                self.count(self.query(most))

    def query(self, most: int) -> int:
        """Every page of the corpus is a query; the result is that of comparing its set with all others."""
        scheme = "winnow"
        found_sets = {page.page_id: seo.scheme_set(scheme, page.words) for page in kept(self.pages)}
        if most and None in found_sets.values():
            return 0
        sets = {page: found for page, found in found_sets.items() if found}
        classes = {frozenset(found) for found in sets.values()}
        on_pages: Dict[object, int] = {}
        for found in classes:
            for value in found:
                on_pages[value] = on_pages.get(value, 0) + 1
        ignored = {value for value, pages in on_pages.items() if most and pages > most}
        captures: Dict[str, List[int]] = {}
        for page in kept(self.pages):
            captures.setdefault(page.url, []).append(page.page_id)
        # The first capture of each URL. Names that are files are read as files.
        queries = {url: ids[0] for url, ids in captures.items() if "://" in url and ids[0] in sets}
        rows = 0
        for url in sorted(queries):
            own = queries[url]
            said = self.cento.run("query", "x.cento", url, "--json", "--top", "all", "--max-pages", most)
            answer = json.loads(said)
            matches = [row for row in answer["matches"] if row["page_id"] in sets]
            if None not in found_sets.values():
                expect(answer["pages"] == len(matches), f"query {url}: {answer['pages']} pages, {len(matches)} matches")
            expected = []
            for page, found in sets.items():
                one, other = (sets[own], found) if found == sets[own] else (sets[own] - ignored, found - ignored)
                kind = category_or_one_sided(one, other) if one & other else None
                if page != own and kind is not None:
                    expected.append(
                        {
                            "page_id": page,
                            "category": kind,
                            "shared": len(one & other),
                            "query_fingerprints": len(one),
                            "page_fingerprints": len(other),
                            "query_containment": seo.containment(one, other),
                            "page_containment": seo.containment(other, one),
                            "identical": found == sets[own],
                        }
                    )
            rows += compare(f"query {url} --max-pages {most}", expected, matches, "page_id")
        return rows

    def row(self, pair: seo.ReusePair, reuse: seo.Reuse, by_id: Dict[int, Page], complete: bool) -> Row:
        of, page = sorted((pair.one, pair.other))
        if earlier(by_id[of], by_id[page]) == "second":
            of, page = page, of
        sizes = {pair.one: pair.one_size, pair.other: pair.other_size}
        row: Row = {"page_id": page, "of_id": of, "shared": pair.shared, "category": pair.category}
        for name, page_id in [("of", of), ("page", page)]:
            row[f"{name}_fingerprints"] = sizes[page_id]
            row[f"{name}_containment"] = Fraction(pair.shared, sizes[page_id])
            if complete:
                row[f"{name}_copies"] = reuse.copies[page_id]
        if complete:
            row["style"] = pair.style
            row["frame"] = pair.frame
            row["frequent"] = pair.frequent
        return row


def by_id_host(by_id: Dict[int, Page]):
    def host(page_id: int) -> Optional[str]:
        name = by_id[page_id].host
        return name[4:] if name is not None and name.startswith("www.") else name

    return host
