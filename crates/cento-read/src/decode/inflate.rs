//! The content codings gzip and deflate, and the size limit for all codings.

use flate2::{Decompress, FlushDecompress, Status};

use crate::bytes::header_length;
use crate::{Limits, Reject, Rejected};

/// The maximum size of a body without its codings.
pub(super) struct SizeLimit {
    largest: u64,
    max_page_bytes: u64,
    max_ratio: u64,
}

impl SizeLimit {
    /// The limit for a body of `coded` bytes.
    pub(super) fn new(coded: usize, limits: &Limits) -> Self {
        /// The ratio is checked only for larger pages.
        const HARMLESS: u64 = 1 << 20;
        SizeLimit {
            largest: (coded as u64)
                .saturating_mul(limits.max_ratio)
                .max(HARMLESS)
                .min(limits.max_page_bytes),
            max_page_bytes: limits.max_page_bytes,
            max_ratio: limits.max_ratio,
        }
    }

    /// Checks that `bytes` bytes are within the limit.
    pub(super) fn check(&self, bytes: usize) -> Result<(), Rejected> {
        if bytes as u64 <= self.largest {
            return Ok(());
        }
        let detail = if self.largest == self.max_page_bytes {
            format!(
                "more than {} bytes without the content coding",
                self.largest
            )
        } else {
            let ratio = self.max_ratio;
            format!("more than {ratio} times as large without the content coding")
        };
        Err(Rejected {
            reason: Reject::TooLarge,
            detail,
        })
    }
}

/// Reserves space in `output` if it is full. Most pages have a compression ratio of three to eight.
pub(super) fn reserve_space(output: &mut Vec<u8>, coded: usize) {
    if output.len() == output.capacity() {
        output.reserve(coded.saturating_mul(4).clamp(4 << 10, 1 << 20));
    }
}

/// Decompresses all members. None if there is no member.
pub(super) fn gzip(mut body: &[u8], limit: &SizeLimit) -> Result<Option<Vec<u8>>, Rejected> {
    let whole = body.len();
    let mut output = Vec::new();
    let mut any = false;
    let mut inflate = Decompress::new(false);
    while let Some(header) = header_length(body) {
        any = true;
        body = &body[header..];
        inflate.reset(false);
        let ended = unpack(&mut inflate, body, whole, &mut output, limit)?;
        body = &body[inflate.total_in() as usize..];
        // The checksum is not verified: browsers do not either.
        match body.get(8..) {
            Some(rest) if ended => body = rest,
            _ => break,
        }
    }
    if any && output.is_empty() && whole > 32 {
        return Err(damaged_coding("gzip"));
    }
    Ok(any.then_some(output))
}

/// Decompresses `deflate`, which is the zlib format by the standard and raw deflate on some
/// servers. None if it is neither.
pub(super) fn deflate(body: &[u8], limit: &SizeLimit) -> Result<Option<Vec<u8>>, Rejected> {
    let is_zlib = match body {
        [first, second, ..] => {
            first & 0x0f == 8 && (u16::from(*first) << 8 | u16::from(*second)) % 31 == 0
        }
        _ => false,
    };
    let mut output = Vec::new();
    let mut inflate = Decompress::new(is_zlib);
    let ended = unpack(&mut inflate, body, body.len(), &mut output, limit)?;
    // Nearly any text inflates to a few bytes before it fails, so raw deflate is accepted only if
    // it is complete.
    if !is_zlib && !ended {
        return Ok(None);
    }
    if is_zlib && output.is_empty() && body.len() > 32 {
        return Err(damaged_coding("deflate"));
    }
    Ok(Some(output))
}

/// Decompresses as much as possible. Returns whether the stream was complete. A truncated or
/// damaged stream still yields the beginning of a page.
fn unpack(
    inflate: &mut Decompress,
    mut input: &[u8],
    whole: usize,
    output: &mut Vec<u8>,
    limit: &SizeLimit,
) -> Result<bool, Rejected> {
    loop {
        reserve_space(output, whole);
        let before = (inflate.total_in(), output.len());
        let status = inflate.decompress_vec(input, output, FlushDecompress::None);
        input = &input[(inflate.total_in() - before.0) as usize..];
        limit.check(output.len())?;
        match status {
            Ok(Status::StreamEnd) => return Ok(true),
            Ok(_) if (inflate.total_in(), output.len()) != before => {}
            Ok(_) | Err(_) => return Ok(false),
        }
    }
}

pub(super) fn damaged_coding(coding: &str) -> Rejected {
    Rejected {
        reason: Reject::Undecodable,
        detail: format!("the {coding} content coding is corrupted from the beginning"),
    }
}
