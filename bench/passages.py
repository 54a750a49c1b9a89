"""Passages: how well text alignment finds reused text, and how fast it is.

* The PAN 2013 training pairs (`../shared/data/pan13-train.tar.gz`, or PAN13=FILE): precision, recall, granularity and plagdet by class, in
  characters. Settings were tuned on the half `even`; the half `odd` is reported. Definitions, after Potthast et al., "An evaluation
  framework for plagiarism detection" (2010), for cases S and detections R; a detection detects a case if they overlap on both sides:

    recall       the mean over cases of the share of the case's characters, on both sides, that detections of it cover
    precision    the same with cases and detections exchanged
    granularity  the mean number of detections of a detected case
    plagdet      F1(precision, recall) / log2(1 + granularity)

* Pairs a second of processor time, for pages of 1,000 words, and hostile texts of 1 and 10 MB.
* Passages of a synthetic crawl against its truth; and how many of them are on pairs that `cento reuse` lists.
* All passages of the pairs of real reuse (`cento reuse --style reuse,template`) in at least 100 MB of RFCs, in `--memory 256M`: seconds, and the peak
  of anonymous memory.

    bench/run passages
    RFC_BYTES=500_000_000 bench/run passages      # all RFCs
"""

import json
import os
import pathlib
import subprocess
import tarfile

from common import CENTO, EXAMPLES, FOLDER, fresh, run
from make_rfc import make

HERE = pathlib.Path(__file__).parent
PAN = pathlib.Path(os.environ.get("PAN13", HERE.parent.parent / "shared/data/pan13-train.tar.gz"))
PAGES = int(os.environ.get("PAGES", 5_000))
RFC_BYTES = int(os.environ.get("RFC_BYTES", 120_000_000))

# Plagdet, precision, recall and granularity of the winner of 2014, with its own code, on 649 other pairs.
WINNER = {
    "02-no-obfuscation": (0.980, 0.994, 0.967, None),
    "03-random-obfuscation": (0.885, 0.875, 0.894, None),
    "04-translation-obfuscation": (0.877, 0.842, 0.914, None),
    "05-summary-obfuscation": (0.544, 0.960, 0.397, 1.04),
}


def pan():
    """The folder of the training pairs, or None."""
    if not PAN.exists():
        return None
    folder = FOLDER / "pan13"
    if not folder.exists():
        part = fresh("pan13.part")
        with tarfile.open(PAN) as archive:
            archive.extractall(part, filter="data")
        part.rename(folder)
    return next(path.parent for path in folder.rglob("susp") if path.is_dir())


def quality(folder):
    said = subprocess.run([EXAMPLES / "pan", folder, "odd"], check=True, capture_output=True, text=True).stdout
    print("half of the pairs that settings were not tuned on; in brackets the winner of 2014 on other pairs of the same kind")
    for line in said.splitlines():
        print(f"  {line}")
        winner = WINNER.get(line.split()[0])
        if winner:
            cells = " ".join("-" if cell is None else f"{cell:.3f}" for cell in winner)
            print(f"  {'':28} [winner: plagdet, precision, recall, granularity {cells}]")


def speed(folder):
    print(subprocess.run([EXAMPLES / "pair_speed", folder / "src"], check=True, capture_output=True, text=True).stdout)


def synthetic():
    crawl, corpus = fresh("passages-synth"), fresh("passages-synth.cento")
    cento = lambda *arguments: subprocess.run([str(part) for part in [CENTO, *arguments]], check=True, capture_output=True, text=True).stdout
    cento("synth", "-o", crawl, "--pages", PAGES)
    cento("index", crawl / "crawl", "-o", corpus)
    found = pairs_of(cento("passages", corpus, "--json"), "a", "b")
    print(cento("score", corpus / "findings/passages", "--truth", crawl / "truth.jsonl"))
    listed = pairs_of(cento("reuse", corpus, "--json"), "page", "of")
    print(f"pairs with passages: {len(found)}, of which `cento reuse` lists {len(found & listed)} (of {len(listed)} in all)\n")


def pairs_of(lines, one, other):
    rows = (json.loads(line) for line in lines.splitlines())
    return {frozenset((row[one], row[other])) for row in rows}


def real_text():
    """Passages of RFCs in little memory."""
    source, sample, corpus = make(FOLDER), FOLDER / "passages-rfc.jsonl", fresh("passages-rfc.cento")
    written = 0
    with open(source, "rb") as lines, open(sample, "wb") as out:
        for line in lines:
            if written >= RFC_BYTES:
                break
            written += out.write(line)
    run([CENTO, "index", sample, "-o", corpus])
    findings, pairs = fresh("passages-rfc-findings"), FOLDER / "passages-rfc-pairs.csv"
    run([CENTO, "reuse", corpus, "--style", "reuse,template", "--out", pairs])
    command = [CENTO, "passages", corpus, "--pairs", pairs, "--memory", "256M", "--threads", 2, "--findings", findings]
    one = run(command)
    print("\n".join(one.output.splitlines()[:8]))
    print(f"{written / 1e6:.0f} MB of RFCs: {one.seconds:.1f} s, {one.processor:.1f} s of processor time, peak anonymous memory {one.anonymous:.0f} MiB with --memory 256M")
    one = run([*command, "--clusters"])
    print(f"--clusters of these passages: {one.seconds:.1f} s, {one.anonymous:.0f} MiB")


if __name__ == "__main__":
    folder = pan()
    if folder is None:
        print(f"  {PAN} is missing: no PAN numbers")
    else:
        quality(folder)
        speed(folder)
    synthetic()
    real_text()
