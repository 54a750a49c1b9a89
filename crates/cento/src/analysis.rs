//! What every analysis shares on the command line: where it works, how it is watched, and how its
//! tables are given out.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cento_file::Output;
use cento_find::{CorpusPages, Findings, Workplace, read_table, row_values, table_columns};
use cento_flow::Progress;
use cento_scan::Drawing;
use cento_scan::words::counted;
use cento_store::Corpus;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value};

use crate::arguments::MachineArguments;
use crate::failure::Failure;
use crate::interrupt::on_interrupt;
use crate::meter::Meter;
use crate::output::{clean, print, say};

/// Options of every analysis.
#[derive(Debug, Args)]
pub(crate) struct AnalysisArguments {
    /// Write the main table to a file, as its name ends: .parquet, .jsonl or .csv
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
    /// Print the rows of the main table, one JSON object a line
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Show what each stage did: rows, bytes, seconds
    #[arg(long, help_heading = "Output")]
    pub(crate) explain: bool,
    /// Where findings go [default: CORPUS/findings]
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub(crate) findings: Option<PathBuf>,
    /// Work anew, even if the same was found before
    #[arg(long, help_heading = "Output")]
    pub(crate) again: bool,
    /// Analyse a corpus whose last index was interrupted: the pages that are in it so far
    #[arg(long, help_heading = "Output")]
    pub(crate) partial: bool,
    /// Where temporary files go [default: beside the findings]
    #[arg(long, value_name = "FOLDER", help_heading = "Machine")]
    pub(crate) temp: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) machine: MachineArguments,
}

/// The kinds of file that a table can be given out as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Parquet,
    JsonLines,
    Csv,
}

/// Opens the corpora of an analysis; with `partial`, unfinished ones too, which is then said.
pub(crate) fn open_source(paths: &[&Path], partial: bool) -> Result<CorpusPages, Failure> {
    if !partial {
        return Ok(CorpusPages::open(paths)?);
    }
    let source = CorpusPages::open_partial(paths)?;
    for corpus in source.corpora() {
        let manifest = corpus.manifest();
        if !manifest.complete() {
            let _ = writeln!(
                std::io::stderr(),
                "{} is unfinished: the results are about the {} that it has so far",
                clean(&corpus.path().display().to_string()),
                counted(manifest.counts().pages, "page", "pages")
            );
        }
    }
    Ok(source)
}

impl AnalysisArguments {
    /// Runs an analysis while someone watches; Ctrl-C stops it.
    pub(crate) fn run(
        &self,
        corpus: &Path,
        analysis: impl FnOnce(&Workplace) -> cento_find::Result<Findings>,
    ) -> Result<Findings, Failure> {
        // A file that cannot be written is found out before the work, not after it.
        if let Some(out) = &self.out {
            kind_of(out)?;
            check_writable(out)?;
        }
        if let (Some(out), Ok(corpus)) = (&self.out, Corpus::open(corpus)) {
            check_not_input(out, &corpus)?;
        }
        let progress = Progress::new();
        let cancelled = Arc::clone(&progress);
        let _stop = on_interrupt(move || cancelled.cancel());
        let workplace = Workplace {
            threads: self.machine.threads(),
            memory: self.machine.memory(),
            temp: self.temp.clone(),
            findings: self
                .findings
                .clone()
                .unwrap_or_else(|| corpus.join(cento_find::FINDINGS)),
            again: self.again,
            progress: Arc::clone(&progress),
        };
        let meter = Meter::over_flow(progress);
        let findings = analysis(&workplace);
        drop(meter);
        let findings = findings?;
        if self.explain {
            say(findings.record.report.to_string().trim_end());
        }
        Ok(findings)
    }

    /// Gives a table out as `--out` and `--json` ask for. Answers whether it was printed.
    pub(crate) fn give(&self, table: &Path) -> Result<bool, Failure> {
        give_table(table, self.out.as_deref(), self.json)?;
        Ok(self.json)
    }
}

/// Fails if a file that is to be written is an input of one of these corpora, by whatever name.
pub(crate) fn check_no_input(output: &Path, source: &CorpusPages) -> Result<(), Failure> {
    let mut corpora = source.corpora().iter();
    corpora.try_for_each(|corpus| check_not_input(output, corpus))
}

/// Fails if a file that is to be written is an input of a corpus, by whatever name.
pub(crate) fn check_not_input(output: &Path, corpus: &Corpus) -> Result<(), Failure> {
    let Some(inode) = cento_file::inode(output) else {
        return Ok(());
    };
    for (_, input) in corpus.inputs()? {
        if cento_file::inode(Path::new(&input)) == Some(inode) {
            return Err(Failure::usage(
                format!("{input} would overwrite itself"),
                "choose another file to write to",
            ));
        }
    }
    Ok(())
}

/// How figures are written, for every command that has `--figures`.
#[derive(Debug, Args)]
pub(crate) struct FigureArguments {
    /// With --figures: write the figures in this format too, beside SVG and CSV
    #[arg(
        long,
        value_name = "FORMAT",
        requires = "figures",
        help_heading = "Output"
    )]
    pub(crate) figure_format: Option<FigureFormat>,
}

