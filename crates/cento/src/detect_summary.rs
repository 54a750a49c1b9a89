//! The summary that `cento detect` prints.

use cento_find::Findings;
use cento_find::detect::{DetectSummary, LabelSet, SITES_TABLE, ThresholdRow, thresholds};
use cento_report::format::{counted, percent};
use cento_scan::select::first;

use crate::command_error::CommandError;
use crate::corpus_input::OpenedCorpus;
use crate::detect::DetectArguments;
use crate::output::{Lines, number, shortened, table_of};
use crate::terminal::sentences;

pub(crate) fn summary(
    arguments: &DetectArguments,
    corpus: &OpenedCorpus,
    set: &LabelSet,
    findings: &Findings,
) -> Result<String, CommandError> {
    let counts: DetectSummary = findings.summary()?;
    let limits = thresholds(findings)?;
    let limit = |name: &str| limits.iter().find(|row| row.score == name);
    let of = set.used().recipe.of;
    let mut text = format!(
        "{} of {} {} labels\n",
        number(counts.matched_pages),
        counted(counts.pages, "page", "pages"),
        match (counts.pages, counts.matched_pages) {
            (1, _) | (_, 1) => "contains",
            _ => "contain",
        },
    );
    let mut lines = Lines::default();
    lines.add_with(
        "labels found",
        number(counts.labels),
        format!("of {}", number(set.used().count)),
    );
    let stopped = match (arguments.count_stops, counts.stopped) {
        (true, _) => "stops count like other chunks".to_owned(),
        (false, stopped) => format!("{} are stops", number(stopped)),
    };
    lines.add_with(of.name(), number(counts.chunks), stopped);
    lines.add("  that are labels", number(counts.matched));
    match (arguments.own.is_empty(), counts.own_pages) {
        (true, _) => {}
        (false, 0) => lines.add_with("own pages", "0", "no page is on a domain or host of --own"),
        (false, own) => lines.add_with("own pages", number(own), "ignored"),
    }
    let above = |row: Option<&ThresholdRow>, given: Option<f64>| {
        row.map_or(String::new(), |row| match given {
            Some(given) => format!("above {given}, as set"),
            None => format!(
                "above {:.3}: mean {:.3} + deviation {:.3}",
                row.threshold, row.mean, row.deviation
            ),
        })
    };
    let given = |own: Option<f64>| own.or(arguments.threshold);
    lines.add_with(
        "target pages",
        number(counts.targets),
        above(limit("page"), given(arguments.page_threshold)),
    );
    lines.add_with(
        "flagged sites",
        number(counts.flagged_sites),
        format!(
            "of {} (a host and port, or a top folder), {} with labels",
            number(counts.sites),
            number(counts.matched_sites)
        ),
    );
    lines.add_with(
        "flagged neighbourhoods",
        number(counts.flagged),
        format!("of {}", number(counts.neighbourhoods)),
    );
    lines.add_with(
        "  by mean of pages",
        "",
        above(limit("mean"), given(arguments.mean_threshold)),
    );
    lines.add_with(
        "  by ratio of chunks",
        "",
        above(limit("ratio"), given(arguments.ratio_threshold)),
    );
    if counts.common_chunks > 0 {
        lines.add_with(
            "  on > 256 originals",
            number(counts.common_chunks),
            format!(
                "{} attributed to none",
                number(counts.common_chunks - counts.attributed_common_chunks)
            ),
        );
    }
    if let Some(least) = arguments.fuzzy {
        lines.add_with(
            "edited chunks",
            number(counts.fuzzy),
            format!(
                "on {}, with at least {} of a label's words, or a part of one; not in scores",
                counted(counts.fuzzy_pages, "page", "pages"),
                percent(least)
            ),
        );
        let mut remarks = Vec::new();
        if counts.crowded_runs > 0 {
            let runs = counted(counts.crowded_runs, "run", "runs");
            remarks.push(format!("ignored {runs} of words in more than 64 labels"));
        }
        if counts.cut_labels > 0 {
            let cut = number(counts.cut_labels);
            remarks.push(format!("only the first 256 KiB of {cut}"));
        }
        lines.add_with(
            "  labels compared",
            number(counts.compared_labels),
            format!(
                "of {}{}{}",
                number(set.used().count),
                if remarks.is_empty() { "" } else { "; " },
                remarks.join("; ")
            ),
        );
    }
    text.push_str(&lines.render());
    text.push_str(&site_table(
        findings,
        set.has_originals(),
        arguments.top.rows(),
        counts.matched_sites,
    )?);
    let (fuzzy, against) = (arguments.fuzzy.is_some(), arguments.labels.is_none());
    text.push_str(&sentences(&advice(&counts, set, fuzzy, against)));
    if counts.matched > 0 {
        text.push_str(&corpus.findings_line(findings));
    }
    Ok(text)
}

fn site_table(
    findings: &Findings,
    originals: bool,
    top: usize,
    all: u64,
) -> Result<String, CommandError> {
    let sites = first(findings.rows(SITES_TABLE)?, top)?;
    if sites.is_empty() {
        return Ok(String::new());
    }
    let mut heading = vec![
        "sites with the most labels",
        "matched",
        "pages",
        "mean",
        "ratio",
        "",
    ];
    if originals {
        heading.insert(2, "originals");
    }
    let cells: Vec<Vec<String>> = sites
        .iter()
        .map(|row| {
            let flagged = row.flagged;
            let mut cells = vec![
                shortened(&row.site, 60),
                number(row.matched),
                number(row.pages),
                format!("{:.3}", row.mean),
                format!("{:.3}", row.ratio),
                if flagged { "flagged" } else { "" }.to_owned(),
            ];
            if originals {
                cells.insert(2, number(row.originals.unwrap_or(0)));
            }
            cells
        })
        .collect();
    Ok(table_of(&heading, &cells, all))
}

/// Explains an empty result, and what to try next.
fn advice(counts: &DetectSummary, set: &LabelSet, fuzzy: bool, against: bool) -> String {
    let mut text = String::new();
    if counts.pages == 0 && counts.own_pages > 0 {
        text.push_str("All pages are excluded by --own.\n");
    } else if counts.pages == 0 {
        text.push_str("No page has text: `cento info` shows why pages were rejected.\n");
    } else if set.used().count == 0 {
        text.push_str(match against {
            true => {
                "No chunk of the originals is a label: all are stops or shorter than --min-length.\n"
            }
            false => "The file of labels has no labels.\n",
        });
    } else if counts.matched == 0 && counts.fuzzy > 0 {
        text.push_str("No page contains a label without edits.\n");
    } else if counts.matched == 0 && fuzzy {
        text.push_str("No page contains a label, edited or not. With --against, try --min-length 0 for short chunks, or --grams for passages.\n");
    } else if counts.matched == 0 {
        text.push_str("No page contains a label. Try --fuzzy for edited chunks; with --against, --min-length 0 for short chunks, or --grams for passages.\n");
    } else if counts.sites == 0 {
        text.push_str(
            "The pages have no hosts or folders: index with --base-url, or with a URL field.\n",
        );
    } else if counts.flagged == 0 {
        text.push_str("No neighbourhood stands out; --threshold 0 flags all with labels.\n");
    }
    text
}
