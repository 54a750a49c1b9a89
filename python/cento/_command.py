"""Running commands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, List, Mapping, Optional, Sequence, Union

from cento import _cento
from cento._errors import DamagedInputError
from cento._findings import Findings
from cento._words import word, words_of

#: How progress is shown: True as the command line does, on standard error; False not at all; or a
#: function that is called with how much is done, how much there is (0 if unknown), and the line
#: that the command line shows.
Progress = Union[bool, Callable[[int, int, str], object]]

#: Exit status of ``cento index --strict`` if some of the input was damaged.
STRICT = 3


@dataclass
class Output:
    """The output of a command."""

    #: The exit status: 0, or 3 if some input was damaged and ``--strict`` was given, or 1 if the
    #: command says so without an error.
    status: int
    #: What it prints.
    text: str
    #: The lines that it prints to standard error.
    notes: List[str] = field(default_factory=list)
    #: The findings that it computed or found cached.
    findings: List[Findings] = field(default_factory=list)

    def __str__(self) -> str:
        return self.text


def _call(words: Sequence[str], progress: Progress) -> Mapping[str, Any]:
    if callable(progress):
        return _cento.run(list(words), True, progress)
    return _cento.run(list(words), not progress, None)


def run(*words: object, progress: Progress = True) -> Output:
    """Runs any command of the command line: ``cento.run("info", "pages.cento")``.

    Its errors are exceptions. It runs without the GIL, and Ctrl-C cancels it: the first one waits
    until it has stopped at a point where no work is lost, so that the same call resumes.

    >>> cento.run("--version").text
    'cento 0.1.0\\n'
    """
    found = _call([word(one) for one in words], progress)
    findings = [Findings(one) for one in found["findings"]]
    return Output(found["status"], found["text"], found["notes"], findings)


def run_verb(
    verb: str, inputs: Sequence[object], options: Mapping[str, object], progress: Progress
) -> Output:
    """Runs a verb with keyword arguments."""
    found = _call(words_of(verb, inputs, options), progress)
    if found["status"] == STRICT:
        raise DamagedInputError("some of the input was damaged", found["text"].strip())
    findings = [Findings(one) for one in found["findings"]]
    return Output(found["status"], found["text"], found["notes"], findings)


def find(
    verb: str, inputs: Sequence[object], options: Mapping[str, object], progress: Progress
) -> Findings:
    """Runs an analysis with keyword arguments. Its findings are those with the main table, or the
    last ones if it printed something else."""
    found = _call(words_of(verb, inputs, options), progress)
    position: int = len(found["findings"]) - 1
    name: Optional[str] = None
    if found["main"] is not None:
        position, name = found["main"]
    others = [Findings(one) for at, one in enumerate(found["findings"]) if at != position]
    return Findings(
        found["findings"][position],
        main=name,
        text=found["text"],
        notes=found["notes"],
        others=others,
    )
