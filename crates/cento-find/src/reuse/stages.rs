//! The stages from texts to pairs of page numbers.
//!
//! ```text
//!   pages ─ hosts ─▶ by host name ─ number hosts ─▶ hosts of pages
//!   texts ─ fingerprint ─┬▶ by set ─ collapse ─▶ copies, by host ─ count hosts ─▶ host pages
//!                        └▶ by fingerprint ─ spread ─┬▶ by strip ─ count ─▶ of
//!                                                    ├▶ removed ─ sizes ─▶ ignored, frames
//!                                                    └▶ ignored fingerprints
//! ```
//!
//! Pages with the same set of fingerprints are collapsed before pairs are counted, and fingerprints
//! on too many of the remaining pages are ignored. So a text on n pages costs n rows, however large
//! n is: identical sets make n − 1 rows of the table `identical`, and different sets with a common
//! template make rows of ignored fingerprints.

use std::cell::RefMut;
use std::path::Path;
use std::sync::Arc;

use cento_fingerprint::ChunkHash;
use cento_flow::{Bitmap, Context, Emitter, Groups, Registry, StageError};
use serde::{Deserialize, Serialize};

use super::category::{Category, Containment};
use super::fingerprints::PageFingerprints;
use super::pair_strip::{PairStrip, SharedCounts};
use super::params::ReuseParams;
use super::reuse_rows::{
    HostPage, IgnoredFingerprint, ListPart, ListedPage, PageFingerprint, PairCounts, RankedPair,
    RemovedCounts,
};
use super::stage_names::{counter, pages_of, shuffle, stage, state};
use super::style::{FRAME_PAGES, ReuseStyle, SharedKinds, bare_host, is_frame};
use super::tally::{PairTally, pages_counter};
use crate::corpus_pages::{CorpusPages, TextTask};
use crate::numbers::{NumberMap, Numbers, UNSET};
use crate::overlap::overlap_rows::{HashPage, Reserve};
use crate::overlap::page_order::PageOrder;
use crate::overlap::spilled_lists::SpilledLists;

/// The most strips per thread.
pub(super) const STRIPS_A_THREAD: u64 = 4;
/// The number of pages whose counts a task adds up in memory.
const COUNTS_HELD: usize = 1 << 16;

/// The parameters of the counting stages.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ReusePlan {
    pub(super) params: ReuseParams,
    /// Fingerprints on more pages are ignored; 0 for no limit.
    pub(super) max_pages: u32,
    pub(super) strips: u32,
    /// Bytes of memory for the lists of one strip.
    pub(super) strip_bytes: u64,
    /// Page numbers are below this.
    pub(super) width: u32,
    /// Whether there is memory for a counter of each page.
    pub(super) has_counters: bool,
    /// With `against`, the first page of the second corpus.
    pub(super) boundary: Option<u32>,
}

