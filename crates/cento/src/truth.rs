//! The option `--truth` of `cento detect`: known copies, and the rates of what was detected.

use std::collections::HashSet;
use std::path::Path;

use cento_find::Findings;
use cento_report::format::counted;
use cento_trial::{PAGE_ROC_TABLE, PageRocRow, RocSummary};
use serde_json::Value;

use crate::command_error::CommandError;
use crate::files::read_text;
use crate::output::{number, table};

/// Thresholds that are printed, besides 0.
const PRINTED: [f64; 9] = [0.05, 0.1, 0.144, 0.2, 0.3, 0.5, 0.7, 0.9, 0.99];

/// Reads the addresses of known copies: one per line, or the records `copied` of a synthetic crawl.
pub(crate) fn read_truth(path: &Path) -> Result<HashSet<String>, CommandError> {
    let text = read_text(path).map_err(|error| CommandError::io(path, &error))?;
    let mut truth = HashSet::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if !line.starts_with('{') {
            truth.insert(line.to_owned());
            continue;
        }
        let record: Value = serde_json::from_str(line).map_err(|error| {
            CommandError::usage(
                format!("{}: invalid JSON: {error}", path.display()),
                "the file has one URL per line, or is the truth.jsonl of `cento synth`",
            )
        })?;
        if record["type"] == "copied"
            && let Some(page) = record["page"].as_str()
        {
            truth.insert(page.to_owned());
        }
    }
    if truth.is_empty() {
        return Err(CommandError::usage(
            format!("{} has no pages that are copies", path.display()),
            "the file has one URL per line, or is the truth.jsonl of `cento synth`",
        ));
    }
    Ok(truth)
}

/// The rates at some thresholds.
pub(crate) fn rates_text(findings: &Findings) -> Result<String, CommandError> {
    let summary: RocSummary = findings.summary()?;
    let mut rows: Vec<PageRocRow> = Vec::new();
    for row in findings.rows(PAGE_ROC_TABLE)? {
        rows.push(row?);
    }
    let mut cells = Vec::new();
    for threshold in std::iter::once(0.0).chain(PRINTED) {
        // Thresholds between two scores detect the same pages: those above the lower score.
        let Some(row) = rows.iter().find(|row| row.threshold <= threshold) else {
            continue;
        };
        cells.push(vec![
            threshold.to_string(),
            number(row.true_positives),
            format!("{:.3}", row.true_rate),
            number(row.false_positives),
            format!("{:.3}", row.false_rate),
        ]);
    }
    let heading = [
        "thresholds",
        "true positives",
        "rate",
        "false positives",
        "rate",
    ];
    let mut text = format!(
        "Pages against the truth: {} in it, {} not\n{}",
        counted(summary.positives, "page", "pages"),
        number(summary.negatives),
        table(&heading, &cells)
    );
    if summary.missing > 0 {
        text.push_str(&format!(
            "Not in this corpus, or without text: {} of the truth.\n",
            counted(summary.missing, "address", "addresses")
        ));
    }
    text.push_str(&format!(
        "rates at all thresholds: {}\n",
        findings.path.display()
    ));
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_truth_is_a_list_of_addresses_or_of_records() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("truth");
        std::fs::write(&path, "http://a.example/1\n\n http://a.example/2 \n{\"type\": \"copied\", \"page\": \"http://b.example/\"}\n{\"type\": \"page\", \"page\": \"no\"}\n").unwrap();
        let mut found: Vec<String> = read_truth(&path).unwrap().into_iter().collect();
        found.sort_unstable();
        assert_eq!(
            found,
            [
                "http://a.example/1",
                "http://a.example/2",
                "http://b.example/"
            ]
        );
        std::fs::write(&path, "\n").unwrap();
        assert!(read_truth(&path).is_err());
        std::fs::write(&path, "{broken\n").unwrap();
        assert!(read_truth(&path).is_err());
    }
}
