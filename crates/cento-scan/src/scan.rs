//! A scan: selects the analyses that suit a corpus, runs them in order, and reports progress.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cento_file::Fault;
use cento_find::{
    CorpusPages, Error, Findings, Result, Workplace, has_stale_findings, known_findings,
};
use serde_json::Value;

use crate::analyses::{analyses, analysis};
use crate::analysis::Analysis;
use crate::profile::Profile;
use crate::stage_weights::{has_weights, is_note, stage_share};

/// The relative run time of indexing, compared with [`Analysis::weight`].
pub const INDEX_WEIGHT: u32 = 25;

/// The analyses to run with their parameters, and those that are skipped.
pub struct ScanPlan {
    /// The analyses to run, in order.
    pub selected: Vec<(&'static dyn Analysis, Value)>,
    /// The analyses that are skipped.
    pub skipped: Vec<SkippedAnalysis>,
}

/// An analysis without results, and the reason.
#[derive(Clone)]
pub struct SkippedAnalysis {
    /// The analysis.
    pub analysis: &'static dyn Analysis,
    /// The reason.
    pub reason: String,
}

/// An analysis with its results.
pub struct FinishedAnalysis {
    /// The analysis.
    pub analysis: &'static dyn Analysis,
    /// The results.
    pub findings: Findings,
    /// How long it took; zero for cached results.
    pub time: Duration,
}

/// The name of an analysis that does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownAnalysis(pub String);

impl std::fmt::Display for UnknownAnalysis {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "unknown analysis `{}`", self.0)
    }
}

impl std::error::Error for UnknownAnalysis {}

impl ScanPlan {
    /// Selects the analyses that suit a corpus: of the named ones, or of all default ones.
    pub fn new(
        profile: &Profile,
        only: &[String],
    ) -> std::result::Result<ScanPlan, UnknownAnalysis> {
        if let Some(name) = only.iter().find(|name| analysis(name).is_none()) {
            return Err(UnknownAnalysis(name.clone()));
        }
        let mut plan = ScanPlan {
            selected: Vec::new(),
            skipped: Vec::new(),
        };
        for &analysis in analyses() {
            let requested = match only.is_empty() {
                true => analysis.by_default(),
                false => only.iter().any(|name| name == analysis.name()),
            };
            if !requested {
                continue;
            }
            let too_large = match only.is_empty() {
                true => analysis.too_large(profile),
                false => None,
            };
            if let Some(reason) = too_large {
                plan.skipped.push(SkippedAnalysis { analysis, reason });
                continue;
            }
            match analysis.plan(profile) {
                Ok(parameters) => plan.selected.push((analysis, parameters)),
                Err(reason) => plan.skipped.push(SkippedAnalysis { analysis, reason }),
            }
        }
        Ok(plan)
    }

    /// Runs the selected analyses, reusing cached results.
    ///
    /// An analysis is skipped if the corpus is unsuitable for it or if the memory budget is too
    /// small for it. Any other error ends the scan. If the budget is too small for every analysis,
    /// that is an error too.
    pub fn run(
        &mut self,
        source: &Arc<CorpusPages>,
        workplace: &Workplace,
        progress: &ScanProgress,
    ) -> Result<Vec<FinishedAnalysis>> {
        let mut finished = Vec::new();
        let mut too_little_memory = None;
        for (analysis, parameters) in &self.selected {
            progress.begin(analysis.name(), analysis.weight());
            let begun = Instant::now();
            let mut workplace = workplace.clone();
            workplace.request.inputs = analysis.inputs(parameters);
            match analysis.run(source, parameters, &workplace) {
                Ok(mut findings) => {
                    findings.mark_used(&workplace.request);
                    finished.push(FinishedAnalysis {
                        analysis: *analysis,
                        findings,
                        time: begun.elapsed(),
                    });
                }
                Err(error) => {
                    let Some(reason) = reason_to_skip(&error) else {
                        return Err(error);
                    };
                    self.skipped.push(SkippedAnalysis {
                        analysis: *analysis,
                        reason,
                    });
                    if is_too_little_memory(&error) {
                        too_little_memory.get_or_insert(error);
                    }
                }
            }
        }
        progress.end();
        match too_little_memory {
            Some(error) if finished.is_empty() => Err(error),
            _ => Ok(finished),
        }
    }
}

