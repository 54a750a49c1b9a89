"""Quilts against `najork.py`."""

from __future__ import annotations

from fractions import Fraction
from typing import List

import najork
from corpus import earlier, is_unspaced, words
from harness import Comparison, Row, compare, expect


def quilt_row(quilt: najork.Quilt, foreign: str) -> Row:
    return {
        "page_id": quilt.page.page_id,
        "grams": quilt.grams,
        "patch_grams": quilt.patch_grams,
        "patch_fraction": quilt.patch_fraction,
        "sources": len(quilt.sources),
        "foreign_share": None if foreign == "none" else Fraction(quilt.foreign_grams, quilt.patch_grams),
        "attributed_share": Fraction(len(quilt.attributed), quilt.foreign_grams),
        "originality": Fraction(quilt.original_grams, quilt.grams),
    }


def patch_row(quilt: najork.Quilt, rank: int) -> Row:
    source, added = quilt.sources[rank]
    names = {"first": "page", "second": "source", "same": "same", "unknown": "unknown"}
    return {
        "page_id": quilt.page.page_id,
        "source_id": source.page_id,
        "grams": len(added),
        "share": Fraction(len(added), quilt.patch_grams),
        "attributed_grams": len(added & quilt.attributed),
        "attributed": added <= quilt.attributed,
        "earlier": names[earlier(quilt.page, source)],
    }


class Najork(Comparison):
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
                options = ["-k", k, "-m", m, "-c", c, "--theta", theta, "--foreign", foreign, "--min-source", phi]
                table = self.cento.find("quilts", "x.cento", *options, main="quilts")
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
                del row["foreign"]
                counted = {"theta": float(row["theta"]), "swept": name, "quilts": quilts, "sources": sources}
                expected_rows.append({**row, **counted})
        with self.setting():
            table = self.cento.find("quilts", "x.cento", "-c", 2, *options)
            self.count(compare("sweep", expected_rows, table("sweep"), "swept", "k", "m", "c", "theta"))

    def patch_places(self, what: str, patches: List[Row], k: int) -> None:
        """Checks that both texts have the same words at the reported positions of a patch."""
        by_id = {page.page_id: page for page in self.pages}
        for row in patches:
            page, source = by_id[row["page_id"]], by_id[row["source_id"]]
            if is_unspaced(page.text):
                continue
            text, other = page.text.encode(), source.text.encode()
            columns = [row[name] for name in ("begins", "ends", "source_begins", "source_ends")]
            for begin, end, source_begin, source_end in zip(*columns):
                here, there = text[begin:end].decode(), other[source_begin:source_end].decode()
                places = f"{page.url} at {begin}: “{here}”, in {source.url} “{there}”"
                expect(words(here) == words(there), f"{what}: {places}")
                expect(len(words(here)) >= k, f"{what}: {page.url} at {begin}: fewer than {k} words")
