"""The share of labels from which on a page is a copy."""

from __future__ import annotations

from typing import Optional

import cento


class Threshold:
    """A share of labels, above 0 and at most 1."""

    def __init__(self, share: float) -> None:
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
            raise cento.UsageError(f"the threshold must be above 0 and at most 1, not {share!r}")
        self.share = share

    def reached_by(self, contains: Optional[float]) -> bool:
        """Whether a page with this share of labels is a copy. One without chunks is none."""
        return contains is not None and contains >= self.share
