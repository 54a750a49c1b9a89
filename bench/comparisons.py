"""Runs parts of `bench/compare` and `bench/run`, saves their results in bench/results, and writes docs/BENCHMARKS.md, docs/figures and the table of README.md from all saved results.

    bench/compare                    every part that has a peer or a limit to compare with
    bench/run                        every other part
    bench/compare copies quilts      some parts
    bench/compare --small copies     a small sample, in a minute: results are printed, and not saved
    bench/compare --render           writes the documents from the saved results, without measuring

A part is a module of bench/parts. Part names are unique, and both commands run any of them.
"""

import argparse
import datetime
import importlib
import importlib.metadata
import json
import os
import pathlib
import platform
import subprocess
import time

import render
from common import CENTO, HERE, Failed, NoData, python_of

# In this order: what the README shows comes first, should a run be interrupted.
COMPARED = ["extract", "copies", "grams", "quilts", "detect", "read", "overlap", "reuse", "passages", "limits", "profile", "growth"]
OTHERS = ["lookup", "query", "labels", "watch", "serve", "scan", "versions", "print", "alignment", "content"]
PARTS = COMPARED + OTHERS
# The packages of which a part uses a version worth recording.
PEERS = {
    "limits": ["xxhash", "blake3", "zstandard", "zlib-ng", "isal", "deflate", "numpy"],
    "read": ["FastWARC", "warcio", "zlib-ng", "isal"],
    "extract": ["FastWARC", "Resiliparse", "selectolax", "trafilatura"],
    "copies": ["gaoya", "rensa", "datasketch", "text-dedup", "datatrove"],
    "grams": ["duckdb", "polars"],
    "overlap": ["duckdb", "polars"],
    "quilts": ["numpy", "orjson", "duckdb", "polars"],
    "reuse": ["numpy", "orjson", "duckdb", "polars"],
    "passages": ["RapidFuzz"],
    "profile": ["deflate", "zstandard", "numpy"],
    "print": ["rensa", "datasketch"],
    "content": ["trafilatura", "Resiliparse", "readability-lxml", "lightgbm", "catboost"],
}


def said(*command):
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True, cwd=HERE).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def machine():
    facts = dict(line.split(":", 1) for line in open("/proc/cpuinfo").read().split("\n\n")[0].splitlines() if ":" in line)
    facts = {name.strip(): value.strip() for name, value in facts.items()}
    memory = next(int(line.split()[1]) for line in open("/proc/meminfo") if line.startswith("MemTotal"))
    return {
        "processor": facts.get("model name", platform.machine()),
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**20, 1),
        "kernel": platform.release(),
    }


def versions(part):
    found = {
        # What bench/compare has built; it is not what the clone has now, if a commit was made during the run.
        "cento": said(str(CENTO), "--version").removeprefix("cento ") + " " + os.environ.get("CENTO_COMMIT", "of unknown commit"),
        "rustc": said("rustc", "--version").split(" ")[1],
        "Python": platform.python_version(),
    }
    for peer in PEERS.get(part, []):
        environment = {"text-dedup": "venv-text-dedup", "datatrove": "venv-datatrove"}.get(peer, "venv")
        program = f"import importlib.metadata as m; print(m.version({peer!r}))"
        found[peer] = said(str(python_of(environment)), "-c", program)
    return found


def main():
    parser = argparse.ArgumentParser(prog="bench/compare", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one of {', '.join(PARTS)}; without any, {', '.join(COMPARED)}")
    parser.add_argument("--others", action="store_true", help=f"without a PART: {', '.join(OTHERS)}")
    parser.add_argument("--small", action="store_true", help="compare on small samples, and save nothing")
    parser.add_argument("--rounds", type=int, default=2, help="how often each program runs (default: 2; slow ones run once)")
    parser.add_argument("--render", action="store_true", help="only write the documents, from saved results")
    parser.add_argument("--output", type=pathlib.Path, default=HERE.parent, help="the folder of README.md and docs/ (default: that of the clone)")
    arguments = parser.parse_args()
    unknown = [part for part in arguments.parts if part not in PARTS]
    if unknown:
        parser.error(f"unknown part: {unknown[0]}; there are {', '.join(PARTS)}")
    if arguments.small:
        arguments.rounds = min(arguments.rounds, 1)
    failed = []
    for part in [] if arguments.render else arguments.parts or (OTHERS if arguments.others else COMPARED):
        print(f"\n== {part}", flush=True)
        begun, load = time.time(), os.getloadavg()[0]
        try:
            tables = importlib.import_module(f"parts.{part}").compare(arguments)
        except NoData as missing:
            print(f"  not measured: {missing}; the saved result, if any, is kept", flush=True)
            continue
        except (Failed, subprocess.SubprocessError) as failure:
            # A peer that fails is a row of its table. This is cento, or the data.
            print(f"  FAILED: {failure}", flush=True)
            failed.append(part)
            continue
        result = {
            "part": part,
            "command": "bench/compare" if part in COMPARED else "bench/run",
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
            "took": round(time.time() - begun),
            "rounds": arguments.rounds,
            "load": round(load, 1),
            "machine": machine(),
            "versions": versions(part),
            "tables": tables,
        }
        print(f"  took {result['took']} s", flush=True)
        if not arguments.small:
            (HERE / f"results/{part}.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    if not arguments.small:
        render.write(HERE / "results", arguments.output, PARTS)
    if failed:
        raise SystemExit(f"error: failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
