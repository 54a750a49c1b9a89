#!/usr/bin/env python3
"""Starts a Ray cluster of several nodes on this machine, to try `python -m cento.ray`.

    python tools/local_cluster.py --nodes 2 --cpus 1
    python -m cento.ray quilts crawl.cento --address ADDRESS      # in another terminal

Prints the address, and stops the cluster on Ctrl-C.
"""

from __future__ import annotations

import argparse
import signal
import threading

from cento.ray import local_cluster


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--cpus", type=int, default=1, help="of each node [1]")
    parser.add_argument("--memory", type=int, default=2048, metavar="MIB", help="for tasks [2048]")
    parser.add_argument("--object-store", type=int, default=100, metavar="MIB", help="[100]")
    typed = parser.parse_args()
    stop = threading.Event()
    memory, store = typed.memory << 20, typed.object_store << 20
    with local_cluster(typed.nodes, typed.cpus, memory, store) as cluster:
        # After Ray has set its own handlers.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        print(cluster.address, flush=True)
        stop.wait()


if __name__ == "__main__":
    main()
