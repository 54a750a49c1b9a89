//! The numbers of the paper's figures, from the tables of a run.

use std::collections::BTreeMap;

use super::params::PhrasesParams;
use super::phrase_tables::{PAGES_TABLE, PHRASES_TABLE, SITES_TABLE};
use crate::error::Result;
use crate::run::Findings;

/// The most sites that are shown one by one, the largest first. There may be a million hosts.
const SITES: usize = 10_000;

/// The data of the figures.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct PhraseFigures {
    /// For each number of pages, the number of phrases that were sampled from this many pages
    /// (figure 1). If popularity is not sampled, the number of phrases on this many pages.
    pub popularity: BTreeMap<u64, u64>,
    /// For each number of popular shingles, the number of pages with this many (figure 2).
    pub pages: BTreeMap<u32, u64>,
    /// For each number of popular shingles and size of the cover, the number of covered pages, and
    /// the sum of their shingles that foreign pages cover (figures 3 to 7).
    pub covers: BTreeMap<(u32, u32), (u64, u64)>,
    /// The sites that are large enough to be flagged, the largest first (figures 8 and 9).
    pub sites: Vec<SiteFigure>,
    /// The number of such sites that are not listed.
    pub more_sites: u64,
}

/// A site in a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct SiteFigure {
    /// Its host, domain or address.
    pub site: String,
    /// The number of its pages.
    pub pages: u64,
    /// The average number of popular shingles of a page.
    pub mean: f64,
    /// The standard deviation of this number.
    pub deviation: f64,
    /// Whether it is flagged.
    pub flagged: bool,
}

/// Reads the data of the figures from the tables of a run.
pub fn figures(findings: &Findings, params: &PhrasesParams) -> Result<PhraseFigures> {
    let mut found = PhraseFigures::default();
    for row in findings.rows(PHRASES_TABLE)? {
        let row = row?;
        let pages = if params.exact { row.pages } else { row.sampled };
        *found.popularity.entry(pages).or_default() += 1;
    }
    for row in findings.rows(PAGES_TABLE)? {
        let row = row?;
        *found.pages.entry(row.popular).or_default() += 1;
        if let Some(cover) = row.cover {
            let entry = found.covers.entry((row.popular, cover)).or_default();
            entry.0 += 1;
            entry.1 += u64::from(row.foreign.unwrap_or(0));
        }
    }
    for row in findings.rows(SITES_TABLE)? {
        let row = row?;
        if row.pages < params.flag_pages {
            continue;
        }
        if found.sites.len() >= SITES {
            found.more_sites += 1;
            continue;
        }
        found.sites.push(SiteFigure {
            site: row.site,
            pages: row.pages,
            mean: row.mean,
            deviation: row.deviation,
            flagged: row.flagged,
        });
    }
    Ok(found)
}
