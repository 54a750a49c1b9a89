//! Options that all analyses share, and running an analysis.

use std::path::{Path, PathBuf};

use cento_file::is_standard_output;
use cento_find::{FINDINGS, Findings, RunRequest, Workplace};
use cento_flow::Progress;
use clap::{Args, ValueEnum};

use crate::command_error::CommandError;
use crate::command_line::typed_request;
use crate::files::{check_table_file, export_table};
use crate::machine::ResourceArguments;
use crate::meter::{AnalysisStep, Meter};
use crate::output::say_always;
use crate::session::record_main_table;

/// Options of every analysis.
#[derive(Debug, Args)]
pub(crate) struct AnalysisArguments {
    /// Write the main table to a file or an object s3://BUCKET/KEY, in the format of its extension:
    /// .parquet, .jsonl or .csv; - prints JSON Lines
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
    /// Print JSON, one object per line
    ///
    /// The objects are the rows of the main table.
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Print the seconds, rows and bytes of each stage
    #[arg(long, help_heading = "Output")]
    pub(crate) explain: bool,
    /// Folder of the findings [default: CORPUS/findings]
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub(crate) findings: Option<PathBuf>,
    /// Do the work again instead of using cached results
    #[arg(long, help_heading = "Output")]
    pub(crate) again: bool,
    /// Use a corpus whose last index was interrupted: the pages indexed so far
    #[arg(long, help_heading = "Output")]
    pub(crate) partial: bool,
    #[command(flatten)]
    pub(crate) resources: ResourceArguments,
}

/// Whether duplicates count as one page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Collapse {
    /// Duplicates and near-duplicates count as one page
    Yes,
    /// Every page counts
    No,
}

impl Collapse {
    pub(crate) fn is_yes(self) -> bool {
        self == Collapse::Yes
    }
}

impl AnalysisArguments {
    /// Runs an analysis, shows its progress, and cancels it on Ctrl-C.
    pub(crate) fn run(
        &self,
        corpus: &Path,
        analysis: impl FnOnce(&Workplace) -> cento_find::Result<Findings>,
    ) -> Result<Findings, CommandError> {
        let request = typed_request();
        let mut findings = self.run_for(&request, corpus, analysis)?;
        findings.mark_used(&request);
        Ok(findings)
    }

    /// Runs a step of the analysis that the user asked for: its findings are not shown.
    pub(crate) fn run_step(
        &self,
        corpus: &Path,
        analysis: impl FnOnce(&Workplace) -> cento_find::Result<Findings>,
    ) -> Result<Findings, CommandError> {
        let request = RunRequest {
            internal: true,
            ..typed_request()
        };
        self.run_for(&request, corpus, analysis)
    }

    fn run_for(
        &self,
        request: &RunRequest,
        corpus: &Path,
        analysis: impl FnOnce(&Workplace) -> cento_find::Result<Findings>,
    ) -> Result<Findings, CommandError> {
        if let Some(out) = &self.out {
            check_table_file(out)?;
        }
        let progress = Progress::new();
        let meter = Meter::start(&AnalysisStep::new(&progress));
        let findings = self.findings.clone();
        let workplace = Workplace {
            threads: self.resources.machine.threads(),
            memory: self.resources.machine.memory(),
            temp: self.resources.temp.clone(),
            findings: findings.unwrap_or_else(|| corpus.join(FINDINGS)),
            again: self.again,
            progress,
            request: request.clone(),
        };
        let findings = analysis(&workplace);
        drop(meter);
        let findings = findings?;
        if self.explain {
            say_always(findings.record.report.to_string().trim_end());
        }
        Ok(findings)
    }

    /// Exports a table as `--out` and `--json` request, and returns whether it was printed.
    pub(crate) fn export(&self, table: &Path) -> Result<bool, CommandError> {
        record_main_table(table);
        let is_printed = self.out.as_deref().is_some_and(is_standard_output);
        export_table(table, self.out.as_deref(), self.json && !is_printed)?;
        Ok(self.json || is_printed)
    }
}
