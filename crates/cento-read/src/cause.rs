//! What can be wrong with a record.

use std::fmt;

/// Why a record, or a stretch of an input, could not be read. Counted, never fatal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// Compressed bytes that do not inflate, or whose checksum differs.
    BadGzip,
    /// Bytes packed in another way that do not unpack, or whose checksum differs.
    BadPacking,
    /// The input ends within the record.
    Truncated,
    /// No header where one should begin, or one without what every header must have.
    BadHeader,
    /// A header that exceeds the limit on its bytes or on its lines.
    HeaderTooLong,
    /// A length that the bytes after it belie.
    BadLength,
    /// A line that is no JSON object.
    BadJson,
    /// A JSON object or a row without a text.
    MissingField,
    /// A line that exceeds the limit.
    LineTooLong,
    /// A JSON object that exceeds the limit on nesting.
    TooDeep,
    /// Compressed bytes that unpack to more times their size than the limit allows.
    UnpacksTooLarge,
    /// A part of a table that does not decode.
    BadTable,
    /// A file within an archive of files that cannot be read, or whose checksum differs.
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

    /// A short name that stays the same across versions.
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

    /// A sentence for people.
    pub fn sentence(self) -> &'static str {
        match self {
            Cause::BadGzip | Cause::BadPacking => "the compressed data are damaged",
            Cause::Truncated => "the input ends within a record",
            Cause::BadHeader => "the header of a record is damaged",
            Cause::HeaderTooLong => "the header of a record exceeds the limit",
            Cause::BadLength => "the length of a record is wrong",
            Cause::BadJson => "a line is not a JSON object",
            Cause::MissingField => "an object or a row has no text",
            Cause::LineTooLong => "a line exceeds the limit",
            Cause::TooDeep => "an object is nested deeper than the limit",
            Cause::UnpacksTooLarge => "the compressed data unpack to more than the limit allows",
            Cause::BadTable => "a part of the table is damaged",
            Cause::BadEntry => "a file within the archive of files cannot be read",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
