//! The rows of the shuffles of `copies`.

use bytemuck::{Pod, Zeroable};
use cento_flow::Row;

use super::params::MINIMA;

/// A page with its rank: by the policy, then by number. Of two similar pages the smaller is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(super) struct RankedPage {
    pub(super) rank: u32,
    pub(super) page: u32,
}

impl RankedPage {
    pub(super) fn key(self) -> u64 {
        u64::from(self.rank) << 32 | u64::from(self.page)
    }

    pub(super) fn of_key(key: u64) -> RankedPage {
        RankedPage {
            rank: (key >> 32) as u32,
            page: key as u32,
        }
    }
}

/// A date of pages whose URLs have tracking parameters, or of pages whose URLs have none. Sorts as
/// [`Precedence`](crate::precedence::Precedence).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(super) struct PageDate {
    pub(super) date: u64,
    pub(super) tracked: u32,
}

impl Row for PageDate {
    type Key = u64;
    type Rest = u32;

    fn key(&self) -> u64 {
        self.date
    }

    fn rest(&self) -> u32 {
        self.tracked
    }
}

/// Distributes a number over all 64-bit numbers, each of which has one origin.
pub(super) fn mixed(number: u64) -> u64 {
    // The finaliser of MurmurHash3.
    let mut mixed = number;
    mixed ^= mixed >> 33;
    mixed = mixed.wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^= mixed >> 33;
    mixed = mixed.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    mixed ^ (mixed >> 33)
}

/// A date whose order is unknown, so that the dates of a crawl, which are close to each other, are
/// in different partitions. Its key is [`mixed`].
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct MixedDate(pub(super) PageDate);

impl Row for MixedDate {
    type Key = u64;
    type Rest = u32;

    fn key(&self) -> u64 {
        mixed(self.0.date)
    }

    fn rest(&self) -> u32 {
        self.0.tracked
    }
}

/// A page with its date, or the rank of all pages of this date.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Dated {
    pub(super) date: PageDate,
    /// A page, or a rank.
    pub(super) number: u32,
    /// [`RANK`], or a page of the corpus, or of the one that it is compared with.
    pub(super) kind: u32,
}

/// The values of [`Dated::kind`]. Ranks come before the pages.
pub(super) const RANK: u32 = 0;
pub(super) const PAGE: u32 = 1;
pub(super) const LATE_PAGE: u32 = 2;

impl Row for Dated {
    type Key = u64;
    type Rest = (u32, u32, u32);

    fn key(&self) -> u64 {
        mixed(self.date.date)
    }

    fn rest(&self) -> (u32, u32, u32) {
        (self.date.tracked, self.kind, self.number)
    }
}

/// A page with the hash of its text or of its payload.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Identity {
    hash: [u64; 2],
    pub(super) place: RankedPage,
    /// The first half of the payload's digest, which distinguishes identical bytes from identical
    /// text.
    pub(super) payload: u64,
    /// Pages with text come first, then payloads without text, then revisit records.
    pub(super) sort: u32,
    unused: u32,
}

/// The values of the lower two bits of [`Identity::sort`].
pub(super) const TEXT: u32 = 0;
pub(super) const PAYLOAD: u32 = 1;
pub(super) const REVISIT: u32 = 2;

impl Identity {
    pub(super) fn new(
        hash: &[u8],
        place: RankedPage,
        payload: Option<&[u8]>,
        sort: u32,
    ) -> Identity {
        let half = |bytes: &[u8], at: usize| {
            let bytes = bytes
                .get(at..at + 8)
                .and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u64::from_be_bytes)
        };
        Identity {
            hash: [half(hash, 0), half(hash, 8)],
            place,
            payload: payload.map_or(0, |payload| half(payload, 0)),
            sort,
            unused: 0,
        }
    }
}

impl Row for Identity {
    type Key = u128;
    type Rest = (u32, RankedPage);

    fn key(&self) -> u128 {
        u128::from(self.hash[0]) << 64 | u128::from(self.hash[1])
    }

    fn rest(&self) -> (u32, RankedPage) {
        (self.sort, self.place)
    }
}

/// The sketch of a page, until it is known which of its bands other pages share.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Sketched {
    pub(super) place: RankedPage,
    pub(super) minima: [u32; MINIMA as usize],
}

impl Row for Sketched {
    type Key = u32;
    type Rest = u32;

    fn key(&self) -> u32 {
        self.place.page
    }

    fn rest(&self) -> u32 {
        self.place.rank
    }
}

/// Four bits of each minimum: enough to decide in a few instructions whether a pair is a
/// candidate.
pub(super) type Signature = [u64; 6];

/// Returns the signature of a sketch with its minima in this order. The first is in the highest
/// bits, so that signatures sort lexicographically.
pub(super) fn signature(
    minima: &[u32; MINIMA as usize],
    order: &[u8; MINIMA as usize],
) -> Signature {
    let mut signature = Signature::default();
    for (word, places) in signature.iter_mut().zip(order.chunks(16)) {
        for (at, &place) in places.iter().enumerate() {
            let minimum = minima.get(usize::from(place)).copied().unwrap_or(0);
            *word |= u64::from(minimum & 15) << (60 - 4 * at);
        }
    }
    signature
}

