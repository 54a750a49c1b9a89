//! `cento synth`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use cento_store::{BuildProgress, Corpus};
use cento_synth::{
    BLOG, BlogSummary, Check, CheckSummary, Mix, PageKind, REUSE, REUSE_PAIRS, SynthSettings,
    Synthesis, SynthesisSummary, write_blog, write_reuse_pairs,
};
use clap::Args;
use serde_json::json;

use crate::command_error::CommandError;
use crate::machine::threads_or_cores;
use crate::meter::Meter;
use crate::output::{Lines, clean, number, print_as, size, table};

/// Make a synthetic crawl whose reuse is known
///
/// Writes archives (DIR/crawl/*.warc.gz), the ground truth about them (DIR/truth.jsonl) and
/// originals (DIR/originals). The archives contain duplicates, near-duplicates, quilts, passages,
/// pages copied from originals, spam, mirrors, aliases, crawler traps and damaged records, each in
/// a chosen share. The same settings give the same bytes on any number of threads. With --check,
/// verifies that a corpus indexed from such archives has every offset, share and resemblance of the
/// truth.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(false))]
#[command(after_help = "\
Shares are fractions of all pages, from 0 to 1; the rest are articles, which copy nothing. Other
tools may fail on damaged records: use --damaged 0 for archives that they can read.

Examples:
  cento synth -o crawl --pages 10000 --seed 1
  cento index crawl/crawl -o crawl.cento && cento synth --check crawl.cento
  cento synth -o english --pages 1000000 --languages en --near 0.2 --edit-rates 0.01,0.05
  cento synth -o template --pages 100000 --plain --news 0.9

Records of truth.jsonl, one JSON object per line, by `type`:
  truth        the header: version, grams (words of a gram), settings
  page         url, kind, file, fetched, published, ip, language, declared, template,
               payload_sha1, reject
  site         host, domain, ips, kind
  copy         copy, of, how (bytes, text, near), why, resemblance, of_copy, of_source,
               shared_chunks, edit_rate
  passage      page, source, crawled, file, how (verbatim, edited, reordered), edit_rate, at and
               source_at (begin, end in bytes of the extracted text, begin_char, end_char in
               characters, hash), segments that are identical on both sides
  quilt        page, attributed, patch_share, sources with url and share
  copied       page, original, file, crawled, extent (whole, partial), of_page, of_original,
               shared_chunks
  alias        kind (url, server, mirror), alias, of
  revisit      url, fetched, of, of_fetched
  bad-site     kind (link-farm, spammer, thief), hosts, ips, pages, prefix, clean
  template     host, pages: reports that differ only in numbers
  trap         host, pages: rejected as recursion
  damaged      url, file, damage, reject
  boilerplate  language, text: a sentence on most sites")]
