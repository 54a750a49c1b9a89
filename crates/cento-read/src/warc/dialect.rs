//! The differences between archive formats.

use super::header::{self, BEGINNING, RecordHeader};
use crate::bytes::Beginning;

/// The syntax of records in one archive format. Everything else, including recovery from damage, is
/// the same for all formats.
pub(crate) trait Dialect {
    /// How a compressed member begins that begins a record.
    const BEGINNING: Beginning;
    /// The number of bytes to skip at the beginning of an invalid record, so that it is not found
    /// again.
    const PASSED: usize;

    /// Whether `window` may be the beginning of a record. The window may end within the header.
    fn may_begin(window: &[u8]) -> bool;

    /// The length of the header at the beginning of `bytes`. None if `bytes` do not contain all of
    /// it.
    fn header_end(bytes: &[u8]) -> Option<usize>;

    /// Parses a whole header. The error describes what is wrong with it.
    fn parse(bytes: &[u8]) -> Result<RecordHeader, String>;

    /// Finds the first record that begins in `window`. The error is the number of bytes in which no
    /// record begins. `at_line_start` says whether the window begins at the start of a line.
    fn find(window: &[u8], at_line_start: bool) -> Result<usize, usize>;

    /// Finds a header within a header: the first one was cut off, and the following fields belong
    /// to the second one.
    fn header_within(header: &[u8]) -> Option<usize>;

    /// What follows a block: `line_ends` line ends and then `window`. None if the window is too
    /// short to decide.
    fn follows(line_ends: usize, window: &[u8]) -> Option<Follows>;

    /// What follows a block if `window` extends to the end of the input or of the member.
    fn follows_at_end(line_ends: usize, window: &[u8]) -> Follows;

    /// Whether a block seems to contain another record.
    fn holds_record(block: &[u8]) -> bool;

    /// Whether the record at `window`, which follows `block` without a line end, seems to begin
    /// within the block.
    fn cuts_into(block: &[u8], window: &[u8]) -> bool;

    /// Whether to accept a block if it is unclear what follows it and the block is too large to be
    /// searched for records.
    const ACCEPTED_UNSEARCHED: bool;
}

/// What follows a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follows {
    /// Another record, the end of the member or the end of the input.
    Record,
    /// Line ends and something else, perhaps a damaged record.
    Unclear,
    /// Anything else: the block does not end here.
    Other,
}

/// WARC of any version.
pub(crate) struct Warc;

impl Dialect for Warc {
    const BEGINNING: Beginning = Beginning {
        reach: BEGINNING.len(),
        fits: header::begins,
    };
    const PASSED: usize = BEGINNING.len();

    fn may_begin(window: &[u8]) -> bool {
        let known = window.len().min(BEGINNING.len());
        window[..known].eq_ignore_ascii_case(&BEGINNING[..known])
    }

    fn header_end(bytes: &[u8]) -> Option<usize> {
        header::end(bytes)
    }

    fn parse(bytes: &[u8]) -> Result<RecordHeader, String> {
        header::parse(bytes)
    }

    fn find(window: &[u8], at_line_start: bool) -> Result<usize, usize> {
        /// The longest version line and beginning of the following field that the end of the window
        /// may cut off.
        const TAIL: usize = 24;
        header::beginnings(window)
            .find(|&at| {
                let starts_line = match at.checked_sub(1) {
                    Some(before) => window[before] == b'\n',
                    None => at_line_start,
                };
                let rest = &window[at..];
                // After a record that was cut off, the next record begins in the middle of a line.
                // Then a field must follow the version line.
                header::is_version_line(rest) && (starts_line || header::has_field(rest))
            })
            .ok_or(window.len().saturating_sub(TAIL))
    }

    fn header_within(header: &[u8]) -> Option<usize> {
        let first = Self::PASSED.min(header.len());
        Self::find(&header[first..], false)
            .ok()
            .map(|at| first + at)
    }

    fn follows(line_ends: usize, window: &[u8]) -> Option<Follows> {
        (window.len() >= BEGINNING.len()).then(|| {
            if header::begins(window) {
                Follows::Record
            } else {
                unclear_after(line_ends)
            }
        })
    }

    fn follows_at_end(line_ends: usize, window: &[u8]) -> Follows {
        if window.is_empty() {
            Follows::Record
        } else {
            unclear_after(line_ends)
        }
    }

    fn holds_record(block: &[u8]) -> bool {
        header::beginnings(block).any(|at| {
            let rest = &block[at..];
            header::is_version_line(rest) && header::has_field(rest)
        })
    }

    fn cuts_into(_block: &[u8], _window: &[u8]) -> bool {
        // The rest of a version line does not look like a record.
        false
    }

    /// Two line ends in a row are rarely found by chance.
    const ACCEPTED_UNSEARCHED: bool = true;
}

fn unclear_after(line_ends: usize) -> Follows {
    if line_ends >= 2 {
        Follows::Unclear
    } else {
        Follows::Other
    }
}
