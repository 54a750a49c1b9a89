"""A Scrapy item pipeline that drops or tags copied pages.

In ``settings.py``::

    ITEM_PIPELINES = {"cento.integrations.scrapy.CopiedPages": 300}
    CENTO_LABELS = "wikipedia.labels"    # made by `cento discover`
    CENTO_FIELD = "html"                 # the field with the page [default: text]
    CENTO_HTML = True                    # whether it is HTML [default: False]
    CENTO_THRESHOLD = 0.5                # drop pages with at least this share of labels [default]
    CENTO_ACTION = "drop"                # or "tag": keep all, with a field `cento` [default: drop]

The field is a string, such as ``response.text``. A tag is a dict with the fields of
:class:`cento.Verdict` except the places of the labels; a class of items needs a field ``cento`` for
it. An item without the field, with anything but a string in it, or with nothing but boilerplate is
kept. The numbers of pages that were checked, that were copied, and of items without such a string
are in Scrapy's statistics, as ``cento/checked``, ``cento/copied`` and ``cento/unchecked``.
"""

from __future__ import annotations

from typing import Any, Dict, Optional

from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem, NotConfigured

import cento
from cento.integrations._threshold import Threshold


class CopiedPages:
    """Drops or tags items whose page consists of labelled chunks."""

    def __init__(
        self,
        labels: str,
        field: str = "text",
        html: bool = False,
        threshold: float = 0.5,
        action: str = "drop",
        stats: Optional[Any] = None,
    ) -> None:
        if action not in ("drop", "tag"):
            raise NotConfigured(f"CENTO_ACTION: expected drop or tag, not {action!r}")
        self.detector = cento.Detector(labels)
        self.field = field
        self.html = html
        try:
            self.threshold = Threshold(threshold)
        except cento.UsageError as error:
            raise NotConfigured(f"CENTO_THRESHOLD: {error}") from None
        self.action = action
        self.stats = stats

    @classmethod
    def from_crawler(cls, crawler: Any) -> CopiedPages:
        """Makes the pipeline from the settings of a crawler."""
        settings = crawler.settings
        labels = settings.get("CENTO_LABELS")
        if not labels:
            raise NotConfigured("CENTO_LABELS is not set")
        return cls(
            labels,
            field=settings.get("CENTO_FIELD", "text"),
            html=settings.getbool("CENTO_HTML", False),
            threshold=settings.getfloat("CENTO_THRESHOLD", 0.5),
            action=settings.get("CENTO_ACTION", "drop"),
            stats=crawler.stats,
        )

    def process_item(self, item: Any, spider: Optional[Any] = None) -> Any:
        """Drops the item, tags it, or returns it unchanged."""
        adapter = ItemAdapter(item)
        page = adapter.get(self.field)
        if not isinstance(page, str):
            # Such as `response.body`, whose character set only the response knows.
            self._count("cento/unchecked")
            return item
        verdict = self.detector.check(page, html=self.html)
        self._count("cento/checked")
        copied = self.threshold.reached_by(verdict.contains)
        if copied:
            self._count("cento/copied")
        if self.action == "tag":
            tag: Dict[str, Any] = verdict._asdict()
            del tag["found"]
            try:
                adapter["cento"] = {**tag, "copied": copied}
            except KeyError:
                name = type(item).__name__
                raise KeyError(f"CENTO_ACTION is tag, and {name} has no field `cento`") from None
        elif copied:
            raise DropItem(
                f"{verdict.matched} of {verdict.chunks - verdict.stopped} chunks are labels"
            )
        return item

    def _count(self, name: str) -> None:
        if self.stats is not None:
            self.stats.inc_value(name)
