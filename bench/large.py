"""One run over more than users try first: synthetic pages and real manuals, every analysis in --memory 2G, end to end.

    bench/run large
    CENTO=/path/to/cento bench/large.py --pages 2000000 --folder /big/disk --markdown docs/scale.md

Prints time, processor time, peak memory and spilled bytes of each step, as the table of docs/scale.md. The numbers are kept in FOLDER/large.json;
a second call continues after the last finished step.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

from common import CENTO, FOLDER, HERE

PROGRAM = pathlib.Path(os.environ.get("CENTO", CENTO))
# In this order: phrases uses the duplicates that copies has found, and detect the labels of discover.
STEPS = {
    "copies": ["copies"],
    "overlap": ["overlap"],
    "overlap --replication": ["overlap", "--replication"],
    "discover": ["discover", "--most-frequent", "1000", "-o", "LABELS"],
    "detect": ["detect", "--labels", "LABELS"],
    "reuse": ["reuse"],
    "quilts": ["quilts"],
    "phrases": ["phrases"],
    "passages": ["passages"],
}


def spent(command):
    """Runs a command; returns elapsed seconds, processor seconds and peak resident memory in MiB."""
    begun = time.time()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        print(f"failed: {command}", file=sys.stderr)
    return {"seconds": time.time() - begun, "processor": usage.ru_utime + usage.ru_stime, "memory": usage.ru_maxrss / 1024, "failed": status != 0}


def finished(command):
    """Like `spent`, for a command that must not fail."""
    step = spent(command)
    if step.pop("failed"):
        raise SystemExit(1)
    return step


def added(one, other):
    """Two parts of a step that was interrupted: the sums, and the larger peak of memory."""
    return other | {name: one[name] + other[name] for name in ("seconds", "processor")} | {"memory": max(one["memory"], other["memory"])}


def reports(findings):
    """The reports of all findings, by path."""
    return {path: json.loads(path.read_text())["report"] for path in findings.rglob("run.json")}


def table(measured):
    counts = measured["counts"]
    lines = [
        f"{counts['pages']:,} pages, of which {counts['kept']:,} were kept, {counts['text_bytes'] / 1e9:.1f} GB of text, {counts['words'] / 1e9:.2f} billion words; {measured['machine']}, `--memory 2G --threads 2`, "
        f"{measured['date']}, {measured['version']}.",
        "",
        "| step | time | processor time | peak memory | spilled | results |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, step in measured["steps"].items():
        lines.append(
            f"| {name} | {step['seconds']:.0f} s | {step['processor']:.0f} s | {step['memory']:.0f} MiB | {step.get('spilled', 0) / 1e9:.1f} GB | {step['bytes'] / 1e9:.2f} GB |"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=2_000_000)
    parser.add_argument("--words", type=int, default=620)
    parser.add_argument("--folder", type=pathlib.Path, default=FOLDER / "large")
    parser.add_argument("--markdown", type=pathlib.Path, help="replace the table between the markers in this file")
    arguments = parser.parse_args()
    folder = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    known = folder / "large.json"
    measured = {"steps": {}, "interrupted": {}} | (json.loads(known.read_text()) if known.exists() else {})
    crawl, corpus, findings, labels = folder / "crawl", folder / "large.cento", folder / "findings", folder / "large.labels"
    machine = ["--memory", "2G", "--threads", 2]
    if "counts" not in measured:
        model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
        measured["machine"] = f"{model}, {os.cpu_count()} cores"
        measured["date"] = time.strftime("%Y-%m-%d")
        measured["version"] = subprocess.run([str(PROGRAM), "--version"], capture_output=True, text=True).stdout.strip()
        subprocess.run([sys.executable, HERE / "make_manuals.py", FOLDER], check=True)
        manuals = [FOLDER / "manuals.jsonl"]
        finished([PROGRAM, "synth", "-o", crawl, "--pages", arguments.pages, "--words", arguments.words, "--seed", 9, "--force"])
        shutil.rmtree(corpus, ignore_errors=True)
        step = finished([PROGRAM, "index", crawl / "crawl", *manuals, "-o", corpus, *machine])
        manifest = json.loads((corpus / "manifest.json").read_text())
        counts = [part["counts"] for part in manifest["parts"]]
        measured["counts"] = {name: sum(one[name] for one in counts) for name in ("pages", "kept", "payload_bytes", "text_bytes", "words", "chunks")}
        step["bytes"] = sum(path.stat().st_size for path in corpus.rglob("*.parquet"))
        measured["steps"]["index"] = step
        known.write_text(json.dumps(measured))
        shutil.rmtree(crawl)
    for name, words in STEPS.items():
        if name in measured["steps"]:
            continue
        before = set(reports(findings))
        words = [labels if word == "LABELS" else word for word in words]
        step = spent([PROGRAM, words[0], corpus, *words[1:], *machine, "--findings", findings])
        if name in measured["interrupted"]:
            step = added(measured["interrupted"].pop(name), step)
        if step.pop("failed"):
            # An analysis that was interrupted, for example by a full disk, continues in the next call.
            measured["interrupted"][name] = step
            known.write_text(json.dumps(measured))
            raise SystemExit(1)
        new = [report for path, report in reports(findings).items() if path not in before]
        step["spilled"] = sum(stage["spilled"] for report in new for stage in report["stages"])
        step["bytes"] = sum(result["bytes"] for report in new for result in report["tables"])
        measured["steps"][name] = step
        known.write_text(json.dumps(measured))
        print(f"{name}: {step}", file=sys.stderr, flush=True)
    text = table(measured)
    print(text)
    if arguments.markdown:
        page = arguments.markdown.read_text()
        head, rest = page.split("<!-- large -->\n")
        tail = rest.split("<!-- large end -->\n")[1]
        arguments.markdown.write_text(f"{head}<!-- large -->\n{text}\n<!-- large end -->\n{tail}")


if __name__ == "__main__":
    main()
