//! The summary of `cento overlap --replication`.

use cento_find::Findings;
use cento_find::overlap::{COLLECTIONS, ReplicationSummary};
use cento_report::format::percent;
use cento_scan::analyses::replication::{bar, bounded, by_notion, notion};
use cento_scan::select::first;

use crate::command_error::CommandError;
use crate::corpus_input::OpenedCorpus;
use crate::output::{Lines, clean, number, size, table};

pub(crate) fn text(
    corpus: &OpenedCorpus,
    findings: &Findings,
    top: usize,
) -> Result<String, CommandError> {
    let summary: ReplicationSummary = findings.summary()?;
    let mut text = format!("{}\n", clean(&corpus.name));
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
        let heading = ["collections on several hosts", "hosts", "pages", "replicas"];
        text.push_str(&table(&heading, &collections(findings, top)?));
        let more = summary.collections.saturating_sub(top as u64);
        if more > 0 {
            text.push_str(&format!("  and {} more\n", number(more)));
        }
    }
    let mut lines = Lines::default();
    corpus.add_findings(&mut lines, findings);
    text.push('\n');
    text.push_str(&lines.render());
    Ok(text)
}

fn collections(findings: &Findings, top: usize) -> Result<Vec<Vec<String>>, CommandError> {
    let rows = first(findings.rows(COLLECTIONS)?, top)?;
    let cells = rows.iter().map(|row| {
        vec![
            clean(&row.collection).into_owned(),
            number(row.servers.into()),
            number(row.pages.into()),
            number(row.replicas.into()),
        ]
    });
    Ok(cells.collect())
}
