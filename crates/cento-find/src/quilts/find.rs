//! From patch grams to quilts.
//!
//! ```text
//!   counts ─ patchy ─▶ patchy (one bit a page)
//!     └────────────────▶ others: the counts of a patchy page
//!   postings ─ others ─▶ others: (patchy page, gram, three other pages) ─ cover ─▶ quilts, their sources, what each gave
//! ```
//!
//! Only patchy pages, those with enough patch grams, get lists of who else has their grams: at most
//! m − 1 for each gram. What they link to comes to the same place, so that a gram is known to be
//! attributed if *any* foreign page that has it is linked, whether or not the cover needs that
//! page.

use std::sync::Arc;

use cento_flow::{Bitmap, Context, Lease, Registry, StageError};
use serde::{Deserialize, Serialize};

use super::cover::Classes;
use super::order::PageOrder;
use super::params::{Foreign, Level, is_patchy};
use super::places::{GivenGram, Seeker};
use super::rows::{
    Count, FIRST, GRAMS, GramPage, LINKED_ADDRESS, NOBODY, Others, PATCH, SHARED, Tally,
};
use super::servers::{Common, Linked, domains_of, is_foreign};
use crate::corpus_pages::CorpusPages;
use crate::names::{NAMED, ROW};
use crate::numbers::Numbers;

/// The order of what was counted of a page among the records about it.
pub(super) const QUILT: u64 = ROW;
/// The order of its first patch. The runs of a patch stand before it.
const PATCHES: u64 = ROW + 1;

/// The order of the runs of a patch.
pub(super) fn runs_order(rank: u32) -> u64 {
    PATCHES + 2 * u64::from(rank)
}

/// The order of a patch.
pub(super) fn patch_order(rank: u32) -> u64 {
    runs_order(rank) + 1
}

/// What was counted of a quilt.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Counted {
    pub(super) grams: u64,
    pub(super) shared: u64,
    pub(super) first: u64,
    pub(super) patch: u64,
    /// Patch grams that a page has that can be a source.
    pub(super) given: u64,
    /// Those that a page has that can be a source and that is linked.
    pub(super) attributed: u64,
    pub(super) sources: u64,
}

/// What travels about a patch to the name of its source.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Gift {
    pub(super) quilt: u32,
    pub(super) rank: u32,
    pub(super) grams: u64,
    /// Those of the grams that a linked page has.
    pub(super) attributed: u64,
}

/// Memory that a page needs. The limits of pages bound it; where it is more than pages usually need
/// it is taken from the budget, so that others hold less. If there is no room the page is gone
/// through nonetheless: a run must not fail for one long page.
#[derive(Default)]
pub(super) struct Held {
    lease: Option<Lease>,
    asked: u64,
}

impl Held {
    /// What any page may need.
    const USUAL: u64 = 1 << 20;

    #[inline]
    pub(super) fn hold(&mut self, context: &Context<'_>, bytes: u64) {
        if bytes > self.asked.max(Held::USUAL) {
            self.asked = 2 * bytes;
            self.lease = None;
            self.lease = context.budget().try_take(self.asked);
        }
    }

    pub(super) fn let_go(&mut self) {
        *self = Held::default();
    }
}

