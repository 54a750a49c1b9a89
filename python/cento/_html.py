"""HTML for notebooks. All text is escaped: names and values come from untrusted pages."""

from __future__ import annotations

from html import escape
from typing import Any, Iterator, List, Mapping, Sequence, Tuple

#: Most characters of a cell, and most rows of a table.
LONGEST = 120
ROWS = 10


def cell(value: object) -> str:
    """Returns a value as escaped text, shortened."""
    text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    if value is None:
        text = ""
    if isinstance(value, float):
        text = _number(value)
    if len(text) > LONGEST:
        text = text[: LONGEST - 1] + "…"
    return escape(text)


def _number(value: float) -> str:
    """Returns four digits, or as many as a share needs that is nearly 1 and not 1."""
    text = f"{value:.4g}"
    return f"{value:.9g}" if text in ("1", "-1") and abs(value) != 1 else text


def _scalars(values: Mapping[str, object], before: str = "") -> Iterator[Tuple[str, object]]:
    """Yields names and values; those of a mapping in the mapping with its name before theirs."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _scalars(value, f"{before}{name}: ")
        elif not isinstance(value, list):
            yield f"{before}{name}", value


def mapping(title: str, values: Mapping[str, object]) -> str:
    """Returns names and values as a table under a title. Lists are left out."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{cell(name)}</th><td>{cell(value)}</td></tr>"
        for name, value in _scalars(values)
    )
    return f"<div><b>{escape(title)}</b><table>{rows}</table></div>"


def rows(title: str, columns: Sequence[str], values: Sequence[Mapping[str, Any]], all: int) -> str:
    """Returns rows as a table under a title, and how many more there are."""
    heading = "".join(f"<th>{cell(column)}</th>" for column in columns)
    lines: List[str] = []
    for row in values:
        cells = "".join(f"<td>{cell(row.get(column))}</td>" for column in columns)
        lines.append(f"<tr>{cells}</tr>")
    more = all - len(values)
    note = f"<p>and {more:,} more {'row' if more == 1 else 'rows'}</p>" if more > 0 else ""
    table = f"<table><thead><tr>{heading}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    return f"<div><b>{escape(title)}</b>{table}{note}</div>"
