#!/usr/bin/env python3
"""Compares indexing and analyses on a local Ray cluster of two nodes with a CPU each, and on two
threads.

    python tools/measure_ray.py --pages 20000 index copies quilts detect reuse
    python tools/measure_ray.py --inputs /data/archives /data/pages -- index copies quilts detect reuse

Prints a table: the elapsed seconds of both and their ratio; the processor seconds of both and their
ratio, which count everything that the cluster does; the rows that were moved; how much memory the
task had that came closest to what it had declared; and whether the files have the same bytes. The
crawl is a synthetic one, or read from `--inputs`. The cluster's workers are started by a first run
that is not measured. `--object-store` limits the memory that Ray has for rows on each node: with
less than a shuffle needs, Ray spills, and the script prints how much.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import tempfile
import time
from pathlib import Path
from typing import Any, Dict, List, Tuple

import cento
import ray
from cento.ray import ClusterSettings, local_cluster, run


def files(folder: Path) -> Dict[str, bytes]:
    """The tables below a folder, and the manifest of a corpus."""
    found = [*folder.rglob("*.parquet"), *folder.glob("manifest.json")]
    return {str(file.relative_to(folder)): file.read_bytes() for file in found}


def spilled(cluster: Any) -> str:
    """What the nodes have logged about spilling since the cluster was started."""
    logs = Path(cluster.head_node.get_logs_dir_path()).glob("raylet*.out")
    found: List[str] = []
    for log in logs:
        lines = re.findall(r"Spilled (\d+) MiB, (\d+) objects", log.read_text(errors="replace"))
        found += [f"{size} MiB in {count} objects" for size, count in lines[-1:]]
    return "spilled by nodes: " + "; ".join(found) if found else "nothing was spilled"


def processor_seconds() -> float:
    """What this process and all processes that descend from it have used: nodes and workers."""
    parents: Dict[int, int] = {}
    ticks: Dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents[int(folder.name)] = int(fields[1])
        # Its own, and those of its children that have ended.
        ticks[int(folder.name)] = sum(map(int, fields[11:15]))
    mine = {os.getpid()}
    grown = True
    while grown:
        more = {child for child, parent in parents.items() if parent in mine} - mine
        grown = bool(more)
        mine |= more
    return sum(ticks.get(one, 0) for one in mine) / os.sysconf("SC_CLK_TCK")


def measured(action: Any) -> Tuple[float, float]:
    """Elapsed and processor seconds."""
    used, begun = processor_seconds(), time.monotonic()
    action()
    return time.monotonic() - begun, processor_seconds() - used


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("verbs", nargs="+", help="index, or analyses; with options in quotes")
    parser.add_argument("--pages", type=int, default=20000, help="of a synthetic crawl [20000]")
    parser.add_argument("--inputs", nargs="+", type=Path, help="read these instead")
    parser.add_argument("--object-store", type=int, default=2048, metavar="MIB", help="of each node [2048]")
    parser.add_argument("--task-memory", type=int, default=256, metavar="MIB")
    parser.add_argument("--groups", type=int, default=8)
    parser.add_argument("--memory", default="1G", help="an option of the commands: decides the size of filters [1G]")
    parser.add_argument("--stages", action="store_true", help="print the seconds of each stage on Ray, too")
    typed = parser.parse_args()
    stages: List[Dict[str, Any]] = []
    settings = ClusterSettings(
        task_memory=typed.task_memory << 20, groups=typed.groups, on_stage=stages.append
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inputs: List[object] = list(typed.inputs or [])
        if not inputs:
            words = ["--pages", typed.pages, "--files", 8]
            cento.run("synth", "-o", folder / "s", *words, progress=False)
            inputs = [folder / "s" / "crawl"]
        machine = [f"--memory={typed.memory}"]
        corpus = folder / "c.cento"
        indexed = cento.run("index", *inputs, "-o", corpus, *machine, progress=False)
        print(indexed.text.split("\n\n")[0], "\n")
        labels = folder / "l.labels"
        cento.run("discover", corpus, "--most-frequent=100", "-o", labels, progress=False)
        versions = f"cento {cento.__version__}, Ray {ray.__version__}, Python {platform.python_version()}"
        print(f"{time.strftime('%d %B %Y')}, {versions}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}\n")
        print("| step | threads, s | Ray, s | ratio | threads, processor s | Ray, processor s | ratio | rows moved | memory of declared | bytes |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---|", flush=True)
        with local_cluster(object_store=typed.object_store << 20) as cluster:
            warm = ["overlap", corpus, *machine, f"--findings={folder / 'warm'}"]
            run(*warm, address=cluster.address, settings=settings)
            for number, words in enumerate(verb.split() for verb in typed.verbs):
                stages.clear()
                if words[0] == "detect":
                    words += ["--labels", str(labels)]
                places = [folder / f"{number}-{where}.cento" for where in ("threads", "ray")]

                def line(place: Path) -> List[object]:
                    if words[0] == "index":
                        return ["index", *inputs, *words[1:], "-o", place, *machine]
                    return [words[0], corpus, *words[1:], "--findings", place, *machine]

                here = measured(lambda: cento.run(*line(places[0]), "--threads=2", progress=False))
                there = measured(lambda: run(*line(places[1]), settings=settings))
                same = "identical" if files(places[0]) == files(places[1]) else "DIFFERENT"
                moved = sum(stage.get("bytes_out", 0) for stage in stages)
                closest = max(stages, key=lambda stage: stage["peak"] / stage["memory"])
                peak, declared = closest["peak"] >> 20, closest["memory"] >> 20
                print(
                    f"| {' '.join(words[:2] if words[0] != 'detect' else words[:1])} "
                    f"| {here[0]:.1f} | {there[0]:.1f} | {there[0] / here[0]:.2f} "
                    f"| {here[1]:.1f} | {there[1]:.1f} | {there[1] / here[1]:.2f} "
                    f"| {moved / 1e6:,.0f} MB | {peak} of {declared} MiB ({closest['name']}) | {same} |",
                    flush=True,
                )
                for stage in stages if typed.stages else []:
                    elapsed = f"{stage['seconds']:.2f} s, " if "seconds" in stage else ""
                    print(f"    {stage['name']}: {elapsed}{stage['tasks']} tasks, {stage['processor']:.2f} processor s")
            print("\n" + spilled(cluster))


if __name__ == "__main__":
    main()
