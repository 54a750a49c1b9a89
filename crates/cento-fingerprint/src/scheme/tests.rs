//! Compares each scheme with its definition in the paper; parameters as text.

use proptest::prelude::*;

use super::*;
use crate::word_hash;

fn text() -> impl Strategy<Value = Vec<u64>> {
    let word = prop_oneof![
        3 => (0u32..12).prop_map(|word| word_hash(&word.to_string())),
        1 => any::<u64>(),
    ];
    prop::collection::vec(word, 0..70)
}

fn found(scheme: Scheme, words: &[u64]) -> Vec<(u64, usize, usize)> {
    let prints = scheme.fingerprints(words);
    assert_eq!(prints.scheme(), scheme);
    prints
        .list()
        .iter()
        .map(|print| (print.hash, print.position, print.words))
        .collect()
}

proptest! {
    #[test]
    fn kgram_keeps_every_gram(words in text(), k in 1u32..6) {
        let expected: Vec<_> = words
            .windows(k as usize)
            .enumerate()
            .map(|(position, gram)| (run_hash(gram), position, k as usize))
            .collect();
        prop_assert_eq!(found(Scheme::KGram { k }, &words), expected);
    }

    #[test]
    fn mod_keeps_the_grams_with_a_hash_divisible_by_p(words in text(), k in 1u32..6, p in 1u32..8) {
        let expected: Vec<_> = found(Scheme::KGram { k }, &words)
            .into_iter()
            .filter(|(hash, _, _)| hash % u64::from(p) == 0)
            .collect();
        prop_assert_eq!(found(Scheme::Mod { k, p }, &words), expected);
    }

    #[test]
    fn winnow_keeps_grams_at_their_positions(words in text(), k in 1u32..6, w in 1u32..9) {
        let all = found(Scheme::KGram { k }, &words);
        let kept = found(Scheme::Winnow { k, w }, &words);
        prop_assert!(kept.iter().all(|print| all.contains(print)));
        prop_assert_eq!(kept.is_empty(), all.is_empty());
        prop_assert!(w > 1 || kept == all);
    }

    #[test]
    fn break_hashes_the_words_between_breakpoints(words in text(), p in 1u32..8) {
        // Equation 6, breakpoint by breakpoint.
        let breakpoints = (0..words.len())
            .filter(|&index| words[index] % u64::from(p) == 0 || index + 1 == words.len());
        let mut previous = None;
        let mut expected = Vec::new();
        for breakpoint in breakpoints {
            let begin = previous.map_or(0, |index: usize| index + 1);
            expected.push((run_hash(&words[begin..=breakpoint]), begin, breakpoint + 1 - begin));
            previous = Some(breakpoint);
        }
        prop_assert_eq!(found(Scheme::Break { p, short: true }, &words), &expected[..]);
        expected.retain(|&(_, _, length)| length >= p as usize);
        prop_assert_eq!(found(Scheme::Break { p, short: false }, &words), expected);
    }

    #[test]
    fn dct_has_the_positions_of_break_and_32_bits(words in text(), p in 1u32..8) {
        let cut = found(Scheme::Break { p, short: false }, &words);
        let transformed = found(Scheme::Dct { p }, &words);
        prop_assert_eq!(cut.len(), transformed.len());
        for (one, other) in cut.iter().zip(&transformed) {
            prop_assert_eq!((one.1, one.2), (other.1, other.2));
            prop_assert!(u32::try_from(other.0).is_ok());
        }
    }

    #[test]
    fn a_text_contains_itself_and_whole_copies_of_it(words in text()) {
        for scheme in Scheme::PAPER {
            let prints = scheme.fingerprints(&words);
            let overlap = prints.overlap(&prints).unwrap();
            prop_assert_eq!(overlap.shared, overlap.ours);
        }
        // Sliding windows select the same grams wherever the text occurs.
        let framed = [&[1, 2, 3][..], &words, &[4, 5]].concat();
        for scheme in [Scheme::KGram { k: 3 }, Scheme::Mod { k: 3, p: 6 }] {
            let overlap = scheme.fingerprints(&words).overlap(&scheme.fingerprints(&framed)).unwrap();
            prop_assert_eq!(overlap.shared, overlap.ours);
        }
    }

    #[test]
    fn any_text_is_parsed_or_refused(text in "(kgram|mod|winnow|break|dct|minima|scaled|[a-z0-9x]{0,3})(:|,|=|k|p|w|s|m|short|keep|x|[0-9]{1,7}|.){0,8}") {
        if let Ok(scheme) = text.parse::<Scheme>() {
            prop_assert_eq!(scheme.to_string().parse(), Ok(scheme));
        }
        if let Ok(parameters) = text.parse::<crate::SketchParameters>() {
            prop_assert_eq!(parameters.to_string().parse(), Ok(parameters));
        }
        if let Ok(parameters) = text.parse::<crate::ScaledParameters>() {
            prop_assert_eq!(parameters.to_string().parse(), Ok(parameters));
        }
        if let Ok(bands) = text.parse::<crate::Bands>() {
            prop_assert_eq!(bands.to_string().parse(), Ok(bands));
        }
    }

    #[test]
    fn parameters_of_any_size_are_accepted(words in text(), size in prop::sample::select(vec![0u32, 1, 2, 65_535, u32::MAX])) {
        for scheme in [
            Scheme::KGram { k: size },
            Scheme::Mod { k: 2, p: size },
            Scheme::Winnow { k: 2, w: size },
            Scheme::Break { p: size, short: true },
            Scheme::Dct { p: size },
        ] {
            prop_assert!(scheme.fingerprints(&words).list().len() <= words.len());
        }
    }
}

