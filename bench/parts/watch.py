"""Detection inside a crawler: how fast `cento watch` passes a stream of pages on 2 threads, how much memory it takes as the stream grows, and how
long after its last byte a page is reported.

* The stream is one archive of HTML pages with text of made-up words, 30 kB on average, written several times; labels are every fiftieth paragraph.
* Rates are of the uncompressed stream. Memory is the peak of anonymous memory for a stream and for one of four times its length.
* Latency: a pipe into which one page is written at a time, after the verdict on the page before.
"""

import json
import pathlib
import random
import statistics
import subprocess
import threading
import time

from common import CENTO, FOLDER, Failed, fresh
from table import listed


def record(url, html):
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + html
    head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nContent-Type: application/http\r\nContent-Length: {len(http)}\r\n\r\n"
    return head.encode() + http + b"\r\n\r\n"


def make(folder, megabytes):
    """Writes an archive of pages, no two of which are alike, and the labels of some of their paragraphs."""
    archive, labels = folder / f"watch-{megabytes}.warc", folder / "watch.labels"
    if archive.exists() and labels.exists():
        return archive, labels
    draw = random.Random(7)
    words = ["".join(draw.choice("aeioubcdfghklmnprstvw") for _ in range(draw.randint(2, 11))) for _ in range(20_000)]
    labelled, size, page = [], 0, 0
    with open(archive, "wb") as out:
        while size < megabytes * 1_000_000:
            body = []
            for _ in range(draw.randint(5, 60)):
                paragraph = " ".join(draw.choices(words, k=draw.randint(5, 90)))
                if len(labelled) < 20_000 and draw.random() < 0.02:
                    labelled.append(paragraph)
                elif labelled and draw.random() < 0.01:
                    paragraph = draw.choice(labelled)
                body.append(f'<div class="post entry-{page % 7}"><p style="margin:0">{paragraph}</p><a href="/{page}/{len(body)}.html">more</a></div>\n')
            markup = "<!DOCTYPE html><html><head><title>x</title><style>body{color:red}</style></head><body>" + "".join(body) + "</body></html>"
            size += out.write(record(f"http://site{page % 997}.example/{page % 13}/{page}", markup.encode()))
            page += 1
    originals = folder / "watch-originals.jsonl"
    originals.write_text("".join(json.dumps({"url": f"original {at}", "text": text}) + "\n" for at, text in enumerate(labelled)))
    subprocess.run([CENTO, "discover", "--from", originals, "-o", labels], check=True, capture_output=True)
    return archive, labels


def passes(archive, labels, times, *options):
    """Passes an archive through the command several times over; returns seconds and peak anonymous memory in MiB."""
    command = [str(part) for part in [CENTO, "watch", "--labels", labels, "--threads", 2, *options]]
    begun = time.time()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    peak = [0]

    def watch():
        while process.poll() is None:
            try:
                for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
                    if line.startswith("RssAnon"):
                        peak[0] = max(peak[0], int(line.split()[1]))
            except OSError:
                pass
            time.sleep(0.02)

    watcher = threading.Thread(target=watch)
    watcher.start()
    for _ in range(times):
        with open(archive, "rb") as file:
            while block := file.read(1 << 20):
                process.stdin.write(block)
    process.stdin.close()
    said = process.stderr.read().decode()
    process.wait()
    seconds = time.time() - begun
    watcher.join()
    if process.returncode != 0:
        raise Failed(said)
    return seconds, peak[0] / 1024


def latency(archive, labels, pages=300):
    """Writes a page, waits for its verdict, and so on; returns the milliseconds of each."""
    process = subprocess.Popen([CENTO, "watch", "--labels", labels, "--seen", FOLDER / "latency.seen"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    content = open(archive, "rb").read(40_000_000)
    begins = []
    at = content.find(b"WARC/1.0\r\n")
    while at >= 0 and len(begins) <= pages:
        begins.append(at)
        at = content.find(b"WARC/1.0\r\n", at + 1)
    times = []
    for begin, end in zip(begins, begins[1:]):
        process.stdin.write(content[begin:end])
        process.stdin.flush()
        begun = time.perf_counter()
        process.stdout.readline()
        times.append(1000 * (time.perf_counter() - begun))
    process.stdin.close()
    process.wait()
    return times


def compare(settings):
    archive, labels = make(FOLDER, 60 if settings.small else 250)
    size = archive.stat().st_size / 1e6
    seen = fresh("watch.seen")
    fresh("latency.seen")
    rows = [["stream", "rate", "anonymous memory"]]
    for times, options, note in ((1, [], ""), (4, [], ""), (4, ["--seen", seen], " with `--seen`")):
        seconds, memory = passes(archive, labels, times, *options)
        rows.append([f"{times * size:,.0f} MB{note}", f"{times * size / seconds:,.0f} MB/s", f"{memory:.0f} MiB"])
    late = sorted(latency(archive, labels))
    note = (
        f"From the last byte of a page to its verdict, with `--seen`, {len(late)} pages: median {statistics.median(late):.2f} ms, 99 % {late[int(0.99 * len(late))]:.2f} ms, "
        f"slowest {late[-1]:.2f} ms. The file of seen pages has {seen.stat().st_size / 1e6:.1f} MB."
    )
    return [listed("watch", rows, note=note)]
