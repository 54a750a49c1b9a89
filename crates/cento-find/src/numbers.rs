//! A flow state with one number per page.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::{self, Read, Write};
use std::sync::atomic::AtomicU32;

use bytes::Bytes;
use cento_flow::{StageError, State};
use serde_json::Value;

use crate::page_minima::PageMinima;

/// The number of a page that has not been set.
pub const UNSET: u32 = u32::MAX;
/// One number per page. Setting keeps the smaller of the old and the new number, so the result does
/// not depend on the order of tasks.
pub struct Numbers {
    numbers: PageMinima<AtomicU32>,
}

impl Numbers {
    /// The name of this kind of state in a registry.
    pub const KIND: &str = "numbers";

    /// Sets the number of a page, unless it has a smaller one.
    pub fn set(&self, page: u32, number: u32) {
        self.numbers.set(page, number);
    }

    /// Returns the number of a page, or [`UNSET`].
    #[inline]
    pub fn get(&self, page: u32) -> u32 {
        self.numbers.get(page)
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
        let numbers = PageMinima::dense(pages_of(parameters));
        Ok(Numbers { numbers })
    }

    fn weight(parameters: &Value) -> u64 {
        pages_of(parameters) * size_of::<AtomicU32>() as u64
    }

    fn absorb(&self, other: &mut dyn Read) -> Result<(), StageError> {
        self.numbers.absorb(other)
    }

    fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        self.numbers.write(output)
    }

    fn sparse(parameters: &Value) -> Result<Numbers, StageError> {
        let numbers = PageMinima::sparse(pages_of(parameters));
        Ok(Numbers { numbers })
    }

    const HAS_VIEW: bool = true;

    fn view(parameters: &Value, bytes: Bytes) -> Option<Numbers> {
        let numbers = PageMinima::view(pages_of(parameters), bytes)?;
        Some(Numbers { numbers })
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
