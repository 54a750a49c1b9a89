"""Writes tables and figures from the results of `bench/compare` and `bench/run`: between the markers of docs/BENCHMARKS.md and README.md, and into docs/figures.

A block begins with `<!-- compare: NAME -->` or `<!-- run: NAME -->`, and ends with `<!-- /compare -->` or `<!-- /run -->`. What stands between them is replaced; the rest is written by hand.
"""

import json
import re

import figure
from table import best, cells, markdown_of, ratio, seconds, times  # noqa: F401

BLOCK = re.compile(r"(<!-- (compare|run): ([a-z-]+) -->\n).*?(<!-- /\2 -->)", re.DOTALL)


def load(folder, parts):
    return {part: json.loads((folder / f"{part}.json").read_text()) for part in parts if (folder / f"{part}.json").exists()}


def provenance(result):
    """Where and when a part was measured."""
    machine, versions = result["machine"], dict(result["versions"])
    own = f"cento {versions.pop('cento')}, rustc {versions.pop('rustc')}, Python {versions.pop('Python')}"
    peers = ", ".join(f"{name} {version}" for name, version in versions.items())
    command = result.get("command", "bench/compare")
    # The parts of bench/run repeat what they measure in ways of their own.
    rounds = f", rounds: {result['rounds']}" if command == "bench/compare" else ""
    return (
        f"Measured on {result['date']} by `{command} {result['part']}`{rounds}; {machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB, Linux {machine['kernel']}, "
        f"load average {result['load']} at the start. {own}{'; ' + peers if peers else ''}."
    )


def strongest(table):
    """The fastest peer whose result counts: it found what there is to find."""
    peers = [row for row in table["rows"] if not row["ours"] and row["runs"] and row.get("right")]
    return min(peers, key=lambda row: best(row, "seconds") / (row["size"] or 1), default=None)


def our_row(table):
    return next((row for row in table["rows"] if row["ours"] and row["runs"]), None)


def tables_of(results):
    return [table for result in results.values() for table in result["tables"]]


def short_name(row):
    return row["name"] + (f" ({row['note']})" if row["note"] else "")


def took(row):
    rate = f", {row['size'] / 1e6 / best(row, 'seconds'):,.0f} MB/s" if row["size"] else ""
    return f"{seconds(best(row, 'seconds'))}{rate}, {best(row, 'resident'):,.0f} MiB"


def summary(results):
    lines = ["| task | cento | strongest peer | cento is faster by | by processor time | memory of the peer to cento's |", "|---|---|---|---:|---:|---:|"]
    for table in tables_of(results):
        ours, peer = our_row(table), strongest(table)
        if not ours:
            continue
        task = f"[{table['title']}](#{anchor(table['title'])})"
        if not peer:
            lines.append(f"| {task} | {took(ours)} | no peer succeeded | | | |")
            continue
        memory = best(peer, "resident") / best(ours, "resident")
        by = [times(ratio(table, peer, key)) for key in ("seconds", "processor")]
        lines.append(f"| {task} | {took(ours)} | {short_name(peer)}: {took(peer)} | {by[0]} | {by[1]} | {memory:.1f} × |")
    return "\n".join(lines)


def anchor(title):
    return re.sub(r"[^a-z0-9 _-]", "", title.lower()).replace(" ", "-")


def growth_table(table):
    lines = ["| analysis | data | " + " | ".join(f"{factor} ×" for factor in (1, 2, 4, 8, 16)) + " | exponent | memory at 16 × | spilled at 16 × |"]
    lines.append("|---|---|" + "---:|" * 8)
    for curve in sorted(table["curves"], key=lambda curve: [one["analysis"] for one in table["curves"]].index(curve["analysis"])):
        points = [("failed" if "failed" in point else f"{point['processor']:.2f}") for point in curve["points"]]
        points += [""] * (5 - len(points))
        last = curve["points"][-1]
        exponent = f"n^{curve['exponent']:.2f}" if curve["exponent"] is not None else ""
        memory = "" if "failed" in last else f"{last['anonymous']:,.0f} MiB | {last['spilled'] / 1e6:,.0f} MB"
        lines.append(f"| {curve['analysis']} | {curve['data']} | " + " | ".join(points) + f" | {exponent} | {memory or ' | '} |")
    sizes = {}
    for curve in table["curves"]:
        known = [point for point in curve["points"] if "failed" not in point]
        if curve["analysis"] == "index" and known:
            sizes[curve["data"]] = f"{curve['data']}: {known[0]['pages']:,} to {known[-1]['pages']:,} pages, {known[0]['bytes'] / 1e6:,.1f} to {known[-1]['bytes'] / 1e6:,.0f} MB of text"
    return "Processor seconds. " + "; ".join(sizes.values()) + ".\n\n" + "\n".join(lines)


