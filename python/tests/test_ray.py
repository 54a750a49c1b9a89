"""Indexing and analyses on a Ray cluster of two nodes: the same bytes as on threads."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any, Dict, Iterator, List

import pytest

import cento
from ray_support import CALLS, MEMORY, filled, findings_of, kept_memory, settings, tables
from support import timeless

pytestmark = pytest.mark.full
ray = pytest.importorskip("ray")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from cento.ray import local_cluster

    with local_cluster() as cluster:
        ray.init(address=cluster.address, log_to_driver=False)
        yield cluster


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus with more pages than 64 KiB have bytes for."""
    folder = tmp_path_factory.mktemp("large")
    cento.run("synth", "-o", folder / "s", "--pages", 5000, progress=False)
    corpus = folder / "c.cento"
    cento.Corpus.index(folder / "s" / "crawl", corpus, progress=False)
    return corpus


@pytest.mark.parametrize(("verb", "words"), CALLS)
def test_tables_are_those_of_a_local_run(
    verb: str, words: List[str], cluster: Any, corpus: cento.Corpus, labels: Path, tmp_path: Path
) -> None:
    from cento import ray as cento_ray

    local = tmp_path / "local.cento"
    shutil.copytree(corpus.path, local)

    for_there = filled(words, labels, tmp_path / "there.labels")
    for_here = filled(words, labels, tmp_path / "here.labels")
    stages: List[Dict[str, Any]] = []
    measured = settings(on_stage=stages.append)
    there = cento_ray.run(verb, corpus.path, *for_there, settings=measured)
    here = cento.run(verb, local, *for_here, progress=False)
    kept_memory(stages)
    assert findings_of(corpus.path) == findings_of(local) != {}
    text = there.text.replace(str(corpus.path), "X").replace("there.labels", "here.labels")
    assert timeless(text) == timeless(here.text.replace(str(local), "X"))
    for ours, theirs in zip(there.findings, here.findings):
        assert ours.summary == theirs.summary
        assert not (ours.path / "ray").exists()
    # Cached: no flow is run.
    again = cento_ray.run(verb, corpus.path, *for_there, settings=settings())
    assert again.findings[-1].cached


def test_pages_that_are_kept_again_are_those_of_a_local_run(cluster: Any, tmp_path: Path) -> None:
    """Many variants of one page: in some rounds of `copies` a page is removed, and in a later one it
    is kept again. Workers once did not see the flag of the earlier round."""
    from cento import ray as cento_ray

    random = Random(5)
    words = [f"word{number}" for number in range(5000)]
    original = [random.choice(words) for _ in range(220)]
    with open(tmp_path / "pages.jsonl", "w") as file:
        for number in range(400):
            page = list(original)
            for _ in range(random.randrange(2, 8)):
                page[random.randrange(len(page))] = random.choice(words)
            row = {"url": f"http://host{number}.example/", "text": " ".join(page)}
            file.write(json.dumps(row) + "\n")
    corpus = tmp_path / "c.cento"
    cento.run("index", tmp_path / "pages.jsonl", "-o", corpus, progress=False)
    here, there = tmp_path / "here", tmp_path / "there"
    cento_ray.run("copies", corpus, MEMORY, "--findings", there, settings=settings())
    found = cento.run("copies", corpus, MEMORY, "--findings", here, progress=False).findings[-1]
    assert found.summary["rounds"] > 4
    assert tables(there) == tables(here) != {}


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


def test_a_command_that_is_no_analysis_runs_as_well(cluster: Any, corpus: cento.Corpus) -> None:
    from cento import ray as cento_ray

    there = cento_ray.run("info", corpus.path).text
    assert there == cento.run("info", corpus.path).text


def test_an_error_of_a_worker_is_that_of_the_program(cluster: Any, corpus: cento.Corpus) -> None:
    """Not one of Ray, with the trace of the worker for a message."""
    from cento import ray as cento_ray

    [part, *_] = corpus.tables["text"].paths
    content = bytearray(part.read_bytes())
    content[1000:3000] = bytes(2000)
    part.write_bytes(content)
    with pytest.raises(cento.CorruptedError) as raised:
        cento_ray.run("copies", corpus.path, MEMORY, settings=settings())
    assert type(raised.value) is cento.CorruptedError
    assert part.name in str(raised.value) and "Traceback" not in str(raised.value)


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["--address", "nonsense"], 2, "error: --address nonsense is no address"),
        (["--address", "127.0.0.1:PORT"], 1, "error: no Ray cluster at 127.0.0.1:PORT: "),
        (["--groups", "0"], 2, "error: groups must be at least 1, not 0"),
        (["--in-flight=-1"], 2, "error: in_flight must be at least 1, not -1"),
        (["--task-memory"], 2, "usage: python -m cento.ray"),
        (["--task-memory", "much"], 2, "usage: python -m cento.ray"),
    ],
)
def test_wrong_options_and_clusters_are_errors_at_once(
    words: List[str], status: int, message: str, corpus: cento.Corpus
) -> None:
    with socket.socket() as bound:
        # Nobody listens there.
        bound.bind(("127.0.0.1", 0))
        port = str(bound.getsockname()[1])
        words = [word.replace("PORT", port) for word in words]
        line = [sys.executable, "-m", "cento.ray", "copies", str(corpus.path), *words]
        done = subprocess.run(line, capture_output=True, text=True, timeout=300)
    assert done.returncode == status, done.stderr
    assert done.stderr.startswith(message.replace("PORT", port))
    assert "Traceback" not in done.stderr


