//! `cento detect`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use crate::copies::inputs_written;
use cento_figure::csv_cell;
use cento_find::copies::WrittenInputs;
use cento_find::detect::{
    COPIED_PASSAGES_TABLE, CopiedPassagesSummary, DetectParams, LabelSet, NEIGHBOURHOODS_TABLE,
    NeighbourhoodRow, SITES_TABLE, copied_passages, detect, detected_pages, remove_detected,
};
use cento_find::discover::{
    DiscoverParams, DiscoverSummary, How, discover, recipe_of, write_labels,
};
use cento_find::labelling::stop_labels;
use cento_find::{CorpusPages, Findings, PageOrigins};
use cento_labels::{LabelKind, StopList};
use cento_report::format::{counted, plural};
use cento_scan::Analysis;
use cento_scan::analyses::detect::Detect;
use cento_store::Parameters;
use cento_text::url::PageUrl;
use cento_trial::{page_roc, roc_figure};
use clap::Args;

use crate::analysis::AnalysisArguments;
use crate::command_error::CommandError;
use crate::contamination::contamination;
use crate::copies::check_folder;
use crate::corpus_input::{CorpusArguments, OpenedCorpus};
use crate::detect_summary::summary;
use crate::discover::{check_output, stop_list};
use crate::evidence::{self, ComparedInputs};
use crate::figures::FigureArguments;
use crate::files::{cannot_write, write_with};
use crate::originals::{Originals, ReadColumns};
use crate::output::{clean, print, say};
use crate::report::ReproducibleArguments;
use crate::sample::SampleArguments;
use crate::top::TopArguments;
use crate::truth::{rates_text, read_truth};

/// Find where text is copied: pages, sites and folders that contain labels
///
/// After Ardi & Heidemann 2014. The score of a page is the share of its chunks that are labels,
/// without stop chunks. A neighbourhood (all pages under a host or a folder) has two scores, the
/// mean of its pages and the share of all of its chunks. It is flagged (a "bad neighbourhood" in
/// the paper) if either is above its threshold, by default the mean of all neighbourhoods plus one
/// standard deviation. Scores are compared exactly, without rounding. A match means that the text
/// is in two places, not who copied it.
#[derive(Debug, Args)]
#[command(mut_arg("sample", |sample| sample.conflicts_with_all(["json", "out"]).long_help(
    "Print this many results, drawn at random\n\nThe results are flagged neighbourhoods, to be \
     classified as in Tables 5 and 6 of the paper"
)))]
#[command(mut_arg("top", |top| top.conflicts_with_all(["json", "sample"])))]
#[command(group = clap::ArgGroup::new("what").required(true).args(["labels", "against"]))]
#[command(after_help = "\
With --against, the main table is passages in CORPUS/findings/copied-passages: each passage that a
page shares with an original, with address, title, dates, links and the words of both. A page and an
original without a long passage have one row without it.

Findings are tables in CORPUS/findings/detect: sites (the main one) and neighbourhoods (pages,
matched chunks, mean, ratio, flagged), pages (contains, target), matches (page, original, shares of
both), copied (site, original), chunks (which label is where), labels (how often each was found),
fuzzy, thresholds, histogram and levels; with --truth also CORPUS/findings/detect-roc. With --grams
they are in CORPUS/findings/contamination: items (the main one: the share of each item that was
found) and places (page, share, byte range).

Results are ranked by the number of matched chunks. Labels must have the same chunks, normalisation
and hash as the corpus.

A chunk of several originals is attributed to the original with the most matched chunks on the page.
A chunk of more than 256 originals is attributed to an original only if other chunks of the page
are, and is otherwise counted separately.

With --fuzzy, a word of a label is found in a chunk if it occurs there in the same run of 4 words;
the share is that of the label's words. A part of a label counts too, if at least 80% of the chunk's
words, and at least 6, are the label's. Runs in more than 64 labels are ignored on both sides. With
--grams, runs in more than a tenth of the items (8 to 64 items) are ignored in the same way.