pub(super) fn register(registry: &mut Registry, source: &Arc<CorpusPages>) {
    registry.reduce::<Count, _>("patchy", |context, groups| {
        let level: Level = context.parameters()?;
        let patchy = context.state::<Bitmap>(&level.name("patchy"))?;
        let mut others = context.shuffle::<Others>(&level.name("others"))?;
        let mut counts = vec![0u64; PATCH as usize + level.ms.len()];
        while let Some(group) = groups.next_group()? {
            let page = group.key();
            counts.fill(0);
            for row in group {
                if let Some(count) = counts.get_mut(row.sort()) {
                    *count += row.count();
                }
            }
            let count = |sort: u32| counts.get(sort as usize).copied().unwrap_or(0);
            let grams = count(GRAMS);
            let mut sum = 0;
            let patch: Vec<u64> = counts
                .iter()
                .skip(PATCH as usize)
                .map(|count| {
                    sum += count;
                    sum
                })
                .collect();
            context.count("grams of pages", grams);
            context.count("patch grams of pages", sum);
            let patch_of = |m: usize| patch.get(m).copied().unwrap_or(0);
            let mut points = level.points.iter();
            if !points.any(|point| is_patchy(patch_of(point.m), grams, point.theta)) {
                continue;
            }
            context.count("patchy pages", 1);
            patchy.set(u64::from(page));
            let mut tell = |part: u16, told: [u64; 3]| {
                others.push(Others {
                    page,
                    pages: 0,
                    part,
                    gram: 0,
                    others: told.map(|count| count as u32),
                })
            };
            tell(0, [grams, count(SHARED) + sum, count(FIRST)])?;
            for (part, &patch) in (1..).zip(&patch) {
                tell(part, [patch, 0, 0])?;
            }
        }
        Ok(())
    });
    registry.reduce::<GramPage, _>("others", |context, groups| {
        let level: Level = context.parameters()?;
        let patchy = context.state::<Bitmap>(&level.name("patchy"))?;
        let servers = match level.foreign {
            Foreign::None => None,
            _ => Some(context.state::<Numbers>("servers")?),
        };
        let mut out = context.shuffle::<Others>(&level.name("others"))?;
        let mut pages: Vec<u32> = Vec::new();
        let mut others: Vec<u32> = Vec::new();
        let mut triples = 0;
        while let Some(group) = groups.next_group()? {
            let gram = group.key();
            pages.clear();
            pages.extend(group.map(|row| row.page));
            for &page in &pages {
                if !patchy.get(u64::from(page)) {
                    continue;
                }
                others.clear();
                others.extend(pages.iter().filter(|&&other| {
                    other != page
                        && servers
                            .as_ref()
                            .is_none_or(|servers| is_foreign(servers, page, other))
                }));
                triples += others.len() as u64;
                for (part, some) in (0..).zip(others.chunks(3)) {
                    let mut three = [NOBODY; 3];
                    three
                        .iter_mut()
                        .zip(some)
                        .for_each(|(slot, &other)| *slot = other);
                    out.push(Others {
                        page,
                        pages: pages.len() as u16,
                        part,
                        gram,
                        others: three,
                    })?;
                }
            }
        }
        context.count("page, gram, other page", triples);
        Ok(())
    });
    let texts = Arc::clone(source);
    registry.reduce::<Others, _>("cover", move |context, groups| {
        let level: Level = context.parameters()?;
        let known = match level.findings {
            true => Some(Known::of(context, &level)?),
            false => None,
        };
        let mut seeker = Seeker::new(&texts, level.k);
        let mut page = Patchy::default();
        let mut held = Held::default();
        let mut tallies = vec![(0u64, 0u64); level.points.len()];
        while let Some(group) = groups.next_group()? {
            let number = group.key();
            page.clear();
            for row in group {
                page.take(row);
                held.hold(context, page.classes.bytes() + seeker.bytes());
            }
            page.close();
            match &known {
                Some(known) => page.put_out(context, &level, known, number, &mut seeker)?,
                None => page.tally(&level, &mut tallies),
            }
            page.classes.shrink(UNUSUAL);
            if seeker.is_full() {
                seeker.seek(context)?;
                held.let_go();
            }
            context.check()?;
        }
        if level.findings {
            seeker.seek(context)?;
        }
        if !level.findings {
            let mut tally = context.shuffle::<Tally>("tally")?;
            for (point, (quilts, sources)) in level.points.iter().zip(tallies) {
                tally.push(Tally {
                    quilts,
                    sources,
                    point: point.number,
                    unused: 0,
                })?;
            }
        }
        Ok(())
    });
}

/// Patch grams of a page from which on its memory is given back when it is done.
const UNUSUAL: usize = 1 << 20;

/// What must be known of pages to tell their quilts in full.
struct Known {
    order: Arc<PageOrder>,
    domains: Arc<Numbers>,
    addresses: Arc<Numbers>,
}

impl Known {
    fn of(context: &Context<'_>, level: &Level) -> cento_flow::Result<Known> {
        Ok(Known {
            order: context.state("order")?,
            domains: context.state(domains_of(level.foreign).state())?,
            addresses: context.state(Common::Address.state())?,
        })
    }
}

/// A page with enough patch grams.
#[derive(Default)]
struct Patchy {
    grams: u64,
    shared: u64,
    first: u64,
    /// Patch grams for each m.
    patch: Vec<u64>,
    classes: Classes,
    linked: Linked,
    /// The gram whose others are being collected.
    gram: Option<(u64, u16)>,
    others: Vec<u32>,
}

impl Patchy {
    fn clear(&mut self) {
        (self.grams, self.shared, self.first) = (0, 0, 0);
        self.patch.clear();
        self.classes.clear();
        self.linked.clear();
        self.gram = None;
        self.others.clear();
    }

