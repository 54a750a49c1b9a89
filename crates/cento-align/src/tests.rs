use proptest::prelude::*;

use super::*;

mod certain;
mod formulaic;

/// A text of words that is different for every seed, with sentences of 5 to 24 words.
fn prose(seed: u64, sentences: usize) -> Vec<String> {
    let mut state = seed.wrapping_mul(2).wrapping_add(0x1234_5678_9abc_def1);
    let mut next = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    (0..sentences)
        .map(|_| {
            let length = 5 + next(20);
            let words: Vec<String> = (0..length)
                .map(|_| {
                    let word = next(5000);
                    let syllables = ["ka", "lo", "mi", "nu", "pe", "ri", "so", "ta", "vu", "ze"];
                    format!("{word}")
                        .bytes()
                        .map(|digit| syllables[usize::from(digit - b'0')])
                        .collect()
                })
                .collect();
            let mut sentence = words.join(" ");
            sentence[..1].make_ascii_uppercase();
            sentence + "."
        })
        .collect()
}

fn align(a: &str, b: &str) -> Vec<Passage> {
    Aligner::new(AlignSettings::default()).align_texts(a, b)
}

fn one(passages: &[Passage]) -> &Passage {
    assert_eq!(passages.len(), 1, "{passages:#?}");
    &passages[0]
}

#[test]
fn a_verbatim_passage_is_found_to_the_word() {
    let (shared, before, after) = (prose(1, 6).join(" "), prose(2, 9), prose(3, 9));
    let a = format!(
        "{} {shared} {}",
        before[..4].join(" "),
        after[..4].join(" ")
    );
    let b = format!(
        "{} {shared} {}",
        after[4..].join(" "),
        before[4..].join(" ")
    );
    let passages = align(&a, &b);
    let passage = one(&passages);
    assert_eq!(passage.kind, PassageKind::Verbatim);
    assert_eq!(&a[passage.a.clone()], shared);
    assert_eq!(&b[passage.b.clone()], shared);
    assert!((passage.identical - 1.0).abs() < 1e-9);
}

#[test]
fn reordered_sentences_are_one_edited_passage() {
    let shared = prose(4, 8);
    let shuffled: Vec<String> = [5, 2, 7, 0, 3, 6, 1, 4]
        .map(|at: usize| shared[at].clone())
        .into();
    let a = format!("{} {}", prose(5, 10).join(" "), shared.join(" "));
    let b = format!("{} {}", shuffled.join(" "), prose(6, 10).join(" "));
    let passages = align(&a, &b);
    let passage = one(&passages);
    assert_eq!(&a[passage.a.clone()], shared.join(" "));
    assert_eq!(&b[passage.b.clone()], shuffled.join(" "));
}

#[test]
fn a_third_of_the_words_may_be_replaced() {
    let shared = prose(7, 8);
    let mut count = 0;
    let edited: Vec<String> = shared
        .iter()
        .map(|sentence| {
            let words = sentence.trim_end_matches('.').split(' ');
            let words: Vec<String> = words
                .map(|word| {
                    count += 1;
                    match count % 3 {
                        0 => format!("other{count}"),
                        _ => word.to_owned(),
                    }
                })
                .collect();
            words.join(" ") + "."
        })
        .collect();
    let a = format!("{} {}", prose(8, 10).join(" "), shared.join(" "));
    let b = format!("{} {}", edited.join(" "), prose(9, 10).join(" "));
    let passages = align(&a, &b);
    let passage = one(&passages);
    assert_eq!(passage.kind, PassageKind::Edited);
    assert_eq!(&a[passage.a.clone()], shared.join(" "));
    assert_eq!(&b[passage.b.clone()], edited.join(" "));
    assert!((0.6..0.7).contains(&passage.identical), "{passage:?}");
}

#[test]
fn a_summary_is_a_scattered_passage() {
    let source = prose(10, 40);
    let summary: Vec<String> = [1, 9, 18, 27, 36]
        .map(|at: usize| {
            let mut words: Vec<&str> = source[at].trim_end_matches('.').split(' ').collect();
            words.truncate(words.len() * 3 / 4 + 1);
            words.join(" ") + "."
        })
        .into();
    let a = format!(
        "{} {} {}",
        prose(11, 10).join(" "),
        summary.join(" "),
        prose(12, 10).join(" ")
    );
    let b = source.join(" ");
    let passages = align(&a, &b);
    let passage = one(&passages);
    assert_eq!(passage.kind, PassageKind::Scattered);
    assert_eq!(&a[passage.a.clone()], summary.join(" "));
    assert!(passage.b.len() * 10 > b.len() * 8, "{passage:?}");
}

