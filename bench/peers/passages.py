"""Passages that pairs of texts share, with difflib or rapidfuzz, in two processes.

    passages.py difflib|rapidfuzz TEXTS.jsonl OUTPUT.json SHARE

Texts come in pairs: the first line with the second, and so on; one of SHARE pairs is aligned. Both align sequences of words, which is what they find the most with and are fastest
at (characters take ten times as long). difflib runs without its heuristic for frequent elements, with which it misses most passages. Writes the character ranges
of the passages of each pair.
"""

import json
import multiprocessing
import re
import sys

WORD = re.compile(r"\w+")
LEAST_RUN, GAP, LEAST, ROUNDS, MANY = 2, 12, 25, 4, 1 << 20


def aligned_by_difflib(one, other):
    from difflib import SequenceMatcher

    return [(block.a, block.b, block.size) for block in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()]


def aligned_by_rapidfuzz(one, other):
    from rapidfuzz.distance import LCSseq

    return [(step.src_start, step.dest_start, step.src_end - step.src_start) for step in LCSseq.opcodes(one, other) if step.tag == "equal"]


def passages(align, one, other):
    """Aligns until nothing more is found: what has been found is masked, because an alignment cannot find passages that are in another order on the other side."""
    one, other, found = list(one), list(other), []
    for round in range(ROUNDS):
        new = merged_runs(align(one, other))
        for passage in new:
            # Numbers that no word has, different on the two sides.
            one[passage[0] : passage[1]] = range(-2 * round * MANY - 1, -2 * round * MANY - 1 - (passage[1] - passage[0]), -1)
            other[passage[2] : passage[3]] = range(-(2 * round + 1) * MANY - 1, -(2 * round + 1) * MANY - 1 - (passage[3] - passage[2]), -1)
        found += new
        if not new:
            break
    return found


def merged_runs(blocks):
    """Merges runs of equal words that are close together on both sides."""
    merged = []
    for one, other, size in blocks:
        if size < LEAST_RUN:
            continue
        if merged and one - merged[-1][1] <= GAP and other - merged[-1][3] <= GAP:
            merged[-1][1], merged[-1][3] = one + size, other + size
        else:
            merged.append([one, one + size, other, other + size])
    return [passage for passage in merged if passage[1] - passage[0] >= LEAST]


def work(job):
    name, (one, other) = job
    align = {"difflib": aligned_by_difflib, "rapidfuzz": aligned_by_rapidfuzz}[name]
    numbers = {}
    sides = []
    for row in (one, other):
        tokens = [(match.group().casefold(), match.span()) for match in WORD.finditer(row["text"])]
        sides.append(([numbers.setdefault(word, len(numbers)) for word, _ in tokens], [span for _, span in tokens]))
    (a, a_spans), (b, b_spans) = sides
    found = [
        [[a_spans[begin][0], a_spans[end - 1][1]], [b_spans[from_][0], b_spans[to - 1][1]]] for begin, end, from_, to in passages(align, a, b)
    ]
    return one["url"], found


def main():
    name, texts, output, share = sys.argv[1:]
    with open(texts, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    pairs = list(zip(rows[0::2], rows[1::2]))[:: int(share)]
    with multiprocessing.Pool(2) as pool:
        found = dict(pool.map(work, [(name, pair) for pair in pairs], chunksize=4))
    with open(output, "w") as out:
        json.dump(found, out)


if __name__ == "__main__":
    main()
