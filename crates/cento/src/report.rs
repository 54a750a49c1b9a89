//! `cento report`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use cento_file::{Output, is_standard_output};
use cento_find::FINDINGS;
use cento_report::Report;
use cento_scan::{Profile, ReportOptions, analyses, build_report, known_results};
use clap::Args;

use crate::command_error::CommandError;
use crate::command_line::typed_command;
use crate::corpora::open_corpora;
use crate::figures::FigureArguments;
use crate::files::cannot_write;
use crate::output::{clean, print_data, say};
use crate::top::TopArguments;

/// The file name of a report in its corpus.
pub(crate) const REPORT: &str = "report.html";

/// Write the findings as an HTML report
///
/// Writes all findings in a corpus, of `cento scan` or of single analyses, as one HTML file: a
/// summary, figures, the strongest findings, and some quilts with their words coloured
/// by source. The report loads nothing from the network and runs no scripts, and content of the
/// pages appears in it only as text.
#[derive(Debug, Args)]
#[command(after_help = "\
The report shows the newest findings of each analysis, with the command that produced them.

Examples:
  cento report crawl.cento --open
  cento report crawl.cento -o report.html --figures figures/")]
pub(crate) struct ReportArguments {
    /// The corpus
    #[arg(value_name = "CORPUS")]
    corpus: PathBuf,
    /// Where to write the result [default: CORPUS/report.html]
    ///
    /// The file of the report.
    #[arg(short, long, value_name = "PATH", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Write figures to this folder, as SVG and CSV
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    figures: Option<PathBuf>,
    #[command(flatten)]
    figure_format: FigureArguments,
    #[command(flatten)]
    top: TopArguments,
    /// Folder of the findings [default: CORPUS/findings]
    #[arg(long, value_name = "FOLDER")]
    findings: Option<PathBuf>,
    /// Use a corpus whose last index was interrupted: the pages indexed so far
    #[arg(long)]
    partial: bool,
    /// Open the result in a browser
    #[arg(long)]
    open: bool,
    #[command(flatten)]
    reproducible: ReproducibleArguments,
}

/// Whether a report says when it was made.
#[derive(Debug, Args)]
pub(crate) struct ReproducibleArguments {
    /// Leave out the time at which it was made: the same data give the same bytes
    #[arg(long, help_heading = "Output")]
    pub(crate) reproducible: bool,
}

impl ReproducibleArguments {
    /// Returns the time to be shown, in milliseconds since 1970.
    pub(crate) fn time(&self) -> Option<i64> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok();
        let millis = now.and_then(|now| i64::try_from(now.as_millis()).ok());
        millis.filter(|_| !self.reproducible)
    }

    /// Returns the options of a report.
    pub(crate) fn options(&self, top: usize) -> ReportOptions {
        ReportOptions {
            top,
            time: self.time(),
            command: typed_command(),
        }
    }
}

pub(crate) fn run(arguments: &ReportArguments) -> Result<ExitCode, CommandError> {
    let source = Arc::new(open_corpora(&[&arguments.corpus], arguments.partial)?);
    let profile = Profile::of(&source)?;
    let corpus = arguments.corpus.display().to_string();
    let folder = arguments
        .findings
        .clone()
        .unwrap_or_else(|| arguments.corpus.join(FINDINGS));
    let (finished, skipped) = known_results(&source, &profile, &folder, &corpus)?;
    // If no analysis suits the corpus, the report says why.
    let fitting = analyses()
        .iter()
        .any(|analysis| analysis.plan(&profile).is_ok());
    if finished.is_empty() && fitting {
        return Err(CommandError::missing(
            format!("{corpus} has no findings that a report shows"),
            format!("run `cento scan {corpus}`"),
        ));
    }
    let options = arguments.reproducible.options(arguments.top.rows());
    let report = build_report(&source, &corpus, &profile, &finished, &skipped, &options)?;
    let output = arguments.output.as_deref();
    let file = report_file(&report, output, &arguments.corpus)?;
    if let Some(folder) = &arguments.figures {
        arguments
            .figure_format
            .write_named(folder, report.drawings())?;
    }
    // The file name must not become part of a report on standard output.
    if !is_standard_output(&file) {
        print_data(&format!("{}\n", clean(&file.display().to_string())))?;
    }
    if arguments.open {
        open(&file);
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the report to the named file, or into the corpus, and returns its path.
pub(crate) fn report_file(
    report: &Report,
    named: Option<&Path>,
    corpus: &Path,
) -> Result<PathBuf, CommandError> {
    let (file, output) = match named {
        Some(file) => (file.to_owned(), Output::create(file)),
        // A corpus may come from an untrusted source: symbolic links in it are not followed.
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

/// Opens a file in the default application of the desktop, if there is one.
pub(crate) fn open(file: &Path) {
    open_target(&file.display().to_string());
}

/// Opens a file or an address in the default application of the desktop, if there is one.
pub(crate) fn open_target(target: &str) {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let outcome = std::process::Command::new(opener).arg(target).status();
    if !outcome.is_ok_and(|status| status.success()) {
        say(&format!("note: {opener} cannot open {}", clean(target)));
    }
}
