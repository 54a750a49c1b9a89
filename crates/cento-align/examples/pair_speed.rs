//! Measures pairs a second of processor time for pages of 1,000 words, and how the time of hostile
//! texts grows with their length.
//!
//! ```text
//!   cargo run --release -p cento-align --example pair_speed -- FOLDER
//! ```
//!
//! FOLDER has text files, which are cut into pages of 1,000 words. Each page is prepared once and
//! compared with 20 others; every second pair shares a passage of 100 words.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "it is a measurement"
)]

use cento_align::{AlignSettings, Aligner, Document};

const WORDS: usize = 1_000;
const PAGES: usize = 400;
const OTHERS: usize = 20;

/// The seconds of processor time of this thread.
fn seconds() -> f64 {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    times.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

fn pages(folder: &str) -> Vec<String> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut words: Vec<String> = Vec::new();
    for file in files {
        let bytes = std::fs::read(file).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        words.extend(text.split_whitespace().map(str::to_owned));
        if words.len() >= PAGES * WORDS {
            break;
        }
    }
    let mut pages: Vec<Vec<String>> = words.chunks_exact(WORDS).map(<[_]>::to_vec).collect();
    pages.truncate(PAGES);
    // Every page has a passage of the page before it, so that neighbours share text.
    for at in 1..pages.len() {
        let passage = pages[at - 1][100..200].to_vec();
        pages[at][600..700].clone_from_slice(&passage);
    }
    pages.iter().map(|words| words.join(" ")).collect()
}

fn main() {
    let folder = std::env::args().nth(1).unwrap();
    let pages = pages(&folder);
    let begun = seconds();
    let documents: Vec<Document<'_>> = pages.iter().map(|page| Document::new(page)).collect();
    let prepared = seconds() - begun;
    let mut aligner = Aligner::new(AlignSettings::default());
    let (mut pairs, mut found) = (0u32, 0);
    let begun = seconds();
    for at in 0..documents.len() {
        for step in 0..OTHERS {
            // Neighbours, and pages far away.
            let other = match step % 2 {
                0 => (at + 1) % documents.len(),
                _ => (at + 7 * step + 2) % documents.len(),
            };
            found += aligner.align(&documents[other], &documents[at]).len();
            pairs += 1;
        }
    }
    let aligned = seconds() - begun;
    let count = documents.len() as f64;
    println!("pages                 {count:>8}   of {WORDS} words");
    println!("prepared a second     {:>8.0}", count / prepared);
    println!(
        "pairs a second        {:>8.0}   ({pairs} pairs, {found} passages)",
        f64::from(pairs) / aligned
    );
    println!(
        "with their preparation{:>8.0}   if each page is in {OTHERS} pairs",
        f64::from(pairs) / (aligned + prepared)
    );
    type Make = fn(usize) -> String;
    let hostile: [(&str, Make); 4] = [
        ("periodic", |bytes| {
            "to be or not to be that is the question ".repeat(bytes / 40)
        }),
        ("one word", |bytes| "spam ".repeat(bytes / 5)),
        ("one sentence", |bytes| {
            "It is what it is. ".repeat(bytes / 18)
        }),
        ("few words", |bytes| {
            let word = |at: usize| {
                format!(
                    "w{}{}",
                    at * 7919 * at % 97,
                    if at.is_multiple_of(9) { ". " } else { " " }
                )
            };
            (0..bytes / 4).map(word).collect()
        }),
    ];
    println!(
        "hostile text          {:>8} {:>8} {:>8}   seconds, both sides of this size",
        "1 MB", "10 MB", "growth"
    );
    for (name, make) in hostile {
        let times = [1_000_000, 10_000_000].map(|bytes| {
            let (a, b) = (make(bytes), make(bytes));
            let begun = seconds();
            Aligner::new(AlignSettings::default()).align_texts(&a, &b);
            seconds() - begun
        });
        println!(
            "{name:22}{:>8.2} {:>8.2} {:>8.1}",
            times[0],
            times[1],
            times[1] / times[0]
        );
    }
}
