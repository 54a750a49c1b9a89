//! Counts the pairs of pages that share chunks, in a Parquet file of (chunk u64, page u32) rows:
//! the core of `cento overlap` without a corpus around it, as `bench/overlap.py` measures it.
//!
//! ```text
//! cargo run --release -p cento-find --example overlap_bench -- \
//!     ROWS.parquet OUTPUT THRESHOLD ROWS PAGES THREADS MEMORY
//! ```
//!
//! OUTPUT is the folder for `pairs.parquet`; ROWS is the approximate number of rows, PAGES is above
//! all page numbers, and MEMORY is in bytes.

#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::path::Path;

use cento_find::Workplace;
use cento_find::overlap::{OverlapParams, bench};
use cento_flow::Progress;
use cento_text::chunk::ChunkKind;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [rows_file, output, threshold, rows, pages, threads, memory] = words.as_slice() else {
        return Err(
            "usage: overlap_bench ROWS.parquet OUTPUT THRESHOLD ROWS PAGES THREADS MEMORY".into(),
        );
    };
    let output = Path::new(output);
    let params = OverlapParams {
        threshold: threshold.parse()?,
        // No chunk is ignored, however many pages have it.
        max_pages: Some(0),
        ..OverlapParams::new(ChunkKind::default())
    };
    let workplace = Workplace {
        threads: threads.parse()?,
        memory: memory.parse()?,
        temp: None,
        findings: output.to_owned(),
        again: true,
        progress: Progress::new(),
        command: String::new(),
    };
    let sizes = [rows.parse()?, pages.parse()?];
    let report = bench::run(Path::new(rows_file), output, sizes, &params, &workplace)?;
    println!("{report}");
    Ok(())
}
