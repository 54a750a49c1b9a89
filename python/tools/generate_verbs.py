#!/usr/bin/env python3
"""Writes the methods of `cento.Corpus` from the definition of the command line.

    python tools/generate_verbs.py            # writes cento/_verbs.py
    python tools/generate_verbs.py --check    # fails if it is not up to date

The file is generated rather than made at run time, so that editors and type checkers know every
keyword, and `help(cento.Corpus.quilts)` is that of the command.
"""

from __future__ import annotations

import difflib
import json
import re
import sys
import textwrap
import types
from pathlib import Path
from typing import Any, Dict, List

FILE = Path(__file__).resolve().parent.parent / "cento" / "_verbs.py"

#: The verbs that are methods of a corpus. All others are called with `cento.run`.
ANALYSES = [
    "copies", "overlap", "reuse", "passages", "quilts", "phrases", "discover", "detect", "dedup",
    "contamination",
]

HEAD = '''"""The analyses of a corpus, as methods.

Generated from the definition of the command line by tools/generate_verbs.py: do not edit.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterable, Literal, Mapping, Optional, Sequence, Union

from cento._command import Progress
from cento._findings import Findings

if TYPE_CHECKING:
    from cento._corpus import Corpus, Scan

StrPath = Union[str, "os.PathLike[str]"]
Value = Union[str, int, float]


class Analyses:
    """The analyses of a corpus. Options that are not given have the defaults of the command."""

    def _find(
        self, verb: str, options: Mapping[str, object], progress: Progress
    ) -> Findings:
        raise NotImplementedError

    def _scan(self, options: Mapping[str, object], progress: Progress) -> Scan:
        raise NotImplementedError

    @classmethod
    def _index(
        cls,
        inputs: Union[StrPath, Iterable[StrPath]],
        output: StrPath,
        options: Mapping[str, object],
        progress: Progress,
    ) -> Corpus:
        raise NotImplementedError
'''

TYPES = {"int": "int", "float": "float", "path": "StrPath", "text": "str", "any": "Value"}


def type_of(option: Dict[str, Any]) -> str:
    """Returns the type of a keyword."""
    if not option["takes_values"]:
        return "bool"
    kind = TYPES[option["kind"]]
    if option["possible"]:
        names = ", ".join(json.dumps(name) for name in option["possible"])
        kind = f"Literal[{names}]"
    if option["many"] or option["repeated"]:
        return f"Union[bool, {kind}, Sequence[{kind}]]" if option["min_values"] == 0 else (
            f"Union[{kind}, Sequence[{kind}]]"
        )
    return f"Union[bool, {kind}]" if option["min_values"] == 0 else kind


def parameter(name: str, option: Dict[str, Any]) -> str:
    kind = type_of(option)
    if option["required"]:
        return f"{name}: {kind},"
    if kind == "bool":
        return f"{name}: bool = False,"
    return f"{name}: Optional[{kind}] = None,"


def described(text: str, indent: str, hanging: str = "") -> List[str]:
    # Help says `--min-pages`; here that is the keyword `min_pages`.
    text = re.sub(r"--([a-z][a-z-]*)", lambda found: f"``{found[1].replace('-', '_')}``", text)
    text = text.replace("\\", "\\\\")
    return textwrap.wrap(
        text, 100, initial_indent=indent, subsequent_indent=indent + hanging,
        break_long_words=False, break_on_hyphens=False,
    )


def docstring(verb: Dict[str, Any], options: Dict[str, Dict[str, Any]], intro: str) -> List[str]:
    paragraphs = (verb["long_about"] or verb["about"] or "").split("\n\n")
    lines = [f'        """{paragraphs[0].strip()}.', ""]
    for paragraph in [*paragraphs[1:], intro]:
        if paragraph.strip():
            lines += [*described(" ".join(paragraph.split()), " " * 8), ""]
    lines.append("        Keywords:")
    for name, option in options.items():
        text = f"``{name}``: {' '.join((option['help'] or '').split())}"
        if option["defaults"] and option["takes_values"]:
            text += f" [default: {', '.join(option['defaults'])}]"
        lines += described(text, " " * 10, "  ")
    lines += described(
        "``progress``: True to show it as the command line does, False for none, or a function of"
        " how much is done, how much there is, and a line of text", " " * 10, "  ",
    )
    lines.append('        """')
    return lines


