//! Sweeps: how many pages are removed for each threshold of resemblance.
//!
//! Every threshold is a run of [`copies`] of its own: the bands that select candidates depend on
//! it, so that results of a lower threshold are not those of a higher one with some pairs left out.
//! The runs are cached, and `copies` at one of the thresholds finds its results.

use std::str::FromStr;
use std::sync::Arc;

use cento_flow::{Flow, Registry, Stage, TableName, table_row};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::params::{CopiesParams, CopiesScheme};
use super::{CopiesSummary, copies};
use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::run::{Findings, Workplace};
use crate::swept::{MOST_POINTS, ONE, swept_values};

/// The name of the analysis.
pub const COPIES_SWEEP: &str = "copies-sweep";
/// The number of removed pages for each threshold, in ascending order.
pub const COPIES_SWEEP_TABLE: TableName<CopiesSweepRow> = TableName::new("sweep");
/// The only stage.
const STAGE: &str = "thresholds";

/// The thresholds of a sweep, in ascending order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CopiesSweep {
    /// Values of [`CopiesParams::resemblance`].
    pub resemblance: Vec<f64>,
}

impl FromStr for CopiesSweep {
    type Err = String;

    /// Parses `resemblance=0.5..1.0`, `resemblance=0.5..1.0:0.01` or `resemblance=0.7,0.8,0.9`.
    /// The default step is 0.05.
    fn from_str(text: &str) -> std::result::Result<CopiesSweep, String> {
        let help = "write resemblance=0.5..1.0, or resemblance=0.7,0.8,0.9";
        let (name, values) = text
            .split_once('=')
            .ok_or_else(|| format!("`{text}` is not a sweep: {help}"))?;
        if name != "resemblance" {
            return Err(format!("`{name}` is not a parameter to sweep: {help}"));
        }
        let mut values = swept_values(values, ONE / 20, help)?;
        values.sort_unstable();
        values.dedup();
        // Division gives the nearest number to the decimal, as does parsing `--resemblance`.
        let resemblance = values.iter().map(|&value| value as f64 / ONE as f64);
        Ok(CopiesSweep {
            resemblance: resemblance.collect(),
        })
    }
}

table_row! {
    /// How many pages are removed for one threshold.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct CopiesSweepRow {
        /// The minimum resemblance of near-duplicates.
        pub resemblance: f64,
        /// The number of pages with text.
        pub pages: u64,
        /// The number of pages that are removed: the sum of the next three.
        pub removed: u64,
        /// Pages with the same bytes as an earlier page.
        pub bytes: u64,
        /// Pages with the same text as an earlier page, in different bytes.
        pub text: u64,
        /// Other pages removed as near-duplicates of a kept page.
        pub near: u64,
        /// The share of the pages that is removed; 0 if there are none.
        pub share: f64,
        /// The bytes of all removed pages.
        pub saved_bytes: u64,
        /// Kept pages that have duplicates or near-duplicates.
        pub classes: u64,
    }
}

/// The parameters of a sweep, as recorded.
#[derive(Serialize)]
struct RecordedCopiesSweep<'a> {
    pivot: &'a CopiesParams,
    sweep: &'a CopiesSweep,
}

/// Finds duplicates for all thresholds of a sweep. The other parameters are those of `pivot`.
pub fn copies_sweep(
    source: &Arc<CorpusPages>,
    pivot: &CopiesParams,
    sweep: &CopiesSweep,
    workplace: &Workplace,
) -> Result<Findings> {
    if pivot.scheme != CopiesScheme::Resemblance {
        return Err(Error::Usage(
            "a sweep varies the resemblance, which the megashingle scheme does not have".into(),
        ));
    }
    let count = sweep.resemblance.len();
    if !(1..=MOST_POINTS).contains(&count) {
        return Err(Error::Usage(format!(
            "a sweep has 1 to {MOST_POINTS} thresholds, not {count}"
        )));
    }
    let all = sweep.resemblance.iter().map(|&resemblance| CopiesParams {
        resemblance,
        ..pivot.clone()
    });
    let all: Vec<CopiesParams> = all.collect();
    all.iter().try_for_each(CopiesParams::check)?;
    // The threshold of the pivot has no effect on a sweep.
    let pivot = &CopiesParams {
        resemblance: CopiesParams::default().resemblance,
        ..pivot.clone()
    };
    workplace.run(
        COPIES_SWEEP,
        &RecordedCopiesSweep { pivot, sweep },
        source,
        || {
            let mut rows = Vec::new();
            let step = workplace.for_step();
            for params in &all {
                rows.push(row(params, &copies(source, params, &step)?)?);
            }
            let mut registry = Registry::new();
            registry.map(STAGE, |context| {
                let rows: Vec<CopiesSweepRow> = context.parameters()?;
                let mut table = context.table(COPIES_SWEEP_TABLE)?;
                for row in rows {
                    table.push(row)?;
                }
                Ok(())
            });
            let stage = Stage::map(STAGE, vec![json!(null)]).with(json!(rows));
            let stage = stage.writes(COPIES_SWEEP_TABLE.as_str());
            let flow = Flow::new(COPIES_SWEEP)
                .table(COPIES_SWEEP_TABLE)
                .stage(stage);
            Ok((registry, flow))
        },
        |_, _| Ok(json!({ "thresholds": count })),
    )
}

fn row(params: &CopiesParams, findings: &Findings) -> Result<CopiesSweepRow> {
    let summary: CopiesSummary = findings.summary()?;
    let removed = summary.removed();
    Ok(CopiesSweepRow {
        resemblance: params.resemblance,
        pages: summary.pages,
        removed,
        bytes: summary.bytes,
        text: summary.text,
        near: summary.near,
        share: removed as f64 / summary.pages.max(1) as f64,
        saved_bytes: summary.saved_bytes,
        classes: summary.classes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_of_copies_parse() {
        let parsed = |text: &str| text.parse::<CopiesSweep>().map(|sweep| sweep.resemblance);
        assert_eq!(
            parsed("resemblance=0.8..1.0"),
            Ok(vec![0.8, 0.85, 0.9, 0.95, 1.0])
        );
        assert_eq!(
            parsed("resemblance=0.9,0.5..0.6:0.1,0.5"),
            Ok(vec![0.5, 0.6, 0.9])
        );
        for bad in ["0.5", "k=5", "resemblance=", "resemblance=1..0.5"] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }
}
