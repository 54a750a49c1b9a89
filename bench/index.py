"""`cento index` against FastWARC + resiliparse and FastWARC + selectolax, 2 threads against 2 processes."""

import json
import sys

from common import CENTO, HERE, crawl, fresh, measure, warm


def peer(extract, archives):
    output, seconds, memory = measure([sys.executable, HERE / "peer_index.py", extract, 2, *archives])
    pages, size, _text, _inner = output.split()
    return int(pages), int(size), seconds, memory


def cento(archives, threads):
    corpus = fresh("index.cento")
    output, seconds, memory = measure(
        [CENTO, "index", *archives, "-o", corpus, "--threads", threads, "--json"]
    )
    counts = json.loads(output)
    return counts["counts"]["pages"], counts["counts"]["payload_bytes"], seconds, memory


def main():
    archives = crawl()
    warm(archives)
    rows = [
        ("cento index, 2 threads", cento(archives, 2)),
        ("cento index, 1 thread", cento(archives, 1)),
        ("FastWARC + resiliparse, 2 processes", peer("resiliparse", archives)),
        ("FastWARC + selectolax, 2 processes", peer("selectolax", archives)),
    ]
    ours = rows[0][1][0] / rows[0][1][2]
    print(f"{'':38}{'pages':>8}{'seconds':>9}{'pages/s':>9}{'MB/s':>7}{'MiB':>7}  cento is")
    for name, (pages, size, seconds, memory) in rows:
        rate = pages / seconds
        print(
            f"{name:38}{pages:>8}{seconds:>9.1f}{rate:>9.0f}{size / 1e6 / seconds:>7.0f}{memory:>7.0f}"
            f"{ours / rate:>8.2f}×"
        )


if __name__ == "__main__":
    main()
