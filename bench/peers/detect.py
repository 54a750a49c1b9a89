"""Finds the chunks of one corpus in another by comparing strings: the definition of `cento detect --against`, without hashes.

    detect.py ORIGINALS CORPUS STOPS.txt LEAST OUTPUT.tsv

Reads the texts of both corpora, and writes page and ordinal of each chunk that is found. STOPS.txt is what `cento labels stops` prints.
"""

import re
import sys

import duckdb


def normal(chunk):
    return " ".join(chunk.split()).casefold()


def chunks_of(text):
    return [chunk.strip() for chunk in re.split(r"\n[^\S\n]*\n", text) if chunk.strip()]


def stopped(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("[chunks]")[1].split("[files]")[0].splitlines()
    lines = [line for line in lines if line and not line.startswith("#")]
    return {normal(line.replace("\\\\", "\0").replace("\\", "").replace("\0", "\\")) for line in lines}


def texts(corpus):
    return duckdb.sql(f"select page_id, text from '{corpus}/text/*.parquet' order by page_id").fetchall()


def main():
    originals, corpus, stops, least, output = sys.argv[1:]
    ignored, labels = stopped(stops), set()
    for _, text in texts(originals):
        for chunk in chunks_of(text):
            if len(chunk.encode()) >= int(least) and normal(chunk) not in ignored:
                labels.add(normal(chunk))
    with open(output, "w") as out:
        for page, text in texts(corpus):
            for ordinal, chunk in enumerate(chunks_of(text)):
                if normal(chunk) in labels:
                    out.write(f"{page}\t{ordinal}\n")


main()
