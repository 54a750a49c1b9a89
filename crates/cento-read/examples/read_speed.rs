//! Measures how fast records are read and decoded.
//!
//! ```text
//! cargo run --release -p cento-read --example read_speed -- \
//!     [--list | --once] [--threads N] [--helpers N] FILE…
//! ```
//! `--list` prints the result for every record instead. `--once` reads once, without decoding, and
//! prints the number of records of each kind as JSON, for `bench/compare read`. `--threads` is the
//! number of files to read at a time, `--helpers` the number of threads that decompress ahead of
//! each of them. Without either, one core does everything.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use cento_read::{Content, Input, Item, Settings, Start, decode, resolve};

/// Totals of what was read.
#[derive(Default)]
struct Sum {
    stored: u64,
    unpacked: u64,
    text: u64,
    counts: BTreeMap<String, u64>,
}

/// What to do with each record.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Read,
    Decode,
    List,
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut specs, mut settings) = (Vec::new(), Settings::default());
    let (mut list, mut once, mut threads) = (false, false, 1);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().unwrap_or_default().parse();
        match argument.as_str() {
            "--list" => list = true,
            "--once" => once = true,
            "--threads" => threads = number()?,
            "--helpers" => settings.helpers = number()?,
            _ => specs.push(argument),
        }
    }
    let resolved = resolve(&specs, &settings)?;
    for ignored in &resolved.ignored {
        println!(
            "ignored {}: {} ({})",
            ignored.cause, ignored.count, ignored.example
        );
    }
    if list {
        for input in &resolved.inputs {
            read(input, &settings, Mode::List, &mut Sum::default())?;
        }
        return Ok(());
    }
    // Three rounds each: in the first one, the files may not be in memory yet.
    let modes = if once {
        vec![Mode::Read]
    } else {
        [[Mode::Read; 3], [Mode::Decode; 3]].concat()
    };
    for mode in modes {
        let begin = Instant::now();
        let next = AtomicUsize::new(0);
        let sums = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|_| scope.spawn(|| read_some(&resolved.inputs, &next, &settings, mode)))
                .collect();
            workers
                .into_iter()
                .map(|worker| worker.join().unwrap_or_else(|_| Err("panicked".into())))
                .collect::<Result<Vec<Sum>, String>>()
        })?;
        let seconds = begin.elapsed().as_secs_f64();
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for (what, count) in sums.iter().flat_map(|sum| &sum.counts) {
            *counts.entry(what.clone()).or_default() += count;
        }
        if once {
            let records: Vec<String> = (counts.iter())
                .map(|(kind, count)| format!("{kind:?}: {count}"))
                .collect();
            println!("{{\"records\": {{{}}}}}", records.join(", "));
            return Ok(());
        }
        let rate =
            |bytes: fn(&Sum) -> u64| sums.iter().map(bytes).sum::<u64>() as f64 / 1e6 / seconds;
        println!(
            "{}: {seconds:.3} s, {:.0} MB/s as stored, {:.0} MB/s unpacked, {:.0} MB/s of text, {counts:?}",
            if mode == Mode::Decode {
                "read and decode"
            } else {
                "read"
            },
            rate(|sum| sum.stored),
            rate(|sum| sum.unpacked),
            rate(|sum| sum.text)
        );
    }
    Ok(())
}

fn read_some(
    inputs: &[Input],
    next: &AtomicUsize,
    settings: &Settings,
    mode: Mode,
) -> Result<Sum, String> {
    let mut sum = Sum::default();
    while let Some(input) = inputs.get(next.fetch_add(1, Ordering::Relaxed)) {
        read(input, settings, mode, &mut sum).map_err(|error| error.to_string())?;
    }
    Ok(sum)
}

fn read(
    input: &Input,
    settings: &Settings,
    mode: Mode,
    sum: &mut Sum,
) -> Result<(), Box<dyn Error>> {
    let mut reader = input.open(settings, Start::default())?;
    while let Some(item) = reader.next()? {
        let place = *item.place();
        let (what, detail) = match item {
            Item::Ignored(ignored) => (format!("ignored {}", ignored.kind.name()), String::new()),
            Item::Skipped(skipped) => (format!("skipped {}", skipped.cause), skipped.detail),
            Item::Record(record) => {
                sum.unpacked += record.memory() as u64;
                if mode == Mode::Read {
                    ("record".to_owned(), String::new())
                } else {
                    let (what, detail, text) = decoded(record, settings);
                    sum.text += text;
                    (what, detail)
                }
            }
        };
        if mode == Mode::List {
            println!(
                "{} {} @{}+{} {what} {detail}",
                input.name, place.ordinal, place.offset, place.length
            );
        }
        *sum.counts.entry(what).or_default() += 1;
    }
    sum.stored += reader.bytes_read();
    Ok(())
}

/// The result of decoding a record, details, and the number of bytes of markup or text.
fn decoded(record: cento_read::Record, settings: &Settings) -> (String, String, u64) {
    match decode(record, settings) {
        Err(skipped) => (format!("skipped {}", skipped.cause), skipped.detail, 0),
        Ok(decoded) => {
            let text = match &decoded.page.content {
                Content::Html(text) | Content::Text(text) => text.len() as u64,
                Content::None => 0,
            };
            match decoded.reject {
                Some(reject) => (
                    format!("rejected {}", reject.reason),
                    format!("{} {}", decoded.page.url, reject.detail),
                    text,
                ),
                None => ("page".to_owned(), decoded.page.url, text),
            }
        }
    }
}