def part_of(result):
    blocks = []
    for table in result["tables"]:
        if table["title"]:
            blocks.append(f"### {table['title']}")
        if table["note"]:
            blocks.append(table["note"])
        if table.get("curves"):
            blocks.append("![Processor time of each analysis for 1 to 16 times the text](figures/growth.svg)")
            blocks.append("![Anonymous memory of each analysis for 1 to 16 times the text](figures/growth-memory.svg)")
            blocks.append(growth_table(table))
        elif cells(table):
            blocks.append(markdown_of(table))
    blocks.append(provenance(result))
    return "\n\n".join(blocks)


def find(results, name):
    return next((table for table in tables_of(results) if table["name"] == name), None)


def readme(results):
    """Five rows: what cento takes, and what the strongest peer takes."""
    lines = ["| task | cento | strongest peer | ratio |", "|---|---|---|---:|"]
    for name, task in (
        ("extract", "{gb:.2f} GB of HTML in WARC.gz to text (cento: to a corpus)"),
        ("copies", "near-duplicates of {gb:.2f} GB of RFCs, from JSON Lines"),
        ("reuse", "local reuse among them"),
        ("overlap", "overlap among them, from a corpus"),
        ("quilts", "quilts among them (cento: with positions)"),
    ):
        table = find(results, name)
        ours, peer = (our_row(table), strongest(table)) if table else (None, None)
        if not ours or not peer:
            continue
        brief = lambda row: took(row).split(",")[0]
        task = task.format(gb=(table["size"] or 0) / 1e9)
        lines.append(f"| {task} | {brief(ours)} | {short_name(peer).split(',')[0]}: {brief(peer)} | {times(ratio(table, peer, 'seconds'))} |")
    dates = sorted({results[part]["date"][:10] for part in ("extract", "copies", "reuse", "overlap", "quilts") if part in results})
    if not dates:
        return "Not measured yet."
    any_result = next(iter(results.values()))
    machine = any_result["machine"]
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    versions = {name: version for part in results.values() for name, version in part["versions"].items()}
    named = ", ".join(f"{name} {versions[name]}" for name in ("selectolax", "gaoya", "numpy", "polars", "duckdb", "DuckDB") if name in versions)
    head = f"Measured on {when} by `bench/compare`, each row in one run, on {machine['cores']} cores ({machine['processor']}, {machine['memory_gib']:.0f} GiB): {named}."
    return head + "\n\n" + "\n".join(lines)


def ratio_figure(results):
    rows = []
    for table in tables_of(results):
        peer = strongest(table)
        value = ratio(table, peer, "seconds") if peer else None
        if value:
            rows.append((table["title"], f"compared with {short_name(peer)}", value))
    if not rows:
        return None
    rows.sort(key=lambda row: -row[2])
    return figure.ratios(rows, "How many times as fast as its strongest peer is cento?", "Elapsed time for the same data, the same run; below 1 ×, the peer is faster.")


def growth_figures(results):
    table = find(results, "growth")
    if not table:
        return {}
    names, figures = list(dict.fromkeys(curve["analysis"] for curve in table["curves"])), {}
    kinds = list(dict.fromkeys(curve["data"] for curve in table["curves"]))
    for file, key, unit, title in (
        ("growth.svg", "processor", "s", "Processor time, by text"),
        ("growth-memory.svg", "anonymous", "MiB", f"Peak anonymous memory, by text, with --memory {table['memory']}"),
    ):
        series = []
        for kind in kinds:
            of = {}
            for curve in table["curves"]:
                if curve["data"] == kind:
                    known = [(point["bytes"] / 1e6, max(point[key], 0.01)) for point in curve["points"] if "failed" not in point]
                    words = f"{curve['exponent']:.2f}" if key == "processor" and curve["exponent"] is not None else ""
                    of[curve["analysis"]] = (known, words)
            series.append((kind, of))
        caption = "1, 2, 4, 8 and 16 times the pages; both axes are logarithmic." + (f" Beside each name, the exponents: {', '.join(kinds)}." if key == "processor" else "")
        figures[file] = figure.panels(title, caption, unit, names, series)
    return figures


def fill(path, blocks):
    """Replaces the blocks of a file."""
    text = path.read_text()
    path.write_text(BLOCK.sub(lambda found: found[1] + "\n" + blocks.get(found[3], "Not measured yet.") + "\n\n" + found[4], text))


def write(folder, output, parts):
    results = load(folder, parts)
    figures = output / "docs/figures"
    figures.mkdir(exist_ok=True)
    drawn = growth_figures(results)
    if picture := ratio_figure(results):
        drawn["ratios.svg"] = picture
    for name, picture in drawn.items():
        (figures / name).write_text(picture)
    blocks = {part: part_of(result) for part, result in results.items()}
    blocks["summary"] = "![How many times as fast as its strongest peer cento is, for each task](figures/ratios.svg)\n\n" + summary(results)
    fill(output / "docs/BENCHMARKS.md", blocks)
    fill(output / "README.md", {"readme": readme(results)})
    print(f"wrote {output}/docs/BENCHMARKS.md, README.md and {len(drawn)} figures")
