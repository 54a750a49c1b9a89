//! Fingerprints on too many pages, which are ignored on both sides of a match.
//!
//! The size of a page does not include ignored fingerprints, so a match must know how many of them
//! the page has. Which ones are ignored depends on the limit of the query. For each limit the
//! counts of all pages are computed once and kept, because few limits are in use.

use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Result;
use crate::segment::{FREQUENT_PAGES, Segment};

/// The number of limits whose counts are kept.
const KEPT: usize = 2;

/// The number of ignored fingerprints of each page; empty if no page has any.
pub(crate) type IgnoredCounts = Arc<Vec<u32>>;

/// The counts of recent limits, newest last.
#[derive(Default)]
pub(crate) struct IgnoredCache {
    recent: Mutex<Vec<(u32, IgnoredCounts)>>,
}

impl IgnoredCache {
    /// Returns the number of fingerprints of each page that are on more than `limit` pages.
    ///
    /// Limits from 512 pages on, or 64 if there is one segment, read the lists of frequent
    /// fingerprints only; lower ones read the whole index. Memory is 4 bytes per page.
    pub(crate) fn get(&self, segments: &[Segment], limit: u32) -> Result<IgnoredCounts> {
        let known = |recent: &[(u32, IgnoredCounts)]| {
            let found = recent.iter().find(|(of, _)| *of == limit);
            found.map(|(_, counts)| Arc::clone(counts))
        };
        if let Some(counts) = known(&self.lock()) {
            return Ok(counts);
        }
        // Without the lock: other queries go on.
        let counts = Arc::new(count(segments, limit)?);
        let mut recent = self.lock();
        if known(&recent).is_none() {
            if recent.len() == KEPT {
                recent.remove(0);
            }
            recent.push((limit, Arc::clone(&counts)));
        }
        Ok(counts)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(u32, IgnoredCounts)>> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts the fingerprints of each page that are on more than `limit` pages of all segments.
fn count(segments: &[Segment], limit: u32) -> Result<Vec<u32>> {
    let mut counts = Vec::new();
    let pages: u64 = segments
        .iter()
        .map(|segment| u64::from(segment.footer().pages))
        .sum();
    if u64::from(limit) >= pages {
        return Ok(counts);
    }
    // A fingerprint on more than `limit` pages is on more than this in one of the segments. It is
    // counted in the first of these.
    let many = limit / segments.len().max(1) as u32;
    for (at, segment) in segments.iter().enumerate() {
        let mut add = |fingerprint: u64| add(segments, at, fingerprint, many, limit, &mut counts);
        if many >= FREQUENT_PAGES {
            for (fingerprint, pages) in segment.frequent() {
                if pages > many {
                    add(fingerprint)?;
                }
            }
            continue;
        }
        let mut candidates = Vec::new();
        for block in 0..segment.blocks() {
            candidates.clear();
            let block = segment.block(block)?;
            let listed = block.for_each_count(|fingerprint, pages| {
                if pages > many {
                    candidates.push(fingerprint);
                }
            });
            listed.map_err(|_| segment.malformed())?;
            for &fingerprint in &candidates {
                add(fingerprint)?;
            }
        }
    }
    Ok(counts)
}

/// Adds one to the count of each page of a fingerprint, if it is on more than `limit` pages.
fn add(
    segments: &[Segment],
    at: usize,
    fingerprint: u64,
    many: u32,
    limit: u32,
    counts: &mut Vec<u32>,
) -> Result<()> {
    let mut lists = Vec::with_capacity(segments.len());
    let mut pages = 0u64;
    for (other, segment) in segments.iter().enumerate() {
        let Some(list) = segment.find(fingerprint)? else {
            continue;
        };
        if other < at && list.len() > many {
            return Ok(());
        }
        pages += u64::from(list.len());
        lists.push((segment, list));
    }
    if pages <= u64::from(limit) {
        return Ok(());
    }
    if counts.is_empty() {
        let last = segments.last().map(|segment| segment.footer());
        counts.resize(
            last.map_or(0, |last| last.first_page + last.pages) as usize,
            0,
        );
    }
    for (segment, list) in lists {
        let first = segment.footer().first_page as usize;
        let listed = list.for_each(|page| {
            if let Some(count) = counts.get_mut(first + page as usize) {
                *count += 1;
            }
        });
        listed.map_err(|_| segment.malformed())?;
    }
    Ok(())
}
