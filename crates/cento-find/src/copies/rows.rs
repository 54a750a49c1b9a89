//! The rows that travel between the stages of `copies`.

use bytemuck::{Pod, Zeroable};
use cento_flow::Row;

use super::params::MINIMA;

/// A page's place in the order of who stays: by policy, then by number. The smaller one stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Place {
    pub(super) rank: u32,
    pub(super) page: u32,
}

impl Place {
    pub(super) fn key(self) -> u64 {
        u64::from(self.rank) << 32 | u64::from(self.page)
    }

    pub(super) fn of_key(key: u64) -> Place {
        Place {
            rank: (key >> 32) as u32,
            page: key as u32,
        }
    }
}

/// A page by its date, to rank all of them.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Dated {
    /// As in [`Precedence`](crate::precedence::Precedence).
    pub(super) date: u64,
    pub(super) page: u32,
    /// Whether its URL has tracking parameters.
    pub(super) tracked: u16,
    /// Whether it is of the corpus that is compared with another one.
    pub(super) late: u16,
}

impl Row for Dated {
    type Key = u64;
    type Rest = (u16, u32);

    fn key(&self) -> u64 {
        self.date
    }

    fn rest(&self) -> (u16, u32) {
        (self.tracked, self.page)
    }
}

/// A page by the identity of its text or of its payload.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Identity {
    hash: [u64; 2],
    pub(super) place: Place,
    /// The first half of the payload's digest, to tell the same bytes from the same text.
    pub(super) payload: u64,
    /// Pages with text come first, then whole payloads, then mere references to one.
    pub(super) sort: u32,
    unused: u32,
}

/// What the lower two bits of [`Identity::sort`] say.
pub(super) const TEXT: u32 = 0;
pub(super) const PAYLOAD: u32 = 1;
pub(super) const REVISIT: u32 = 2;

impl Identity {
    pub(super) fn new(hash: &[u8], place: Place, payload: Option<&[u8]>, sort: u32) -> Identity {
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
    type Rest = (u32, Place);

    fn key(&self) -> u128 {
        u128::from(self.hash[0]) << 64 | u128::from(self.hash[1])
    }

    fn rest(&self) -> (u32, Place) {
        (self.sort, self.place)
    }
}

/// The sketch of a page, while it waits for its bands to be known as shared.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Sketched {
    pub(super) place: Place,
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

/// Four bits of each minimum: enough to say in a few instructions whether two pages are worth a
/// closer look.
pub(super) type Signature = [u64; 6];

/// The signature of a sketch, its minima in this order: the first one in the highest bits, so that
/// signatures sort as sequences do.
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

/// In how many of the 84 places two signatures agree. Both must have the same order.
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

/// How many places two signatures have in common before the first in which they differ.
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

/// A page in a bucket. Within a bucket pages are sorted by their signatures, so that those most
/// alike are neighbours.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct InBucket {
    pub(super) bucket: u64,
    pub(super) place: Place,
    pub(super) signature: Signature,
    /// The round of comparisons that it is in, from 0; the same in all rows.
    pub(super) round: u64,
}

impl Row for InBucket {
    type Key = u64;
    type Rest = (Signature, Place);

    fn key(&self) -> u64 {
        self.bucket
    }

    fn rest(&self) -> (Signature, Place) {
        (self.signature, self.place)
    }
}

/// What is known of two pages that met in a bucket. It travels by the later page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Possible {
    pub(super) page: Place,
    pub(super) of: Place,
    /// In how many places their signatures agree.
    pub(super) agreement: u32,
    /// One of the constants below.
    pub(super) state: u16,
    /// The round in which this was said.
    pub(super) round: u16,
}

/// They were compared, and resemble each other.
pub(super) const ALIKE: u16 = 0;
/// They were compared, and do not resemble each other enough.
pub(super) const UNLIKE: u16 = 1;
/// They are still to be compared.
pub(super) const PENDING: u16 = 2;
/// The page was not compared with all others of a bucket: there were too many. It names no other
/// page.
pub(super) const CROWDED: u16 = 3;

impl Row for Possible {
    type Key = u32;
    type Rest = (Place, u16, u32, u16);

    fn key(&self) -> u32 {
        self.page.page
    }

    fn rest(&self) -> (Place, u16, u32, u16) {
        (self.of, self.state, self.agreement, self.round)
    }
}

/// Two pages whose resemblance is to be computed. It travels by the page that would be kept, so
/// that those of one neighbourhood are looked at together.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Candidate {
    pub(super) page: Place,
    pub(super) of: Place,
    pub(super) agreement: u32,
    pub(super) round: u32,
}

impl Row for Candidate {
    type Key = u32;
    type Rest = (Place, Place);

    fn key(&self) -> u32 {
        self.of.page
    }

    fn rest(&self) -> (Place, Place) {
        (self.of, self.page)
    }
}

/// Two pages that do.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Edge {
    pub(super) page: Place,
    pub(super) of: Place,
    /// The bits of an `f32`; zero if it was not verified.
    pub(super) resemblance: u32,
    unused: u32,
}

impl Edge {
    pub(super) fn new(page: Place, of: Place, resemblance: f32) -> Edge {
        Edge {
            page,
            of,
            resemblance: resemblance.to_bits(),
            unused: 0,
        }
    }
}

impl Row for Edge {
    type Key = u64;
    type Rest = (Place, u32);

    fn key(&self) -> u64 {
        self.page.key()
    }

    fn rest(&self) -> (Place, u32) {
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
            let [one, other] = [one, other].map(|(rank, page)| Place { rank, page });
            prop_assert_eq!(one.cmp(&other), one.key().cmp(&other.key()));
            prop_assert_eq!(Place::of_key(one.key()), one);
        }
    }
}
