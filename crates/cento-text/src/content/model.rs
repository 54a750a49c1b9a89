//! The fitted model: trees over rows of evidence.
//!
//! Trees are complete and have a fixed depth, so that they are evaluated without branches. All
//! arithmetic uses whole numbers; results are the same on every machine.

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

/// A complete tree with `LEAVES` leaves, a power of two. The root is node 1, the children of node
/// *n* are 2*n* and 2*n* + 1, and entry 0 is not used.
pub(super) struct DecisionTree<const LEAVES: usize> {
    /// The feature that each inner node compares.
    features: [u8; LEAVES],
    /// A row with a greater value goes to the right.
    thresholds: [i16; LEAVES],
    /// Log-odds in thousandths.
    leaves: [i16; LEAVES],
}

impl<const LEAVES: usize> DecisionTree<LEAVES> {
    /// The mask keeps indices in bounds where the compiler cannot see that they are.
    const MASK: usize = LEAVES - 1;

    #[inline]
    fn goes_right(&self, node: usize, row: &EvidenceRow) -> bool {
        row.get(self.features[node & Self::MASK]) > self.thresholds[node & Self::MASK]
    }

    #[inline]
    fn value(&self, row: &EvidenceRow) -> i32 {
        let mut node = 1;
        for _ in 0..LEAVES.ilog2() {
            node = 2 * node + usize::from(self.goes_right(node, row));
        }
        self.leaves[node & Self::MASK].into()
    }
}

/// A sum of trees.
pub(super) struct TreeSum<const LEAVES: usize>(&'static [DecisionTree<LEAVES>]);

/// Scores blocks.
pub(super) static BLOCKS: TreeSum<16> = TreeSum(&block_table::TREES);

/// Scores the types of pages: the trees of all types take turns.
pub(super) static PAGE_TYPES: TreeSum<8> = TreeSum(&type_table::TREES);

impl<const LEAVES: usize> TreeSum<LEAVES> {
    /// The sum of the trees for a row, in thousandths.
    pub(super) fn score(&self, row: &EvidenceRow) -> i32 {
        self.0.iter().map(|tree| tree.value(row)).sum()
    }

    /// Adds the scores of `scores.len()` classes whose trees take turns.
    pub(super) fn score_classes(&self, row: &EvidenceRow, scores: &mut [i32]) {
        let classes = scores.len().max(1);
        for turn in self.0.chunks(classes) {
            for (score, tree) in scores.iter_mut().zip(turn) {
                *score += tree.value(row);
            }
        }
    }

    /// Adds to `shares` what each feature contributed to the score of a row: at each node on the
    /// way to a leaf, the change of the mean of the leaves below. The contributions and the mean of
    /// all leaves add up to the score, except for rounding.
    pub(super) fn contributions(&self, row: &EvidenceRow, shares: &mut [i32; 256]) {
        for tree in self.0 {
            let mut node = 1;
            let (mut low, mut high) = (0, LEAVES);
            let mean = |low: usize, high: usize| -> i32 {
                let below = tree.leaves.get(low..high).unwrap_or_default();
                let sum: i32 = below.iter().map(|&leaf| i32::from(leaf)).sum();
                sum / i32::try_from(below.len().max(1)).unwrap_or(1)
            };
            let mut before = mean(low, high);
            while node < LEAVES {
                let right = tree.goes_right(node, row);
                let middle = low.midpoint(high);
                if right {
                    low = middle;
                } else {
                    high = middle;
                }
                let after = mean(low, high);
                shares[usize::from(tree.features[node & DecisionTree::<LEAVES>::MASK])] +=
                    after - before;
                before = after;
                node = 2 * node + usize::from(right);
            }
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

    static SMALL: TreeSum<4> = TreeSum(&[
        DecisionTree {
            features: [0, 1, 0, 0],
            thresholds: [0, 5, 0, 10],
            leaves: [1, 2, 3, 4],
        },
        DecisionTree {
            features: [0, 0, 0, 1],
            thresholds: [0, 3, 3, 3],
            leaves: [100, 200, 300, 400],
        },
    ]);

    fn row(values: &[i16]) -> EvidenceRow {
        let mut row = EvidenceRow::new();
        values.iter().for_each(|&value| row.push(value));
        row
    }

    #[test]
    fn a_row_follows_the_thresholds() {
        // First tree: feature 1 is at most 5, then feature 0 is above 0. Second tree: 4 > 3 on
        // feature 0, then feature 1 is at most 3.
        assert_eq!(SMALL.score(&row(&[4, 2])), 2 + 300);
        assert_eq!(SMALL.score(&row(&[11, 6])), 4 + 400);
        let mut classes = [0; 2];
        SMALL.score_classes(&row(&[4, 2]), &mut classes);
        assert_eq!(classes, [2, 300]);
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

    proptest! {
        #[test]
        fn contributions_add_up_to_the_score(values in prop::collection::vec(any::<i16>(), 200)) {
            let row = row(&values);
            let mut shares = [0; 256];
            BLOCKS.contributions(&row, &mut shares);
            let base: i32 = BLOCKS.0.iter().map(|tree| {
                tree.leaves.iter().map(|&leaf| i32::from(leaf)).sum::<i32>() / 16
            }).sum();
            prop_assert_eq!(base + shares.iter().sum::<i32>(), BLOCKS.score(&row));
        }
    }
}
