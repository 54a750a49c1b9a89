"""Reading the records of archives, without decoding them: cento, FastWARC, warcio, and only decompressing the same bytes."""

import json
import os

from common import EXAMPLES, HERE, python_of, run
from data import archives
from table import Comparison

PEERS = {"FastWARC": "fastwarc", "warcio": "warcio"}
ONLY = {"only decompressing: zlib-ng": "zlib-ng", "only decompressing: ISA-L": "isal"}


def compare(settings):
    files = archives(settings.small)
    peer = lambda name, processes, paths: run([python_of("venv"), HERE / "peers/warc.py", name, processes, *paths])
    expected = json.loads(peer("exact", 2, files).output)
    some = files[: max(1, len(files) // 8)]
    expected_some = json.loads(peer("exact", 2, some).output)

    def check(expected, found):
        right = found == expected
        wanted = f"{expected['records']:,} records, {expected['bytes'] / 1e6:,.0f} MB"
        return (f"all {wanted}" if right else f"{found['records']:,} records, {found['bytes']:,} bytes of {wanted}"), right

    def ours(threads):
        return run([EXAMPLES / "read_speed", "--once", "--threads", threads, *files])

    def check_ours(one):
        # The example counts what it keeps, and what it ignores by kind; and the memory of records, not their bytes.
        records = sum(json.loads(one.output)["records"].values())
        return f"all {records:,} records" if records == expected["records"] else f"{records:,} of {expected['records']:,} records", records == expected["records"]

    size = expected["bytes"]
    note = (
        "Debian's documentation as WARC.gz, %d archives, %.0f MB packed: each record is found, its header is parsed, and its block is read. The truth is counted by "
        "a program that unpacks with zlib and cuts records by their Content-Length. Decompressing alone is not reading: it is the bound."
    ) % (len(files), sum(os.path.getsize(path) for path in files) / 1e6)
    one = Comparison("read", "Reading WARC records, 1 core", note, size)
    one.add("cento", lambda: ours(1), check_ours, ours=True)
    for name, peer_name in PEERS.items():
        slow = peer_name == "warcio"
        paths, wanted = (some, expected_some) if slow else (files, expected)
        one.add(
            name, lambda peer_name=peer_name, paths=paths: peer(peer_name, 1, paths), lambda found, wanted=wanted: check(wanted, json.loads(found.output)),
            size=wanted["bytes"], note="one archive of eight" if slow and not settings.small else "",
        )  # fmt: skip
    for name, peer_name in ONLY.items():
        one.add(name, lambda peer_name=peer_name: peer(peer_name, 1, files), size=size)
    two = Comparison("read-2", "Reading WARC records, 2 cores", "", size)
    two.add("cento, 2 threads", lambda: ours(2), check_ours, ours=True)
    two.add("FastWARC, 2 processes", lambda: peer("fastwarc", 2, files), lambda found: check(expected, json.loads(found.output)))
    return [one.measure(settings.rounds)] + ([] if settings.small else [two.measure(settings.rounds)])
