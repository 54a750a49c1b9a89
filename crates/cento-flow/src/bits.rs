//! States that are made of bits: a filter of repeated keys, bitmaps, saturating counters.
//!
//! All of them are arrays of atomic words, which threads write without waiting for each other.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use bytes::Bytes;
use cento_file::vec_in_huge_pages;
use serde_json::Value;

use crate::error::StageError;
use crate::state::State;

/// Words that are read or written at once.
const BATCH: usize = 8192;

/// Returns the number of units of `size` bytes for the parameter `bytes`, rounded up.
fn units(parameters: &Value, size: u64) -> u64 {
    bytes_of(parameters).div_ceil(size).max(1)
}

fn bytes_of(parameters: &Value) -> u64 {
    parameters
        .get("bytes")
        .and_then(Value::as_u64)
        .unwrap_or_default()
}

fn checked_bytes(parameters: &Value) -> Result<u64, StageError> {
    match bytes_of(parameters) {
        0 => Err("the parameter `bytes` is missing".into()),
        bytes => Ok(bytes),
    }
}

/// Words that tasks write to, or a view of serialised ones.
#[derive(Debug)]
enum Words {
    Own(Vec<AtomicU64>),
    View(Bytes),
}

impl Words {
    fn zeros(words: u64) -> Words {
        let mut zeros = vec_in_huge_pages(words as usize);
        zeros.resize_with(words as usize, AtomicU64::default);
        Words::Own(zeros)
    }

    /// Returns a view, if there are this many words.
    fn view(bytes: Bytes, words: u64) -> Option<Words> {
        (bytes.len() as u64 == words * 8).then_some(Words::View(bytes))
    }

    fn len(&self) -> usize {
        match self {
            Words::Own(words) => words.len(),
            Words::View(bytes) => bytes.len() / 8,
        }
    }

    /// The words that can be written to; none of a view.
    #[inline(always)]
    fn own(&self) -> &[AtomicU64] {
        match self {
            Words::Own(words) => words,
            Words::View(_) => &[],
        }
    }

    #[inline(always)]
    fn load(&self, at: usize) -> Option<u64> {
        match self {
            Words::Own(words) => words.get(at).map(|word| word.load(Ordering::Relaxed)),
            Words::View(bytes) => {
                let word = bytes.get(at * 8..at * 8 + 8)?;
                Some(u64::from_le_bytes(word.try_into().ok()?))
            }
        }
    }

    fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        match self {
            Words::Own(words) => write_words(words, output),
            Words::View(bytes) => output.write_all(bytes),
        }
    }
}

fn write_words(words: &[AtomicU64], output: &mut dyn Write) -> io::Result<()> {
    let mut buffer = Vec::with_capacity(BATCH * 8);
    for batch in words.chunks(BATCH) {
        buffer.clear();
        for word in batch {
            buffer.extend_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
        }
        output.write_all(&buffer)?;
    }
    Ok(())
}

/// Reads exactly `words` words. More are an error.
fn read_words(
    input: &mut dyn Read,
    words: usize,
    mut each: impl FnMut(usize, u64),
) -> Result<(), StageError> {
    let mut buffer = vec![0; BATCH * 8];
    let mut at = 0;
    while at < words {
        let bytes = buffer
            .get_mut(..(words - at).min(BATCH) * 8)
            .unwrap_or_default();
        input.read_exact(bytes)?;
        for word in bytes.chunks_exact(8) {
            each(at, u64::from_le_bytes(word.try_into().unwrap_or_default()));
            at += 1;
        }
    }
    if input.read(&mut [0])? != 0 {
        return Err("the saved state has another size".into());
    }
    Ok(())
}

/// Maps a hash to one of `words` words.
#[inline(always)]
fn spread(hash: u64, words: usize) -> usize {
    ((u128::from(hash) * words as u128) >> 64) as usize
}

