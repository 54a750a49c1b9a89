//! What occurs suspiciously often, told; the figure is that of Ardi & Heidemann 2014, figures 1, 2
//! and 11.

use std::sync::Arc;

use cento_figure::{Axis, Figure, Format, Mark, Rule, Series};
use cento_find::discover::{
    DISCOVER, DiscoverParams, DiscoverSummary, How, default_threshold, discover, frequencies,
    recipe_of,
};
use cento_find::{CorpusPages, Findings, Result, Workplace};
use cento_labels::{LabelKind, StopList};
use serde_json::{Value, json};

use crate::analysis::{Analysis, Command, Told, parameters};
use crate::profile::Profile;
use crate::rows::largest;
use crate::section::{Cell, Drawing, Headline, Next, Section, Table};
use crate::words::{counted, number, part_of, quoted, shortened};

/// Letters of a label that are shown.
const LABEL: usize = 120;
/// Rows that are looked at for each that is shown: idioms among them are passed over.
const LOOKED_AT: usize = 40;

/// `cento discover` without originals.
pub struct Discover;

impl Analysis for Discover {
    fn name(&self) -> &'static str {
        DISCOVER
    }

    fn title(&self) -> &'static str {
        "What is multiplied"
    }

    fn question(&self) -> &'static str {
        "Which chunks of text occur most often, idioms aside?"
    }

    fn weight(&self) -> u32 {
        4
    }

    fn plan(&self, corpus: &Profile) -> std::result::Result<Value, String> {
        corpus.needs_pages(2)?;
        Ok(json!(blind(
            &corpus.parameters,
            How::Threshold(default_threshold(corpus.counts.chunks))
        )))
    }

    fn run(
        &self,
        source: &Arc<CorpusPages>,
        asked: &Value,
        workplace: &Workplace,
    ) -> Result<Findings> {
        discover(source, &restored(asked)?, workplace)
    }

    fn command(&self, corpus: &str, asked: &Value) -> String {
        let Ok(asked) = parameters::<DiscoverParams>(asked) else {
            return Command::new("discover", corpus).end();
        };
        let command =
            Command::new("discover", corpus).option("--of", &asked.recipe.of, &LabelKind::Chunks);
        let command = match asked.how {
            // The threshold of nobody's choice depends on the corpus, so it is said.
            How::Threshold(threshold) => command.option("--threshold", &threshold, &0),
            How::Top(top) => command.option("--top", &top, &0),
            How::Informed(least) => {
                command
                    .option("--from", &"ORIGINALS", &"")
                    .option("--min-length", &least, &100)
            }
        };
        command
            .flag("--no-stop", asked.stop_list.count == 0)
            .option("-o", &"found.labels", &"")
            .end()
    }

    fn figures(&self, findings: &Findings) -> Result<Vec<Drawing>> {
        let counts = frequencies(findings)?;
        let asked: DiscoverParams = parameters(&findings.record.parameters)?;
        let of = asked.recipe.of.name();
        let points = |of: fn(&[u64; 3]) -> u64| {
            let counts = counts
                .iter()
                .map(move |row| (row[0] as f64, of(row) as f64));
            counts.filter(|point| point.1 > 0.0).collect::<Vec<_>>()
        };
        let all: u64 = counts.iter().map(|row| row[1]).sum();
        let single: u64 = counts
            .iter()
            .filter(|row| row[0] == 1)
            .map(|row| row[1])
            .sum();
        let mut figure = Figure::new(
            format!("How often do {of} occur?"),
            Axis::log10("Occurrences").format(Format::Count),
            Axis::log10(format!("Distinct {of}")).format(Format::Count),
        )
        .caption(format!(
            "Of {} distinct {of}, {} occur once. A dot far to the right of the others at its height stands for {of} that occur unusually often.",
            number(all),
            number(single)
        ))
        .series(Series::new(of, Mark::Points, points(|row| row[1] - row[2])));
        let stops = points(|row| row[2]);
        if !stops.is_empty() {
            figure = figure.series(Series::new("on the stop list", Mark::Points, stops));
        }
        if let How::Threshold(threshold) = asked.how {
            let label = format!("labels: more than {}", number(threshold));
            figure = figure.rule(Rule::vertical(threshold as f64, label));
        }
        Ok(vec![Drawing::new("frequencies", figure)])
    }

    fn tell(&self, told: &Told<'_>) -> Result<Section> {
        let counts: DiscoverSummary = told.findings.summary()?;
        let asked: DiscoverParams = parameters(&told.findings.record.parameters)?;
        let of = asked.recipe.of.name();
        let mut section = Section::default();
        section.sentences.push(match asked.how {
            How::Threshold(threshold) if counts.labels == 0 => format!(
                "None of the {of} that are not on the stop list occurs more than {} times.",
                number(threshold)
            ),
            How::Informed(least) if counts.labels == 0 => format!(
                "The originals have no {of} of {} bytes or more but those on the stop list.",
                number(least)
            ),
            How::Top(_) if counts.labels == 0 => {
                format!("There are no {of} but those on the stop list.")
            }
            How::Threshold(threshold) => format!(
                "{} distinct {of} occur more than {} times.",
                number(counts.labels),
                number(threshold)
            ),
            How::Top(_) => format!(
                "The {} most frequent {of} were taken.",
                number(counts.labels)
            ),
            How::Informed(least) => format!(
                "{} distinct {of} of {} bytes or more are labels of originals.",
                number(counts.labels),
                number(least)
            ),
        });
        if counts.labels == 0 {
            return Ok(section);
        }
        if !asked.informed() {
            section.sentences.push(format!(
                "Together they occur {} times: {} of all {of}.",
                number(counts.occurrences),
                part_of(counts.occurrences, counts.objects)
            ));
            section.headlines.push(Headline::new(
                part_of(counts.occurrences, counts.objects),
                format!("of all {of} are labels"),
            ));
        }
        if counts.proposed > 0 {
            section.sentences.push(format!(
                "{} like idioms: short, without words, or below 100 bytes and spread over many domains.",
                match counts.proposed {
                    1 => "One of them looks".to_owned(),
                    some => format!("{} of them look", number(some)),
                }
            ));
        }
        let mut rows = largest(
            told.findings,
            "labels",
            &["count"],
            told.top.saturating_mul(LOOKED_AT),
        )?;
        rows.retain(|row| row.word("proposed").is_empty());
        rows.truncate(told.top);
        let with_sites = rows.iter().any(|row| row.count("sites") > 0);
        let mut columns = vec!["label", "times", "pages"];
        columns.extend(with_sites.then_some("domains"));
        columns.push("for example");
        let all = counts.labels.saturating_sub(counts.proposed);
        if !rows.is_empty() {
            section.tables.push(Table {
                title: "most multiplied, without what looks like an idiom".to_owned(),
                columns: columns.into_iter().map(str::to_owned).collect(),
                more: all.saturating_sub(rows.len() as u64),
                rows: rows
                    .iter()
                    .map(|row| {
                        let text = row.word("text");
                        let text = if text.is_empty() {
                            row.word("hash")
                        } else {
                            text
                        };
                        let words: Vec<&str> = text.split_whitespace().collect();
                        let mut cells = vec![
                            Cell::Text(shortened(&words.join(" "), LABEL)),
                            Cell::Count(row.count("count")),
                            Cell::Count(row.count("pages")),
                        ];
                        cells.extend(with_sites.then(|| Cell::Count(row.count("sites"))));
                        cells.push(Cell::Address(row.word("page").to_owned()));
                        cells
                    })
                    .collect(),
            });
        }
        let corpus = quoted(told.corpus);
        section.next.push(Next {
            command: format!(
                "cento discover {corpus} -o found.labels && cento labels review found.labels"
            ),
            why: format!(
                "decide which of {} are no more than idioms",
                counted(counts.labels, "label", "labels")
            ),
        });
        Ok(section)
    }
}

/// Blind discovery in a corpus that was made like this.
pub(super) fn blind(made: &cento_store::Parameters, how: How) -> DiscoverParams {
    let recipe = recipe_of(made, LabelKind::Chunks);
    DiscoverParams::new(how, recipe, &StopList::built_in())
}

/// Parameters with their stops, which are not written down.
fn restored(asked: &Value) -> Result<DiscoverParams> {
    let asked: DiscoverParams = parameters(asked)?;
    let list = match asked.stop_list.count {
        0 => StopList::default(),
        _ => StopList::built_in(),
    };
    Ok(DiscoverParams::new(asked.how, asked.recipe, &list))
}
