//! The figures of trials: 1 to 10 of Ardi & Heidemann 2014, and curves of true and false positives.

use cento_figure::{Axis, Figure, Mark, NumberFormat, Rule, Series};
use cento_find::{Findings, Result};
use cento_report::Drawing;

use crate::inject::{
    BACKGROUND_TABLE, BackgroundRow, DISCOVERED_TABLE, DiscoveredRow, DiscoveryRocRow,
    INJECTED_TABLE, InjectedRow, ROC_TABLE,
};
use crate::mutation_tables::{MUTATIONS_TABLE, MutateParams, MutationRow};
use crate::roc::{PAGE_ROC_TABLE, PageRocRow};

fn all<T>(rows: impl Iterator<Item = Result<T>>) -> Result<Vec<T>> {
    rows.collect()
}

fn share(label: &str) -> Axis {
    Axis::linear(label).covering(0.0).covering(1.0)
}

/// Returns the figures of `trial inject`.
pub fn injection_figures(findings: &Findings) -> Result<Vec<Drawing>> {
    let discovered: Vec<DiscoveredRow> = all(findings.rows(DISCOVERED_TABLE)?)?;
    let injected: Vec<InjectedRow> = all(findings.rows(INJECTED_TABLE)?)?;
    let background: Vec<BackgroundRow> = all(findings.rows(BACKGROUND_TABLE)?)?;
    let roc: Vec<DiscoveryRocRow> = all(findings.rows(ROC_TABLE)?)?;
    let mut drawings = Vec::new();
    for (of, name) in [("files", "injected-files"), ("chunks", "injected-chunks")] {
        let point = |count: u64, objects: u64| (count as f64, objects as f64);
        let others = background.iter().filter(|row| row.of == of);
        let mut figure = Figure::new(
            format!("Do copies of a site stand out among all {of}?"),
            Axis::log10(format!("Occurrences of one of the {of}")).format(NumberFormat::Count),
            Axis::log10(format!("Number of {of}")).format(NumberFormat::Count),
        )
        .caption(format!(
            "A point is the number of {of} with the same number of occurrences: those of the corpus, and those of the site after a number of copies. Right of the line they are discovered."
        ))
        .series(Series::new(
            "corpus",
            Mark::Points,
            others.map(|row| point(row.count, row.objects)),
        ));
        let mut copies: Vec<u64> = discovered.iter().map(|row| row.copies).collect();
        copies.sort_unstable();
        copies.dedup();
        // The largest ones: more series would be hard to tell apart.
        for &copies in copies.iter().rev().take(4) {
            let of_site = injected
                .iter()
                .filter(|row| row.of == of && row.copies == copies);
            figure = figure.series(Series::new(
                format!("site × {copies}"),
                Mark::Points,
                of_site.map(|row| point(row.count, row.objects)),
            ));
        }
        if let Some(row) = discovered.iter().find(|row| row.of == of) {
            figure = figure.rule(Rule::vertical(row.threshold as f64, "threshold"));
        }
        drawings.push(Drawing::new(name, figure));
    }
    let mut figure = Figure::new(
        "How much of a copied site is discovered?",
        Axis::log10("Copies of the site").format(NumberFormat::Count),
        share("Share discovered"),
    )
    .caption("The share of the distinct files, and of the distinct chunks, of the site that occur more often than the threshold of discovery.");
    for of in ["files", "chunks"] {
        let rows = discovered.iter().filter(|row| row.of == of);
        let points = rows.map(|row| (row.copies as f64, row.share));
        figure = figure.series(Series::new(of, Mark::Line, points));
    }
    drawings.push(Drawing::new("discovered", figure));
    let mut figure = Figure::new(
        "Which threshold of discovery separates the site from the rest?",
        share("False positive rate: discovered share of all other chunks"),
        share("True positive rate: discovered share of the site's chunks"),
    )
    .caption("A line is a number of copies of the site; its points are thresholds, from high at the lower left to low at the upper right.");
    let mut copies: Vec<u64> = roc.iter().map(|row| row.copies).collect();
    copies.sort_unstable();
    copies.dedup();
    for copies in copies.into_iter().rev().take(6) {
        let rows = roc
            .iter()
            .filter(|row| row.of == "chunks" && row.copies == copies);
        let mut points: Vec<(f64, f64)> = rows.map(|row| (row.false_rate, row.true_rate)).collect();
        points.reverse();
        figure = figure.series(Series::new(format!("site × {copies}"), Mark::Line, points));
    }
    drawings.push(Drawing::new("discovery-roc", figure));
    Ok(drawings)
}

