"""Tables in other libraries, and in notebooks."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest

import cento


@pytest.fixture()
def pairs(corpus: cento.Corpus) -> cento.Table:
    table = corpus.copies(progress=False)["pairs"]
    assert len(table) > 3
    return table


def test_pyarrow_reads_the_rows_that_the_program_prints(
    corpus: cento.Corpus, command: Any
) -> None:
    import pyarrow
    import pyarrow.parquet

    found = corpus.copies(progress=False)
    table = pyarrow.table(found["pairs"])
    assert table.equals(pyarrow.parquet.read_table(found["pairs"].paths[0]))
    assert table.num_rows == len(found["pairs"]) and table.column_names == found.main.columns
    printed = command("copies", corpus.path, "--json").stdout.splitlines()
    assert found.main.head(10**6) == [json.loads(line) for line in printed]
    assert [row["page"] for row in found.main.head(10**6)] == table.column("page").to_pylist()
    assert pyarrow.schema(found["pairs"]) == table.schema
    reader = found["pairs"].to_pyarrow_reader()
    assert reader.read_all().equals(table)


def test_polars_reads_a_table(pairs: cento.Table) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(pairs)
    assert frame.equals(pairs.to_polars())
    assert (frame.height, frame.columns) == (len(pairs), pairs.columns)
    assert frame["page_id"].to_list() == pairs.to_pyarrow().column("page_id").to_pylist()


def test_pandas_and_duckdb_read_a_table(pairs: cento.Table) -> None:
    pandas = pytest.importorskip("pandas")
    duckdb = pytest.importorskip("duckdb")
    ids = pairs.to_pyarrow().column("page_id").to_pylist()
    assert pairs.to_pandas()["page_id"].tolist() == ids
    if hasattr(pandas.DataFrame, "from_arrow"):
        assert pandas.DataFrame.from_arrow(pairs)["page_id"].tolist() == ids
    reader = pairs.to_pyarrow_reader()
    assert [row[0] for row in duckdb.sql("select page_id from reader").fetchall()] == ids
    # DuckDB looks up the capsule interface by itself.
    assert duckdb.sql("select count(*) from pairs").fetchall() == [(len(ids),)]


def test_the_tables_of_a_corpus_are_one_whatever_its_parts(made: Path, tmp_path: Path) -> None:
    import pyarrow

    corpus = cento.Corpus.index(
        made / "s" / "crawl", tmp_path / "parts.cento", part_size="100K", progress=False
    )
    assert len(corpus.pages.paths) > 1
    one = cento.Corpus.open(made / "crawl.cento")
    for name in ["pages", "text", "chunks"]:
        many = pyarrow.table(corpus.tables[name])
        assert many.num_rows == len(corpus.tables[name])
        if name != "pages":  # Their sources have the offsets of the same records.
            assert many.combine_chunks().equals(pyarrow.table(one.tables[name]).combine_chunks())


def test_a_stream_may_outlive_its_table(corpus: cento.Corpus) -> None:
    import gc

    reader = corpus.tables["text"].to_pyarrow_reader()
    rows = len(corpus.tables["text"])
    del corpus
    gc.collect()
    assert reader.read_all().num_rows == rows


def test_a_capsule_that_nobody_consumes_is_released(pairs: cento.Table) -> None:
    for _ in range(200):  # More than the limit on open files would allow, if it leaked many.
        pairs.__arrow_c_stream__()
        pairs.__arrow_c_schema__()


def test_a_replaced_table_is_an_error(made: Path, tmp_path: Path) -> None:
    corpus = cento.Corpus.index(made / "s" / "crawl", tmp_path / "c.cento", progress=False)
    page = tmp_path / "page.txt"
    page.write_text("One page, and no other.")
    reader = corpus.tables["text"].to_pyarrow_reader()
    shutil.rmtree(corpus.path)
    cento.Corpus.index(page, corpus.path, progress=False)
    with pytest.raises(cento.CorruptedError, match="replaced since the table was opened"):
        corpus.pages.head()
    with pytest.raises(ValueError, match="replaced since the table was opened"):
        reader.read_all()


def test_a_corpus_does_not_depend_on_the_folder_of_the_process(
    corpus: cento.Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(corpus.path.parent)
    opened = cento.Corpus.open(corpus.path.name)
    found = opened.copies(progress=False)
    pickled = pickle.dumps(opened)
    monkeypatch.chdir("/")
    assert pickle.loads(pickled).path == corpus.path
    assert len(opened.pages.to_pyarrow()) == len(opened)
    assert len(found.main.to_pyarrow()) == len(found.main)


def test_a_damaged_table_is_an_error_and_not_a_crash(pairs: cento.Table) -> None:
    import pyarrow

    content = pairs.paths[0].read_bytes()
    pairs.paths[0].write_bytes(b"X" * 200 + content[200:])
    with pytest.raises((OSError, ValueError, cento.Error, pyarrow.ArrowInvalid)):
        pyarrow.table(pairs)
    pairs.paths[0].write_bytes(content[:100])
    with pytest.raises(cento.CorruptedError):
        pairs.head()
    with pytest.raises(cento.CorruptedError):
        cento.Findings.open(pairs.paths[0].parent)


def test_findings_are_opened_again(corpus: cento.Corpus) -> None:
    found = corpus.quilts(progress=False)
    opened = cento.Findings.open(found.path)
    assert list(opened) == list(found) and opened.summary == found.summary
    assert opened.parameters["k"] == 5
    with pytest.raises(KeyError, match="quilts"):
        opened["nonsense"]


def test_a_folder_without_findings_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(cento.UsageError, match="has no findings"):
        cento.Findings.open(tmp_path)
    with pytest.raises(cento.UsageError, match="does not exist"):
        cento.Findings.open(tmp_path / "no")


def test_notebooks_show_escaped_html(tmp_path: Path) -> None:
    text = "This sentence is on both of these two pages, word for word, and it is long enough. "
    lines = [
        {"url": "http://a.example/<script>alert(1)</script>", "text": text * 3},
        {"url": "http://b.example/'onload=", "text": text * 3},
    ]
    pages = tmp_path / "pages.jsonl"
    pages.write_text("".join(json.dumps(line) + "\n" for line in lines))
    corpus = cento.Corpus.index(pages, tmp_path / "<b>.cento", progress=False)
    found = corpus.copies(progress=False)
    scan = corpus.scan(only=["copies"], progress=False)
    for html in [corpus._repr_html_(), found._repr_html_(), scan._repr_html_()]:
        assert "<script" not in html and "<b>.cento" not in html
        assert html.count("<div>") == html.count("</div>")
    assert "&lt;script&gt;" in corpus._repr_html_()
    assert "a.example" in found._repr_html_()
