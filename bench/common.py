"""Functions that all benchmarks share."""

import os
import pathlib
import resource
import shutil
import subprocess
import sys
import threading
import time

FOLDER = pathlib.Path(os.environ.get("CENTO_BENCH", pathlib.Path.home() / ".cache/cento/bench"))
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", pathlib.Path.home() / ".cache/cento/target"))
CENTO = TARGET / "release/cento"
HERE = pathlib.Path(__file__).parent


def crawl():
    """The archives of the crawl of Debian's documentation; made on first use."""
    subprocess.run([sys.executable, HERE / "make_crawl.py", FOLDER], check=True)
    return sorted(str(path) for path in (FOLDER / "crawl").glob("*.warc.gz"))


def fresh(name):
    """Returns a path in the benchmark folder at which nothing exists."""
    path = FOLDER / name
    shutil.rmtree(path, ignore_errors=True)
    return path


def measure(command):
    """Runs a command; returns its output, its seconds and its peak resident memory in MiB."""
    begun = time.time()
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.time() - begun
    if status != 0:
        raise SystemExit(f"failed: {command}")
    return output, seconds, usage.ru_maxrss / 1024


def warm(paths):
    """Reads files once, so that no program is measured with a cold cache."""
    for path in paths:
        with open(path, "rb") as file:
            while file.read(1 << 20):
                pass


def run(command, of="stdout"):
    """Runs a command; returns one of its outputs, seconds, processor seconds and its peak anonymous memory in MiB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.time()
    process = subprocess.Popen([str(part) for part in command], text=True, **{"stdout": subprocess.DEVNULL, of: subprocess.PIPE})
    peak = [0]

    def watch():
        while process.poll() is None:
            try:
                with open(f"/proc/{process.pid}/status") as status:
                    for line in status:
                        if line.startswith("RssAnon"):
                            peak[0] = max(peak[0], int(line.split()[1]))
            except OSError:
                pass
            time.sleep(0.02)

    watcher = threading.Thread(target=watch)
    watcher.start()
    said = getattr(process, of).read()
    process.wait()
    seconds = time.time() - begun
    watcher.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode != 0:
        raise SystemExit(f"failed: {command}\n{said}")
    return said, seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, peak[0] / 1024
