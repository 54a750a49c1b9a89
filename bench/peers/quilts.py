"""Quilts with other programs: distinct 5-grams of pages, patch grams (on 2 to 50 pages), patchy pages (at least half of their grams are patch
grams), triples (patchy page, gram, other page with it), and the sources of quilts: patchy pages whose greedy cover has at least four pages.

    quilts.py duckdb|polars|numpy TEXTS.jsonl FOLDER

Grams are made by numpy in two processes (words.py), and covers too (covers.py). Three formulations group the grams. Each writes the table of
patchy pages to FOLDER/patchy.parquet and the sources to FOLDER/sources.parquet, and prints its counts as JSON.
"""

import json
import multiprocessing
import os
import sys
import time

import covers
import numpy
import words

LEAST, MOST, SHARE, SOURCES = 2, 50, 0.5, 4
BUCKETS = 64


def saved_groups(gram, page, folder):
    """The groups of grams that ascend, two for each process."""
    edges = numpy.searchsorted(gram, gram[numpy.linspace(0, len(gram) - 1, 2 * words.PROCESSES + 1).astype(int)[1:-1]])
    names = []
    for number, (begin, end) in enumerate(zip([0, *edges], [*edges, len(gram)])):
        some = gram[begin:end]
        begins = numpy.flatnonzero(numpy.concatenate([[True], some[1:] != some[:-1]]))
        names.append(f"{folder}/group-{number}")
        covers.save_group(names[-1], page[begin:end], numpy.diff(numpy.append(begins, len(some))))
    return names


def quilts(pool, groups, patchy, folder):
    """Covers the patchy pages, writes the sources, and returns the number of quilts and of sources."""
    import duckdb

    rows = covers.covers(pool, groups, numpy.asarray(patchy), SOURCES, folder)
    page, source, grams = (numpy.array(column, numpy.int64) for column in zip(*rows)) if rows else [numpy.zeros(0, numpy.int64)] * 3
    sources = {"page": page, "source": source, "grams": grams}  # noqa: F841, DuckDB reads it
    duckdb.sql(f"copy (select * from sources) to '{folder}/sources.parquet'")
    return len(numpy.unique(page)), len(page)


def with_duckdb(path, folder):
    import duckdb

    gram, page, _, _ = words.rows(path, words.five_grams, folder)
    made = time.time()
    db = duckdb.connect()
    for setting in ("threads=2", "enable_progress_bar=false", "preserve_insertion_order=false"):
        db.execute(f"set {setting}")
    rows = {"gram": gram, "page": page}  # noqa: F841, DuckDB reads it
    db.execute(f"create table patch as select gram, count(*) n from rows group by gram having n between {LEAST} and {MOST}")
    db.execute("create table posting as select r.gram, r.page, n from rows r join patch using (gram)")
    db.execute(
        f"""create table patchy as select page, grams, patches from (select page, count(*) patches from posting group by page)
            join (select page, count(*) grams from rows group by page) using (page) where patches::double / grams >= {SHARE}"""
    )
    db.execute(f"copy patchy to '{folder}/patchy.parquet'")
    # Each gram of a patchy page makes a triple with each other page that has it, so no join is needed to count them.
    triples = db.execute("select sum(n - 1)::bigint from posting semi join patchy using (page)").fetchone()[0]
    patchy = db.execute("select page from patchy").fetchnumpy()["page"]
    # Only the grams of patchy pages are needed for covers.
    posting = db.execute("select gram, page from posting semi join (select gram from posting semi join patchy using (page)) using (gram) order by gram").fetchnumpy()
    postings = db.execute("select count(*) from posting").fetchone()[0]
    groups = saved_groups(posting["gram"], posting["page"], folder)
    with multiprocessing.Pool(words.PROCESSES) as pool:
        found = quilts(pool, groups, patchy, folder)
    return len(gram), postings, len(patchy), triples, *found, made


def with_polars(path, folder):
    os.environ["POLARS_MAX_THREADS"] = "2"
    import polars

    gram, page, _, _ = words.rows(path, words.five_grams, folder)
    made = time.time()
    rows = polars.DataFrame({"gram": gram, "page": page})
    patch = rows.lazy().group_by("gram").agg(polars.len().alias("n")).filter(polars.col("n").is_between(LEAST, MOST))
    posting = rows.lazy().join(patch, on="gram").collect()
    patches = posting.group_by("page").agg(polars.len().alias("patches"))
    grams = rows.group_by("page").agg(polars.len().alias("grams"))
    patchy = patches.join(grams, on="page").filter(polars.col("patches") / polars.col("grams") >= SHARE)
    patchy.write_parquet(f"{folder}/patchy.parquet")
    own = posting.join(patchy, on="page", how="semi")
    triples = own.select((polars.col("n").cast(polars.Int64) - 1).sum()).item()
    # Only the grams of patchy pages are needed for covers.
    needed = posting.join(own.select("gram").unique(), on="gram", how="semi").sort("gram")
    groups = saved_groups(needed["gram"].to_numpy(), needed["page"].to_numpy(), folder)
    # Threads of polars do not survive a fork.
    with multiprocessing.get_context("spawn").Pool(words.PROCESSES) as pool:
        found = quilts(pool, groups, patchy["page"].to_numpy(), folder)
    return len(gram), len(posting), len(patchy), triples, *found, made


