//! Replication of pages: figure 1 and the crawl savings of Shivakumar & Garcia-Molina 1998.

use std::sync::Arc;

use cento_figure::{Axis, Figure, NumberFormat, Series};
use cento_find::overlap::{
    COLLECTIONS, PAGE_BYTES, REPLICATION, ReplicasRow, ReplicationSummary, replication,
};
use cento_find::{CorpusPages, Findings, Result, Workplace};
use cento_report::format::{counted, number, percent, plural, quoted, size};
use cento_report::{Drawing, Headline, ReportCell, ReportTable, Section, Suggestion};
use serde_json::Value;

use super::columns;
use crate::analysis::{Analysis, CommandLine, SectionInput};
use crate::profile::Profile;
use crate::select::first;

/// A scan skips the analysis above this number of pages, because it keeps some bytes of each
/// page in memory.
const MAX_PAGES: u64 = 20_000_000;

/// The definition of a replica as a page with identical text.
const EXACT: &str = "exact";

/// `cento overlap --replication`.
pub struct Replication;

/// Returns the display name of a definition of a replica.
pub fn notion(name: &str) -> &str {
    match name {
        EXACT => "identical text",
        "lines:4" => "four lines",
        "lines:2" => "two lines",
        other => other,
    }
}

/// Returns the label of a bar: its range of numbers of replicas.
pub fn bar(row: &ReplicasRow) -> String {
    let from = number(u64::from(row.from));
    match row.to {
        Some(to) if to == row.from => from,
        Some(to) => format!("{from}–{}", number(u64::from(to))),
        None => format!("{from} or more"),
    }
}

/// Returns the bars of each definition, in order.
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
        "How often are pages replicated, and how much would a crawl save by skipping replicas?"
    }

    fn weight(&self) -> u32 {
        14
    }

    fn plan(&self, corpus: &Profile) -> std::result::Result<Value, String> {
        corpus.needs_text(2)?;
        if corpus.pages > MAX_PAGES {
            return Err(format!(
                "it needs {PAGE_BYTES} bytes of memory per page, and there are {} pages; \
                 `cento overlap --replication` runs it nevertheless",
                number(corpus.pages)
            ));
        }
        Ok(Value::Null)
    }

    fn run(&self, source: &Arc<CorpusPages>, _: &Value, workplace: &Workplace) -> Result<Findings> {
        replication(source, workplace)
    }

    fn command(&self, corpus: &str, _: &Value, _: &[String]) -> String {
        CommandLine::new("overlap", corpus)
            .flag("--replication", true)
            .finish()
    }

    fn figures(&self, findings: &Findings) -> Result<Vec<Drawing>> {
        let summary: ReplicationSummary = findings.summary()?;
        Ok(vec![
            Drawing::new("replicas", replicas_figure(&summary)),
            Drawing::new("savings", savings_figure(&summary)),
        ])
    }

    fn summarise(&self, input: &SectionInput<'_>) -> Result<Section> {
        let summary: ReplicationSummary = input.findings.summary()?;
        let mut section = Section::default();
        // The strictest definition: the others count pages that are mostly different, too.
        if let Some(exact) = summary.savings.first().filter(|row| row.notion == EXACT) {
            section.headlines.push(Headline::new(
                percent(exact.share_of_bytes),
                "of all bytes belong to pages with the text of an earlier one",
            ));
        }
        section.sentences = savings(&summary);
        section.sentences.extend(bounded(&summary));
        if summary.collections > 0 {
            let rows = first(input.findings.rows(COLLECTIONS)?, input.top)?;
            section.tables.push(ReportTable {
                title: "collections on several hosts".to_owned(),
                columns: columns(["collection", "hosts", "pages", "replicas"]),
                more: summary.collections.saturating_sub(rows.len() as u64),
                rows: rows
                    .into_iter()
                    .map(|row| {
                        vec![
                            ReportCell::Address(row.collection),
                            ReportCell::Count(row.servers.into()),
                            ReportCell::Count(row.pages.into()),
                            ReportCell::Count(row.replicas.into()),
                        ]
                    })
                    .collect(),
                ..ReportTable::default()
            });
        }
        section.suggestions.push(Suggestion {
            command: format!("cento overlap {}", quoted(input.corpus)),
            purpose: "list the pairs of pages that share chunks".to_owned(),
        });
        Ok(section)
    }
}

/// Says how much a crawl saves, by definition of a replica.
fn savings(summary: &ReplicationSummary) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut saved = 0;
    for row in &summary.savings {
        // A wider definition that finds no more replicas is not worth a sentence.
        if row.saved_pages == saved {
            continue;
        }
        saved = row.saved_pages;
        let replicas = match row.notion.as_str() {
            EXACT => "whose text is identical to that of a page it already has",
            "lines:4" => "that share at least 15 chunks of four lines with a page it already has",
            "lines:2" => "that share at least 25 chunks of two lines with a page it already has",
            other => other,
        };
        let at_least = match row.notion.as_str() {
            EXACT => "",
            _ if summary.beyond > 0 => " at least",
            _ => "",
        };
        sentences.push(format!(
            "A crawl that skips pages {replicas} saves{at_least} {} ({}) and {} ({}).",
            counted(row.saved_pages, "page", "pages"),
            percent(row.share),
            size(row.saved_bytes),
            percent(row.share_of_bytes)
        ));
    }
    if saved == 0 && summary.beyond == 0 {
        sentences.push(
            "There are no replicas: no two pages have identical text, share at least 15 chunks of \
             four lines, or share at least 25 chunks of two lines."
                .to_owned(),
        );
    }
    sentences
}

/// Says which numbers are lower bounds, if any are.
pub fn bounded(summary: &ReplicationSummary) -> Option<String> {
    (summary.beyond > 0).then(|| {
        format!(
            "{} of {} share{} very common chunks in too many combinations to compare all of them: \
             for {}, the numbers of replicas and the savings are lower bounds.",
            number(summary.beyond),
            counted(
                summary.savings.first().map_or(0, |row| row.pages),
                "page",
                "pages"
            ),
            plural(summary.beyond, "s", ""),
            plural(summary.beyond, "it", "these"),
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
        Axis::of_categories("Replicas, including the page itself", bars),
        Axis::linear("Pages")
            .format(NumberFormat::Share)
            .covering(0.0),
    )
    .caption(
        "A replica has identical text, or shares at least 15 chunks of four lines, or at least 25 \
         chunks of two lines. After figure 1 of Shivakumar & Garcia-Molina 1998.",
    );
    by_notion(summary).fold(figure, |figure, rows| {
        let name = rows.first().map_or("", |row| notion(&row.notion));
        figure.series(Series::columns(name, rows.iter().map(|row| row.share)))
    })
}

fn savings_figure(summary: &ReplicationSummary) -> Figure {
    let notions = summary.savings.iter().map(|row| notion(&row.notion));
    Figure::new(
        "How much does a crawl save by skipping replicas?",
        Axis::of_categories("Definition of a replica", notions),
        Axis::linear("Saved")
            .format(NumberFormat::Share)
            .covering(0.0),
    )
    .caption(
        "Pages are visited by date, then in the order of the corpus. A replica of a page that was \
         already visited is skipped.",
    )
    .series(Series::columns(
        "pages",
        summary.savings.iter().map(|row| row.share),
    ))
    .series(Series::columns(
        "bytes",
        summary.savings.iter().map(|row| row.share_of_bytes),
    ))
}
