#!/usr/bin/env python3
"""Fits the model of main-content selection and writes it as tables of constants.

    tools/fit_content.py PAGE_TYPES ARTICLES EVIDENCE [--tune | --without FOLD/FOLDS]

PAGE_TYPES is the folder of the web-content-extraction-benchmark (`html/`, `truth/`); ARTICLES is that of the article extraction
benchmark. EVIDENCE is the example `content_evidence` of cento-text. Needs numpy and catboost.

The model is fitted on all pages, which is what we ship. `--tune` fits on half of them: the half `tune` of PAGE_TYPES (see
`bench/content_score.py`) and the pages at even positions of ARTICLES. `--without 0/5` leaves out the sites of a fold;
`tools/cross_validate_content.py` uses it. The settings below and the constants of `decide.rs` were chosen by cross-validation on
the half `tune`, and last by cross-validation on all pages.

What is fitted:

- for each block, the probability that its words are in the truth: 400 trees of depth 6 over the evidence about blocks, the mean
  of two fits. A page counts as much as any other: the words of its truth have weight 1, all other words together at most 2.
- for each page, the probability of each of seven types: 200 trees of depth 3 over the evidence about pages. Each page is
  repeated with less weight without its metadata, and without the names of its elements either: most pages of the fit are
  recent and have both, and without these copies a page that has none, as many older ones, is taken for a listing.

Trees are oblivious: all nodes of a level compare the same number with the same threshold, so that a tree is evaluated for many
blocks at once and without branches. Leaves are log-odds in thousandths.
"""

import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import catboost
import numpy

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "bench"))
import content_score  # noqa: E402

TABLES = HERE.parent / "crates/cento-text/src/content/model"
COMMON = {
    "thread_count": 1, "verbose": 0, "allow_writing_files": False, "bootstrap_type": "Bernoulli", "boosting_type": "Plain",
    "leaf_estimation_iterations": 1, "border_count": 63,
}
BLOCKS = COMMON | {
    "loss_function": "CrossEntropy", "iterations": 200, "depth": 6, "learning_rate": 0.09, "l2_leaf_reg": 10, "rsm": 0.3,
    "subsample": 0.5, "sampling_frequency": "PerTree",
}
BLOCK_SEEDS = [1, 2]
PAGE_TYPES = COMMON | {
    "loss_function": "MultiClass", "classes_count": len(content_score.TYPES), "iterations": 200, "depth": 3, "learning_rate": 0.25,
    "l2_leaf_reg": 5, "rsm": 0.2, "subsample": 0.8, "random_seed": 3,
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
    data = catboost.Pool(rows, true, weight=weights * len(weights) / weights.sum())
    return [catboost.CatBoost(BLOCKS | {"random_seed": seed}).fit(data) for seed in BLOCK_SEEDS]


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
    return [catboost.CatBoost(PAGE_TYPES).fit(catboost.Pool(numpy.concatenate([rows, bare, nameless]), kinds * 3, weight=weights))]


def trees(models):
    """The trees of the mean of models: for each the feature and the threshold of each level, and the leaves, an array with a column
    for each class. The answers of the levels are the bits of the number of a leaf, the first level's the lowest."""
    for model in models:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "model.json")
            model.save_model(str(path), format="json")
            written = json.loads(path.read_text())
        scale, biases = written["scale_and_bias"]
        for place, tree in enumerate(written["oblivious_trees"]):
            splits = [(split["float_feature_index"], split["border"]) for split in tree["splits"]]
            leaves = numpy.array(tree["leaf_values"]).reshape(2 ** len(splits), -1) * scale
            # The first tree carries the biases.
            yield splits, (leaves + (numpy.array(biases) if place == 0 else 0)) / len(models)


def write(models, path, what):
    depth = models[0].get_all_params()["depth"]
    lines = []
    for splits, leaves in trees(models):
        if len(splits) < depth:
            # A level that no value exceeds.
            leaves = numpy.concatenate([leaves] * 2 ** (depth - len(splits)))
            splits = splits + [(0, 32767)] * (depth - len(splits))
        features = [feature for feature, _ in splits]
        # Evidence is whole numbers, so that thresholds can be, too.
        thresholds = [int(numpy.clip(numpy.floor(border), -32768, 32767)) for _, border in splits]
        leaves = numpy.round(leaves * 1000).astype(int)
        values = leaves[:, 0].tolist() if leaves.shape[1] == 1 else leaves.tolist()
        lines.append(f"    LevelTree {{ features: {features}, thresholds: {thresholds}, leaves: {values} }},")
    leaf = "i16" if leaves.shape[1] == 1 else f"[i16; {leaves.shape[1]}]"
    head = [f"//! {what} Written by `tools/fit_content.py`.", "", "use super::LevelTree;", "", "#[rustfmt::skip]"]
    head.append(f"pub(super) static TREES: [LevelTree<{depth}, [{leaf}; {2**depth}]>; {len(lines)}] = [")
    path.write_text("\n".join(head + lines + ["];"]) + "\n")


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
    write(fit_blocks(pages), TABLES / "block_table.rs", "The trees that score a block.")
    write(fit_types(pages, page_names), TABLES / "type_table.rs", "The trees that recognise the type of a page.")


if __name__ == "__main__":
    main()
