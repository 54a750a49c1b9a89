//! States that are made of bits: a filter of repeated keys, bitmaps, saturating counters.
//!
//! All of them are arrays of atomic words, which threads write without waiting for each other.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use bytes::Bytes;
use cento_file::vec_in_huge_pages;
use serde_json::{Value, json};

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

    /// Loads one word after the other. The loads do not depend on each other, so that the processor
    /// waits for many of them at once. A word beyond the end has all bits.
    #[inline(always)]
    fn load_all(&self, places: impl Iterator<Item = usize>, loaded: &mut [u64]) {
        match self {
            Words::Own(words) => {
                for (word, at) in loaded.iter_mut().zip(places) {
                    let found = words.get(at).map(|word| word.load(Ordering::Relaxed));
                    *word = found.unwrap_or(u64::MAX);
                }
            }
            Words::View(_) => {
                for (word, at) in loaded.iter_mut().zip(places) {
                    *word = self.load(at).unwrap_or(u64::MAX);
                }
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

/// Sets bits of a word that no other thread writes to, and returns what it was. An atomic operation
/// would cost as much as all else that merging does.
#[inline(always)]
fn add_bits(word: &AtomicU64, bits: u64) -> u64 {
    let before = word.load(Ordering::Relaxed);
    word.store(before | bits, Ordering::Relaxed);
    before
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
/// Parameters: `{"bytes": n, "keys": m}` for about m different keys, see
/// [`SeenFilter::parameters`]. With 4 bytes for each distinct key, about 1 in 150 keys that occur
/// once pass; with less than a bit and a half, half of them.
///
/// ```text
///   key ──mix──▶ word ─┬─ once  │ 0100100000010001…   up to four of 64 bits, set by the first note
///                      └─ again │ 0000100000010001…   set by every later note
/// ```
#[derive(Debug)]
pub struct SeenFilter {
    /// Pairs of words: *once*, *again*. They share a cache line, so that a key costs one miss. A
    /// view may have the words *again* alone.
    words: Words,
    /// The number of pairs.
    pairs: usize,
    /// Where the word *again* of a pair is: words from one to the next, and words before the first.
    again: (usize, usize),
    /// Which bits of a hash number the bits of a key. A filter that is small for its keys uses
    /// fewer of them, and the rest of these are equal.
    shifts: [u32; MOST_BITS],
}

/// Keys that are noted or looked up together. A filter is larger than the processor's caches, so
/// that nearly every key waits for memory: together they wait once.
const TOGETHER: usize = 32;

/// How many bits of a word a key has at most.
const MOST_BITS: usize = 4;

/// Returns where the bits of keys are in their hashes: as many bits for each key as make the fewest
/// keys pass that occur once. A filter that is as good as full passes all keys, so that fewer bits
/// are better in a small one.
fn shifts(parameters: &Value) -> [u32; MOST_BITS] {
    let keys = parameters.get("keys").and_then(Value::as_u64).unwrap_or(0);
    // Half of the bits are for the first note.
    let load = keys as f64 / (bytes_of(parameters) as f64 * 4.0);
    let passing = |many: usize| {
        let many = many as f64;
        let all_set = |load: f64| (1.0 - (-many * load).exp()).powf(many);
        // A key passes if the bits of its first note were set already, or if those of its later
        // notes are set by others that did.
        let steps = (0..64).map(|step| all_set(load * (f64::from(step) + 0.5) / 64.0));
        let noted = steps.sum::<f64>() / 64.0;
        1.0 - (1.0 - noted) * (1.0 - all_set(load * noted))
    };
    let best = (1..=MOST_BITS)
        .rev()
        .min_by(|&one, &other| passing(one).total_cmp(&passing(other)))
        .unwrap_or(MOST_BITS);
    std::array::from_fn(|at| 6 * at.min(best - 1) as u32)
}

/// Where the words *again* are in a filter that has both words, and in one that has them alone.
const IN_PAIRS: (usize, usize) = (2, 1);
const ALONE: (usize, usize) = (1, 0);

impl SeenFilter {
    /// Returns the parameters of a filter that notes this many keys: `wanted` bytes for each, but
    /// `most` bytes at most for all. About half of the grams of a crawl occur more than once, so
    /// that half as many different keys are expected.
    pub fn parameters(keys: u64, wanted: u64, most: u64) -> Value {
        let bytes = keys
            .saturating_mul(wanted)
            .clamp(1 << 12, most.max(1 << 12));
        json!({ "bytes": bytes, "keys": keys / 2 })
    }

    #[inline(always)]
    fn find(&self, key: u64) -> (usize, u64) {
        let hash = mix(key);
        let pair = spread(hash, self.pairs);
        // The word was chosen by the high bits; these are the low ones.
        let bits = self.shifts.map(|shift| 1 << ((hash >> shift) & 63));
        (pair, bits.iter().fold(0, |mask, bit| mask | bit))
    }

    /// Finds some keys. There are no more of them than places.
    #[inline(always)]
    fn find_all(&self, keys: &[u64]) -> [(usize, u64); TOGETHER] {
        let mut places = [(0, 0); TOGETHER];
        for (place, &key) in places.iter_mut().zip(keys) {
            *place = self.find(key);
        }
        places
    }

    /// Notes a key.
    #[inline(always)]
    pub fn note(&self, key: u64) {
        let (pair, mask) = self.find(key);
        if let Some(once) = self.words.own().get(2 * pair) {
            self.note_at(pair, mask, once.load(Ordering::Relaxed));
        }
    }

    /// Notes many keys, which is faster than one after the other.
    pub fn note_all(&self, keys: &[u64]) {
        for keys in keys.chunks(TOGETHER) {
            let places = self.find_all(keys);
            let mut once = [0; TOGETHER];
            let pairs = places.iter().map(|&(pair, _)| 2 * pair);
            self.words.load_all(pairs.take(keys.len()), &mut once);
            for (&(pair, mask), once) in places.iter().zip(once).take(keys.len()) {
                self.note_at(pair, mask, once);
            }
        }
    }

    /// Notes a key in its pair of words, of which the first was this lately.
    #[inline(always)]
    fn note_at(&self, pair: usize, mask: u64, lately: u64) {
        let Some([once, again]) = self.words.own().get(2 * pair..2 * pair + 2) else {
            return;
        };
        // One atomic operation decides which thread was first, so that two threads with the same
        // key cannot both be. Bits are never cleared, so that it may be left out if all were set.
        if lately & mask == mask || once.fetch_or(mask, Ordering::Relaxed) & mask == mask {
            again.fetch_or(mask, Ordering::Relaxed);
        }
    }

    /// Returns those of many keys that may have been noted more than once, in their order. This is
    /// faster than to ask for one after the other.
    pub fn repeated<'a>(&'a self, keys: &'a [u64]) -> impl Iterator<Item = u64> + 'a {
        keys.chunks(TOGETHER).flat_map(move |keys| {
            let places = self.find_all(keys);
            let mut again = [0; TOGETHER];
            let (step, first) = self.again;
            let pairs = places.iter().map(|&(pair, _)| pair * step + first);
            self.words.load_all(pairs.take(keys.len()), &mut again);
            let found = places.iter().zip(again).enumerate();
            let bits = found.fold(0u32, |bits, (at, (&(_, mask), again))| {
                bits | u32::from(again & mask == mask) << at
            });
            let keys = keys.iter().enumerate();
            keys.filter(move |(at, _)| bits >> at & 1 == 1)
                .map(|(_, &key)| key)
        })
    }

    /// Whether the key may have been noted more than once. False is always right.
    #[inline(always)]
    pub fn seen_again(&self, key: u64) -> bool {
        let (pair, mask) = self.find(key);
        let (step, first) = self.again;
        let again = self.words.load(pair * step + first);
        again.is_none_or(|again| again & mask == mask)
    }
}

impl State for SeenFilter {
    fn create(parameters: &Value) -> Result<SeenFilter, StageError> {
        checked_bytes(parameters)?;
        let pairs = units(parameters, 16);
        Ok(SeenFilter {
            words: Words::zeros(pairs * 2),
            pairs: pairs as usize,
            again: IN_PAIRS,
            shifts: shifts(parameters),
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
                let both = add_bits(once, other_once) & other_once;
                add_bits(again, word | both);
            }
        })
    }

    fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        self.words.write(output)
    }

    const HAS_VIEW: bool = true;

    fn view(parameters: &Value, bytes: Bytes) -> Option<Self> {
        let pairs = units(parameters, 16);
        let again = match bytes.len() as u64 == pairs * 8 {
            true => ALONE,
            false => IN_PAIRS,
        };
        Some(Self {
            words: Words::view(bytes, pairs * again.0 as u64)?,
            pairs: pairs as usize,
            again,
            shifts: shifts(parameters),
        })
    }

    /// Only the words *again* are read.
    fn write_view(&self, output: &mut dyn Write) -> io::Result<()> {
        let (step, first) = self.again;
        let mut buffer = Vec::with_capacity(BATCH * 8);
        for begin in (0..self.pairs).step_by(BATCH) {
            buffer.clear();
            for pair in begin..self.pairs.min(begin + BATCH) {
                let word = self.words.load(pair * step + first).unwrap_or_default();
                buffer.extend_from_slice(&word.to_le_bytes());
            }
            output.write_all(&buffer)?;
        }
        Ok(())
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
                add_bits(mine, word);
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
            expected in 0u64..10_000,
        ) {
            let parameters = json!({ "bytes": bytes, "keys": expected });
            let whole = SeenFilter::create(&parameters).unwrap();
            keys.iter().for_each(|&key| whole.note(key));
            let together = SeenFilter::create(&parameters).unwrap();
            together.note_all(&keys);
            prop_assert_eq!(written(&together), written(&whole));
            // Two tasks that each saw a part, merged in either order.
            let (left, right) = keys.split_at(cut.min(keys.len()));
            let halves = [left, right].map(|part| {
                let filter = SeenFilter::create(&parameters).unwrap();
                part.iter().for_each(|&key| filter.note(key));
                filter
            });
            let [first, second] = &halves;
            let (first_bytes, second_bytes) = (written(first), written(second));
            for filter in [&whole, first] {
                let mut short = Vec::new();
                filter.write_view(&mut short).unwrap();
                prop_assert_eq!(2 * short.len(), written(filter).len());
                let views = [short, written(filter)].map(|bytes| SeenFilter::view(&parameters, bytes.into()).unwrap());
                let all: Vec<u64> = (0..300).collect();
                for view in views.iter().chain([filter]) {
                    let again = all.iter().copied().filter(|&key| view.seen_again(key));
                    prop_assert_eq!(view.repeated(&all).collect::<Vec<_>>(), again.collect::<Vec<_>>());
                }
                for key in 0..300 {
                    prop_assert!(views.iter().all(|view| view.seen_again(key) == filter.seen_again(key)));
                }
                let mut again = Vec::new();
                views[0].write_view(&mut again).unwrap();
                prop_assert_eq!(views[1].seen_again(7), SeenFilter::view(&parameters, again.into()).unwrap().seen_again(7));
            }
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
    fn a_filter_that_is_small_for_its_keys_has_fewer_bits_for_each() {
        let keys = 200_000u64;
        let passed = |parameters: Value| {
            let filter = SeenFilter::create(&parameters).unwrap();
            (0..keys).for_each(|key| filter.note(key));
            (0..keys).filter(|&key| filter.seen_again(key)).count() as f64 / keys as f64
        };
        // Bytes for 100 keys, the largest share of keys that may pass, and how many more pass if
        // each has four bits.
        for (bytes, most, more) in [(12, 0.88, 0.02), (25, 0.65, 0.0), (400, 0.01, 0.0)] {
            let bytes = bytes * keys / 100;
            let adapted = passed(json!({ "bytes": bytes, "keys": keys }));
            let fixed = passed(json!({ "bytes": bytes }));
            assert!(adapted <= most, "{bytes} bytes: {adapted}");
            assert!(adapted + more <= fixed, "{bytes} bytes: {adapted}, {fixed}");
        }
        let parameters = SeenFilter::parameters(keys, 4, 100_000);
        assert_eq!(parameters, json!({ "bytes": 100_000, "keys": keys / 2 }));
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
