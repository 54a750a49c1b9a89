//! From pages to phrases: who is left out, who is whose neighbour, and which phrases are on which page.
//!
//! ```text
//!   pairs of copies ─ gone ─▶ gone
//!   pages ─ homes ─▶ by host, by domain, by ip ─ alike ─▶ a number for each host, domain and address
//!   texts ─ note ─▶ seen          (only if all phrases are counted)
//!   texts ─ shingle ─▶ by phrase, by page
//! ```

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use cento_flow::{Bitmap, Registry, SeenFilter, StageError};
use cento_print::{SketchParameters, Sketcher, circular_grams};

use super::params::{PhrasesParams, SiteKind};
use super::rows::{Held, Home, Shingle, TOTAL};
use crate::copies::MINIMA;
use crate::error::{Error, Result};
use crate::numbers::Numbers;
use crate::source::Source;
use crate::tables::read_table;
use crate::words::WordHasher;

/// The shuffle in which pages of one site meet.
pub(super) fn meeting(kind: SiteKind) -> &'static str {
    match kind {
        SiteKind::Host => "by host",
        SiteKind::Domain => "by domain",
        SiteKind::Ip => "by ip",
    }
}

/// The phrases of one text after the other.
struct Phrases {
    hasher: WordHasher,
    sketcher: Sketcher,
    k: usize,
    exact: bool,
    grams: Vec<u64>,
    sampled: Vec<u64>,
}

impl Phrases {
    fn new(params: &PhrasesParams) -> Phrases {
        Phrases {
            hasher: WordHasher::default(),
            sketcher: Sketcher::new(SketchParameters {
                k: params.k,
                minima: MINIMA,
            }),
            k: params.k as usize,
            exact: params.exact,
            grams: Vec::new(),
            sampled: Vec::new(),
        }
    }

    /// Calls `each` with every phrase of a text that counts, once, and with how many of its shingles it is. Answers how many
    /// phrases these are.
    fn of(
        &mut self,
        text: &str,
        mut each: impl FnMut(u64, u32) -> std::result::Result<(), StageError>,
    ) -> std::result::Result<u32, StageError> {
        self.grams.clear();
        let grams = &mut self.grams;
        circular_grams(self.hasher.words(text), self.k, |gram| grams.push(gram));
        self.sampled.clear();
        let minima = self.sketcher.minima(&self.grams).unwrap_or_default();
        self.sampled.extend_from_slice(minima);
        self.sampled.sort_unstable();
        let mut count = 0;
        if !self.exact {
            for run in self.sampled.chunk_by(|one, other| one == other) {
                if let Some(&gram) = run.first() {
                    each(gram, run.len() as u32)?;
                    count += 1;
                }
            }
            return Ok(count);
        }
        self.grams.sort_unstable();
        self.grams.dedup();
        let mut sampled = self.sampled.as_slice();
        for &gram in &self.grams {
            let slots = sampled.iter().take_while(|&&other| other == gram).count();
            sampled = sampled.get(slots..).unwrap_or_default();
            each(gram, slots as u32)?;
            count += 1;
        }
        Ok(count)
    }
}

pub(super) fn register(registry: &mut Registry, source: &Arc<Source>, params: &PhrasesParams) {
    let pages = Arc::clone(source);
    registry.map("gone", move |context| {
        let gone = context.state::<Bitmap>("gone")?;
        let mut ids = dropped(context.task()?)?.peekable();
        for task in 0..pages.page_tasks().len() {
            pages.for_each_page(task, |facts| {
                // Both are in the order of ids, and an id that no page has would hold up all others.
                while let Some(id) =
                    ids.next_if(|id| id.as_ref().is_ok_and(|&id| id < facts.page_id))
                {
                    id?;
                }
                match ids.next_if(|id| id.as_ref().map_or(true, |&id| id == facts.page_id)) {
                    Some(id) => {
                        id?;
                        if facts.reject.is_none() {
                            gone.set(u64::from(facts.number));
                            context.count("gone", 1);
                        }
                    }
                    None => {}
                }
                Ok::<_, StageError>(())
            })?;
            context.check()?;
        }
        Ok(())
    });
    let pages = Arc::clone(source);
    registry.map("homes", move |context| {
        let gone = context.state::<Bitmap>("gone")?;
        let kinds: Vec<SiteKind> = context.parameters()?;
        let mut meetings = kinds
            .iter()
            .map(|&kind| Ok((kind, context.shuffle::<Home>(meeting(kind))?)))
            .collect::<cento_flow::Result<Vec<_>>>()?;
        pages.for_each_page(context.task()?, |facts| {
            if facts.reject.is_none() && !gone.get(u64::from(facts.number)) {
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

fn texts(registry: &mut Registry, source: &Arc<Source>, params: &PhrasesParams) {
    let (texts, asked) = (Arc::clone(source), params.clone());
    registry.map("note", move |context| {
        let gone = context.state::<Bitmap>("gone")?;
        let seen = context.state::<SeenFilter>("seen")?;
        let mut phrases = Phrases::new(&asked);
        texts.for_each_text(&context.task()?, |page, text| {
            if !gone.get(u64::from(page)) {
                context.check()?;
                phrases.of(text, |gram, _| {
                    seen.note(gram);
                    Ok(())
                })?;
            }
            Ok::<_, StageError>(())
        })
    });
    let (texts, asked) = (Arc::clone(source), params.clone());
    registry.map("shingle", move |context| {
        let gone = context.state::<Bitmap>("gone")?;
        let sites = context.state::<Numbers>(asked.site.name())?;
        let seen = match asked.exact {
            true => Some(context.state::<SeenFilter>("seen")?),
            false => None,
        };
        let mut by_phrase = context.shuffle::<Shingle>("by phrase")?;
        let mut by_page = context.shuffle::<Held>("by page")?;
        let mut phrases = Phrases::new(&asked);
        texts.for_each_text(&context.task()?, |page, text| {
            if gone.get(u64::from(page)) {
                return Ok(());
            }
            let site = sites.get(page);
            let total = phrases.of(text, |gram, slots| {
                if seen.as_ref().is_none_or(|seen| seen.seen_again(gram)) {
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

/// The ids of the pages that go, in order.
fn dropped(pairs: PathBuf) -> Result<impl Iterator<Item = Result<u64>>> {
    let ids = read_table(&pairs)?.flat_map(|batch| {
        let ids = batch.and_then(|batch| {
            let column = batch.column_by_name("page_id");
            let ids = column.and_then(|column| column.as_primitive_opt::<UInt64Type>());
            ids.map(|ids| ids.values().to_vec())
                .ok_or_else(|| Error::Parameter("the table of pairs is not one".into()))
        });
        match ids {
            Ok(ids) => ids.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        }
    });
    Ok(ids)
}
