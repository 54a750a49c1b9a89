"""Indexes on a Ray cluster: the driver's side.

The tasks of an index are those of a local run: a file, or several small ones. Their boundaries, and
those of their parts, depend on the inputs alone, so the corpus has the same bytes. A worker writes
parts to the folder for unfinished ones; the driver, which holds the lock of the corpus, moves them
to their place and writes the manifest::

     task 0 ─ worker ─▶ CORPUS/tmp ─┐
     task 1 ─ worker ─▶ CORPUS/tmp ─┴─ driver ─▶ CORPUS/pages, text, chunks; manifest.json
"""

from __future__ import annotations

import time
from typing import Any, Dict, List

import ray

from cento import _ray_tasks as tasks
from cento._ray_flow import PAUSE, Cluster, ClusterSettings
from cento._ray_tasks import Job

#: How often finished tasks are committed at most. Each commit writes the manifest, which names all
#: parts: with a million of them, commits are rarer.
COMMIT_SECONDS = 5.0


def run_index(
    server: Any, job: Job, unfinished: List[int], settings: ClusterSettings, opened: int = 0
) -> None:
    """Runs all tasks of the index that a command has reached, and commits them."""
    started = time.monotonic()
    cluster = Cluster(settings, opened)
    reference = ray.put(job)
    remote = cluster.remote(tasks.index_task, "index", settings.task_memory)

    def submit(at: int) -> List[Any]:
        return [remote.remote(reference, unfinished[at], settings.task_memory)]

    waiting: List[str] = []
    committed, pause = time.monotonic(), COMMIT_SECONDS
    peak, processor = 0, 0.0
    for _, references in cluster.bounded("index", len(unfinished), submit):
        finished, used = ray.get(references[0])
        waiting.append(finished)
        peak = max(peak, used["peak"])
        processor += used["processor"]
        begun = time.monotonic()
        if begun - committed > pause:
            server.commit_tasks(waiting)
            waiting, committed = [], time.monotonic()
            pause = max(COMMIT_SECONDS, PAUSE * (committed - begun))
    server.commit_tasks(waiting)
    server.finish_index()
    if settings.on_stage:
        facts: Dict[str, Any] = {
            "name": "index",
            "tasks": len(unfinished),
            "seconds": time.monotonic() - started,
            "memory": cluster.declared(settings.task_memory),
            "peak": peak,
            "processor": processor,
        }
        settings.on_stage(facts)
