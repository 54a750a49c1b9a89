//! A table of the grams of one page, made again for each page in the same memory.

use std::hash::{BuildHasher, RandomState};

/// Numbers by gram. Grams are spread by a factor that is drawn for each table, so that nobody can
/// write a page whose grams all fall on one place; what it finds does not depend on it.
pub(super) struct GramTable {
    /// The gram of each place; 0 is a free one.
    grams: Vec<u64>,
    numbers: Vec<u32>,
    /// The number of the gram 0.
    zero: Option<u32>,
    factor: u64,
    shift: u32,
}

impl Default for GramTable {
    fn default() -> GramTable {
        GramTable {
            grams: Vec::new(),
            numbers: Vec::new(),
            zero: None,
            factor: RandomState::new().hash_one(0) | 1,
            shift: 63,
        }
    }
}

impl GramTable {
    /// Forgets all grams, and makes room for so many.
    pub(super) fn reset(&mut self, grams: usize) {
        let places = (grams.max(8) * 2).next_power_of_two();
        self.grams.clear();
        self.grams.resize(places, 0);
        if self.numbers.len() < places {
            self.numbers.resize(places, 0);
        }
        self.zero = None;
        self.shift = 64 - places.trailing_zeros();
    }

    /// The place of a gram, or the free one where it belongs. There is always one: the table is
    /// half empty.
    #[inline(always)]
    fn place(&self, gram: u64) -> usize {
        let last = self.grams.len().wrapping_sub(1);
        let mut place = (gram.wrapping_mul(self.factor) >> self.shift) as usize & last;
        while self
            .grams
            .get(place)
            .is_some_and(|&found| found != gram && found != 0)
        {
            place = (place + 1) & last;
        }
        place
    }

    /// Puts a gram in, unless it is. Answers whether it is new.
    #[inline(always)]
    pub(super) fn insert(&mut self, gram: u64, number: u32) -> bool {
        if gram == 0 {
            let new = self.zero.is_none();
            self.zero.get_or_insert(number);
            return new;
        }
        let place = self.place(gram);
        match (self.grams.get_mut(place), self.numbers.get_mut(place)) {
            (Some(slot), Some(value)) if *slot == 0 => {
                (*slot, *value) = (gram, number);
                true
            }
            _ => false,
        }
    }

    /// The number of a gram.
    #[inline(always)]
    pub(super) fn get(&self, gram: u64) -> Option<u32> {
        if gram == 0 {
            return self.zero;
        }
        let place = self.place(gram);
        let found = self.grams.get(place).is_some_and(|&found| found == gram);
        self.numbers.get(place).copied().filter(|_| found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn it_is_a_map(rounds in prop::collection::vec(prop::collection::vec(0u64..50, 0..100), 1..4)) {
            let mut table = GramTable::default();
            for grams in rounds {
                table.reset(grams.len());
                let mut known = HashMap::new();
                for (number, &gram) in grams.iter().enumerate() {
                    let new = !known.contains_key(&gram);
                    known.entry(gram).or_insert(number as u32);
                    prop_assert_eq!(table.insert(gram, number as u32), new);
                }
                for gram in 0..60 {
                    prop_assert_eq!(table.get(gram), known.get(&gram).copied());
                }
            }
        }
    }
}
