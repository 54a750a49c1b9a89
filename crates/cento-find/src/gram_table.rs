//! Hash tables of the grams of one page, reused from page to page.

use std::hash::{BuildHasher, RandomState};

/// A hash table with linear probing, at most half full. The factor of the hash function is drawn at
/// random for each table, so that nobody can write a page whose grams all collide. Results do not
/// depend on it.
struct GramSlots {
    /// The gram of each slot; 0 if it is free.
    grams: Vec<u64>,
    factor: u64,
    shift: u32,
}

impl Default for GramSlots {
    fn default() -> GramSlots {
        GramSlots {
            grams: Vec::new(),
            factor: RandomState::new().hash_one(0) | 1,
            shift: 63,
        }
    }
}

impl GramSlots {
    /// Removes all grams, and makes space for this many.
    fn reset(&mut self, grams: usize) {
        let slots = (grams.max(8) * 2).next_power_of_two();
        self.grams.clear();
        self.grams.resize(slots, 0);
        self.shift = 64 - slots.trailing_zeros();
    }

    /// The slot of a gram, or the free slot where it belongs. There always is one: the table is at
    /// most half full.
    #[inline(always)]
    fn slot(&self, gram: u64) -> usize {
        let last = self.grams.len().wrapping_sub(1);
        let mut slot = (gram.wrapping_mul(self.factor) >> self.shift) as usize & last;
        while self
            .grams
            .get(slot)
            .is_some_and(|&found| found != gram && found != 0)
        {
            slot = (slot + 1) & last;
        }
        slot
    }
}

/// A set of grams.
#[derive(Default)]
pub(crate) struct GramSet {
    slots: GramSlots,
    has_zero: bool,
}

impl GramSet {
    /// Removes all grams, and makes space for this many.
    pub(crate) fn reset(&mut self, grams: usize) {
        self.slots.reset(grams);
        self.has_zero = false;
    }

    /// Inserts a gram. Returns whether it is new.
    #[inline(always)]
    pub(crate) fn insert(&mut self, gram: u64) -> bool {
        if gram == 0 {
            return !std::mem::replace(&mut self.has_zero, true);
        }
        let slot = self.slots.slot(gram);
        match self.slots.grams.get_mut(slot) {
            Some(known) => std::mem::replace(known, gram) == 0,
            None => false,
        }
    }
}

/// The grams of a page that were seen last. A gram replaces another one in its slot, so that the
/// table fits the first-level caches and needs no branch: most repetitions are found, not all.
#[derive(Default)]
pub(crate) struct RecentGrams {
    slots: Vec<u64>,
    shift: u32,
}

/// The most slots of [`RecentGrams`]: 64 KiB. With four times as many, a third of the repetitions
/// in a long page that are missed would be found, and every gram would take longer.
const MOST_RECENT: usize = 1 << 13;

impl RecentGrams {
    /// Removes all grams, and makes space for this many.
    pub(crate) fn reset(&mut self, grams: usize) {
        let slots = grams.clamp(2, MOST_RECENT).next_power_of_two();
        self.shift = 64 - slots.trailing_zeros();
        self.slots.clear();
        // The highest bits of a gram are the number of its slot. So no gram equals what is in its
        // slot at the beginning: 0, or in the first slot a number with other high bits.
        self.slots.resize(slots, 0);
        if let Some(first) = self.slots.first_mut() {
            *first = u64::MAX;
        }
    }

    /// Inserts a gram. Returns false only if it was inserted before.
    #[inline(always)]
    pub(crate) fn insert(&mut self, gram: u64) -> bool {
        let slot = self.slots.get_mut((gram >> self.shift) as usize);
        slot.is_none_or(|slot| std::mem::replace(slot, gram) != gram)
    }
}

/// A map from grams to numbers.
#[derive(Default)]
pub(crate) struct GramTable {
    slots: GramSlots,
    numbers: Vec<u32>,
    /// The number of the gram 0.
    zero: Option<u32>,
}

impl GramTable {
    /// Removes all grams, and makes space for this many.
    pub(crate) fn reset(&mut self, grams: usize) {
        self.slots.reset(grams);
        if self.numbers.len() < self.slots.grams.len() {
            self.numbers.resize(self.slots.grams.len(), 0);
        }
        self.zero = None;
    }

