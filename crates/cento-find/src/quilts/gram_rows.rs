//! The rows of the shuffles of `quilts`.

use bytemuck::{Pod, Zeroable};
use cento_flow::Row;

/// A gram of a page. Twelve bytes, because there is one for every word.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(super) struct GramPage {
    pub(super) gram: u64,
    pub(super) page: u32,
}

impl Row for GramPage {
    type Key = u64;
    type Rest = u32;
    // A gram of one page is no patch gram.
    const ONLY_REPEATED: bool = true;

    fn key(&self) -> u64 {
        self.gram
    }

    fn rest(&self) -> u32 {
        self.page
    }
}

/// How many grams of a page are in a category. Eight bytes, because there are nearly as many as
/// shared grams of pages.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct CategoryCount {
    pub(super) page: u32,
    /// One of the categories below in the highest twelve bits, and the count.
    packed: u32,
}

/// All distinct grams of the page.
pub(super) const GRAMS: u32 = 0;
/// Grams that are also on other pages, on too many to be patch grams.
pub(super) const SHARED: u32 = 1;
/// Grams that are also on other pages, all of them later.
pub(super) const FIRST: u32 = 2;
/// Repetitions of a gram of the page that were counted as [`GRAMS`].
pub(super) const REPEATED: u32 = 3;
/// The first category of patch grams. There is one for each m: the smallest for which they are
/// patch grams.
pub(super) const PATCH: u32 = 4;

impl CategoryCount {
    const BITS: u32 = 20;
    /// The largest count that fits in a row.
    pub(super) const MOST: u32 = (1 << CategoryCount::BITS) - 1;

    pub(super) fn new(page: u32, category: u32, count: u32) -> CategoryCount {
        let packed = category << CategoryCount::BITS | count.min(CategoryCount::MOST);
        CategoryCount { page, packed }
    }

    pub(super) fn category(&self) -> usize {
        (self.packed >> CategoryCount::BITS) as usize
    }

    pub(super) fn count(&self) -> u64 {
        u64::from(self.packed & CategoryCount::MOST)
    }
}

impl Row for CategoryCount {
    type Key = u32;
    type Rest = u32;

    fn key(&self) -> u32 {
        self.page
    }

    fn rest(&self) -> u32 {
        self.packed
    }
}

/// A part of a class of grams: some of its grams, or some of the pages that have all of them. A
/// page that was copied whole is one class with thousands of grams, so few rows are pages.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct ClassPart {
    /// The hash of the list of pages. As with grams, two lists of the same hash are the same.
    class: u64,
    /// The position among the parts of the list; [`ClassPart::GRAMS`] for grams.
    part: u16,
    count: u16,
    values: [u32; 5],
}

impl ClassPart {
    /// The part of a row of grams. A list has fewer parts, because it has at most 65,535 pages.
    const GRAMS: u16 = u16::MAX;
    /// Grams in a row.
    const GRAMS_PER_ROW: usize = 2;

    /// The hash of a list of pages. The same in every process.
    fn class_of(pages: &[u32]) -> u64 {
        let folded = |one: u64, other: u64| {
            let product = u128::from(one) * u128::from(other);
            product as u64 ^ (product >> 64) as u64
        };
        let hash = pages.iter().fold(pages.len() as u64, |hash, &page| {
            folded(
                hash ^ u64::from(page) ^ 0x6498_3001_6cff_3ecb,
                0xd5b8_cd8a_1ad1_e147,
            )
        });
        folded(hash ^ 0xf734_ffa6_0741_8b61, 0x9e37_79b9_7f4a_7c15)
    }

