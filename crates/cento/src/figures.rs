//! The option `--figure-format` and writing figures to a folder.

use std::path::Path;

use cento_report::Drawing;
use cento_report::format::counted;
use clap::{Args, ValueEnum};

use crate::command_error::CommandError;
use crate::files::{cannot_write, write_file};
use crate::output::{clean, say};

/// How figures are written, for every command that has `--figures`.
#[derive(Debug, Args)]
pub(crate) struct FigureArguments {
    /// With --figures: write the figures in this format too, in addition to SVG and CSV
    #[arg(
        long,
        value_name = "FORMAT",
        requires = "figures",
        help_heading = "Output"
    )]
    pub(crate) figure_format: Option<FigureFormat>,
}

/// Formats of figures, in addition to SVG and CSV.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FigureFormat {
    /// PDF with the standard fonts; letters other than Latin and Greek appear as boxes
    Pdf,
}

impl FigureArguments {
    /// Writes the figures of one analysis.
    pub(crate) fn write(&self, folder: &Path, drawings: &[Drawing]) -> Result<(), CommandError> {
        let named = drawings.iter().map(|drawing| (drawing.name, drawing));
        self.write_named(folder, named)
    }

    /// Writes each figure as a picture and as CSV, to files with the given name.
    pub(crate) fn write_named<'a>(
        &self,
        folder: &Path,
        drawings: impl IntoIterator<Item = (impl AsRef<str>, &'a Drawing)>,
    ) -> Result<(), CommandError> {
        std::fs::create_dir_all(folder).map_err(|error| cannot_write(folder, error))?;
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
            "{}: {} (SVG{} and CSV)",
            clean(&folder.display().to_string()),
            counted(count, "figure", "figures"),
            match self.figure_format {
                Some(FigureFormat::Pdf) => ", PDF",
                None => "",
            }
        ));
        Ok(())
    }
}
