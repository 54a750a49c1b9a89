//! The limit on the compression ratio of members.

use super::stream::StreamError;
use crate::{Cause, Limits};

/// Checks the compression ratio of the current member.
///
/// Content over the page limit is never held in memory, but it has to be decompressed to be
/// skipped, and a megabyte can expand to terabytes. Real archives have a ratio of ten, and up to a
/// hundred where they are repetitive.
pub(super) struct GrowthLimit {
    /// The offset of the member in the stored input.
    begin: u64,
    unpacked: u64,
    /// The decompressed size up to which the ratio is not checked.
    harmless: u64,
    max_ratio: u64,
}

impl Default for GrowthLimit {
    fn default() -> Self {
        GrowthLimit::within(&Limits::default())
    }
}

impl GrowthLimit {
    pub(super) fn within(limits: &Limits) -> Self {
        GrowthLimit {
            begin: 0,
            unpacked: 0,
            harmless: limits.max_page_bytes.saturating_mul(4),
            max_ratio: limits.max_ratio,
        }
    }

    /// Begins a member at `position`.
    pub(super) fn begin(&mut self, position: u64) {
        self.begin = position;
        self.unpacked = 0;
    }

    /// Adds `count` decompressed bytes, for which the input has been read up to `position`.
    pub(super) fn grown(&mut self, count: usize, position: u64) -> Result<(), StreamError> {
        self.unpacked = self.unpacked.saturating_add(count as u64);
        let packed = position.saturating_sub(self.begin);
        let ratio = self.max_ratio;
        if self.unpacked <= self.harmless || self.unpacked <= packed.saturating_mul(ratio) {
            return Ok(());
        }
        let detail = format!(
            "{packed} bytes expand to more than {}, the limit is {ratio} times",
            self.unpacked
        );
        Err(StreamError::Damaged(Cause::UnpacksTooLarge, detail))
    }
}
