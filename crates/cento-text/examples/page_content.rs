//! Prints the main content and the type of pages as JSON Lines, and measures the speed.
//!
//! ```text
//! cargo run --release -p cento-text --example page_content [main|slope|all] < PATHS
//! ```
//!
//! Each line of the input is the path of an HTML file, plain or compressed with gzip. Each line of
//! the output is the path, the page type and the text; the last line has the bytes and the seconds
//! of decoding, extraction and selection, on one thread.

use cento_text::content::{Selection, analyse, apply};
use cento_text::html::{Extractor, Options};
use flate2::read::GzDecoder;
use std::error::Error;
use std::io::{BufRead, BufWriter, Read, Write};
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let selection: Selection = std::env::args()
        .nth(1)
        .as_deref()
        .unwrap_or("main")
        .parse()?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut extractor = Extractor::new();
    let mut text = String::new();
    let (mut spent, mut size) = (Duration::ZERO, 0);
    for path in std::io::stdin().lock().lines() {
        let path = path?;
        let mut bytes = std::fs::read(&path)?;
        if path.ends_with(".gz") {
            let mut inflated = Vec::new();
            GzDecoder::new(bytes.as_slice()).read_to_end(&mut inflated)?;
            bytes = inflated;
        }
        let begin = Instant::now();
        let size_of_page = bytes.len();
        let html = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        let page = extractor.extract(&html, &Options { outline: true });
        let content = analyse(page, selection);
        apply(&page.text, &content.ranges, &mut text);
        spent += begin.elapsed();
        size += size_of_page;
        let page_type = content.page_type.map(|page_type| page_type.name());
        serde_json::to_writer(&mut out, &(path, page_type, &text))?;
        writeln!(out)?;
    }
    serde_json::to_writer(&mut out, &(size, spent.as_secs_f64()))?;
    writeln!(out)?;
    Ok(())
}
