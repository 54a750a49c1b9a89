"""What bounds each step: `perf record` of the program on one thread, its samples by kind of work, and how fast cento does the kinds that have a limit on this machine.

A sample counts for the innermost function of a known kind, inlined ones included (addr2line knows these from line tables, with which bench/setup.sh builds our crates).
Samples in the kernel count by the system call or fault that led to them.
"""

import collections
import json
import re
import shutil
import subprocess

import duckdb
from common import CENTO, FOLDER, Failed, fresh, run, warm
from data import archives, corpus_of, rfcs
from parts.limits import limits
from table import listed, seconds

# Samples for each second of processor time. No multiple of the timer of the kernel.
FREQUENCY = 997
KERNEL = [
    ("kernel: page faults and mapping", r"exc_page_fault|do_user_addr_fault|handle_mm_fault|exit_mmap|__x64_sys_(mmap|munmap|mremap|madvise|brk)"),
    ("kernel: reading", r"^(ksys_read|vfs_read|__x64_sys_p?read)"),
    ("kernel: writing", r"^(ksys_p?write|vfs_write|vfs_writev|__x64_sys_(p?write|f(data)?sync)|do_writepages)"),
]
# The first that matches counts, for the innermost function first: a module of our crates or of the standard library, or a symbol of others.
KINDS = [
    ("decompression", r"inflate|deflate_decompress|build_decode_table|ZSTD_\w*(decompress|decode|DCtx|DDict|buildFSETable|DTable)|HUF_\w*(decompress|DTable|DStream|readStats)|FSE_\w*decompress|brotli_decompressor|lz4"),
    ("compression", r"^(ZSTD|HUF|FSE|HIST)_"),
    ("HTML and character sets", r"cento_text::html|encoding_rs|chardetng|cento_read::decode"),
    ("main content", r"cento_text::content"),
    ("JSON", r"serde_json|cento_read::json"),
    # A lookup is an atomic read of a word.
    ("filter of rare keys", r"cento_flow::bits|core::sync::atomic"),
    ("hashing", r"blake3|sha1|xxh|XXH|cento_fingerprint|cento_find::words|hash_one|core::hash"),
    ("words and normalisation", r"cento_text::|whatlang|unicode|icu_|core::str|memchr"),
    ("partitioning and sorting", r"cento_flow::|core::slice::sort|sort_hashes|cento_find::page_lists"),
    ("aligning", r"cento_align|cento_find::passages"),
    ("tables (Parquet)", r"parquet|arrow|cento_store|thrift|flatbuffers"),
    ("reading records", r"cento_read|cento_file|httparse|^url::"),
    ("counting and joining", r"cento_find|hashbrown"),
    ("copying memory", r"mem(move|cpy|set|cmp)|str(cpy|len)"),
    ("allocating memory", r"malloc|calloc|realloc|cfree|^_int_|^free|unlink_chunk|__sbrk|systrim"),
]
# The file of a function, as the path of its module.
FILE = re.compile(r"(?:crates/(cento-\w+)|library/(core|alloc|std))/src/([\w/]+)\.rs")


def kind_of(frames, kinds=KINDS):
    for frame in frames:
        for kind, pattern in kinds:
            if re.search(pattern, frame):
                return kind
    return None


def module(place):
    found = FILE.search(place)
    return f"{(found[1] or found[2]).replace('-', '_')}::{found[3].replace('/', '::')}" if found else ""


def inlined(addresses):
    """The modules of the functions at addresses of the program, the innermost first. Of an inlined function, addr2line knows the file, and not always the name."""
    # perf prints places in the file, and addr2line asks for addresses.
    segments = subprocess.run(["readelf", "-lW", CENTO], stdout=subprocess.PIPE, text=True, check=True).stdout
    offset, address = re.search(r"LOAD +(0x\w+) (0x\w+) .* R E ", segments).groups()
    shift = int(address, 16) - int(offset, 16)
    asked = "\n".join(f"{place + shift:#x}" for place in addresses)
    said = subprocess.run(["addr2line", "-a", "-i", "-e", CENTO], input=asked, stdout=subprocess.PIPE, text=True, check=True).stdout
    found = []
    for line in said.splitlines():
        if re.fullmatch(r"0x[0-9a-f]{8,}", line):
            found.append([])
        else:
            found[-1].append(module(line))
    return dict(zip(addresses, found))


