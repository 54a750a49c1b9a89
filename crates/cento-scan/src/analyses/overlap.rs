//! Overlaps of pages and of servers, told.

use std::sync::Arc;

use cento_find::overlap::{
    ANALYSIS, MAX_PAGES, PAIRS, Params, SERVER_ANALYSIS, SERVERS, Summary, Unit, run,
    usual_threshold,
};
use cento_find::{Findings, Result, Source, Workplace};
use cento_view::{Axis, Figure, Format, Mark, Series};
use serde_json::{Value, json};

use crate::analysis::{Analysis, Command, Told, parameters};
use crate::profile::Profile;
use crate::rows::{first, for_each};
use crate::section::{Cell, Drawing, Next, Section, Table};
use crate::words::{counted, number, percent, quoted};

/// Pairs that a figure shows: the strongest. A figure needs an end.
const MOST_POINTS: usize = 200_000;

/// `cento overlap`: pairs of pages.
pub struct Pages;

/// `cento overlap --servers`: pairs of hosts or domains.
pub struct Servers;

/// What both of them are: they differ in what is compared, and in the names of a table and its columns.
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

    fn run(&self, source: &Arc<Source>, asked: &Value, workplace: &Workplace) -> Result<Findings> {
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
        "Which servers hold each other's text: mirrors, aliases, thieves?"
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

    fn run(&self, source: &Arc<Source>, asked: &Value, workplace: &Workplace) -> Result<Findings> {
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
    command
        .flag(&format!("--chunk {}", asked.chunk), true)
        .option(
            "--threshold",
            &asked.threshold,
            &usual_threshold(asked.chunk),
        )
        .option("--max-pages", &asked.max_pages, &MAX_PAGES)
        .end()
}

fn figure(
    findings: &Findings,
    kind: &Kind,
    name: &'static str,
    many: &str,
) -> Result<Vec<Drawing>> {
    let mut points = Vec::new();
    let mut more = 0;
    for_each(
        findings,
        kind.table,
        [kind.share, "of_share"],
        |[one, other]| {
            if points.len() < MOST_POINTS {
                points.push((one.max(other), one.min(other)));
            } else {
                more += 1;
            }
        },
    )?;
    let share = |label: &str| {
        let axis = Axis::linear(label).format(Format::Share);
        axis.covering(0.0).covering(1.0)
    };
    let figure = Figure::new(
        format!("How much of two {many} is in each other?"),
        share("Of the one that is more in the other"),
        share("Of the other"),
    )
    .caption(format!(
        "A dot is a pair of {many}. At the upper right are mirrors; at the lower right the one is part of the other.{}",
        match more {
            0 => String::new(),
            _ => format!(" Without {} pairs that share less.", number(more)),
        }
    ))
    .series(Series::new("pairs", Mark::Points, points));
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
        (None, None) => section
            .sentences
            .push(format!("No two {many} share a chunk ({}).", asked.chunk)),
    }
    if summary.common > 0 {
        section.sentences.push(format!(
            "{} on more than {} {many} did not count.",
            counted(summary.common, "chunk", "chunks"),
            number(u64::from(asked.max_pages))
        ));
    }
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