pub(crate) struct SynthArguments {
    /// Where to write the result
    ///
    /// The folder of the crawl.
    #[arg(short, long, value_name = "PATH", group = "what")]
    pub(crate) output: Option<PathBuf>,
    /// Check this corpus, indexed from a synthetic crawl, against the truth
    #[arg(long, value_name = "CORPUS", group = "what")]
    pub(crate) check: Option<PathBuf>,
    /// What is to be found: the truth.jsonl of `cento synth` [default: beside the folder of the
    /// archives]
    #[arg(
        long,
        value_name = "FILE",
        requires = "check",
        conflicts_with = "output"
    )]
    pub(crate) truth: Option<PathBuf>,
    /// Number of pages
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10_000,
        conflicts_with = "check"
    )]
    pub(crate) pages: u64,
    /// Seed of the random generator
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "check")]
    pub(crate) seed: u64,
    /// Number of archives [default: one per 5000 pages]
    #[arg(long, value_name = "N", conflicts_with = "check")]
    pub(crate) files: Option<u64>,
    /// Replace the synthetic crawl in the folder
    #[arg(long, conflicts_with = "check")]
    pub(crate) force: bool,

    /// Languages with weights, such as en:3,de,zh [default: all: en, de, fr, es, ru, el, ar, hi,
    /// zh, ja, th]
    #[arg(
        long,
        value_name = "LIST",
        help_heading = "Text",
        conflicts_with = "check"
    )]
    pub(crate) languages: Option<String>,
    /// Average number of words of an article
    #[arg(
        long,
        value_name = "N",
        default_value_t = 500,
        help_heading = "Text",
        conflicts_with = "check"
    )]
    pub(crate) words: u64,
    /// Shares of words changed in near-duplicates and edited passages, used in turn
    #[arg(
        long,
        value_name = "LIST",
        default_value = "0.002,0.005,0.01,0.02,0.05,0.1",
        value_delimiter = ',',
        help_heading = "Text",
        conflicts_with = "check"
    )]
    pub(crate) edit_rates: Vec<f64>,
    /// Number of sources of a quilt, plus or minus one
    #[arg(
        long,
        value_name = "N",
        default_value_t = 6,
        help_heading = "Text",
        conflicts_with = "check"
    )]
    pub(crate) quilt_sources: u64,
    /// Words per gram
    ///
    /// For resemblance and shares in the truth.
    #[arg(
        short,
        long,
        value_name = "K",
        default_value_t = 5,
        help_heading = "Text",
        conflicts_with = "check"
    )]
    pub(crate) k: u32,

    /// Also write pairs of known reuse to DIR/reuse: N for each category C1 to C6 and N unrelated
    /// ones, with the edit rates in turn. `cento reuse --compare --labelled` reads them
    #[arg(
        long,
        value_name = "N",
        help_heading = "Text",
        conflicts_with = "check"
    )]
    pub(crate) reuse_pairs: Option<u64>,

    /// Also write a site of N pages with the statistics of the blog of Ardi & Heidemann (4626
    /// pages) to DIR/blog.jsonl, for `cento trial`
    #[arg(
        long,
        value_name = "N",
        help_heading = "Text",
        value_parser = clap::value_parser!(u64).range(1..=1_000_000),
        conflicts_with = "check"
    )]
    pub(crate) blog: Option<u64>,

    /// Only articles, and content with an explicit share
    #[arg(long, help_heading = "Shares of content", conflicts_with = "check")]
    pub(crate) plain: bool,
    #[command(flatten)]
    pub(crate) shares: ShareArguments,

    /// Worker threads [default: the number of cores]
    #[arg(
        long,
        value_name = "N",
        help_heading = "Machine",
        conflicts_with = "check"
    )]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
    /// Print JSON, one object per line
    ///
    /// One object, the summary.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The share of each kind of content.
#[derive(Debug, Args)]
#[command(next_help_heading = "Shares of content")]
pub(crate) struct ShareArguments {
    /// Duplicates: identical bytes, or identical text in other markup [default: 0.03]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) duplicates: Option<f64>,
    /// Near-duplicates: copies with changed words [default: 0.06]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) near: Option<f64>,
    /// Pages stitched from patches of several other domains [default: 0.03]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) quilts: Option<f64>,
    /// Quilts with a link to each source [default: 0.01]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) aggregators: Option<f64>,
    /// Pages with one or two passages of other pages: verbatim, edited or reordered [default: 0.06]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) passages: Option<f64>,
    /// Publishers' pages; half as many more are only in DIR/originals [default: 0.02]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) originals: Option<f64>,
    /// Pages of sites that copy originals, whole or in part [default: 0.05]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) stolen: Option<f64>,
    /// Reports that differ only in numbers [default: 0.05]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) news: Option<f64>,
    /// Pages of link farms [default: 0.02]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) farms: Option<f64>,
    /// Pages of spammers: a hundred hosts on one address, nine pages on each [default: 0.03]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) spam: Option<f64>,
    /// Pages of mirrors and server aliases [default: 0.03]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) mirrors: Option<f64>,
    /// Pages at a second URL on the same host [default: 0.02]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) aliases: Option<f64>,
    /// Revisit records: pages fetched again but not stored again [default: 0.02]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) revisits: Option<f64>,
    /// Pages of crawler traps [default: 0.01]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) traps: Option<f64>,
    /// Damaged records [default: 0.005]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) damaged: Option<f64>,
}

pub(crate) fn run(arguments: &SynthArguments) -> Result<ExitCode, CommandError> {
    let progress = Arc::new(BuildProgress::default());
    match (&arguments.output, &arguments.check) {
        (_, Some(corpus)) => check(arguments, corpus, &progress),
        (Some(folder), None) => make(arguments, folder, &progress),
        (None, None) => Err(CommandError::usage(
            "nothing to make or check".to_owned(),
            "use -o FOLDER or --check CORPUS",
        )),
    }
}