    fn take(&mut self, row: Others) {
        let (pages, part, gram, others) = (row.pages, row.part, row.gram, row.others);
        if pages == 0 {
            let [one, two, three] = others.map(u64::from);
            match part {
                LINKED_ADDRESS.. => self.linked.add(part, others[0]),
                0 => (self.grams, self.shared, self.first) = (one, two, three),
                _ => self.patch.push(one),
            }
            return;
        }
        if self.gram != Some((gram, pages)) {
            self.close();
            self.gram = Some((gram, pages));
        }
        self.others
            .extend(others.iter().filter(|&&other| other != NOBODY));
    }

    /// Ends the gram whose others were collected.
    fn close(&mut self) {
        if let Some((gram, pages)) = self.gram.take() {
            self.classes.add(gram, pages, &self.others);
            self.others.clear();
        }
    }

    fn patch(&self, m: usize) -> u64 {
        self.patch.get(m).copied().unwrap_or(0)
    }

    /// Whether so many grams are enough for a source to count.
    fn enough(&self, level: &Level, m: usize) -> impl Fn(u64) -> bool + use<> {
        let (patch, least) = (self.patch(m).max(1), level.min_share);
        move |grams| grams as f64 / patch as f64 >= least
    }

    /// Counts the page for each definition by which it is a quilt.
    fn tally(&self, level: &Level, tallies: &mut [(u64, u64)]) {
        for (at, &m) in level.ms.iter().enumerate() {
            let patchy = |theta: f64| is_patchy(self.patch(at), self.grams, theta);
            let mut points = level.points.iter().filter(|point| point.m == at);
            if !points.any(|point| patchy(point.theta)) {
                continue;
            }
            let cover = self.classes.cover(m, self.enough(level, at), |_| 0);
            let sources = cover.sources.len() as u64;
            for (point, tally) in level.points.iter().zip(&mut *tallies) {
                if point.m == at && patchy(point.theta) && sources >= u64::from(point.c) {
                    tally.0 += 1;
                    tally.1 += sources;
                }
            }
        }
    }

    /// If the page is a quilt, puts out all that is known of it.
    fn put_out(
        &mut self,
        context: &Context<'_>,
        level: &Level,
        known: &Known,
        number: u32,
        seeker: &mut Seeker<'_>,
    ) -> Result<(), StageError> {
        let (Some(point), Some(&m)) = (level.points.first(), level.ms.first()) else {
            return Ok(());
        };
        let order = |page: u32| known.order.get(page);
        let cover = self.classes.cover(m, self.enough(level, 0), order);
        let sources = cover.sources.len() as u64;
        if sources < u64::from(point.c) {
            return Ok(());
        }
        let named = context.state::<Bitmap>(NAMED)?;
        let mut by_page = context.wide_shuffle("by page")?;
        let mut by_source = context.wide_shuffle("by source")?;
        named.set(u64::from(number));
        self.linked.close();
        let linked = self.classes.any(|other| {
            let linked = &self.linked;
            linked.attribute(&known.domains, &known.addresses, number, other)
        });
        let is_linked = |class: usize| linked.get(class).is_some_and(|&linked| linked);
        let (mut given, mut attributed) = (0, 0);
        let mut of_sources = vec![0u64; cover.sources.len()];
        for (_, class) in self.classes.grams(m) {
            given += 1;
            if is_linked(class) {
                attributed += 1;
                let rank = cover.rank(class).map(|rank| rank as usize);
                if let Some(count) = rank.and_then(|rank| of_sources.get_mut(rank)) {
                    *count += 1;
                }
            }
        }
        let counted = serde_json::to_vec(&Counted {
            grams: self.grams,
            shared: self.shared,
            first: self.first,
            patch: self.patch(0),
            given,
            attributed,
            sources,
        })?;
        by_page.push_numbered(u64::from(number), QUILT, &counted)?;
        let patches = cover.sources.iter().zip(of_sources);
        for (rank, (source, attributed)) in (0..).zip(patches) {
            named.set(u64::from(source.page));
            let gift = serde_json::to_vec(&Gift {
                quilt: number,
                rank,
                grams: source.grams,
                attributed,
            })?;
            by_source.push_numbered(u64::from(source.page), ROW, &gift)?;
        }
        let given = self.classes.grams(m).filter_map(|(gram, class)| {
            let rank = cover.rank(class)?;
            let source = cover.sources.get(rank as usize)?.page;
            Some(GivenGram { gram, rank, source })
        });
        seeker.add(context, number, given)
    }
}
