"""The whole of it: a scan of real HTML in a small memory, and analyses that share what they find against the same ones one by one.

    bench/run scan

The crawl is Debian's documentation, 1.2 GB of HTML. One by one, every analysis has a folder of findings of its own, as if it were the first
that anybody ran: each reads the texts for itself, and quilts and phrases first look for the copies that they leave out. A scan
looks for copies once. Both give the same tables, which is checked.
"""

import hashlib
import json
import os
import pathlib
import shutil

from common import CENTO, FOLDER, crawl, fresh, run, warm

MEMORY = os.environ.get("MEMORY", "2G")
ROUNDS = int(os.environ.get("ROUNDS", 2))
# What a scan runs on this crawl, each as its command; the parameters are those that a scan chooses.
ALONE = [
    ["copies"],
    ["overlap", "--replication"],
    ["overlap", "--servers", "--chunk", "paragraph"],
    ["quilts", "--collapse", "--min-share", "0.02"],
    ["phrases"],
    ["discover", "--stop-proposed", "-o", FOLDER / "scan.labels"],
    ["detect", "--labels", FOLDER / "scan.labels"],
]


def tables(findings, analysis):
    """What an analysis has found, as the hashes of its tables."""
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
        said, seconds, _, peak = run([CENTO, "scan", *archives, "-o", corpus, "--memory", MEMORY, "--threads", "2", "--explain"], "stderr")
        best = min(best or (seconds, peak, said), (seconds, peak, said))
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
        _, taken, spent, _ = run([CENTO, "scan", corpus, "--memory", MEMORY, "--threads", "2"])
        scans.append((taken, spent))
        alone = alone_spent = 0
        for command in ALONE:
            findings = fresh("scan-findings")
            verb, *options = command
            _, taken, spent, _ = run([CENTO, verb, corpus, *options, "--memory", MEMORY, "--threads", "2", "--findings", findings])
            alone += taken
            alone_spent += spent
            for analysis in findings.iterdir():
                if tables(findings, analysis.name) != tables(corpus / "findings", analysis.name):
                    raise SystemExit(f"{analysis.name} found something else in a scan")
        singles.append((alone, alone_spent))
    (together, spent), (alone, alone_spent) = [[min(column) for column in zip(*rounds)] for rounds in (scans, singles)]
    print(f"all analyses in one scan: {together:.1f} s, report included; one by one: {alone:.1f} s; ratio {together / alone:.2f}, wanted 0.8 at most")
    print(f"  in processor seconds {spent:.1f} and {alone_spent:.1f}: ratio {spent / alone_spent:.2f}")
    print("  the tables are the same")
    shutil.rmtree(FOLDER / "scan-findings", ignore_errors=True)
    for path in FOLDER.glob("scan.labels*"):
        path.unlink()
    shutil.rmtree(corpus, ignore_errors=True)


main()
