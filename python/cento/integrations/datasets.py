"""A function for the Hugging Face library ``datasets``.

::

    find = FindLabels("boilerplate.labels", column="text")
    tagged = dataset.map(find, batched=True, num_proc=8)
    kept = tagged.filter(lambda row: not row["cento_copied"])
"""

from __future__ import annotations

import os
from typing import Any, Dict, List, Mapping, Sequence

import cento


class FindLabels:
    """Adds the columns ``cento_chunks``, ``cento_matched``, ``cento_contains`` and ``cento_copied``
    (at least the share ``threshold`` of the chunks are labels) to a batch of rows.

    For ``Dataset.map(…, batched=True)``. The library caches results by the content of the function:
    this one has the size and the time of the label file in it, so that other labels are not
    mistaken for the same ones.
    """

    def __init__(self, labels: str, column: str = "text", threshold: float = 0.5) -> None:
        self.detector = cento.Detector(labels)
        self.column = column
        self.threshold = threshold
        about = os.stat(labels)
        self.version = (about.st_size, about.st_mtime_ns)

    def __call__(self, batch: Mapping[str, Sequence[Any]]) -> Dict[str, List[Any]]:
        verdicts = [self.detector.check(text or "") for text in batch[self.column]]
        shares = [verdict.contains for verdict in verdicts]
        return {
            "cento_chunks": [verdict.chunks for verdict in verdicts],
            "cento_matched": [verdict.matched for verdict in verdicts],
            "cento_contains": shares,
            "cento_copied": [share is not None and share >= self.threshold for share in shares],
        }
