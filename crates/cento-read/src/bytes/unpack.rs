//! What every packing that comes in members does: gzip members, zstd and LZ4 frames, bzip2 and xz streams.

use super::gzip::Beginning;
use super::source::Source;
use super::stream::Trouble;
use crate::Cause;

/// Unpacks the members of a source, one after the other.
pub(crate) trait Unpack: Send {
    /// Whether a member has begun and not ended.
    fn inside(&self) -> bool;

    /// Forgets the member it is in.
    fn leave(&mut self);

    /// Consumes what may stand before a member and holds nothing.
    fn preface(&mut self, _source: &mut Source) -> Result<(), Trouble> {
        Ok(())
    }

    /// Unpacks the member that is the next thing in `source` to its end, if that can be done in one go. If not, nothing is
    /// consumed, and the member is to be begun.
    fn whole(&mut self, _source: &mut Source, _output: &mut Vec<u8>) -> Result<bool, Trouble> {
        Ok(false)
    }

    /// Begins the member that is the next thing in `source`.
    fn begin(&mut self, source: &mut Source) -> Result<(), Trouble>;

    /// Unpacks into the spare capacity of `output`, of which there must be some. Nothing comes only when the member is at
    /// its end, and by then its checksum, if it has one, has been found right.
    fn pull(&mut self, source: &mut Source, output: &mut Vec<u8>) -> Result<usize, Trouble>;

    /// Whether a member begins with `bytes` that unpacks to something beginning with `expected`.
    fn begins_with(&mut self, bytes: &[u8], expected: Beginning) -> bool;

    /// How much of a member it takes to unpack its beginning.
    fn front(&self) -> usize;

    /// The first place in `bytes` at which a member may begin, and how long the mark is by which that shows.
    fn find(&self, bytes: &[u8]) -> (Option<usize>, usize);

    /// What damage is to be counted as.
    fn cause(&self) -> Cause {
        Cause::BadPacking
    }
}

/// Damage in a packing other than gzip.
pub(super) fn damaged(detail: impl Into<String>) -> Trouble {
    Trouble::Damaged(Cause::BadPacking, detail.into())
}

/// The mark of what zstd and LZ4 both pass over: any of sixteen numbers, then a length, then that many bytes.
pub(super) const SKIPPABLE: [u8; 3] = [0x2a, 0x4d, 0x18];

/// Which of the sixteen kinds of skippable frame `bytes` begin with, and how long its content is.
pub(super) fn skippable(bytes: &[u8]) -> Option<(u8, u32)> {
    match bytes.first_chunk::<8>() {
        Some(&[kind, b, c, d, e, f, g, h]) if kind >> 4 == 5 && [b, c, d] == SKIPPABLE => {
            Some((kind & 15, u32::from_le_bytes([e, f, g, h])))
        }
        _ => None,
    }
}

/// Consumes skippable frames, as many as come.
pub(super) fn pass_skippable(source: &mut Source) -> Result<(), Trouble> {
    loop {
        source.ensure(8)?;
        let Some((_, length)) = skippable(source.available()) else {
            return Ok(());
        };
        source.consume(8);
        let mut left = length as usize;
        while left > 0 {
            if !source.fill()? {
                return Err(Trouble::Truncated);
            }
            let step = left.min(source.available().len());
            source.consume(step);
            left -= step;
        }
    }
}

/// Whether `unpacked`, the beginning of a member, begins a record.
pub(super) fn shows(unpacked: &[u8], expected: Beginning) -> bool {
    (expected.fits)(&unpacked[..unpacked.len().min(expected.reach)])
}
