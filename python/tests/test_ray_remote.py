"""Objects of a bucket on a Ray cluster: the same corpus and the same tables as on threads."""

from __future__ import annotations

import os
import socket
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Iterator

import pytest

import cento
from ray_support import settings, tables

pytestmark = pytest.mark.full
ray = pytest.importorskip("ray")

#: An S3 server, which `./check` installs.
MOTO = Path.home() / ".cache/cento/moto-5.2.5/bin/moto_server"


def ask(request: urllib.request.Request) -> bytes:
    # No proxy of this machine is asked for a local server.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=10) as answer:
        content: bytes = answer.read()
        return content


def put(url: str, content: bytes = b"") -> None:
    kind = {"Content-Type": "application/octet-stream"}
    ask(urllib.request.Request(url, data=content, headers=kind, method="PUT"))


@pytest.fixture()
def bucket(made: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A bucket with the archives of the crawl; moto takes any key."""
    if not MOTO.exists():
        pytest.skip("moto is not installed; ./check installs it")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([MOTO, "-H", "127.0.0.1", "-p", str(port)], stderr=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(300):
            try:
                put(f"{address}/bucket")
                break
            except OSError:
                time.sleep(0.1)
        for archive in sorted((made / "s" / "crawl").iterdir()):
            for copy in ("a", "b", "c"):
                put(f"{address}/bucket/crawl/{copy}-{archive.name}", archive.read_bytes())
        values = {
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": address,
            "AWS_ALLOW_HTTP": "true",
        }
        for name, value in values.items():
            monkeypatch.setenv(name, value)
        yield "s3://bucket/crawl/"
    finally:
        server.terminate()
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()


def test_objects_of_a_bucket_are_indexed_by_workers(bucket: str, tmp_path: Path) -> None:
    from cento import ray as cento_ray
    from cento.ray import local_cluster

    words = ["--part-size=64K", "--max-page=1M", "--memory=256M"]
    here, there = tmp_path / "here.cento", tmp_path / "there.cento"
    ray.shutdown()
    # Nodes have the variables of the process that starts them.
    with local_cluster() as cluster:
        ray.init(address=cluster.address, log_to_driver=False)
        cento_ray.index([bucket], there, *words, settings=settings())
    cento.run("index", bucket, "-o", here, *words, progress=False)
    assert tables(there) == tables(here) != {}
    assert (there / "manifest.json").read_bytes() == (here / "manifest.json").read_bytes()


def test_an_analysis_reads_objects_of_a_bucket_and_writes_one(bucket: str, tmp_path: Path) -> None:
    from cento import ray as cento_ray
    from cento.ray import local_cluster

    words = ["-k", "4", "--memory=256M"]
    here, there = tmp_path / "here.parquet", "s3://bucket/out/quilts.parquet"
    ray.shutdown()
    with local_cluster() as cluster:
        ray.init(address=cluster.address, log_to_driver=False)
        found = ["--findings", str(tmp_path / "there"), "--out", there]
        cento_ray.run("quilts", bucket, *words, *found, settings=settings())
    cento.run("quilts", bucket, *words, "--out", here, progress=False)
    address = os.environ["AWS_ENDPOINT_URL"]
    written = ask(urllib.request.Request(f"{address}/bucket/out/quilts.parquet"))
    assert written == here.read_bytes() != b""
