//! How long each stage of an analysis takes, for a progress bar that moves evenly.
//!
//! The weights are hundredths of the time of the analysis, measured with `cento scan --explain` on
//! a synthetic crawl of 12,000 pages and on 3,200 Python files of Debian, and rounded between the
//! two. Stages that take less than a hundredth are left out. How long the alignment of passages
//! takes depends most on the corpus: on how many pairs of pages share text. The weight of [`NOTE`]
//! in quilts is from 2 million pages.

/// The stages of an analysis in the order in which they run, each with its weight.
type Stages = &'static [(&'static str, u32)];

const ANALYSES: [(&str, Stages); 5] = [
    (
        "copies",
        &[
            ("same text", 1),
            ("sketch", 58),
            ("spread", 5),
            ("meet", 3),
            ("choose", 1),
            ("verify", 18),
            ("removed pages", 1),
            ("classes", 3),
            ("evidence", 2),
            ("mirrors", 2),
            ("causes", 2),
            ("pairs", 4),
        ],
    ),
    (
        "overlap-servers",
        &[
            ("cut", 5),
            ("spread", 10),
            ("count", 5),
            ("sum", 5),
            ("add up", 5),
            ("name of", 10),
            ("name page", 30),
            ("write", 30),
        ],
    ),
    (
        "passages",
        &[
            ("chunks", 1),
            ("fingerprints", 5),
            ("pair", 1),
            ("align", 88),
            ("name b", 1),
            ("name a", 2),
            ("write", 2),
        ],
    ),
    (
        "quilts",
        &[
            ("facts", 1),
            ("note", 55),
            ("grams", 40),
            ("patch grams", 22),
            ("patchy", 2),
            ("others", 4),
            ("cover", 14),
            ("runs", 12),
            ("sources", 2),
            ("quilts and patches", 3),
        ],
    ),
    (
        "phrases",
        &[
            ("homes", 1),
            ("note", 42),
            ("shingle", 43),
            ("count", 4),
            ("sum", 1),
            ("nominate", 1),
            ("offer", 1),
            ("cover", 2),
            ("words", 2),
            ("phrases", 1),
            ("pages", 2),
        ],
    ),
];

/// Returns whether the stages of an analysis have weights.
pub fn has_weights(analysis: &str) -> bool {
    ANALYSES.iter().any(|(name, _)| *name == analysis)
}

/// The stage that only runs if the rows would not fit in memory.
const NOTE: &str = "note";

/// Returns whether the stage is the one that only some runs of an analysis have.
pub fn is_note(stage: &str) -> bool {
    kind_of(stage) == NOTE
}

/// `grams 5` and `verify (2)` are stages of one kind.
fn kind_of(stage: &str) -> &str {
    stage.trim_end_matches(|c: char| c.is_ascii_digit() || " ()".contains(c))
}

/// Returns the finished share of an analysis, from 0 to 1, while one of its stages has finished
/// this share of its tasks. Nothing for a stage or an analysis without weights. `noted` tells
/// whether this run has the stage of [`is_note`].
pub fn stage_share(analysis: &str, stage: &str, finished: f64, noted: bool) -> Option<f64> {
    let (_, stages) = ANALYSES.iter().find(|(name, _)| *name == analysis)?;
    let at = stages
        .iter()
        .position(|(name, _)| *name == kind_of(stage))?;
    let (before, running) = stages.split_at(at);
    let (_, weight) = running.first()?;
    let sum = |stages: &[(&str, u32)]| {
        let stages = stages.iter().filter(|(name, _)| noted || *name != NOTE);
        stages.map(|(_, weight)| *weight).sum::<u32>()
    };
    let done = f64::from(sum(before)) + f64::from(*weight) * finished.clamp(0.0, 1.0);
    Some(done / f64::from(sum(stages).max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_an_analysis_grows_from_stage_to_stage_up_to_1() {
        for ((analysis, stages), noted) in
            ANALYSES.iter().flat_map(|one| [(one, true), (one, false)])
        {
            let mut before = 0.0;
            for (stage, _) in stages.iter().filter(|(stage, _)| noted || !is_note(stage)) {
                for finished in [0.0, 0.5, 1.0] {
                    let share = stage_share(analysis, stage, finished, noted);
                    assert!(
                        share.is_some_and(|share| share >= before && share <= 1.0),
                        "{analysis} {stage}: {share:?} after {before}"
                    );
                    before = share.unwrap_or(before);
                }
            }
            assert!((before - 1.0).abs() < 1e-9, "{analysis}: {before}");
        }
    }

    #[test]
    fn stages_with_numbers_are_of_one_kind() {
        let share = stage_share("quilts", "grams 5", 0.5, false);
        assert_eq!(share, stage_share("quilts", "grams", 0.5, false));
        assert!(stage_share("quilts", "grams 5", 0.5, true) > share);
        assert!(stage_share("quilts", "note 5", 0.5, true).is_some_and(|share| share > 0.1));
        assert!(stage_share("copies", "verify (2)", 0.0, false).is_some());
        assert_eq!(stage_share("copies", "no such stage", 0.5, false), None);
        assert_eq!(stage_share("sites", "sketch", 0.5, false), None);
    }
}
