//! The interface of decompressors. All formats consist of members: gzip members, zstd and LZ4
//! frames, bzip2 and xz streams.

use std::io;

use super::byte_source::ByteSource;
use super::gzip::Beginning;
use super::stream::StreamError;
use crate::Cause;

/// Decompresses the members of a source, one after the other.
pub(crate) trait Unpack: Send {
    /// Whether a member has begun and not ended.
    fn inside(&self) -> bool;

    /// Abandons the current member.
    fn leave(&mut self);

    /// Consumes bytes before a member that are not content.
    fn preface(&mut self, _source: &mut ByteSource) -> Result<(), StreamError> {
        Ok(())
    }

    /// Decompresses the next member of `source` in one call, if that is possible. Otherwise nothing
    /// is consumed, and the caller calls `begin`.
    fn whole(
        &mut self,
        _source: &mut ByteSource,
        _output: &mut Vec<u8>,
    ) -> Result<bool, StreamError> {
        Ok(false)
    }

    /// Begins the next member of `source`.
    fn begin(&mut self, source: &mut ByteSource) -> Result<(), StreamError>;

    /// Decompresses into the spare capacity of `output`, which must not be empty. Returns 0 only at
    /// the end of the member, after its checksum, if it has one, has been verified.
    fn pull(&mut self, source: &mut ByteSource, output: &mut Vec<u8>)
    -> Result<usize, StreamError>;

    /// Whether `bytes` begin a member that begins a record as `expected` describes. None if more
    /// bytes are needed to decide.
    fn begins_with(&mut self, bytes: &[u8], expected: Beginning) -> Option<bool>;

    /// The maximum number of bytes needed to decompress the beginning of a member.
    fn front(&self) -> usize;

    /// The first offset in `bytes` at which a member may begin, and the length of the magic number.
    fn find(&self, bytes: &[u8]) -> (Option<usize>, usize);

    /// The cause that damage is counted as.
    fn cause(&self) -> Cause {
        Cause::BadPacking
    }
}

/// Damage in a format other than gzip.
pub(super) fn damaged(detail: impl Into<String>) -> StreamError {
    StreamError::Damaged(Cause::BadPacking, detail.into())
}

/// The last three bytes of the magic number of skippable frames of zstd and LZ4. The first byte is
/// one of sixteen. A length and that many bytes follow.
pub(super) const SKIPPABLE: [u8; 3] = [0x2a, 0x4d, 0x18];

/// The kind, from 0 to 15, and the content length of a skippable frame at the beginning of `bytes`.
pub(super) fn skippable(bytes: &[u8]) -> Option<(u8, u32)> {
    match bytes.first_chunk::<8>() {
        Some(&[kind, b, c, d, e, f, g, h]) if kind >> 4 == 5 && [b, c, d] == SKIPPABLE => {
            Some((kind & 15, u32::from_le_bytes([e, f, g, h])))
        }
        _ => None,
    }
}

/// Consumes skippable frames.
pub(super) fn pass_skippable(source: &mut ByteSource) -> Result<(), StreamError> {
    loop {
        source.ensure(8)?;
        let Some((_, length)) = skippable(source.available()) else {
            return Ok(());
        };
        source.consume(8);
        let mut left = length as usize;
        while left > 0 {
            if !source.fill()? {
                return Err(StreamError::Truncated);
            }
            let step = left.min(source.available().len());
            source.consume(step);
            left -= step;
        }
    }
}

/// Whether `unpacked`, the decompressed beginning of a member, begins a record.
pub(super) fn shows(unpacked: &[u8], expected: Beginning) -> bool {
    (expected.fits)(&unpacked[..unpacked.len().min(expected.reach)])
}

/// Limits the number of bytes that are decompressed only to check how a member begins.
///
/// In a sound input there are few or none. A hostile input has a magic number every few bytes, and
/// for each a whole block would have to be decompressed before it turns out to be invalid. So the
/// limit grows with the position in the input, and the work is proportional to the length of the
/// input.
#[derive(Default)]
pub(super) struct PeekBudget {
    spent: u64,
}

impl PeekBudget {
    /// Whether the next member of `source` begins a record as `expected` describes. Nothing is
    /// consumed. Returns false if the limit is reached.
    pub(super) fn begins(
        &mut self,
        source: &mut ByteSource,
        unpack: &mut dyn Unpack,
        expected: Beginning,
    ) -> io::Result<bool> {
        const ALWAYS: u64 = 64 << 20;
        const FOR_A_BYTE: u64 = 32;
        let mut reach = unpack.front().min(4 << 10);
        loop {
            let earned = source.position().saturating_mul(FOR_A_BYTE);
            if self.spent > ALWAYS.saturating_add(earned) {
                return Ok(false);
            }
            source.ensure(reach)?;
            let available = source.available();
            let bytes = &available[..available.len().min(reach)];
            self.spent = self.spent.saturating_add(reach as u64);
            match unpack.begins_with(bytes, expected) {
                Some(begins) => return Ok(begins),
                None if bytes.len() < reach || reach >= unpack.front() => return Ok(false),
                None => reach = (8 * reach).min(unpack.front()),
            }
        }
    }
}