pub(super) fn register_reading(
    registry: &mut Registry,
    source: &Arc<CorpusPages>,
    params: &ReuseParams,
    order: &Arc<PageOrder>,
) {
    registry.state::<Numbers>(Numbers::KIND);
    registry.state::<Reserve>(Reserve::KIND);
    let pages = Arc::clone(source);
    registry.map(stage::HOSTS, move |context| {
        let mut by_host = context.shuffle::<HashPage>(shuffle::BY_HOST_NAME)?;
        let mut by_address = context.shuffle::<HashPage>(shuffle::BY_ADDRESS)?;
        pages.for_each_page::<StageError>(context.task()?, |facts| {
            if let (None, Some(host)) = (facts.reject, facts.host) {
                let hash = |name: &str| ChunkHash::Blake3.hash128(name.as_bytes());
                by_host.push(HashPage::new(hash(bare_host(host)), facts.number))?;
                by_address.push(HashPage::new(hash(facts.url), facts.number))?;
            }
            Ok(())
        })
    });
    for (stage, state) in [
        (stage::NUMBER_HOSTS, state::HOSTS),
        (stage::NUMBER_ADDRESSES, state::ADDRESSES),
    ] {
        registry.reduce::<HashPage, _>(stage, move |context, groups| {
            let numbers = context.state::<Numbers>(state)?;
            while let Some(mut group) = groups.next_group()? {
                let Some(first) = group.next() else { continue };
                numbers.set(first.page, first.page);
                for row in group {
                    numbers.set(row.page, first.page);
                }
            }
            Ok(())
        });
    }
    let (pages, ranks, scheme) = (Arc::clone(source), Arc::clone(order), params.scheme);
    let boundary = boundary(source, params);
    registry.map(stage::FINGERPRINT, move |context| {
        let mut rows = context.shuffle::<PageFingerprint>(shuffle::BY_FINGERPRINT)?;
        let mut sets = context.shuffle::<HashPage>(shuffle::BY_SET)?;
        let sizes = context.state::<Numbers>(state::SIZES)?;
        let mut fingerprints = PageFingerprints::new(scheme);
        let (mut without, mut total) = (0, 0);
        let task: TextTask = context.task()?;
        pages.for_each_text::<StageError>(&task, |page, text| {
            let set = fingerprints.set_of(text);
            if set.is_empty() {
                without += 1;
                return Ok(());
            }
            total += set.len() as u64;
            sizes.set(page, set.len() as u32);
            // Sets of the two corpora stay apart, so that their pages form pairs.
            let side = u8::from(boundary.is_some_and(|boundary| page >= boundary));
            sets.push(HashPage::new(set_hash(set, side), ranks.rank(page)))?;
            Ok(rows.extend(set.iter().map(|&hash| PageFingerprint { hash, page }))?)
        })?;
        context.count(counter::WITHOUT_FINGERPRINTS, without);
        context.count(counter::FINGERPRINTS_OF_PAGES, total);
        Ok(())
    });
    let ranks = Arc::clone(order);
    registry.reduce::<HashPage, _>(stage::COLLAPSE, move |context, groups| {
        collapse(context, groups, &ranks)
    });
    registry.reduce::<HostPage, _>(stage::COUNT_HOSTS, |context, groups| {
        let host_pages = context.state::<Numbers>(state::HOST_PAGES)?;
        while let Some(group) = groups.next_group()? {
            let host = group.key();
            host_pages.set(host, group.fold(0, |pages, _| pages + 1));
        }
        Ok(())
    });
}

/// Returns the first page of the second corpus, if two are compared.
pub(super) fn boundary(source: &CorpusPages, params: &ReuseParams) -> Option<u32> {
    params.against.then(|| source.kept_before(1))
}

/// Returns a hash that identifies a set of fingerprints.
fn set_hash(set: &[u64], side: u8) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(bytemuck::cast_slice(set));
    hasher.update(&[side]);
    let hash = hasher.finalize();
    hash.as_bytes().first_chunk().copied().unwrap_or_default()
}

/// Keeps the earliest of the pages with the same set of fingerprints.
fn collapse(
    context: &Context<'_>,
    groups: &mut Groups<'_, HashPage>,
    ranks: &PageOrder,
) -> Result<(), StageError> {
    let plan: ReusePlan = context.parameters()?;
    let copies = context.state::<Bitmap>(state::COPIES)?;
    let copy_counts = context.state::<Numbers>(state::COPY_COUNTS)?;
    let sizes = context.state::<Numbers>(state::SIZES)?;
    let hosts = context.state::<Numbers>(state::HOSTS)?;
    let nearly_identical = context.state::<Bitmap>(&pages_of(Category::C1))?;
    let mut by_host = context.shuffle::<HostPage>(shuffle::BY_HOST)?;
    let mut rows = context.shuffle::<RankedPair>(shuffle::RANKED)?;
    let mut tally = PairTally::default();
    let mut of_hosts: NumberMap<u64> = NumberMap::default();
    while let Some(mut group) = groups.next_group()? {
        let Some(first) = group.next().map(|row| ranks.page(row.page)) else {
            continue;
        };
        of_hosts.clear();
        let host = hosts.get(first);
        if host != UNSET {
            by_host.push(HostPage { host, page: first })?;
            of_hosts.insert(host, 1);
        }
        let mut pages = 1u32;
        for row in group {
            let copy = ranks.page(row.page);
            copies.set(u64::from(copy));
            pages += 1;
            if plan.boundary.is_some() {
                continue;
            }
            let host = hosts.get(copy);
            if host != UNSET {
                *of_hosts.entry(host).or_default() += 1;
            }
            rows.push(RankedPair::identical(first, copy, sizes.get(first)))?;
        }
        copy_counts.set(first, pages);
        context.count(counter::COPIES, u64::from(pages) - 1);
        if pages > 1 && plan.boundary.is_none() {
            nearly_identical.set(u64::from(first));
            let all = pairs_among(u64::from(pages));
            if plan.params.frame {
                tally.add_with_frames(Category::C1, all);
            }
            let aliases = of_hosts.values().map(|&pages| pairs_among(pages)).sum();
            tally.add(Category::C1, ReuseStyle::Alias, aliases, 2 * aliases);
            let others = all.saturating_sub(aliases);
            tally.add(Category::C1, ReuseStyle::Reuse, others, 2 * others);
        }
    }
    tally.report(context);
    Ok(())
}

