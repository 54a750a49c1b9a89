//! How often pages are replicated, told: figure 1 and the savings of Shivakumar & Garcia-Molina
//! 1998.

use std::sync::Arc;

use cento_figure::{Axis, Figure, Format, Series};
use cento_find::overlap::{
    COLLECTIONS, PAGE_BYTES, REPLICATION, ReplicasRow, ReplicationSummary, replication,
};
use cento_find::{CorpusPages, Findings, Result, Workplace};
use serde_json::Value;

use crate::analysis::{Analysis, Command, Told};
use crate::profile::Profile;
use crate::rows::first;
use crate::section::{Cell, Drawing, Headline, Next, Section, Table};
use crate::words::{counted, number, percent, quoted, size};

/// With more pages than this a scan leaves the analysis to who asks for it, for it holds some bytes
/// of each in memory.
const MOST_PAGES: u64 = 20_000_000;

/// `cento overlap --replication`.
pub struct Replication;

/// What a notion of a replica is called where people read it.
pub fn notion(name: &str) -> &str {
    match name {
        "exact" => "same text",
        "lines:4" => "four lines",
        "lines:2" => "two lines",
        other => other,
    }
}

/// How many replicas a bar is about.
pub fn bar(row: &ReplicasRow) -> String {
    let from = number(u64::from(row.from));
    match row.to {
        Some(to) if to == row.from => from,
        Some(to) => format!("{from}–{}", number(u64::from(to))),
        None => format!("{from} or more"),
    }
}

/// The bars of each notion, in order.
pub fn by_notion(summary: &ReplicationSummary) -> impl Iterator<Item = &[ReplicasRow]> {
    summary
        .replicas
        .chunk_by(|one, other| one.notion == other.notion)
}

impl Analysis for Replication {
    fn name(&self) -> &'static str {
        REPLICATION
    }

    fn title(&self) -> &'static str {
        "Replication and crawl savings"
    }

    fn question(&self) -> &'static str {
        "How often is a page replicated, and what would a crawl without replicas save?"
    }

    fn weight(&self) -> u32 {
        20
    }

    fn plan(&self, corpus: &Profile) -> std::result::Result<Value, String> {
        corpus.needs_text(2)?;
        if corpus.pages > MOST_PAGES {
            return Err(format!(
                "it holds {PAGE_BYTES} bytes for each page in memory, and there are {} pages; `--only {REPLICATION}` asks for it all the same",
                number(corpus.pages)
            ));
        }
        Ok(Value::Null)
    }

    fn run(&self, source: &Arc<CorpusPages>, _: &Value, workplace: &Workplace) -> Result<Findings> {
        replication(source, workplace)
    }

    fn command(&self, corpus: &str, _: &Value) -> String {
        Command::new("overlap", corpus)
            .flag("--replication", true)
            .end()
    }

    fn figures(&self, findings: &Findings) -> Result<Vec<Drawing>> {
        let summary: ReplicationSummary = findings.summary()?;
        Ok(vec![
            Drawing::new("replicas", replicas_figure(&summary)),
            Drawing::new("savings", savings_figure(&summary)),
        ])
    }

    fn tell(&self, told: &Told<'_>) -> Result<Section> {
        let summary: ReplicationSummary = told.findings.summary()?;
        let mut section = Section::default();
        if let Some(widest) = summary.savings.last() {
            section.headlines.push(Headline::new(
                percent(widest.share_of_bytes),
                "of the bytes are of replicas",
            ));
        }
        let mut saved = 0;
        for row in &summary.savings {
            // A wider notion of a replica that finds no more of them is no news.
            if row.saved_pages == saved {
                continue;
            }
            saved = row.saved_pages;
            let what = match row.notion.as_str() {
                "exact" => "pages whose text it has",
                "lines:4" => "pages that share 15 chunks of four lines with one it has",
                "lines:2" => "pages that share 25 chunks of two lines with one it has",
                other => other,
            };
            let at_least = if summary.beyond > 0 && row.notion != "exact" {
                " at least"
            } else {
                ""
            };
            section.sentences.push(format!(
                "A crawl that skips {what} saves{at_least} {} ({}) and {} ({}).",
                counted(row.saved_pages, "page", "pages"),
                percent(row.share),
                size(row.saved_bytes),
                percent(row.share_of_bytes)
            ));
        }
        if saved == 0 && summary.beyond == 0 {
            let none = "No page has the text of another, or 15 chunks of four lines or 25 of two lines in common with one: \
                        by these notions of a replica, a crawl could skip none.";
            section.sentences.push(none.to_owned());
        }
        section.sentences.extend(bounded(&summary));
        if summary.collections > 0 {
            let rows = first(told.findings, COLLECTIONS, told.top)?;
            section.tables.push(Table {
                title: "collections on several servers".to_owned(),
                columns: ["collection", "servers", "pages", "replicas"]
                    .map(str::to_owned)
                    .to_vec(),
                more: summary.collections.saturating_sub(rows.len() as u64),
                rows: rows
                    .iter()
                    .map(|row| {
                        let mut cells = vec![Cell::Address(row.word("collection").to_owned())];
                        let names = ["servers", "pages", "replicas"];
                        cells.extend(names.map(|name| Cell::Count(row.count(name))));
                        cells
                    })
                    .collect(),
            });
        }
        section.next.push(Next {
            command: format!("cento overlap {}", quoted(told.corpus)),
            why: "see which pages share chunks, pair by pair".to_owned(),
        });
        Ok(section)
    }
}

/// What was not compared, if anything was not.
pub fn bounded(summary: &ReplicationSummary) -> Option<String> {
    (summary.beyond > 0).then(|| {
        format!(
            "{} of {} pages have very common chunks in too many combinations to compare all of them: for these, the numbers of replicas and \
             the savings are lower bounds.",
            number(summary.beyond),
            number(summary.savings.first().map_or(0, |row| row.pages)),
        )
    })
}

fn replicas_figure(summary: &ReplicationSummary) -> Figure {
    let bars: Vec<String> = by_notion(summary)
        .next()
        .unwrap_or_default()
        .iter()
        .map(bar)
        .collect();
    let figure = Figure::new(
        "How often are pages replicated?",
        Axis::of_categories("Replicas, the page itself among them", bars),
        Axis::linear("Pages").format(Format::Share).covering(0.0),
    )
    .caption(
        "A replica has the same text, or at least 15 chunks of four lines in common, or 25 of two. \
         After figure 1 of Shivakumar & Garcia-Molina 1998.",
    );
    by_notion(summary).fold(figure, |figure, rows| {
        let name = rows.first().map_or("", |row| notion(&row.notion));
        figure.series(Series::columns(name, rows.iter().map(|row| row.share)))
    })
}

fn savings_figure(summary: &ReplicationSummary) -> Figure {
    let notions = summary.savings.iter().map(|row| notion(&row.notion));
    Figure::new(
        "What does a crawl without replicas save?",
        Axis::of_categories("What counts as a replica", notions),
        Axis::linear("Saved").format(Format::Share).covering(0.0),
    )
    .caption("Pages are visited in the order of their dates, then of the corpus; each that is a replica of a visited one is skipped.")
    .series(Series::columns("pages", summary.savings.iter().map(|row| row.share)))
    .series(Series::columns("bytes", summary.savings.iter().map(|row| row.share_of_bytes)))
}