#[test]
fn whole_sentences_from_far_apart_are_one_scattered_passage() {
    let source = prose(13, 40);
    let summary = [2, 20, 37].map(|at: usize| source[at].clone());
    let a = format!(
        "{} {} {}",
        prose(14, 10).join(" "),
        summary.join(" "),
        prose(15, 10).join(" ")
    );
    let b = source.join(" ");
    let passages = align(&a, &b);
    let passage = one(&passages);
    assert_eq!(passage.kind, PassageKind::Scattered);
    assert_eq!(&a[passage.a.clone()], summary.join(" "));
    assert!(b[passage.b.clone()].contains(&source[10]));
}

#[test]
fn unrelated_texts_share_nothing() {
    for seed in 0..20 {
        let (a, b) = (prose(seed, 60).join(" "), prose(seed + 100, 60).join(" "));
        assert_eq!(align(&a, &b), []);
    }
    assert_eq!(align("", ""), []);
    assert_eq!(align("one word", ""), []);
}

#[test]
fn a_sentence_about_the_same_subject_is_not_a_passage() {
    let a = "The single premium annuity requires payment of one lump sum amount. It may be a \
        deferred single premium annuity or an immediate single premium annuity, as agreed.";
    let b = "A tax deferred annuity can be funded with a single lump sum, known as single premium, \
        while other options for installments are also available, and are known as flexible ones.";
    let text = |words: &str, seed| {
        format!(
            "{} {words} {}",
            prose(seed, 8).join(" "),
            prose(seed + 1, 8).join(" ")
        )
    };
    assert_eq!(align(&text(a, 30), &text(b, 40)), []);
}

#[test]
fn characters_are_counted_as_unicode_characters() {
    let shared = prose(20, 5).join(" ");
    let a = format!("Zwölf Füße, ćšž — näher… {shared}");
    let b = format!("日本語。{shared}");
    let passages = align(&a, &b);
    let passage = one(&passages);
    let chars = |text: &str, range: &Range<usize>| -> String {
        text.chars().skip(range.start).take(range.len()).collect()
    };
    assert_eq!(chars(&a, &passage.a_chars), &a[passage.a.clone()]);
    assert_eq!(chars(&b, &passage.b_chars), &b[passage.b.clone()]);
}

#[test]
fn text_of_other_scripts_is_aligned() {
    let shared = "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。\
        人人有资格享有本宣言所载的一切权利和自由，不分种族、肤色、性别、语言、宗教、政治或其他见解、国籍或社会出身、财产、出生或其他身份等任何区别。\
        并且不得因一人所属的国家或领土的政治的、行政的或者国际的地位之不同而有所区别，无论该领土是独立领土、托管领土、非自治领土或者处于其他任何主权受限制的情况之下。";
    let a = format!("昨天下雨了。{shared}我们去了公园。");
    let b = format!("这是另一篇文章的开头。{shared}结束。");
    let passages = align(&a, &b);
    let passage = one(&passages);
    assert_eq!(a[passage.a.clone()], b[passage.b.clone()]);
    assert!(a[passage.a.clone()].contains("良心"));
}

/// The words, terms and postings that are looked at when two texts are aligned, around places if
/// there are any.
fn work(a: &str, b: &str, places: Option<&[(u32, u32)]>) -> u64 {
    let mut aligner = Aligner::new(AlignSettings::default());
    let passages = match places {
        None => aligner.align_texts(a, b),
        Some(places) => aligner.align_near(&Document::new(a), &Document::new(b), places),
    };
    for passage in passages {
        assert!(passage.a.end <= a.len() && passage.b.end <= b.len());
    }
    let (sides, refiner, seeds) = (&aligner.sides, &aligner.refiner, &aligner.seeds);
    let found = seeds.index.visited + seeds.strong.len() as u64 + aligner.evidence.work();
    aligner.work + sides.work + refiner.work + found
}

