//! What can be typed. One definition serves the help, the manual and the completions.
//!
//! These structs hold what was typed and nothing more; each verb resolves its own to settings.

use std::path::PathBuf;

use cento_print::ChunkHash;
use cento_read::Format;
use cento_text::chunk::ChunkKind;
use cento_text::normal::Normalisation;
use clap::{Args, Parser, Subcommand};

use crate::machine::Size;

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
    Index(IndexArguments),
    Info(InfoArguments),
    Cat(CatArguments),
    FlowBench(FlowBenchArguments),
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
/// makes a directory of Parquet tables: pages, their text, and their chunks. A run that was broken off goes on
/// where it stopped when the same command is given again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cento index crawl/*.warc.gz -o crawl.cento
  cento index docs/ --base-url https://docs.example.org/ -o docs.cento
  cento index news.jsonl --field text=body --field url=link --field date=published -o news.cento
  zcat pages.jsonl.gz | cento index - --format jsonl -o pages.cento
  cento index more/*.warc.gz -o crawl.cento --add")]
pub(crate) struct IndexArguments {
    /// Files, folders, patterns, @FILE with one of these a line, or - for standard input
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
    /// The largest page; larger ones are rejected
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "64M",
        help_heading = "Reading"
    )]
    pub(crate) max_page: Size,
    /// End with exit status 3 if records were damaged or pages could not be decoded
    #[arg(long, help_heading = "Reading")]
    pub(crate) strict: bool,

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
    pub(crate) machine: MachineArguments,
    /// Payload after which a part is closed: what a broken run may have to do again [default: 512M]
    #[arg(long, value_name = "SIZE", help_heading = "Machine")]
    pub(crate) part_size: Option<Size>,
    /// Print the outcome as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
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

/// Measure the engine
///
/// Counts the distinct pages of each gram in a Parquet file of (gram, page) rows, and keeps the grams on 2 to 50 pages.
#[derive(Debug, Args)]
#[command(hide = true)]
pub(crate) struct FlowBenchArguments {
    /// The file of rows
    #[arg(value_name = "FILE.parquet")]
    pub(crate) file: PathBuf,
    /// Make the file first, with this many rows, unless it is there
    #[arg(long, value_name = "N")]
    pub(crate) make: Option<u64>,
    /// The folder that the table of counts goes to; without it nothing is counted
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
    /// Where temporary files go [default: the output]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) temp: Option<PathBuf>,
    /// Read the file twice, and keep grams that occur once out of the shuffle with a filter of this size
    #[arg(long, value_name = "SIZE")]
    pub(crate) prefilter: Option<Size>,
    /// Partitions of the shuffle
    #[arg(long, value_name = "N")]
    pub(crate) partitions: Option<u32>,
    /// Seconds of work that may be lost when the run is broken off
    #[arg(long, value_name = "SECONDS", default_value_t = cento_flow::CHECKPOINT.as_secs())]
    pub(crate) checkpoint: u64,
    #[command(flatten)]
    pub(crate) machine: MachineArguments,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
