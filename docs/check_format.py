#!/usr/bin/env python3
"""Compares docs/FORMAT.md with the tables that cento writes.

    docs/check_format.py target/debug/cento          make a small corpus, run every analysis, compare
    docs/check_format.py --corpus NAME.cento         compare the tables of an existing corpus

Fails if FORMAT.md lacks a table or a column, describes one that does not exist, has columns in another
order, or states another type. With --corpus, tables that the corpus does not have are not compared.

In FORMAT.md, a table is a heading `### ANALYSIS/TABLE` (or `### corpus/pages`, `### labels/NAME.labels.parquet`)
followed by a Markdown table whose first two columns are the name and the type of each column. A type that
ends in `?` is nullable. Only the standard library is needed: the schema is read from the footer of the
Parquet file. If DuckDB is installed, the SQL in FORMAT.md is run too.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Intermediate results, which FORMAT.md mentions but does not describe.
INTERNAL = {"replication-groups"}


class Compact:
    """Reads Thrift's compact protocol, in which the footer of a Parquet file is encoded."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def integer(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def binary(self) -> bytes:
        length = self.varint()
        self.at += length
        return self.data[self.at - length : self.at]

    def value(self, kind: int):
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self.byte()
        if kind in (4, 5, 6):
            return self.integer()
        if kind == 7:
            self.at += 8
            return struct.unpack("<d", self.data[self.at - 8 : self.at])[0]
        if kind == 8:
            return self.binary()
        if kind in (9, 10):
            return self.list()
        if kind == 12:
            return self.struct()
        raise ValueError(f"unknown Thrift type {kind}")

    def list(self) -> list:
        header = self.byte()
        length, kind = header >> 4, header & 15
        if length == 15:
            length = self.varint()
        if kind in (1, 2):
            return [self.byte() == 1 for _ in range(length)]
        return [self.value(kind) for _ in range(length)]

    def struct(self) -> dict:
        fields, field = {}, 0
        while (header := self.byte()) != 0:
            delta, kind = header >> 4, header & 15
            field = field + delta if delta else self.integer()
            fields[field] = self.value(kind)
        return fields


# Fields of SchemaElement in parquet.thrift.
TYPE, LENGTH, REPETITION, NAME, CHILDREN, CONVERTED, LOGICAL = 1, 2, 3, 4, 5, 6, 10
UTF8, MILLISECONDS, U8, U16, U32, U64 = 0, 9, 11, 12, 13, 14


def columns(path: Path) -> list[tuple[str, str]]:
    """Returns the names and types of the columns of a Parquet file."""
    data = path.read_bytes()
    if data[:4] != b"PAR1" or data[-4:] != b"PAR1":
        raise ValueError(f"{path} is not a Parquet file")
    length = struct.unpack("<I", data[-8:-4])[0]
    elements = iter(Compact(data[-8 - length : -8]).struct()[2])
    root = next(elements)
    return [column(elements) for _ in range(root[CHILDREN])]


def column(elements) -> tuple[str, str]:
    element = next(elements)
    optional = "?" if element.get(REPETITION) == 1 else ""
    name = element[NAME].decode()
    if element.get(CHILDREN):
        repeated = next(elements)
        assert repeated.get(CHILDREN) == 1, f"{name} is not a list"
        return name, f"list<{column(elements)[1].rstrip('?')}>{optional}"
    return name, type_name(element) + optional


def type_name(element: dict) -> str:
    converted, logical = element.get(CONVERTED), element.get(LOGICAL, {})
    if converted == UTF8 or 1 in logical:
        return "string"
    if converted == MILLISECONDS or 8 in logical:
        return "timestamp"
    unsigned = {U8: "uint8", U16: "uint16", U32: "uint32", U64: "uint64"}
    if converted in unsigned:
        return unsigned[converted]
    kind = element[TYPE]
    if kind == 7:
        return f"binary({element[LENGTH]})"
    return {0: "boolean", 1: "int32", 2: "int64", 4: "float", 5: "double", 6: "binary"}[kind]


def documented(path: Path) -> dict[str, list[tuple[str, str]]]:
    """Returns the tables that FORMAT.md describes."""
    tables: dict[str, list[tuple[str, str]]] = {}
    current = None
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            heading = re.fullmatch(r"### `?([\w-]+/[\w.-]+)`?", line)
            current = tables.setdefault(heading[1], []) if heading else None
        elif current is not None and (row := re.match(r"\| `(\w+)` \| ([\w<>()]+\??) \|", line)):
            current.append((row[1], row[2]))
    return tables


def written(corpus: Path, labels: Path | None = None) -> dict[str, list[tuple[str, str]]]:
    """Returns the tables of a corpus, of its findings, and beside a file of labels."""
    tables = {}
    for name in ("pages", "text", "chunks"):
        for part in sorted((corpus / name).glob("*.parquet"))[:1]:
            tables[f"corpus/{name}"] = columns(part)
    for path in sorted(corpus.glob("findings/*/*/*.parquet")):
        analysis = path.parent.parent.name
        if analysis in INTERNAL:
            continue
        name, found = f"{analysis}/{path.stem}", columns(path)
        name = name.removesuffix("-without-proposals")
        if ".labels" in path.name:
            name = "labels/NAME" + path.name[path.name.index(".labels") :]
        assert tables.setdefault(name, found) == found, f"{name} differs between runs"
    # Outputs are not written among the files of a corpus.
    for path in sorted(corpus.parent.glob("query/*.parquet")):
        tables[f"query/{path.stem}"] = columns(path)
    if labels is not None:
        for path in sorted(labels.parent.glob(labels.name + ".*parquet")):
            tables["labels/NAME.labels" + path.name.removeprefix(labels.name)] = columns(path)
    return tables


