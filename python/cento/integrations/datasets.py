"""A function for the Hugging Face library ``datasets``.

::

    find = FindLabels("boilerplate.labels", column="text")
    tagged = dataset.map(find, batched=True, num_proc=8)
    kept = tagged.filter(lambda row: not row["cento_copied"])
"""

from __future__ import annotations

import math
import os
from typing import Any, Dict, Mapping

import cento
from cento.integrations._threshold import Threshold


class FindLabels:
    """Adds the columns ``cento_chunks``, ``cento_matched``, ``cento_contains`` and ``cento_copied``
    (at least the share ``threshold`` of the chunks are labels) to a row or a batch of rows. The share
    of a text that is empty or has nothing but boilerplate is NaN.

    For ``Dataset.map``, with ``batched=True`` or without; not for ``Dataset.filter``, which takes
    any result but false for true. The library caches results by the content of the function:
    this one has the size and the time of the label file in it, so that other labels are not
    mistaken for the same ones.
    """

    def __init__(self, labels: str, column: str = "text", threshold: float = 0.5) -> None:
        self.detector = cento.Detector(labels)
        self.column = column
        self.threshold = Threshold(threshold)
        about = os.stat(labels)
        self.version = (about.st_size, about.st_mtime_ns)

    def __call__(self, rows: Mapping[str, Any]) -> Dict[str, Any]:
        texts = rows[self.column]
        if texts is None or isinstance(texts, str):
            return self._columns(texts)
        columns = [self._columns(text) for text in texts]
        return {name: [one[name] for one in columns] for name in self._columns("")}

    def _columns(self, text: Any) -> Dict[str, Any]:
        verdict = self.detector.check(text or "")
        return {
            "cento_chunks": verdict.chunks,
            "cento_matched": verdict.matched,
            # A batch without any share would make it a column of nulls.
            "cento_contains": math.nan if verdict.contains is None else verdict.contains,
            "cento_copied": self.threshold.reached_by(verdict.contains),
        }
