"""Load on `cento serve`: lists of a corpus of 200,000 pages, one page a request against labels, and streamed pages.

wrk runs on the same machine and shares its cores with the server. SERVE_SECONDS (default 20) is the length of each run; for the memory
over ten minutes, SERVE_SECONDS=600. SERVE_PAGES (default 200000) is the size of the corpus.
"""

import json
import os
import random
import re
import subprocess
import time
import urllib.request

from common import CENTO, FOLDER

SECONDS = int(os.environ.get("SERVE_SECONDS", "20"))
PAGES = int(os.environ.get("SERVE_PAGES", "200000"))
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


def write_pages(path):
    """Short pages of 20,000 hosts; each repeats a sentence of a few hundred, and one in ten repeats another page."""
    random.seed(1)
    words = ["".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=random.randint(3, 9))) for _ in range(20_000)]
    sentence = lambda count: " ".join(random.choices(words, k=count)).capitalize() + "."
    shared = [sentence(30) for _ in range(400)]
    kept = []
    with open(path, "w") as file:
        for number in range(PAGES):
            if number % 10 == 9:
                text = random.choice(kept)
            else:
                text = "\n\n".join([sentence(40), random.choice(shared), sentence(25)])
                if number % 100 == 0:
                    kept.append(text)
            page = {"url": f"http://h{number % 20_000}.example/a/{number}.html", "date": f"20{10 + number % 15}-0{1 + number % 9}-1{number % 10}", "text": text}
            file.write(json.dumps(page) + "\n")


def corpus():
    """Makes the corpus and its findings on first use."""
    path = FOLDER / f"serve-{PAGES}.cento"
    labels = FOLDER / f"serve-{PAGES}.labels"
    if not labels.exists():
        run = lambda *words: subprocess.run([CENTO, *words], check=True, stdout=subprocess.DEVNULL)
        pages = FOLDER / f"serve-{PAGES}.jsonl"
        write_pages(pages)
        run("index", pages, "-o", path)
        run("copies", path)
        run("phrases", path)
        run("discover", path, "-o", labels)
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


def wrk(server, base, script, name):
    """Runs wrk; prints requests a second, the 99th percentile, and the processor time of the server, which other load does not change."""
    path = FOLDER / "serve.lua"
    path.write_text(script)
    before = processor(server)
    said = subprocess.run(
        ["wrk", "-t1", "-c16", f"-d{SECONDS}s", "--latency", "-s", path, base], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", said).group(1))
    late = re.search(r"99%\s+([\d.]+\w+)", said).group(1)
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", said)
    count = int(re.search(r"(\d+) requests in", said).group(1))
    cost = (processor(server) - before) / count * 1e6
    print(f"{name:44} {rate:9,.0f} requests/s   99 % within {late:>8}   {cost:5.0f} µs of processor time each" + (f"   FAILED: {bad.group(1)}" if bad else ""))


def main():
    path, labels = corpus()
    begun = time.time()
    server = subprocess.Popen(
        [CENTO, "serve", path, "--labels", labels, "--listen", "127.0.0.1:0", "--verdicts", FOLDER / "serve.verdicts"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    try:
        base = server.stdout.readline().strip().rstrip("/")
        lists = json.load(urllib.request.urlopen(f"{base}/api/lists"))["lists"]
        rows = {one["name"]: one["rows"] for one in lists if one["rows"]}
        print(f"{sum(rows.values()):,} rows in {len(rows)} lists, ready after {time.time() - begun:.1f} s, {memory(server):.0f} MiB")
        print("  " + ", ".join(f"{name} {count:,}" for name, count in rows.items()))
        pages = max(1, rows["popular"] // 50)
        hosts = json.load(urllib.request.urlopen(f"{base}/api/lists/popular?size=200"))["rows"]
        hosts = sorted({row["site"] for row in hosts if row["site"]})[:20]
        plain = ['"/lists/popular?page=PAGE"', '"/lists/popular?sort=popular&order=descending&page=PAGE"', '"/lists/popular?sort=page&order=ascending&page=PAGE"']
        filtered = [f'"/lists/popular?host={host}"' for host in hosts] + ['"/lists/popular?min=%d&sort=date&order=descending"' % least for least in range(1, 20)]
        wrk(server, base, LISTS % (", ".join(plain), pages), "lists: any page, three orders, 50 rows")
        wrk(server, base, LISTS % (", ".join(plain + filtered), pages), "lists: and 39 filters")
        wrk(server, base, LISTS % ('"/api/lists/popular?page=PAGE"', pages), "lists as JSON")
        text = "\n\n".join(f"A paragraph of some words, number {number}, that is not among the labels at all." for number in range(62))
        page = FOLDER / "serve-page.json"
        page.write_text(json.dumps({"url": "http://a.example/", "text": text[:5000]}))
        wrk(server, base, DETECT % page, "detect: one page of 5 KB a request")
        lines = FOLDER / "serve-pages.jsonl"
        lines.write_text((page.read_text() + "\n") * STREAMED)
        before, begun = processor(server), time.time()
        verdicts = subprocess.run(
            ["curl", "-sS", "-T", lines, "-X", "POST", "-H", "Content-Type: application/x-ndjson", "-H", "Expect:", f"{base}/api/detect"],
            check=True, stdout=subprocess.PIPE,
        ).stdout
        seconds = time.time() - begun
        assert verdicts.count(b"\n") == STREAMED
        print(f"{'detect: streamed pages of 5 KB':44} {STREAMED / seconds:9,.0f} pages/s                           {(processor(server) - before) / STREAMED * 1e6:5.0f} µs of processor time each")
        print(f"memory at the end: {memory(server):.0f} MiB")
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
