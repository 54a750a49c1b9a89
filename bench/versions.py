"""Near-duplicates among the pages of Debian manuals in several versions, compared with exact resemblance: precision and recall.

The manuals are those that Debian has in two versions or for several machines. Exact duplicates are excluded on both sides: of pages with the same
text, one is compared. The truth is computed without sketches, by the example `resembling`.

    bench/run versions
"""

import json
import subprocess
import sys

import duckdb

from common import CENTO, FOLDER, HERE, TARGET, fresh

MANUALS = ["llvm-14-doc", "llvm-15-doc", "libboost1.74-doc", "libboost1.81-doc", "installation-guide-amd64", "installation-guide-arm64", "installation-guide-i386"]
LEAST = 0.8


def main():
    subprocess.run([sys.executable, HERE / "make_crawl.py", FOLDER], check=True)
    corpus = fresh("versions.cento")
    subprocess.run([CENTO, "index", *(FOLDER / name for name in MANUALS), "-o", corpus], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([CENTO, "copies", corpus, "--resemblance", str(LEAST)], check=True, stdout=subprocess.DEVNULL)
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
    output = subprocess.run([TARGET / "release/examples/resembling", texts, str(LEAST)], check=True, stdout=subprocess.PIPE, text=True).stdout
    resembling = [line.split("\t")[:2] for line in output.splitlines()]
    true = {frozenset(pair) for pair in resembling}
    found = {frozenset(pair) for pair in duckdb.sql(f"select page, of from '{corpus}/findings/copies/*/near_pairs.parquet'").fetchall()}
    parent = {}

    def root(page):
        while parent.setdefault(page, page) != page:
            parent[page] = parent[parent[page]]
            page = parent[page]
        return page

    for one, other in map(tuple, found):
        parent[root(one)] = root(other)
    together = sum(root(one) == root(other) for one, other in map(tuple, true))
    in_truth = {page for pair in true for page in pair}
    in_found = {page for pair in found for page in pair}
    print(f"{pages:,} pages of {len(MANUALS)} manuals with different texts, {len(true):,} pairs with a resemblance of at least {LEAST} among {len(in_truth):,} pages")
    print(f"  precision: {len(found & true):,} of {len(found):,} pairs reported by cento are that similar: {len(found & true) / max(len(found), 1):.4f}")
    print(f"  recall: {together:,} of {len(true):,} pairs are in one class: {together / max(len(true), 1):.4f}")
    print(f"  recall by page: {len(in_truth & in_found):,} of {len(in_truth):,} pages that resemble another are reported: {len(in_truth & in_found) / max(len(in_truth), 1):.4f}")


main()
