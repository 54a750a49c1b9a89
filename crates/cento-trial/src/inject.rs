//! `trial inject`: what blind discovery finds of a site that was copied *d* times (Ardi & Heidemann
//! 2014 §5.2), and what else it finds (§3.2).
//!
//! An object (a file or a chunk) that occurs *s* times on the site and *c* times in the corpus
//! occurs *c + d·s* times after *d* copies of the site have been added. So *s* is counted by a
//! discovery of the site, *c* by a detection of the site's objects in the corpus, and the objects
//! of the corpus by a discovery of the corpus; no copy has to be written. Chunks that every copy
//! adds of its own, such as the paper's unique paragraphs at head and tail, occur once and are
//! never discovered; they make every file unique, which is why files are compared as exact copies.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use cento_find::detect::{DetectParams, LABELS_TABLE as FOUND_TABLE, LabelSet, detect};
use cento_find::discover::{
    DiscoverParams, FREQUENCIES_TABLE, How, LABELS_TABLE, default_threshold, discover, objects_of,
    recipe_of, write_labels,
};
use cento_find::{CorpusPages, Error, Findings, Result, Workplace};
use cento_flow::{Flow, Registry, Stage, TableName, table_row};
use cento_labels::{LabelKind, StopList};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::roc::rate;

/// The name of the analysis.
pub const INJECT: &str = "trial-inject";
/// What is discovered of the site, by the number of copies.
pub const DISCOVERED_TABLE: TableName<DiscoveredRow> = TableName::new("discovered");
/// How often the objects of the site occur, by the number of copies.
pub const INJECTED_TABLE: TableName<InjectedRow> = TableName::new("injected");
/// How often the other objects of the corpus occur.
pub const BACKGROUND_TABLE: TableName<BackgroundRow> = TableName::new("background");
/// True and false positives over thresholds.
pub const ROC_TABLE: TableName<DiscoveryRocRow> = TableName::new("roc");

const WRITE: &str = "write";

/// The parameters of `trial inject`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InjectParams {
    /// The numbers of copies.
    pub copies: Vec<u64>,
    /// A chunk is discovered if it occurs more often than this; by default as in `discover`.
    pub threshold: Option<u64>,
    /// A file is discovered if it occurs more often than this; by default as in `discover`.
    pub file_threshold: Option<u64>,
}

impl Default for InjectParams {
    fn default() -> InjectParams {
        InjectParams {
            copies: vec![1, 2, 5, 10, 20, 50, 100, 250, 500, 1000, 2500, 5000],
            threshold: None,
            file_threshold: None,
        }
    }
}

impl InjectParams {
    /// The most copies: counts stay far below 2⁶⁴.
    const MOST: u64 = 1_000_000_000;

    /// Fails if a parameter is out of range.
    pub fn check(&self) -> Result<()> {
        if self.copies.is_empty()
            || self
                .copies
                .iter()
                .any(|&copies| copies > InjectParams::MOST)
        {
            let most = InjectParams::MOST;
            return Err(Error::Usage(format!(
                "the numbers of copies are from 0 to {most}"
            )));
        }
        if self.threshold == Some(0) || self.file_threshold == Some(0) {
            return Err(Error::Usage(
                "every object occurs more often than 0 times: the smallest threshold is 1".into(),
            ));
        }
        Ok(())
    }
}

table_row! {
    /// What is discovered of the site.
    #[derive(Debug, Clone, PartialEq)]
    pub struct DiscoveredRow {
        /// `files` or `chunks`.
        pub of: String,
        /// The number of copies of the site.
        pub copies: u64,
        /// The threshold of discovery.
        pub threshold: u64,
        /// The distinct objects of the site, without stop chunks.
        pub objects: u64,
        /// Those that occur more often than the threshold.
        pub discovered: u64,
        /// Their share.
        pub share: f64,
        /// The share of the site's objects that they are, with repetitions.
        pub of_occurrences: f64,
    }
}

