//! How popular phrases are, and what this makes of pages.
//!
//! ```text
//!   by phrase ─ count ─▶ holders ─ share ─▶ by page ─ weigh ─▶ page rows, coverable ─ choose ─▶ covered
//!                 └▶ examples         └▶ offerers
//! ```
//!
//! A phrase may be on a million pages, so nothing about it is held: a first reduce counts, and puts what it has counted in front
//! of the same rows for the second one.

use cento_flow::{Bitmap, Registry};
use serde::{Deserialize, Serialize};

use super::params::PhrasesParams;
use super::rows::{
    ABROAD, Coverable, Example, Held, Holder, POPULAR, SAMPLED, Shingle, TOTAL, shuffled,
};
use crate::copies::MINIMA;
use crate::names::{NAMED, ROW};
use crate::numbers::UNSET;

/// The account of a page.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Account {
    /// Shingles, of 84; none if there are no words.
    pub(super) shingles: u32,
    /// Those that are popular.
    pub(super) popular: u32,
    /// Those on other pages too.
    pub(super) shared: u32,
    /// Those on other sites too.
    pub(super) abroad: u32,
    /// The distinct phrases that were counted.
    pub(super) phrases: u64,
    /// Those that are popular.
    pub(super) popular_phrases: u64,
    /// Those on other pages too.
    pub(super) shared_phrases: u64,
    /// Those on other sites too.
    pub(super) phrases_abroad: u64,
}

impl Account {
    fn add(&mut self, held: Held) {
        if held.facts & TOTAL != 0 {
            self.phrases = u64::from(held.amount);
            self.shingles = if held.amount > 0 { MINIMA } else { 0 };
            return;
        }
        let slots = held.facts & 0xffff;
        self.shared += slots;
        self.shared_phrases += 1;
        if held.facts & POPULAR != 0 {
            self.popular += slots;
            self.popular_phrases += 1;
        }
        if held.facts & ABROAD != 0 {
            self.abroad += slots;
            self.phrases_abroad += 1;
        }
    }
}

pub(super) fn register(registry: &mut Registry, params: &PhrasesParams) {
    let least = params.min_pages;
    registry.reduce::<Shingle, _>("count", move |context, groups| {
        let named = context.state::<Bitmap>(NAMED)?;
        let mut holders = context.shuffle::<Holder>("holders")?;
        let mut examples = context.shuffle::<Example>("examples")?;
        while let Some(mut group) = groups.next_group()? {
            let gram = group.key();
            let (Some(first), Some(second)) = (group.next(), group.next()) else {
                continue;
            };
            let (mut pages, mut sites, mut sampled) = (0u32, 0u32, false);
            let (mut last, mut example) = (None, UNSET);
            for row in [first, second].into_iter().chain(group) {
                pages += 1;
                // A page of no site is one by itself.
                let site = row.site;
                if site == UNSET || last != Some(site) {
                    sites += 1;
                    last = Some(site);
                }
                sampled |= row.slots > 0;
                example = example.min(row.page);
                holders.push(Holder::new(gram, row.page, row.slots))?;
            }
            let mut facts = 0;
            for (fact, holds) in [
                (POPULAR, pages >= least),
                (ABROAD, sites > 1),
                (SAMPLED, sampled),
            ] {
                facts |= if holds { fact } else { 0 };
            }
            holders.push(Holder::head(gram, facts))?;
            if pages >= least {
                named.set(u64::from(example));
                examples.push(Example {
                    page: example,
                    gram,
                    pages,
                    sites,
                })?;
            }
        }
        Ok(())
    });
    let covers = params.covers();
    registry.reduce::<Holder, _>("share", move |context, groups| {
        let mut by_page = context.shuffle::<Held>("by page")?;
        let mut offerers = match covers {
            true => Some(context.shuffle::<Holder>("offerers")?),
            false => None,
        };
        while let Some(mut group) = groups.next_group()? {
            let gram = group.key();
            let Some(head) = group.next().filter(|row| row.is_head()) else {
                return Err("nothing is known of a phrase".into());
            };
            let mut facts = 0;
            for fact in [POPULAR, ABROAD] {
                facts |= if head.has(fact) { fact } else { 0 };
            }
            for row in group {
                let facts = facts | row.slots();
                by_page.push(Held {
                    page: row.page,
                    facts,
                    amount: 1,
                })?;
                if let Some(offerers) = &mut offerers
                    && head.has(SAMPLED)
                {
                    offerers.push(Holder::new(gram, row.page, facts))?;
                }
            }
        }
        Ok(())
    });
    let (from, covers) = (params.cover_from, params.covers());
    registry.reduce::<Held, _>("weigh", move |context, groups| {
        let mut rows = context.wide_shuffle("page rows")?;
        let mut coverable = match covers {
            true => Some(context.shuffle::<Coverable>("coverable")?),
            false => None,
        };
        while let Some(group) = groups.next_group()? {
            let page = group.key();
            let mut account = Account::default();
            group.for_each(|held| account.add(held));
            if account.popular >= from {
                context.count("pages of popular shingles", 1);
            }
            if let Some(coverable) = &mut coverable
                && account.popular >= from.max(1)
            {
                coverable.push(Coverable {
                    order: shuffled(page),
                    popular: account.popular,
                    page,
                })?;
            }
            rows.push_numbered(u64::from(page), ROW, &serde_json::to_vec(&account)?)?;
            context.count("pages", 1);
        }
        Ok(())
    });
    let most = params.cover_pages.map_or(usize::MAX, |most| most as usize);
    registry.reduce::<Coverable, _>("choose", move |context, groups| {
        let covered = context.state::<Bitmap>("covered")?;
        while let Some(group) = groups.next_group()? {
            for row in group.take(most) {
                covered.set(u64::from(row.page));
                context.count("covered", 1);
            }
        }
        Ok(())
    });
}
