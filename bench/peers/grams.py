"""The distinct pages of each gram of a Parquet file of (gram, page), grams on 2 to 50 pages kept, written as Parquet.

    grams.py duckdb-count|duckdb-distinct|polars ROWS.parquet OUTPUT.parquet MEMORY FOLDER
"""

import os
import sys

QUERIES = {
    "duckdb-count": "select gram, count(distinct page)::uinteger as pages from '{file}' group by gram having pages between 2 and 50",
    "duckdb-distinct": "select gram, count(*)::uinteger as pages from (select distinct gram, page from '{file}') group by gram having pages between 2 and 50",
}


def main():
    formulation, file, output, memory, folder = sys.argv[1:]
    if formulation == "polars":
        os.environ["POLARS_MAX_THREADS"] = "2"
        import polars

        pages = polars.len().cast(polars.UInt32).alias("pages")
        found = polars.scan_parquet(file).unique(["gram", "page"]).group_by("gram").agg(pages).filter(polars.col("pages").is_between(2, 50))
        found.sink_parquet(output)
        return
    import duckdb

    db = duckdb.connect()
    for setting in ("threads=2", f"memory_limit='{memory}iB'", f"temp_directory='{folder}'", "preserve_insertion_order=false", "enable_progress_bar=false"):
        db.execute(f"set {setting}")
    db.execute(f"copy ({QUERIES[formulation].format(file=file)}) to '{output}' (format parquet)")


main()
