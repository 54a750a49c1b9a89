//! The fitted model: trees over rows of evidence.
//!
//! The trees that score blocks are complete ([`BlockTree`]), so that one is evaluated without
//! branches, and for several blocks at once ([`EvidenceBatch`]). The trees that score the types of
//! pages are oblivious ([`LevelTree`]). All arithmetic uses whole numbers; results are the same on
//! every machine.

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
}

/// Writes a row of a batch.
pub(super) struct BatchRow<'a> {
    columns: &'a mut [[i16; LANES]; 256],
    lane: usize,
    length: u8,
}

impl EvidenceBatch {
    pub(super) fn new() -> Self {
        EvidenceBatch {
            columns: Box::new([[0; LANES]; 256]),
        }
    }

    /// Begins the row `lane`.
    #[inline]
    pub(super) fn row(&mut self, lane: usize) -> BatchRow<'_> {
        BatchRow {
            columns: &mut self.columns,
            lane: lane % LANES,
            length: 0,
        }
    }
}

impl BatchRow<'_> {
    #[inline]
    pub(super) fn push(&mut self, value: i16) {
        self.columns[usize::from(self.length)][self.lane % LANES] = value;
        self.length = self.length.wrapping_add(1);
    }
}

/// An answer for each row of an [`EvidenceBatch`]: no bits or all.
type LaneMask = [i16; LANES];

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
}

/// The comparisons on the way to a leaf of a [`BlockTree`].
const DEPTH: usize = 6;

/// The number of leaves of a [`BlockTree`].
const LEAVES: usize = 1 << DEPTH;

/// A complete binary tree. The root is node 1; the next after node `n` is `2n`, or `2n + 1` if the
/// row has more of the feature than the threshold. After [`DEPTH`] comparisons, the last bits are
/// the number of the leaf. Each node has its own comparison, unlike in a [`LevelTree`]: 120 such
/// trees told blocks of unseen pages apart better than 400 oblivious ones, at about the same cost.
pub(super) struct BlockTree {
    /// The feature and the threshold of each node; node 0 is not used.
    nodes: [(u8, i16); LEAVES],
    /// The mean of the blocks of the fit at each node, for explanations.
    means: [i16; LEAVES],
    /// Log-odds in thousandths.
    leaves: [i16; LEAVES],
}

impl BlockTree {
    /// The node after `node`, given the value of its feature.
    #[inline]
    fn next(&self, node: usize, value: impl FnOnce(u8) -> i16) -> usize {
        let (feature, threshold) = self.nodes[node % LEAVES];
        2 * node + usize::from(value(feature) > threshold)
    }

    /// The value of the leaf after the last comparison.
    #[inline]
    fn leaf(&self, node: usize) -> i16 {
        self.leaves[node % LEAVES]
    }

    /// Which rows of a batch have more of the feature of `node` than its threshold.
    #[inline]
    fn exceeds(&self, node: usize, batch: &EvidenceBatch) -> LaneMask {
        let (feature, threshold) = self.nodes[node % LEAVES];
        let column = &batch.columns[usize::from(feature)];
        let mut mask = [0; LANES];
        for lane in 0..LANES {
            mask[lane] = -i16::from(column[lane] > threshold);
        }
        mask
    }

    /// The node of each row after the first three comparisons. All nodes of these levels are
    /// compared for all rows, because seven vector comparisons cost less than three lookups a row.
    #[inline]
    fn third_level(&self, batch: &EvidenceBatch) -> [i16; LANES] {
        let one = self.exceeds(1, batch);
        let (two, three) = (self.exceeds(2, batch), self.exceeds(3, batch));
        let (four, five) = (self.exceeds(4, batch), self.exceeds(5, batch));
        let (six, seven) = (self.exceeds(6, batch), self.exceeds(7, batch));
        let mut nodes = [0; LANES];
        for lane in 0..LANES {
            let pick = |answer: i16, yes: i16, no: i16| no ^ (answer & (yes ^ no));
            let first = one[lane];
            let second = pick(first, three[lane], two[lane]);
            let left = pick(second, five[lane], four[lane]);
            let right = pick(second, seven[lane], six[lane]);
            let third = pick(first, right, left);
            nodes[lane] = 8 | (first & 4) | (second & 2) | (third & 1);
        }
        nodes
    }

