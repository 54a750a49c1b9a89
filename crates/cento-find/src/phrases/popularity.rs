//! The popularity of phrases, and the number of popular phrases of pages.
//!
//! ```text
//!   by phrase ─ count ─▶ holders ─ share ─▶ by page ─ sum ─▶ page rows, coverable
//!                 └▶ examples         └▶ offerers            coverable ─ choose ─▶ covered
//! ```
//!
//! Most shared phrases are on few pages, which are buffered until they are counted. A phrase may
//! also be on a million pages. Its rows are not buffered but sent to a second reduce, after a row
//! with their count.

use cento_flow::{Bitmap, Emitter, Registry};
use serde::{Deserialize, Serialize};

use super::flow_names::{counter, shuffle, stage, state};
use super::params::PhrasesParams;
use super::phrase_rows::{
    ABROAD, Coverable, Example, Holder, POPULAR, PhraseContribution, SAMPLED, Shingle, TOTAL,
    shuffled,
};
use crate::copies::MINIMA;
use crate::names::{NAMED, ROW};
use crate::numbers::UNSET;

/// The most pages of a phrase that are buffered.
const FEW: usize = 256;

/// The numbers of phrases of a page.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PhraseCounts {
    /// Shingles: 84, or 0 if there are no phrases.
    pub(super) shingles: u32,
    /// Popular shingles.
    pub(super) popular: u32,
    /// Distinct phrases.
    pub(super) phrases: u64,
    /// Popular phrases.
    pub(super) popular_phrases: u64,
    /// Phrases that are also on other pages.
    pub(super) shared_phrases: u64,
    /// Phrases that are also on other sites.
    pub(super) phrases_abroad: u64,
}

impl PhraseCounts {
    fn add(&mut self, added: PhraseContribution) {
        if added.facts & TOTAL != 0 {
            self.phrases = u64::from(added.amount);
            self.shingles = if added.amount > 0 { MINIMA } else { 0 };
            return;
        }
        let (phrases, slots) = (u64::from(added.amount), added.facts & 0xffff);
        self.shared_phrases += phrases;
        if added.facts & POPULAR != 0 {
            self.popular += slots * added.amount;
            self.popular_phrases += phrases;
        }
        if added.facts & ABROAD != 0 {
            self.phrases_abroad += phrases;
        }
    }
}

/// Emits what phrases add to the counts of their pages. Sampled phrases are emitted one by one,
/// because each has a number of slots; the others are summed up in a cache first.
struct ContributionCache {
    exact: bool,
    pages: Vec<u32>,
    counts: Vec<[u32; 4]>,
}

impl ContributionCache {
    const SLOTS: usize = 1 << 12;

    fn new(exact: bool) -> ContributionCache {
        ContributionCache {
            exact,
            pages: vec![UNSET; ContributionCache::SLOTS],
            counts: vec![[0; 4]; ContributionCache::SLOTS],
        }
    }

    /// Adds a phrase with these facts to the counts of a page.
    fn add(
        &mut self,
        row: Holder,
        head: u32,
        by_page: &mut Emitter<PhraseContribution>,
        offerers: Option<&mut Emitter<Holder>>,
    ) -> cento_flow::Result<()> {
        let facts = head & (POPULAR | ABROAD);
        // In the paper a page can cover what was sampled from it.
        if let Some(offerers) = offerers
            && head & SAMPLED != 0
            && (self.exact || row.slots() > 0)
        {
            offerers.push(row.with(facts | row.slots()))?;
        }
        if row.slots() > 0 {
            return by_page.push(PhraseContribution {
                page: row.page,
                facts: facts | row.slots(),
                amount: 1,
            });
        }
        let slot = (row.page.wrapping_mul(0x9e37_79b1) >> 20) as usize;
        if self.pages.get(slot) != Some(&row.page) {
            self.flush(slot, by_page)?;
            if let Some(page) = self.pages.get_mut(slot) {
                *page = row.page;
            }
        }
        let counts = self.counts.get_mut(slot);
        if let Some(count) = counts.and_then(|counts| counts.get_mut((facts >> 16) as usize)) {
            *count += 1;
        }
        Ok(())
    }

    fn flush(
        &mut self,
        slot: usize,
        by_page: &mut Emitter<PhraseContribution>,
    ) -> cento_flow::Result<()> {
        let page = self.pages.get(slot).copied().unwrap_or(UNSET);
        for (facts, count) in (0..).zip(self.counts.get_mut(slot).into_iter().flatten()) {
            let amount = std::mem::take(count);
            if amount > 0 {
                by_page.push(PhraseContribution {
                    page,
                    facts: facts << 16,
                    amount,
                })?;
            }
        }
        Ok(())
    }

    fn finish(mut self, by_page: &mut Emitter<PhraseContribution>) -> cento_flow::Result<()> {
        (0..ContributionCache::SLOTS).try_for_each(|slot| self.flush(slot, by_page))
    }
}

