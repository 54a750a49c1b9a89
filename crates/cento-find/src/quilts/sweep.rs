//! Sweeps: the number of quilts by other definitions (the paper's Table 1 and Figure 3).
//!
//! Each sweep varies one parameter around the pivot, the parameters of the command. Every value of
//! k takes a pass over the texts, which all values of m, c and θ share.

use std::sync::Arc;

use cento_flow::{Flow, Registry, Shuffle, Stage, TableName, table_row};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::flow_names::{shuffle, stage};
use super::gram_rows::SweepTally;
use super::params::{Level, QuiltsParams, SweepPoint};
use super::{check_text, common_stages, level_stages, registry, removed};
use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::run::{Findings, Workplace};
use crate::swept::{MOST_POINTS, ONE, swept_values};

/// The name of the analysis.
pub const SWEEP: &str = "quilts-sweep";
/// The number of quilts by each definition.
pub const SWEEP_TABLE: TableName<SweepRow> = TableName::new("sweep");

/// The parameter that a sweep varies, with its values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sweep {
    /// Words of a gram.
    K(Vec<u32>),
    /// The maximum number of pages of a patch gram.
    M(Vec<u32>),
    /// The minimum number of sources.
    C(Vec<u32>),
    /// The minimum patch fraction.
    Theta(Vec<f64>),
}

impl Sweep {
    /// The parameter's name.
    pub fn name(&self) -> &'static str {
        match self {
            Sweep::K(_) => "k",
            Sweep::M(_) => "m",
            Sweep::C(_) => "c",
            Sweep::Theta(_) => "theta",
        }
    }

    /// The parameters of each value, around a pivot.
    fn params(&self, pivot: &QuiltsParams) -> Vec<QuiltsParams> {
        let with = |set: &dyn Fn(&mut QuiltsParams)| {
            let mut params = pivot.clone();
            set(&mut params);
            params
        };
        match self {
            Sweep::K(values) => values
                .iter()
                .map(|&k| with(&|params| params.k = k))
                .collect(),
            Sweep::M(values) => values
                .iter()
                .map(|&m| with(&|params| params.m = m))
                .collect(),
            Sweep::C(values) => values
                .iter()
                .map(|&c| with(&|params| params.c = c))
                .collect(),
            Sweep::Theta(values) => {
                let values = values.iter();
                values
                    .map(|&theta| with(&|params| params.theta = theta))
                    .collect()
            }
        }
    }
}

impl std::str::FromStr for Sweep {
    type Err = String;

    /// Parses `k=2..10`, `m=10..80:10`, `c=2,4,8` or `theta=0.4..1.0`. Ranges include their end.
    /// The default step is 1, and 0.1 for theta.
    fn from_str(text: &str) -> std::result::Result<Sweep, String> {
        let help = "write k=2..10, m=10..80:10, c=2,4,8 or theta=0.4..1.0";
        let (name, values) = text
            .split_once('=')
            .ok_or_else(|| format!("`{text}` is not a sweep: {help}"))?;
        let step = if name == "theta" { ONE / 10 } else { ONE };
        let all = swept_values(values, step, help)?;
        let whole = || {
            let values = all.iter();
            let values = values.map(|&value| (value % ONE == 0).then_some((value / ONE) as u32));
            let whole: Option<Vec<u32>> = values.collect();
            whole.ok_or_else(|| format!("{name} must be an integer: {help}"))
        };
        match name {
            "k" => Ok(Sweep::K(whole()?)),
            "m" => Ok(Sweep::M(whole()?)),
            "c" => Ok(Sweep::C(whole()?)),
            // Division gives the nearest number to the decimal, as does parsing `--theta`.
            "theta" => Ok(Sweep::Theta(
                all.iter().map(|&value| value as f64 / ONE as f64).collect(),
            )),
            _ => Err(format!("`{name}` is not a parameter of quilts: {help}")),
        }
    }
}

table_row! {
    /// The number of quilts by one definition.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct SweepRow {
        /// The parameter that the sweep varies.
        pub swept: String,
        /// Words of a gram.
        pub k: u32,
        /// The maximum number of pages of a patch gram.
        pub m: u32,
        /// The minimum number of sources.
        pub c: u32,
        /// The minimum patch fraction.
        pub theta: f64,
        /// Quilted pages.
        pub quilts: u64,
        /// The average number of sources of a quilted page; null if there are no quilts.
        pub sources: Option<f64>,
    }
}

/// The parameters of a sweep, as recorded.
#[derive(Serialize)]
struct RecordedSweep<'a> {
    pivot: &'a QuiltsParams,
    sweeps: &'a [Sweep],
}

