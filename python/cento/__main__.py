"""``python -m cento`` is the program ``cento``."""

from cento._main import main

main()
