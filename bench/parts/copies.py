"""Near-duplicates of real texts, from a JSON Lines file to a list: cento and its peers, compared with exact resemblance.

The texts are the RFCs. The truth is all pairs whose sets of word 5-grams have a resemblance of at least 0.8, computed without sketches. A pair is found if both
pages are in one reported class; a report is wrong if the two pages do not resemble each other that much.
"""

import duckdb
from common import CENTO, EXAMPLES, FOLDER, HERE, fresh, python_of, run, warm
from data import corpus_of, rfcs
from table import Comparison

LEAST = 0.8
# Each with its virtual environment.
PEERS = {
    "gaoya, 2 threads": ("gaoya", "venv"),
    "rensa, 2 processes": ("rensa", "venv"),
    "datasketch, 2 processes": ("datasketch", "venv"),
}
SLOW_PEERS = {"text-dedup, 2 processes": ("text-dedup", "venv-text-dedup"), "datatrove, 2 processes": ("datatrove", "venv-datatrove")}


def pairs_of(path):
    with open(path, encoding="utf-8") as file:
        return [tuple(line.rstrip("\n").split("\t")[:2]) for line in file]


def truth(texts):
    path = FOLDER / f"resembling-{texts.stem}.tsv"
    if not path.exists():
        path.with_suffix(".new").write_text(run([EXAMPLES / "resembling", texts, LEAST]).output)
        path.with_suffix(".new").rename(path)
    return {frozenset(pair) for pair in pairs_of(path)}


def judged_pairs(reported, true):
    """How many true pairs are in one class of those reported, and how many reports are wrong."""
    parent = {}

    def find(page):
        while parent.setdefault(page, page) != page:
            parent[page] = page = parent[parent[page]]
        return page

    wrong = 0
    for page, other in reported:
        wrong += frozenset((page, other)) not in true
        parent[find(page)] = find(other)
    return sum(find(one) == find(other) for one, other in map(tuple, true)), wrong


def judged(reported, true):
    found, wrong = judged_pairs(reported, true)
    text = f"{found:,} of {len(true):,} pairs, {wrong:,} of {len(reported):,} reports wrong"
    # A peer that misses more than a tenth of the pairs does not count as one that does the work.
    return text, found >= 0.9 * len(true)


def compare(settings):
    texts = rfcs(16 if settings.small else 1)
    some = rfcs(64 if settings.small else 8)
    true = truth(texts)
    corpus = corpus_of(texts)
    warm([texts, some])
    pages = sum(1 for _ in open(texts, "rb"))

    def ours(source):
        return run([CENTO, "copies", source, "--findings", fresh("compare-copies"), "--threads", 2])

    def check_ours(_):
        # All pairs that it found: of three similar pages, two may be removed for one, or one for a page that the third does not resemble.
        return judged(duckdb.sql(f"select page, of from '{FOLDER}/compare-copies/copies/*/near_pairs.parquet'").fetchall(), true)

    def peer(name, environment, path):
        work = fresh(f"compare-{name}")
        work.mkdir()
        return run([python_of(environment), HERE / "peers/copies.py", name, path, FOLDER / f"compare-{name}.tsv", work], limit=600)

    note = (
        f"The {pages:,} RFCs, {texts.stat().st_size / 1e6:,.0f} MB of JSON Lines, from that to the list of near-duplicates, 2 cores. The truth: {len(true)} pairs of which the sets of 5-grams of words have a resemblance of at least {LEAST}, "
        "computed without sketches. text-dedup and datatrove get one RFC of eight, because they are slow; their time is compared for the same amount of text, and their result with the truth of that sample."
    )
    table = Comparison("copies", "Near-duplicates, text to tables", note, texts.stat().st_size)
    table.add("cento copies FILE", lambda: ours(texts), check_ours, ours=True)
    for name, (peer_name, environment) in PEERS.items():
        table.add(
            name, lambda peer_name=peer_name, environment=environment: peer(peer_name, environment, texts),
            lambda _, peer_name=peer_name: judged(pairs_of(FOLDER / f"compare-{peer_name}.tsv"), true),
        )  # fmt: skip
    some_true = truth(some)
    for name, (peer_name, environment) in SLOW_PEERS.items():
        table.add(
            name, lambda peer_name=peer_name, environment=environment: peer(peer_name, environment, some),
            lambda _, peer_name=peer_name: judged(pairs_of(FOLDER / f"compare-{peer_name}.tsv"), some_true),
            size=some.stat().st_size, note=f"one RFC of {64 if settings.small else 8}", once=True,
        )  # fmt: skip
    table.add("cento copies CORPUS", lambda: ours(corpus), check_ours, ours=True, note="from a corpus that is there")
    return [table.measure(settings.rounds)]
