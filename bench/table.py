"""Comparisons: programs that do the same work, run in turns, and what came of it.

A `Comparison` is a table. Each of its programs runs once in each round, one after another, so that all meet the same machine. A slow
program runs only in the first round. A program that fails, or is not installed, is a row too.
"""

import dataclasses
import sys

from common import Failed

# Programs that take longer than this, in seconds, run once.
SLOW = 20
# A program that takes longer than this, in seconds, has failed.
LIMIT = 900


@dataclasses.dataclass
class Program:
    """One row: a program, and how to run it. `work` returns a Run; `check` gets the last one and returns what to say of the result, and whether it is right."""

    name: str
    work: object
    check: object = None
    ours: bool = False
    once: bool = False
    size: int = None
    note: str = ""
    against: str = None


class Comparison:
    def __init__(self, name, title, note="", size=None):
        self.name, self.title, self.note, self.size = name, title, note, size
        self.programs = []

    def add(self, name, work, check=None, **options):
        self.programs.append(Program(name, work, check, **options))
        return self

    def measure(self, rounds):
        """Runs everything; returns the table as it is stored."""
        print(f"\n{self.title}", flush=True)
        rows = {program.name: {"name": program.name, "ours": program.ours, "runs": []} for program in self.programs}
        for round in range(rounds):
            for program in self.programs:
                row = rows[program.name]
                slow = row["runs"] and row["runs"][0]["seconds"] > SLOW
                if "failed" in row or (round > 0 and (program.once or slow)):
                    continue
                try:
                    one = program.work()
                    measured = {"seconds": one.seconds, "processor": one.processor, "resident": one.resident, "anonymous": one.anonymous}
                    row["runs"].append({key: round_to(value) for key, value in measured.items()})
                    if program.check and len(row["runs"]) == 1:
                        row["result"], row["right"] = program.check(one)
                except Failed as failure:
                    row["failed"] = str(failure)
                print(f"  {line_of(row)}", file=sys.stderr, flush=True)
        for program in self.programs:
            row = rows[program.name]
            row["note"] = program.note
            row["size"] = program.size or self.size
            if program.against:
                row["against"] = program.against
        table = {"name": self.name, "title": self.title, "note": self.note, "size": self.size, "rows": list(rows.values())}
        print(text_of(table), flush=True)
        return table


def listed(name, rows, title="", note=""):
    """A table of other measurements: rows of cells, of which the first is its head. Prints it; returns it as it is stored."""
    table = {"name": name, "title": title, "note": note, "rows": [], "cells": [[str(cell) for cell in row] for row in rows]}
    print("\n".join(["", *filter(None, [title, note]), *([text_of(table)] if rows else [])]), flush=True)
    return table


def round_to(value):
    return float(f"{value:.4g}")


def line_of(row):
    if "failed" in row:
        return f"{row['name']}: FAILED: {row['failed']}"
    last = row["runs"][-1]
    return f"{row['name']}: {last['seconds']:.2f} s, {last['processor']:.2f} processor s, {last['resident']:.0f} MiB"


def best(row, key):
    """The least of the rounds: other processes on a machine can only slow a program down. Of memory, the most."""
    values = [one[key] for one in row["runs"]]
    return max(values) if key in ("resident", "anonymous") else min(values)


def ratio(table, row, key):
    """How many times as long as cento a program takes for the same amount of data; None if there is nothing to compare."""
    if row["ours"] and "against" not in row or "failed" in row or not row["runs"]:
        return None
    name = row.get("against")
    ours = [one for one in table["rows"] if one["runs"] and "failed" not in one and (one["name"] == name if name else one["ours"])]
    if not ours or ours[0] is row:
        return None
    theirs = best(row, key) / (row["size"] or 1)
    return theirs / (best(ours[0], key) / (ours[0]["size"] or 1))


def times(value):
    if value is None:
        return ""
    return f"{value:.2f} ×" if value < 0.995 else f"{value:.1f} ×" if value < 99.95 else f"{value:,.0f} ×"


def seconds(value):
    return f"{value:,.2f} s" if value < 9.995 else f"{value:,.1f} s" if value < 99.95 else f"{value:,.0f} s"


def cells(table):
    """The table as rows of cells; the first row is its head."""
    if "cells" in table:
        return table["cells"]
    if "rates" in table:
        return [["", "MB/s"], *([row["name"], f"{row['rate']:,.0f}"] for row in table["rates"])]
    with_size = any(row["size"] for row in table["rows"])
    head = ["program", "time", *(["MB/s"] if with_size else []), "processor time", "memory", "result", "cento is faster by", "by processor time"]
    rows = [head]
    for row in table["rows"]:
        name = f"**{row['name']}**" if row["ours"] else row["name"]
        name += f", {row['note']}" if row["note"] else ""
        if "failed" in row:
            rows.append([name, "FAILED", *([""] if with_size else []), "", "", row["failed"], "", ""])
            continue
        rate = [f"{row['size'] / 1e6 / best(row, 'seconds'):,.0f}" if row["size"] else ""] if with_size else []
        rows.append(
            [name, seconds(best(row, "seconds")), *rate, seconds(best(row, "processor")), f"{best(row, 'resident'):,.0f} MiB", row.get("result", "")]
            + [times(ratio(table, row, key)) for key in ("seconds", "processor")]
        )
    # Columns in which nothing stands are left out.
    kept = [at for at in range(len(head)) if any(row[at] for row in rows[1:])]
    return [[row[at] for at in kept] for row in rows]


def text_of(table):
    rows = [[cell.replace("**", "") for cell in row] for row in cells(table)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return "\n".join("  " + "  ".join(cell.ljust(width) if at == 0 else cell.rjust(width) for at, (cell, width) in enumerate(zip(row, widths))) for row in rows)


def markdown_of(table):
    head, *rows = cells(table)
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)