@pytest.fixture()
def no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails if a cluster is connected to or started."""

    def refuse(**_: object) -> None:
        raise AssertionError("Ray was initialised")

    monkeypatch.setattr(ray, "init", refuse)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)


def test_a_wrong_or_finished_command_needs_no_cluster(
    corpus: cento.Corpus, tmp_path: Path, no_cluster: None
) -> None:
    from cento import ray as cento_ray

    for words in [["frob", "x"], ["quilts", "nope.cento"], ["quilts", corpus.path, "--thta=1"]]:
        with pytest.raises(cento.UsageError):
            cento_ray.run(*words)
    assert cento_ray.run("--version").text == cento.run("--version").text
    page = tmp_path / "page.txt"
    page.write_text("Not a corpus.")
    with pytest.raises(cento.UsageError, match="cento copies needs a corpus"):
        cento_ray.run("copies", page)


def test_only_names_of_files_become_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cento.ray import _absolute

    monkeypatch.chdir(tmp_path)
    for name in ["a.cento", "domain", "3", "x.labels"]:
        Path(name).touch()
    here = f"{tmp_path}/"
    assert _absolute(["quilts", "a.cento", "--foreign", "domain", "-k", "3", "--theta=3"]) == [
        "quilts", f"{here}a.cento", "--foreign", "domain", "-k", "3", "--theta=3",
    ]
    assert _absolute(["detect", "--labels=x.labels", "a.cento"]) == [
        "detect", f"--labels={here}x.labels", f"{here}a.cento",
    ]
    assert _absolute(["detect", "--labels", "x.labels", "--json", "a.cento", "no.cento"]) == [
        "detect", "--labels", f"{here}x.labels", "--json", f"{here}a.cento", "no.cento",
    ]


def test_no_cluster_on_this_node_is_an_error(
    corpus: cento.Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cento import ray as cento_ray

    def refuse(**_: object) -> None:
        raise ConnectionError("no instance was found")  # As Ray does for `auto`.

    monkeypatch.setattr(ray, "init", refuse)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(cento.Error, match="no instance was found\nhint: start one with"):
        cento_ray.run("copies", corpus.path, address="auto")


def test_the_module_is_a_program(cluster: Any, corpus: cento.Corpus, tmp_path: Path) -> None:
    local = tmp_path / "local.cento"
    shutil.copytree(corpus.path, local)
    words = ["overlap", "--address", cluster.address, "--groups=4", str(corpus.path)]
    line = [sys.executable, "-m", "cento.ray", *words, "--task-memory", "64"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    expected = cento.run("overlap", local, "--memory=4G", progress=False).text
    assert done.stdout.replace(str(corpus.path), "X") == expected.replace(str(local), "X")


def test_machines_with_different_cores_reach_the_same_flow(
    cluster: Any, corpus: cento.Corpus, tmp_path: Path
) -> None:
    """A driver with one core, and workers with all cores of this machine."""
    local = tmp_path / "local.cento"
    shutil.copytree(corpus.path, local)
    words = ["reuse", str(corpus.path), "--address", cluster.address, "--task-memory", "64"]

    def with_one_core() -> None:
        os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])

    line = [sys.executable, "-m", "cento.ray", *words]
    done = subprocess.run(
        line, capture_output=True, text=True, timeout=300, preexec_fn=with_one_core
    )
    assert done.returncode == 0, done.stderr
    cento.run("reuse", local, progress=False)
    assert findings_of(corpus.path) == findings_of(local) != {}


@pytest.mark.parametrize("verb", ["copies", "overlap", "reuse"])
def test_no_process_needs_memory_for_all_pages(
    verb: str, cluster: Any, large: Path, tmp_path: Path
) -> None:
    """With so little that a local run refuses it: the order of pages is sorted on disk."""
    from cento import ray as cento_ray

    here, there = tmp_path / "here", tmp_path / "there"
    small = ["--memory=64K", "--findings", there]
    cento_ray.run(verb, large, *small, settings=settings())
    cento.run(verb, large, MEMORY, "--findings", here, progress=False)
    assert tables(there) == tables(here) != {}
    assert not list(there.glob(".page-order*"))


def corpus_bytes(folder: Path) -> Dict[str, bytes]:
    """All files of a corpus, without its lock and its findings."""
    files = (file for file in folder.rglob("*") if file.is_file() and file.name != ".lock")
    own = (file for file in files if "findings" not in file.relative_to(folder).parts)
    return {str(file.relative_to(folder)): file.read_bytes() for file in own}


def test_a_corpus_is_that_of_a_local_index(
    cluster: Any, made: Path, archives: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From relative paths, in several tasks and parts, first a new corpus and then an added one."""
    from cento import ray as cento_ray

    monkeypatch.chdir(made)
    small = ["--part-size=64K", "--max-page=1M", "--memory=256M"]
    here, there = tmp_path / "here.cento", tmp_path / "there.cento"
    facts: List[Any] = []
    for inputs in [["archives"], ["archives", "s/crawl", "s/originals", "--add"]]:
        cento.run("index", *inputs, "-o", here, *small, progress=False)
        output = cento_ray.index(inputs, there, *small, settings=settings(on_stage=facts.append))
        assert "pages kept" in output.text
        assert corpus_bytes(there) == corpus_bytes(here) != {}
    assert facts[0]["tasks"] > 1 and facts[1]["tasks"] > 1
    kept_memory(facts)
    parts = json.loads((there / "manifest.json").read_text())["parts"]
    assert len(parts) > len({part["task"] for part in parts}), "no task has several parts"
    # Errors are those of the program.
    with pytest.raises(cento.UsageError):
        cento_ray.index(["archives"], there, *small, settings=settings())


