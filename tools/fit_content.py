#!/usr/bin/env python3
"""Fits the model of main-content selection and writes it as tables of constants.

    tools/fit_content.py PAGE_TYPES ARTICLES EVIDENCE [--tune | --without FOLD/FOLDS]

PAGE_TYPES is the folder of the web-content-extraction-benchmark (`html/`, `truth/`); ARTICLES is that of the article extraction
benchmark. EVIDENCE is the example `content_evidence` of cento-text. Needs numpy and lightgbm.

The model is fitted on all pages, which is what we ship. `--tune` fits on half of them: the half `tune` of PAGE_TYPES (see
`bench/content_score.py`) and the pages at even positions of ARTICLES; the settings below and the constants of `decide.rs` were
chosen on these alone. `--without 0/5` leaves out the sites of a fold; `tools/cross_validate_content.py` uses it.

What is fitted:

- for each block, the probability that its words are in the truth: 150 trees of depth 4 over the evidence about blocks. A page
  counts as much as any other: the words of its truth have weight 1, all other words together at most 2.
- for each page, its type: 25 trees of depth 3 for each of seven types over the evidence about pages.

Trees are complete, so that they are evaluated without branches; leaves are log-odds in thousandths.
"""

import collections
import json
import pathlib
import subprocess
import sys

import lightgbm
import numpy

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "bench"))
import content_score  # noqa: E402

TABLES = HERE.parent / "crates/cento-text/src/content/model"
BLOCK_ROUNDS, BLOCK_DEPTH = 150, 4
TYPE_ROUNDS, TYPE_DEPTH = 25, 3
COMMON = {"verbose": -1, "num_threads": 1, "deterministic": True, "force_col_wise": True, "bagging_freq": 1}
BLOCKS = COMMON | {
    "objective": "cross_entropy", "learning_rate": 0.06, "max_depth": BLOCK_DEPTH, "num_leaves": 2**BLOCK_DEPTH,
    "min_data_in_leaf": 40, "feature_fraction": 0.3, "bagging_fraction": 0.5, "lambda_l2": 5, "max_bin": 63, "seed": 1,
}
PAGE_TYPES = COMMON | {
    "objective": "multiclass", "num_class": len(content_score.TYPES), "learning_rate": 0.15, "max_depth": TYPE_DEPTH,
    "num_leaves": 2**TYPE_DEPTH, "min_data_in_leaf": 6, "feature_fraction": 0.25, "bagging_fraction": 0.8, "lambda_l2": 3, "seed": 3,
}
# The evidence `path hidden` of a block that is shown.
SHOWN = 2000
# Older news pages are many and alike.
ARTICLE_WEIGHT = 0.5
ARTICLE_TYPE_WEIGHT = 0.3


def label(texts, truth, hidden):
    """For each block, how many of its words are in the truth, and how many it has.

    A word is in the truth if a shingle of the page around it is. A block shorter than a shingle is in the truth if it is one of
    its lines. A page may repeat a text, for example for small screens: as many copies are in the truth as it has, first those that
    are shown, then those with most of the truth around them, then the first.
    """
    size = content_score.SHINGLE_WORDS
    find = content_score.WORD.findall
    words, begins = [], []
    for text in texts:
        begins.append(len(words))
        words += find(text)
    total = numpy.diff(begins + [len(words)])
    shingles = [tuple(words[at : at + size]) for at in range(len(words) - size + 1)]
    true_words = find(truth)
    left = collections.Counter(tuple(true_words[at : at + size]) for at in range(len(true_words) - size + 1))
    lines = collections.Counter(" ".join(find(line)) for line in truth.split("\n"))
    # Where the truth is, copies included.
    covered = numpy.zeros(len(words), bool)
    for at, shingle in enumerate(shingles):
        if shingle in left:
            covered[at : at + size] = True
    sums = numpy.concatenate([[0], numpy.cumsum(covered)])
    bounds = numpy.array(begins + [len(words)])
    first, last = (numpy.clip(numpy.arange(len(texts)) + reach, 0, len(texts)) for reach in (-8, 9))
    around = (sums[bounds[last]] - sums[bounds[first]]) / numpy.maximum(bounds[last] - bounds[first], 1)
    order = sorted(range(len(texts)), key=lambda block: (hidden[block], -round(around[block], 1), block))
    covered[:] = False
    for block in order:
        for at in range(begins[block], min(begins[block] + total[block], len(shingles))):
            if left[shingles[at]] > 0:
                left[shingles[at]] -= 1
                covered[at : at + size] = True
    true = numpy.array([covered[begin : begin + count].sum() for begin, count in zip(begins, total)], dtype=float)
    for block in order:
        line = " ".join(words[begins[block] : begins[block] + total[block]])
        if 0 < total[block] < size and lines[line] > 0:
            lines[line] -= 1
            true[block] = total[block]
    return true, total


