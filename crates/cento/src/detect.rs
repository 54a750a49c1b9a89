//! `cento detect`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use cento_find::detect::{
    DetectParams, DetectSummary, GramsParams, GramsSummary, LabelSet, detect, grams, thresholds,
};
use cento_find::discover::{
    DiscoverParams, DiscoverSummary, How, discover, recipe_of, write_labels,
};
use cento_find::labelling::stop_labels;
use cento_find::{CorpusPages, Findings};
use cento_labels::{LabelKind, StopList};
use cento_scan::Analysis;
use cento_scan::analyses::detect::Detect;
use cento_scan::rows::first;
use clap::Args;

use crate::analysis::{AnalysisArguments, FigureArguments, open_source};
use crate::discover::{check_output, sampled, stop_list};
use crate::failure::Failure;
use crate::originals::{OriginalArguments, Originals};
use crate::output::{Lines, number, print, say, shortened, table};

/// Find where it is copied: pages, sites and folders that have labels
///
/// After Ardi & Heidemann 2014. A page contains labels by the share of its chunks that are labels,
/// stop chunks aside. A neighbourhood, all pages under a host or a folder, is scored by the mean of
/// its pages and by the share of all of its chunks, and is flagged (the paper's "bad
/// neighbourhood") if either is above its threshold: by default the mean of all neighbourhoods plus
/// one standard deviation. Scores are compared as whole numbers, so that rounding decides nothing.
/// What was found says that text is in two places, and not who copied it.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["labels", "against"]))]
#[command(after_help = "\
Findings are tables in CORPUS/findings/detect: sites (the main one) and neighbourhoods (pages,
matched chunks, mean, ratio, flagged), pages (contains, target), matches (page, original, shares of
both), copied (site, original), chunks (which label where), labels (found how often), fuzzy,
thresholds, histogram and levels. With --grams they are in CORPUS/findings/contamination: items (the
main one: the share of each that was found) and places (page, share, where in its text).

What is ranked is ranked by the number of matched chunks. Labels must have been made as the corpus
was: the same chunks, normalisation and hash.

A chunk that several originals have is attributed to the one that has most of its page's matched
chunks. One that more than 256 originals have is attributed to an original only if other chunks of
the page are, and counted apart else.

With --fuzzy a word of a label is found in a chunk if it stands there in the same run of 4 words;
the share is that of the label's words. A part of a label counts too, if 80% of the chunk's words
are the label's, and 8 words at least. Runs that more than 64 labels have are ignored, in what is
found and in what is looked for. With --grams, runs that more than 64 different items have are
ignored in the same way.

Examples:
  cento detect crawl.cento --labels wikipedia.labels --own wikipedia.org --depth 1
  cento detect crawl.cento --against mine/ --own mine.example --fuzzy
  cento detect training.cento --against benchmark.jsonl --field text=question --grams 8
  cento detect crawl.cento --labels spam.labels --threshold 0.5 --figures figures/")]
pub(crate) struct DetectArguments {
    /// The corpus
    #[arg(value_name = "CORPUS")]
    pub(crate) corpus: PathBuf,
    /// The labels to look for, made by `cento discover`
    #[arg(long, value_name = "LABELS")]
    pub(crate) labels: Option<PathBuf>,
    /// Look for every chunk of these originals: a corpus, or anything that `cento index` reads
    #[arg(long, value_name = "INPUT", num_args = 1..)]
    pub(crate) against: Vec<String>,
    /// With --against: look for overlapping runs of K words instead of chunks
    #[arg(short = 'k', long, value_name = "K", conflicts_with_all = ["labels", "fuzzy", "no_stop", "stop", "stop_proposed", "own", "depth", "threshold", "page_threshold", "mean_threshold", "ratio_threshold", "figures", "min_length", "sample", "seed"])]
    pub(crate) grams: Option<u32>,
    /// With --grams: list pages that have at least this share of an item's runs [default: 0.5]
    #[arg(
        long,
        value_name = "SHARE",
        requires = "grams",
        conflicts_with = "labels"
    )]
    pub(crate) min_share: Option<f64>,
    /// With --against: look for chunks of at least this many bytes [default: 100]
    #[arg(long, value_name = "BYTES", conflicts_with = "labels")]
    pub(crate) min_length: Option<u64>,
    /// Look for edited chunks too: those that have at least this share of a label's words, in runs
    /// of 4; they count for no score
    #[arg(long, value_name = "SHARE", num_args = 0..=1, require_equals = true, default_missing_value = "0.4")]
    pub(crate) fuzzy: Option<f64>,
    /// Leave out pages of this domain or host: the owner's own. May be given several times
    #[arg(long, value_name = "DOMAIN")]
    pub(crate) own: Vec<String>,

    /// Flag pages and neighbourhoods above this share [default: mean plus standard deviation, of
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
    /// How many levels of neighbourhoods: 1 is hosts alone [default: all]
    #[arg(long, value_name = "N", help_heading = "Thresholds")]
    pub(crate) depth: Option<u32>,

    /// Let stop chunks count as any other
    #[arg(long, help_heading = "Stop chunks")]
    pub(crate) no_stop: bool,
    /// With --against: stop what is on this list too
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "labels",
        help_heading = "Stop chunks"
    )]
    pub(crate) stop: Vec<PathBuf>,
    /// With --against: stop what looks like an idiom or a template of the originals, too
    #[arg(long, conflicts_with = "labels", help_heading = "Stop chunks")]
    pub(crate) stop_proposed: bool,

    #[command(flatten)]
    pub(crate) originals: OriginalArguments,
    /// With --against: keep the labels
    #[arg(
        short,
        long,
        value_name = "NAME.labels",
        conflicts_with_all = ["labels", "grams"],
        help_heading = "Output"
    )]
    pub(crate) output: Option<PathBuf>,
    /// Write the paper's figures to a folder, as SVG and as CSV
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub(crate) figures: Option<PathBuf>,
    /// Print so many of the flagged neighbourhoods, drawn at random, to be classified as in the
    /// paper's Tables 5 and 6
    #[arg(long, value_name = "N", conflicts_with_all = ["json", "out"], help_heading = "Output")]
    pub(crate) sample: Option<usize>,
    /// With --sample: draw others
    #[arg(
        long,
        value_name = "NUMBER",
        requires = "sample",
        help_heading = "Output"
    )]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) figure_format: FigureArguments,
    #[command(flatten)]
    pub(crate) analysis: AnalysisArguments,
}

