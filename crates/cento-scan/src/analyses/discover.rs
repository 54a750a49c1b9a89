//! Frequent chunks, with figures 1, 2 and 11 of Ardi & Heidemann 2014.

use std::sync::Arc;

use cento_figure::{Axis, Figure, Mark, NumberFormat, Rule, Series};
use cento_find::discover::{
    DISCOVER, DiscoverParams, DiscoverSummary, FrequencyRow, How, LABELS_TABLE, default_threshold,
    discover, frequencies, recipe_of,
};
use cento_find::provenance::LabelRow;
use cento_find::{CorpusPages, Findings, Result, Workplace};
use cento_labels::{LabelKind, StopList};
use cento_report::format::{counted, number, part_of, plural, shortened};
use cento_report::{Drawing, Headline, ReportCell, ReportTable, Section, Suggestion};
use serde_json::{Value, json};

use super::columns;
use crate::analysis::{Analysis, CommandLine, SectionInput, parse_parameters};
use crate::profile::Profile;
use crate::select::largest_by;

/// Characters of a label that are shown.
const LABEL: usize = 120;

/// `cento discover` without originals.
pub struct Discover;

impl Analysis for Discover {
    fn name(&self) -> &'static str {
        DISCOVER
    }

    fn title(&self) -> &'static str {
        "Frequent chunks"
    }

    fn question(&self) -> &'static str {
        "Which chunks of text occur most often, apart from boilerplate?"
    }

    fn heading(&self, parameters: &Value) -> [String; 2] {
        match parse_parameters::<DiscoverParams>(parameters) {
            Ok(params) if params.recipe.of == LabelKind::Files => [
                "Frequent files".to_owned(),
                "Which files occur most often?".to_owned(),
            ],
            _ => [self.title().to_owned(), self.question().to_owned()],
        }
    }

    fn weight(&self) -> u32 {
        1
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
        parameters: &Value,
        workplace: &Workplace,
    ) -> Result<Findings> {
        discover(source, &with_stop_list(parameters)?, workplace)
    }

    fn command(&self, corpus: &str, parameters: &Value, inputs: &[String]) -> String {
        let Ok(params) = parse_parameters::<DiscoverParams>(parameters) else {
            return CommandLine::new("discover", corpus).finish();
        };
        let command = CommandLine::new("discover", corpus).option(
            "--unit",
            &params.recipe.of,
            &LabelKind::Chunks,
        );
        let command = match params.how {
            // The default threshold depends on the corpus, so it is always written.
            How::Threshold(threshold) => command.option("--more-than", &threshold, &0),
            How::Top(top) => command.option("--most-frequent", &top, &0),
            // They are among the inputs.
            How::Informed(_) if !inputs.is_empty() => command,
            How::Informed(least) => {
                command
                    .option("--from", &"ORIGINALS", &"")
                    .option("--min-length", &least, &100)
            }
        };
        let is_typed = inputs.iter().any(|word| word == "--no-stop");
        command
            .inputs(inputs)
            .flag("--no-stop", params.stop_list.count == 0 && !is_typed)
            .option("-o", &"found.labels", &"")
            .finish()
    }

    fn figures(&self, findings: &Findings) -> Result<Vec<Drawing>> {
        let counts = frequencies(findings)?;
        let params: DiscoverParams = parse_parameters(&findings.record.parameters)?;
        let of = params.recipe.of.name();
        let points = |of: fn(&FrequencyRow) -> u64| {
            let counts = counts
                .iter()
                .map(move |row| (row.count as f64, of(row) as f64));
            counts.filter(|point| point.1 > 0.0).collect::<Vec<_>>()
        };
        let all: u64 = counts.iter().map(|row| row.objects).sum();
        let single: u64 = counts
            .iter()
            .filter(|row| row.count == 1)
            .map(|row| row.objects)
            .sum();
        let mut figure = Figure::new(
            format!("How often do {of} occur?"),
            Axis::log10("Occurrences").format(NumberFormat::Count),
            Axis::log10(format!("Distinct {of}")).format(NumberFormat::Count),
        )
        .caption(format!(
            "Of {} distinct {of}, {} {} once. A dot far to the right of the others at its height shows {of} that occur unusually often.",
            number(all),
            number(single),
            plural(single, "occurs", "occur")
        ))
        .series(Series::new(of, Mark::Points, points(|row| row.objects.saturating_sub(row.stopped))));
        let stops = points(|row| row.stopped);
        if !stops.is_empty() {
            figure = figure.series(Series::new("on the stop list", Mark::Points, stops));
        }
        if let How::Threshold(threshold) = params.how {
            let label = format!("labels: more than {}", number(threshold));
            figure = figure.rule(Rule::vertical(threshold as f64, label));
        }
        Ok(vec![Drawing::new("frequencies", figure)])
    }

    fn summarise(&self, input: &SectionInput<'_>) -> Result<Section> {
        let summary: DiscoverSummary = input.findings.summary()?;
        let params: DiscoverParams = parse_parameters(&input.findings.record.parameters)?;
        let mut section = Section {
            sentences: vec![count_sentence(&summary, &params)],
            ..Section::default()
        };
        if summary.labels == 0 {
            return Ok(section);
        }
        let of = params.recipe.of.name();
        if !params.informed() {
            let share = part_of(summary.occurrences, summary.objects);
            section.sentences.push(format!(
                "{} {}: {share} of all {of}.",
                plural(summary.labels, "It occurs", "Together they occur"),
                counted(summary.occurrences, "time", "times"),
            ));
            section
                .headlines
                .push(Headline::new(share, format!("of all {of} are frequent")));
        }
        if summary.proposed > 0 {
            section.sentences.push(format!(
                "{} of these {} like boilerplate.",
                number(summary.proposed),
                plural(summary.proposed, "looks", "look"),
            ));
            section.notes.push(format!(
                "{} look like boilerplate if they are short, have no words, or have less than 100 \
                 bytes and are spread over many domains.",
                capitalised(of)
            ));
        }
        let labels = input.findings.rows(LABELS_TABLE)?;
        let labels =
            labels.filter(|row| row.as_ref().map_or(true, |label| label.proposed.is_none()));
        let rows = largest_by(labels, |row| row.count, input.top)?;
        if !rows.is_empty() {
            section.tables.push(table(rows, &summary, of));
        }
        section.suggestions.push(Suggestion {
            command: format!(
                "{} && cento labels review found.labels",
                input.command(self)
            ),
            purpose: match summary.labels {
                1 => "decide whether the label is boilerplate".to_owned(),
                many => format!(
                    "decide which of the {} labels are boilerplate",
                    number(many)
                ),
            },
        });
        Ok(section)
    }
}