def options_of(verb: Dict[str, Any], leave_out: List[str]) -> Dict[str, Dict[str, Any]]:
    from cento._words import keyword

    found = [option for option in verb["options"] if option["long"] and not option["hidden"]]
    found.sort(key=lambda option: not option["required"])
    return {keyword(option): option for option in found if option["id"] not in leave_out}


def call(options: Dict[str, Dict[str, Any]]) -> List[str]:
    lines = ["        options: Mapping[str, Any] = {"]
    lines += [f'            "{name}": {name},' for name in options]
    return [*lines, "        }"]


def method(verb: Dict[str, Any]) -> List[str]:
    name = verb["name"]
    options = options_of(verb, [])
    intro = f"This is ``cento {name}`` of this corpus."
    lines = ["", f"    def {name}(", "        self,", "        *,"]
    lines += [f"        {parameter(one, option)}" for one, option in options.items()]
    lines += ["        progress: Progress = True,", "    ) -> Findings:"]
    lines += docstring(verb, options, intro)
    lines += call(options)
    return [*lines, f'        return self._find("{name}", options, progress)']


def scan(verb: Dict[str, Any], index: Dict[str, Any]) -> List[str]:
    machine = {"threads", "memory"}
    about_inputs = [one["id"] for one in index["options"] if one["id"] not in machine]
    options = options_of(verb, about_inputs)
    # `again` means the analyses here, and inputs there.
    again = {name: one for name, one in options_of(verb, []).items() if name == "again"}
    options.update(again)
    lines = ["", "    def scan(", "        self,", "        *,"]
    lines += [f"        {parameter(one, option)}" for one, option in options.items()]
    lines += ["        progress: Progress = True,", "    ) -> Scan:"]
    lines += docstring(verb, options, "This is ``cento scan`` of this corpus.")
    lines += call(options)
    return [*lines, "        return self._scan(options, progress)"]


def index(verb: Dict[str, Any]) -> List[str]:
    options = options_of(verb, ["output"])
    intro = "``inputs`` is a file, a folder, a pattern or a URL, or several of them."
    lines = ["", "    @classmethod", "    def index(", "        cls,"]
    lines += ["        inputs: Union[StrPath, Iterable[StrPath]],", "        output: StrPath,"]
    lines += ["        *,"]
    lines += [f"        {parameter(one, option)}" for one, option in options.items()]
    lines += ["        progress: Progress = True,", "    ) -> Corpus:"]
    lines += docstring(verb, options, intro)
    lines += call(options)
    return [*lines, "        return cls._index(inputs, output, options, progress)"]


def generated() -> str:
    from cento._words import verbs

    known = verbs()
    lines = HEAD.splitlines()
    lines += index(known["index"])
    for name in ANALYSES:
        lines += method(known[name])
    lines += scan(known["scan"], known["index"])
    return "\n".join(lines) + "\n"


def main() -> int:
    # The package without its __init__.py: a missing or older _verbs.py must not matter.
    package = types.ModuleType("cento")
    package.__path__ = [str(FILE.parent)]
    sys.modules["cento"] = package
    text = generated()
    before = FILE.read_text() if FILE.exists() else ""
    if "--check" not in sys.argv[1:]:
        FILE.write_text(text)
        return 0
    changes = list(difflib.unified_diff(before.splitlines(), text.splitlines(), lineterm=""))
    print("\n".join(changes))
    if changes:
        print("error: cento/_verbs.py is not up to date\nhint: run tools/generate_verbs.py")
    return 1 if changes else 0


if __name__ == "__main__":
    sys.exit(main())
