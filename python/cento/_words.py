"""Keyword arguments as the words of a command line.

The command line is the only definition of an analysis: its options, their defaults, and which of
them combine. A call becomes words, and the program parses them. So a call and a command with the
same options mean the same, and fail with the same message.
"""

from __future__ import annotations

import json
import os
from functools import lru_cache
from typing import Any, Dict, List, Mapping, Sequence

from cento import _cento

#: Names that Python reserves: ``from_=`` stands for ``--from``.
RESERVED = ("from", "in", "is", "not", "with", "as", "if", "or", "and", "for")


@lru_cache(maxsize=None)
def verbs() -> Dict[str, Any]:
    """Returns the definition of each verb; that of ``labels merge`` under this name."""
    found: Dict[str, Any] = {}

    def add(before: str, definitions: Sequence[Any]) -> None:
        for verb in definitions:
            name = before + verb["name"]
            found[name] = verb
            add(name + " ", verb["verbs"])

    add("", json.loads(_cento.definition()))
    return found


def keyword(option: Mapping[str, Any]) -> str:
    """Returns the keyword of an option: its long name, with underscores."""
    name = str(option["long"]).replace("-", "_")
    return name + "_" if name in RESERVED else name


def word(value: object) -> str:
    """Returns a value as one word: text, numbers and paths."""
    if isinstance(value, bool):
        raise TypeError("expected a value, not a bool")
    if isinstance(value, (str, int, float)):
        return str(value)
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    raise TypeError(f"expected text, a number or a path, not {type(value).__name__}")


def _values(value: object) -> List[str]:
    if isinstance(value, (list, tuple, set, frozenset)):
        return [word(one) for one in value]
    return [word(value)]


def _option(option: Mapping[str, Any], value: object) -> List[str]:
    name = f"--{option['long']}"
    if value is False and "no" in option["possible"]:
        return [f"{name}=no"]
    if value is None or value is False:
        return []
    if value is True:
        if not option["takes_values"] or option["min_values"] == 0:
            return [name]
        raise TypeError(f"{keyword(option)}: expected a value, not True")
    if not option["takes_values"]:
        raise TypeError(f"{keyword(option)}: expected True or False, not {value!r}")
    try:
        words = _values(value)
    except TypeError as error:
        raise TypeError(f"{keyword(option)}: {error}") from None
    if option["many"]:
        # One option with all values. A value that looks like an option is attached to a name.
        return [name, *words] if not any(one.startswith("-") for one in words) else [
            f"{name}={one}" for one in words
        ]
    if option["repeated"]:
        return [f"{name}={one}" for one in words]
    # Several values of an option that takes one, such as ``only="copies,quilts"``.
    return [f"{name}={','.join(words)}"]


def words_of(verb: str, inputs: Sequence[object], options: Mapping[str, object]) -> List[str]:
    """Returns the words of a verb with its inputs and options.

    >>> words_of("quilts", ["pages.cento"], {"k": 4, "collapse": True, "out": None})
    ['quilts', 'pages.cento', '--k=4', '--collapse']
    """
    known = {keyword(option): option for option in verbs()[verb]["options"] if option["long"]}
    result = verb.split(" ")
    for value in inputs:
        path = word(value)
        # An input is never an option; `-` alone is standard input.
        result.append("./" + path if path.startswith("-") and path != "-" else path)
    for name, value in options.items():
        option = known.get(name)
        if option is None:
            raise TypeError(f"cento {verb} has no option {name!r}")
        result.extend(_option(option, value))
    return result
