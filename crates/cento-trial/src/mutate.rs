//! `trial mutate`: how much change detection survives (Ardi & Heidemann 2014 §5.3, §5.4).
//!
//! ```text
//!   site ─ discover ─▶ expert labels (all chunks), blind labels (frequent chunks)
//!   (mutation, run) ─ mutate ─▶ points ─ average ─▶ mutations, tolerated
//! ```
//!
//! A task is one run of one mutation. On every page it makes one change after the other, and at
//! each step it counts the chunks and the labels of all pages: a page after *n* changes is as
//! random as one to which *n* changes were made afresh, at a fraction of the cost. Chunks are
//! classified once, and each new chunk when it is made, by looking them up in the labels.

use std::sync::{Arc, OnceLock};

use cento_find::detect::LabelSet;
use cento_find::discover::{
    DiscoverParams, DiscoverSummary, How, discover, recipe_of, write_labels,
};
use cento_find::{CorpusPages, Error, Findings, Result, Workplace};
use cento_flow::{Flow, Registry, Stage, StageError, WideGroups};
use cento_labels::score::{Mean, real, share, typed};
use cento_labels::{LabelKind, Labels, Recipe, StopList};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::mutation_tables::{
    MUTATIONS_TABLE, MutateParams, MutateSummary, Mutation, MutationRow, TOLERATED_TABLE,
    ToleratedRow,
};
use crate::random::{NewChunks, TrialRandom};

/// The name of the analysis.
pub const MUTATE: &str = "trial-mutate";
const POINTS: &str = "points";
const MUTATE_STAGE: &str = "mutate";
const AVERAGE_STAGE: &str = "average";

/// The labels of a trial.
struct TrialLabels {
    expert: LabelSet,
    blind: LabelSet,
    recipe: Recipe,
}

const STOP: u8 = 1;
const EXPERT: u8 = 2;
const BLIND: u8 = 4;

impl TrialLabels {
    fn class(&self, hash: &[u8; 16]) -> u8 {
        let is_label = |labels: &Labels| labels.find(hash).is_some();
        // Both files have the same stop list. A stop chunk is not a label, as in `Detector`.
        match self.expert.labels().is_stop(hash) {
            true => STOP,
            false => {
                u8::from(is_label(self.expert.labels())) * EXPERT
                    + u8::from(is_label(self.blind.labels())) * BLIND
            }
        }
    }
}

/// The chunks of all pages of a site, classified.
struct SiteChunks {
    /// Where the chunks of each page begin, and where the last ones end.
    begins: Vec<usize>,
    classes: Vec<u8>,
}

impl SiteChunks {
    fn read(corpus: &CorpusPages, labels: &TrialLabels) -> Result<SiteChunks> {
        let mut site = SiteChunks {
            begins: Vec::new(),
            classes: Vec::new(),
        };
        let mut last = None;
        for task in corpus.chunk_tasks()? {
            corpus.for_each_chunk(&task, |page, hash| {
                if last.replace(page) != Some(page) {
                    site.begins.push(site.classes.len());
                }
                let class = hash.first_chunk().map_or(0, |hash| labels.class(hash));
                site.classes.push(class);
                Ok::<_, Error>(())
            })?;
        }
        site.begins.push(site.classes.len());
        Ok(site)
    }

    fn pages(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let pages = self.begins.windows(2);
        pages.map(|pair| match pair {
            [begin, end] => self.classes.get(*begin..*end).unwrap_or_default(),
            _ => &[],
        })
    }

    /// The number of changes at a step.
    fn mutations(&self, multiple: f64) -> u32 {
        let mean = self.classes.len() as f64 / self.pages().len().max(1) as f64;
        (multiple * mean).round() as u32
    }
}

/// The number of chunks of a page, of stop chunks, and of labels.
#[derive(Clone, Copy, Default)]
struct ClassCounts {
    chunks: u32,
    stopped: u32,
    expert: u32,
    blind: u32,
}