fn is_too_little_memory(error: &Error) -> bool {
    matches!(
        error,
        Error::Flow(cento_flow::Error::TooLittleMemory { .. })
    )
}

/// Returns why an analysis is skipped after an error, or nothing if the error ends the scan.
fn reason_to_skip(error: &Error) -> Option<String> {
    if is_too_little_memory(error) {
        return Some(match error.hint() {
            Some(hint) => format!("{error} ({hint})"),
            None => error.to_string(),
        });
    }
    (error.fault() == Fault::Unsuitable).then(|| error.to_string())
}

/// Adds the newest results of all other analyses of the same pages to those of a scan, so that its
/// report has them too. Analyses whose results are of other pages become skipped ones.
pub fn add_known_results(
    finished: &mut Vec<FinishedAnalysis>,
    skipped: &mut Vec<SkippedAnalysis>,
    source: &CorpusPages,
    profile: &Profile,
    folder: &Path,
    corpus: &str,
) -> Result<()> {
    for &analysis in analyses() {
        let name = analysis.name();
        if finished.iter().any(|other| other.analysis.name() == name) {
            continue;
        }
        let found = known_findings(folder, name, source)?;
        match found.into_iter().next() {
            Some(findings) => {
                findings.verify()?;
                skipped.retain(|other| other.analysis.name() != name);
                finished.push(FinishedAnalysis {
                    analysis,
                    findings,
                    time: Duration::ZERO,
                });
            }
            None if skipped.iter().any(|other| other.analysis.name() == name) => {}
            None if has_stale_findings(folder, name, source)? => {
                let reason = stale(analysis, profile, corpus);
                skipped.push(SkippedAnalysis { analysis, reason });
            }
            None => {}
        }
    }
    finished.sort_by_key(|finished| place(finished.analysis));
    skipped.sort_by_key(|skipped| place(skipped.analysis));
    Ok(())
}

/// Returns the position of an analysis in a report.
fn place(analysis: &dyn Analysis) -> usize {
    let all = analyses().iter();
    let same = |other: &&dyn Analysis| other.name() == analysis.name();
    all.copied()
        .position(|other| same(&other))
        .unwrap_or(usize::MAX)
}

/// Says that the results of an analysis are not shown because they are of other pages.
fn stale(analysis: &dyn Analysis, profile: &Profile, corpus: &str) -> String {
    let reason = "the earlier results are not shown, because the corpus has changed since or \
                  another version of cento computed them";
    match analysis.plan(profile) {
        Ok(parameters) => format!("{reason}: {}", analysis.command(corpus, &parameters, &[])),
        Err(_) => reason.to_owned(),
    }
}

/// Returns the newest results of each analysis for a corpus, and the analyses without results.
pub fn known_results(
    source: &CorpusPages,
    profile: &Profile,
    folder: &Path,
    corpus: &str,
) -> Result<(Vec<FinishedAnalysis>, Vec<SkippedAnalysis>)> {
    let (mut finished, mut skipped) = (Vec::new(), Vec::new());
    for &analysis in analyses() {
        let found = known_findings(folder, analysis.name(), source)?;
        match (found.into_iter().next(), analysis.plan(profile)) {
            (Some(findings), _) => {
                findings.verify()?;
                finished.push(FinishedAnalysis {
                    analysis,
                    findings,
                    time: Duration::ZERO,
                });
            }
            (None, _) if has_stale_findings(folder, analysis.name(), source)? => {
                let reason = stale(analysis, profile, corpus);
                skipped.push(SkippedAnalysis { analysis, reason });
            }
            (None, _) if !analysis.by_default() => {}
            (None, Err(reason)) => skipped.push(SkippedAnalysis { analysis, reason }),
            (None, Ok(parameters)) => skipped.push(SkippedAnalysis {
                analysis,
                reason: format!(
                    "not run yet: {}",
                    analysis.command(corpus, &parameters, &[])
                ),
            }),
        }
    }
    Ok((finished, skipped))
}

