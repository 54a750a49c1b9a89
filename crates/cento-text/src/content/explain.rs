//! Why blocks are kept or removed.

use super::PageType;
use super::decide::{BlockDecision, ContentRule, decide};
use super::features::BlockWalk;
use super::model::{self, CERTAIN, EvidenceRow};
use super::page_type::RecognisedType;
use super::phrase::phrase;
use super::view::PageView;
use crate::html::{Extract, Tag};
use std::ops::Range;

/// How many contributions are listed for a block.
const MOST_REASONS: usize = 3;

/// Why the blocks of a page are kept or removed by [`Selection::Main`](super::Selection::Main).
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The type of the page; `None` if it has no text.
    pub page_type: Option<PageType>,
    /// The blocks, in order.
    pub blocks: Vec<ExplainedBlock>,
}

/// Why a block is kept or removed.
#[derive(Clone, Debug)]
pub struct ExplainedBlock {
    /// Its range in the page's text.
    pub range: Range<usize>,
    /// The tag of its element.
    pub tag: Tag,
    /// Whether it is main content.
    pub kept: bool,
    /// The probability that it is main content, in thousandths, according to the model. It is drawn
    /// to the mean of blocks in elements with the same path, if they are several.
    pub score: u32,
    /// The score that it had to exceed.
    pub least: u32,
    /// The rule that removed it regardless of its score.
    pub rule: Option<ContentRule>,
    /// The evidence that changed the score most, in words, and by how much it changed the log-odds,
    /// in thousandths. The largest change comes first.
    pub reasons: Vec<(String, i32)>,
}

/// Explains the decisions about a page that has an outline.
#[must_use]
pub fn explain(page: &Extract) -> Explanation {
    let view = PageView::new(page);
    let Some(recognised) = RecognisedType::of(&view) else {
        return Explanation {
            page_type: None,
            blocks: Vec::new(),
        };
    };
    let decisions = decide(&view, &recognised);
    let has_article = view.kept.contains(&true);
    let mut names: Vec<String> = Vec::new();
    BlockWalk::new(&view).block_row(0, &mut names);
    let mut walk = BlockWalk::new(&view);
    let mut row = EvidenceRow::new();
    let blocks = page
        .outline
        .blocks
        .iter()
        .zip(decisions)
        .enumerate()
        .map(|(index, (block, decision))| {
            row.clear();
            walk.block_row(index, &mut row);
            explained(
                block.begin as usize..block.end as usize,
                block.tag,
                decision,
                reasons(&row, &names, has_article),
            )
        })
        .collect();
    Explanation {
        page_type: Some(recognised.page_type),
        blocks,
    }
}

fn explained(
    range: Range<usize>,
    tag: Tag,
    decision: BlockDecision,
    reasons: Vec<(String, i32)>,
) -> ExplainedBlock {
    let thousandths = |chance: u32| chance * 1000 / CERTAIN;
    let (mut score, least) = (thousandths(decision.chance), thousandths(decision.least));
    if decision.chance > decision.least {
        // Rounding does not make them equal.
        score = score.max(least + 1);
    }
    ExplainedBlock {
        range,
        tag,
        kept: decision.is_kept(),
        score,
        least,
        rule: decision.rule,
        reasons,
    }
}

fn reasons(row: &EvidenceRow, names: &[String], has_article: bool) -> Vec<(String, i32)> {
    let mut changes = [0; 256];
    model::contributions(row, &mut changes);
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&feature| {
        let change: i32 = changes.get(feature).copied().unwrap_or_default();
        (std::cmp::Reverse(change.unsigned_abs()), feature)
    });
    order
        .into_iter()
        .take(MOST_REASONS)
        .filter_map(|feature| {
            let value = *row.as_slice().get(feature)?;
            let change = *changes.get(feature)?;
            let name = names.get(feature)?;
            let is_about_article =
                name.starts_with("article ") || name == "path levels to the article";
            let words = match is_about_article && !has_article {
                true => Some("the article method finds no article".to_owned()),
                false => phrase(name, value),
            };
            let words = words.unwrap_or_else(|| format!("{name}: {value}"));
            (change != 0).then_some((words, change))
        })
        .collect()
}