impl ClassCounts {
    fn add(&mut self, class: u8) {
        self.chunks += 1;
        self.stopped += u32::from(class & STOP != 0);
        self.expert += u32::from(class & EXPERT != 0);
        self.blind += u32::from(class & BLIND != 0);
    }

    fn remove(&mut self, class: u8) {
        self.chunks -= 1;
        self.stopped -= u32::from(class & STOP != 0);
        self.expert -= u32::from(class & EXPERT != 0);
        self.blind -= u32::from(class & BLIND != 0);
    }
}

/// The sums of one run at one step, with one set of labels.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct StepSums {
    pages: u64,
    chunks: u64,
    matched: u64,
    detected: u64,
    /// The mean as a score.
    mean: u64,
    mutations: u32,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct MutateTask {
    mutation: Mutation,
    run: u32,
}

/// Changes a page step by step. `steps` are ascending numbers of changes; `each` is called with the
/// counts after each of them.
fn mutate_page(
    page: &[u8],
    mutation: Mutation,
    random: &mut TrialRandom,
    steps: &[u32],
    mut new_class: impl FnMut(u32) -> u8,
    mut each: impl FnMut(usize, ClassCounts),
) {
    let mut chunks = page.to_vec();
    let mut counts = ClassCounts::default();
    chunks.iter().for_each(|&class| counts.add(class));
    let mut made = 0;
    for (step, &until) in steps.iter().enumerate() {
        while made < until {
            match mutation {
                Mutation::Add => counts.add(new_class(made)),
                Mutation::Delete => {
                    if !chunks.is_empty() {
                        counts.remove(chunks.swap_remove(random.below(chunks.len())));
                    }
                }
                Mutation::Change => {
                    let at = random.below(chunks.len());
                    if let Some(chunk) = chunks.get_mut(at) {
                        counts.remove(*chunk);
                        *chunk = new_class(made);
                        counts.add(*chunk);
                    }
                }
            }
            made += 1;
        }
        each(step, counts);
    }
}

fn run_task(
    site: &SiteChunks,
    labels: &TrialLabels,
    params: &MutateParams,
    task: MutateTask,
    mut check: impl FnMut() -> std::result::Result<(), StageError>,
) -> std::result::Result<Vec<[StepSums; 2]>, StageError> {
    let steps: Vec<u32> = (0..=params.steps())
        .map(|step| site.mutations(params.multiple(step)))
        .collect();
    let threshold = typed(params.page_threshold);
    let mut sums = vec![[StepSums::default(); 2]; steps.len()];
    let mut means = vec![[Mean::default(); 2]; steps.len()];
    for (number, page) in (0u64..).zip(site.pages()) {
        let key = [
            params.seed,
            u64::from(task.run),
            task.mutation as u64,
            number,
        ];
        let mut random = TrialRandom::new(&key);
        let mut chunks = NewChunks::new(&labels.recipe, &key);
        let new_class = |made: u32| labels.class(&chunks.hash(made));
        mutate_page(
            page,
            task.mutation,
            &mut random,
            &steps,
            new_class,
            |step, counts| {
                let left = counts.chunks - counts.stopped;
                let (Some(sums), Some(means)) = (sums.get_mut(step), means.get_mut(step)) else {
                    return;
                };
                if left == 0 {
                    return;
                }
                let matched = [counts.expert, counts.blind];
                for ((sums, mean), matched) in sums.iter_mut().zip(means).zip(matched) {
                    sums.pages += 1;
                    sums.chunks += u64::from(left);
                    sums.matched += u64::from(matched);
                    let score = share(u64::from(matched), u64::from(left));
                    sums.detected += u64::from(score > threshold);
                    mean.add(matched, left);
                }
            },
        );
        check()?;
    }
    for ((sums, means), &mutations) in sums.iter_mut().zip(means).zip(&steps) {
        for (sums, mean) in sums.iter_mut().zip(means) {
            sums.mean = mean.score();
            sums.mutations = mutations;
        }
    }
    Ok(sums)
}