/// Returns the figures of `trial mutate`.
pub fn mutation_figures(findings: &Findings, params: &MutateParams) -> Result<Vec<Drawing>> {
    let rows: Vec<MutationRow> = all(findings.rows(MUTATIONS_TABLE)?)?;
    let of =
        |mutation: &str, labels: &str, value: fn(&MutationRow) -> Option<f64>| -> Vec<(f64, f64)> {
            let rows = rows
                .iter()
                .filter(|row| row.mutation == mutation && row.labels == labels);
            // Without pages there is no score.
            rows.filter_map(|row| Some((row.multiple, value(row)?)))
                .collect()
        };
    let x = |mutation: &str| {
        let done = match mutation {
            "add" => "added to",
            "delete" => "deleted from",
            _ => "changed on",
        };
        Axis::linear(format!(
            "Chunks {done} every page, relative to the mean number of chunks per page"
        ))
        .covering(0.0)
    };
    let mut drawings = Vec::new();
    for (mutation, pages, site) in [
        ("add", "added-pages", "added-neighbourhood"),
        ("delete", "deleted-pages", "deleted-neighbourhood"),
        ("change", "changed-pages", "changed-neighbourhood"),
    ] {
        let verb = match mutation {
            "add" => "Added",
            "delete" => "Deleted",
            _ => "Changed",
        };
        let mut figure = Figure::new(
            format!("{verb} chunks: how bad does the average page stay?"),
            x(mutation),
            share("Mean share of labels on a page"),
        )
        .caption(
            "Averages over all pages and runs. Below the line, the average page is not detected.",
        )
        .rule(Rule::horizontal(params.page_threshold, "threshold"));
        for labels in ["expert", "blind"] {
            figure = figure.series(Series::new(
                labels,
                Mark::Line,
                of(mutation, labels, |row| row.mean),
            ));
        }
        drawings.push(Drawing::new(pages, figure));
        let mut figure = Figure::new(
            format!("{verb} chunks: how bad does the neighbourhood stay?"),
            x(mutation),
            share("Score of the neighbourhood"),
        )
        .caption("The share of labels among all chunks (ratio), and the mean of all pages (mean). Below the line, the neighbourhood is not flagged.")
        .rule(Rule::horizontal(params.neighbourhood_threshold, "threshold"));
        for labels in ["expert", "blind"] {
            figure = figure
                .series(Series::new(
                    format!("{labels}, ratio"),
                    Mark::Line,
                    of(mutation, labels, |row| row.ratio),
                ))
                .series(Series::new(
                    format!("{labels}, mean"),
                    Mark::Line,
                    of(mutation, labels, |row| row.mean),
                ));
        }
        drawings.push(Drawing::new(site, figure));
    }
    let mut figure = Figure::new(
        "Changed chunks: how many pages are still detected?",
        x("change"),
        Axis::linear("Pages above the threshold")
            .format(NumberFormat::Count)
            .covering(0.0),
    )
    .caption("The mean of all runs.");
    for labels in ["expert", "blind"] {
        figure = figure.series(Series::new(
            labels,
            Mark::Line,
            of("change", labels, |row| Some(row.detected)),
        ));
    }
    drawings.push(Drawing::new("changed-detected", figure));
    Ok(drawings)
}

/// Returns the curve of true and false positives of detected pages.
pub fn roc_figure(findings: &Findings) -> Result<Drawing> {
    let rows: Vec<PageRocRow> = all(findings.rows(PAGE_ROC_TABLE)?)?;
    let points: Vec<(f64, f64)> = rows
        .iter()
        .map(|row| (row.false_rate, row.true_rate))
        .collect();
    let figure = Figure::new(
        "Which threshold separates copies from other pages?",
        share("False positive rate: detected share of all other pages"),
        share("True positive rate: detected share of the pages in the truth"),
    )
    .caption("Each point is a threshold, from high at the lower left to 0 at the upper right end. Pages without labels are never detected.")
    .series(Series::new("pages", Mark::Line, points));
    Ok(Drawing::new("roc", figure))
}
