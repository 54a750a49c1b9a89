#!/usr/bin/env python3
"""Fits the model of main-content selection and writes it as tables of constants.

    tools/fit_content.py PAGE_TYPES ARTICLES EVIDENCE [--check]

PAGE_TYPES is the folder of the web-content-extraction-benchmark (`html/`, `truth/`), of which only the half `tune` is read (see
`bench/content_score.py`); ARTICLES is that of the article extraction benchmark, of which only the pages at even positions are
read. EVIDENCE is the example `content_evidence` of cento-text. Needs numpy and lightgbm. `--check` cross-validates and writes
nothing.

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
FOLDS = 4
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
# Older news pages are many and alike.
ARTICLE_WEIGHT = 0.5
ARTICLE_TYPE_WEIGHT = 0.3


def label(texts, truth):
    """For each block, how many of its words are in the truth, and how many it has.

    A word is in the truth if a shingle of the page around it is. A block shorter than a shingle is in the truth if it is one of
    its lines.
    """
    size = content_score.SHINGLE_WORDS
    find = content_score.WORD.findall
    words, owners = [], []
    for index, text in enumerate(texts):
        found = find(text)
        words += found
        owners += [index] * len(found)
    true_words = find(truth)
    shingles = {tuple(true_words[at : at + size]) for at in range(len(true_words) - size + 1)}
    lines = {" ".join(find(line)) for line in truth.split("\n")}
    covered = numpy.zeros(len(words), bool)
    for at in range(len(words) - size + 1):
        if tuple(words[at : at + size]) in shingles:
            covered[at : at + size] = True
    true, total = numpy.zeros(len(texts)), numpy.zeros(len(texts))
    for owner, is_covered in zip(owners, covered):
        total[owner] += 1
        true[owner] += is_covered
    for index, text in enumerate(texts):
        if 0 < total[index] < size and " ".join(find(text)) in lines:
            true[index] = total[index]
    return true, total


def read(page_types, articles, evidence):
    truths = content_score.read_truth(page_types)
    tune, _ = content_score.halves(truths)
    with open(f"{articles}/ground-truth.json") as file:
        bodies = json.load(file)
    paths, wanted = [], []
    for page in tune:
        paths.append(f"{page_types}/html/{page}.html")
        wanted.append((page, truths[page]["type"], truths[page]["text"], False))
    for page in sorted(bodies)[::2]:
        paths.append(f"{articles}/html/{page}.html.gz")
        wanted.append((page, "article", bodies[page]["articleBody"], True))
    lines = subprocess.run([evidence], input="\n".join(paths), text=True, stdout=subprocess.PIPE, check=True).stdout.split("\n")
    page_names, block_names = json.loads(lines[0])
    pages = []
    for line, (page, kind, truth, older) in zip(lines[1:], wanted):
        _, of_page, of_blocks, texts = json.loads(line)
        if texts:
            true, total = label(texts, truth)
            pages.append({
                "id": page, "type": kind, "older": older, "page": numpy.array(of_page), "texts": texts,
                "blocks": numpy.array(of_blocks, dtype=numpy.int16), "true": true / numpy.maximum(total, 1), "words": total,
            })
    return page_names, block_names, pages


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


def check(pages):
    """Cross-validates the page type; the selection itself is scored by `bench/run content`."""
    places = collections.Counter()
    for page in pages:
        places[page["type"]] += 1
        page["fold"] = places[page["type"]] % FOLDS
    right, all_of, loss = collections.Counter(), collections.Counter(), []
    for fold in range(FOLDS):
        rest = [page for page in pages if page["fold"] != fold]
        types, blocks = fit_types(rest), fit_blocks(rest)
        for page in pages:
            if page["fold"] == fold and not page["older"]:
                found = content_score.TYPES[types.predict(page["page"][None])[0].argmax()]
                right[page["type"]] += found == page["type"]
                all_of[page["type"]] += 1
                chance = numpy.clip(blocks.predict(page["blocks"], num_threads=1), 0.001, 0.999)
                true, weights = page["true"], block_weights(page)
                each = -(true * numpy.log(chance) + (1 - true) * numpy.log(1 - chance))
                loss.append((each * weights).sum() / weights.sum())
    print(f"page type, cross-validated: {sum(right.values()) / sum(all_of.values()):.3f}")
    for kind in content_score.TYPES:
        print(f"  {kind:14} {right[kind]:3} of {all_of[kind]}")
    print(f"blocks, cross-validated log loss: {numpy.mean(loss):.4f}")


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
        parts = (", ".join(map(str, part)) for part in one)
        lines += ["    DecisionTree {"] + [f"        {name}: [{part}]," for name, part in zip(("features", "thresholds", "leaves"), parts)] + ["    },"]
    path.write_text("\n".join(lines + ["];"]) + "\n")


def main():
    *folders, evidence = [argument for argument in sys.argv[1:] if argument != "--check"]
    if len(folders) != 2:
        raise SystemExit(__doc__)
    _, _, pages = read(*folders, evidence)
    print(f"{len(pages)} pages, {sum(len(page['texts']) for page in pages)} blocks")
    if "--check" in sys.argv:
        check(pages)
        return
    TABLES.mkdir(exist_ok=True)
    write(fit_blocks(pages), BLOCK_DEPTH, TABLES / "block_table.rs", "The trees that score a block.")
    write(fit_types(pages), TYPE_DEPTH, TABLES / "type_table.rs", "The trees that recognise the type of a page, in turn.")


if __name__ == "__main__":
    main()
