//! The fitted model: trees over rows of evidence.
//!
//! Trees are oblivious: all nodes of a level compare the same feature with the same threshold. A
//! tree is therefore evaluated without branches, and for several blocks at once
//! ([`EvidenceBatch`]). All arithmetic uses whole numbers; results are the same on every machine.

use super::page_type::PageType;

mod block_table;
mod type_table;

/// The evidence of one row. A feature is a byte, so that no lookup is out of bounds.
pub(super) struct EvidenceRow {
    values: [i16; 256],
    length: u8,
}

impl EvidenceRow {
    pub(super) fn new() -> Self {
        EvidenceRow {
            values: [0; 256],
            length: 0,
        }
    }

    pub(super) fn clear(&mut self) {
        self.length = 0;
    }

    #[inline]
    pub(super) fn push(&mut self, value: i16) {
        self.values[usize::from(self.length)] = value;
        self.length = self.length.wrapping_add(1);
    }

    pub(super) fn as_slice(&self) -> &[i16] {
        self.values
            .get(..usize::from(self.length))
            .unwrap_or_default()
    }

    fn get(&self, feature: u8) -> i16 {
        self.values[usize::from(feature)]
    }
}

/// The number of rows in an [`EvidenceBatch`]: two vector registers of any processor.
pub(super) const LANES: usize = 16;

/// The evidence of several rows, feature by feature, so that a tree reads all rows at once.
pub(super) struct EvidenceBatch {
    columns: Box<[[i16; LANES]; 256]>,
    lane: usize,
    length: u8,
}

impl EvidenceBatch {
    pub(super) fn new() -> Self {
        EvidenceBatch {
            columns: Box::new([[0; LANES]; 256]),
            lane: 0,
            length: 0,
        }
    }

    /// The next values are those of row `lane`.
    pub(super) fn begin_row(&mut self, lane: usize) {
        self.lane = lane % LANES;
        self.length = 0;
    }

    #[inline]
    pub(super) fn push(&mut self, value: i16) {
        self.columns[usize::from(self.length)][self.lane] = value;
        self.length = self.length.wrapping_add(1);
    }
}

/// An oblivious tree. The answers of its levels, whether a row has more than the threshold, are the
/// bits of the number of the leaf; the first level has the lowest bit.
pub(super) struct LevelTree<const DEPTH: usize, Leaves> {
    features: [u8; DEPTH],
    thresholds: [i16; DEPTH],
    /// Log-odds in thousandths.
    leaves: Leaves,
}

impl<const DEPTH: usize, Leaves> LevelTree<DEPTH, Leaves> {
    fn levels(&self) -> impl Iterator<Item = (u8, i16)> {
        self.features.into_iter().zip(self.thresholds)
    }

    /// The number of the leaf of a row.
    fn leaf(&self, row: &EvidenceRow) -> usize {
        let answers = self
            .levels()
            .map(|(feature, threshold)| row.get(feature) > threshold);
        answers.enumerate().fold(0, |leaf, (level, answer)| {
            leaf | usize::from(answer) << level
        })
    }

    /// The numbers of the leaves of the rows of a batch. Not inlined, because the compiler would
    /// evaluate the levels row by row where it sees what the numbers are used for.
    #[inline(never)]
    fn batch_leaves(&self, batch: &EvidenceBatch) -> [u16; LANES] {
        let mut leaves = [0; LANES];
        let mut bit = 1_u16;
        for (feature, threshold) in self.levels() {
            for (leaf, &value) in leaves.iter_mut().zip(&batch.columns[usize::from(feature)]) {
                *leaf |= if value > threshold { bit } else { 0 };
            }
            bit <<= 1;
        }
        leaves
    }
}

/// The trees that score blocks.
pub(super) type BlockTree = LevelTree<6, [i16; 64]>;

/// The trees that score each type of page.
type TypeTree = LevelTree<3, [[i16; PageType::ALL.len()]; 8]>;

static BLOCKS: &[BlockTree] = &block_table::TREES;
static PAGE_TYPES: &[TypeTree] = &type_table::TREES;

/// The scores of the blocks of a batch, in thousandths of log-odds.
pub(super) fn block_scores(batch: &EvidenceBatch) -> [i32; LANES] {
    let mut scores = [0; LANES];
    for tree in BLOCKS {
        let leaves = tree.batch_leaves(batch);
        for (score, leaf) in scores.iter_mut().zip(leaves) {
            *score += i32::from(tree.leaves[usize::from(leaf) % tree.leaves.len()]);
        }
    }
    scores
}

/// The score of each type of a page, in the order of [`PageType::ALL`].
pub(super) fn type_scores(row: &EvidenceRow) -> [i32; PageType::ALL.len()] {
    let mut scores = [0; PageType::ALL.len()];
    for tree in PAGE_TYPES {
        let leaf = tree.leaves.get(tree.leaf(row)).copied().unwrap_or_default();
        for (score, value) in scores.iter_mut().zip(leaf) {
            *score += i32::from(value);
        }
    }
    scores
}

