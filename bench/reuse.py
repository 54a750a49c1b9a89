"""Pairs of pages that share text: `cento reuse --scheme winnow` and a query in DuckDB, from the same fingerprints.

DuckDB reads a Parquet file of the distinct fingerprints of all pages and finds the same pairs: pages with the same set as one page,
fingerprints on more than a limit of pages ignored, and at least a tenth of the smaller page shared. cento runs the whole command from
text to named tables, so it does more. Both have 2 threads; each runs several times in turn, and the best counts.

Then the whole command on synthetic crawls of 10,000 and of 200,000 pages, and on 100,000 pages of one template.

    bench/run reuse
    ROUNDS=1 PAGES=2000 bench/run reuse
"""

import json
import math
import os
import sys

from common import CENTO, FOLDER, TARGET, fresh, run, warm
from make_rfc import make

ROUNDS = int(os.environ.get("ROUNDS", 3))
PAGES = int(os.environ.get("PAGES", 10_000))
SCHEME = "winnow"
# The strongest of four formulations, by processor seconds. Pages get small numbers and fingerprints on too many pages are removed
# first; the self-join and its aggregation run in 16 parts, by the left page, so that the hash table of pairs stays small. In one run on
# the RFCs: 24.5 processor seconds and 0.7 GB; in one part 28.0 and 2.2 GB; with pairs packed into one number 26.9; as lists that
# are unnested, slower than a join.
PARTS = 16
PREPARE = """
create temp table raw as select fingerprint, page_id::ubigint as page_id from '{file}';
create temp table sizes as select page_id, count(*)::integer as size, bit_xor(hash(fingerprint)) as one, sum(hash(fingerprint)) as two
  from raw group by page_id;
create temp table firsts as select page_id, size, (row_number() over (order by page_id) - 1)::integer as page
  from (select min(page_id) as page_id, any_value(size) as size from sizes group by size, one, two);
create temp table rows_ as select r.fingerprint, f.page from raw r join firsts f using (page_id);
create temp table counts as select fingerprint, count(*)::integer as pages from rows_ group by fingerprint having count(*) > 1;
create temp table rest as select f.page, f.page_id, (f.size - coalesce(c.ignored, 0))::integer as size from firsts f left join
  (select r.page, count(*) as ignored from rows_ r join (select fingerprint from counts where pages > {most}) using (fingerprint) group by r.page) c
  using (page);
create temp table listed as select r.fingerprint, r.page from rows_ r join (select fingerprint from counts where pages <= {most}) using (fingerprint);
create temp table found (p integer, q integer, shared bigint);
"""
PART = """
insert into found select p, q, shared from
  (select a.page as p, b.page as q, count(*) as shared
    from (select * from listed where page % {parts} = {part}) a join listed b on a.fingerprint = b.fingerprint and a.page < b.page
    group by all)
  join rest r on r.page = p join rest s on s.page = q where 10 * shared >= least(r.size, s.size);
"""
RESULT = "select r.page_id as one, s.page_id as other, shared from found join rest r on r.page = p join rest s on s.page = q"


def corpus_of_rfcs():
    corpus = FOLDER / "reuse-rfc.cento"
    if not corpus.exists():
        run([CENTO, "index", make(FOLDER), "-o", corpus])
    fingerprints = FOLDER / "reuse-rfc.parquet"
    if not fingerprints.exists():
        run([TARGET / "release/examples/reuse_fingerprints", corpus, SCHEME, fingerprints])
    return corpus, fingerprints


def cento(corpus):
    findings = fresh("reuse-findings")
    command = [CENTO, "reuse", corpus, "--scheme", SCHEME, "--threads", 2, "--findings", findings]
    said, *measured = run(command)
    record = next(findings.glob("reuse/*/run.json")).read_text()
    return measured, json.loads(record)["summary"], next(findings.glob("reuse/*/pairs.parquet"))


