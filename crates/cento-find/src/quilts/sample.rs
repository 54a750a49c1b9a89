//! Random samples of quilts.

use std::collections::{BTreeSet, BinaryHeap};

use super::quilt_tables::QUILTS_TABLE;
use crate::error::Result;
use crate::run::Findings;

/// Draws a number of quilted pages, each with the same probability; all if there are fewer. Returns
/// their ids, which depend only on the findings and the seed.
pub fn sample(findings: &Findings, count: usize, seed: u64) -> Result<BTreeSet<u64>> {
    // The pages with the smallest hashes: every set of pages is equally likely, and one pass over
    // the table is enough.
    let mut drawn: BinaryHeap<([u8; 8], u64)> = BinaryHeap::new();
    for row in findings.rows(QUILTS_TABLE)? {
        let id = row?.page_id;
        let mut hasher = blake3::Hasher::new();
        hasher.update(&seed.to_le_bytes()).update(&id.to_le_bytes());
        let hash = hasher.finalize();
        let hash = hash.as_bytes().first_chunk().copied().unwrap_or_default();
        drawn.push((hash, id));
        if drawn.len() > count {
            drawn.pop();
        }
    }
    Ok(drawn.into_iter().map(|(_, id)| id).collect())
}
