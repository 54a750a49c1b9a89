//! The slow oracle of `copies`: finds the pairs of kept pages that resemble each other after all.
//!
//! ```text
//!   cargo run --release -p cento-find --example all_pairs -- CORPUS CORPUS/findings/copies/RUN 0.8
//! ```
//!
//! The grams of all kept pages are in memory. Pairs are found exactly, by prefix filtering: with
//! grams sorted from rare to common, two sets with a resemblance of R share one of the first
//! `n - R n + 1` grams of each.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a tool for developers"
)]

use std::collections::{HashMap, HashSet};
use std::path::Path;

use cento_find::copies::{CopyPairRow, PAIRS};
use cento_find::words::{WordHasher, resemblance};
use cento_find::{CorpusPages, read_rows};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [corpus, findings, least] = arguments.as_slice() else {
        println!("usage: all_pairs CORPUS FINDINGS R");
        return;
    };
    let least: f64 = least.parse().unwrap();
    let mut removed: HashSet<u64> = HashSet::new();
    let pairs = format!("{}.parquet", PAIRS.as_str());
    for row in read_rows::<CopyPairRow>(&Path::new(findings).join(pairs)).unwrap() {
        removed.insert(row.unwrap().page_id);
    }
    let source = CorpusPages::open(&[Path::new(corpus)]).unwrap();
    let mut kept: Vec<(u32, String)> = Vec::new();
    for task in 0..source.page_tasks().len() {
        source
            .for_each_page(task, |facts| {
                if facts.reject.is_none() && !removed.contains(&facts.page_id) {
                    kept.push((facts.number, facts.url.to_owned()));
                }
                Ok::<_, cento_find::Error>(())
            })
            .unwrap();
    }
    kept.sort_unstable();
    let numbers: Vec<u32> = kept.iter().map(|(number, _)| *number).collect();
    let mut sets: Vec<Vec<u64>> = Vec::new();
    let mut hasher = WordHasher::default();
    source
        .texts(&numbers, |_, text| {
            let mut set = Vec::new();
            hasher.gram_set(text, 5, &mut set);
            sets.push(set);
            Ok::<_, cento_find::Error>(())
        })
        .unwrap();
    let mut frequency: HashMap<u64, u32> = HashMap::new();
    for gram in sets.iter().flatten() {
        *frequency.entry(*gram).or_default() += 1;
    }
    let mut index: HashMap<u64, Vec<usize>> = HashMap::new();
    let (mut pairs, mut pages) = (0, HashSet::new());
    let mut bins = [0; 5];
    for (at, set) in sets.iter().enumerate() {
        let mut rare_first = set.clone();
        rare_first.sort_unstable_by_key(|gram| (frequency[gram], *gram));
        let prefix = set.len() - (least * set.len() as f64 - 1e-9).ceil() as usize + 1;
        let mut candidates: HashSet<usize> = HashSet::new();
        for gram in rare_first.iter().take(prefix) {
            candidates.extend(index.get(gram).into_iter().flatten());
            index.entry(*gram).or_default().push(at);
        }
        for of in candidates {
            let size = set.len() as f64 / sets[of].len() as f64;
            if size < least || size > 1.0 / least {
                continue;
            }
            let found = resemblance(set, &sets[of]);
            if found >= least {
                pairs += 1;
                pages.insert(at.max(of));
                bins[(((found - least) / 0.05) as usize).min(4)] += 1;
                if pairs <= 20 {
                    println!("{found:.4} {} {}", kept[at].1, kept[of].1);
                }
            }
        }
    }
    println!(
        "{} kept pages; {pairs} pairs of them have a resemblance of at least {least}; {} pages should have been removed; by 0.05: {bins:?}",
        kept.len(),
        pages.len()
    );
}
