"""Runs one flow on a Ray cluster: the driver's side.

The runner knows no analysis, only flows: the stages, shuffles, states and tables that ``cento``
would run on threads::

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

import json
import shutil
import time
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, Tuple

import ray

from cento import _ray_tasks as tasks
from cento._errors import Error, UsageError
from cento._ray_tasks import MIB, Job, StagePlan, bounds

#: How many bytes of a shuffle are worth a reduce task of their own.
TASK_BYTES = 4 * MIB
#: How many partitions a shuffle has, unless there are more groups.
PARTITIONS = 256
#: How many Ray tasks a map has at most, beside four for each CPU. A corpus of a billion pages has a
#: hundred thousand parts; the driver knows every object, and each task makes one for each group.
MAP_TASKS = 2000
#: States of at least so many bytes are made readable where they are, even if one task wrote them.
VIEW_BYTES = MIB
#: How many states a task merges.
MERGED = 16
#: States of which a task holds what it has written, and how many bytes for each byte of that: a hash
#: table that grows, and what is sent.
SPARSE = ("numbers", "order")
SPARSE_COST = 24
#: A record or a commit takes at most one of so many seconds.
PAUSE = 10
#: What a worker process holds whatever it does: Python, Ray, and the code.
PROCESS = 192 * MIB
#: The memory of tasks is declared in multiples of this, because Ray treats tasks with different
#: needs as different kinds of tasks.
STEP = 16 * MIB


@dataclass
class ClusterSettings:
    """How a command is run on a cluster. None of this changes results."""

    #: Bytes of memory that each task may use for sorting, for its output and for working. The
    #: states that it reads and writes, and the largest partition of its input, are declared to Ray
    #: on top of it.
    task_memory: int = 512 * MIB
    #: How many objects a task makes for each shuffle. More objects make smaller reduce tasks. More
    #: than 256 also divide shuffles into as many partitions.
    groups: int = 32
    #: How many tasks are submitted at a time. By default twice the number of the cluster's CPUs.
    in_flight: Optional[int] = None
    #: How often a task is run again if its process or its node was lost, or a node that holds its
    #: output.
    retries: int = 100
    #: How many seconds of work may be lost with the driver. 0 records every stage.
    checkpoint: float = 60.0
    #: Called with a line about the progress; None for no progress.
    report: Optional[Callable[[str], object]] = None
    #: Called with the facts of each finished stage: its name, tasks, rows, bytes, seconds,
    #: processor seconds, and the memory that its tasks declared and used at most.
    on_stage: Optional[Callable[[Dict[str, Any]], object]] = None
    #: For tests: see :class:`cento._ray_tasks.Job`.
    faults: Optional[str] = None
    killed: str = "worker"

    def validate(self) -> None:
        """Raises an error if a number is out of range."""
        least = {
            "task_memory": (self.task_memory, MIB, "a MiB"),
            "groups": (self.groups, 1, "1"),
            "in_flight": (self.in_flight, 1, "1"),
            "retries": (self.retries, 0, "0"),
            "checkpoint": (self.checkpoint, 0, "0"),
        }
        for name, (value, lowest, words) in least.items():
            if value is not None and not value >= lowest:
                raise UsageError(f"{name} must be at least {words}, not {value}")


def partitions_of(flow: Dict[str, Any], groups: int) -> int:
    """Returns into how many partitions the shuffles of a flow are divided. Each costs a call in
    each task, so there are few if the corpus is small; a task of a map reads some megabytes."""
    steps = flow["steps"]
    stages = [one for step in steps for one in ([step["stage"]] if "stage" in step else step["repeat"]["stages"])]
    tasks_of_stages = [len(stage["input"].get("tasks", [])) for stage in stages]
    return max(groups, min(PARTITIONS, 8 * max(tasks_of_stages, default=0)))


class Cluster:
    """The nodes of the cluster, and how tasks are submitted to them. ``opened`` are the bytes of
    memory that a process needs to reach the step: what it knows about the corpus."""

    def __init__(self, settings: ClusterSettings, opened: int = 0) -> None:
        self.settings = settings
        self.process = PROCESS + opened
        nodes: Callable[[], List[Dict[str, Any]]] = ray.nodes
        alive = [node["Resources"] for node in nodes() if node["Alive"]]
        self.cpus = int(sum(node.get("CPU", 0) for node in alive)) or 1
        self.memory = int(max((node.get("memory", 0) for node in alive), default=0))
        stores = [int(node.get("object_store_memory", 0)) for node in alive]
        self.object_store = min((store for store in stores if store), default=0)
        self.object_stores = sum(stores)
        self.in_flight = settings.in_flight or 2 * self.cpus

    def remote(self, function: Callable[..., Any], name: str, memory: int, returns: int = 1) -> Any:
        """Returns a function of the workers, with its memory declared."""
        memory = self.declared(memory)
        if memory > self.memory:
            raise Error(
                f"a task of `{name}` needs {memory // MIB} MiB of memory, and no node has more "
                f"than {self.memory // MIB} MiB for tasks",
                "start nodes with more memory, or use a smaller --task-memory or --memory",
            )
        return _exported(function).options(
            num_returns=returns,
            num_cpus=1,
            memory=memory,
            max_retries=self.settings.retries,
        )

    def declared(self, memory: int) -> int:
        """Returns what is declared to Ray for a task with this memory. A process also has what its
        allocator kept from other tasks."""
        memory = max(memory, self.settings.task_memory)
        return -(-(self.process + memory) // STEP) * STEP

    def bounded(
        self, name: str, count: int, submit: Callable[[int], List[Any]]
    ) -> Iterator[Tuple[int, List[Any]]]:
        """Submits tasks as earlier ones are finished, and yields each with its objects. The last
        object of a task says that it has ended."""
        running: Dict[Any, Tuple[int, List[Any]]] = {}
        waiting = iter(range(count))
        finished, shown = 0, 0.0
        while True:
            while len(running) < self.in_flight:
                task = next(waiting, None)
                if task is None:
                    break
                references = submit(task)
                running[references[-1]] = (task, references)
            if not running:
                return
            done, _ = ray.wait(list(running), num_returns=1, timeout=1.0)
            for reference in done:
                finished += 1
                yield running.pop(reference)
            if self.settings.report and (time.monotonic() - shown > 5 or finished == count):
                shown = time.monotonic()
                self.settings.report(f"{name}  {finished} of {count}")


@dataclass
class FlowState:
    """What exists between two stages. ``Any`` stands for references to Ray objects."""

    #: For each shuffle, the groups of each task that wrote to it.
    shuffles: Dict[str, List[List[Any]]] = field(default_factory=dict)
    #: The rows that were written to each shuffle, and the bytes of each of its partitions.
    rows: Dict[str, int] = field(default_factory=dict)
    sizes: Dict[str, List[int]] = field(default_factory=dict)
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
    """Runs one flow. ``state_facts`` are the bytes of each of its states, and whether tasks can
    read it where it is."""

    def __init__(
        self,
        job: Job,
        flow: Dict[str, Any],
        folder: Path,
        settings: ClusterSettings,
        state_facts: Dict[str, Tuple[int, bool]],
        opened: int = 0,
    ) -> None:
        self.job = job
        self.reference = ray.put(job)
        self.flow = flow
        self.settings = settings
        self.state_facts = state_facts
        self.cluster = Cluster(settings, opened)
        self.folder = folder
        self.last_record = time.monotonic()
        self.pause = settings.checkpoint
        self.state = FlowState()
        #: What tasks that merge states have used: name, declared memory, and a reference to the rest.
        self.merges: List[Tuple[str, int, Any]] = []

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
            due = time.monotonic() - self.last_record > self.pause
            if due and self.state.step < len(steps):
                self._record()
        self._report_merges()
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
        states = [name for name in writes if name in self.flow.get("states", {})]
        reads = list(stage.get("reads", []))
        # The tasks of a node share its object store: input, and the states that they only read.
        absorbed = (name for name in reads if name in states or not self.state_facts[name][1])
        limit = self.settings.task_memory + sum(self.state_facts[name][0] for name in absorbed)
        if source is None:
            tasks_of_stage = self._map_tasks(stage)
        else:
            tasks_of_stage = self.flow["shuffles"][source]["partitions"]
        memory = limit + sum(self._written_bytes(name, tasks_of_stage) for name in states)
        fetches = False
        if source is not None:
            sizes = self.state.sizes.get(source, [])
            partitions, groups = divided(source)
            of_groups = (bounds(partitions, groups, group) for group in range(groups))
            largest = max((sum(sizes[one] for one in of) for of in of_groups if sizes), default=0)
            # The input of a task has to fit in the object store of its node, beside other objects.
            fetches = largest > self.cluster.object_store // 2
        return StagePlan(
            name=stage["name"],
            shuffles={
                name: divided(name) for name in writes if name in self.flow.get("shuffles", {})
            },
            tables=[name for name in writes if name in self.flow.get("tables", [])],
            states=states,
            reads=reads,
            memory=memory,
            limit=limit,
            working=self.settings.task_memory,
            source=divided(source) if source is not None else None,
            fetches=fetches,
        )

    def _map_tasks(self, stage: Dict[str, Any]) -> int:
        """Returns how many Ray tasks run the tasks of a map. Each sends the states that it has
        written to, and a filter is sent almost as large as it is: those of all tasks together fit in
        half of the object stores, unless there is one for each CPU."""
        cpus = self.cluster.cpus
        many = min(len(stage["input"]["tasks"]), max(MAP_TASKS, 4 * cpus))
        for name in stage.get("writes", []):
            spec = self.flow.get("states", {}).get(name)
            if spec is not None and spec["kind"] not in SPARSE:
                fitting = self.cluster.object_stores // (2 * max(1, self.state_facts[name][0]))
                many = min(many, max(cpus, fitting))
        return many

    def _written_bytes(self, name: str, tasks_of_stage: int) -> int:
        """Returns what a task needs for a state that it writes to: the state and what it sends of
        it. Of a state with a number per page, a task holds those that it has set."""
        size = self.state_facts[name][0]
        if self.flow["states"][name]["kind"] not in SPARSE:
            return 2 * size
        return min(3 * size, 16 * MIB + SPARSE_COST * size // max(1, tasks_of_stage))

    def _submitter(self, stage: Dict[str, Any], plan: StagePlan) -> Tuple[int, int, Any]:
        """Returns the rows that a stage reads, its number of tasks, and a function that submits
        one."""
        shared = ray.put(plan)
        # A state that nobody has written to is empty.
        states = [self.state.states.get(name, b"") for name in plan.reads]

        def remote(several: Callable[..., Any], one: Callable[..., Any]) -> Any:
            function = several if plan.returns > 1 else one
            return self.cluster.remote(function, plan.name, plan.memory, plan.returns)

        if plan.source is None:
            map_remote = remote(tasks.map_task, tasks.map_facts)
            numbers = len(stage["input"]["tasks"])
            many = self._map_tasks(stage)

            def submit_map(task: int) -> List[Any]:
                mine = bounds(numbers, many, task)
                return _listed(map_remote.remote(self.reference, shared, mine, *states))

            return 0, many, submit_map
        reduce_remote = remote(tasks.reduce_task, tasks.reduce_facts)
        name = stage["input"]["shuffle"]
        written = self.state.shuffles.pop(name, [])
        rows = self.state.rows.pop(name, 0)
        # One task for several groups if there is little to do: a task costs milliseconds.
        size = sum(self.state.sizes.pop(name, []))
        groups = plan.source[1]
        count = max(1, min(groups, -(-size // TASK_BYTES)))

        def submit_reduce(task: int) -> List[Any]:
            mine = bounds(groups, count, task)
            inputs = [of_task[group] for group in mine for of_task in written]
            arguments = [inputs] if plan.fetches else inputs
            return _listed(reduce_remote.remote(self.reference, shared, mine, *states, *arguments))

        return rows, count, submit_reduce

    def _run_stage(self, stage: Dict[str, Any]) -> Dict[str, Any]:
        started = time.monotonic()
        plan = self._plan(stage)
        rows_in, count, submit = self._submitter(stage, plan)
        counters: Dict[str, int] = {}
        rows_out = bytes_out = peak = 0
        processor = 0.0
        outputs: Dict[int, List[Any]] = {}
        written: Dict[int, Dict[str, int]] = {}
        for task, references in self.cluster.bounded(plan.name, count, submit):
            facts = ray.get(references[-1])
            outputs[task] = references[:-1]
            written[task] = facts["states"]
            for counter, amount in facts["counters"].items():
                counters[counter] = counters.get(counter, 0) + amount
            for port, amount in facts["rows"].items():
                rows_out += amount
                if port in plan.shuffles:
                    self.state.rows[port] = self.state.rows.get(port, 0) + amount
            for port, sizes in facts["sizes"].items():
                bytes_out += sum(sizes)
                if port in plan.shuffles:
                    known = self.state.sizes.setdefault(port, [0] * len(sizes))
                    self.state.sizes[port] = [one + more for one, more in zip(known, sizes)]
            peak = max(peak, facts["peak"])
            processor += facts["processor"]
        order = range(count)
        self._collect(plan, [outputs[task] for task in order], [written[task] for task in order])
        report = {
            "name": plan.name,
            "tasks": count,
            "resumed": 0,
            "rows_in": rows_in,
            "rows_out": rows_out,
            "bytes_out": bytes_out,
            "spilled": 0,
            "seconds": time.monotonic() - started,
            "counters": counters,
        }
        if self.settings.on_stage:
            declared = self.cluster.declared(plan.memory)
            kind = "map" if plan.source is None else "reduce"
            facts = {**report, "memory": declared, "peak": peak, "processor": processor}
            more = {"fetches": plan.fetches, "fault": f"{plan.name}-{kind}"}
            self.settings.on_stage({**facts, **more})
        return report

    def _collect(
        self, plan: StagePlan, outputs: List[List[Any]], written: List[Dict[str, int]]
    ) -> None:
        """Takes over the objects of all tasks of a stage, in the order of the tasks. ``written``
        has the bytes of the states of each task."""
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
            parts = [objects[at] for objects, bytes_of in zip(outputs, written) if bytes_of[name]]
            if parts and name in state.states:
                parts.insert(0, state.states[name])
            if parts:
                state.states[name] = self._merged(name, parts)
            at += 1

    def _merged(self, name: str, parts: List[Any]) -> Any:
        """Merges states by a tree of tasks. All but the last send what was written; the last one
        makes a state that tasks can read where it is, and that can be merged if a later stage writes
        to it."""
        size, has_view = self.state_facts[name]
        if len(parts) == 1 and (size < VIEW_BYTES or not has_view):
            return parts[0]
        # The state, and the same serialised. The parts are in the object store.
        memory = 2 * size
        merge = self.cluster.remote(tasks.merge_task, name, memory, 2)
        last = "read and merge" if name in self._written_later() else "read"
        while True:
            chunks = [parts[at : at + MERGED] for at in range(0, len(parts), MERGED)]
            used_for = "merge" if len(chunks) > 1 else last
            made = [merge.remote(self.reference, name, used_for, *chunk) for chunk in chunks]
            parts = [state for state, _ in made]
            self.merges += [(name, memory, used) for _, used in made]
            if len(parts) == 1:
                return parts[0]

    def _report_merges(self) -> None:
        for name, memory, used in self.merges:
            self._report_task("merge", name, memory, ray.get(used))

    def _report_task(self, kind: str, name: str, memory: int, used: Dict[str, Any]) -> None:
        if self.settings.on_stage:
            facts = {"name": f"{kind} {name}", "fault": f"{name}-{kind}", "tasks": 1}
            self.settings.on_stage({**facts, "memory": self.cluster.declared(memory), **used})

    def _written_later(self) -> Set[str]:
        """Returns what the stages write that may run after the current one."""
        step = self.flow["steps"][self.state.step]
        later = self._later()
        if "stage" in step:
            later = later[1:]
        return {name for stage in later for name in stage.get("writes", [])}

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
                write = self.cluster.remote(tasks.write_task, name, self.settings.task_memory)
                report, used = ray.get(write.remote(self.reference, name, parts))
                self.state.written.append(json.loads(report))
                self._report_task("write", name, self.settings.task_memory, used)

    def _drop_unused(self) -> None:
        """Drops the objects that no later stage uses, so that Ray can delete them."""
        later = self._later()
        read = {one["input"].get("shuffle") for one in later}
        for name in set(self.state.shuffles) - read:
            del self.state.shuffles[name]
            self.state.rows.pop(name, None)
            self.state.sizes.pop(name, None)
        used = {name for one in later for key in ("reads", "writes") for name in one.get(key, [])}
        for name in set(self.state.states) - used:
            del self.state.states[name]

    # Recording and resuming: one file per object, and one that names them, written last.

    def _record(self) -> None:
        """Writes everything that the remaining stages need to the shared path."""
        begun = time.monotonic()
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
                name: [[file(one) for one in groups] for groups in of_tasks]
                for name, of_tasks in state.shuffles.items()
            },
            "tables": {name: [file(one) for one in parts] for name, parts in state.tables.items()},
            "states": {name: file(one) for name, one in state.states.items()},
            "rows": state.rows,
            "sizes": state.sizes,
            "position": [state.step, state.stage, state.round, state.changes],
            "stages": state.stages,
            "written": state.written,
        }
        save = self.cluster.remote(tasks.save_task, "record", STEP)
        for _ in self.cluster.bounded("record", len(saved), lambda at: [save.remote(*saved[at])]):
            pass
        tasks.save_task(str(self.folder / "record.json"), json.dumps(record).encode())
        for old in self.folder.iterdir():
            if old.is_dir() and old != folder:
                shutil.rmtree(old, ignore_errors=True)
        self.last_record = time.monotonic()
        # Recording terabytes must not take longer than the work that it saves.
        if self.settings.checkpoint > 0:
            self.pause = max(self.settings.checkpoint, PAUSE * (self.last_record - begun))

    def _resume(self) -> None:
        """Restores what an interrupted run of the same flow recorded."""
        try:
            record = json.loads((self.folder / "record.json").read_bytes())
        except (FileNotFoundError, ValueError):
            return
        if record.get("flow") != self.job.key:
            return
        folder = self.folder / record["folder"]
        load = self.cluster.remote(tasks.load_task, "record", self.settings.task_memory)

        def loaded(name: str) -> Any:
            return load.remote(str(folder / name))

        state = self.state
        state.shuffles = {
            name: [[loaded(one) for one in groups] for groups in of_tasks]
            for name, of_tasks in record["shuffles"].items()
        }
        state.tables = {
            name: [loaded(one) for one in parts] for name, parts in record["tables"].items()
        }
        state.states = {name: loaded(one) for name, one in record["states"].items()}
        state.rows = record["rows"]
        state.sizes = record["sizes"]
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
