//! Rows for unit tests.

use bytemuck::{Pod, Zeroable};

use crate::row::Row;

/// A row of twelve bytes: a key and a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(crate) struct Pair {
    pub(crate) key: u64,
    pub(crate) rest: u32,
}

impl Row for Pair {
    type Key = u64;
    type Rest = u32;

    fn key(&self) -> u64 {
        self.key
    }

    fn rest(&self) -> u32 {
        self.rest
    }
}
