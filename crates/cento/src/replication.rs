//! `cento overlap --replication`: what people read, and the figures.

use std::path::Path;

use cento_find::overlap::{COLLECTIONS, ReplicasRow, ReplicationSummary};
use cento_find::{Findings, read_table};
use cento_view::{Axis, Figure, Format, Series};
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::output::{clean, number, size, table};
use crate::rows::row_values;

/// What a notion of a replica is called where people read it.
fn notion(name: &str) -> &str {
    match name {
        "exact" => "same text",
        "lines:4" => "four lines",
        "lines:2" => "two lines",
        other => other,
    }
}

fn bar(row: &ReplicasRow) -> String {
    let from = number(u64::from(row.from));
    match row.to {
        Some(to) if to == row.from => from,
        Some(to) => format!("{from}–{}", number(u64::from(to))),
        None => format!("{from} or more"),
    }
}

/// The bars of each notion, in order.
fn by_notion(summary: &ReplicationSummary) -> impl Iterator<Item = &[ReplicasRow]> {
    summary
        .replicas
        .chunk_by(|one, other| one.notion == other.notion)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

pub(crate) fn text(corpus: &Path, findings: &Findings, top: usize) -> Result<String, Failure> {
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
    let heading: Vec<&str> = [&["pages with so many replicas"][..], &names].concat();
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
    let heading = ["a crawl without replicas saves", "pages", "", "bytes", ""];
    text.push_str(&table(&heading, &rows));
    if summary.collections > 0 {
        text.push('\n');
        let heading = ["on several servers", "servers", "pages", "replicas"];
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

fn collections(path: &Path, top: usize) -> Result<Vec<Vec<String>>, Failure> {
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

/// Writes each figure as a picture and as numbers.
pub(crate) fn write_figures(folder: &Path, findings: &Findings) -> Result<(), Failure> {
    let summary: ReplicationSummary = findings.summary()?;
    let failed = |error: std::io::Error| {
        Failure::missing(
            format!("{}: {error}", folder.display()),
            "choose a folder that you may write to".to_owned(),
        )
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    for (name, figure) in [
        ("replicas", replicas_figure(&summary)),
        ("savings", savings_figure(&summary)),
    ] {
        std::fs::write(folder.join(format!("{name}.svg")), figure.svg()).map_err(failed)?;
        std::fs::write(folder.join(format!("{name}.csv")), figure.csv()).map_err(failed)?;
    }
    Ok(())
}

fn replicas_figure(summary: &ReplicationSummary) -> Figure {
    let bars: Vec<String> = by_notion(summary)
        .next()
        .unwrap_or_default()
        .iter()
        .map(bar)
        .collect();
    let figure = Figure::new(
        "How often are pages replicated?",
        Axis::of_categories("Replicas, the page itself among them", bars),
        Axis::linear("Pages").format(Format::Share).covering(0.0),
    )
    .caption(
        "A replica has the same text, or at least 15 chunks of four lines in common, or 25 of two. \
         After figure 1 of Shivakumar & Garcia-Molina 1998.",
    );
    by_notion(summary).fold(figure, |figure, rows| {
        let name = rows.first().map_or("", |row| notion(&row.notion));
        figure.series(Series::columns(name, rows.iter().map(|row| row.share)))
    })
}

fn savings_figure(summary: &ReplicationSummary) -> Figure {
    let notions = summary.savings.iter().map(|row| notion(&row.notion));
    Figure::new(
        "What does a crawl without replicas save?",
        Axis::of_categories("What counts as a replica", notions),
        Axis::linear("Saved").format(Format::Share).covering(0.0),
    )
    .caption("Pages are visited in the order of the crawl; each that is a replica of a visited one is left out.")
    .series(Series::columns("pages", summary.savings.iter().map(|row| row.share)))
    .series(Series::columns("bytes", summary.savings.iter().map(|row| row.share_of_bytes)))
}
