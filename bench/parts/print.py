"""Text to grams, grams to sketches, words to fingerprints, on one core, compared with rensa and datasketch on the same texts.

The texts are English prose (PAN 2013, books) and web pages, from ../shared/data, and the Debian Reference in Chinese. Everything
runs in turn, and the best run of each counts.
"""

import gzip
import json
import os
import re
import subprocess
import tarfile
import time

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"

import numpy
from datasketch import MinHash
from rensa import RMinHash

from common import EXAMPLES, FOLDER, SHARED, NoData, crawl
from table import listed, times

SPEED = EXAMPLES / "print_speed"


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
        with tarfile.open(SHARED / "pan13-train.tar.gz") as archive:
            for member in archive:
                if member.isfile() and member.name.endswith(".txt") and "pairs" not in member.name:
                    name = member.name.replace("/", "-")
                    (folder / name).write_bytes(archive.extractfile(member).read())
        for path in (SHARED / "article-extraction/html").glob("*.html.gz"):
            (folder / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
        for path in (SHARED / "textreuse").glob("*/*.txt"):
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
    found = {name: float(value) for name, value in (line.split("\t") for line in lines)}
    return {re.sub("^the same, (.*)", r"grams to sketches, \1, million/s", name): value for name, value in found.items()}


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


def compare(settings):
    if not (SHARED / "pan13-train.tar.gz").exists():
        raise NoData(f"there are no texts in {SHARED}")
    path, chinese_path = latin(), chinese()
    documents = [json.loads(line) for line in path.open()]
    best, best_chinese, best_peers = {}, {}, {}
    for _ in range(1 if settings.small else 3):
        for found, into in [(ours(path), best), (peers(documents), best_peers), (ours(chinese_path), best_chinese)]:
            for name, value in found.items():
                into[name] = max(value, into.get(name, 0))
    best["text to 5-grams, Chinese, MB/s"] = best_chinese["text to 5-grams, MB/s"]
    facts = [best.pop(name) for name in ("texts", "megabytes", "million words")]
    note = f"{facts[0]:,.0f} texts, {facts[1]:,.0f} MB, {facts[2]:,.1f} million words."
    number = lambda value: f"{value:,.1f}" if value < 100 else f"{value:,.0f}"
    rows = [["", "rate"], *([name, number(value)] for name, value in best.items())]
    tables = [listed("print", rows, "Grams, sketches and fingerprints, 1 core", note)]
    rows = [["", "rate", "cento is faster by"]]
    for name, value in best_peers.items():
        base = best["grams to sketches, million/s" if "million" in name else "text to sketches, MB/s"]
        rows.append([name, number(value), times(base / value)])
    return [*tables, listed("print-peers", rows, "Sketches by peers, 1 core", "Compared with text to sketches, or grams to sketches.")]
