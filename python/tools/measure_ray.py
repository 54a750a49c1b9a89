#!/usr/bin/env python3
"""Compares analyses on a local Ray cluster of two nodes with a CPU each, and on two threads.

    python tools/measure_ray.py --pages 20000 copies quilts reuse

Prints the seconds of both, their ratio, and whether the tables have the same bytes. The cluster's
workers are started by a first run that is not measured. `--object-store` limits the memory that Ray
has for rows on each node: with less than a shuffle needs, Ray spills.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Dict

import cento
from cento.ray import ClusterSettings, local_cluster, run


def tables(folder: Path) -> Dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*.parquet")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("verbs", nargs="+")
    parser.add_argument("--pages", type=int, default=20000)
    parser.add_argument("--object-store", type=int, default=400, metavar="MIB")
    typed = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cento.run("synth", "-o", folder / "s", "--pages", typed.pages, progress=False)
        corpus = cento.Corpus.index(folder / "s" / "crawl", folder / "c.cento", progress=False)
        with local_cluster(object_store=typed.object_store << 20) as cluster:
            settings = ClusterSettings(task_memory=256 << 20, groups=8)
            warm = ["overlap", corpus.path, "--memory=1G", f"--findings={folder / 'warm'}"]
            run(*warm, address=cluster.address, settings=settings)
            for verb in typed.verbs:
                seconds = []
                for where in ["threads", "ray"]:
                    findings = folder / verb / where
                    words = [verb, corpus.path, "--memory=1G", f"--findings={findings}"]
                    begun = time.monotonic()
                    if where == "ray":
                        output = run(*words, settings=settings)
                    else:
                        output = cento.run(*words, "--threads=2", progress=False)
                    seconds.append(time.monotonic() - begun)
                same = tables(folder / verb / "threads") == tables(folder / verb / "ray")
                shuffled = sum(one["bytes_out"] for one in output.findings[-1].report["stages"])
                print(
                    f"{verb:10} {seconds[0]:6.1f} s on threads, {seconds[1]:6.1f} s on Ray, "
                    f"ratio {seconds[1] / seconds[0]:.2f}; {shuffled / 1e6:,.0f} MB of rows; "
                    f"tables {'identical' if same else 'DIFFER'}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