def run_everything(cento: Path, folder: Path) -> tuple[Path, Path]:
    """Makes a small corpus with every table."""
    corpus, labels = folder / "s.cento", folder / "s.labels"

    def run(*arguments: object) -> None:
        command = [str(cento), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"failed: {' '.join(command)}\n{done.stderr}")

    run("synth", "-o", folder / "s", "--pages", 200, "--languages", "en", "--seed", 1)
    run("scan", folder / "s/crawl", "-o", corpus)
    run("overlap", corpus)
    run("reuse", corpus)
    run("query", corpus, folder / "s/originals")
    (folder / "query").mkdir()
    run("query", corpus, folder / "s/originals", "--out", folder / "query/matches.parquet")
    run("passages", corpus)
    run("passages", corpus, "--clusters")
    run("quilts", corpus, "--sweep", "c=2..4")
    run("copies", corpus, "--sweep", "resemblance=0.8,1")
    run("discover", corpus, "--from", folder / "s/originals", "-o", labels)
    run("detect", corpus, "--labels", labels, "--fuzzy", "--truth", folder / "s/truth.jsonl")
    run("trial", "inject", corpus, "--inject", folder / "s/originals")
    run("trial", "mutate", corpus, "--runs", 2)
    run("detect", corpus, "--against", folder / "s/originals")
    run("detect", corpus, "--against", folder / "s/originals", "--grams", 8)
    return corpus, labels


def run_sql(cento: Path, folder: Path, format: Path) -> int:
    """Runs the SQL of FORMAT.md on small inputs; returns how many queries were run."""
    try:
        import duckdb
    except ImportError:
        print("DuckDB is not installed: the SQL was not run")
        return 0
    words = [" ".join(f"w{seed * 50 + word}" for word in range(40)) for seed in range(3)]
    texts = [words[0], words[1], words[0], words[2], words[1]]
    lines = [json.dumps({"id": 10 + at, "text": text}) for at, text in enumerate(texts)]
    lines.insert(1, "")
    (folder / "pages.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    connection = duckdb.connect()
    connection.execute(f"set file_search_path = '{folder}'")
    rows = ", ".join(f"({10 + at}, '{text}')" for at, text in enumerate(texts))
    connection.execute(f"copy (from (values {rows}) as t(id, text)) to '{folder}/pages.parquet'")

    def run(*arguments: str) -> None:
        subprocess.run([str(cento), *arguments], cwd=folder, check=True, capture_output=True)

    for corpus, source in (("j.cento", "pages.jsonl"), ("p.cento", "pages.parquet")):
        run("index", source, "-o", corpus)
        run("copies", corpus)
        run("quilts", corpus)
    (folder / "s.cento").symlink_to("j.cento")
    section = format.read_text(encoding="utf-8").split("## Joining findings to the input")[1]
    queries = re.findall(r"```sql\n(.*?)```", section, re.DOTALL)
    before = Path.cwd()
    os.chdir(folder)
    try:
        for query in queries:
            found = connection.execute(query).fetchall()
            if "/copies/" not in query:
                continue
            # Both duplicates, with the text of their row.
            shown = sorted(str(cell) for row in found for cell in row if str(cell).startswith("w"))
            if shown != sorted([words[0], words[1]]):
                raise SystemExit(f"this query of FORMAT.md finds other rows, {found}:\n{query}")
    finally:
        os.chdir(before)
    return len(queries)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cento", type=Path, nargs="?", help="the binary")
    parser.add_argument("--corpus", type=Path, help="compare the tables of this corpus only")
    parser.add_argument("--format", type=Path, default=HERE / "FORMAT.md", help="the description to check")
    parser.add_argument("--list", action="store_true", help="print the tables that were found")
    arguments = parser.parse_args()
    if (arguments.cento is None) == (arguments.corpus is None):
        parser.error("name either the binary or --corpus")
    if arguments.corpus is not None:
        found = written(arguments.corpus)
    else:
        with tempfile.TemporaryDirectory() as folder:
            found = written(*run_everything(arguments.cento.resolve(), Path(folder)))
    if arguments.list:
        for table, rows in found.items():
            print(table, *(f"  {name}\t{kind}" for name, kind in rows), sep="\n")
        return 0
    described = documented(arguments.format)
    problems = [f"{table}: not described" for table in found.keys() - described.keys()]
    if arguments.corpus is None:
        problems += [f"{table}: described, but not written" for table in described.keys() - found.keys()]
    for table in found.keys() & described.keys():
        actual, stated = found[table], described[table]
        if actual == stated:
            continue
        problems += [f"{table}.{name}: {kind} is not described" for name, kind in actual if (name, kind) not in stated]
        problems += [f"{table}.{name}: described as {kind}" for name, kind in stated if (name, kind) not in actual]
        if sorted(actual) == sorted(stated):
            problems.append(f"{table}: the columns are in another order")
    for problem in sorted(problems):
        print(problem, file=sys.stderr)
    if problems:
        return 1
    print(f"FORMAT.md describes all {len(found)} tables")
    if arguments.cento is not None:
        with tempfile.TemporaryDirectory() as folder:
            count = run_sql(arguments.cento.resolve(), Path(folder), arguments.format)
        if count > 0:
            print(f"the {count} queries of FORMAT.md run")
    return 0


if __name__ == "__main__":
    sys.exit(main())
