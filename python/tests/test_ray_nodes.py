"""A whole node lost in every stage: the same bytes as on threads.

The first task of each stage, of each merge of states and of each table, and four tasks of an index,
kill the node on which they run when their work is done, with all objects that it holds. The crawl
is a synthetic one; with `CENTO_REAL_PAGES=PATH:PATH…` also these pages.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, Dict, Iterator, List

import pytest

import cento
from ray_support import CALLS, MEMORY, filled, losing_cluster, settings, tables

pytestmark = pytest.mark.full
ray = pytest.importorskip("ray")

REAL = [path for path in os.environ.get("CENTO_REAL_PAGES", "").split(os.pathsep) if path]
INDEX = ["--part-size=4M", "--max-page=4M", MEMORY]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with losing_cluster() as cluster:
        yield cluster


class Crawl:
    """Inputs, their corpus as a local index makes it, and labels of its most frequent chunks."""

    def __init__(self, folder: Path, inputs: List[Any]) -> None:
        self.inputs = inputs
        self.corpus = folder / "c.cento"
        self.labels = folder / "frequent.labels"
        cento.run("index", *inputs, "-o", self.corpus, *INDEX, progress=False)
        words = ["--most-frequent=50", f"--findings={folder / 'labels'}", "-o", self.labels]
        cento.run("discover", self.corpus, *words, progress=False)


@pytest.fixture(scope="module", params=["synthetic", "real"])
def crawl(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    folder = tmp_path_factory.mktemp("crawl")
    if request.param == "real":
        if not REAL:
            pytest.skip("CENTO_REAL_PAGES names no pages")
        return Crawl(folder, REAL)
    cento.run("synth", "-o", folder / "s", "--pages", 1000, progress=False)
    archives = folder / "archives"
    archives.mkdir()
    for archive in (folder / "s" / "crawl").iterdir():
        # Each is a task of an index.
        for name in ("a", "b", "c"):
            shutil.copy(archive, archives / f"{name}-{archive.name}")
    return Crawl(folder, [archives])


@pytest.mark.parametrize(("verb", "words"), [("index", INDEX), *CALLS])
def test_a_node_lost_in_every_stage_changes_nothing(
    verb: str, words: List[str], crawl: Crawl, cluster: Any, tmp_path: Path
) -> None:
    from cento import ray as cento_ray

    faults = tmp_path / "faults"
    faults.mkdir()
    stages: List[Dict[str, Any]] = []
    there = settings(faults=str(faults), killed="node", on_stage=stages.append)
    lost = cluster.lost
    if verb == "index":
        here = crawl.corpus
        cento_ray.index(crawl.inputs, tmp_path / "there", *words, settings=there)
    else:
        here = tmp_path / "here"
        typed = filled(words, crawl.labels, tmp_path / "here.labels")
        cento.run(verb, crawl.corpus, *typed, "--findings", here, progress=False)
        typed = filled(words, crawl.labels, tmp_path / "there.labels")
        typed += ["--findings", str(tmp_path / "there")]
        cento_ray.run(verb, crawl.corpus, *typed, settings=there)
    assert tables(tmp_path / "there") == tables(here) != {}
    killed = {file.name for file in faults.iterdir()}
    if verb != "index":
        assert {stage["fault"] for stage in stages if stage["tasks"] > 0} <= killed
    print(f"{verb}: {len(stages)} stages, {len(killed)} nodes lost")
    # The thread that replaces nodes may not have seen the last one yet.
    assert killed and cluster.lost - lost >= len(killed) - 2
