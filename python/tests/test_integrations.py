"""The adapters, in the programs that they are for."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, Dict, List

import pytest

import cento

OURS = "We wrote this paragraph ourselves, and nobody may take it without telling us about it first."
OTHER = "This is a paragraph that somebody else wrote about the weather of the last few weeks in May."


@pytest.fixture()
def ours(tmp_path: Path) -> str:
    """Labels of our own text."""
    (tmp_path / "ours.txt").write_text(f"{OURS} " * 2)
    output = tmp_path / "ours.labels"
    options = ["--min-length", 10]
    cento.run("discover", "--from", tmp_path / "ours.txt", "-o", output, *options, progress=False)
    return str(output)


@pytest.fixture()
def texts() -> List[str]:
    copied = f"{OURS} " * 2
    return [copied, OTHER, f"{copied}\n\n{OTHER}\n\nAnd a third paragraph.", ""]


@pytest.mark.full
def test_scrapy_drops_and_tags_copied_pages(ours: str, texts: List[str], tmp_path: Path) -> None:
    pytest.importorskip("scrapy")
    page = "".join(f"<a href='{number}.html'>x</a>" for number in range(3))
    (tmp_path / "index.html").write_text(page)
    for number, text in enumerate(texts[:3]):
        body = "".join(f"<p>{part}</p>" for part in text.split("\n\n"))
        (tmp_path / f"{number}.html").write_text(f"<html><body>{body}</body></html>")
    spider = f"""
        import scrapy
        from scrapy.crawler import CrawlerProcess

        class Pages(scrapy.Spider):
            name = "pages"
            start_urls = [{(tmp_path / "index.html").as_uri()!r}]

            def parse(self, response):
                for link in response.css("a::attr(href)").getall():
                    yield response.follow(link, self.page)

            def page(self, response):
                yield {{"url": response.url, "html": response.text}}

        import sys
        process = CrawlerProcess(settings={{
            "FEEDS": {{sys.argv[2]: {{"format": "jsonlines"}}}},
            "ITEM_PIPELINES": {{"cento.integrations.scrapy.CopiedPages": 300}},
            "CENTO_LABELS": {ours!r},
            "CENTO_FIELD": "html",
            "CENTO_HTML": True,
            "CENTO_ACTION": sys.argv[1],
            "LOG_LEVEL": "ERROR",
            "TELNETCONSOLE_ENABLED": False,
        }})
        crawler = process.create_crawler(Pages)
        process.crawl(crawler)
        process.start()
        print(crawler.stats.get_value("cento/checked"), crawler.stats.get_value("cento/copied"))
    """
    script = tmp_path / "spider.py"
    script.write_text(textwrap.dedent(spider))

    def crawl(action: str) -> Dict[str, Any]:
        feed = tmp_path / f"{action}.jsonl"
        line = [sys.executable, script, action, feed]
        done = subprocess.run(line, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert done.stdout == "3 1\n", done.stderr
        items = [json.loads(line) for line in feed.read_text().splitlines()]
        return {Path(item["url"]).stem: item for item in items}

    assert sorted(crawl("drop")) == ["1", "2"]
    tagged = crawl("tag")
    assert {name: item["cento"]["copied"] for name, item in tagged.items()} == {
        "0": True,
        "1": False,
        "2": False,
    }
    assert tagged["2"]["cento"]["contains"] == pytest.approx(1 / 3)


@pytest.mark.full
def test_datatrove_removes_documents_of_labels(
    ours: str, texts: List[str], tmp_path: Path
) -> None:
    pytest.importorskip("datatrove")
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter

    from cento.integrations.datatrove import LabelFilter

    source = tmp_path / "in"
    source.mkdir()
    lines = [json.dumps({"id": str(number), "text": text}) for number, text in enumerate(texts[:3])]
    (source / "pages.jsonl").write_text("\n".join(lines) + "\n")
    removed = JsonlWriter(str(tmp_path / "removed"), compression=None)
    LocalPipelineExecutor(
        pipeline=[
            JsonlReader(str(source)),
            LabelFilter(ours, exclusion_writer=removed),
            JsonlWriter(str(tmp_path / "kept"), compression=None),
        ],
        logging_dir=str(tmp_path / "logs"),
    ).run()

    def ids(folder: str) -> List[str]:
        files = (tmp_path / folder).rglob("*.jsonl")
        return [json.loads(line)["id"] for file in files for line in file.read_text().splitlines()]

    assert (ids("kept"), ids("removed")) == (["1", "2"], ["0"])


@pytest.mark.full
def test_datasets_are_tagged_in_several_processes(ours: str, texts: List[str]) -> None:
    datasets = pytest.importorskip("datasets")
    from cento.integrations.datasets import FindLabels

    dataset = datasets.Dataset.from_dict({"text": texts * 5})
    tagged = dataset.map(FindLabels(ours), batched=True, num_proc=2)
    assert tagged["cento_copied"][:4] == [True, False, False, False]
    *shares, empty = tagged["cento_contains"][:4]
    assert shares == [1.0, 0.0, pytest.approx(1 / 3)] and math.isnan(empty)
    assert len(tagged.filter(lambda row: not row["cento_copied"])) == 15


def test_datasets_may_begin_with_empty_texts_and_be_mapped_row_by_row(ours: str) -> None:
    datasets = pytest.importorskip("datasets")
    from cento.integrations.datasets import FindLabels

    dataset = datasets.Dataset.from_dict({"text": [""] * 1000 + [f"{OURS} " * 2]})
    for batched in [True, False]:
        tagged = dataset.map(FindLabels(ours), batched=batched)
        assert tagged["cento_copied"][-1] is True and sum(tagged["cento_copied"]) == 1
        assert tagged["cento_contains"][-1] == 1.0


@pytest.mark.parametrize("threshold", [0, -1, 2, float("nan"), "x", True])
def test_a_threshold_is_a_share(threshold: Any) -> None:
    from cento.integrations._threshold import Threshold

    with pytest.raises(cento.UsageError, match="threshold"):
        Threshold(threshold)


def test_scrapy_counts_items_that_cannot_be_checked(ours: str) -> None:
    scrapy = pytest.importorskip("scrapy")
    from cento.integrations.scrapy import CopiedPages

    class Counts(Dict[str, int]):
        def inc_value(self, name: str) -> None:
            self[name] = self.get(name, 0) + 1

    class Page(scrapy.Item):  # type: ignore[misc]
        text = scrapy.Field()

    counts = Counts()
    pipeline = CopiedPages(ours, stats=counts, action="tag")
    body = {"text": OURS.encode()}
    assert pipeline.process_item(body) is body
    assert counts == {"cento/unchecked": 1}
    with pytest.raises(KeyError, match="Page has no field `cento`"):
        pipeline.process_item(Page(text=OURS))
    with pytest.raises(scrapy.exceptions.NotConfigured, match="CENTO_THRESHOLD"):
        CopiedPages(ours, threshold=2)
