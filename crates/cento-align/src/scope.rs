//! Which sentences of two texts are compared, if it is known where the texts are alike.
//!
//! ```text
//!   a   ·····[···s···]················[··s··]······     s and t: places that are known to be alike
//!                  ╲                  ╱
//!   b   ···········[···t···][··t··]················     in brackets: what is compared
//! ```
//!
//! A passage that reaches the edge of what is compared may go on beyond it, so the stretch around
//! it is then compared too, until no passage does.

use std::ops::Range;

use crate::document::Document;
use crate::passage::Found;
use crate::seeds::is_beside_verbatim;
use crate::verbatim::VerbatimPassage;

/// The sentences on each side of a place that are compared.
const AROUND: usize = 8;
/// The same in the second document where summaries are looked for: their source is longer.
const AROUND_SOURCE: usize = 48;
/// How often stretches are added before everything is compared.
const MOST_ROUNDS: u32 = 8;

/// Sentences and places that are compared.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    pub(crate) a: Vec<Part>,
    pub(crate) b: Vec<Part>,
    /// The sentences of the places, in the order of the first document.
    places: Vec<(usize, usize)>,
    rounds: u32,
}

/// Whether a sentence is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Part {
    #[default]
    Ignored,
    /// It is in a verbatim passage.
    Explained,
    Compared,
}

impl Scope {
    /// The sentences around places, given by their bytes in both texts. None if verbatim passages
    /// explain them all.
    pub(crate) fn new(
        a: &Document<'_>,
        b: &Document<'_>,
        places: &[(u32, u32)],
        verbatim: &[VerbatimPassage],
    ) -> Option<Scope> {
        let mut found = Vec::new();
        for &(place_a, place_b) in places {
            let (Some(words_a), Some(words_b)) = (word_at(a, place_a), word_at(b, place_b)) else {
                continue;
            };
            if !is_beside_verbatim(verbatim, &words_a, &words_b) {
                found.push((
                    a.sentences_of(&words_a).start,
                    b.sentences_of(&words_b).start,
                ));
            }
        }
        if found.is_empty() {
            return None;
        }
        found.sort_unstable();
        found.dedup();
        let mut scope = Scope {
            a: vec![Part::Ignored; a.sentences.len()],
            b: vec![Part::Ignored; b.sentences.len()],
            places: found,
            rounds: 0,
        };
        let around_b = match verbatim.is_empty() {
            true => AROUND_SOURCE,
            false => AROUND,
        };
        for &(in_a, in_b) in &scope.places {
            mark(&mut scope.a, &(in_a..in_a + 1), AROUND, Part::Compared);
            mark(&mut scope.b, &(in_b..in_b + 1), around_b, Part::Compared);
        }
        for passage in verbatim {
            mark(
                &mut scope.a,
                &a.sentences_of(&passage.a),
                0,
                Part::Explained,
            );
            mark(
                &mut scope.b,
                &b.sentences_of(&passage.b),
                0,
                Part::Explained,
            );
        }
        Some(scope)
    }

    /// Whether a place is in a passage, or near it.
    pub(crate) fn has_place(&self, found: &Found, gap: u32) -> bool {
        let near = gap as usize + 1;
        let near_b = match found.scattered {
            true => AROUND_SOURCE,
            false => near,
        };
        let in_b = found.b.start.saturating_sub(near_b)..found.b.end + near_b;
        let first = found.a.start.saturating_sub(near);
        let first = self.places.partition_point(|place| place.0 < first);
        let places = self.places[first..].iter();
        places
            .take_while(|place| place.0 < found.a.end + near)
            .any(|place| in_b.contains(&place.1))
    }

    /// Adds the sentences around passages that reach the edge of what is compared. Returns false if
    /// none does. `gap` is the most sentences between two parts of a passage.
    pub(crate) fn widen<'f>(&mut self, found: impl Iterator<Item = &'f Found>, gap: u32) -> bool {
        let near = gap as usize + 1;
        let reaching = found.filter(|found| {
            reaches_edge(&self.a, &found.a, near) || reaches_edge(&self.b, &found.b, near)
        });
        let reaching: Vec<&Found> = reaching.collect();
        if reaching.is_empty() {
            return false;
        }
        self.rounds += 1;
        for found in reaching {
            let more = match self.rounds {
                ..=MOST_ROUNDS => found.a.len().max(found.b.len()).max(near),
                _ => usize::MAX / 2,
            };
            mark(&mut self.a, &found.a, more, Part::Compared);
            mark(&mut self.b, &found.b, more, Part::Compared);
        }
        true
    }
}

/// The word at a byte.
fn word_at(document: &Document<'_>, place: u32) -> Option<Range<usize>> {
    let word = document.words.partition_point(|word| word.end <= place);
    (word < document.words.len()).then_some(word..word + 1)
}

fn mark(sentences: &mut [Part], range: &Range<usize>, around: usize, part: Part) {
    let begin = range.start.saturating_sub(around);
    let end = (range.end + around).min(sentences.len());
    if let Some(sentences) = sentences.get_mut(begin..end) {
        sentences.fill(part);
    }
}

/// Whether a sentence that is ignored is near a passage.
fn reaches_edge(sentences: &[Part], range: &Range<usize>, near: usize) -> bool {
    let begin = range.start.saturating_sub(near);
    let end = (range.end + near).min(sentences.len());
    let around = sentences.get(begin..end).unwrap_or_default();
    around.contains(&Part::Ignored)
}
