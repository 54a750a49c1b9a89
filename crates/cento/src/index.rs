//! `cento index`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cento_read::{FieldMap, Input, RemoteSettings, Resolved, Settings};
use cento_store::{Build, Built, Corpus, Error, PageLimits, Parameters, Progress, Tally};
use cento_text::content::Selection;
use serde_json::json;

use crate::arguments::{IndexArguments, LimitArguments, MachineArguments, ReadingArguments};
use crate::failure::Failure;
use crate::interrupt::on_interrupt;
use crate::machine::Size;
use crate::meter::Meter;
use crate::output::{Lines, clean, number, print, size};

/// Done, but not all of the input was sound, and the user asked to hear of that.
const STRICT: u8 = 3;

/// What `--max-page` may be at most: a byte of a page becomes up to three bytes of text, and a
/// table holds texts below 2 GiB.
const LARGEST_PAGE: u64 = 512 << 20;

/// What is read, how, and into which corpus.
pub(crate) struct Index<'a> {
    pub(crate) corpus: &'a Path,
    pub(crate) inputs: &'a [String],
    pub(crate) reading: &'a ReadingArguments,
    pub(crate) limits: &'a LimitArguments,
    pub(crate) machine: &'a MachineArguments,
    pub(crate) part_size: Option<Size>,
    pub(crate) add: bool,
    pub(crate) again: bool,
}

/// Inputs that were found and can be read.
pub(crate) struct Found {
    inputs: Vec<Input>,
    skipped_files: BTreeMap<String, Tally>,
    settings: Settings,
    parameters: Parameters,
}

impl Found {
    pub(crate) fn files(&self) -> usize {
        self.inputs.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.inputs.iter().filter_map(|input| input.bytes).sum()
    }
}

impl Index<'_> {
    /// Looks for the inputs.
    pub(crate) fn find(&self) -> Result<Found, Failure> {
        let parameters = self.parameters()?;
        let settings = self.settings(&parameters)?;
        let Resolved { inputs, ignored } = cento_read::resolve(self.inputs, &settings)?;
        let skipped_files = ignored.into_iter().map(|kind| {
            let tally = Tally {
                count: kind.count,
                example: kind.example,
            };
            (kind.cause.name().to_owned(), tally)
        });
        Ok(Found {
            inputs,
            skipped_files: skipped_files.collect(),
            settings,
            parameters,
        })
    }

    /// Makes the corpus of them.
    pub(crate) fn build<'p>(&self, found: Found, progress: &'p Progress) -> Build<'p> {
        Build::new(found.inputs, self.corpus)
            .skipped_files(found.skipped_files)
            .settings(found.settings)
            .parameters(found.parameters)
            .add(self.add)
            .again(self.again)
            .threads(self.machine.threads())
            .memory(self.machine.memory())
            .progress(progress)
    }
}

pub(crate) fn run(arguments: &IndexArguments) -> Result<ExitCode, Failure> {
    let index = Index {
        corpus: &arguments.output,
        inputs: &arguments.inputs,
        reading: &arguments.reading,
        limits: &arguments.limits,
        machine: &arguments.machine,
        part_size: arguments.part_size,
        add: arguments.add,
        again: arguments.again,
    };
    let found = index.find()?;
    let (files, input_bytes) = (found.files(), found.bytes());
    let progress = Arc::new(Progress::default());
    let cancelled = Arc::clone(&progress);
    let _stop = on_interrupt(move || cancelled.cancel());
    let begun = Instant::now();
    let meter = Meter::start(Arc::clone(&progress));
    let outcome = index.build(found, &progress).run();
    drop(meter);
    let built = outcome?;
    let seconds = begun.elapsed().as_secs_f64();

    // Of a stream it is known only afterwards how long it was.
    let input_bytes = input_bytes.max(progress.bytes());
    let summary = Summary {
        arguments,
        built: &built,
        files,
        input_bytes,
        seconds,
    };
    print(&if arguments.json {
        summary.json()
    } else {
        summary.text()
    })?;
    let status = if arguments.strict && unsound(&built) > 0 {
        STRICT
    } else {
        0
    };
    Ok(ExitCode::from(status))
}