def sampled(command):
    """The share of samples of each kind, and of the functions that have none."""
    data = FOLDER / "profile.data"
    run(["perf", "record", "-q", "-g", "-N", "-e", "cpu-clock", "-F", FREQUENCY, "-o", data, *command])
    said = subprocess.run(["perf", "script", "-i", data, "-F", "ip,sym,dso"], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    fresh(data.name)
    # One block for each sample: the function, then its callers.
    samples = [re.findall(r"^\s*([0-9a-f]+) (.*) \((.*)\)$", block, re.MULTILINE) for block in said.split("\n\n")]
    samples = [frames for frames in samples if frames]
    if not samples:
        raise Failed("perf recorded no samples")
    in_program = sorted({int(frames[0][0], 16) for frames in samples if frames[0][2] == str(CENTO)})
    functions = inlined(in_program)
    counts, unknown = collections.Counter(), collections.Counter()
    for frames in samples:
        address, name, where = frames[0]
        if where.startswith("["):
            kind = kind_of([function for _, function, _ in frames], KERNEL) or "kernel: other"
        else:
            kind = kind_of([*functions.get(int(address, 16), []), name])
        if kind is None:
            unknown[name] += 1
        counts[kind or "other"] += 1
    # Patterns go stale when functions are renamed: whoever measures sees what they miss.
    print("    without a kind: " + ", ".join(f"{name} {count / len(samples):.1%}" for name, count in unknown.most_common(5)), flush=True)
    return {kind: count / len(samples) for kind, count in counts.items()}


def packed_bytes(corpus, tables, column="%"):
    """The unpacked bytes of the compressed columns of a corpus."""
    query = "select sum(total_uncompressed_size)::bigint from parquet_metadata(?) where compression = 'ZSTD' and path_in_schema like ?"
    return sum(duckdb.execute(query, [f"{corpus}/{table}/*.parquet", column]).fetchall()[0][0] or 0 for table in tables)


def size_of(corpus, name):
    return sum(part["counts"][name] for part in json.loads((corpus / "manifest.json").read_text())["parts"])


def stages(findings):
    return [stage for path in findings.rglob("run.json") for stage in json.loads(path.read_text())["report"]["stages"]]


def passes(findings, *names):
    """How many stages have one of these names, apart from a number behind it."""
    return sum(stage["name"].split()[0] in names for stage in stages(findings))


def unpacked_size(files):
    """The bytes that gzip members unpack to."""
    return sum(int(subprocess.run(f"gzip -dc '{path}' | wc -c", shell=True, check=True, stdout=subprocess.PIPE, text=True).stdout) for path in files)


class Step:
    """A command, the bytes it starts from, and the work of it that has a limit: for each kind, the bytes after the command ran, and the name of the limit."""

    def __init__(self, name, command, size, inputs, work):
        self.name, self.command, self.size, self.inputs, self.work = name, command, size, inputs, work


def steps(settings):
    share = 16 if settings.small else 1
    files, texts = archives(settings.small), rfcs(share)
    made, corpus, lines = FOLDER / "profile.cento", corpus_of(texts), corpus_of(texts, "--chunk", "lines:2")
    findings = FOLDER / "profile-findings"
    unpacked, text = unpacked_size(files), packed_bytes(corpus, ["text"], "text")
    packed = [("decompression", lambda: unpacked, "gzip records of HTML: libdeflate")]
    written = [("compression", lambda: packed_bytes(made, ["pages", "text", "chunks"]), "zstd, level 1: compress text")]
    texts_read = [("decompression", lambda: text * passes(findings, "sketch", "note", "grams", "shingle", "fingerprint"), "zstd: decompress text")]
    # The first pass notes a key, and the second one looks it up: 8 bytes anywhere in a table that exceeds the caches.
    filtered = [("filter of rare keys", lambda: 2 * 8 * size_of(corpus, "words") * passes(findings, "note"), "memory: random reads of 8 bytes in 512 MiB (bytes read)")]
    sorted_rows = [("partitioning and sorting", lambda: sum(stage["bytes_out"] for stage in stages(findings)), "sort: random numbers of 8 bytes, 128 MiB")]
    reading = lambda paths: [("kernel: reading", lambda: sum(path.stat().st_size for path in paths), "memory: copy 512 MiB (bytes copied)")]
    archive_paths = [FOLDER / "crawl" / path.split("/")[-1] for path in files]
    index = lambda *words: [CENTO, "index", *words, "-o", made, "--threads", 1]
    analyse = lambda verb, source, *words: [CENTO, verb, source, *words, "--threads", 1, "--findings", findings]
    # Pairs grow with the square of the sample.
    few = corpus_of(rfcs(4 * share))
    pairs = fresh("profile-pairs.csv")
    run([CENTO, "reuse", few, "--style", "reuse,template", "--out", pairs, "--findings", fresh("profile-pairs")])
    stored = lambda corpus: sorted(corpus.rglob("*.parquet"))
    from_text = lambda verb, work: Step(f"{verb}, from a corpus", analyse(verb, corpus), text, stored(corpus), work)
    return [
        Step("index of WARC.gz", index(*files), unpacked, archive_paths, packed + written + reading(archive_paths)),
        Step("index --main of WARC.gz", index("--main", *files), unpacked, archive_paths, packed + written + reading(archive_paths)),
        Step("index of JSON Lines", index(texts), texts.stat().st_size, [texts], written + reading([texts])),
        from_text("copies", texts_read + sorted_rows),
        from_text("quilts", texts_read + filtered + sorted_rows),
        from_text("reuse", texts_read + sorted_rows),
        from_text("phrases", texts_read + filtered + sorted_rows),
        Step("overlap, from a corpus", analyse("overlap", lines), packed_bytes(lines, ["text"], "text"), sorted(lines.glob("chunks/*.parquet")), sorted_rows),
        Step("passages of pairs, from a corpus", analyse("passages", few, "--pairs", pairs), packed_bytes(few, ["text"], "text"), stored(few), sorted_rows),
    ]


def compare(settings):
    for program in ("perf", "addr2line", "readelf"):
        if not shutil.which(program):
            raise Failed(f"{program} is not installed")
    known = limits(settings)
    summary = [["step", "MB/s", "largest kind of work", "its share", "at the limits below", "share of the step", "reading the input from disk, not cached"]]
    bounds = [["step", "work", "share of the step", "MB", "cento, MB/s", "limit, MB/s", "cento to the limit"]]
    profiles = {}
    for step in steps(settings):
        print(f"  {step.name}", flush=True)
        warm(step.inputs)
        again = lambda: (fresh("profile.cento"), fresh("profile-findings"))
        best = None
        for _ in range(settings.rounds):
            again()
            one = run(step.command)
            best = min(best or one.processor, one.processor)
        work = [(kind, size(), limit) for kind, size, limit in step.work]
        again()
        shares = profiles[step.name] = sampled(step.command)
        at_limits = 0
        for kind, size, limit in work:
            share = shares.get(kind, 0)
            if share < 0.01 or not size:
                continue
            at_limits += size / 1e6 / known[limit]
            rate = size / 1e6 / (share * best)
            bounds.append([step.name, kind, f"{share:.0%}", f"{size / 1e6:,.0f}", f"{rate:,.0f}", f"{known[limit]:,.0f}: {limit}", f"{rate / known[limit]:.2f}"])
        largest = max(shares, key=shares.get)
        disk = sum(path.stat().st_size for path in step.inputs) / 1e6 / known["disk: read what is not cached, elapsed"]
        summary.append([step.name, f"{step.size / 1e6 / best:,.0f}", largest, f"{shares[largest]:.0%}", seconds(at_limits), f"{at_limits / best:.0%}", f"{disk / best:.0%}"])
    for name in ("profile.cento", "profile-findings", "profile-pairs", "profile-pairs.csv"):
        fresh(name)
    kinds = sorted({kind for shares in profiles.values() for kind in shares}, key=lambda kind: -sum(shares.get(kind, 0) for shares in profiles.values()))
    cell = lambda share: f"{share:.0%}" if share >= 0.005 else ""
    rows = [["kind of work", *profiles], *([kind, *(cell(shares.get(kind, 0)) for shares in profiles.values())] for kind in kinds)]
    return [
        listed("profile", summary, "Steps and their limits", SUMMARY),
        listed("profile-kinds", rows, "Kinds of work", KINDS_NOTE),
        listed("profile-limits", bounds, "Work with a known limit", BOUNDS),
    ]


SUMMARY = (
    "One thread. MB/s: unpacked input (records of archives, JSON Lines, or the text of a corpus) for each second of processor time. At the limits: how long the work with a known limit would take if each of it ran at its "
    "limit; the rest of a step has no limit that we can state. Reading from disk: how long the input would take to be read from this disk, to the processor time of the step; below 100 %, the disk does not bound the step."
)
KINDS_NOTE = f"Shares of the samples of `perf record -e cpu-clock`, {FREQUENCY} for each second of processor time. Functions of the standard library that are not inlined, such as sorting, count as one kind whoever calls them."
BOUNDS = (
    "MB is what the work is about: the unpacked bytes of compressed data, as often as they are read; 8 bytes for each key of the filter, of which there is at most one for each word, twice (the first pass also writes it, which costs more than a read); the bytes of all rows that stages pass on; "
    "the bytes of the input. Work that takes less than a hundredth of a step is left out. "
    "A ratio slightly above 1 means that the limit, measured from Python, is reached."
)