    /// Adds the values of the leaves of the rows of a batch.
    fn add(&self, batch: &EvidenceBatch, scores: &mut [i32; LANES]) {
        /// Rows that the compiler unrolls.
        const STEP: usize = 4;
        let nodes = self.third_level(batch);
        for begin in (0..LANES).step_by(STEP) {
            for lane in begin..begin + STEP {
                let mut node = (nodes[lane] & 15) as usize;
                for _ in 3..DEPTH {
                    node = self.next(node, |feature| batch.columns[usize::from(feature)][lane]);
                }
                scores[lane] += i32::from(self.leaf(node));
            }
        }
    }

    /// The mean of the blocks of the fit at a node, or the value of a leaf.
    fn mean(&self, node: usize) -> i32 {
        let means = if node < LEAVES {
            &self.means
        } else {
            &self.leaves
        };
        i32::from(means[node % LEAVES])
    }
}

/// The trees that score each type of page.
type TypeTree = LevelTree<3, [[i16; PageType::ALL.len()]; 8]>;

static BLOCKS: &[BlockTree] = &block_table::TREES;
static PAGE_TYPES: &[TypeTree] = &type_table::TREES;

/// The scores of the blocks of a batch, in thousandths of log-odds.
pub(super) fn block_scores(batch: &EvidenceBatch) -> [i32; LANES] {
    let mut scores = [0; LANES];
    for tree in BLOCKS {
        tree.add(batch, &mut scores);
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

/// Adds to `shares` what each feature contributed to the score of a block: at each comparison on
/// the way to a leaf, the change of the mean of the blocks of the fit. The contributions and the
/// means at the roots add up to the score.
pub(super) fn contributions(row: &EvidenceRow, shares: &mut [i32; 256]) {
    for tree in BLOCKS {
        let mut node = 1;
        while node < LEAVES {
            let (feature, _) = tree.nodes[node % LEAVES];
            let next = tree.next(node, |feature| row.get(feature));
            shares[usize::from(feature)] += tree.mean(next) - tree.mean(node);
            node = next;
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

    /// Follows the comparisons of each tree, as they are defined.
    fn block_score(row: &EvidenceRow) -> i32 {
        let mut score = 0;
        for tree in BLOCKS {
            let mut node = 1;
            while node < LEAVES {
                let (feature, threshold) = tree.nodes[node];
                node = 2 * node + usize::from(row.get(feature) > threshold);
            }
            score += i32::from(tree.leaves[node - LEAVES]);
        }
        score
    }

    proptest! {
        #[test]
        fn a_batch_scores_each_row_as_if_alone(
            rows in prop::collection::vec(prop::collection::vec(-10_i16..2100, 200), LANES),
        ) {
            let mut batch = EvidenceBatch::new();
            for (lane, values) in rows.iter().enumerate() {
                let mut row = batch.row(lane);
                values.iter().for_each(|&value| row.push(value));
            }
            let alone: Vec<i32> = rows.iter().map(|values| block_score(&row(values))).collect();
            prop_assert_eq!(alone, block_scores(&batch));
        }

        #[test]
        fn contributions_add_up_to_the_score(values in prop::collection::vec(any::<i16>(), 200)) {
            let row = row(&values);
            let mut shares = [0; 256];
            contributions(&row, &mut shares);
            let base: i32 = BLOCKS.iter().map(|tree| tree.mean(1)).sum();
            prop_assert_eq!(base + shares.iter().sum::<i32>(), block_score(&row));
        }
    }
}
