"""Many labels, as many as the paper made from Wikipedia: the time to open them, and their memory. (How fast text becomes a verdict is measured by `bench/compare detect`.)"""

import re

from common import EXAMPLES, fresh, run
from table import listed

MANY = 75_000_000


def compare(settings):
    labels = fresh("many.labels")
    made = run([EXAMPLES / "detect_speed", "make", labels, MANY // 75 if settings.small else MANY]).output
    said = run([EXAMPLES / "detect_speed", "open", labels]).output
    found = re.search(
        r"(?P<labels>\d+) labels: opened in (?P<opened>[\d.]+ ms) with (?P<opened_memory>\d+ KiB); a million lookups in (?P<lookups>[\d.]+ s), .*; "
        r"verified in (?P<verified>[\d.]+ s); at most (?P<resident>\d+) MiB resident, (?P<anonymous>\d+) MiB of them anonymous", said,
    )  # fmt: skip
    rows = [
        ["labels", f"{int(found['labels']):,}"],
        ["file", f"{labels.stat().st_size / 1e9:.2f} GB"],
        ["writing it", re.search(r"made in ([\d.]+ s)", made)[1]],
        ["opening it", f"{found['opened']}, {found['opened_memory']}"],
        ["a million lookups, half of them of labels", found["lookups"]],
        ["reading all of it, to verify its checksum", found["verified"]],
        ["most memory, after all of this", f"{int(found['resident']):,} MiB of the file, mapped; {found['anonymous']} MiB anonymous"],
    ]
    labels.unlink()
    return [listed("labels", [["", "one thread"], *rows])]
