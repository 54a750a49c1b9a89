"""Physical limits of the machine: hashing, decompression, memory and disk, on one core."""

import json

from common import FOLDER, HERE, python_of, run
from data import archives, rfcs


def limits(settings):
    """Megabytes a second, by name."""
    program = [python_of("venv"), HERE / "peers/limits.py", rfcs(), archives(True)[0], FOLDER / "limits", 64 if settings.small else 512]
    best = {}
    for _ in range(settings.rounds):
        for name, rate in json.loads(run(program).output).items():
            best[name] = max(rate, best.get(name, 0))
    return best


def compare(settings):
    rows = [{"name": name, "rate": round(rate)} for name, rate in limits(settings).items()]
    for row in rows:
        print(f"  {row['name']:<60}{row['rate']:>8,} MB/s", flush=True)
    note = "What the machine can do at best, on one core, measured from Python by libraries in C and Rust; megabytes of unpacked data a second."
    return [{"name": "limits", "title": "Limits of the machine", "note": note, "rates": rows, "rows": []}]