/// What figures can be written as, besides SVG and CSV.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FigureFormat {
    /// PDF with the standard fonts: letters of other scripts than Latin and Greek are boxes
    Pdf,
}

impl FigureArguments {
    /// Writes the figures of one analysis.
    pub(crate) fn write(&self, folder: &Path, drawings: &[Drawing]) -> Result<(), Failure> {
        let named = drawings.iter().map(|drawing| (drawing.name, drawing));
        self.write_named(folder, named)
    }

    /// Writes each figure as a picture and as numbers, into files of this name.
    pub(crate) fn write_named<'a>(
        &self,
        folder: &Path,
        drawings: impl IntoIterator<Item = (impl AsRef<str>, &'a Drawing)>,
    ) -> Result<(), Failure> {
        std::fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
        let mut count = 0;
        for (name, drawing) in drawings {
            let mut contents = vec![
                ("svg", drawing.figure.svg().into_bytes()),
                ("csv", drawing.csv().into_bytes()),
            ];
            if self.figure_format == Some(FigureFormat::Pdf) {
                contents.push(("pdf", drawing.figure.pdf()));
            }
            for (ending, content) in contents {
                let path = folder.join(format!("{}.{ending}", name.as_ref()));
                write_file(&path, &content)?;
            }
            count += 1;
        }
        say(&format!(
            "{}: {}, as SVG{} and as CSV",
            clean(&folder.display().to_string()),
            counted(count, "figure", "figures"),
            match self.figure_format {
                Some(FigureFormat::Pdf) => ", as PDF",
                None => "",
            }
        ));
        Ok(())
    }
}

/// Gives a table out: to a file, as its name ends, and on standard output as JSON Lines.
pub(crate) fn give_table(table: &Path, out: Option<&Path>, json: bool) -> Result<(), Failure> {
    if let Some(out) = out {
        let kind = kind_of(out)?;
        let failed = |error: std::io::Error| cannot_write(out, &error);
        let mut file = BufWriter::new(Output::create(out).map_err(failed)?);
        match kind {
            Kind::Parquet => {
                let mut table = File::open(table)?;
                std::io::copy(&mut table, &mut file).map_err(failed)?;
            }
            kind => write_rows(table, kind, &mut |line| file.write_all(line.as_bytes()))?,
        }
        let file = file
            .into_inner()
            .map_err(|error| failed(error.into_error()))?;
        file.finish().map_err(failed)?;
    }
    if json {
        write_rows(table, Kind::JsonLines, &mut print)?;
    }
    Ok(())
}

/// Fails if a file that the user named cannot be written: before the work, not after it.
pub(crate) fn check_writable(path: &Path) -> Result<(), Failure> {
    let output = Output::create(path);
    output.map(drop).map_err(|error| cannot_write(path, &error))
}

/// Writes a file that the user named, or one in a folder that the user named.
pub(crate) fn write_file(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let write = || {
        let mut output = Output::create(path)?;
        output.write_all(content)?;
        output.finish()
    };
    write().map_err(|error| cannot_write(path, &error))
}

pub(crate) fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::missing(
        format!("{}: {error}", path.display()),
        "choose a place that you may write to, with room for it".to_owned(),
    )
}

fn kind_of(path: &Path) -> Result<Kind, Failure> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("parquet") => Ok(Kind::Parquet),
        Some("jsonl") => Ok(Kind::JsonLines),
        Some("csv") => Ok(Kind::Csv),
        _ => Err(Failure::usage(
            format!("{} does not say which format it is", path.display()),
            "end its name with .parquet, .jsonl or .csv",
        )),
    }
}

/// Writes the rows of a table as lines.
fn write_rows(
    table: &Path,
    kind: Kind,
    write: &mut dyn FnMut(&str) -> std::io::Result<()>,
) -> Result<(), Failure> {
    if kind == Kind::Csv {
        // A table without rows has columns too.
        let names = table_columns(table)?;
        let names: Vec<String> = names.iter().map(|name| csv_cell(name)).collect();
        write(&format!("{}\r\n", names.join(",")))?;
    }
    for batch in read_table(table)? {
        let batch = batch?;
        let mut lines = String::new();
        for row in 0..batch.num_rows() {
            if kind == Kind::Csv {
                let cells: Vec<String> = row_values(&batch, row)
                    .map(|(_, value)| match value {
                        Value::Null => String::new(),
                        Value::String(text) => csv_cell(&guarded(text)),
                        other => csv_cell(&other.to_string()),
                    })
                    .collect();
                lines.push_str(&format!("{}\r\n", cells.join(",")));
            } else {
                let object: Map<String, Value> = row_values(&batch, row)
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect();
                lines.push_str(&format!("{}\n", Value::Object(object)));
            }
        }
        write(&lines)?;
    }
    Ok(())
}

/// Text that no spreadsheet takes for a formula: it comes from pages of strangers. What begins like
/// one gets an apostrophe in front, and so does what begins with an apostrophe, so that a reader
/// who takes the first one away has what was there.
fn guarded(text: String) -> String {
    let begins = [
        '=', '+', '-', '@', '\'', '\t', '\r', '＝', '＋', '－', '＠', '−',
    ];
    match text.starts_with(begins) {
        true => format!("'{text}"),
        false => text,
    }
}

/// A cell as RFC 4180 has it.
fn csv_cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
