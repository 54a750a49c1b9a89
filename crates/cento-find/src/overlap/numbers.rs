//! Overlaps by number alone, for who counts pairs and shows none: with many pairs, most of the time of an overlap goes into their names.

use std::sync::Arc;

use cento_flow::{Flow, Registry, Stage, table_row};
use serde_json::json;

use super::params::Params;
use super::rows::Pair;
use super::stages::{self, Attribution, for_each_sum};
use super::{PAIRS, Summary, check, counting, counting_stages, cut, opening, plan};
use crate::error::Result;
use crate::names;
use crate::run::{Findings, Workplace};
use crate::source::Source;

/// The name of these findings.
pub(super) const NUMBERS: &str = "overlap-numbers";

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

/// Finds the overlaps of the pages of a corpus.
pub(super) fn run(
    source: &Arc<Source>,
    params: &Params,
    workplace: &Workplace,
) -> Result<Findings> {
    check(params)?;
    workplace.run(
        NUMBERS,
        params,
        source,
        || {
            let mut registry = Registry::new();
            stages::register_reading(&mut registry, source, params);
            stages::register_counting(&mut registry);
            register(&mut registry);
            names::register(&mut registry, source);
            let plan = plan(source, params, workplace);
            let flow = names::with_named(counting(Flow::new(NUMBERS), plan), source).table(PAIRS);
            let flow = with_originals(flow, source).stage(
                Stage::map("cut", cut::tasks(source, params.chunk)?)
                    .with(json!(Attribution::Originals))
                    .reads(stages::COPIES)
                    .writes(stages::BY_CHUNK),
            );
            let flow = with_sums(counting_stages(flow, plan), plan.threshold);
            Ok((registry, flow))
        },
        |_, report| {
            let table = report.tables.iter().find(|table| table.name == PAIRS);
            Ok(json!(Summary {
                pages: u64::from(source.kept()),
                pairs: table.map_or(0, |table| table.rows),
                ..Summary::default()
            }))
        },
    )
}

/// Adds the stages that tell which pages have the text of an earlier one.
pub(super) fn with_originals(flow: Flow, source: &Source) -> Flow {
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
