"""Corpora for the tests. They are made once for all tests, and copied for those that write to
them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Callable, Iterator, List

import pytest

import cento

#: The program that results are compared with: that of cargo, or the one of the package.
PROGRAM = os.environ.get("CENTO_PROGRAM")

#: How long the set-up, the call or the tear-down of a test may take. A test that waits forever fails
#: after that, and the others run. If it cannot even be interrupted, pytest ends
#: (`faulthandler_timeout` in pyproject.toml).
SECONDS = 1800


@contextmanager
def _bounded(item: pytest.Item, phase: str) -> Iterator[None]:
    expired = False

    def expire(*_: object) -> None:
        nonlocal expired
        expired = True
        raise TimeoutError(f"{item.name}: {phase} took more than {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, expire)
    signal.alarm(SECONDS)
    try:
        yield
    except KeyboardInterrupt:
        # What Ray makes of the exception of any handler of a signal.
        if not expired:
            raise
        raise TimeoutError(f"{item.name}: {phase} took more than {SECONDS} seconds") from None
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    with _bounded(item, "its set-up"):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    with _bounded(item, "it"):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    with _bounded(item, "its tear-down"):
        yield


@pytest.fixture(scope="session")
def program() -> List[str]:
    return [PROGRAM] if PROGRAM else [sys.executable, "-m", "cento"]


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a synthetic crawl of known reuse: `crawl`, and its corpus, `crawl.cento`."""
    folder = tmp_path_factory.mktemp("made")
    cento.run("synth", "-o", folder / "s", "--pages", 250, "--seed", 7, progress=False)
    cento.Corpus.index(folder / "s" / "crawl", folder / "crawl.cento", progress=False)
    return folder


@pytest.fixture(scope="session")
def archives(made: Path) -> Path:
    """A folder with several archives, each of which is a task of an index."""
    folder = made / "archives"
    folder.mkdir()
    for archive in sorted((made / "s" / "crawl").iterdir()):
        for name in ("a", "b", "c"):
            shutil.copy(archive, folder / f"{name}-{archive.name}")
    return folder


@pytest.fixture()
def corpus(made: Path, tmp_path: Path) -> cento.Corpus:
    """A copy of the corpus, without findings."""
    shutil.copytree(made / "crawl.cento", tmp_path / "crawl.cento")
    return cento.Corpus.open(tmp_path / "crawl.cento")


@pytest.fixture(scope="session")
def labels(made: Path) -> Path:
    """Labels of frequent chunks."""
    corpus = cento.Corpus.open(made / "crawl.cento")
    output = made / "frequent.labels"
    corpus.discover(output=output, most_frequent=50, findings=made / "labels", progress=False)
    return output


@pytest.fixture()
def command(program: List[str], tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the program in the folder of the test."""

    def call(*words: object, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        line = [*program, *map(str, words)]
        return subprocess.run(line, cwd=cwd, capture_output=True, text=True, timeout=300)

    return call
