"""cento finds reused text in any corpus, from a folder to a web crawl.

For single texts: :func:`words`, :func:`fingerprints`, :class:`Sketch`, :func:`passages` and
:class:`Detector`. For corpora: :class:`Corpus`, with a method for each analysis, which returns
:class:`Findings` with Arrow tables. :func:`run` runs any other command of the program.

>>> corpus = cento.Corpus.index("pages", "pages.cento", progress=False)
>>> copies = corpus.copies(progress=False)
>>> copies.summary["near"]
1
>>> [row["page"] for row in copies["pairs"].head()]
['pages/late.txt']
"""

from cento._cento import __version__
from cento._command import Output, Progress, run
from cento._corpus import Corpus, Scan
from cento._errors import (
    BugError,
    CorruptedError,
    DamagedInputError,
    Error,
    OutOfSpaceError,
    UnsuitableError,
    UsageError,
)
from cento._findings import Findings, Table
from cento._texts import (
    Detector,
    Estimate,
    Fingerprint,
    LabelMatch,
    Passage,
    Sketch,
    Verdict,
    Word,
    fingerprints,
    passages,
    text_of_html,
    words,
)

__all__ = [
    "BugError",
    "Corpus",
    "CorruptedError",
    "DamagedInputError",
    "Detector",
    "Error",
    "Estimate",
    "Findings",
    "Fingerprint",
    "LabelMatch",
    "OutOfSpaceError",
    "Output",
    "Passage",
    "Progress",
    "Scan",
    "Sketch",
    "Table",
    "UnsuitableError",
    "UsageError",
    "Verdict",
    "Word",
    "__version__",
    "fingerprints",
    "passages",
    "run",
    "text_of_html",
    "words",
]
