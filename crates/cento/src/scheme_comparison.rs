//! `cento reuse --compare`: all schemes on one corpus, as Table 3 and Figures 3 to 5 of the paper.

use std::path::Path;
use std::sync::Arc;

use cento_figure::{Axis, Figure, Mark, Series};
use cento_find::reuse::{
    Agreement, Category, CategoryQuality, LabelledPairs, PairCategories, ReuseParams, ReuseSummary,
    mean_f1,
};
use cento_find::{CorpusPages, Findings};
use cento_fingerprint::Scheme;
use cento_report::Drawing;
use cento_report::format::{percent, size};
use serde_json::json;

use crate::command_error::CommandError;
use crate::output::{clean, number, table};

/// The results of one scheme.
#[derive(Debug)]
pub(crate) struct SchemeResult {
    scheme: Scheme,
    /// Fingerprints per page.
    fingerprints: f64,
    index_bytes: u64,
    seconds: f64,
    /// The most memory of the process while the scheme ran; unknown for cached results, and where
    /// the system does not report it.
    memory_bytes: Option<u64>,
    pairs: u64,
    /// Agreement with `kgram`.
    agreement: Agreement,
    /// The quality on labelled pairs, by category.
    quality: Option<Vec<CategoryQuality>>,
}

/// Runs all schemes. `run` runs one. The pairs of two schemes are in memory at once.
pub(crate) fn compare(
    source: &Arc<CorpusPages>,
    params: &ReuseParams,
    labelled: Option<&Path>,
    memory: u64,
    run: impl Fn(&ReuseParams) -> Result<Findings, CommandError>,
) -> Result<Vec<SchemeResult>, CommandError> {
    let labelled = labelled
        .map(|path| LabelledPairs::read(path, source))
        .transpose()?;
    let mut reference: Option<PairCategories> = None;
    let mut results = Vec::new();
    for scheme in Scheme::PAPER {
        reset_peak_memory();
        let findings = run(&ReuseParams {
            scheme,
            ..params.clone()
        })?;
        let memory_bytes = peak_memory().filter(|_| !findings.known);
        let summary: ReuseSummary = findings.summary()?;
        let categories = PairCategories::read(&findings, memory)?;
        let kgram = reference.as_ref().unwrap_or(&categories);
        results.push(SchemeResult {
            scheme,
            fingerprints: summary.page_fingerprints as f64 / summary.pages.max(1) as f64,
            index_bytes: summary.index_bytes,
            seconds: findings.record.report.seconds,
            memory_bytes,
            pairs: summary.pairs(),
            agreement: kgram.agreement(&categories),
            quality: labelled
                .as_ref()
                .map(|labelled| labelled.quality(&categories)),
        });
        // The first scheme is `kgram`.
        reference = reference.or(Some(categories));
    }
    Ok(results)
}

/// Returns the largest resident size of this process since the last reset, on Linux.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kilobytes * 1024)
}

fn reset_peak_memory() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Renders the comparison as tables.
pub(crate) fn text(corpus: &str, results: &[SchemeResult]) -> String {
    let part = |part: u64, whole: u64| percent(part as f64 / whole.max(1) as f64);
    let rows: Vec<Vec<String>> = results
        .iter()
        .map(|result| {
            let agreement = result.agreement;
            vec![
                result.scheme.to_string(),
                format!("{:.1}", result.fingerprints),
                size(result.index_bytes),
                format!("{:.2}", result.seconds),
                result.memory_bytes.map_or_else(|| "–".to_owned(), size),
                number(result.pairs),
                part(agreement.found, agreement.pairs),
                part(agreement.same, agreement.pairs),
                number(agreement.additional),
            ]
        })
        .collect();
    let heading = [
        "scheme",
        "fingerprints a page",
        "index",
        "seconds",
        "memory",
        "pairs",
        "of kgram's",
        "same category",
        "not kgram's",
    ];
    let mut text = format!("{}\n\n{}", clean(corpus), table(&heading, &rows));
    if results.iter().any(|result| result.quality.is_some()) {
        text.push('\n');
        text.push_str(&quality_table(results));
    }
    text
}

