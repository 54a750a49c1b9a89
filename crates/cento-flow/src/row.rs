//! What a row of a shuffle is: a small plain struct with a key and an order.

use bytemuck::Pod;

/// A fixed-width row of a shuffle.
///
/// Rows are plain bytes, so that a million of them move as one block: to another core, to a spill
/// file, to another machine. They are grouped by [`key`](Row::key), and within a group they come in
/// the order of [`rest`](Row::rest).
///
/// Two rows that agree in key and rest should agree in every byte. Then the order of a group is
/// decided by its rows alone, and never by which thread was faster; rows that break this rule still
/// get into the right group.
///
/// ```
/// use bytemuck::{Pod, Zeroable};
/// use cento_flow::Row;
///
/// /// Twelve bytes: packing saves a quarter of all that is moved.
/// #[derive(Clone, Copy, Pod, Zeroable)]
/// #[repr(C, packed(4))]
/// struct GramPage {
///     gram: u64,
///     page: u32,
/// }
///
/// impl Row for GramPage {
///     type Key = u64;
///     type Rest = u32;
///     fn key(&self) -> u64 {
///         self.gram
///     }
///     fn rest(&self) -> u32 {
///         self.page
///     }
/// }
/// assert_eq!(size_of::<GramPage>(), 12);
/// ```
pub trait Row: Pod + Send + Sync {
    /// What rows are grouped by.
    type Key: Key;
    /// What orders the rows of one group; `()` if the key is all there is.
    type Rest: Ord;

    /// The key of this row.
    fn key(&self) -> Self::Key;
    /// The order of this row among those of the same key.
    fn rest(&self) -> Self::Rest;
}

/// An unsigned integer that rows can be grouped by.
pub trait Key: Copy + Ord + Send + Sync + std::fmt::Debug + 'static {
    /// How many bits it has.
    const BITS: u32;

    /// Where the key lies among all keys of `bits` bits, as a fraction of 2⁶⁴. It grows with the
    /// key: equal keys have equal places, and a larger place means a larger key. Keys that have
    /// more bits than announced all lie at the very end, which makes them slow and not wrong.
    fn place(self, bits: u32) -> u64;
}

impl Key for u32 {
    const BITS: u32 = 32;

    #[inline(always)]
    fn place(self, bits: u32) -> u64 {
        u64::from(self).place(bits)
    }
}

impl Key for u64 {
    const BITS: u32 = 64;

    #[inline(always)]
    fn place(self, bits: u32) -> u64 {
        match 64u32.saturating_sub(bits) {
            0 => self,
            64.. => 0,
            unused if self.leading_zeros() < unused => u64::MAX,
            unused => self << unused,
        }
    }
}

impl Key for u128 {
    const BITS: u32 = 128;

    #[inline(always)]
    fn place(self, bits: u32) -> u64 {
        match 128u32.saturating_sub(bits) {
            0 => (self >> 64) as u64,
            128.. => 0,
            unused if self.leading_zeros() < unused => u64::MAX,
            unused => ((self << unused) >> 64) as u64,
        }
    }
}

/// The whole order of rows.
#[inline(always)]
pub(crate) fn order<R: Row>(a: &R, b: &R) -> std::cmp::Ordering {
    a.key().cmp(&b.key()).then_with(|| a.rest().cmp(&b.rest()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_grow_with_keys(a: u64, b: u64, bits in 0u32..70) {
            prop_assert_eq!(a.place(bits) <= b.place(bits) || a > b, true);
            let (wide_a, wide_b) = (u128::from(a) * 3, u128::from(b) * 3);
            prop_assert_eq!(wide_a.place(bits + 60) <= wide_b.place(bits + 60) || a > b, true);
        }

        #[test]
        fn announced_bits_spread_keys_over_all_places(key in 0u64..1 << 20) {
            prop_assert_eq!(key.place(20), key << 44);
            prop_assert_eq!((key as u32).place(20), key << 44);
            prop_assert_eq!(u128::from(key).place(20), key << 44);
        }
    }
}
