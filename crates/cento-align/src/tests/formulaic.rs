//! Texts of which every sentence is made after a pattern: any two of one genre have most of their
//! words in common.

use super::*;

/// Chooses words.
struct Chance(u64);

impl Chance {
    fn new(seed: u64) -> Chance {
        let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..9 {
            chance.below(2);
        }
        chance
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % limit as u64) as usize
    }

    fn of<'w>(&mut self, words: &'w str) -> &'w str {
        let words: Vec<&str> = words.split(' ').collect();
        words[self.below(words.len())]
    }

    fn lines(
        &mut self,
        count: usize,
        between: &str,
        line: impl Fn(&mut Chance, usize) -> String,
    ) -> String {
        let lines: Vec<String> = (0..count).map(|at| line(self, at)).collect();
        lines.join(between)
    }
}

type Genre = (&'static str, fn(&mut Chance) -> String);

const GENRES: [Genre; 6] = [
    ("triplets of DNA", |chance| {
        chance.lines(300, " ", |chance, _| {
            (0..3).map(|_| chance.of("a c g t")).collect()
        })
    }),
    ("football results", |chance| {
        const CLUBS: &str = "Ajax Bern Celtic Derby Everton Fulham";
        chance.lines(60, "\n", |chance, _| {
            let (home, guest) = (chance.of(CLUBS), chance.of(CLUBS));
            format!("{home} {} {guest} {}", chance.below(5), chance.below(5))
        })
    }),
    ("knitting patterns", |chance| {
        chance.lines(200, ", ", |chance, _| {
            format!("{} {}", chance.of("knit purl"), 1 + chance.below(5))
        })
    }),
    ("weather reports", |chance| {
        chance.lines(20, " ", |chance, _| {
            let day = chance.of("Monday Tuesday Wednesday Thursday Friday");
            let sky = chance.of("sunny rain clouds wind");
            let (high, low) = (10 + chance.below(20), chance.below(10));
            format!("{day} {sky} with a high of {high} degrees and a low of {low} degrees.")
        })
    }),
    ("baptisms", |chance| {
        const NAMES: &str = "John Mary Anne William Thomas Jane Robert";
        chance.lines(20, " ", |chance, _| {
            let (child, father, mother) = (chance.of(NAMES), chance.of(NAMES), chance.of(NAMES));
            let (kind, day) = (chance.of("son daughter"), 1 + chance.below(28));
            let (month, year) = (chance.of("March April May June"), 1700 + chance.below(100));
            format!("{child}, {kind} of {father} and {mother}, was baptised on the {day}th of {month} {year}.")
        })
    }),
    ("recipes", |chance| {
        chance.lines(15, " ", |chance, _| {
            let (count, measure) = (1 + chance.below(8), chance.of("cups spoons ounces"));
            let what = chance.of("flour sugar butter milk salt cream");
            let (how, pot) = (
                chance.of("stir beat mix fold"),
                chance.of("bowl pan pot dish"),
            );
            format!("Take {count} {measure} of {what} and {how} it into the {pot}.")
        })
    }),
];

#[test]
fn of_twenty_pairs_of_independent_formulaic_texts_at_most_one_shares_a_passage() {
    for (genre, make) in GENRES {
        let has_passage = |&seed: &u64| {
            let mut chance = Chance::new(seed);
            let (a, b) = (make(&mut chance), make(&mut chance));
            !align(&a, &b).is_empty()
        };
        let found = (0..20).filter(has_passage).count();
        assert!(found <= 1, "{genre}: {found} of 20");
    }
}

#[test]
fn an_edited_copy_of_a_formulaic_text_is_found() {
    for (genre, make) in GENRES {
        for seed in 0..5 {
            let mut chance = Chance::new(seed);
            let a = make(&mut chance);
            // One word of eight is another one of the same text.
            let all: Vec<&str> = a.split_whitespace().collect();
            let mut b = String::new();
            for (at, word) in a.split_inclusive(char::is_whitespace).enumerate() {
                match at % 8 {
                    4 => b.extend([all[chance.below(all.len())], " "]),
                    _ => b.push_str(word),
                }
            }
            let passages = align(&a, &b);
            let covered: usize = passages.iter().map(|passage| passage.a.len()).sum();
            assert!(covered * 10 > a.len() * 8, "{genre}, {seed}: {passages:#?}");
        }
    }
}

#[test]
fn lines_and_moves_that_are_counted_up_are_no_evidence() {
    let rows = |chance: &mut Chance| {
        chance.lines(150, "\n", |chance, at| {
            let stitches = chance.lines(8, ", ", |chance, _| {
                format!("{} {}", chance.of("knit purl slip"), 1 + chance.below(8))
            });
            format!("Row {}: {stitches}.", at + 1)
        })
    };
    let moves = |chance: &mut Chance| {
        chance.lines(240, " ", |chance, at| {
            let square = |chance: &mut Chance| {
                format!("{}{}", chance.of("a b c d e f g h"), 1 + chance.below(8))
            };
            format!("{}. {} N{}", at + 1, square(chance), square(chance))
        })
    };
    for seed in 0..5 {
        let mut chance = Chance::new(seed);
        assert_eq!(align(&rows(&mut chance), &rows(&mut chance)), []);
        assert_eq!(align(&moves(&mut chance), &moves(&mut chance)), []);
    }
}

#[test]
fn a_paragraph_that_one_text_repeats_is_found_edited_in_the_other() {
    let paragraph = prose(400, 6);
    let text = paragraph.join(" ");
    let a = format!(
        "{} {text} {} {text}",
        prose(401, 8).join(" "),
        prose(402, 8).join(" ")
    );
    let b = format!("{} {}", edited(&paragraph), prose(403, 12).join(" "));
    for (a, b) in [(&a, &b), (&b, &a)] {
        let passages = align(a, b);
        assert!(!passages.is_empty());
        let is_whole = |passage: &Passage| passage.a.len() * 10 > text.len() * 9;
        assert!(passages.iter().all(is_whole), "{passages:#?}");
    }
}

#[test]
fn sentences_of_one_frame_with_another_word_in_each_are_an_edited_passage() {
    // Sentences, their words, and how many frames there are.
    for (sentences, words, frames) in [
        (3, 20, 1),
        (10, 12, 1),
        (30, 8, 1),
        (30, 12, 2),
        (30, 20, 3),
        (30, 8, 10),
        (30, 12, 100),
    ] {
        let mut chance = Chance::new(sentences as u64);
        let frame = |chance: &mut Chance| -> Vec<String> {
            let syllables = "bal bel bil bol dal del dil dol kal kel kil kol mar mer mir mor";
            let mut word = |_| format!("{}{}", chance.of(syllables), chance.of("an en in on un"));
            (0..words).map(&mut word).collect()
        };
        let made: Vec<Vec<String>> = (0..frames).map(|_| frame(&mut chance)).collect();
        let text = |side: &str| {
            let sentence = |at: usize| {
                let mut words = made[at % frames].clone();
                let changed = words.len() / 3;
                words[changed] = format!("n{side}x{at}");
                words[0][..1].make_ascii_uppercase();
                words.join(" ") + "."
            };
            (0..sentences).map(sentence).collect::<Vec<_>>().join(" ")
        };
        let (a, b) = (text("a"), text("b"));
        let passages = align(&a, &b);
        let passage = one(&passages);
        let name = format!("{sentences} sentences of {words} words, {frames} frames");
        assert_eq!(passage.kind, PassageKind::Edited, "{name}");
        // Fewer equal words than make up for the first edit may be missing at both ends.
        assert!(passage.a.len() * 10 > a.len() * 9, "{name}: {passage:?}");
        assert!(passage.b.len() * 10 > b.len() * 9, "{name}: {passage:?}");
    }
}