def duckdb_run(file, most):
    parts = "".join(PART.format(parts=PARTS, part=part) for part in range(PARTS))
    text = PREPARE.format(file=file, most=most) + parts
    program = f"""
import duckdb
db = duckdb.connect()
for setting in ["threads=2", "preserve_insertion_order=false", "enable_progress_bar=false"]:
    db.execute("set " + setting)
db.execute('''{text}''')
db.execute('''copy ({RESULT}) to '{FOLDER}/reuse-duckdb.parquet' (format parquet)''')
"""
    return run([sys.executable, "-c", program])[1:]


def same_pairs(pairs):
    import duckdb

    ours = f"select least(page_id, of_id) as one, greatest(page_id, of_id) as other, shared::bigint as shared from '{pairs}'"
    theirs = f"select one, other, shared from '{FOLDER}/reuse-duckdb.parquet'"
    count = lambda query: duckdb.sql(f"select count(*), sum(shared)::bigint, bit_xor(hash(one, other, shared)) from ({query})").fetchall()[0]
    if count(ours) != count(theirs):
        raise SystemExit(f"unlike pairs: cento {count(ours)}, DuckDB {count(theirs)}")
    return count(ours)[0]


def compare():
    corpus, file = corpus_of_rfcs()
    warm([file, *corpus.glob("*/*.parquet")])
    ours, theirs = [], []
    for _ in range(ROUNDS):
        measured, summary, pairs = cento(corpus)
        ours.append(measured)
        theirs.append(duckdb_run(file, summary["max_pages"] or 1 << 40))
        count = same_pairs(pairs)
    text = json.loads(run([CENTO, "info", corpus, "--json"])[0])["counts"]["text_bytes"] / 1e6
    print(f"{summary['pages']:,} pages, {text:.0f} MB of text, {summary['page_fingerprints']:,} fingerprints, same {count:,} pairs")
    mine, other = ([min(run[at] for run in runs) for at in (0, 1)] + [max(run[2] for run in runs)] for runs in (ours, theirs))
    print(f"  cento reuse, from text: {mine[0]:.2f} s ({mine[1]:.2f} processor seconds), anonymous memory {mine[2]:.0f} MiB")
    print(f"  DuckDB, from fingerprints: {other[0]:.2f} s ({other[1]:.2f} processor seconds), anonymous memory {other[2]:.0f} MiB")
    print(f"  ratio {other[0] / mine[0]:.1f} (processor seconds: {other[1] / mine[1]:.1f}), wanted 5")


def crawl(pages, *options):
    name = "-".join(["reuse", str(pages), *(option.strip("-") for option in map(str, options))])
    corpus = FOLDER / f"{name}.cento"
    if not corpus.exists():
        folder = fresh(name)
        run([CENTO, "synth", "-o", folder, "--pages", pages, "--seed", 1, "--damaged", 0, *options])
        run([CENTO, "index", folder / "crawl", "-o", corpus])
    return corpus


def growth():
    times = {}
    for pages in (PAGES, 20 * PAGES):
        corpus = crawl(pages)
        runs = [cento(corpus)[0] for _ in range(ROUNDS)]
        times[pages] = [min(one[at] for one in runs) for at in (0, 1)]
        print(f"  {pages:,} pages: {times[pages][0]:.2f} s ({times[pages][1]:.2f} processor seconds)")
    few, many = times.values()
    exponents = [math.log(many[at] / few[at]) / math.log(20) for at in (0, 1)]
    print(f"  grows as n^{exponents[0]:.2f} (processor seconds: n^{exponents[1]:.2f}), wanted 1.1 at most")


def template():
    corpus = crawl(10 * PAGES, "--plain", "--news", 0.9)
    (seconds, spent, peak), summary, _ = cento(corpus)
    print(f"  one template on {summary['pages']:,} pages: {seconds:.2f} s ({spent:.2f} processor seconds), memory {peak:.0f} MiB,")
    print(f"  {summary['ignored']:,} fingerprints ignored, {summary['rows']:,} pairs listed")


if __name__ == "__main__":
    compare()
    growth()
    template()
