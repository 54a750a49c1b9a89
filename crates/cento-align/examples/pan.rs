//! Measures passages against the truth of PAN's text alignment task: precision, recall, granularity
//! and plagdet as PAN defines them, in characters, for each kind of obfuscation.
//!
//! ```text
//!   cargo run --release -p cento-align --example pan -- FOLDER [even|even-0|even-1|odd|all] [near]
//! ```
//!
//! `near` finds passages as `cento passages` does in a corpus: of pairs that share two
//! fingerprints, around these.
//!
//! FOLDER has `susp/`, `src/` and a folder of XML files for each kind. Pairs are divided into
//! halves by a hash of their names: one to tune on, one to report.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "it is a measurement"
)]

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use cento_align::{AlignSettings, Aligner, Document, Fold, Passage, word_hashes};
use cento_fingerprint::Scheme;

#[derive(Clone, Copy, Debug)]
struct Case {
    suspicious: (usize, usize),
    source: (usize, usize),
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let begin = tag.find(&format!(" {name}=\""))? + name.len() + 3;
    tag[begin..].split('"').next()
}

fn cases(xml: &str) -> Vec<Case> {
    let plagiarism = xml
        .split('<')
        .filter(|tag| attribute(tag, "name") == Some("plagiarism"));
    plagiarism
        .filter_map(|tag| {
            let number = |name| attribute(tag, name)?.parse::<usize>().ok();
            let (this, length) = (number("this_offset")?, number("this_length")?);
            let (source, extent) = (number("source_offset")?, number("source_length")?);
            Some(Case {
                suspicious: (this, this + length),
                source: (source, source + extent),
            })
        })
        .collect()
}

fn common(one: (usize, usize), other: (usize, usize)) -> usize {
    one.1.min(other.1).saturating_sub(one.0.max(other.0))
}

/// How many characters of `case` the spans cover.
fn covered(case: (usize, usize), spans: impl Iterator<Item = (usize, usize)>) -> usize {
    let mut spans: Vec<_> = spans
        .map(|span| (span.0.max(case.0), span.1.min(case.1)))
        .filter(|span| span.0 < span.1)
        .collect();
    spans.sort_unstable();
    let (mut sum, mut end) = (0, 0);
    for (begin, finish) in spans {
        sum += finish.saturating_sub(begin.max(end));
        end = end.max(finish);
    }
    sum
}

fn is_detected(case: &Case, detection: &Case) -> bool {
    common(case.suspicious, detection.suspicious) > 0 && common(case.source, detection.source) > 0
}

/// The mean share of each case that is covered by detections of it.
fn mean_share(cases: &[Vec<Case>], detections: &[Vec<Case>]) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for (cases, detections) in cases.iter().zip(detections) {
        for case in cases {
            let of = || detections.iter().filter(|found| is_detected(case, found));
            let found = covered(case.suspicious, of().map(|found| found.suspicious))
                + covered(case.source, of().map(|found| found.source));
            let size = case.suspicious.1 - case.suspicious.0 + case.source.1 - case.source.0;
            sum += found as f64 / size.max(1) as f64;
            count += 1;
        }
    }
    sum / f64::from(count.max(1))
}

fn granularity(cases: &[Vec<Case>], detections: &[Vec<Case>]) -> f64 {
    let (mut sum, mut count) = (0, 0);
    for (cases, detections) in cases.iter().zip(detections) {
        for case in cases {
            let found = detections.iter().filter(|found| is_detected(case, found));
            let found = found.count();
            sum += found;
            count += usize::from(found > 0);
        }
    }
    if count == 0 {
        1.0
    } else {
        sum as f64 / count as f64
    }
}

fn half_of(name: &str) -> u32 {
    name.bytes()
        .fold(17u32, |hash, byte| {
            hash.wrapping_mul(31).wrapping_add(byte.into())
        })
        .wrapping_mul(2_654_435_761)
        >> 31
}

/// The two halves of the first half, for cross-validation while tuning.
fn quarter_of(name: &str) -> u32 {
    name.bytes()
        .fold(5u32, |hash, byte| {
            hash.wrapping_mul(37).wrapping_add(byte.into())
        })
        .wrapping_mul(2_654_435_761)
        >> 31
}