/// Texts of about so many bytes that are all repetition.
fn hostile(bytes: usize) -> Vec<(&'static str, String, String)> {
    let repeated = |text: &str| text.repeat(bytes / text.len());
    // Few words in no order, in sentences.
    let few = |seed: usize| -> String {
        let end = |at: usize| if at.is_multiple_of(9) { ". " } else { " " };
        let word = |at: usize| format!("w{}{}", (at * 7919 + seed) * at % 97, end(at));
        (0..bytes / 4).map(word).collect()
    };
    let periodic = repeated("to be or not to be that is the question ");
    let sentence = repeated("It is what it is. ");
    // Runs that are all of the same length, and nearly the same.
    let nearly = |seed: usize| -> String {
        let block = |at: usize| {
            let words = "one two three four five six seven eight nine ten. ";
            format!("{words}{words}x{} ", (at * 31 + seed) % 50)
        };
        (0..bytes / 104).map(block).collect()
    };
    // Every run overlaps many others.
    let length = (bytes as f64 / 3.0).sqrt() as usize;
    let suffixes = |step: usize| -> String {
        let words = |words: Range<usize>| words.map(|word| format!("v{word} "));
        let suffix = |at: usize| -> String {
            let mark = format!("z{} ", at * step);
            words(at * 31 % length..length).chain([mark]).collect()
        };
        (0..length).map(suffix).collect()
    };
    let short: String = (0..bytes / 8)
        .map(|word| format!("v{} ", word % (2 * length)))
        .collect();
    // A long stretch that is everywhere, and what follows it somewhere.
    let marked = |seed: usize| -> String {
        let stretch =
            "so we beat on boats against the current borne back ceaselessly into the past ";
        let marks = bytes / 4 / stretch.len();
        let mark = |at: usize| format!("{}m{} ", stretch.repeat(4), (at * seed) % marks);
        (0..marks).map(mark).collect()
    };
    vec![
        ("suffixes", suffixes(1), suffixes(2)),
        ("a text and its suffixes", short.clone(), suffixes(1)),
        ("suffixes and their text", suffixes(1), short),
        ("marked stretches", marked(1), marked(7)),
        ("periodic", periodic.clone(), periodic.clone()),
        ("one word", repeated("spam "), repeated("spam ")),
        ("one sentence", sentence.clone(), sentence),
        ("few words", few(1), few(2)),
        ("nearly equal runs", nearly(1), nearly(7)),
        ("periodic and not", periodic, few(3)),
    ]
}

#[test]
fn the_cost_of_hostile_texts_grows_with_their_length() {
    // 10 MB against 10 MB takes a while without optimisation.
    let sizes = match std::env::var_os("CENTO_LONG_TESTS") {
        Some(_) => [1_000_000, 10_000_000],
        None => [40_000, 400_000],
    };
    for bytes in sizes {
        for (name, a, b) in hostile(bytes) {
            // A word visits at most 256 postings, and a few more when it is compared.
            let whole = work(&a, &b, None) as f64 / bytes as f64;
            assert!(whole < 64.0, "{name}: {whole} for each of {bytes} bytes");
            // Places that pull passages apart, and one that grows from round to round.
            let many: Vec<(u32, u32)> = (0..bytes as u32 / 64)
                .map(|at| (64 * at, bytes as u32 - 64 * at))
                .collect();
            for places in [&many[..], &[(bytes as u32 / 2, bytes as u32 / 3)]] {
                let near = work(&a, &b, Some(places)) as f64 / bytes as f64;
                assert!(near < 256.0, "{name}: {near} for each of {bytes} bytes");
            }
        }
    }
}

