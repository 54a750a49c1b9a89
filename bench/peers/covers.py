"""Greedy covers of patchy pages with numpy, in two processes: the last step of quilts, whatever has grouped the grams.

Each patch gram of a patchy page makes a triple (page, gram, other page) for each other page that has it. The page is covered greedily: the other
page with the most uncovered grams is a source, ties go to the lowest page, and so on until all grams are covered.

Grams are given in groups. A group is a pair of files: NAME-page.npy has the pages of all grams, gram by gram, and NAME-sizes.npy how many pages
each gram has.
"""

import numpy
import words

TRIPLE = numpy.dtype([("page", "u4"), ("other", "u4"), ("gram", "i8")])


def save_group(name, page, sizes):
    numpy.save(f"{name}-page.npy", page.astype(numpy.int32))
    numpy.save(f"{name}-sizes.npy", sizes.astype(numpy.int32))


def covers(pool, groups, patchy, least, folder):
    """The sources of all patchy pages that have at least `least` of them, as rows (page, source, grams)."""
    jobs = [(name, number, patchy, folder) for number, name in enumerate(groups)]
    files = pool.map(triples, jobs)
    parts = pool.map(covered, [(names, least) for names in zip(*files)], chunksize=1)
    return [row for part in parts for row in part]


def ranges(begins, sizes):
    """The numbers of all ranges, one range after the other."""
    before = numpy.cumsum(sizes) - sizes
    return numpy.repeat(begins - before, sizes) + numpy.arange(sizes.sum())


def triples(job):
    """Writes the triples of a group to one file for each process: each gets some of the pages."""
    name, number, patchy, folder = job
    page, sizes = numpy.load(f"{name}-page.npy"), numpy.load(f"{name}-sizes.npy")
    is_patchy = numpy.zeros(max(page.max(initial=0), patchy.max(initial=0)) + 1, bool)
    is_patchy[patchy] = True
    gram = numpy.repeat(numpy.arange(len(sizes)), sizes)
    begins = numpy.cumsum(sizes) - sizes
    rows = numpy.flatnonzero(is_patchy[page])
    size = sizes[gram[rows]]
    own, other = numpy.repeat(rows, size), ranges(begins[gram[rows]], size)
    own, other = own[own != other], other[own != other]
    names = []
    for part in range(words.PROCESSES):
        mine = page[own] % words.PROCESSES == part
        found = numpy.empty(mine.sum(), TRIPLE)
        found["page"], found["other"], found["gram"] = page[own[mine]], page[other[mine]], gram[own[mine]] + (number << 32)
        names.append(f"{folder}/triples-{number}-{part}.npy")
        numpy.save(names[-1], found)
    return names


def covered(job):
    """The rows of the pages of one process."""
    names, least = job
    found = numpy.concatenate([numpy.load(name) for name in names])
    # Stable, so that the triples of a gram stay together.
    found = found[numpy.argsort(found["page"], kind="stable")]
    pages, begins = numpy.unique(found["page"], return_index=True)
    rows = []
    for page, begin, end in zip(pages.tolist(), begins.tolist(), [*begins[1:].tolist(), len(found)]):
        sources = cover(found["gram"][begin:end], found["other"][begin:end])
        if len(sources) >= least:
            rows.extend((page, source, grams) for source, grams in sources)
    return rows


def cover(gram, other):
    """The sources of one page and how many grams each adds, in the order in which they are chosen."""
    begins = numpy.flatnonzero(numpy.concatenate([[True], gram[1:] != gram[:-1]]))
    sizes = numpy.diff(numpy.append(begins, len(gram)))
    candidates, place = numpy.unique(other, return_inverse=True)
    left = numpy.bincount(place)
    # The grams of each candidate, candidate by candidate.
    ends = numpy.cumsum(left).tolist()
    grams = numpy.repeat(numpy.arange(len(begins)), sizes)[numpy.argsort(place, kind="stable")]
    is_open = numpy.ones(len(begins), bool)
    sources = []
    while True:
        best = int(left.argmax())
        most = int(left[best])
        if most == 0:
            return sources
        mine = grams[ends[best - 1] if best else 0 : ends[best]]
        mine = mine[is_open[mine]]
        is_open[mine] = False
        left -= numpy.bincount(place[ranges(begins[mine], sizes[mine])], minlength=len(left))
        sources.append((int(candidates[best]), most))
