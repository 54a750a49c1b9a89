//! `cento detect`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use cento_figure::csv_cell;
use cento_find::detect::{
    DetectParams, DetectSummary, GramsParams, GramsSummary, LabelSet, NEIGHBOURHOODS_TABLE,
    NeighbourhoodRow, PLACES_TABLE, SITES_TABLE, detect, detected_pages, grams, remove_detected,
    thresholds,
};
use cento_find::discover::{
    DiscoverParams, DiscoverSummary, How, discover, recipe_of, write_labels,
};
use cento_find::labelling::stop_labels;
use cento_find::{CorpusPages, Findings, PageOrigins};
use cento_labels::{LabelKind, StopList};
use cento_report::format::counted;
use cento_scan::Analysis;
use cento_scan::analyses::detect::Detect;
use cento_scan::select::first;
use cento_store::Parameters;
use cento_trial::{page_roc, roc_figure};
use clap::Args;

use crate::analysis::AnalysisArguments;
use crate::command_error::CommandError;
use crate::copies::check_folder;
use crate::corpus_input::{CorpusArguments, OpenedCorpus};
use crate::discover::{check_output, stop_list};
use crate::figures::FigureArguments;
use crate::files::{cannot_write, write_with};
use crate::originals::Originals;
use crate::output::{Lines, clean, number, print, say, shortened, table};
use crate::sample::SampleArguments;
use crate::terminal::sentences;
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
Findings are tables in CORPUS/findings/detect: sites (the main one) and neighbourhoods (pages,
matched chunks, mean, ratio, flagged), pages (contains, target), matches (page, original, shares of
both), copied (site, original), chunks (which label is where), labels (how often each was found),
fuzzy, thresholds, histogram and levels; with --truth also CORPUS/findings/detect-roc. With --grams they are in CORPUS/findings/contamination:
items (the main one: the share of each item that was found) and places (page, share, byte range).

Results are ranked by the number of matched chunks. Labels must have the same chunks, normalisation
and hash as the corpus.

A chunk of several originals is attributed to the original with the most matched chunks on the page.
A chunk of more than 256 originals is attributed to an original only if other chunks of the page
are, and is otherwise counted separately.

With --fuzzy, a word of a label is found in a chunk if it occurs there in the same run of 4 words;
the share is that of the label's words. A part of a label counts too, if at least 80% of the chunk's
words, and at least 6, are the label's. Runs in more than 64 labels are ignored on both sides. With
--grams, runs in more than 64 different items are ignored in the same way.

Examples:
  cento detect crawl.cento --labels wikipedia.labels --own wikipedia.org --depth 1
  cento detect crawl.cento --against mine/ --own mine.example --fuzzy
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
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "labels",
        help_heading = "Stop chunks"
    )]
    pub(crate) stop: Vec<PathBuf>,
    /// Stop all labels that look like idioms or templates, without a review
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
    /// Formats and files stay the same, and a table removed.csv lists the removed pages: those above
    /// the page threshold, or with --grams those with at least --min-share of an item.
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
    #[arg(long, requires = "filter", help_heading = "Output")]
    pub(crate) overwrite: bool,
    /// Write figures to this folder, as SVG and CSV
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub(crate) figures: Option<PathBuf>,
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
const MIN_SHARE: f64 = 0.5;