table_row! {
    /// The number of objects of the site with the same number of occurrences after injection.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct InjectedRow {
        /// `files` or `chunks`.
        pub of: String,
        /// The number of copies of the site.
        pub copies: u64,
        /// The number of occurrences, in the corpus and in the copies.
        pub count: u64,
        /// The number of distinct objects.
        pub objects: u64,
    }
}

table_row! {
    /// The number of other objects of the corpus with the same number of occurrences.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct BackgroundRow {
        /// `files` or `chunks`.
        pub of: String,
        /// The number of occurrences.
        pub count: u64,
        /// The number of distinct objects, without stop chunks and without those of the site.
        pub objects: u64,
    }
}

table_row! {
    /// What is discovered with one threshold.
    #[derive(Debug, Clone, PartialEq)]
    pub struct DiscoveryRocRow {
        /// `files` or `chunks`.
        pub of: String,
        /// The number of copies of the site.
        pub copies: u64,
        /// The threshold: objects that occur more often are discovered.
        pub threshold: u64,
        /// Discovered objects of the site.
        pub true_positives: u64,
        /// Other discovered objects.
        pub false_positives: u64,
        /// The discovered share of the objects of the site.
        pub true_rate: f64,
        /// The discovered share of all other objects.
        pub false_rate: f64,
    }
}

/// The summary of `trial inject`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InjectSummary {
    /// Pages of the corpus.
    pub pages: u64,
    /// Pages of the site.
    pub site_pages: u64,
}

/// The rows of all tables.
#[derive(Clone, Default)]
struct InjectRows {
    discovered: Vec<DiscoveredRow>,
    injected: Vec<InjectedRow>,
    background: Vec<BackgroundRow>,
    roc: Vec<DiscoveryRocRow>,
}

/// An object of the site: how often it is on the site, and in the corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SiteObject {
    on_site: u64,
    in_corpus: u64,
}

impl SiteObject {
    fn with(&self, copies: u64) -> u64 {
        self.in_corpus
            .saturating_add(copies.saturating_mul(self.on_site))
    }
}

/// Computes the rows of one kind of objects. `frequencies` has the number of objects of the corpus
/// for each number of occurrences, without stop chunks, those of the site included.
fn rows_of(
    of: &str,
    copies: &[u64],
    threshold: u64,
    site: &[SiteObject],
    frequencies: &BTreeMap<u64, u64>,
    rows: &mut InjectRows,
) {
    let mut background = frequencies.clone();
    for object in site.iter().filter(|object| object.in_corpus > 0) {
        if let Some(objects) = background.get_mut(&object.in_corpus) {
            *objects = objects.saturating_sub(1);
        }
    }
    background.retain(|_, objects| *objects > 0);
    let others: u64 = background.values().sum();
    for (&count, &objects) in &background {
        rows.background.push(BackgroundRow {
            of: of.to_owned(),
            count,
            objects,
        });
    }
    let occurrences: u64 = site.iter().map(|object| object.on_site).sum();
    for &copies in copies {
        let found = site.iter().filter(|object| object.with(copies) > threshold);
        let (mut discovered, mut of_occurrences) = (0, 0);
        for object in found {
            discovered += 1;
            of_occurrences += object.on_site;
        }
        rows.discovered.push(DiscoveredRow {
            of: of.to_owned(),
            copies,
            threshold,
            objects: site.len() as u64,
            discovered,
            share: rate(discovered, site.len() as u64),
            of_occurrences: rate(of_occurrences, occurrences),
        });
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        for object in site {
            *counts.entry(object.with(copies)).or_default() += 1;
        }
        let most = counts.keys().chain(background.keys()).max();
        for threshold in thresholds(most.copied().unwrap_or(0)) {
            let above = |counts: &BTreeMap<u64, u64>| -> u64 {
                counts
                    .range(threshold + 1..)
                    .map(|(_, objects)| objects)
                    .sum()
            };
            let (true_positives, false_positives) = (above(&counts), above(&background));
            rows.roc.push(DiscoveryRocRow {
                of: of.to_owned(),
                copies,
                threshold,
                true_positives,
                false_positives,
                true_rate: rate(true_positives, site.len() as u64),
                false_rate: rate(false_positives, others),
            });
        }
        for (count, objects) in counts {
            rows.injected.push(InjectedRow {
                of: of.to_owned(),
                copies,
                count,
                objects,
            });
        }
    }
}

