//! Measures the speed of grams, sketches and fingerprints on one core, and the effect of replaced
//! words on the fingerprints of segments in real text. `bench/run print` runs it alongside its
//! peers.
//!
//! ```text
//! cargo run --release -p cento-fingerprint --example print_speed -- texts TEXTS.jsonl FILE…
//! cargo run --release -p cento-fingerprint --example print_speed -- speed TEXTS.jsonl
//! ```
//!
//! The first writes one text per line, from HTML and plain text; the second measures and prints a
//! name, a tab and a number per line.

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::time::Instant;

use cento_fingerprint::{
    Scheme, SketchParameters, Sketcher, circular_grams, grams, packed_word_hash, word_hash,
};
use cento_text::html::{Extractor, Options};
use cento_text::plain::plain_text;
use cento_text::words::WordScanner;

/// The number of repetitions; the fastest round of each group of texts counts.
const ROUNDS: usize = 9;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["texts", texts, ref files @ ..] => write_texts(texts, files),
        ["speed", texts] => speed(texts),
        _ => Err("usage: print_speed texts TEXTS.jsonl FILE… | speed TEXTS.jsonl".into()),
    }
}

fn write_texts(path: &str, files: &[&str]) -> Result<(), Box<dyn Error>> {
    let mut out = BufWriter::new(fs::File::create(path)?);
    let mut extractor = Extractor::new();
    for file in files {
        let bytes = fs::read(file)?;
        let content = String::from_utf8_lossy(&bytes);
        let text = if file.ends_with(".html") {
            extractor
                .extract(&content, &Options::default())
                .text
                .clone()
        } else {
            plain_text(&content).into_owned()
        };
        serde_json::to_writer(&mut out, &text)?;
        out.write_all(b"\n")?;
    }
    Ok(out.flush()?)
}

fn speed(path: &str) -> Result<(), Box<dyn Error>> {
    let content = fs::read_to_string(path)?;
    let texts: Vec<String> = content
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    let megabytes = texts.iter().map(String::len).sum::<usize>() as f64 / 1e6;
    let mut scanner = WordScanner::new();
    let hashed: Vec<Vec<u64>> = texts
        .iter()
        .map(|text| hash_words(&mut scanner, text))
        .collect();
    let million_words = hashed.iter().map(Vec::len).sum::<usize>() as f64 / 1e6;
    report("texts", texts.len() as f64);
    report("megabytes", megabytes);
    report("million words", million_words);

    let mut words = Vec::new();
    let seconds = measure(&texts, |text| {
        words.clear();
        scanner.scan_keys(text, |key| {
            words.push(key.either(packed_word_hash, word_hash));
        });
        let mut sum = 0u64;
        grams(&words, 5, |gram, _| sum = sum.wrapping_add(gram));
        sum
    });
    report("text to 5-grams, MB/s", megabytes / seconds);

    let mut sketcher = Sketcher::new(SketchParameters::default());
    let seconds = measure(&texts, |text| {
        words.clear();
        scanner.scan_keys(text, |key| {
            words.push(key.either(packed_word_hash, word_hash));
        });
        sketcher
            .sketch(&words)
            .map_or(0, |sketch| sketch.minima()[0])
    });
    report("text to sketches, MB/s", megabytes / seconds);

    let gram_sets: Vec<Vec<u64>> = hashed.iter().map(|words| circle(words)).collect();
    let seconds = measure(&gram_sets, |grams| {
        sketcher.minima(grams).map_or(0, |minima| minima[0])
    });
    report("grams to sketches, million/s", million_words / seconds);
    let few: Vec<Vec<u64>> = gram_sets.iter().take(200).cloned().collect();
    let few_million = few.iter().map(Vec::len).sum::<usize>() as f64 / 1e6;
    let seconds = measure(&few, |grams| independent(grams));
    report(
        "grams to 84 independent minima, million/s",
        few_million / seconds,
    );
    for length in [10, 100, 300, 1_000, 10_000] {
        let sets: Vec<Vec<u64>> = (0..(2_000_000 / length).min(4_000))
            .map(|set| {
                let numbers: Vec<u64> = (0..length as u64)
                    .map(|word| word | (set as u64) << 32)
                    .collect();
                circle(&numbers)
            })
            .collect();
        let million = (sets.len() * length) as f64 / 1e6;
        let seconds = measure(&sets, |grams| {
            sketcher.minima(grams).map_or(0, |minima| minima[0])
        });
        report(
            &format!("the same, texts of {length} grams"),
            million / seconds,
        );
    }

    for scheme in Scheme::PAPER {
        let seconds = measure(&hashed, |words| {
            let mut sum = 0u64;
            scheme.for_each(words, |print| sum = sum.wrapping_add(print.hash));
            sum
        });
        report(
            &format!("words to {scheme}, million/s"),
            million_words / seconds,
        );
    }
    for p in [3, 6] {
        let (kept, matching) = robustness(Scheme::Dct { p }, &hashed);
        report(
            &format!("dct:p={p} kept under a replacement, %"),
            100.0 * kept,
        );
        report(&format!("dct:p={p} pairs to a false match"), 1.0 / matching);
    }
    let (kept, _) = robustness(Scheme::Break { p: 3, short: false }, &hashed);
    report("break:p=3 kept under a replacement, %", 100.0 * kept);
    Ok(())
}

