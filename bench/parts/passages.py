"""Passages that two texts share: `cento passages`, difflib and rapidfuzz on the same pairs of texts with planted passages.

Texts are excerpts of RFCs of 3,000 words. One to three passages of 60 to 400 words of the first of a pair are planted in the second, verbatim or with a tenth or a fifth
of the words replaced. The truth is where they were planted, and where stretches are equal anyway, which an exact program finds. (How passages fare on the
plagiarism corpus of PAN 2013 is measured by `bench/run alignment`.)
"""

import json
import random
import re

import duckdb
from common import CENTO, FOLDER, HERE, fresh, python_of, run, warm
from data import rfcs
from table import Comparison

WORDS = 3_000
# Stretches of this many equal words that were not planted are no error, if found.
EQUAL = 10


def make(pairs):
    """A JSON Lines file of texts, a file of pairs of their URLs, and the truth: for each pair, the character ranges of planted passages."""
    texts, listed, truth = (FOLDER / f"compare-passages-{pairs}{ending}" for ending in (".jsonl", ".csv", ".json"))
    if truth.exists():
        return texts, listed, json.loads(truth.read_text())
    chance = random.Random(1)
    excerpts, every = [], []
    with open(rfcs(4), encoding="utf-8") as lines:
        for line in lines:
            words = json.loads(line)["text"].split()
            if len(words) >= WORDS + 1_000:
                excerpts.append(words[1_000 : 1_000 + WORDS])
                every += words[1_000:1_050]
            if len(excerpts) == 2 * pairs:
                break
    chance.shuffle(excerpts)
    known = {}
    with open(texts, "w", encoding="utf-8") as out, open(listed, "w", encoding="utf-8") as list_out:
        list_out.write("page,of\n")
        for number in range(len(excerpts) // 2):
            source, target = excerpts[2 * number], list(excerpts[2 * number + 1])
            planted, at = [], 100
            for _ in range(chance.randint(1, 3)):
                length = chance.randint(60, 400)
                at += chance.randint(50, 300)
                begin = chance.randint(0, WORDS - length)
                rate = chance.choice((0, 0.1, 0.2))
                passage = [chance.choice(every) if chance.random() < rate else word for word in source[begin : begin + length]]
                target[at : at + length] = passage
                planted.append(((at, at + length), (begin, begin + length)))
                at += length
            urls = [f"https://one.example/{number}", f"https://two.example/{number}"]
            for url, words in zip(urls, (target, source)):
                out.write(json.dumps({"url": url, "text": " ".join(words)}) + "\n")
            list_out.write(",".join(urls) + "\n")
            known[urls[0]] = [[characters(target, *ours), characters(source, *theirs)] for ours, theirs in planted]
    truth.write_text(json.dumps(known))
    return texts, listed, known


def characters(words, begin, end):
    start = sum(len(word) + 1 for word in words[:begin])
    return [start, start + sum(len(word) + 1 for word in words[begin:end]) - 1]


def covered(span, spans):
    """How many characters of a span others cover."""
    inside = sorted((max(begin, span[0]), min(end, span[1])) for begin, end in spans)
    total, reached = 0, span[0]
    for begin, end in inside:
        begin = max(begin, reached)
        if end > begin:
            total += end - begin
            reached = end
    return total


def judged(found, truth, texts):
    """Recall: the share of the planted characters that passages cover, on both sides. Precision: the share of characters of passages that were planted, or are equal on both sides."""
    hit = wanted = right = reported = 0
    for url, cases in truth.items():
        passages = found.get(url, [])
        for side in (0, 1):
            spans, planted = [one[side] for one in passages], [case[side] for case in cases]
            hit += sum(covered(case, spans) for case in planted)
            wanted += sum(end - begin for begin, end in planted)
            equal = planted + texts[url][side]
            right += sum(covered(span, equal) for span in spans)
            reported += sum(end - begin for begin, end in spans)
    recall, precision = hit / max(1, wanted), right / max(1, reported)
    return f"recall {recall:.3f}, precision {precision:.3f}", recall >= 0.8 and precision >= 0.8


def equal_stretches(path):
    """For each pair, the character ranges on both sides of runs of EQUAL words that are equal on both sides, apart from case and punctuation."""
    rows = [json.loads(line) for line in open(path, encoding="utf-8")]
    stretches = {}
    for one, other in zip(rows[0::2], rows[1::2]):
        sides = []
        tokens = [[(match.group().casefold(), match.span()) for match in re.finditer(r"\w+", row["text"])] for row in (one, other)]
        runs = [{tuple(word for word, _ in side[at : at + EQUAL]) for at in range(len(side) - EQUAL + 1)} for side in tokens]
        common = runs[0] & runs[1]
        for side in tokens:
            starts = (at for at in range(len(side) - EQUAL + 1) if tuple(word for word, _ in side[at : at + EQUAL]) in common)
            sides.append([[side[at][1][0], side[at + EQUAL - 1][1][1]] for at in starts])
        stretches[one["url"]] = sides
    return stretches


def compare(settings):
    texts, listed, truth = make(40 if settings.small else 400)
    equal = equal_stretches(texts)
    warm([texts])
    count = len(truth)

    def ours():
        return run([CENTO, "passages", texts, "--pairs", listed, "--threads", 2, "--findings", fresh("compare-passages")])

    def check_ours(_):
        columns = "a, b, a_begin_char, a_end_char, b_begin_char, b_end_char"
        found = {}
        for a, b, a_begin, a_end, b_begin, b_end in duckdb.sql(f"select {columns} from '{FOLDER}/compare-passages/passages/*/passages.parquet'").fetchall():
            one, other = [a_begin, a_end], [b_begin, b_end]
            found.setdefault(a if a in truth else b, []).append([one, other] if a in truth else [other, one])
        return judged(found, truth, equal)

    def peer(name, share):
        return run([python_of("venv"), HERE / "peers/passages.py", name, texts, FOLDER / f"compare-passages-{name}.json", share], limit=400)

    def check(name, share, _):
        found = json.loads((FOLDER / f"compare-passages-{name}.json").read_text())
        return judged(found, {url: truth[url] for url in list(truth)[::share]}, equal)

    note = (
        f"{count} pairs of texts of {WORDS:,} words (excerpts of RFCs) with one to three planted passages of 60 to 400 words, of which none, a tenth or a fifth of the words were replaced; from JSON Lines "
        "to the ranges of passages. difflib and rapidfuzz align words and merge runs of two equal words that are at most 12 words apart to passages of at least 25 words (the best of seven settings); then again without what was found, because an "
        "alignment finds only what is in the same order on both sides. Of unplanted text, runs of 10 equal words count as right."
    )
    table = Comparison("passages", "Passages of pairs, text to tables", note, texts.stat().st_size)
    table.add("cento passages FILE --pairs, 2 threads", ours, check_ours, ours=True)
    for title, name, share in (("rapidfuzz, 2 processes", "rapidfuzz", 1), ("difflib, 2 processes", "difflib", 1)):
        table.add(
            title, lambda name=name, share=share: peer(name, share), lambda one, name=name, share=share: check(name, share, one),
            size=texts.stat().st_size / share, note=f"one pair of {share}" if share > 1 else "",
        )  # fmt: skip
    measured = table.measure(settings.rounds)
    measured["note"] += " " + unrelated(texts, count)
    return [measured]


def unrelated(texts, count):
    """What is found between texts of the same genre that nothing was planted in from each other."""
    pairs, findings = FOLDER / "compare-passages-unrelated.csv", fresh("compare-passages-unrelated")
    with open(pairs, "w", encoding="utf-8") as out:
        out.write("page,of\n")
        for distance in (7, 31, 101):
            for number in range(count):
                out.write(f"https://one.example/{number},https://two.example/{(number + distance) % count}\n")
    run([CENTO, "passages", texts, "--pairs", pairs, "--findings", findings])
    kinds = dict(duckdb.sql(f"select kind, count(*) from '{findings}/passages/*/passages.parquet' group by kind").fetchall())
    counts = ", ".join(f"{kinds.get(kind, 0)} {kind}" for kind in ("verbatim", "edited", "scattered"))
    return f"Between {3 * count:,} pairs of excerpts of unrelated RFCs, cento reports {counts} passages; texts of one genre share stock phrases."
