//! The evidence on which decisions are based, as numbers for a fit.
//!
//! Not needed to select content: the program that fits the model reads it, see the example
//! `content_evidence`.

use super::features::{BlockWalk, page_row};
use super::model::EvidenceRow;
use super::view::PageView;
use crate::html::Extract;

/// The evidence about a page and its blocks.
#[derive(Clone, Debug, Default)]
pub struct PageEvidence {
    /// The numbers about the page.
    pub page: Vec<i16>,
    /// The numbers about each block of the outline.
    pub blocks: Vec<Vec<i16>>,
}

/// The names of the numbers about a page, and of those about a block.
#[must_use]
pub fn names() -> (Vec<String>, Vec<String>) {
    let mut extractor = crate::html::Extractor::new();
    let page = extractor.extract("<p>text", &crate::html::Options { outline: true });
    let view = PageView::new(page);
    let (mut of_page, mut of_block): (Vec<String>, Vec<String>) = Default::default();
    page_row(&view, &mut of_page);
    BlockWalk::new(&view).block_row(0, &mut of_block);
    (of_page, of_block)
}

/// Computes the evidence about a page that has an outline.
#[must_use]
pub fn evidence(page: &Extract) -> PageEvidence {
    let view = PageView::new(page);
    let mut row = EvidenceRow::new();
    page_row(&view, &mut row);
    let mut evidence = PageEvidence {
        page: row.as_slice().to_vec(),
        blocks: Vec::new(),
    };
    let mut walk = BlockWalk::new(&view);
    for index in 0..page.outline.blocks.len() {
        row.clear();
        walk.block_row(index, &mut row);
        evidence.blocks.push(row.as_slice().to_vec());
    }
    evidence
}
