//! What one kind of archive does unlike another.

use super::header::{self, BEGINNING, Header};
use crate::bytes::Beginning;

/// How the records of one kind of archive look. The way through the archive, and out of damage, is
/// the same for all.
pub(crate) trait Dialect {
    /// How a compressed member looks that begins a record.
    const BEGINNING: Beginning;
    /// How many bytes of a record that is none are passed over so that it is not found again.
    const PASSED: usize;

    /// Whether a record may begin with `window`, as far as that reaches.
    fn may_begin(window: &[u8]) -> bool;

    /// Where the header that `bytes` begin with ends. Nothing if that is not there yet.
    fn header_end(bytes: &[u8]) -> Option<usize>;

    /// Reads a whole header; the error says what is wrong with it.
    fn parse(bytes: &[u8]) -> Result<Header, String>;

    /// The first place in `window` at which a line begins a record, else how much of it is surely
    /// passed. `at_line_start` says whether the window itself begins with a line.
    fn find(window: &[u8], at_line_start: bool) -> Result<usize, usize>;

    /// Where in a whole header another one begins: the first was cut off, and the fields that
    /// follow are not its own.
    fn header_within(header: &[u8]) -> Option<usize>;

    /// What comes after a block, given the `line_ends` after it and what is there after those.
    /// Nothing if more must be seen.
    fn follows(line_ends: usize, window: &[u8]) -> Option<Follows>;

    /// The same where there is no more to see.
    fn follows_at_end(line_ends: usize, window: &[u8]) -> Follows;

    /// Whether a block whose end is unclear seems to have another record in it.
    fn holds_record(block: &[u8]) -> bool;

    /// Whether a record that follows a block without a line end seems to begin within the block.
    fn cuts_into(block: &[u8], window: &[u8]) -> bool;

    /// Whether the end of a block is believed where it is unclear, and the block too large to look
    /// into.
    const BELIEVED_UNSEEN: bool;
}

/// What comes after a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follows {
    /// What comes after a record: the next, or an end.
    Record,
    /// Neither the next record nor what could not come after one.
    Unclear,
    /// What cannot come after a record.
    Other,
}

/// WARC, of any version.
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

    fn parse(bytes: &[u8]) -> Result<Header, String> {
        header::parse(bytes)
    }

    fn find(window: &[u8], at_line_start: bool) -> Result<usize, usize> {
        /// The longest part of such a line, and of what must come after it, that may be cut off by
        /// the window.
        const TAIL: usize = 24;
        header::beginnings(window)
            .find(|&at| {
                let starts_line = match at.checked_sub(1) {
                    Some(before) => window[before] == b'\n',
                    None => at_line_start,
                };
                let rest = &window[at..];
                // After a record that was cut off, the next begins in the middle of a line; it has
                // a field to show for it.
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
        // What is cut off at its front does not look like a record.
        false
    }

    /// It takes luck to meet two line ends in a row.
    const BELIEVED_UNSEEN: bool = true;
}

fn unclear_after(line_ends: usize) -> Follows {
    if line_ends >= 2 {
        Follows::Unclear
    } else {
        Follows::Other
    }
}
