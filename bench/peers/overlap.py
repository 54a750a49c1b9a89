"""Pairs of pages that share at least THRESHOLD chunks, from the chunk table of a corpus, written as Parquet.

    overlap.py duckdb-join|duckdb-several|polars CHUNKS.parquet PAIRS.parquet THRESHOLD

Hashes are hashed to 64 bits: joins are fastest on numbers.
"""

import os
import sys

ROWS = "select distinct hash(chunk_hash) as chunk, page_id as page from '{file}'"
JOIN = "select a.page as one, b.page as other, count(*)::bigint as chunks from {rows} a join {rows} b on a.chunk = b.chunk and a.page > b.page group by all having count(*) >= {threshold}"


def main():
    formulation, file, output, threshold = sys.argv[1:]
    if formulation == "polars":
        os.environ["POLARS_MAX_THREADS"] = "2"
        import polars
        from polars import col

        rows = polars.scan_parquet(file).select(col("chunk_hash").hash().alias("chunk"), col("page_id").alias("page")).unique().collect()
        several = rows.group_by("chunk").agg(polars.len().alias("pages")).filter(col("pages") > 1)
        rows = rows.join(several, on="chunk", how="semi")
        pairs = rows.lazy().join(rows.lazy(), on="chunk", suffix="_other").filter(col("page") > col("page_other"))
        pairs = pairs.group_by("page", "page_other").agg(polars.len().cast(polars.Int64).alias("chunks")).filter(col("chunks") >= int(threshold))
        pairs.select(col("page").alias("one"), col("page_other").alias("other"), "chunks").collect().write_parquet(output)
        return
    import duckdb

    db = duckdb.connect()
    for setting in ("threads=2", "preserve_insertion_order=false", "enable_progress_bar=false"):
        db.execute(f"set {setting}")
    db.execute(f"create temp table rows_ as {ROWS.format(file=file)}")
    rows = "rows_"
    if formulation == "duckdb-several":
        db.execute("create temp table several as select chunk, page from rows_ where chunk in (select chunk from rows_ group by chunk having count(*) > 1)")
        rows = "several"
    db.execute(f"copy ({JOIN.format(rows=rows, threshold=threshold)}) to '{output}' (format parquet)")


main()
