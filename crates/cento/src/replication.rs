//! The summary of `cento overlap --replication`.

use std::path::Path;

use cento_find::overlap::{COLLECTIONS, ReplicationSummary};
use cento_find::{Findings, read_table, row_values};
use cento_scan::analyses::replication::{bar, bounded, by_notion, notion};
use serde_json::{Map, Value};

use crate::command_error::CommandError;
use crate::output::{clean, number, size, table};

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

pub(crate) fn text(corpus: &Path, findings: &Findings, top: usize) -> Result<String, CommandError> {
    let summary: ReplicationSummary = findings.summary()?;
    let mut text = format!("{}\n", clean(&corpus.display().to_string()));
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (at, bars) in by_notion(&summary).enumerate() {
        for (row, line) in bars.iter().enumerate() {
            if at == 0 {
                rows.push(vec![bar(line)]);
            }
            if let Some(cells) = rows.get_mut(row) {
                cells.push(percent(line.share));
            }
        }
    }
    let names: Vec<&str> = summary
        .savings
        .iter()
        .map(|row| notion(&row.notion))
        .collect();
    let heading: Vec<&str> = [&["pages by number of replicas"][..], &names].concat();
    text.push_str(&table(&heading, &rows));
    text.push('\n');
    let rows: Vec<Vec<String>> = summary
        .savings
        .iter()
        .map(|row| {
            vec![
                notion(&row.notion).to_owned(),
                number(row.saved_pages),
                percent(row.share),
                size(row.saved_bytes),
                percent(row.share_of_bytes),
            ]
        })
        .collect();
    let heading = [
        "savings of a crawl without replicas",
        "pages",
        "",
        "bytes",
        "",
    ];
    text.push_str(&table(&heading, &rows));
    if let Some(sentence) = bounded(&summary) {
        text.push_str(&format!("\n  {sentence}\n"));
    }
    if summary.collections > 0 {
        text.push('\n');
        let heading = [
            "collections on several servers",
            "servers",
            "pages",
            "replicas",
        ];
        text.push_str(&table(
            &heading,
            &collections(&findings.table(COLLECTIONS), top)?,
        ));
        let more = summary.collections.saturating_sub(top as u64);
        if more > 0 {
            text.push_str(&format!("  and {} more\n", number(more)));
        }
    }
    let place = findings.path.display().to_string();
    text.push_str(&format!("\n  findings  {}\n", clean(&place)));
    Ok(text)
}

fn collections(path: &Path, top: usize) -> Result<Vec<Vec<String>>, CommandError> {
    let mut rows = Vec::new();
    for batch in read_table(path)? {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            if rows.len() == top {
                return Ok(rows);
            }
            let values: Map<String, Value> = row_values(&batch, row)
                .map(|(name, value)| (name.to_owned(), value))
                .collect();
            let name = values.get("collection").and_then(Value::as_str);
            let mut cells = vec![clean(name.unwrap_or_default()).into_owned()];
            cells.extend(
                ["servers", "pages", "replicas"]
                    .map(|column| number(values.get(column).and_then(Value::as_u64).unwrap_or(0))),
            );
            rows.push(cells);
        }
    }
    Ok(rows)
}
