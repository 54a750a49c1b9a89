//! Overlaps of pages and of servers, told.

use std::sync::Arc;

use cento_figure::{Axis, Figure, Format, Mark, Series};
use cento_find::overlap::{
    ANALYSIS, PAIRS, Params, SERVER_ANALYSIS, SERVERS, Summary, Unit, run, usual_threshold,
};
use cento_find::{CorpusPages, Findings, Result, Workplace};
use serde_json::{Value, json};

use crate::analysis::{Analysis, Command, Told, parameters};
use crate::profile::Profile;
use crate::rows::{first, for_each};
use crate::section::{Cell, Drawing, Next, Section, Table};
use crate::words::{counted, number, part_of, percent, quoted};

/// `cento overlap`: pairs of pages.
pub struct Pages;

/// `cento overlap --servers`: pairs of hosts or domains.
pub struct Servers;

/// What both of them are: they differ in what is compared, and in the names of a table and its
/// columns.
struct Kind {
    table: &'static str,
    name: &'static str,
    share: &'static str,
    chunks: &'static str,
}

const OF_PAGES: Kind = Kind {
    table: PAIRS,
    name: "page",
    share: "page_share",
    chunks: "page_chunks",
};

const OF_SERVERS: Kind = Kind {
    table: SERVERS,
    name: "server",
    share: "server_share",
    chunks: "server_chunks",
};

impl Analysis for Pages {
    fn name(&self) -> &'static str {
        ANALYSIS
    }

    fn title(&self) -> &'static str {
        "Overlapping pages"
    }

    fn question(&self) -> &'static str {
        "Which pages share chunks of text, and how much of each is in the other?"
    }

    fn usual(&self) -> bool {
        // In a scan its findings would say what those of copies and of replication say.
        false
    }

    fn plan(&self, corpus: &Profile) -> std::result::Result<Value, String> {
        corpus.needs_pages(2)?;
        Ok(json!(Params::new(corpus.parameters.chunk)))
    }

    fn run(
        &self,
        source: &Arc<CorpusPages>,
        asked: &Value,
        workplace: &Workplace,
    ) -> Result<Findings> {
        run(source, &parameters(asked)?, workplace)
    }

    fn command(&self, corpus: &str, asked: &Value) -> String {
        command(corpus, asked)
    }

    fn figures(&self, findings: &Findings) -> Result<Vec<Drawing>> {
        figure(findings, &OF_PAGES, "overlapping-pages", "pages")
    }

    fn tell(&self, told: &Told<'_>) -> Result<Section> {
        tell(told, &OF_PAGES)
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
        "Which servers hold the same text, and how much of each is on the other?"
    }

    fn weight(&self) -> u32 {
        5
    }

    fn plan(&self, corpus: &Profile) -> std::result::Result<Value, String> {
        corpus.needs_pages(2)?;
        match corpus.hosts {
            0 => Err(
                "the pages have no hosts: index with --base-url, or with a field of URLs"
                    .to_owned(),
            ),
            1 => Err("all pages are of one host".to_owned()),
            _ => Ok(json!(Params {
                unit: Unit::Host,
                ..Params::new(corpus.parameters.chunk)
            })),
        }
    }

    fn run(
        &self,
        source: &Arc<CorpusPages>,
        asked: &Value,
        workplace: &Workplace,
    ) -> Result<Findings> {
        run(source, &parameters(asked)?, workplace)
    }

    fn command(&self, corpus: &str, asked: &Value) -> String {
        command(corpus, asked)
    }

    fn figures(&self, findings: &Findings) -> Result<Vec<Drawing>> {
        figure(findings, &OF_SERVERS, "overlapping-servers", "servers")
    }

    fn tell(&self, told: &Told<'_>) -> Result<Section> {
        tell(told, &OF_SERVERS)
    }
}