fn settings(arguments: &SynthArguments) -> Result<SynthSettings, CommandError> {
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
    settings.grams = arguments.k;
    if arguments.plain {
        settings.mix = Mix::plain();
    }
    let shares = &arguments.shares;
    for (kind, share) in [
        (PageKind::Exact, shares.duplicates),
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

/// Parses languages with weights, such as `en:3,de`.
fn languages(list: &str) -> Result<Vec<(String, u32)>, CommandError> {
    list.split(',')
        .map(|item| {
            let (code, weight) = item.split_once(':').unwrap_or((item, "1"));
            let weight = weight.trim().parse().map_err(|_| {
                CommandError::usage(
                    format!("invalid weight `{weight}` in --languages"),
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
    progress: &Arc<BuildProgress>,
) -> Result<ExitCode, CommandError> {
    let settings = settings(arguments)?;
    let begun = Instant::now();
    let meter = Meter::start(progress);
    let outcome = Synthesis {
        folder: folder.to_owned(),
        settings: settings.clone(),
        threads: threads_or_cores(arguments.threads),
        force: arguments.force,
        progress,
    }
    .run();
    drop(meter);
    let made = outcome?;
    let reuse_pairs = match arguments.reuse_pairs {
        Some(pairs) => write_reuse_pairs(&settings, pairs, &folder.join(REUSE))?,
        None => 0,
    };
    let blog = match arguments.blog {
        Some(pages) => Some(write_blog(&settings, pages, folder)?),
        None => None,
    };
    let seconds = begun.elapsed().as_secs_f64();
    let text = if arguments.json {
        let kinds: serde_json::Map<String, serde_json::Value> = made
            .kinds
            .iter()
            .map(|(kind, count)| (kind.name().to_owned(), (*count).into()))
            .collect();
        let object = json!({
            "folder": folder, "pages": arguments.pages, "kinds": kinds, "files": made.files,
            "files_from_before": made.files_from_before, "originals": made.originals,
            "payload_bytes": made.payload_bytes, "archive_bytes": made.archive_bytes,
            "truth_bytes": made.truth_bytes, "reuse_pairs": reuse_pairs,
            "blog_pages": blog.map(|blog| blog.pages), "seconds": seconds,
        });
        format!("{object}\n")
    } else {
        summary(arguments, folder, &made, reuse_pairs, blog, seconds)
    };
    print_as(arguments.json, &text)?;
    Ok(ExitCode::SUCCESS)
}

fn summary(
    arguments: &SynthArguments,
    folder: &Path,
    made: &SynthesisSummary,
    reuse_pairs: u64,
    blog: Option<BlogSummary>,
    seconds: f64,
) -> String {
    let mut lines = Lines::default();
    lines.add("pages", number(arguments.pages));
    for (kind, count) in made.kinds.iter().filter(|(_, count)| *count > 0) {
        lines.add(format!("  {}", kind.name()), number(*count));
    }
    lines.add_with("originals", number(made.originals), "separate files");
    let before = match made.files_from_before {
        0 => String::new(),
        files => format!("{} from the interrupted run", number(files)),
    };
    lines.add_with("archives", number(made.files), before);
    lines.add("payload", size(made.payload_bytes));
    lines.add("on disk", size(made.archive_bytes));
    lines.add("truth", size(made.truth_bytes));
    if reuse_pairs > 0 {
        let remark = format!("labelled, in {REUSE}/{REUSE_PAIRS}");
        lines.add_with("reuse pairs", number(reuse_pairs), remark);
    }
    if let Some(blog) = blog {
        let remark = format!(
            "with {} chunks, {} distinct, {} of them more than 20 times, in {BLOG}",
            number(blog.chunks),
            number(blog.distinct),
            number(blog.frequent)
        );
        lines.add_with("blog pages", number(blog.pages), remark);
    }
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
    progress: &Arc<BuildProgress>,
) -> Result<ExitCode, CommandError> {
    let corpus = Corpus::open(corpus)?;
    let truth = match &arguments.truth {
        Some(truth) => truth.clone(),
        None => cento_synth::truth_of(&corpus)?,
    };
    let meter = Meter::start(progress);
    let outcome = Check {
        corpus: &corpus,
        truth: truth.clone(),
        progress,
    }
    .run();
    drop(meter);
    let checked = outcome?;
    let text = if arguments.json {
        let object = json!({
            "corpus": corpus.path(), "truth": truth, "sound": checked.is_sound(),
            "hold": checked.hold, "fail": checked.fail, "examples": checked.examples,
        });
        format!("{object}\n")
    } else {
        verdict(&checked)
    };
    print_as(arguments.json, &text)?;
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
    let shown = checked.examples.len() as u64;
    let failed: u64 = checked.fail.values().sum();
    if failed > shown {
        text.push_str(&format!("… and {} more\n", number(failed - shown)));
    }
    text.push_str(if checked.is_sound() {
        "the corpus agrees with the truth\n"
    } else {
        "the corpus does not agree with the truth\n"
    });
    text
}
