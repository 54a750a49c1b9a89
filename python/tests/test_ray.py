"""Analyses on a Ray cluster of two nodes: the same tables as on threads, also if nodes are lost."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Dict, Iterator, List

import pytest

import cento
from support import timeless

pytestmark = pytest.mark.full
ray = pytest.importorskip("ray")

#: Enough for these corpora; the default is for large ones.
MEMORY = "--memory=256M"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from cento.ray import local_cluster

    with local_cluster() as cluster:
        ray.init(address=cluster.address, log_to_driver=False)
        yield cluster


def settings(**values: Any) -> Any:
    from cento.ray import ClusterSettings

    return ClusterSettings(task_memory=64 << 20, groups=4, **values)


def tables(folder: Path) -> Dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*.parquet")}


def findings_of(corpus: Path) -> Dict[str, bytes]:
    return tables(corpus / "findings")


CALLS = [
    ("copies", []),
    ("overlap", []),
    ("overlap", ["--replication"]),
    ("reuse", []),
    ("quilts", ["--collapse"]),
    ("phrases", []),
    ("passages", []),
    ("detect", ["--labels", "LABELS"]),
    ("discover", ["--most-frequent", "50", "-o", "OUTPUT"]),
]


@pytest.mark.parametrize(("verb", "words"), CALLS)
def test_tables_are_those_of_a_local_run(
    verb: str, words: List[str], cluster: Any, corpus: cento.Corpus, labels: Path, tmp_path: Path
) -> None:
    from cento import ray as cento_ray

    local = tmp_path / "local.cento"
    shutil.copytree(corpus.path, local)

    def filled(name: str) -> List[str]:
        values = {"LABELS": str(labels), "OUTPUT": str(tmp_path / name)}
        return [*(values.get(word, word) for word in words), MEMORY]

    there = cento_ray.run(verb, corpus.path, *filled("there.labels"), settings=settings())
    here = cento.run(verb, local, *filled("here.labels"), progress=False)
    assert findings_of(corpus.path) == findings_of(local) != {}
    text = there.text.replace(str(corpus.path), "X").replace("there.labels", "here.labels")
    assert timeless(text) == timeless(here.text.replace(str(local), "X"))
    for ours, theirs in zip(there.findings, here.findings):
        assert ours.summary == theirs.summary
        assert not (ours.path / "ray").exists()
    # Cached: no flow is run.
    again = cento_ray.run(verb, corpus.path, *filled("there.labels"), settings=settings())
    assert again.findings[-1].cached


def test_a_lost_node_changes_nothing(cluster: Any, corpus: cento.Corpus, tmp_path: Path) -> None:
    from cento import ray as cento_ray

    local = tmp_path / "local.cento"
    shutil.copytree(corpus.path, local)
    stages: List[str] = []
    killed: List[str] = []
    nodes = [cluster.add_node(num_cpus=1, memory=2 << 30, object_store_memory=100 << 20)]

    def report(line: str) -> None:
        stage = line.split("  ")[0]
        if stage not in stages:
            stages.append(stage)
            # A node in every fourth stage, without a warning.
            if len(stages) % 4 == 2 and nodes:
                cluster.remove_node(nodes.pop(), allow_graceful=False)
                killed.append(stage)
                nodes.append(
                    cluster.add_node(num_cpus=1, memory=2 << 30, object_store_memory=100 << 20)
                )

    cento_ray.run("copies", corpus.path, MEMORY, settings=settings(report=report))
    cento.run("copies", local, MEMORY, progress=False)
    assert len(killed) >= 2, stages
    assert findings_of(corpus.path) == findings_of(local)
    for node in nodes:
        cluster.remove_node(node)


def test_a_lost_worker_changes_nothing(cluster: Any, corpus: cento.Corpus, tmp_path: Path) -> None:
    from cento import ray as cento_ray

    local = tmp_path / "local.cento"
    shutil.copytree(corpus.path, local)
    killed: List[int] = []
    stop = threading.Event()

    def kill_workers() -> None:
        while not stop.wait(0.4):
            listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True)
            for line in listed.stdout.splitlines():
                pid, _, name = line.strip().partition(" ")
                if name.startswith("ray::_map") or name.startswith("ray::_reduce"):
                    os.kill(int(pid), signal.SIGKILL)
                    killed.append(int(pid))
                    break

    thread = threading.Thread(target=kill_workers)
    thread.start()
    try:
        cento_ray.run("quilts", corpus.path, MEMORY, settings=settings())
    finally:
        stop.set()
        thread.join()
    cento.run("quilts", local, MEMORY, progress=False)
    assert killed
    assert findings_of(corpus.path) == findings_of(local)


def test_a_rerun_resumes_after_the_driver_was_lost(
    cluster: Any, corpus: cento.Corpus, tmp_path: Path
) -> None:
    from cento import ray as cento_ray

    local = tmp_path / "local.cento"
    shutil.copytree(corpus.path, local)

    class Lost(Exception):
        pass

    seen: List[str] = []

    def lose(line: str) -> None:
        seen.append(line.split("  ")[0])
        if len(set(seen)) > 9:
            raise Lost

    with pytest.raises(Lost):
        cento_ray.run(
            "copies", corpus.path, MEMORY, settings=settings(report=lose, checkpoint=0.0)
        )
    lines: List[str] = []
    cento_ray.run("copies", corpus.path, MEMORY, settings=settings(report=lines.append))
    resumed = [line for line in lines if line.startswith("resumed after")]
    assert len(resumed) == 1 and int(resumed[0].split()[2]) >= 3
    cento.run("copies", local, MEMORY, progress=False)
    assert findings_of(corpus.path) == findings_of(local)


def test_errors_are_those_of_the_program(cluster: Any, corpus: cento.Corpus) -> None:
    from cento import ray as cento_ray

    with pytest.raises(cento.UsageError, match="theta"):
        cento_ray.run("quilts", corpus.path, "--theta=7")


def test_the_module_is_a_program(cluster: Any, corpus: cento.Corpus, tmp_path: Path) -> None:
    local = tmp_path / "local.cento"
    shutil.copytree(corpus.path, local)
    words = ["overlap", "--address", cluster.address, "--groups=4", str(corpus.path)]
    line = [sys.executable, "-m", "cento.ray", *words, "--task-memory", "64"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    expected = cento.run("overlap", local, "--memory=4G", progress=False).text
    assert done.stdout.replace(str(corpus.path), "X") == expected.replace(str(local), "X")