/// Hashes a key, so that keys need not be hashes.
#[inline(always)]
fn mix(key: u64) -> u64 {
    let key = (key ^ (key >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let key = (key ^ (key >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    key ^ (key >> 32)
}

/// A filter of keys that occur more than once: the *exact prefilter*.
///
/// A first pass over the input calls [`SeenFilter::note`] with every key. A second pass adds only
/// those rows to the shuffle for which [`SeenFilter::seen_again`] is true. A key that was noted
/// twice always passes; nearly all keys that were noted once are dropped. A false positive is a
/// group of one row, which the reduce drops. So the result is the same as without the filter.
///
/// Parameters: `{"bytes": n}`. With 4 bytes for each distinct key, about 1 in 150 keys that occur
/// once pass.
///
/// ```text
///   key ──mix──▶ word ─┬─ once  │ 0100100000010001…   four of 64 bits, set by the first note
///                      └─ again │ 0000100000010001…   set by every later note
/// ```
#[derive(Debug)]
pub struct SeenFilter {
    /// Pairs of words: *once*, *again*. They share a cache line, so that a key costs one miss.
    words: Words,
}

impl SeenFilter {
    #[inline(always)]
    fn find(&self, key: u64) -> (usize, u64) {
        let hash = mix(key);
        let pair = spread(hash, self.words.len() / 2) * 2;
        // The word was chosen by the high bits; these are the low ones.
        let mask = 1 << (hash & 63)
            | 1 << ((hash >> 6) & 63)
            | 1 << ((hash >> 12) & 63)
            | 1 << ((hash >> 18) & 63);
        (pair, mask)
    }

    /// Notes a key.
    #[inline(always)]
    pub fn note(&self, key: u64) {
        let (pair, mask) = self.find(key);
        let Some([once, again]) = self.words.own().get(pair..pair + 2) else {
            return;
        };
        // One atomic operation decides which thread was first, so that two threads with the same
        // key cannot both be.
        if once.load(Ordering::Relaxed) & mask == mask
            || once.fetch_or(mask, Ordering::Relaxed) & mask == mask
        {
            again.fetch_or(mask, Ordering::Relaxed);
        }
    }

    /// Whether the key may have been noted more than once. False is always right.
    #[inline(always)]
    pub fn seen_again(&self, key: u64) -> bool {
        let (pair, mask) = self.find(key);
        let again = self.words.load(pair + 1);
        again.is_none_or(|again| again & mask == mask)
    }
}

impl State for SeenFilter {
    fn create(parameters: &Value) -> Result<SeenFilter, StageError> {
        checked_bytes(parameters)?;
        Ok(SeenFilter {
            words: Words::zeros(units(parameters, 16) * 2),
        })
    }

    fn weight(parameters: &Value) -> u64 {
        units(parameters, 16) * 16
    }

    fn absorb(&self, other: &mut dyn Read) -> Result<(), StageError> {
        let mut other_once = 0;
        read_words(other, self.words.len(), |at, word| {
            if at % 2 == 0 {
                other_once = word;
            } else if let Some([once, again]) = self.words.own().get(at - 1..=at) {
                // A key that is in both was noted twice.
                let both = once.fetch_or(other_once, Ordering::Relaxed) & other_once;
                again.fetch_or(word | both, Ordering::Relaxed);
            }
        })
    }

    fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        self.words.write(output)
    }

    const HAS_VIEW: bool = true;

    fn view(parameters: &Value, bytes: Bytes) -> Option<Self> {
        let words = Words::view(bytes, Self::weight(parameters) / 8)?;
        Some(Self { words })
    }
}

/// A set of small numbers. Parameters: `{"bytes": n}` for numbers below 8 n.
#[derive(Debug)]
pub struct Bitmap {
    words: Words,
}

impl Bitmap {
    /// The number of different numbers; larger ones are taken modulo this.
    pub fn capacity(&self) -> u64 {
        self.words.len() as u64 * 64
    }

    /// Adds a number to the set.
    #[inline(always)]
    pub fn set(&self, number: u64) {
        let number = number % self.capacity();
        if let Some(word) = self.words.own().get((number / 64) as usize) {
            word.fetch_or(1 << (number % 64), Ordering::Relaxed);
        }
    }

    /// Whether a number is in the set.
    #[inline(always)]
    pub fn get(&self, number: u64) -> bool {
        let number = number % self.capacity();
        let word = self.words.load((number / 64) as usize);
        word.is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
}

impl State for Bitmap {
    fn create(parameters: &Value) -> Result<Bitmap, StageError> {
        Ok(Bitmap {
            words: Words::zeros(checked_bytes(parameters)?.div_ceil(8)),
        })
    }

    fn weight(parameters: &Value) -> u64 {
        bytes_of(parameters).div_ceil(8) * 8
    }

    fn absorb(&self, other: &mut dyn Read) -> Result<(), StageError> {
        read_words(other, self.words.len(), |at, word| {
            if let Some(mine) = self.words.own().get(at) {
                mine.fetch_or(word, Ordering::Relaxed);
            }
        })
    }

    fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        self.words.write(output)
    }

    const HAS_VIEW: bool = true;

    fn view(parameters: &Value, bytes: Bytes) -> Option<Self> {
        let words = Words::view(bytes, Self::weight(parameters) / 8)?;
        Some(Self { words })
    }
}

/// Hashed counters that saturate at 255. A counter is never too low, so that a low one proves that
/// a key is rare. Parameters: `{"bytes": n}` for n counters.
#[derive(Debug)]
pub struct Counters {
    counts: Vec<AtomicU8>,
}

impl Counters {
    /// Adds to the counter of a key.
    #[inline(always)]
    pub fn add(&self, key: u64, amount: u8) {
        if let Some(count) = self.counts.get(spread(mix(key), self.counts.len())) {
            raise(count, amount);
        }
    }

    /// Returns the counter of a key: at least the amount that was added for the key, up to 255.
    #[inline(always)]
    pub fn get(&self, key: u64) -> u8 {
        let count = self.counts.get(spread(mix(key), self.counts.len()));
        count.map_or(u8::MAX, |count| count.load(Ordering::Relaxed))
    }
}

fn raise(count: &AtomicU8, amount: u8) {
    let _ = count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
        (count < u8::MAX).then(|| count.saturating_add(amount))
    });
}

impl State for Counters {
    fn create(parameters: &Value) -> Result<Counters, StageError> {
        let bytes = checked_bytes(parameters)?;
        let mut counts = vec_in_huge_pages(bytes as usize);
        counts.resize_with(bytes as usize, AtomicU8::default);
        Ok(Counters { counts })
    }

    fn weight(parameters: &Value) -> u64 {
        bytes_of(parameters)
    }

    fn absorb(&self, other: &mut dyn Read) -> Result<(), StageError> {
        let mut buffer = vec![0; BATCH];
        for batch in self.counts.chunks(BATCH) {
            let bytes = buffer.get_mut(..batch.len()).unwrap_or_default();
            other.read_exact(bytes)?;
            for (count, &byte) in batch.iter().zip(bytes.iter()) {
                raise(count, byte);
            }
        }
        Ok(())
    }

    fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        let mut buffer = Vec::with_capacity(BATCH);
        for batch in self.counts.chunks(BATCH) {
            buffer.clear();
            buffer.extend(batch.iter().map(|count| count.load(Ordering::Relaxed)));
            output.write_all(&buffer)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;
    use std::collections::BTreeMap;

    fn written<S: State>(state: &S) -> Vec<u8> {
        let mut bytes = Vec::new();
        state.write(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_bitmap_distinguishes_all_of_its_numbers() {
        for bytes in 1..100 {
            let parameters = json!({ "bytes": bytes });
            let bitmap = Bitmap::create(&parameters).unwrap();
            bitmap.set(8 * bytes - 1);
            let found = (0..8 * bytes).filter(|&number| bitmap.get(number));
            assert_eq!(found.collect::<Vec<_>>(), [8 * bytes - 1]);
            assert!(Bitmap::weight(&parameters) >= bytes);
        }
    }

    proptest! {
        #[test]
        fn a_key_noted_twice_is_always_seen_again(
            keys in prop::collection::vec(0u64..300, 0..400),
            cut in 0usize..400,
            bytes in 1u64..3000,
        ) {
            let parameters = json!({ "bytes": bytes });
            let whole = SeenFilter::create(&parameters).unwrap();
            keys.iter().for_each(|&key| whole.note(key));
            // Two tasks that each saw a part, merged in either order.
            let (left, right) = keys.split_at(cut.min(keys.len()));
            let halves = [left, right].map(|part| {
                let filter = SeenFilter::create(&parameters).unwrap();
                part.iter().for_each(|&key| filter.note(key));
                filter
            });
            let [first, second] = &halves;
            let (first_bytes, second_bytes) = (written(first), written(second));
            first.absorb(&mut second_bytes.as_slice()).unwrap();
            second.absorb(&mut first_bytes.as_slice()).unwrap();
            let mut counts = BTreeMap::new();
            keys.iter().for_each(|&key| *counts.entry(key).or_insert(0) += 1);
            for (key, count) in counts {
                if count > 1 {
                    prop_assert!(whole.seen_again(key) && first.seen_again(key) && second.seen_again(key));
                }
            }
        }

        #[test]
        fn a_bitmap_of_n_bytes_distinguishes_all_numbers_below_8_n(bytes in 1u64..70, number in 0u64..560, other in 0u64..560) {
            let bitmap = Bitmap::create(&json!({ "bytes": bytes })).unwrap();
            prop_assert!(bitmap.capacity() >= 8 * bytes);
            let (number, other) = (number % (8 * bytes), other % (8 * bytes));
            bitmap.set(number);
            prop_assert_eq!(bitmap.get(other), number == other);
        }

        #[test]
        fn bitmaps_and_counters_have_what_was_added(numbers in prop::collection::vec(0u64..4000, 0..200)) {
            let parameters = json!({ "bytes": 512 });
            let bitmap = Bitmap::create(&parameters).unwrap();
            let counters = Counters::create(&parameters).unwrap();
            for &number in &numbers {
                bitmap.set(number);
                counters.add(number, 1);
            }
            let (copy, twice) = (Bitmap::create(&parameters).unwrap(), Counters::create(&parameters).unwrap());
            copy.absorb(&mut written(&bitmap).as_slice()).unwrap();
            for _ in 0..2 {
                twice.absorb(&mut written(&counters).as_slice()).unwrap();
            }
            for number in 0..4000 {
                let times = numbers.iter().filter(|&&other| other == number).count();
                prop_assert_eq!(copy.get(number), times > 0);
                prop_assert!(usize::from(counters.get(number)) >= times.min(255));
                prop_assert!(usize::from(twice.get(number)) >= (2 * times).min(255));
            }
        }
    }

    #[test]
    fn few_keys_that_occur_once_pass() {
        let keys = 100_000u64;
        let filter = SeenFilter::create(&json!({ "bytes": keys * 4 })).unwrap();
        (0..keys).for_each(|key| filter.note(key));
        let passed = (0..keys).filter(|&key| filter.seen_again(key)).count();
        assert!(passed < keys as usize / 100, "{passed} of {keys}");
    }

    #[test]
    fn a_state_of_another_size_is_refused() {
        let small = Bitmap::create(&json!({ "bytes": 64 })).unwrap();
        let large = Bitmap::create(&json!({ "bytes": 128 })).unwrap();
        assert!(large.absorb(&mut written(&small).as_slice()).is_err());
        assert!(small.absorb(&mut written(&large).as_slice()).is_err());
        assert!(Bitmap::create(&json!({})).is_err());
    }
}