Examples:
  cento detect crawl.cento --labels wikipedia.labels --own wikipedia.org --depth 1
  cento detect crawl.cento --against mine/ --own mine.example --fuzzy
  cento detect crawl.cento --against mine/ --own mine.example --evidence letters/
  cento detect training.jsonl --against benchmark.jsonl --against-field text=question --grams 8
  cento detect pages.jsonl --labels spam.labels --threshold 0.5 --filter -o clean/
  cento detect crawl.cento --labels spam.labels --threshold 0.5 --figures figures/")]
pub(crate) struct DetectArguments {
    #[command(flatten)]
    pub(crate) corpus: CorpusArguments,
    /// Find these labels, made by `cento discover`
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    /// Compare the pages with those of this corpus
    ///
    /// Finds all chunks of these originals: a corpus, or anything that `cento index` reads.
    #[arg(long, value_name = "CORPUS2", num_args = 1..)]
    pub(crate) against: Vec<String>,
    /// With --against: match overlapping runs of K words instead of chunks
    #[arg(long, value_name = "K", conflicts_with_all = ["labels", "fuzzy", "count_stops", "stop", "stop_proposed", "own", "depth", "threshold", "page_threshold", "mean_threshold", "ratio_threshold", "figures", "min_length", "sample", "seed"])]
    pub(crate) grams: Option<u32>,
    /// With --grams: list pages with at least this share of an item's runs [default: 0.5]
    #[arg(
        long,
        value_name = "SHARE",
        requires = "grams",
        conflicts_with = "labels"
    )]
    pub(crate) min_share: Option<f64>,
    /// Ignore chunks of the originals with fewer bytes than this [default: 100]
    #[arg(long, value_name = "BYTES", conflicts_with = "labels")]
    pub(crate) min_length: Option<u64>,
    /// Also find edited chunks: those with at least this share of a label's words, in runs of 4.
    /// They do not affect scores
    #[arg(long, value_name = "SHARE", num_args = 0..=1, require_equals = true, default_missing_value = "0.4")]
    pub(crate) fuzzy: Option<f64>,
    /// Ignore pages of this domain or host, such as that of the originals. May be repeated
    #[arg(long, value_name = "DOMAIN")]
    pub(crate) own: Vec<String>,

    /// Flag pages and neighbourhoods above this share [default: mean plus standard deviation of
    /// each score]
    #[arg(long, value_name = "SHARE", help_heading = "Thresholds")]
    pub(crate) threshold: Option<f64>,
    /// Flag pages above this share
    #[arg(long, value_name = "SHARE", help_heading = "Thresholds")]
    pub(crate) page_threshold: Option<f64>,
    /// Flag neighbourhoods whose mean is above this
    #[arg(long, value_name = "SHARE", help_heading = "Thresholds")]
    pub(crate) mean_threshold: Option<f64>,
    /// Flag neighbourhoods whose ratio is above this
    #[arg(long, value_name = "SHARE", help_heading = "Thresholds")]
    pub(crate) ratio_threshold: Option<f64>,
    /// Number of levels of neighbourhoods: 1 is only hosts [default: all]
    #[arg(long, value_name = "N", help_heading = "Thresholds")]
    pub(crate) depth: Option<u32>,

    /// Count stop chunks like other chunks
    #[arg(long, help_heading = "Stop chunks")]
    pub(crate) count_stops: bool,
    /// Additional stop list: a text file in the format of `cento labels stops`
    ///
    /// With --against; labels in a file have their own stops.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "labels",
        help_heading = "Stop chunks"
    )]
    pub(crate) stop: Vec<PathBuf>,
    /// Stop all labels that look like idioms or templates, without a review
    ///
    /// With --against; labels in a file are reviewed with `cento labels review`.
    #[arg(long, conflicts_with = "labels", help_heading = "Stop chunks")]
    pub(crate) stop_proposed: bool,

    /// Assign a field of a table of --against to a role, if its fields are not those of CORPUS. May
    /// be repeated [default: as --field]
    #[arg(
        long = "against-field",
        value_name = "ROLE=NAME",
        conflicts_with = "labels",
        help_heading = "Inputs other than a corpus"
    )]
    pub(crate) against_fields: Vec<String>,
    /// What is to be found: the truth.jsonl of `cento synth`
    ///
    /// Also prints true and false positive rates of pages over all thresholds. The file may also be
    /// a list of the URLs of the pages that are copies, one per line.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["grams", "own", "json", "sample"], help_heading = "Output")]
    pub(crate) truth: Option<PathBuf>,
    /// With --against: write the labels of the originals to this file
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["labels", "grams"],
        help_heading = "Output"
    )]
    pub(crate) write_labels: Option<PathBuf>,
    /// Write the inputs without the pages that were found to the folder of --output. Without INPUT,
    /// all inputs
    ///
    /// Formats and files stay the same, and a table removed.csv lists the removed pages: those
    /// above the page threshold, or with --grams those with at least --min-share of an item.
    #[arg(long, value_name = "INPUT", num_args = 0.., requires = "output", conflicts_with = "sample", help_heading = "Output")]
    pub(crate) filter: Option<Vec<String>>,
    /// Where to write the result
    ///
    /// The folder for --filter. It must not contain inputs or be inside an input folder; existing
    /// files are not replaced.
    #[arg(
        short,
        long,
        value_name = "PATH",
        requires = "filter",
        help_heading = "Output"
    )]
    pub(crate) output: Option<PathBuf>,
    /// Replace existing files
    ///
    /// Those of --filter, or the folder of --evidence if it has nothing else than such files.
    #[arg(long, conflicts_with = "sample", help_heading = "Output")]
    pub(crate) overwrite: bool,
    /// Write figures to this folder, as SVG and CSV
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub(crate) figures: Option<PathBuf>,
    /// With --against: write a folder with an HTML page for each site that has text of the
    /// originals, to be sent to somebody: its pages with addresses, dates and hashes of their
    /// payloads, and the shared passages beside the originals' words
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["labels", "grams", "sample"], help_heading = "Output")]
    pub(crate) evidence: Option<PathBuf>,
    /// Leave out the time at which it was made: the same data give the same bytes
    #[arg(long, requires = "evidence", conflicts_with_all = ["labels", "grams", "sample"], help_heading = "Output")]
    pub(crate) reproducible: bool,
    #[command(flatten)]
    pub(crate) top: TopArguments,
    #[command(flatten)]
    pub(crate) sampling: SampleArguments,
    #[command(flatten)]
    pub(crate) figure_format: FigureArguments,
    #[command(flatten)]
    pub(crate) analysis: AnalysisArguments,
}