#[test]
fn schemes_keep_as_many_fingerprints_as_in_the_paper() {
    let words: Vec<u64> = (0..318_000u32)
        .map(|number| word_hash(&(number * 7).to_string()))
        .collect();
    let expected = |scheme| match scheme {
        Scheme::KGram { k } => (words.len() - k as usize + 1) as f64,
        Scheme::Mod { k, p } => (words.len() - k as usize + 1) as f64 / f64::from(p),
        Scheme::Winnow { k, w } => 2.0 / f64::from(w + 1) * (words.len() - k as usize + 1) as f64,
        // Of segments that end with probability 1/p, a share of (1 − 1/p)^(p−1) has at least p
        // words.
        Scheme::Break { p, .. } | Scheme::Dct { p } => {
            let p = f64::from(p);
            words.len() as f64 / p * (1.0 - 1.0 / p).powf(p - 1.0)
        }
    };
    for scheme in Scheme::PAPER {
        let count = scheme.fingerprints(&words).list().len() as f64;
        assert!(
            (count / expected(scheme) - 1.0).abs() < 0.02,
            "{scheme}: {count}"
        );
    }
    // The numbers of table 3 of the paper, for news of 318 words; words and grams repeat there.
    for (scheme, counted) in Scheme::PAPER
        .into_iter()
        .zip([316.0, 50.0, 56.0, 44.0, 44.0])
    {
        let ratio = expected(scheme) / 1000.0 / counted;
        assert!((1.0..1.08).contains(&ratio), "{scheme}: {ratio}");
    }
}

#[test]
fn schemes_round_trip_through_text() {
    let schemes = [
        (Scheme::KGram { k: 5 }, "kgram:k=5"),
        (Scheme::Mod { k: 5, p: 4 }, "mod:k=5,p=4"),
        (Scheme::Winnow { k: 5, w: 10 }, "winnow:k=5,w=10"),
        (Scheme::Break { p: 7, short: false }, "break:p=7"),
        (Scheme::Break { p: 7, short: true }, "break:p=7,short=keep"),
        (Scheme::Dct { p: 9 }, "dct:p=9"),
    ];
    for (scheme, text) in schemes {
        assert_eq!(scheme.to_string(), text);
        assert_eq!(text.parse(), Ok(scheme));
        let json = serde_json::to_string(&scheme).unwrap();
        assert_eq!(json, format!("\"{text}\""));
        assert_eq!(serde_json::from_str::<Scheme>(&json).unwrap(), scheme);
    }
    for (name, scheme) in Scheme::NAMES.into_iter().zip(Scheme::PAPER) {
        assert_eq!(name.parse(), Ok(scheme));
        assert_eq!(scheme.name(), name);
    }
    assert_eq!("winnow:w=4".parse(), Ok(Scheme::Winnow { k: 3, w: 4 }));
    assert_eq!(
        "break:short=drop".parse(),
        Ok(Scheme::Break { p: 3, short: false })
    );
}

#[test]
fn invalid_schemes_are_refused_with_the_alternatives() {
    let refused = |text: &str| text.parse::<Scheme>().unwrap_err().to_string();
    assert_eq!(
        refused("shingle:k=5"),
        "unknown scheme 'shingle': expected kgram, mod, winnow, break or dct"
    );
    assert_eq!(
        refused("winnow:p=5"),
        "unknown parameter 'p' of winnow: expected k and w"
    );
    assert_eq!(
        refused("winnow:k"),
        "invalid parameter 'k' in 'winnow:k': expected NAME=VALUE"
    );
    assert_eq!(
        refused("winnow:k=2,k=3"),
        "duplicate parameter 'k' in 'winnow:k=2,k=3'"
    );
    assert_eq!(
        refused("mod:p=0"),
        "invalid value '0' for p of mod: expected a number from 1 to 65535"
    );
    assert_eq!(
        refused("break:short=no"),
        "invalid value 'no' for short of break: expected keep or drop"
    );
    assert!(serde_json::from_str::<Scheme>("\"nothing\"").is_err());
}
