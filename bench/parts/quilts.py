"""Quilts among the RFCs: `cento quilts`, and grams by numpy in two processes, grouped by DuckDB, by polars and by numpy itself."""

import json

from common import CENTO, FOLDER, HERE, Failed, fresh, python_of, run, warm
from data import corpus_of, rfcs, synthetic
from table import Comparison

FORMULATIONS = {"numpy": "numpy alone, packed keys sorted in two processes", "duckdb": "numpy grams, then DuckDB", "polars": "numpy grams, then polars"}
COUNTS = ("grams", "patch_grams", "patchy", "triples", "quilts", "patches")


def summary(name):
    [record] = (FOLDER / name).glob("quilts/*/run.json")
    return json.loads(record.read_text())["summary"]


def compare(settings):
    texts = rfcs(16 if settings.small else 1)
    corpus = corpus_of(texts)
    warm([texts])
    found = {}

    def ours(source):
        return run([CENTO, "quilts", source, "--foreign", "none", "--threads", 2, "--findings", fresh("compare-quilts")])

    def check_ours(_):
        found.update(summary("compare-quilts"))
        return f"{found['quilts']:,} quilts, {found['patches']:,} sources with positions; {found['triples']:,} triples", True

    def peer(formulation):
        folder = fresh("compare-quilts-peer")
        folder.mkdir()
        return run([python_of("venv"), HERE / "peers/quilts.py", formulation, texts, folder])

    def check(one):
        counts = json.loads(one.output)
        if not found:
            raise Failed("nothing to compare with")
        unlike = [name for name in COUNTS if counts[name] != found[name]]
        error = max(abs(counts[name] / found[name] - 1) for name in COUNTS)
        agree = "same" if not unlike else f"within {error:.1g} of ours:"
        return f"{agree} {counts['quilts']:,} quilts, {counts['patches']:,} sources; {counts['made']:.1f} s for grams", error < 1e-3

    note = (
        "The RFCs, from JSON Lines to tables, 2 cores: distinct 5-grams of words, patch grams (on 2 to 50 pages), patchy pages (at least half of their grams are patch grams), "
        "and for each of them the sources that the greedy algorithm chooses; pages with four or more are quilts. cento also finds the positions of all patches in both texts, which the peers do not. "
        "The peers make grams and covers with numpy in two processes, and group grams in three ways. Their counts agree with cento's up to the few "
        "words that Unicode's rules for words and Python's classes of characters divide differently."
    )
    table = Comparison("quilts", "Quilts, text to tables", note, texts.stat().st_size)
    table.add("cento quilts FILE", lambda: ours(texts), check_ours, ours=True)
    for formulation, name in FORMULATIONS.items():
        table.add(name, lambda formulation=formulation: peer(formulation), check)
    table.add("cento quilts CORPUS", lambda: ours(corpus), check_ours, ours=True, note="from a corpus that is there")
    measured = table.measure(settings.rounds)
    fresh("compare-quilts-peer")
    measured["note"] += " " + score(settings)
    return [measured]


def score(settings):
    """How much of a synthetic crawl's truth is found."""
    pages = 2_000 if settings.small else 20_000
    folder = synthetic(pages, "--languages", "en")
    corpus, findings = fresh("compare-quilts-truth.cento"), fresh("compare-quilts-truth")
    run([CENTO, "index", folder / "crawl", "-o", corpus])
    run([CENTO, "quilts", corpus, "--min-source", "0.02", "--findings", findings])
    said = run([CENTO, "score", findings, "--truth", folder / "truth.jsonl", "--corpus", corpus, "--json"]).output
    fresh("compare-quilts-truth.cento")
    found = [json.loads(line) for line in said.splitlines()]
    counts = "; ".join(f"{one['what']}: {one['right']:,} of {one['expected']:,} found, {one['wrong']:,} wrong" for one in found)
    return f"Against the truth of a synthetic crawl of {pages:,} pages (`cento score`): {counts}."
