//! Deflated files in a zip.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use flate2::Crc;
use flate2::read::DeflateDecoder;

use crate::{Cause, Limits};

/// Damage to the bytes of a file, available after they have been read.
pub(super) struct EntryDamage(Arc<Mutex<Option<(Cause, String)>>>);

impl EntryDamage {
    pub(super) fn take(&self) -> Option<(Cause, String)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Inflated bytes up to the first damage, as if the file ended there. So the records before the
/// damage are read, the truncated record is reported like any other, and the damage itself is
/// available as [`EntryDamage`].
pub(super) struct Inflated<R> {
    decoder: DeflateDecoder<R>,
    checksum: Crc,
    expected: u32,
    /// The decompressed size up to which the ratio is not checked, and the maximum ratio.
    harmless: u64,
    max_ratio: u64,
    ended: bool,
    damage: Arc<Mutex<Option<(Cause, String)>>>,
}

impl<R: Read> Inflated<R> {
    pub(super) fn new(packed: R, expected: u32, limits: &Limits) -> (Self, EntryDamage) {
        let damage = Arc::new(Mutex::new(None));
        let inflated = Inflated {
            decoder: DeflateDecoder::new(packed),
            checksum: Crc::new(),
            expected,
            harmless: limits.max_page_bytes.saturating_mul(4),
            max_ratio: limits.max_ratio,
            ended: false,
            damage: damage.clone(),
        };
        (inflated, EntryDamage(damage))
    }

    fn end(&mut self, damage: Option<(Cause, String)>) -> io::Result<usize> {
        self.ended = true;
        *self.damage.lock().unwrap_or_else(PoisonError::into_inner) = damage;
        Ok(0)
    }
}

impl<R: Read> Read for Inflated<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended || buffer.is_empty() {
            return Ok(0);
        }
        let read = self.decoder.read(buffer);
        let (packed, unpacked) = (self.decoder.total_in(), self.decoder.total_out());
        match read {
            Ok(0) if self.checksum.sum() != self.expected => {
                let detail = "the checksum is wrong: some of its records are corrupted";
                self.end(Some((Cause::BadEntry, detail.into())))
            }
            Ok(0) => self.end(None),
            Ok(_)
                if unpacked > self.harmless && unpacked > packed.saturating_mul(self.max_ratio) =>
            {
                let ratio = self.max_ratio;
                let detail = format!(
                    "{packed} bytes expand to more than {unpacked}, the limit is {ratio} times"
                );
                self.end(Some((Cause::UnpacksTooLarge, detail)))
            }
            Ok(count) => {
                self.checksum.update(&buffer[..count]);
                Ok(count)
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::InvalidInput
                        | io::ErrorKind::InvalidData
                        | io::ErrorKind::UnexpectedEof
                ) =>
            {
                let detail = format!(
                    "it is corrupted after {unpacked} bytes: the records after that are lost"
                );
                self.end(Some((Cause::BadEntry, detail)))
            }
            Err(error) => Err(error),
        }
    }
}
