"""Reading the records of archives, without decoding: cento, FastWARC, and inflating the same bytes with zlib-ng."""

import re
import subprocess
import sys
import time

from common import FOLDER, HERE, TARGET, crawl, warm

ROUNDS = 3


def cento(archives, *options):
    """The best of three rounds, in seconds, without decoding."""
    command = [TARGET / "release/examples/read_speed", *options, *archives]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return min(float(seconds) for seconds in re.findall(r"^read: ([0-9.]+) s", output, re.MULTILINE))


def peer(name, archives):
    command = [sys.executable, HERE / "read.py", name, *archives]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def fastwarc(path):
    from fastwarc.warc import ArchiveIterator

    return sum(len(record.reader.read()) for record in ArchiveIterator(path, parse_http=False))


def zlib_ng(path):
    from zlib_ng import gzip_ng

    size, piece = 0, bytearray(1 << 20)
    with gzip_ng.open(path, "rb") as file:
        while count := file.readinto(piece):
            size += count
    return size


def best(work, archives):
    seconds = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        for path in archives:
            work(path)
        seconds.append(time.perf_counter() - begun)
    return min(seconds)


def main():
    if sys.argv[1:]:
        print(best({"fastwarc": fastwarc, "zlib-ng": zlib_ng}[sys.argv[1]], sys.argv[2:]))
        return
    archives = crawl()
    one = FOLDER / "one.warc.gz"
    if not one.exists():
        with open(one, "wb") as file:
            for path in archives:
                file.write(open(path, "rb").read())
    warm([*archives, one])
    size = zlib_ng(one)
    alone = cento(archives)
    rows = [
        ("cento, 1 core", alone),
        ("FastWARC, 1 core", peer("fastwarc", archives)),
        ("only inflating, with zlib-ng, 1 core", peer("zlib-ng", archives)),
        ("cento, the files on 2 cores", cento(archives, "--threads", "2")),
        ("cento, one file of all, 1 core", cento([one])),
        ("cento, one file of all, 2 cores", cento([one], "--helpers", "1")),
    ]
    print(f"{'':38}{'seconds':>9}{'MB/s':>7}  cento on 1 core is")
    for name, seconds in rows:
        print(f"{name:38}{seconds:>9.2f}{size / 1e6 / seconds:>7.0f}{seconds / alone:>8.2f}×")


if __name__ == "__main__":
    main()
