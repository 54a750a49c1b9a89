//! Sweeps over the definition of a quilt: table 1 and figure 3 of Najork 2012.

use std::sync::Arc;

use cento_figure::{Axis, Figure, Mark, NumberFormat, Series};
use cento_find::quilts::{QuiltsParams, SWEEP, SWEEP_TABLE, Sweep, SweepRow, sweep};
use cento_find::{CorpusPages, Findings, Result, Workplace};
use cento_report::format::counted;
use cento_report::{Drawing, ReportCell, ReportTable, Section};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{columns, quilts};
use crate::analysis::{Analysis, CommandLine, SectionInput, parse_parameters};
use crate::profile::Profile;
use crate::select::first;

/// The maximum number of rows of a sweep.
const MAX_ROWS: usize = 1_000;

/// `cento quilts --sweep`.
pub struct Sweeps;

/// The parameters of a sweep, as in `run.json`.
#[derive(Deserialize)]
struct SweepSettings {
    pivot: QuiltsParams,
    sweeps: Vec<Sweep>,
}

impl Analysis for Sweeps {
    fn name(&self) -> &'static str {
        SWEEP
    }

    fn title(&self) -> &'static str {
        "Quilts by definition"
    }

    fn question(&self) -> &'static str {
        "How does the number of quilts depend on the definition of a quilt?"
    }

    fn by_default(&self) -> bool {
        // It takes as long as the quilts themselves, and says more about the definition than about
        // the corpus.
        false
    }

    fn weight(&self) -> u32 {
        45
    }

    fn plan(&self, corpus: &Profile) -> std::result::Result<Value, String> {
        let pivot = quilts::plan(corpus)?;
        let ranges = ["m=10..80:10", "c=2..10", "theta=0.4..1.0"];
        let sweeps: Vec<Sweep> = ranges
            .iter()
            .filter_map(|range| range.parse().ok())
            .collect();
        Ok(json!({ "pivot": pivot, "sweeps": sweeps }))
    }

    fn run(
        &self,
        source: &Arc<CorpusPages>,
        parameters: &Value,
        workplace: &Workplace,
    ) -> Result<Findings> {
        let settings: SweepSettings = parse_parameters(parameters)?;
        sweep(source, &settings.pivot, &settings.sweeps, workplace)
    }

    fn command(&self, corpus: &str, parameters: &Value, _: &[String]) -> String {
        let Ok(settings) = parse_parameters::<SweepSettings>(parameters) else {
            return CommandLine::new("quilts", corpus).finish();
        };
        let mut command = quilts::Quilts.command(corpus, &json!(settings.pivot), &[]);
        for sweep in &settings.sweeps {
            command.push_str(&format!(" --sweep {}={}", sweep.name(), values(sweep)));
        }
        command
    }

    fn figures(&self, findings: &Findings) -> Result<Vec<Drawing>> {
        let settings: SweepSettings = parse_parameters(&findings.record.parameters)?;
        let rows = first(findings.rows(SWEEP_TABLE)?, MAX_ROWS)?;
        let QuiltsParams { k, m, c, theta, .. } = settings.pivot;
        let swept = [
            Swept {
                name: "k",
                meaning: "words of a gram",
                value: |row| row.k.into(),
                pivot: k.into(),
                fixed: format!("m = {m}, c = {c}, θ = {theta}"),
            },
            Swept {
                name: "m",
                meaning: "maximum number of pages of a patch gram",
                value: |row| row.m.into(),
                pivot: m.into(),
                fixed: format!("k = {k}, c = {c}, θ = {theta}"),
            },
            Swept {
                name: "c",
                meaning: "minimum number of sources",
                value: |row| row.c.into(),
                pivot: c.into(),
                fixed: format!("k = {k}, m = {m}, θ = {theta}"),
            },
            Swept {
                name: "theta",
                meaning: "minimum patch fraction",
                value: |row| row.theta,
                pivot: theta,
                fixed: format!("k = {k}, m = {m}, c = {c}"),
            },
        ];
        let drawings = swept
            .iter()
            .filter_map(|swept| Some(Drawing::new(swept.name, swept.figure(&rows)?)));
        Ok(drawings.collect())
    }

    fn summarise(&self, input: &SectionInput<'_>) -> Result<Section> {
        let rows = first(input.findings.rows(SWEEP_TABLE)?, MAX_ROWS)?;
        let sentence = format!(
            "Quilts were counted for {}.",
            counted(rows.len() as u64, "definition", "definitions")
        );
        let table = ReportTable {
            title: "quilts by definition".to_owned(),
            columns: columns(["varied", "k", "m", "c", "theta", "quilts", "mean sources"]),
            more: 0,
            rows: rows.iter().map(cells).collect(),
            ..ReportTable::default()
        };
        Ok(Section {
            sentences: vec![sentence],
            tables: vec![table],
            ..Section::default()
        })
    }
}

fn values(sweep: &Sweep) -> String {
    fn joined<T: ToString>(values: &[T]) -> String {
        let values: Vec<String> = values.iter().map(T::to_string).collect();
        values.join(",")
    }
    match sweep {
        Sweep::K(values) | Sweep::M(values) | Sweep::C(values) => joined(values),
        Sweep::Theta(values) => joined(values),
    }
}

fn cells(row: &SweepRow) -> Vec<ReportCell> {
    vec![
        ReportCell::Text(row.swept.clone()),
        ReportCell::Count(row.k.into()),
        ReportCell::Count(row.m.into()),
        ReportCell::Count(row.c.into()),
        ReportCell::Text(row.theta.to_string()),
        ReportCell::Count(row.quilts),
        row.sources.map_or(ReportCell::Unknown, ReportCell::Number),
    ]
}

/// One parameter of the definition.
struct Swept {
    name: &'static str,
    meaning: &'static str,
    value: fn(&SweepRow) -> f64,
    /// The value that the other sweeps use.
    pivot: f64,
    /// The values of the other parameters.
    fixed: String,
}

impl Swept {
    /// Draws the number of quilts by the parameter, if it was varied. The pivot comes last, so that
    /// it is drawn over the line.
    fn figure(&self, rows: &[SweepRow]) -> Option<Figure> {
        let name = self.name;
        let swept = rows.iter().filter(|row| row.swept == name);
        let mut points: Vec<(f64, f64)> = swept
            .map(|row| ((self.value)(row), row.quilts as f64))
            .collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        points.dedup();
        if points.is_empty() {
            return None;
        }
        let x = Axis::linear(format!("{name}: {}", self.meaning));
        let x = if name == "theta" {
            x
        } else {
            x.format(NumberFormat::Count)
        };
        let y = Axis::linear("Quilts")
            .format(NumberFormat::Count)
            .covering(0.0);
        let at_pivot = points.iter().copied().filter(|point| point.0 == self.pivot);
        let at_pivot: Vec<(f64, f64)> = at_pivot.collect();
        let figure = Figure::new(format!("How many quilts are there, by {name}?"), x, y)
            .caption(format!(
                "Number of quilts for {}. The dots are counted values; the lines only connect them.",
                self.fixed
            ))
            .series(Series::new("between", Mark::Line, points.clone()))
            .series(Series::new("counted", Mark::Points, points));
        Some(match at_pivot.is_empty() {
            true => figure,
            false => figure.series(Series::new("selected value", Mark::Points, at_pivot)),
        })
    }
}
