"""Pairs of RFCs that share at least 25 chunks of two lines: cento and a self-join in DuckDB, from the same file of chunk hashes.

Both read one Parquet file of (chunk, page) rows and write the pairs as Parquet, on 2 threads. DuckDB may choose between two queries that
say the same. Each is run several times in turn and the best counts, for a machine that is shared is slow by chance and never fast by
chance; processor seconds are printed beside. No chunk is left out, however common.

Then the whole command on synthetic crawls of one kind, one ten times the size of the other.

    bench/run overlap
    ROUNDS=1 PAGES=20000 bench/run overlap
"""

import os
import resource
import subprocess
import sys
import threading
import time

from common import CENTO, FOLDER, TARGET, fresh, warm
from make_rfc import make

ROUNDS = int(os.environ.get("ROUNDS", 3))
PAGES = int(os.environ.get("PAGES", 20_000))
THRESHOLD = 25
DISTINCT = "with d as (select distinct chunk, page from '{file}')"
QUERIES = {
    "self-join": DISTINCT
    + ' select a.page as page, b.page as "of", count(*)::uinteger as chunks from d a join d b on a.chunk = b.chunk and a.page > b.page'
    + " group by all having count(*) >= {threshold}",
    "self-join of chunks on several pages": DISTINCT
    + ", r as (select chunk, page from d where chunk in (select chunk from d group by chunk having count(*) > 1))"
    + ' select a.page as page, b.page as "of", count(*)::uinteger as chunks from r a join r b on a.chunk = b.chunk and a.page > b.page'
    + " group by all having count(*) >= {threshold}",
}


def run(command):
    """Runs a command; its seconds, its processor seconds, the most anonymous memory it had resident in MiB, and what it said."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.time()
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    peak = 0

    def watch():
        nonlocal peak
        while process.poll() is None:
            try:
                with open(f"/proc/{process.pid}/status") as status:
                    lines = [line for line in status if line.startswith("RssAnon")]
            except OSError:
                return
            peak = max([peak, *(int(line.split()[1]) for line in lines)])
            time.sleep(0.01)

    watcher = threading.Thread(target=watch)
    watcher.start()
    said = process.stdout.read()
    process.wait()
    seconds = time.time() - begun
    watcher.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode != 0:
        raise SystemExit(f"failed: {command}\n{said}")
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, peak / 1024, said


def rows_file():
    """(chunk, page) of all chunks of two lines, as the corpus has them, and how many rows, pages and joined rows there are."""
    import duckdb

    path = FOLDER / "rfc-lines-2.parquet"
    corpus = FOLDER / "rfc-lines-2.cento"
    if not corpus.exists():
        run([CENTO, "index", make(FOLDER), "-o", corpus, "--chunk", "lines:2"])
    if not path.exists():
        # 64 bits of each hash: a number is what a join is fastest with.
        half = "('0x' || substr(hex(chunk_hash), 1, 16))::ubigint"
        page = "(page_id & 4294967295)::uinteger"
        chunks = corpus / "chunks/*.parquet"
        duckdb.sql(f"copy (select {half} as chunk, {page} as page from '{chunks}') to '{path}' (format parquet)")
    rows, pages = duckdb.sql(f"select count(*), max(page) + 1 from '{path}'").fetchall()[0]
    distinct = DISTINCT.format(file=path)
    joined = duckdb.sql(f"{distinct} select sum(p * (p - 1) // 2)::bigint from (select count(*) as p from d group by chunk)").fetchall()[0][0]
    return path, rows, pages, joined


def cento(file, rows, pages, memory):
    output = fresh("overlap-out")
    # cargo run --release -p cento-find --example overlap_bench, which bench/run has built
    return run([TARGET / "release/examples/overlap_bench", file, output, THRESHOLD, rows, pages, 2, memory])


def duckdb_run(file, query):
    text = query.format(file=file, threshold=THRESHOLD)
    program = f"""
import duckdb
db = duckdb.connect()
for setting in ["threads=2", "preserve_insertion_order=false", "enable_progress_bar=false"]:
    db.execute("set " + setting)
db.execute('''copy ({text}) to '{FOLDER}/overlap-duckdb.parquet' (format parquet)''')
"""
    return run([sys.executable, "-c", program])


def same_pairs():
    import duckdb

    summary = 'select count(*), sum(chunks)::bigint, bit_xor(hash(page, "of", chunks)) from \'{}\''
    ours = duckdb.sql(summary.format(FOLDER / "overlap-out/pairs.parquet")).fetchall()[0]
    theirs = duckdb.sql(summary.format(FOLDER / "overlap-duckdb.parquet")).fetchall()[0]
    if ours != theirs:
        raise SystemExit(f"unlike pairs: cento {ours}, DuckDB {theirs}")
    return ours[0]


def compare():
    file, rows, pages, joined = rows_file()
    warm([file])
    print(f"{rows:,} rows, {joined:,} rows of the self-join, pairs that share {THRESHOLD} chunks")
    ours, small, theirs = [], [], {}
    for _ in range(ROUNDS):
        ours.append(cento(file, rows, pages, 2 << 30))
        for name, query in QUERIES.items():
            theirs.setdefault(name, []).append(duckdb_run(file, query))
            pairs = same_pairs()
        small.append(cento(file, rows, pages, 32 << 20))
        same_pairs()
    best = {name: [min(run[at] for run in runs) for at in (0, 1)] + [max(run[2] for run in runs)] for name, runs in theirs.items()}
    mine = [min(run[at] for run in ours) for at in (0, 1)]
    tight = [min(run[at] for run in small) for at in (0, 1)]
    print(f"  cento --memory 2G: {mine[0]:.2f} s ({mine[1]:.2f} processor seconds), anonymous memory {max(run[2] for run in ours):.0f} MiB")
    print(f"  cento --memory 32M: {tight[0]:.2f} s ({tight[1]:.2f} processor seconds), anonymous memory {max(run[2] for run in small):.0f} MiB")
    for name, (seconds, spent, peak) in best.items():
        print(f"  DuckDB {name}: {seconds:.2f} s ({spent:.2f} processor seconds), anonymous memory {peak:.0f} MiB")
    fastest = min(seconds for seconds, _, _ in best.values())
    cheapest = min(spent for _, spent, _ in best.values())
    print(f"  same {pairs:,} pairs; ratio {fastest / mine[0]:.1f} (processor seconds: {cheapest / mine[1]:.1f}), wanted 3")


def growth():
    """Ten times the pages of the same kind, from the corpus to the table of pairs."""
    times = {}
    for pages in (PAGES, 10 * PAGES):
        corpus = FOLDER / f"overlap-{pages}.cento"
        if not corpus.exists():
            crawl = fresh(f"overlap-{pages}")
            run([CENTO, "synth", "-o", crawl, "--pages", pages, "--seed", 1, "--damaged", 0])
            run([CENTO, "index", crawl / "crawl", "-o", corpus])
        command = [CENTO, "overlap", corpus, "--again", "--threads", 2, "--findings", fresh("overlap-findings")]
        runs = [run(command) for _ in range(ROUNDS)]
        times[pages] = [min(one[at] for one in runs) for at in (0, 1)]
        print(f"  {pages:,} pages: {times[pages][0]:.2f} s ({times[pages][1]:.2f} processor seconds)")
    few, many = times.values()
    print(f"  ten times the pages: {many[0] / few[0]:.1f} times the time (processor seconds: {many[1] / few[1]:.1f}), wanted 12 at most")


if __name__ == "__main__":
    compare()
    growth()
