//! Formats and compression formats of inputs.

use std::fmt;
use std::str::FromStr;

use crate::Error;

/// The format of an input after decompression.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// A WARC file of any version, or a WET or WAT file made from one.
    Warc,
    /// A web archive in the predecessor of WARC.
    Arc,
    /// WARC files in a zip.
    Wacz,
    /// One HTML or XML page.
    Html,
    /// One plain text file.
    Text,
    /// One JSON object per line.
    JsonLines,
    /// A Parquet table.
    Parquet,
}

impl Format {
    /// All formats, in the order in which help texts list them.
    pub const ALL: [Format; 7] = [
        Format::Warc,
        Format::Arc,
        Format::Wacz,
        Format::Html,
        Format::Text,
        Format::JsonLines,
        Format::Parquet,
    ];

    /// The name of the format for `--format`.
    pub fn name(self) -> &'static str {
        match self {
            Format::Warc => "warc",
            Format::Arc => "arc",
            Format::Wacz => "wacz",
            Format::Html => "html",
            Format::Text => "text",
            Format::JsonLines => "jsonl",
            Format::Parquet => "parquet",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Format::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| Error::UnknownFormatName { name: name.into() })
    }
}

/// The compression format of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Packing {
    /// Not compressed.
    Plain,
    /// gzip, any number of members.
    Gzip,
    /// zstd, any number of frames, with or without a dictionary before them.
    Zstd,
    /// LZ4, any number of frames.
    Lz4,
    /// bzip2, any number of streams.
    Bzip2,
    /// xz, any number of streams.
    Xz,
}