/// Default of `--min-length`: the shortest chunk of originals, in bytes, that becomes a label.
pub(crate) const MIN_LENGTH: u64 = 100;
/// Default of `--min-share`.
pub(crate) const MIN_SHARE: f64 = 0.5;

impl DetectArguments {
    /// Validates the options and returns the parameters of the analysis.
    fn resolve(&self) -> Result<DetectParams, CommandError> {
        let params = DetectParams {
            page_threshold: self.page_threshold.or(self.threshold),
            mean_threshold: self.mean_threshold.or(self.threshold),
            ratio_threshold: self.ratio_threshold.or(self.threshold),
            no_stop: self.count_stops,
            own: self
                .own
                .iter()
                .map(|own| domain_of(own))
                .collect::<Result<_, _>>()?,
            depth: self.depth,
            fuzzy: self.fuzzy,
        };
        params.check()?;
        if self.labels.is_some() && self.corpus.is_corpus() {
            let because = "with --labels and a corpus";
            self.corpus.reading.check_unused(because)?;
        }
        if self.overwrite && self.filter.is_none() && self.evidence.is_none() {
            return Err(CommandError::usage(
                "--overwrite has no effect without --filter or --evidence".to_owned(),
                "it replaces the files that these options write",
            ));
        }
        if let Some(output) = &self.output {
            check_folder(&self.corpus.inputs, output)?;
            if let Some(named) = &self.filter {
                check_folder(named, output)?;
            }
        }
        Ok(params)
    }
}

