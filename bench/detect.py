"""Labels: how fast text becomes a verdict, how much memory labels take, and whether detection finds the same as a naive search.

* Text to verdict, on one core, against 10 million labels, without extraction; compared with SHA-1 of the same chunks. The text is that of the
  manuals of Debian packages, and every tenth page of it is labelled.
* 75 million labels, as many as the paper has of Wikipedia: the time to open them, and their memory.
* Two real corpora: originals = one release of a manual, corpus = the next release of it and other manuals. Results are compared, chunk by
  chunk, with a search for equal strings in Python.

    bench/run detect
    LABELS=1000000 MANY=2000000 bench/run detect
"""

import json
import os
import re
import subprocess
import time

from common import CENTO, FOLDER, TARGET, fresh, measure

LABELS = int(os.environ.get("LABELS", 10_000_000))
MANY = int(os.environ.get("MANY", 75_000_000))
EXAMPLE = TARGET / "release/examples/detect_speed"
ORIGINALS = "llvm-14-doc"
OTHERS = ["llvm-15-doc", "git-doc", "debian-handbook", "installation-guide-amd64", "debian-reference-zh-cn", "debian-reference-ja"]
LEAST = 100


def example(*arguments):
    out = subprocess.run([str(part) for part in [EXAMPLE, *arguments]], check=True, capture_output=True, text=True)
    return out.stdout.strip()


def texts():
    """The texts of all manuals, separated by NULs."""
    path = FOLDER / "detect-texts"
    source = FOLDER / "manuals.jsonl"
    if not source.exists():
        subprocess.run(["python3", os.path.join(os.path.dirname(__file__), "make_manuals.py"), FOLDER], check=True)
    if not path.exists():
        with open(source) as lines, open(path, "w") as out:
            size = 0
            for line in lines:
                text = json.loads(line)["text"].replace("\0", " ")
                out.write(text + "\0")
                size += len(text)
                if size > 100_000_000:
                    break
    return path


def speed():
    path, labels = texts(), FOLDER / "detect-speed.labels"
    print(example("make", labels, LABELS, path))
    said = example("run", labels, path)
    print(said)
    labels.unlink()
    rate = {line.split()[0]: float(line.split()[1]) for line in said.splitlines()[1:]}
    print(f"  text to verdict {rate['verdict']:.0f} MB/s per core (target: 250); SHA-1 alone {rate['sha1']:.0f} MB/s: ratio {rate['verdict'] / rate['sha1']:.2f}")


def many():
    labels = FOLDER / "detect-many.labels"
    print(example("make", labels, MANY))
    print(example("open", labels))
    print(f"  file {labels.stat().st_size / 1e9:.2f} GB (target: at most 1.6 for 75 million labels)")
    labels.unlink()


def corpus(name, packages):
    path = FOLDER / name
    if not path.exists():
        missing = [package for package in packages if not (FOLDER / package).is_dir()]
        if missing:
            raise SystemExit(f"{missing[0]} does not exist: run `bench/run index` first")
        # From within, so that each manual is a site by its name.
        subprocess.run([str(part) for part in [CENTO, "index", *packages, "-o", path]], check=True, cwd=FOLDER, stdout=subprocess.DEVNULL)
    return path


def normal(chunk):
    return " ".join(chunk.split()).casefold()


def chunks_of(text):
    return [chunk.strip() for chunk in re.split(r"\n[^\S\n]*\n", text) if chunk.strip()]


def stops():
    said = subprocess.run([CENTO, "labels", "stops"], check=True, capture_output=True, text=True).stdout
    lines = said.split("[chunks]")[1].split("[files]")[0].splitlines()
    lines = [line for line in lines if line and not line.startswith("#")]
    return {normal(line.replace("\\\\", "\0").replace("\\", "").replace("\0", "\\")) for line in lines}


def compare():
    import duckdb

    mine, theirs = corpus("detect-originals.cento", [ORIGINALS]), corpus("detect-manuals.cento", OTHERS)
    findings = fresh("detect-findings")
    said, seconds, memory = measure(
        [CENTO, "detect", theirs, "--against", mine, "--min-length", LEAST, "--findings", findings, "--again"]
    )
    print(said.decode().rstrip())
    print(f"  {seconds:.2f} s, {memory:.0f} MiB; discovery and detection")
    begun = time.time()
    stopped = stops()
    text_of = lambda path: duckdb.sql(f"select page_id, text from '{path}/text/*.parquet' order by page_id").fetchall()
    labels = set()
    for _, text in text_of(mine):
        for chunk in chunks_of(text):
            if len(chunk.encode()) >= LEAST and normal(chunk) not in stopped:
                labels.add(normal(chunk))
    naive, count = set(), 0
    for page, text in text_of(theirs):
        for ordinal, chunk in enumerate(chunks_of(text)):
            count += 1
            if normal(chunk) in labels:
                naive.add((page, ordinal))
    found = set(duckdb.sql(f"select page_id, ordinal from '{findings}/detect/*/chunks.parquet'").fetchall())
    right = len(found & naive)
    pages = {page for page, _ in naive}
    found_pages = {row[0] for row in duckdb.sql(f"select page_id from '{findings}/detect/*/pages.parquet'").fetchall()}
    print(f"  naive search: {len(labels):,} labels, {len(naive):,} of {count:,} chunks on {len(pages):,} pages, {time.time() - begun:.1f} s")
    print(
        f"  by chunk: precision {right / max(1, len(found)):.6f}, recall {right / max(1, len(naive)):.6f}; "
        f"by page: precision {len(found_pages & pages) / max(1, len(found_pages)):.6f}, recall {len(found_pages & pages) / max(1, len(pages)):.6f}"
    )
    for page, ordinal in sorted(found ^ naive)[:5]:
        print(f"    differs: page {page}, chunk {ordinal}")


if __name__ == "__main__":
    speed()
    many()
    compare()
