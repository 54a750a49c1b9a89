"""Main content: cento, trafilatura, resiliparse and readability on the same pages, by page type.

Needs the web-content-extraction-benchmark in $CENTO_PAGE_TYPES (folders `html` and `truth`) or in the shared data, and the article extraction benchmark in the shared data. The
model of the program is fitted on all pages, so this part fits and compiles others in a copy of the source: one that saw half of the pages, which is compared with
peers on the other half; and one for each fold of a cross-validation by site.
"""

import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys

import content_score
from common import FOLDER, HERE, SHARED, TARGET, NoData, fresh, python_of, unpacked, warm
from table import listed, times

PEERS = {"trafilatura": "trafilatura", "resiliparse, main content": "resiliparse", "readability": "readability"}
MAIN, ALL = "`cento index --main`", "`cento index` (everything)"
HEAD = ["", *(cell.strip() for cell in content_score.HEAD.strip("|").split("|")[1:])]
# Apart from the build of this clone: cargo would take its crates for those of the clone.
OWN_TARGET = TARGET / "content"


def page_types():
    if folder := os.environ.get("CENTO_PAGE_TYPES"):
        if not pathlib.Path(folder, "truth").is_dir():
            raise NoData(f"{folder} has no folder truth")
        return pathlib.Path(folder)
    return next(path.parent for path in unpacked(SHARED / "page-types.tar.xz", "page-types").rglob("truth"))


def output_of(*command, **options):
    environment = os.environ | {"CARGO_TARGET_DIR": str(OWN_TARGET)}
    return subprocess.run([str(part) for part in command], check=True, stdout=subprocess.PIPE, text=True, env=environment, **options).stdout


def processor_seconds():
    """The processor time of all programs so far. `os.times` counts ticks of 10 ms, a fifteenth of what cento takes."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def extracted(command, paths):
    """The texts by id, the page types if known, and the processor seconds."""
    begun = processor_seconds()
    said = output_of(*command, input="\n".join(paths))
    seconds = processor_seconds() - begun
    texts, types = {}, {}
    for line in said.rstrip("\n").split("\n"):
        path, *rest = json.loads(line)
        if isinstance(path, str):
            page = pathlib.Path(path).stem
            texts[page] = rest[-1]
            types[page] = rest[0] if len(rest) > 1 else None
    return texts, types, seconds


def cells_of(row):
    return [cell.strip() for cell in row.strip("|\n ").split("|")]


def by_type(folder, examples):
    """Scores of half of the pages, with a model that saw the other half."""
    pages = content_score.read_truth(folder)
    tuned, ids = content_score.halves(pages)
    paths = [f"{folder}/html/{page}.html" for page in ids]
    size = sum(os.path.getsize(path) for path in paths)
    warm(paths)
    commands = {MAIN: [examples / "page_content", "main"], ALL: [examples / "page_content", "all"]}
    commands |= {name: [python_of("venv"), HERE / "peers/content.py", package] for name, package in PEERS.items()}
    rows, speeds = [[*HEAD, "MB/s"]], {}
    for name, command in commands.items():
        texts, types, seconds = extracted(command, paths)
        speeds[name] = size / 1e6 / seconds
        rows.append([*cells_of(content_score.row(name, *content_score.score(pages, ids, texts))), f"{speeds[name]:,.0f}"])
        if name == MAIN:
            right = sum((types[page] or "").replace("thread", "forum") == pages[page]["type"] for page in ids)
    ratio = times(speeds[MAIN] / speeds["resiliparse, main content"])
    note = (
        f"{len(ids)} pages, {size / 1e6:.0f} MB, with a model fitted on the other {len(tuned)} pages and on half of the older articles. "
        f"cento is faster than resiliparse by {ratio}, and recognises the type of {right} of the {len(ids)} pages."
    )
    return listed("content", rows, "Main content, by page type", note)


def compare(settings):
    folder, articles = page_types(), SHARED / "article-extraction"
    if not (articles / "ground-truth.json").exists():
        raise NoData(f"{articles}/ground-truth.json does not exist")
    tree, examples = fresh("content-source"), OWN_TARGET / "release/examples"
    tree.mkdir()
    subprocess.run(f"git archive HEAD | tar -x -C '{tree}'", shell=True, check=True, cwd=HERE.parent)
    build = ["cargo", "build", "--quiet", "--release", "--locked", "-p", "cento-text", "--examples"]
    output_of(*build, cwd=tree)
    # Fits write their results into the copy.
    output_of(sys.executable, tree / "tools/fit_content.py", folder, articles, examples / "content_evidence", "--tune")
    output_of(*build, cwd=tree)
    tables = [by_type(folder, examples)]
    older = []
    for line in output_of(examples / "content_score", articles).splitlines():
        if found := re.match(r"(\w+) +held out +([\d.]+) +([\d.]+) +([\d.]+) ", line):
            model = ", model of half of the pages" if found[1] == "main" else ""
            older.append([f"`{found[1]}`, held-out pages{model}", found[4], found[2], found[3]])
    if not settings.small:
        said = output_of(sys.executable, tree / "tools/cross_validate_content.py", folder, articles, cwd=tree)
        row = next(line for line in said.splitlines() if line.startswith("| `cento"))
        recognised = re.search(r"page types recognised: (\d+ of \d+)", said)[1]
        note = f"The model in the program is fitted on all pages. What it scores on other pages is estimated in five folds by site; {recognised} page types recognised."
        tables.append(listed("content-folds", [HEAD, cells_of(row)], "Main content, cross-validated", note))
        count, *scores = re.search(r"(\d+) older articles: F1 ([\d.]+), precision=([\d.]+), recall=([\d.]+)", said).groups()
        older.insert(0, [f"`main`, cross-validated, {count} pages", *scores])
    tables.append(listed("content-articles", [["`--content`", "F1", "precision", "recall"], *older], "Older news articles"))
    shutil.rmtree(tree)
    return tables
