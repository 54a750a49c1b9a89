//! How many pages are removed for each threshold of resemblance.

use std::sync::Arc;

use cento_figure::{Axis, Figure, Mark, NumberFormat, Series};
use cento_find::copies::{
    COPIES_SWEEP, COPIES_SWEEP_TABLE, CopiesParams, CopiesSweep, CopiesSweepRow, copies_sweep,
};
use cento_find::{CorpusPages, Findings, Result, Workplace};
use cento_report::format::{counted, number};
use cento_report::{Drawing, ReportCell, ReportTable, Section};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{columns, copies};
use crate::analysis::{Analysis, CommandLine, SectionInput, parse_parameters};
use crate::profile::Profile;
use crate::select::first;

/// The maximum number of rows of a sweep.
const MAX_ROWS: usize = 1_000;

/// `cento copies --sweep`.
pub struct CopiesSweeps;

/// The parameters of a sweep, as in `run.json`.
#[derive(Deserialize)]
struct CopiesSweepSettings {
    pivot: CopiesParams,
    sweep: CopiesSweep,
}

impl Analysis for CopiesSweeps {
    fn name(&self) -> &'static str {
        COPIES_SWEEP
    }

    fn title(&self) -> &'static str {
        "Duplicates by threshold"
    }

    fn question(&self) -> &'static str {
        "How does the number of removed pages depend on the minimum resemblance?"
    }

    fn by_default(&self) -> bool {
        // It takes as long as `copies` for each threshold.
        false
    }

    fn weight(&self) -> u32 {
        100
    }

    fn plan(&self, corpus: &Profile) -> std::result::Result<Value, String> {
        let pivot = copies::Copies.plan(corpus)?;
        let sweep: CopiesSweep = "resemblance=0.5..1.0".parse()?;
        Ok(json!({ "pivot": pivot, "sweep": sweep }))
    }

    fn run(
        &self,
        source: &Arc<CorpusPages>,
        parameters: &Value,
        workplace: &Workplace,
    ) -> Result<Findings> {
        let settings: CopiesSweepSettings = parse_parameters(parameters)?;
        copies_sweep(source, &settings.pivot, &settings.sweep, workplace)
    }

    fn command(&self, corpus: &str, parameters: &Value, _: &[String]) -> String {
        let Ok(settings) = parse_parameters::<CopiesSweepSettings>(parameters) else {
            return CommandLine::new("copies", corpus).finish();
        };
        let command = copies::Copies.command(corpus, &json!(settings.pivot), &[]);
        let values = settings.sweep.resemblance.iter().map(f64::to_string);
        let values: Vec<String> = values.collect();
        format!("{command} --sweep resemblance={}", values.join(","))
    }

    fn figures(&self, findings: &Findings) -> Result<Vec<Drawing>> {
        let rows = first(findings.rows(COPIES_SWEEP_TABLE)?, MAX_ROWS)?;
        Ok(vec![Drawing::new("resemblance", figure(&rows))])
    }

    fn summarise(&self, input: &SectionInput<'_>) -> Result<Section> {
        let rows = first(input.findings.rows(COPIES_SWEEP_TABLE)?, MAX_ROWS)?;
        let mut sentences = vec![format!(
            "Duplicates were searched with {}.",
            counted(rows.len() as u64, "threshold", "thresholds")
        )];
        if let (Some(low), Some(high)) = (rows.first(), rows.last())
            && low.resemblance < high.resemblance
        {
            sentences.push(format!(
                "With a minimum resemblance of {}, {} of {} pages are removed; with {}, {} are.",
                low.resemblance,
                number(low.removed),
                number(low.pages),
                high.resemblance,
                number(high.removed),
            ));
        }
        Ok(Section {
            sentences,
            tables: vec![sweep_report_table(&rows)],
            ..Section::default()
        })
    }
}

/// Returns the table of removed pages by threshold.
pub fn sweep_report_table(rows: &[CopiesSweepRow]) -> ReportTable {
    ReportTable {
        title: "pages removed by threshold".to_owned(),
        columns: columns([
            "resemblance",
            "removed",
            "share",
            "identical bytes",
            "identical text",
            "near-duplicates",
            "bytes saved",
        ]),
        more: 0,
        rows: rows
            .iter()
            .map(|row| {
                vec![
                    ReportCell::Text(row.resemblance.to_string()),
                    ReportCell::Count(row.removed),
                    ReportCell::Share(row.share),
                    ReportCell::Count(row.bytes),
                    ReportCell::Count(row.text),
                    ReportCell::Count(row.near),
                    ReportCell::Bytes(row.saved_bytes),
                ]
            })
            .collect(),
        ..ReportTable::default()
    }
}

fn figure(rows: &[CopiesSweepRow]) -> Figure {
    let points = |value: fn(&CopiesSweepRow) -> u64| -> Vec<(f64, f64)> {
        let rows = rows.iter();
        rows.map(|row| (row.resemblance, value(row) as f64))
            .collect()
    };
    Figure::new(
        "How many pages are removed, by threshold?",
        Axis::linear("Minimum resemblance"),
        Axis::linear("Removed pages")
            .format(NumberFormat::Count)
            .covering(0.0),
    )
    .caption(
        "All removed pages, and those with the same bytes or text as another page, which every \
         threshold removes. The dots are counted values; the lines only connect them.",
    )
    .series(Series::new(
        "between",
        Mark::Line,
        points(|row| row.removed),
    ))
    .series(Series::new(
        "removed",
        Mark::Points,
        points(|row| row.removed),
    ))
    .series(Series::new(
        "identical bytes or text",
        Mark::Line,
        points(|row| row.bytes + row.text),
    ))
}
