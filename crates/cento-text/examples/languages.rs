//! Measures the accuracy and speed of language detection on texts of known language.
//!
//! `cargo run --release -p cento-text --example languages -- LANGUAGE=FILE…`
//!
//! Tags are removed from the files in a simple way.

use std::collections::BTreeMap;
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use cento_text::language::detect;

fn main() -> Result<(), Box<dyn Error>> {
    let mut texts = Vec::new();
    for argument in std::env::args().skip(1) {
        let (language, path) = argument
            .split_once('=')
            .ok_or("usage: languages LANGUAGE=FILE…")?;
        let html = String::from_utf8_lossy(&std::fs::read(path)?).into_owned();
        texts.push((language.to_owned(), path.to_owned(), without_tags(&html)));
    }
    let mut tally: BTreeMap<&str, (usize, usize, usize)> = BTreeMap::new();
    for (language, path, text) in &texts {
        let counts = tally.entry(language).or_default();
        match detect(text) {
            Some(found) if found == language => counts.0 += 1,
            Some(found) => {
                counts.1 += 1;
                println!("{path}: detected as {found}");
            }
            None => counts.2 += 1,
        }
    }
    for (language, (right, wrong, none)) in &tally {
        println!("{language}: {right} right, {wrong} wrong, {none} unknown");
    }
    let mut best = f64::INFINITY;
    for _ in 0..10 {
        let begin = Instant::now();
        for (_, _, text) in &texts {
            black_box(detect(text));
        }
        best = best.min(begin.elapsed().as_secs_f64());
    }
    println!("{:.1} µs per text", best * 1e6 / texts.len() as f64);
    Ok(())
}

fn without_tags(html: &str) -> String {
    let body = html.split_once("<body").map_or(html, |(_, body)| body);
    body.split('<')
        .filter_map(|part| part.split_once('>'))
        .map(|(_, after)| after)
        .collect()
}
