"""A scan of real HTML in little memory; and analyses that share results in a scan, compared with the same analyses run separately.

    bench/run scan

The crawl is Debian's documentation, 1.2 GB of HTML. Run separately, every analysis has its own folder of findings, so nothing is cached:
each reads the texts, and quilts and phrases first find the duplicates that they exclude. A scan finds duplicates once. The
tables must be the same.
"""

import hashlib
import json
import os
import pathlib
import shutil

from common import CENTO, FOLDER, crawl, fresh, run, warm

MEMORY = os.environ.get("MEMORY", "2G")
ROUNDS = int(os.environ.get("ROUNDS", 2))
# The commands for what a scan runs on this crawl, with the parameters that a scan chooses.
ALONE = [
    ["copies"],
    ["overlap", "--replication"],
    ["overlap", "--servers", "--chunk", "paragraph"],
    ["quilts", "--collapse", "--min-source", "0.02"],
    ["phrases"],
    ["discover", "--stop-proposed", "-o", FOLDER / "scan.labels"],
    ["detect", "--labels", FOLDER / "scan.labels"],
]


def tables(findings, analysis):
    """The hashes of the tables of an analysis."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in pathlib.Path(findings).glob(f"{analysis}/*/*.parquet")
        if ".labels" not in path.name
    }


def main():
    archives = crawl()
    warm(archives)
    corpus = fresh("scan.cento")
    best = None
    for _ in range(ROUNDS):
        shutil.rmtree(corpus, ignore_errors=True)
        one = run([CENTO, "scan", *archives, "-o", corpus, "--memory", MEMORY, "--threads", "2", "--explain"])
        best = min(best or (one.seconds, one.anonymous, one.errors), (one.seconds, one.anonymous, one.errors))
    seconds, peak, said = best
    parts = json.loads((corpus / "manifest.json").read_text())["parts"]
    payload = sum(part["counts"]["payload_bytes"] for part in parts)
    print(f"scan of {payload / 1e9:.2f} GB of HTML: {seconds:.1f} s on two threads, {peak:.0f} MiB of --memory {MEMORY}")
    for line in said.splitlines():
        words = line.split()
        if len(words) == 4 and words[3] == "%":
            print(f"  {words[0]:<16} {words[1]:>6} s  {words[2]:>3} %")

    scans, singles = [], []
    for _ in range(ROUNDS):
        shutil.rmtree(corpus / "findings", ignore_errors=True)
        one = run([CENTO, "scan", corpus, "--memory", MEMORY, "--threads", "2"])
        scans.append((one.seconds, one.processor))
        alone = alone_spent = 0
        for command in ALONE:
            findings = fresh("scan-findings")
            verb, *options = command
            one = run([CENTO, verb, corpus, *options, "--memory", MEMORY, "--threads", "2", "--findings", findings])
            alone += one.seconds
            alone_spent += one.processor
            for analysis in findings.iterdir():
                if tables(findings, analysis.name) != tables(corpus / "findings", analysis.name):
                    raise SystemExit(f"{analysis.name} has other results in a scan")
        singles.append((alone, alone_spent))
    (together, spent), (alone, alone_spent) = [[min(column) for column in zip(*rounds)] for rounds in (scans, singles)]
    print(f"all analyses in one scan: {together:.1f} s, report included; one by one: {alone:.1f} s; ratio {together / alone:.2f} (target: at most 0.8)")
    print(f"  in processor seconds {spent:.1f} and {alone_spent:.1f}: ratio {spent / alone_spent:.2f}")
    print("  the tables are the same")
    shutil.rmtree(FOLDER / "scan-findings", ignore_errors=True)
    for path in FOLDER.glob("scan.labels*"):
        path.unlink()
    shutil.rmtree(corpus, ignore_errors=True)


main()