/// Renders Table 3: F1, precision and recall of each category and scheme.
fn quality_table(results: &[SchemeResult]) -> String {
    let mut heading = vec!["F1 (precision, recall)"];
    heading.extend(results.iter().map(|result| result.scheme.name()));
    let quality = |result: &SchemeResult| result.quality.clone().unwrap_or_default();
    let mut rows = Vec::new();
    for category in Category::ALL
        .into_iter()
        .filter(|&category| category != Category::OneSided)
    {
        let cell = |result: &SchemeResult| {
            let quality = quality(result)
                .into_iter()
                .find(|quality| quality.category == category);
            quality.map_or_else(String::new, |quality| {
                let (f1, precision, recall) = (quality.f1(), quality.precision(), quality.recall());
                format!("{f1:.3} ({precision:.2}, {recall:.2})")
            })
        };
        let mut row = vec![category.to_string()];
        row.extend(results.iter().map(cell));
        rows.push(row);
    }
    for (name, included) in MEANS {
        let mut row = vec![name.to_owned()];
        row.extend(
            results
                .iter()
                .map(|result| format!("{:.3}", mean_f1(&quality(result), included))),
        );
        rows.push(row);
    }
    table(&heading, &rows)
}

/// Whether a category is part of a mean.
type IsPart = fn(Category) -> bool;

/// The means of Figures 3, 4 and 5.
const MEANS: [(&str, IsPart); 3] = [
    ("mean F1", |_| true),
    ("near-duplicates", Category::is_near_duplicate),
    ("local reuse", Category::is_local),
];

/// Returns the comparison as JSON Lines.
pub(crate) fn json_lines(results: &[SchemeResult]) -> String {
    let line = |result: &SchemeResult| {
        let object = json!({
            "scheme": result.scheme, "fingerprints": result.fingerprints,
            "index_bytes": result.index_bytes, "seconds": result.seconds,
            "memory_bytes": result.memory_bytes, "pairs": result.pairs,
            "agreement": result.agreement, "quality": result.quality,
        });
        format!("{object}\n")
    };
    results.iter().map(line).collect()
}

/// Draws Figures 3 to 5: mean F1 against fingerprints per page. Without labelled pairs, the share
/// of `kgram`'s pairs that a scheme finds in the same category.
pub(crate) fn figures(results: &[SchemeResult]) -> Vec<Drawing> {
    let axis = || Axis::linear("Fingerprints per page").covering(0.0);
    let draw = |title: &str, y: &str, value: &dyn Fn(&SchemeResult) -> f64| {
        let figure = Figure::new(title, axis(), Axis::linear(y).covering(0.0).covering(1.0));
        results.iter().fold(figure, |figure, result| {
            let point = [(result.fingerprints, value(result))];
            figure.series(Series::new(result.scheme.to_string(), Mark::Points, point))
        })
    };
    let agreement = draw(
        "How many pairs of kgram do other schemes find in the same category?",
        "Share of the pairs of kgram",
        &|result| result.agreement.same as f64 / result.agreement.pairs.max(1) as f64,
    );
    let mut drawings = vec![Drawing::new("schemes-agreement", agreement)];
    if results.iter().all(|result| result.quality.is_some()) {
        let names = [
            "schemes-all",
            "schemes-near-duplicates",
            "schemes-local-reuse",
        ];
        let titles = [
            "all categories",
            "near-duplicates (C1, C2, C4)",
            "local reuse (C3, C5, C6)",
        ];
        for ((name, title), (_, included)) in names.into_iter().zip(titles).zip(MEANS) {
            let figure = draw(
                &format!("How well do schemes recognise {title}?"),
                "Mean F1",
                &|result| mean_f1(result.quality.as_deref().unwrap_or_default(), included),
            );
            drawings.push(Drawing::new(name, figure));
        }
    }
    drawings
}