    /// The rows of a class.
    pub(super) fn rows(pages: &[u32], grams: &[u64]) -> impl Iterator<Item = ClassPart> {
        let class = ClassPart::class_of(pages);
        let lists = (0..).zip(pages.chunks(5)).map(move |(part, pages)| {
            let mut values = [0; 5];
            values
                .iter_mut()
                .zip(pages)
                .for_each(|(value, &page)| *value = page);
            ClassPart {
                class,
                part,
                count: pages.len() as u16,
                values,
            }
        });
        let grams = grams.chunks(ClassPart::GRAMS_PER_ROW).map(move |grams| {
            let mut values = [0; 5];
            put_grams(grams, &mut values);
            ClassPart {
                class,
                part: ClassPart::GRAMS,
                count: grams.len() as u16,
                values,
            }
        });
        lists.chain(grams)
    }

    /// Some pages with the position of this part of the list; `None` if these are grams.
    pub(super) fn pages(&self) -> Option<(u16, &[u32])> {
        let pages = self.values.get(..usize::from(self.count));
        pages
            .filter(|_| self.part != ClassPart::GRAMS)
            .map(|pages| (self.part, pages))
    }

    /// The grams of a row that has no pages.
    pub(super) fn grams(&self) -> impl Iterator<Item = u64> {
        grams_in(self.values, usize::from(self.count))
    }
}

/// Writes grams as pairs of numbers.
fn put_grams(grams: &[u64], values: &mut [u32]) {
    for (pair, gram) in values.chunks_exact_mut(2).zip(grams) {
        pair.copy_from_slice(&[*gram as u32, (gram >> 32) as u32]);
    }
}

/// Reads the first grams of pairs of numbers.
fn grams_in<const N: usize>(values: [u32; N], grams: usize) -> impl Iterator<Item = u64> {
    let pair = move |at: usize| {
        let half = |at: usize| values.get(at).copied().map_or(0, u64::from);
        half(2 * at) | half(2 * at + 1) << 32
    };
    (0..grams).map(pair)
}

impl Row for ClassPart {
    type Key = u64;
    // The order of grams within a class does not matter.
    type Rest = u16;

    fn key(&self) -> u64 {
        self.class
    }

    fn rest(&self) -> u16 {
        self.part
    }
}

/// What a page needs for its cover: its counts, a link, or of a class of its grams some other pages
/// that have them or some of the grams.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(super) struct Others {
    pub(super) page: u32,
    /// The smallest m for which they are patch grams; 0 for a row about the page itself.
    pub(super) least_m: u16,
    pub(super) count: u16,
    /// The position among the parts of the list, or among those of the grams and
    /// [`Others::GRAMS`].
    pub(super) part: u32,
    pub(super) class: u64,
    pub(super) values: [u32; 8],
}

impl Others {
    /// The part of the first row of grams.
    pub(super) const GRAMS: u32 = 1 << 31;
    /// Pages in a row.
    pub(super) const PAGES_PER_ROW: usize = 8;
    /// Grams in a row.
    pub(super) const GRAMS_PER_ROW: usize = 4;

    /// A row about the page itself.
    pub(super) fn about(page: u32, part: u32, class: u64, some: [u32; 3]) -> Others {
        let [one, two, three] = some;
        Others {
            page,
            least_m: 0,
            count: 3,
            part,
            class,
            values: [one, two, three, 0, 0, 0, 0, 0],
        }
    }

    /// A row of pages.
    pub(super) fn pages(
        page: u32,
        (least_m, class): (u16, u64),
        part: u32,
        some: &[u32],
    ) -> Others {
        let mut values = [0; 8];
        values
            .iter_mut()
            .zip(some)
            .for_each(|(value, &page)| *value = page);
        Others {
            page,
            least_m,
            count: some.len() as u16,
            part,
            class,
            values,
        }
    }

    /// A row of grams.
    pub(super) fn grams(
        page: u32,
        (least_m, class): (u16, u64),
        part: u32,
        some: &[u64],
    ) -> Others {
        let mut values = [0; 8];
        put_grams(some, &mut values);
        Others {
            page,
            least_m,
            count: some.len() as u16,
            part: Others::GRAMS | part,
            class,
            values,
        }
    }

    /// The grams of a row of grams.
    pub(super) fn grams_of(&self) -> impl Iterator<Item = u64> {
        grams_in(self.values, usize::from(self.count))
    }
}

