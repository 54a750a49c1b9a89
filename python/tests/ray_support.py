"""What the tests on Ray clusters share."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Dict, Iterator, List

#: Enough for these corpora; the default is for large ones.
MEMORY = "--memory=256M"

CALLS = [
    ("copies", []),
    ("overlap", []),
    ("overlap", ["--replication"]),
    ("reuse", []),
    ("quilts", ["--collapse"]),
    ("phrases", []),
    ("passages", []),
    ("detect", ["--labels", "LABELS"]),
    ("discover", ["--most-frequent", "50", "-o", "OUTPUT"]),
]


def settings(**values: Any) -> Any:
    from cento.ray import ClusterSettings

    return ClusterSettings(**{"task_memory": 64 << 20, "groups": 4, **values})


def tables(folder: Path) -> Dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*.parquet")}


def findings_of(corpus: Path) -> Dict[str, bytes]:
    return tables(corpus / "findings")


def filled(words: List[str], labels: Path, output: Path) -> List[str]:
    """The words of a call, with files for their placeholders."""
    values = {"LABELS": str(labels), "OUTPUT": str(output)}
    return [*(values.get(word, word) for word in words), MEMORY]


def kept_memory(stages: List[Dict[str, Any]]) -> None:
    """Checks that no process had more memory than its task had declared."""
    ran = [stage for stage in stages if stage["tasks"] > 0]
    assert ran
    for stage in ran:
        assert 0 < stage["peak"] <= stage["memory"], stage


class LosingCluster:
    """A cluster whose nodes are lost, and replaced. Its head has no CPU, so that all tasks run on
    the other nodes, which are two at a time."""

    NODE = {"num_cpus": 1, "memory": 2 << 30, "object_store_memory": 150 << 20}
    #: A lost node is noticed after a second and a half rather than half a minute.
    HEALTH = {
        "health_check_initial_delay_ms": 1000,
        "health_check_period_ms": 500,
        "health_check_timeout_ms": 1000,
        "health_check_failure_threshold": 3,
    }

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 0, "object_store_memory": 150 << 20, "_system_config": self.HEALTH}
        # Handlers of signals can be set by the main thread alone, which is not the one that
        # replaces nodes.
        self.cluster = Cluster(initialize_head=True, head_node_args=head, shutdown_at_exit=False)
        self.address = self.cluster.address
        #: How many nodes were lost.
        self.lost = 0
        self._ended = threading.Event()
        for _ in range(2):
            self.cluster.add_node(**self.NODE)
        self._thread = threading.Thread(target=self._replace, daemon=True)
        self._thread.start()

    def _replace(self) -> None:
        while not self._ended.wait(0.2):
            for node in list(self.cluster.worker_nodes):
                if not node.remaining_processes_alive():
                    self.lost += 1
                    self.cluster.remove_node(node, allow_graceful=False)
            try:
                while len(self.cluster.worker_nodes) < 2:
                    self.cluster.add_node(**self.NODE)
            except Exception as error:  # Ray raises no narrower one.
                # On a busy machine a node may take longer to start than Ray waits for it.
                print(f"another node is started: {error}")

    def stop(self) -> None:
        self._ended.set()
        # Ray waits half a minute for a node that does not start.
        self._thread.join(timeout=60)
        self.cluster.shutdown()


@contextmanager
def losing_cluster() -> Iterator[LosingCluster]:
    import ray

    ray.shutdown()
    cluster = LosingCluster()
    try:
        ray.init(address=cluster.address, log_to_driver=False)
        yield cluster
    finally:
        ray.shutdown()
        cluster.stop()
