//! A flow state with one number per page.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU32, Ordering};

use cento_flow::{StageError, State};
use serde_json::Value;

/// The number of a page that has not been set.
pub const UNSET: u32 = u32::MAX;
/// The number of pages that are written or read together.
const BATCH: usize = 1 << 14;

/// One number per page. Setting keeps the smaller of the old and the new number, so the result does
/// not depend on the order of tasks.
pub struct Numbers {
    numbers: Vec<AtomicU32>,
}

impl Numbers {
    /// The name of this kind of state in a registry.
    pub const KIND: &str = "numbers";

    /// Sets the number of a page, unless it has a smaller one.
    pub fn set(&self, page: u32, number: u32) {
        if let Some(slot) = self.numbers.get(page as usize) {
            slot.fetch_min(number, Ordering::Relaxed);
        }
    }

    /// Returns the number of a page, or [`UNSET`].
    #[inline]
    pub fn get(&self, page: u32) -> u32 {
        let slot = self.numbers.get(page as usize);
        slot.map_or(UNSET, |slot| slot.load(Ordering::Relaxed))
    }
}

/// A map from page numbers. They are assigned by us, so that a hash without a secret is safe, and
/// much faster than the default.
pub(crate) type NumberMap<V> = HashMap<u32, V, BuildHasherDefault<NumberHasher>>;

/// The hash of [`NumberMap`].
#[derive(Default)]
pub(crate) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        // Maps use the highest and the lowest bits. Those of a product are the least mixed.
        let product = (self.0 ^ u64::from(number)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = product ^ (product >> 32);
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(u32::from(byte));
        }
    }
}

fn pages_of(parameters: &Value) -> u64 {
    parameters.get("pages").and_then(Value::as_u64).unwrap_or(0)
}

impl State for Numbers {
    fn create(parameters: &Value) -> Result<Numbers, StageError> {
        let numbers = std::iter::repeat_with(|| AtomicU32::new(UNSET));
        Ok(Numbers {
            numbers: numbers.take(pages_of(parameters) as usize).collect(),
        })
    }

    fn weight(parameters: &Value) -> u64 {
        pages_of(parameters) * size_of::<AtomicU32>() as u64
    }

    fn absorb(&self, other: &mut dyn Read) -> Result<(), StageError> {
        let mut bytes = vec![0; BATCH * 4];
        for batch in self.numbers.chunks(BATCH) {
            let bytes = bytes.get_mut(..batch.len() * 4).unwrap_or_default();
            other.read_exact(bytes)?;
            for (slot, number) in batch.iter().zip(bytes.chunks_exact(4)) {
                let number = u32::from_le_bytes(number.try_into().unwrap_or([u8::MAX; 4]));
                slot.fetch_min(number, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(BATCH * 4);
        for batch in self.numbers.chunks(BATCH) {
            bytes.clear();
            for slot in batch {
                bytes.extend(slot.load(Ordering::Relaxed).to_le_bytes());
            }
            output.write_all(&bytes)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_smaller_number_is_kept_in_either_order() {
        let parameters = json!({ "pages": 40_000 });
        let [one, other] = [0, 1].map(|_| Numbers::create(&parameters).unwrap());
        one.set(7, 3);
        one.set(39_999, 8);
        other.set(7, 5);
        other.set(20_000, 1);
        let written = |numbers: &Numbers| {
            let mut bytes = Vec::new();
            numbers.write(&mut bytes).unwrap();
            bytes
        };
        let (left, right) = (written(&one), written(&other));
        one.absorb(&mut right.as_slice()).unwrap();
        other.absorb(&mut left.as_slice()).unwrap();
        assert_eq!(written(&one), written(&other));
        assert_eq!((one.get(7), one.get(20_000), one.get(39_999)), (3, 1, 8));
        assert_eq!((one.get(8), one.get(40_000)), (UNSET, UNSET));
    }
}
