//! The one run over everything: which analyses fit a corpus, all of them one after the other, and
//! what those who watch see.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cento_find::{CorpusPages, Error, Findings, Result, Workplace, known_findings};
use serde_json::Value;

use crate::analyses::{analyses, analysis};
use crate::analysis::Analysis;
use crate::profile::Profile;

/// How long the making of a corpus takes beside analyses, of which a usual one has 10.
pub const INDEX_WEIGHT: u32 = 28;

/// Which analyses are run, with which parameters; and which are not, and why.
pub struct Plan {
    /// Those that are run, in their order.
    pub chosen: Vec<(&'static dyn Analysis, Value)>,
    /// Those that are left out.
    pub left_out: Vec<LeftOut>,
}

/// An analysis that is not told of.
#[derive(Clone)]
pub struct LeftOut {
    /// Which.
    pub analysis: &'static dyn Analysis,
    /// Why.
    pub reason: String,
}

/// An analysis that was run.
pub struct Done {
    /// Which.
    pub analysis: &'static dyn Analysis,
    /// What it found.
    pub findings: Findings,
    /// How long it took this time.
    pub time: Duration,
}

/// A name of an analysis that nobody knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown(pub String);

impl Plan {
    /// Chooses what fits a corpus: of some analyses by name, or of all usual ones.
    pub fn new(profile: &Profile, only: &[String]) -> std::result::Result<Plan, Unknown> {
        if let Some(name) = only.iter().find(|name| analysis(name).is_none()) {
            return Err(Unknown(name.clone()));
        }
        let mut plan = Plan {
            chosen: Vec::new(),
            left_out: Vec::new(),
        };
        for &analysis in analyses() {
            let wanted = match only.is_empty() {
                true => analysis.usual(),
                false => only.iter().any(|name| name == analysis.name()),
            };
            if !wanted {
                continue;
            }
            match analysis.plan(profile) {
                Ok(parameters) => plan.chosen.push((analysis, parameters)),
                Err(reason) => plan.left_out.push(LeftOut { analysis, reason }),
            }
        }
        Ok(plan)
    }

