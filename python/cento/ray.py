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
import socket
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

try:
    import ray
except ModuleNotFoundError as missing:
    if missing.name != "ray":
        raise
    message = "Ray is not installed; install it with: pip install 'cento[ray]'"
    if __name__ == "__main__":
        sys.exit(f"error: {message}")
    raise ModuleNotFoundError(message, name="ray") from None

from cento import _cento
from cento._command import Output
from cento._errors import Error, UsageError, exit_status
from cento._findings import Findings
from cento._ray_flow import ClusterSettings, FlowRunner, partitions_of
from cento._ray_index import run_index
from cento._ray_tasks import MIB, Job, anonymous_memory
from cento._words import verbs

__all__ = ["ClusterSettings", "index", "local_cluster", "run"]

#: Commands that make a corpus. The names of their inputs become part of it, so they are passed to
#: the workers as they were typed.
INDEXING = ("index", "scan")
#: Commands that run on one node, and refuse options that have no effect on a corpus.
SMALL = ("info", "cat", "query", "synth")
#: How long a cluster may take to accept a connection.
CONNECT_SECONDS = 15.0
#: Exit status after Ctrl-C, as that of the program.
INTERRUPTED = 130


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

    Connects to the cluster at ``address`` unless Ray is initialised already: ``auto`` is the one of
    this node; None is the same one, or a new local one if there is none. A command that is wrong,
    or whose findings are cached, needs no cluster.
    """
    settings = settings or ClusterSettings()
    settings.validate()
    try:
        return _run(words, address, settings)
    except ray.exceptions.RayTaskError as error:
        # Ray's own message is the trace of the worker.
        cause = getattr(error, "cause", None)
        if isinstance(cause, Error):
            raise cause from None
        raise


def _connect(address: Optional[str], settings: ClusterSettings) -> None:
    """Connects to a cluster, or starts a local one, and reports where its dashboard is."""
    if address is not None and address not in ("auto", "local"):
        _reach(address)
    try:
        context = ray.init(address=address, log_to_driver=False)
    except ValueError as error:
        raise UsageError(f"--address {address}: {error}", "use auto, or HOST:PORT") from None
    except (ConnectionError, RuntimeError) as error:
        raise Error(f"cannot connect to a Ray cluster: {error}", START_HINT) from None
    url = getattr(context, "dashboard_url", None)
    if settings.report and url:
        settings.report(f"dashboard: http://{url}")


START_HINT = "start one with `ray start --head`, or omit --address to use this machine alone"


def _reach(address: str) -> None:
    """Raises an error if nothing accepts connections at an address: Ray would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not host or not port.isdigit() or int(port) > 65535:
        raise UsageError(f"--address {address} is no address", "use auto, or HOST:PORT")
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise Error(f"no Ray cluster at {address}: {reason}", START_HINT) from None


def _run(words: Sequence[object], address: Optional[str], settings: ClusterSettings) -> Output:
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
            if step.get("temporary"):
                # Each worker would have a temporary folder of its own.
                raise UsageError(
                    f"on a cluster, cento {typed[0]} needs a corpus, or --findings for its results",
                    "make a corpus first: python -m cento.ray index INPUT... -o CORPUS",
                )
            job = _job(typed, step, settings)
            # A worker runs the same command up to the same step, and then holds as much.
            opened = max(0, anonymous_memory() - before)
            if not ray.is_initialized():
                _connect(address, settings)
                # Without what Ray needs in this process.
                before = anonymous_memory() - opened
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
    if not words or words[0] in SMALL:
        return []
    two = " ".join(words[:2])
    verb = verbs().get(two) or verbs().get(words[0]) or {"options": []}
    known = {f"--{option['long']}" for option in verb["options"]}
    usual = {"--memory": 1 << 30, "--threads": min(64, max(1, settings.groups // 4))}
    typed = {word.split("=")[0] for word in words}
    return [f"{name}={value}" for name, value in usual.items() if name in known - typed]


def _absolute(words: List[str]) -> List[str]:
    """Makes the names of files absolute, in inputs and in options: workers run in other folders."""
    verb = verbs().get(" ".join(words[:2])) or verbs().get(words[0]) or {"options": []}
    options: Dict[str, Any] = {}
    for option in verb["options"]:
        options[f"--{option['long']}"] = options[f"-{option['short']}"] = option
    result = words[:1]
    #: The option whose value is next.
    option = None
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if word.startswith("-") and word != "-":
            option = options.get(name)
            if option and equals:
                word = f"{name}={_of_option(option, value)}"
            if equals or not (option and option["takes_values"]):
                option = None
        elif option is None:
            word = _path(word)
        else:
            word = _of_option(option, word)
            option = option if option["many"] else None
        result.append(word)
    return result


def _path(word: str) -> str:
    return os.path.abspath(word) if os.path.exists(word) else word


def _of_option(option: Dict[str, Any], value: str) -> str:
    """Returns the value of an option. Numbers and choices name no file, even if there is one."""
    return _path(value) if option["kind"] in ("path", "text") else value


HELP = ("-h", "--help")


def _divided(words: List[str], own: Sequence[str]) -> Tuple[List[str], List[str]]:
    """Divides words into the options of this program, with their values, and those of cento."""
    mine: List[str] = []
    rest: List[str] = []
    remaining = iter(words)
    for word in remaining:
        if word in HELP:
            mine.append("--help")
        elif word in own:
            mine += [word, *([value] if (value := next(remaining, None)) is not None else [])]
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
    parser.add_argument("--address", help="the cluster: auto, or HOST:PORT [default: that of this node, or a new local one]")
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
    own = ["--address", "--task-memory", "--groups", "--in-flight", "--checkpoint"]
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
        return exit_status(error)
    except KeyboardInterrupt:
        print("interrupted; the same command resumes", file=sys.stderr)
        return INTERRUPTED
    for note in output.notes:
        print(note, file=sys.stderr)
    print(output.text, end="")
    return output.status


if __name__ == "__main__":
    # As a module with its own name, so that workers find the functions.
    from cento.ray import main as main_of_module

    sys.exit(main_of_module())
