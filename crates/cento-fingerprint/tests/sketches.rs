//! Compares the quality of sketches with that of 84 independent functions, also for short texts and
//! bands.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashSet;

use cento_fingerprint::{Bands, SketchParameters, Sketcher};

const SLOTS: usize = 84;

/// A hash function unrelated to those of the crate.
fn scatter(mut number: u64) -> u64 {
    for factor in [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb] {
        number = (number ^ (number >> 31)).wrapping_mul(factor);
    }
    number ^ (number >> 30)
}

type Minima = Vec<u64>;

/// The method of the paper: one function per slot.
fn independent(grams: &[u64]) -> Minima {
    let slot = |slot: u64| {
        let rank = |gram: &&u64| scatter(**gram ^ scatter(slot + 1));
        *grams.iter().min_by_key(rank).unwrap()
    };
    (0..SLOTS as u64).map(slot).collect()
}

/// One permutation with optimal densification (Shrivastava 2017): an empty slot copies the first
/// full one found by hashing its number.
fn densified(grams: &[u64]) -> Minima {
    let mut slots: Vec<Option<(u64, u64)>> = vec![None; SLOTS];
    for &gram in grams {
        let hash = scatter(gram);
        let slot = &mut slots[(hash % SLOTS as u64) as usize];
        *slot = Some(slot.map_or((hash, gram), |best| best.min((hash, gram))));
    }
    let find = |slot: u64| {
        (0u64..)
            .find_map(|attempt| slots[(scatter(slot << 32 | attempt) % SLOTS as u64) as usize])
            .unwrap()
    };
    (0..SLOTS)
        .map(|slot| slots[slot].unwrap_or_else(|| find(slot as u64 + 1)).1)
        .collect()
}

/// The quality of a method over many pairs of texts.
#[derive(Debug)]
struct Quality {
    mean: f64,
    /// The variance of estimates relative to that of independent functions, r(1 − r) ÷ 84.
    variance: f64,
    /// How often a band of 6 and of 14 agreed, relative to rˢ.
    band_of_6: f64,
    band_of_14: f64,
    /// How often at least one of 14 bands of 6 agreed.
    found: f64,
}

/// Measures a method on texts with `shared` common grams and `union` grams in total.
fn measure(
    union: u64,
    shared: u64,
    trials: u64,
    mut sketch: impl FnMut(&[u64]) -> Minima,
) -> Quality {
    let truth = shared as f64 / union as f64;
    let (mut sum, mut squares) = (0.0, 0.0);
    let (mut of_6, mut of_14, mut found) = (0u32, 0u32, 0u32);
    for trial in 0..trials {
        let gram = |number: u64| scatter(number + 1 + (trial << 20));
        let ours_alone = (union - shared) / 2;
        let ours: Vec<u64> = (0..shared + ours_alone).map(gram).collect();
        let theirs: Vec<u64> = (0..shared)
            .chain(shared + ours_alone..union)
            .map(gram)
            .collect();
        let (ours, theirs) = (sketch(&ours), sketch(&theirs));
        let equal: Vec<bool> = ours
            .iter()
            .zip(&theirs)
            .map(|(one, other)| one == other)
            .collect();
        let estimate = equal.iter().filter(|equal| **equal).count() as f64 / SLOTS as f64;
        sum += estimate;
        squares += (estimate - truth).powi(2);
        let agreeing = |size: usize| {
            equal
                .chunks(size)
                .filter(|band| band.iter().all(|equal| *equal))
                .count() as u32
        };
        of_6 += agreeing(6);
        of_14 += agreeing(14);
        found += u32::from(agreeing(6) > 0);
    }
    let trials = trials as f64;
    Quality {
        mean: sum / trials,
        variance: squares / trials / (truth * (1.0 - truth) / SLOTS as f64),
        band_of_6: f64::from(of_6) / 14.0 / trials / truth.powi(6),
        band_of_14: f64::from(of_14) / 6.0 / trials / truth.powi(14),
        found: f64::from(found) / trials,
    }
}

fn ours() -> impl FnMut(&[u64]) -> Minima {
    let mut sketcher = Sketcher::new(SketchParameters::default());
    move |grams| sketcher.minima(grams).unwrap().to_vec()
}

