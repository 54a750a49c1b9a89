//! From pages to verdicts: what runs on any thread, and what needs the order of the pages.

use std::sync::Arc;

use cento_labels::score::{real, typed};
use cento_labels::{Detector, LabelOriginals, Labels, Verdict};
use cento_text::url::PageUrl;
use serde::Serialize;

use crate::error::Result;
use crate::neighbourhoods::{NeighbourhoodTally, RunningNeighbourhood};
use crate::seen::{PagePrint, PagePrinter, SeenGuard, SeenPage, SeenPages};

/// The fixed threshold of pages in Ardi & Heidemann §5.3.
pub const PAGE_THRESHOLD: f64 = 0.144;
/// The fixed threshold of neighbourhoods in Ardi & Heidemann §6.3.
pub const NEIGHBOURHOOD_THRESHOLD: f64 = 0.163;

/// Labels with the originals that they were made from, if these are known.
#[derive(Debug, Clone)]
pub struct WatchedLabels {
    /// The labels.
    pub labels: Arc<Labels>,
    /// Their originals.
    pub originals: Option<Arc<LabelOriginals>>,
}

/// When pages and neighbourhoods are flagged: a score must be above the threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WatchThresholds {
    /// The threshold of pages.
    pub page: f64,
    /// The threshold of the mean of a neighbourhood.
    pub mean: f64,
    /// The threshold of the ratio of a neighbourhood.
    pub ratio: f64,
}

impl Default for WatchThresholds {
    fn default() -> WatchThresholds {
        WatchThresholds {
            page: PAGE_THRESHOLD,
            mean: NEIGHBOURHOOD_THRESHOLD,
            ratio: NEIGHBOURHOOD_THRESHOLD,
        }
    }
}

/// What was found on a page, independent of other pages.
#[derive(Debug, Clone)]
pub struct ExaminedPage {
    url: String,
    verdict: Verdict,
    originals: Option<Vec<ReportedOriginal>>,
    print: Option<PagePrint>,
    /// The prefixes of its URL.
    prefixes: Vec<String>,
}

/// Examines pages on one thread. Its buffers are reused from page to page.
#[derive(Default)]
pub struct PageExaminer {
    printer: Option<PagePrinter>,
    buffer: String,
    hashes: Vec<[u8; 16]>,
    matched: Vec<u32>,
}

impl PageExaminer {
    /// Creates an examiner. `with_prints` says whether pages will be compared with those seen
    /// before.
    pub fn new(with_prints: bool) -> PageExaminer {
        PageExaminer {
            printer: with_prints.then(PagePrinter::default),
            ..PageExaminer::default()
        }
    }

    /// Examines a page: its text is cut into chunks by the recipe of the labels. `payload` is the
    /// SHA-1 of its bytes.
    pub fn text(
        &mut self,
        labels: &WatchedLabels,
        url: &str,
        text: &str,
        payload: Option<[u8; 20]>,
    ) -> ExaminedPage {
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.clear();
        let recipe = labels.labels.header().recipe;
        recipe.cut(text, &mut self.buffer, |_, hash| hashes.push(hash));
        let examined = self.chunks(labels, url, text, hashes.iter(), payload);
        self.hashes = hashes;
        examined
    }

    /// Examines a page whose chunks have been cut and hashed already, by the recipe of the labels.
    pub fn chunks<'h>(
        &mut self,
        labels: &WatchedLabels,
        url: &str,
        text: &str,
        hashes: impl Iterator<Item = &'h [u8; 16]>,
        payload: Option<[u8; 20]>,
    ) -> ExaminedPage {
        self.matched.clear();
        let matched = &mut self.matched;
        let verdict = Detector::chunks(&labels.labels, hashes, |label| {
            // A label file has fewer than 2³² labels.
            matched.extend(u32::try_from(label));
        });
        let originals = labels.originals.as_ref().map(|originals| {
            let found = originals.attribute(&mut self.matched).into_iter();
            found
                .map(|one| ReportedOriginal {
                    original: one.original.to_owned(),
                    chunks: one.chunks,
                    labels: one.labels,
                })
                .collect()
        });
        let printer = self.printer.as_mut();
        ExaminedPage {
            url: url.to_owned(),
            verdict,
            originals,
            print: printer.map(|printer| printer.print(text, payload)),
            prefixes: PageUrl::new(url).prefixes().map(str::to_owned).collect(),
        }
    }
}

/// An original of the labels of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ReportedOriginal {
    /// Its name.
    pub original: String,
    /// The number of chunks of the page that are attributed to it.
    pub chunks: u32,
    /// The number of distinct labels among them.
    pub labels: u32,
}

/// An earlier page that a page is a copy of, in a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReportedSeen {
    /// `bytes`, `text` or `near`.
    #[serde(rename = "as")]
    pub kind: &'static str,
    /// The URL of the earlier page.
    pub url: String,
    /// The estimated resemblance of a near-duplicate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<f64>,
    /// The interval that contains the true resemblance with a confidence of 95 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
}

