"""Quilts: against the truth of a synthetic crawl, against DuckDB on the RFC texts, in little memory, and with growing numbers of pages.

    bench/run quilts            everything
    PARTS=rfc bench/run quilts  one part: truth, rfc, growth

* truth: `cento score` on a crawl of `cento synth`.
* rfc: grams by numpy, then patch grams, patchy pages and triples by SQL in DuckDB; and `cento quilts` from text to tables, including covers
  and positions, which the peer does not compute. Both on two threads, in one run; counts agree except for a few words with control characters or
  marks, which Python's expression splits.
* growth: crawls of the same mix and growing size, in --memory 8G and in 1G: seconds, anonymous memory, and pages per core second. The
  paper's figure is 503,898,901 pages on about 220 machines of four cores in 18 hours at best: 8.8 pages per core second. In 1G the
  smallest crawl fits and the others are read twice.
"""

import json
import math
import os
import sys

from common import CENTO, FOLDER, fresh, run, warm

PARTS = os.environ.get("PARTS", "truth,rfc,growth").split(",")
SIZES = [int(size) for size in os.environ.get("SIZES", "10000,50000,200000").split(",")]
ROUNDS = int(os.environ.get("ROUNDS", 2))
PAPER = 503_898_901 / (220 * 4 * 18 * 3600)


def synthetic(pages, *options):
    """A corpus of a synthetic crawl; made on first use."""
    name = f"quilts-{pages}"
    corpus = FOLDER / f"{name}.cento"
    if not (corpus / "manifest.json").exists():
        run([CENTO, "synth", "-o", FOLDER / name, "--pages", pages, "--languages", "en", "--force", *options])
        run([CENTO, "index", FOLDER / name / "crawl", "-o", corpus])
    return corpus


def summary(findings):
    [record] = list(findings.glob("quilts/*/run.json"))
    return json.loads(record.read_text())["summary"]


def truth():
    corpus = synthetic(20_000)
    findings = fresh("quilts-findings")
    run([CENTO, "quilts", corpus, "--min-source", "0.02", "--findings", findings])
    output, *_ = run([CENTO, "score", findings, "--truth", FOLDER / "quilts-20000/truth.jsonl", "--corpus", corpus])
    print(output)


PEER = """
import json, sys, time
import numpy as np, duckdb, re
begun = time.time()
hashes, grams, pages = {{}}, [], []
word = re.compile(r"[^\\W_]+")
for page, line in enumerate(open({file!r})):
    words = word.findall(json.loads(line)["text"].casefold())
    w = np.fromiter((hashes.setdefault(word, hash(word)) for word in words), np.int64, len(words)).astype(np.uint64)
    if len(w) < 5: continue
    g = np.zeros(len(w) - 4, np.uint64)
    for at in range(5):
        g = g * np.uint64(0xd1b54a32d192ed05) + w[at:len(w) - 4 + at]
    g = np.unique(g)
    grams.append(g); pages.append(np.full(len(g), page, np.uint32))
gram, page = np.concatenate(grams), np.concatenate(pages)
made = time.time()
db = duckdb.connect()
db.execute("set threads=2"); db.execute("set enable_progress_bar=false")
rows = {{"gram": gram, "page": page}}
db.execute("create table patch as select gram, count(*) n from rows group by gram having n between 2 and 50")
db.execute("create table posting as select r.gram, r.page from rows r join patch using (gram)")
db.execute('''create table patchy as select page from (select page, count(*) p from posting group by page)
              join (select page, count(*) n from rows group by page) using (page) where p::double / n >= 0.5''')
triples = db.execute('''select count(*), count(distinct a.page) from posting a semi join patchy using (page)
                        join posting b on a.gram = b.gram and a.page <> b.page''').fetchone()
patchy = db.execute("select count(*) from patchy").fetchone()[0]
postings = db.execute("select count(*) from posting").fetchone()[0]
print(json.dumps(dict(grams=len(gram), patch_grams=postings, patchy=patchy, triples=triples[0], made=made - begun, asked=time.time() - made)))
"""


def rfc():
    file = FOLDER / "rfc.jsonl"
    corpus = FOLDER / "rfc.cento"
    if not (corpus / "manifest.json").exists():
        run([CENTO, "index", file, "-o", corpus])
    warm([file, *corpus.rglob("*.parquet")])
    ours, theirs = [], []
    for _ in range(ROUNDS):
        findings = fresh("quilts-findings")
        _, seconds, spent, peak = run([CENTO, "quilts", corpus, "--foreign", "none", "--threads", "2", "--findings", findings])
        ours.append((seconds, spent, peak))
        output, seconds, spent, peer_peak = run([sys.executable, "-c", PEER.format(file=str(file))])
        theirs.append((seconds, spent, peer_peak))
    found, peer = summary(findings), json.loads(output)
    for name in ("grams", "patch_grams", "patchy", "triples"):
        same = "same" if found[name] == peer[name] else f"UNLIKE the peer's {peer[name]:,}"
        print(f"  {name}: {found[name]:,}, {same}")
    print(f"  {found['quilts']:,} quilts with {found['patches']:,} sources")
    seconds, spent, peak = min(ours)
    peer_seconds, peer_spent, peer_peak = min(theirs)
    print(f"  cento: {seconds:.1f} s ({spent:.1f} processor seconds), {peak:.0f} MiB")
    print(f"  numpy and DuckDB: {peer_seconds:.1f} s ({peer_spent:.1f} processor seconds; last: {peer['made']:.1f} s + {peer['asked']:.1f} s), {peer_peak:.0f} MiB")
    print(f"  ratio {peer_seconds / seconds:.1f} (processor seconds: {peer_spent / spent:.1f}) (target: 8)")


def growth():
    for memory in ("8G", "1G"):
        print(f" --memory {memory}")
        grow(memory)


def grow(memory):
    times = []
    for size in SIZES:
        corpus = synthetic(size, "--words", "700")
        warm(corpus.rglob("*.parquet"))
        best = None
        for _ in range(ROUNDS):
            findings = fresh("quilts-findings")
            _, seconds, spent, peak = run([CENTO, "quilts", corpus, "--threads", "2", "--memory", memory, "--findings", findings])
            best = min(best or (spent, seconds, peak), (spent, seconds, peak))
        spent, seconds, peak = best
        found = summary(findings)
        times.append((found["pages"], spent, seconds))
        rate = found["pages"] / spent
        print(
            f"  {found['pages']:,} pages, {found['grams'] / found['pages']:.0f} grams each: {seconds:.1f} s, {spent:.1f} processor seconds, {peak:.0f} MiB"
            f" anonymous; {found['quilts']:,} quilts; {rate:,.0f} pages per core second, {rate / PAPER:,.0f} times the paper's {PAPER:.1f}"
        )
    for pages, spent, seconds in times[1:]:
        least = times[0]
        exponents = [math.log(now / then) / math.log(pages / least[0]) for now, then in ((spent, least[1]), (seconds, least[2]))]
        print(f"  {least[0]:,} to {pages:,} pages: n^{exponents[1]:.2f} (processor seconds: n^{exponents[0]:.2f}) (target: n^1.1)")


for part in PARTS:
    print(part)
    {"truth": truth, "rfc": rfc, "growth": growth}[part]()