/// The mean and the standard error of some numbers.
fn mean_and_error(values: &[f64]) -> (Option<f64>, Option<f64>) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count.max(1.0);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let error = (values.len() > 1).then(|| (squares / (count - 1.0) / count).sqrt());
    ((!values.is_empty()).then_some(mean), error)
}

fn row(
    params: &MutateParams,
    mutation: Mutation,
    step: usize,
    labels: &str,
    runs: &[StepSums],
) -> MutationRow {
    let limit = typed(params.neighbourhood_threshold);
    // A site without pages has no score.
    let left = || runs.iter().filter(|run| run.pages > 0);
    let average = |of: &dyn Fn(&StepSums) -> f64| {
        mean_and_error(&runs.iter().map(of).collect::<Vec<f64>>())
            .0
            .unwrap_or(0.0)
    };
    let score = |of: &dyn Fn(&StepSums) -> u64| {
        mean_and_error(&left().map(|run| real(of(run))).collect::<Vec<f64>>())
    };
    let ratio_of = |run: &StepSums| share(run.matched, run.chunks);
    let (mean, mean_error) = score(&|run| run.mean);
    let (ratio, ratio_error) = score(&ratio_of);
    MutationRow {
        mutation: mutation.name().to_owned(),
        multiple: params.multiple(step),
        mutations: runs.first().map_or(0, |run| run.mutations),
        labels: labels.to_owned(),
        pages: average(&|run| run.pages as f64),
        chunks: average(&|run| run.chunks as f64 / run.pages.max(1) as f64),
        mean,
        mean_error,
        ratio,
        ratio_error,
        detected: average(&|run| run.detected as f64),
        by_mean: average(&|run| f64::from(u8::from(run.mean > limit))),
        by_ratio: average(&|run| f64::from(u8::from(ratio_of(run) > limit))),
    }
}

/// Where a falling score reaches a threshold.
fn tolerated(
    rows: &[MutationRow],
    score: &str,
    threshold: f64,
    value: impl Fn(&MutationRow) -> Option<f64>,
) -> Option<ToleratedRow> {
    let first = rows.first()?;
    // Where no page is left, there is nothing to detect.
    let below = rows
        .iter()
        .position(|row| value(row).is_some_and(|value| value <= threshold));
    let multiple = match below {
        None | Some(0) => None,
        Some(at) => {
            let (before, after) = (rows.get(at - 1)?, rows.get(at)?);
            let fall = value(before)? - value(after)?;
            let part = (value(before)? - threshold) / fall;
            Some(before.multiple + part * (after.multiple - before.multiple))
        }
    };
    Some(ToleratedRow {
        mutation: first.mutation.clone(),
        labels: first.labels.clone(),
        score: score.to_owned(),
        threshold,
        multiple,
        always: below.is_none(),
    })
}

