//! Overlaps of pages and of servers.

use std::sync::Arc;

use cento_figure::{Axis, Figure, Mark, NumberFormat, Series};
use cento_find::overlap::{
    ANALYSIS, OverlapPairRow, OverlapParams, OverlapSummary, PAIRS, SERVER_ANALYSIS, SERVERS,
    ServerRow, Unit, run, usual_threshold,
};
use cento_find::{CorpusPages, Findings, Result, Workplace};
use cento_report::format::{counted, number, part_of, percent, plural};
use cento_report::{Drawing, ReportCell, ReportTable, Section, Suggestion};
use serde_json::{Value, json};

use super::columns;
use crate::analysis::{Analysis, CommandLine, SectionInput, parse_parameters};
use crate::profile::Profile;
use crate::select::first;

/// `cento overlap`: pairs of pages.
pub struct Pages;

/// `cento overlap --servers`: pairs of hosts or domains.
pub struct Servers;

/// Two pages or two servers, A and B, that share chunks.
struct Overlap {
    a: String,
    b: String,
    /// Distinct chunks of both.
    shared: u32,
    chunks_of_a: u32,
    chunks_of_b: u32,
    share_of_a: f64,
    share_of_b: f64,
}

impl From<OverlapPairRow> for Overlap {
    fn from(row: OverlapPairRow) -> Overlap {
        Overlap {
            a: row.page,
            b: row.of,
            shared: row.chunks,
            chunks_of_a: row.page_chunks,
            chunks_of_b: row.of_chunks,
            share_of_a: row.page_share,
            share_of_b: row.of_share,
        }
    }
}

impl From<ServerRow> for Overlap {
    fn from(row: ServerRow) -> Overlap {
        Overlap {
            a: row.server,
            b: row.of,
            shared: row.chunks,
            chunks_of_a: row.server_chunks,
            chunks_of_b: row.of_chunks,
            share_of_a: row.server_share,
            share_of_b: row.of_share,
        }
    }
}

fn overlaps_of_pages(findings: &Findings) -> Result<impl Iterator<Item = Result<Overlap>>> {
    Ok(findings.rows(PAIRS)?.map(|row| row.map(Overlap::from)))
}

fn overlaps_of_servers(findings: &Findings) -> Result<impl Iterator<Item = Result<Overlap>>> {
    Ok(findings.rows(SERVERS)?.map(|row| row.map(Overlap::from)))
}

impl Analysis for Pages {
    fn name(&self) -> &'static str {
        ANALYSIS
    }

    fn title(&self) -> &'static str {
        "Overlapping pages"
    }

    fn question(&self) -> &'static str {
        "Which pages share chunks of text, and what share of the chunks of each page is in the other?"
    }

    fn by_default(&self) -> bool {
        // A scan already runs the analyses of duplicates and of replication, which report the same
        // pages.
        false
    }

    fn plan(&self, corpus: &Profile) -> std::result::Result<Value, String> {
        corpus.needs_pages(2)?;
        Ok(json!(OverlapParams::new(corpus.parameters.chunk)))
    }

    fn run(
        &self,
        source: &Arc<CorpusPages>,
        parameters: &Value,
        workplace: &Workplace,
    ) -> Result<Findings> {
        run(source, &parse_parameters(parameters)?, workplace)
    }

    fn command(&self, corpus: &str, parameters: &Value, _: &[String]) -> String {
        command(corpus, parameters)
    }

    fn figures(&self, findings: &Findings) -> Result<Vec<Drawing>> {
        let figure = figure(overlaps_of_pages(findings)?, "page", "pages")?;
        Ok(vec![Drawing::new("overlapping-pages", figure)])
    }

    fn summarise(&self, input: &SectionInput<'_>) -> Result<Section> {
        let overlaps = first(overlaps_of_pages(input.findings)?, input.top)?;
        summarise(input, &overlaps)
    }
}

impl Analysis for Servers {
    fn name(&self) -> &'static str {
        SERVER_ANALYSIS
    }

    fn title(&self) -> &'static str {
        "Overlapping servers"
    }

    fn question(&self) -> &'static str {
        "Which servers have chunks of text in common, and what share of the chunks of each server is on the other?"
    }

    fn weight(&self) -> u32 {
        2
    }

    fn plan(&self, corpus: &Profile) -> std::result::Result<Value, String> {
        corpus.needs_pages(2)?;
        match corpus.hosts {
            0 => Err(
                "the pages have no host names; index with --base-url, or with a field of URLs"
                    .to_owned(),
            ),
            1 => Err("there is only one host".to_owned()),
            _ => Ok(json!(OverlapParams {
                unit: Unit::Host,
                ..OverlapParams::new(corpus.parameters.chunk)
            })),
        }
    }

    fn run(
        &self,
        source: &Arc<CorpusPages>,
        parameters: &Value,
        workplace: &Workplace,
    ) -> Result<Findings> {
        run(source, &parse_parameters(parameters)?, workplace)
    }

    fn command(&self, corpus: &str, parameters: &Value, _: &[String]) -> String {
        command(corpus, parameters)
    }

    fn figures(&self, findings: &Findings) -> Result<Vec<Drawing>> {
        let figure = figure(overlaps_of_servers(findings)?, "server", "servers")?;
        Ok(vec![Drawing::new("overlapping-servers", figure)])
    }

    fn summarise(&self, input: &SectionInput<'_>) -> Result<Section> {
        let overlaps = first(overlaps_of_servers(input.findings)?, input.top)?;
        summarise(input, &overlaps)
    }
}

