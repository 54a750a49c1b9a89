"""Scores extracted main content against the truth of a folder of labelled pages.

A folder has `html/ID.html` and `truth/ID.json` (web-content-extraction-benchmark): the main content, the page type, and
sentences that must and must not be extracted. The score of a page is the F1 over shingles of four words, compared as
multisets; a table reports means over pages. Pages are split into two halves, stratified by page type, by a hash of their
ids: constants are fitted on `tune`, and `report` is what is published.
"""

import collections
import hashlib
import json
import pathlib
import re

SEED = "cento-page-types-1"
SHINGLE_WORDS = 4
TYPES = ["article", "documentation", "service", "forum", "listing", "product", "collection"]
WORD = re.compile(r"\w+")


def read_truth(folder):
    """The truth of each page by id. `blog`, which occurs once, is an article."""
    pages = {}
    for path in sorted(pathlib.Path(folder).glob("truth/*.json")):
        with open(path) as file:
            label = json.load(file)
        truth = label["ground_truth"]
        kind = label["_internal"]["page_type"]["primary"]
        pages[path.stem] = {
            "type": "article" if kind == "blog" else kind,
            "text": truth["main_content"] or "",
            "with": truth.get("with") or [],
            "without": truth.get("without") or [],
            "site": site(label["url"]),
        }
    return pages


def site(url):
    """The last two labels of the host: coarse, so that pages of one site are never in two folds."""
    return ".".join(url.split("//")[-1].split("/")[0].lower().split(".")[-2:])


def fold(site, folds):
    """The fold of a site in a cross-validation."""
    return int(hashlib.sha256(f"{SEED}:{site}".encode()).hexdigest(), 16) % folds


def halves(pages):
    """Splits ids into the halves `tune` and `report`."""
    by_type = collections.defaultdict(list)
    for page, truth in pages.items():
        digest = hashlib.sha256(f"{SEED}:{page}".encode()).hexdigest()
        by_type[truth["type"]].append((digest, page))
    tune, report = [], []
    for kind in sorted(by_type):
        for place, (_, page) in enumerate(sorted(by_type[kind])):
            # Types of an odd size give their extra page to one half and the other in turn.
            (tune if (place + len(kind)) % 2 == 0 else report).append(page)
    return sorted(tune), sorted(report)


def shingles(text):
    words = WORD.findall(text)
    size = min(SHINGLE_WORDS, len(words))
    return collections.Counter(tuple(words[at : at + size]) for at in range(len(words) - size + 1)) if size else collections.Counter()


def f1(truth, selected):
    """The F1 of two multisets of shingles; 1 if both are empty."""
    both = sum((truth & selected).values())
    total = sum(truth.values()) + sum(selected.values())
    return 2 * both / total if total else 1.0


def squeeze(text):
    return " ".join(WORD.findall(text.lower()))


def snippets(page, text):
    """How many required sentences are found and how many forbidden ones are, with their numbers."""
    text = f" {squeeze(text)} "

    def found(sentences):
        wanted = [squeeze(sentence) for sentence in sentences]
        wanted = [sentence for sentence in wanted if sentence]
        return sum(f" {sentence} " in text for sentence in wanted), len(wanted)

    return found(page["with"]) + found(page["without"])


def score(pages, ids, texts):
    """The scores of one program: means by page type, snippet counts, and how many pages are empty."""
    values = collections.defaultdict(list)
    counts = [0, 0, 0, 0]
    empty = 0
    for page in ids:
        truth = pages[page]
        text = texts.get(page) or ""
        empty += not text.strip()
        value = f1(shingles(truth["text"]), shingles(text))
        values["all"].append(value)
        values[truth["type"]].append(value)
        counts = [sum(pair) for pair in zip(counts, snippets(truth, text))]
    means = {kind: sum(them) / len(them) for kind, them in values.items()}
    return means, counts, empty


def row(name, means, counts, empty):
    found, wanted, wrong, forbidden = counts
    cells = [f"{means.get(kind, float('nan')):.3f}" for kind in ["all", *TYPES]]
    kept = found / wanted if wanted else 0
    violated = wrong / forbidden if forbidden else 0
    return "| " + " | ".join([name, *cells, str(empty), f"{kept:.3f}", f"{violated:.3f}"]) + " |"


HEAD = "| | all | " + " | ".join(TYPES) + " | empty pages | required sentences found | forbidden sentences found |"