fn registry(
    corpus: &Arc<CorpusPages>,
    labels: &Arc<TrialLabels>,
    params: &MutateParams,
) -> Registry {
    let mut registry = Registry::new();
    let (pages, known, settings) = (Arc::clone(corpus), Arc::clone(labels), params.clone());
    // Read by the first task that needs it.
    let site: OnceLock<SiteChunks> = OnceLock::new();
    registry.map(MUTATE_STAGE, move |context| {
        let task: MutateTask = context.task()?;
        if site.get().is_none() {
            let read = SiteChunks::read(&pages, &known)?;
            let _ = site.set(read);
        }
        let Some(site) = site.get() else {
            return Ok(());
        };
        let sums = run_task(site, &known, &settings, task, || Ok(context.check()?))?;
        let mut points = context.wide_shuffle(POINTS)?;
        for (step, sums) in (0u64..).zip(sums) {
            let order = step << 32 | u64::from(task.run);
            points.push_numbered(task.mutation as u64, order, &serde_json::to_vec(&sums)?)?;
        }
        Ok(())
    });
    let settings = params.clone();
    registry.reduce(AVERAGE_STAGE, move |context, groups| {
        let mut mutations = context.table(MUTATIONS_TABLE)?;
        let mut limits = context.table(TOLERATED_TABLE)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            let mutation = Mutation::ALL.get(group.number() as usize).copied();
            let mutation = mutation.unwrap_or(Mutation::Add);
            let mut rows: [Vec<MutationRow>; 2] = Default::default();
            let mut runs: [Vec<StepSums>; 2] = Default::default();
            let mut step = 0;
            let mut flush = |step: usize, runs: &mut [Vec<StepSums>; 2]| {
                for ((labels, rows), runs) in
                    ["expert", "blind"].into_iter().zip(&mut rows).zip(runs)
                {
                    rows.push(row(&settings, mutation, step, labels, runs));
                    runs.clear();
                }
            };
            for record in group {
                let of = (record.order >> 32) as usize;
                if of != step {
                    flush(step, &mut runs);
                    step = of;
                }
                let sums: [StepSums; 2] = serde_json::from_slice(&record.value)?;
                for (runs, sums) in runs.iter_mut().zip(sums) {
                    runs.push(sums);
                }
            }
            flush(step, &mut runs);
            let [expert, blind] = &rows;
            for (expert, blind) in expert.iter().zip(blind) {
                mutations.push(expert.clone())?;
                mutations.push(blind.clone())?;
            }
            for rows in [expert, blind] {
                let (page, site) = (settings.page_threshold, settings.neighbourhood_threshold);
                for found in [
                    tolerated(rows, "page", page, |row| row.mean),
                    tolerated(rows, "mean", site, |row| row.mean),
                    tolerated(rows, "ratio", site, |row| row.ratio),
                ]
                .into_iter()
                .flatten()
                {
                    limits.push(found)?;
                }
            }
        }
        Ok(())
    });
    registry
}

/// Makes labels of a corpus with the real discovery, and writes them beside its findings.
fn labels_of(
    corpus: &Arc<CorpusPages>,
    how: How,
    recipe: Recipe,
    workplace: &Workplace,
) -> Result<(LabelSet, u64)> {
    let params = DiscoverParams::new(how, recipe, &StopList::built_in());
    let findings = discover(corpus, &params, &workplace.for_step())?;
    let path = findings.path.join("trial.labels");
    write_labels(&findings, &params, &path)?;
    let summary: DiscoverSummary = findings.summary()?;
    Ok((LabelSet::open(&path)?, summary.labels))
}

