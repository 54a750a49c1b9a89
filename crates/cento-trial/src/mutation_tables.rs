//! The parameters and tables of `trial mutate`.

use cento_find::{Error, Result};
use cento_flow::{TableName, table_row};
use serde::{Deserialize, Serialize};

/// The scores at each step.
pub const MUTATIONS_TABLE: TableName<MutationRow> = TableName::new("mutations");
/// How much change is tolerated.
pub const TOLERATED_TABLE: TableName<ToleratedRow> = TableName::new("tolerated");

/// The parameters of `trial mutate`. The defaults are those of the paper.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MutateParams {
    /// The seed of the random numbers.
    pub seed: u64,
    /// The number of runs.
    pub runs: u32,
    /// The most changes of a page, as a multiple of the mean number of chunks per page.
    pub most: f64,
    /// The distance between steps.
    pub step: f64,
    /// Blind labels are the chunks that occur more often than this on the site. In the paper the
    /// site is copied 5,000 times and a label occurs more than 10⁵ times: 20 times on the site.
    pub blind: u64,
    /// The threshold of pages.
    pub page_threshold: f64,
    /// The threshold of neighbourhoods.
    pub neighbourhood_threshold: f64,
}

impl Default for MutateParams {
    fn default() -> MutateParams {
        MutateParams {
            seed: 1,
            runs: 10,
            most: 8.0,
            step: 0.2,
            blind: 20,
            page_threshold: 0.144,
            neighbourhood_threshold: 0.163,
        }
    }
}

impl MutateParams {
    /// Fails if a parameter is out of range.
    pub fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::Usage(what));
        if !(1..=10_000).contains(&self.runs) {
            return wrong(format!("{} runs are not between 1 and 10000", self.runs));
        }
        if !(0.01..=100.0).contains(&self.step) {
            return wrong(format!(
                "a step of {} is not between 0.01 and 100",
                self.step
            ));
        }
        if !(self.step..=1000.0).contains(&self.most) || self.most / self.step > 10_000.0 {
            return wrong(format!(
                "changes up to {} times the chunks of a page are not between one step and 1000",
                self.most
            ));
        }
        for share in [self.page_threshold, self.neighbourhood_threshold] {
            if !(0.0..1.0).contains(&share) {
                return wrong(format!(
                    "a threshold of {share} is not at least 0 and below 1"
                ));
            }
        }
        match self.blind {
            0 => wrong(
                "every chunk occurs more often than 0 times: the smallest --blind is 1".into(),
            ),
            _ => Ok(()),
        }
    }

    pub(crate) fn steps(&self) -> usize {
        (self.most / self.step + 1e-9) as usize
    }

    pub(crate) fn multiple(&self, step: usize) -> f64 {
        // Rounded, so that three steps of 0.2 are 0.6.
        (self.step * step as f64 * 1e9).round() / 1e9
    }
}

/// What happens to the chunks of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mutation {
    /// New chunks are added.
    Add,
    /// Random chunks are deleted. A page without chunks no longer exists.
    Delete,
    /// Random chunks are changed, with replacement: a chunk may be changed again.
    Change,
}

impl Mutation {
    /// All mutations, in the order of the paper.
    pub const ALL: [Mutation; 3] = [Mutation::Add, Mutation::Delete, Mutation::Change];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Mutation::Add => "add",
            Mutation::Delete => "delete",
            Mutation::Change => "change",
        }
    }
}

table_row! {
    /// The scores of a site after so many changes of every page, averaged over the runs.
    #[derive(Debug, Clone, PartialEq)]
    pub struct MutationRow {
        /// `add`, `delete` or `change`.
        pub mutation: String,
        /// The number of changes, as a multiple of the mean number of chunks per page.
        pub multiple: f64,
        /// The number of changes of every page.
        pub mutations: u32,
        /// `expert` or `blind`.
        pub labels: String,
        /// The number of pages with a score.
        pub pages: f64,
        /// The mean number of chunks of these pages, without stop chunks.
        pub chunks: f64,
        /// The mean of the `contains` of the pages. This is also the first score of the
        /// neighbourhood. Null if no page is left in any run.
        pub mean: Option<f64>,
        /// Its standard error over the runs; null for a single run.
        pub mean_error: Option<f64>,
        /// The share of labels among all chunks: the second score of the neighbourhood. Null if no
        /// page is left in any run.
        pub ratio: Option<f64>,
        /// Its standard error over the runs; null for a single run.
        pub ratio_error: Option<f64>,
        /// The number of pages above the threshold of pages.
        pub detected: f64,
        /// The share of runs in which the mean is above the threshold of neighbourhoods.
        pub by_mean: f64,
        /// The share of runs in which the ratio is above the threshold of neighbourhoods.
        pub by_ratio: f64,
    }
}

table_row! {
    /// How much change is tolerated.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ToleratedRow {
        /// `add`, `delete` or `change`.
        pub mutation: String,
        /// `expert` or `blind`.
        pub labels: String,
        /// `page` (the mean of pages against the threshold of pages), `mean` or `ratio` (the scores
        /// of the neighbourhood against its threshold).
        pub score: String,
        /// The threshold.
        pub threshold: f64,
        /// Where the average score reaches the threshold, as a multiple of the mean number of
        /// chunks per page, interpolated between two steps. Null if it is above the threshold at
        /// every step, or not even without changes.
        pub multiple: Option<f64>,
        /// Whether the average score is above the threshold at every step at which a page is left.
        pub always: bool,
    }
}

/// The summary of `trial mutate`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MutateSummary {
    /// Pages of the site.
    pub pages: u64,
    /// Their chunks, with repetitions.
    pub chunks: u64,
    /// The number of expert labels.
    pub expert: u64,
    /// The number of blind labels.
    pub blind: u64,
}
