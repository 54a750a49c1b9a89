"""The examples in docstrings."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import cento

MODULES = ["cento", "cento._command", "cento._errors", "cento._texts", "cento._words"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    sentences = [f"Sentence number {number} tells a story of its own." for number in range(60)]
    (pages / "early.txt").write_text("\n\n".join(sentences))
    (pages / "late.txt").write_text("\n\n".join([*sentences, "One more sentence was added."]))
    (pages / "other.txt").write_text("Something else entirely, about the weather in the north.")
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    outcome = doctest.testmod(module, extraglobs={"cento": cento})
    assert outcome.attempted > 0 and outcome.failed == 0


def test_every_public_name_has_a_docstring() -> None:
    for name in cento.__all__:
        value = getattr(cento, name)
        assert name == "__version__" or name == "Progress" or value.__doc__, name
    for name in dir(cento.Corpus):
        if not name.startswith("_"):
            value = getattr(cento.Corpus, name)
            assert getattr(value, "__doc__", "x"), name
