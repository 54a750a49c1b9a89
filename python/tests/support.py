"""Helpers of the tests."""

from __future__ import annotations

import re


def timeless(text: str) -> str:
    """A summary without how long it took."""
    return re.sub(r"(?m)^(  seconds +)\d.*$", r"\1", text)
