#!/usr/bin/env python3
"""Compares indexing and analyses on a local Ray cluster of two nodes with a CPU each, and on two
threads.

    python tools/measure_ray.py --pages 20000 index copies quilts detect reuse
    python tools/measure_ray.py --inputs /data/archives /data/pages index copies quilts detect reuse

Prints the seconds of both, their ratio, and whether the files have the same bytes. The crawl is a
synthetic one, or read from `--inputs`. The cluster's workers are started by a first run that is not
measured; Ray tasks that follow pay for what they do, and about half a second per command for
starting the flow in each worker. `--object-store` limits the memory that Ray has for rows on each
node: with less than a shuffle needs, Ray spills, and the script prints how much.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from pathlib import Path
from typing import Any, Dict, List

import cento
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("verbs", nargs="+", help="index, or analyses; with options in quotes")
    parser.add_argument("--pages", type=int, default=20000, help="of a synthetic crawl [20000]")
    parser.add_argument("--inputs", nargs="+", type=Path, help="read these instead")
    parser.add_argument("--object-store", type=int, default=400, metavar="MIB")
    parser.add_argument("--task-memory", type=int, default=256, metavar="MIB")
    parser.add_argument("--groups", type=int, default=8)
    typed = parser.parse_args()
    stages: List[Dict[str, Any]] = []
    settings = ClusterSettings(
        task_memory=typed.task_memory << 20, groups=typed.groups, on_stage=stages.append
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inputs: List[object] = list(typed.inputs or [])
        if not inputs:
            cento.run("synth", "-o", folder / "s", "--pages", typed.pages, progress=False)
            inputs = [folder / "s" / "crawl"]
        machine = ["--memory=1G"]
        corpus = cento.run("index", *inputs, "-o", folder / "c.cento", *machine, progress=False)
        print(corpus.text, flush=True)
        labels = folder / "l.labels"
        cento.run("discover", folder / "c.cento", "--most-frequent=100", "-o", labels, progress=False)
        with local_cluster(object_store=typed.object_store << 20) as cluster:
            warm = ["overlap", folder / "c.cento", *machine, f"--findings={folder / 'warm'}"]
            run(*warm, address=cluster.address, settings=settings)
            for number, words in enumerate(verb.split() for verb in typed.verbs):
                seconds: List[float] = []
                stages.clear()
                if words[0] == "detect":
                    words += ["--labels", str(labels)]
                for where in ["threads", "ray"]:
                    place = folder / f"{number}-{where}.cento"
                    line: List[object] = [words[0], folder / "c.cento", *words[1:], "--findings", place]
                    if words[0] == "index":
                        line = ["index", *inputs, *words[1:], "-o", place]
                    begun = time.monotonic()
                    if where == "ray":
                        run(*line, *machine, settings=settings)
                    else:
                        cento.run(*line, *machine, "--threads=2", progress=False)
                    seconds.append(time.monotonic() - begun)
                same = files(folder / f"{number}-threads.cento") == files(folder / f"{number}-ray.cento")
                moved = sum(stage.get("bytes_out", 0) for stage in stages)
                largest = max((stage.get("bytes_out", 0) for stage in stages), default=0)
                over = max(stage["peak"] / stage["memory"] for stage in stages)
                print(
                    f"{' '.join(words[:2]):22} {seconds[0]:6.1f} s on threads, {seconds[1]:6.1f} s on Ray, "
                    f"ratio {seconds[1] / seconds[0]:.2f}; {moved / 1e6:,.0f} MB of rows, "
                    f"{largest / 1e6:,.0f} MB in one stage; peak memory {over:.0%} of the declared; "
                    f"{'identical' if same else 'DIFFERENT'}",
                    flush=True,
                )
            print(spilled(cluster))


if __name__ == "__main__":
    main()