fn pairs_among(pages: u64) -> u64 {
    pages * pages.saturating_sub(1) / 2
}

pub(super) fn register_counting(registry: &mut Registry, temp: &Path) {
    registry.reduce::<PageFingerprint, _>(stage::SPREAD, spread);
    registry.reduce::<RemovedCounts, _>(stage::SIZES, |context, groups| {
        let sizes = context.state::<Numbers>(state::SIZES)?;
        let ignored = context.state::<Numbers>(state::IGNORED)?;
        let frames = context.state::<Numbers>(state::FRAMES)?;
        while let Some(group) = groups.next_group()? {
            let page = group.key();
            let (mut of_ignored, mut of_frames) = (0, 0);
            for counts in group {
                of_ignored += counts.ignored;
                of_frames += counts.frame;
            }
            ignored.set(page, of_ignored);
            frames.set(page, of_frames);
            context.count(counter::PAGES_WITH_IGNORED, u64::from(of_ignored > 0));
            let only = of_ignored > 0 && of_ignored == sizes.get(page);
            context.count(counter::PAGES_OF_IGNORED, u64::from(only));
        }
        Ok(())
    });
    let temp = temp.to_owned();
    registry.reduce::<ListPart, _>(stage::COUNT, move |context, groups| {
        count(context, groups, &temp)
    });
}

/// The removed fingerprints of pages, which a task adds up before it emits them.
struct RemovedSums<'c, 'a> {
    context: &'c Context<'a>,
    counts: NumberMap<RemovedCounts>,
}

impl RemovedSums<'_, '_> {
    fn add(&mut self, page: u32, ignored: u32, frame: u32) -> cento_flow::Result<()> {
        let counts = self.counts.entry(page).or_insert(RemovedCounts {
            page,
            ..RemovedCounts::default()
        });
        counts.ignored += ignored;
        counts.frame += frame;
        if self.counts.len() > COUNTS_HELD {
            self.emit()?;
        }
        Ok(())
    }

    fn emit(&mut self) -> cento_flow::Result<()> {
        let mut rows = self.context.shuffle::<RemovedCounts>(shuffle::REMOVED)?;
        rows.extend(self.counts.drain().map(|(_, counts)| counts))
    }
}

/// Sends the list of a fingerprint to every strip that has one of its pages as a left page.
struct ListSpreader {
    strips: u32,
    width: u128,
    list: u64,
    sent: Vec<bool>,
}

impl ListSpreader {
    /// Lists are numbered within the range of keys of a strip, first by the task that found them.
    fn new(strips: u32, task: usize) -> ListSpreader {
        let strips = strips.max(1);
        ListSpreader {
            strips,
            width: (1u128 << 64) / u128::from(strips) + 1,
            list: (task as u64) << 40,
            sent: vec![false; strips as usize],
        }
    }

    /// Sends a list, which must ascend. Its first `lefts` pages are left pages.
    fn spread(
        &mut self,
        list: &[u32],
        lefts: usize,
        out: &mut Emitter<ListPart>,
    ) -> cento_flow::Result<()> {
        self.list += 1;
        let strip_of = |listed: u32| ListedPage(listed).page() % self.strips;
        for (at, &left) in list.iter().take(lefts).enumerate() {
            let strip = strip_of(left);
            match self.sent.get_mut(strip as usize) {
                Some(sent) if !*sent => *sent = true,
                _ => continue,
            }
            let key = (u128::from(strip) * self.width) as u64 + self.list;
            let rest = list.get(at..).unwrap_or_default();
            out.extend(ListPart::split(key, rest))?;
        }
        self.sent.fill(false);
        Ok(())
    }
}

