"""Near-duplicates among the pages of Debian manuals in several versions, compared with exact resemblance: precision and recall.

The manuals are those that Debian has in two versions or for several machines. Exact duplicates are excluded on both sides: of pages with the same
text, one is compared. The truth is computed without sketches, by the example `resembling`.
"""

import json

import duckdb
from common import CENTO, EXAMPLES, FOLDER, crawl, fresh, run
from parts.copies import LEAST, judged_pairs
from table import listed

MANUALS = ["llvm-14-doc", "llvm-15-doc", "libboost1.74-doc", "libboost1.81-doc", "installation-guide-amd64", "installation-guide-arm64", "installation-guide-i386"]


def compare(settings):
    crawl()
    manuals = MANUALS[-3:] if settings.small else MANUALS
    corpus = fresh("versions.cento")
    run([CENTO, "index", *(FOLDER / name for name in manuals), "-o", corpus])
    run([CENTO, "copies", corpus, "--resemblance", LEAST])
    texts = FOLDER / "versions.jsonl"
    rows = duckdb.execute(
        f"""select url, text from (select page_id, url, row_number() over (partition by text_hash order by page_id) copy from '{corpus}/pages/*.parquet' where reject is null)
            join '{corpus}/text/*.parquet' using (page_id) where copy = 1 order by page_id"""
    )
    pages = 0
    with open(texts, "w", encoding="utf-8") as out:
        while batch := rows.fetchmany(1000):
            for url, text in batch:
                out.write(json.dumps({"url": url, "text": text}) + "\n")
                pages += 1
    output = run([EXAMPLES / "resembling", texts, LEAST]).output
    true = {frozenset(line.split("\t")[:2]) for line in output.splitlines()}
    found = {frozenset(pair) for pair in duckdb.sql(f"select page, of from '{corpus}/findings/copies/*/near_pairs.parquet'").fetchall()}
    together, wrong = judged_pairs([tuple(pair) for pair in found], true)
    in_truth, in_found = ({page for pair in pairs for page in pair} for pairs in (true, found))
    fresh(corpus.name), fresh(texts.name)

    def row(what, part, whole):
        return [what, f"{part:,} of {whole:,}", f"{part / max(1, whole):.4f}"]

    rows = [
        ["", "", "share"],
        row("precision: reported pairs that resemble each other that much", len(found) - wrong, len(found)),
        row("recall: pairs of the truth that are in one class", together, len(true)),
        row("recall by page: pages of the truth that are reported", len(in_truth & in_found), len(in_truth)),
    ]
    note = f"{pages:,} pages with different texts of {len(manuals)} manuals. The truth: {len(true):,} pairs with a resemblance of at least {LEAST}, among {len(in_truth):,} pages."
    return [listed("versions", rows, note=note)]
