"""What the benches share."""

import os
import pathlib
import resource
import shutil
import subprocess
import sys
import time

FOLDER = pathlib.Path(os.environ.get("CENTO_BENCH", pathlib.Path.home() / ".cache/cento/bench"))
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", pathlib.Path.home() / ".cache/cento/target"))
CENTO = TARGET / "release/cento"
HERE = pathlib.Path(__file__).parent


def crawl():
    """The archives of the crawl of Debian's documentation, made if need be."""
    subprocess.run([sys.executable, HERE / "make_crawl.py", FOLDER], check=True)
    return sorted(str(path) for path in (FOLDER / "crawl").glob("*.warc.gz"))


def fresh(name):
    """A path in the bench folder at which nothing is."""
    path = FOLDER / name
    shutil.rmtree(path, ignore_errors=True)
    return path


def measure(command):
    """Runs a command; its output, its seconds, and the most memory it had resident, in MiB."""
    begun = time.time()
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.time() - begun
    if status != 0:
        raise SystemExit(f"failed: {command}")
    return output, seconds, usage.ru_maxrss / 1024


def warm(paths):
    """Reads files once, so that nobody is measured with a cold cache."""
    for path in paths:
        with open(path, "rb") as file:
            while file.read(1 << 20):
                pass
