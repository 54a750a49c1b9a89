"""Functions that all benchmarks share."""

import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import threading
import time

FOLDER = pathlib.Path(os.environ.get("CENTO_BENCH", pathlib.Path.home() / ".cache/cento/bench"))
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", pathlib.Path.home() / ".cache/cento/target"))
CENTO = pathlib.Path(os.environ.get("CENTO", TARGET / "release/cento"))
EXAMPLES = TARGET / "release/examples"
HERE = pathlib.Path(__file__).resolve().parent
# Labelled texts of others. They are not fetched, because not all of them may be copied.
SHARED = HERE.parent.parent / "shared/data"
# Seconds between two looks at the memory of a process.
LOOK = 0.01
PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")


class Failed(Exception):
    """A program that exited with an error, or did not exist."""


class NoData(Exception):
    """Data that a part needs, and that nobody may fetch."""


@dataclasses.dataclass
class Run:
    """What a run of a program took. Memory is that of all its processes together, in MiB, sampled every 10 ms."""

    output: str
    errors: str
    seconds: float
    processor: float
    resident: float
    anonymous: float


def descendants(root):
    """A process and its descendants."""
    found, todo = [], [root]
    while todo:
        one = todo.pop()
        found.append(one)
        try:
            tasks = os.listdir(f"/proc/{one}/task")
            for task in tasks:
                with open(f"/proc/{one}/task/{task}/children") as file:
                    todo += [int(child) for child in file.read().split()]
        except OSError:
            pass
    return found


def usage_of(root, processor):
    """Resident and anonymous bytes of a process and its descendants. Pages that a forked process shares with its parent count once for each.

    Notes the processor seconds of each process in a dictionary: the system tells those of a descendant only if its parent waited for it, which not all programs do.
    """
    resident = anonymous = 0
    for one in descendants(root):
        try:
            with open(f"/proc/{one}/statm") as file:
                numbers = file.read().split()
            with open(f"/proc/{one}/stat") as file:
                times = file.read().rpartition(")")[2].split()[11:13]
        except OSError:
            continue
        resident += int(numbers[1]) * PAGE
        anonymous += (int(numbers[1]) - int(numbers[2])) * PAGE
        processor[one] = sum(map(int, times)) / TICKS
    return resident, anonymous


def run(command, cwd=None, env=None, limit=None):
    """Runs a program and measures it. Raises Failed if it fails or takes longer than `limit` seconds."""
    command = [str(part) for part in command]
    begun = time.perf_counter()
    try:
        process = subprocess.Popen(
            command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd, env=env, start_new_session=True
        )
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}") from error
    peak, processor, said, over, ended = [0, 0], {}, {}, [], threading.Event()

    def watch():
        while not ended.wait(LOOK):
            peak[:] = map(max, peak, usage_of(process.pid, processor))
            if limit and time.perf_counter() - begun > limit:
                over.append(True)
                os.killpg(process.pid, 9)
                return

    readers = [
        threading.Thread(target=lambda name=name: said.update({name: getattr(process, name).read()}))
        for name in ("stdout", "stderr")
    ]
    watcher = threading.Thread(target=watch)
    for thread in (*readers, watcher):
        thread.start()
    # Not `process.wait`, which would not tell the processor time of this one.
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    ended.set()
    for thread in (*readers, watcher):
        thread.join()
    process.stdout.close()
    process.stderr.close()
    if over:
        raise Failed(f"not finished after {limit:.0f} s")
    if process.returncode != 0:
        lines = said["stderr"].strip().splitlines() or said["stdout"].strip().splitlines() or ["no message"]
        message = next((line for line in lines if line.startswith("error")), lines[-1])
        raise Failed(f"exit status {process.returncode}: {message[:200]}")
    # Not `ru_maxrss`: that of a child is at least what its parent had when it was forked.
    spent = max(usage.ru_utime + usage.ru_stime, sum(processor.values()))
    return Run(said["stdout"], said["stderr"], seconds, spent, peak[0] / 2**20, peak[1] / 2**20)


def added_up(*runs):
    """What several programs took that ran one after another."""
    total = [sum(getattr(one, name) for one in runs) for name in ("seconds", "processor")]
    return Run(runs[-1].output, runs[-1].errors, *total, *(max(getattr(one, name) for one in runs) for name in ("resident", "anonymous")))


def python_of(environment):
    """The interpreter of a virtual environment of peers."""
    return FOLDER / environment / "bin/python"


def crawl():
    """The archives of the crawl of Debian's documentation; made on first use."""
    subprocess.run([sys.executable, HERE / "make_crawl.py", FOLDER], check=True, stdout=subprocess.DEVNULL)
    return sorted(str(path) for path in (FOLDER / "crawl").glob("*.warc.gz"))


def manuals():
    """The manuals of Debian packages as JSON Lines; made on first use."""
    path = FOLDER / "manuals.jsonl"
    if not path.exists():
        subprocess.run([sys.executable, HERE / "make_manuals.py", FOLDER], check=True, stdout=subprocess.DEVNULL)
    return path


def unpacked(archive, name):
    """The folder of the contents of an archive of SHARED; unpacked on first use."""
    if not archive.exists():
        raise NoData(f"{archive} does not exist")
    folder = FOLDER / name
    if not folder.exists():
        aside = fresh(f"{name}.new")
        with tarfile.open(archive) as members:
            members.extractall(aside, filter="data")
        aside.rename(folder)
    return folder


def fresh(name):
    """Returns a path in the benchmark folder at which nothing exists."""
    path = FOLDER / name
    shutil.rmtree(path, ignore_errors=True)
    path.unlink(missing_ok=True)
    return path


def warm(paths):
    """Reads files once, so that no program is measured with a cold cache."""
    for path in paths:
        with open(path, "rb") as file:
            while file.read(1 << 20):
                pass