fn command(corpus: &str, parameters: &Value) -> String {
    let command = CommandLine::new("overlap", corpus);
    let Ok(params) = parse_parameters::<OverlapParams>(parameters) else {
        return command.finish();
    };
    let command = match params.unit {
        Unit::Pages => command,
        Unit::Host => command.flag("--servers", true),
        Unit::Domain => command.flag("--servers domain", true),
    };
    let max_pages = params.max_pages.map(|most| format!("--max-pages {most}"));
    command
        .flag(&format!("--chunk {}", params.chunk), true)
        .option(
            "--min-shared",
            &params.threshold,
            &usual_threshold(params.chunk),
        )
        .flag(&max_pages.unwrap_or_default(), params.max_pages.is_some())
        .finish()
}

/// Where the bars of the figure begin, in percent. The last one is for shares of almost 100 %.
const BARS: [u64; 11] = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 99];

/// Returns the bar of a share, computed in whole numbers: 3 of 10 is 30 %, not a little less.
fn bar(part: u32, whole: u32) -> usize {
    let (part, whole) = (u64::from(part), u64::from(whole.max(1)));
    BARS.partition_point(|from| from * whole <= 100 * part)
        .saturating_sub(1)
}

fn figure(
    overlaps: impl Iterator<Item = Result<Overlap>>,
    one: &str,
    many: &str,
) -> Result<Figure> {
    let (mut larger, mut smaller) = ([0u64; BARS.len()], [0u64; BARS.len()]);
    for overlap in overlaps {
        let overlap = overlap?;
        let a = bar(overlap.shared, overlap.chunks_of_a);
        let b = bar(overlap.shared, overlap.chunks_of_b);
        for (bars, bar) in [(&mut larger, a.max(b)), (&mut smaller, a.min(b))] {
            if let Some(count) = bars.get_mut(bar) {
                *count += 1;
            }
        }
    }
    let names = BARS
        .iter()
        .enumerate()
        .map(|(at, from)| match BARS.get(at + 1) {
            Some(to) => format!("{from}–{to} %"),
            None => format!("{from} % or more"),
        });
    let counts = || larger.iter().chain(&smaller).copied().filter(|&n| n > 0);
    let (most, fewest) = (counts().max().unwrap_or(0), counts().min().unwrap_or(0));
    // A few mirrors must remain visible beside many pairs that share little.
    let pairs = format!("Pairs of {many}");
    let pairs = if most > 20 * fewest {
        Axis::log10(pairs).covering(0.5)
    } else {
        Axis::linear(pairs).covering(0.0)
    };
    let bars = |bars: &[u64]| -> Vec<(f64, f64)> {
        let bars = bars.iter().enumerate().filter(|(_, count)| **count > 0);
        bars.map(|(at, &count)| (at as f64, count as f64)).collect()
    };
    Ok(Figure::new(
        format!("How much do pairs of {many} overlap?"),
        Axis::of_categories(format!("Share of chunks found in the other {one}"), names),
        pairs.format(NumberFormat::Count),
    )
    .caption(format!(
        "Each pair counts once in each colour. If both shares are high, the two {many} have the \
         same text. If only one is high, that {one} is part of the other."
    ))
    .series(Series::new("larger share", Mark::Bars, bars(&larger)))
    .series(Series::new("smaller share", Mark::Bars, bars(&smaller))))
}

fn summarise(input: &SectionInput<'_>, overlaps: &[Overlap]) -> Result<Section> {
    let summary: OverlapSummary = input.findings.summary()?;
    let params: OverlapParams = parse_parameters(&input.findings.record.parameters)?;
    let (one, many) = match params.unit {
        Unit::Pages => ("page", "pages"),
        Unit::Host => ("host", "hosts"),
        Unit::Domain => ("domain", "domains"),
    };
    let mut section = Section {
        sentences: sentences(input, &summary, &params, overlaps, many),
        ..Section::default()
    };
    section
        .sentences
        .extend(ignored(&summary, &params, one, many));
    if !overlaps.is_empty() {
        section
            .tables
            .push(table(overlaps, params.unit, many, summary.pairs));
        section.suggestions.push(Suggestion {
            command: format!(
                "{} --out {many}.csv",
                command(input.corpus, &input.findings.record.parameters)
            ),
            purpose: format!("list all pairs of {many}"),
        });
    } else if summary.largest.is_some() {
        let params = OverlapParams {
            threshold: 1,
            ..params
        };
        section.suggestions.push(Suggestion {
            command: command(input.corpus, &json!(params)),
            purpose: "list all pairs that share at least one chunk".to_owned(),
        });
    }
    Ok(section)
}

