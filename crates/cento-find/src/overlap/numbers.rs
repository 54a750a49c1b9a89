//! Overlaps by number alone, for measuring: with many pairs, most of the time of an overlap goes
//! into their names.

use cento_flow::{Flow, Registry, Stage, table_row};
use serde_json::json;

use super::rows::Pair;
use super::stages::{self, for_each_sum};
use super::{PAIRS, opening};
use crate::corpus_pages::CorpusPages;
use crate::names;

table_row! {
    /// Two pages by number and the chunks that they share.
    pub struct NumberRow {
        /// The higher number.
        pub page: u32,
        /// The lower number.
        pub of: u32,
        /// Distinct chunks that both have.
        pub chunks: u32,
    }
}

/// The stage that ends in the table of pairs.
pub(super) fn register(registry: &mut Registry) {
    registry.reduce::<Pair, _>("sum numbers", |context, groups| {
        let threshold: u32 = context.parameters()?;
        let mut table = context.table::<NumberRow>(PAIRS)?;
        for_each_sum(groups, |pair| {
            if pair.chunks < threshold {
                return Ok(());
            }
            Ok(table.push(NumberRow {
                page: pair.right,
                of: pair.left,
                chunks: pair.chunks,
            })?)
        })
    });
}

/// Adds that stage.
pub(super) fn with_sums(flow: Flow, threshold: u32) -> Flow {
    flow.stage(
        Stage::reduce("sum numbers", stages::PAIRS)
            .with(json!(threshold))
            .writes(PAIRS),
    )
}

/// Adds the stages that tell which pages have the text of an earlier one.
pub(super) fn with_originals(flow: Flow, source: &CorpusPages) -> Flow {
    let bytes = u64::from(source.all()).div_ceil(8).max(8);
    flow.shuffle(stages::BY_TEXT)
        .state(stages::COPIES, "bitmap", json!({ "bytes": bytes }))
        .stage(
            opening(Stage::map("texts", source.page_tasks()))
                .with(source.identity())
                .writes(names::NAMED)
                .writes(stages::COPIES)
                .writes(stages::BY_TEXT),
        )
        .stage(
            Stage::reduce("collapse", stages::BY_TEXT)
                .writes(stages::COPIES)
                .writes(stages::FACTS),
        )
}
