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

use cento_fingerprint::{Sketch, SketchParameters, Sketcher};
use cento_flow::{Bitmap, Registry, SeenFilter, StageError};

use super::flow_names::{counter, shuffle, stage, state};
use super::params::{PhrasesParams, SiteKind};
use super::phrase_rows::{PageHome, PhraseContribution, Shingle, TOTAL};
use crate::collapsed::GONE;
use crate::copies::MINIMA;
use crate::corpus_pages::CorpusPages;
use crate::gram_sets::{AT_ONCE, GramSets};
use crate::numbers::Numbers;

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
    sets: GramSets,
    sketcher: Sketcher,
    k: usize,
    sampled: Vec<u64>,
}

impl PhraseScanner {
    fn new(params: &PhrasesParams) -> PhraseScanner {
        PhraseScanner {
            sets: GramSets::default(),
            sketcher: Sketcher::new(SketchParameters {
                k: params.k,
                minima: MINIMA,
            }),
            k: params.k as usize,
            sampled: Vec::new(),
        }
    }

    /// Calls `each` with the phrases of a text, some at a time and each phrase once, and with the
    /// sorted shingles of the text. Returns the number of phrases, which is 0 for a text of fewer
    /// than k words.
    fn of(
        &mut self,
        text: &str,
        mut each: impl FnMut(&[u64], &[u64]) -> Result<(), StageError>,
    ) -> Result<u32, StageError> {
        let (sketcher, sampled) = (&mut self.sketcher, &mut self.sampled);
        sampled.clear();
        let at_once = text.len() <= AT_ONCE;
        if !at_once {
            // Such a text is read twice: for its shingles, and for its phrases.
            let mut whole = None::<Sketch>;
            self.sets.of(text, self.k, |set| {
                if let Some(sketch) = sketcher.sketch_grams(set) {
                    whole = Some(match whole.take() {
                        Some(before) => before.union(&sketch)?,
                        None => sketch,
                    });
                }
                Ok(())
            })?;
            sampled.extend(whole.iter().flat_map(Sketch::minima));
            sampled.sort_unstable();
        }
        let mut count = 0;
        self.sets.of(text, self.k, |set| {
            count += set.len() as u32;
            if at_once {
                sampled.extend_from_slice(sketcher.minima(set).unwrap_or_default());
                sampled.sort_unstable();
            }
            each(set, sampled)
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
    let (texts, k) = (Arc::clone(corpus), params.k as usize);
    registry.map(stage::NOTE, move |context| {
        let gone = context.state::<Bitmap>(GONE)?;
        let seen = context.state::<SeenFilter>(state::SEEN)?;
        let mut sets = GramSets::default();
        texts.for_each_text(&context.task()?, |page, text| {
            context.check()?;
            if gone.get(u64::from(page)) {
                return Ok::<_, StageError>(());
            }
            sets.of(text, k, |set| {
                seen.note_all(set);
                Ok(context.check()?)
            })
        })
    });
    let (texts, params) = (Arc::clone(corpus), params.clone());
    registry.map(stage::SHINGLE, move |context| {
        let gone = context.state::<Bitmap>(GONE)?;
        let sites = context.state::<Numbers>(params.site.name())?;
        let seen = context.state::<SeenFilter>(state::SEEN)?;
        let mut by_phrase = context.shuffle::<Shingle>(shuffle::BY_PHRASE)?;
        let mut by_page = context.shuffle::<PhraseContribution>(shuffle::BY_PAGE)?;
        let mut phrases = PhraseScanner::new(&params);
        texts.for_each_text(&context.task()?, |page, text| {
            if gone.get(u64::from(page)) {
                return Ok(());
            }
            let site = sites.get(page);
            let total = phrases.of(text, |set, sampled| {
                for gram in seen.repeated(set) {
                    by_phrase.push(Shingle {
                        gram,
                        site,
                        page,
                        slots: slots(sampled, gram),
                    })?;
                }
                Ok(context.check()?)
            })?;
            by_page.push(PhraseContribution {
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
    use crate::words::WordHasher;
    use cento_fingerprint::grams;
    use std::collections::BTreeMap;

    /// The phrases of a text, and how many shingles each one is.
    fn phrases(text: &str) -> BTreeMap<u64, u32> {
        let mut found = BTreeMap::new();
        let count = PhraseScanner::new(&PhrasesParams::default())
            .of(text, |set, sampled| {
                for &gram in set {
                    assert_eq!(found.insert(gram, slots(sampled, gram)), None);
                }
                Ok(())
            })
            .unwrap();
        assert_eq!(found.len(), count as usize);
        found
    }

    #[test]
    fn phrases_and_shingles_are_those_of_the_text_however_long_it_is() {
        let params = PhrasesParams::default();
        for words in [100, 30_000, 200_000] {
            let text: String = (0..words)
                .map(|word: u64| format!("w{} ", word * word % 7919 + word / 20_000))
                .collect();
            let mut all = Vec::new();
            let mut hasher = WordHasher::default();
            grams(hasher.words(&text), params.k as usize, |gram, _| {
                all.push(gram);
            });
            let mut expected: BTreeMap<u64, u32> = all.iter().map(|&gram| (gram, 0)).collect();
            let mut sketcher = Sketcher::new(SketchParameters {
                k: params.k,
                minima: MINIMA,
            });
            for minimum in sketcher.minima(&all).unwrap() {
                *expected.get_mut(minimum).unwrap() += 1;
            }
            assert_eq!(text.len() > AT_ONCE, words == 200_000);
            assert_eq!(phrases(&text), expected);
        }
    }

    #[test]
    fn no_phrase_joins_the_end_of_a_page_to_its_beginning() {
        assert_eq!(phrases("one two three four five six seven").len(), 3);
        assert_eq!(phrases("one two three four").len(), 0);
    }
}
