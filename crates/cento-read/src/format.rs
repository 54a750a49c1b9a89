//! What kinds of files there are.

use std::fmt;
use std::str::FromStr;

use crate::Error;

/// What an input holds, once it is unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// A web archive of any version, or the WET and WAT files made from one.
    Warc,
    /// An archive in the format that came before WARC.
    Arc,
    /// Web archives in a zip.
    Wacz,
    /// One HTML or XML page.
    Html,
    /// One plain text.
    Text,
    /// One JSON object a line.
    JsonLines,
    /// A Parquet table.
    Parquet,
}

impl Format {
    /// Every format, in the order in which help texts list them.
    pub const ALL: [Format; 7] = [
        Format::Warc,
        Format::Arc,
        Format::Wacz,
        Format::Html,
        Format::Text,
        Format::JsonLines,
        Format::Parquet,
    ];

    /// The name that `--format` takes.
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

/// How the bytes of an input are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Packing {
    /// Not at all.
    Plain,
    /// gzip, in any number of members.
    Gzip,
    /// zstd, in any number of frames, with a dictionary before them or not.
    Zstd,
    /// LZ4, in any number of frames.
    Lz4,
    /// bzip2, in any number of streams.
    Bzip2,
    /// xz, in any number of streams.
    Xz,
}
