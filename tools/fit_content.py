#!/usr/bin/env python3
"""Fits the model of main-content selection and writes it as tables of constants.

    tools/fit_content.py PAGE_TYPES ARTICLES EVIDENCE [--tune | --without FOLD/FOLDS]

PAGE_TYPES is the folder of the web-content-extraction-benchmark (`html/`, `truth/`); ARTICLES is that of the article extraction
benchmark. EVIDENCE is the example `content_evidence` of cento-text. Needs numpy, lightgbm and catboost.

The model is fitted on all pages, which is what we ship. `--tune` fits on half of them: the half `tune` of PAGE_TYPES (see
`bench/content_score.py`) and the pages at even positions of ARTICLES. `--without 0/5` leaves out the sites of a fold;
`tools/cross_validate_content.py` uses it. The settings below and the constants of `decide.rs` were chosen by cross-validation on
the half `tune`; earlier values of some were chosen on all pages. Averages over three seeds tell settings apart that differ by
0.002; those of one seed do not.

What is fitted:

- for each block, the probability that its words are in the truth: 120 trees with up to 31 leaves over the evidence about blocks.
  A page counts as much as any other: the words of its truth have weight 1, all other words together at most 2.
- for each page, the probability of each of seven types: 200 trees of depth 3 over the evidence about pages. Each page is
  repeated with less weight without its metadata, and without the names of its elements either: most pages of the fit are
  recent and have both, and without these copies a page that has none, as many older ones, is taken for a listing.

The trees for blocks are written as complete trees of depth 6, so that they are evaluated for many blocks at once and without
branches. Those for types are oblivious: all nodes of a level compare the same number with the same threshold. Leaves are log-odds
in thousandths.
"""

import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import catboost
import lightgbm
import numpy

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "bench"))
import content_score  # noqa: E402

TABLES = HERE.parent / "crates/cento-text/src/content/model"
BLOCK_TREES = 120
BLOCK_DEPTH = 6
BLOCKS = {
    "objective": "cross_entropy", "num_leaves": 31, "max_depth": BLOCK_DEPTH, "learning_rate": 0.1, "lambda_l2": 10,
    "min_data_in_leaf": 50, "min_sum_hessian_in_leaf": 1, "feature_fraction": 0.3, "bagging_fraction": 0.5, "bagging_freq": 1,
    "max_bin": 63, "seed": 1, "num_threads": 1, "deterministic": True, "force_row_wise": True, "verbose": -1,
}
PAGE_TYPES = {
    "loss_function": "MultiClass", "classes_count": len(content_score.TYPES), "iterations": 200, "depth": 3, "learning_rate": 0.25,
    "l2_leaf_reg": 5, "rsm": 0.2, "subsample": 0.8, "bootstrap_type": "Bernoulli", "boosting_type": "Plain",
    "leaf_estimation_iterations": 1, "border_count": 63, "random_seed": 3, "thread_count": 1, "verbose": 0,
    "allow_writing_files": False,
}
# The evidence `path hidden` of a block that is shown.
SHOWN = 2000
# Older news pages are many and alike.
ARTICLE_WEIGHT = 0.5
ARTICLE_TYPE_WEIGHT = 0.6
# The evidence about pages that is metadata, by the beginning of its name, and that is names of elements; and the weight of the
# copies of pages without it.
METADATA = ("page schema", "page og:type", "page address", "page dated", "page described")
ELEMENT_NAMES = ("page count",)
COPY_WEIGHT = 0.1


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
    page_names, block_names = json.loads(lines[0])
    hidden = block_names.index("path hidden")
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
    return pages, page_names


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
    true = numpy.concatenate([page["true"] for page in pages])
    data = lightgbm.Dataset(rows.astype(numpy.float32), true, weight=weights * len(weights) / weights.sum())
    return lightgbm.train(BLOCKS, data, BLOCK_TREES)