/// Adds to `shares` what each feature contributed to the score of a block: at each level on the way
/// to a leaf, the change of the mean of the leaves that remain. The contributions and the mean of
/// all leaves add up to the score, except for rounding.
pub(super) fn contributions(row: &EvidenceRow, shares: &mut [i32; 256]) {
    for tree in BLOCKS {
        let leaf = tree.leaf(row);
        // The leaves that agree with the answers of the levels so far are `step` apart.
        let mean = |step: usize| -> i32 {
            let remaining = tree.leaves.iter().skip(leaf % step).step_by(step);
            let count = i32::try_from(tree.leaves.len() / step).unwrap_or(1);
            remaining.copied().map(i32::from).sum::<i32>() / count.max(1)
        };
        let mut step = 1;
        let mut before = mean(step);
        for (feature, _) in tree.levels() {
            step *= 2;
            let after = mean(step);
            shares[usize::from(feature)] += after - before;
            before = after;
        }
    }
}

/// A certain event.
pub(super) const CERTAIN: u32 = 1 << 16;

/// The probability of a score in thousandths of log-odds, in units of 1/[`CERTAIN`].
pub(super) fn chance(score: i32) -> u32 {
    let size = usize::try_from(score.unsigned_abs()).unwrap_or(usize::MAX);
    let (step, rest) = (size / STEP, size % STEP);
    let at = |step: usize| LOGISTIC.get(step).copied().unwrap_or(CERTAIN) as usize;
    let value = at(step) + (at(step + 1) - at(step)) * rest / STEP;
    let value = u32::try_from(value).unwrap_or(CERTAIN);
    if score < 0 { CERTAIN - value } else { value }
}

/// The distance of the values of [`LOGISTIC`], in thousandths.
const STEP: usize = 125;

/// The logistic function at 0, 1/8, 2/8 … 10, computed by the compiler.
static LOGISTIC: [u32; 81] = {
    /// e to the power of -1/8.
    const DECAY: f64 = 0.882_496_902_584_595_4;
    let mut values = [0; 81];
    let mut power = 1.0;
    let mut i = 0;
    while i < values.len() {
        values[i] = (CERTAIN as f64 / (1.0 + power)) as u32;
        power *= DECAY;
        i += 1;
    }
    values
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(values: &[i16]) -> EvidenceRow {
        let mut row = EvidenceRow::new();
        values.iter().for_each(|&value| row.push(value));
        row
    }

    #[test]
    fn the_answers_of_the_levels_are_the_bits_of_the_leaf() {
        let tree = LevelTree {
            features: [1, 0],
            thresholds: [5, 0],
            leaves: (),
        };
        assert_eq!(tree.leaf(&row(&[0, 5])), 0);
        assert_eq!(tree.leaf(&row(&[0, 6])), 1);
        assert_eq!(tree.leaf(&row(&[1, 5])), 2);
        assert_eq!(tree.leaf(&row(&[1, 6])), 3);
    }

    #[test]
    fn chances_are_those_of_the_logistic_function() {
        for score in (-12_000..12_000).step_by(37) {
            let exact = 65536.0 / (1.0 + (-f64::from(score) / 1000.0).exp());
            assert!((f64::from(chance(score)) - exact).abs() < 40.0, "{score}");
        }
        assert_eq!(chance(i32::MIN), 0);
        assert_eq!(chance(i32::MAX), CERTAIN);
    }

    fn block_score(row: &EvidenceRow) -> i32 {
        let leaf = |tree: &BlockTree| i32::from(tree.leaves[tree.leaf(row)]);
        BLOCKS.iter().map(leaf).sum()
    }

    proptest! {
        #[test]
        fn a_batch_scores_each_row_as_if_alone(
            rows in prop::collection::vec(prop::collection::vec(-10_i16..2100, 200), LANES),
        ) {
            let mut batch = EvidenceBatch::new();
            for (lane, values) in rows.iter().enumerate() {
                batch.begin_row(lane);
                values.iter().for_each(|&value| batch.push(value));
            }
            let alone: Vec<i32> = rows.iter().map(|values| block_score(&row(values))).collect();
            prop_assert_eq!(alone, block_scores(&batch));
        }

        #[test]
        fn contributions_add_up_to_the_score(values in prop::collection::vec(any::<i16>(), 200)) {
            let row = row(&values);
            let mut shares = [0; 256];
            contributions(&row, &mut shares);
            let base: i32 = BLOCKS.iter().map(|tree| {
                tree.leaves.iter().map(|&leaf| i32::from(leaf)).sum::<i32>() / 64
            }).sum();
            prop_assert_eq!(base + shares.iter().sum::<i32>(), block_score(&row));
        }
    }
}
