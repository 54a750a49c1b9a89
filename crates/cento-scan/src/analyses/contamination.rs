//! Which items of a benchmark are in the corpus, with the words of both side by side.

use std::collections::BTreeMap;
use std::sync::Arc;

use cento_align::{Fold, differing_words};
use cento_figure::{Axis, Figure, Mark, NumberFormat, Series};
use cento_find::detect::{
    GRAMS, GramsParams, GramsSummary, ITEMS_TABLE, ItemRow, PLACES_TABLE, PlaceRow, most_items,
};
use cento_find::{CorpusPages, Error, Findings, Result, Workplace};
use cento_report::format::{counted, number, part_of, percent, plural, quoted};
use cento_report::{
    ComparedSide, Comparison, Drawing, Headline, ReportCell, ReportTable, Section, Suggestion,
};
use serde::Deserialize;
use serde_json::Value;

use super::columns;
use super::passages::compared_pieces;
use crate::analysis::{Analysis, CommandLine, SectionInput, parse_parameters};
use crate::profile::Profile;
use crate::select::largest_by;

/// Items whose text is shown beside that of a page.
const COMPARISONS: usize = 5;
/// The longest side of a comparison, in bytes.
const LONGEST: usize = 1_200;
/// Text of the page around the passage that is compared, in bytes.
const AROUND: usize = 80;

/// `cento contamination`, or `cento detect --grams`.
pub struct Contamination;

/// The parameters of a check, as in `run.json`.
#[derive(Deserialize)]
struct ContaminationSettings {
    #[serde(flatten)]
    params: GramsParams,
    /// The names of the inputs with the items.
    #[serde(default)]
    against: Vec<String>,
}

impl Analysis for Contamination {
    fn name(&self) -> &'static str {
        GRAMS
    }

    fn title(&self) -> &'static str {
        "Items of a benchmark"
    }

    fn question(&self) -> &'static str {
        "Which items of a benchmark are in the corpus, and how much of each?"
    }

    fn by_default(&self) -> bool {
        false
    }

    fn plan(&self, _: &Profile) -> std::result::Result<Value, String> {
        Err("it needs a benchmark: cento contamination CORPUS --against BENCHMARK".to_owned())
    }

    fn run(&self, _: &Arc<CorpusPages>, _: &Value, _: &Workplace) -> Result<Findings> {
        Err(Error::Usage("a contamination check needs items".to_owned()))
    }

    fn command(&self, corpus: &str, parameters: &Value, inputs: &[String]) -> String {
        let command = CommandLine::new("contamination", corpus);
        let Ok(settings) = parse_parameters::<ContaminationSettings>(parameters) else {
            return command.finish();
        };
        let command = command.option("-k", &settings.params.k, &DEFAULT_K).option(
            "--min-share",
            &settings.params.min_share,
            &0.5,
        );
        if !inputs.is_empty() {
            return command.inputs(inputs).finish();
        }
        let against: Vec<String> = settings.against.iter().map(|name| quoted(name)).collect();
        format!("{} --against {}", command.finish(), against.join(" "))
    }

    fn figures(&self, findings: &Findings) -> Result<Vec<Drawing>> {
        Ok(vec![Drawing::new("items", shares(findings)?)])
    }

    fn summarise(&self, input: &SectionInput<'_>) -> Result<Section> {
        let summary: GramsSummary = input.findings.summary()?;
        let settings: ContaminationSettings = parse_parameters(&input.findings.record.parameters)?;
        let mut section = Section {
            sentences: sentences(&summary, &settings),
            ..Section::default()
        };
        if summary.listed == 0 {
            return Ok(section);
        }
        section.headlines.push(Headline::new(
            number(summary.listed),
            plural(
                summary.listed,
                "item of the benchmark is in the corpus",
                "items of the benchmark are in the corpus",
            ),
        ));
        let items = found_items(input.findings, input.top)?;
        section.tables.push(item_table(&items, summary.listed));
        section.comparisons = comparisons(input, &items)?;
        let command = input.command(self);
        section.suggestions.push(Suggestion {
            command: format!("{command} --out items.csv"),
            purpose: "list all items with the share that was found".to_owned(),
        });
        section.suggestions.push(Suggestion {
            command: format!("{command} --filter -o clean/"),
            purpose: "write the inputs without the pages that contain items".to_owned(),
        });
        Ok(section)
    }
}

/// The default of `-k`.
pub const DEFAULT_K: u32 = 8;

