//! How much larger than itself a compressed member may become.

use super::stream::Trouble;
use crate::{Cause, Limits};

/// The growth of the present member, held to a limit.
///
/// What is too large to be a page is never held in memory, but it has to be unpacked to be passed
/// over, and a megabyte can stand for terabytes. Honest archives shrink tenfold, and a hundredfold
/// where they repeat themselves.
pub(super) struct Growth {
    /// Where the member begins, as stored.
    begin: u64,
    unpacked: u64,
    /// What a member may unpack to whatever its size.
    harmless: u64,
    max_ratio: u64,
}

impl Default for Growth {
    fn default() -> Self {
        Growth::within(&Limits::default())
    }
}

impl Growth {
    pub(super) fn within(limits: &Limits) -> Self {
        Growth {
            begin: 0,
            unpacked: 0,
            harmless: limits.max_page_bytes.saturating_mul(4),
            max_ratio: limits.max_ratio,
        }
    }

    /// A member begins at `position`.
    pub(super) fn begin(&mut self, position: u64) {
        self.begin = position;
        self.unpacked = 0;
    }

    /// So many bytes more were unpacked, and the input has been read up to `position` for them.
    pub(super) fn grown(&mut self, count: usize, position: u64) -> Result<(), Trouble> {
        self.unpacked = self.unpacked.saturating_add(count as u64);
        let packed = position.saturating_sub(self.begin);
        let ratio = self.max_ratio;
        if self.unpacked <= self.harmless || self.unpacked <= packed.saturating_mul(ratio) {
            return Ok(());
        }
        let detail = format!(
            "{packed} bytes unpack to {} and more, the limit is {ratio} times",
            self.unpacked
        );
        Err(Trouble::Damaged(Cause::UnpacksTooLarge, detail))
    }
}
