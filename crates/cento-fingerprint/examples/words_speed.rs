//! Measures the speed of finding words and hashing grams on one core.
//!
//! `cargo run --release -p cento-fingerprint --example words_speed -- FILE…`
//!
//! Tags are removed from HTML in a simple way, which is enough to get realistic text.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use cento_fingerprint::{grams, packed_word_hash, word_hash};
use cento_text::words::{WordScanner, count_words};

fn main() -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(path)?;
        strip_tags(&String::from_utf8_lossy(&bytes), &mut text);
        text.push('\n');
    }
    let words = count_words(&text);
    println!("{:.1} MB of text, {words} words", text.len() as f64 / 1e6);

    measure("count words", text.len(), || count_words(&text) as u64);
    let mut scanner = WordScanner::new();
    measure("find ranges", text.len(), || {
        let mut sum = 0;
        scanner.scan_ranges(&text, |range| sum += range.end);
        sum as u64
    });
    measure("find words", text.len(), || {
        let mut sum = 0;
        scanner.scan(&text, |word| sum += word.range.end + word.normal.len());
        sum as u64
    });
    let mut hashes = Vec::new();
    measure("find words, hash them", text.len(), || {
        hashes.clear();
        scanner.scan_keys(&text, |key| {
            hashes.push(key.either(packed_word_hash, word_hash));
        });
        hashes.len() as u64
    });
    // One page at a time, as in an analysis: the hashes of the page are still in cache when the
    // grams are computed.
    let pages: Vec<&str> = pages(&text);
    measure("find words, hash them, 5-grams", text.len(), || {
        let mut sum = 0u64;
        for page in &pages {
            hashes.clear();
            scanner.scan_keys(page, |key| {
                hashes.push(key.either(packed_word_hash, word_hash));
            });
            grams(&hashes, 5, |gram, _| sum = sum.wrapping_add(gram));
        }
        sum
    });
    Ok(())
}

fn measure(what: &str, bytes: usize, mut work: impl FnMut() -> u64) {
    let mut best = f64::INFINITY;
    for _ in 0..40 {
        let begin = Instant::now();
        black_box(work());
        best = best.min(begin.elapsed().as_secs_f64());
    }
    println!("{:>8.0} MB/s  {what}", bytes as f64 / 1e6 / best);
}

/// Splits the text into pages of about 16 kB.
fn pages(text: &str) -> Vec<&str> {
    let mut pages = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut size = rest.len().min(16_000);
        while !rest.is_char_boundary(size) {
            size += 1;
        }
        let (page, next) = rest.split_at(size);
        pages.push(page);
        rest = next;
    }
    pages
}

fn strip_tags(html: &str, text: &mut String) {
    for (number, part) in html.split('<').enumerate() {
        match part.split_once('>') {
            Some((_, after)) if number > 0 => text.push_str(after),
            _ => text.push_str(part),
        }
    }
}
