//! How fast records are read, and read and decoded, on one core.
//!
//! ```text
//! cargo run --release -p cento-read --example read_speed -- [--list] FILE…
//! ```
//! `--list` prints what every record became instead.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Instant;

use cento_read::{Content, Item, Settings, Start, decode, resolve};

fn main() -> Result<(), Box<dyn Error>> {
    let mut specs: Vec<String> = std::env::args().skip(1).collect();
    let list = specs.first().is_some_and(|first| first == "--list");
    if list {
        specs.remove(0);
    }
    let settings = Settings::default();
    let resolved = resolve(&specs, &settings)?;
    for ignored in &resolved.ignored {
        println!(
            "ignored {}: {} ({})",
            ignored.cause, ignored.count, ignored.example
        );
    }
    // Three rounds each: the first one also pays for what is not in memory yet.
    let rounds = if list {
        vec![true]
    } else {
        [[false; 3], [true; 3]].concat()
    };
    for decoding in rounds {
        let begin = Instant::now();
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        let (mut stored, mut unpacked, mut text) = (0, 0, 0);
        for input in &resolved.inputs {
            let mut reader = input.open(&settings, Start::default())?;
            while let Some(item) = reader.next()? {
                let place = *item.place();
                let (what, detail) = match item {
                    Item::Ignored(ignored) => {
                        (format!("ignored {}", ignored.kind.name()), String::new())
                    }
                    Item::Skipped(skipped) => {
                        (format!("skipped {}", skipped.cause), skipped.detail)
                    }
                    Item::Record(record) => {
                        unpacked += record.memory() as u64;
                        if decoding {
                            match decode(record, &settings) {
                                Err(skipped) => {
                                    (format!("skipped {}", skipped.cause), skipped.detail)
                                }
                                Ok(decoded) => {
                                    text += match &decoded.page.content {
                                        Content::Html(text) | Content::Text(text) => {
                                            text.len() as u64
                                        }
                                        Content::None => 0,
                                    };
                                    match decoded.reject {
                                        Some(reject) => (
                                            format!("rejected {}", reject.reason),
                                            format!("{} {}", decoded.page.url, reject.detail),
                                        ),
                                        None => ("page".to_owned(), decoded.page.url),
                                    }
                                }
                            }
                        } else {
                            ("record".to_owned(), String::new())
                        }
                    }
                };
                if list {
                    println!(
                        "{} {} @{}+{} {what} {detail}",
                        input.name, place.ordinal, place.offset, place.length
                    );
                }
                *counts.entry(what).or_default() += 1;
            }
            stored += reader.bytes_read();
        }
        let seconds = begin.elapsed().as_secs_f64();
        let rate = |bytes: u64| bytes as f64 / 1e6 / seconds;
        println!(
            "{}: {seconds:.3} s, {:.0} MB/s as stored, {:.0} MB/s unpacked, {:.0} MB/s of text, {counts:?}",
            if decoding { "read and decode" } else { "read" },
            rate(stored),
            rate(unpacked),
            rate(text)
        );
    }
    Ok(())
}
