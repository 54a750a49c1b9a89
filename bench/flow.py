"""Distinct pages for each gram, grams on 2 to 50 pages kept: cento's engine and DuckDB on the same Parquet file, 2 threads each.

Both read the file and write the result as Parquet. DuckDB may choose between `count(distinct)` and distinct-then-count, and need not keep any
order. Each is run several times in turn and the best counts, for a machine that is shared is slow by chance and never fast by
chance; processor seconds are printed beside, which depend less on who else is there.

    bench/run flow
    ROWS=50000000 ROUNDS=1 bench/run flow
"""

import json
import math
import os
import resource
import subprocess
import sys
import time

from common import FOLDER, TARGET, fresh, warm

EXAMPLE = TARGET / "release/examples/count_grams"
ROWS = int(os.environ.get("ROWS", 200_000_000))
ROUNDS = int(os.environ.get("ROUNDS", 3))
QUERIES = {
    "count(distinct)": "select gram, count(distinct page)::uinteger as pages from '{file}' group by gram having pages between 2 and 50",
    "distinct, then count": "select gram, count(*)::uinteger as pages from (select distinct gram, page from '{file}') group by gram having pages between 2 and 50",
}


def rows_file(rows):
    path = FOLDER / f"flow-{rows}.parquet"
    subprocess.run([EXAMPLE, "make", path, str(rows)], check=True)
    return path


def measured(command):
    """Runs a command; whether it went well, its output, its seconds, its processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.time()
    process = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    seconds = time.time() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return process.returncode == 0, process.stdout if process.returncode == 0 else process.stderr, seconds, spent


def cento(file, memory):
    output = fresh("flow-out")
    size = int(memory[:-1]) << {"G": 30, "M": 20}[memory[-1]]
    well, text, seconds, spent = measured([EXAMPLE, "count", file, output, size])
    if not well:
        raise SystemExit(f"cento failed: {text}")
    outcome = json.loads(text)
    return seconds, spent, outcome["anonymous_peak"], sum(stage["spilled"] for stage in outcome["report"]["stages"])


def duckdb(file, query, memory):
    temp = fresh("flow-duckdb")
    program = f"""
import duckdb
db = duckdb.connect()
for setting in ["threads=2", "memory_limit='{memory}'", "temp_directory='{temp}'", "preserve_insertion_order=false", "enable_progress_bar=false"]:
    db.execute("set " + setting)
db.execute(\"\"\"copy ({query.format(file=file)}) to '{FOLDER}/flow-duckdb.parquet' (format parquet)\"\"\")
"""
    return measured([sys.executable, "-c", program])


def same_result():
    import duckdb as db

    summary = "select count(*), sum(pages), bit_xor(hash(gram, pages)) from '{}'"
    ours = db.sql(summary.format(FOLDER / "flow-out/counts.parquet")).fetchall()[0]
    theirs = db.sql(summary.format(FOLDER / "flow-duckdb.parquet")).fetchall()[0]
    if ours != theirs:
        raise SystemExit(f"unlike results: cento {ours}, DuckDB {theirs}")
    return ours[0]


def compare(file, memory, duckdb_memory, wanted):
    ours, theirs = [], {}
    for _ in range(ROUNDS):
        ours.append(cento(file, memory))
        for name, query in QUERIES.items():
            well, text, seconds, spent = duckdb(file, query, duckdb_memory)
            if well:
                theirs.setdefault(name, []).append((seconds, spent))
                kept = same_result()
            else:
                reason = (text.strip().splitlines() or ["no message"])[-1]
                print(f"  DuckDB {name}: FAILED after {seconds:.1f} s: {reason[:160]}")
    seconds, spent = min(run[0] for run in ours), min(run[1] for run in ours)
    peak = max(run[2] for run in ours) / 2**20
    budget = {"G": 1024, "M": 1}[memory[-1]] * int(memory[:-1])
    print(f"  cento, --memory {memory}: {seconds:.1f} s ({spent:.1f} processor seconds), {ours[0][3] / 1e9:.1f} GB spilled")
    print(f"  anonymous memory: {peak:.0f} MiB, budget + 128 MiB is {budget + 128} MiB: {'within' if peak <= budget + 128 else 'BEYOND'}")
    for name, runs in theirs.items():
        best, best_spent = min(run[0] for run in runs), min(run[1] for run in runs)
        print(f"  DuckDB {name}: {best:.1f} s ({best_spent:.1f} processor seconds)")
    if not theirs:
        print("  DuckDB failed with both queries")
        return
    best = min(run[0] for runs in theirs.values() for run in runs)
    best_spent = min(run[1] for runs in theirs.values() for run in runs)
    print(f"  same {kept:,} rows; ratio {best / seconds:.1f} (processor seconds: {best_spent / spent:.1f}), wanted {wanted}")


def growth():
    """The exponent of the time in the number of rows, between each size and the smallest."""
    small = max(ROWS // 20, 1)
    times = {}
    for rows in (small, ROWS // 4, ROWS):
        file = rows_file(rows)
        warm([file])
        times[rows] = min((cento(file, "8G")[:2] for _ in range(ROUNDS)), key=lambda run: run[1])
    for rows in list(times)[1:]:
        exponents = [math.log(times[rows][at] / times[small][at]) / math.log(rows / small) for at in (0, 1)]
        print(f"  {small:,} to {rows:,} rows: n^{exponents[0]:.2f} (processor seconds: n^{exponents[1]:.2f}), wanted n^1.05")


def main():
    file = rows_file(ROWS)
    warm([file])
    print(f"{ROWS:,} rows in memory")
    compare(file, "8G", "8GiB", 6)
    print(f"{ROWS:,} rows in 512 MiB")
    compare(file, "512M", "512MiB", 3)
    print("growth")
    growth()


if __name__ == "__main__":
    main()
