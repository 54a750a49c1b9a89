//! Transfer and content codings.
//!
//! Archives are full of bodies that are not coded as their heads say: crawlers undo a coding and leave the header. A body
//! that does not begin like what it is said to be is therefore taken for what it is.

use flate2::{Decompress, FlushDecompress, Status};

use crate::bytes::header_length;
use crate::{Limits, Reject, Rejected};

/// Undoes chunked transfer coding in place. Answers whether there was any.
///
/// What comes after a chunk that is too short or too long is kept as it is: a line of digits in a text does less harm than
/// a text that is lost.
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
pub(crate) fn undo(
    mut body: Vec<u8>,
    codings: &[String],
    limits: &Limits,
) -> Result<Vec<u8>, Rejected> {
    for coding in codings.iter().rev() {
        let undone = match coding.as_str() {
            "gzip" | "x-gzip" => gunzip(&body, limits)?,
            "deflate" => inflate(&body, limits)?,
            // Not a coding at all, but what people write there.
            "none" | "utf-8" | "utf8" | "binary" | "8bit" | "7bit" => None,
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

/// Unpacks all members; nothing if there is not even one.
fn gunzip(mut body: &[u8], limits: &Limits) -> Result<Option<Vec<u8>>, Rejected> {
    let whole = body.len();
    let mut output = Vec::new();
    let mut any = false;
    let mut inflate = Decompress::new(false);
    while let Some(header) = header_length(body) {
        any = true;
        body = &body[header..];
        inflate.reset(false);
        let ended = unpack(&mut inflate, body, whole, &mut output, limits)?;
        body = &body[inflate.total_in() as usize..];
        // The checksum is not compared: whatever it says, this is what the browser showed.
        match body.get(8..) {
            Some(rest) if ended => body = rest,
            _ => break,
        }
    }
    if any && output.is_empty() && whole > 32 {
        return Err(nothing_came_of("gzip"));
    }
    Ok(any.then_some(output))
}

/// Unpacks `deflate`, which is the zlib format by the standard and bare by some servers; nothing if it is neither.
fn inflate(body: &[u8], limits: &Limits) -> Result<Option<Vec<u8>>, Rejected> {
    let is_zlib = match body {
        [first, second, ..] => {
            first & 0x0f == 8 && (u16::from(*first) << 8 | u16::from(*second)) % 31 == 0
        }
        _ => false,
    };
    let mut output = Vec::new();
    let mut inflate = Decompress::new(is_zlib);
    let ended = unpack(&mut inflate, body, body.len(), &mut output, limits)?;
    // Nearly any text inflates to a few bytes before it fails, so a bare stream has to end well to be believed.
    if !is_zlib && !ended {
        return Ok(None);
    }
    if is_zlib && output.is_empty() && body.len() > 32 {
        return Err(nothing_came_of("deflate"));
    }
    Ok(Some(output))
}

/// Unpacks as much as can be. Answers whether the stream came to its end: one that is cut short, or damaged later on, still
/// gave the beginning of a page.
fn unpack(
    inflate: &mut Decompress,
    mut input: &[u8],
    whole: usize,
    output: &mut Vec<u8>,
    limits: &Limits,
) -> Result<bool, Rejected> {
    /// Only pages larger than this are held to the ratio.
    const HARMLESS: u64 = 1 << 20;
    let largest = (whole as u64)
        .saturating_mul(limits.max_ratio)
        .max(HARMLESS)
        .min(limits.max_page_bytes);
    loop {
        if output.len() == output.capacity() {
            // A page is mostly three to eight times as large as its coding.
            output.reserve((whole.saturating_mul(4)).clamp(4 << 10, 1 << 20));
        }
        let before = (inflate.total_in(), output.len());
        let status = inflate.decompress_vec(input, output, FlushDecompress::None);
        input = &input[(inflate.total_in() - before.0) as usize..];
        if output.len() as u64 > largest {
            let detail = if largest == limits.max_page_bytes {
                format!("more than {largest} bytes without its content coding")
            } else {
                let ratio = limits.max_ratio;
                format!("more than {ratio} times as large without its content coding")
            };
            return Err(Rejected {
                reason: Reject::TooLarge,
                detail,
            });
        }
        match status {
            Ok(Status::StreamEnd) => return Ok(true),
            Ok(_) if (inflate.total_in(), output.len()) != before => {}
            Ok(_) | Err(_) => return Ok(false),
        }
    }
}

fn nothing_came_of(coding: &str) -> Rejected {
    Rejected {
        reason: Reject::Undecodable,
        detail: format!("content coding {coding} is damaged from the start"),
    }
}
