"""Corpora."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Optional, Union

from cento import _cento, _html
from cento._command import Progress, find, run_verb
from cento._findings import Findings, Table
from cento._verbs import Analyses
from cento._words import verbs

__all__ = ["Corpus", "Scan"]

StrPath = Union[str, "os.PathLike[str]"]


@dataclass
class Scan:
    """The result of a scan."""

    #: What the command line prints.
    text: str
    #: The report, an HTML file.
    report: Path
    #: The findings by analysis.
    findings: Dict[str, Findings]
    #: What the command line prints to standard error.
    notes: List[str] = field(default_factory=list)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        summaries = (
            _html.mapping(f"cento {name}", found.summary) for name, found in self.findings.items()
        )
        return _html.mapping("cento scan", {"report": str(self.report)}) + "".join(summaries)


class Corpus(Analyses):
    """A corpus: pages, their texts and their chunks, as ``cento index`` makes it.

    Each analysis is a method with the options of the command as keywords:
    ``corpus.quilts(k=5, theta=0.3)`` is ``cento quilts CORPUS -k 5 --theta 0.3``.

    Counts and tables are those of the moment when it was opened. If the corpus is then replaced,
    reading its tables is an error; if pages are added, open it again to see them.
    """

    def __init__(self, path: StrPath, *, partial: bool = False) -> None:
        opened = _cento.open_corpus(path, partial)
        summary = json.loads(opened["summary"])
        #: The folder. It is absolute: the process may change its own.
        self.path: Path = Path(os.path.abspath(path))
        #: The number of pages, words and chunks, and why pages were rejected.
        self.counts: Dict[str, Any] = summary["counts"]
        #: The parameters that it was made with.
        self.parameters: Dict[str, Any] = summary["parameters"]
        #: Whether the last run of ``cento index`` was completed.
        self.complete: bool = summary["complete"]
        #: Its tables: ``pages``, ``text`` (unless it was made with ``no_text=True``) and
        #: ``chunks``.
        self.tables: Mapping[str, Table] = {
            name: Table(table) for name, table in opened["tables"].items()
        }

    @classmethod
    def open(cls, path: StrPath, *, partial: bool = False) -> Corpus:
        """Opens a corpus. One whose last index was interrupted is refused, unless ``partial``."""
        return cls(path, partial=partial)

    @classmethod
    def _index(
        cls,
        inputs: Union[StrPath, Iterable[StrPath]],
        output: StrPath,
        options: Mapping[str, object],
        progress: Progress,
    ) -> Corpus:
        if isinstance(inputs, (bytes, bytearray)):
            raise TypeError("expected a path or several, not bytes")
        names = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
        run_verb("index", names, {"output": output, **options}, progress)
        return cls(output)

    @property
    def pages(self) -> Table:
        """The table of pages."""
        return self.tables["pages"]

    def __len__(self) -> int:
        """The number of pages, with rejected ones."""
        return len(self.pages)

    def _find(
        self, verb: str, options: Mapping[str, object], progress: Progress
    ) -> Findings:
        return find(verb, [self.path], self._partial(verb, options), progress)

    def _partial(self, verb: str, options: Mapping[str, object]) -> Mapping[str, object]:
        """Passes on that the corpus was opened although its last index was interrupted."""
        known = any(option["long"] == "partial" for option in verbs()[verb]["options"])
        return options if self.complete or not known else {**options, "partial": True}

    def _scan(self, options: Mapping[str, object], progress: Progress) -> Scan:
        output = run_verb("scan", [self.path], self._partial("scan", options), progress)
        report: Optional[Any] = options.get("report")
        return Scan(
            text=output.text,
            report=self.path / "report.html" if report is None else Path(report),
            findings={found.analysis: found for found in output.findings},
            notes=output.notes,
        )

    def __reduce__(self) -> Any:
        return _open, (self.path, not self.complete)

    def __repr__(self) -> str:
        return f"<cento.Corpus {str(self.path)!r}, {self.counts['pages']:,} pages>"

    def _repr_html_(self) -> str:
        return _html.mapping(f"cento corpus {self.path}", self.counts) + self.pages._repr_html_()


def _open(path: StrPath, partial: bool) -> Corpus:
    return Corpus(path, partial=partial)
