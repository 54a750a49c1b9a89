//! The fingerprints of a page.

use std::ops::Range;

use cento_fingerprint::{Fingerprint, Scheme, packed_word_hash, word_hash};
use cento_text::words::WordScanner;

/// Computes the fingerprints of one text after the other, reusing its memory.
///
/// Memory is 8 bytes per word of the longest text, and 8 per fingerprint.
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
}

impl PageFingerprints {
    /// Creates empty buffers.
    pub fn new(scheme: Scheme) -> PageFingerprints {
        PageFingerprints {
            scheme,
            scanner: WordScanner::new(),
            words: Vec::new(),
            set: Vec::new(),
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
        let set = &mut self.set;
        self.scheme
            .for_each(&self.words, |fingerprint| set.push(fingerprint.hash));
        self.set.sort_unstable();
        self.set.dedup();
        &self.set
    }

    /// Calls `each` with every fingerprint of a text, in order of position, and the bytes of the
    /// text that it represents.
    pub fn for_each(&mut self, text: &str, mut each: impl FnMut(u64, Range<usize>)) {
        self.words.clear();
        let words = &mut self.words;
        let mut ranges: Vec<Range<usize>> = Vec::new();
        self.scanner.scan_ranged_keys(text, |range, key| {
            words.push(key.either(packed_word_hash, word_hash));
            ranges.push(range);
        });
        self.scheme
            .for_each(&self.words, |fingerprint: Fingerprint| {
                let last = (fingerprint.position + fingerprint.words).saturating_sub(1);
                if let (Some(first), Some(last)) =
                    (ranges.get(fingerprint.position), ranges.get(last))
                {
                    each(fingerprint.hash, first.start..last.end);
                }
            });
    }
}
