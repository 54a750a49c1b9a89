"""The data of the comparisons: real texts and archives, made from Debian packages on first use; smaller samples of them; and corpora."""

import zlib

from common import CENTO, FOLDER, crawl, fresh, manuals, run, warm
from make_rfc import make


def rfcs(share=1):
    """The RFCs as JSON Lines, or a sample of them: one of `share` pages."""
    return sample(make(FOLDER), share)


def sample(path, share):
    """A file with one of `share` lines of a JSON Lines file. Lines are chosen by a hash, so that each sample contains the smaller ones."""
    if share == 1:
        return path
    part = FOLDER / f"{path.stem}-{share}.jsonl"
    if not part.exists():
        aside = part.with_suffix(".new")
        with open(path, "rb") as lines, open(aside, "wb") as out:
            # The URL is at the beginning of a line.
            out.writelines(line for line in lines if zlib.crc32(line[:200].split(b'", "')[0]) % share == 0)
        aside.rename(part)
    return part


def real_manuals(share=1):
    return sample(manuals(), share)


def archives(small):
    found = crawl()
    found = found[:1] if small else found
    warm(found)
    return found


def corpus_of(texts, *options):
    """A corpus of texts; made anew when the program has changed."""
    name = "-".join(["compare", texts.stem, *(option.strip("-").replace(":", "") for option in options)])
    corpus, made_by = FOLDER / f"{name}.cento", FOLDER / f"{name}.made-by"
    program = f"{CENTO.stat().st_size} {CENTO.stat().st_mtime_ns}"
    if not (corpus / "manifest.json").exists() or not made_by.exists() or made_by.read_text() != program:
        run([CENTO, "index", texts, "-o", fresh(corpus.name), *options])
        made_by.write_text(program)
    warm(corpus.rglob("*.parquet"))
    return corpus


def synthetic(pages, *options):
    """A folder with the archives and the truth of a synthetic crawl; made on first use."""
    name = "-".join(["synth", str(pages), *(str(option).strip("-") for option in options)])
    folder = FOLDER / name
    if not (folder / "synth.json").exists():
        run([CENTO, "synth", "-o", folder, "--pages", pages, "--seed", 1, "--files", 8, "--force", *options])
    return folder