pub(super) fn register(registry: &mut Registry, params: &PhrasesParams) {
    let (least, exact, covers) = (params.min_pages, params.exact, params.covers());
    registry.reduce::<Shingle, _>(stage::COUNT, move |context, groups| {
        let named = context.state::<Bitmap>(NAMED)?;
        let mut holders = context.shuffle::<Holder>(shuffle::HOLDERS)?;
        let mut examples = context.shuffle::<Example>(shuffle::EXAMPLES)?;
        let mut by_page = context.shuffle::<PhraseContribution>(shuffle::BY_PAGE)?;
        let mut offerers = match covers {
            true => Some(context.shuffle::<Holder>(shuffle::OFFERERS)?),
            false => None,
        };
        let mut cache = ContributionCache::new(exact);
        let mut few: Vec<Holder> = Vec::with_capacity(FEW);
        while let Some(group) = groups.next_group()? {
            let gram = group.key();
            few.clear();
            let (mut pages, mut sites, mut sampled) = (0u32, 0u32, 0u32);
            let mut of_no_site = 0u32;
            let (mut last, mut example) = (None, UNSET);
            for row in group {
                pages += 1;
                let site = row.site;
                if site == UNSET {
                    of_no_site += 1;
                } else if last != Some(site) {
                    sites += 1;
                    last = Some(site);
                }
                sampled += u32::from(row.slots > 0);
                example = example.min(row.page);
                let holder = Holder::new(gram, row.page, row.slots);
                if few.len() == FEW {
                    holders.extend(few.drain(..))?;
                }
                match pages as usize > FEW {
                    true => holders.push(holder)?,
                    false => few.push(holder),
                }
            }
            if pages < 2 {
                continue;
            }
            let popular = if exact { pages } else { sampled } >= least;
            let mut facts = 0;
            for (fact, holds) in [
                (POPULAR, popular),
                // For its originality, a page without a site is foreign to all others.
                (ABROAD, sites.saturating_add(of_no_site) > 1),
                (SAMPLED, sampled > 0),
            ] {
                facts |= if holds { fact } else { 0 };
            }
            if pages as usize > FEW {
                holders.push(Holder::head(gram, facts))?;
            }
            for &row in &few {
                cache.add(row, facts, &mut by_page, offerers.as_deref_mut())?;
            }
            if popular {
                named.set(u64::from(example));
                examples.push(Example {
                    page: example,
                    gram,
                    pages,
                    sites,
                    sampled,
                })?;
            }
        }
        Ok(cache.finish(&mut by_page)?)
    });
    registry.reduce::<Holder, _>(stage::SHARE, move |context, groups| {
        let mut by_page = context.shuffle::<PhraseContribution>(shuffle::BY_PAGE)?;
        let mut offerers = match covers {
            true => Some(context.shuffle::<Holder>(shuffle::OFFERERS)?),
            false => None,
        };
        let mut cache = ContributionCache::new(exact);
        while let Some(mut group) = groups.next_group()? {
            let Some(head) = group.next().filter(|row| row.is_head()) else {
                return Err("a phrase has no head".into());
            };
            for row in group {
                cache.add(row, head.facts(), &mut by_page, offerers.as_deref_mut())?;
            }
        }
        Ok(cache.finish(&mut by_page)?)
    });
    let (from, covers) = (params.cover_from, params.covers());
    registry.reduce::<PhraseContribution, _>(stage::SUM, move |context, groups| {
        let mut rows = context.wide_shuffle(shuffle::PAGE_ROWS)?;
        let mut coverable = match covers {
            true => Some(context.shuffle::<Coverable>(shuffle::COVERABLE)?),
            false => None,
        };
        while let Some(group) = groups.next_group()? {
            let page = group.key();
            let mut counts = PhraseCounts::default();
            group.for_each(|added| counts.add(added));
            if counts.popular >= from {
                context.count(counter::POPULAR_PAGES, 1);
            }
            if let Some(coverable) = &mut coverable
                && counts.popular >= from.max(1)
            {
                coverable.push(Coverable {
                    order: shuffled(page),
                    popular: counts.popular,
                    page,
                })?;
            }
            rows.push_numbered(u64::from(page), ROW, &serde_json::to_vec(&counts)?)?;
            context.count(counter::PAGES, 1);
        }
        Ok(())
    });
    let most = params.cover_pages.map_or(usize::MAX, |most| most as usize);
    registry.reduce::<Coverable, _>(stage::CHOOSE, move |context, groups| {
        let covered = context.state::<Bitmap>(state::COVERED)?;
        while let Some(group) = groups.next_group()? {
            for row in group.take(most) {
                covered.set(u64::from(row.page));
                context.count(counter::COVERED, 1);
            }
        }
        Ok(())
    });
}
