//! Transfer and content codings.
//!
//! Archives are full of bodies that are not coded as their heads say: crawlers undo a coding and
//! leave the header. A body that does not begin like what it is said to be is therefore taken for
//! what it is.

use super::inflate::{Allowance, deflate, gzip};
use super::squeeze::{brotli, zstd};
use crate::{Limits, Reject, Rejected};

/// No server applies more codings than this to one body; what claims so is made to waste time.
const MOST_CODINGS: usize = 8;

/// Undoes chunked transfer coding in place. Answers whether there was any.
///
/// What comes after a chunk that is too short or too long is kept as it is: a line of digits in a
/// text does less harm than a text that is lost.
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

/// The size of the chunk that `bytes` begin with, and where its data begin.
fn chunk(bytes: &[u8]) -> Option<(usize, usize)> {
    let end = memchr::memchr(b'\n', &bytes[..bytes.len().min(1024)])?;
    let line = bytes[..end].split(|&byte| byte == b';').next()?;
    let digits = str::from_utf8(line.trim_ascii()).ok()?;
    // Rust's own parser takes a sign as well.
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    Some((usize::from_str_radix(digits, 16).ok()?, end + 1))
}

/// Undoes the content codings, the last applied first.
///
/// However many there are, what comes of them all is held against the size of the body as it was
/// sent: a bomb that is packed twice is still one.
pub(crate) fn undo(
    mut body: Vec<u8>,
    codings: &[String],
    limits: &Limits,
) -> Result<Vec<u8>, Rejected> {
    if codings.len() > MOST_CODINGS {
        return Err(Rejected {
            reason: Reject::Undecodable,
            detail: format!("{} content codings, one upon the other", codings.len()),
        });
    }
    let allowance = Allowance::new(body.len(), limits);
    for coding in codings.iter().rev() {
        let undone = match coding.as_str() {
            "gzip" | "x-gzip" => gzip(&body, &allowance)?,
            "deflate" => deflate(&body, &allowance)?,
            "br" => brotli(&body, &allowance)?,
            "zstd" => zstd(&body, &allowance)?,
            // Not a coding at all, but what people write there.
            "identity" | "none" | "utf-8" | "utf8" | "binary" | "8bit" | "7bit" => None,
            unknown => {
                return Err(Rejected {
                    reason: Reject::Undecodable,
                    detail: format!("content coding {unknown:?} is not known"),
                });
            }
        };
        if let Some(undone) = undone {
            body = undone;
        }
    }
    Ok(body)
}
