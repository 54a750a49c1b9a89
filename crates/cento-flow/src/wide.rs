//! Records of any length.
//!
//! A record (key, order, value) is split into fragments, which are rows of a fixed width. So
//! everything that works for rows works for records: spilling, groups larger than memory, resuming.
//!
//! ```text
//!   key "example.org", order 7, value "…94 bytes…"
//!     ├─ Fragment { key: blake3(key), order: 7, digest: blake3(key, value), 0, bytes  0.. 80 }
//!     └─ Fragment { key: blake3(key), order: 7, digest: blake3(key, value), 1, bytes 80..105 }
//! ```
//!
//! Sorting brings the fragments of a record together: they differ only in their number, and records
//! that agree in everything are copies of each other. The hashes are cryptographic, so that the
//! authors of pages cannot construct two records whose fragments mix.

use bytemuck::{Pod, Zeroable};

use crate::error::{Error, Result};
use crate::group::{Group, Groups};
use crate::row::Row;
use crate::sink::Emitter;

/// Bytes of a record in one fragment.
const PAYLOAD: usize = 72;

/// A fragment of a record.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Fragment {
    key: [u64; 2],
    digest: [u64; 2],
    order: u64,
    number: u32,
    /// Length of the key, which precedes the value.
    key_length: u32,
    /// Length of key and value together.
    length: u32,
    unused: u32,
    payload: [u8; PAYLOAD],
}

impl Row for Fragment {
    type Key = u128;
    type Rest = (u64, [u64; 2], u32);

    fn key(&self) -> u128 {
        u128::from(self.key[0]) << 64 | u128::from(self.key[1])
    }

    fn rest(&self) -> (u64, [u64; 2], u32) {
        (self.order, self.digest, self.number)
    }
}

fn digest(parts: &[&[u8]]) -> [u64; 2] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let hash = u128::from_be_bytes(
        hasher
            .finalize()
            .as_bytes()
            .first_chunk()
            .copied()
            .unwrap_or_default(),
    );
    [(hash >> 64) as u64, hash as u64]
}

/// Writes records of any length to one shuffle.
pub struct WideEmitter {
    fragments: Emitter<Fragment>,
}

impl WideEmitter {
    pub(crate) fn new(fragments: Emitter<Fragment>) -> WideEmitter {
        WideEmitter { fragments }
    }

    /// Adds a record to the shuffle. A group is sorted by `order`, and records of the same order
    /// are sorted by a hash of their bytes.
    pub fn push(&mut self, key: &[u8], order: u64, value: &[u8]) -> Result<()> {
        self.cut(digest(&[key]), key, order, value)
    }

    /// Adds a record to a shuffle of numbers
    /// ([`Flow::shuffle_of_numbers`](crate::Flow::shuffle_of_numbers)), whose groups are sorted by
    /// number instead of by hash. All records of a shuffle must be numbered, or none.
    pub fn push_numbered(&mut self, number: u64, order: u64, value: &[u8]) -> Result<()> {
        self.cut([0, number], &[], order, value)
    }

    fn cut(&mut self, group: [u64; 2], key: &[u8], order: u64, value: &[u8]) -> Result<()> {
        let too_long = || Error::InvalidFlow("a record is longer than 4 GiB".to_owned());
        let length = u32::try_from(key.len() + value.len()).map_err(|_| too_long())?;
        let mut fragment = Fragment {
            key: group,
            digest: digest(&[key, value]),
            order,
            number: 0,
            key_length: key.len() as u32,
            length,
            unused: 0,
            payload: [0; PAYLOAD],
        };
        let mut filled = 0;
        for bytes in [key, value] {
            let mut bytes = bytes;
            while !bytes.is_empty() {
                let (now, later) = bytes.split_at(bytes.len().min(PAYLOAD - filled));
                if let Some(slot) = fragment.payload.get_mut(filled..filled + now.len()) {
                    slot.copy_from_slice(now);
                }
                filled += now.len();
                bytes = later;
                if filled == PAYLOAD {
                    self.fragments.push(fragment)?;
                    fragment.number += 1;
                    fragment.payload = [0; PAYLOAD];
                    filled = 0;
                }
            }
        }
        if filled > 0 || length == 0 {
            self.fragments.push(fragment)?;
        }
        Ok(())
    }

    pub(crate) fn flush(&mut self) -> Result<()> {
        self.fragments.flush()
    }
}

/// A record of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WideRecord {
    /// The key by which it is grouped; empty if it is numbered.
    pub key: Vec<u8>,
    /// The order within its group.
    pub order: u64,
    /// The value.
    pub value: Vec<u8>,
}

/// The groups of one partition of a shuffle of records, sorted by the hash of the key or by number.
pub struct WideGroups<'g, 'a> {
    groups: &'g mut Groups<'a, Fragment>,
}

/// The records of one key.
pub struct WideGroup<'g, 'a> {
    group: Group<'g, 'a, Fragment>,
    /// The last record, and the number of its copies that were not returned yet.
    copies: Option<(WideRecord, usize)>,
    ahead: Option<Fragment>,
}

impl<'g, 'a> WideGroups<'g, 'a> {
    /// Wraps the groups of fragments of a shuffle.
    pub fn new(groups: &'g mut Groups<'a, Fragment>) -> WideGroups<'g, 'a> {
        WideGroups { groups }
    }

    /// Returns the next group.
    pub fn next_group(&mut self) -> Result<Option<WideGroup<'_, 'a>>> {
        Ok(self.groups.next_group()?.map(|group| WideGroup {
            group,
            copies: None,
            ahead: None,
        }))
    }
}

impl WideGroup<'_, '_> {
    /// The number of its records, as passed to [`WideEmitter::push_numbered`].
    pub fn number(&self) -> u64 {
        self.group.key() as u64
    }
}

impl Iterator for WideGroup<'_, '_> {
    type Item = WideRecord;

    /// Returns the next record. If reading from disk fails, the group ends, and
    /// [`WideGroups::next_group`] returns the error.
    fn next(&mut self) -> Option<WideRecord> {
        if let Some((record, copies)) = &mut self.copies {
            if *copies > 1 {
                *copies -= 1;
                return Some(record.clone());
            }
            self.copies = None;
        }
        let first = self.ahead.take().or_else(|| self.group.next())?;
        let mut bytes = Vec::new();
        let mut copies = 0;
        let mut fragment = first;
        loop {
            // Copies of a record are interleaved: first all fragments of number 0, then all of
            // number 1.
            if fragment.number == 0 {
                copies += 1;
            }
            if bytes.len() == fragment.number as usize * PAYLOAD {
                let left = (fragment.length as usize).saturating_sub(bytes.len());
                bytes.extend(fragment.payload.iter().take(left));
            }
            match self.group.next() {
                Some(next) if (next.order, next.digest) == (first.order, first.digest) => {
                    fragment = next;
                }
                next => {
                    self.ahead = next;
                    break;
                }
            }
        }
        let value = bytes.split_off((first.key_length as usize).min(bytes.len()));
        let record = WideRecord {
            key: bytes,
            order: first.order,
            value,
        };
        self.copies = Some((record.clone(), copies));
        Some(record)
    }
}
