"""Load on `cento serve`: lists of a corpus, one page a request against labels, and streamed pages.

wrk runs on the same machine and shares its cores with the server.
"""

import json
import os
import random
import re
import shutil
import subprocess
import time
import urllib.request

from common import CENTO, FOLDER, Failed, fresh, run
from table import listed

STREAMED = 40_000

LISTS = """
local paths = {%s}
local at = 0
request = function()
  at = at + 1
  local path = paths[at %% #paths + 1]:gsub("PAGE", tostring(math.random(1, %d)))
  return wrk.format("GET", path)
end
"""

DETECT = """
wrk.method = "POST"
wrk.path = "/api/detect"
wrk.headers["Content-Type"] = "application/json"
local file = io.open("%s", "r")
wrk.body = file:read("*a")
"""


def write_pages(path, count):
    """Short pages of 20,000 hosts; each repeats a sentence of a few hundred, and one in ten repeats another page."""
    random.seed(1)
    words = ["".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=random.randint(3, 9))) for _ in range(20_000)]
    sentence = lambda count: " ".join(random.choices(words, k=count)).capitalize() + "."
    shared = [sentence(30) for _ in range(400)]
    kept = []
    with open(path, "w") as file:
        for number in range(count):
            if number % 10 == 9:
                text = random.choice(kept)
            else:
                text = "\n\n".join([sentence(40), random.choice(shared), sentence(25)])
                if number % 100 == 0:
                    kept.append(text)
            page = {"url": f"http://h{number % 20_000}.example/a/{number}.html", "date": f"20{10 + number % 15}-0{1 + number % 9}-1{number % 10}", "text": text}
            file.write(json.dumps(page) + "\n")


def corpus(count):
    """The corpus with its findings, and labels."""
    path, labels, pages = fresh("serve.cento"), fresh("serve.labels"), FOLDER / f"serve-{count}.jsonl"
    if not pages.exists():
        write_pages(pages, count)
    run([CENTO, "index", pages, "-o", path])
    for words in (["copies", path], ["phrases", path], ["discover", path, "-o", labels]):
        run([CENTO, *words])
    return path, labels


def memory(process):
    """Anonymous memory of a process in MiB."""
    with open(f"/proc/{process.pid}/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("RssAnon"))


def processor(process):
    """Seconds of processor time that a process has used."""
    with open(f"/proc/{process.pid}/stat") as stat:
        user, system = stat.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def wrk(server, base, script, name, seconds):
    """Runs wrk; returns requests a second, the 99th percentile, and the processor time of the server, which other load does not change."""
    path = FOLDER / "serve.lua"
    path.write_text(script)
    before = processor(server)
    said = run(["wrk", "-t1", "-c16", f"-d{seconds}s", "--latency", "-s", path, base]).output
    if bad := re.search(r"Non-2xx or 3xx responses: (\d+)", said):
        raise Failed(f"{name}: {bad[1]} requests failed")
    count = int(re.search(r"(\d+) requests in", said)[1])
    rate, late = float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1]), re.search(r"99%\s+([\d.]+)(\w+)", said)
    return [name, f"{rate:,.0f}", f"{late[1]} {late[2].replace('us', 'µs')}", f"{(processor(server) - before) / count * 1e6:.0f} µs"]


def compare(settings):
    if not shutil.which("wrk"):
        raise Failed("wrk is not installed: apt-get install wrk")
    seconds = 1 if settings.small else 8
    pages = 10_000 if settings.small else 200_000
    path, labels = corpus(pages)
    begun = time.time()
    server = subprocess.Popen(
        [CENTO, "serve", path, "--labels", labels, "--listen", "127.0.0.1:0", "--verdicts", FOLDER / "serve.verdicts"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    try:
        base = server.stdout.readline().strip().rstrip("/")
        lists = json.load(urllib.request.urlopen(f"{base}/api/lists"))["lists"]
        rows = {one["name"]: one["rows"] for one in lists if one["rows"]}
        note = f"{pages:,} pages, {sum(rows.values()):,} rows in {len(rows)} lists ({rows['popular']:,} in the list that is asked), ready after {time.time() - begun:.1f} s."
        first = memory(server)
        last_page = max(1, rows["popular"] // 50)
        hosts = json.load(urllib.request.urlopen(f"{base}/api/lists/popular?size=200"))["rows"]
        hosts = sorted({row["site"] for row in hosts if row["site"]})[:20]
        plain = ['"/lists/popular?page=PAGE"', '"/lists/popular?sort=popular&order=descending&page=PAGE"', '"/lists/popular?sort=page&order=ascending&page=PAGE"']
        filtered = [f'"/lists/popular?host={host}"' for host in hosts] + ['"/lists/popular?min=%d&sort=date&order=descending"' % least for least in range(1, 20)]
        scripts = {
            "lists: any page, three orders, 50 rows, HTML": LISTS % (", ".join(plain), last_page),
            f"lists: also {len(filtered)} filters": LISTS % (", ".join(plain + filtered), last_page),
            "lists as JSON": LISTS % ('"/api/lists/popular?page=PAGE"', last_page),
        }
        text = "\n\n".join(f"A paragraph of some words, number {number}, that is not among the labels at all." for number in range(62))
        page = FOLDER / "serve-page.json"
        page.write_text(json.dumps({"url": "http://a.example/", "text": text[:5000]}))
        scripts["`/api/detect`, a page of 5 KB per request"] = DETECT % page
        table = [["", "a second", "99 % within", "processor time each"], *(wrk(server, base, script, name, seconds) for name, script in scripts.items())]
        lines = FOLDER / "serve-pages.jsonl"
        lines.write_text((page.read_text() + "\n") * STREAMED)
        before, begun = processor(server), time.time()
        verdicts = subprocess.run(
            ["curl", "-sS", "-T", lines, "-X", "POST", "-H", "Content-Type: application/x-ndjson", "-H", "Expect:", f"{base}/api/detect"],
            check=True, stdout=subprocess.PIPE,
        ).stdout
        spent = time.time() - begun
        if verdicts.count(b"\n") != STREAMED:
            raise Failed("streamed pages without a verdict")
        table.append(["`/api/detect`, streamed", f"{STREAMED / spent:,.0f}", "", f"{(processor(server) - before) / STREAMED * 1e6:.0f} µs"])
        note += f" Anonymous memory: {first:.0f} MiB at the start, {memory(server):.0f} MiB at the end."
    finally:
        server.terminate()
        server.wait()

    return [listed("serve", table, note=note)]
