"""Indexes and analyses on a Ray cluster::

    python -m cento.ray index crawl/*.warc.gz -o /shared/crawl.cento --address auto
    python -m cento.ray quilts --address auto /shared/crawl.cento --theta 0.3

The corpus is on a path that all nodes see under the same name. Corpus and findings are those of the
program, byte for byte.

The driver runs the command up to a step, which is an index or a flow, and hands its tasks to Ray. A
worker runs the same command up to the same step, and then any of its tasks
(:mod:`cento._ray_tasks`). :mod:`cento._ray_index` and :mod:`cento._ray_flow` submit the tasks.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import ray

from cento import _cento
from cento._command import Output
from cento._errors import Error, UsageError
from cento._findings import Findings
from cento._ray_flow import ClusterSettings, FlowRunner, partitions_of
from cento._ray_index import run_index
from cento._ray_tasks import MIB, Job, anonymous_memory

__all__ = ["ClusterSettings", "index", "local_cluster", "run"]

#: Commands that make a corpus. The names of their inputs become part of it, so they are passed to
#: the workers as they were typed.
INDEXING = ("index", "scan")


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
    typed = [str(word) for word in words]
    if typed and typed[0] not in INDEXING:
        typed = _absolute(typed)
    typed += _resources(typed, settings)
    before = anonymous_memory()
    server = _cento.FlowServer(typed, True, False)
    try:
        while True:
            step = server.next_step()
            if step is None:
                break
            job = _job(typed, step, settings)
            # A worker runs the same command up to the same step, and then holds as much.
            opened = max(0, anonymous_memory() - before)
            if "corpus" in step:
                run_index(server, job, step["tasks"], settings, opened)
            else:
                flow = json.loads(server.set_partitions(job.partitions))
                folder = Path(step["tables"]) / "ray"
                runner = FlowRunner(job, flow, folder, settings, step["states"], opened)
                server.finish(runner.run())
    except BaseException:
        server.cancel()
        raise
    result = server.result()
    findings = [Findings(one) for one in result["findings"]]
    return Output(result["status"], result["text"], result["notes"], findings)


def index(
    inputs: Sequence[object],
    output: object,
    *words: object,
    address: Optional[str] = None,
    settings: Optional[ClusterSettings] = None,
) -> Output:
    """Makes a corpus from inputs on a cluster: ``index(["crawl/"], "/shared/crawl.cento")``.

    Further words are options of ``cento index``.
    """
    return run("index", *inputs, "-o", output, *words, address=address, settings=settings)


def _job(words: List[str], step: Dict[str, Any], settings: ClusterSettings) -> Job:
    # A worker uses the findings of earlier flows of this command, even if the driver was told to
    # compute them again.
    of_worker = [word for word in words if word != "--again"]
    flow = step.get("flow", "")
    folder = os.fspath(step["tables"] if flow else step["corpus"])
    current = os.getcwd() if words[0] in INDEXING else None
    # A command may index several times: it resumes a run, and then adds inputs.
    tasks = step.get("tasks")
    partitions = partitions_of(json.loads(flow), settings.groups) if flow else 0
    content = json.dumps([_cento.__version__, of_worker, flow, folder, current, tasks, partitions])
    key = hashlib.blake2b(content.encode(), digest_size=16).hexdigest()
    tested = (settings.faults, settings.killed)
    return Job(tuple(of_worker), flow, folder, key, partitions, current, *tested)


def _resources(words: List[str], settings: ClusterSettings) -> List[str]:
    """Returns options for the memory and the threads, unless they were typed.

    Flows depend on both, and workers on other machines have to reach the same flow, also those of a
    later cluster that resumes it. What an analysis divides among its threads is divided among a
    quarter of the groups here; with more than that, its shuffles grow faster than tasks shrink.
    """
    usual = {"--memory": 1 << 30, "--threads": min(64, max(1, settings.groups // 4))}
    typed = {word.split("=")[0] for word in words}
    return [f"{name}={value}" for name, value in usual.items() if name not in typed]


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
        usage="python -m cento.ray VERB CORPUS [options]\n       python -m cento.ray index INPUT... -o CORPUS [options]",
        description="Runs a command of cento on a Ray cluster. All other options are those of the "
        "command: see `cento VERB --help`. The corpus must be on a path that all nodes see.",
    )
    parser.add_argument("--address", help="the cluster: auto, or HOST:PORT [default: a local one]")
    parser.add_argument(
        "--task-memory", type=int, default=512, metavar="MIB", help="memory of a task, without its input and states [512]"
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