fn spread(
    context: &Context<'_>,
    groups: &mut Groups<'_, PageFingerprint>,
) -> Result<(), StageError> {
    let plan: ReusePlan = context.parameters()?;
    let copies = context.state::<Bitmap>(state::COPIES)?;
    let hosts = context.state::<Numbers>(state::HOSTS)?;
    let host_pages = context.state::<Numbers>(state::HOST_PAGES)?;
    let mut strips = context.shuffle::<ListPart>(shuffle::BY_STRIP)?;
    let mut ignored = context.shuffle::<IgnoredFingerprint>(shuffle::IGNORED)?;
    let mut removed = RemovedSums {
        context,
        counts: NumberMap::default(),
    };
    let mut spreader = ListSpreader::new(plan.strips, context.task_number());
    let limit = match plan.max_pages {
        0 => usize::MAX,
        most => most as usize,
    };
    let mut pages: Vec<u32> = Vec::new();
    let mut of_hosts: NumberMap<u32> = NumberMap::default();
    let (mut distinct, mut shared, mut of_ignored, mut of_frames) = (0u64, 0u64, 0u64, 0u64);
    while let Some(group) = groups.next_group()? {
        pages.clear();
        // Pages beyond the limit are counted only, so that memory stays bounded.
        let (mut hash, mut count) = (0, 0u32);
        for row in group {
            hash = row.hash;
            if copies.get(u64::from(row.page)) {
                continue;
            }
            count += 1;
            if pages.len() <= limit {
                pages.push(row.page);
            } else {
                removed.add(row.page, 1, 0)?;
            }
        }
        distinct += 1;
        if pages.len() > limit {
            for &page in &pages {
                removed.add(page, 1, 0)?;
            }
            of_ignored += u64::from(count);
            ignored.push(IgnoredFingerprint {
                hash,
                page: pages.first().copied().unwrap_or_default(),
                pages: count,
            })?;
            continue;
        }
        if count < 2 {
            continue;
        }
        shared += 1;
        of_hosts.clear();
        if count >= FRAME_PAGES {
            for &page in &pages {
                *of_hosts.entry(hosts.get(page)).or_default() += 1;
            }
            of_hosts
                .retain(|&host, &mut pages| host != UNSET && is_frame(pages, host_pages.get(host)));
        }
        let frequent = count >= plan.params.frequent;
        for page in &mut pages {
            // Few fingerprints are in the frame of any host, so hosts are rarely looked up.
            let frame = !of_hosts.is_empty() && of_hosts.contains_key(&hosts.get(*page));
            if frame {
                removed.add(*page, 0, 1)?;
                of_frames += 1;
            }
            *page = ListedPage::new(*page, frame, frequent).0;
        }
        let lefts = match plan.boundary {
            None => pages.len() - 1,
            Some(boundary) => pages.partition_point(|&listed| ListedPage(listed).page() < boundary),
        };
        // A list of one corpus only has no pairs.
        if lefts < pages.len() {
            spreader.spread(&pages, lefts, &mut strips)?;
        }
    }
    removed.emit()?;
    context.count(counter::DISTINCT, distinct);
    context.count(counter::SHARED, shared);
    context.count(counter::IGNORED_OF_PAGES, of_ignored);
    context.count(counter::FRAMES_OF_PAGES, of_frames);
    Ok(())
}

