"""What the tests on Ray clusters share."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict

#: Enough for these corpora; the default is for large ones.
MEMORY = "--memory=256M"

CALLS = [
    ("copies", []),
    ("overlap", []),
    ("overlap", ["--replication"]),
    ("reuse", []),
    ("quilts", ["--collapse"]),
    ("phrases", []),
    ("passages", []),
    ("detect", ["--labels", "LABELS"]),
    ("discover", ["--most-frequent", "50", "-o", "OUTPUT"]),
]


def settings(**values: Any) -> Any:
    from cento.ray import ClusterSettings

    return ClusterSettings(**{"task_memory": 64 << 20, "groups": 4, **values})


def tables(folder: Path) -> Dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*.parquet")}


def findings_of(corpus: Path) -> Dict[str, bytes]:
    return tables(corpus / "findings")