def test_an_interrupted_index_resumes(cluster: Any, archives: Path, tmp_path: Path) -> None:
    """What is committed before the driver is lost is not read again, here or on a cluster."""
    from cento import _ray_index
    from cento import ray as cento_ray

    words = ["--part-size=64K", "--max-page=1M", "--memory=256M"]
    here, there = tmp_path / "here.cento", tmp_path / "there.cento"
    cento.run("index", archives, "-o", here, *words, progress=False)

    class Lost(Exception):
        pass

    def lose(line: str) -> None:
        raise Lost

    seconds, _ray_index.COMMIT_SECONDS = _ray_index.COMMIT_SECONDS, 0.0
    try:
        with pytest.raises(Lost):
            cento_ray.index([archives], there, *words, settings=settings(report=lose, in_flight=1))
    finally:
        _ray_index.COMMIT_SECONDS = seconds
    before = {part["task"] for part in json.loads((there / "manifest.json").read_text())["parts"]}
    text = cento_ray.index([archives], there, *words, settings=settings()).text
    assert len(before) == 1 and "resumed" in text
    assert corpus_bytes(there) == corpus_bytes(here)


def test_a_scan_indexes_on_the_cluster(cluster: Any, made: Path, tmp_path: Path) -> None:
    from cento import ray as cento_ray

    here, there = tmp_path / "here.cento", tmp_path / "there.cento"
    facts: List[Any] = []
    words = ["scan", made / "s" / "crawl", MEMORY, "--only", "copies", "-o"]
    cento_ray.run(*words, there, settings=settings(on_stage=facts.append))
    cento.run(*words, here, progress=False)
    assert facts[0]["name"] == "index" and len(facts) > 1
    assert corpus_bytes(there).keys() == corpus_bytes(here).keys()
    assert tables(there) == tables(here)


def test_a_task_that_no_node_can_run_is_an_error(cluster: Any, corpus: cento.Corpus) -> None:
    from cento import ray as cento_ray
    from cento.ray import ClusterSettings

    with pytest.raises(cento.Error, match="no node has more"):
        cento_ray.run(
            "copies", corpus.path, MEMORY, settings=ClusterSettings(task_memory=1 << 40)
        )


def test_the_script_starts_a_cluster_of_two_nodes(corpus: cento.Corpus, tmp_path: Path) -> None:
    """The way of the documentation: a cluster in one terminal, a command in another."""
    script = Path(__file__).parent.parent / "tools" / "local_cluster.py"
    server = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        words = ["overlap", str(corpus.path), "--address", address, "--task-memory", "64"]
        line = [sys.executable, "-m", "cento.ray", *words]
        done = subprocess.run(line, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        assert "dashboard" in done.stderr or "of" in done.stderr
    finally:
        server.terminate()
        assert server.wait(60) == 0
