//! ARC, the format of the Internet Archive before WARC, of both versions, plain or with gzip
//! members of any size.
//!
//! ```text
//!  filedesc://a.arc 0.0.0.0 20080430204825 text/plain 76   the first record is about the file
//!  1 0 InternetArchive                                     version, reserved, who made it
//!  URL IP-address Archive-date Content-type Archive-length
//!  ⏎
//!  http://a/ 192.0.2.1 20080430204826 text/html 42         header: one line
//!  HTTP/1.1 200 OK …                                       block, as long as the header says
//!  ⏎                                                       one line end, or none, or more
//! ```
//! The way through such a file is that of [`crate::warc`]. What is harder is to know a record when
//! it is seen: nothing marks its beginning but the look of its header, and one line end is all that
//! comes between two records, as between any two lines of a page. So a record is believed when
//! another one follows, or the end of its member or of the input. If a line end follows and then
//! something else, either its length is wrong or the next header is damaged. It is believed then,
//! too, unless there is a header within it, which a length that is too long would explain.

mod header;
#[cfg(test)]
mod tests;

use memchr::{memchr, memrchr};

use crate::bytes::Beginning;
use crate::warc::header::Header;
use crate::warc::{ArchiveReader, Dialect, Follows};

/// How the first record of every file begins.
pub(crate) const BEGINNING: &[u8] = b"filedesc://";

/// What the addresses in such files begin with, as far as is known.
const SCHEMES: [&[u8]; 6] = [
    b"http:",
    b"https:",
    b"ftp:",
    b"dns:",
    b"filedesc:",
    b"whois:",
];

/// The longest line that is looked at in search of a header. No address of this length is served
/// anywhere.
const LONGEST_LINE: usize = 32 << 10;

/// The longest header that is found at the end of a longer line.
const LONGEST_CUT_HEADER: usize = 8 << 10;

/// Reads an ARC file.
pub(crate) type ArcReader = ArchiveReader<Arc>;

/// ARC, of both versions.
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

    fn parse(bytes: &[u8]) -> Result<Header, String> {
        header::parse(bytes)
    }

    fn find(window: &[u8], at_line_start: bool) -> Result<usize, usize> {
        let mut at = 0;
        let mut starts_line = at_line_start;
        while let Some(length) = memchr(b'\n', &window[at..]) {
            let line = &window[at..at + length];
            if starts_line && header::is_header(line) {
                return Ok(at);
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

    /// An address without its first letters is still one.
    fn cuts_into(block: &[u8], window: &[u8]) -> bool {
        let line = memrchr(b'\n', block).map_or(0, |end| end + 1);
        let begun = &block[line..];
        !begun.is_empty()
            && SCHEMES.iter().any(|scheme| {
                let rest = scheme.strip_prefix(begun);
                rest.is_some_and(|rest| !rest.is_empty() && window.starts_with(rest))
            })
    }

    /// Any line of a text has one line end.
    const BELIEVED_UNSEEN: bool = false;
}

fn unclear_after(line_ends: usize) -> Follows {
    if line_ends > 0 {
        Follows::Unclear
    } else {
        Follows::Other
    }
}

/// Whether a member that begins with `front` begins a record. An address may be too long to see
/// what comes after it.
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
