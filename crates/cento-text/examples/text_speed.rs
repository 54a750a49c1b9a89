//! Measures the speed of cleaning, chunking and normalising text on one core.
//!
//! `cargo run --release -p cento-text --example text_speed -- FILE…`

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use cento_text::chunk::{ChunkKind, chunks};
use cento_text::normal::{Normalisation, normalise};
use cento_text::plain::plain_text;

fn main() -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    for path in std::env::args().skip(1) {
        text.push_str(&String::from_utf8_lossy(&std::fs::read(path)?));
        text.push('\n');
    }
    let size = text.len();
    println!("{:.1} MB of text", size as f64 / 1e6);
    measure("clean up", size, || plain_text(&text).len());
    let plain = plain_text(&text).into_owned();
    measure("check clean text", plain.len(), || plain_text(&plain).len());
    let mut out = String::new();
    for normalisation in Normalisation::ALL {
        measure(&format!("normalise: {normalisation}"), plain.len(), || {
            normalise(&plain, normalisation, &mut out);
            out.len()
        });
    }
    for kind in [
        "paragraph",
        "lines:5",
        "sentences:3",
        "words:50",
        "document",
    ] {
        let kind: ChunkKind = kind.parse()?;
        measure(&format!("split into chunks: {kind}"), plain.len(), || {
            let mut count = 0;
            chunks(&plain, kind, |range| count += range.end & 1);
            count
        });
    }
    Ok(())
}

fn measure(what: &str, bytes: usize, mut work: impl FnMut() -> usize) {
    let mut best = f64::INFINITY;
    for _ in 0..20 {
        let begin = Instant::now();
        black_box(work());
        best = best.min(begin.elapsed().as_secs_f64());
    }
    println!("{:>8.0} MB/s  {what}", bytes as f64 / 1e6 / best);
}
