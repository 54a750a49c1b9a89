//! From pages to phrases: the hosts, domains and addresses of pages, and the phrases on each page.
//!
//! ```text
//!   pages ─ homes ─▶ by host, by domain, by ip ─ alike ─▶ numbers of hosts, domains, addresses
//!   texts ─ note ─▶ seen
//!   texts ─ shingle ─▶ by phrase, by page
//! ```
//!
//! All phrases of all pages are counted, because originality refers to all of them. Phrases that
//! `seen` knows to be on a single page are not shuffled.

use std::sync::Arc;

use cento_fingerprint::{Sketch, SketchParameters, Sketcher, grams};
use cento_flow::{Bitmap, Registry, SeenFilter, StageError};

use super::flow_names::{counter, shuffle, stage, state};
use super::params::{PhrasesParams, SiteKind};
use super::phrase_rows::{Contribution, PageHome, Shingle, TOTAL};
use crate::collapsed::GONE;
use crate::copies::MINIMA;
use crate::corpus_pages::CorpusPages;
use crate::numbers::Numbers;
use crate::words::{GramRounds, WordHasher};

/// The shuffle that groups pages by site.
pub(super) fn home_shuffle(kind: SiteKind) -> &'static str {
    match kind {
        SiteKind::Host => "by host",
        SiteKind::Domain => "by domain",
        SiteKind::Ip => "by ip",
    }
}

/// Finds the phrases of texts: every run of k words. In the paper texts are circular, so that the
/// last words of a page and its first form phrases, too; nobody wrote those, so they are not
/// counted here.
struct PhraseScanner {
    hasher: WordHasher,
    sketcher: Sketcher,
    k: usize,
    grams: Vec<u64>,
    sampled: Vec<u64>,
    rounds: GramRounds,
}

/// The longest text, in bytes, whose phrases are computed at once. Those of longer texts are
/// computed in rounds of bounded memory.
const AT_ONCE: usize = 1 << 20;

impl PhraseScanner {
    fn new(params: &PhrasesParams) -> PhraseScanner {
        PhraseScanner {
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

    /// Calls `each` once with every phrase of a text, and the number of the text's shingles that it
    /// is. Returns the number of phrases, which is 0 for a text of fewer than k words.
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

    /// Like [`PhraseScanner::of`] for a long text, which is read twice: for its shingles, and for
    /// its phrases.
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

/// How many of the sorted shingles are this phrase.
fn slots(sampled: &[u64], gram: u64) -> u32 {
    let begin = sampled.partition_point(|&other| other < gram);
    let rest = sampled.get(begin..).unwrap_or_default();
    rest.iter().take_while(|&&other| other == gram).count() as u32
}

pub(super) fn register(registry: &mut Registry, corpus: &Arc<CorpusPages>, params: &PhrasesParams) {
    let pages = Arc::clone(corpus);
    registry.map(stage::HOMES, move |context| {
        let gone = context.state::<Bitmap>(GONE)?;
        let kinds: Vec<SiteKind> = context.parameters()?;
        let mut emitters = kinds
            .iter()
            .map(|&kind| Ok((kind, context.shuffle::<PageHome>(home_shuffle(kind))?)))
            .collect::<cento_flow::Result<Vec<_>>>()?;
        pages.for_each_page(context.task()?, |facts| {
            if facts.reject.is_none() && !gone.get(u64::from(facts.number)) {
                context.count(counter::NO_ADDRESS, u64::from(facts.ip.is_none()));
                for (kind, emitter) in &mut emitters {
                    if let Some(name) = kind.of(&facts) {
                        emitter.push(PageHome::new(name, facts.number))?;
                    }
                }
            }
            Ok::<_, StageError>(())
        })
    });
    registry.reduce::<PageHome, _>(stage::ALIKE, |context, groups| {
        let kind: SiteKind = context.parameters()?;
        let numbers = context.state::<Numbers>(kind.name())?;
        while let Some(mut group) = groups.next_group()? {
            // A site is identified by its first page.
            let Some(first) = group.next() else {
                continue;
            };
            numbers.set(first.page, first.page);
            group.for_each(|home| numbers.set(home.page, first.page));
        }
        Ok(())
    });
    texts(registry, corpus, params);
}

fn texts(registry: &mut Registry, corpus: &Arc<CorpusPages>, params: &PhrasesParams) {
    let (texts, settings) = (Arc::clone(corpus), params.clone());
    registry.map(stage::NOTE, move |context| {
        let gone = context.state::<Bitmap>(GONE)?;
        let seen = context.state::<SeenFilter>(state::SEEN)?;
        let mut phrases = PhraseScanner::new(&settings);
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
    let (texts, params) = (Arc::clone(corpus), params.clone());
    registry.map(stage::SHINGLE, move |context| {
        let gone = context.state::<Bitmap>(GONE)?;
        let sites = context.state::<Numbers>(params.site.name())?;
        let seen = context.state::<SeenFilter>(state::SEEN)?;
        let mut by_phrase = context.shuffle::<Shingle>(shuffle::BY_PHRASE)?;
        let mut by_page = context.shuffle::<Contribution>(shuffle::BY_PAGE)?;
        let mut phrases = PhraseScanner::new(&params);
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
            by_page.push(Contribution {
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
        let count = PhraseScanner::new(&PhrasesParams::default())
            .of(text, |gram, slots| {
                assert_eq!(found.insert(gram, slots), None);
                Ok(())
            })
            .unwrap();
        assert_eq!(found.len(), count as usize);
        found
    }

    #[test]
    fn a_long_text_has_the_same_phrases_and_shingles_in_rounds() {
        let text: String = (0..30_000)
            .map(|word| format!("w{} ", word * word % 7919))
            .collect();
        let mut scanner = PhraseScanner::new(&PhrasesParams::default());
        let mut long = BTreeMap::new();
        scanner
            .of_long(&text, |gram, slots| {
                assert_eq!(long.insert(gram, slots), None);
                Ok(())
            })
            .unwrap();
        assert_eq!(long, phrases(&text));
        assert_eq!(long.values().sum::<u32>(), MINIMA);
    }

    #[test]
    fn no_phrase_joins_the_end_of_a_page_to_its_beginning() {
        assert_eq!(phrases("one two three four five six seven").len(), 3);
        assert_eq!(phrases("one two three four").len(), 0);
    }
}