fn command(corpus: &str, asked: &Value) -> String {
    let Ok(asked) = parameters::<Params>(asked) else {
        return Command::new("overlap", corpus).end();
    };
    let command = match asked.unit {
        Unit::Pages => Command::new("overlap", corpus),
        Unit::Host => Command::new("overlap", corpus).flag("--servers", true),
        Unit::Domain => Command::new("overlap", corpus).flag("--servers domain", true),
    };
    let max_pages = asked.max_pages.map(|most| format!("--max-pages {most}"));
    command
        .flag(&format!("--chunk {}", asked.chunk), true)
        .option(
            "--threshold",
            &asked.threshold,
            &usual_threshold(asked.chunk),
        )
        .flag(&max_pages.unwrap_or_default(), asked.max_pages.is_some())
        .end()
}

/// Where the bars of the figure begin, in hundredths; the last one holds what is whole, or nearly
/// so.
const BARS: [u64; 11] = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 99];

/// The bar of a share, by whole numbers: 3 of 10 is 30 %, not a little less.
fn bar(part: f64, whole: f64) -> usize {
    let (part, whole) = (part as u64, (whole as u64).max(1));
    BARS.partition_point(|from| from * whole <= 100 * part)
        .saturating_sub(1)
}

fn figure(
    findings: &Findings,
    kind: &Kind,
    name: &'static str,
    many: &str,
) -> Result<Vec<Drawing>> {
    let (mut more, mut less) = ([0u64; BARS.len()], [0u64; BARS.len()]);
    for_each(
        findings,
        kind.table,
        ["chunks", kind.chunks, "of_chunks"],
        |[shared, one, other]| {
            let (one, other) = (bar(shared, one), bar(shared, other));
            for (bars, bar) in [(&mut more, one.max(other)), (&mut less, one.min(other))] {
                if let Some(count) = bars.get_mut(bar) {
                    *count += 1;
                }
            }
        },
    )?;
    let names = BARS
        .iter()
        .enumerate()
        .map(|(at, from)| match BARS.get(at + 1) {
            Some(to) => format!("{from}–{to}%"),
            None => format!("{from}% or more"),
        });
    let filled = || more.iter().chain(&less).copied().filter(|&count| count > 0);
    let (most, fewest) = (filled().max().unwrap_or(0), filled().min().unwrap_or(0));
    // A few mirrors must be seen beside any number of pairs that share little.
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
    let figure = Figure::new(
        format!("How much of two {many} is in each other?"),
        Axis::of_categories("Share of its chunks that the other has", names),
        pairs.format(Format::Count),
    )
    .caption(format!(
        "Every pair counts once in each colour. Both far to the right: the two {many} hold the same text. One far to the right and \
         the other not: the one is part of the other."
    ))
    .series(Series::new("the one that is more in the other", Mark::Bars, bars(&more)))
    .series(Series::new("the other", Mark::Bars, bars(&less)));
    Ok(vec![Drawing::new(name, figure)])
}