/// Where the fingerprints of a text begin first, by their hash.
fn places(text: &str) -> HashMap<u64, u32> {
    let (mut words, mut begins) = (Vec::new(), Vec::new());
    word_hashes(text, Fold::None, |hash, begin| {
        words.push(hash);
        begins.push(begin as u32);
    });
    let mut places = HashMap::new();
    Scheme::Winnow { k: 5, w: 4 }.for_each(&words, |fingerprint| {
        let place = places.entry(fingerprint.hash);
        place.or_insert(begins[fingerprint.position]);
    });
    places
}

fn near(aligner: &mut Aligner, a: &str, b: &str) -> Vec<Passage> {
    let (in_a, in_b) = (places(a), places(b));
    let shared = in_a
        .iter()
        .filter_map(|(hash, place)| Some((*place, *in_b.get(hash)?)));
    let mut shared: Vec<(u32, u32)> = shared.collect();
    shared.sort_unstable();
    match shared.len() {
        0 | 1 => Vec::new(),
        _ => aligner.align_near(&Document::new(a), &Document::new(b), &shared),
    }
}

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_near = arguments.last().is_some_and(|last| last == "near");
    arguments.truncate(arguments.len() - usize::from(is_near));
    let folder = Path::new(&arguments[0]);
    let half = arguments.get(1).map_or("all", String::as_str);
    let verbose = arguments.get(2).map(String::as_str);
    let settings = AlignSettings::default();
    let mut texts: HashMap<String, String> = HashMap::new();
    println!(
        "kind                         pairs  cases plagdet precision recall granularity pairs/s"
    );
    for kind in [
        "01-no-plagiarism",
        "02-no-obfuscation",
        "03-random-obfuscation",
        "04-translation-obfuscation",
        "05-summary-obfuscation",
    ] {
        let mut names: Vec<_> = std::fs::read_dir(folder.join(kind))
            .unwrap()
            .flatten()
            .map(|entry| entry.file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".xml"))
            .filter(|name| match half {
                "even" => half_of(name) == 0,
                "odd" => half_of(name) == 1,
                "even-0" => half_of(name) == 0 && quarter_of(name) == 0,
                "even-1" => half_of(name) == 0 && quarter_of(name) == 1,
                _ => true,
            })
            .collect();
        names.sort();
        let (mut truth, mut found) = (Vec::new(), Vec::new());
        let mut aligner = Aligner::new(settings.clone());
        let mut seconds = 0.0;
        for name in &names {
            let xml = std::fs::read_to_string(folder.join(kind).join(name)).unwrap();
            let (one, other) = name.trim_end_matches(".xml").split_once("-source").unwrap();
            let one = format!("susp/{one}.txt");
            let other = format!("src/source{other}.txt");
            for path in [&one, &other] {
                if !texts.contains_key(path) {
                    let bytes = std::fs::read(folder.join(path)).unwrap();
                    texts.insert(path.clone(), String::from_utf8_lossy(&bytes).into_owned());
                }
            }
            let begun = Instant::now();
            let passages = match is_near {
                true => near(&mut aligner, &texts[&one], &texts[&other]),
                false => aligner.align_texts(&texts[&one], &texts[&other]),
            };
            seconds += begun.elapsed().as_secs_f64();
            let detected: Vec<Case> = passages
                .iter()
                .map(|passage| Case {
                    suspicious: (passage.a_chars.start, passage.a_chars.end),
                    source: (passage.b_chars.start, passage.b_chars.end),
                })
                .collect();
            let real = cases(&xml);
            if verbose == Some(&kind[..2]) {
                println!("{name}");
                for case in &real {
                    println!("   truth {case:?}");
                }
                for (case, passage) in detected.iter().zip(&passages) {
                    println!(
                        "   found {case:?} {} {:.3}",
                        passage.kind.as_str(),
                        passage.identical
                    );
                }
            }
            truth.push(real);
            found.push(detected);
        }
        let (precision, recall) = (mean_share(&found, &truth), mean_share(&truth, &found));
        let fragments = granularity(&truth, &found);
        let f1 = if precision + recall > 0.0 {
            2.0 * precision * recall / (precision + recall)
        } else {
            0.0
        };
        let count: usize = truth.iter().map(Vec::len).sum();
        let detections: usize = found.iter().map(Vec::len).sum();
        println!(
            "{kind:28} {:5} {count:6} {:7.4} {precision:9.4} {recall:6.4} {fragments:11.4} {:7.0}   ({detections} found)",
            names.len(),
            f1 / (1.0 + fragments).log2(),
            names.len() as f64 / seconds
        );
    }
}
