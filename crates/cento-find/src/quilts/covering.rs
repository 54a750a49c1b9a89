//! From patch grams to the covers of quilts.
//!
//! ```text
//!   counts ─ patchy ─▶ patchy (one bit per page)
//!     └────────────────▶ others: the counts of a patchy page
//!   postings ─ others ─▶ others: (patchy page, class, other pages, grams) ─ cover ─▶ quilts
//! ```
//!
//! Only patchy pages, those with enough patch grams, get lists of the other pages that have their
//! grams: at most m − 1 for each class of grams. Their links arrive in the same group, so that a
//! gram counts as attributed if *any* foreign page that has it is linked, whether or not the cover
//! needs that page.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cento_flow::{Bitmap, Context, Lease, Registry, StageError};
use serde::{Deserialize, Serialize};

use super::cover::{Cover, GramClasses};
use super::flow_names::{counter, shuffle, stage, state};
use super::gram_rows::{
    CategoryCount, ClassPart, FIRST, GRAMS, LINKED_ADDRESS, Others, PATCH, REPEATED, SHARED,
    SweepTally,
};
use super::order::DateOrder;
use super::params::{Foreign, Level, is_patchy};
use super::places::{CoveredGram, PatchLocator};
use super::servers::{Linked, PageProperty, domains_of, is_foreign};
use super::spilled::SpilledGrams;
use crate::corpus_pages::CorpusPages;
use crate::names::{NAMED, ROW};
use crate::numbers::Numbers;

/// The order of the counts of a quilt among the records about its page.
pub(super) const QUILT: u64 = ROW;
/// The order of its first patch. The runs of a patch come before the patch.
const PATCHES: u64 = ROW + 1;

/// The order of the runs of a patch.
pub(super) fn runs_order(rank: u32) -> u64 {
    PATCHES + 2 * u64::from(rank)
}

/// The order of a patch.
pub(super) fn patch_order(rank: u32) -> u64 {
    runs_order(rank) + 1
}

/// The counts of a quilt.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct QuiltCounts {
    pub(super) grams: u64,
    pub(super) shared: u64,
    pub(super) first: u64,
    pub(super) patch: u64,
    /// Patch grams that are on a page that can be a source.
    pub(super) foreign: u64,
    /// Those that are on a linked page that can be a source.
    pub(super) attributed: u64,
    pub(super) sources: u64,
}

/// A patch, on its way to the name of its source.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct UnnamedPatch {
    pub(super) quilt: u32,
    pub(super) rank: u32,
    pub(super) grams: u64,
    /// Those of the grams that a linked page has.
    pub(super) attributed: u64,
}

/// The memory of one page. If it exceeds what any page may use, it is leased from the budget.
#[derive(Default)]
pub(super) struct PageMemory {
    lease: Option<Lease>,
    leased: u64,
}

impl PageMemory {
    /// What any page may use without a lease.
    pub(super) const USUAL: u64 = 1 << 20;

    /// Reserves bytes. Returns false if the budget has too few left.
    #[inline]
    pub(super) fn reserve(&mut self, context: &Context<'_>, bytes: u64) -> bool {
        if bytes > self.leased.max(PageMemory::USUAL) {
            self.release();
            self.lease = context.budget().try_take(2 * bytes);
            self.leased = self.lease.as_ref().map_or(0, Lease::bytes);
            return self.lease.is_some();
        }
        true
    }

    pub(super) fn release(&mut self) {
        *self = PageMemory::default();
    }
}

