"""Overlap and replication against `shivakumar.py`."""

from __future__ import annotations

from fractions import Fraction
from typing import Dict, List, Optional, Tuple

import shivakumar
from corpus import Page, by_value, earlier, kept
from harness import Comparison, Row, compare, expect


def server(page: Page, by: str) -> Optional[str]:
    return page.host if by == "host" else page.domain


def server_row(shared: int, one: Tuple, two: Tuple, counts: Dict) -> Row:
    """The unordered pair, by name."""
    row: Row = {"pair": " ".join(sorted([one[1], two[1]])), "chunks": shared}
    for side, (share, name, size) in zip(("one", "two"), sorted([one, two], key=lambda side: side[1])):
        row.update({f"{side}_share": share, f"{side}_chunks": size, f"{side}_pages": counts[name]})
    return row


class Shivakumar(Comparison):
    def check_overlap(self) -> None:
        for kind, threshold, most in [("paragraph", 1, 0), ("lines:2", 2, 0), ("lines:1", 3, 6), ("words:5", 4, 0)]:
            with self.setting():
                self.count(self.pairs(kind, threshold, most))
            for by in ("host", "domain"):
                with self.setting():
                    self.count(self.servers(kind, threshold, most, by))
        with self.setting():
            self.replication()

    def check_hot(self) -> None:
        """Very common chunks count for replicas like any other."""
        self.cento.run("index", "inputs", "-o", "x.cento", "--hash", "sha1")
        with self.setting():
            self.replication()

    def pairs(self, kind: str, threshold: int, most: int) -> int:
        options = ["--chunk", kind, "--min-shared", threshold, "--max-pages", most]
        what = f"overlap {' '.join(map(str, options))}"
        pages = self.spaced() if kind.startswith("words") else self.pages
        sets = shivakumar.page_sets(pages, kind)
        found = self.cento.find("overlap", "x.cento", *options, main="pairs")("pairs")
        if kind.startswith("words"):
            found = [row for row in found if {row["page_id"], row["of_id"]} <= sets.keys()]
        pairs = shivakumar.overlap(sets, threshold, most)
        coarse = shivakumar.coarse_overlap(shivakumar.without_common(sets, most), threshold)
        expect(sorted(map(repr, pairs)) == sorted(map(repr, coarse)), f"{what}: coarse counting differs")
        copies = {group[0].page_id: len(group) for group in shivakumar.text_classes(pages)}
        by_id = {page.page_id: page for page in pages}
        expected = []
        for pair in pairs:
            sizes = {pair.one: pair.one_chunks, pair.other: pair.other_chunks}
            # The earlier page by date comes second; if dates do not decide, the one with the lower id.
            of, page = sorted(sizes)
            if earlier(by_id[of], by_id[page]) == "second":
                of, page = page, of
            row: Row = {"of_id": of, "page_id": page, "chunks": pair.shared}
            for name, page_id in [("of", of), ("page", page)]:
                row[f"{name}_chunks"] = sizes[page_id]
                row[f"{name}_share"] = Fraction(pair.shared, sizes[page_id])
                row[f"{name}_copies"] = copies[page_id]
            expected.append(row)
        return compare(what, expected, found, "page_id", "of_id")

    def servers(self, kind: str, threshold: int, most: int, by: str) -> int:
        if kind.startswith("words"):
            return 0
        options = ["--chunk", kind, "--min-shared", threshold, "--max-pages", most, f"--servers={by}"]
        found = self.cento.find("overlap", "x.cento", *options, main="servers")("servers")
        pages = by_value((server(page, by), page) for page in kept(self.pages))
        counts = {name: len(members) for name, members in pages.items()}
        expected = []
        for pair in shivakumar.overlap(shivakumar.server_sets(self.pages, kind, by), threshold, most):
            one = (Fraction(pair.shared, pair.one_chunks), pair.one, pair.one_chunks)
            two = (Fraction(pair.shared, pair.other_chunks), pair.other, pair.other_chunks)
            expected.append(server_row(pair.shared, one, two, counts))
        for row in found:
            in_order = row["server_share"] >= row["of_share"]
            expect(in_order, f"overlap --servers: less of {row['server']} is in the other")
            row["pair"] = " ".join(sorted([row["server"], row["of"]]))
            sides = [
                (row[name], row[f"{name}_share"], row[f"{name}_chunks"], row[f"{name}_pages"]) for name in ("server", "of")
            ]
            for side, values in zip(("one", "two"), sorted(sides)):
                row.update({f"{side}_{name}": value for name, value in zip(("share", "chunks", "pages"), values[1:])})
        return compare(f"overlap {' '.join(map(str, options))}", expected, found, "pair")

    def replication(self) -> None:
        table = self.cento.find("overlap", "x.cento", "--replication", main="replicas")
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
