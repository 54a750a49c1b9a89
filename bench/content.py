"""Main content: cento, trafilatura, resiliparse and readability on the same pages, by page type.

    bench/run content

Needs the web-content-extraction-benchmark in $CENTO_PAGE_TYPES (folders `html` and `truth`), and prints nothing without it. The
table is about the half `report` of the pages (see `bench/content_score.py`); `bench/run` compiles a model that was fitted on the
other half. Speed is in bytes of HTML per
second of processor time of a process that reads the files and extracts, on one core.
"""

import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys

import common
import content_score

PEERS = {"trafilatura": "trafilatura", "resiliparse, main content": "resiliparse", "readability": "readability-lxml"}


def peer(name, paths):
    """Extracts pages with a peer, in this process; prints a JSON object for each."""
    if name == "trafilatura":
        import trafilatura

        def extract(html):
            return trafilatura.extract(html) or ""
    elif name == "resiliparse":
        from resiliparse.extract.html2text import extract_plain_text
        from resiliparse.parse.encoding import bytes_to_str, detect_encoding

        def extract(html):
            return extract_plain_text(bytes_to_str(html, detect_encoding(html)), main_content=True, alt_texts=False)
    else:
        import lxml.html
        import readability

        def extract(html):
            return lxml.html.fromstring(readability.Document(html.decode("utf-8", "replace")).summary()).text_content()

    import logging

    logging.disable(logging.CRITICAL)
    for path in paths:
        with open(path, "rb") as file:
            html = file.read()
        try:
            text = extract(html)
        except Exception:
            # A page that a program cannot handle counts as empty.
            text = ""
        print(json.dumps([path, text]))


def run(command, paths):
    """The texts by id, the page types if known, and the processor seconds."""
    begun = os.times()
    done = subprocess.run([str(part) for part in command], input="\n".join(paths), text=True, stdout=subprocess.PIPE, check=True)
    ended = os.times()
    seconds = ended.children_user + ended.children_system - begun.children_user - begun.children_system
    texts, types = {}, {}
    for line in done.stdout.rstrip("\n").split("\n"):
        path, *rest = json.loads(line)
        if isinstance(path, str):
            page = pathlib.Path(path).stem
            texts[page] = rest[-1]
            types[page] = rest[0] if len(rest) > 1 else None
    return texts, types, seconds


def main():
    folder = os.environ.get("CENTO_PAGE_TYPES")
    if not folder or not pathlib.Path(folder, "truth").is_dir():
        print("set CENTO_PAGE_TYPES to a folder with html/ and truth/: nothing to compare")
        return
    pages = content_score.read_truth(folder)
    tune, report = content_score.halves(pages)
    ids = tune if "--tune" in sys.argv else report
    paths = [f"{folder}/html/{page}.html" for page in ids]
    size = sum(os.path.getsize(path) for path in paths)
    common.warm(paths)
    example = common.TARGET / "release/examples/page_content"
    rows = {"`cento index --main`": [example, "main"], "`cento index` (everything)": [example, "all"]}
    rows |= {name: [sys.executable, __file__, "peer", package.split("-")[0]] for name, package in PEERS.items()}
    print(f"{len(ids)} pages, {size / 1e6:.0f} MB; the half `{'tune' if ids is tune else 'report'}`")
    print(content_score.HEAD.rstrip("|") + "| MB/s |")
    print("|" + "---|" * (content_score.HEAD.count("|")))
    speeds = {}
    for name, command in rows.items():
        texts, types, seconds = run(command, paths)
        speeds[name] = size / 1e6 / seconds
        print(content_score.row(name, *content_score.score(pages, ids, texts)).rstrip("|") + f"| {speeds[name]:.0f} |", flush=True)
        if any(types.values()) and command[-1] == "main":
            right = sum((types[page] or "").replace("thread", "forum") == pages[page]["type"] for page in ids)
            print(f"<!-- page types recognised: {right} of {len(ids)} -->")
    ratio = speeds["`cento index --main`"] / speeds["resiliparse, main content"]
    print(f"speed of cento to that of resiliparse: {ratio:.1f}")
    print(", ".join(f"{package} {importlib.metadata.version(package)}" for package in PEERS.values()))


if __name__ == "__main__":
    if sys.argv[1:2] == ["peer"]:
        peer(sys.argv[2], [line for line in sys.stdin.read().split("\n") if line])
    else:
        main()
