"""The program ``cento``."""

from __future__ import annotations

import sys

from cento import _cento


def main() -> None:
    """Runs the program with the words of the process."""
    sys.exit(_cento.main(["cento", *sys.argv[1:]]))
