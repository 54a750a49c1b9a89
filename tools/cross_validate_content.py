#!/usr/bin/env python3
"""Cross-validates main-content selection by site, with the program that is shipped.

    tools/cross_validate_content.py PAGE_TYPES ARTICLES

For each of five folds of sites, fits the model on all other sites (`tools/fit_content.py`), compiles it, and extracts the pages of
the fold. Prints the mean F1 by page type, as `bench/run content` does, and the F1 on ARTICLES. Then fits on all pages again, which
leaves the shipped model as it was. Takes about ten minutes.
"""

import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "bench"))
import content_score  # noqa: E402

FOLDS = 5
EXAMPLES = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target")) / "release/examples"
BUILD = ["cargo", "build", "--quiet", "--release", "--offline", "--locked", "-p", "cento-text", "--example"]


def build(example):
    subprocess.run([*BUILD, example], cwd=HERE.parent, check=True)


def fit(page_types, articles, *selection):
    # The evidence does not depend on the model, so that this example is compiled once.
    fit = [sys.executable, HERE / "fit_content.py", page_types, articles, EXAMPLES / "content_evidence", *selection]
    subprocess.run(fit, check=True)


def extract(paths):
    done = subprocess.run([EXAMPLES / "page_content", "main"], input="\n".join(paths), text=True, stdout=subprocess.PIPE, check=True)
    for line in done.stdout.rstrip("\n").split("\n"):
        path, *rest = json.loads(line)
        if isinstance(path, str):
            yield pathlib.Path(path).name.split(".")[0], rest


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    page_types, articles = sys.argv[1:]
    truths = content_score.read_truth(page_types)
    with open(f"{articles}/ground-truth.json") as file:
        bodies = json.load(file)
    sites = {page: truth["site"] for page, truth in truths.items()}
    sites |= {page: content_score.site(body["url"]) for page, body in bodies.items()}
    found = {}
    build("content_evidence")
    for fold in range(FOLDS):
        fit(page_types, articles, "--without", f"{fold}/{FOLDS}")
        build("page_content")
        pages = [page for page, site in sites.items() if content_score.fold(site, FOLDS) == fold]
        paths = [f"{page_types}/html/{page}.html" if page in truths else f"{articles}/html/{page}.html.gz" for page in pages]
        found |= dict(extract(paths))
    fit(page_types, articles)
    texts = {page: text for page, (_, text) in found.items()}
    print(content_score.HEAD)
    print("|" + "---|" * (content_score.HEAD.count("|") - 1))
    print(content_score.row("`cento index --main`, cross-validated", *content_score.score(truths, sorted(truths), texts)))
    right = sum((found[page][0] or "").replace("thread", "forum") == truth["type"] for page, truth in truths.items())
    print(f"page types recognised: {right} of {len(truths)}")
    precisions, recalls = [], []
    for page, body in bodies.items():
        truth, selected = content_score.shingles(body["articleBody"]), content_score.shingles(texts[page])
        both = sum((truth & selected).values())
        precisions += [both / sum(selected.values())] if selected else []
        recalls += [both / sum(truth.values())] if truth else []
    precision, recall = sum(precisions) / len(precisions), sum(recalls) / len(recalls)
    print(f"{len(bodies)} older articles: F1 {2 * precision * recall / (precision + recall):.4f}, {precision=:.4f}, {recall=:.4f}")


if __name__ == "__main__":
    main()
