#!/usr/bin/env python3
"""Compares cento with the naive references of the papers, row by row, on random corpora.

    reference/check.py target/debug/cento                      a few small corpora, in seconds
    reference/check.py target/release/cento --rounds 40 --size 120 --seed 7

Every round makes a corpus (`generate.py`), runs the real binary on it with many settings, computes the same with
the naive programs (`ardi.py`, `fetterly.py`, `najork.py`, `seo.py`, `shivakumar.py`), and prints one line per analysis.
Tables are read by the example `rows` of cento-find, which is built beside the binary.

Results that depend on a hash function cannot be compared: which 84 phrases are sampled from a page, and which
pairs of pages the sketches of `copies` miss. Their properties are checked instead:

* copies: every removed page is removed for a kept page that precedes it and that it resembles, with the reported
  resemblance; no two kept pages resemble each other, except for pairs that sketches may miss.
* phrases: a page without popular phrases has no popular shingles; one with only popular phrases has 84; sites have the
  mean and the deviation of the shingles of their pages; a covering set covers them, greedily, foreign pages first.

Words of scripts without spaces are read from cento (an index with `--chunk words:1`).
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import List, Optional

import fetterly
import generate
import seo
from compare_ardi import Ardi
from compare_fetterly import Fetterly
from compare_najork import Najork
from compare_pages import Pages
from compare_seo import Seo
from compare_shivakumar import Shivakumar
from harness import Cento


class Round(Pages, Fetterly, Najork, Shivakumar, Seo, Ardi):
    """All comparisons on one corpus."""

    ANALYSES = ("pages", "copies", "phrases", "quilts", "overlap", "reuse", "query", "discover", "detect", "contamination")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path, help="the cento binary")
    parser.add_argument("--tables", type=Path, help="the example `rows` of cento-find [default: beside the binary]")
    parser.add_argument("--rounds", type=int, default=2, help="number of corpora [default: 2]")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the first; each next one adds 1 [default: 1]")
    parser.add_argument("--size", type=int, default=30, help="about a third of the pages of a corpus [default: 30]")
    parser.add_argument("--hot", type=int, metavar="PAGES", help="also compare a corpus of this many pages that share nearly all text")
    parser.add_argument("--only", help="analyses, separated by commas [default: all]")
    parser.add_argument("--keep", type=Path, help="keep the corpora in this folder")
    arguments = parser.parse_args()
    fetterly.self_check()
    seo.self_check()
    binary = arguments.binary.resolve()
    rows = (arguments.tables or binary.parent / "examples" / "rows").resolve()
    for needed in (binary, rows):
        if not os.access(needed, os.X_OK):
            hint = "cargo build -p cento -p cento-find --bins --example rows"
            print(f"error: {needed} not found\nhint: {hint}", file=sys.stderr)
            return 2
    chosen = arguments.only.split(",") if arguments.only else list(Round.ANALYSES)
    unknown = [name for name in chosen if name not in Round.ANALYSES]
    if unknown:
        print(f"error: unknown analysis {unknown[0]}\nhint: choose from {', '.join(Round.ANALYSES)}", file=sys.stderr)
        return 2
    outcomes: List[bool] = []
    place = Path(tempfile.mkdtemp(prefix="cento-reference-"))
    try:
        for seed in range(arguments.seed, arguments.seed + arguments.rounds):
            made = generate.make(seed, arguments.size, place / f"seed-{seed}" / "inputs")
            # All other comparisons need the corpus and the words that `pages` reads.
            names = [name for name in Round.ANALYSES if name in chosen or name == "pages"]
            outcomes += compare_all(Cento(binary, rows, place / f"seed-{seed}"), made, names, arguments.keep)
        if arguments.hot:
            made = generate.make_hot(arguments.seed, arguments.hot, place / "hot" / "inputs")
            outcomes += compare_all(Cento(binary, rows, place / "hot"), made, ["hot"], arguments.keep)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    print(f"{outcomes.count(True)} passed, {outcomes.count(False)} failed")
    return 0 if all(outcomes) else 1


def compare_all(cento: Cento, made: generate.Made, names: List[str], keep: Optional[Path]) -> List[bool]:
    """Compares analyses on one corpus, and prints a line for each. Returns which of them agree."""
    outcomes = []
    for name in names:
        current = Round(cento, made)
        with current.guarded():
            getattr(current, f"check_{name}")()
        counts = f"{current.settings} settings, {current.rows} rows"
        summary = f"{name}: seed {made.seed}, {len(made.pages)} pages: {counts}"
        if current.differences:
            print(f"{summary}, {len(current.differences)} differences", *current.differences, sep="\n    ", flush=True)
        else:
            print(f"{summary}, agree", flush=True)
        outcomes.append(not current.differences)
    if keep:
        shutil.copytree(cento.folder, keep / cento.folder.name, dirs_exist_ok=True)
    shutil.rmtree(cento.folder)
    return outcomes


if __name__ == "__main__":
    sys.exit(main())