pub(super) fn register(registry: &mut Registry, corpus: &Arc<CorpusPages>, temp: &Path) {
    registry.reduce::<CategoryCount, _>(stage::PATCHY, |context, groups| {
        let level: Level = context.parameters()?;
        let patchy = context.state::<Bitmap>(&level.name(state::PATCHY))?;
        let mut others = context.shuffle::<Others>(&level.name(shuffle::OTHERS))?;
        let mut counts = vec![0u64; PATCH as usize + level.ms.len()];
        while let Some(group) = groups.next_group()? {
            let page = group.key();
            counts.fill(0);
            for row in group {
                if let Some(count) = counts.get_mut(row.category()) {
                    *count += row.count();
                }
            }
            let count = |category: u32| counts.get(category as usize).copied().unwrap_or(0);
            let grams = count(GRAMS).saturating_sub(count(REPEATED));
            let mut sum = 0;
            let patch: Vec<u64> = counts
                .iter()
                .skip(PATCH as usize)
                .map(|count| {
                    sum += count;
                    sum
                })
                .collect();
            context.count(counter::GRAMS, grams);
            context.count(counter::PATCH_GRAMS, sum);
            let patch_of = |m: usize| patch.get(m).copied().unwrap_or(0);
            let mut points = level.points.iter();
            if !points.any(|point| is_patchy(patch_of(point.m), grams, point.theta)) {
                continue;
            }
            context.count(counter::PATCHY, 1);
            patchy.set(u64::from(page));
            let mut push = |part: u32, counts: [u64; 3]| {
                others.push(Others::about(
                    page,
                    part,
                    0,
                    counts.map(|count| count as u32),
                ))
            };
            push(0, [grams, count(SHARED) + sum, count(FIRST)])?;
            for (part, &patch) in (1..).zip(&patch) {
                push(part, [patch, 0, 0])?;
            }
        }
        Ok(())
    });
    registry.reduce::<ClassPart, _>(stage::OTHERS, |context, groups| {
        let level: Level = context.parameters()?;
        let patchy = context.state::<Bitmap>(&level.name(state::PATCHY))?;
        let servers = match level.foreign {
            Foreign::None => None,
            _ => Some(context.state::<Numbers>(state::SERVERS)?),
        };
        let mut out = context.shuffle::<Others>(&level.name(shuffle::OTHERS))?;
        let mut pages: Vec<u32> = Vec::new();
        let mut others: Vec<u32> = Vec::new();
        // Patchy pages of a class that have foreign pages in it.
        let mut patched: Vec<u32> = Vec::new();
        let mut grams: Vec<u64> = Vec::with_capacity(Others::GRAMS_PER_ROW);
        let mut triples = 0;
        while let Some(group) = groups.next_group()? {
            let class = group.key();
            let (mut parts, mut rows, mut triples_of_gram) = (0, None, 0);
            let mut key = (0, class);
            pages.clear();
            grams.clear();
            for row in group {
                if let Some((part, some)) = row.pages() {
                    // Every task that has grams of the class lists its pages.
                    if part == parts {
                        pages.extend(some);
                        parts += 1;
                    }
                    continue;
                }
                // The list is complete.
                let rows = match &mut rows {
                    Some(rows) => rows,
                    none => {
                        key.0 = level.least_m(pages.len()) as u16;
                        patched.clear();
                        for &page in pages.iter().filter(|&&page| patchy.get(u64::from(page))) {
                            others.clear();
                            others.extend(pages.iter().filter(|&&other| {
                                other != page
                                    && servers
                                        .as_ref()
                                        .is_none_or(|servers| is_foreign(servers, page, other))
                            }));
                            for (part, some) in (0..).zip(others.chunks(Others::PAGES_PER_ROW)) {
                                out.push(Others::pages(page, key, part, some))?;
                            }
                            if !others.is_empty() {
                                patched.push(page);
                                triples_of_gram += others.len() as u64;
                            }
                        }
                        none.insert(0)
                    }
                };
                if patched.is_empty() {
                    break;
                }
                for gram in row.grams() {
                    triples += triples_of_gram;
                    grams.push(gram);
                    if grams.len() == Others::GRAMS_PER_ROW {
                        for &page in &patched {
                            out.push(Others::grams(page, key, *rows, &grams))?;
                        }
                        *rows += 1;
                        grams.clear();
                    }
                }
            }
            if let (Some(rows), false) = (rows, grams.is_empty()) {
                for &page in &patched {
                    out.push(Others::grams(page, key, rows, &grams))?;
                }
            }
        }
        context.count(counter::TRIPLES, triples);
        Ok(())
    });
    let (texts, temp) = (Arc::clone(corpus), temp.to_owned());
    registry.reduce::<Others, _>(stage::COVER, move |context, groups| {
        let level: Level = context.parameters()?;
        let states = match level.findings {
            true => Some(PageStates::of(context, &level)?),
            false => None,
        };
        let mut locator = PatchLocator::new(&texts, level.k);
        let mut page = PatchyPage::new(texts.kept(), temp.clone());
        let mut tallies = vec![(0u64, 0u64); level.points.len()];
        while let Some(group) = groups.next_group()? {
            let number = group.key();
            page.clear();
            for row in group {
                page.add(context, row, locator.bytes())?;
            }
            page.close(context)?;
            match &states {
                Some(states) => page.emit(context, &level, states, number, &mut locator)?,
                None => page.tally(&level, &mut tallies)?,
            }
            if locator.is_full() {
                locator.locate(context)?;
                page.memory.release();
            }
            context.check()?;
        }
        if level.findings {
            locator.locate(context)?;
        }
        if !level.findings {
            let mut tally = context.shuffle::<SweepTally>(shuffle::TALLY)?;
            for (point, (quilts, sources)) in level.points.iter().zip(tallies) {
                tally.push(SweepTally {
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

/// Patch grams of a page above which its buffers are freed when it is done.
const UNUSUAL: usize = 1 << 20;

/// What must be known of pages to describe their quilts in full.
struct PageStates {
    order: Arc<DateOrder>,
    domains: Arc<Numbers>,
    addresses: Arc<Numbers>,
}

impl PageStates {
    fn of(context: &Context<'_>, level: &Level) -> cento_flow::Result<PageStates> {
        Ok(PageStates {
            order: context.state(state::ORDER)?,
            domains: context.state(domains_of(level.foreign).state())?,
            addresses: context.state(PageProperty::Address.state())?,
        })
    }
}

/// A page with enough patch grams.
struct PatchyPage {
    grams: u64,
    shared: u64,
    first: u64,
    /// Patch grams for each m.
    patch: Vec<u64>,
    classes: GramClasses,
    /// All grams, if they did not fit in memory. Then `classes` is empty.
    spilled: Option<SpilledGrams>,
    linked: Linked,
    /// The class that is being read, and its number if some of its grams were added.
    class: Option<(u16, u64)>,
    number: Option<u32>,
    /// The other pages of the class.
    others: Vec<u32>,
    memory: PageMemory,
    /// Pages of the corpus.
    pages: u32,
    /// Where grams are spilled to.
    temp: PathBuf,
}

impl PatchyPage {
    fn new(pages: u32, temp: PathBuf) -> PatchyPage {
        PatchyPage {
            grams: 0,
            shared: 0,
            first: 0,
            patch: Vec::new(),
            classes: GramClasses::default(),
            spilled: None,
            linked: Linked::default(),
            class: None,
            number: None,
            others: Vec::new(),
            memory: PageMemory::default(),
            pages,
            temp,
        }
    }

    fn clear(&mut self) {
        (self.grams, self.shared, self.first) = (0, 0, 0);
        self.patch.clear();
        self.classes.shrink(UNUSUAL);
        self.classes.clear();
        if self.spilled.take().is_some() {
            self.memory.release();
        }
        self.linked.clear();
        self.class = None;
    }

    /// Adds a row of the page. `more` is the memory that is in use beside it.
    fn add(&mut self, context: &Context<'_>, row: Others, more: u64) -> Result<(), StageError> {
        let (least_m, part, values) = (row.least_m, row.part, row.values);
        if least_m == 0 {
            let [one, two, three, ..] = values.map(u64::from);
            match part {
                0 => (self.grams, self.shared, self.first) = (one, two, three),
                _ if part >= u32::from(LINKED_ADDRESS) => self.linked.add(part as u16, values[0]),
                _ => self.patch.push(one),
            }
            return Ok(());
        }
        let class = (least_m, row.class);
        if self.class != Some(class) {
            (self.class, self.number) = (Some(class), None);
            self.others.clear();
        }
        if part < Others::GRAMS {
            let some = values.get(..usize::from(row.count));
            self.others.extend_from_slice(some.unwrap_or_default());
            return Ok(());
        }
        let bytes = self.classes.bytes(self.pages) + more;
        if self.spilled.is_none() && !self.memory.reserve(context, bytes) {
            self.spill(context)?;
        }
        for gram in row.grams_of() {
            let added = match &mut self.spilled {
                Some(spilled) => spilled.add(gram, least_m, &self.others),
                None => {
                    let classes = &mut self.classes;
                    let number = self
                        .number
                        .get_or_insert_with(|| classes.class_of(&self.others));
                    classes.push(gram, least_m, *number);
                    Ok(())
                }
            };
            added.map_err(|error| self.failed(error))?;
        }
        Ok(())
    }

    /// Moves all grams to a file.
    fn spill(&mut self, context: &Context<'_>) -> Result<(), StageError> {
        context.count(counter::SPILLED, 1);
        let share = context.budget().limit() / 32;
        let memory = match self.memory.reserve(context, share) {
            true => share.max(PageMemory::USUAL),
            false => PageMemory::USUAL,
        };
        let spilled = SpilledGrams::of(&self.classes, &self.temp, self.pages, memory);
        self.spilled = Some(spilled.map_err(|error| self.failed(error))?);
        self.classes = GramClasses::default();
        Ok(())
    }

    fn failed(&self, error: io::Error) -> crate::Error {
        crate::Error::io(&self.temp, error)
    }

    /// Ends the page.
    fn close(&mut self, context: &Context<'_>) -> Result<(), StageError> {
        if let Some(spilled) = &mut self.spilled {
            let flushed = spilled.flush();
            flushed.map_err(|error| self.failed(error))?;
        }
        Ok(context.check()?)
    }

    fn cover(
        &self,
        m: u32,
        enough: impl Fn(u64) -> bool,
        order: impl Fn(u32) -> u64,
    ) -> Result<Cover, StageError> {
        match &self.spilled {
            None => Ok(self.classes.cover(m, enough, order)),
            Some(spilled) => {
                let cover = spilled.cover(m, enough, order);
                Ok(cover.map_err(|error| self.failed(error))?)
            }
        }
    }

    /// For each class, whether `holds` is true for any of its pages.
    fn any(&self, holds: impl Fn(u32) -> bool) -> Result<Vec<bool>, StageError> {
        match &self.spilled {
            None => Ok(self.classes.any(holds)),
            Some(spilled) => Ok(spilled.any(holds).map_err(|error| self.failed(error))?),
        }
    }

    /// The patch grams for `m`, each with its class.
    fn grams(&self, m: u32) -> impl Iterator<Item = (u64, usize)> {
        // One of the two is empty.
        let spilled = self.spilled.iter().flat_map(move |grams| grams.grams(m));
        self.classes.grams(m).chain(spilled)
    }

    fn patch(&self, m: usize) -> u64 {
        self.patch.get(m).copied().unwrap_or(0)
    }

    /// Returns a test whether a source that adds this many grams counts.
    fn enough(&self, level: &Level, m: usize) -> impl Fn(u64) -> bool + use<> {
        let (patch, least) = (self.patch(m).max(1), level.min_share);
        move |grams| grams as f64 / patch as f64 >= least
    }

    /// Counts the page for each definition by which it is a quilt.
    fn tally(&self, level: &Level, tallies: &mut [(u64, u64)]) -> Result<(), StageError> {
        for (at, &m) in level.ms.iter().enumerate() {
            let patchy = |theta: f64| is_patchy(self.patch(at), self.grams, theta);
            let mut points = level.points.iter().filter(|point| point.m == at);
            if !points.any(|point| patchy(point.theta)) {
                continue;
            }
            let cover = self.cover(m, self.enough(level, at), |_| 0)?;
            let sources = cover.sources.len() as u64;
            for (point, tally) in level.points.iter().zip(&mut *tallies) {
                if point.m == at && patchy(point.theta) && sources >= u64::from(point.c) {
                    tally.0 += 1;
                    tally.1 += sources;
                }
            }
        }
        Ok(())
    }

    /// Emits the records of the page if it is a quilt.
    fn emit(
        &mut self,
        context: &Context<'_>,
        level: &Level,
        states: &PageStates,
        number: u32,
        locator: &mut PatchLocator<'_>,
    ) -> Result<(), StageError> {
        let (Some(point), Some(&m)) = (level.points.first(), level.ms.first()) else {
            return Ok(());
        };
        let order = |page: u32| states.order.rank(page);
        let cover = self.cover(m, self.enough(level, 0), order)?;
        let sources = cover.sources.len() as u64;
        if sources < u64::from(point.c) {
            return Ok(());
        }
        let named = context.state::<Bitmap>(NAMED)?;
        let mut by_page = context.wide_shuffle(shuffle::BY_PAGE)?;
        let mut by_source = context.wide_shuffle(shuffle::BY_SOURCE)?;
        named.set(u64::from(number));
        self.linked.close();
        let linked = self.any(|other| {
            let linked = &self.linked;
            linked.attribute(&states.domains, &states.addresses, number, other)
        })?;
        let is_linked = |class: usize| linked.get(class).is_some_and(|&linked| linked);
        let (mut foreign, mut attributed) = (0, 0);
        let mut of_sources = vec![0u64; cover.sources.len()];
        for (_, class) in self.grams(m) {
            foreign += 1;
            if is_linked(class) {
                attributed += 1;
                let rank = cover.rank(class).map(|rank| rank as usize);
                if let Some(count) = rank.and_then(|rank| of_sources.get_mut(rank)) {
                    *count += 1;
                }
            }
        }
        let counts = serde_json::to_vec(&QuiltCounts {
            grams: self.grams,
            shared: self.shared,
            first: self.first,
            patch: self.patch(0),
            foreign,
            attributed,
            sources,
        })?;
        by_page.push_numbered(u64::from(number), QUILT, &counts)?;
        let patches = cover.sources.iter().zip(of_sources);
        for (rank, (source, attributed)) in (0..).zip(patches) {
            named.set(u64::from(source.page));
            let patch = serde_json::to_vec(&UnnamedPatch {
                quilt: number,
                rank,
                grams: source.grams,
                attributed,
            })?;
            by_source.push_numbered(u64::from(source.page), ROW, &patch)?;
        }
        let covered = self.grams(m).filter_map(|(gram, class)| {
            let rank = cover.rank(class)?;
            let source = cover.sources.get(rank as usize)?.page;
            Some(CoveredGram { gram, rank, source })
        });
        locator.add(context, number, covered)
    }
}
