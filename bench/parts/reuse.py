"""Pairs of RFCs that share text: `cento reuse --scheme winnow`, and DuckDB and polars, from text and from the same fingerprints."""

import json

import duckdb
from common import CENTO, EXAMPLES, FOLDER, HERE, fresh, python_of, run, warm
from data import corpus_of, rfcs
from table import Comparison

SCHEME = "winnow"
PROGRAMS = {"DuckDB": "duckdb", "polars": "polars"}


def count(query):
    return duckdb.sql(f"select count(*), sum(shared)::bigint, bit_xor(hash(one, other, shared)) from ({query})").fetchall()[0]


def compare(settings):
    texts = rfcs(16 if settings.small else 1)
    corpus = corpus_of(texts)
    rows = FOLDER / f"compare-reuse-{texts.stem}.parquet"
    run([EXAMPLES / "reuse_fingerprints", corpus, SCHEME, rows])
    warm([texts, rows])
    peer_pairs = FOLDER / "compare-reuse-peer.parquet"
    found = {}

    def ours(source):
        return run([CENTO, "reuse", source, "--scheme", SCHEME, "--threads", 2, "--findings", fresh("compare-reuse")])

    def check_ours(_):
        [record] = (FOLDER / "compare-reuse").glob("reuse/*/run.json")
        found["most"] = json.loads(record.read_text())["summary"]["max_pages"] or 1 << 31
        ids = "select least(page_id, of_id)::ubigint as one, greatest(page_id, of_id)::ubigint as other, shared::bigint as shared"
        found["pairs"] = count(f"{ids} from '{FOLDER}/compare-reuse/reuse/*/pairs.parquet'")
        return f"{found['pairs'][0]:,} pairs", True

    def peer(program, source, path):
        folder = fresh("compare-reuse-rows")
        folder.mkdir()
        return run([python_of("venv"), HERE / "peers/reuse.py", program, source, path, peer_pairs, found.get("most", 1 << 31), folder])

    def check(exact, _):
        theirs = count(f"select one::ubigint as one, other::ubigint as other, shared::bigint as shared from '{peer_pairs}'")
        if exact:
            return f"{theirs[0]:,} pairs, " + ("the same" if theirs == found["pairs"] else "UNLIKE ours"), theirs == found["pairs"]
        return f"{theirs[0]:,} pairs", abs(theirs[0] / found["pairs"][0] - 1) < 0.1

    note = (
        "The RFCs, from JSON Lines to tables, 2 cores: winnowed fingerprints of three words, and all pairs that share a tenth of the smaller page. The peers winnow with numpy in two processes; their hash function is another, so "
        "they choose other fingerprints, and the number of pairs is only close to ours. cento also classifies pairs, names the pages, and lists what it ignored."
    )
    table = Comparison("reuse", "Local reuse, text to tables", note, texts.stat().st_size)
    table.add("cento reuse FILE", lambda: ours(texts), check_ours, ours=True)
    for name, program in PROGRAMS.items():
        table.add(f"numpy fingerprints, then {name}", lambda program=program: peer(program, "text", texts), lambda one: check(False, one))
    measured = [table.measure(settings.rounds)]
    note = "cento starts from a corpus, that is from text; the peers start from a Parquet file of the same fingerprints, so that the pairs must be the same."
    table = Comparison("reuse-corpus", "Local reuse, from a corpus or from fingerprints", note)
    table.add("cento reuse CORPUS", lambda: ours(corpus), check_ours, ours=True, note="from text")
    for name, program in PROGRAMS.items():
        table.add(name, lambda program=program: peer(program, "fingerprints", rows), lambda one: check(True, one), note="from fingerprints")
    return [*measured, table.measure(settings.rounds)]
