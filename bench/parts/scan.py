"""A scan of real HTML in little memory; and analyses that share results in a scan, compared with the same analyses run separately.

The crawl is Debian's documentation. Run separately, every analysis has its own folder of findings, so nothing is cached:
each reads the texts, and quilts and phrases first find the duplicates that they exclude. A scan finds duplicates once. The
tables must be the same.
"""

import hashlib
import json
import pathlib

from common import CENTO, FOLDER, Failed, added_up, fresh, run
from data import archives
from table import SLOW, listed, seconds

MACHINE = ["--memory", "2G", "--threads", 2]
# The commands for what a scan runs on this crawl, with the parameters that a scan chooses. It leaves out passages, which it
# finds in up to 100 MB of text.
ALONE = [
    ["copies"],
    ["overlap", "--replication"],
    ["overlap", "--servers", "--chunk", "paragraph"],
    ["reuse"],
    ["quilts", "--collapse", "--min-source", "0.02"],
    ["phrases"],
    ["discover", "--stop-proposed", "-o", FOLDER / "scan.labels"],
    ["detect", "--labels", FOLDER / "scan.labels"],
]


def tables_of(findings, analysis):
    """The hashes of the tables of an analysis."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in pathlib.Path(findings).glob(f"{analysis}/*/*.parquet")
        if ".labels" not in path.name
    }


def compare(settings):
    files = archives(settings.small)
    corpus = fresh("scan.cento")
    best = None
    for _ in range(settings.rounds):
        fresh(corpus.name)
        one = run([CENTO, "scan", *files, "-o", corpus, *MACHINE, "--explain"])
        best = min(best or one, one, key=lambda one: one.seconds)
        if one.seconds > SLOW:
            break
    parts = json.loads((corpus / "manifest.json").read_text())["parts"]
    payload = sum(part["counts"]["payload_bytes"] for part in parts)
    rows = [["step", "time", "share"]]
    for line in best.errors.splitlines():
        words = line.split()
        if len(words) == 4 and words[3] == "%":
            rows.append([words[0], f"{words[1]} s", f"{words[2]} %"])
    note = f"{payload / 1e9:.2f} GB of HTML, `{' '.join(map(str, MACHINE))}`: {seconds(best.seconds)}, {best.processor:.1f} s of processor time, {best.anonymous:,.0f} MiB of anonymous memory."
    tables = [listed("scan", rows, "A scan, from archives to the report", note)]

    together, apart = [], []
    for _ in range(settings.rounds):
        fresh("scan.cento/findings")
        together.append(run([CENTO, "scan", corpus, *MACHINE]))
        runs, compared = [], set()
        for verb, *options in ALONE:
            findings = fresh("scan-findings")
            runs.append(run([CENTO, verb, corpus, *options, *MACHINE, "--findings", findings]))
            for analysis in findings.iterdir():
                if not (corpus / "findings" / analysis.name).is_dir():
                    raise Failed(f"{analysis.name} is no part of this scan")
                compared.add(analysis.name)
                if tables_of(findings, analysis.name) != tables_of(corpus / "findings", analysis.name):
                    raise Failed(f"{analysis.name} has other results in a scan")
        apart.append(added_up(*runs))
        missing = {path.name for path in (corpus / "findings").iterdir() if path.is_dir()} - compared
        if missing:
            raise Failed(f"a scan also runs {', '.join(sorted(missing))}")
        if apart[-1].seconds > SLOW:
            break
    least = lambda runs: [min(getattr(one, name) for one in runs) for name in ("seconds", "processor")]
    rows = [["", "time", "processor time"]]
    rows += [[name, *map(seconds, least(runs))] for name, runs in (("one scan, report included", together), ("one by one", apart))]
    rows.append(["ratio", *(f"{one / other:.2f}" for one, other in zip(least(together), least(apart)))])
    tables.append(listed("scan-analyses", rows, "All analyses of a corpus", "The tables are the same, byte for byte."))
    for path in (corpus, FOLDER / "scan-findings", *FOLDER.glob("scan.labels*")):
        fresh(path.name)
    return tables
