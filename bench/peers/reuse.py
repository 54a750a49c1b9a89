"""Pairs of pages that share fingerprints, as `cento reuse --scheme winnow` defines them: pages with the same set count as one page, fingerprints on more
than MOST pages are ignored, and at least a tenth of the smaller page is shared. Writes pairs to a Parquet file.

    reuse.py duckdb|polars fingerprints ROWS.parquet OUTPUT.parquet MOST FOLDER     from (fingerprint, page_id) rows
    reuse.py duckdb|polars text TEXTS.jsonl OUTPUT.parquet MOST FOLDER              from text: winnowing by numpy, in two processes

For DuckDB, this is the strongest of four formulations, by processor seconds. Pages get small numbers and fingerprints on too many pages are removed first;
the self-join and its aggregation run in 16 parts, by the left page, so that the hash table of pairs stays small. Also tried: one part (a sixth slower, three
times the memory), pairs packed into one number, and lists that are unnested.
"""

import os
import sys

import numpy
import words

PARTS = 16
WORDS, WINDOW = 3, 10
PREPARE = """
create temp table sizes as select page_id, count(*)::integer as size, bit_xor(hash(fingerprint)) as one, sum(hash(fingerprint)) as two
  from raw group by page_id;
create temp table firsts as select page_id, size, (row_number() over (order by page_id) - 1)::integer as page
  from (select min(page_id) as page_id, any_value(size) as size from sizes group by size, one, two);
create temp table rows_ as select r.fingerprint, f.page from raw r join firsts f using (page_id);
create temp table counts as select fingerprint, count(*)::integer as pages from rows_ group by fingerprint having count(*) > 1;
create temp table rest as select f.page, f.page_id, (f.size - coalesce(c.ignored, 0))::integer as size from firsts f left join
  (select r.page, count(*) as ignored from rows_ r join (select fingerprint from counts where pages > {most}) using (fingerprint) group by r.page) c
  using (page);
create temp table listed as select r.fingerprint, r.page from rows_ r join (select fingerprint from counts where pages <= {most}) using (fingerprint);
create temp table found (p integer, q integer, shared bigint);
"""
PART = """
insert into found select p, q, shared from
  (select a.page as p, b.page as q, count(*) as shared
    from (select * from listed where page % {parts} = {part}) a join listed b on a.fingerprint = b.fingerprint and a.page < b.page
    group by all)
  join rest r on r.page = p join rest s on s.page = q where 10 * shared >= least(r.size, s.size);
"""
RESULT = "select r.page_id as one, s.page_id as other, shared from found join rest r on r.page = p join rest s on s.page = q"


def winnow(hashes):
    """The distinct minima of all windows of hashes of three words."""
    grams = words.grams_of(hashes, WORDS)
    if not len(grams):
        return grams
    count = max(1, len(grams) - WINDOW + 1)
    least = grams[:count].copy()
    for at in range(1, min(WINDOW, len(grams))):
        numpy.minimum(least, grams[at : count + at], out=least)
    return words.distinct(least)


def with_duckdb(rows, output, most):
    import duckdb

    db = duckdb.connect()
    for setting in ("threads=2", "preserve_insertion_order=false", "enable_progress_bar=false"):
        db.execute(f"set {setting}")
    if isinstance(rows, str):
        db.execute(f"create temp table raw as select fingerprint, page_id::ubigint as page_id from '{rows}'")
    else:
        db.execute("create temp table raw as select fingerprint, page_id::ubigint as page_id from rows")
    db.execute(PREPARE.format(most=most))
    for part in range(PARTS):
        db.execute(PART.format(parts=PARTS, part=part))
    db.execute(f"copy ({RESULT}) to '{output}' (format parquet)")


def with_polars(rows, output, most):
    os.environ["POLARS_MAX_THREADS"] = "2"
    import polars
    from polars import col

    raw = polars.read_parquet(rows) if isinstance(rows, str) else polars.DataFrame(rows)
    sizes = raw.group_by("page_id").agg(polars.len().alias("size"), col("fingerprint").hash().sum().alias("one"), col("fingerprint").hash(7).sum().alias("two"))
    firsts = sizes.group_by("size", "one", "two").agg(col("page_id").min()).sort("page_id").with_row_index("page").select("page", "page_id", "size")
    listed = raw.join(firsts.select("page", "page_id"), on="page_id").select("fingerprint", "page")
    counts = listed.group_by("fingerprint").agg(polars.len().alias("pages"))
    ignored = listed.join(counts.filter(col("pages") > most), on="fingerprint", how="semi").group_by("page").agg(polars.len().alias("ignored"))
    rest = firsts.join(ignored, on="page", how="left").with_columns((col("size") - col("ignored").fill_null(0)).alias("size"))
    listed = listed.join(counts.filter(col("pages").is_between(2, most)), on="fingerprint", how="semi")
    parts = []
    for part in range(PARTS):
        left = listed.lazy().filter(col("page") % PARTS == part)
        pairs = left.join(listed.lazy(), on="fingerprint", suffix="_other").filter(col("page") < col("page_other"))
        shared = pairs.group_by("page", "page_other").agg(polars.len().cast(polars.Int64).alias("shared"))
        both = shared.join(rest.lazy(), on="page").join(rest.lazy(), left_on="page_other", right_on="page", suffix="_other")
        kept = both.filter(10 * col("shared") >= polars.min_horizontal("size", "size_other"))
        parts.append(kept.select(col("page_id").alias("one"), col("page_id_other").alias("other"), "shared").collect())
    polars.concat(parts).write_parquet(output)


def main():
    program, source, path, output, most, folder = sys.argv[1:]
    rows = path
    if source == "text":
        values, pages, _, _ = words.rows(path, winnow, folder)
        rows = {"fingerprint": values, "page_id": pages.astype(numpy.uint64)}
    {"duckdb": with_duckdb, "polars": with_polars}[program](rows, output, int(most))


if __name__ == "__main__":
    main()
