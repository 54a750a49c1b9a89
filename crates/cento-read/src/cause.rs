//! Causes of damage to records.

use std::fmt;

/// Why a record or part of an input could not be read. Causes are counted and never fatal.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// gzip data that are corrupted or have a wrong checksum.
    BadGzip,
    /// Data in another compression format that are corrupted or have a wrong checksum.
    BadPacking,
    /// The input ends within the record.
    Truncated,
    /// A missing header, or a header without a mandatory field.
    BadHeader,
    /// A header that exceeds the limit on bytes or lines.
    HeaderTooLong,
    /// A length that does not match the data.
    BadLength,
    /// A line that is not a JSON object.
    BadJson,
    /// A JSON object or a row without text.
    MissingField,
    /// A line that exceeds the limit.
    LineTooLong,
    /// A JSON object that exceeds the limit on nesting.
    TooDeep,
    /// Compressed data that exceed the limit on the compression ratio.
    UnpacksTooLarge,
    /// A part of a table that cannot be decoded.
    BadTable,
    /// A file within an archive that cannot be read or has a wrong checksum.
    BadEntry,
}

impl Cause {
    /// Every cause.
    pub const ALL: [Cause; 13] = [
        Cause::BadGzip,
        Cause::BadPacking,
        Cause::Truncated,
        Cause::BadHeader,
        Cause::HeaderTooLong,
        Cause::BadLength,
        Cause::BadJson,
        Cause::MissingField,
        Cause::LineTooLong,
        Cause::TooDeep,
        Cause::UnpacksTooLarge,
        Cause::BadTable,
        Cause::BadEntry,
    ];

    /// A short name that is stable across versions.
    pub fn name(self) -> &'static str {
        match self {
            Cause::BadGzip => "bad-gzip",
            Cause::BadPacking => "bad-packing",
            Cause::Truncated => "truncated",
            Cause::BadHeader => "bad-header",
            Cause::HeaderTooLong => "header-too-long",
            Cause::BadLength => "bad-length",
            Cause::BadJson => "bad-json",
            Cause::MissingField => "missing-field",
            Cause::LineTooLong => "line-too-long",
            Cause::TooDeep => "too-deep",
            Cause::UnpacksTooLarge => "unpacks-too-large",
            Cause::BadTable => "bad-table",
            Cause::BadEntry => "bad-entry",
        }
    }

    /// A description for users.
    pub fn sentence(self) -> &'static str {
        match self {
            Cause::BadGzip | Cause::BadPacking => "the compressed data are corrupted",
            Cause::Truncated => "the input ends within a record",
            Cause::BadHeader => "the header of a record is corrupted",
            Cause::HeaderTooLong => "the header of a record exceeds the limit",
            Cause::BadLength => "the length of a record is wrong",
            Cause::BadJson => "a line is not a JSON object",
            Cause::MissingField => "an object or a row has no text",
            Cause::LineTooLong => "a line exceeds the limit",
            Cause::TooDeep => "an object is nested deeper than the limit",
            Cause::UnpacksTooLarge => "the compressed data expand beyond the limit",
            Cause::BadTable => "a part of the table is corrupted",
            Cause::BadEntry => "a file within the archive cannot be read",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