fn report(name: &str, value: f64) {
    println!("{name}\t{value:.2}");
}

fn hash_words(scanner: &mut WordScanner, text: &str) -> Vec<u64> {
    let mut words = Vec::new();
    scanner.scan_keys(text, |key| {
        words.push(key.either(packed_word_hash, word_hash));
    });
    words
}

fn circle(words: &[u64]) -> Vec<u64> {
    let mut grams = Vec::with_capacity(words.len());
    circular_grams(words, 5, |gram| grams.push(gram));
    grams
}

/// Returns the seconds for one run over all inputs. Inputs are timed in small groups, and the
/// fastest round of each group counts, so that other load on the machine has little effect.
fn measure<T>(inputs: &[T], mut work: impl FnMut(&T) -> u64) -> f64 {
    let groups: Vec<&[T]> = inputs.chunks(inputs.len().div_ceil(100).max(1)).collect();
    let mut best = vec![f64::INFINITY; groups.len()];
    for _ in 0..ROUNDS {
        for (group, best) in groups.iter().zip(&mut best) {
            let begin = Instant::now();
            for input in *group {
                black_box(work(input));
            }
            *best = best.min(begin.elapsed().as_secs_f64());
        }
    }
    best.iter().sum()
}

/// The cost of sketches that apply 84 functions to each gram.
fn independent(grams: &[u64]) -> u64 {
    let mut minima = [u64::MAX; 84];
    for &gram in grams {
        let mut multiplier = 0x9e37_79b9_7f4a_7c15u64;
        for minimum in &mut minima {
            multiplier = multiplier.wrapping_add(0xd1b5_4a32_d192_ed06);
            *minimum = (*minimum).min(gram.wrapping_mul(multiplier));
        }
    }
    minima.iter().fold(0, |sum, minimum| sum ^ minimum)
}

/// The share of segments that keep their fingerprint when one of their words is replaced by one
/// from the texts; and the share of matches among pairs of segments that differ in more than one
/// word.
fn robustness(scheme: Scheme, texts: &[Vec<u64>]) -> (f64, f64) {
    let all: Vec<u64> = texts.iter().flatten().copied().collect();
    let mut state = 1u64;
    let mut below = |bound: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(state) * bound as u128) >> 64) as usize
    };
    let (mut kept, mut trials) = (0u32, 0u32);
    let mut segments: HashMap<&[u64], u64> = HashMap::new();
    for text in texts {
        for print in scheme.fingerprints(text).list() {
            let end = print.position + print.words;
            segments.insert(&text[print.position..end], print.hash);
            if below(8) > 0 {
                continue;
            }
            let mut changed = text[print.position..(end + 30).min(text.len())].to_vec();
            let offset = below(print.words);
            let replacement = all[below(all.len())];
            if replacement == changed[offset] {
                continue;
            }
            changed[offset] = replacement;
            let after = scheme.fingerprints(&changed);
            let first = after.list().first().filter(|first| first.position == 0);
            trials += 1;
            kept += u32::from(first.is_some_and(|first| first.hash == print.hash));
        }
    }
    // The pairs of a bucket are quadratic in its size, so a sample of segments is used.
    let mut sample: Vec<(&&[u64], &u64)> = segments.iter().collect();
    sample.sort_unstable_by_key(|(segment, _)| {
        segment
            .iter()
            .fold(0u64, |sum, word| sum.rotate_left(9) ^ word)
    });
    sample.truncate(60_000);
    let mut buckets: HashMap<u64, Vec<&[u64]>> = HashMap::new();
    for (segment, hash) in &sample {
        buckets.entry(**hash).or_default().push(segment);
    }
    let mut matches = 0u64;
    for bucket in buckets.values() {
        for (index, one) in bucket.iter().enumerate() {
            for other in &bucket[..index] {
                let differences = one
                    .iter()
                    .zip(other.iter())
                    .filter(|(left, right)| left != right)
                    .count();
                matches += u64::from(one.len() != other.len() || differences > 1);
            }
        }
    }
    let count = sample.len() as f64;
    (
        f64::from(kept) / f64::from(trials),
        matches as f64 / (count * (count - 1.0) / 2.0),
    )
}
