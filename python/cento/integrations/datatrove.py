"""A datatrove filter block that removes documents made of labelled chunks.

::

    pipeline = [
        JsonlReader("pages/"),
        LabelFilter("boilerplate.labels", threshold=0.5),
        JsonlWriter("kept/"),
    ]
"""

from __future__ import annotations

from typing import Any, Optional, Tuple, Union

from datatrove.data import Document
from datatrove.pipeline.filters.base_filter import BaseFilter

import cento
from cento.integrations._threshold import Threshold


class LabelFilter(BaseFilter):
    """Removes documents of which at least the share ``threshold`` of the chunks are labels.

    The share is stored in the metadata of each document, as ``cento_contains``. A document with
    nothing but boilerplate has none, and is kept. ``exclusion_writer`` gets the removed documents.
    """

    name = "cento labels"

    def __init__(
        self, labels: str, threshold: float = 0.5, exclusion_writer: Optional[Any] = None
    ) -> None:
        super().__init__(exclusion_writer)
        self.detector = cento.Detector(labels)
        self.threshold = Threshold(threshold)

    def filter(self, doc: Document) -> Union[bool, Tuple[bool, str]]:
        """Returns whether a document is kept, and the reason if it is not."""
        verdict = self.detector.check(doc.text)
        doc.metadata["cento_contains"] = verdict.contains
        if self.threshold.reached_by(verdict.contains):
            return False, "cento_labels"
        return True