impl From<SeenPage> for ReportedSeen {
    fn from(seen: SeenPage) -> ReportedSeen {
        let rounded = |share: f64| (share * 1e4).round() / 1e4;
        ReportedSeen {
            kind: seen.kind.name(),
            url: seen.url,
            estimate: seen
                .estimate
                .and_then(|estimate| estimate.value())
                .map(rounded),
            interval: seen.estimate.map(|estimate| {
                // Rounded outwards, so that the interval loses nothing.
                let (low, high) = estimate.interval(0.95);
                [(low * 1e4).floor() / 1e4, (high * 1e4).ceil() / 1e4]
            }),
        }
    }
}

/// A neighbourhood of a page, in a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReportedNeighbourhood {
    /// Its prefix: host and path.
    pub site: String,
    /// The number of its pages so far.
    pub pages: u64,
    /// The number of their chunks, without stop chunks.
    pub chunks: u64,
    /// The number of chunks that are labels.
    pub matched: u64,
    /// The mean of the `contains` of its pages.
    pub mean: f64,
    /// The share of its chunks that are labels.
    pub ratio: f64,
    /// Whether the mean is above its threshold.
    pub by_mean: bool,
    /// Whether the ratio is above its threshold.
    pub by_ratio: bool,
    /// At most this many further pages were counted and dropped; `mean` and `ratio` are then lower
    /// bounds. Left out if it is 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub missed_pages: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature of serde")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The verdict on a page of a stream.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PageReport {
    /// Its URL.
    pub url: String,
    /// The number of its chunks, with repetitions.
    pub chunks: u32,
    /// Those that are stop chunks.
    pub stopped: u32,
    /// Those that are labels.
    pub matched: u32,
    /// The share of the chunks that are labels, without stop chunks. Null if all are stop chunks.
    pub contains: Option<f64>,
    /// Whether `contains` is above the threshold.
    pub flagged: bool,
    /// The originals of the labels, if the label file has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub originals: Option<Vec<ReportedOriginal>>,
    /// The earlier page that this one is a copy of; null if there is none. Left out if pages are
    /// not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<Option<ReportedSeen>>,
    /// The neighbourhoods of the page that are above a threshold, this page included.
    pub neighbourhoods: Vec<ReportedNeighbourhood>,
}

/// What is known about all pages so far: turns examined pages into reports, in order.
pub struct Watcher {
    page: u64,
    mean: u64,
    ratio: u64,
    depth: u32,
    /// The running scores of neighbourhoods.
    pub neighbourhoods: NeighbourhoodTally,
}

impl Watcher {
    /// Creates a watcher that scores neighbourhoods of up to `depth` levels in about `memory`
    /// bytes.
    pub fn new(thresholds: WatchThresholds, depth: u32, memory: usize) -> Watcher {
        Watcher {
            page: typed(thresholds.page),
            mean: typed(thresholds.mean),
            ratio: typed(thresholds.ratio),
            depth,
            neighbourhoods: NeighbourhoodTally::new(memory),
        }
    }

    /// Reports on the next page. `seen` is the locked store of pages seen before.
    pub fn observe(
        &mut self,
        page: ExaminedPage,
        seen: Option<&mut SeenGuard<'_>>,
    ) -> Result<PageReport> {
        let seen = match (seen, &page.print) {
            (Some(seen), Some(print)) => {
                Some(seen.check(&page.url, print)?.map(ReportedSeen::from))
            }
            _ => None,
        };
        let Verdict {
            chunks,
            stopped,
            matched,
            ..
        } = page.verdict;
        let score = page.verdict.score();
        let mut flagged = Vec::new();
        if score.is_some() {
            for (depth, prefix) in (1..=self.depth).zip(&page.prefixes) {
                let left = chunks.saturating_sub(stopped);
                let running = self.neighbourhoods.add(prefix, depth, matched, left);
                flagged.extend(self.flagged(running));
            }
        }
        Ok(PageReport {
            url: page.url,
            chunks,
            stopped,
            matched,
            contains: page.verdict.contains(),
            flagged: score.is_some_and(|score| score > self.page),
            originals: page.originals,
            seen,
            neighbourhoods: flagged,
        })
    }

    /// Returns a neighbourhood as it is reported, if one of its scores is above the threshold.
    fn flagged(&self, one: RunningNeighbourhood) -> Option<ReportedNeighbourhood> {
        let (by_mean, by_ratio) = (one.mean > self.mean, one.ratio > self.ratio);
        (by_mean || by_ratio).then(|| ReportedNeighbourhood {
            site: one.site,
            pages: one.pages,
            chunks: one.chunks,
            matched: one.matched,
            mean: real(one.mean),
            ratio: real(one.ratio),
            by_mean,
            by_ratio,
            missed_pages: one.missed_pages,
        })
    }

    /// The neighbourhoods above a threshold, those with most matched chunks first.
    pub fn flagged_neighbourhoods(&self) -> Vec<ReportedNeighbourhood> {
        let worst = self.neighbourhoods.worst(|_| true).into_iter();
        worst.filter_map(|one| self.flagged(one)).collect()
    }
}

/// Opens the file of seen pages for labels: pages must be compared by the same part of their text.
pub fn seen_pages_for(labels: &Labels, path: &std::path::Path, memory: usize) -> Result<SeenPages> {
    SeenPages::open(path, &labels.header().recipe.content.to_string(), memory)
}
