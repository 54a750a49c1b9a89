//! The content codings br and zstd.

use std::io::Read;

use brotli_decompressor::{BrotliDecoderParameter, Decompressor};

use super::inflate::{SizeLimit, damaged_coding, reserve_space};
use super::sniff::{ContentLooks, looks};
use crate::Rejected;
use crate::bytes::{ZSTD_MAGIC, zstd_decoder, zstd_step};

/// The largest window. Browsers accept eight megabytes and crawlers more. This one covers the
/// largest page of the default limits.
const LARGEST_WINDOW_LOG: u32 = 26;

/// Decompresses `br`. None if the body is not in this coding.
///
/// The coding has no magic number. So a body that looks like text is decompressed only if it is
/// valid to its last byte. For a body that does not, the part before the damage is better than
/// nothing.
pub(super) fn brotli(body: &[u8], limit: &SizeLimit) -> Result<Option<Vec<u8>>, Rejected> {
    let mut output = Vec::new();
    let mut decoder = Decompressor::new(body, 4 << 10);
    // No browser accepts large windows of up to a gigabyte, so the web does not use them.
    decoder.set_parameter(BrotliDecoderParameter::BROTLI_DECODER_PARAM_LARGE_WINDOW, 0);
    let mut piece = [0; 16 << 10];
    let ended = loop {
        match decoder.read(&mut piece) {
            Ok(0) => break true,
            Ok(count) => {
                reserve_space(&mut output, body.len());
                output.extend_from_slice(&piece[..count]);
                limit.check(output.len())?;
            }
            Err(_) => break false,
        }
    };
    if !ended && !matches!(looks(body), ContentLooks::Binary(_)) {
        return Ok(None);
    }
    if !ended && output.is_empty() {
        return Err(damaged_coding("br"));
    }
    Ok(Some(output))
}

/// Decompresses all frames. None if there is no frame.
pub(super) fn zstd(body: &[u8], limit: &SizeLimit) -> Result<Option<Vec<u8>>, Rejected> {
    if !body.starts_with(&ZSTD_MAGIC) {
        return Ok(None);
    }
    let mut output = Vec::new();
    let mut decoder = zstd_decoder(&[], LARGEST_WINDOW_LOG).map_err(|_| damaged_coding("zstd"))?;
    let mut rest = body;
    loop {
        reserve_space(&mut output, body.len());
        let before = output.len();
        let Ok((read, ended)) = zstd_step(&mut decoder, rest, &mut output) else {
            break;
        };
        rest = &rest[read..];
        limit.check(output.len())?;
        let stuck = read == 0 && output.len() == before;
        if stuck || ended && !rest.starts_with(&ZSTD_MAGIC) {
            break;
        }
    }
    if output.is_empty() && body.len() > 32 {
        return Err(damaged_coding("zstd"));
    }
    Ok(Some(output))
}