    /// Runs what was chosen; what was found before is found again. An analysis that refuses the
    /// corpus is left out, and says why.
    pub fn run(
        &mut self,
        source: &Arc<CorpusPages>,
        workplace: &Workplace,
        watch: &Watch,
    ) -> Result<Vec<Done>> {
        let mut done = Vec::new();
        let mut refused = Vec::new();
        let mut too_little = None;
        for (analysis, parameters) in &self.chosen {
            watch.begin(analysis.name(), analysis.weight());
            let begun = Instant::now();
            match analysis.run(source, parameters, workplace) {
                Ok(findings) => done.push(Done {
                    analysis: *analysis,
                    findings,
                    time: begun.elapsed(),
                }),
                Err(Error::Unsuitable(reason)) => refused.push(LeftOut {
                    analysis: *analysis,
                    reason,
                }),
                // One that needs more memory than others does not end the scan.
                Err(Error::Flow(error @ cento_flow::Error::TooLittleMemory { .. })) => {
                    let advice = error.hint().unwrap_or_default();
                    refused.push(LeftOut {
                        analysis: *analysis,
                        reason: format!("{error} ({advice})"),
                    });
                    too_little.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        watch.end();
        if let (Some(error), true) = (too_little, done.is_empty()) {
            return Err(error.into());
        }
        self.left_out.extend(refused);
        Ok(done)
    }
}

/// What is known already of a corpus: of each analysis its newest findings, and why there are none.
pub fn known(
    source: &CorpusPages,
    profile: &Profile,
    folder: &Path,
    corpus: &str,
) -> Result<(Vec<Done>, Vec<LeftOut>)> {
    let (mut done, mut left_out) = (Vec::new(), Vec::new());
    for &analysis in analyses() {
        let found = known_findings(folder, analysis.name(), source)?;
        match (found.into_iter().next(), analysis.plan(profile)) {
            (Some(findings), _) => {
                findings.verify()?;
                done.push(Done {
                    analysis,
                    findings,
                    time: Duration::ZERO,
                });
            }
            (None, _) if !analysis.usual() => {}
            (None, Err(reason)) => left_out.push(LeftOut { analysis, reason }),
            (None, Ok(parameters)) => left_out.push(LeftOut {
                analysis,
                reason: format!("not run yet: {}", analysis.command(corpus, &parameters)),
            }),
        }
    }
    Ok((done, left_out))
}

/// How far a scan is, for those who watch; and how they stop it.
pub struct Watch {
    /// What the making of the corpus tells.
    pub index: Arc<cento_store::Progress>,
    /// What the running analysis tells.
    pub flow: Arc<cento_flow::Progress>,
    step: Mutex<Step>,
    steps: AtomicU64,
    all: AtomicU64,
}

#[derive(Default)]
struct Step {
    name: &'static str,
    number: u64,
    weight: u32,
    before: u32,
    /// The largest share of this step that was told: an analysis may be several flows, and a
    /// display does not go back.
    share: f64,
}

/// What a display shows at a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// What runs.
    pub name: &'static str,
    /// The first, second, … of all.
    pub number: u64,
    /// How many there are.
    pub of: u64,
    /// How much of all is done, from 0 to 1.
    pub share: f64,
}

/// The name of the step that makes the corpus.
pub const INDEX: &str = "index";

impl Watch {
    /// Nothing is done yet.
    pub fn new() -> Arc<Watch> {
        Arc::new(Watch {
            index: Arc::default(),
            flow: cento_flow::Progress::new(),
            step: Mutex::default(),
            steps: AtomicU64::new(0),
            all: AtomicU64::new(1),
        })
    }

    /// Says what is to be done.
    pub fn expect(&self, weights: impl IntoIterator<Item = u32>) {
        let (mut steps, mut all) = (0, 0);
        for weight in weights {
            steps += 1;
            all += u64::from(weight);
        }
        self.steps.store(steps, Ordering::Relaxed);
        self.all.store(all.max(1), Ordering::Relaxed);
    }

    /// Begins the next step.
    pub fn begin(&self, name: &'static str, weight: u32) {
        if let Ok(mut step) = self.step.lock() {
            *step = Step {
                name,
                number: step.number + 1,
                weight,
                before: step.before + step.weight,
                share: 0.0,
            };
        }
    }

    fn end(&self) {
        if let Ok(mut step) = self.step.lock() {
            step.share = 1.0;
        }
    }

    /// Stops what runs, and lets nothing begin after it.
    pub fn cancel(&self) {
        self.index.cancel();
        self.flow.cancel();
    }

    /// Whether it was told to stop.
    pub fn is_cancelled(&self) -> bool {
        self.flow.is_cancelled()
    }

    /// What to show now.
    pub fn moment(&self) -> Moment {
        let all = self.all.load(Ordering::Relaxed) as f64;
        let of = self.steps.load(Ordering::Relaxed);
        let Ok(mut step) = self.step.lock() else {
            return Moment {
                name: "",
                number: 0,
                of,
                share: 0.0,
            };
        };
        let share = match step.name {
            INDEX => self.index.bytes() as f64 / self.index.total_bytes().max(1) as f64,
            _ => self.flow.share(),
        };
        step.share = step.share.max(share.min(1.0));
        let done = f64::from(step.before) + f64::from(step.weight) * step.share;
        Moment {
            name: step.name,
            number: step.number,
            of: of.max(step.number),
            share: (done / all).min(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_a_scan_grows_with_its_steps() {
        let watch = Watch::new();
        watch.expect([30, 10, 60]);
        watch.begin(INDEX, 30);
        watch.index.set_total_bytes(100);
        watch.index.add_bytes(50);
        assert_eq!(watch.moment().share, 0.15);
        watch.begin("copies", 10);
        let moment = watch.moment();
        assert_eq!((moment.number, moment.of, moment.share), (2, 3, 0.3));
        watch.begin("quilts", 60);
        watch.end();
        assert_eq!(watch.moment().share, 1.0);
    }

    #[test]
    fn what_does_not_fit_is_left_out_with_its_reason() {
        let profile = Profile {
            pages: 4,
            all_pages: 4,
            text: true,
            ..Profile::default()
        };
        let plan = Plan::new(&profile, &[]).ok();
        let names = |plan: &Plan| -> (Vec<&str>, Vec<(&str, String)>) {
            let left = plan.left_out.iter();
            (
                plan.chosen
                    .iter()
                    .map(|(analysis, _)| analysis.name())
                    .collect(),
                left.map(|left| (left.analysis.name(), left.reason.clone()))
                    .collect(),
            )
        };
        let (chosen, left) = plan.as_ref().map(names).unwrap_or_default();
        assert!(chosen.starts_with(&["copies", "replication"]), "{chosen:?}");
        let reason = |name: &str| {
            let found = left.iter().find(|left| left.0 == name);
            found.map(|left| left.1.as_str()).unwrap_or_default()
        };
        assert!(reason("overlap-servers").contains("no hosts"));
        assert_eq!(reason("quilts"), "it takes 5 pages, and there are 4");
        assert_ne!(reason("phrases"), "");
    }

    #[test]
    fn only_what_is_asked_for_is_run_and_it_must_be_known() {
        let profile = Profile {
            pages: 100,
            all_pages: 100,
            text: true,
            ..Profile::default()
        };
        let only = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            Plan::new(&profile, &names).map(|plan| plan.chosen.len())
        };
        assert_eq!(only(&["quilts", "overlap"]), Ok(2));
        assert_eq!(only(&["quilt"]), Err(Unknown("quilt".to_owned())));
    }
}
