//! True and false positive rates over thresholds.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use cento_find::detect::PAGES_TABLE;
use cento_find::{CorpusPages, Error, Findings, Result, Workplace};
use cento_flow::{Flow, Registry, Stage, TableName, TableRow, table_row};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The name of the analysis.
pub const PAGE_ROC: &str = "detect-roc";
/// The rates of detected pages.
pub const PAGE_ROC_TABLE: TableName<PageRocRow> = TableName::new("roc");

table_row! {
    /// What is detected with one threshold of pages.
    #[derive(Debug, Clone, PartialEq)]
    pub struct PageRocRow {
        /// The threshold: pages whose `contains` is above it are detected.
        pub threshold: f64,
        /// Detected pages that are in the truth.
        pub true_positives: u64,
        /// Detected pages that are not.
        pub false_positives: u64,
        /// The detected share of the pages in the truth.
        pub true_rate: f64,
        /// The detected share of all other pages.
        pub false_rate: f64,
    }
}

/// The summary of the rates.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RocSummary {
    /// Pages of the corpus that are in the truth.
    pub positives: u64,
    /// All other pages of the corpus.
    pub negatives: u64,
    /// Addresses in the truth that no page of the corpus has.
    pub missing: u64,
}

/// Returns the rate of a count, or 0 if there is nothing to count.
pub(crate) fn rate(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// Returns the rates for every score that occurs, as a threshold, and for 0, in descending order.
fn rates(scores: &[(f64, bool)], positives: u64, negatives: u64) -> Vec<PageRocRow> {
    // The number of pages of both kinds with each score, by the bits of the score: scores are not
    // negative, so that bits are ordered as numbers.
    let mut counts: BTreeMap<u64, [u64; 2]> = BTreeMap::from([(0, [0, 0])]);
    for &(score, is_positive) in scores {
        let [others, copies] = counts.entry(score.to_bits()).or_default();
        *(if is_positive { copies } else { others }) += 1;
    }
    let (mut true_positives, mut false_positives) = (0, 0);
    let descending = counts.into_iter().rev();
    descending
        .map(|(bits, [others, copies])| {
            let row = PageRocRow {
                threshold: f64::from_bits(bits),
                true_positives,
                false_positives,
                true_rate: rate(true_positives, positives),
                false_rate: rate(false_positives, negatives),
            };
            // Pages at the threshold are not above it.
            true_positives += copies;
            false_positives += others;
            row
        })
        .collect()
}

/// Computes the rates of the pages that `detect` found, for a set of addresses of pages that are
/// known to be copies. All pages with text count; those without labels, or with stop chunks only,
/// are not detected by any threshold.
pub fn page_roc(
    corpus: &Arc<CorpusPages>,
    detected: &Findings,
    truth: &HashSet<String>,
    workplace: &Workplace,
) -> Result<Findings> {
    let mut positives: HashSet<u64> = HashSet::new();
    let mut known: HashSet<String> = HashSet::new();
    for task in corpus.page_tasks() {
        let task: usize =
            serde_json::from_value(task).map_err(|error| Error::Bug(error.to_string()))?;
        corpus.for_each_page(task, |page| {
            if page.reject.is_none() && truth.contains(page.url) {
                positives.insert(page.page_id);
                known.insert(page.url.to_owned());
            }
            Ok::<_, Error>(())
        })?;
    }
    let mut scores = Vec::new();
    for row in detected.rows(PAGES_TABLE)? {
        let row = row?;
        scores.push((row.contains, positives.contains(&row.page_id)));
    }
    let summary = RocSummary {
        positives: positives.len() as u64,
        negatives: u64::from(corpus.kept()) - positives.len() as u64,
        missing: (truth.len() - known.len()) as u64,
    };
    let rows = rates(&scores, summary.positives, summary.negatives);
    let mut urls: Vec<&String> = truth.iter().collect();
    urls.sort_unstable();
    let settings = json!({ "detect": detected.record.question, "truth": urls });
    one_table(
        PAGE_ROC,
        &settings,
        corpus,
        workplace,
        PAGE_ROC_TABLE,
        rows,
        json!(summary),
    )
}

/// Stores rows as findings with a single table.
fn one_table<T: TableRow + Clone + Send + Sync + 'static>(
    analysis: &'static str,
    settings: &serde_json::Value,
    corpus: &CorpusPages,
    workplace: &Workplace,
    table: TableName<T>,
    rows: Vec<T>,
    summary: serde_json::Value,
) -> Result<Findings> {
    const STAGE: &str = "write";
    workplace.run(
        analysis,
        settings,
        corpus,
        move || {
            let mut registry = Registry::new();
            let name = table.as_str();
            registry.map(STAGE, move |context| {
                let mut table = context.table::<T>(TableName::new(name))?;
                rows.iter().try_for_each(|row| table.push(row.clone()))?;
                Ok(())
            });
            let flow = Flow::new(analysis).table(table).stage(
                Stage::map(STAGE, vec![json!(0)])
                    .with(settings.clone())
                    .writes(name),
            );
            Ok((registry, flow))
        },
        |_, _| Ok(summary),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// At every threshold, the rates are those of counting all pages again.
        #[test]
        fn rates_equal_a_recount_at_every_threshold(
            pages in proptest::collection::vec((0u32..6, any::<bool>()), 0..40),
        ) {
            // Pages of score 0 are not in the table of detected pages.
            let scores: Vec<(f64, bool)> = pages.iter().filter(|page| page.0 > 0).map(|&(score, copy)| (f64::from(score) / 7.0, copy)).collect();
            let positives = pages.iter().filter(|page| page.1).count() as u64;
            let negatives = pages.len() as u64 - positives;
            let rows = rates(&scores, positives, negatives);
            prop_assert_eq!(rows.last().unwrap().threshold, 0.0);
            prop_assert!(rows.is_sorted_by(|one, other| one.threshold > other.threshold));
            for row in rows {
                let above = |copy: bool| pages.iter().filter(|page| f64::from(page.0) / 7.0 > row.threshold && page.1 == copy).count() as u64;
                prop_assert_eq!((row.true_positives, row.false_positives), (above(true), above(false)));
                if positives > 0 {
                    prop_assert_eq!(row.true_rate, above(true) as f64 / positives as f64);
                }
                if negatives > 0 {
                    prop_assert_eq!(row.false_rate, above(false) as f64 / negatives as f64);
                }
            }
        }
    }
}
