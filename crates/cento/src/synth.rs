//! `cento synth`.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use cento_store::{Corpus, Progress};
use cento_synth::{Check, CheckSummary, Mix, PageKind, SynthSettings, Synthesis, SynthesisSummary};
use serde_json::json;

use crate::arguments::SynthArguments;
use crate::failure::Failure;
use crate::interrupt::on_interrupt;
use crate::meter::Meter;
use crate::output::{Lines, clean, number, print, size, table};

pub(crate) fn run(arguments: &SynthArguments) -> Result<ExitCode, Failure> {
    let progress = Arc::new(Progress::default());
    let cancelled = Arc::clone(&progress);
    let _stop = on_interrupt(move || cancelled.cancel());
    match (&arguments.output, &arguments.check) {
        (_, Some(corpus)) => check(arguments, corpus, &progress),
        (Some(folder), None) => make(arguments, folder, &progress),
        (None, None) => Err(Failure::usage(
            "nothing to make and nothing to check".to_owned(),
            "give -o DIR or --check CORPUS",
        )),
    }
}

fn settings(arguments: &SynthArguments) -> Result<SynthSettings, Failure> {
    let mut settings = SynthSettings::new(arguments.seed, arguments.pages);
    if let Some(files) = arguments.files {
        settings.files = files;
    }
    if let Some(list) = &arguments.languages {
        settings.languages = languages(list)?;
    }
    settings.words = arguments.words;
    settings.edit_rates.clone_from(&arguments.edit_rates);
    settings.quilt_sources = arguments.quilt_sources;
    settings.grams = arguments.grams;
    if arguments.plain {
        settings.mix = Mix::plain();
    }
    let shares = &arguments.shares;
    for (kind, share) in [
        (PageKind::Exact, shares.exact),
        (PageKind::Near, shares.near),
        (PageKind::Quilt, shares.quilts),
        (PageKind::Aggregator, shares.aggregators),
        (PageKind::Passage, shares.passages),
        (PageKind::Original, shares.originals),
        (PageKind::Stolen, shares.stolen),
        (PageKind::News, shares.news),
        (PageKind::Farm, shares.farms),
        (PageKind::Spam, shares.spam),
        (PageKind::Mirror, shares.mirrors),
        (PageKind::Alias, shares.aliases),
        (PageKind::Revisit, shares.revisits),
        (PageKind::Trap, shares.traps),
        (PageKind::Damaged, shares.damaged),
    ] {
        if let Some(share) = share {
            settings.mix.set(kind, share);
        }
    }
    Ok(settings)
}

/// `en:3,de` as languages with weights.
fn languages(list: &str) -> Result<Vec<(String, u32)>, Failure> {
    list.split(',')
        .map(|item| {
            let (code, weight) = item.split_once(':').unwrap_or((item, "1"));
            let weight = weight.trim().parse().map_err(|_| {
                Failure::usage(
                    format!("`{weight}` is no weight of a language"),
                    "for example --languages en:3,de,zh",
                )
            })?;
            Ok((code.trim().to_owned(), weight))
        })
        .collect()
}

fn make(
    arguments: &SynthArguments,
    folder: &Path,
    progress: &Arc<Progress>,
) -> Result<ExitCode, Failure> {
    let settings = settings(arguments)?;
    let cores = || std::thread::available_parallelism().map_or(1, Into::into);
    let begun = Instant::now();
    let meter = Meter::start(Arc::clone(progress));
    let outcome = Synthesis {
        folder: folder.to_owned(),
        settings,
        threads: arguments.threads.map_or_else(cores, Into::into),
        force: arguments.force,
        progress,
    }
    .run();
    drop(meter);
    let made = outcome?;
    let seconds = begun.elapsed().as_secs_f64();
    print(&if arguments.json {
        let kinds: serde_json::Map<String, serde_json::Value> = made
            .kinds
            .iter()
            .map(|(kind, count)| (kind.name().to_owned(), (*count).into()))
            .collect();
        let object = json!({
            "folder": folder, "pages": arguments.pages, "kinds": kinds, "files": made.files,
            "files_from_before": made.files_from_before, "originals": made.originals,
            "payload_bytes": made.payload_bytes, "archive_bytes": made.archive_bytes,
            "truth_bytes": made.truth_bytes, "seconds": seconds,
        });
        format!("{object}\n")
    } else {
        summary(arguments, folder, &made, seconds)
    })?;
    Ok(ExitCode::SUCCESS)
}

