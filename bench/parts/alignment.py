"""Passages: how well text alignment finds reused text, and how fast it is.

* The PAN 2013 training pairs: precision, recall, granularity and plagdet by class, in characters. Settings were tuned on the half `even`; the half `odd` is reported.
  Definitions, after Potthast et al., "An evaluation framework for plagiarism detection" (2010), for cases S and detections R; a detection detects a case if
  they overlap on both sides:

    recall       the mean over cases of the share of the case's characters, on both sides, that detections of it cover
    precision    the same with cases and detections exchanged
    granularity  the mean number of detections of a detected case
    plagdet      F1(precision, recall) / log2(1 + granularity)

* Pairs a second of processor time, for pages of 1,000 words, and hostile texts of 1 and 10 MB.
* Passages of a synthetic crawl against its truth; and how many of them are on pairs that `cento reuse` lists.
* All passages of the pairs of real reuse (`cento reuse --style reuse,template`) in 120 MB of RFCs, in `--memory 256M`.
"""

import json

from common import CENTO, EXAMPLES, FOLDER, SHARED, fresh, run, unpacked
from data import rfcs, synthetic
from table import listed, seconds

# The classes of PAN, with plagdet, precision, recall and granularity of the winner of 2014, as published, on 649 other pairs.
CLASSES = {
    "02-no-obfuscation": ("verbatim", "0.980, 0.994, 0.967, –"),
    "03-random-obfuscation": ("random", "0.885, 0.875, 0.894, –"),
    "04-translation-obfuscation": ("translation", "0.877, 0.842, 0.914, –"),
    "05-summary-obfuscation": ("summary", "0.544, 0.960, 0.397, 1.04"),
    "01-no-plagiarism": ("without reuse", "none found on 125 pairs"),
}


def quality(folder):
    rows = [["pairs", "half", "number", "plagdet", "precision", "recall", "granularity", "winner of 2014: plagdet, precision, recall, granularity"]]
    found = {}
    for half in ("odd", "even"):
        for line in run([EXAMPLES / "pan", folder, half]).output.splitlines()[1:]:
            kind, *numbers = line.split()
            found[kind, half] = numbers
    for kind, (name, winner) in CLASSES.items():
        for half in ("odd", "even"):
            pairs, cases, plagdet, precision, recall, granularity, _, detections, _ = found[kind, half]
            scores = [plagdet, precision, recall, granularity] if int(cases) else [f"{detections.strip('(')} found", "", "", ""]
            rows.append([name, f"`{half}`", pairs, *scores, winner if half == "odd" else ""])
    return listed("pan", rows, "PAN 2013")


def speed(folder):
    lines = run([EXAMPLES / "pair_speed", folder / "src"]).output.splitlines()
    number = lambda name: float(next(line for line in lines if line.startswith(name))[len("with their preparation") :].split()[0])
    prepared, aligned = number("prepared a second"), number("pairs a second")
    rows = [["pages of 1,000 words", "a second"], ["pages prepared", f"{prepared:,.0f}"], ["pairs of prepared pages aligned", f"{aligned:,.0f}"]]
    rows.append(["pairs of two new pages, with the preparation of both", f"{1 / (2 / prepared + 1 / aligned):,.0f}"])
    hostile = [["hostile text, both sides of this size", "1 MB", "10 MB"]]
    at = next(at for at, line in enumerate(lines) if line.startswith("hostile"))
    hostile += [[line[:22].strip(), *(f"{cell} s" for cell in line[22:].split()[:2])] for line in lines[at + 1 :] if line.strip()]
    return [listed("pair-speed", rows, "Speed", "Processor time, one core."), listed("hostile", hostile, note="Seconds of processor time:")]


def planted(settings):
    crawl, corpus = synthetic(1_000 if settings.small else 5_000), fresh("alignment-synth.cento")
    run([CENTO, "index", crawl / "crawl", "-o", corpus])
    found = pairs_of(run([CENTO, "passages", corpus, "--json"]).output, "a", "b")
    scores = run([CENTO, "score", corpus / "findings/passages", "--truth", crawl / "truth.jsonl", "--json"]).output
    listed_pairs = pairs_of(run([CENTO, "reuse", corpus, "--json"]).output, "page", "of")
    fresh(corpus.name)
    rows = [["`cento score`", "planted", "found", "recall", "precision"]]
    for line in scores.splitlines():
        one = json.loads(line)
        rows.append([one["what"], f"{one['expected']:,}", f"{one['found']:,}", f"{one['recall']:.3f}", f"{one['precision']:.3f}"])
    note = f"Of {len(found):,} pairs with passages, `cento reuse` lists {len(found & listed_pairs):,} (and {len(listed_pairs - found):,} others)."
    return listed("planted", rows, "A synthetic crawl", note)


def pairs_of(lines, one, other):
    rows = (json.loads(line) for line in lines.splitlines())
    return {frozenset((row[one], row[other])) for row in rows}


def real_text(settings):
    """Passages of RFCs in little memory."""
    sample, corpus, wanted = FOLDER / "alignment-rfc.jsonl", fresh("alignment-rfc.cento"), 12_000_000 if settings.small else 120_000_000
    written = documents = 0
    with open(rfcs(), "rb") as lines, open(sample, "wb") as out:
        for line in lines:
            if written >= wanted:
                break
            written += out.write(line)
            documents += 1
    run([CENTO, "index", sample, "-o", corpus])
    findings, pairs = fresh("alignment-findings"), fresh("alignment-pairs.csv")
    run([CENTO, "reuse", corpus, "--style", "reuse,template", "--out", pairs])
    command = [CENTO, "passages", corpus, "--pairs", pairs, "--memory", "256M", "--threads", 2, "--findings", findings]
    rows = [["", "time", "processor time", "anonymous memory"]]
    for name, words in (("`cento passages --pairs`", command), ("the same with `--clusters`, passages cached", [*command, "--clusters"])):
        one = run(words)
        rows.append([name, seconds(one.seconds), seconds(one.processor), f"{one.anonymous:,.0f} MiB"])
    records = [json.loads(path.read_text())["report"] for path in findings.glob("passages/*/run.json")]
    passages = max((table["rows"] for record in records for table in record["tables"] if table["name"] == "passages"), default=0)
    count = sum(1 for _ in open(pairs)) - 1
    for path in (sample, corpus, findings, pairs):
        fresh(path.name)
    note = f"{documents:,} RFCs, {written / 1e6:.0f} MB, `--memory 256M --threads 2`: {count:,} pairs that `cento reuse --style reuse,template` finds, {passages:,} passages."
    return listed("real-text", rows, "Real text", note)


def compare(settings):
    folder = next(path.parent for path in unpacked(SHARED / "pan13-train.tar.gz", "pan13").rglob("susp") if path.is_dir())
    return [quality(folder), *speed(folder), planted(settings), real_text(settings)]
