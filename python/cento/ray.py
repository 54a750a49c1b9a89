"""Runs analyses on a Ray cluster::

    python -m cento.ray quilts --address auto /shared/crawl.cento --theta 0.3

The corpus is on a path that all nodes see under the same name. The findings are those of the
program, byte for byte, in the same folder.

The runner knows no analysis, only flows: the stages, shuffles, states and tables that ``cento``
would run on threads. The driver runs the command up to a flow, and hands its tasks to Ray. A worker
runs the same command up to the same flow, and then any of its tasks::

     map task 0 ─┬─ group 0 ─┐
                 └─ group 1 ─│─┐        each group of partitions is one Ray object
     map task 1 ─┬─ group 0 ─┤ │
                 └─ group 1 ─│─┤
                             ▼ ▼
               reduce group 0, 1 ─▶ shuffles, rows of tables, states

Ray moves and spills the objects, and runs tasks again whose process or node was lost. The driver
submits only as many tasks as can run soon, and drops objects as soon as no stage needs them. Every
minute it records what the remaining stages need in a folder beside the findings, so that the same
command resumes after the driver or the head node was lost.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import struct
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from pickle import PickleBuffer
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import ray

from cento import _cento
from cento._command import Output
from cento._errors import Error, UsageError
from cento._findings import Findings

__all__ = ["ClusterSettings", "local_cluster", "run"]

MIB = 1 << 20
#: How many bytes of a shuffle are worth a reduce task of their own.
TASK_BYTES = 4 * MIB


@dataclass
class ClusterSettings:
    """How a flow is run on a cluster. None of this changes results."""

    #: Bytes of memory that each task declares to Ray and may use for sorting. Its states and the
    #: rows that it returns come on top.
    task_memory: int = 512 * MIB
    #: How many objects a task makes for each shuffle. More objects make smaller reduce tasks.
    groups: int = 32
    #: How many tasks are submitted at a time. By default twice the number of the cluster's CPUs.
    in_flight: Optional[int] = None
    #: How often a task is run again if its process or its node was lost.
    retries: int = 10
    #: How many seconds of work may be lost with the driver. 0 records every stage.
    checkpoint: float = 60.0
    #: Called with a line about the progress; None for no progress.
    report: Optional[Callable[[str], object]] = None


@dataclass(frozen=True)
class Job:
    """What a worker needs to reach a flow: the words of the command, and what to expect."""

    words: Tuple[str, ...]
    flow: str
    #: The folder of its tables, whose name depends on the parameters and on the content of the
    #: corpus.
    tables: str
    key: str


# --- Buffers -------------------------------------------------------------------------------------


def pack(parts: Sequence[Any]) -> PickleBuffer:
    """Joins buffers to one, which Ray stores without a further copy.

    >>> [bytes(part) for part in unpack(pack([b"one", b"", b"three"]))]
    [b'one', b'', b'three']
    """
    head = struct.pack(f"<Q{len(parts)}Q", len(parts), *(len(part) for part in parts))
    return PickleBuffer(b"".join([head, *parts]))


def unpack(buffer: Any) -> List[memoryview]:
    """Returns views of the buffers that :func:`pack` joined."""
    view = memoryview(buffer)
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


# --- Workers -------------------------------------------------------------------------------------

#: The flow that this process has reached. A worker runs tasks of one flow for a long time.
_reached: Optional[Tuple[str, Any]] = None


def _server(job: Job) -> Any:
    """Runs the command of a job up to its flow, unless this process is there already."""
    global _reached
    if _reached is None or _reached[0] != job.key:
        _reached = None
        server = _cento.FlowServer(list(job.words), True)
        found = server.next_flow()
        if found is None:
            server.result()  # Raises the error of the command.
            raise Error("the flow was finished by another run of the same command")
        if json.loads(found[0]) != json.loads(job.flow) or os.fspath(found[1]) != job.tables:
            raise Error(
                "this node does not reach the flow of the driver",
                "the corpus must be the same on all nodes, and so must the version of cento",
            )
        _reached = (job.key, server)
    return _reached[1]


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
    memory: int
    #: Partitions and groups of the shuffle that it reads; None for a map.
    source: Optional[Tuple[int, int]] = None

    @property
    def returns(self) -> int:
        """How many objects a task returns: its facts, then shuffles by group, tables, states."""
        groups = sum(groups for _, groups in self.shuffles.values())
        return 1 + groups + len(self.tables) + len(self.states)


def _outputs(plan: StagePlan, server: Any, done: List[Dict[str, Any]]) -> Any:
    """Returns the objects of a task from the buffers of its partitions."""
    counters: Dict[str, int] = {}
    rows: Dict[str, int] = {}
    for one in done:
        for total, part in [(counters, one["counters"]), (rows, one["rows"])]:
            for name, count in part.items():
                total[name] = total.get(name, 0) + count
    objects: List[Any] = []
    sizes: Dict[str, int] = {}
    for name, (partitions, groups) in plan.shuffles.items():
        written = [one["shuffles"][name] for one in done if name in one["shuffles"]]
        for group in range(groups):
            parts = []
            for partition in bounds(partitions, groups, group):
                parts.append(b"".join(buffers[partition] for buffers in written))
            sizes[name] = sizes.get(name, 0) + sum(map(len, parts))
            objects.append(pack(parts))
    for name in plan.tables:
        parts = [one["tables"][name] for one in done if name in one["tables"]]
        sizes[name] = sum(map(len, parts))
        objects.append(pack(parts))
    for name in plan.states:
        parts = [one["states"][name] for one in done if name in one["states"]]
        objects.append(PickleBuffer(server.merge_states(name, parts)))
    facts = {"counters": counters, "rows": rows, "bytes": sizes}
    return [facts, *objects] if objects else facts


def _map(job: Job, plan: StagePlan, task: int, *states: Any) -> Any:
    server = _server(job)
    known = dict(zip(plan.reads, map(bytes, states)))
    return _outputs(plan, server, [server.run_map(plan.name, task, known, plan.memory)])


def _reduce(job: Job, plan: StagePlan, groups: range, *arguments: Any) -> Any:
    """Reduces the partitions of some groups. The arguments are the states, then the objects of the
    first group from all tasks that wrote to the shuffle, then those of the second …"""
    server = _server(job)
    states, packed = arguments[: len(plan.reads)], arguments[len(plan.reads) :]
    known = dict(zip(plan.reads, map(bytes, states)))
    assert plan.source is not None
    writers = len(packed) // len(groups)
    done = []
    for position, group in enumerate(groups):
        inputs = [unpack(one) for one in packed[position * writers : (position + 1) * writers]]
        for at, partition in enumerate(bounds(*plan.source, group)):
            mine = [bytes(parts[at]) for parts in inputs if len(parts[at]) > 0]
            done.append(server.run_reduce(plan.name, partition, mine, known, plan.memory))
    return _outputs(plan, server, done)


def _merge(job: Job, state: str, *parts: Any) -> Any:
    return PickleBuffer(_server(job).merge_states(state, [bytes(part) for part in parts]))


def _write(job: Job, table: str, *parts: Any) -> str:
    rows = [bytes(buffer) for part in parts for buffer in unpack(part) if len(buffer) > 0]
    report: str = _server(job).write_table(table, rows, 1)
    return report


def _save(path: str, content: Any) -> None:
    aside = Path(f"{path}.{os.getpid()}.tmp")
    with open(aside, "wb") as file:
        file.write(memoryview(content))
        file.flush()
        os.fsync(file.fileno())
    aside.rename(path)


def _load(path: str) -> Any:
    return PickleBuffer(Path(path).read_bytes())


# --- Driver --------------------------------------------------------------------------------------


@dataclass
class FlowState:
    """What exists between two stages. ``Any`` stands for references to Ray objects."""

    #: For each shuffle, the groups of each task that wrote to it.
    shuffles: Dict[str, List[List[Any]]] = field(default_factory=dict)
    #: The rows and the bytes that were written to each shuffle.
    rows: Dict[str, int] = field(default_factory=dict)
    bytes: Dict[str, int] = field(default_factory=dict)
    #: For each table, the rows of each task.
    tables: Dict[str, List[Any]] = field(default_factory=dict)
    states: Dict[str, Any] = field(default_factory=dict)
    step: int = 0
    stage: int = 0
    round: int = 0
    changes: int = 0
    stages: List[Dict[str, Any]] = field(default_factory=list)
    written: List[Dict[str, Any]] = field(default_factory=list)


class FlowRunner:
    """Runs one flow."""

    def __init__(
        self, job: Job, folder: Path, settings: ClusterSettings, cpus: int
    ) -> None:
        self.job = job
        self.reference = ray.put(job)
        self.flow = json.loads(job.flow)
        self.settings = settings
        self.in_flight = settings.in_flight or 2 * cpus
        self.folder = folder
        self.last_record = time.monotonic()
        self.state = FlowState()

    def _remote(self, function: Callable[..., Any], returns: int = 1) -> Any:
        return _exported(function).options(
            num_returns=returns,
            num_cpus=1,
            memory=self.settings.task_memory,
            max_retries=self.settings.retries,
        )

    def run(self) -> str:
        """Runs all stages and writes all tables. Returns the report as JSON."""
        started = time.monotonic()
        self._resume()
        steps = self.flow["steps"]
        while self.state.step < len(steps):
            step = steps[self.state.step]
            stages = [step["stage"]] if "stage" in step else step["repeat"]["stages"]
            stage = stages[self.state.stage]
            report = self._run_stage(stage)
            if "repeat" in step:
                report["round"] = self.state.round + 1
            self.state.stages.append(report)
            self._advance(step, len(stages), report)
            self._write_tables(stage)
            self._drop_unused()
            due = time.monotonic() - self.last_record > self.settings.checkpoint
            if due and self.state.step < len(steps):
                self._record()
        shutil.rmtree(self.folder, ignore_errors=True)
        return json.dumps(
            {
                "flow": self.flow["name"],
                "stages": self.state.stages,
                "tables": self.state.written,
                "seconds": time.monotonic() - started,
            }
        )

    def _advance(self, step: Dict[str, Any], stages: int, report: Dict[str, Any]) -> None:
        state = self.state
        if "stage" in step:
            state.step += 1
            return
        repeat = step["repeat"]
        state.changes += report["counters"].get(repeat["until_zero"], 0)
        state.stage += 1
        if state.stage < stages:
            return
        changes, state.changes = state.changes, 0
        state.stage = 0
        state.round += 1
        if changes == 0:
            state.step, state.round = state.step + 1, 0
        elif state.round >= repeat["max_rounds"]:
            counter, rounds = repeat["until_zero"], state.round
            raise Error(f"the iteration did not end: `{counter}` is {changes} after {rounds} rounds")

    def _plan(self, stage: Dict[str, Any]) -> StagePlan:
        def divided(name: str) -> Tuple[int, int]:
            partitions = self.flow["shuffles"][name]["partitions"]
            return partitions, max(1, min(partitions, self.settings.groups))

        writes = stage.get("writes", [])
        source = stage["input"].get("shuffle")
        return StagePlan(
            name=stage["name"],
            shuffles={
                name: divided(name) for name in writes if name in self.flow.get("shuffles", {})
            },
            tables=[name for name in writes if name in self.flow.get("tables", [])],
            states=[name for name in writes if name in self.flow.get("states", {})],
            reads=list(stage.get("reads", [])),
            memory=self.settings.task_memory,
            source=divided(source) if source is not None else None,
        )

    def _run_stage(self, stage: Dict[str, Any]) -> Dict[str, Any]:
        started = time.monotonic()
        plan = self._plan(stage)
        shared = ray.put(plan)
        states = [self.state.states[name] for name in plan.reads]
        function = _map if plan.source is None else _reduce
        remote = self._remote(function, plan.returns)
        rows_in = 0
        if plan.source is None:
            tasks = len(stage["input"]["tasks"])

            def submit(task: int) -> List[Any]:
                return _listed(remote.remote(self.reference, shared, task, *states))

        else:
            name = stage["input"]["shuffle"]
            written = self.state.shuffles.pop(name, [])
            rows_in = self.state.rows.pop(name, 0)
            # One task for several groups if there is little to do: a task costs milliseconds.
            size = self.state.bytes.pop(name, 0)
            groups = plan.source[1]
            tasks = max(1, min(groups, -(-size // TASK_BYTES)))

            def submit(task: int) -> List[Any]:
                mine = bounds(groups, tasks, task)
                inputs = [of_task[group] for group in mine for of_task in written]
                return _listed(remote.remote(self.reference, shared, mine, *states, *inputs))

        counters: Dict[str, int] = {}
        rows_out = bytes_out = 0
        outputs: Dict[int, List[Any]] = {}
        for task, references in self._bounded(plan.name, tasks, submit):
            facts = ray.get(references[0])
            outputs[task] = references[1:]
            for counter, count in facts["counters"].items():
                counters[counter] = counters.get(counter, 0) + count
            for port, count in facts["rows"].items():
                rows_out += count
                if port in plan.shuffles:
                    self.state.rows[port] = self.state.rows.get(port, 0) + count
            for port, size in facts["bytes"].items():
                bytes_out += size
                if port in plan.shuffles:
                    self.state.bytes[port] = self.state.bytes.get(port, 0) + size
        self._collect(plan, [outputs[task] for task in range(tasks)])
        return {
            "name": plan.name,
            "tasks": tasks,
            "resumed": 0,
            "rows_in": rows_in,
            "rows_out": rows_out,
            "bytes_out": bytes_out,
            "spilled": 0,
            "seconds": time.monotonic() - started,
            "counters": counters,
        }

    def _bounded(
        self, name: str, tasks: int, submit: Callable[[int], List[Any]]
    ) -> Iterator[Tuple[int, List[Any]]]:
        """Submits tasks as earlier ones are finished, and yields each with its objects."""
        running: Dict[Any, Tuple[int, List[Any]]] = {}
        waiting = iter(range(tasks))
        finished, shown = 0, 0.0
        while True:
            while len(running) < self.in_flight:
                task = next(waiting, None)
                if task is None:
                    break
                references = submit(task)
                running[references[0]] = (task, references)
            if not running:
                return
            done, _ = ray.wait(list(running), num_returns=1, timeout=1.0)
            for reference in done:
                finished += 1
                yield running.pop(reference)
            if self.settings.report and (time.monotonic() - shown > 5 or finished == tasks):
                shown = time.monotonic()
                self.settings.report(f"{name}  {finished} of {tasks}")

    def _collect(self, plan: StagePlan, outputs: List[List[Any]]) -> None:
        """Takes over the objects of all tasks of a stage, in the order of the tasks."""
        state = self.state
        at = 0
        for name, (_, groups) in plan.shuffles.items():
            of_tasks = [objects[at : at + groups] for objects in outputs]
            state.shuffles.setdefault(name, []).extend(of_tasks)
            at += groups
        for name in plan.tables:
            state.tables.setdefault(name, []).extend(objects[at] for objects in outputs)
            at += 1
        for name in plan.states:
            parts = [objects[at] for objects in outputs]
            if name in state.states:
                parts.insert(0, state.states[name])
            state.states[name] = self._merged(name, parts)
            at += 1

    def _merged(self, name: str, parts: List[Any]) -> Any:
        """Merges states by a tree, so that no task has more than eight of them in memory."""
        merge = self._remote(_merge)
        while len(parts) != 1 or not parts:
            chunks = [parts[at : at + 8] for at in range(0, max(len(parts), 1), 8)]
            parts = [merge.remote(self.reference, name, *chunk) for chunk in chunks]
        return parts[0]

    def _later(self) -> List[Dict[str, Any]]:
        """Returns the stages that may still run."""
        found: List[Dict[str, Any]] = []
        for step in self.flow["steps"][self.state.step :]:
            found += [step["stage"]] if "stage" in step else step["repeat"]["stages"]
        return found

    def _write_tables(self, stage: Dict[str, Any]) -> None:
        """Writes the tables that no later stage adds rows to."""
        later = {name for one in self._later() for name in one.get("writes", [])}
        for name in stage.get("writes", []):
            if name in self.flow.get("tables", []) and name not in later:
                parts = self.state.tables.pop(name, [])
                report = ray.get(self._remote(_write).remote(self.reference, name, *parts))
                self.state.written.append(json.loads(report))

    def _drop_unused(self) -> None:
        """Drops the objects that no later stage uses, so that Ray can delete them."""
        later = self._later()
        read = {one["input"].get("shuffle") for one in later}
        for name in set(self.state.shuffles) - read:
            del self.state.shuffles[name]
            self.state.rows.pop(name, None)
            self.state.bytes.pop(name, None)
        used = {name for one in later for key in ("reads", "writes") for name in one.get(key, [])}
        for name in set(self.state.states) - used:
            del self.state.states[name]

    # Recording and resuming: one file per object, and one that names them, written last.

    def _record(self) -> None:
        """Writes everything that the remaining stages need to the shared path."""
        state = self.state
        ordinal = len(state.stages)
        folder = self.folder / f"{ordinal:05}"
        folder.mkdir(parents=True, exist_ok=True)
        saved: List[Tuple[str, Any]] = []

        def file(reference: Any) -> str:
            name = f"{len(saved):08}"
            saved.append((str(folder / name), reference))
            return name

        record = {
            "flow": self.job.key,
            "folder": folder.name,
            "shuffles": {
                name: [[file(one) for one in groups] for groups in tasks]
                for name, tasks in state.shuffles.items()
            },
            "tables": {name: [file(one) for one in parts] for name, parts in state.tables.items()},
            "states": {name: file(one) for name, one in state.states.items()},
            "rows": state.rows,
            "bytes": state.bytes,
            "position": [state.step, state.stage, state.round, state.changes],
            "stages": state.stages,
            "written": state.written,
        }
        save = self._remote(_save)
        for _ in self._bounded("record", len(saved), lambda at: [save.remote(*saved[at])]):
            pass
        _save(str(self.folder / "record.json"), json.dumps(record).encode())
        for old in self.folder.iterdir():
            if old.is_dir() and old != folder:
                shutil.rmtree(old, ignore_errors=True)
        self.last_record = time.monotonic()

    def _resume(self) -> None:
        """Restores what an interrupted run of the same flow recorded."""
        try:
            record = json.loads((self.folder / "record.json").read_bytes())
        except (FileNotFoundError, ValueError):
            return
        if record.get("flow") != self.job.key:
            return
        folder = self.folder / record["folder"]
        load = self._remote(_load)

        def loaded(name: str) -> Any:
            return load.remote(str(folder / name))

        state = self.state
        state.shuffles = {
            name: [[loaded(one) for one in groups] for groups in tasks]
            for name, tasks in record["shuffles"].items()
        }
        state.tables = {
            name: [loaded(one) for one in parts] for name, parts in record["tables"].items()
        }
        state.states = {name: loaded(one) for name, one in record["states"].items()}
        state.rows = record["rows"]
        state.bytes = record["bytes"]
        state.step, state.stage, state.round, state.changes = record["position"]
        state.stages = record["stages"]
        state.written = record["written"]
        if self.settings.report:
            self.settings.report(f"resumed after {len(state.stages)} stages")


@lru_cache(maxsize=None)
def _exported(function: Callable[..., Any]) -> Any:
    """Makes a function known to Ray, once."""
    return ray.remote(function)


def _listed(references: Any) -> List[Any]:
    return references if isinstance(references, list) else [references]


@contextmanager
def local_cluster(
    nodes: int = 2, cpus: int = 1, memory: int = 2 << 30, object_store: int = 100 * MIB
) -> Iterator[Any]:
    """Starts a cluster of several nodes on this machine, to try it, and stops it at the end::

        with local_cluster() as cluster:
            run("quilts", "crawl.cento", address=cluster.address)
    """
    from ray.cluster_utils import Cluster

    node: Dict[str, Any] = {
        "num_cpus": cpus,
        "memory": memory,
        "object_store_memory": object_store,
    }
    cluster = Cluster(initialize_head=True, head_node_args=node)
    for _ in range(nodes - 1):
        cluster.add_node(**node)
    try:
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


# --- Commands ------------------------------------------------------------------------------------


def run(
    *words: object,
    address: Optional[str] = None,
    settings: Optional[ClusterSettings] = None,
) -> Output:
    """Runs a command of the command line on a cluster: ``run("quilts", "/shared/crawl.cento")``.

    Connects to the cluster at ``address`` (``auto`` for the one of this node, None for a new local
    one), unless Ray is initialised already.
    """
    settings = settings or ClusterSettings()
    if not ray.is_initialized():
        context = ray.init(address=address, log_to_driver=False)
        url = getattr(context, "dashboard_url", None)
        if settings.report and url:
            settings.report(f"dashboard: http://{url}")
    typed = _absolute([str(word) for word in words])
    # Flows depend on the memory, and a worker has to reach the same flow.
    if not any(word == "--memory" or word.startswith("--memory=") for word in typed):
        typed.append(f"--memory={4 << 30}")
    server = _cento.FlowServer(typed, True)
    try:
        while True:
            found = server.next_flow()
            if found is None:
                break
            server.finish(_run_flow(typed, found, settings))
    except BaseException:
        server.cancel()
        raise
    result = server.result()
    findings = [Findings(one) for one in result["findings"]]
    return Output(result["status"], result["text"], result["notes"], findings)


def _run_flow(words: List[str], found: Any, settings: ClusterSettings) -> str:
    flow, tables, _, _ = found
    # A worker uses the findings of earlier flows of this command, even if the driver was told to
    # compute them again.
    of_worker = [word for word in words if word != "--again"]
    folder = os.fspath(tables)
    content = json.dumps([_cento.__version__, of_worker, flow, folder])
    key = hashlib.blake2b(content.encode(), digest_size=16).hexdigest()
    job = Job(tuple(of_worker), flow, folder, key)
    cpus = int(ray.cluster_resources().get("CPU", 1))
    return FlowRunner(job, Path(tables) / "ray", settings, cpus).run()


def _absolute(words: List[str]) -> List[str]:
    """Makes paths absolute: workers run in other folders."""
    return [words[0], *(os.path.abspath(one) if os.path.exists(one) else one for one in words[1:])]


def _divided(words: List[str], own: Sequence[str]) -> Tuple[List[str], List[str]]:
    """Divides words into the options of this program, with their values, and those of cento."""
    mine: List[str] = []
    rest: List[str] = []
    remaining = iter(words)
    for word in remaining:
        if word in own:
            mine += [word, *([] if word == "--help" else [next(remaining, "")])]
        elif word.split("=")[0] in own:
            mine.append(word)
        else:
            rest.append(word)
    return mine, rest


def main(arguments: Optional[List[str]] = None) -> int:
    """The program ``python -m cento.ray``."""
    parser = argparse.ArgumentParser(
        prog="python -m cento.ray",
        usage="python -m cento.ray VERB CORPUS [options]",
        description="Runs a command of cento on a Ray cluster. All other options are those of the "
        "command: see `cento VERB --help`. The corpus must be on a path that all nodes see.",
    )
    parser.add_argument("--address", help="the cluster: auto, or HOST:PORT [default: a local one]")
    parser.add_argument(
        "--task-memory", type=int, default=512, metavar="MIB", help="memory of a task [512]"
    )
    parser.add_argument(
        "--groups", type=int, default=32, metavar="N", help="objects of a task per shuffle [32]"
    )
    parser.add_argument(
        "--in-flight", type=int, metavar="N", help="tasks submitted at a time [2 per CPU]"
    )
    parser.add_argument(
        "--checkpoint",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="how much work may be lost with the driver [60]",
    )
    own = ["--address", "--task-memory", "--groups", "--in-flight", "--checkpoint", "--help"]
    mine, words = _divided(sys.argv[1:] if arguments is None else arguments, own)
    typed = parser.parse_args(mine)
    if not words:
        parser.error("which command? For example: quilts /shared/crawl.cento")
    settings = ClusterSettings(
        task_memory=typed.task_memory * MIB,
        groups=typed.groups,
        in_flight=typed.in_flight,
        checkpoint=typed.checkpoint,
        report=lambda line: print(line, file=sys.stderr, flush=True),
    )
    try:
        output = run(*words, address=typed.address, settings=settings)
    except Error as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    for note in output.notes:
        print(note, file=sys.stderr)
    print(output.text, end="")
    return output.status


if __name__ == "__main__":
    # As a module with its own name, so that workers find the functions.
    from cento.ray import main as main_of_module

    sys.exit(main_of_module())
