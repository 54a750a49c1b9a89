//! The filter in front of the labels: is this hash possibly one of them?
//!
//! ```text
//!   shard 0, 1, 2, …: descriptor (20 bytes), length (4), offset (8) │ fingerprints of shard 0 │ of shard 1 │ …
//! ```
//!
//! A binary fuse filter is made of all of its keys at once, in 26 bytes a key. So the labels are
//! cut by their first bits into shards of half a million or so, and each has a filter of its own:
//! making one takes some megabytes, however many labels there are, and stays in the cache.

use xorf::{BinaryFuse8, BinaryFuse8Ref, DmaSerializable, Filter as _, FilterRef};

/// Labels of a shard, about.
const SHARD: u64 = 1 << 19;
const ENTRY: usize = 32;
const DESCRIPTOR: usize = BinaryFuse8::DESCRIPTOR_LEN;

/// How many shards so many labels are cut into, as a power of two.
pub(crate) fn shard_bits(labels: u64) -> u32 {
    let shards = labels.div_ceil(SHARD).max(1);
    shards.next_power_of_two().trailing_zeros().min(20)
}

/// What the filter knows of a hash: its first half. Two labels that agree in it are one to the
/// filter.
#[inline]
pub(crate) fn key(hash: &[u8; 16]) -> u64 {
    let half = hash.first_chunk().copied().unwrap_or_default();
    u64::from_be_bytes(half)
}

#[inline]
fn shard_of(key: u64, bits: u32) -> usize {
    key.checked_shr(64 - bits).unwrap_or(0) as usize
}

/// The first bits of a hash.
#[inline]
pub(crate) fn bucket(hash: &[u8; 16], bits: u32) -> u64 {
    shard_of(key(hash), bits) as u64
}

/// Makes the filter of labels that come in order.
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

    /// The filter, as it is written.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        while self.shard < 1 << self.bits {
            self.close();
        }
        self.entries.append(&mut self.fingerprints);
        self.entries
    }

    fn close(&mut self) {
        let mut entry = [0; ENTRY];
        // A shard without a filter lets everything through: slower, and not wrong.
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

/// Asks a filter where it lies. Whatever the bytes are, the answer is yes or no.
#[inline]
pub(crate) fn may_contain(filter: &[u8], bits: u32, key: u64) -> bool {
    let at = shard_of(key, bits) * ENTRY;
    match shard(filter, at) {
        Some((descriptor, prints)) => BinaryFuse8Ref::from_dma(descriptor, prints).contains(&key),
        None => true,
    }
}

/// The descriptor and the fingerprints of a shard, if they are such that every question finds its
/// place in them.
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
        fn what_is_in_is_found_however_it_is_sharded(numbers in proptest::collection::btree_set(0u64..5000, 0..400), bits in 0u32..6) {
            let mut hashes: Vec<[u8; 16]> = numbers.iter().map(|&number| hash(number)).collect();
            hashes.sort_unstable();
            let filter = filter_of(&hashes, bits);
            for hash in &hashes {
                prop_assert!(may_contain(&filter, bits, key(hash)));
            }
        }

        #[test]
        fn any_bytes_answer_any_question(filter in proptest::collection::vec(any::<u8>(), 0..200), bits in 0u32..21, key: u64) {
            may_contain(&filter, bits, key);
        }

        #[test]
        fn a_changed_byte_does_no_harm(at in 0usize..4000, byte: u8) {
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
    fn labels_that_agree_in_their_first_half_are_one_to_the_filter() {
        let mut twins = [hash(1), hash(1)];
        twins[1][15] ^= 1;
        twins.sort_unstable();
        let filter = filter_of(&twins, 0);
        assert!(may_contain(&filter, 0, key(&twins[0])));
    }

    #[test]
    fn one_in_256_is_mistaken_and_a_label_takes_nine_bits() {
        let mut hashes: Vec<[u8; 16]> = (0..200_000).map(hash).collect();
        hashes.sort_unstable();
        let filter = filter_of(&hashes, 1);
        let bits = filter.len() as f64 * 8.0 / 200_000.0;
        assert!(bits < 9.8, "{bits}");
        let others = 200_000..600_000;
        let mistaken = others.filter(|&number| may_contain(&filter, 1, key(&hash(number))));
        let share = mistaken.count() as f64 / 400_000.0;
        assert!((0.003..0.005).contains(&share), "{share}");
    }
}
