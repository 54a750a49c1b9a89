//! From pages to phrases: who is left out, who is whose neighbour, and which phrases are on which
//! page.
//!
//! ```text
//!   pages ─ homes ─▶ by host, by domain, by ip ─ alike ─▶ a number for each host, domain and address
//!   texts ─ note ─▶ seen
//!   texts ─ shingle ─▶ by phrase, by page
//! ```
//!
//! All phrases of all pages are looked at, for originality is a statement about all of them; those
//! that `seen` knows to be on one page stay at home.

use std::sync::Arc;

use cento_fingerprint::{Sketch, SketchParameters, Sketcher, grams};
use cento_flow::{Bitmap, Registry, SeenFilter, StageError};

use super::params::{PhrasesParams, SiteKind};
use super::rows::{Held, Home, Shingle, TOTAL};
use crate::collapsed::GONE;
use crate::copies::MINIMA;
use crate::corpus_pages::CorpusPages;
use crate::numbers::Numbers;
use crate::words::{GramRounds, WordHasher};

/// The shuffle in which pages of one site meet.
pub(super) fn meeting(kind: SiteKind) -> &'static str {
    match kind {
        SiteKind::Host => "by host",
        SiteKind::Domain => "by domain",
        SiteKind::Ip => "by ip",
    }
}

/// The phrases of one text after the other: every run of k words in it. The paper closes a page to
/// a circle, so that its last words and its first make phrases too; nobody wrote those, so they are
/// none here.
struct Phrases {
    hasher: WordHasher,
    sketcher: Sketcher,
    k: usize,
    grams: Vec<u64>,
    sampled: Vec<u64>,
    rounds: GramRounds,
}

/// Bytes of a text whose phrases are made at once; those of a longer one are made in rounds of
/// bounded memory.
const AT_ONCE: usize = 1 << 20;

impl Phrases {
    fn new(params: &PhrasesParams) -> Phrases {
        Phrases {
            hasher: WordHasher::default(),
            sketcher: Sketcher::new(SketchParameters {
                k: params.k,
                minima: MINIMA,
            }),
            k: params.k as usize,
            grams: Vec::new(),
            sampled: Vec::new(),
            rounds: GramRounds::default(),
        }
    }

    /// Calls `each` with every phrase of a text, once, and with how many of its shingles it is.
    /// Answers how many phrases these are: none if it has fewer than k words.
    fn of(
        &mut self,
        text: &str,
        mut each: impl FnMut(u64, u32) -> Result<(), StageError>,
    ) -> Result<u32, StageError> {
        self.sampled.clear();
        if text.len() > AT_ONCE {
            return self.of_long(text, each);
        }
        self.grams.clear();
        let all = &mut self.grams;
        grams(self.hasher.words(text), self.k, |gram, _| all.push(gram));
        let minima = self.sketcher.minima(&self.grams).unwrap_or_default();
        self.sampled.extend_from_slice(minima);
        self.sampled.sort_unstable();
        self.grams.sort_unstable();
        self.grams.dedup();
        for &gram in &self.grams {
            each(gram, slots(&self.sampled, gram))?;
        }
        Ok(self.grams.len() as u32)
    }

    /// The same for a long text, which is gone through twice: for its shingles, and for its
    /// phrases.
    fn of_long(
        &mut self,
        text: &str,
        mut each: impl FnMut(u64, u32) -> Result<(), StageError>,
    ) -> Result<u32, StageError> {
        let (sketcher, mut whole) = (&mut self.sketcher, None::<Sketch>);
        self.rounds.of(text, self.k, |set| {
            if let Some(sketch) = sketcher.sketch_grams(set) {
                whole = Some(match whole.take() {
                    Some(before) => before.union(&sketch)?,
                    None => sketch,
                });
            }
            Ok::<_, StageError>(())
        })?;
        let minima = whole.as_ref().map_or(&[][..], Sketch::minima);
        self.sampled.extend_from_slice(minima);
        self.sampled.sort_unstable();
        let (sampled, mut count) = (&self.sampled, 0);
        self.rounds.of(text, self.k, |set| {
            count += set.len() as u32;
            set.iter()
                .try_for_each(|&gram| each(gram, slots(sampled, gram)))
        })?;
        Ok(count)
    }
}

/// How many of the shingles, which are sorted, are this phrase.
fn slots(sampled: &[u64], gram: u64) -> u32 {
    let begin = sampled.partition_point(|&other| other < gram);
    let rest = sampled.get(begin..).unwrap_or_default();
    rest.iter().take_while(|&&other| other == gram).count() as u32
}

