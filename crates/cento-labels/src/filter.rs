//! A binary fuse filter of all labels, in shards.
//!
//! ```text
//!   for each shard: descriptor (20 bytes), length (4), offset (8) │ fingerprints of all shards
//! ```
//!
//! Building a binary fuse filter needs all keys at once and 26 bytes per key. So the labels are
//! split by their first bits into shards of about half a million, each with a separate filter.
//! Building one takes a few megabytes for any number of labels.

use xorf::{BinaryFuse8, BinaryFuse8Ref, DmaSerializable, Filter as _, FilterRef};

/// The approximate number of labels of a shard.
const SHARD: u64 = 1 << 19;
const ENTRY: usize = 32;
const DESCRIPTOR: usize = BinaryFuse8::DESCRIPTOR_LEN;

/// Returns the binary logarithm of the number of shards for a number of labels.
pub(crate) fn shard_bits(labels: u64) -> u32 {
    let shards = labels.div_ceil(SHARD).max(1);
    shards.next_power_of_two().trailing_zeros().min(20)
}

/// Returns the key of a hash in the filter: its first half.
#[inline]
pub(crate) fn key(hash: &[u8; 16]) -> u64 {
    let half = hash.first_chunk().copied().unwrap_or_default();
    u64::from_be_bytes(half)
}

#[inline]
fn shard_of(key: u64, bits: u32) -> usize {
    key.checked_shr(64 - bits).unwrap_or(0) as usize
}

/// Returns the first bits of a hash.
#[inline]
pub(crate) fn bucket(hash: &[u8; 16], bits: u32) -> u64 {
    shard_of(key(hash), bits) as u64
}

/// Builds the filter from sorted labels.
pub(crate) struct FilterWriter {
    bits: u32,
    shard: usize,
    keys: Vec<u64>,
    entries: Vec<u8>,
    fingerprints: Vec<u8>,
}

impl FilterWriter {
    pub(crate) fn new(bits: u32) -> FilterWriter {
        FilterWriter {
            bits,
            shard: 0,
            keys: Vec::new(),
            entries: Vec::new(),
            fingerprints: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, hash: &[u8; 16]) {
        let key = key(hash);
        while self.shard < shard_of(key, self.bits) {
            self.close();
        }
        if self.keys.last() != Some(&key) {
            self.keys.push(key);
        }
    }

    /// Returns the bytes of the filter.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        while self.shard < 1 << self.bits {
            self.close();
        }
        self.entries.append(&mut self.fingerprints);
        self.entries
    }

    fn close(&mut self) {
        let mut entry = [0; ENTRY];
        // A shard without a filter passes all keys, which is slower but not wrong.
        if let Ok(filter) = BinaryFuse8::try_from(self.keys.as_slice()) {
            let begin = (ENTRY << self.bits) + self.fingerprints.len();
            let prints = filter.dma_fingerprints();
            let (descriptor, place) = entry.split_at_mut(DESCRIPTOR);
            filter.dma_copy_descriptor_to(descriptor);
            let numbers = (prints.len() as u32).to_le_bytes().into_iter();
            let numbers = numbers.chain((begin as u64).to_le_bytes());
            for (byte, number) in place.iter_mut().zip(numbers) {
                *byte = number;
            }
            self.fingerprints.extend(prints);
        }
        self.entries.extend(entry);
        self.keys.clear();
        self.shard += 1;
    }
}

/// Whether the filter may contain a key. Any bytes are a valid filter.
#[inline]
pub(crate) fn may_contain(filter: &[u8], bits: u32, key: u64) -> bool {
    let at = shard_of(key, bits) * ENTRY;
    match shard(filter, at) {
        Some((descriptor, prints)) => BinaryFuse8Ref::from_dma(descriptor, prints).contains(&key),
        None => true,
    }
}

/// Returns the descriptor and the fingerprints of a shard, if all lookups are within their bounds.
#[inline]
fn shard(filter: &[u8], at: usize) -> Option<(&[u8], &[u8])> {
    let entry: &[u8; ENTRY] = filter.get(at..)?.first_chunk()?;
    let number = |at: usize| {
        let bytes = entry.get(at..)?.first_chunk()?;
        Some(u32::from_le_bytes(*bytes))
    };
    let (segment, mask, span) = (number(8)?, number(12)?, number(16)?);
    let length = number(DESCRIPTOR)?;
    let offset = u64::from_le_bytes(*entry.last_chunk()?);
    let fits = segment.is_power_of_two()
        && segment <= 1 << 18
        && mask == segment - 1
        && span > 0
        && span & mask == 0
        && u64::from(span) + 2 * u64::from(segment) == u64::from(length);
    if !fits {
        return None;
    }
    let prints = filter.get(usize::try_from(offset).ok()?..)?;
    Some((entry.get(..DESCRIPTOR)?, prints.get(..length as usize)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filter_of(hashes: &[[u8; 16]], bits: u32) -> Vec<u8> {
        let mut writer = FilterWriter::new(bits);
        hashes.iter().for_each(|hash| writer.push(hash));
        writer.finish()
    }

    fn hash(number: u64) -> [u8; 16] {
        cento_fingerprint::ChunkHash::Blake3.hash128(&number.to_le_bytes())
    }

    proptest! {
        #[test]
        fn all_labels_are_found_with_any_number_of_shards(numbers in proptest::collection::btree_set(0u64..5000, 0..400), bits in 0u32..6) {
            let mut hashes: Vec<[u8; 16]> = numbers.iter().map(|&number| hash(number)).collect();
            hashes.sort_unstable();
            let filter = filter_of(&hashes, bits);
            for hash in &hashes {
                prop_assert!(may_contain(&filter, bits, key(hash)));
            }
        }

        #[test]
        fn lookups_in_any_bytes_do_not_panic(filter in proptest::collection::vec(any::<u8>(), 0..200), bits in 0u32..21, key: u64) {
            may_contain(&filter, bits, key);
        }

        #[test]
        fn lookups_in_a_changed_filter_do_not_panic(at in 0usize..4000, byte: u8) {
            let mut hashes: Vec<[u8; 16]> = (0..1000).map(hash).collect();
            hashes.sort_unstable();
            let mut filter = filter_of(&hashes, 2);
            if let Some(place) = filter.get_mut(at % 200) {
                *place = byte;
            }
            for hash in &hashes {
                may_contain(&filter, 2, key(hash));
            }
        }
    }

    #[test]
    fn labels_with_the_same_first_half_are_one_key() {
        let mut twins = [hash(1), hash(1)];
        twins[1][15] ^= 1;
        twins.sort_unstable();
        let filter = filter_of(&twins, 0);
        assert!(may_contain(&filter, 0, key(&twins[0])));
    }

    #[test]
    fn one_in_256_is_a_false_positive_and_a_label_takes_nine_bits() {
        let mut hashes: Vec<[u8; 16]> = (0..200_000).map(hash).collect();
        hashes.sort_unstable();
        let filter = filter_of(&hashes, 1);
        let bits = filter.len() as f64 * 8.0 / 200_000.0;
        assert!(bits < 9.8, "{bits}");
        let others = 200_000..600_000;
        let false_positives = others.filter(|&number| may_contain(&filter, 1, key(&hash(number))));
        let share = false_positives.count() as f64 / 400_000.0;
        assert!((0.003..0.005).contains(&share), "{share}");
    }
}