# The formulation without a database: grams and pages are packed into one number, so that sorting groups them. Pages are in the lowest bits,
# and the highest bits of a gram are those of its bucket.


def bucketed(job):
    """Writes the distinct grams of the pages of a range to a file for each bucket, with the number of each page."""
    (path, begin, end), first, bits, part, folder = job
    hasher = words.Hasher()
    edges = numpy.arange(1, BUCKETS, dtype=numpy.uint64) << numpy.uint64(64 - BUCKETS.bit_length() + 1)
    outs = [open(f"{folder}/bucket-{bucket}-{part}", "wb") for bucket in range(BUCKETS)]
    counts, shift = [], numpy.uint64(bits)
    with numpy.errstate(over="ignore"):
        for number, row in enumerate(words.lines_of(path, begin, end)):
            grams = words.five_grams(hasher.words(row["text"]))
            counts.append(len(grams))
            places = [0, *numpy.searchsorted(grams, edges).tolist(), len(grams)]
            packed = (grams << numpy.uint64(BUCKETS.bit_length() - 1)) >> shift << shift | numpy.uint64(first + number)
            for bucket, out in enumerate(outs):
                if places[bucket] < places[bucket + 1]:
                    packed[places[bucket] : places[bucket + 1]].tofile(out)
    for out in outs:
        out.close()
    return counts


def grouped(job):
    """The patch grams of some buckets: for each page, how many there are, and how many other pages have them, added up."""
    buckets, bits, pages, folder = job
    patches, others = numpy.zeros(pages, numpy.int64), numpy.zeros(pages, numpy.int64)
    low = numpy.uint64((1 << bits) - 1)
    for bucket in buckets:
        names = [f"{folder}/bucket-{bucket}-{part}" for part in range(words.PROCESSES)]
        packed = numpy.concatenate([numpy.fromfile(name, numpy.uint64) for name in names])
        packed.sort()
        gram = packed >> numpy.uint64(bits)
        begins = numpy.flatnonzero(numpy.concatenate([[True], gram[1:] != gram[:-1]]))
        sizes = numpy.diff(numpy.append(begins, len(gram)))
        # Most grams are on one page: only the others are looked at again.
        several = (sizes >= LEAST) & (sizes <= MOST)
        begins, sizes = begins[several], sizes[several]
        rows = numpy.repeat(begins - numpy.concatenate([[0], numpy.cumsum(sizes)[:-1]]), sizes) + numpy.arange(sizes.sum())
        page = (packed[rows] & low).astype(numpy.int64)
        covers.save_group(f"{folder}/group-{bucket}", page, sizes)
        patches += numpy.bincount(page, minlength=pages)
        others += numpy.bincount(page, weights=numpy.repeat(sizes - 1, sizes), minlength=pages).astype(numpy.int64)
    return patches, others


def with_numpy(path, folder):
    import duckdb

    parts = words.ranges(path, words.PROCESSES)
    with open(path, "rb") as file:
        lines = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 22), b""))
    bits = lines.bit_length()
    with multiprocessing.Pool(words.PROCESSES) as pool:
        # The number of the first page of a part need only be above those of the part before.
        firsts = [part << bits for part in range(words.PROCESSES)]
        bits += words.PROCESSES.bit_length() - 1
        counts = pool.map(bucketed, [(one, first, bits, part, folder) for part, (one, first) in enumerate(zip(parts, firsts))], chunksize=1)
        made = time.time()
        pages = 1 << bits
        jobs = [(range(part, BUCKETS, words.PROCESSES), bits, pages, folder) for part in range(words.PROCESSES)]
        patches, others = (sum(column) for column in zip(*pool.map(grouped, jobs, chunksize=1)))
        grams = numpy.zeros(pages, numpy.int64)
        for first, found in zip(firsts, counts):
            grams[first : first + len(found)] = found
        patchy = numpy.flatnonzero((grams > 0) & (patches >= SHARE * grams))
        table = {"page": patchy, "grams": grams[patchy], "patches": patches[patchy]}  # noqa: F841, DuckDB reads it
        duckdb.sql(f"copy (select * from \"table\") to '{folder}/patchy.parquet'")
        found = quilts(pool, [f"{folder}/group-{bucket}" for bucket in range(BUCKETS)], patchy, folder)
    return int(grams.sum()), int(patches.sum()), len(patchy), int(others[patchy].sum()), *found, made


def main():
    formulation, path, folder = sys.argv[1:]
    begun = time.time()
    found = {"duckdb": with_duckdb, "polars": with_polars, "numpy": with_numpy}[formulation](path, folder)
    *counts, made = found
    names = ("grams", "patch_grams", "patchy", "triples", "quilts", "patches")
    print(json.dumps(dict(zip(names, counts)) | {"made": made - begun, "grouped": time.time() - made}))


if __name__ == "__main__":
    main()
