"""The pages that share text with one page: latency of `cento query` from an index, on one thread, on a synthetic crawl and on the RFCs."""

import json

from common import CENTO, EXAMPLES, FOLDER, fresh, run
from data import corpus_of, rfcs, synthetic
from table import listed

WORDS = 1000


def measure(corpus, queries):
    """The cells of one column."""
    page = FOLDER / "query-page.txt"
    page.write_text("a page of a few words that nobody else has written in this order")
    built = run([CENTO, "query", corpus, page, "--again", "--threads", 2])
    found = json.loads(run([EXAMPLES / "query_speed", corpus, queries, WORDS]).output)
    elapsed, processor = found["milliseconds"], found["processor_milliseconds"]
    cells = {
        "pages, text": f"{found['pages']:,} pages, {found['text_bytes'] / 1e6:,.0f} MB",
        "index": f"{found['index_bytes'] / 1e6:,.0f} MB, {found['index_bytes'] / found['text_bytes']:.1%} of the text",
        "building it, 2 threads": f"{built.seconds:.1f} s, {built.processor:.1f} s of processor time, {built.anonymous:,.0f} MiB",
        "opening it": f"{found['open_ms']:.1f} ms",
        "queries": f"{found['queries']:,}",
        "a query (means)": f"{found['mean_query_bytes']:,.0f} bytes, {found['mean_fingerprints']:.0f} fingerprints, {found['mean_matches']:.0f} matches",
    }
    for share, name in (("50", "median"), ("90", "90 %"), ("99", "99 %"), ("100", "slowest")):
        cells[f"{name}: elapsed, processor time"] = f"{elapsed[share]:.1f} ms, {processor[share]:.1f} ms"
    return cells


def compare(settings):
    pages, queries = (10_000, 200) if settings.small else (200_000, 1_000)
    crawl = fresh("query-synth.cento")
    run([CENTO, "index", synthetic(pages, "--damaged", 0) / "crawl", "-o", crawl])
    columns = {"synthetic crawl": measure(crawl, queries), "RFCs": measure(corpus_of(rfcs(16 if settings.small else 1)), queries)}
    fresh(crawl.name)
    first = next(iter(columns.values()))
    return [listed("query", [["", *columns], *([name, *(column[name] for column in columns.values())] for name in first)])]
