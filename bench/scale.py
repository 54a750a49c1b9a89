"""What a crawl of three billion pages costs: a model of processor time and moved bytes, fitted to small runs and checked on a larger one.

    bench/run scale
    CENTO=/path/to/cento bench/scale.py --pages 6250 --core-hour 0.04

Makes synthetic crawls of N, 2N and 4N pages, indexes and analyses them, and fits `a + b × pages` to the processor seconds of each step, and
`b × pages` to the bytes and rows of all stages. Prints the prediction for a crawl of
16N pages, four times the largest that it was fitted on; then measures that crawl, once, and prints the errors. Processor seconds, because
elapsed seconds depend on who else uses the machine; short commands are run up to twenty times, and the least counts. Finally prints the
cost of a large crawl. Everything that is not measured is an option. docs/scale.md explains the tables.
"""

import argparse
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys

from common import CENTO, FOLDER

PROGRAM = pathlib.Path(os.environ.get("CENTO", CENTO))
# In this order: phrases uses the duplicates that copies has found, and detect the labels of discover.
ANALYSES = {
    "copies": ["copies"],
    "overlap": ["overlap"],
    "overlap --replication": ["overlap", "--replication"],
    "reuse": ["reuse"],
    "quilts": ["quilts"],
    "phrases": ["phrases"],
    "passages": ["passages"],
    # Labels in proportion to the pages: reading the texts of a constant number would cost less per page the larger the crawl is.
    "discover": ["discover", "--most-frequent", "COUNT", "-o", "LABELS"],
    "detect": ["detect", "--labels", "LABELS"],
}
# Bytes for each page that the processes of a node share: the states that a stage reads, in the object store, at most over all stages
# of the flow; and the order of pages, which is a file that they map.
HELD = {
    "copies": 8.4,
    "overlap": 8.1,
    "overlap --replication": 16,
    "reuse": 28,
    "quilts": 16,
    "phrases": 12.3,
    "passages": 20,
    "discover": 4,
    "detect": 0.3,
}
# Bytes for each page of the largest state that tasks write to. A task holds what it has written, with 24 bytes for each byte of it.
WRITTEN = {"copies": 4, "overlap --replication": 4, "reuse": 4, "quilts": 8, "phrases": 4, "passages": 4, "discover": 4}


# A command is run until its runs add up to so many processor seconds, but at most so often. The least counts: whatever else the machine
# does makes a run longer, never shorter.
ENOUGH = 8.0
REPEATS = 20


