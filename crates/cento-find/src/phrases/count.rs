//! How popular phrases are, and what this makes of pages.
//!
//! ```text
//!   by phrase ─ count ─▶ holders ─ share ─▶ by page ─ weigh ─▶ page rows, coverable ─ choose ─▶ covered
//!                 └▶ examples         └▶ offerers
//! ```
//!
//! Most shared phrases are on few pages: these are held until they are counted. A phrase may be on
//! a million pages, and of such a one nothing is held: its rows go on to a second reduce, behind
//! what the first has counted.

use cento_flow::{Bitmap, Emitter, Registry};
use serde::{Deserialize, Serialize};

use super::params::PhrasesParams;
use super::rows::{
    ABROAD, Coverable, Example, Held, Holder, POPULAR, SAMPLED, Shingle, TOTAL, shuffled,
};
use crate::copies::MINIMA;
use crate::names::{NAMED, ROW};
use crate::numbers::UNSET;

/// Pages of a phrase that are held at once.
const FEW: usize = 256;

/// The account of a page.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Account {
    /// Shingles: 84, or none if there are no phrases.
    pub(super) shingles: u32,
    /// Those that are popular.
    pub(super) popular: u32,
    /// The distinct phrases.
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
        let (phrases, slots) = (u64::from(held.amount), held.facts & 0xffff);
        self.shared_phrases += phrases;
        if held.facts & POPULAR != 0 {
            self.popular += slots * held.amount;
            self.popular_phrases += phrases;
        }
        if held.facts & ABROAD != 0 {
            self.phrases_abroad += phrases;
        }
    }
}

/// Tells pages what a phrase adds to their accounts. What was sampled is told one by one, for it
/// has a number of slots; the rest is added up while it is at hand.
struct Teller {
    exact: bool,
    pages: Vec<u32>,
    counts: Vec<[u32; 4]>,
}

impl Teller {
    const PLACES: usize = 1 << 12;

    fn new(exact: bool) -> Teller {
        Teller {
            exact,
            pages: vec![UNSET; Teller::PLACES],
            counts: vec![[0; 4]; Teller::PLACES],
        }
    }

    /// Tells a page that it has a phrase of which so much is known.
    fn tell(
        &mut self,
        row: Holder,
        head: u32,
        by_page: &mut Emitter<Held>,
        offerers: Option<&mut Emitter<Holder>>,
    ) -> cento_flow::Result<()> {
        let facts = head & (POPULAR | ABROAD);
        // In the paper a page can give what was sampled from it.
        if let Some(offerers) = offerers
            && head & SAMPLED != 0
            && (self.exact || row.slots() > 0)
        {
            offerers.push(row.with(facts | row.slots()))?;
        }
        if row.slots() > 0 {
            return by_page.push(Held {
                page: row.page,
                facts: facts | row.slots(),
                amount: 1,
            });
        }
        let place = (row.page.wrapping_mul(0x9e37_79b1) >> 20) as usize;
        if self.pages.get(place) != Some(&row.page) {
            self.put_out(place, by_page)?;
            if let Some(page) = self.pages.get_mut(place) {
                *page = row.page;
            }
        }
        let counts = self.counts.get_mut(place);
        if let Some(count) = counts.and_then(|counts| counts.get_mut((facts >> 16) as usize)) {
            *count += 1;
        }
        Ok(())
    }

    fn put_out(&mut self, place: usize, by_page: &mut Emitter<Held>) -> cento_flow::Result<()> {
        let page = self.pages.get(place).copied().unwrap_or(UNSET);
        for (facts, count) in (0..).zip(self.counts.get_mut(place).into_iter().flatten()) {
            let amount = std::mem::take(count);
            if amount > 0 {
                by_page.push(Held {
                    page,
                    facts: facts << 16,
                    amount,
                })?;
            }
        }
        Ok(())
    }

    fn finish(mut self, by_page: &mut Emitter<Held>) -> cento_flow::Result<()> {
        (0..Teller::PLACES).try_for_each(|place| self.put_out(place, by_page))
    }
}

pub(super) fn register(registry: &mut Registry, params: &PhrasesParams) {
    let (least, exact, covers) = (params.min_pages, params.exact, params.covers());
    registry.reduce::<Shingle, _>("count", move |context, groups| {
        let named = context.state::<Bitmap>(NAMED)?;
        let mut holders = context.shuffle::<Holder>("holders")?;
        let mut examples = context.shuffle::<Example>("examples")?;
        let mut by_page = context.shuffle::<Held>("by page")?;
        let mut offerers = match covers {
            true => Some(context.shuffle::<Holder>("offerers")?),
            false => None,
        };
        let mut teller = Teller::new(exact);
        let mut few: Vec<Holder> = Vec::with_capacity(FEW);
        while let Some(group) = groups.next_group()? {
            let gram = group.key();
            few.clear();
            let (mut pages, mut sites, mut sampled) = (0u32, 0u32, 0u32);
            let (mut last, mut example) = (None, UNSET);
            for row in group {
                pages += 1;
                // A page of no site is one by itself.
                let site = row.site;
                if site == UNSET || last != Some(site) {
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
                (ABROAD, sites > 1),
                (SAMPLED, sampled > 0),
            ] {
                facts |= if holds { fact } else { 0 };
            }
            if pages as usize > FEW {
                holders.push(Holder::head(gram, facts))?;
            }
            for &row in &few {
                teller.tell(row, facts, &mut by_page, offerers.as_deref_mut())?;
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
        Ok(teller.finish(&mut by_page)?)
    });
    registry.reduce::<Holder, _>("share", move |context, groups| {
        let mut by_page = context.shuffle::<Held>("by page")?;
        let mut offerers = match covers {
            true => Some(context.shuffle::<Holder>("offerers")?),
            false => None,
        };
        let mut teller = Teller::new(exact);
        while let Some(mut group) = groups.next_group()? {
            let Some(head) = group.next().filter(|row| row.is_head()) else {
                return Err("nothing is known of a phrase".into());
            };
            for row in group {
                teller.tell(row, head.facts(), &mut by_page, offerers.as_deref_mut())?;
            }
        }
        Ok(teller.finish(&mut by_page)?)
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
