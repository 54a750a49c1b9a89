//! What every packing that comes in members does: gzip members, zstd and LZ4 frames, bzip2 and xz
//! streams.

use std::io;

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

    /// Unpacks the member that is the next thing in `source` to its end, if that can be done in one
    /// go. If not, nothing is consumed, and the member is to be begun.
    fn whole(&mut self, _source: &mut Source, _output: &mut Vec<u8>) -> Result<bool, Trouble> {
        Ok(false)
    }

    /// Begins the member that is the next thing in `source`.
    fn begin(&mut self, source: &mut Source) -> Result<(), Trouble>;

    /// Unpacks into the spare capacity of `output`, of which there must be some. Nothing comes only
    /// when the member is at its end, and by then its checksum, if it has one, has been found
    /// right.
    fn pull(&mut self, source: &mut Source, output: &mut Vec<u8>) -> Result<usize, Trouble>;

    /// Whether a member begins with `bytes` that unpacks to something beginning with `expected`;
    /// nothing if it takes more of it to tell.
    fn begins_with(&mut self, bytes: &[u8], expected: Beginning) -> Option<bool>;

    /// How much of a member it takes at most to unpack its beginning.
    fn front(&self) -> usize;

    /// The first place in `bytes` at which a member may begin, and how long the mark is by which
    /// that shows.
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

/// The mark of what zstd and LZ4 both pass over: any of sixteen numbers, then a length, then that
/// many bytes.
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

/// The bytes of members that have been unpacked only to see how they begin.
///
/// In a sound input there are none, or few. One that is made to waste time has the mark of a member
/// every few bytes, each asking for a whole block to be unpacked before it shows that it is none.
/// So looking is paid for by getting on: what the input cannot afford is not looked at, and the
/// work stays in proportion to its length.
#[derive(Default)]
pub(super) struct Glances {
    spent: u64,
}

impl Glances {
    /// Whether a member begins at the front of `source` that unpacks to something beginning with
    /// `expected`. Nothing is consumed. What cannot be afforded is taken for none.
    pub(super) fn begins(
        &mut self,
        source: &mut Source,
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
