"""Runs the binary, reads its tables, and compares rows: the base of all comparisons."""

from __future__ import annotations

import contextlib
import json
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

import generate
from corpus import Page, is_unspaced

Row = Dict[str, object]
# The tolerance between floating-point numbers that were computed from the same integers.
NEAR = 1e-6


class Cento:
    """The binary, and the program that reads its tables."""

    def __init__(self, binary: Path, rows: Path, folder: Path) -> None:
        self.binary = binary
        self.rows = rows
        self.folder = folder
        self.runs = 0

    def run(self, *arguments: object) -> str:
        command = [str(self.binary), *map(str, arguments)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise Difference(f"{' '.join(command[1:])}: exit status {done.returncode}\n{done.stderr.strip()}")
        return done.stdout

    def find(self, *arguments: object, main: Optional[str] = None) -> Callable[[str], List[Row]]:
        """Runs an analysis in its own folder; returns a function that reads its tables. `main` is the table that --json prints."""
        self.runs += 1
        place = self.folder / f"findings-{self.runs}"
        what = " ".join(map(str, arguments))
        # Results must not depend on these: every other run has one thread and little memory.
        machine = ["--threads", 1, "--memory", "64M"] if self.runs % 2 else ["--threads", 3]
        printed = self.run(*arguments, *machine, "--findings", place, *(["--json"] if main else []))

        def table(name: str) -> List[Row]:
            found = sorted(place.glob(f"*/*/{name}.parquet"))
            if len(found) != 1:
                raise Difference(f"{what}: {len(found)} tables named {name}, expected one")
            return self.table(found[0])

        if main is not None:
            rows = [json.loads(line) for line in printed.split("\n") if line]
            expect(rows == table(main), f"{what} --json prints {len(rows)} rows, which differ from the table {main}")
        return table

    def table(self, *paths: Path) -> List[Row]:
        text = subprocess.run([self.rows, *paths], check=True, capture_output=True, text=True).stdout
        return [json.loads(line) for line in text.split("\n") if line]


class Difference(Exception):
    """A difference between cento and the reference."""


def same(one: object, other: object) -> bool:
    if isinstance(one, (int, float, Fraction)) and isinstance(other, (int, float, Fraction)):
        return abs(float(one) - float(other)) <= NEAR
    return one == other


def compare(what: str, expected: Iterable[Row], found: Iterable[Row], *key: str) -> int:
    """Compares rows by a key, in the expected columns. Returns the number of rows."""
    def name(row: Row) -> Tuple:
        return tuple(row[column] for column in key)

    expected, found = list(expected), list(found)
    by_key = {name(row): row for row in expected}
    found_by_key = {name(row): row for row in found}
    if len(by_key) != len(expected) or len(found_by_key) != len(found):
        raise Difference(f"{what}: {len(found)} rows with {len(found_by_key)} keys, expected {len(by_key)}")
    for which in sorted(by_key.keys() - found_by_key.keys(), key=str)[:1]:
        raise Difference(f"{what}: no row {which}; {len(found_by_key)} rows instead of {len(by_key)}: {by_key[which]}")
    for which in sorted(found_by_key.keys() - by_key.keys(), key=str)[:1]:
        raise Difference(f"{what}: unexpected row {which}; {len(found_by_key)} rows instead of {len(by_key)}: {found_by_key[which]}")
    for which, row in by_key.items():
        for column, value in row.items():
            if not same(value, found_by_key[which].get(column)):
                actual = found_by_key[which].get(column)
                shown = float(value) if isinstance(value, Fraction) else value
                if isinstance(actual, str) and isinstance(shown, str):
                    # For long texts, only where they differ.
                    at = next((at for at, (a, b) in enumerate(zip(actual, shown)) if a != b), min(len(actual), len(shown)))
                    actual, shown = repr(actual[max(0, at - 20) : at + 20]), repr(shown[max(0, at - 20) : at + 20])
                raise Difference(f"{what}: {which}: {column} is {actual}, expected {shown}")
    return len(by_key)


def expect(holds: bool, what: str) -> None:
    if not holds:
        raise Difference(what)


class Comparison:
    """One corpus, and the results of comparing it."""

    def __init__(self, cento: Cento, made: generate.Made) -> None:
        self.cento = cento
        self.made = made
        self.pages = made.pages
        self.settings = 0
        self.rows = 0
        self.differences: List[str] = []

    @contextlib.contextmanager
    def setting(self) -> Iterator[None]:
        """One setting. After a difference, the next setting is still compared."""
        self.settings += 1
        with self.guarded():
            yield

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        try:
            yield
        except Difference as difference:
            self.differences.append(str(difference))
        except KeyError as missing:
            self.differences.append(f"a table has no column or row {missing}")

    def count(self, rows: int) -> None:
        self.rows += rows

    def table(self, corpus: str, name: str) -> List[Row]:
        return self.cento.table(*sorted((self.cento.folder / corpus / name).glob("*.parquet")))

    def spaced(self) -> List[Page]:
        """Pages in scripts with spaces."""
        return [page for page in self.pages if not is_unspaced(page.text)]


def first_difference(expected: Sequence, found: Sequence) -> str:
    for at, (one, other) in enumerate(zip(expected, found)):
        if one != other:
            return f"number {at} is {other!r}, expected {one!r}"
    return f"{len(found)}, expected {len(expected)}"
