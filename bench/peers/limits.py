"""Measures what one core, the memory and the disk can do; prints megabytes a second as JSON.

    limits.py TEXTS ARCHIVE.warc.gz FILE MEGABYTES
"""

import hashlib
import json
import os
import sys
import time
import zlib

import blake3
import deflate
import numpy
import xxhash
import zstandard
from isal import isal_zlib
from zlib_ng import zlib_ng

ROUNDS = 3


def rate(size, work, rounds=ROUNDS):
    """Processor time, because other processes on the machine do not change it."""
    least = None
    for _ in range(rounds):
        begun = time.process_time()
        work()
        spent = time.process_time() - begun
        least = spent if least is None else min(least, spent)
    return size / 1e6 / max(least, 1e-9)


def elapsed(size, work):
    begun = time.perf_counter()
    work()
    return size / 1e6 / (time.perf_counter() - begun)


def members(data):
    """The gzip members of an archive, each as it is, with its unpacked size. The last one may be cut, and is left out."""
    found, at, piece = [], 0, 1 << 16
    while at < len(data):
        unpack, size, end = zlib.decompressobj(31), 0, at
        while not unpack.eof and end < len(data):
            size += len(unpack.decompress(data[end : end + piece]))
            end += piece
        if not unpack.eof:
            break
        end = min(end, len(data)) - len(unpack.unused_data)
        found.append((data[at:end], size))
        at = end
    return found


def disk(path, megabytes):
    block = os.urandom(1 << 20)

    def write():
        with open(path, "wb") as file:
            for _ in range(megabytes):
                file.write(block)
            file.flush()
            os.fsync(file.fileno())

    def read():
        with open(path, "rb", buffering=0) as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            while file.read(1 << 20):
                pass

    rates = {"disk: write and sync, elapsed": elapsed(megabytes << 20, write), "disk: read what is not cached, elapsed": elapsed(megabytes << 20, read)}
    os.remove(path)
    return rates


def main():
    texts, archive, path, megabytes = sys.argv[1:]
    with open(texts, "rb") as file:
        text = file.read(128 << 20)
    rates = {
        "hash: XXH3, 64 bits": rate(len(text), lambda: xxhash.xxh3_64(text).digest()),
        "hash: BLAKE3": rate(len(text), lambda: blake3.blake3(text).digest()),
        "hash: SHA-1, in hardware": rate(len(text), lambda: hashlib.sha1(text).digest()),
    }
    # In pieces of the size of Parquet's pages.
    pieces = [text[at : at + (1 << 20)] for at in range(0, len(text), 1 << 20)]
    for level in (3, 1):
        compressor = zstandard.ZstdCompressor(level=level)
        packed = [compressor.compress(piece) for piece in pieces]
        rates[f"zstd, level {level}: compress text"] = rate(len(text), lambda compressor=compressor: [compressor.compress(piece) and None for piece in pieces], 1)
    unpacker = zstandard.ZstdDecompressor()
    rates["zstd: decompress text"] = rate(len(text), lambda: [unpacker.decompress(piece) and None for piece in packed])
    with open(archive, "rb") as file:
        data = file.read(24 << 20)
    parts = members(data)
    size = sum(size for _, size in parts)
    for name, unpack in (("zlib", zlib.decompress), ("zlib-ng", zlib_ng.decompress), ("ISA-L", isal_zlib.decompress)):
        rates[f"gzip records of HTML: {name}"] = rate(size, lambda unpack=unpack: [unpack(part, 31) for part, _ in parts])
    rates["gzip records of HTML: libdeflate"] = rate(size, lambda: [deflate.gzip_decompress(part, size) for part, size in parts])
    array = numpy.zeros(64 << 20, numpy.uint64)
    other = numpy.ones_like(array)
    rates["memory: copy 512 MiB (bytes copied)"] = rate(array.nbytes, lambda: numpy.copyto(array, other))
    rates["memory: read 512 MiB"] = rate(array.nbytes, lambda: array.max())
    places = numpy.random.default_rng(1).integers(0, len(array), 1 << 22)
    rates["memory: random reads of 8 bytes in 512 MiB (bytes read)"] = rate(places.nbytes, lambda: array.take(places))
    numbers = numpy.random.default_rng(1).integers(0, 1 << 63, 1 << 24)
    rates["sort: random numbers of 8 bytes, 128 MiB"] = rate(numbers.nbytes, lambda: numpy.sort(numbers))
    rates |= disk(path, int(megabytes))
    print(json.dumps(rates))


main()
