"""Labels: how fast text becomes a verdict, compared with SHA-1 of the same chunks; and detection against a search for equal strings."""

import json

import duckdb
from common import CENTO, EXAMPLES, FOLDER, HERE, added_up, crawl, fresh, python_of, run
from data import real_manuals
from table import Comparison

ORIGINALS = "llvm-14-doc"
OTHERS = ["llvm-15-doc", "git-doc", "debian-handbook", "installation-guide-amd64", "debian-reference-zh-cn", "debian-reference-ja"]
LEAST = 100
TEXT = 100_000_000


def texts():
    """The texts of manuals, separated by NULs."""
    path = FOLDER / "detect-texts"
    if not path.exists():
        with open(real_manuals()) as lines, open(path, "w") as out:
            size = 0
            for line in lines:
                size += out.write(json.loads(line)["text"].replace("\0", " ") + "\0")
                if size > TEXT:
                    break
    return path


def speed(settings):
    labels, count = FOLDER / "compare-detect.labels", 1_000_000 if settings.small else 10_000_000
    run([EXAMPLES / "detect_speed", "make", labels, count, texts()])
    best = {}
    for _ in range(settings.rounds):
        for line in run([EXAMPLES / "detect_speed", "run", labels, texts()]).output.splitlines()[1:]:
            name, rate = line.split()[:2]
            best[name] = max(best.get(name, 0), float(rate))
    labels.unlink()
    note = f"Text of manuals to a verdict for each page against {count:,} labels, on one core: cutting chunks, normalising and hashing them, and looking them up. SHA-1 of the same chunks, in hardware, is what hashing alone would take. Both in Rust, in one process; the best of {5 * settings.rounds} rounds."
    rows = [{"name": "cento, text to verdict", "rate": best["verdict"]}, {"name": "SHA-1 of the chunks alone", "rate": best["sha1"]}]
    for row in rows:
        print(f"  {row['name']:<60}{row['rate']:>8,.0f} MB/s", flush=True)
    return {"name": "verdict", "title": "Text to verdict, 1 core", "note": note, "rates": rows, "rows": []}


def corpus(name, packages):
    crawl()
    # From within, so that each manual is a site by its name.
    run([CENTO, "index", *packages, "-o", fresh(name)], cwd=FOLDER)
    return FOLDER / name


def compare(settings):
    print("\nText to verdict, 1 core", flush=True)
    tables = [speed(settings)]
    mine, theirs = corpus("detect-originals.cento", [ORIGINALS]), corpus("detect-manuals.cento", OTHERS)
    stops, output = FOLDER / "compare-detect-stops.txt", FOLDER / "compare-detect.tsv"
    stops.write_text(run([CENTO, "labels", "stops"]).output)
    peer = lambda: run([python_of("venv"), HERE / "peers/detect.py", mine, theirs, stops, LEAST, output])
    peer()
    true = {tuple(map(int, line.split())) for line in output.read_text().splitlines()}

    def check_ours(_):
        found = set(duckdb.sql(f"select page_id, ordinal from '{FOLDER}/compare-detect/detect/*/chunks.parquet'").fetchall())
        return f"{len(found & true):,} of {len(true):,} chunks, {len(found - true):,} wrong", found == true

    note = (
        "Chunks of LLVM's manual, release 14, found in release 15 and five other manuals, from two corpora. The truth is found by comparing strings. Labels of the originals are made and then found; `--against` also "
        "aligns the passages of pages with their originals, which the search for strings does not do."
    )
    table = Comparison("detect", "Detection against originals, from corpora", note)
    machine, labels = ["--threads", 2], FOLDER / "compare-originals.labels"

    def ours():
        fresh(labels.name)
        made = run([CENTO, "discover", "--from", mine, "--min-length", LEAST, "-o", labels, *machine, "--findings", fresh("compare-discover")])
        return added_up(made, run([CENTO, "detect", theirs, "--labels", labels, *machine, "--findings", fresh("compare-detect")]))

    table.add("cento discover, then detect --labels, 2 threads", ours, check_ours, ours=True)
    aligned = [CENTO, "detect", theirs, "--against", mine, "--min-length", LEAST, *machine]
    table.add("cento detect --against, 2 threads", lambda: run([*aligned, "--findings", fresh("compare-detect")]), check_ours, ours=True, note="with passages")
    table.add("comparing strings in Python, 1 process", peer, lambda _: (f"{len(true):,} chunks: the truth", True))
    tables.append(table.measure(settings.rounds))
    for name in ("detect-originals.cento", "detect-manuals.cento", "compare-detect"):
        fresh(name)
    return tables
