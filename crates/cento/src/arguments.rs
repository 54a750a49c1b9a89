//! What can be typed. One definition serves the help, the manual and the completions.
//!
//! These structs hold what was typed and nothing more; each verb resolves its own to settings.

use std::path::PathBuf;
use std::time::Duration;

use cento_print::ChunkHash;
use cento_read::Format;
use cento_text::chunk::ChunkKind;
use cento_text::normal::Normalisation;
use clap::{Args, Parser, Subcommand};

use crate::machine::{Size, seconds};

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
    Index(Box<IndexArguments>),
    Info(InfoArguments),
    Cat(CatArguments),
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
/// Reads WARC, WET and ARC archives, folders of HTML and text files, JSON Lines and Parquet tables, and
/// makes a directory of Parquet tables: pages, their text, and their chunks. They may be files, or objects on S3 and on
/// servers of the web; S3 is set up by the usual variables (AWS_ACCESS_KEY_ID, AWS_REGION, AWS_ENDPOINT_URL). A run that was broken off goes on
/// where it stopped when the same command is given again.
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
    /// Files, folders, patterns, URLs (s3://, http://, https://), @FILE or @URL with one of these a line, or - for
    /// standard input
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<String>,
    /// The corpus to make or to add to
    #[arg(short, long, value_name = "NAME.cento")]
    pub(crate) output: PathBuf,
    /// Add the inputs to a corpus that is there, made with the same parameters
    #[arg(long)]
    pub(crate) add: bool,

    /// Read every input as this format instead of telling by its name and content: warc, arc, wacz, html, text,
    /// jsonl or parquet
    #[arg(long, value_name = "FORMAT", help_heading = "Reading")]
    pub(crate) format: Option<Format>,
    /// The URL that a folder stands for; without it a file's URL is its path
    #[arg(long, value_name = "URL", help_heading = "Reading")]
    pub(crate) base_url: Option<String>,
    /// Which field of a table holds what: text, html, url, date, title, id, language or ip. May be given
    /// several times; `a.b` reaches into nested objects
    #[arg(long = "field", value_name = "ROLE=NAME", help_heading = "Reading")]
    pub(crate) fields: Vec<String>,
    /// Keep pages whatever their HTTP status; otherwise those outside 200–299 are rejected
    #[arg(long, help_heading = "Reading")]
    pub(crate) any_status: bool,
    /// End with exit status 3 if records were damaged or pages could not be decoded
    #[arg(long, help_heading = "Reading")]
    pub(crate) strict: bool,

    /// What those lines of @FILE are relative to that are no URLs; without it they are paths, and those of @URL are
    /// relative to its server or bucket
    #[arg(long, value_name = "URL", help_heading = "Other machines")]
    pub(crate) list_base: Option<String>,
    /// Fetch no more than this a second, all inputs together
    #[arg(long, value_name = "SIZE", help_heading = "Other machines")]
    pub(crate) max_rate: Option<Size>,
    /// How many times in a row a request may fail before the run is broken off; pauses grow from half a second to 30
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
    /// Do not sign requests to S3, even if the environment holds credentials. Without credentials none is signed
    #[arg(long, help_heading = "Other machines")]
    pub(crate) anonymous: bool,

    /// Keep the main content of HTML pages only, without navigation and other boilerplate
    #[arg(long, help_heading = "Text and chunks")]
    pub(crate) main: bool,
    /// What a chunk is: paragraph, lines:N, sentences:N, words:N or document [default: paragraph]
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

/// What one page may cost. What exceeds a limit is counted by the reason that each names.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArguments {
    /// The largest page, as stored and again without its content coding: else too-large [default: 64M]
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_page: Option<Size>,
    /// How many times its coded size a page may be, once it is over 1M: else too-large; and a compressed member of an input,
    /// once it is over four pages of the largest size: else unpacks-too-large [default: 250]
    #[arg(long, value_name = "N")]
    pub(crate) max_ratio: Option<u64>,
    /// The largest header of a record or of a response: else header-too-long [default: 256K]
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_header: Option<Size>,
    /// The most lines of such a header: else header-too-long [default: 1000]
    #[arg(long, value_name = "N")]
    pub(crate) max_header_lines: Option<u64>,
    /// The longest line of JSON Lines: else line-too-long [default: 64M, or the largest page if that is more]
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_line: Option<Size>,
    /// How deep HTML elements, or JSON objects and lists, may stand within each other: else too-deep [default: 20000]
    #[arg(long, value_name = "N")]
    pub(crate) max_nesting: Option<u32>,
    /// How long a processor may work on one page: else too-slow. A guard that no page comes near within the other limits
    /// [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) max_seconds: Option<Duration>,
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
/// Counts, largest sites, languages, what was rejected and why, and the parameters it was made with.
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
