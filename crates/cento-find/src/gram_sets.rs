//! The distinct grams of texts.

use cento_fingerprint::grams;
use cento_flow::StageError;

use crate::gram_table::GramSet;
use crate::words::{GramRounds, WordHasher};

/// Computes the sets of grams of texts, one text after the other.
#[derive(Default)]
pub(crate) struct GramSets {
    hasher: WordHasher,
    known: GramSet,
    grams: Vec<u64>,
    rounds: GramRounds,
}

/// The longest text, in bytes, whose grams are computed at once. Those of longer texts are computed
/// in rounds of bounded memory.
pub(crate) const AT_ONCE: usize = 1 << 20;

impl GramSets {
    /// Calls `each` with the distinct grams of a text, some at a time. A text of fewer than `k`
    /// words has no grams.
    pub(crate) fn of(
        &mut self,
        text: &str,
        k: usize,
        mut each: impl FnMut(&[u64]) -> Result<(), StageError>,
    ) -> Result<(), StageError> {
        if text.len() > AT_ONCE {
            return self.rounds.of(text, k, each);
        }
        let words = self.hasher.words(text);
        self.grams.clear();
        self.known.reset(words.len());
        let (known, set) = (&mut self.known, &mut self.grams);
        grams(words, k, |gram, _| {
            if known.insert(gram) {
                set.push(gram);
            }
        });
        each(&self.grams)
    }
}