impl DetectArguments {
    /// Validates the options and returns the parameters of the analysis.
    fn resolve(&self) -> Result<DetectParams, CommandError> {
        let params = DetectParams {
            page_threshold: self.page_threshold.or(self.threshold),
            mean_threshold: self.mean_threshold.or(self.threshold),
            ratio_threshold: self.ratio_threshold.or(self.threshold),
            no_stop: self.count_stops,
            own: self.own.iter().map(|own| domain_of(own)).collect(),
            depth: self.depth,
            fuzzy: self.fuzzy,
        };
        params.check()?;
        if self.labels.is_some() && self.corpus.is_corpus() {
            let because = "with --labels and a corpus";
            self.corpus.reading.check_unused(because)?;
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
    let corpus = arguments
        .corpus
        .open_with(None, &Parameters::default(), &arguments.analysis)?;
    let source = Arc::clone(&corpus.source);
    if let Some(k) = arguments.grams {
        return contamination(arguments, &corpus, k);
    }
    let set = match &arguments.labels {
        Some(path) => LabelSet::open(path)?,
        None => labels_of_originals(arguments, &corpus)?,
    };
    let findings = arguments.analysis.run(&corpus.path, |workplace| {
        detect(&source, &set, &params, workplace)
    })?;
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
    if sampling.print(&findings, NEIGHBOURHOODS_TABLE, site, |row| row.flagged)? {
        return Ok(ExitCode::SUCCESS);
    }
    if !arguments.analysis.export(&findings.table("sites"))? {
        print(&summary(arguments, &corpus, &set, &findings)?)?;
        if let Some(rates) = &rates {
            print(&rates_text(rates)?)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the domain of what was typed, which may have a scheme, a path or capitals.
fn domain_of(typed: &str) -> String {
    let bare = typed.split_once("://").map_or(typed, |(_, rest)| rest);
    let host = bare.split('/').next().unwrap_or(bare);
    host.trim_end_matches('.').to_lowercase()
}

fn open_originals(
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
fn clean_inputs(
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
    let (mut files, mut removed, mut lost) = (0, 0, 0);
    let overwrite = arguments.overwrite;
    remove_detected(opened, findings, named, output, overwrite, memory, |file| {
        files += 1;
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
        "{}: {} written, {} removed, see {REMOVED}",
        output.display(),
        counted(files, "input", "inputs"),
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
) -> Result<LabelSet, CommandError> {
    let source = &corpus.source;
    if let Some(output) = &arguments.write_labels {
        check_output(output)?;
    }
    // The labels include the stops; `--no-stop` decides later whether they are used.
    let list: StopList = stop_list(&arguments.stop, false)?;
    let originals = open_originals(arguments, source)?;
    originals.check_outputs(arguments.write_labels.iter().chain(&arguments.analysis.out))?;
    let parameters = source.corpora().first().map(|corpus| corpus.parameters());
    let recipe = recipe_of(&parameters.cloned().unwrap_or_default(), LabelKind::Chunks);
    let params = DiscoverParams::new(
        How::Informed(arguments.min_length.unwrap_or(MIN_LENGTH)),
        recipe,
        &list,
    );
    let findings = arguments.analysis.run(&corpus.path, |workplace| {
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
            "note: {} look like idioms or templates; --stop-proposed ignores them",
            counted(
                counts.proposed,
                "chunk of the originals",
                "chunks of the originals"
            )
        ));
    }
    Ok(LabelSet::open(output)?)
}

fn contamination(
    arguments: &DetectArguments,
    corpus: &OpenedCorpus,
    k: u32,
) -> Result<ExitCode, CommandError> {
    let source = &corpus.source;
    let params = GramsParams {
        k,
        min_share: arguments.min_share.unwrap_or(MIN_SHARE),
    };
    params.check()?;
    let items = open_originals(arguments, source)?;
    items.check_outputs(&arguments.analysis.out)?;
    let findings = arguments.analysis.run(&corpus.path, |workplace| {
        grams(
            source,
            &items.source,
            &arguments.against,
            &params,
            workplace,
        )
    })?;
    clean_inputs(arguments, corpus, &findings)?;
    if !arguments.analysis.export(&findings.table("items"))? {
        print(&contamination_summary(
            &params,
            corpus,
            &findings,
            arguments.top.rows(),
        )?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn contamination_summary(
    params: &GramsParams,
    corpus: &OpenedCorpus,
    findings: &Findings,
    top: usize,
) -> Result<String, CommandError> {
    let counts: GramsSummary = findings.summary()?;
    let searched = counts.items.saturating_sub(counts.short + counts.common);
    let mut text = format!(
        "{} of {}: at least {} found on one page\n",
        number(counts.listed),
        counted(searched, "item", "items"),
        match params.min_share {
            0.5 => "half of the item".to_owned(),
            share => format!("{:.0}% of the item", 100.0 * share),
        }
    );
    let mut lines = Lines::default();
    lines.add_with(
        "items",
        number(counts.items),
        format!("compared by runs of {} words", params.k),
    );
    lines.add_with(
        "found in part",
        number(counts.found),
        "at least one run of words",
    );
    if counts.short > 0 {
        let remark = format!("ignored: fewer than {} words", params.k);
        lines.add_with("too short", number(counts.short), remark);
    }
    if counts.common > 0 {
        let remark = "ignored: all runs are in more than 64 items";
        lines.add_with("too common", number(counts.common), remark);
    }
    text.push_str(&lines.render());
    let places = first(findings.rows(PLACES_TABLE)?, top)?;
    if !places.is_empty() {
        let cells: Vec<Vec<String>> = places
            .iter()
            .map(|row| {
                vec![
                    shortened(&row.item, 40),
                    format!("{:.0}%", 100.0 * row.share),
                    shortened(&row.page, 60),
                    format!("{}..{}", row.begin, row.end),
                ]
            })
            .collect();
        text.push_str(&table(&["items found", "share", "page", "bytes"], &cells));
    } else if counts.items == counts.short && counts.items > 0 {
        text.push_str("All items have fewer words than --grams: try a smaller number.\n");
    } else {
        text.push_str(
            "No page contains enough of an item: try a lower --min-share or a smaller --grams.\n",
        );
    }
    if counts.crowded > 0 {
        text.push_str(&format!(
            "{} distinct runs of words are each in more than 64 items and were ignored.\n",
            number(counts.crowded)
        ));
    }
    text.push_str(&corpus.findings_line(findings));
    Ok(text)
}

fn summary(
    arguments: &DetectArguments,
    corpus: &OpenedCorpus,
    set: &LabelSet,
    findings: &Findings,
) -> Result<String, CommandError> {
    let counts: DetectSummary = findings.summary()?;
    let limits = thresholds(findings)?;
    let limit = |name: &str| limits.iter().find(|row| row.score == name);
    let of = set.used().recipe.of;
    let mut text = format!(
        "{} of {} pages contain labels\n",
        number(counts.matched_pages),
        number(counts.pages)
    );
    let mut lines = Lines::default();
    lines.add_with(
        "labels found",
        number(counts.labels),
        format!("of {}", number(set.used().count)),
    );
    let stopped = match (arguments.count_stops, counts.stopped) {
        (true, _) => "stops count like other chunks".to_owned(),
        (false, stopped) => format!("{} are stops", number(stopped)),
    };
    lines.add_with(of.name(), number(counts.chunks), stopped);
    lines.add("  that are labels", number(counts.matched));
    match (arguments.own.is_empty(), counts.own_pages) {
        (true, _) => {}
        (false, 0) => lines.add_with("own pages", "0", "no page is on a domain or host of --own"),
        (false, own) => lines.add_with("own pages", number(own), "ignored"),
    }
    let above = |row: Option<&cento_find::detect::ThresholdRow>, given: Option<f64>| {
        row.map_or(String::new(), |row| match given {
            Some(given) => format!("above {given}, as set"),
            None => format!(
                "above {:.3}: mean {:.3} + deviation {:.3}",
                row.threshold, row.mean, row.deviation
            ),
        })
    };
    let given = |own: Option<f64>| own.or(arguments.threshold);
    lines.add_with(
        "target pages",
        number(counts.targets),
        above(limit("page"), given(arguments.page_threshold)),
    );
    lines.add_with(
        "flagged sites",
        number(counts.flagged_sites),
        format!(
            "of {}, {} with labels",
            number(counts.sites),
            number(counts.matched_sites)
        ),
    );
    lines.add_with(
        "flagged neighbourhoods",
        number(counts.flagged),
        format!("of {}", number(counts.neighbourhoods)),
    );
    lines.add_with(
        "  by mean of pages",
        "",
        above(limit("mean"), given(arguments.mean_threshold)),
    );
    lines.add_with(
        "  by ratio of chunks",
        "",
        above(limit("ratio"), given(arguments.ratio_threshold)),
    );
    if counts.common_chunks > 0 {
        lines.add_with(
            "  on > 256 originals",
            number(counts.common_chunks),
            format!(
                "{} attributed to none",
                number(counts.common_chunks - counts.attributed_common_chunks)
            ),
        );
    }
    if let Some(least) = arguments.fuzzy {
        lines.add_with(
            "edited chunks",
            number(counts.fuzzy),
            format!(
                "on {}, with at least {:.0}% of a label's words, or a part of one; not in scores",
                counted(counts.fuzzy_pages, "page", "pages"),
                100.0 * least
            ),
        );
        let mut remarks = Vec::new();
        if counts.crowded_runs > 0 {
            let runs = number(counts.crowded_runs);
            remarks.push(format!(
                "ignored {runs} runs of words in more than 64 labels"
            ));
        }
        if counts.cut_labels > 0 {
            let cut = number(counts.cut_labels);
            remarks.push(format!("only the first 256 KiB of {cut}"));
        }
        lines.add_with(
            "  labels compared",
            number(counts.compared_labels),
            format!(
                "of {}{}{}",
                number(set.used().count),
                if remarks.is_empty() { "" } else { "; " },
                remarks.join("; ")
            ),
        );
    }
    text.push_str(&lines.render());
    text.push_str(&site_table(
        findings,
        set.has_originals(),
        arguments.top.rows(),
    )?);
    text.push_str(&sentences(&advice(&counts, set, arguments.fuzzy.is_some())));
    if counts.matched > 0 {
        text.push_str(&corpus.findings_line(findings));
    }
    Ok(text)
}

fn site_table(findings: &Findings, originals: bool, top: usize) -> Result<String, CommandError> {
    let sites = first(findings.rows(SITES_TABLE)?, top)?;
    if sites.is_empty() {
        return Ok(String::new());
    }
    let mut heading = vec![
        "sites with the most labels",
        "matched",
        "pages",
        "mean",
        "ratio",
        "",
    ];
    if originals {
        heading.insert(2, "originals");
    }
    let cells: Vec<Vec<String>> = sites
        .iter()
        .map(|row| {
            let flagged = row.flagged;
            let mut cells = vec![
                shortened(&row.site, 60),
                number(row.matched),
                number(row.pages),
                format!("{:.3}", row.mean),
                format!("{:.3}", row.ratio),
                if flagged { "flagged" } else { "" }.to_owned(),
            ];
            if originals {
                cells.insert(2, number(row.originals.unwrap_or(0)));
            }
            cells
        })
        .collect();
    Ok(table(&heading, &cells))
}

/// Explains an empty result, and what to try next.
fn advice(counts: &DetectSummary, set: &LabelSet, fuzzy: bool) -> String {
    let mut text = String::new();
    if counts.pages == 0 && counts.own_pages > 0 {
        text.push_str("All pages are excluded by --own.\n");
    } else if counts.pages == 0 {
        text.push_str("No page has text: `cento info` shows why pages were rejected.\n");
    } else if set.used().count == 0 {
        text.push_str("There are no labels; with --against, try a lower --min-length.\n");
    } else if counts.matched == 0 && counts.fuzzy > 0 {
        text.push_str("No page contains a label without edits.\n");
    } else if counts.matched == 0 && fuzzy {
        text.push_str("No page contains a label, edited or not. With --against, try --min-length 0 for short chunks, or --grams for passages.\n");
    } else if counts.matched == 0 {
        text.push_str("No page contains a label. Try --fuzzy for edited chunks; with --against, --min-length 0 for short chunks, or --grams for passages.\n");
    } else if counts.sites == 0 {
        text.push_str(
            "The pages have no hosts or folders: index with --base-url, or with a URL field.\n",
        );
    } else if counts.flagged == 0 {
        text.push_str("No neighbourhood stands out; --threshold 0 flags all with labels.\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_domains_can_be_typed_as_urls() {
        assert_eq!(domain_of("https://Mine.example/about"), "mine.example");
        assert_eq!(domain_of("mine.example."), "mine.example");
    }
}
