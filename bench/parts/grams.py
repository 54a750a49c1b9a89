"""Grouping: the distinct pages of each gram, grams on 2 to 50 pages kept. cento's engine, DuckDB and polars on the same Parquet file.

All read the file and write the result as Parquet, on 2 threads. DuckDB need not keep an order, and runs two equivalent queries; polars too.
"""

import json

import duckdb
from common import EXAMPLES, FOLDER, HERE, fresh, python_of, run, warm
from table import Comparison

QUERIES = {"count(distinct)": "duckdb-count", "distinct, then count": "duckdb-distinct"}


def summary(path):
    return duckdb.sql(f"select count(*), sum(pages)::bigint, bit_xor(hash(gram, pages)) from '{path}'").fetchall()[0]


def compare(settings):
    rows = 5_000_000 if settings.small else 50_000_000
    file = FOLDER / f"compare-grams-{rows}.parquet"
    run([EXAMPLES / "count_grams", "make", file, rows])
    warm([file])
    output = FOLDER / "compare-grams-peer.parquet"
    true = {}

    def ours(memory):
        return run([EXAMPLES / "count_grams", "count", file, fresh("compare-grams"), memory])

    def check(found):
        # The first peer that succeeds is the truth: all others must agree with it.
        true.setdefault("rows", found)
        return f"{found[0]:,} grams" + ("" if found == true["rows"] else ", UNLIKE the first"), found == true["rows"]

    def check_ours(one):
        spilled = sum(stage["spilled"] for stage in json.loads(one.output)["report"]["stages"])
        text, right = check(summary(FOLDER / "compare-grams/counts.parquet"))
        return text + (f", {spilled / 1e9:.1f} GB spilled" if spilled else ""), right

    def peer(formulation, memory):
        return run([python_of("venv"), HERE / "peers/grams.py", formulation, file, output, memory, fresh("compare-grams-temp")], limit=300)

    tables = []
    for memory, size in (("8G", 8 << 30), ("512M", 512 << 20)):
        little = memory == "512M"
        note = f"{rows:,} random (gram, page) rows in a Parquet file. All programs read the file and write a Parquet file, and their results are compared by a hash of all rows."
        if little:
            note = "The same in 512 MB of memory. polars has no limit of memory, so it is not in this table."
        table = Comparison(f"grams-{memory}", f"Distinct pages of each gram, {memory} of memory, 2 cores", note)
        table.add("cento's engine", lambda size=size: ours(size), check_ours, ours=True)
        for name, query in QUERIES.items():
            table.add(f"DuckDB, {name}", lambda query=query, memory=memory: peer(query, memory), lambda _: check(summary(output)), once=little)
        if not little:
            table.add("polars", lambda: peer("polars", "8G"), lambda _: check(summary(output)))
        tables.append(table.measure(settings.rounds))
    return tables