/// The progress of a scan, and the way to cancel it.
pub struct ScanProgress {
    /// The progress of indexing.
    pub index: Arc<cento_store::BuildProgress>,
    /// The progress of the running analysis.
    pub flow: Arc<cento_flow::Progress>,
    step: Mutex<ScanStep>,
    steps: AtomicU64,
    total_weight: AtomicU64,
}

/// The current step: indexing or an analysis.
#[derive(Default)]
struct ScanStep {
    name: &'static str,
    number: u64,
    weight: u32,
    /// The sum of the weights of earlier steps.
    before: u32,
    /// The largest share of this step reported so far. An analysis may run several flows, and a
    /// progress bar must not move backwards.
    share: f64,
    /// Whether the analysis has a stage that only some runs have.
    noted: bool,
    /// The largest share of the scan reported so far: the steps may turn out to be more.
    of_all: f64,
}

impl ScanStep {
    /// Whether the stages of the step have weights.
    fn is_weighted(&self) -> bool {
        has_weights(self.name)
    }
}

/// A snapshot of the progress of a scan.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ScanStatus {
    /// The name of the current step.
    pub name: &'static str,
    /// The number of the current step, from 1.
    pub number: u64,
    /// The number of steps.
    pub of: u64,
    /// The finished share of the scan, from 0 to 1.
    pub share: f64,
}

/// The name of the step that indexes the inputs.
pub const INDEX_STEP: &str = "index";

impl ScanProgress {
    /// Creates the progress of a scan that has not begun.
    pub fn new() -> Arc<ScanProgress> {
        Arc::new(ScanProgress {
            index: Arc::default(),
            flow: cento_flow::Progress::new(),
            step: Mutex::default(),
            steps: AtomicU64::new(0),
            total_weight: AtomicU64::new(1),
        })
    }

    /// Sets the steps of the scan by their weights.
    pub fn expect(&self, weights: impl IntoIterator<Item = u32>) {
        let (mut steps, mut total) = (0, 0);
        for weight in weights {
            steps += 1;
            total += u64::from(weight);
        }
        self.steps.store(steps, Ordering::Relaxed);
        self.total_weight.store(total.max(1), Ordering::Relaxed);
    }

    /// Begins the next step.
    pub fn begin(&self, name: &'static str, weight: u32) {
        if let Ok(mut step) = self.step.lock() {
            *step = ScanStep {
                name,
                number: step.number + 1,
                weight,
                before: step.before + step.weight,
                share: 0.0,
                noted: false,
                of_all: step.of_all,
            };
        }
    }

    fn end(&self) {
        if let Ok(mut step) = self.step.lock() {
            step.share = 1.0;
        }
    }

    /// Cancels the current step and all later ones.
    pub fn cancel(&self) {
        self.index.cancel();
        self.flow.cancel();
    }