/// An empty place in the row of a link.
pub(super) const NOBODY: u32 = u32::MAX;

impl Row for Others {
    type Key = u32;
    type Rest = (u16, u64, u32);

    fn key(&self) -> u32 {
        self.page
    }

    // The patch grams for a smaller m precede those that a larger m adds. If there is one m, as in
    // all runs but sweeps, rows arrive in this order, and sorting them only reads them.
    fn rest(&self) -> (u16, u64, u32) {
        (self.least_m, self.class, self.part)
    }
}

/// A page of a server, which is identified by a hash of its name.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct ServerPage {
    pub(super) server: [u64; 2],
    pub(super) page: u32,
    pub(super) unused: u32,
}

impl Row for ServerPage {
    type Key = u128;
    type Rest = u32;

    fn key(&self) -> u128 {
        u128::from(self.server[0]) << 64 | u128::from(self.server[1])
    }

    fn rest(&self) -> u32 {
        self.page
    }
}

/// An end of a link: a page with the hash of its domain or address, or a page that links there.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct LinkEnd {
    hash: [u64; 2],
    /// 0 for the target, which comes first; else the part of the row that the link becomes.
    part: u32,
    pub(super) page: u32,
}

/// The part of a row for a link to an address. The address is identified by its first page.
pub(super) const LINKED_ADDRESS: u16 = u16::MAX - 1;
/// The part of a row for a link to a domain.
pub(super) const LINKED_DOMAIN: u16 = u16::MAX;

impl LinkEnd {
    pub(super) fn target(hash: [u64; 2], page: u32) -> LinkEnd {
        let part = 0;
        LinkEnd { hash, part, page }
    }

    pub(super) fn link(hash: [u64; 2], part: u16, page: u32) -> LinkEnd {
        let part = u32::from(part);
        LinkEnd { hash, part, page }
    }

    pub(super) fn is_target(&self) -> bool {
        self.part == 0
    }

    pub(super) fn part(&self) -> u16 {
        self.part as u16
    }
}

impl Row for LinkEnd {
    type Key = u128;
    type Rest = (u32, u32);

    fn key(&self) -> u128 {
        u128::from(self.hash[0]) << 64 | u128::from(self.hash[1])
    }

    fn rest(&self) -> (u32, u32) {
        (self.part, self.page)
    }
}

/// A position of a patch gram in a quilt, to be found in its source.
#[derive(Clone, Copy)]
pub(super) struct PatchPosition {
    pub(super) source: u32,
    pub(super) quilt: u32,
    /// Which of the quilt's sources it is.
    pub(super) rank: u32,
    /// The number of its first word in the quilt.
    pub(super) position: u32,
    pub(super) gram: u64,
    /// Its bytes in the quilt.
    pub(super) begin: u32,
    pub(super) end: u32,
}

/// Positions in a row of [`PatchPositions`].
const POSITIONS: usize = 6;

/// Consecutive positions with the same source. Most patches are long, and a row for each position
/// would move twice the bytes.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(super) struct PatchPositions {
    source: u32,
    quilt: u32,
    rank: u32,
    /// The first position.
    position: u32,
    count: u32,
    begins: [u32; POSITIONS],
    ends: [u32; POSITIONS],
    grams: [u64; POSITIONS],
}

impl PatchPositions {
    /// Appends the next position of a quilt. Returns the row before it if it is complete. The first
    /// row must be zeroed.
    pub(super) fn add(&mut self, next: &PatchPosition) -> Option<PatchPositions> {
        let at = self.count as usize;
        let follows = (self.source, self.quilt, self.rank) == (next.source, next.quilt, next.rank)
            && self.position.checked_add(self.count) == Some(next.position);
        if at > 0 && !(follows && at < POSITIONS) {
            let complete = std::mem::replace(self, PatchPositions::zeroed());
            self.add(next);
            return Some(complete);
        }
        if at == 0 {
            (self.source, self.quilt) = (next.source, next.quilt);
            (self.rank, self.position) = (next.rank, next.position);
        }
        let (mut begins, mut ends, mut grams) = (self.begins, self.ends, self.grams);
        if let (Some(begin), Some(end), Some(gram)) =
            (begins.get_mut(at), ends.get_mut(at), grams.get_mut(at))
        {
            (*begin, *end, *gram) = (next.begin, next.end, next.gram);
        }
        (self.begins, self.ends, self.grams) = (begins, ends, grams);
        self.count += 1;
        None
    }