pub(super) fn register(registry: &mut Registry, source: &Arc<CorpusPages>, params: &PhrasesParams) {
    let pages = Arc::clone(source);
    registry.map("homes", move |context| {
        let gone = context.state::<Bitmap>(GONE)?;
        let kinds: Vec<SiteKind> = context.parameters()?;
        let mut meetings = kinds
            .iter()
            .map(|&kind| Ok((kind, context.shuffle::<Home>(meeting(kind))?)))
            .collect::<cento_flow::Result<Vec<_>>>()?;
        pages.for_each_page(context.task()?, |facts| {
            if facts.reject.is_none() && !gone.get(u64::from(facts.number)) {
                context.count("pages of no address", u64::from(facts.ip.is_none()));
                for (kind, meeting) in &mut meetings {
                    if let Some(name) = kind.of(&facts) {
                        meeting.push(Home::new(name, facts.number))?;
                    }
                }
            }
            Ok::<_, StageError>(())
        })
    });
    registry.reduce::<Home, _>("alike", |context, groups| {
        let kind: SiteKind = context.parameters()?;
        let numbers = context.state::<Numbers>(kind.name())?;
        while let Some(mut group) = groups.next_group()? {
            // A site is known by the first of its pages.
            let Some(first) = group.next() else {
                continue;
            };
            numbers.set(first.page, first.page);
            group.for_each(|home| numbers.set(home.page, first.page));
        }
        Ok(())
    });
    texts(registry, source, params);
}

fn texts(registry: &mut Registry, source: &Arc<CorpusPages>, params: &PhrasesParams) {
    let (texts, asked) = (Arc::clone(source), params.clone());
    registry.map("note", move |context| {
        let gone = context.state::<Bitmap>(GONE)?;
        let seen = context.state::<SeenFilter>("seen")?;
        let mut phrases = Phrases::new(&asked);
        texts.for_each_text(&context.task()?, |page, text| {
            if !gone.get(u64::from(page)) {
                context.check()?;
                phrases.of(text, |gram, _| {
                    seen.note(gram);
                    Ok(())
                })?;
                context.check()?;
            }
            Ok::<_, StageError>(())
        })
    });
    let (texts, asked) = (Arc::clone(source), params.clone());
    registry.map("shingle", move |context| {
        let gone = context.state::<Bitmap>(GONE)?;
        let sites = context.state::<Numbers>(asked.site.name())?;
        let seen = context.state::<SeenFilter>("seen")?;
        let mut by_phrase = context.shuffle::<Shingle>("by phrase")?;
        let mut by_page = context.shuffle::<Held>("by page")?;
        let mut phrases = Phrases::new(&asked);
        texts.for_each_text(&context.task()?, |page, text| {
            if gone.get(u64::from(page)) {
                return Ok(());
            }
            let site = sites.get(page);
            let total = phrases.of(text, |gram, slots| {
                if seen.seen_again(gram) {
                    by_phrase.push(Shingle {
                        gram,
                        site,
                        page,
                        slots,
                    })?;
                }
                Ok(())
            })?;
            by_page.push(Held {
                page,
                facts: TOTAL,
                amount: total,
            })?;
            Ok::<_, StageError>(())
        })
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn phrases(text: &str) -> BTreeMap<u64, u32> {
        let mut found = BTreeMap::new();
        let count = Phrases::new(&PhrasesParams::default())
            .of(text, |gram, slots| {
                assert_eq!(found.insert(gram, slots), None);
                Ok(())
            })
            .unwrap();
        assert_eq!(found.len(), count as usize);
        found
    }

    #[test]
    fn a_long_text_has_the_phrases_and_shingles_that_it_has_at_once() {
        let text: String = (0..30_000)
            .map(|word| format!("w{} ", word * word % 7919))
            .collect();
        let mut asked = Phrases::new(&PhrasesParams::default());
        let mut long = BTreeMap::new();
        asked
            .of_long(&text, |gram, slots| {
                assert_eq!(long.insert(gram, slots), None);
                Ok(())
            })
            .unwrap();
        assert_eq!(long, phrases(&text));
        assert_eq!(long.values().sum::<u32>(), MINIMA);
    }

    #[test]
    fn no_phrase_runs_over_the_end_of_a_page() {
        assert_eq!(phrases("one two three four five six seven").len(), 3);
        assert_eq!(phrases("one two three four").len(), 0);
    }
}
