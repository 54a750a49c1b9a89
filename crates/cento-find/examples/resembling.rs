//! Finds all pairs of texts that resemble each other, exactly and without sketches. `bench/compare
//! copies` compares findings with them.
//!
//! ```text
//! cargo run --release -p cento-find --example resembling -- TEXTS.jsonl 0.8 > pairs.tsv
//! ```
//!
//! Prefix filtering: two sets with a resemblance of R share a gram among the first share (1 − R) of
//! each, in any fixed order of grams. With rare grams first, few pairs do, and these are compared
//! in full.

use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};

use cento_find::words::{WordHasher, resemblance};

#[derive(serde::Deserialize)]
struct Line {
    url: String,
    text: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, least] = &arguments[..] else {
        return Err("usage: resembling TEXTS.jsonl RESEMBLANCE".into());
    };
    let least: f64 = least.parse()?;
    let (mut urls, mut sets) = (Vec::new(), Vec::<Vec<u64>>::new());
    let mut hasher = WordHasher::default();
    for line in BufReader::new(File::open(file)?).lines() {
        let line: Line = serde_json::from_str(&line?)?;
        let mut set = Vec::new();
        hasher.gram_set(&line.text, 5, &mut set);
        urls.push(line.url);
        sets.push(set);
    }
    let mut all: Vec<u64> = sets.iter().flatten().copied().collect();
    all.sort_unstable();
    let pages_of = |gram: u64| {
        let begin = all.partition_point(|&other| other < gram);
        all.partition_point(|&other| other <= gram) - begin
    };
    let mut first: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut out = BufWriter::new(std::io::stdout().lock());
    for (page, set) in sets.iter().enumerate() {
        let needed = (least * set.len() as f64).ceil() as usize;
        let mut ranked: Vec<(usize, u64)> =
            set.iter().map(|&gram| (pages_of(gram), gram)).collect();
        ranked.sort_unstable();
        ranked.truncate(set.len() + 1 - needed.max(1));
        let mut candidates: Vec<usize> = Vec::new();
        for (_, gram) in ranked {
            let pages = first.entry(gram).or_default();
            candidates.extend(pages.iter());
            pages.push(page);
        }
        candidates.sort_unstable();
        candidates.dedup();
        for other in candidates {
            let resemblance = resemblance(set, &sets[other]);
            if resemblance >= least {
                writeln!(out, "{}\t{}\t{resemblance:.6}", urls[other], urls[page])?;
            }
        }
    }
    Ok(())
}