/// Records and pages that something is wrong with.
fn unsound(built: &Built) -> u64 {
    let damaged = built.counts.damaged.values();
    let rejected = UNSOUND
        .iter()
        .filter_map(|reason| built.counts.rejected.get(*reason));
    damaged.chain(rejected).map(|tally| tally.count).sum()
}

/// Rejections that mean that something is wrong with the input, rather than that it is no text.
const UNSOUND: [&str; 8] = [
    "undecodable",
    "too-large",
    "bad-http",
    "header-too-long",
    "too-deep",
    "too-slow",
    "too-many-chunks",
    "url-too-long",
];

impl Index<'_> {
    fn settings(&self, parameters: &Parameters) -> Result<Settings, Failure> {
        let mut fields = FieldMap::default();
        for field in &self.reading.fields {
            fields.assign(field.parse()?);
        }
        Ok(Settings {
            base_url: self.reading.base_url.clone(),
            fields,
            format: self.reading.format,
            keep_status: self.reading.any_status,
            follow_links: self.reading.follow,
            limits: (&parameters.limits).into(),
            // As many as the store finds useful.
            helpers: 0,
            remote: RemoteSettings {
                retries: self.reading.retries,
                stall_timeout: Duration::from_secs(self.reading.stall_timeout),
                max_rate: self.reading.max_rate.map(|size| size.0),
                read_ahead: self.read_ahead(),
                anonymous: self.reading.anonymous,
                list_base: self.reading.list_base.clone(),
                ..RemoteSettings::default()
            },
        })
    }

    /// How much each reader may fetch ahead: there is one a thread, and together they get a
    /// sixteenth of the memory.
    fn read_ahead(&self) -> usize {
        let most = RemoteSettings::default().read_ahead;
        let share = self.machine.memory() / 16 / self.machine.threads().max(1) as u64;
        usize::try_from(share)
            .unwrap_or(most)
            .clamp(512 << 10, most)
    }

    /// The parameters that were typed; what was not typed is as the corpus has it under `--add`,
    /// and the default otherwise.
    fn parameters(&self) -> Result<Parameters, Failure> {
        let mut parameters = if self.add {
            match Corpus::open_partial(self.corpus) {
                Ok(corpus) => corpus.parameters().clone(),
                Err(Error::NotACorpus(path)) => return Err(Error::NoCorpusToAddTo(path).into()),
                Err(error) => return Err(error.into()),
            }
        } else {
            Parameters::default()
        };
        let main = self.reading.main.then_some(Selection::Main);
        parameters.content = self.reading.content.or(main).unwrap_or(parameters.content);
        parameters.chunk = self.reading.chunk.unwrap_or(parameters.chunk);
        parameters.normalisation = self.reading.normalise.unwrap_or(parameters.normalisation);
        parameters.hash = self.reading.hash.unwrap_or(parameters.hash);
        parameters.text &= !self.reading.no_text;
        parameters.private_suffixes |= self.reading.private_suffixes;
        parameters.any_status |= self.reading.any_status;
        let or = |typed: Option<u32>, known: u32| typed.unwrap_or(known);
        parameters.recursion_components = or(
            self.reading.recursion_components,
            parameters.recursion_components,
        );
        parameters.recursion_repeats =
            or(self.reading.recursion_repeats, parameters.recursion_repeats);
        parameters.recursion_cycles =
            or(self.reading.recursion_cycles, parameters.recursion_cycles);
        if let Some(size) = self.part_size {
            parameters.part_bytes = size.0;
        }
        set_limits(&mut parameters.limits, self.limits);
        if parameters.limits.max_page_bytes > LARGEST_PAGE {
            return Err(Failure::usage(
                "--max-page is at most 512M".to_owned(),
                "a text of 2 GB and more fits in no table; split the page before it is indexed",
            ));
        }
        Ok(parameters)
    }
}

