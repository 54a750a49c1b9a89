//! What can be typed. One definition serves the help, the manual and the completions.
//!
//! These structs hold what was typed and nothing more; each verb resolves its own to settings.

use std::path::PathBuf;
use std::time::Duration;

use cento_fingerprint::ChunkHash;
use cento_read::Format;
use cento_text::chunk::ChunkKind;
use cento_text::content::Selection;
use cento_text::normal::Normalisation;
use clap::{Args, Parser, Subcommand};

use crate::copies::CopiesArguments;
use crate::machine::{Size, seconds};
use crate::phrases::PhrasesArguments;
use crate::quilts::QuiltsArguments;
use crate::report::ReportArguments;
use crate::scan::ScanArguments;

/// Finds reused text in any corpus, from a folder to a web crawl.
#[derive(Debug, Parser)]
#[command(
    name = "cento",
    version,
    max_term_width = 100,
    disable_help_subcommand = true
)]
#[command(
    after_help = "Exit status: 0 done, 1 failed, 2 wrong usage, 3 done but with damaged input under --strict."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Scan(Box<ScanArguments>),
    Index(Box<IndexArguments>),
    Info(InfoArguments),
    Cat(CatArguments),
    Copies(Box<CopiesArguments>),
    Overlap(Box<crate::overlap::OverlapArguments>),
    Quilts(Box<QuiltsArguments>),
    Phrases(Box<PhrasesArguments>),
    Discover(Box<crate::discover::DiscoverArguments>),
    Detect(Box<crate::detect::DetectArguments>),
    Labels(crate::labels::LabelsArguments),
    Report(ReportArguments),
    Synth(Box<SynthArguments>),
    Score(ScoreArguments),
    OverlapBench(crate::overlap_bench::OverlapBenchArguments),
    /// Print the manual, for `man -l -`
    Man,
    /// Print the completions for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
}