fn sentences(
    input: &SectionInput<'_>,
    summary: &OverlapSummary,
    params: &OverlapParams,
    overlaps: &[Overlap],
    many: &str,
) -> Vec<String> {
    let least = counted(u64::from(params.threshold), "chunk", "chunks");
    let chunk = params.chunk;
    // Pages with the same text count as one.
    let many = match params.unit == Unit::Pages && summary.copies > 0 {
        true => "pages with different texts",
        false => many,
    };
    match (overlaps.first(), &summary.largest) {
        (Some(strongest), _) => {
            let [a, b] = [&strongest.a, &strongest.b].map(|address| input.short(address));
            vec![
                format!(
                    "{} of {many} {} at least {least} ({chunk}).",
                    counted(summary.pairs, "pair", "pairs"),
                    plural(summary.pairs, "shares", "share"),
                ),
                format!(
                    "{} of the chunks of {a} are also in {b}, and {} of those of {b} are also in \
                     {a}.",
                    percent(strongest.share_of_a),
                    percent(strongest.share_of_b)
                ),
            ]
        }
        (None, Some(largest)) => vec![format!(
            "No two {many} share at least {least} ({chunk}). The largest overlap is {}: {} and {}.",
            counted(u64::from(largest.chunks), "chunk", "chunks"),
            input.short(&largest.page),
            input.short(&largest.of)
        )],
        (None, None) if summary.common > 0 => vec![format!(
            "No two {many} share a chunk ({chunk}) other than very common ones."
        )],
        (None, None) => vec![format!("No two {many} share a chunk ({chunk}).")],
    }
}

fn table(overlaps: &[Overlap], unit: Unit, many: &str, pairs: u64) -> ReportTable {
    let name = |name: &str| match unit {
        Unit::Pages => ReportCell::Address(name.to_owned()),
        Unit::Host | Unit::Domain => ReportCell::Text(name.to_owned()),
    };
    ReportTable {
        title: format!("overlapping {many}: A"),
        columns: columns([
            "A",
            "% of A in B",
            "B",
            "% of B in A",
            "shared chunks",
            "chunks of A",
        ]),
        more: pairs.saturating_sub(overlaps.len() as u64),
        rows: overlaps
            .iter()
            .map(|overlap| {
                vec![
                    name(&overlap.a),
                    ReportCell::Share(overlap.share_of_a),
                    name(&overlap.b),
                    ReportCell::Share(overlap.share_of_b),
                    ReportCell::Count(overlap.shared.into()),
                    ReportCell::Count(overlap.chunks_of_a.into()),
                ]
            })
            .collect(),
        ..ReportTable::default()
    }
}

/// Says which chunks are ignored because they are very common, and which pairs may be missing
/// therefore. Returns no sentences if no chunk is ignored.
pub fn ignored(
    summary: &OverlapSummary,
    params: &OverlapParams,
    one: &str,
    many: &str,
) -> Vec<String> {
    if summary.common == 0 {
        return Vec::new();
    }
    let (units, distinct) = match params.unit {
        Unit::Pages => (
            summary.pages.saturating_sub(summary.copies),
            "distinct pages",
        ),
        Unit::Host | Unit::Domain => (summary.servers, many),
    };
    let mut sentences = vec![format!(
        "{} on more than {} {many} {} ignored, both as shared chunks and in the size of a {one}: \
         {} of the chunks of all {many}, on {} of {} {distinct}.",
        counted(summary.common, "chunk", "chunks"),
        number(summary.max_pages),
        plural(summary.common, "is", "are"),
        part_of(summary.common_page_chunks, summary.page_chunks),
        number(summary.common_pages),
        number(units),
    )];
    let threshold = number(params.threshold.into());
    let least = counted(params.threshold.into(), "chunk", "chunks");
    sentences.push(match (summary.common_only, params.unit) {
        (0, _) => format!(
            "A pair is missing only if it reaches {least} with these; no {one} has {threshold} or \
             more of them."
        ),
        (some, unit) => format!(
            "{} {} {threshold} or more of these, so pairs of {} may be missing. {}`--max-pages 0` \
             lists every pair.",
            counted(some, one, many),
            plural(some, "has", "have"),
            match some {
                1 => format!("this {one}"),
                _ => format!("these {many}"),
            },
            match unit {
                Unit::Pages => "`--replication` counts all chunks; ",
                Unit::Host | Unit::Domain => "",
            }
        ),
    });
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_in_the_bar_that_begins_at_it() {
        assert_eq!(bar(3, 10), 3);
        assert_eq!(bar(299, 1000), 2);
        assert_eq!(bar(99, 100), 10);
        assert_eq!((bar(0, 5), bar(0, 0)), (0, 0));
    }
}