#[test]
fn split_words_are_joined_if_the_other_text_has_them_whole() {
    let text = prose(50, 12).join(" ");
    // Every fourth word of more than three letters is split.
    let split = |text: &str| -> String {
        let words = text
            .split(' ')
            .enumerate()
            .map(|(at, word)| match word.len() {
                length if length > 4 && at % 4 == 0 => format!("{} {}", &word[..3], &word[3..]),
                _ => word.to_owned(),
            });
        words.collect::<Vec<_>>().join(" ")
    };
    let a = format!("{} {}", prose(51, 5).join(" "), split(&text));
    let b = format!("{text} {}", prose(52, 5).join(" "));
    let align = |fold| {
        let (a, b) = (Document::folded(&a, fold), Document::folded(&b, fold));
        Aligner::new(AlignSettings::default()).align(&a, &b)
    };
    let passages = align(Fold::Ocr);
    let passage = one(&passages);
    assert_eq!(passage.kind, PassageKind::Verbatim);
    assert_eq!(&a[passage.a.clone()], split(&text));
    assert_eq!(&b[passage.b.clone()], text);
    assert_eq!(passage.identical, 1.0);
    assert_eq!(
        differing_words(&split(&text), &text, Fold::Ocr),
        [vec![], vec![]]
    );
    assert!(
        align(Fold::None)
            .iter()
            .all(|passage| passage.identical < 0.9)
    );
}

#[test]
fn words_that_both_texts_have_are_not_joined() {
    let (a, b) = ("We can not now.", "We cannot, and can not.");
    assert_eq!(differing_words(a, "We cannot.", Fold::Ocr)[0].len(), 1);
    let [only_a, only_b] = differing_words(a, b, Fold::Ocr);
    let only_a: Vec<&str> = only_a.iter().map(|word| &a[word.clone()]).collect();
    let only_b: Vec<&str> = only_b.iter().map(|word| &b[word.clone()]).collect();
    assert_eq!((only_a, only_b), (vec!["now"], vec!["cannot", "and"]));
}

#[test]
fn a_short_verbatim_passage_is_exact_unless_it_is_part_of_a_longer_one() {
    let words: Vec<String> = prose(60, 40)
        .join(" ")
        .split(' ')
        .map(str::to_owned)
        .collect();
    let shared = words[..32].join(" ").replace('.', "");
    let around = |seed| {
        let text = prose(seed, 8);
        format!("{} {shared} {}", text[..4].join(" "), text[4..].join(" "))
    };
    let (a, b) = (around(61), around(71));
    let passages = align(&a, &b);
    let passage = one(&passages);
    assert_eq!(passage.kind, PassageKind::Verbatim);
    assert!(a[passage.a.clone()].contains(&shared));
    assert!(passage.words <= 34, "{passage:?}");
    // The same words in the middle of an edited passage.
    let edited = |seed: usize| {
        let sentences = prose(62, 8);
        let change = |(at, word): (usize, &str)| match (at + seed) % 4 {
            0 => format!("other{}", at + seed),
            _ => word.to_owned(),
        };
        let words = |text: &str| {
            text.split(' ')
                .enumerate()
                .map(change)
                .collect::<Vec<_>>()
                .join(" ")
        };
        format!(
            "{} {shared}. {}",
            words(&sentences[..4].join(" ")),
            words(&sentences[4..].join(" "))
        )
    };
    let (a, b) = (edited(1), edited(2));
    let passages = align(&a, &b);
    let passage = one(&passages);
    assert_eq!(passage.kind, PassageKind::Edited);
    assert!(passage.a.len() * 10 > a.len() * 9, "{passage:?}");
}

proptest! {
    #[test]
    fn passages_are_ranges_of_the_texts_in_order(
        a in "[a-c .\n]{0,400}",
        b in "[a-c .\n]{0,400}",
        repeat in 1usize..4,
    ) {
        let (a, b) = (a.repeat(repeat), b.repeat(repeat));
        let settings = AlignSettings { minimum_chars: 1, verbatim_words: 6, ..AlignSettings::default() };
        let passages = Aligner::new(settings.clone()).align_texts(&a, &b);
        for passage in &passages {
            prop_assert!(a.get(passage.a.clone()).is_some_and(|text| !text.is_empty()));
            prop_assert!(b.get(passage.b.clone()).is_some_and(|text| !text.is_empty()));
            prop_assert!((0.0..=1.0).contains(&passage.identical));
        }
        // Buffers that were used for another pair change nothing.
        let mut aligner = Aligner::new(settings);
        aligner.align_texts("some other text that was here before.", &b);
        prop_assert_eq!(aligner.align_texts(&a, &b), passages);
    }

    #[test]
    fn a_planted_passage_is_found_wherever_it_is(
        seed in 0u64..1000,
        before_a in 0usize..12, after_a in 0usize..12,
        before_b in 0usize..12, after_b in 0usize..12,
    ) {
        let shared = prose(seed, 5).join(" ");
        let around = |seed, before, after| {
            format!("{} {shared} {}", prose(seed, before).join(" "), prose(seed + 1, after).join(" "))
        };
        let a = around(seed + 5000, before_a, after_a);
        let b = around(seed + 7000, before_b, after_b);
        let passages = align(&a, &b);
        prop_assert_eq!(passages.len(), 1);
        // The word before or after may be the same by chance.
        let (found, other) = (&a[passages[0].a.clone()], &b[passages[0].b.clone()]);
        prop_assert_eq!(found, other);
        prop_assert!(found.contains(&shared) && found.len() < shared.len() + 30);
    }
}

