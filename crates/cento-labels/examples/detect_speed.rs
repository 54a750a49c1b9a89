//! Measures the detector and the opening of label files.
//!
//! ```text
//!   detect_speed make LABELS COUNT [TEXTS]   writes COUNT labels, random and of every tenth page
//!   detect_speed run LABELS TEXTS            detector and SHA-1 over the same chunks; best of five
//!   detect_speed open LABELS                 time to open, time of a million lookups, memory
//! ```
//!
//! Pages in TEXTS are separated by NUL. It runs on one thread.

#![expect(
    clippy::unwrap_used,
    reason = "a measurement that fails should stop there"
)]

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use cento_labels::{Detector, Labels, LabelsWriter, Recipe};
use sha1::{Digest, Sha1};

const ROUNDS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["make", labels, count] => make(Path::new(labels), count.parse().unwrap(), ""),
        ["make", labels, count, texts] => {
            let texts = std::fs::read_to_string(texts).unwrap();
            make(Path::new(labels), count.parse().unwrap(), &texts);
        }
        ["run", labels, texts] => run(Path::new(labels), &std::fs::read_to_string(texts).unwrap()),
        ["open", labels] => open(Path::new(labels)),
        _ => eprintln!("make LABELS COUNT [TEXTS] | run LABELS TEXTS | open LABELS"),
    }
}

/// Returns a pseudo-random number that is the same in every run.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Returns the hash of a number. Hashes are in the order of the numbers and evenly distributed.
fn random_hash(number: u64, count: u64) -> [u8; 16] {
    let step = u64::MAX / count.max(1);
    let high = number * step + mixed(number) % step.max(1);
    (u128::from(high) << 64 | u128::from(mixed(high))).to_be_bytes()
}

fn make(path: &Path, count: u64, texts: &str) {
    let recipe = Recipe::default();
    let mut real = Vec::new();
    let mut buffer = String::new();
    for page in texts.split('\0').step_by(10) {
        recipe.cut(page, &mut buffer, |_, hash| real.push(hash));
    }
    real.sort_unstable();
    real.dedup();
    let rest = count.saturating_sub(real.len() as u64);
    let started = Instant::now();
    let mut writer = LabelsWriter::create(path, recipe, count).unwrap();
    let mut real = real.into_iter().peekable();
    for number in 0..rest {
        let hash = random_hash(number, rest);
        while let Some(before) = real.next_if(|real| *real < hash) {
            writer.push(before).unwrap();
        }
        writer.push(hash).unwrap();
    }
    real.for_each(|hash| writer.push(hash).unwrap());
    let stops = cento_labels::StopList::built_in().hashes(&recipe);
    let header = writer.finish(&stops, serde_json::Value::Null).unwrap();
    let bytes = std::fs::metadata(path).unwrap().len();
    println!(
        "{} labels in {} bytes, made in {:.1} s, at most {} MiB of memory",
        header.labels,
        bytes,
        started.elapsed().as_secs_f64(),
        status("VmHWM") >> 10
    );
}

fn run(path: &Path, texts: &str) {
    let labels = Labels::open(path).unwrap();
    labels.verify().unwrap();
    let pages: Vec<&str> = texts.split('\0').collect();
    let mut detector = Detector::new(&labels);
    let (mut best, mut matched, mut chunks) = (f64::MAX, 0, 0);
    for _ in 0..ROUNDS {
        let started = Instant::now();
        (matched, chunks) = (0u64, 0u64);
        for page in &pages {
            let verdict = black_box(detector.page(page));
            matched += u64::from(verdict.matched);
            chunks += u64::from(verdict.chunks);
        }
        best = best.min(started.elapsed().as_secs_f64());
    }
    let recipe = labels.header().recipe;
    let mut hashed = f64::MAX;
    for _ in 0..ROUNDS {
        let started = Instant::now();
        for page in &pages {
            cento_text::chunk::chunks(page, recipe.chunk, |range| {
                black_box(Sha1::digest(&page.as_bytes()[range]));
            });
        }
        hashed = hashed.min(started.elapsed().as_secs_f64());
    }
    let megabytes = texts.len() as f64 / 1e6;
    println!(
        "{megabytes:.0} MB of text, {} pages, {chunks} chunks, {matched} matched, {} labels",
        pages.len(),
        labels.len()
    );
    println!("verdict {:.0} MB/s", megabytes / best);
    println!("sha1 {:.0} MB/s", megabytes / hashed);
}

fn open(path: &Path) {
    let before = status("VmRSS");
    let started = Instant::now();
    let labels = Labels::open(path).unwrap();
    let opened = started.elapsed().as_secs_f64();
    let at_once = status("VmRSS") - before;
    let started = Instant::now();
    let count = labels.len();
    let found = (0..1_000_000u64)
        .filter(|&number| {
            // Half of the lookups are of labels.
            let at = mixed(number) % count.max(1);
            let hash = labels.get(at).unwrap();
            let hash = if number % 2 == 0 {
                hash
            } else {
                random_hash(number, 3)
            };
            labels.find(&hash).is_some()
        })
        .count();
    let searched = started.elapsed().as_secs_f64();
    let started = Instant::now();
    labels.verify().unwrap();
    println!(
        "{count} labels: opened in {:.1} ms with {at_once} KiB; a million lookups in {searched:.2} s, {found} found; verified in {:.2} s; \
         at most {} MiB resident, {} MiB of them anonymous",
        opened * 1e3,
        started.elapsed().as_secs_f64(),
        status("VmHWM") >> 10,
        status("RssAnon") >> 10
    );
}

/// Returns a value of `/proc/self/status` in KiB.
fn status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(name));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}