fn count_sentence(summary: &DiscoverSummary, params: &DiscoverParams) -> String {
    let of = params.recipe.of.name();
    let distinct = || match summary.labels {
        1 => format!("1 distinct {}", of.trim_end_matches('s')),
        some => format!("{} distinct {of}", number(some)),
    };
    match (&params.how, summary.labels) {
        (How::Threshold(threshold), 0) => format!(
            "Apart from the stop list, no {of} occur more than {}.",
            counted(*threshold, "time", "times")
        ),
        (How::Informed(least), 0) => format!(
            "Apart from the stop list, the originals have no {of} of at least {}.",
            counted(*least, "byte", "bytes")
        ),
        (How::Top(_), 0) => format!("There are no {of} apart from the stop list."),
        (How::Threshold(threshold), some) => format!(
            "{} {} more than {}.",
            distinct(),
            plural(some, "occurs", "occur"),
            counted(*threshold, "time", "times")
        ),
        (How::Top(_), 1) => format!(
            "The most frequent {} became a label.",
            of.trim_end_matches('s')
        ),
        (How::Top(_), some) => {
            format!("The {} most frequent {of} became labels.", number(some))
        }
        (How::Informed(least), some) => format!(
            "{} of at least {} {} of the originals.",
            distinct(),
            counted(*least, "byte", "bytes"),
            plural(some, "is a label", "are labels"),
        ),
    }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

fn table(labels: Vec<LabelRow>, summary: &DiscoverSummary, of: &str) -> ReportTable {
    let with_sites = labels
        .iter()
        .any(|label| label.sites.is_some_and(|sites| sites > 0));
    let names = ["label", "occurrences", "pages"].into_iter();
    let names = names.chain(with_sites.then_some("domains"));
    let all = summary.labels.saturating_sub(summary.proposed);
    ReportTable {
        title: format!("most frequent {of} without boilerplate"),
        columns: columns(names.chain(["example page"])),
        more: all.saturating_sub(labels.len() as u64),
        rows: labels
            .into_iter()
            .map(|label| {
                let text = label.text.filter(|text| !text.is_empty());
                // The label of a file has no text, and the page that has it says what it is.
                let name = match text {
                    Some(text) => {
                        let words: Vec<&str> = text.split_whitespace().collect();
                        ReportCell::Text(shortened(&words.join(" "), LABEL))
                    }
                    None => ReportCell::Address(label.page.clone()),
                };
                let mut cells = vec![
                    name,
                    ReportCell::Count(label.count),
                    ReportCell::Count(label.pages),
                ];
                cells.extend(
                    with_sites.then(|| label.sites.map_or(ReportCell::Unknown, ReportCell::Count)),
                );
                cells.push(ReportCell::Address(label.page));
                cells
            })
            .collect(),
        ..ReportTable::default()
    }
}

/// Returns the parameters of a discovery without originals.
pub(super) fn blind(corpus: &cento_store::Parameters, how: How) -> DiscoverParams {
    let recipe = recipe_of(corpus, LabelKind::Chunks);
    DiscoverParams::new(how, recipe, &StopList::built_in())
}

/// Parses parameters and adds the stop list, which `run.json` identifies but does not contain.
fn with_stop_list(parameters: &Value) -> Result<DiscoverParams> {
    let params: DiscoverParams = parse_parameters(parameters)?;
    let list = match params.stop_list.count {
        0 => StopList::default(),
        _ => StopList::built_in(),
    };
    Ok(DiscoverParams::new(params.how, params.recipe, &list))
}