fn summary(
    arguments: &SynthArguments,
    folder: &Path,
    made: &SynthesisSummary,
    seconds: f64,
) -> String {
    let mut lines = Lines::default();
    lines.add("pages", number(arguments.pages));
    for (kind, count) in made.kinds.iter().filter(|(_, count)| *count > 0) {
        lines.add(format!("  {}", kind.name()), number(*count));
    }
    lines.add_with("originals", number(made.originals), "files of their own");
    let before = match made.files_from_before {
        0 => String::new(),
        files => format!("{} from a run that was broken off", number(files)),
    };
    lines.add_with("archives", number(made.files), before);
    lines.add("payload", size(made.payload_bytes));
    lines.add("on disk", size(made.archive_bytes));
    lines.add("truth", size(made.truth_bytes));
    let rate = match made.files_from_before {
        0 => format!(
            "{:.0} MB/s of payload",
            made.payload_bytes as f64 / 1e6 / seconds.max(0.001)
        ),
        _ => String::new(),
    };
    lines.add_with("seconds", format!("{seconds:.1}"), rate);
    format!(
        "{}\n{}",
        clean(&folder.display().to_string()),
        lines.render()
    )
}

fn check(
    arguments: &SynthArguments,
    corpus: &Path,
    progress: &Arc<Progress>,
) -> Result<ExitCode, Failure> {
    let corpus = Corpus::open(corpus)?;
    let truth = match &arguments.truth {
        Some(truth) => truth.clone(),
        None => cento_synth::truth_of(&corpus)?,
    };
    let meter = Meter::start(Arc::clone(progress));
    let outcome = Check {
        corpus: &corpus,
        truth: truth.clone(),
        progress,
    }
    .run();
    drop(meter);
    let checked = outcome?;
    print(&if arguments.json {
        let object = json!({
            "corpus": corpus.path(), "truth": truth, "sound": checked.is_sound(),
            "hold": checked.hold, "fail": checked.fail, "examples": checked.examples,
        });
        format!("{object}\n")
    } else {
        verdict(&checked)
    })?;
    Ok(ExitCode::from(u8::from(!checked.is_sound())))
}

fn verdict(checked: &CheckSummary) -> String {
    let kinds: std::collections::BTreeSet<&str> = checked
        .hold
        .keys()
        .chain(checked.fail.keys())
        .copied()
        .collect();
    let count = |counts: &std::collections::BTreeMap<&'static str, u64>, kind: &str| {
        counts.get(kind).copied().unwrap_or(0)
    };
    let rows: Vec<Vec<String>> = kinds
        .iter()
        .map(|&kind| {
            vec![
                kind.to_owned(),
                number(count(&checked.hold, kind)),
                number(count(&checked.fail, kind)),
            ]
        })
        .collect();
    let mut text = table(&["truth", "holds", "fails"], &rows);
    for example in &checked.examples {
        text.push_str(&format!("{}\n", clean(example)));
    }
    let told = checked.examples.len() as u64;
    let failed: u64 = checked.fail.values().sum();
    if failed > told {
        text.push_str(&format!("… and {} more\n", number(failed - told)));
    }
    text.push_str(if checked.is_sound() {
        "the corpus is what the truth says\n"
    } else {
        "the corpus is not what the truth says\n"
    });
    text
}
