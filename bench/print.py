"""Text to grams, grams to sketches, words to fingerprints, on one core, compared with rensa and datasketch on the same texts.

The texts are English prose (PAN 2013, books) and web pages, from ../shared/data, and the Debian Reference in Chinese. Everything
runs in turn, `ROUNDS` times, and the best run of each counts, because the machine is shared.
"""

import gzip
import json
import os
import pathlib
import subprocess
import tarfile
import time

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"

import numpy
from datasketch import MinHash
from rensa import RMinHash

from common import FOLDER, HERE, TARGET, crawl

DATA = HERE.resolve().parent.parent / "shared/data"
SPEED = TARGET / "release/examples/print_speed"
ROUNDS = 3


def texts(name, files):
    """A file with one text per line; made on first use."""
    path = FOLDER / f"print/{name}.jsonl"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        subprocess.run([SPEED, "texts", path.with_suffix(".new"), *files], check=True)
        path.with_suffix(".new").rename(path)
    return path


def latin():
    folder = FOLDER / "print/files"
    if not folder.exists():
        folder.mkdir(parents=True)
        with tarfile.open(DATA / "pan13-train.tar.gz") as archive:
            for member in archive:
                if member.isfile() and member.name.endswith(".txt") and "pairs" not in member.name:
                    name = member.name.replace("/", "-")
                    (folder / name).write_bytes(archive.extractfile(member).read())
        for path in (DATA / "article-extraction/html").glob("*.html.gz"):
            (folder / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
        for path in (DATA / "textreuse").glob("*/*.txt"):
            (folder / path.name).write_bytes(path.read_bytes())
    return texts("latin", sorted(str(path) for path in folder.iterdir()))


def chinese():
    folder = FOLDER / "debian-reference-zh-cn"
    if not folder.exists():
        crawl()
    return texts("chinese", sorted(str(path) for path in folder.rglob("*.zh-cn.html")))


def ours(path):
    """The output of the example as a dictionary."""
    lines = subprocess.run([SPEED, "speed", path], check=True, capture_output=True, text=True).stdout.splitlines()
    return {name: float(value) for name, value in (line.split("\t") for line in lines)}


def rate(amount, work):
    """By processor time, so that other processes on the machine do not count."""
    begun = time.process_time()
    work()
    return amount / (time.process_time() - begun)


def grams(text):
    words = text.split()
    return [" ".join(words[place : place + 5]) for place in range(max(len(words) - 4, 1))]


def with_datasketch(tokens):
    sketch = MinHash(num_perm=128)
    for token in tokens:
        sketch.update(token.encode("utf8"))
    return sketch


def peers(documents):
    """Rates of the peers: megabytes per second from text, millions per second from hashes."""
    size = sum(len(text.encode()) for text in documents) / 1e6
    few = documents[:: max(len(documents) // 60, 1)]
    few_size = sum(len(text.encode()) for text in few) / 1e6
    generator = numpy.random.default_rng(1)
    lengths = [max(len(text.split()), 1) for text in documents]
    offsets = numpy.cumsum([0, *lengths]).astype(numpy.uint64)
    hashes = generator.integers(0, 2**63, int(offsets[-1]), dtype=numpy.uint64)
    million = len(hashes) / 1e6
    flat = RMinHash.digest_matrix_from_flat_token_hashes
    sampled = RMinHash.digest_matrix_from_flat_token_hashes_rho
    return {
        "rensa, words, 128 minima (its README), MB/s": rate(
            size, lambda: RMinHash.from_token_sets([text.split() for text in documents], num_perm=128, seed=42)
        ),
        "rensa, 5-grams, 84 minima, MB/s": rate(
            size, lambda: RMinHash.from_token_sets([grams(text) for text in documents], num_perm=84, seed=42)
        ),
        "datasketch, words, 128 minima (its README), MB/s": rate(
            few_size, lambda: [with_datasketch(text.split()) for text in few]
        ),
        "datasketch, 5-grams, 128 minima, MB/s": rate(few_size, lambda: [with_datasketch(grams(text)) for text in few]),
        "rensa from hashes, all of them, million/s": rate(million, lambda: flat(hashes, offsets, 84, 42)),
        "rensa from hashes, sampling (rho), million/s": rate(million, lambda: sampled(hashes, offsets, 84, 42)),
    }


def main():
    if not DATA.exists():
        print(f"no texts in {DATA}: nothing to measure")
        return
    path, chinese_path = latin(), chinese()
    documents = [json.loads(line) for line in path.open()]
    best, best_chinese, best_peers = {}, {}, {}
    for _ in range(ROUNDS):
        for found, into in [(ours(path), best), (peers(documents), best_peers), (ours(chinese_path), best_chinese)]:
            for name, value in found.items():
                into[name] = max(value, into.get(name, 0))
    for name, value in best.items():
        print(f"{value:>14.2f}  {name}")
    print(f"{best_chinese['text to 5-grams, MB/s']:>14.2f}  Chinese text to 5-grams, MB/s")
    for name, value in best_peers.items():
        print(f"{value:>14.2f}  {name}")
    text, hashes = best["text to sketches, MB/s"], best["grams to sketches, million/s"]
    for name, value in best_peers.items():
        base = hashes if "million" in name else text
        print(f"{base / value:>14.1f}  times as fast as {name.rsplit(',', 1)[0]}")
    holds("text to 5-grams, at least 250 MB/s", best["text to 5-grams, MB/s"] >= 250)
    holds("grams to sketches, at least 300 million/s", hashes >= 300)
    for name, value in best_peers.items():
        if "MB/s" in name:
            holds(f"text to sketches, at least 10 times {name.rsplit(',', 1)[0]}", text >= 10 * value)
    holds("dct keeps 10 %", best["dct:p=3 kept under a replacement, %"] >= 10)


def holds(what, so):
    print(f"{'holds' if so else 'FAILS'}: {what}")


if __name__ == "__main__":
    main()
