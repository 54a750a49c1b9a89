//! The summary of `cento watch`.

use std::collections::BTreeMap;

use cento_read::Skipped;
use cento_report::format::counted;
use cento_watch::{PageReport, SeenCounts, WatchThresholds, Watcher};

use crate::output::{Lines, number, shortened, table};

/// The most neighbourhoods in a summary.
const SHOWN: usize = 10;

/// The counts of a stream.
#[derive(Default)]
pub(crate) struct WatchSummary {
    /// Pages with a verdict.
    pages: u64,
    flagged: u64,
    matched_pages: u64,
    chunks: u64,
    matched: u64,
    /// Pages seen before, by kind.
    seen: BTreeMap<&'static str, u64>,
    rejected: BTreeMap<&'static str, CauseCount>,
    skipped: BTreeMap<&'static str, CauseCount>,
}

/// How often there was a cause, and the first example of it.
struct CauseCount {
    count: u64,
    example: String,
}

fn add_to(
    counts: &mut BTreeMap<&'static str, CauseCount>,
    cause: &'static str,
    example: impl FnOnce() -> String,
) {
    let known = counts.entry(cause).or_insert_with(|| CauseCount {
        count: 0,
        example: example(),
    });
    known.count += 1;
}

impl WatchSummary {
    /// Counts a page with a verdict.
    pub(crate) fn add(&mut self, report: &PageReport) {
        self.pages += 1;
        self.flagged += u64::from(report.flagged);
        self.matched_pages += u64::from(report.matched > 0);
        self.chunks += u64::from(report.chunks);
        self.matched += u64::from(report.matched);
        if let Some(Some(seen)) = &report.seen {
            *self.seen.entry(seen.kind).or_default() += 1;
        }
    }

    /// Counts a page whose text cannot be used.
    pub(crate) fn add_rejected(&mut self, reason: &'static str, url: &str) {
        add_to(&mut self.rejected, reason, || url.to_owned());
    }

    /// Counts a damaged record.
    pub(crate) fn add_skipped(&mut self, skipped: &Skipped) {
        add_to(&mut self.skipped, skipped.cause.name(), || {
            // Counted from 0, as by `cento index`.
            let record = skipped.place.ordinal;
            format!("record {record}: {}", skipped.detail)
        });
    }

    /// Renders the summary.
    pub(crate) fn text(
        &self,
        watcher: &Watcher,
        thresholds: WatchThresholds,
        seen: Option<SeenCounts>,
        objects: &str,
    ) -> String {
        let neighbourhoods = watcher.flagged_neighbourhoods();
        let kept = watcher.neighbourhoods.len() as u64;
        let mut text = format!(
            "{} flagged, {} flagged\n",
            of(self.flagged, self.pages, "page", "pages"),
            match watcher.neighbourhoods.dropped() {
                0 => of(
                    neighbourhoods.len() as u64,
                    kept,
                    "neighbourhood",
                    "neighbourhoods"
                ),
                // Not all neighbourhoods of the stream are known.
                _ => counted(
                    neighbourhoods.len() as u64,
                    "neighbourhood",
                    "neighbourhoods"
                ),
            },
        );
        let mut lines = Lines::default();
        let remark = format!(
            "{} of {} {objects} are labels",
            number(self.matched),
            number(self.chunks)
        );
        lines.add_with("pages with labels", number(self.matched_pages), remark);
        let remark = format!(
            "more than {} of their {objects} are labels",
            thresholds.page
        );
        lines.add_with("pages flagged", number(self.flagged), remark);
        if seen.is_some() {
            let count = |kind: &str| self.seen.get(kind).copied().unwrap_or(0);
            let remark = format!(
                "{} with the same bytes, {} with the same text, {} by estimate",
                number(count("bytes")),
                number(count("text")),
                counted(count("near"), "near-duplicate", "near-duplicates"),
            );
            lines.add_with("seen before", number(self.seen.values().sum()), remark);
        }
        for (reason, cause) in &self.rejected {
            let remark = format!("first: {}", shortened(&cause.example, 60));
            lines.add_with(format!("rejected: {reason}"), number(cause.count), remark);
        }
        for (reason, cause) in &self.skipped {
            let remark = format!("first: {}", shortened(&cause.example, 60));
            lines.add_with(format!("damaged: {reason}"), number(cause.count), remark);
        }
        text.push_str(&lines.render());
        let rows: Vec<Vec<String>> = neighbourhoods
            .iter()
            .take(SHOWN)
            .map(|row| {
                let at_least = if row.missed_pages > 0 { "≥ " } else { "" };
                vec![
                    shortened(&row.site, 50),
                    number(row.pages),
                    number(row.matched),
                    number(row.chunks),
                    format!("{at_least}{:.3}", row.mean),
                    format!("{at_least}{:.3}", row.ratio),
                ]
            })
            .collect();
        if !rows.is_empty() {
            let heading = [
                "neighbourhoods",
                "pages",
                "labels",
                "chunks",
                "mean",
                "ratio",
            ];
            text.push_str(&table(&heading, &rows));
            let more = neighbourhoods.len().saturating_sub(SHOWN);
            if more > 0 {
                text.push_str(&format!("  and {} more\n", number(more as u64)));
            }
        }
        text.push_str(&self.notes(watcher, seen));
        text
    }

    /// What limits the results.
    fn notes(&self, watcher: &Watcher, seen: Option<SeenCounts>) -> String {
        let mut text = String::new();
        if self.pages == 0 && self.rejected.is_empty() && self.skipped.is_empty() {
            text.push_str("There were no pages on standard input.\n");
        }
        let dropped = watcher.neighbourhoods.dropped();
        if dropped > 0 {
            text.push_str(&format!(
                "The memory was full: {} dropped. Those that came back have lower bounds as scores, so that some may be missing above; --memory raises the limit.\n",
                counted_was(dropped, "neighbourhood with few labels", "neighbourhoods with few labels")
            ));
        }
        if let Some(seen) = seen {
            if seen.forgotten > 0 {
                text.push_str(&format!(
                    "The memory was full: copies of the {} are not recognised; --memory raises the limit.\n",
                    counted(seen.forgotten, "oldest page", "oldest pages")
                ));
            }
            if seen.damaged > 0 {
                text.push_str(&format!(
                    "The file of seen pages is damaged in {}; the pages there are not recognised.\n",
                    counted(seen.damaged, "place", "places")
                ));
            }
        }
        text
    }
}

fn of(part: u64, whole: u64, one: &str, many: &str) -> String {
    format!("{} of {}", number(part), counted(whole, one, many))
}

fn counted_was(count: u64, one: &str, many: &str) -> String {
    let verb = if count == 1 { "was" } else { "were" };
    format!("{} {verb}", counted(count, one, many))
}
