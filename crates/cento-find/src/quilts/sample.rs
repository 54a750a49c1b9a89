//! Some quilts, drawn for people to judge.

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use std::collections::{BTreeSet, BinaryHeap};

use crate::error::{Error, Result};
use crate::run::Findings;
use crate::tables::read_table;

/// Draws so many quilted pages, each with the same probability; all if there are fewer. The same
/// seed draws the same ones.
pub fn sample(findings: &Findings, count: usize, seed: u64) -> Result<BTreeSet<u64>> {
    // Those with the smallest hashes: every set of pages is as likely as any other, and one look at
    // each page is enough.
    let mut drawn: BinaryHeap<([u8; 8], u64)> = BinaryHeap::new();
    for batch in read_table(&findings.table("quilts"))? {
        let batch = batch?;
        let ids = batch.column_by_name("page_id");
        let ids = ids
            .and_then(|ids| ids.as_primitive_opt::<UInt64Type>())
            .ok_or_else(|| Error::Bug("the table of quilts has no page ids".to_owned()))?;
        for &id in ids.values() {
            let mut hasher = blake3::Hasher::new();
            hasher.update(&seed.to_le_bytes()).update(&id.to_le_bytes());
            let hash = hasher.finalize();
            let lot = hash.as_bytes().first_chunk().copied().unwrap_or_default();
            drawn.push((lot, id));
            if drawn.len() > count {
                drawn.pop();
            }
        }
    }
    Ok(drawn.into_iter().map(|(_, id)| id).collect())
}