/// Counts quilts for all values of some parameters.
pub fn sweep(
    source: &Arc<CorpusPages>,
    pivot: &QuiltsParams,
    sweeps: &[Sweep],
    workplace: &Workplace,
) -> Result<Findings> {
    check_text(source)?;
    let mut rows: Vec<SweepRow> = Vec::new();
    for sweep in sweeps {
        for params in sweep.params(pivot) {
            params.check()?;
            rows.push(SweepRow {
                swept: sweep.name().to_owned(),
                k: params.k,
                m: params.m,
                c: params.c,
                theta: params.theta,
                quilts: 0,
                sources: None,
            });
        }
    }
    if rows.is_empty() || rows.len() > MOST_POINTS {
        let count = rows.len();
        return Err(Error::Usage(format!(
            "a sweep has 1 to {MOST_POINTS} definitions, not {count}"
        )));
    }
    workplace.run(
        SWEEP,
        &RecordedSweep { pivot, sweeps },
        source,
        || {
            let copies = removed(source, pivot, workplace)?;
            let mut registry = registry(source, pivot, workplace);
            register(&mut registry);
            let flow = flow(source, pivot, &rows, workplace.memory, copies.as_ref());
            Ok((registry, flow))
        },
        |_, _| Ok(json!({ "definitions": rows.len() })),
    )
}

fn flow(
    source: &CorpusPages,
    pivot: &QuiltsParams,
    rows: &[SweepRow],
    memory: u64,
    copies: Option<&Findings>,
) -> Flow {
    // There are few rows.
    let one = Shuffle {
        fixed: true,
        partitions: 1,
        ..Shuffle::default()
    };
    let flow = Flow::new(SWEEP)
        .shuffle_with(shuffle::TALLY, one)
        .table(SWEEP_TABLE);
    let mut flow = common_stages(flow, source, pivot, copies, false);
    let mut ks: Vec<u32> = rows.iter().map(|row| row.k).collect();
    ks.sort_unstable();
    ks.dedup();
    for k in ks {
        let of_k = || (0u32..).zip(rows).filter(move |(_, row)| row.k == k);
        let mut ms: Vec<u32> = of_k().map(|(_, row)| row.m).collect();
        ms.sort_unstable();
        ms.dedup();
        let points = of_k().map(|(number, row)| SweepPoint {
            number,
            m: ms.partition_point(|&m| m < row.m),
            c: row.c,
            theta: row.theta,
        });
        let points = points.collect();
        let level = Level::new(source, pivot, k, ms, points, memory, false);
        flow = level_stages(flow, source, &level, memory);
    }
    flow.stage(
        Stage::reduce(stage::SWEEP, shuffle::TALLY)
            .with(json!(rows))
            .writes(SWEEP_TABLE.as_str()),
    )
}

fn register(registry: &mut Registry) {
    registry.reduce::<SweepTally, _>(stage::SWEEP, |context, groups| {
        let mut rows: Vec<SweepRow> = context.parameters()?;
        let mut table = context.table(SWEEP_TABLE)?;
        while let Some(group) = groups.next_group()? {
            let point = group.key() as usize;
            let (mut quilts, mut sources) = (0, 0);
            for row in group {
                quilts += row.quilts;
                sources += row.sources;
            }
            if let Some(row) = rows.get_mut(point) {
                row.quilts = quilts;
                row.sources = (quilts > 0).then(|| sources as f64 / quilts as f64);
            }
        }
        for row in rows {
            table.push(row)?;
        }
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_parse() {
        assert_eq!("k=2..4".parse(), Ok(Sweep::K(vec![2, 3, 4])));
        assert_eq!("m=10..40:10".parse(), Ok(Sweep::M(vec![10, 20, 30, 40])));
        assert_eq!("c=2,5..6".parse(), Ok(Sweep::C(vec![2, 5, 6])));
        assert_eq!(
            "theta=0.4..1.0".parse(),
            Ok(Sweep::Theta(vec![0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]))
        );
        // The same number as `--theta` parses.
        for value in ["0.3333", "0.123456789", ".5", "0.66666"] {
            let sweep = format!("theta={value}").parse();
            assert_eq!(sweep, Ok(Sweep::Theta(vec![value.parse().unwrap()])));
        }
        assert_eq!(
            "theta=0.25..0.2502:0.0001".parse(),
            Ok(Sweep::Theta(vec![0.25, 0.2501, 0.2502]))
        );
        for bad in [
            "theta=0.1234567891",
            "k=1e1",
            "k",
            "k=",
            "k=2.5",
            "k=4..2",
            "x=1",
            "m=1..1e6",
            "theta=0.1..0.2:0",
            "c=-1",
        ] {
            assert!(bad.parse::<Sweep>().is_err(), "{bad}");
        }
    }
}