pub(crate) fn run(arguments: &DetectArguments) -> Result<ExitCode, CommandError> {
    let params = arguments.resolve()?;
    let corpus = arguments.corpus.open_with(
        None,
        &Parameters::default(),
        ReadColumns::All,
        &arguments.analysis,
    )?;
    let source = Arc::clone(&corpus.source);
    if let Some(k) = arguments.grams {
        return contamination(arguments, &corpus, k);
    }
    if let Some(folder) = &arguments.evidence {
        evidence::check_folder(folder, arguments.overwrite)?;
    }
    let reads_text = match (&arguments.evidence, params.fuzzy) {
        (Some(_), _) => Some("--evidence shows"),
        (_, Some(_)) => Some("--fuzzy compares"),
        _ => None,
    };
    if let Some(what) = reads_text.filter(|_| !source.has_text()) {
        return Err(CommandError::usage(
            format!("the corpus was indexed without text, which {what}"),
            "index it again without --no-text",
        ));
    }
    let (set, originals) = match &arguments.labels {
        Some(path) => (LabelSet::open(path)?, None),
        None => {
            let originals = open_originals(arguments, &source)?;
            let set = labels_of_originals(arguments, &corpus, &originals)?;
            (set, Some(originals))
        }
    };
    let findings = arguments.analysis.run(&corpus.path, |workplace| {
        detect(&source, &set, &params, workplace)
    })?;
    let shared = match &originals {
        Some(originals) if source.has_text() => {
            Some(arguments.analysis.run(&corpus.path, |workplace| {
                copied_passages(&source, &originals.source, &set, &findings, workplace)
            })?)
        }
        _ => None,
    };
    if let (Some(folder), Some(originals), Some(shared)) =
        (&arguments.evidence, &originals, &shared)
    {
        write_evidence(arguments, &source, originals, shared, folder)?;
    }
    let rates = match &arguments.truth {
        Some(path) => {
            let truth = read_truth(path)?;
            Some(arguments.analysis.run(&corpus.path, |workplace| {
                page_roc(&source, &findings, &truth, workplace)
            })?)
        }
        None => None,
    };
    if let Some(folder) = &arguments.figures {
        let mut drawings = Detect.figures(&findings)?;
        if let Some(rates) = &rates {
            drawings.push(roc_figure(rates)?);
        }
        arguments.figure_format.write(folder, &drawings)?;
    }
    clean_inputs(arguments, &corpus, &findings)?;
    let sampling = &arguments.sampling;
    let site = |row: &NeighbourhoodRow| row.site.clone();
    let nothing = "no neighbourhood is flagged, so there is no sample; without --sample, the summary says \
                   why, and --threshold 0 flags all with labels";
    let flagged = |row: &NeighbourhoodRow| row.flagged;
    if sampling.print(&findings, NEIGHBOURHOODS_TABLE, site, flagged, nothing)? {
        return Ok(ExitCode::SUCCESS);
    }
    let main_table = match &shared {
        Some(shared) => shared.table(COPIED_PASSAGES_TABLE.as_str()),
        None => findings.table(SITES_TABLE.as_str()),
    };
    if !arguments.analysis.export(&main_table)? {
        print(&summary(arguments, &corpus, &set, &findings)?)?;
        if let Some(shared) = &shared {
            print(&shared_summary(shared)?)?;
        }
        if let Some(rates) = &rates {
            print(&rates_text(rates)?)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the folder of evidence.
fn write_evidence(
    arguments: &DetectArguments,
    source: &CorpusPages,
    originals: &Originals,
    shared: &Findings,
    folder: &Path,
) -> Result<(), CommandError> {
    let compared = ComparedInputs {
        corpus: source,
        originals: &originals.source,
        against: &arguments.against,
        min_length: arguments.min_length.unwrap_or(MIN_LENGTH),
        searched: shared.summary::<CopiedPassagesSummary>()?.searched,
        own: &arguments.own,
    };
    let reproducible = ReproducibleArguments {
        reproducible: arguments.reproducible,
    };
    let method = evidence::method(&compared, &reproducible)?;
    let sites = evidence::write(shared, &method, folder, arguments.overwrite)?;
    say(&clean(&format!(
        "{}: evidence about {}, see index.html",
        folder.display(),
        counted(sites as u64, "site", "sites")
    )));
    Ok(())
}

/// Says where the passages of copying pages are.
fn shared_summary(shared: &Findings) -> Result<String, CommandError> {
    let counts: CopiedPassagesSummary = shared.summary()?;
    Ok(match counts.pairs {
        0 => String::new(),
        pairs => {
            format!(
                "{} of a page and an original to which its chunks are attributed {} {}, and \
                 --evidence FOLDER writes a page for each site.\n",
                counted(pairs, "pair", "pairs"),
                plural(pairs, "shares", "share"),
                match counts.passages {
                    0 => "no long passage: --out FILE.csv lists the pairs".to_owned(),
                    passages => format!(
                        "{}: --out FILE.csv lists {} side by side",
                        counted(passages, "passage", "passages"),
                        plural(passages, "it", "them"),
                    ),
                },
            ) + &match counts.same_domain {
                0 => String::new(),
                1 => "1 of these pairs is on one domain: --own DOMAIN ignores your own pages.\n"
                    .to_owned(),
                some => format!(
                    "{} of these pairs are on one domain each: --own DOMAIN ignores your own pages.\n",
                    cento_report::format::number(some)
                ),
            }
        }
    })
}

/// Returns the domain or host of what was typed. It may have a scheme, capitals, letters of any
/// script, and `*.` before it; a port or a path would ignore less than a host.
fn domain_of(typed: &str) -> Result<String, CommandError> {
    let wrong =
        |what: &str, hint: &str| Err(CommandError::usage(format!("--own {typed:?} {what}"), hint));
    let bare = typed.trim();
    let bare = bare.split_once("://").map_or(bare, |(_, rest)| rest);
    let (host, path) = bare.split_once('/').unwrap_or((bare, ""));
    let host = host.strip_prefix("*.").unwrap_or(host);
    let host = host.strip_prefix('.').unwrap_or(host);
    let address = PageUrl::new(&format!("http://{host}/"));
    let is_name = |host: &&str| !host.contains([' ', '*', '%', '@']) && !host.starts_with('.');
    let found = address
        .host()
        .filter(is_name)
        .filter(|_| !host.contains('@'));
    let Some(found) = found else {
        let hint = "name a domain or a host, such as mine.example";
        return wrong("is neither a domain nor a host", hint);
    };
    if !path.is_empty() {
        let hint = format!("--own {found} ignores all of its pages");
        return wrong(
            "is part of a site, and only whole sites can be ignored",
            &hint,
        );
    }
    let has_port = |after: &str| after.contains(':');
    if has_port(host.rsplit(']').next().unwrap_or(host)) {
        let hint = format!("--own {found} ignores its pages on all ports");
        return wrong("has a port, and hosts are ignored on all ports", &hint);
    }
    Ok(found.to_owned())
}

pub(crate) fn open_originals(
    arguments: &DetectArguments,
    source: &CorpusPages,
) -> Result<Originals, CommandError> {
    let mut reading = arguments.corpus.reading.clone();
    if !arguments.against_fields.is_empty() {
        reading.fields.clone_from(&arguments.against_fields);
    }
    let parameters = source.corpora().first().map(|corpus| corpus.parameters());
    Originals::open(
        &arguments.against,
        &reading,
        &parameters.cloned().unwrap_or_default(),
        &arguments.analysis.resources,
    )
}

/// With `--filter`, writes the inputs without the detected pages, and a table of these pages.
pub(crate) fn clean_inputs(
    arguments: &DetectArguments,
    corpus: &OpenedCorpus,
    findings: &Findings,
) -> Result<(), CommandError> {
    let (Some(named), Some(output)) = (&arguments.filter, &arguments.output) else {
        return Ok(());
    };
    let Some(opened) = corpus.source.corpora().first() else {
        return Ok(());
    };
    let table = output.join(REMOVED);
    if !arguments.overwrite && table.symlink_metadata().is_ok() {
        return Err(cento_find::Error::Exists(table).into());
    }
    let memory = arguments.analysis.resources.machine.memory();
    let (mut files, mut removed, mut lost) = (WrittenInputs::default(), 0, 0);
    let overwrite = arguments.overwrite;
    remove_detected(opened, findings, named, output, overwrite, memory, |file| {
        files.add(file);
        removed += file.rewritten.dropped;
        lost += file.rewritten.lost;
        Ok(())
    })?;
    let origins = PageOrigins::new(
        &[&corpus.source],
        &corpus.temp_folder(&arguments.analysis.resources),
    );
    write_with(&table, |file| {
        let failed = |error: std::io::Error| cannot_write(&table, &error);
        let heading = "page_id,page,share,item,page_key,page_file,page_row\r\n";
        file.write_all(heading.as_bytes()).map_err(failed)?;
        detected_pages(findings, |detected| {
            let origin = match &origins {
                Some(origins) => origins.get(detected.page_id, None, true)?,
                None => None,
            };
            let cell = |text: Option<&str>| text.map(csv_cell).unwrap_or_default();
            write!(
                file,
                "{},{},{},{},{},{},{}\r\n",
                detected.page_id,
                csv_cell(&detected.page),
                detected.share,
                cell(detected.item.as_deref()),
                cell(origin.and_then(|origin| origin.key)),
                cell(origin.map(|origin| origin.file)),
                origin.map_or_else(String::new, |origin| origin.row.to_string()),
            )
            .map_err(|error| cento_find::Error::io(&table, error))
        })?;
        Ok(())
    })?;
    let mut line = format!(
        "{}: {}, {} removed, see {REMOVED}",
        output.display(),
        inputs_written(files),
        counted(removed, "record", "records")
    );
    if lost > 0 {
        let lost = counted(lost, "damaged record", "damaged records");
        line.push_str(&format!(", {lost} not copied"));
    }
    say(&clean(&line));
    Ok(())
}

/// The table of removed pages in the folder of `--output`.
const REMOVED: &str = "removed.csv";

/// Makes labels of all chunks of the originals, chunked like the corpus.
fn labels_of_originals(
    arguments: &DetectArguments,
    corpus: &OpenedCorpus,
    originals: &Originals,
) -> Result<LabelSet, CommandError> {
    let source = &corpus.source;
    if let Some(output) = &arguments.write_labels {
        check_output(output)?;
    }
    // The labels include the stops; `--no-stop` decides later whether they are used.
    let list: StopList = stop_list(&arguments.stop, false)?;
    let parameters = source.corpora().first().map(|corpus| corpus.parameters());
    let recipe = recipe_of(&parameters.cloned().unwrap_or_default(), LabelKind::Chunks);
    let params = DiscoverParams::new(
        How::Informed(arguments.min_length.unwrap_or(MIN_LENGTH)),
        recipe,
        &list,
    );
    let findings = arguments.analysis.run_step(&corpus.path, |workplace| {
        discover(&originals.source, &params, workplace)
    })?;
    let inside = findings.path.join("originals.labels");
    let output = arguments.write_labels.as_ref().unwrap_or(&inside);
    write_labels(&findings, &params, output)?;
    let counts: DiscoverSummary = findings.summary()?;
    if arguments.stop_proposed {
        stop_labels(output, output, |row| row.proposed.is_some())?;
    } else if counts.proposed > 0 {
        say(&format!(
            "note: {}; --stop-proposed ignores {}",
            counted(
                counts.proposed,
                "chunk of the originals looks like an idiom or a template",
                "chunks of the originals look like idioms or templates"
            ),
            plural(counts.proposed, "it", "them"),
        ));
    }
    Ok(LabelSet::open(output)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_domains_can_be_typed_as_urls() {
        for typed in [
            "https://Mine.example/",
            "mine.example.",
            ".mine.example",
            "*.mine.example",
            " mine.example ",
        ] {
            assert_eq!(
                domain_of(typed).ok().as_deref(),
                Some("mine.example"),
                "{typed}"
            );
        }
        let domain = domain_of("m\u{fc}nchen.example").ok();
        assert_eq!(domain.as_deref(), Some("xn--mnchen-3ya.example"));
    }

    #[test]
    fn own_domains_that_match_nothing_or_too_much_are_refused() {
        for typed in [
            "",
            "*",
            "*.",
            "mine.example:8080",
            "https://mine.example/about",
            "a b.example",
            "me@mine.example",
            "mine.*",
        ] {
            assert!(domain_of(typed).is_err(), "{typed}");
        }
    }
}
