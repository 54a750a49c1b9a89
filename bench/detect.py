"""75 million labels, as many as the paper has of Wikipedia: the time to open them, and their memory.

    bench/run detect
    MANY=2000000 bench/run detect

How fast text becomes a verdict, and what detection finds, is measured by `bench/compare detect`.
"""

import os

from common import EXAMPLES, FOLDER, run

MANY = int(os.environ.get("MANY", 75_000_000))


def main():
    labels = FOLDER / "detect-many.labels"
    print(run([EXAMPLES / "detect_speed", "make", labels, MANY]).output.strip())
    print(run([EXAMPLES / "detect_speed", "open", labels]).output.strip())
    print(f"  file {labels.stat().st_size / 1e9:.2f} GB (target: at most 1.6 for 75 million labels)")
    labels.unlink()


main()