/// The thresholds of the curve: 0, 1, 2, 5, 10, 20, 50 and so on, until nothing is above.
fn thresholds(most: u64) -> Vec<u64> {
    let mut all = vec![0];
    let mut power = 1u64;
    while all.last().is_some_and(|&last| last < most) {
        for factor in [1, 2, 5] {
            if all.last().is_some_and(|&last| last < most) {
                all.push(factor * power);
            }
        }
        power = power.saturating_mul(10);
    }
    all
}

/// Counts the objects of one kind.
fn count(
    corpus: &Arc<CorpusPages>,
    site: &Arc<CorpusPages>,
    of: LabelKind,
    threshold: u64,
    workplace: &Workplace,
) -> Result<(Vec<SiteObject>, BTreeMap<u64, u64>)> {
    let parameters = corpus.corpora().first().map(|corpus| corpus.parameters());
    let recipe = recipe_of(&parameters.cloned().unwrap_or_default(), of);
    let stops = StopList::built_in();
    let params = DiscoverParams::new(How::Informed(0), recipe, &stops);
    let originals = discover(site, &params, workplace)?;
    let path = originals.path.join("trial.labels");
    write_labels(&originals, &params, &path)?;
    let set = LabelSet::open(&path)?;
    let objects = set.labels().len();
    if objects.saturating_mul(64) > workplace.memory / 2 {
        return Err(Error::Flow(cento_flow::Error::TooLittleMemory {
            limit: workplace.memory,
            needed: objects.saturating_mul(128),
            reason: format!(" for {objects} {of} of the site"),
        }));
    }
    let detected = detect(corpus, &set, &DetectParams::default(), workplace)?;
    let mut in_corpus: HashMap<[u8; 16], u64> = HashMap::new();
    for row in detected.rows(FOUND_TABLE)? {
        let row = row?;
        in_corpus.insert(row.hash, row.found);
    }
    let mut found = Vec::new();
    for row in originals.rows(LABELS_TABLE)? {
        let row = row?;
        found.push(SiteObject {
            on_site: row.count,
            in_corpus: in_corpus.get(&row.hash).copied().unwrap_or(0),
        });
    }
    let params = DiscoverParams::new(How::Threshold(threshold), recipe, &stops);
    let mut frequencies = BTreeMap::new();
    for row in discover(corpus, &params, workplace)?.rows(FREQUENCIES_TABLE)? {
        let row = row?;
        frequencies.insert(row.count, row.objects.saturating_sub(row.stopped));
    }
    Ok((found, frequencies))
}

