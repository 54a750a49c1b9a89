//! Prints the evidence about the blocks of pages as JSON Lines, for the program that fits the model
//! (`tools/fit_content.py`).
//!
//! ```text
//! cargo run --release -p cento-text --example content_evidence < PATHS
//! ```
//!
//! Each line of the input is the path of an HTML file, plain or compressed with gzip. The first
//! line of the output has the names of the numbers; each other line has one page.

use cento_text::content::evidence::{evidence, names};
use cento_text::html::{Extractor, Options};
use flate2::read::GzDecoder;
use std::error::Error;
use std::io::{BufRead, BufWriter, Read, Write};

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let (of_page, of_block) = names();
    serde_json::to_writer(&mut out, &(of_page, of_block))?;
    writeln!(out)?;
    let mut extractor = Extractor::new();
    for path in std::io::stdin().lock().lines() {
        let path = path?;
        let mut bytes = std::fs::read(&path)?;
        if path.ends_with(".gz") {
            let mut inflated = Vec::new();
            GzDecoder::new(bytes.as_slice()).read_to_end(&mut inflated)?;
            bytes = inflated;
        }
        let html = String::from_utf8_lossy(&bytes);
        let page = extractor.extract(&html, &Options { outline: true });
        let numbers = evidence(page);
        let texts: Vec<&str> = page
            .outline
            .blocks
            .iter()
            .filter_map(|block| page.text.get(block.begin as usize..block.end as usize))
            .collect();
        serde_json::to_writer(&mut out, &(path, numbers.page, numbers.blocks, texts))?;
        writeln!(out)?;
    }
    Ok(())
}