#[test]
fn numbers_of_sections_columns_and_pages_are_no_evidence() {
    let numbered = |seed: u64| {
        let sentences = prose(seed, 30);
        let lines = sentences.iter().enumerate().map(|(at, sentence)| {
            let columns = "0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9";
            format!(
                "{}.{}.{}. {sentence} {columns} {at}.",
                at / 9,
                at / 3,
                at % 3
            )
        });
        lines.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(align(&numbered(30), &numbered(31)), []);
}

#[test]
fn an_edited_passage_beside_a_verbatim_one_is_found() {
    let (copied, original) = (prose(40, 6).join(" "), prose(41, 8));
    // One word of five is another one.
    let edited = original.iter().enumerate().map(|(at, sentence)| {
        let words = sentence.trim_end_matches('.').split(' ').enumerate();
        let words = words.map(|(place, word)| match place % 5 {
            2 => format!("wum{at}{place}"),
            _ => word.to_owned(),
        });
        words.collect::<Vec<_>>().join(" ") + "."
    });
    let edited: Vec<String> = edited.collect();
    let between = prose(42, 60);
    let a = format!(
        "{copied} {} {}",
        between[..30].join(" "),
        original.join(" ")
    );
    let b = format!("{} {} {copied}", edited.join(" "), between[30..].join(" "));
    let passages = align(&a, &b);
    let kinds: Vec<PassageKind> = passages.iter().map(|passage| passage.kind).collect();
    assert_eq!(kinds, [PassageKind::Verbatim, PassageKind::Edited]);
    assert_eq!(&b[passages[1].b.clone()], edited.join(" "));
}

/// Every fifth word of some sentences is another one.
fn edited(sentences: &[String]) -> String {
    let edited = sentences.iter().enumerate().map(|(at, sentence)| {
        let words = sentence.trim_end_matches('.').split(' ').enumerate();
        let words = words.map(|(place, word)| match place % 5 {
            2 => format!("wum{at}{place}"),
            _ => word.to_owned(),
        });
        words.collect::<Vec<_>>().join(" ") + "."
    });
    edited.collect::<Vec<_>>().join(" ")
}

fn near(a: &str, b: &str, places: &[(u32, u32)]) -> Vec<Passage> {
    let (a, b) = (Document::new(a), Document::new(b));
    Aligner::new(AlignSettings::default()).align_near(&a, &b, places)
}

#[test]
fn an_edited_passage_is_found_around_a_place_and_verbatim_ones_everywhere() {
    let (copied, one, other) = (prose(80, 6).join(" "), prose(81, 8), prose(82, 8));
    let between = prose(83, 400);
    let texts = |at: usize| between[at..at + 100].join(" ");
    let a = format!(
        "{} {} {} {copied} {} {} {}",
        texts(0),
        one.join(" "),
        texts(100),
        texts(200),
        other.join(" "),
        texts(300)
    );
    let between = prose(84, 400);
    let texts = |at: usize| between[at..at + 100].join(" ");
    let b = format!(
        "{copied} {} {} {} {} {}",
        texts(0),
        edited(&other),
        texts(100),
        edited(&one),
        texts(200)
    );
    let all = align(&a, &b);
    let kinds: Vec<PassageKind> = all.iter().map(|passage| passage.kind).collect();
    assert_eq!(
        kinds,
        [
            PassageKind::Edited,
            PassageKind::Verbatim,
            PassageKind::Edited
        ]
    );
    // Nothing edited is looked for without a place outside of the verbatim passage.
    let inside = |passage: &Passage| (passage.a.start as u32 + 9, passage.b.start as u32 + 9);
    assert_eq!(near(&a, &b, &[]), all[1..2]);
    assert_eq!(near(&a, &b, &[inside(&all[1])]), all[1..2]);
    assert_eq!(near(&a, &b, &[inside(&all[0])]), all[..2]);
    assert_eq!(near(&a, &b, &[inside(&all[2])]), all[1..]);
    assert_eq!(near(&a, &b, &[inside(&all[0]), inside(&all[2])]), all);
    // A place whose sides have nothing in common.
    let (in_a, in_b) = (inside(&all[0]).0, inside(&all[2]).1);
    assert_eq!(near(&a, &b, &[(in_a, in_b)]), all[1..2]);
    // Places from elsewhere are harmless.
    assert_eq!(
        near(&a, &b, &[(u32::MAX, u32::MAX), (0, u32::MAX)]),
        all[1..2]
    );
}

#[test]
fn a_passage_is_found_as_a_whole_around_one_place() {
    let original = prose(85, 150);
    let a = format!("{} {}", prose(86, 60).join(" "), original.join(" "));
    let b = format!("{} {}", edited(&original), prose(87, 60).join(" "));
    let whole = align(&a, &b);
    assert!(one(&whole).a.len() * 10 > original.join(" ").len() * 9);
    let sentence = original[70].split(' ').next().unwrap();
    let place = |text: &str| text.find(sentence).unwrap() as u32;
    assert_eq!(near(&a, &b, &[(place(&a), place(&b))]), whole);
}

const COMMISSIONERS: &str = "Commissioners unanimously recommended replacing mechanical clockwork throughout \
    northern stations. Experienced keepers increasingly complained about exhausting nightly interruptions and \
    considerable additional expenditure.";
const REPRESENTATIVES: &str = "Parliamentary representatives subsequently established independent inspections, \
    notwithstanding persistent objections. Manufacturers meanwhile demonstrated considerably brighter incandescent \
    petroleum burners.";

/// The kind of each passage and its words on both sides.
fn described<'t>(a: &'t str, b: &'t str) -> Vec<(PassageKind, &'t str, &'t str)> {
    let describe = |passage: Passage| (passage.kind, &a[passage.a], &b[passage.b]);
    align(a, b).into_iter().map(describe).collect()
}