/// Computes what blind discovery finds if copies of a site are added to a corpus.
pub fn inject(
    corpus: &Arc<CorpusPages>,
    site: &Arc<CorpusPages>,
    params: &InjectParams,
    workplace: &Workplace,
) -> Result<Findings> {
    params.check()?;
    if site.kept() == 0 {
        return Err(Error::Unsuitable("no page of the site has text".to_owned()));
    }
    let mut rows = InjectRows::default();
    let chosen = [
        (LabelKind::Files, params.file_threshold),
        (LabelKind::Chunks, params.threshold),
    ];
    // A report shows what the user asks for, which these discoveries and detections are not.
    let step = workplace.for_step();
    for (of, typed) in chosen {
        let threshold = typed.unwrap_or_else(|| default_threshold(objects_of(corpus, of)));
        let (objects, frequencies) = count(corpus, site, of, threshold, &step)?;
        rows_of(
            of.name(),
            &params.copies,
            threshold,
            &objects,
            &frequencies,
            &mut rows,
        );
    }
    let settings = json!({ "params": params, "site": site.identity() });
    let summary = InjectSummary {
        pages: u64::from(corpus.kept()),
        site_pages: u64::from(site.kept()),
    };
    workplace.run(
        INJECT,
        &settings,
        corpus,
        || {
            let mut registry = Registry::new();
            registry.map(WRITE, move |context| {
                let mut discovered = context.table(DISCOVERED_TABLE)?;
                rows.discovered
                    .iter()
                    .try_for_each(|row| discovered.push(row.clone()))?;
                let mut injected = context.table(INJECTED_TABLE)?;
                rows.injected
                    .iter()
                    .try_for_each(|row| injected.push(row.clone()))?;
                let mut background = context.table(BACKGROUND_TABLE)?;
                rows.background
                    .iter()
                    .try_for_each(|row| background.push(row.clone()))?;
                let mut roc = context.table(ROC_TABLE)?;
                rows.roc.iter().try_for_each(|row| roc.push(row.clone()))?;
                Ok(())
            });
            let flow = Flow::new(INJECT)
                .table(DISCOVERED_TABLE)
                .table(INJECTED_TABLE)
                .table(BACKGROUND_TABLE)
                .table(ROC_TABLE)
                .stage(
                    Stage::map(WRITE, vec![json!(0)])
                        .with(settings.clone())
                        .writes(DISCOVERED_TABLE.as_str())
                        .writes(INJECTED_TABLE.as_str())
                        .writes(BACKGROUND_TABLE.as_str())
                        .writes(ROC_TABLE.as_str()),
                );
            Ok((registry, flow))
        },
        |_, _| Ok(json!(summary)),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn thresholds_grow_until_nothing_is_above() {
        assert_eq!(thresholds(0), [0]);
        assert_eq!(thresholds(1), [0, 1]);
        assert_eq!(thresholds(11), [0, 1, 2, 5, 10, 20]);
    }

    proptest! {
        /// Writes out the corpus and all copies as lists of objects, and counts them.
        #[test]
        fn rows_equal_a_count_of_the_injected_corpus(
            corpus in proptest::collection::vec(0u8..12, 0..40),
            site in proptest::collection::vec(6u8..18, 1..20),
            copies in 0u64..6,
            threshold in 1u64..8,
        ) {
            let tally = |objects: &[u8]| -> BTreeMap<u8, u64> {
                let mut counts = BTreeMap::new();
                objects.iter().for_each(|&object| *counts.entry(object).or_default() += 1);
                counts
            };
            let (on_site, in_corpus) = (tally(&site), tally(&corpus));
            let objects: Vec<SiteObject> = on_site.iter().map(|(object, &on_site)| SiteObject {
                on_site,
                in_corpus: in_corpus.get(object).copied().unwrap_or(0),
            }).collect();
            let mut frequencies = BTreeMap::new();
            in_corpus.values().for_each(|&count| *frequencies.entry(count).or_default() += 1);
            let mut rows = InjectRows::default();
            rows_of("chunks", &[copies], threshold, &objects, &frequencies, &mut rows);

            let mut all = corpus;
            (0..copies).for_each(|_| all.extend(&site));
            let all = tally(&all);
            let discovered = |threshold: u64, of_site: bool| all.iter().filter(|(object, count)| **count > threshold && on_site.contains_key(object) == of_site).count() as u64;
            prop_assert_eq!(rows.discovered[0].discovered, discovered(threshold, true));
            prop_assert_eq!(rows.discovered[0].objects, on_site.len() as u64);
            let others = in_corpus.keys().filter(|object| !on_site.contains_key(object)).count() as u64;
            for row in &rows.roc {
                prop_assert_eq!((row.true_positives, row.false_positives), (discovered(row.threshold, true), discovered(row.threshold, false)));
                prop_assert_eq!(row.false_rate, rate(row.false_positives, others));
            }
            let last = rows.roc.last().unwrap();
            prop_assert_eq!((last.true_positives, last.false_positives), (0, 0));
        }
    }
}
