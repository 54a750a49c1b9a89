//! Compares sketches with their definition; their quality is measured in `tests/sketches.rs`.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::word_hash;

/// The definition: of all grams in all rounds, the first that falls into the slot, by round and
/// rank.
fn naive(grams: &[u64], count: usize) -> Vec<u64> {
    (0..count)
        .map(|slot| {
            let mut places = Vec::new();
            for &gram in grams {
                let shared = count.div_ceil(4);
                for round in 0..shared {
                    let hash = in_round(gram, round);
                    let product = u128::from(hash) * count as u128;
                    if (product >> 64) as usize == slot {
                        places.push((round, product as u64, gram));
                    }
                }
                places.push((shared + slot, in_round(gram, shared + slot), gram));
            }
            places.into_iter().min().unwrap().2
        })
        .collect()
}

fn parameters(minima: u32) -> SketchParameters {
    SketchParameters { k: 3, minima }
}

fn gram_set() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec((0u64..40).prop_map(|number| finish(number + 1)), 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn minima_agree_with_the_definition(grams in gram_set(), count in 1u32..100) {
        let mut sketcher = Sketcher::new(parameters(count));
        for _ in 0..2 {
            prop_assert_eq!(sketcher.minima(&grams).unwrap(), &naive(&grams, count as usize)[..]);
        }
    }

    #[test]
    fn words_have_the_sketch_of_their_circular_grams(texts in prop::collection::vec(prop::collection::vec(any::<u64>(), 0..400), 1..4), k in 1u32..8) {
        let mut sketcher = Sketcher::new(SketchParameters { k, minima: 24 });
        let mut other = Sketcher::new(SketchParameters { k, minima: 24 });
        for words in texts {
            let mut grams = Vec::new();
            circular_grams(&words, k as usize, |gram| grams.push(gram));
            let expected = other.sketch_grams(&grams);
            prop_assert_eq!(sketcher.sketch(&words), expected);
        }
    }

    #[test]
    fn any_gram_hash_is_accepted(grams in prop::collection::vec(any::<u64>(), 1..8), count in 1u32..20) {
        let mut sketcher = Sketcher::new(parameters(count));
        prop_assert_eq!(sketcher.minima(&grams).unwrap(), &naive(&grams, count as usize)[..]);
    }

    #[test]
    fn order_and_repetitions_do_not_matter(grams in gram_set(), times in 1usize..40) {
        let mut sketcher = Sketcher::new(parameters(24));
        let once = sketcher.sketch_grams(&grams);
        let mut shuffled: Vec<u64> = grams.iter().copied().cycle().take(grams.len() * times).collect();
        shuffled.sort_unstable_by_key(|gram| gram.rotate_left(17));
        prop_assert_eq!(sketcher.sketch_grams(&shuffled), once);
    }

    #[test]
    fn the_union_of_sketches_is_the_sketch_of_the_union(ours in gram_set(), theirs in gram_set(), count in 1u32..100) {
        let mut sketcher = Sketcher::new(parameters(count));
        let one = sketcher.sketch_grams(&ours).unwrap();
        let other = sketcher.sketch_grams(&theirs).unwrap();
        let both = sketcher.sketch_grams(&[ours, theirs].concat()).unwrap();
        prop_assert_eq!(one.union(&other).unwrap(), both);
    }

    #[test]
    fn a_contained_text_is_contained(grams in gram_set(), more in gram_set()) {
        let mut sketcher = Sketcher::new(parameters(84));
        let part = sketcher.sketch_grams(&grams).unwrap();
        let whole = sketcher.sketch_grams(&[&grams[..], &more[..]].concat()).unwrap();
        let estimate = part.containment(&whole).unwrap();
        prop_assert_eq!(estimate.matches, estimate.trials);
        let resemblance = part.resemblance(&whole).unwrap();
        let distinct: BTreeSet<u64> = grams.iter().chain(&more).copied().collect();
        let truth = grams.iter().collect::<BTreeSet<_>>().len() as f64 / distinct.len() as f64;
        let (low, high) = resemblance.interval(1.0 - 1e-7);
        prop_assert!((low..=high).contains(&truth));
    }
}

