//! `cento`: finds reused text in any corpus, from a folder to a web crawl.
//!
//! This binary parses what was typed, resolves it to settings, calls the library that does the
//! work, and prints. Logic lives in the crates that it calls.

#![warn(clippy::print_stdout, clippy::print_stderr)] // They panic where nobody listens: see `output`.

mod analysis;
mod arguments;
mod cat;
mod copies;
mod detect;
mod discover;
mod failure;
mod index;
mod info;
mod interrupt;
mod labels;
mod machine;
mod meter;
#[cfg(test)]
mod options;
mod originals;
mod output;
mod overlap;
mod overlap_bench;
mod phrases;
mod quilts;
mod replication;
mod report;
mod scan;
mod score;
mod synth;
mod words;

use std::process::ExitCode;

use clap::CommandFactory;

use arguments::{Arguments, Verb};
use failure::Failure;

fn main() -> ExitCode {
    interrupt::listen();
    let arguments = words::parse();
    cento_flow::raise_file_limit();
    let outcome = match arguments.verb {
        Verb::Scan(arguments) => scan::run(&arguments),
        Verb::Index(arguments) => index::run(&arguments),
        Verb::Info(arguments) => info::run(&arguments),
        Verb::Cat(arguments) => cat::run(&arguments),
        Verb::Copies(arguments) => copies::run(&arguments),
        Verb::Overlap(arguments) => overlap::run(&arguments),
        Verb::Quilts(arguments) => quilts::run(&arguments),
        Verb::Phrases(arguments) => phrases::run(&arguments),
        Verb::Discover(arguments) => discover::run(&arguments),
        Verb::Detect(arguments) => detect::run(&arguments),
        Verb::Labels(arguments) => labels::run(&arguments),
        Verb::Report(arguments) => report::run(&arguments),
        Verb::Synth(arguments) => synth::run(&arguments),
        Verb::Score(arguments) => score::run(&arguments),
        Verb::OverlapBench(arguments) => overlap_bench::run(&arguments),
        Verb::Man => man(),
        Verb::Completions { shell } => completions(shell),
    };
    match outcome {
        Ok(status) => status,
        Err(failure) => failure.report(),
    }
}

/// The manual: the page of the program, then the page of each verb.
fn man() -> Result<ExitCode, Failure> {
    let mut page = Vec::new();
    let mut command = Arguments::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        clap_mangen::Man::new(verb.clone()).render(&mut page)?;
    }
    output::print_bytes(&page)?;
    Ok(ExitCode::SUCCESS)
}

fn completions(shell: clap_complete::Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "cento", &mut script);
    output::print_bytes(&script)?;
    Ok(ExitCode::SUCCESS)
}