/// The least length of a chunk of originals that is looked for.
pub(crate) const MIN_LENGTH: u64 = 100;
/// The least share of an item on a page that is listed.
const MIN_SHARE: f64 = 0.5;

pub(crate) fn run(arguments: &DetectArguments) -> Result<ExitCode, Failure> {
    let params = DetectParams {
        page_threshold: arguments.page_threshold.or(arguments.threshold),
        mean_threshold: arguments.mean_threshold.or(arguments.threshold),
        ratio_threshold: arguments.ratio_threshold.or(arguments.threshold),
        no_stop: arguments.no_stop,
        own: arguments.own.iter().map(|own| domain_of(own)).collect(),
        depth: arguments.depth,
        fuzzy: arguments.fuzzy,
    };
    params.check()?;
    if arguments.labels.is_some() {
        arguments.originals.check_unused("with --labels")?;
    }
    let source = Arc::new(open_source(
        &[&arguments.corpus],
        arguments.analysis.partial,
    )?);
    if let Some(k) = arguments.grams {
        return contamination(arguments, &source, k);
    }
    let set = match &arguments.labels {
        Some(path) => LabelSet::open(path)?,
        None => against(arguments, &source)?,
    };
    let findings = arguments.analysis.run(&arguments.corpus, |workplace| {
        detect(&source, &set, &params, workplace)
    })?;
    if let Some(folder) = &arguments.figures {
        arguments
            .figure_format
            .write(folder, &Detect.figures(&findings)?)?;
    }
    if let Some(size) = arguments.sample {
        let seed = arguments.seed.unwrap_or(0);
        return sampled(&findings, "neighbourhoods", "site", size, seed, |row| {
            row.holds("flagged")
        });
    }
    if !arguments.analysis.give(&findings.table("sites"))? {
        print(&summary(arguments, &set, &findings)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A domain as it may have been typed: with a scheme, a slash, in capitals.
fn domain_of(typed: &str) -> String {
    let bare = typed.split_once("://").map_or(typed, |(_, rest)| rest);
    let host = bare.split('/').next().unwrap_or(bare);
    host.trim_end_matches('.').to_lowercase()
}

fn open_originals(arguments: &DetectArguments, source: &CorpusPages) -> Result<Originals, Failure> {
    let parameters = source.corpora().first().map(|corpus| corpus.parameters());
    Originals::open(
        &arguments.against,
        &arguments.originals,
        &parameters.cloned().unwrap_or_default(),
        arguments.analysis.temp.as_deref(),
        &arguments.analysis.machine,
    )
}

/// Labels of all chunks of the originals, cut as the corpus is.
fn against(arguments: &DetectArguments, source: &CorpusPages) -> Result<LabelSet, Failure> {
    if let Some(output) = &arguments.output {
        check_output(output)?;
    }
    // Stops travel with the labels; whether they are used, detecting says.
    let list: StopList = stop_list(&arguments.stop, false)?;
    let originals = open_originals(arguments, source)?;
    originals.check_outputs(arguments.output.iter().chain(&arguments.analysis.out))?;
    let parameters = source.corpora().first().map(|corpus| corpus.parameters());
    let recipe = recipe_of(&parameters.cloned().unwrap_or_default(), LabelKind::Chunks);
    let params = DiscoverParams::new(
        How::Informed(arguments.min_length.unwrap_or(MIN_LENGTH)),
        recipe,
        &list,
    );
    let findings = arguments.analysis.run(&arguments.corpus, |workplace| {
        discover(&originals.source, &params, workplace)
    })?;
    let inside = findings.path.join("originals.labels");
    let output = arguments.output.as_ref().unwrap_or(&inside);
    write_labels(&findings, &params, output)?;
    let counted: DiscoverSummary = findings.summary()?;
    if arguments.stop_proposed {
        stop_labels(output, output, |row| row.proposed.is_some())?;
    } else if counted.proposed > 0 {
        say(&format!(
            "{} chunks of the originals look like idioms or like their template; --stop-proposed leaves them aside",
            number(counted.proposed)
        ));
    }
    Ok(LabelSet::open(output)?)
}

fn contamination(
    arguments: &DetectArguments,
    source: &Arc<CorpusPages>,
    k: u32,
) -> Result<ExitCode, Failure> {
    let params = GramsParams {
        k,
        min_share: arguments.min_share.unwrap_or(MIN_SHARE),
    };
    params.check()?;
    let items = open_originals(arguments, source)?;
    items.check_outputs(&arguments.analysis.out)?;
    let findings = arguments.analysis.run(&arguments.corpus, |workplace| {
        grams(source, &items.source, &params, workplace)
    })?;
    if !arguments.analysis.give(&findings.table("items"))? {
        print(&contamination_summary(&params, &findings)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn contamination_summary(params: &GramsParams, findings: &Findings) -> Result<String, Failure> {
    let counted: GramsSummary = findings.summary()?;
    let looked_for = counted.items.saturating_sub(counted.short + counted.common);
    let mut text = format!(
        "{} of {} items that were looked for are on some page to {:.0}% at least\n",
        number(counted.listed),
        number(looked_for),
        100.0 * params.min_share
    );
    let mut lines = Lines::default();
    lines.add_with(
        "items",
        number(counted.items),
        format!("by runs of {} words", params.k),
    );
    lines.add_with(
        "anything found",
        number(counted.found),
        "a run of words at least",
    );
    if counted.short > 0 {
        let remark = format!("fewer than {} words: not looked for", params.k);
        lines.add_with("too short", number(counted.short), remark);
    }
    if counted.common > 0 {
        let remark = "every run is in more than 64 items: not looked for";
        lines.add_with("nothing of their own", number(counted.common), remark);
    }
    text.push_str(&lines.render());
    let places = first(findings, "places", 10)?;
    if !places.is_empty() {
        let cells: Vec<Vec<String>> = places
            .iter()
            .map(|row| {
                vec![
                    shortened(row.word("item"), 40),
                    format!("{:.0}%", 100.0 * row.real("share")),
                    shortened(row.word("page"), 60),
                    format!("{}..{}", row.count("begin"), row.count("end")),
                ]
            })
            .collect();
        text.push_str(&table(&["items found", "share", "page", "bytes"], &cells));
    } else if counted.items == counted.short && counted.items > 0 {
        text.push_str("All items are shorter than a run of words: try a smaller -k.\n");
    } else {
        text.push_str("No page has enough of an item. --min-share lists pages that have less, a smaller -k finds shorter runs.\n");
    }
    if counted.crowded > 0 {
        text.push_str(&format!(
            "{} distinct runs of words are in more than 64 different items each: ignored, in what is found and in what is looked for.\n",
            number(counted.crowded)
        ));
    }
    text.push_str(&format!("All of it: {}\n", findings.path.display()));
    Ok(text)
}

fn summary(
    arguments: &DetectArguments,
    set: &LabelSet,
    findings: &Findings,
) -> Result<String, Failure> {
    let counted: DetectSummary = findings.summary()?;
    let limits = thresholds(findings)?;
    let limit = |name: &str| limits.iter().find(|row| row.score == name);
    let of = set.used().recipe.of;
    let mut text = format!(
        "{} of {} pages have labels\n",
        number(counted.matched_pages),
        number(counted.pages)
    );
    let mut lines = Lines::default();
    lines.add_with(
        "labels found",
        number(counted.labels),
        format!("of {}", number(set.used().count)),
    );
    let stopped = match (arguments.no_stop, counted.stopped) {
        (true, _) => "stops count as any other".to_owned(),
        (false, stopped) => format!("{} are stops", number(stopped)),
    };
    lines.add_with(of.name(), number(counted.chunks), stopped);
    lines.add("  that are labels", number(counted.matched));
    if counted.own_pages > 0 {
        lines.add_with("own pages", number(counted.own_pages), "left out");
    }
    let above = |row: Option<&cento_find::detect::ThresholdRow>, given: Option<f64>| {
        row.map_or(String::new(), |row| match given {
            Some(given) => format!("above {given}, as given"),
            None => format!(
                "above {:.3}: mean {:.3} + deviation {:.3}",
                row.threshold, row.mean, row.deviation
            ),
        })
    };
    let given = |own: Option<f64>| own.or(arguments.threshold);
    lines.add_with(
        "target pages",
        number(counted.targets),
        above(limit("page"), given(arguments.page_threshold)),
    );
    lines.add_with(
        "flagged sites",
        number(counted.flagged_sites),
        format!(
            "of {}, {} of them with labels",
            number(counted.sites),
            number(counted.matched_sites)
        ),
    );
    lines.add_with(
        "flagged neighbourhoods",
        number(counted.flagged),
        format!("of {}", number(counted.neighbourhoods)),
    );
    lines.add_with(
        "  by mean of pages",
        "",
        above(limit("mean"), given(arguments.mean_threshold)),
    );
    lines.add_with(
        "  by ratio of all",
        "",
        above(limit("ratio"), given(arguments.ratio_threshold)),
    );
    if counted.common_chunks > 0 {
        lines.add_with(
            "  on > 256 originals",
            number(counted.common_chunks),
            format!(
                "{} of them attributed to none",
                number(counted.common_chunks - counted.attributed_common_chunks)
            ),
        );
    }
    if let Some(least) = arguments.fuzzy {
        lines.add_with(
            "edited chunks",
            number(counted.fuzzy),
            format!(
                "on {} pages, with {:.0}% of a label's words, or parts of one; in no score",
                number(counted.fuzzy_pages),
                100.0 * least
            ),
        );
        let mut remarks = Vec::new();
        if counted.crowded_runs > 0 {
            let runs = number(counted.crowded_runs);
            remarks.push(format!(
                "{runs} runs of words that more than 64 have ignored"
            ));
        }
        if counted.cut_labels > 0 {
            let cut = number(counted.cut_labels);
            remarks.push(format!("of {cut} the first 256 KiB"));
        }
        lines.add_with(
            "  labels compared",
            number(counted.compared_labels),
            format!(
                "of {}{}{}",
                number(set.used().count),
                if remarks.is_empty() { "" } else { "; " },
                remarks.join("; ")
            ),
        );
    }
    text.push_str(&lines.render());
    text.push_str(&site_table(findings, set.has_originals())?);
    text.push_str(&advice(&counted, set, findings));
    Ok(text)
}

fn site_table(findings: &Findings, originals: bool) -> Result<String, Failure> {
    let sites = first(findings, "sites", 10)?;
    if sites.is_empty() {
        return Ok(String::new());
    }
    let mut heading = vec!["sites with most", "matched", "pages", "mean", "ratio", ""];
    if originals {
        heading.insert(2, "originals");
    }
    let cells: Vec<Vec<String>> = sites
        .iter()
        .map(|row| {
            let flagged = row.holds("flagged");
            let mut cells = vec![
                shortened(row.word("site"), 60),
                number(row.count("matched")),
                number(row.count("pages")),
                format!("{:.3}", row.real("mean")),
                format!("{:.3}", row.real("ratio")),
                if flagged { "flagged" } else { "" }.to_owned(),
            ];
            if originals {
                cells.insert(2, number(row.count("originals")));
            }
            cells
        })
        .collect();
    Ok(table(&heading, &cells))
}

/// Why something is empty, and what to do about it.
fn advice(counted: &DetectSummary, set: &LabelSet, findings: &Findings) -> String {
    let mut text = String::new();
    if counted.pages == 0 && counted.own_pages > 0 {
        text.push_str("All pages are your own (--own).\n");
    } else if counted.pages == 0 {
        text.push_str("No page has text: `cento info` tells why pages were rejected.\n");
    } else if set.used().count == 0 {
        text.push_str(
            "There are no labels to look for; with --against, a lower --min-length makes more.\n",
        );
    } else if counted.matched == 0 {
        text.push_str("No label is on any page. --fuzzy looks for edited chunks; with --against, --min-length 0 looks for short ones, and --grams for passages.\n");
    } else if counted.sites == 0 {
        text.push_str(
            "The pages have no hosts or folders: index with --base-url, or with a field of URLs.\n",
        );
    } else if counted.flagged == 0 {
        text.push_str("No neighbourhood stands out from the others. --threshold 0 flags all that have labels.\n");
    }
    if counted.matched > 0 {
        text.push_str(&format!("All of it: {}\n", findings.path.display()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_may_be_typed_as_addresses() {
        assert_eq!(domain_of("https://Mine.example/about"), "mine.example");
        assert_eq!(domain_of("mine.example."), "mine.example");
    }
}
