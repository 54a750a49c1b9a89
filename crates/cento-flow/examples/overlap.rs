//! Pairs of pages that share at threshold T chunks, by coarse counting (Shivakumar & Garcia-Molina
//! 1998).
//!
//! There are too many pairs to count them one by one. So a first pass only increases hashed
//! counters, in fixed memory. A second pass adds a pair to a shuffle only if its counter reaches T,
//! and a third one counts these exactly. A counter is never too low, so that the result is exact
//! for any memory; with less memory more pairs are counted in vain.
//!
//! ```text
//!   pages ─ cut ─▶ by chunk ─ coarse ─┬─▶ counters ─────┐ reads
//!                                     └─▶ again ──── pairs ─▶ by pair ─ exact ─▶ overlaps
//! ```
//!
//! ```sh
//! cargo run -p cento-flow --example overlap
//! ```

use bytemuck::{Pod, Zeroable};
use cento_flow::{CHECKPOINT, Counters, Flow, Progress, Registry, Row, Runner, Stage, table_row};
use serde_json::{Value, json};

/// A chunk and a page that has it.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
struct ChunkPage {
    chunk: u64,
    page: u32,
}

impl Row for ChunkPage {
    type Key = u64;
    type Rest = u32;

    fn key(&self) -> u64 {
        self.chunk
    }

    fn rest(&self) -> u32 {
        self.page
    }
}

/// Two pages that have a chunk in common, once for each such chunk.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Pair {
    left: u32,
    right: u32,
}

impl Row for Pair {
    type Key = u64;
    type Rest = ();

    fn key(&self) -> u64 {
        u64::from(self.left) << 32 | u64::from(self.right)
    }

    fn rest(&self) {}
}

table_row! {
    /// Two pages and how many chunks they share.
    struct Overlap {
        left: u32,
        right: u32,
        chunks: u64,
    }
}

/// Calls `each` with all pairs of the pages of a chunk.
fn pairs_of(
    mut pages: Vec<u32>,
    mut each: impl FnMut(Pair) -> cento_flow::Result<()>,
) -> cento_flow::Result<()> {
    pages.dedup();
    for (at, &left) in pages.iter().enumerate() {
        for &right in pages.iter().skip(at + 1) {
            each(Pair { left, right })?;
        }
    }
    Ok(())
}

pub(crate) fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.map("cut", |context| {
        let (page, chunks): (u32, Vec<u64>) = context.task()?;
        let mut rows = context.shuffle::<ChunkPage>("by chunk")?;
        Ok(rows.extend(chunks.into_iter().map(|chunk| ChunkPage { chunk, page }))?)
    });
    registry.reduce::<ChunkPage, _>("coarse", |context, groups| {
        let counters = context.state::<Counters>("counters")?;
        let mut again = context.shuffle::<ChunkPage>("again")?;
        while let Some(group) = groups.next_group()? {
            let chunk = group.key();
            let pages: Vec<u32> = group.map(|row| row.page).collect();
            // A chunk on one page makes no pairs.
            if pages.len() > 1 {
                again.extend(pages.iter().map(|&page| ChunkPage { chunk, page }))?;
            }
            pairs_of(pages, |pair| {
                counters.add(pair.key(), 1);
                Ok(())
            })?;
        }
        Ok(())
    });
    registry.reduce::<ChunkPage, _>("pairs", |context, groups| {
        let threshold: u64 = context.parameters()?;
        let counters = context.state::<Counters>("counters")?;
        let mut pairs = context.shuffle::<Pair>("by pair")?;
        while let Some(group) = groups.next_group()? {
            pairs_of(group.map(|row| row.page).collect(), |pair| {
                let heavy = u64::from(counters.get(pair.key())) >= threshold.min(255);
                context.count(
                    if heavy {
                        "pairs counted"
                    } else {
                        "pairs left out"
                    },
                    1,
                );
                if heavy { pairs.push(pair) } else { Ok(()) }
            })?;
        }
        Ok(())
    });
    registry.reduce::<Pair, _>("exact", |context, groups| {
        let threshold: u64 = context.parameters()?;
        let mut overlaps = context.table::<Overlap>("overlaps")?;
        while let Some(group) = groups.next_group()? {
            let (left, right) = ((group.key() >> 32) as u32, group.key() as u32);
            let chunks = group.count() as u64;
            if chunks >= threshold {
                overlaps.push(Overlap {
                    left,
                    right,
                    chunks,
                })?;
            }
        }
        Ok(())
    });
    registry
}

pub(crate) fn flow(pages: Vec<Value>, threshold: u64, counters: u64) -> Flow {
    Flow::new("overlap")
        .shuffle("by chunk")
        .shuffle("again")
        .shuffle("by pair")
        .state("counters", "counters", json!({ "bytes": counters }))
        .table("overlaps")
        .stage(Stage::map("cut", pages).writes("by chunk"))
        .stage(
            Stage::reduce("coarse", "by chunk")
                .writes("counters")
                .writes("again"),
        )
        .stage(
            Stage::reduce("pairs", "again")
                .with(json!(threshold))
                .reads("counters")
                .writes("by pair"),
        )
        .stage(
            Stage::reduce("exact", "by pair")
                .with(json!(threshold))
                .writes("overlaps"),
        )
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    // Page n has the chunks n·10 to n·10 + 19, so neighbours share ten.
    let hash = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let pages = (0..1000u64).map(|page| {
        json!([
            page,
            (page * 10..page * 10 + 20).map(hash).collect::<Vec<_>>()
        ])
    });
    let report = Runner {
        registry: &registry(),
        threads: 2,
        memory: 64 << 20,
        temp: folder.path().join("temp"),
        tables: folder.path().join("tables"),
        progress: Progress::new(),
        checkpoint: CHECKPOINT,
    }
    .run(&flow(pages.collect(), 10, 1 << 16))?;
    print!("{report}");
    Ok(())
}
