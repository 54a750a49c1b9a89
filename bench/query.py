"""The pages that share text with one page: latency of `cento query` from an index, on one thread.

The index is built by `cento query` on a synthetic crawl of 200,000 pages, and on the RFCs if $CENTO_BENCH has them (rfc.jsonl, made by
bench/make_rfc.py). Queries are the first 1,000 words of random pages, as unknown texts, from one process that keeps the index open; every
query is asked twice and the second time is measured, so the files are in the page cache. An answer has the best 10 matches with their
shared passages, for which it reads the texts of these pages.

    bench/run query
    PAGES=10000 QUERIES=200 bench/run query
"""

import json
import os

from common import CENTO, EXAMPLES, FOLDER, fresh, run

PAGES = int(os.environ.get("PAGES", 200_000))
QUERIES = int(os.environ.get("QUERIES", 1000))
WORDS = 1000


def crawl(pages):
    corpus = FOLDER / f"query-{pages}.cento"
    if not corpus.exists():
        folder = fresh(f"query-{pages}")
        run([CENTO, "synth", "-o", folder, "--pages", pages, "--seed", 1, "--damaged", 0])
        run([CENTO, "index", folder / "crawl", "-o", corpus])
    return corpus


def rfcs():
    corpus, lines = FOLDER / "reuse-rfc.cento", FOLDER / "rfc.jsonl"
    if not corpus.exists() and lines.exists():
        run([CENTO, "index", lines, "-o", corpus])
    return corpus if corpus.exists() else None


def measure(name, corpus):
    page = FOLDER / "query-page.txt"
    page.write_text("a page of a few words that nobody else has written in this order")
    one = run([CENTO, "query", corpus, page, "--again", "--threads", 2])
    seconds, spent, peak = one.seconds, one.processor, one.anonymous
    said = run([EXAMPLES / "query_speed", corpus, QUERIES, WORDS]).output
    found = json.loads(said)
    share = found["index_bytes"] / found["text_bytes"]
    print(f"{name}: {found['pages']:,} pages, {found['text_bytes'] / 1e6:,.0f} MB of text")
    print(f"  build: {seconds:.1f} s ({spent:.1f} processor seconds), anonymous memory {peak:.0f} MiB")
    print(f"  index: {found['index_bytes'] / 1e6:,.0f} MB, {share:.1%} of the text, wanted 25 % at most; opened in {found['open_ms']:.1f} ms")
    print(f"  {found['queries']:,} queries of {found['mean_query_bytes']:,} bytes and {found['mean_fingerprints']:.0f} fingerprints (mean):")
    print(f"  {found['mean_matches']:.0f} matches (mean)")
    for name, times in [("by the clock", found["milliseconds"]), ("processor time", found["processor_milliseconds"])]:
        print(f"  {name}: median {times['50']:.2f} ms, wanted 5; 90 % {times['90']:.2f}; 99 % {times['99']:.2f}, wanted 50; all {times['100']:.2f}")


if __name__ == "__main__":
    measure("synthetic crawl", crawl(PAGES))
    if corpus := rfcs():
        measure("RFCs", corpus)
