//! The command line as it is typed: the program and its verbs.
//!
//! Each verb's file holds its argument struct and resolves it to validated settings. Groups of
//! options that several verbs share have a file of their own: [`crate::reading`],
//! [`crate::machine`], [`crate::analysis`], [`crate::figures`], [`crate::sample`] and
//! [`crate::originals`]. Help, man page and shell completions are generated from these structs.

use clap::{Parser, Subcommand};

use crate::cat::CatArguments;
use crate::copies::CopiesArguments;
use crate::detect::DetectArguments;
use crate::discover::DiscoverArguments;
use crate::index::IndexArguments;
use crate::info::InfoArguments;
use crate::labels::LabelsArguments;
use crate::overlap::OverlapArguments;
use crate::passages::PassagesArguments;
use crate::phrases::PhrasesArguments;
use crate::query::QueryArguments;
use crate::quilts::QuiltsArguments;
use crate::report::ReportArguments;
use crate::reuse::ReuseArguments;
use crate::scan::ScanArguments;
use crate::score::ScoreArguments;
#[cfg(feature = "serve")]
use crate::serve::ServeArguments;
use crate::synth::SynthArguments;
use crate::terminal::Colour;
use crate::trial::TrialArguments;
use crate::watch::WatchArguments;

/// Finds reused text in any corpus, from a folder to a web crawl
///
/// `cento help COMMAND` describes a command and its options.
#[derive(Debug, Parser)]
#[command(
    name = "cento",
    version,
    max_term_width = 100,
    disable_help_subcommand = true
)]
#[command(after_help = crate::command_error::EXIT_STATUS)]
pub(crate) struct Arguments {
    /// Print only results and errors: no notes and no progress
    #[arg(short, long, global = true, help_heading = "All commands")]
    pub(crate) quiet: bool,
    /// Colour the output
    #[arg(
        long,
        value_name = "WHEN",
        global = true,
        default_value = "auto",
        help_heading = "All commands"
    )]
    pub(crate) color: Colour,
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
    Overlap(Box<OverlapArguments>),
    Reuse(Box<ReuseArguments>),
    Query(Box<QueryArguments>),
    Passages(Box<PassagesArguments>),
    Quilts(Box<QuiltsArguments>),
    Phrases(Box<PhrasesArguments>),
    Discover(Box<DiscoverArguments>),
    Detect(Box<DetectArguments>),
    /// Write a data set without duplicate and near-duplicate records: `copies --filter`
    ///
    /// The same as `cento copies INPUT… --filter -o FOLDER`, see there for how duplicates are found
    /// and which of them is kept. Files, columns, types, the order of records and the division into
    /// shards are kept; only the removed records are missing.
    #[command(after_help = "\
Examples:
  cento dedup data/*.jsonl -o clean/
  cento dedup shards/ -o clean/ --resemblance 0.9 --out pairs.csv
  cento dedup pages.parquet -o clean/ --field text=body --field id=doc_id
  cento dedup new.jsonl --against old.jsonl -o new-unique/

`cento copies INPUT… --sweep resemblance=0.5..1.0` shows how many records each threshold removes.")]
    Dedup(Box<CopiesArguments>),
    /// Find the items of a benchmark in training data: `detect --grams`
    ///
    /// The same as `cento detect CORPUS --against ITEMS --grams 8`. An item is compared by its
    /// overlapping runs of K words, anywhere on a page; runs in more than a tenth of the items (8
    /// to 64 items) are ignored. `cento report` shows the items that were found beside the words of
    /// the pages.
    #[command(after_help = "\
Findings are tables in CORPUS/findings/contamination: items (the main one: the share of each item
that was found) and places (page, share, byte range).

Examples:
  cento contamination train.jsonl --against benchmark.jsonl
  cento contamination train.cento --against benchmark.jsonl --against-field text=question -k 13
  cento contamination train.jsonl --against benchmark.jsonl --filter -o clean/")]
    Contamination(Box<DetectArguments>),
    Watch(Box<WatchArguments>),
    Trial(TrialArguments),
    Labels(LabelsArguments),
    Report(ReportArguments),
    #[cfg(feature = "serve")]
    Serve(Box<ServeArguments>),
    Synth(Box<SynthArguments>),
    Score(ScoreArguments),
    /// Print the man page, for `man -l -`
    Man,
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}