/// Make a corpus from archives, folders and tables
///
/// Reads WARC, WET and ARC archives, folders of HTML and text files, JSON Lines and Parquet tables,
/// and makes a directory of Parquet tables: pages, their text, and their chunks. They may be files,
/// or objects on S3 and on servers of the web; S3 is set up by the usual variables
/// (AWS_ACCESS_KEY_ID, AWS_REGION, AWS_ENDPOINT_URL). A run that was broken off goes on where it
/// stopped when the same command is given again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cento index crawl/*.warc.gz -o crawl.cento
  cento index docs/ --base-url https://docs.example.org/ -o docs.cento
  cento index news.jsonl --field text=body --field url=link --field date=published -o news.cento
  cento index s3://bucket/crawl/ -o crawl.cento
  cento index @https://data.commoncrawl.org/crawl-data/CC-MAIN-2024-51/wet.paths.gz -o cc.cento
  zcat pages.jsonl.gz | cento index - --format jsonl -o pages.cento
  cento index more/*.warc.gz -o crawl.cento --add")]
pub(crate) struct IndexArguments {
    /// Files, folders, patterns, URLs (s3://, http://, https://), @FILE or @URL with one of these a
    /// line, or - for standard input
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<String>,
    /// The corpus to make or to add to
    #[arg(short, long, value_name = "NAME.cento")]
    pub(crate) output: PathBuf,
    /// Add the inputs to a corpus that is there, made with the same parameters. Inputs that are in
    /// it already are skipped
    #[arg(long)]
    pub(crate) add: bool,
    /// Add inputs that are in the corpus already once more
    #[arg(long, requires = "add")]
    pub(crate) again: bool,

    #[command(flatten)]
    pub(crate) reading: ReadingArguments,
    /// End with exit status 3 if records were damaged or pages could not be decoded
    #[arg(long, help_heading = "Reading")]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArguments,
    #[command(flatten)]
    pub(crate) machine: MachineArguments,
    /// Payload after which a part is closed: what a broken run may have to do again [default: 512M]
    #[arg(long, value_name = "SIZE", help_heading = "Machine")]
    pub(crate) part_size: Option<Size>,
    /// Print the outcome as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// How inputs are read, wherever they are indexed: by `cento index`, or by `cento scan` on its way.
#[derive(Debug, Args)]
pub(crate) struct ReadingArguments {
    /// Read every input as this format instead of telling by its name and content: warc, arc, wacz,
    /// html, text, jsonl or parquet
    #[arg(long, value_name = "FORMAT", help_heading = "Reading")]
    pub(crate) format: Option<Format>,
    /// The URL that a folder stands for; without it a file's URL is its path
    #[arg(long, value_name = "URL", help_heading = "Reading")]
    pub(crate) base_url: Option<String>,
    /// Which field of a table holds what: text, html, url, date, title, id, language or ip. May be
    /// given several times; `a.b` reaches into nested objects
    #[arg(long = "field", value_name = "ROLE=NAME", help_heading = "Reading")]
    pub(crate) fields: Vec<String>,
    /// Follow symbolic links that lead out of the folders that are read; otherwise they are skipped
    #[arg(long, help_heading = "Reading")]
    pub(crate) follow: bool,
    /// Keep pages whatever their HTTP status; otherwise those outside 200–299 are rejected
    #[arg(long, help_heading = "Reading")]
    pub(crate) any_status: bool,

    /// What those lines of @FILE are relative to that are no URLs; without it they are paths, and
    /// those of @URL are relative to its server or bucket
    #[arg(long, value_name = "URL", help_heading = "Other machines")]
    pub(crate) list_base: Option<String>,
    /// Fetch no more than this a second, all inputs together
    #[arg(long, value_name = "SIZE", help_heading = "Other machines")]
    pub(crate) max_rate: Option<Size>,
    /// How many times in a row a request may fail before the run is broken off; pauses grow from
    /// half a second to 30
    #[arg(
        long,
        value_name = "N",
        default_value_t = 8,
        help_heading = "Other machines"
    )]
    pub(crate) retries: u32,
    /// Ask again when nothing comes for this many seconds
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 30,
        value_parser = clap::value_parser!(u64).range(1..=86_400),
        help_heading = "Other machines"
    )]
    pub(crate) stall_timeout: u64,
    /// Do not sign requests to S3, even if the environment holds credentials. Without credentials
    /// none is signed
    #[arg(long, help_heading = "Other machines")]
    pub(crate) anonymous: bool,

    /// Which text of HTML pages is kept: all; main, the main content without navigation and other
    /// boilerplate; or slope, the flattest window of the document slope curve, as Seo & Croft
    /// (2008) did [default: all]
    #[arg(long, value_name = "WHICH", help_heading = "Text and chunks")]
    pub(crate) content: Option<Selection>,
    /// The same as --content main
    #[arg(long, conflicts_with = "content", help_heading = "Text and chunks")]
    pub(crate) main: bool,
    /// What a chunk is: paragraph, lines:N (wrapped at 80 columns), sentences:N, words:N or
    /// document [default: paragraph]
    #[arg(long, value_name = "KIND", help_heading = "Text and chunks")]
    pub(crate) chunk: Option<ChunkKind>,
    /// What is evened out before a chunk is hashed: none, space or space+case [default: space+case]
    #[arg(long, value_name = "HOW", help_heading = "Text and chunks")]
    pub(crate) normalise: Option<Normalisation>,
    /// What a chunk is hashed with: blake3 or sha1 [default: blake3]
    #[arg(long, value_name = "HASH", help_heading = "Text and chunks")]
    pub(crate) hash: Option<ChunkHash>,
    /// Keep no text: the corpus is smaller, and offers only what chunks and page facts can tell
    #[arg(long, help_heading = "Text and chunks")]
    pub(crate) no_text: bool,
    /// Let suffixes such as github.io, under which anyone may publish, end a domain too
    #[arg(long, help_heading = "Text and chunks")]
    pub(crate) private_suffixes: bool,
    /// A URL with more path components than this is a crawler's recursion error [default: 96]
    #[arg(long, value_name = "N", help_heading = "Text and chunks")]
    pub(crate) recursion_components: Option<u32>,
    /// So is one in which a component occurs this many times [default: 4]
    #[arg(long, value_name = "N", help_heading = "Text and chunks")]
    pub(crate) recursion_repeats: Option<u32>,
    /// And one in which a cycle of components occurs this many times in a row [default: 3]
    #[arg(long, value_name = "N", help_heading = "Text and chunks")]
    pub(crate) recursion_cycles: Option<u32>,
}

/// What one page may cost. What exceeds a limit is counted by the reason that each names.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArguments {
    /// The largest page, as stored and again without its content coding: else too-large [default:
    /// 64M; at most 512M]
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_page: Option<Size>,
    /// How many times its coded size a page may be, once it is over 1M: else too-large; and a
    /// compressed member of an input, once it is over four pages of the largest size: else
    /// unpacks-too-large [default: 250]
    #[arg(long, value_name = "N")]
    pub(crate) max_ratio: Option<u64>,
    /// The largest header of a record or of a response: else header-too-long [default: 256K]
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_header: Option<Size>,
    /// The most lines of such a header: else header-too-long [default: 1000]
    #[arg(long, value_name = "N")]
    pub(crate) max_header_lines: Option<u64>,
    /// The longest line of JSON Lines: else line-too-long [default: 64M, or the largest page if
    /// that is more]
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_line: Option<Size>,
    /// How deep HTML elements, or JSON objects and lists, may stand within each other: else
    /// too-deep [default: 20000]
    #[arg(long, value_name = "N")]
    pub(crate) max_nesting: Option<u32>,
    /// How long a processor may work on one page: else too-slow. A guard that no page comes near
    /// within the other limits [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) max_seconds: Option<Duration>,
    /// The most chunks of a page: else too-many-chunks [default: 1000000]
    #[arg(long, value_name = "N")]
    pub(crate) max_chunks: Option<u64>,
    /// The longest URL of a page: else url-too-long [default: 4K]
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_url: Option<Size>,
}

/// What a command may use of the machine: the same everywhere.
#[derive(Debug, Args)]
pub(crate) struct MachineArguments {
    /// Threads that work [default: as many as there are cores]
    #[arg(long, value_name = "N", help_heading = "Machine")]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
    /// Memory that may be used [default: half of what the machine has]
    #[arg(long, value_name = "SIZE", help_heading = "Machine")]
    pub(crate) memory: Option<Size>,
}

/// Show what is in a corpus
///
/// Counts, largest sites, languages, what was rejected and why, and the parameters it was made
/// with.
#[derive(Debug, Args)]
pub(crate) struct InfoArguments {
    /// The corpus
    #[arg(value_name = "CORPUS")]
    pub(crate) corpus: PathBuf,
    /// Read every byte and compare it with the checksums
    #[arg(long)]
    pub(crate) verify: bool,
    /// How many sites and languages to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show one page as cento sees it
///
/// What is known about the page, and its text; with --chunks, the text cut into chunks.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("which").required(true))]
pub(crate) struct CatArguments {
    /// The corpus
    #[arg(value_name = "CORPUS")]
    pub(crate) corpus: PathBuf,
    /// The page with this URL
    #[arg(long, value_name = "URL", group = "which")]
    pub(crate) url: Option<String>,
    /// The page with this id
    #[arg(long, value_name = "N", group = "which")]
    pub(crate) id: Option<u64>,
    /// Show the chunks, with their ranges and hashes
    #[arg(long)]
    pub(crate) chunks: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Make a synthetic crawl whose reuse is known
///
/// Writes archives (DIR/crawl/*.warc.gz), the truth about them (DIR/truth.jsonl) and some originals
/// (DIR/originals): copies, near-copies, quilts, passages, stolen pages, spam, mirrors, aliases,
/// traps and damage, each as much as is asked for. The same settings give the same bytes on any
/// number of threads. With --check, proves that a corpus indexed from such archives has every
/// offset, share and resemblance that the truth tells.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(false))]
#[command(after_help = "\
Shares are of all pages, from 0 to 1; articles, which copy nothing, are whatever the others leave.
Damaged records make other readers stumble: --damaged 0 makes archives that every tool takes.

Examples:
  cento synth -o crawl --pages 10000 --seed 1
  cento index crawl/crawl -o crawl.cento && cento synth --check crawl.cento
  cento synth -o english --pages 1000000 --languages en --near 0.2 --edit-rates 0.01,0.05
  cento synth -o template --pages 100000 --plain --news 0.9

Records of truth.jsonl, one JSON object a line, told apart by `type`:
  truth        the header: version, grams (words of a gram), settings
  page         url, kind, file, fetched, published, ip, language, declared, template,
               payload_sha1, reject
  site         host, domain, ips, kind
  copy         copy, of, how (bytes, text, near), why, resemblance, of_copy, of_source,
               shared_chunks, edit_rate
  passage      page, source, crawled, file, how (verbatim, edited, reordered), edit_rate, at and
               source_at (begin, end in bytes of the extracted text, begin_char, end_char in
               characters, hash), segments that are the same on both sides
  quilt        page, attributed, patch_share, sources with url and share
  copied       page, original, file, crawled, extent (whole, partial), of_page, of_original,
               shared_chunks
  alias        kind (url, server, mirror), alias, of
  revisit      url, fetched, of, of_fetched
  bad-site     kind (link-farm, spammer, thief), hosts, ips, pages, prefix, clean
  template     host, pages: reports in which only numbers change
  trap         host, pages: rejected as recursion
  damaged      url, file, damage, reject
  boilerplate  language, text: a sentence that most sites show")]
pub(crate) struct SynthArguments {
    /// The folder to write to
    #[arg(short, long, value_name = "DIR", group = "what")]
    pub(crate) output: Option<PathBuf>,
    /// Check this corpus, indexed from a synthetic crawl, against the truth
    #[arg(long, value_name = "CORPUS", group = "what")]
    pub(crate) check: Option<PathBuf>,
    /// With --check: where the truth is [default: beside the folder of the archives]
    #[arg(
        long,
        value_name = "FILE",
        requires = "check",
        conflicts_with = "output"
    )]
    pub(crate) truth: Option<PathBuf>,
    /// How many pages
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10_000,
        conflicts_with = "check"
    )]
    pub(crate) pages: u64,
    /// The seed of all that is drawn
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "check")]
    pub(crate) seed: u64,
    /// How many archives [default: one for every 5000 pages]
    #[arg(long, value_name = "N", conflicts_with = "check")]
    pub(crate) files: Option<u64>,
    /// Throw away the synthetic crawl that is in the folder
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
    /// Words of an article, on average
    #[arg(
        long,
        value_name = "N",
        default_value_t = 500,
        help_heading = "Text",
        conflicts_with = "check"
    )]
    pub(crate) words: u64,
    /// Shares of words that are changed in near-copies and edited passages; they take turns
    #[arg(
        long,
        value_name = "LIST",
        default_value = "0.002,0.005,0.01,0.02,0.05,0.1",
        value_delimiter = ',',
        help_heading = "Text",
        conflicts_with = "check"
    )]
    pub(crate) edit_rates: Vec<f64>,
    /// Sources of a quilt, give or take one
    #[arg(
        long,
        value_name = "N",
        default_value_t = 6,
        help_heading = "Text",
        conflicts_with = "check"
    )]
    pub(crate) quilt_sources: u64,
    /// Words of a gram, where the truth tells resemblance and shares
    #[arg(
        long,
        value_name = "K",
        default_value_t = 5,
        help_heading = "Text",
        conflicts_with = "check"
    )]
    pub(crate) grams: u32,

    /// Articles alone, besides the content that is given a share
    #[arg(long, help_heading = "Shares of content", conflicts_with = "check")]
    pub(crate) plain: bool,
    #[command(flatten)]
    pub(crate) shares: ShareArguments,

    /// Threads that write [default: as many as there are cores]
    #[arg(
        long,
        value_name = "N",
        help_heading = "Machine",
        conflicts_with = "check"
    )]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
    /// Print the outcome as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// How much there is of each kind of content.
#[derive(Debug, Args)]
#[command(next_help_heading = "Shares of content")]
pub(crate) struct ShareArguments {
    /// Copies with the same bytes, or with the same text in other markup [default: 0.03]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) exact: Option<f64>,
    /// Copies with changed words [default: 0.06]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) near: Option<f64>,
    /// Pages stitched from patches of several other domains [default: 0.03]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) quilts: Option<f64>,
    /// The same, with a link to each source [default: 0.01]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) aggregators: Option<f64>,
    /// Pages with one or two passages of others: verbatim, edited or reordered [default: 0.06]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) passages: Option<f64>,
    /// Publishers' pages; half as many again are in DIR/originals alone [default: 0.02]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) originals: Option<f64>,
    /// Pages of sites that copy originals, whole or in part [default: 0.05]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) stolen: Option<f64>,
    /// Reports in which only numbers change [default: 0.05]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) news: Option<f64>,
    /// Pages of link farms [default: 0.02]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) farms: Option<f64>,
    /// Pages of spammers: a hundred hosts on one address, nine pages on each [default: 0.03]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) spam: Option<f64>,
    /// Pages of mirrors and of other names of servers [default: 0.03]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) mirrors: Option<f64>,
    /// Pages at another address of their host [default: 0.02]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) aliases: Option<f64>,
    /// Pages fetched again and not stored again [default: 0.02]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) revisits: Option<f64>,
    /// Pages reached by running in circles [default: 0.01]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) traps: Option<f64>,
    /// Damaged records [default: 0.005]
    #[arg(long, value_name = "SHARE", conflicts_with = "check")]
    pub(crate) damaged: Option<f64>,
}

/// Score findings against the truth of a synthetic crawl
///
/// Precision, recall and F1 of each analysis whose findings are given. FINDINGS is the folder of a
/// run (NAME.cento/findings/ANALYSIS/RUN, with a run.json), a folder above it, or one table
/// (.parquet, .jsonl or .csv).
#[derive(Debug, Args)]
#[command(after_help = "\
Columns that tables must have. A page is named by its URL in the column of that name, or by its id
in one with _id behind the name (page_id, of_id, source_id):
  copies    pairs      page, of [, resemblance]   a page and what it copies; params: resemblance
            near_pairs page, of [, resemblance]   beside it: pages that resemble each other
  overlap   pairs      page, of                   pages that share chunks; params: chunk, threshold
  overlap-servers  servers  server, of            hosts or domains that share chunks
  reuse     pairs      page, of                   pages that share text
  passages  passages   page, source, begin, end, source_begin, source_end      in bytes
  quilts    patches    page, source [, share] [, attributed]                   params: min_share
  phrases   sites      site [, flagged]           hosts, domains or addresses
  discover  labels     page [, text]              an example page of each label
  detect    matches    page, original             the original by URL or by file
            sites      site [, flagged]           as for bad-sites
            neighbourhoods  site [, flagged]      prefixes: the folder of the bad pages among them
  bad-sites sites      site [, flagged]           hosts, domains, addresses or URL prefixes
  aliases   aliases    alias, of                  URLs, or hosts

Of several runs of one analysis, each line has the parameters that they differ in. A table that
is not what its run wrote is refused.

Reuse that is known and that an analysis does not look for (pages of one template, spam among
quilts) counts as `known`, neither right nor wrong; what follows from the truth (two copies of one
page) is right. `templates` are those of the wrong ones that are about two pages of one template.

Examples:
  cento score crawl.cento/findings --truth crawl/truth.jsonl
  cento score pairs.parquet --as copies --truth crawl/truth.jsonl --corpus crawl.cento")]
pub(crate) struct ScoreArguments {
    /// The folder of a run, a folder of runs, or one table
    #[arg(value_name = "FINDINGS", required = true)]
    pub(crate) findings: Vec<PathBuf>,
    /// The truth
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: PathBuf,
    /// The corpus that page ids are of [default: the one the findings are in]
    #[arg(long, value_name = "CORPUS")]
    pub(crate) corpus: Option<PathBuf>,
    /// Of which analysis a table is, if no run.json beside it says so: one of those below
    #[arg(long = "as", value_name = "ANALYSIS")]
    pub(crate) analysis: Option<String>,
    /// The least resemblance that near-copies should be found at [default: as the run says, else
    /// 0.8]
    #[arg(long, value_name = "R")]
    pub(crate) resemblance: Option<f64>,
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}