#[test]
fn sketches_are_as_good_as_independent_functions_for_texts_of_any_length() {
    const TRIALS: u64 = 1_500;
    for (union, shared) in [
        (5, 4),
        (10, 8),
        (10, 5),
        (20, 16),
        (40, 36),
        (40, 20),
        (100, 80),
        (600, 480),
    ] {
        let truth = shared as f64 / union as f64;
        let quality = measure(union, shared, TRIALS, ours());
        println!("{union:>4} grams, resemblance {truth:.2}: {quality:.3?}");
        // Four standard deviations of independent functions.
        let error = 4.0 * (truth * (1.0 - truth) / SLOTS as f64 / TRIALS as f64).sqrt();
        assert!((quality.mean - truth).abs() < error, "biased: {quality:?}");
        assert!(quality.variance < 1.15, "{quality:?}");
        // Bands agree no more often than independent ones, apart from chance, and not much less
        // often.
        assert!((0.85..1.08).contains(&quality.band_of_6), "{quality:?}");
        let expected = Bands::CANDIDATES.probability(truth, 1);
        assert!(
            (quality.found - expected).abs() < 0.04,
            "{expected}: {quality:?}"
        );
    }
}

#[test]
fn megashingles_agree_as_often_as_independent_ones() {
    for (union, shared) in [(20, 19), (60, 57), (200, 190)] {
        let quality = measure(union, shared, 1_500, ours());
        println!("{union:>4} grams: {quality:.3?}");
        assert!((0.85..1.08).contains(&quality.band_of_14), "{quality:?}");
    }
}

#[test]
fn copied_slots_have_a_higher_variance_than_slots_filled_in_rounds() {
    for (union, shared) in [(10, 8), (20, 16), (40, 36), (100, 80)] {
        let theory = measure(union, shared, 400, independent);
        let copied = measure(union, shared, 1_500, densified);
        println!("{union:>4} grams, independent: {theory:.3?}");
        println!("{union:>4} grams, densified:   {copied:.3?}");
        assert!((0.75..1.25).contains(&theory.variance), "{theory:?}");
        // This is why slots are not copied.
        let filled = measure(union, shared, 1_500, ours());
        assert!(
            copied.variance > 1.5 * filled.variance,
            "{copied:?}, {filled:?}"
        );
    }
}

#[test]
fn intervals_cover_the_true_resemblance_and_containment() {
    let parameters = SketchParameters::default();
    let mut sketcher = Sketcher::new(parameters);
    for (alone, shared, other) in [
        (10u64, 30u64, 10u64),
        (5, 5, 90),
        (300, 300, 300),
        (0, 50, 25),
    ] {
        let (mut resembling, mut contained) = (0u32, 0u32);
        const TRIALS: u64 = 600;
        for trial in 0..TRIALS {
            let gram = |number: u64| scatter(number + 1 + (trial << 20));
            let ours: Vec<u64> = (0..alone + shared).map(gram).collect();
            let theirs: Vec<u64> = (alone..alone + shared + other).map(gram).collect();
            let ours = sketcher.sketch_grams(&ours).unwrap();
            let theirs = sketcher.sketch_grams(&theirs).unwrap();
            let (low, high) = ours.resemblance(&theirs).unwrap().interval(0.95);
            let resemblance = shared as f64 / (alone + shared + other) as f64;
            resembling += u32::from((low..=high).contains(&resemblance));
            let (low, high) = ours.containment(&theirs).unwrap().interval(0.95);
            let containment = shared as f64 / (alone + shared) as f64;
            contained += u32::from((low..=high).contains(&containment));
        }
        println!("{alone}+{shared}+{other}: {resembling} and {contained} of {TRIALS}");
        // 95 %, less three standard deviations of 600 trials.
        assert!(
            resembling >= 554 && contained >= 554,
            "{resembling}, {contained}"
        );
    }
}

#[test]
fn a_sketch_of_a_long_text_has_a_different_gram_in_each_slot() {
    let grams: Vec<u64> = (0..100_000).map(scatter).collect();
    let mut sketcher = Sketcher::new(SketchParameters::default());
    let minima = sketcher.minima(&grams).unwrap();
    assert_eq!(minima.iter().collect::<HashSet<_>>().len(), SLOTS);
}
