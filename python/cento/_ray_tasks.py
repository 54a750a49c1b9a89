"""What workers of a Ray cluster run: tasks of flows and of indexing.

A worker runs the command of the driver up to the step that it serves, and then any of its tasks.
The functions here are what Ray calls; :mod:`cento._ray_flow` and :mod:`cento._ray_index` submit
them.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import struct
import threading
import time
from array import array
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from pickle import PickleBuffer
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import ray

from cento import _cento
from cento._errors import Error

MIB = 1 << 20
#: A process that holds more returns what it does not use before a task.
KEPT = 128 * MIB


@dataclass(frozen=True)
class Job:
    """What a worker needs to reach a step: the words of the command, and what to expect."""

    words: Tuple[str, ...]
    #: The flow as JSON; empty for indexing.
    flow: str
    #: The folder of its tables, whose name depends on the parameters and on the content of the
    #: corpus; the corpus for indexing.
    tables: str
    key: str
    #: Into how many partitions shuffles are divided.
    partitions: int
    #: The folder in which the command runs, if its words are relative to it.
    folder: Optional[str] = None
    #: For tests: a folder. The first task of each stage kills its process when its work is done,
    #: unless a file there says that one was killed before.
    faults: Optional[str] = None
    #: What it kills: its process, or the whole node.
    killed: str = "worker"


@dataclass
class StagePlan:
    """A stage, and how its output is divided. Everything that a task has to know but its number."""

    name: str
    #: For each shuffle that it writes: partitions and groups.
    shuffles: Dict[str, Tuple[int, int]]
    tables: List[str]
    states: List[str]
    #: The states that it reads, in the order in which they are passed.
    reads: List[str]
    #: Bytes of memory that a task may use: with the states that it writes, with those alone that
    #: it reads and cannot read where they are, and without states.
    memory: int
    limit: int
    working: int
    #: Partitions and groups of the shuffle that it reads; None for a map.
    source: Optional[Tuple[int, int]] = None
    #: Whether a task fetches its input piece by piece, because it exceeds the object store.
    fetches: bool = False

    @property
    def returns(self) -> int:
        """How many objects a task returns: shuffles by group, tables, states, then its facts."""
        groups = sum(groups for _, groups in self.shuffles.values())
        return 1 + groups + len(self.tables) + len(self.states)


# --- Buffers -------------------------------------------------------------------------------------


def as_bytes(buffer: Any) -> memoryview:
    """Returns a view of an object of Ray, which is in the memory that all processes of a node
    share, unless it is small."""
    view = memoryview(buffer)
    return view if view.format == "B" else view.cast("B")


def unpack(buffer: Any) -> List[memoryview]:
    """Returns views of the buffers that :func:`cento._cento.pack` joined.

    >>> packed = struct.pack("<4Q", 3, 3, 0, 5) + b"onethree"
    >>> [bytes(part) for part in unpack(packed)]
    [b'one', b'', b'three']
    """
    view = as_bytes(buffer)
    (count,) = struct.unpack_from("<Q", view)
    sizes = struct.unpack_from(f"<{count}Q", view, 8)
    parts, at = [], 8 * (count + 1)
    for size in sizes:
        parts.append(view[at : at + size])
        at += size
    return parts


def bounds(partitions: int, groups: int, group: int) -> range:
    """Returns the partitions of a group: consecutive ones, so that the order of groups is that of
    their partitions."""
    return range(group * partitions // groups, (group + 1) * partitions // groups)


# --- Reaching a step -----------------------------------------------------------------------------

#: The step that this process has reached. A worker runs tasks of one step for a long time.
_reached: Optional[Tuple[str, Any]] = None


def _server(job: Job) -> Any:
    """Runs the command of a job up to its step, unless this process is there already."""
    global _reached
    if _reached is None or _reached[0] != job.key:
        _reached = None
        if job.folder is not None:
            try:
                os.chdir(job.folder)
            except OSError as error:
                raise Error(
                    f"this node cannot enter {job.folder}: {error.strerror}",
                    "run the command in a folder that all nodes see under the same name",
                ) from None
        server = _cento.FlowServer(list(job.words), True, True)
        step = server.next_step()
        if step is None:
            server.result()  # Raises the error of the command.
            raise Error("the step was finished by another run of the same command")
        if job.flow:
            same = "flow" in step and json.loads(step["flow"]) == json.loads(job.flow)
            same = same and os.fspath(step["tables"]) == job.tables
        else:
            same = "corpus" in step and os.fspath(step["corpus"]) == job.tables
        if not same:
            raise Error(
                "this node does not reach the step of the driver",
                "the corpus must be the same on all nodes, and so must the version of cento",
            )
        if job.flow:
            server.set_partitions(job.partitions)
        _reached = (job.key, server)
    return _reached[1]


class Usage(threading.Thread):
    """What tasks of this process use: processor seconds, and its anonymous memory at most, which a
    thread samples every ten milliseconds.

    Everything that the process holds counts, also Python, Ray, and memory that the allocator has
    kept from earlier tasks: it is compared with what a task declares, which includes these.
    """

    def __init__(self) -> None:
        super().__init__(name="usage", daemon=True)
        self.active = threading.Event()
        self.seconds = 0.0
        self.first = 0
        self.most = 0
        self.start()

    def run(self) -> None:
        while self.active.wait():
            self.most = max(self.most, anonymous_memory())
            time.sleep(0.01)

    def begin(self) -> None:
        self.seconds = _processor_seconds()
        _release_memory()
        self.most = self.first = anonymous_memory()
        self.active.set()

    def facts(self) -> Dict[str, Any]:
        self.active.clear()
        self.most = max(self.most, anonymous_memory())
        processor = _processor_seconds() - self.seconds
        return {"processor": processor, "peak": self.most, "before": self.first}


@lru_cache(maxsize=None)
def _usage() -> Usage:
    return Usage()


@lru_cache(maxsize=None)
def _trim() -> Optional[Callable[[int], int]]:
    """Returns the function of the C library that returns free memory to the system, if any."""
    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
        return trim
    except (OSError, AttributeError):
        return None


def _release_memory() -> None:
    """Returns memory to the system that the allocator has kept from earlier tasks: the process may
    now run a task that has declared less."""
    trim = _trim()
    if trim is not None and anonymous_memory() > KEPT:
        trim(0)


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def anonymous_memory() -> int:
    """Returns the resident memory of this process without files and shared objects; 0 where the
    system does not tell."""
    try:
        with open("/proc/self/statm", "rb") as file:
            fields = file.read().split()
        return (int(fields[1]) - int(fields[2])) * resource.getpagesize()
    except OSError:
        return 0


def _fail_once(job: Job, name: str) -> None:
    """For tests: kills this process or its node, unless one was killed here before."""
    if job.faults is None:
        return
    try:
        os.close(os.open(Path(job.faults) / name, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    parent = os.getppid()
    if job.killed == "node" and b"raylet" in Path(f"/proc/{parent}/comm").read_bytes():
        # The process that is a node for Ray, with all objects of the node.
        os.kill(parent, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


# --- Tasks of flows ------------------------------------------------------------------------------


def _objects(plan: StagePlan, server: Any, done: List[Any]) -> Iterator[Any]:
    """Yields the objects of a task from the output of its partitions. Ray takes each object before
    the next one is made."""
    counters: Dict[str, int] = {}
    rows: Dict[str, int] = {}
    for one in done:
        for total, part in [(counters, one.counters), (rows, one.rows)]:
            for name, count in part.items():
                total[name] = total.get(name, 0) + count
    sizes: Dict[str, array[int]] = {}
    for name, (partitions, groups) in plan.shuffles.items():
        sizes[name] = array("Q")
        for group in range(groups):
            of_group = bounds(partitions, groups, group)
            packed, found = _cento.pack(done, name, of_group.start, of_group.stop)
            sizes[name].extend(found)
            yield PickleBuffer(packed)
    for name in plan.tables:
        packed, found = _cento.pack(done, name, 0, 1)
        sizes[name] = array("Q", found)
        yield PickleBuffer(packed)
    written = [one.states() for one in done]
    states: Dict[str, int] = {}
    for name in plan.states:
        # A task that has not written to a state sends nothing.
        parts = [of_one[name] for of_one in written if name in of_one] or [b""]
        state = server.merge_states(name, parts, "merge") if len(parts) > 1 else parts[0]
        states[name] = len(state)
        yield PickleBuffer(state)
    yield {
        "counters": counters,
        "rows": rows,
        "sizes": sizes,
        "states": states,
        **_usage().facts(),
    }


def map_task(job: Job, plan: StagePlan, numbers: range, *states: Any) -> Iterator[Any]:
    """Runs some tasks of a map, one after the other."""
    server = _server(job)
    _usage().begin()
    known = dict(zip(plan.reads, map(as_bytes, states)))
    done = server.run_maps(plan.name, list(numbers), known, (plan.limit, plan.working // 4))
    _fail_once(job, f"{plan.name}-map")
    yield from _objects(plan, server, done)


def reduce_task(job: Job, plan: StagePlan, groups: range, *arguments: Any) -> Iterator[Any]:
    """Reduces the partitions of some groups. The arguments are the states, then the objects of the
    first group from all tasks that wrote to the shuffle, then those of the second … A task that
    fetches has one list of references instead of the objects."""
    server = _server(job)
    _usage().begin()
    states, packed = arguments[: len(plan.reads)], arguments[len(plan.reads) :]
    if plan.fetches:
        packed = packed[0]
    known = dict(zip(plan.reads, map(as_bytes, states)))
    assert plan.source is not None
    writers = len(packed) // len(groups)
    done: List[Any] = []
    held = 0
    for position, group in enumerate(groups):
        inputs = packed[position * writers : (position + 1) * writers]
        views = [] if plan.fetches else [unpack(one) for one in inputs]
        for at, partition in enumerate(bounds(*plan.source, group)):
            if plan.fetches:
                mine = [unpack(ray.get(one))[at] for one in inputs]
            else:
                mine = [parts[at] for parts in views]
            mine = [rows for rows in mine if len(rows) > 0]
            memory = (plan.limit - held, max(0, plan.working // 4 - held))
            done.append(server.run_reduce(plan.name, partition, mine, known, memory))
            held += done[-1].memory
    _fail_once(job, f"{plan.name}-reduce")
    yield from _objects(plan, server, done)


def map_facts(job: Job, plan: StagePlan, numbers: range, *states: Any) -> Any:
    """A map that writes nothing: Ray takes no generator for a single object."""
    return next(map_task(job, plan, numbers, *states))


def reduce_facts(job: Job, plan: StagePlan, groups: range, *arguments: Any) -> Any:
    return next(reduce_task(job, plan, groups, *arguments))


def merge_task(job: Job, state: str, used_for: str, *parts: Any) -> Iterator[Any]:
    """Merges states of several tasks, to be merged or read. Yields the state, and what merging
    used."""
    server = _server(job)
    _usage().begin()
    merged = server.merge_states(state, [as_bytes(part) for part in parts], used_for)
    _fail_once(job, f"{state}-merge")
    yield PickleBuffer(merged)
    yield _usage().facts()


def write_task(job: Job, table: str, parts: Sequence[Any]) -> Tuple[str, Dict[str, Any]]:
    """Writes a table from the objects of all tasks. They are references, so that one object at a
    time is in memory, however large the table is."""
    server = _server(job)
    _usage().begin()
    server.begin_table(table)
    try:
        for part in parts:
            for rows in unpack(ray.get(part)):
                if len(rows) > 0:
                    server.add_rows(rows)
    except BaseException:
        server.abort_table()
        raise
    report: str = server.end_table()
    _fail_once(job, f"{table}-write")
    return report, _usage().facts()


def save_task(path: str, content: Any) -> None:
    aside = Path(f"{path}.{os.getpid()}.tmp")
    with open(aside, "wb") as file:
        file.write(memoryview(content))
        file.flush()
        os.fsync(file.fileno())
    aside.rename(path)


def load_task(path: str) -> Any:
    return PickleBuffer(Path(path).read_bytes())


# --- Tasks of indexing ---------------------------------------------------------------------------


def index_task(job: Job, task: int, memory: int) -> Tuple[str, Dict[str, Any]]:
    """Writes the parts of one task to the shared path, and returns what the driver commits."""
    server = _server(job)
    _usage().begin()
    finished: str = server.run_task(task, memory)
    # Of the nodes that indexing loses in tests, there are four at most.
    _fail_once(job, f"index-{task if job.killed == 'worker' else task % 4}")
    return finished, _usage().facts()
