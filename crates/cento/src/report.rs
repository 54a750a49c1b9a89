//! `cento report`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use cento_find::{FINDINGS, Source};
use cento_scan::{Profile, Report, analyses, known};
use clap::Args;

use crate::analysis::{FigureArguments, cannot_write};
use crate::failure::Failure;
use crate::output::clean;

/// The name of a report in its corpus.
pub(crate) const REPORT: &str = "report.html";

/// Show what was found as one page
///
/// Writes all that was found in a corpus so far, by `cento scan` or by single analyses, as one HTML file: a summary, figures,
/// the strongest findings, and the most quilted pages with their words coloured by source. It needs no network and no script; all that comes
/// from the pages is text in it, whatever they say.
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
    /// Open it in a browser
    #[arg(long)]
    open: bool,
}

pub(crate) fn run(arguments: &ReportArguments) -> Result<ExitCode, Failure> {
    let source = Arc::new(Source::open(&[&arguments.corpus])?);
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
    let file = arguments
        .output
        .clone()
        .unwrap_or_else(|| arguments.corpus.join(REPORT));
    write(&report, &file)?;
    if let Some(folder) = &arguments.figures {
        arguments
            .figure_format
            .write_named(folder, report.drawings())?;
    }
    println!("{}", clean(&file.display().to_string()));
    if arguments.open {
        open(&file);
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the page aside and renames it, so that a page that is there is whole.
pub(crate) fn write(report: &Report, file: &Path) -> Result<(), Failure> {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    if name.is_empty() {
        return Err(Failure::usage(
            format!("{} is no name of a file", file.display()),
            "give a file to write, such as report.html",
        ));
    }
    name.push(".new");
    let aside = file.with_file_name(name);
    let written =
        std::fs::write(&aside, report.html()).and_then(|()| std::fs::rename(&aside, file));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&aside);
        cannot_write(file, &error)
    })
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
        eprintln!(
            "{opener} cannot open it: see {}",
            clean(&file.display().to_string())
        );
    }
}
