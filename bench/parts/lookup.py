"""Random access: the text of one page by its id, in a corpus of several parts."""

import re

from common import CENTO, EXAMPLES, crawl, fresh, run
from table import listed


def compare(settings):
    archives = crawl()
    corpus = fresh("lookup.cento")
    # Each addition has its own pages and parts.
    copies = 1 if settings.small else 8
    for copy in range(copies):
        run([CENTO, "index", *archives, "-o", corpus, *(["--add"] if copy else [])])
    opened, size, *times = run([EXAMPLES / "lookup", corpus]).output.splitlines()
    fresh("lookup.cento")
    rows = [["", "median", "95 % within", "99 % within", "slowest"]]
    for line in times:
        what, numbers = line.split(":")
        rows.append([what, *re.findall(r"[\d.]+ ms", numbers)])
    return [listed("lookup", rows, note=f"Debian's documentation, {copies} × in one corpus: {size}. Opening the corpus for the first time: {opened.split(': ')[1]}.")]