fn tell(told: &Told<'_>, kind: &Kind) -> Result<Section> {
    let summary: Summary = told.findings.summary()?;
    let asked: Params = parameters(&told.findings.record.parameters)?;
    let (one, many) = match asked.unit {
        Unit::Pages => ("page", "pages"),
        Unit::Host => ("host", "hosts"),
        Unit::Domain => ("domain", "domains"),
    };
    let least = counted(u64::from(asked.threshold), "chunk", "chunks");
    let mut section = Section::default();
    let rows = first(told.findings, kind.table, told.top)?;
    match (rows.first(), &summary.largest) {
        (Some(row), _) => {
            section.sentences.push(format!(
                "{} of {many} share {least} ({}) or more.",
                counted(summary.pairs, "pair", "pairs"),
                asked.chunk
            ));
            section.sentences.push(format!(
                "Of {}, {} is on {}, and {} the other way round.",
                told.short(row.word(kind.name)),
                percent(row.real(kind.share)),
                told.short(row.word("of")),
                percent(row.real("of_share"))
            ));
        }
        (None, Some(most)) => section.sentences.push(format!(
            "No two {many} share {least} ({}): the most that any two share is {}, {} and {}.",
            asked.chunk,
            counted(u64::from(most.chunks), "chunk", "chunks"),
            told.short(&most.page),
            told.short(&most.of)
        )),
        (None, None) => section.sentences.push(format!(
            "No two {many} share a chunk ({}){}.",
            asked.chunk,
            if summary.common > 0 {
                " that counts"
            } else {
                ""
            }
        )),
    }
    section
        .sentences
        .extend(ignored(&summary, &asked, one, many));
    if !rows.is_empty() {
        let name = |word: &str| match asked.unit {
            Unit::Pages => Cell::Address(word.to_owned()),
            Unit::Host | Unit::Domain => Cell::Text(word.to_owned()),
        };
        section.tables.push(Table {
            title: format!("{many} that overlap"),
            columns: [
                one,
                "of it is in the other",
                "the other",
                "of that",
                "shared chunks",
                "of its",
            ]
            .map(str::to_owned)
            .to_vec(),
            more: summary.pairs.saturating_sub(rows.len() as u64),
            rows: rows
                .iter()
                .map(|row| {
                    vec![
                        name(row.word(kind.name)),
                        Cell::Share(row.real(kind.share)),
                        name(row.word("of")),
                        Cell::Share(row.real("of_share")),
                        Cell::Count(row.count("chunks")),
                        Cell::Count(row.count(kind.chunks)),
                    ]
                })
                .collect(),
        });
        let out = format!(
            "{} --out {many}.csv",
            command(told.corpus, &told.findings.record.parameters)
        );
        section.next.push(Next {
            command: out,
            why: format!("list every pair of {many}"),
        });
    } else if summary.largest.is_some() {
        let servers = if asked.unit == Unit::Pages {
            ""
        } else {
            " --servers"
        };
        section.next.push(Next {
            command: format!(
                "cento overlap {}{servers} --threshold 1",
                quoted(told.corpus)
            ),
            why: "list pairs that share any chunk at all".to_owned(),
        });
    }
    Ok(section)
}

/// What was ignored because it is too common, and what that may change. Nothing if nothing was.
pub fn ignored(summary: &Summary, asked: &Params, one: &str, many: &str) -> Vec<String> {
    if summary.common == 0 {
        return Vec::new();
    }
    let units = match asked.unit {
        Unit::Pages => summary.pages.saturating_sub(summary.copies),
        Unit::Host | Unit::Domain => summary.servers,
    };
    let pages = match asked.unit {
        Unit::Pages => "distinct pages",
        Unit::Host | Unit::Domain => many,
    };
    let mut sentences = vec![format!(
        "{} on more than {} {many} {} ignored, both as shared and in the size of a {one}: {} of the chunks of all {many}, on {} of {} {pages}.",
        counted(summary.common, "chunk", "chunks"),
        number(summary.max_pages),
        if summary.common == 1 { "is" } else { "are" },
        part_of(summary.common_page_chunks, summary.page_chunks),
        number(summary.common_pages),
        number(units),
    )];
    let least = counted(u64::from(asked.threshold), "chunk", "chunks");
    sentences.push(match (summary.common_only, asked.unit) {
        (0, _) => format!(
            "A pair is missing only if such chunks would bring it to {least}; no {one} has {least} of them."
        ),
        (some, Unit::Pages) => format!(
            "{} {} {least} or more of these: pairs of these pages may be missing. `--replication` counts all chunks; `--max-pages 0` lists \
             every pair.",
            counted(some, "page", "pages"),
            if some == 1 { "has" } else { "have" },
        ),
        (some, _) => format!(
            "{} {} {least} or more of these: pairs of these {many} may be missing. `--max-pages 0` lists every pair.",
            counted(some, one, many),
            if some == 1 { "has" } else { "have" },
        ),
    });
    sentences
}
