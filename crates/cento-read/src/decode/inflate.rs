//! The content codings gzip and deflate, and how much any coding may grow to.

use flate2::{Decompress, FlushDecompress, Status};

use crate::bytes::header_length;
use crate::{Limits, Reject, Rejected};

/// How large a body may become when its codings are undone.
pub(super) struct Allowance {
    largest: u64,
    max_page_bytes: u64,
    max_ratio: u64,
}

impl Allowance {
    /// For a body that has so many bytes with all its codings.
    pub(super) fn new(coded: usize, limits: &Limits) -> Self {
        /// Only pages larger than this are held to the ratio.
        const HARMLESS: u64 = 1 << 20;
        Allowance {
            largest: (coded as u64)
                .saturating_mul(limits.max_ratio)
                .max(HARMLESS)
                .min(limits.max_page_bytes),
            max_page_bytes: limits.max_page_bytes,
            max_ratio: limits.max_ratio,
        }
    }

    /// Whether so many bytes are still allowed.
    pub(super) fn check(&self, bytes: usize) -> Result<(), Rejected> {
        if bytes as u64 <= self.largest {
            return Ok(());
        }
        let detail = if self.largest == self.max_page_bytes {
            format!(
                "more than {} bytes without its content coding",
                self.largest
            )
        } else {
            let ratio = self.max_ratio;
            format!("more than {ratio} times as large without its content coding")
        };
        Err(Rejected {
            reason: Reject::TooLarge,
            detail,
        })
    }
}

/// Makes room after what is there. A page is mostly three to eight times as large as its coding.
pub(super) fn make_room(output: &mut Vec<u8>, coded: usize) {
    if output.len() == output.capacity() {
        output.reserve(coded.saturating_mul(4).clamp(4 << 10, 1 << 20));
    }
}

/// Unpacks all members; nothing if there is not even one.
pub(super) fn gzip(mut body: &[u8], allowance: &Allowance) -> Result<Option<Vec<u8>>, Rejected> {
    let whole = body.len();
    let mut output = Vec::new();
    let mut any = false;
    let mut inflate = Decompress::new(false);
    while let Some(header) = header_length(body) {
        any = true;
        body = &body[header..];
        inflate.reset(false);
        let ended = unpack(&mut inflate, body, whole, &mut output, allowance)?;
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

/// Unpacks `deflate`, which is the zlib format by the standard and bare by some servers; nothing if
/// it is neither.
pub(super) fn deflate(body: &[u8], allowance: &Allowance) -> Result<Option<Vec<u8>>, Rejected> {
    let is_zlib = match body {
        [first, second, ..] => {
            first & 0x0f == 8 && (u16::from(*first) << 8 | u16::from(*second)) % 31 == 0
        }
        _ => false,
    };
    let mut output = Vec::new();
    let mut inflate = Decompress::new(is_zlib);
    let ended = unpack(&mut inflate, body, body.len(), &mut output, allowance)?;
    // Nearly any text inflates to a few bytes before it fails, so a bare stream has to end well to
    // be believed.
    if !is_zlib && !ended {
        return Ok(None);
    }
    if is_zlib && output.is_empty() && body.len() > 32 {
        return Err(nothing_came_of("deflate"));
    }
    Ok(Some(output))
}

/// Unpacks as much as can be. Answers whether the stream came to its end: one that is cut short, or
/// damaged later on, still gave the beginning of a page.
fn unpack(
    inflate: &mut Decompress,
    mut input: &[u8],
    whole: usize,
    output: &mut Vec<u8>,
    allowance: &Allowance,
) -> Result<bool, Rejected> {
    loop {
        make_room(output, whole);
        let before = (inflate.total_in(), output.len());
        let status = inflate.decompress_vec(input, output, FlushDecompress::None);
        input = &input[(inflate.total_in() - before.0) as usize..];
        allowance.check(output.len())?;
        match status {
            Ok(Status::StreamEnd) => return Ok(true),
            Ok(_) if (inflate.total_in(), output.len()) != before => {}
            Ok(_) | Err(_) => return Ok(false),
        }
    }
}

pub(super) fn nothing_came_of(coding: &str) -> Rejected {
    Rejected {
        reason: Reject::Undecodable,
        detail: format!("content coding {coding} is damaged from the start"),
    }
}
