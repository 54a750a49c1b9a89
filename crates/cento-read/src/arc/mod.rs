//! ARC, the predecessor of WARC, in both versions, plain or compressed in members of any size.
//!
//! ```text
//!  filedesc://a.arc 0.0.0.0 20080430204825 text/plain 76   the first record describes the file
//!  1 0 InternetArchive                                     version, reserved, creator
//!  URL IP-address Archive-date Content-type Archive-length
//!  ⏎
//!  http://a/ 192.0.2.1 20080430204826 text/html 42         header: one line
//!  HTTP/1.1 200 OK …                                       block, with the length in the header
//!  ⏎                                                       one line end, or none, or more
//! ```
//! The file is read as in [`crate::warc`]. Recognising a record is harder: only the syntax of its
//! header marks its beginning, and one line end separates two records, as it does two lines of a
//! page. So a record is accepted if it is followed by another record, the end of its member or the
//! end of the input. If a line end and something else follow, either the length is wrong or the
//! next header is damaged. The record is then accepted unless its block contains a header: that
//! would mean that the length is too long.

mod header;
#[cfg(test)]
mod tests;

use memchr::{memchr, memrchr};

use crate::bytes::Beginning;
use crate::warc::header::RecordHeader;
use crate::warc::{ArchiveReader, Dialect, Follows};

/// The beginning of the first record of every file.
pub(crate) const BEGINNING: &[u8] = b"filedesc://";

/// The known schemes of URLs in ARC files.
const SCHEMES: [&[u8]; 6] = [
    b"http:",
    b"https:",
    b"ftp:",
    b"dns:",
    b"filedesc:",
    b"whois:",
];

/// The longest line that is searched for a header. No server accepts URLs of this length.
const LONGEST_LINE: usize = 32 << 10;

/// The longest header that is found at the end of a very long line.
const LONGEST_CUT_HEADER: usize = 8 << 10;

/// Reads an ARC file.
pub(crate) type ArcReader = ArchiveReader<Arc>;

/// ARC in both versions.
pub(crate) struct Arc;

impl Dialect for Arc {
    const BEGINNING: Beginning = Beginning {
        reach: Beginning::LONGEST,
        fits: begins_member,
    };
    const PASSED: usize = 1;

    fn may_begin(window: &[u8]) -> bool {
        header::may_begin(window)
    }

    fn header_end(bytes: &[u8]) -> Option<usize> {
        memchr(b'\n', bytes).map(|end| end + 1)
    }

    fn parse(bytes: &[u8]) -> Result<RecordHeader, String> {
        header::parse(bytes)
    }

    fn find(window: &[u8], at_line_start: bool) -> Result<usize, usize> {
        let mut at = 0;
        let mut starts_line = at_line_start;
        while let Some(length) = memchr(b'\n', &window[at..]) {
            let line = &window[at..at + length];
            if starts_line && header::is_header(line) {
                return Ok(at + header::before_scheme(line));
            }
            if let Some(begin) = header::within_line(line) {
                return Ok(at + begin);
            }
            at += length + 1;
            starts_line = true;
        }
        if starts_line && window.len() - at <= LONGEST_LINE {
            Err(at)
        } else {
            // A page may be one long line, and a header may follow it without a line end.
            Err(at.max(window.len().saturating_sub(LONGEST_CUT_HEADER)))
        }
    }

    /// A header is one line, and its URL may contain what looks like another header.
    fn header_within(_header: &[u8]) -> Option<usize> {
        None
    }

    fn follows(line_ends: usize, window: &[u8]) -> Option<Follows> {
        match memchr(b'\n', window) {
            Some(end) if header::is_header(&window[..end]) => Some(Follows::Record),
            None if window.len() <= LONGEST_LINE && header::may_begin(window) => None,
            _ => Some(unclear_after(line_ends)),
        }
    }

    fn follows_at_end(line_ends: usize, window: &[u8]) -> Follows {
        if window.is_empty() {
            Follows::Record
        } else {
            unclear_after(line_ends)
        }
    }

    fn holds_record(block: &[u8]) -> bool {
        block.split(|&byte| byte == b'\n').any(header::is_header)
    }

    /// A URL without its first letters still looks like a URL.
    fn cuts_into(block: &[u8], window: &[u8]) -> bool {
        let line = memrchr(b'\n', block).map_or(0, |end| end + 1);
        let begun = &block[line..];
        !begun.is_empty()
            && SCHEMES.iter().any(|scheme| {
                let rest = scheme.strip_prefix(begun);
                rest.is_some_and(|rest| !rest.is_empty() && window.starts_with(rest))
            })
    }

    /// Every line of a text ends with a line end.
    const ACCEPTED_UNSEARCHED: bool = false;
}

fn unclear_after(line_ends: usize) -> Follows {
    if line_ends > 0 {
        Follows::Unclear
    } else {
        Follows::Other
    }
}

/// Whether a member that begins with `front` begins a record. A URL may be longer than `front`.
fn begins_member(front: &[u8]) -> bool {
    let line_ends = front
        .iter()
        .take_while(|byte| matches!(byte, b'\r' | b'\n'))
        .count();
    let front = &front[line_ends..];
    match memchr(b'\n', front) {
        Some(end) => header::is_header(&front[..end]),
        None => front.len() + line_ends == Beginning::LONGEST && header::may_begin(front),
    }
}