    /// Whether it has no position.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Each position.
    pub(super) fn positions(self) -> impl Iterator<Item = PatchPosition> {
        let (begins, ends, grams) = (self.begins, self.ends, self.grams);
        let (source, quilt, rank, first) = (self.source, self.quilt, self.rank, self.position);
        let places = begins.into_iter().zip(ends).zip(grams);
        let positions = places.take(self.count as usize).zip(0..);
        positions.map(move |(((begin, end), gram), at)| PatchPosition {
            source,
            quilt,
            rank,
            position: first + at,
            gram,
            begin,
            end,
        })
    }
}

impl Row for PatchPositions {
    type Key = u32;
    type Rest = (u32, u32);

    fn key(&self) -> u32 {
        self.source
    }

    fn rest(&self) -> (u32, u32) {
        (self.quilt, self.position)
    }
}

/// The quilts and sources that a task counted for one definition.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct SweepTally {
    pub(super) quilts: u64,
    pub(super) sources: u64,
    pub(super) point: u32,
    pub(super) unused: u32,
}

impl Row for SweepTally {
    type Key = u32;
    type Rest = (u64, u64);

    fn key(&self) -> u32 {
        self.point
    }

    fn rest(&self) -> (u64, u64) {
        (self.quilts, self.sources)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_of_positions_have_all_of_them_in_order(
            steps in prop::collection::vec((1u32..3, 0u32..2, any::<u64>()), 0..60),
        ) {
            let mut position = u32::MAX - 100;
            let all: Vec<PatchPosition> = steps
                .into_iter()
                .map(|(step, source, gram)| {
                    position = position.saturating_add(step);
                    let (begin, end) = (position / 2, position / 2 + 9);
                    PatchPosition { source, quilt: 7, rank: source, position, gram, begin, end }
                })
                .collect();
            let mut row = PatchPositions::zeroed();
            let mut rows: Vec<PatchPositions> = all.iter().filter_map(|next| row.add(next)).collect();
            prop_assert_eq!(row.is_empty(), all.is_empty());
            rows.push(row);
            let facts = |row: &PatchPosition| {
                [row.source, row.quilt, row.rank, row.position, row.begin, row.end]
            };
            let found: Vec<_> = rows.iter().flat_map(|row| row.positions()).collect();
            prop_assert!(found.iter().map(facts).eq(all.iter().map(facts)));
            prop_assert!(found.iter().map(|row| row.gram).eq(all.iter().map(|row| row.gram)));
        }

        #[test]
        fn rows_of_a_class_have_its_pages_and_its_grams(
            pages in prop::collection::btree_set(any::<u32>(), 2..20),
            grams in prop::collection::vec(any::<u64>(), 1..20),
        ) {
            let pages: Vec<u32> = pages.into_iter().collect();
            let rows: Vec<ClassPart> = ClassPart::rows(&pages, &grams).collect();
            let lists = rows.iter().filter_map(ClassPart::pages);
            let found: Vec<u32> = lists.flat_map(|(_, some)| some.to_vec()).collect();
            prop_assert_eq!(found, &pages[..]);
            let of_grams = rows.iter().filter(|row| row.pages().is_none());
            prop_assert_eq!(of_grams.flat_map(ClassPart::grams).collect::<Vec<_>>(), grams);
            prop_assert!(rows.is_sorted_by_key(Row::rest));
            prop_assert!(rows.iter().all(|row| row.key() == ClassPart::class_of(&pages)));
            prop_assert!(ClassPart::class_of(&pages[1..]) != ClassPart::class_of(&pages));
        }
    }
}
