"""Reads all records of archives, without decoding them, or only decompresses them; prints the number of records and the bytes of their blocks.

    warc.py fastwarc|warcio|zlib-ng|isal|exact PROCESSES ARCHIVE…
"""

import json
import multiprocessing
import sys


def fastwarc(path):
    from fastwarc.warc import ArchiveIterator

    records = size = 0
    for record in ArchiveIterator(path, parse_http=False):
        records += 1
        size += len(record.reader.read())
    return records, size


def warcio(path):
    from warcio.archiveiterator import ArchiveIterator

    records = size = 0
    with open(path, "rb") as stream:
        for record in ArchiveIterator(stream, no_record_parse=True):
            records += 1
            size += len(record.raw_stream.read())
    return records, size


def pieces(file):
    size, piece = 0, bytearray(1 << 20)
    while count := file.readinto(piece):
        size += count
    return 0, size


def zlib_ng(path):
    from zlib_ng import gzip_ng

    with gzip_ng.open(path, "rb") as file:
        return pieces(file)


def isal(path):
    from isal import igzip

    with igzip.open(path, "rb") as file:
        return pieces(file)


def exact(path):
    """The definition: a header, an empty line, as many bytes as it says, two empty lines."""
    import gzip

    records = size = 0
    with gzip.open(path, "rb") as file:
        while head := file.readline():
            assert head.startswith(b"WARC/"), head
            length = None
            while (line := file.readline()) != b"\r\n":
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            assert len(file.read(length)) == length and file.read(4) == b"\r\n\r\n"
            records += 1
            size += length
    return records, size


def main():
    name, processes, *paths = sys.argv[1:]
    work = globals()[name.replace("-", "_")]
    if int(processes) == 1:
        done = [work(path) for path in paths]
    else:
        with multiprocessing.Pool(int(processes)) as pool:
            done = pool.map(work, paths, chunksize=1)
    print(json.dumps({"records": sum(one for one, _ in done), "bytes": sum(one for _, one in done)}))


if __name__ == "__main__":
    main()