/// Counts the pairs of one strip, and emits those of a category. A strip that exceeds its memory is
/// written to a file in `temp`, which is read once for each part of the left pages.
fn count(
    context: &Context<'_>,
    groups: &mut Groups<'_, ListPart>,
    temp: &Path,
) -> Result<(), StageError> {
    let plan: ReusePlan = context.parameters()?;
    let number = context.task_number() as u32;
    let counted = plan.has_counters.then_some(plan.width);
    let mut strip = PairStrip::new(number, plan.strips, counted, plan.boundary);
    let mut lists: Option<SpilledLists> = None;
    let mut pages: Vec<u32> = Vec::new();
    // Half of the memory is for vectors while they grow.
    let space = plan.strip_bytes / 2;
    while let Some(group) = groups.next_group()? {
        pages.clear();
        group.for_each(|part| part.append_to(&mut pages));
        if lists.is_none() && (strip.bytes() > space || !strip.has_space(pages.len())) {
            let mut spilled = SpilledLists::create(temp)?;
            let left = PairStrip::new(number, plan.strips, None, plan.boundary);
            strip.drain(|list| spilled.push(list, |page| left.has_left(page)))?;
            lists = Some(spilled);
        }
        match &mut lists {
            Some(lists) => lists.push(&pages, |page| strip.has_left(page))?,
            None => strip.add_part(&pages, 0, 1),
        }
    }
    let mut judge = PairJudge::new(context, &plan)?;
    let parts = lists.as_ref().map_or(1, |lists| lists.parts(space));
    let mut joined = 0;
    for part in 0..parts {
        context.check()?;
        if let Some(lists) = &mut lists {
            lists.for_each(|pages| strip.add_part(pages, part, parts))?;
        }
        joined += strip.count(|counts| judge.emit(counts))?;
    }
    if parts > 1 {
        context.count(counter::ROWS_JOINED_PARTS, u64::from(parts));
    }
    context.count(counter::JOINED, joined);
    judge.tally.report(context);
    Ok(())
}

/// Decides the category and the style of pairs, and emits them.
struct PairJudge<'c> {
    plan: &'c ReusePlan,
    hosts: Arc<Numbers>,
    addresses: Arc<Numbers>,
    sizes: Arc<Numbers>,
    ignored: Arc<Numbers>,
    frames: Arc<Numbers>,
    copy_counts: Arc<Numbers>,
    rows: RefMut<'c, Emitter<RankedPair>>,
    categories: Vec<Arc<Bitmap>>,
    tally: PairTally,
    /// The last left page and its size. Pairs are ordered by left page.
    left: Option<(u32, u32)>,
}

