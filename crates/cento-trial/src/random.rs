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

/// Makes chunks of new text, which is on no page.
pub(crate) struct NewChunks<'a> {
    recipe: &'a Recipe,
    text: String,
    begin: usize,
}

impl NewChunks<'_> {
    /// The chunks of a key.
    pub(crate) fn new<'a>(recipe: &'a Recipe, key: &[u64]) -> NewChunks<'a> {
        let words: Vec<String> = key.iter().map(u64::to_string).collect();
        let text = format!("a chunk of a cento trial {} ", words.join(" "));
        NewChunks {
            recipe,
            begin: text.len(),
            text,
        }
    }

    /// The hash of one of them.
    pub(crate) fn hash(&mut self, number: u32) -> [u8; 16] {
        self.text.truncate(self.begin);
        self.text.push_str(&number.to_string());
        // The text is in its normal form: normalising it would not change it.
        self.recipe.hash.hash128(self.text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_chunks_are_hashed_like_chunks_of_pages() {
        let recipe = Recipe::default();
        let mut chunks = NewChunks::new(&recipe, &[1, 23]);
        let hash = recipe.chunk_hash("A chunk  of a cento TRIAL 1 23 7");
        assert_eq!(chunks.hash(7), hash);
        assert_ne!(chunks.hash(8), hash);
        assert_eq!(chunks.hash(7), hash);
    }
}
