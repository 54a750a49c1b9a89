"""Lost workers, nodes and clusters, and more rows than memory: the same bytes as on threads."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Dict, Iterator, List, Set

import pytest

import cento
from ray_support import CALLS, MEMORY, filled, findings_of, kept_memory, settings, tables

pytestmark = pytest.mark.full
ray = pytest.importorskip("ray")

@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from cento.ray import local_cluster

    with local_cluster() as cluster:
        ray.init(address=cluster.address, log_to_driver=False)
        yield cluster


@pytest.mark.parametrize(("verb", "words"), CALLS)
def test_a_worker_killed_in_every_stage_changes_nothing(
    verb: str, words: List[str], cluster: Any, corpus: cento.Corpus, labels: Path, tmp_path: Path
) -> None:
    """The first task of each stage, of each merge of states and of each table kills its process
    when its work is done and before Ray has its output."""
    from cento import ray as cento_ray

    local = tmp_path / "local.cento"
    shutil.copytree(corpus.path, local)
    faults = tmp_path / "faults"
    faults.mkdir()

    stages: List[Dict[str, Any]] = []
    there = settings(faults=str(faults), on_stage=stages.append)
    output = tmp_path / "there.labels"
    cento_ray.run(verb, corpus.path, *filled(words, labels, output), settings=there)
    output = tmp_path / "here.labels"
    cento.run(verb, local, *filled(words, labels, output), progress=False)
    assert findings_of(corpus.path) == findings_of(local) != {}
    killed = {file.name for file in faults.iterdir()}
    assert {stage["fault"] for stage in stages if stage["tasks"] > 0} <= killed


def test_a_worker_killed_in_every_task_of_an_index_changes_nothing(
    cluster: Any, archives: Path, tmp_path: Path
) -> None:
    from cento import ray as cento_ray

    faults = tmp_path / "faults"
    faults.mkdir()
    words = ["--part-size=256K", "--max-page=1M", "--memory=256M"]
    here, there = tmp_path / "here.cento", tmp_path / "there.cento"
    cento_ray.index([archives], there, *words, settings=settings(faults=str(faults)))
    cento.run("index", archives, "-o", here, *words, progress=False)
    tasks = json.loads((here / "manifest.json").read_text())["runs"][0]["tasks"]
    assert len(list(faults.iterdir())) == tasks > 1
    assert tables(there) == tables(here)
    assert (there / "manifest.json").read_bytes() == (here / "manifest.json").read_bytes()
    assert list((there / "tmp").iterdir()) == []


def test_a_new_cluster_resumes_after_the_head_node_was_lost(
    corpus: cento.Corpus, tmp_path: Path
) -> None:
    from cento import ray as cento_ray
    from cento.ray import local_cluster

    local = tmp_path / "local.cento"
    shutil.copytree(corpus.path, local)
    ray.shutdown()

    class Lost(Exception):
        pass

    seen: Set[str] = set()
    with local_cluster() as first:
        ray.init(address=first.address, log_to_driver=False)

        def lose(line: str) -> None:
            seen.add(line.split("  ")[0])
            if len(seen) > 9:
                first.head_node.kill_gcs_server(check_alive=False)
                first.head_node.kill_raylet(check_alive=False)
                raise Lost

        with pytest.raises(Lost):
            there = settings(report=lose, checkpoint=0.0)
            cento_ray.run("copies", corpus.path, MEMORY, settings=there)
    lines: List[str] = []
    with local_cluster() as second:
        ray.init(address=second.address, log_to_driver=False)
        cento_ray.run("copies", corpus.path, MEMORY, settings=settings(report=lines.append))
    resumed = [line for line in lines if line.startswith("resumed after")]
    assert len(resumed) == 1 and int(resumed[0].split()[2]) >= 3
    cento.run("copies", local, MEMORY, progress=False)
    assert findings_of(corpus.path) == findings_of(local)


def test_a_shuffle_larger_than_the_object_store_spills(tmp_path: Path) -> None:
    """More rows than the object stores of both nodes hold, in tasks with little memory."""
    from cento import ray as cento_ray
    from cento.ray import local_cluster

    cento.run("synth", "-o", tmp_path / "s", "--pages", 32000, "--seed", 3, progress=False)
    crawl = tmp_path / "s" / "crawl"
    here, there = tmp_path / "here.cento", tmp_path / "there.cento"
    cento.run("index", crawl, "-o", here, progress=False)
    shutil.copytree(here, there)
    ray.shutdown()
    stages: List[Dict[str, Any]] = []
    with local_cluster(object_store=80 << 20) as cluster:
        ray.init(address=cluster.address, log_to_driver=False)
        small = settings(task_memory=32 << 20, groups=8, on_stage=stages.append)
        cento_ray.run("reuse", there, "--scheme=kgram:k=5", MEMORY, settings=small)
        logs = Path(cluster.head_node.get_logs_dir_path()).glob("raylet*.out")
        logged = "".join(log.read_text(errors="replace") for log in logs)
    cento.run("reuse", here, "--scheme=kgram:k=5", MEMORY, progress=False)
    assert findings_of(there) == findings_of(here) != {}
    assert max(stage.get("bytes_out", 0) for stage in stages) > 2 * (80 << 20)
    assert "Spilled" in logged
    kept_memory(stages)
