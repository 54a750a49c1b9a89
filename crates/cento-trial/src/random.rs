//! Random numbers that depend on a key alone, so that tasks can run in any order.

use cento_labels::Recipe;

/// A stream of numbers: SplitMix64.
pub(crate) struct TrialRandom(u64);

impl TrialRandom {
    /// The stream of a key.
    pub(crate) fn new(key: &[u64]) -> TrialRandom {
        TrialRandom(key.iter().fold(0, |state, &part| mix(state ^ mix(part))))
    }

    /// A number below `bound`, or 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        ((u128::from(mix(self.0)) * bound as u128) >> 64) as usize
    }
}

fn mix(value: u64) -> u64 {
    let mut value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Returns the hash of a chunk of new text, which is on no page.
pub(crate) fn new_chunk(recipe: &Recipe, key: &[u64]) -> [u8; 16] {
    let words: Vec<String> = key.iter().map(u64::to_string).collect();
    recipe.chunk_hash(&format!("a chunk of a cento trial: {}", words.join(" ")))
}