def chosen(page_types, articles, selection):
    """The pages to fit on: for each its path, type, truth, and whether it is an older article."""
    truths = content_score.read_truth(page_types)
    with open(f"{articles}/ground-truth.json") as file:
        bodies = json.load(file)
    pages, older = sorted(truths), sorted(bodies)
    if selection == "tune":
        pages, older = content_score.halves(truths)[0], older[::2]
    elif selection:
        left_out, folds = map(int, selection.split("/"))
        pages = [page for page in pages if content_score.fold(truths[page]["site"], folds) != left_out]
        older = [page for page in older if content_score.fold(content_score.site(bodies[page]["url"]), folds) != left_out]
    for page in pages:
        yield f"{page_types}/html/{page}.html", truths[page]["type"], truths[page]["text"], False
    for page in older:
        yield f"{articles}/html/{page}.html.gz", "article", bodies[page]["articleBody"], True


def read(page_types, articles, evidence, selection):
    wanted = list(chosen(page_types, articles, selection))
    paths = [path for path, *_ in wanted]
    lines = subprocess.run([evidence], input="\n".join(paths), text=True, stdout=subprocess.PIPE, check=True).stdout.split("\n")
    hidden = json.loads(lines[0])[1].index("path hidden")
    pages = []
    for line, (_, kind, truth, older) in zip(lines[1:], wanted):
        _, of_page, of_blocks, texts = json.loads(line)
        if texts:
            of_blocks = numpy.array(of_blocks, dtype=numpy.int16)
            true, total = label(texts, truth, of_blocks[:, hidden] < SHOWN)
            pages.append({
                "type": kind, "older": older, "page": numpy.array(of_page), "texts": texts,
                "blocks": of_blocks, "true": true / numpy.maximum(total, 1), "words": total,
            })
    return pages


def block_weights(page):
    words = page["words"] + 0.3
    true = max((words * page["true"]).sum(), 20)
    false = (words * (1 - page["true"])).sum()
    least = min(1, 2 * true / max(false, 1))
    weights = words / true * (page["true"] + (1 - page["true"]) * least)
    return weights * (ARTICLE_WEIGHT if page["older"] else 1)


def fit_blocks(pages):
    rows = numpy.concatenate([page["blocks"] for page in pages])
    weights = numpy.concatenate([block_weights(page) for page in pages])
    data = lightgbm.Dataset(rows, numpy.concatenate([page["true"] for page in pages]), weight=weights * len(weights) / weights.sum())
    return lightgbm.train(BLOCKS, data, BLOCK_ROUNDS)


def fit_types(pages):
    kinds = [content_score.TYPES.index(page["type"]) for page in pages]
    weights = [ARTICLE_TYPE_WEIGHT if page["older"] else 1 for page in pages]
    data = lightgbm.Dataset(numpy.array([page["page"] for page in pages]), kinds, weight=weights)
    return lightgbm.train(PAGE_TYPES, data, TYPE_ROUNDS)


def complete(node, leaves, tree, place=1):
    """Writes a tree of LightGBM as a complete tree: the root is node 1, the children of node n are 2n and 2n+1."""
    features, thresholds, values = tree
    if place >= leaves:
        values[place - leaves] = round(node["leaf_value"] * 1000)
        return
    if "leaf_value" in node:
        features[place], thresholds[place] = 0, 32767
        children = node, node
    else:
        features[place] = node["split_feature"]
        # Evidence is whole numbers, so that the threshold can be one.
        thresholds[place] = int(numpy.clip(numpy.floor(node["threshold"]), -32768, 32767))
        children = node["left_child"], node["right_child"]
    for side, child in enumerate(children):
        complete(child, leaves, tree, 2 * place + side)


def write(model, depth, path, what):
    leaves = 2**depth
    trees = model.dump_model()["tree_info"]
    lines = [f"//! {what} Written by `tools/fit_content.py`.", "", "use super::DecisionTree;", ""]
    lines += ["#[rustfmt::skip]", f"pub(super) static TREES: [DecisionTree<{leaves}>; {len(trees)}] = ["]
    for tree in trees:
        one = [0] * leaves, [0] * leaves, [0] * leaves
        complete(tree["tree_structure"], leaves, one)
        parts = zip(("features", "thresholds", "leaves"), one)
        lines.append("    DecisionTree { " + ", ".join(f"{name}: {part}" for name, part in parts) + " },")
    path.write_text("\n".join(lines + ["];"]) + "\n")


def main():
    arguments, selection = sys.argv[1:], None
    if "--tune" in arguments:
        arguments.remove("--tune")
        selection = "tune"
    elif "--without" in arguments:
        at = arguments.index("--without")
        selection = arguments[at + 1]
        del arguments[at : at + 2]
    if len(arguments) != 3:
        raise SystemExit(__doc__)
    pages = read(*arguments, selection)
    print(f"{len(pages)} pages, {sum(len(page['texts']) for page in pages)} blocks", file=sys.stderr)
    TABLES.mkdir(exist_ok=True)
    write(fit_blocks(pages), BLOCK_DEPTH, TABLES / "block_table.rs", "The trees that score a block.")
    write(fit_types(pages), TYPE_DEPTH, TABLES / "type_table.rs", "The trees that recognise the type of a page, in turn.")


if __name__ == "__main__":
    main()
