//! Transfer and content codings.
//!
//! Many bodies in archives do not have the coding in their heads, because crawlers remove a coding
//! and keep the header. So a body that does not begin like its declared coding is used as it is.

use super::inflate::{SizeLimit, deflate, gzip};
use super::squeeze::{brotli, zstd};
use crate::{Limits, Reject, Rejected};

/// The maximum number of codings of a body. No server applies more.
const MOST_CODINGS: usize = 8;

/// Removes chunked transfer coding in place. Returns whether there was any.
///
/// The bytes after a chunk with a wrong length are kept as they are: a line of digits in a text is
/// better than a lost text.
pub(crate) fn dechunk(body: &mut Vec<u8>) -> bool {
    let mut read = 0;
    let mut written = 0;
    loop {
        let Some((size, data)) = chunk(&body[read..]) else {
            if read == 0 {
                return false;
            }
            body.copy_within(read.., written);
            written += body.len() - read;
            break;
        };
        if size == 0 {
            break;
        }
        let begin = read + data;
        let end = begin.saturating_add(size).min(body.len());
        body.copy_within(begin..end, written);
        written += end - begin;
        read = end;
        read += usize::from(body.get(read) == Some(&b'\r'));
        read += usize::from(body.get(read) == Some(&b'\n'));
        if read >= body.len() {
            break;
        }
    }
    body.truncate(written);
    true
}

/// The size of the chunk at the beginning of `bytes`, and the offset of its data.
fn chunk(bytes: &[u8]) -> Option<(usize, usize)> {
    let end = memchr::memchr(b'\n', &bytes[..bytes.len().min(1024)])?;
    let line = bytes[..end].split(|&byte| byte == b';').next()?;
    let digits = str::from_utf8(line.trim_ascii()).ok()?;
    // The parser of the standard library accepts a sign as well.
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    Some((usize::from_str_radix(digits, 16).ok()?, end + 1))
}

/// Removes the content codings, the last applied first.
///
/// The result of all codings is compared with the size of the original body, so a bomb that is
/// compressed twice is detected too.
pub(crate) fn undo(
    mut body: Vec<u8>,
    codings: &[String],
    limits: &Limits,
) -> Result<Vec<u8>, Rejected> {
    if codings.len() > MOST_CODINGS {
        return Err(Rejected {
            reason: Reject::Undecodable,
            detail: format!("{} content codings", codings.len()),
        });
    }
    let limit = SizeLimit::new(body.len(), limits);
    for coding in codings.iter().rev() {
        let undone = match coding.as_str() {
            "gzip" | "x-gzip" => gzip(&body, &limit)?,
            "deflate" => deflate(&body, &limit)?,
            "br" => brotli(&body, &limit)?,
            "zstd" => zstd(&body, &limit)?,
            // Not codings, but found in practice.
            "identity" | "none" | "utf-8" | "utf8" | "binary" | "8bit" | "7bit" => None,
            unknown => {
                return Err(Rejected {
                    reason: Reject::Undecodable,
                    detail: format!("unknown content coding {unknown:?}"),
                });
            }
        };
        if let Some(undone) = undone {
            body = undone;
        }
    }
    Ok(body)
}
