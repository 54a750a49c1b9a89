"""How time, memory and spilled bytes grow with the corpus: 1, 2, 4, 8 and 16 times the pages, for every analysis, on synthetic and on real text."""

import json
import math
import shutil

from common import CENTO, FOLDER, Failed, fresh, run, warm
from data import real_manuals, rfcs, synthetic

FACTORS = (1, 2, 4, 8, 16)
MEMORY = "512M"
# In this order: detect needs the labels of discover, and passages the pairs of reuse. Each has its own folder of findings, so that nothing is cached.
ANALYSES = {
    "copies": ["copies"],
    "overlap": ["overlap"],
    "replication": ["overlap", "--replication"],
    "quilts": ["quilts"],
    "phrases": ["phrases"],
    "discover": ["discover", "--most-frequent", "1000", "-o", "LABELS"],
    "detect": ["detect", "--labels", "LABELS"],
    "reuse": ["reuse", "--style", "reuse,template", "--out", "PAIRS"],
    "passages": ["passages", "--pairs", "PAIRS"],
}
# A run that takes longer than this, in seconds, has failed, and larger sizes are not tried.
LIMIT = 300
# Runs that take less processor time than this, in seconds, are repeated, and the cheapest counts.
SHORT = 1.0


def spilled(folder):
    """The bytes that all stages of findings have written to disk because they did not fit in memory, and the rows of main tables."""
    reports = [json.loads(path.read_text())["report"] for path in folder.rglob("run.json")]
    return sum(stage["spilled"] for report in reports for stage in report["stages"])


def cheapest(command, findings, before=None):
    """The cheapest of up to three runs."""
    best = None
    for _ in range(3):
        if before:
            before()
        shutil.rmtree(findings, ignore_errors=True)
        one = run(command, limit=LIMIT)
        if best is None or one.processor < best.processor:
            best = one
        if one.processor > SHORT:
            break
    return best


def point(pages, size, one, findings):
    numbers = {"seconds": one.seconds, "processor": one.processor, "anonymous": one.anonymous, "resident": one.resident}
    return {"pages": pages, "bytes": size, **{name: float(f"{value:.4g}") for name, value in numbers.items()}, "spilled": spilled(findings)}


def measure(name, inputs, curves):
    """Adds a point to each curve of a kind of data."""
    corpus, findings = FOLDER / "growth.cento", FOLDER / "growth-findings"
    words = {"LABELS": FOLDER / "growth.labels", "PAIRS": FOLDER / "growth-pairs.csv"}
    machine = ["--threads", 2, "--memory", MEMORY]
    warm(inputs)

    def add(analysis, one, where):
        counts = [part["counts"] for part in json.loads((corpus / "manifest.json").read_text())["parts"]]
        pages, size = sum(one["kept"] for one in counts), sum(one["text_bytes"] for one in counts)
        curves.setdefault((name, analysis), []).append(point(pages, size, one, where))
        last = curves[name, analysis][-1]
        print(
            f"  {name}: {pages:>7,} pages, {size / 1e6:>5.0f} MB  {analysis:<12} {last['seconds']:>7.2f} s {last['processor']:>7.2f} processor s "
            f"{last['anonymous']:>5.0f} MiB, {last['spilled'] / 1e6:,.0f} MB spilled", flush=True,
        )  # fmt: skip

    def attempt(analysis, command, where, before):
        if any("failed" in one for one in curves.get((name, analysis), [])):
            return
        try:
            add(analysis, cheapest(command, findings, before), where)
        except Failed as failure:
            print(f"  {name}: {analysis} FAILED: {failure}", flush=True)
            curves.setdefault((name, analysis), []).append({"failed": str(failure)})

    fresh_corpus = lambda: fresh(corpus.name)
    attempt("index", [CENTO, "index", *inputs, "-o", corpus, *machine], findings, fresh_corpus)
    warm(corpus.rglob("*.parquet"))
    for analysis, (verb, *options) in ANALYSES.items():
        output = next((words[after] for option, after in zip(options, options[1:]) if option in ("-o", "--out")), None)
        options = [words.get(option, option) for option in options]
        again = lambda output=output: output and fresh(output.name)
        attempt(analysis, [CENTO, verb, corpus, *options, *machine, "--findings", findings], findings, again)
    attempt("scan", [CENTO, "scan", *inputs, "-o", corpus, *machine], corpus / "findings", fresh_corpus)
    for path in (corpus, findings):
        shutil.rmtree(path, ignore_errors=True)
    for path in words.values():
        fresh(path.name)


def exponent(points, key="processor"):
    """The slope of log(value) over log(bytes of text), by least squares, of the larger half of the points: small runs measure the start of a process."""
    known = [(math.log(one["bytes"]), math.log(max(one[key], 1e-3))) for one in points if "failed" not in one][-3:]
    if len(known) < 2:
        return None
    mean_x, mean_y = (sum(column) / len(known) for column in zip(*known))
    return sum((x - mean_x) * (y - mean_y) for x, y in known) / sum((x - mean_x) ** 2 for x, _ in known)


def compare(settings):
    base = 250 if settings.small else 1_250
    factors = FACTORS[:3] if settings.small else FACTORS
    # Of RFCs, which are long and share stock phrases, one of eight at most.
    real = {"manuals": (real_manuals, 64 if settings.small else 32), "RFCs": (rfcs, 512 if settings.small else 128)}
    curves = {}
    for factor in factors:
        folder = synthetic(base * factor)
        measure("synth", sorted((folder / "crawl").iterdir()), curves)
        for name, (texts, largest) in real.items():
            measure(name, [texts(largest // factor)], curves)
    found = []
    for (name, analysis), points in curves.items():
        found.append({"data": name, "analysis": analysis, "points": points, "exponent": exponent(points)})
    for one in found:
        if one["exponent"] is not None:
            print(f"  {one['data']:<8} {one['analysis']:<12} n^{one['exponent']:.2f}", flush=True)
    note = (
        f"Two threads, `--memory {MEMORY}`, processor seconds of the whole command. n is the bytes of text. The exponent is fitted to the largest three of five sizes. Samples of real text are made by a hash of the address, so pages that "
        "share text are sampled with the others: of twice the pages, four times the pairs remain, and what works on pairs (passages, and so scan, which aligns all pairs that reuse finds) grows with them. "
        f"A run that took more than {LIMIT} s is marked as failed, and larger ones were not tried."
    )
    return [{"name": "growth", "title": "Growth", "note": note, "rows": [], "curves": found, "memory": MEMORY}]
