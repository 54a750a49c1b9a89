//! The fingerprints of a page.

use std::collections::VecDeque;
use std::ops::Range;

use cento_fingerprint::{Fingerprint, Scheme, packed_word_hash, word_hash};
use cento_text::words::WordScanner;

use super::sort_hashes::HashSorter;

/// The number of fingerprints from which on repeated ones are removed before all are known.
const REPEATED: usize = 1 << 16;

/// Computes the fingerprints of one text after the other, reusing its memory.
///
/// Memory is 8 bytes per word of the longest text, and up to 16 per distinct fingerprint.
///
/// ```
/// use cento_find::reuse::PageFingerprints;
///
/// let mut fingerprints = PageFingerprints::new("kgram:k=3".parse()?);
/// let one = fingerprints.set_of("the quick brown fox").to_vec();
/// assert_eq!(one.len(), 2);
/// assert_eq!(fingerprints.set_of("The quick brown fox, the quick brown fox?").len(), 4);
/// # Ok::<(), cento_fingerprint::InvalidParameters>(())
/// ```
pub struct PageFingerprints {
    scheme: Scheme,
    scanner: WordScanner,
    words: Vec<u64>,
    set: Vec<u64>,
    sorter: HashSorter,
}

impl PageFingerprints {
    /// Creates empty buffers.
    pub fn new(scheme: Scheme) -> PageFingerprints {
        PageFingerprints {
            scheme,
            scanner: WordScanner::new(),
            words: Vec::new(),
            set: Vec::new(),
            sorter: HashSorter::default(),
        }
    }

    /// Returns the distinct fingerprints of a text, sorted. A text with too few words for the
    /// scheme has none.
    pub fn set_of(&mut self, text: &str) -> &[u64] {
        self.words.clear();
        self.set.clear();
        let words = &mut self.words;
        self.scanner.scan_keys(text, |key| {
            words.push(key.either(packed_word_hash, word_hash));
        });
        let (set, sorter) = (&mut self.set, &mut self.sorter);
        let mut full = REPEATED;
        self.scheme.for_each(&self.words, |fingerprint| {
            set.push(fingerprint.hash);
            // A text that repeats itself has few distinct fingerprints.
            if set.len() >= full {
                sorter.sort_and_dedup(set);
                full = REPEATED.max(2 * set.len());
            }
        });
        sorter.sort_and_dedup(set);
        &self.set
    }

    /// Calls `each` with the fingerprints of a text that are `wanted`, in order of position, and
    /// the bytes of the text that they represent. Only wanted ones take memory.
    pub fn for_each(
        &mut self,
        text: &str,
        mut wanted: impl FnMut(u64) -> bool,
        mut each: impl FnMut(u64, Range<usize>),
    ) {
        self.words.clear();
        let words = &mut self.words;
        self.scanner.scan_keys(text, |key| {
            words.push(key.either(packed_word_hash, word_hash));
        });
        let mut found: Vec<Fingerprint> = Vec::new();
        self.scheme.for_each(&self.words, |fingerprint| {
            if fingerprint.words > 0 && wanted(fingerprint.hash) {
                found.push(fingerprint);
            }
        });
        // A second scan finds the bytes: ranges of all words would take twice the memory of words.
        let mut ahead = found.iter().peekable();
        let mut open: VecDeque<(&Fingerprint, usize)> = VecDeque::new();
        let mut word = 0;
        self.scanner.scan_ranged_keys(text, |range, _| {
            while let Some(next) = ahead.next_if(|next| next.position == word) {
                open.push_back((next, range.start));
            }
            let last = |next: &Fingerprint| next.position + next.words - 1;
            while let Some(&(next, start)) = open.front().filter(|(next, _)| last(next) <= word) {
                open.pop_front();
                each(next.hash, start..range.end);
            }
            word += 1;
        });
    }
}
