"""Long calls: other threads run, progress is reported, and Ctrl-C stops them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import List, Tuple

import pytest

import cento


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus whose analyses take seconds."""
    folder = tmp_path_factory.mktemp("large")
    cento.run("synth", "-o", folder / "s", "--pages", 4000, "--seed", 1, progress=False)
    cento.Corpus.index(folder / "s" / "crawl", folder / "large.cento", progress=False)
    return folder / "large.cento"


def test_other_threads_run_during_a_call(large: Path, tmp_path: Path) -> None:
    ticks = 0
    stop = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not stop.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begun = time.monotonic()
    cento.Corpus.open(large).phrases(threads=1, findings=tmp_path, progress=False)
    seconds = time.monotonic() - begun
    stop.set()
    thread.join()
    # With the GIL held, there would be at most one tick before and one after the call.
    assert ticks > 10 * seconds and ticks > 5


def test_two_calls_run_at_the_same_time(large: Path, tmp_path: Path) -> None:
    outcomes: List[object] = []

    def call(name: str) -> None:
        corpus = cento.Corpus.open(large)
        found = corpus.copies(threads=1, findings=tmp_path / name, again=True, progress=False)
        outcomes.append((found.text.replace(name, "X"), found["pairs"].paths[0].read_bytes()))

    threads = [threading.Thread(target=call, args=(name,)) for name in ["run-1", "run-2"]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 2 and outcomes[0] == outcomes[1]


def test_progress_is_reported_to_a_function(large: Path, tmp_path: Path) -> None:
    seen: List[Tuple[int, int, str]] = []
    here = threading.get_ident()

    def show(done: int, all: int, line: str) -> None:
        assert threading.get_ident() == here
        seen.append((done, all, line))

    cento.Corpus.open(large).quilts(threads=1, findings=tmp_path, progress=show)
    assert seen and all(done <= max(all, done) and line for done, all, line in seen)


def test_an_exception_of_the_function_stops_the_call(large: Path, tmp_path: Path) -> None:
    def refuse(done: int, all: int, line: str) -> None:
        raise RuntimeError("enough")

    corpus = cento.Corpus.open(large)
    with pytest.raises(RuntimeError, match="enough"):
        corpus.quilts(threads=1, findings=tmp_path, progress=refuse)
    assert not list(tmp_path.rglob("run.json")), "it was stopped"
    found = corpus.quilts(threads=1, findings=tmp_path, progress=False)
    whole = corpus.quilts(threads=1, findings=tmp_path / "whole", progress=False)
    for name in found:
        assert found[name].paths[0].read_bytes() == whole[name].paths[0].read_bytes()


def test_the_first_control_c_stops_the_call_and_not_the_process(
    large: Path, tmp_path: Path
) -> None:
    script = f"""
        import cento, signal, sys
        # Where the tests run in the background, SIGINT is ignored, and Python leaves it so.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.alarm(300)  # A call that cannot be interrupted fails the test instead of blocking it.
        corpus = cento.Corpus.open({str(large)!r})
        print("begun", flush=True)
        try:
            while True:
                corpus.quilts(threads=1, again=True, findings={str(tmp_path)!r}, progress=False)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        found = corpus.quilts(threads=1, findings={str(tmp_path)!r}, progress=False)
        print("rows", len(found["quilts"]), flush=True)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    time.sleep(0.4)
    os.kill(process.pid, signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    assert process.stdout.readline().startswith("rows ")
    assert process.wait(timeout=60) == 0
