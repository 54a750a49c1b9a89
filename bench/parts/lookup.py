"""Random access: the text of one page by its id, in a corpus of several parts."""

import os
import re

from common import CENTO, EXAMPLES, crawl, fresh, run
from table import listed


def compare(settings):
    archives = crawl()
    corpus = fresh("lookup.cento")
    copies, folder = 1 if settings.small else 8, fresh("lookup")
    for copy in range(copies):
        (folder / str(copy)).mkdir(parents=True)
        for path in archives:
            os.link(path, folder / str(copy) / os.path.basename(path))
    run([CENTO, "index", folder, "-o", corpus])
    opened, size, *times = run([EXAMPLES / "lookup", corpus]).output.splitlines()
    fresh(folder.name), fresh(corpus.name)
    size = re.sub(r"\d+", lambda found: f"{int(found[0]):,}", size)
    rows = [["", "median", "95 % within", "99 % within", "slowest"]]
    for line in times:
        what, numbers = line.split(":")
        rows.append([what, *re.findall(r"[\d.]+ ms", numbers)])
    return [listed("lookup", rows, note=f"Debian's documentation, {copies} × in one corpus: {size}. Opening the corpus for the first time: {opened.split(': ')[1]}.")]