fn set_limits(limits: &mut PageLimits, typed: &LimitArguments) {
    fn set<T>(limit: &mut T, typed: Option<T>) {
        if let Some(value) = typed {
            *limit = value;
        }
    }
    let bytes = |size: Option<Size>| size.map(|size| size.0);
    set(&mut limits.max_page_bytes, bytes(typed.max_page));
    set(&mut limits.max_ratio, typed.max_ratio);
    set(&mut limits.max_header_bytes, bytes(typed.max_header));
    set(&mut limits.max_header_lines, typed.max_header_lines);
    // A line that holds a page is no shorter than the page.
    if typed.max_page.is_some() {
        limits.max_line_bytes = limits.max_line_bytes.max(limits.max_page_bytes);
    }
    set(&mut limits.max_line_bytes, bytes(typed.max_line));
    set(&mut limits.max_nesting, typed.max_nesting);
    set(&mut limits.max_chunks, typed.max_chunks);
    set(&mut limits.max_url_bytes, bytes(typed.max_url));
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    set(
        &mut limits.max_milliseconds,
        typed.max_seconds.map(milliseconds),
    );
}

struct Summary<'a> {
    arguments: &'a IndexArguments,
    built: &'a Built,
    files: usize,
    input_bytes: u64,
    seconds: f64,
}

impl Summary<'_> {
    /// Megabytes of payload a second, of the pages that this run itself processed.
    fn rate(&self) -> Option<f64> {
        let counts = &self.built.counts;
        (self.built.resumed_pages == 0)
            .then(|| counts.payload_bytes as f64 / 1e6 / self.seconds.max(0.001))
    }

    fn text(&self) -> String {
        let counts = &self.built.counts;
        let mut lines = Lines::default();
        let files = if self.files == 1 {
            "1 file".to_owned()
        } else {
            format!("{} files", number(self.files as u64))
        };
        lines.add_with("input", size(self.input_bytes), files);
        lines.add("pages kept", number(counts.kept));
        let resumed = self.built.resumed_pages;
        if resumed > 0 {
            lines.add_with(
                "  from before",
                number(resumed),
                "pages of the run that was broken off",
            );
        }
        if let Some(already) = &self.built.already_added {
            lines.add_with(
                "already added",
                number(already.count),
                format!(
                    "in the corpus and skipped, e.g. {}; --again adds what is there once more",
                    clean(&already.example)
                ),
            );
        }
        tallies(&mut lines, "rejected", &counts.rejected);
        tallies(&mut lines, "damaged records", &counts.damaged);
        tallies(&mut lines, "files passed over", &self.built.skipped_files);
        if counts.other_records > 0 {
            lines.add_with(
                "other records",
                number(counts.other_records),
                "requests, metadata and the like",
            );
        }
        lines.add("payload", size(counts.payload_bytes));
        lines.add("text", size(counts.text_bytes));
        lines.add("words", number(counts.words));
        lines.add("chunks", number(counts.chunks));
        lines.add("corpus", size(self.built.corpus_bytes));
        let rate = self
            .rate()
            .map_or(String::new(), |rate| format!("{rate:.0} MB/s of payload"));
        lines.add_with("seconds", format!("{:.1}", self.seconds), rate);
        let corpus = self.arguments.output.display().to_string();
        format!("{}\n{}", clean(&corpus), lines.render())
    }

    fn json(&self) -> String {
        let object = json!({
            "corpus": self.arguments.output,
            "files": self.files,
            "input_bytes": self.input_bytes,
            "counts": self.built.counts,
            "files_passed_over": self.built.skipped_files,
            "resumed_pages": self.built.resumed_pages,
            "inputs_already_added": self.built.already_added.as_ref().map_or(0, |already| already.count),
            "corpus_bytes": self.built.corpus_bytes,
            "seconds": self.seconds,
        });
        format!("{object}\n")
    }
}

/// A total and its causes, each with an example; nothing if there are none.
pub(crate) fn tallies(
    lines: &mut Lines,
    name: &str,
    tallies: &std::collections::BTreeMap<String, Tally>,
) {
    if tallies.is_empty() {
        return;
    }
    lines.add(
        name,
        number(tallies.values().map(|tally| tally.count).sum()),
    );
    for (cause, tally) in tallies {
        lines.add_with(
            format!("  {cause}"),
            number(tally.count),
            format!("e.g. {}", clean(&tally.example)),
        );
    }
}