#[test]
fn the_gram_is_found_from_its_slot_and_rank() {
    for count in [1, 2, 3, 7, 64, 84, 96, 128, 65_535] {
        let inverse = Inverse::of(count);
        for number in 0..1_000 {
            let gram = finish(number);
            let (slot, rank) = fall(gram, count);
            assert_eq!(inverse.gram(slot, rank), gram);
        }
    }
}

#[test]
fn sketches_never_change() {
    let words: Vec<u64> = "it was the best of times it was the worst of times"
        .split(' ')
        .map(word_hash)
        .collect();
    let sketch = Sketcher::new(SketchParameters::default())
        .sketch(&words)
        .unwrap();
    let sum = sketch
        .minima()
        .iter()
        .fold(0u64, |sum, &minimum| sum.rotate_left(5) ^ minimum);
    assert_eq!(sum, 3_725_861_463_656_231_934);
    let keys: Vec<u64> = sketch.bands(crate::Bands::MEGASHINGLES).unwrap().collect();
    assert_eq!(keys[0], 8_622_025_570_583_635_337);
}

#[test]
fn parameters_out_of_range_are_clamped() {
    for size in [0, u32::MAX] {
        let parameters = SketchParameters {
            k: size,
            minima: size,
        };
        let sketch = Sketcher::new(parameters).sketch(&[1, 2, 3]).unwrap();
        assert_eq!(sketch.minima().len(), if size == 0 { 1 } else { 65_535 });
    }
}

#[test]
fn a_text_of_one_word_has_a_sketch_and_an_empty_text_does_not() {
    let mut sketcher = Sketcher::new(SketchParameters::default());
    assert_eq!(sketcher.sketch(&[]), None);
    let sketch = sketcher.sketch(&[7]).unwrap();
    assert!(
        sketch
            .minima()
            .iter()
            .all(|&minimum| minimum == sketch.minima()[0])
    );
}

#[test]
fn a_repetitive_text_costs_no_more_than_others() {
    let mut sketcher = Sketcher::new(SketchParameters::default());
    let begin = std::time::Instant::now();
    let grams = vec![7; 2_000_000];
    for _ in 0..5 {
        assert!(sketcher.minima(&grams).is_some());
    }
    // Without removing repetitions this would be a hundred times as much work.
    assert!(begin.elapsed().as_secs() < 20);
}

#[test]
fn incompatible_and_corrupted_sketches_are_refused() {
    let ours = Sketcher::new(SketchParameters::default())
        .sketch(&[1, 2, 3])
        .unwrap();
    let theirs = Sketcher::new(parameters(84)).sketch(&[1, 2, 3]).unwrap();
    assert_eq!(
        ours.resemblance(&theirs).unwrap_err().to_string(),
        "cannot compare fingerprints of minima:k=5,m=84 with fingerprints of minima:k=3,m=84"
    );
    assert!(ours.containment(&theirs).is_err() && ours.union(&theirs).is_err());
    let json = serde_json::to_string(&ours).unwrap();
    assert_eq!(serde_json::from_str::<Sketch>(&json).unwrap(), ours);
    let damaged = json.replace("m=84", "m=85");
    assert!(serde_json::from_str::<Sketch>(&damaged).is_err());
}

#[test]
fn parameters_round_trip_and_invalid_ones_are_refused() {
    for given in ["minima:k=5,m=84", "minima:k=1,m=128"] {
        assert_eq!(
            given.parse::<SketchParameters>().unwrap().to_string(),
            given
        );
    }
    assert_eq!("minima".parse(), Ok(SketchParameters::default()));
    for wrong in [
        "",
        "winnow:k=5",
        "minima:k=0",
        "minima:m=65536",
        "minima:w=3",
        "minima:k=5,k=5",
        "minima:k",
    ] {
        assert!(wrong.parse::<SketchParameters>().is_err(), "{wrong}");
    }
}
