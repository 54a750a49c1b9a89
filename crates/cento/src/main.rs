//! `cento`: finds reused text in any corpus, from a folder to a web crawl.
//!
//! This binary parses the command line, resolves it to settings, calls the library that does the
//! work, and prints the results. Logic lives in the crates that it calls.

#![warn(clippy::print_stdout, clippy::print_stderr)] // They panic on a closed pipe: see `output`.

mod analysis;
mod arguments;
mod cat;
mod command_error;
mod command_line;
mod copies;
mod corpora;
mod detect;
mod discover;
mod figures;
mod files;
mod index;
mod info;
mod interrupt;
mod labels;
mod machine;
mod meter;
#[cfg(test)]
mod option_pairs;
mod originals;
mod output;
mod overlap;
mod pair_list;
mod passage_files;
mod passage_view;
mod passages;
mod phrases;
mod quilts;
mod reading;
mod replication;
mod report;
mod reuse;
mod sample;
mod scan;
mod scheme_comparison;
mod score;
mod synth;
mod why_main;

use std::process::ExitCode;

use clap::CommandFactory;

use arguments::{Arguments, Verb};
use command_error::CommandError;

fn main() -> ExitCode {
    // A panic is a bug. It is printed where it happens, and its thread ends; if that was a worker,
    // the engine returns an error.
    std::panic::set_hook(Box::new(|panic| {
        output::say(&format!("internal error: {panic}"));
    }));
    interrupt::listen();
    let arguments = command_line::parse();
    cento_flow::raise_file_limit();
    let outcome = std::panic::catch_unwind(|| run(arguments.verb))
        .unwrap_or_else(|_| Err(CommandError::panicked()));
    match outcome {
        Ok(status) => status,
        Err(error) => error.report(),
    }
}

fn run(verb: Verb) -> Result<ExitCode, CommandError> {
    match verb {
        Verb::Scan(arguments) => scan::run(&arguments),
        Verb::Index(arguments) => index::run(&arguments),
        Verb::Info(arguments) => info::run(&arguments),
        Verb::Cat(arguments) => cat::run(&arguments),
        Verb::Copies(arguments) => copies::run(&arguments),
        Verb::Overlap(arguments) => overlap::run(&arguments),
        Verb::Reuse(arguments) => reuse::run(&arguments),
        Verb::Passages(arguments) => passages::run(&arguments),
        Verb::Quilts(arguments) => quilts::run(&arguments),
        Verb::Phrases(arguments) => phrases::run(&arguments),
        Verb::Discover(arguments) => discover::run(&arguments),
        Verb::Detect(arguments) => detect::run(&arguments),
        Verb::Labels(arguments) => labels::run(&arguments),
        Verb::Report(arguments) => report::run(&arguments),
        Verb::Synth(arguments) => synth::run(&arguments),
        Verb::Score(arguments) => score::run(&arguments),
        Verb::Man => man(),
        Verb::Completions { shell } => completions(shell),
    }
}

/// Prints the man page of the program, then that of each verb.
fn man() -> Result<ExitCode, CommandError> {
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

fn completions(shell: clap_complete::Shell) -> Result<ExitCode, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "cento", &mut script);
    output::print_bytes(&script)?;
    Ok(ExitCode::SUCCESS)
}
