//! What the crate promises to find, against a slow oracle.

use super::*;

/// Two texts of a vocabulary: shared stretches of words in any order, perhaps several times, and
/// other words around them.
fn texts_with_shared_runs(seed: u64, vocabulary: u64) -> (String, String) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let words = |length: u64, next: &mut dyn FnMut(u64) -> u64| -> Vec<String> {
        let word = |_| {
            format!(
                "{:x}",
                next(vocabulary).wrapping_mul(0x9e37_79b9) % 0xfff_fffb
            )
        };
        (0..length).map(word).collect()
    };
    let shared: Vec<Vec<String>> = (0..4)
        .map(|_| {
            let length = 8 + next(40);
            words(length, &mut next)
        })
        .collect();
    let mut text = || {
        let mut all = Vec::new();
        for _ in 0..1 + next(5) {
            let filler = match next(3) {
                0 => next(12),
                _ => next(150),
            };
            all.extend(words(filler, &mut next));
            all.extend_from_slice(&shared[next(4) as usize]);
        }
        let filler = next(60);
        all.extend(words(filler, &mut next));
        for word in &mut all {
            if next(12) == 0 {
                word.push('.');
            }
        }
        all.join(" ")
    };
    (text(), text())
}

/// All runs of at least 6 words that cannot be extended, by comparing all pairs of words.
fn maximal_runs(a: &Document<'_>, b: &Document<'_>) -> Vec<(Range<usize>, Range<usize>)> {
    let mut runs = Vec::new();
    let equal = |i: usize, j: usize| {
        let (one, other) = (a.words.get(i), b.words.get(j));
        one.is_some() && one.map(|word| word.form) == other.map(|word| word.form)
    };
    for i in 0..a.words.len() {
        for j in 0..b.words.len() {
            if i > 0 && j > 0 && equal(i - 1, j - 1) {
                continue;
            }
            let length = (0..).take_while(|&at| equal(i + at, j + at)).count();
            if length >= 6 {
                runs.push((i..i + length, j..j + length));
            }
        }
    }
    runs
}

fn contains<T: Ord>(whole: &Range<T>, part: &Range<T>) -> bool {
    whole.start <= part.start && part.end <= whole.end
}

fn check_runs(seed: u64, vocabulary: u64) -> usize {
    const CHARS: usize = 80;
    let (text_a, text_b) = texts_with_shared_runs(seed, vocabulary);
    let (a, b) = (Document::new(&text_a), Document::new(&text_b));
    let settings = AlignSettings {
        minimum_chars: CHARS,
        ..AlignSettings::default()
    };
    let passages = Aligner::new(settings).align(&a, &b);
    let runs = maximal_runs(&a, &b);
    let form = |word: &crate::document::TextWord| word.form;
    let forms = |document: &Document<'_>, words: &Range<usize>| -> Vec<u64> {
        document.words[words.clone()].iter().map(form).collect()
    };
    let mut checked = 0;
    for (words_a, words_b) in &runs {
        let (bytes_a, bytes_b) = (a.bytes_of(words_a), b.bytes_of(words_b));
        let grams = b
            .words
            .windows(6)
            .map(|gram| gram.iter().map(form).collect());
        let grams: Vec<Vec<u64>> = grams.collect();
        let is_rare = forms(&a, words_a)
            .windows(6)
            .any(|gram| grams.iter().filter(|other| *other == gram).count() <= 8);
        // What it has in common with a longer run may be reported as part of that one.
        let is_alone = runs
            .iter()
            .all(|(other, _)| !overlaps(other, words_a) || contains(words_a, other));
        let is_long = words_a.len() >= 12 && bytes_a.len().min(bytes_b.len()) >= CHARS;
        if !(is_long && is_rare && is_alone) {
            continue;
        }
        checked += 1;
        let places = runs.iter().filter(|other| other.0 == *words_a);
        let places: Vec<Range<usize>> = places.map(|other| b.bytes_of(&other.1)).collect();
        let covering = passages.iter().find(|passage| {
            contains(&passage.a, &bytes_a) && places.iter().any(|place| contains(&passage.b, place))
        });
        let covering = covering.unwrap_or_else(|| {
            panic!(
                "{seed}: {words_a:?} {words_b:?} {:?} {passages:#?}\n{runs:?}",
                &text_a[bytes_a.clone()]
            )
        });
        // Nothing else that is shared is near it.
        let around = words_a.start.saturating_sub(100)..words_a.end + 100;
        let is_apart = runs
            .iter()
            .all(|(other, _)| !overlaps(other, &around) || contains(words_a, other));
        if is_apart && (vocabulary > 1000 || covering.kind == PassageKind::Verbatim) {
            assert_eq!(
                (covering.kind, &covering.a),
                (PassageKind::Verbatim, &bytes_a),
                "{seed}: {passages:#?}"
            );
            assert!(places.contains(&covering.b));
        }
    }
    for passage in &passages {
        let words =
            |text: &str| -> Vec<u64> { Document::new(text).words.iter().map(form).collect() };
        let is_equal = words(&text_a[passage.a.clone()]) == words(&text_b[passage.b.clone()]);
        assert!(
            !is_equal || passage.kind == PassageKind::Verbatim,
            "{seed}: {passage:?}"
        );
    }
    for pair in passages.windows(2) {
        assert!(pair[0].a.end <= pair[1].a.start, "{seed}: {passages:#?}");
    }
    checked
}

#[test]
fn every_long_run_that_overlaps_no_longer_one_is_part_of_a_passage() {
    let seeds = match std::env::var_os("CENTO_LONG_TESTS") {
        Some(_) => 5000,
        None => 150,
    };
    for vocabulary in [3, 12, 100, 100_000] {
        let checked: usize = (0..seeds).map(|seed| check_runs(seed, vocabulary)).sum();
        assert!(checked >= 20, "{vocabulary}: {checked}");
    }
}
