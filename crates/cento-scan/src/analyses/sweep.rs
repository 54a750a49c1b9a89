//! Sweeps over the definition of a quilt, told: table 1 and figure 3 of Najork 2012.

use std::sync::Arc;

use cento_figure::{Axis, Figure, Format, Mark, Series};
use cento_find::quilts::{QuiltsParams, SWEEP, Sweep, sweep};
use cento_find::{CorpusPages, Findings, Result, Workplace};
use serde::Deserialize;
use serde_json::{Value, json};

use super::quilts;
use crate::analysis::{Analysis, Command, Told, parameters};
use crate::profile::Profile;
use crate::rows::{Row, first};
use crate::section::{Cell, Drawing, Section, Table};
use crate::words::counted;

/// Rows that a sweep has at most.
const MOST_ROWS: usize = 1_000;

/// `cento quilts --sweep`.
pub struct Sweeps;

/// What was asked: the names are those that `run.json` has.
#[derive(Deserialize)]
struct Asked {
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
        "How does the number of quilts depend on what is called a quilt?"
    }

    fn usual(&self) -> bool {
        // It takes as long as the quilts themselves, and tells about the definition rather than
        // about the corpus.
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
        asked: &Value,
        workplace: &Workplace,
    ) -> Result<Findings> {
        let asked: Asked = parameters(asked)?;
        sweep(source, &asked.pivot, &asked.sweeps, workplace)
    }

    fn command(&self, corpus: &str, asked: &Value) -> String {
        let Ok(asked) = parameters::<Asked>(asked) else {
            return Command::new("quilts", corpus).end();
        };
        let mut command = quilts::Quilts.command(corpus, &json!(asked.pivot));
        for sweep in &asked.sweeps {
            command.push_str(&format!(" --sweep {}={}", sweep.name(), values(sweep)));
        }
        command
    }

    fn figures(&self, findings: &Findings) -> Result<Vec<Drawing>> {
        let asked: Asked = parameters(&findings.record.parameters)?;
        let rows = first(findings, "sweep", MOST_ROWS)?;
        let QuiltsParams { k, m, c, theta, .. } = asked.pivot;
        let drawn = [
            (
                "k",
                figure(
                    &rows,
                    "k",
                    "words of a gram",
                    f64::from(k),
                    &format!("m = {m}, c = {c}, θ = {theta}"),
                ),
            ),
            (
                "m",
                figure(
                    &rows,
                    "m",
                    "most pages of a patch gram",
                    f64::from(m),
                    &format!("k = {k}, c = {c}, θ = {theta}"),
                ),
            ),
            (
                "c",
                figure(
                    &rows,
                    "c",
                    "fewest sources",
                    f64::from(c),
                    &format!("k = {k}, m = {m}, θ = {theta}"),
                ),
            ),
            (
                "theta",
                figure(
                    &rows,
                    "theta",
                    "least patch fraction",
                    theta,
                    &format!("k = {k}, m = {m}, c = {c}"),
                ),
            ),
        ];
        let drawn = drawn.into_iter();
        Ok(drawn
            .filter_map(|(name, figure)| Some(Drawing::new(name, figure?)))
            .collect())
    }

    fn tell(&self, told: &Told<'_>) -> Result<Section> {
        let rows = first(told.findings, "sweep", MOST_ROWS)?;
        let sentence = format!(
            "Quilts were counted by {}.",
            counted(rows.len() as u64, "definition", "definitions")
        );
        let table = Table {
            title: "quilts by definition".to_owned(),
            columns: ["sweep of", "k", "m", "c", "theta", "quilts", "sources"]
                .map(str::to_owned)
                .to_vec(),
            more: 0,
            rows: rows.iter().map(cells).collect(),
        };
        Ok(Section {
            sentences: vec![sentence],
            tables: vec![table],
            ..Section::default()
        })
    }
}

fn values(sweep: &Sweep) -> String {
    let whole = |values: &[u32]| {
        values
            .iter()
            .map(u32::to_string)
            .collect::<Vec<_>>()
            .join(",")
    };
    match sweep {
        Sweep::K(values) | Sweep::M(values) | Sweep::C(values) => whole(values),
        Sweep::Theta(values) => values
            .iter()
            .map(f64::to_string)
            .collect::<Vec<_>>()
            .join(","),
    }
}

fn cells(row: &Row) -> Vec<Cell> {
    let mut cells = vec![Cell::Text(row.word("swept").to_owned())];
    cells.extend(["k", "m", "c"].map(|name| Cell::Count(row.count(name))));
    cells.push(Cell::Text(row.real("theta").to_string()));
    cells.push(Cell::Count(row.count("quilts")));
    cells.push(match row.count("quilts") {
        0 => Cell::Nothing,
        _ => Cell::Number(row.real("sources")),
    });
    cells
}

/// The figure of one parameter, with a dot at each value that was counted and the pivot marked;
/// nothing if it was not swept. The pivot comes last, so that it is drawn over the line.
fn figure(rows: &[Row], name: &str, meaning: &str, pivot: f64, fixed: &str) -> Option<Figure> {
    let swept = rows.iter().filter(|row| row.word("swept") == name);
    let mut points: Vec<(f64, f64)> = swept
        .map(|row| (row.real(name), row.real("quilts")))
        .collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    points.dedup();
    if points.is_empty() {
        return None;
    }
    let x = Axis::linear(format!("{name}: {meaning}"));
    let x = if name == "theta" {
        x
    } else {
        x.format(Format::Count)
    };
    let y = Axis::linear("quilted pages")
        .format(Format::Count)
        .covering(0.0);
    let at_pivot = points.iter().copied().filter(|point| point.0 == pivot);
    let at_pivot: Vec<(f64, f64)> = at_pivot.collect();
    let figure = Figure::new(format!("Quilted pages by {name}"), x, y)
        .caption(format!(
            "Pages that are quilted, for {fixed}. Dots are what was counted; lines only join them."
        ))
        .series(Series::new("between", Mark::Line, points.clone()))
        .series(Series::new("counted", Mark::Points, points));
    Some(match at_pivot.is_empty() {
        true => figure,
        false => figure.series(Series::new("what was asked for", Mark::Points, at_pivot)),
    })
}