/// Changes the pages of a site, and measures what is still detected.
pub fn mutate(
    corpus: &Arc<CorpusPages>,
    params: &MutateParams,
    workplace: &Workplace,
) -> Result<Findings> {
    params.check()?;
    let chunks = cento_find::discover::objects_of(corpus, LabelKind::Chunks);
    if chunks == 0 {
        return Err(Error::Unsuitable(
            "no page of the corpus has text".to_owned(),
        ));
    }
    // A byte per chunk, and the longest page once more per thread.
    if chunks > workplace.memory / 2 {
        return Err(Error::Flow(cento_flow::Error::TooLittleMemory {
            limit: workplace.memory,
            needed: 2 * chunks,
            reason: format!(" for {chunks} chunks"),
        }));
    }
    let parameters = corpus.corpora().first().map(|corpus| corpus.parameters());
    let recipe = recipe_of(&parameters.cloned().unwrap_or_default(), LabelKind::Chunks);
    let (expert, expert_count) = labels_of(corpus, How::Informed(0), recipe, workplace)?;
    let (blind, blind_count) = labels_of(corpus, How::Threshold(params.blind), recipe, workplace)?;
    let labels = Arc::new(TrialLabels {
        expert,
        blind,
        recipe,
    });
    let tasks = Mutation::ALL
        .into_iter()
        .flat_map(|mutation| (0..params.runs).map(move |run| json!(MutateTask { mutation, run })));
    let tasks: Vec<serde_json::Value> = tasks.collect();
    workplace.run(
        MUTATE,
        params,
        corpus,
        || {
            let flow = Flow::new(MUTATE)
                .shuffle_of_numbers(POINTS, 8)
                .table(MUTATIONS_TABLE)
                .table(TOLERATED_TABLE)
                .stage(
                    Stage::map(MUTATE_STAGE, tasks)
                        .with(json!({ "source": corpus.identity(), "params": params }))
                        .writes(POINTS),
                )
                .stage(
                    Stage::reduce(AVERAGE_STAGE, POINTS)
                        .writes(MUTATIONS_TABLE.as_str())
                        .writes(TOLERATED_TABLE.as_str()),
                );
            Ok((registry(corpus, &labels, params), flow))
        },
        |_, _| {
            Ok(json!(MutateSummary {
                pages: u64::from(corpus.kept()),
                chunks,
                expert: expert_count,
                blind: blind_count,
            }))
        },
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Changes a list of chunks one by one, and counts afresh.
    fn naive(
        page: &[u8],
        mutation: Mutation,
        changes: u32,
        key: u64,
        new: impl Fn(u32) -> u8,
    ) -> Vec<u8> {
        let mut random = TrialRandom::new(&[key]);
        let mut chunks = page.to_vec();
        for made in 0..changes {
            match mutation {
                Mutation::Add => chunks.push(new(made)),
                Mutation::Delete if chunks.is_empty() => {}
                Mutation::Delete => {
                    let at = random.below(chunks.len());
                    chunks.swap_remove(at);
                }
                Mutation::Change => {
                    let at = random.below(chunks.len());
                    if at < chunks.len() {
                        chunks[at] = new(made);
                    }
                }
            }
        }
        chunks
    }

    proptest! {
        #[test]
        fn counts_at_each_step_are_those_of_the_changed_page(
            page in proptest::collection::vec(prop_oneof![Just(0u8), Just(STOP), Just(EXPERT), Just(EXPERT | BLIND)], 0..12),
            mut steps in proptest::collection::vec(0u32..30, 1..6),
            key: u64,
        ) {
            steps.sort_unstable();
            let new = |made: u32| u8::from(made.is_multiple_of(5)) * STOP;
            for mutation in Mutation::ALL {
                let mut found = Vec::new();
                mutate_page(&page, mutation, &mut TrialRandom::new(&[key]), &steps, new, |_, counts| {
                    found.push([counts.chunks, counts.stopped, counts.expert, counts.blind]);
                });
                let expected: Vec<[u32; 4]> = steps.iter().map(|&changes| {
                    let left = naive(&page, mutation, changes, key, new);
                    let with = |bit: u8| left.iter().filter(|&&class| class & bit != 0).count() as u32;
                    [left.len() as u32, with(STOP), with(EXPERT), with(BLIND)]
                }).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn means_and_errors_are_those_of_the_textbook() {
        assert_eq!(mean_and_error(&[]), (None, None));
        assert_eq!(mean_and_error(&[2.0]), (Some(2.0), None));
        let (mean, error) = mean_and_error(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(mean, Some(2.5));
        assert!((error.unwrap() - (5.0f64 / 3.0 / 4.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn the_threshold_is_interpolated_between_two_steps() {
        let params = MutateParams::default();
        let rows: Vec<MutationRow> = [1.0, 0.5, 0.1]
            .into_iter()
            .enumerate()
            .map(|(step, mean)| MutationRow {
                mean: Some(mean),
                multiple: step as f64,
                ..row(&params, Mutation::Add, step, "expert", &[])
            })
            .collect();
        let at = |threshold| tolerated(&rows, "page", threshold, |row| row.mean).unwrap();
        assert!((at(0.3).multiple.unwrap() - 1.5).abs() < 1e-12);
        assert_eq!((at(0.05).multiple, at(0.05).always), (None, true));
        assert_eq!((at(1.0).multiple, at(1.0).always), (None, false));
    }
}