    /// Inserts a gram if it is new. Returns its number.
    #[inline(always)]
    pub(crate) fn insert(&mut self, gram: u64, number: u32) -> u32 {
        if gram == 0 {
            return *self.zero.get_or_insert(number);
        }
        let slot = self.slots.slot(gram);
        match (self.slots.grams.get_mut(slot), self.numbers.get_mut(slot)) {
            (Some(known), Some(value)) => {
                if std::mem::replace(known, gram) == 0 {
                    *value = number;
                }
                *value
            }
            _ => number,
        }
    }

    /// The number of a gram.
    #[inline(always)]
    pub(crate) fn get(&self, gram: u64) -> Option<u32> {
        if gram == 0 {
            return self.zero;
        }
        let slot = self.slots.slot(gram);
        let found = self.slots.grams.get(slot);
        let found = found.is_some_and(|&found| found == gram);
        self.numbers.get(slot).copied().filter(|_| found)
    }
}

/// A small set of grams that may have others as well. It fits the first-level cache where the table
/// does not, and answers for most grams that are not in the table.
#[derive(Default)]
pub(crate) struct GramFilter {
    bits: Vec<u64>,
    shift: u32,
}

/// Bits for each gram: one of 16 other grams passes.
const FILTER_BITS: usize = 16;

impl GramFilter {
    /// Removes all grams, and makes space for this many.
    pub(crate) fn reset(&mut self, grams: usize) {
        let bits = (grams.max(8) * FILTER_BITS).next_power_of_two();
        self.bits.clear();
        self.bits.resize(bits / 64, 0);
        self.shift = 64 - bits.trailing_zeros();
    }

    /// Adds a gram.
    #[inline(always)]
    pub(crate) fn add(&mut self, gram: u64) {
        // Grams are hashes.
        let bit = gram >> self.shift;
        if let Some(word) = self.bits.get_mut((bit / 64) as usize) {
            *word |= 1 << (bit % 64);
        }
    }

    /// Whether a gram may have been added. False is always right.
    #[inline(always)]
    pub(crate) fn may_have(&self, gram: u64) -> bool {
        let bit = gram >> self.shift;
        let word = self.bits.get((bit / 64) as usize);
        word.is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{HashMap, HashSet};

    proptest! {
        #[test]
        fn a_filter_has_what_was_added(grams in prop::collection::vec(any::<u64>(), 0..100)) {
            let mut filter = GramFilter::default();
            filter.reset(grams.len());
            grams.iter().for_each(|&gram| filter.add(gram));
            prop_assert!(grams.iter().all(|&gram| filter.may_have(gram)));
        }

        #[test]
        fn a_gram_is_recent_only_if_it_was_inserted(
            rounds in prop::collection::vec(
                prop::collection::vec(prop_oneof![0u64..20, any::<u64>(), Just(u64::MAX)], 0..100),
                1..4,
            ),
        ) {
            let mut recent = RecentGrams::default();
            for grams in rounds {
                recent.reset(grams.len());
                let mut known = HashSet::new();
                for &gram in &grams {
                    prop_assert!(recent.insert(gram) || known.contains(&gram));
                    prop_assert!(!recent.insert(gram));
                    known.insert(gram);
                }
            }
        }

        #[test]
        fn it_equals_a_hash_map(rounds in prop::collection::vec(prop::collection::vec(0u64..50, 0..100), 1..4)) {
            let (mut table, mut set) = (GramTable::default(), GramSet::default());
            for grams in rounds {
                table.reset(grams.len());
                set.reset(grams.len());
                let mut known = HashMap::new();
                for (number, &gram) in grams.iter().enumerate() {
                    let new = !known.contains_key(&gram);
                    prop_assert_eq!(set.insert(gram), new);
                    let first = *known.entry(gram).or_insert(number as u32);
                    prop_assert_eq!(table.insert(gram, number as u32), first);
                }
                for gram in 0..60 {
                    prop_assert_eq!(table.get(gram), known.get(&gram).copied());
                }
            }
        }
    }
}
