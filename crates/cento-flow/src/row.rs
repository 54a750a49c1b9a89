//! Rows of a shuffle: small plain structs with a key and an order.

use bytemuck::Pod;

/// A fixed-width row of a shuffle.
///
/// Rows are plain bytes, so that a million of them are copied as one block: to another core, to a
/// spill file, to another machine. They are grouped by [`key`](Row::key), and a group is sorted by
/// [`rest`](Row::rest).
///
/// Two rows with the same key and rest should be the same in every byte. Otherwise their order
/// depends on the timing of threads; they are still in the right group.
///
/// ```
/// use bytemuck::{Pod, Zeroable};
/// use cento_flow::Row;
///
/// /// Twelve bytes: packing saves a quarter of the memory.
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
    /// The type of the key, by which rows are grouped.
    type Key: Key;
    /// The type that orders the rows of a group; `()` if rows have only a key.
    type Rest: Ord;
    /// Whether the reduce ignores groups of one row. Most of these are then dropped before rows are
    /// sorted, which is worthwhile if most keys occur once.
    const ONLY_REPEATED: bool = false;

    /// Returns the key of the row.
    fn key(&self) -> Self::Key;
    /// Returns the order of the row among those with the same key.
    fn rest(&self) -> Self::Rest;
}

/// An unsigned integer by which rows can be grouped.
pub trait Key: Copy + Ord + Send + Sync + std::fmt::Debug + 'static {
    /// The number of bits of the type.
    const BITS: u32;

    /// Returns the key divided by 2 to the power of `bits`, as a 64-bit fixed-point fraction. It is
    /// monotonic: a larger fraction means a larger key. Keys with more than `bits` bits all have
    /// the largest fraction, which makes them slow but not wrong.
    fn fraction(self, bits: u32) -> u64;
}

impl Key for u32 {
    const BITS: u32 = 32;

    #[inline(always)]
    fn fraction(self, bits: u32) -> u64 {
        u64::from(self).fraction(bits)
    }
}

impl Key for u64 {
    const BITS: u32 = 64;

    #[inline(always)]
    fn fraction(self, bits: u32) -> u64 {
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
    fn fraction(self, bits: u32) -> u64 {
        match 128u32.saturating_sub(bits) {
            0 => (self >> 64) as u64,
            128.. => 0,
            unused if self.leading_zeros() < unused => u64::MAX,
            unused => ((self << unused) >> 64) as u64,
        }
    }
}

/// The total order of rows.
#[inline(always)]
pub(crate) fn order<R: Row>(a: &R, b: &R) -> std::cmp::Ordering {
    a.key().cmp(&b.key()).then_with(|| a.rest().cmp(&b.rest()))
}

/// What code that is the same for all types of rows knows of a type: rows are bytes.
#[derive(Clone, Copy)]
pub(crate) struct RowShape {
    /// Bytes of a row.
    pub(crate) width: usize,
    /// The total order of rows.
    pub(crate) order: fn(&[u8], &[u8]) -> std::cmp::Ordering,
}

impl RowShape {
    pub(crate) fn of<R: Row>() -> RowShape {
        fn order_bytes<R: Row>(a: &[u8], b: &[u8]) -> std::cmp::Ordering {
            let row = |bytes| bytemuck::try_pod_read_unaligned::<R>(bytes);
            match (row(a), row(b)) {
                (Ok(a), Ok(b)) => order(&a, &b),
                // Never: both have the width of a row.
                _ => a.len().cmp(&b.len()),
            }
        }
        RowShape {
            width: size_of::<R>(),
            order: order_bytes::<R>,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn fractions_grow_with_keys(a: u64, b: u64, bits in 0u32..70) {
            prop_assert_eq!(a.fraction(bits) <= b.fraction(bits) || a > b, true);
            let (wide_a, wide_b) = (u128::from(a) * 3, u128::from(b) * 3);
            prop_assert_eq!(wide_a.fraction(bits + 60) <= wide_b.fraction(bits + 60) || a > b, true);
        }

        #[test]
        fn significant_bits_spread_keys_over_all_fractions(key in 0u64..1 << 20) {
            prop_assert_eq!(key.fraction(20), key << 44);
            prop_assert_eq!((key as u32).fraction(20), key << 44);
            prop_assert_eq!(u128::from(key).fraction(20), key << 44);
        }
    }
}