#[test]
fn a_verbatim_run_of_long_words_is_found_behind_another_passage() {
    let boats = "Peter bought three red boats from the old captain and painted them blue before the summer \
        visitors came back to the harbour again. His brother laughed at the colour, but the children of the \
        village liked it, and they named the smallest boat after their teacher. When the storm broke the chains \
        in October the teacher was the only one that stayed afloat until the very next morning.";
    let between = "Nobody has written down how the council voted that evening, because the secretary was ill.";
    let a = format!("{boats}\n{between} {COMMISSIONERS}\n");
    let b = format!("{boats} {COMMISSIONERS}\n");
    let verbatim = |text| (PassageKind::Verbatim, text, text);
    let expected = [verbatim(boats), verbatim(COMMISSIONERS)];
    assert_eq!(described(&a, &b), expected);
    assert_eq!(described(&b, &a), expected);
    // On both sides of another passage, and with a smaller minimum.
    let (a, b) = (
        format!("{COMMISSIONERS} {between} {boats}\n"),
        format!("{COMMISSIONERS} {boats}\n"),
    );
    assert_eq!(
        described(&a, &b),
        [verbatim(COMMISSIONERS), verbatim(boats)]
    );
    let settings = AlignSettings {
        minimum_chars: 100,
        ..AlignSettings::default()
    };
    assert_eq!(Aligner::new(settings).align_texts(&a, &b).len(), 2);
}

#[test]
fn a_verbatim_passage_ends_where_other_text_begins() {
    let a = format!(
        "The harbour was built in the year of the great storm by men from the islands. Nobody knows who paid for \
         it. In summer the boats bring visitors, and in winter they lie upside down on the grass. {COMMISSIONERS} \
         Everybody agreed. It snowed in March."
    );
    let b = format!(
        "My grandmother kept bees behind the school. She said that a hive can smell an angry person from across a \
         field. Every autumn we carried jars of honey down to the market. {COMMISSIONERS} Everybody agreed. The \
         market closed."
    );
    let shared = format!("{COMMISSIONERS} Everybody agreed.");
    let expected = (PassageKind::Verbatim, shared.as_str(), shared.as_str());
    assert_eq!(described(&a, &b), [expected]);
    assert_eq!(described(&b, &a), [expected]);
}

