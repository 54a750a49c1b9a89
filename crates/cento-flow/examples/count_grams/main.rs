//! The benchmark of the engine: counts the pages of each gram in a Parquet file of (gram, page)
//! rows. `bench/compare grams` compares it with DuckDB.
//!
//! ```sh
//! cargo run --release -p cento-flow --example count_grams -- make rows.parquet 1000000
//! cargo run --release -p cento-flow --example count_grams -- count rows.parquet OUTPUT MEMORY
//! ```
//!
//! `OUTPUT` is the folder for the table, `MEMORY` the budget in bytes. It runs on two threads, and
//! prints the report and the maximum of the anonymous memory as one JSON object.

mod flow;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use cento_flow::{CHECKPOINT, Progress, Runner};
use serde_json::json;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["make", file, rows] => {
            let file = Path::new(file);
            if !file.exists() {
                flow::make_file(file, rows.parse()?)?;
            }
            Ok(())
        }
        ["count", file, output, memory] => {
            count(Path::new(file), Path::new(output), memory.parse()?)
        }
        _ => Err("usage: count_grams make FILE ROWS | count FILE OUTPUT MEMORY".into()),
    }
}

fn count(file: &Path, output: &Path, memory: u64) -> Result<()> {
    let flow = flow::flow(file, None, None)?;
    let watch = MemoryWatch::default();
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| watch.run());
        let outcome = Runner {
            registry: &flow::registry(),
            threads: 2,
            memory,
            temp: output.to_owned(),
            tables: output.to_owned(),
            progress: Progress::new(),
            checkpoint: CHECKPOINT,
        }
        .run(&flow);
        watch.stop.store(true, Ordering::Relaxed);
        outcome
    });
    let report = outcome?;
    let peak = watch.peak.into_inner();
    println!("{}", json!({ "report": report, "anonymous_peak": peak }));
    Ok(())
}

/// Samples the anonymous memory of this process, and keeps the maximum.
#[derive(Default)]
struct MemoryWatch {
    stop: AtomicBool,
    peak: AtomicU64,
}

impl MemoryWatch {
    fn run(&self) {
        while !self.stop.load(Ordering::Relaxed) {
            let bytes = anonymous_memory().unwrap_or_default();
            self.peak.fetch_max(bytes, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Returns `RssAnon` in bytes.
fn anonymous_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("RssAnon:"))?;
    let kibibytes: u64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024)
}
