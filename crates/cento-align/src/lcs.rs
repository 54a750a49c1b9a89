//! Words that two stretches have in common in the same order: a longest common subsequence.
//!
//! Words are compared in blocks of 64, as in Hyyrö, "Bit-parallel LCS-length computation
//! revisited": row `i` has a zero bit at each word of `a` where the longest common subsequence with
//! the first `i + 1` words of `b` grows.

/// Computes longest common subsequences; keeps its buffers.
#[derive(Debug, Default)]
pub(crate) struct Lcs {
    /// The distinct words of `a`, ascending.
    forms: Vec<u64>,
    /// For each of them, a bit for each place where it is.
    places: Vec<u64>,
    /// The rows; only the last one if the words are not asked for.
    rows: Vec<u64>,
    /// Blocks looked at since it was made.
    pub(crate) work: u64,
}

impl Lcs {
    /// The number of words that `a` and `b` have in common in the same order.
    pub(crate) fn length(&mut self, a: &[u64], b: &[u64]) -> usize {
        let blocks = self.read(a);
        let mut row = std::mem::take(&mut self.rows);
        row.clear();
        row.resize(blocks, !0);
        for &word in b {
            self.step(word, &mut row);
        }
        let zeros: usize = row.iter().map(|block| block.count_zeros() as usize).sum();
        self.rows = row;
        zeros
    }

    /// The places in `a` and `b` of words that both have in the same order, as many as possible, in
    /// order.
    pub(crate) fn pairs(&mut self, a: &[u64], b: &[u64]) -> Vec<(usize, usize)> {
        let blocks = self.read(a);
        let mut rows = std::mem::take(&mut self.rows);
        rows.clear();
        rows.resize(blocks * (b.len() + 1), !0);
        for (at, &word) in b.iter().enumerate() {
            let (before, row) = rows[at * blocks..].split_at_mut(blocks);
            row[..blocks].copy_from_slice(before);
            self.step(word, &mut row[..blocks]);
        }
        // From the end: where the last row has no zero at a word of `a`, the word is left out;
        // where the row before has one too, the word of `b` is.
        let grows = |row: usize, at: usize| rows[row * blocks + at / 64] >> (at % 64) & 1 == 0;
        let (mut i, mut j) = (a.len(), b.len());
        let mut pairs = Vec::new();
        while i > 0 && j > 0 {
            if !grows(j, i - 1) {
                i -= 1;
            } else if grows(j - 1, i - 1) {
                j -= 1;
            } else {
                (i, j) = (i - 1, j - 1);
                pairs.push((i, j));
            }
        }
        pairs.reverse();
        self.rows = rows;
        pairs
    }

    /// Reads `a`; returns the number of its blocks.
    fn read(&mut self, a: &[u64]) -> usize {
        let blocks = a.len().div_ceil(64);
        self.forms.clear();
        self.forms.extend_from_slice(a);
        self.forms.sort_unstable();
        self.forms.dedup();
        self.places.clear();
        self.places.resize(self.forms.len() * blocks, 0);
        for (at, word) in a.iter().enumerate() {
            let form = self.forms.binary_search(word).unwrap_or_default();
            self.places[form * blocks + at / 64] |= 1 << (at % 64);
        }
        self.work += self.places.len() as u64;
        blocks
    }

    /// The row after one more word of `b`.
    fn step(&mut self, word: u64, row: &mut [u64]) {
        let Ok(form) = self.forms.binary_search(&word) else {
            return;
        };
        let places = &self.places[form * row.len()..];
        let mut carry = false;
        for (block, &places) in row.iter_mut().zip(places) {
            let matched = *block & places;
            let (sum, first) = block.overflowing_add(matched);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            carry = first || second;
            *block = sum | (*block & !places);
        }
        self.work += row.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition.
    fn naive(a: &[u64], b: &[u64]) -> usize {
        let mut lengths = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in 0..a.len() {
            for j in 0..b.len() {
                lengths[i + 1][j + 1] = match a[i] == b[j] {
                    true => lengths[i][j] + 1,
                    false => lengths[i][j + 1].max(lengths[i + 1][j]),
                };
            }
        }
        lengths[a.len()][b.len()]
    }

    proptest! {
        #[test]
        fn the_subsequence_is_common_and_as_long_as_that_of_the_definition(
            a in prop::collection::vec(0u64..6, 0..200),
            b in prop::collection::vec(0u64..6, 0..200),
        ) {
            let mut lcs = Lcs::default();
            let expected = naive(&a, &b);
            prop_assert_eq!(lcs.length(&a, &b), expected);
            let pairs = lcs.pairs(&a, &b);
            prop_assert_eq!(pairs.len(), expected);
            prop_assert!(pairs.iter().all(|&(i, j)| a[i] == b[j]));
            prop_assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
        }
    }
}
