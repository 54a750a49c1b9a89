"""From archives to text: `cento index`, and FastWARC with resiliparse, selectolax and trafilatura, which only extract text.

The text is compared with what an exact program finds on a sample of pages: html.parser of Python's standard library, and the rule that text in script, style,
template, title and noscript is not shown. F1 is over the multiset of words of a page, as a mean over pages.
"""

import json

import duckdb
from common import CENTO, HERE, Failed, fresh, python_of, run
from data import archives
from table import Comparison

PEERS = {"FastWARC + resiliparse": "resiliparse", "FastWARC + selectolax": "selectolax", "FastWARC + trafilatura": "trafilatura"}


def compare(settings):
    files = archives(settings.small)
    program = [python_of("venv"), HERE / "peers/extract.py"]
    whole = run([*program, "sizes", 2, 1, *files])
    pages, size = json.loads(whole.output)[:2]
    sample = json.loads(run([*program, "truth", 2, 1, files[0]]).output)
    # trafilatura looks for the main content, which takes it a hundred times as long.
    every = 64
    some = json.loads(run([*program, "sizes", 2, every, *files]).output)[1]

    def ours(threads, *options):
        return run([CENTO, "index", *files, "-o", fresh("compare-index.cento"), "--threads", threads, "--json", *options])

    def check_ours(one):
        counts = json.loads(one.output)["counts"]
        rows = duckdb.sql(f"select url, text from '{fresh_path()}/pages/*.parquet' join '{fresh_path()}/text/*.parquet' using (page_id)").fetchall()
        texts = {url: text for url, text in rows if url in sample}
        return f"{counts['pages']:,} pages, word F1 {mean_f1(sample, texts):.3f}", counts["pages"] == pages

    def check(name, one):
        found = json.loads(one.output)[0]
        texts = json.loads(run([*program, f"sample-{name}", 2, 1, files[0]]).output)
        return f"{found:,} pages, word F1 {mean_f1(sample, texts):.3f}", True

    note = (
        f"Debian's documentation, {pages:,} pages, {size / 1e9:.2f} GB of HTML. cento goes from archives to a corpus: it also counts words, resolves links, cuts and hashes chunks, compresses, and writes tables. The peers go from "
        "archives to text in memory, and write nothing. Word F1 is about the words that a page shows, compared with those that Python's html.parser finds outside of scripts "
        f"and styles, on {len(sample):,} pages; trafilatura looks for the main content only, so its F1 here is low by design, and of the program without `--main` it says nothing about main content: "
        "`bench/run content` measures that."
    )
    table = Comparison("extract", "From WARC.gz to text, 2 cores", note, size)
    table.add("cento index, 2 threads", lambda: ours(2), check_ours, ours=True)
    for name, peer in PEERS.items():
        slow = peer == "trafilatura"
        step = every if slow else 1
        table.add(
            f"{name}, 2 processes", lambda peer=peer, step=step: run([*program, peer, 2, step, *files], limit=300), lambda one, peer=peer: check(peer, one),
            size=some if slow else size, note=f"one page of {step}" if slow else "",
        )  # fmt: skip
    table.add("cento index --main, 2 threads", lambda: ours(2, "--main"), ours=True)
    table.add("cento index, 1 thread", lambda: ours(1), ours=True)
    measured = table.measure(settings.rounds)
    fresh("compare-index.cento")
    return [measured]


def fresh_path():
    from common import FOLDER

    return FOLDER / "compare-index.cento"


def mean_f1(truth, texts):
    """The mean over pages of the F1 of the multisets of words."""
    from collections import Counter

    if not texts:
        raise Failed("no text of the sample of pages")
    total = 0.0
    for url, words in truth.items():
        wanted, found = Counter(words.casefold().split()), Counter(texts.get(url, "").casefold().split())
        common = sum((wanted & found).values())
        total += 2 * common / max(1, sum(wanted.values()) + sum(found.values()))
    return total / len(truth)