    /// Returns whether the scan was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.flow.is_cancelled()
    }

    /// Returns the current status.
    pub fn status(&self) -> ScanStatus {
        let total = self.total_weight.load(Ordering::Relaxed) as f64;
        let of = self.steps.load(Ordering::Relaxed);
        let Ok(mut step) = self.step.lock() else {
            return ScanStatus {
                name: "",
                number: 0,
                of,
                share: 0.0,
            };
        };
        let share = match step.name {
            INDEX_STEP => self.index.bytes() as f64 / self.index.total_bytes().max(1) as f64,
            analysis => {
                let stage = self.flow.finished() as f64 / self.flow.tasks().max(1) as f64;
                let name = self.flow.stage();
                step.noted |= is_note(&name);
                stage_share(analysis, &name, stage, step.noted).unwrap_or_else(|| {
                    // Without weights, all stages count the same. Before the first stage of this
                    // step, the progress is still that of the last one.
                    match step.is_weighted() {
                        true => step.share,
                        false => self.flow.share(),
                    }
                })
            }
        };
        step.share = step.share.max(share.min(1.0));
        let done = f64::from(step.before) + f64::from(step.weight) * step.share;
        step.of_all = step.of_all.max((done / total).min(1.0));
        ScanStatus {
            name: step.name,
            number: step.number,
            of: of.max(step.number),
            share: step.of_all,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_grows_with_the_steps_of_a_scan() {
        let progress = ScanProgress::new();
        progress.expect([30, 10, 60]);
        progress.begin(INDEX_STEP, 30);
        progress.index.set_total_bytes(100);
        progress.index.add_bytes(50);
        assert_eq!(progress.status().share, 0.15);
        progress.begin("copies", 10);
        let status = progress.status();
        assert_eq!((status.number, status.of, status.share), (2, 3, 0.3));
        progress.begin("quilts", 60);
        progress.end();
        assert_eq!(progress.status().share, 1.0);
    }

    #[test]
    fn progress_never_goes_back() {
        let progress = ScanProgress::new();
        progress.expect([30, 30]);
        progress.begin(INDEX_STEP, 30);
        progress.index.set_total_bytes(100);
        progress.index.add_bytes(100);
        assert_eq!(progress.status().share, 0.5);
        // More turns out to be necessary.
        progress.expect([30, 30, 60, 180]);
        assert_eq!(progress.status().share, 0.5);
        progress.begin("copies", 30);
        assert_eq!(progress.status().share, 0.5);
        progress.begin("passages", 60);
        progress.begin("quilts", 180);
        progress.end();
        assert_eq!(progress.status().share, 1.0);
    }

    #[test]
    fn unsuitable_analyses_are_skipped_with_the_reason() {
        let profile = Profile {
            pages: 4,
            all_pages: 4,
            text: true,
            ..Profile::default()
        };
        let plan = ScanPlan::new(&profile, &[]).ok();
        let names = |plan: &ScanPlan| -> (Vec<&str>, Vec<(&str, String)>) {
            let skipped = plan.skipped.iter();
            (
                plan.selected
                    .iter()
                    .map(|(analysis, _)| analysis.name())
                    .collect(),
                skipped
                    .map(|skipped| (skipped.analysis.name(), skipped.reason.clone()))
                    .collect(),
            )
        };
        let (selected, skipped) = plan.as_ref().map(names).unwrap_or_default();
        assert!(
            selected.starts_with(&["copies", "replication"]),
            "{selected:?}"
        );
        let reason = |name: &str| {
            let found = skipped.iter().find(|skipped| skipped.0 == name);
            found.map(|skipped| skipped.1.as_str()).unwrap_or_default()
        };
        assert!(reason("overlap-servers").contains("no host names"));
        assert_eq!(
            reason("quilts"),
            "it needs at least 5 pages, and the corpus has 4"
        );
        assert_ne!(reason("phrases"), "");
    }

    #[test]
    fn only_the_named_analyses_are_selected_and_unknown_names_are_errors() {
        let profile = Profile {
            pages: 100,
            all_pages: 100,
            text: true,
            ..Profile::default()
        };
        let only = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            ScanPlan::new(&profile, &names).map(|plan| plan.selected.len())
        };
        assert_eq!(only(&["quilts", "overlap"]), Ok(2));
        assert_eq!(only(&["quilt"]), Err(UnknownAnalysis("quilt".to_owned())));
    }
}