def spent(command):
    """Runs a command; returns its processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"failed: {command}\n{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def least(command, undo):
    """Runs a command several times if it is short, with `undo` before each further run; returns the least processor seconds."""
    runs = [spent(command)]
    while sum(runs) < ENOUGH and len(runs) < REPEATS:
        undo()
        runs.append(spent(command))
    return min(runs)


def stages_of(findings):
    """The reports of all findings, by path."""
    return {path: json.loads(path.read_text())["report"] for path in findings.rglob("run.json")}


def measure(pages, options):
    """Indexes and analyses a crawl of some pages; returns what was measured. Cached in a file."""
    folder, memory = options.folder, options.memory
    steps = {name: words for name, words in ANALYSES.items() if name in (options.only or ANALYSES)}
    only = "".join(f"-{list(ANALYSES).index(name)}" for name in steps) if len(steps) < len(ANALYSES) else ""
    known = folder / f"measured-{pages}-{options.seed}{only}.json"
    if known.exists():
        return json.loads(known.read_text())
    crawl, corpus, findings = folder / f"s{pages}-{options.seed}", folder / f"c{pages}.cento", folder / f"f{pages}"
    if not (crawl / "synth.json").exists():
        spent([PROGRAM, "synth", "-o", crawl, "--pages", pages, "--seed", options.seed, "--files", 8, "--force"])
    for path in (corpus, findings):
        shutil.rmtree(path, ignore_errors=True)
    # Analyses read texts twice if their rows exceed the memory, which those of a large crawl always do. So memory grows with the pages.
    machine = ["--threads", 1, "--memory", f"{pages * memory // 1000}K"]
    measured = {"pages": pages, "analyses": {}}
    seconds = least([PROGRAM, "index", crawl / "crawl", "-o", corpus, *machine], lambda: shutil.rmtree(corpus))
    manifest = json.loads((corpus / "manifest.json").read_text())
    counts = [part["counts"] for part in manifest["parts"]]
    for name in ("kept", "payload_bytes", "text_bytes", "words", "chunks"):
        measured[name] = sum(one[name] for one in counts)
    measured["corpus_bytes"] = sum(path.stat().st_size for path in corpus.rglob("*.parquet"))
    measured["analyses"]["index"] = {"processor": seconds, "stages": {}, "tables": measured["corpus_bytes"]}
    for name, words in steps.items():
        placed = {"LABELS": folder / f"{pages}.labels", "COUNT": str(max(1, pages // 50))}
        words = [placed.get(word, word) for word in words]
        before = set(stages_of(findings))
        command = [PROGRAM, words[0], corpus, *words[1:], *machine, "--findings", findings]

        def undo(before=before, words=words):
            # A further run uses what other analyses have found, as the first one did.
            for path in set(stages_of(findings)) - before:
                shutil.rmtree(path.parent)
            if words[0] == "discover":
                words[-1].unlink(missing_ok=True)

        seconds = least(command, undo)
        stages, tables = {}, 0
        for path, report in stages_of(findings).items():
            if path in before:
                continue
            tables += sum(table["bytes"] for table in report["tables"])
            for stage in report["stages"]:
                total = stages.setdefault(f"{report['flow']}: {stage['name']}", {"rows": 0, "bytes": 0, "spilled": 0, "seconds": 0.0})
                for key, value in [("rows", stage["rows_out"]), ("bytes", stage["bytes_out"]), ("spilled", stage["spilled"]), ("seconds", stage["seconds"])]:
                    total[key] += value
        measured["analyses"][name] = {"processor": seconds, "stages": stages, "tables": tables}
        print(f"  {pages:>7,} pages  {name:<22} {seconds:6.1f} processor seconds", file=sys.stderr, flush=True)
    known.write_text(json.dumps(measured))
    for path in (corpus, findings):
        shutil.rmtree(path, ignore_errors=True)
    return measured


def fit(points):
    """Fits `a + b × x` to (x, y), so that relative errors are smallest; a is at least 0."""
    weights = [1 / y**2 for _, y in points]
    sw = sum(weights)
    mx = sum(w * x for w, (x, _) in zip(weights, points)) / sw
    my = sum(w * y for w, (_, y) in zip(weights, points)) / sw
    spread = sum(w * (x - mx) ** 2 for w, (x, _) in zip(weights, points))
    slope = sum(w * (x - mx) * (y - my) for w, (x, y) in zip(weights, points)) / spread if spread else 0.0
    base = my - slope * mx
    return (base, slope) if base > 0 and slope > 0 else (0.0, rate(points))


def rate(points):
    """Fits `b × x` to (x, y), without a fixed part: an empty crawl moves no bytes."""
    return sum(y for _, y in points) / sum(x for x, _ in points)


def moved(analysis):
    """The bytes that all stages of an analysis have written to shuffles and tables."""
    return sum(stage["bytes"] for stage in analysis["stages"].values())


def rows(analysis):
    return sum(stage["rows"] for stage in analysis["stages"].values())


class Model:
    """The processor seconds, bytes, rows and bytes of tables of each analysis, as a fixed part and a part for each page."""

    def __init__(self, runs):
        self.lines = {}
        for name in runs[0]["analyses"]:
            of = [(run["pages"], run["analyses"][name]) for run in runs]
            self.lines[name] = {
                "processor": fit([(pages, one["processor"]) for pages, one in of]),
                "bytes": (0.0, rate([(pages, moved(one)) for pages, one in of])),
                "rows": (0.0, rate([(pages, rows(one)) for pages, one in of])),
                "tables": (0.0, rate([(pages, one["tables"]) for pages, one in of])),
            }

    def predict(self, name, what, pages):
        base, slope = self.lines[name][what]
        return base + slope * pages

    def per_page(self, name, what):
        """For each page of a crawl, without the fixed part."""
        return self.lines[name][what][1]


def size(value):
    for unit in ("B", "kB", "MB", "GB", "TB", "PB"):
        if value < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} EB"


def stage_table(run):
    """Bytes, rows and processor microseconds for each page and stage. The seconds of a command are divided as those of its stages."""
    print("\n| analysis | stage | rows per page | bytes per page | processor µs per page |\n|---|---|---:|---:|---:|")
    pages = run["pages"]
    for name, analysis in run["analyses"].items():
        all_seconds = sum(stage["seconds"] for stage in analysis["stages"].values())
        for stage, one in analysis["stages"].items():
            share = one["seconds"] / all_seconds if all_seconds else 0
            if share < 0.05 and one["bytes"] < 0.05 * moved(analysis):
                continue
            micro = analysis["processor"] * share / pages * 1e6
            print(f"| {name} | {stage} | {one['rows'] / pages:.2f} | {one['bytes'] / pages:.0f} | {micro:.0f} |")


def check_table(model, run):
    """Compares the prediction with a run. Returns the largest error of the processor seconds."""
    print(f"\n| {run['pages']:,} pages | processor s, predicted | measured | error | shuffled, predicted | measured | error |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    worst = 0.0
    predicted_all = measured_all = 0.0
    for name, analysis in run["analyses"].items():
        predicted = model.predict(name, "processor", run["pages"])
        predicted_all += predicted
        measured_all += analysis["processor"]
        error = predicted / analysis["processor"] - 1
        worst = max(worst, abs(error))
        cells = [f"{predicted:.1f}", f"{analysis['processor']:.1f}", f"{error:+.0%}"]
        if moved(analysis):
            expected = model.predict(name, "bytes", run["pages"])
            off = expected / moved(analysis) - 1
            worst = max(worst, abs(off))
            cells += [size(expected), size(moved(analysis)), f"{off:+.0%}"]
        else:
            cells += ["", "", ""]
        print(f"| {name} | " + " | ".join(cells) + " |")
    print(f"| all | {predicted_all:.1f} | {measured_all:.1f} | {predicted_all / measured_all - 1:+.0%} | | | |")
    return worst


def cost_table(model, largest, options):
    """The cost of a large crawl. Indexing grows with the payload, analyses grow with the text."""
    by_payload = options.payload / (largest["payload_bytes"] / largest["pages"])
    by_text = options.text / (largest["text_bytes"] / largest["pages"])
    pages = options.crawl
    cores = options.nodes * options.cores
    print(f"\nA crawl of {pages:,} pages with {size(options.payload)} of HTML and {size(options.text)} of text each, on {options.nodes} nodes of {options.cores} cores:\n")
    print("| step | core-hours | hours | shuffled | over the network | spilled | tables | shared on each node | memory of a task | cost |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name in model.lines:
        factor = by_payload if name == "index" else by_text
        core_hours = model.per_page(name, "processor") * pages * factor / 3600 * options.overhead
        shuffled = model.per_page(name, "bytes") * pages * factor
        tables = model.per_page(name, "tables") * pages * (by_text if name == "index" else factor)
        network = shuffled * (1 - 1 / options.nodes)
        if name == "index":
            network = pages * options.payload / options.packed + tables
        held = HELD.get(name, 0) * pages
        network += held * options.nodes
        of_task = options.task_memory + 24 * WRITTEN.get(name, 0) * pages / options.partitions
        spilled = max(0.0, shuffled - options.nodes * options.store)
        hours = max(core_hours / cores, network / options.nodes / options.bandwidth / 3600)
        disk = (spilled + tables) / 1e9 * options.disk_month * hours / 730
        money = core_hours * options.core_hour + disk
        print(
            f"| {name} | {core_hours:,.0f} | {hours:.1f} | {size(shuffled) if shuffled else ''} | {size(network)} | {size(spilled) if spilled else ''} "
            f"| {size(tables)} | {size(held) if held else ''} | {size(of_task)} | ${money:,.0f} |"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pages", type=int, default=6250, help="N, the pages of the smallest crawl")
    parser.add_argument("--fit", type=int, nargs="+", default=[1, 2, 4], help="multiples of N to fit to; four times the largest is predicted")
    parser.add_argument("--only", nargs="+", choices=list(ANALYSES), help="measure the index and these steps alone; phrases needs copies, and detect needs discover")
    parser.add_argument("--seed", type=int, default=5, help="of the synthetic crawls")
    parser.add_argument("--folder", type=pathlib.Path, default=FOLDER / "scale", help="where crawls and measurements are kept")
    parser.add_argument("--memory", type=int, default=10_000, help="bytes for each page")
    parser.add_argument("--crawl", type=int, default=3_000_000_000, help="pages of the crawl to be costed")
    parser.add_argument("--payload", type=float, default=74e3, help="bytes of HTML of a page: 220 TB for 2.98 billion pages (Common Crawl, September 2014)")
    parser.add_argument("--text", type=float, default=5e3, help="bytes of text of a page")
    parser.add_argument("--packed", type=float, default=5.0, help="how well archives are compressed")
    parser.add_argument("--nodes", type=int, default=50)
    parser.add_argument("--cores", type=int, default=64)
    parser.add_argument("--store", type=float, default=100e9, help="bytes of Ray's object store of a node")
    parser.add_argument("--partitions", type=int, default=4096, help="of a shuffle: --groups of cento.ray")
    parser.add_argument("--task-memory", type=float, default=512 * 2**20, help="bytes: --task-memory of cento.ray")
    parser.add_argument("--bandwidth", type=float, default=1.5e9, help="bytes per second of the network of a node")
    parser.add_argument("--overhead", type=float, default=1.1, help="processor time on a cluster, compared with threads")
    parser.add_argument("--core-hour", type=float, default=0.04, help="dollars")
    parser.add_argument("--disk-month", type=float, default=0.08, help="dollars for a gigabyte")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    runs = [measure(options.pages * factor, options) for factor in options.fit]
    model = Model(runs)
    largest = runs[-1]["pages"]
    checked = 4 * largest
    sizes = ", ".join(f"{run['pages']:,}" for run in runs)
    print(f"\nFitted to {sizes} pages:\n")
    print(f"| step | a, s | µs per page | bytes per page | rows per page | predicted for {checked:,}, s |\n|---|---:|---:|---:|---:|---:|")
    for name, line in model.lines.items():
        micro = model.per_page(name, "processor") * 1e6
        predicted = model.predict(name, "processor", checked)
        print(f"| {name} | {line['processor'][0]:.2f} | {micro:.0f} | {line['bytes'][1]:.0f} | {line['rows'][1]:.1f} | {predicted:.1f} |", flush=True)
    larger = measure(checked, options)
    stage_table(larger)
    worst = check_table(model, larger)
    print(f"\nThe largest error of a prediction of four times the largest crawl: {worst:.0%} (target: at most 20 %)")
    cost_table(model, larger, options)


main()
