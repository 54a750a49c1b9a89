//! Maps by keys that are numbers, most of them hashes of texts.
//!
//! The hasher of the standard library costs more than all else that is done with such a key. This
//! one is a multiplication. It begins with a random number, so that nobody can write a page whose
//! keys meet in one slot. No result depends on it, because no map is iterated.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};

pub(super) type KeyMap<Key, Value> = HashMap<Key, Value, KeyState>;
pub(super) type KeySet<Key> = HashSet<Key, KeyState>;

/// Begins hashers with one random number.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyState(u64);

impl Default for KeyState {
    fn default() -> Self {
        KeyState(RandomState::new().build_hasher().finish())
    }
}

impl BuildHasher for KeyState {
    type Hasher = KeyHasher;

    #[inline]
    fn build_hasher(&self) -> KeyHasher {
        KeyHasher(self.0)
    }
}

/// Multiplies each number to 128 bits and folds the product, so that all bits depend on all.
pub(super) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    #[inline]
    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.0 ^ number) * 0x9E37_79B9_7F4A_7C15;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    #[inline]
    fn write_u8(&mut self, number: u8) {
        self.write_u64(number.into());
    }

    /// The discriminant of an enumeration.
    #[inline]
    fn write_isize(&mut self, number: isize) {
        self.write_u64(number as u64);
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u8(byte));
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_are_alike_are_in_different_slots() {
        let state = KeyState::default();
        for shift in [0, 16, 40] {
            let slot = |number: u64| state.hash_one(number << shift) >> 52;
            let slots: HashSet<u64> = (0..4096).map(slot).collect();
            assert!(slots.len() > 2000, "{shift}: {}", slots.len());
        }
    }
}
