"""Pairs of RFCs that share at least 25 chunks of two lines: `cento overlap`, and a self-join in DuckDB and in polars, from the chunk table of the corpus."""

import duckdb
from common import CENTO, FOLDER, HERE, fresh, python_of, run, warm
from data import corpus_of, rfcs
from table import Comparison

THRESHOLD = 25
FORMULATIONS = {"DuckDB, self-join": "duckdb-join", "DuckDB, self-join of chunks on several pages": "duckdb-several", "polars": "polars"}


def count(query):
    return duckdb.sql(f"select count(*), sum(chunks)::bigint, bit_xor(hash(least(one, other), greatest(one, other), chunks)) from ({query})").fetchall()[0]


def compare(settings):
    texts = rfcs(16 if settings.small else 1)
    corpus = corpus_of(texts, "--chunk", "lines:2")
    warm([texts])
    pairs, found = FOLDER / "compare-overlap-peer.parquet", {}
    options = ["--min-shared", THRESHOLD, "--max-pages", 0, "--threads", 2]

    def ours(source, *more):
        return run([CENTO, "overlap", source, *options, *more, "--findings", fresh("compare-overlap")])

    def check_ours(_):
        files = f"{FOLDER}/compare-overlap/overlap/*/pairs.parquet"
        found["pairs"] = count(f"select page_id::ubigint as one, of_id::ubigint as other, chunks::bigint as chunks from '{files}'")
        return f"{found['pairs'][0]:,} pairs", True

    def check(_):
        theirs = count(f"select one::ubigint as one, other::ubigint as other, chunks::bigint as chunks from '{pairs}'")
        return f"{theirs[0]:,} pairs, " + ("the same" if theirs == found["pairs"] else "UNLIKE ours"), theirs == found["pairs"]

    def peer(formulation):
        return run([python_of("venv"), HERE / "peers/overlap.py", formulation, f"{corpus}/chunks/*.parquet", pairs, THRESHOLD])

    note = (
        f"The RFCs, from a corpus, 2 cores: pairs of pages that share at least {THRESHOLD} chunks of two lines, no chunk ignored. All read the chunk table of the corpus, "
        "and write pairs as Parquet. cento also names the pages, and adds up the overlap of each."
    )
    table = Comparison("overlap", "Overlap of pages, from a corpus", note)
    table.add("cento overlap CORPUS", lambda: ours(corpus), check_ours, ours=True)
    for name, formulation in FORMULATIONS.items():
        table.add(name, lambda formulation=formulation: peer(formulation), check)
    table.add("cento overlap FILE", lambda: ours(texts, "--chunk", "lines:2"), check_ours, ours=True, note="from text")
    return [table.measure(settings.rounds)]
