#!/usr/bin/env python3
"""Runs the commands in docs/GUIDE.md and replaces their output with what the binary prints.

    docs/update_guide.py target/release/cento            rewrite GUIDE.md
    docs/update_guide.py target/release/cento --check    fail if GUIDE.md is stale

Commands are the lines that start with `$ ` in blocks marked ```console. They run one after the other, in one
temporary folder, where `example` is docs/example. A line `…` shortens the output: as many lines as stand before it are
kept, and after it the output continues at the line that equals the next line of the guide. Times are
not compared by --check. Only the standard library is needed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CUT = "…"


def position(line: str, output: list[str], begin: int) -> int:
    """Where the output has a line, or one that differs in its numbers only."""
    if line in output[begin:]:
        return output.index(line, begin)
    words = re.sub(r"[0-9,]+", "0", line)
    return next(at for at in range(begin, len(output)) if re.sub(r"[0-9,]+", "0", output[at]) == words)


def shorten(output: list[str], shown: list[str], command: str) -> list[str]:
    """Cuts the output in the same places as the lines that the guide shows now."""
    if CUT not in shown:
        return output
    segments: list[list[str]] = [[]]
    for line in shown:
        if line == CUT:
            segments.append([])
        else:
            segments[-1].append(line)
    result, at = [], 0
    for number, segment in enumerate(segments):
        if number > 0:
            result.append(CUT)
        if not segment:
            continue
        if number > 0:
            try:
                at = position(segment[0], output, at)
            except StopIteration:
                raise SystemExit(f"`{command}` does not print this line any more: {segment[0]}") from None
        result += output[at : at + len(segment)]
        at += len(segment)
    return result


def run(command: str, folder: Path, cento: Path) -> list[str]:
    environment = dict(os.environ, PATH=f"{folder}/bin:{os.environ['PATH']}", COLUMNS="100", NO_COLOR="1")
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    if done.returncode != 0:
        raise SystemExit(f"`{command}` failed with status {done.returncode}:\n{done.stderr}")
    return [line.rstrip() for line in done.stdout.splitlines()]


def update(guide: str, folder: Path, cento: Path) -> str:
    lines, result, at = guide.split("\n"), [], 0
    while at < len(lines):
        result.append(lines[at])
        at += 1
        if result[-1] != "```console":
            continue
        while lines[at] != "```":
            command, shown = lines[at], []
            assert command.startswith("$ "), f"not a command: {command}"
            at += 1
            while lines[at] != "```" and not lines[at].startswith("$ "):
                shown.append(lines[at])
                at += 1
            output = run(command[2:].split("    #")[0], folder, cento)
            result += [command, *shorten(output, shown, command)]
    return "\n".join(result)


def comparable(guide: str) -> str:
    return re.sub(r"(?m)^( *seconds ).*$", r"\1", guide)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cento", type=Path, help="the binary")
    parser.add_argument("--check", action="store_true", help="fail if the guide is stale, and do not change it")
    parser.add_argument("--guide", type=Path, default=HERE / "GUIDE.md", help="the file to update")
    arguments = parser.parse_args()
    guide = arguments.guide.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bin").mkdir()
        (folder / "bin/cento").symlink_to(arguments.cento.resolve())
        shutil.copytree(HERE / "example", folder / "example")
        updated = update(guide, folder, arguments.cento)
    if not arguments.check:
        arguments.guide.write_text(updated, encoding="utf-8")
        return 0
    if comparable(updated) == comparable(guide):
        print("GUIDE.md shows what the program prints")
        return 0
    for old, new in zip(comparable(guide).split("\n"), comparable(updated).split("\n")):
        if old != new:
            print(f"GUIDE.md is stale; run docs/update_guide.py\n- {old}\n+ {new}", file=sys.stderr)
            break
    else:
        print("GUIDE.md is stale; run docs/update_guide.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