def fit_types(pages, names):
    metadata = [place for place, name in enumerate(names) if name.startswith(METADATA)]
    # Counts of tags remain.
    of_elements = [place for place, name in enumerate(names) if name.startswith(ELEMENT_NAMES) and "<" not in name]
    rows = numpy.array([page["page"] for page in pages])
    kinds = [content_score.TYPES.index(page["type"]) for page in pages]
    weights = numpy.array([ARTICLE_TYPE_WEIGHT if page["older"] else 1 for page in pages])
    bare, nameless = rows.copy(), rows.copy()
    bare[:, metadata] = 0
    nameless[:, metadata + of_elements] = 0
    weights = numpy.concatenate([weights, weights * COPY_WEIGHT, weights * COPY_WEIGHT])
    return catboost.CatBoost(PAGE_TYPES).fit(catboost.Pool(numpy.concatenate([rows, bare, nameless]), kinds * 3, weight=weights))


def threshold(border):
    """Evidence is whole numbers, so that thresholds can be, too."""
    return int(numpy.clip(numpy.floor(border), -32768, 32767))


def block_trees(model):
    """The trees that score blocks: the feature and the threshold of each node of a complete tree, the root at 1 and the next nodes
    after `n` at `2n` and `2n + 1`; the means of the blocks of the fit at each node, for explanations; and the leaves."""
    count = 2**BLOCK_DEPTH
    for tree in model.dump_model()["tree_info"]:
        # A node below a leaf has a threshold that no value exceeds.
        nodes = [(0, 32767)] * count
        values = numpy.zeros(2 * count)

        def place(node, at):
            values[at] = node.get("leaf_value", node.get("internal_value"))
            if "split_feature" in node:
                nodes[at] = (node["split_feature"], threshold(node["threshold"]))
            if at < count:
                place(node.get("left_child", node), 2 * at)
                place(node.get("right_child", node), 2 * at + 1)

        place(tree["tree_structure"], 1)
        values = numpy.round(values * 1000).astype(int).tolist()
        yield f"BlockTree {{ nodes: {nodes}, means: {values[:count]}, leaves: {values[count:]} }}"


def type_trees(model):
    """The trees that score types: the feature and the threshold of each level, and the leaves, an array with a number for each type.
    The answers of the levels are the bits of the number of a leaf, the first level's the lowest."""
    depth = PAGE_TYPES["depth"]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model.json")
        model.save_model(str(path), format="json")
        written = json.loads(path.read_text())
    scale, biases = written["scale_and_bias"]
    for number, tree in enumerate(written["oblivious_trees"]):
        splits = [(split["float_feature_index"], threshold(split["border"])) for split in tree["splits"]]
        # The first tree carries the biases.
        leaves = numpy.array(tree["leaf_values"]).reshape(2 ** len(splits), -1) * scale + (numpy.array(biases) if number == 0 else 0)
        # A missing level is one that no value exceeds.
        leaves = numpy.concatenate([leaves] * 2 ** (depth - len(splits)))
        splits += [(0, 32767)] * (depth - len(splits))
        features, thresholds = map(list, zip(*splits))
        leaves = numpy.round(leaves * 1000).astype(int).tolist()
        yield f"LevelTree {{ features: {features}, thresholds: {thresholds}, leaves: {leaves} }}"


def write(name, what, imported, kind, trees):
    lines = [f"    {tree}," for tree in trees]
    head = [f"//! {what} Written by `tools/fit_content.py`.", "", f"use super::{imported};", "", "#[rustfmt::skip]"]
    head.append(f"pub(super) static TREES: [{kind}; {len(lines)}] = [")
    (TABLES / name).write_text("\n".join(head + lines + ["];"]) + "\n")


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
    pages, page_names = read(*arguments, selection)
    print(f"{len(pages)} pages, {sum(len(page['texts']) for page in pages)} blocks", file=sys.stderr)
    TABLES.mkdir(exist_ok=True)
    write("block_table.rs", "The trees that score a block.", "BlockTree", "BlockTree", block_trees(fit_blocks(pages)))
    depth = PAGE_TYPES["depth"]
    kind = f"LevelTree<{depth}, [[i16; {len(content_score.TYPES)}]; {2**depth}]>"
    types = type_trees(fit_types(pages, page_names))
    write("type_table.rs", "The trees that recognise the type of a page.", "LevelTree", kind, types)


if __name__ == "__main__":
    main()