impl<'c> PairJudge<'c> {
    fn new(context: &'c Context<'_>, plan: &'c ReusePlan) -> cento_flow::Result<PairJudge<'c>> {
        let categories = Category::ALL.into_iter();
        Ok(PairJudge {
            plan,
            hosts: context.state(state::HOSTS)?,
            addresses: context.state(state::ADDRESSES)?,
            sizes: context.state(state::SIZES)?,
            ignored: context.state(state::IGNORED)?,
            frames: context.state(state::FRAMES)?,
            copy_counts: context.state(state::COPY_COUNTS)?,
            rows: context.shuffle(shuffle::RANKED)?,
            categories: categories
                .map(|category| context.state(&pages_of(category)))
                .collect::<cento_flow::Result<_>>()?,
            tally: PairTally::default(),
            left: None,
        })
    }

    /// Returns the fingerprints of a page without ignored ones.
    #[inline]
    fn size(&self, page: u32) -> u32 {
        let set = |number: u32| if number == UNSET { 0 } else { number };
        set(self.sizes.get(page)).saturating_sub(set(self.ignored.get(page)))
    }

    /// Returns the fingerprints of a page in the frame of its host.
    fn frame_size(&self, page: u32) -> u32 {
        match self.frames.get(page) {
            UNSET => 0,
            size => size,
        }
    }

    /// Whether two pages are captures of one address, or of one host with the same set of
    /// fingerprints. The latter of one corpus are collapsed; those of two corpora are pairs.
    fn is_alias(&self, whole: Containment, left: u32, right: u32) -> bool {
        let address = self.addresses.get(left);
        if address != UNSET && address == self.addresses.get(right) {
            return true;
        }
        let complete = |page: u32| matches!(self.ignored.get(page), 0 | UNSET);
        let host = self.hosts.get(left);
        whole.shared == whole.page
            && whole.shared == whole.of
            && complete(left)
            && complete(right)
            && host != UNSET
            && host == self.hosts.get(right)
    }

    /// Emits a pair, unless it is in no category. Most pairs share too little of either page:
    /// nothing else is looked up for them.
    #[inline]
    fn emit(&mut self, counts: SharedCounts) -> Result<(), StageError> {
        let left_size = match self.left {
            Some((left, size)) if left == counts.left => size,
            _ => {
                let size = self.size(counts.left);
                self.left = Some((counts.left, size));
                size
            }
        };
        let right_size = self.size(counts.right);
        let params = &self.plan.params;
        let partial = params.thresholds.partial;
        if params.frame || partial.is_reached(counts.shared, left_size.min(right_size)) {
            self.emit_candidate(counts, left_size, right_size)?;
        }
        Ok(())
    }

    #[inline(never)]
    fn emit_candidate(
        &mut self,
        counts: SharedCounts,
        left_size: u32,
        right_size: u32,
    ) -> Result<(), StageError> {
        let params = &self.plan.params;
        let SharedCounts {
            left,
            right,
            shared,
            frame,
            frequent,
        } = counts;
        let whole = Containment {
            shared,
            page: left_size,
            of: right_size,
        };
        let category = |containment: Containment| {
            (containment.shared >= params.min_shared)
                .then(|| Category::of(containment, params.thresholds))
                .flatten()
        };
        let with_frames = category(whole);
        let [left_copies, right_copies] = [left, right].map(|page| self.copy_counts.get(page));
        let pairs = u64::from(left_copies) * u64::from(right_copies);
        let (containment, frame) = if params.frame {
            if let Some(category) = with_frames {
                self.tally.add_with_frames(category, pairs);
            }
            let unframed = Containment {
                shared: shared - frame,
                page: left_size.saturating_sub(self.frame_size(left)),
                of: right_size.saturating_sub(self.frame_size(right)),
            };
            (unframed, 0)
        } else {
            (whole, frame)
        };
        let Some(category) = category(containment) else {
            return Ok(());
        };
        let style = ReuseStyle::of(
            category,
            SharedKinds {
                shared: containment.shared,
                frame,
                frequent,
                slots: containment.shared < containment.page.min(containment.of),
                alias: self.is_alias(whole, left, right),
            },
        );
        // With `against`, only pages of the first corpus are counted.
        let siblings = if self.plan.boundary.is_some() {
            pairs
        } else {
            2 * pairs
        };
        self.tally.add(category, style, pairs, siblings);
        if let Some(pages) = self.categories.get(category.index()) {
            pages.set(u64::from(left));
            pages.set(u64::from(right));
        }
        if !params.selects(style) {
            return Ok(());
        }
        let counts = PairCounts {
            left,
            right,
            shared: containment.shared,
            left_size: containment.page,
            right_size: containment.of,
            left_copies,
            right_copies,
            frame,
            frequent,
        };
        Ok(self
            .rows
            .push(RankedPair::ranked(category, style, counts))?)
    }
}

/// Registers the stage that counts the pages of each category.
pub(super) fn register_tally(registry: &mut Registry, source: &Arc<CorpusPages>) {
    let source = Arc::clone(source);
    registry.map(stage::TALLY, move |context| {
        let boundary: Option<u32> = context.parameters()?;
        let copy_counts = context.state::<Numbers>(state::COPY_COUNTS)?;
        let bitmaps = Category::ALL
            .into_iter()
            .map(|category| Ok((category, context.state::<Bitmap>(&pages_of(category))?)))
            .collect::<cento_flow::Result<Vec<_>>>()?;
        let mut pages = [0u64; Category::ALL.len()];
        let (mut related, mut near, mut local) = (0, 0, 0);
        source.for_each_page::<StageError>(context.task()?, |facts| {
            let copies = copy_counts.get(facts.number);
            let counted = boundary.is_none_or(|boundary| facts.number < boundary);
            if facts.reject.is_some() || copies == UNSET || !counted {
                return Ok(());
            }
            let copies = u64::from(copies);
            let (mut is_near, mut is_local) = (false, false);
            for ((category, bitmap), pages) in bitmaps.iter().zip(&mut pages) {
                if bitmap.get(u64::from(facts.number)) {
                    *pages += copies;
                    is_near |= category.is_near_duplicate();
                    is_local |= category.is_local();
                }
            }
            near += copies * u64::from(is_near);
            local += copies * u64::from(is_local);
            related += copies * u64::from(is_near || is_local);
            Ok(())
        })?;
        for ((category, _), pages) in bitmaps.iter().zip(pages) {
            context.count(&pages_counter(*category), pages);
        }
        context.count(counter::PAGES_RELATED, related);
        context.count(counter::PAGES_NEAR, near);
        context.count(counter::PAGES_LOCAL, local);
        Ok(())
    });
}
