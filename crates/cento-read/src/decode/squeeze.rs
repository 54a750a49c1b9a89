//! The content codings br and zstd.

use std::io::Read;

use brotli_decompressor::{BrotliDecoderParameter, Decompressor};

use super::inflate::{Allowance, make_room, nothing_came_of};
use super::sniff::{Looks, looks};
use crate::Rejected;
use crate::bytes::{ZSTD_MAGIC, zstd_decoder, zstd_step};

/// Browsers take windows up to eight megabytes; crawlers take more. This one holds the largest page
/// of the default limits.
const LARGEST_WINDOW_LOG: u32 = 26;

/// Unpacks `br`; nothing if it is none.
///
/// Nothing marks the beginning of this coding. A body that can be read as it is must therefore
/// unpack to its very last byte to be believed; for one that cannot, what comes of it before it is
/// cut short is better than nothing.
pub(super) fn brotli(body: &[u8], allowance: &Allowance) -> Result<Option<Vec<u8>>, Rejected> {
    let mut output = Vec::new();
    let mut decoder = Decompressor::new(body, 4 << 10);
    // No browser takes the large windows, of up to a gigabyte, and neither does the web use them.
    decoder.set_parameter(BrotliDecoderParameter::BROTLI_DECODER_PARAM_LARGE_WINDOW, 0);
    let mut piece = [0; 16 << 10];
    let ended = loop {
        match decoder.read(&mut piece) {
            Ok(0) => break true,
            Ok(count) => {
                make_room(&mut output, body.len());
                output.extend_from_slice(&piece[..count]);
                allowance.check(output.len())?;
            }
            Err(_) => break false,
        }
    };
    if !ended && !matches!(looks(body), Looks::Binary(_)) {
        return Ok(None);
    }
    if !ended && output.is_empty() {
        return Err(nothing_came_of("br"));
    }
    Ok(Some(output))
}

/// Unpacks all frames; nothing if there is not even one.
pub(super) fn zstd(body: &[u8], allowance: &Allowance) -> Result<Option<Vec<u8>>, Rejected> {
    if !body.starts_with(&ZSTD_MAGIC) {
        return Ok(None);
    }
    let mut output = Vec::new();
    let mut decoder = zstd_decoder(&[], LARGEST_WINDOW_LOG).map_err(|_| nothing_came_of("zstd"))?;
    let mut rest = body;
    loop {
        make_room(&mut output, body.len());
        let before = output.len();
        let Ok((read, ended)) = zstd_step(&mut decoder, rest, &mut output) else {
            break;
        };
        rest = &rest[read..];
        allowance.check(output.len())?;
        let stuck = read == 0 && output.len() == before;
        if stuck || ended && !rest.starts_with(&ZSTD_MAGIC) {
            break;
        }
    }
    if output.is_empty() && body.len() > 32 {
        return Err(nothing_came_of("zstd"));
    }
    Ok(Some(output))
}
