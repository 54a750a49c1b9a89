//! The report of a run, for `--explain` and for `run.json`.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::assemble::TableReport;

/// The report of a run. It is displayed with a line for each stage and each table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunReport {
    /// The name of the flow.
    pub flow: String,
    /// The stages, in the order in which they ran, with one entry for each round of an iteration.
    pub stages: Vec<StageReport>,
    /// The tables.
    pub tables: Vec<TableReport>,
    /// Elapsed seconds, without those of interrupted runs.
    pub seconds: f64,
}

impl RunReport {
    /// Returns the sum of a counter over all stages.
    pub fn counted(&self, name: &str) -> u64 {
        let stages = self.stages.iter();
        stages.filter_map(|stage| stage.counters.get(name)).sum()
    }

    /// Returns the number of rows of a table; 0 if there is no such table.
    pub fn rows(&self, table: &str) -> u64 {
        let found = self.tables.iter().find(|found| found.name == table);
        found.map_or(0, |table| table.rows)
    }
}

/// The report of a stage.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StageReport {
    /// The name of the stage.
    pub name: String,
    /// The round of an iteration, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// The number of tasks or partitions.
    pub tasks: u64,
    /// The number of tasks that an interrupted run had finished.
    pub resumed: u64,
    /// Rows that were read from the shuffle, without those of resumed tasks.
    pub rows_in: u64,
    /// Rows that were written to shuffles and tables.
    pub rows_out: u64,
    /// The size of these rows in bytes.
    pub bytes_out: u64,
    /// Bytes that were written to temporary files.
    pub spilled: u64,
    /// Elapsed seconds.
    pub seconds: f64,
    /// The counters of the stage function.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, u64>,
}

/// Formats a number: `1,234,567`.
fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a size: `1.2 GB`.
fn size(bytes: u64) -> String {
    let units = ["kB", "MB", "GB", "TB"];
    let mut value = bytes as f64;
    let mut name = "B";
    for unit in units {
        if value < 1000.0 {
            break;
        }
        value /= 1000.0;
        name = unit;
    }
    if name == "B" {
        return format!("{bytes} B");
    }
    format!("{value:.1} {name}")
}

impl fmt::Display for RunReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = [
            "stage",
            "tasks",
            "rows in",
            "rows out",
            "bytes out",
            "spilled",
            "seconds",
        ];
        let mut lines = vec![header.map(str::to_owned)];
        for stage in &self.stages {
            let round = stage
                .round
                .map_or(String::new(), |round| format!(" ({round})"));
            let resumed = match stage.resumed {
                0 => String::new(),
                resumed => format!("{}+", number(resumed)),
            };
            lines.push([
                format!("{}{round}", stage.name),
                format!("{resumed}{}", number(stage.tasks - stage.resumed)),
                number(stage.rows_in),
                number(stage.rows_out),
                size(stage.bytes_out),
                size(stage.spilled),
                format!("{:.1}", stage.seconds),
            ]);
        }
        for table in &self.tables {
            lines.push([
                table.name.clone(),
                "table".to_owned(),
                String::new(),
                number(table.rows),
                size(table.bytes),
                String::new(),
                String::new(),
            ]);
        }
        let mut widths = [0; 7];
        for line in &lines {
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = (*width).max(cell.chars().count());
            }
        }
        for line in &lines {
            let mut text = String::new();
            for (column, (cell, width)) in line.iter().zip(widths).enumerate() {
                let gap = " ".repeat(width - cell.chars().count());
                match column {
                    0 => text.push_str(&format!("{cell}{gap}")),
                    _ => text.push_str(&format!("  {gap}{cell}")),
                }
            }
            writeln!(formatter, "{}", text.trim_end())?;
        }
        let counters = self.stages.iter().flat_map(|stage| &stage.counters);
        let mut totals: BTreeMap<&String, u64> = BTreeMap::new();
        for (name, count) in counters {
            *totals.entry(name).or_default() += count;
        }
        for (name, total) in totals {
            writeln!(formatter, "{name}: {}", number(total))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_displayed_as_a_table() {
        let report = RunReport {
            flow: "count".to_owned(),
            stages: vec![StageReport {
                name: "cut".to_owned(),
                tasks: 12,
                resumed: 2,
                rows_out: 1_234_567,
                bytes_out: 14_814_804,
                seconds: 1.25,
                counters: BTreeMap::from([("pages".to_owned(), 1000)]),
                ..StageReport::default()
            }],
            tables: vec![TableReport {
                name: "counts".to_owned(),
                rows: 7,
                bytes: 900,
                blake3: String::new(),
            }],
            seconds: 1.25,
        };
        let text = report.to_string();
        let expected = "\
stage   tasks  rows in   rows out  bytes out  spilled  seconds
cut      2+10        0  1,234,567    14.8 MB      0 B      1.2
counts  table                   7      900 B
pages: 1,000
";
        assert_eq!(text, expected);
        let json = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<RunReport>(&json).unwrap(), report);
    }
}
