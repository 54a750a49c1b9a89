"""Near-duplicates of real texts, from a JSON Lines file to a list: cento and its peers in one run, compared with exact resemblance.

The texts are the RFCs (Debian's doc-rfc packages). The truth is all pairs whose sets of word 5-grams have a resemblance of at least 0.8,
computed without sketches. A pair is found if both pages are in one reported class; a report is correct if the two pages resemble each other.
cento's time is that of `cento copies FILE`; the times of `cento index` and `cento copies CORPUS` are printed too.

    bench/run copies
    PEERS=gaoya,rensa bench/run copies
"""

import os
import shutil
import subprocess
import sys

from common import CENTO, FOLDER, HERE, TARGET, measure, warm

from make_rfc import make

PEERS = {
    "gaoya": ("venv-copies", "gaoya datasketch rensa"),
    "rensa": ("venv-copies", "gaoya datasketch rensa"),
    "datasketch": ("venv-copies", "gaoya datasketch rensa"),
    "datatrove": ("venv-datatrove", "datatrove[io,processing] spacy"),
    "text-dedup": ("venv-textdedup", "text-dedup"),
}
LEAST = 0.8
ROUNDS = int(os.environ.get("ROUNDS", 3))


def python_of(peer):
    venv, packages = PEERS[peer]
    path = FOLDER / venv
    if not (path / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", path], check=True)
        subprocess.run([path / "bin/pip", "-q", "install", *packages.split()], check=True)
        (path / "ready").touch()
    return path / "bin/python"


def pairs_of(path):
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t")[:2] for line in file]


def truth(texts):
    path = FOLDER / "rfc-resembling.tsv"
    if not path.exists():
        with open(path.with_suffix(".new"), "w") as out:
            subprocess.run([TARGET / "release/examples/resembling", texts, str(LEAST)], check=True, stdout=out)
        path.with_suffix(".new").rename(path)
    return {frozenset(pair) for pair in pairs_of(path)}


def judged(reported, true):
    """Precision of the reports, and recall of the true pairs by classes."""
    parent = {}

    def find(page):
        while parent.setdefault(page, page) != page:
            page = parent[page]
        return page

    right = 0
    for page, other in reported:
        right += frozenset((page, other)) in true
        parent[find(page)] = find(other)
    found = sum(find(one) == find(other) for one, other in map(tuple, true))
    return right / max(len(reported), 1), found / max(len(true), 1)


def cento(texts):
    findings = FOLDER / "copies-findings"
    shutil.rmtree(findings, ignore_errors=True)
    _, seconds, memory = measure([CENTO, "copies", texts, "--findings", findings, "--threads", "2"])
    import duckdb

    # All pairs that it found: of three similar pages, two may be removed for one, or one for a page that the third does not resemble.
    reported = duckdb.sql(f"select page, of from '{findings}/copies/*/near_pairs.parquet'").fetchall()
    corpus = FOLDER / "copies.cento"
    shutil.rmtree(corpus, ignore_errors=True)
    _, index_seconds, _ = measure([CENTO, "index", texts, "-o", corpus, "--threads", "2"])
    _, copies_seconds, _ = measure([CENTO, "copies", corpus, "--threads", "2"])
    shutil.rmtree(corpus, ignore_errors=True)
    return seconds, memory, reported, f"with a stored corpus: index {index_seconds:.1f} s, copies {copies_seconds:.1f} s"


def peer(name, texts):
    work, output = FOLDER / f"copies-{name}", FOLDER / f"copies-{name}.tsv"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    python = python_of(name)
    try:
        _, seconds, memory = measure([python, HERE / "peer_copies.py", name, texts, output, work])
    except SystemExit:
        return None
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return seconds, memory, pairs_of(output), ""


def main():
    texts = make(FOLDER)
    true = truth(texts)
    warm([texts])
    print(f"{os.path.getsize(texts) / 1e6:.0f} MB, {len(true)} pairs with a resemblance of at least {LEAST}")
    names = os.environ.get("PEERS", ",".join(PEERS)).split(",")
    best = {}
    for round in range(ROUNDS):
        runs = {"cento": cento(texts)}
        # Slow peers run once; of fast ones, the best run counts.
        for name in names:
            if round == 0 or (best.get(name) and best[name][0] < 60):
                runs[name] = peer(name, texts)
        for name, outcome in runs.items():
            if outcome and (not best.get(name) or outcome[0] < best[name][0]):
                best[name] = outcome
    fastest = None
    for name in ["cento", *names]:
        if not best.get(name):
            print(f"  {name:<12} FAILED")
            continue
        seconds, memory, reported, note = best[name]
        precision, recall = judged(reported, true)
        print(f"  {name:<12} {seconds:7.1f} s  {memory:6.0f} MiB  {len(reported):5} reported  precision {precision:.3f}  recall {recall:.3f}  {note}")
        if name != "cento" and recall >= 0.9 and (fastest is None or seconds < fastest[1]):
            fastest = (name, seconds)
    if fastest:
        print(f"  {fastest[1] / best['cento'][0]:.1f} times as fast as {fastest[0]}, the fastest with a recall of at least 0.9 (target: 5)")


if __name__ == "__main__":
    main()