/// Returns the number of the 84 positions in which two signatures agree. Both must have the same
/// order.
#[inline]
pub(super) fn agreement(one: &Signature, other: &Signature) -> u32 {
    let differing: u32 = one
        .iter()
        .zip(other)
        .map(|(one, other)| {
            let bits = one ^ other;
            let folded = bits | bits >> 1;
            ((folded | folded >> 2) & 0x1111_1111_1111_1111).count_ones()
        })
        .sum();
    MINIMA - differing
}

/// Returns the number of positions before the first in which two signatures differ.
pub(super) fn common_prefix(one: &Signature, other: &Signature) -> u32 {
    let mut common = 0;
    for (one, other) in one.iter().zip(other) {
        let agreeing = (one ^ other).leading_zeros() / 4;
        common += agreeing;
        if agreeing < 16 {
            break;
        }
    }
    common.min(MINIMA)
}

/// A page in a bucket. Within a bucket pages are sorted by signature, so that similar pages are
/// neighbours.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct InBucket {
    pub(super) bucket: u64,
    pub(super) place: RankedPage,
    pub(super) signature: Signature,
    /// The round of comparisons, from 0; the same in all rows.
    pub(super) round: u64,
}

impl Row for InBucket {
    type Key = u64;
    type Rest = (Signature, RankedPage);

    fn key(&self) -> u64 {
        self.bucket
    }

    fn rest(&self) -> (Signature, RankedPage) {
        (self.signature, self.place)
    }
}

/// Two pages of one bucket and the state of their comparison, keyed by the later page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Possible {
    pub(super) page: RankedPage,
    pub(super) of: RankedPage,
    /// The number of positions in which their signatures agree.
    pub(super) agreement: u32,
    /// One of the constants below.
    pub(super) state: u16,
    /// The round in which the row was written.
    pub(super) round: u16,
}

/// They were compared, and resemble each other.
pub(super) const ALIKE: u16 = 0;
/// They were compared, and their resemblance is too low.
pub(super) const UNLIKE: u16 = 1;
/// They have not been compared yet.
pub(super) const PENDING: u16 = 2;
/// The bucket has too many pages, and the page was not compared with all of them. The row names no
/// other page.
pub(super) const CROWDED: u16 = 3;

impl Row for Possible {
    type Key = u32;
    type Rest = (RankedPage, u16, u32, u16);

    fn key(&self) -> u32 {
        self.page.page
    }

    fn rest(&self) -> (RankedPage, u16, u32, u16) {
        (self.of, self.state, self.agreement, self.round)
    }
}

/// Two pages whose resemblance is to be computed, keyed by the page that would be kept, so that
/// similar pages are verified together.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct CandidatePair {
    pub(super) page: RankedPage,
    pub(super) of: RankedPage,
    pub(super) agreement: u32,
    pub(super) round: u32,
}

impl Row for CandidatePair {
    type Key = u32;
    type Rest = (RankedPage, RankedPage);

    fn key(&self) -> u32 {
        self.of.page
    }

    fn rest(&self) -> (RankedPage, RankedPage) {
        (self.of, self.page)
    }
}

/// Two pages that resemble each other.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct NearEdge {
    pub(super) page: RankedPage,
    pub(super) of: RankedPage,
    /// The bits of an `f32`; zero if it was not verified.
    pub(super) resemblance: u32,
    /// The round in which it is known.
    pub(super) round: u32,
}

impl NearEdge {
    pub(super) fn new(page: RankedPage, of: RankedPage, resemblance: f32, round: u32) -> NearEdge {
        NearEdge {
            page,
            of,
            resemblance: resemblance.to_bits(),
            round,
        }
    }
}

impl Row for NearEdge {
    type Key = u64;
    type Rest = (RankedPage, u32);

    fn key(&self) -> u64 {
        self.page.key()
    }

    fn rest(&self) -> (RankedPage, u32) {
        (self.of, self.resemblance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agreement_counts_equal_quarters(one in prop::collection::vec(0u32..40, 84), other in prop::collection::vec(0u32..40, 84)) {
            let expected = one.iter().zip(&other).filter(|(one, other)| **one & 15 == **other & 15).count();
            let order = std::array::from_fn(|at| (at * 5 % 84) as u8);
            let prefix = order.iter().take_while(|&&at| one[usize::from(at)] & 15 == other[usize::from(at)] & 15).count();
            let [one, other] = [one, other].map(|minima| signature(&minima.try_into().unwrap(), &order));
            prop_assert_eq!(agreement(&one, &other), expected as u32);
            prop_assert_eq!(agreement(&one, &one), 84);
            prop_assert_eq!(common_prefix(&one, &other), prefix as u32);
            prop_assert_eq!(common_prefix(&one, &one), 84);
        }

        #[test]
        fn places_sort_as_their_keys(one: (u32, u32), other: (u32, u32)) {
            let [one, other] = [one, other].map(|(rank, page)| RankedPage { rank, page });
            prop_assert_eq!(one.cmp(&other), one.key().cmp(&other.key()));
            prop_assert_eq!(RankedPage::of_key(one.key()), one);
        }
    }
}
