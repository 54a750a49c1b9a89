//! The rows of the shuffles of `passages`.

use bytemuck::{Pod, Zeroable};
use cento_flow::Row;

/// A fingerprint of a page.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct FingerprintPage {
    pub(super) fingerprint: u64,
    /// The rank of the page: the earliest page comes first.
    pub(super) rank: u32,
    /// The byte where it begins first, or [`OUTSIDE`].
    pub(super) place: u32,
}

impl Row for FingerprintPage {
    type Key = u64;
    type Rest = u32;

    /// A fingerprint of one page makes no pair.
    const ONLY_REPEATED: bool = true;

    #[inline(always)]
    fn key(&self) -> u64 {
        self.fingerprint
    }

    #[inline(always)]
    fn rest(&self) -> u32 {
        self.rank
    }
}

/// The place of a fingerprint in the frame of a page, which is not compared, or beyond 2 GiB.
pub(super) const OUTSIDE: u32 = u32::MAX >> 1;
/// The bit of a place that says that the fingerprint is on many pages.
const FREQUENT: u32 = 1 << 31;

/// A fingerprint that a pair of pages shares.
///
/// Pairs are in the order of a Z-shaped curve, so that consecutive ones have few pages, which are
/// near each other in the corpus:
///
/// ```text
///   lower  ↑ ·   ·   9 11        the numbers of the pages, and the order of their pairs: the
///          │ ·   ·   8 10        first four are of four pages, and so are the next four
///          │ 1   3   5  7
///          │ 0   2   4  6
///          └────────────▶ higher
/// ```
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct SharedPlace {
    /// The bits of both numbers in turn; that of the higher number comes first.
    pair: u64,
    /// The byte where the fingerprint begins in the page with the higher number.
    higher: u32,
    /// The same in the other, and [`FREQUENT`].
    lower: u32,
}

impl SharedPlace {
    /// The number of bits of a key for page numbers of this many.
    pub(super) fn key_bits(page_bits: u32) -> u32 {
        2 * page_bits
    }

    /// A shared fingerprint of two pages, given by their numbers and where it is.
    pub(super) fn new(one: (u32, u32), other: (u32, u32)) -> SharedPlace {
        let (higher, lower) = (one.max(other), one.min(other));
        SharedPlace {
            pair: spread(higher.0) << 1 | spread(lower.0),
            higher: higher.1.min(OUTSIDE),
            lower: lower.1.min(OUTSIDE),
        }
    }

    /// The same if the fingerprint is on too many pages to compare all of their pairs.
    pub(super) fn frequent(one: (u32, u32), other: (u32, u32)) -> SharedPlace {
        let mut place = SharedPlace::new(one, other);
        place.lower |= FREQUENT;
        place
    }

    /// Where the fingerprint begins: in the page with the higher number, and in the other.
    pub(super) fn places(&self) -> (u32, u32) {
        (self.higher, self.lower & OUTSIDE)
    }

    /// Whether the fingerprint is on many pages.
    pub(super) fn is_frequent(&self) -> bool {
        self.lower & FREQUENT != 0
    }

    /// The higher and the lower page number of a key.
    pub(super) fn pages(key: u64) -> (u32, u32) {
        (gathered(key >> 1), gathered(key))
    }
}

impl Row for SharedPlace {
    type Key = u64;
    type Rest = u64;

    #[inline(always)]
    fn key(&self) -> u64 {
        self.pair
    }

    #[inline(always)]
    fn rest(&self) -> u64 {
        u64::from(self.higher) << 32 | u64::from(self.lower)
    }
}

/// The bits in question after each step of [`spread`].
const SPREAD: [(u32, u64); 5] = [
    (16, 0x0000_ffff_0000_ffff),
    (8, 0x00ff_00ff_00ff_00ff),
    (4, 0x0f0f_0f0f_0f0f_0f0f),
    (2, 0x3333_3333_3333_3333),
    (1, 0x5555_5555_5555_5555),
];

/// Moves the bits of a number to the even places.
fn spread(number: u32) -> u64 {
    let spread = |bits: u64, &(by, mask): &(u32, u64)| (bits | bits << by) & mask;
    SPREAD.iter().fold(number.into(), spread)
}

/// Returns the bits at even places.
fn gathered(bits: u64) -> u32 {
    let gather = |bits: u64, by: u32, mask: u64| (bits | bits >> by) & mask;
    let [.., (_, first)] = SPREAD;
    let (mut bits, mut by) = (bits & first, 1);
    for &(_, mask) in SPREAD.iter().rev().skip(1) {
        bits = gather(bits, by, mask);
        by *= 2;
    }
    (bits | bits >> 16) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_pairs_are_kept() {
        let pages = [0, 1, 2, 5, 1023, 0x5555_5555, 0xdead_beef, u32::MAX];
        for one in pages {
            for other in pages {
                let place = SharedPlace::new((one, 7), (other, 8));
                let pages = SharedPlace::pages(place.key());
                assert_eq!(pages, (one.max(other), one.min(other)));
            }
        }
        let place = SharedPlace::new((3, 70), (9, u32::MAX));
        assert_eq!(place.places(), (OUTSIDE, 70));
        assert!(!place.is_frequent());
        let place = SharedPlace::frequent((3, 70), (9, 80));
        assert_eq!((place.places(), place.is_frequent()), ((80, 70), true));
    }

    #[test]
    fn consecutive_pairs_have_few_pages() {
        let mut keys: Vec<u64> = (0..64)
            .flat_map(|a| (0..a).map(move |b| SharedPlace::new((a, 0), (b, 0)).key()))
            .collect();
        keys.sort_unstable();
        for pairs in keys.chunks(64) {
            let mut pages: Vec<u32> = pairs
                .iter()
                .flat_map(|&key| <[u32; 2]>::from(SharedPlace::pages(key)))
                .collect();
            pages.sort_unstable();
            pages.dedup();
            assert!(pages.len() <= 40, "{}", pages.len());
        }
    }
}