fn sentences(summary: &GramsSummary, settings: &ContaminationSettings) -> Vec<String> {
    let searched = summary.items.saturating_sub(summary.short + summary.common);
    let k = u64::from(settings.params.k);
    let words = counted(k, "word", "words");
    let mut sentences = vec![format!(
        "Of {} in {}, {} {} on one page of the corpus with at least {} of {} runs of {}.",
        counted(searched, "item", "items"),
        settings.against.join(", "),
        match summary.listed {
            0 => "none".to_owned(),
            listed => format!("{} ({})", number(listed), part_of(listed, searched)),
        },
        plural(summary.listed.max(1), "is", "are"),
        percent(settings.params.min_share),
        plural(summary.listed.max(1), "its", "their"),
        words,
    )];
    let partly = summary.found.saturating_sub(summary.listed);
    if partly > 0 {
        sentences.push(format!(
            "Of {}, the corpus has at least one such run.",
            counted(partly, "other item", "other items")
        ));
    }
    if summary.short > 0 {
        sentences.push(format!(
            "{} fewer than {words} and {} not searched.",
            counted(summary.short, "item has", "items have"),
            plural(summary.short, "was", "were")
        ));
    }
    if summary.common > 0 {
        sentences.push(format!(
            "{} not searched: apart from runs in more than {} items, {} fewer than {}.",
            counted(summary.common, "item was", "items were"),
            number(most_items(summary.items)),
            plural(summary.common, "it has", "they have"),
            counted(k, "run", "runs")
        ));
    }
    if summary.crowded > 0 {
        sentences.push(format!(
            "Shares are of the runs that at most {} items have: {} in more items {} ignored.",
            number(most_items(summary.items)),
            counted(summary.crowded, "run", "runs"),
            plural(summary.crowded, "was", "were"),
        ));
    }
    sentences
}

/// Returns items that pages list, those with the largest share on one page first.
fn found_items(findings: &Findings, top: usize) -> Result<Vec<ItemRow>> {
    let mut items = largest_by(findings.rows(ITEMS_TABLE)?, |row| row.most, top)?;
    items.retain(|item| item.pages > 0);
    Ok(items)
}

fn item_table(items: &[ItemRow], found: u64) -> ReportTable {
    ReportTable {
        title: "items found".to_owned(),
        columns: columns(["item", "most on one page", "in the whole corpus", "pages"]),
        more: found.saturating_sub(items.len() as u64),
        rows: items
            .iter()
            .map(|row| {
                vec![
                    ReportCell::Address(row.item.clone()),
                    ReportCell::Share(row.most),
                    ReportCell::Share(row.share),
                    ReportCell::Count(row.pages),
                ]
            })
            .collect(),
        ..ReportTable::default()
    }
}

/// Shows the first items beside the passages of the pages that have most of them.
fn comparisons(input: &SectionInput<'_>, items: &[ItemRow]) -> Result<Vec<Comparison>> {
    let shown = || items.iter().take(COMPARISONS);
    let mut places: BTreeMap<u64, Option<PlaceRow>> =
        shown().map(|item| (item.item_id, None)).collect();
    for row in input.findings.rows(PLACES_TABLE)? {
        let row = row?;
        // The page with the largest share of an item comes first.
        if let Some(place) = places.get_mut(&row.item_id)
            && place.is_none()
        {
            *place = Some(row);
        }
    }
    let mut comparisons = Vec::new();
    for item in shown() {
        if let (Some(text), Some(Some(place))) = (&item.text, places.remove(&item.item_id)) {
            comparisons.push(comparison(input.source, text, &place)?);
        }
    }
    Ok(comparisons)
}

fn comparison(source: &CorpusPages, item: &str, place: &PlaceRow) -> Result<Comparison> {
    let corpus = source.corpora().first();
    let text = corpus
        .map(|corpus| corpus.text(place.page_id))
        .transpose()?;
    let text = text.flatten().unwrap_or_default();
    let begin = (place.begin as usize)
        .saturating_sub(AROUND)
        .min(text.len());
    let end = (place.end as usize).saturating_add(AROUND).min(text.len());
    let is_boundary = |at: &usize| text.is_char_boundary(*at);
    let begin = (0..=begin).rev().find(is_boundary).unwrap_or(0);
    let end = (end..=text.len()).find(is_boundary).unwrap_or(text.len());
    let passage = text.get(begin..end).unwrap_or_default();
    let [only_item, only_page] = differing_words(item, passage, Fold::None);
    Ok(Comparison {
        about: format!(
            "{} of the runs of the item on this page; the longest passage is at bytes {} to {}.",
            percent(place.share),
            number(place.begin.into()),
            number(place.end.into())
        ),
        sides: [
            ComparedSide {
                address: place.item.clone(),
                pieces: compared_pieces(item, &only_item, LONGEST),
            },
            ComparedSide {
                address: place.page.clone(),
                pieces: compared_pieces(passage, &only_page, LONGEST),
            },
        ],
    })
}

/// Draws how much of the items is on one page.
fn shares(findings: &Findings) -> Result<Figure> {
    let mut bars = [0u64; 10];
    for row in findings.rows(ITEMS_TABLE)? {
        let row = row?;
        if row.most > 0.0 {
            let bar = ((row.most * 10.0).ceil() as usize).clamp(1, 10) - 1;
            bars[bar] += 1;
        }
    }
    let names = (0..10).map(|bar| format!("{}–{} %", 10 * bar, 10 * bar + 10));
    let points = bars.iter().enumerate().filter(|(_, items)| **items > 0);
    let points: Vec<(f64, f64)> = points
        .map(|(bar, &items)| (bar as f64, items as f64))
        .collect();
    Ok(Figure::new(
        "How much of the items is on one page?",
        Axis::of_categories("Largest share of an item on one page", names),
        Axis::linear("Items")
            .format(NumberFormat::Count)
            .covering(0.0),
    )
    .caption(
        "Items of which no run of words was found are not drawn. A bar includes its upper end.",
    )
    .series(Series::new("items", Mark::Bars, points)))
}
