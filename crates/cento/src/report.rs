//! `cento report`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use cento_file::{Output, is_standard_output};
use cento_find::FINDINGS;
use cento_scan::{Profile, Report, analyses, known};
use clap::Args;

use crate::analysis::{FigureArguments, cannot_write, check_no_input, open_source};
use crate::failure::Failure;
use crate::output::{clean, print, say};

/// The name of a report in its corpus.
pub(crate) const REPORT: &str = "report.html";

/// Show what was found as one page
///
/// Writes all that was found in a corpus so far, by `cento scan` or by single analyses, as one HTML
/// file: a summary, figures, the strongest findings, and the most quilted pages with their words
/// coloured by source. It needs no network and no script; all that comes from the pages is text in
/// it, whatever they say.
#[derive(Debug, Args)]
#[command(after_help = "\
Of each analysis the newest findings are shown, whatever their parameters; the page tells the command
that made them.

Examples:
  cento report crawl.cento --open
  cento report crawl.cento -o report.html --figures figures/")]
pub(crate) struct ReportArguments {
    /// The corpus
    #[arg(value_name = "CORPUS")]
    corpus: PathBuf,
    /// The file to write [default: CORPUS/report.html]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Write each figure as a file too, as SVG and as CSV
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    figures: Option<PathBuf>,
    #[command(flatten)]
    figure_format: FigureArguments,
    /// How many rows the tables have
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Where the findings are [default: CORPUS/findings]
    #[arg(long, value_name = "FOLDER")]
    findings: Option<PathBuf>,
    /// Report on a corpus whose last index was interrupted: the pages that are in it so far
    #[arg(long)]
    partial: bool,
    /// Open it in a browser
    #[arg(long)]
    open: bool,
}

pub(crate) fn run(arguments: &ReportArguments) -> Result<ExitCode, Failure> {
    let source = Arc::new(open_source(&[&arguments.corpus], arguments.partial)?);
    if let Some(output) = &arguments.output {
        check_no_input(output, &source)?;
    }
    let profile = Profile::of(&source)?;
    let corpus = arguments.corpus.display().to_string();
    let folder = arguments
        .findings
        .clone()
        .unwrap_or_else(|| arguments.corpus.join(FINDINGS));
    let (done, left_out) = known(&source, &profile, &folder, &corpus)?;
    // Where no analysis has anything to look for, the page says why.
    let fitting = analyses()
        .iter()
        .any(|analysis| analysis.plan(&profile).is_ok());
    if done.is_empty() && fitting {
        return Err(Failure::missing(
            format!("{corpus} has no findings to tell of"),
            format!("make them with `cento scan {corpus}`"),
        ));
    }
    let report = Report::new(&source, &corpus, profile, &done, left_out, arguments.top)?;
    let output = arguments.output.as_deref();
    let file = report_file(&report, output, &arguments.corpus)?;
    if let Some(folder) = &arguments.figures {
        arguments
            .figure_format
            .write_named(folder, report.drawings())?;
    }
    // Where the page itself goes there, its name would be part of it.
    if !is_standard_output(&file) {
        print(&format!("{}\n", clean(&file.display().to_string())))?;
    }
    if arguments.open {
        open(&file);
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the page to the file that the user names, or else into the corpus; answers where it is.
pub(crate) fn report_file(
    report: &Report,
    named: Option<&Path>,
    corpus: &Path,
) -> Result<PathBuf, Failure> {
    let (file, output) = match named {
        Some(file) => (file.to_owned(), Output::create(file)),
        // A corpus may be from a stranger: nothing in it is followed.
        None => {
            let file = corpus.join(REPORT);
            let output = Output::within(&file);
            (file, output)
        }
    };
    let write = |mut output: Output| {
        output.write_all(report.html().as_bytes())?;
        output.finish()
    };
    output
        .and_then(write)
        .map_err(|error| cannot_write(&file, &error))?;
    Ok(file)
}

/// Opens a file as a desktop does. Where there is none, the file is there all the same.
pub(crate) fn open(file: &Path) {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let outcome = std::process::Command::new(opener).arg(file).status();
    if !outcome.is_ok_and(|status| status.success()) {
        say(&format!(
            "{opener} cannot open it: see {}",
            clean(&file.display().to_string())
        ));
    }
}