#[test]
fn two_verbatim_passages_in_another_order_are_not_scattered() {
    let a = format!(
        "The harbour was built in the year of the great storm by men from the islands. Nobody knows who paid for \
         it. {COMMISSIONERS} Everybody agreed. {REPRESENTATIVES} It snowed in March."
    );
    let b = format!(
        "My grandmother kept bees behind the school. She said that a hive can smell an angry person from across a \
         field. {REPRESENTATIVES} Later that year the river froze, and skaters raced between the two bridges while \
         the mayor watched from a sledge pulled by a goat. The band played until its valves froze. Children sold \
         chestnuts. Nobody wanted to go home before the lanterns were out. The bakery stayed open all night and \
         gave away its last loaves. {COMMISSIONERS} Everybody agreed. The market closed."
    );
    let shared = format!("{COMMISSIONERS} Everybody agreed.");
    let verbatim = |text| (PassageKind::Verbatim, text, text);
    let first = verbatim(shared.as_str());
    assert_eq!(described(&a, &b), [first, verbatim(REPRESENTATIVES)]);
    assert_eq!(described(&b, &a), [verbatim(REPRESENTATIVES), first]);
}

#[test]
fn a_run_between_unrelated_sentences_is_verbatim_whatever_its_number_of_words() {
    for count in 12..=80 {
        for seed in 0..4 {
            let words = prose(seed + 900, 20)
                .join(" ")
                .replace('.', "")
                .to_lowercase();
            let words: Vec<&str> = words.split(' ').take(count).collect();
            let run = format!("X{}.", words.join(" "));
            let around = |seed| {
                let (before, after) = (prose(seed, 10).join(" "), prose(seed + 1, 10).join(" "));
                format!("{before} {run} {after}")
            };
            let (a, b) = (around(10 * seed + 500), around(10 * seed + 700));
            let expected = match run.len() {
                160.. => vec![(PassageKind::Verbatim, run.as_str(), run.as_str())],
                _ => Vec::new(),
            };
            let found = described(&a, &b);
            // What is shorter may be part of a longer edited passage.
            if !expected.is_empty() {
                assert_eq!(found, expected, "{count} words");
            }
            assert!(
                found
                    .iter()
                    .all(|(kind, one, other)| { one != other || *kind == PassageKind::Verbatim })
            );
        }
    }
}

#[test]
fn the_longer_of_two_overlapping_runs_has_what_both_have() {
    let words = |seed| prose(seed, 6).join(" ").replace('.', "").to_lowercase();
    let (one, both, other) = (words(300), words(301), words(302));
    let (long, short) = (format!("{one} {both} {one}"), other);
    // The short run begins with the last words of the long one.
    let last = both.split(' ').take(9).collect::<Vec<_>>().join(" ");
    let long = format!("{long} {last}");
    let filler = |seed| prose(seed, 5).join(" ");
    let a = format!("{} {long} {short} {}", filler(303), filler(304));
    let b = format!(
        "{} {last} {short} {} {long} {}",
        filler(305),
        filler(306),
        filler(307)
    );
    let expected = [
        (PassageKind::Verbatim, long.as_str(), long.as_str()),
        (PassageKind::Verbatim, short.as_str(), short.as_str()),
    ];
    assert_eq!(described(&a, &b), expected);
}

#[test]
fn edited_sentences_around_a_verbatim_run_are_one_edited_passage_with_it() {
    let original = prose(310, 4);
    let around = |text: String, seed| {
        let (before, after) = (prose(seed, 6).join(" "), prose(seed + 1, 6).join(" "));
        format!("{before} {text} {after}")
    };
    let whole = |before: &str, after: &str| format!("{before} {COMMISSIONERS} {after}");
    let one = whole(&original[..2].join(" "), &original[2..].join(" "));
    let other = whole(&edited(&original[..2]), &edited(&original[2..]));
    let (a, b) = (around(one.clone(), 320), around(other.clone(), 330));
    let expected = (PassageKind::Edited, one.as_str(), other.as_str());
    assert_eq!(described(&a, &b), [expected]);
}
