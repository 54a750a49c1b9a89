"""Exceptions, by whose fault an error is."""

from __future__ import annotations

from typing import Optional


class Error(Exception):
    """Any error of cento. The class itself stands for causes outside the program, such as
    permissions, the network or another process; everything else has a subclass.

    >>> try:
    ...     cento.Corpus.open("no-such.cento")
    ... except cento.Error as error:
    ...     print(error.message)
    no-such.cento does not exist
    """

    #: What is wrong with what, as the command line prints it after ``error:``.
    message: str
    #: What to do about it, or None.
    hint: Optional[str]

    def __init__(self, message: str, hint: Optional[str] = None) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"


class UsageError(Error, ValueError):
    """An argument is wrong, or a corpus or input does not exist: exit status 2."""


class UnsuitableError(Error):
    """The corpus or the input is sound, but not suited to what was requested."""


class CorruptedError(Error):
    """A corpus, findings or labels are corrupted: exit status 4."""


class OutOfSpaceError(Error):
    """A disk or a quota is exhausted: exit status 5."""


class DamagedInputError(Error):
    """``strict=True``, and some of the input was damaged: exit status 3. The corpus exists; it has
    everything else."""


class BugError(Error):
    """A bug in cento: exit status 70."""


#: Exit statuses of the program; 1 for everything else.
_STATUSES = {UsageError: 2, DamagedInputError: 3, CorruptedError: 4, OutOfSpaceError: 5, BugError: 70}


def exit_status(error: Error) -> int:
    """Returns the exit status of the program for an error.

    >>> exit_status(CorruptedError("pages-0.parquet cannot be read"))
    4
    """
    return next((status for kind, status in _STATUSES.items() if isinstance(error, kind)), 1)
