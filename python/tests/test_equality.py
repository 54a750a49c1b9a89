"""The package and the program have the same results: tables, texts, labels and errors."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any, Dict, List

import pytest

import cento
from support import timeless

#: For each analysis, keywords and the same options as words. `LABELS` stands for a file of labels.
CALLS: List[Any] = [
    ("copies", {}, []),
    ("copies", {"resemblance": 0.6, "keep": "first"}, ["--resemblance", "0.6", "--keep", "first"]),
    ("overlap", {}, []),
    ("overlap", {"servers": True}, ["--servers"]),
    ("overlap", {"servers": "domain"}, ["--servers=domain"]),
    ("overlap", {"replication": True}, ["--replication"]),
    ("reuse", {}, []),
    ("reuse", {"scheme": "dct"}, ["--scheme", "dct"]),
    ("passages", {}, []),
    ("passages", {"clusters": True}, ["--clusters"]),
    ("quilts", {}, []),
    ("quilts", {"k": 4, "collapse": True}, ["-k", "4", "--collapse"]),
    ("quilts", {"sweep": ["k=4,5", "theta=0.2,0.5"]}, ["--sweep=k=4,5", "--sweep=theta=0.2,0.5"]),
    ("phrases", {}, []),
    ("phrases", {"cover_pages": "all", "exact": True}, ["--cover-pages", "all", "--exact"]),
    ("discover", {"output": "a.labels", "most_frequent": 40}, ["-o", "a.labels", "--most-frequent", "40"]),
    ("detect", {"labels": "LABELS"}, ["--labels", "LABELS"]),
]


def content(folder: Path) -> Dict[str, bytes]:
    """The tables and label files below a folder."""
    files = [*folder.rglob("*.parquet"), *folder.rglob("*.labels")]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


@pytest.mark.parametrize(("verb", "keywords", "words"), CALLS)
def test_every_analysis_has_the_tables_and_the_text_of_the_program(
    verb: str,
    keywords: Dict[str, Any],
    words: List[str],
    corpus: cento.Corpus,
    labels: Path,
    command: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keywords = {name: labels if value == "LABELS" else value for name, value in keywords.items()}
    words = [str(labels) if word == "LABELS" else word for word in words]
    # A corpus in Python has an absolute path, so the program gets one as well, of the same length.
    there = tmp_path / "prog"
    there.mkdir()
    shutil.copytree(corpus.path, there / "crawl.cento")
    here = tmp_path / "pack"
    here.mkdir()
    corpus.path.rename(here / "crawl.cento")
    monkeypatch.chdir(here)
    found = getattr(cento.Corpus.open("crawl.cento"), verb)(**keywords, progress=False)
    done = command(verb, there / "crawl.cento", *words, cwd=there)
    assert done.returncode == 0, done.stderr
    assert timeless(found.text).replace(str(here), str(there)) == timeless(done.stdout)
    # On a slow machine, the program also prints its progress, which ends with the time.
    said = [line for line in done.stderr.splitlines() if not re.search(r"  \d+:\d\d( +[\d:]+ left)?$", line)]
    assert [note.replace(str(here), str(there)) for note in found.notes] == said
    assert content(here) == content(there)
    assert found.main.paths[0].exists() and not found.cached
    again = getattr(cento.Corpus.open("crawl.cento"), verb)(**keywords, progress=False)
    assert again.cached and again.summary == found.summary


def test_an_index_is_that_of_the_program(made: Path, command: Any, tmp_path: Path) -> None:
    crawl = made / "s" / "crawl"
    corpus = cento.Corpus.index(
        crawl, tmp_path / "here.cento", chunk="sentences:2", no_text=True, progress=False
    )
    done = command("index", crawl, "-o", "there.cento", "--chunk", "sentences:2", "--no-text")
    assert done.returncode == 0, done.stderr
    assert content(corpus.path) == content(tmp_path / "there.cento")
    assert "text" not in corpus.tables


def test_a_scan_is_that_of_the_program(corpus: cento.Corpus, command: Any, tmp_path: Path) -> None:
    there = tmp_path / "there.cento"
    shutil.copytree(corpus.path, there)
    scan = corpus.scan(only=["copies", "quilts"], progress=False)
    done = command("scan", there, "--only=copies", "--only=quilts")
    assert done.returncode == 0, done.stderr
    assert content(corpus.path) == content(there)
    assert {"copies", "quilts"} <= set(scan.findings)
    name = str(corpus.path)
    assert scan.text.replace(name, "X") == done.stdout.replace(str(there), "X")
    report = scan.report.read_text().replace(name, "X")
    assert report == (there / "report.html").read_text().replace(str(there), "X")


@pytest.mark.parametrize(
    ("verb", "keywords", "words"),
    [
        ("quilts", {"theta": 7.0}, ["--theta", "7"]),
        ("quilts", {"foreign": "planet"}, ["--foreign", "planet"]),
        ("copies", {"resemblance": "much"}, ["--resemblance", "much"]),
        ("phrases", {"cover_pages": 0, "candidates": 5}, ["--cover-pages=0", "--candidates=5"]),
        ("overlap", {"threads": 0}, ["--threads", "0"]),
        ("copies", {"out": "a.txt"}, ["--out", "a.txt"]),
    ],
)
def test_an_error_is_that_of_the_program(
    verb: str, keywords: Dict[str, Any], words: List[str], corpus: cento.Corpus, command: Any
) -> None:
    with pytest.raises(ValueError) as raised:
        getattr(corpus, verb)(**keywords, progress=False)
    assert isinstance(raised.value, cento.UsageError)
    done = command(verb, corpus.path, *words)
    assert done.returncode == 2
    # The program may write `--theta <THETA>=7` where the call has `--theta=7.0`.
    first = raised.value.message.splitlines()[0].replace("7.0", "7")
    assert done.stderr.startswith(f"error: {first}")
    if raised.value.hint is not None:
        assert f"hint: {raised.value.hint}" in done.stderr


def test_an_unknown_keyword_is_a_type_error(corpus: cento.Corpus) -> None:
    with pytest.raises(TypeError):
        corpus.quilts(tetha=0.5)  # type: ignore[call-arg]


def test_a_corrupted_corpus_is_an_error_of_its_own(corpus: cento.Corpus, command: Any) -> None:
    part = corpus.pages.paths[0]
    part.write_bytes(part.read_bytes()[:-40])
    with pytest.raises(cento.CorruptedError):
        corpus.copies(progress=False)
    with pytest.raises(cento.CorruptedError):
        cento.Corpus.open(corpus.path)
    assert command("copies", corpus.path).returncode == 4


def test_a_missing_corpus_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(cento.UsageError):
        cento.Corpus.open(tmp_path / "no.cento")


def test_damaged_input_is_an_error_if_it_is_strict(tmp_path: Path) -> None:
    lines = tmp_path / "pages.jsonl"
    lines.write_text('{"text": "A page that can be read."}\n{"text": \n')
    with pytest.raises(cento.DamagedInputError):
        cento.Corpus.index(lines, tmp_path / "a.cento", strict=True, progress=False)
    assert len(cento.Corpus.open(tmp_path / "a.cento")) == 1


def test_the_script_of_the_package_is_the_program() -> None:
    """The script `cento` calls the function that the project file names; installed or not."""
    import re
    import subprocess
    import sys

    project = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r'^cento = "([a-z_.]+):([a-z_]+)"$', project, re.MULTILINE)
    assert found is not None
    script = f"import sys; from {found[1]} import {found[2]}; sys.exit({found[2]}())"
    program = [sys.executable, "-c", script]
    done = subprocess.run([*program, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"cento {cento.__version__}\n"
    done = subprocess.run([*program, "quilts", "no.cento"], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith("error: ")
