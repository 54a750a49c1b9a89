"""Discovery, detection and contamination against `ardi.py` and `seo.py`."""

from __future__ import annotations

import hashlib
import math
import re
from fractions import Fraction
from typing import Dict, List, Set

import ardi
import seo
from corpus import Page, by_value, chunks, grams, is_unspaced, kept, normalise
from harness import Comparison, Row, compare


def unescaped(line: str) -> str:
    """A line of a stop list, with special characters escaped by backslashes."""
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t", "r": "\r"}.get(found[1], found[1]), line)


def sha1(chunk: str) -> str:
    return hashlib.sha1(chunk.encode()).hexdigest()[:32]


def label_row(label: ardi.Label) -> Row:
    return {
        "hash": sha1(label.chunk),
        "count": label.count,
        "pages": label.pages,
        "sites": label.sites,
        "page_id": label.first.page_id,
    }


class Ardi(Comparison):
    def check_discover(self) -> None:
        stops = self.stops()
        for threshold, without in [(1, False), (3, False), (6, True)]:
            with self.setting():
                options = ["--more-than", threshold, *(["--no-stop"] if without else [])]
                table = self.cento.find("discover", "x.cento", "-o", "blind.labels", *options, main="labels")
                found = ardi.discover_blind(self.pages, "paragraph", threshold, set() if without else stops)
                what = f"discover {' '.join(map(str, options))}"
                self.count(compare(what, map(label_row, found), table("labels"), "hash"))
        for threshold in (1, 2):
            with self.setting():
                options = ["--unit", "files", "--more-than", threshold]
                table = self.cento.find("discover", "x.cento", "-o", "files.labels", *options)
                files = ardi.discover_files(self.pages, threshold)
                expected = [
                    {"hash": hashlib.sha1(payload).hexdigest()[:32], "count": count} for payload, count in files.items()
                ]
                self.count(compare(f"discover {' '.join(map(str, options))}", expected, table("labels"), "hash"))
        for least in (0, 40, 100):
            with self.setting():
                options = ["--from", "originals.jsonl", "--min-length", least]
                table = self.cento.find("discover", "x.cento", "-o", "informed.labels", *options, main="labels")
                found = ardi.discover_informed(self.made.originals, "paragraph", least, stops)
                expected = []
                for label in found:
                    row = label_row(label)
                    # Domains are not counted for labels of originals.
                    del row["sites"]
                    expected.append({**row, "originals": sorted(page.page_id for page in label.originals)})
                given = [{**row, "originals": sorted(row["originals"])} for row in table("labels")]
                self.count(compare(f"discover {' '.join(map(str, options))}", expected, given, "hash"))

    def stops(self) -> Set[str]:
        """The built-in stop list: one chunk per line."""
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
        self.cento.run("discover", "x.cento", "-o", "blind.labels", "--more-than", "2", "--findings", "blind")
        blind = {label.chunk for label in ardi.discover_blind(self.pages, "paragraph", 2, stops)}
        informed = {label.chunk: label for label in ardi.discover_informed(self.made.originals, "paragraph", 30, stops)}
        third = ["--threshold", "0.3333333333"]
        for labels, options in [
            (blind, ["--labels", "blind.labels"]),
            (blind, ["--labels", "blind.labels", "--depth", "1", "--own", "alpha.com"]),
            (blind, ["--labels", "blind.labels", "--count-stops", *third]),
            (set(informed), ["--against", "originals.jsonl", "--min-length", "30"]),
        ]:
            with self.setting():
                main = "passages" if "--against" in options else "sites"
                table = self.cento.find("detect", "x.cento", *options, main=main)
                self.detect(table, options, labels, set() if "--count-stops" in options else stops)
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
            row: Row = {"score": name, "objects": objects, "mean": moments.mean}
            thresholds.append({**row, "deviation": deviation, "threshold": limit})
        self.count(compare(f"{what}: thresholds", thresholds, table("thresholds"), "score"))
        self.count(self.matched_chunks(what, table("chunks"), pages, labels, stops))
        self.count(self.histogram(what, table("histogram"), scores, places))

    def histogram(self, what: str, table: List[Row], scores, places) -> int:
        """A hundred bins, each including its lower end; the last includes 1."""
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
        """The originals of each page, with the number of chunks."""
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
                table = self.cento.find("detect", "x.cento", *options, main="items")
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
                    row: Row = {"item": page.url, "grams": len(item), "share": share}
                    items.append({**row, "pages": len(listed), "most": most})
                    for page_id, value in listed.items():
                        places.append({"item": page.url, "page_id": page_id, "share": value})
                what = f"detect {' '.join(map(str, options))}"
                for name, expected, key in [("items", items, ["item"]), ("places", places, ["item", "page_id"])]:
                    found = [row for row in table(name) if row["item"] not in unspaced]
                    self.count(compare(f"{what}: {name}", expected, found, *key))
