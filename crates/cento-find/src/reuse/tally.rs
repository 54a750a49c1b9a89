//! Counts of pairs by category and style: the numbers of Tables 4 to 7 of the paper.

use std::collections::BTreeMap;

use cento_flow::{Context, RunReport};
use serde::{Deserialize, Serialize};

use super::category::Category;
use super::style::ReuseStyle;

/// The counts of one category: a row of Table 4 or 6, with a column of Table 5 or 7.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CategoryCounts {
    /// The category.
    pub category: Category,
    /// Pages with at least one sibling in this category. A page may be in several categories.
    pub pages: u64,
    /// The sum of the siblings of these pages in this category.
    pub siblings: u64,
    /// Pairs of pages in this category.
    pub pairs: u64,
    /// These pairs by style.
    pub styles: BTreeMap<ReuseStyle, u64>,
    /// With `--frame`: pairs in this category if page frames were not removed.
    pub pairs_with_frames: Option<u64>,
}

impl CategoryCounts {
    /// Returns the mean number of siblings of a page.
    pub fn mean_siblings(&self) -> f64 {
        self.siblings as f64 / self.pages.max(1) as f64
    }
}

/// The counts of one task.
#[derive(Default)]
pub(super) struct PairTally {
    pairs: [[u64; ReuseStyle::ALL.len()]; Category::ALL.len()],
    siblings: [u64; Category::ALL.len()],
    with_frames: [u64; Category::ALL.len()],
}

impl PairTally {
    /// Adds `pairs` pairs of pages, which are `siblings` siblings of the counted pages.
    pub(super) fn add(&mut self, category: Category, style: ReuseStyle, pairs: u64, siblings: u64) {
        if let Some(styles) = self.pairs.get_mut(category.index())
            && let Some(count) = styles.get_mut(style.index())
        {
            *count += pairs;
        }
        if let Some(count) = self.siblings.get_mut(category.index()) {
            *count += siblings;
        }
    }

    /// Adds pairs of the category that they would have with page frames.
    pub(super) fn add_with_frames(&mut self, category: Category, pairs: u64) {
        if let Some(count) = self.with_frames.get_mut(category.index()) {
            *count += pairs;
        }
    }

    /// Adds the counts to the counters of a stage.
    pub(super) fn report(&self, context: &Context<'_>) {
        let rows = self.pairs.iter().zip(&self.siblings).zip(&self.with_frames);
        for (category, ((styles, &siblings), &with_frames)) in Category::ALL.into_iter().zip(rows) {
            for (style, &pairs) in ReuseStyle::ALL.into_iter().zip(styles) {
                if pairs > 0 {
                    context.count(&pairs_of(category, style), pairs);
                }
            }
            if siblings > 0 {
                context.count(&siblings_of(category), siblings);
            }
            if with_frames > 0 {
                context.count(&with_frames_of(category), with_frames);
            }
        }
    }
}

fn pairs_of(category: Category, style: ReuseStyle) -> String {
    format!("pairs {category} {style}")
}

fn siblings_of(category: Category) -> String {
    format!("siblings {category}")
}

fn with_frames_of(category: Category) -> String {
    format!("pairs with frames {category}")
}

/// The counter of the pages of a category.
pub(super) fn pages_counter(category: Category) -> String {
    format!("pages {category}")
}

/// Reads the counts of all categories from the report of a run.
pub(super) fn category_counts(report: &RunReport, frame: bool) -> Vec<CategoryCounts> {
    let counts = |category| {
        let style = |style| (style, report.counted(&pairs_of(category, style)));
        let styles: BTreeMap<ReuseStyle, u64> = ReuseStyle::ALL
            .into_iter()
            .map(style)
            .filter(|(_, pairs)| *pairs > 0)
            .collect();
        CategoryCounts {
            category,
            pages: report.counted(&pages_counter(category)),
            siblings: report.counted(&siblings_of(category)),
            pairs: styles.values().sum(),
            styles,
            pairs_with_frames: frame.then(|| report.counted(&with_frames_of(category))),
        }
    };
    Category::ALL.into_iter().map(counts).collect()
}
