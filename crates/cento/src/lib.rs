//! `cento`: finds reused text in any corpus, from a folder to a web crawl.
//!
//! This crate parses the command line, resolves it to settings, calls the library that does the
//! work, and prints the results. Logic lives in the crates that it calls.
//!
//! The program calls [`main`]. The Python package calls [`run_command`] with the words of the same
//! command line, in a [`Session`] that captures what the program would print.

#![warn(clippy::print_stdout, clippy::print_stderr)] // They panic on a closed pipe: see `output`.

mod aliases;
mod analysis;
mod arguments;
mod cat;
mod command_error;
mod command_line;
mod contamination;
mod copies;
mod corpora;
mod corpus_input;
mod detect;
mod detect_summary;
mod discover;
mod evidence;
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
#[cfg(test)]
mod option_texts;
mod originals;
mod output;
mod overlap;
mod overwriting;
mod pair_list;
mod passage_files;
mod passage_view;
mod passages;
mod phrases;
mod query;
mod quilts;
mod reading;
mod replication;
mod report;
mod reuse;
mod sample;
mod scan;
mod scheme_comparison;
mod score;
#[cfg(feature = "serve")]
mod serve;
mod session;
mod synth;
mod terminal;
mod top;
mod trial;
mod truth;
mod watch;
mod watch_summary;
mod why_main;
mod wrong_path;

use std::ffi::OsString;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;

use arguments::Verb;
use cento_find::{ExecutorRole, Findings, FlowExecutor, with_executor};
use cento_store::{BuildExecutor, with_build_executor};

pub use command_error::CommandError;
pub use session::{Captured, Session, StepProgress};

/// Runs the program with the words of the process, and returns its exit status.
pub fn main() -> ExitCode {
    main_with(std::env::args_os().collect())
}

/// Runs the program with these words, the first of which is its name, and returns its exit status.
/// Wrong words end the process.
pub fn main_with(words: Vec<OsString>) -> ExitCode {
    // A panic is a bug. It is printed where it happens, and its thread ends; if that was a worker,
    // the engine returns an error.
    std::panic::set_hook(Box::new(|panic| {
        output::say_always(&format!("internal error: {panic}"));
    }));
    let session = Session::of_process();
    interrupt::listen(&session);
    let arguments = match command_line::parse(words) {
        Ok(arguments) => arguments,
        Err(error) => return command_line::report(&error),
    };
    terminal::set(arguments.color, arguments.quiet);
    cento_flow::raise_file_limit();
    let outcome = session.enter(|| {
        std::panic::catch_unwind(|| run(arguments.verb))
            .unwrap_or_else(|_| Err(CommandError::panicked()))
    });
    match outcome {
        Ok(status) => status,
        Err(error) => error.report(),
    }
}

/// Runs a command for another program, on this thread, and returns its exit status and what it
/// printed and found. The first word is the name of the program. `executor` runs the flows, and
/// `builds` runs the tasks of indexing.
pub fn run_command(
    words: Vec<OsString>,
    session: &Arc<Session>,
    executor: Rc<dyn FlowExecutor>,
    builds: Rc<dyn BuildExecutor>,
) -> Result<(u8, Captured), CommandError> {
    let arguments = match command_line::parse(words) {
        Ok(arguments) => arguments,
        // `--help` and `--version`.
        Err(error) if !error.use_stderr() => {
            let text = error.render().to_string().into_bytes();
            let captured = Captured {
                text,
                ..Captured::default()
            };
            return Ok((0, captured));
        }
        Err(error) => return Err(error.into()),
    };
    cento_flow::raise_file_limit();
    let outcome = session.enter(|| {
        let executor = Rc::new(RecordingExecutor(executor));
        // Nothing that the command changes is used after a panic, except what it printed.
        let command = std::panic::AssertUnwindSafe(|| run(arguments.verb));
        let command = || with_executor(executor, || std::panic::catch_unwind(command));
        with_build_executor(builds, command).unwrap_or_else(|_| Err(CommandError::panicked()))
    });
    let status = outcome?;
    let status = (0..=u8::MAX).find(|&number| ExitCode::from(number) == status);
    Ok((status.unwrap_or(1), session.take()))
}

/// Records all findings in the current session.
struct RecordingExecutor(Rc<dyn FlowExecutor>);

impl FlowExecutor for RecordingExecutor {
    fn execute(
        &self,
        runner: &cento_flow::Runner<'_>,
        flow: &cento_flow::Flow,
    ) -> cento_find::Result<cento_flow::RunReport> {
        self.0.execute(runner, flow)
    }

    fn role(&self) -> ExecutorRole {
        self.0.role()
    }

    fn found(&self, findings: &Findings) {
        session::record_findings(findings);
        self.0.found(findings);
    }
}

/// Returns the definition of the command line: verbs, options, defaults and help.
pub fn definition() -> clap::Command {
    let mut command = command_line::definition();
    command.build();
    command
}

fn run(verb: Verb) -> Result<ExitCode, CommandError> {
    overwriting::check()?;
    match verb {
        Verb::Scan(arguments) => scan::run(&arguments),
        Verb::Index(arguments) => index::run(&arguments),
        Verb::Info(arguments) => info::run(&arguments),
        Verb::Cat(arguments) => cat::run(&arguments),
        Verb::Copies(arguments) | Verb::Dedup(arguments) => copies::run(&arguments),
        Verb::Overlap(arguments) => overlap::run(&arguments),
        Verb::Reuse(arguments) => reuse::run(&arguments),
        Verb::Query(arguments) => query::run(&arguments),
        Verb::Passages(arguments) => passages::run(&arguments),
        Verb::Quilts(arguments) => quilts::run(&arguments),
        Verb::Phrases(arguments) => phrases::run(&arguments),
        Verb::Discover(arguments) => discover::run(&arguments),
        Verb::Detect(arguments) | Verb::Contamination(arguments) => detect::run(&arguments),
        Verb::Watch(arguments) => watch::run(&arguments),
        Verb::Trial(arguments) => trial::run(&arguments),
        Verb::Labels(arguments) => labels::run(&arguments),
        Verb::Report(arguments) => report::run(&arguments),
        #[cfg(feature = "serve")]
        Verb::Serve(arguments) => serve::run(&arguments),
        Verb::Synth(arguments) => synth::run(&arguments),
        Verb::Score(arguments) => score::run(&arguments),
        Verb::Man => man(),
        Verb::Completions { shell } => completions(shell),
    }
}

/// Prints the man page of the program, then that of each verb.
fn man() -> Result<ExitCode, CommandError> {
    let mut page = Vec::new();
    let mut command = command_line::definition();
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
    clap_complete::generate(shell, &mut command_line::definition(), "cento", &mut script);
    output::print_bytes(&script)?;
    Ok(ExitCode::SUCCESS)
}
