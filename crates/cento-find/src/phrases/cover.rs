//! Covering sets: pages that together have the popular shingles of a page.
//!
//! ```text
//!   offerers ─ nominate ─▶ nominees ─ offer ─▶ offers ─ cover ─▶ by source ─ sources ─▶ page rows
//!                 ▲ covered
//! ```
//!
//! The greedy rule of the paper: the next page is the one with the most uncovered popular shingles.
//! Ties go to the page that shares the most shingles with the covered page, popular or not, and
//! then to the first. A page of the same domain or address is chosen only if no other page has
//! uncovered shingles.
//!
//! The cost is bounded twice. As in the paper, only a limited number of pages is covered for each
//! number of popular shingles. And the number of candidates per phrase and page is limited: foreign
//! pages first, in a random order that is the same for all phrases. So a phrase on a million pages
//! does not produce a million times a million rows, a page that is a candidate for one such phrase
//! is a candidate for all of them, and a spammer with a million pages cannot crowd out the pages
//! that have the same phrases.

use std::collections::HashMap;
use std::sync::Arc;

use cento_flow::{Bitmap, Context, Registry};
use serde::{Deserialize, Serialize};

use super::flow_names::{counter, shuffle, stage, state};
use super::params::{ForeignBy, PhrasesParams, SiteKind};
use super::phrase_rows::{CUT, Holder, Offer, POPULAR};
use crate::names::{NAMED, ROW};
use crate::numbers::{Numbers, UNSET};

/// A page of a cover, before it has a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct UnnamedSource {
    pub(super) page: u32,
    pub(super) step: u32,
    pub(super) shingles: u32,
    pub(super) foreign: bool,
}

/// A page that shares shingles with the covered page.
#[derive(Debug, Clone, Copy)]
struct CoverCandidate {
    source: u32,
    /// One bit for each shared shingle.
    shared: u128,
    /// Chosen before candidates that are not preferred.
    preferred: bool,
    /// Whether it counts as foreign.
    foreign: bool,
}

/// The domains and addresses of pages.
struct Homes {
    domains: Arc<Numbers>,
    addresses: Arc<Numbers>,
    by: ForeignBy,
}

impl Homes {
    fn of(context: &Context<'_>, by: ForeignBy) -> cento_flow::Result<Homes> {
        Ok(Homes {
            domains: context.state(SiteKind::Domain.name())?,
            addresses: context.state(SiteKind::Ip.name())?,
            by,
        })
    }

    /// Whether two pages have the same domain, and the same address. Unknown ones differ from all
    /// others.
    fn same(&self, one: u32, other: u32) -> (bool, bool) {
        let same = |numbers: &Numbers| {
            let number = numbers.get(one);
            number != UNSET && number == numbers.get(other)
        };
        (same(&self.domains), same(&self.addresses))
    }

    /// Whether `source` is a preferred candidate for `page`.
    fn prefers(&self, page: u32, source: u32) -> bool {
        match (self.by, self.same(page, source)) {
            (ForeignBy::Domain, (domain, _)) => !domain,
            (_, (domain, address)) => !domain && !address,
        }
    }

    /// Whether `source` is foreign to `page`.
    fn foreign(&self, page: u32, source: u32) -> bool {
        match (self.by, self.same(page, source)) {
            (ForeignBy::Both, (domain, address)) => !domain && !address,
            (ForeignBy::Ip, (_, address)) => !address,
            (ForeignBy::Domain, (domain, _)) => !domain,
        }
    }
}

/// The candidates of a phrase. Every page finds among them the first pages that are foreign to it,
/// up to its limit, and the first of the other pages if these are too few.
///
/// A page is skipped if the limit is reached for its domain and address together: for every page to
/// which it is foreign, those are foreign, too. It is also skipped if twice the limit is reached
/// for its domain: at most half of these have any one address, so a page of another domain finds
/// enough among the rest. The same holds for addresses. So no skipped page is ever needed, and at
/// most five times the limit are stored.
struct PhraseCandidates {
    most: u32,
    pages: Vec<u32>,
    pairs: HashMap<(u32, u32), u32>,
    domains: HashMap<u32, u32>,
    addresses: HashMap<u32, u32>,
    /// The most pages of one domain, and of one address.
    largest: (u32, u32),
}

impl PhraseCandidates {
    /// For pages with at most this many candidates.
    fn new(most: u32) -> PhraseCandidates {
        PhraseCandidates {
            // One more, because a page is not a candidate for itself.
            most: most + 1,
            pages: Vec::new(),
            pairs: HashMap::new(),
            domains: HashMap::new(),
            addresses: HashMap::new(),
            largest: (0, 0),
        }
    }

    fn clear(&mut self) {
        self.pages.clear();
        self.pairs.clear();
        self.domains.clear();
        self.addresses.clear();
        self.largest = (0, 0);
    }

    fn see(&mut self, page: u32, domain: u32, address: u32) {
        let (in_domain, at_address) = self.largest;
        // A page shares its domain with at most the one number, and its address with the other.
        if self.pages.len() as u32 >= in_domain + at_address + self.most {
            return;
        }
        let stored = |counts: &HashMap<u32, u32>, key: u32| match key {
            UNSET => 0,
            key => counts.get(&key).copied().unwrap_or(0),
        };
        let known = domain != UNSET || address != UNSET;
        let pair = self.pairs.get(&(domain, address)).copied().unwrap_or(0);
        if known && pair >= self.most
            || stored(&self.domains, domain) >= 2 * self.most
            || stored(&self.addresses, address) >= 2 * self.most
        {
            return;
        }
        self.pages.push(page);
        *self.pairs.entry((domain, address)).or_default() += 1;
        let add = |counts: &mut HashMap<u32, u32>, key: u32, largest: &mut u32| {
            if key != UNSET {
                let count = counts.entry(key).or_default();
                *count += 1;
                *largest = (*largest).max(*count);
            }
        };
        add(&mut self.domains, domain, &mut self.largest.0);
        add(&mut self.addresses, address, &mut self.largest.1);
    }
}

/// The greedy cover: sources with the number of shingles that each adds, in the order in which they
/// are chosen. Candidates must ascend.
fn greedy(candidates: &[CoverCandidate], popular: u128) -> Vec<(CoverCandidate, u32)> {
    let (mut uncovered, mut cover) = (popular, Vec::new());
    while uncovered != 0 {
        let mut best: Option<((bool, u32, u32), CoverCandidate)> = None;
        for candidate in candidates {
            let gain = (candidate.shared & uncovered).count_ones();
            let merit = (candidate.preferred, gain, candidate.shared.count_ones());
            if gain > 0 && best.is_none_or(|(most, _)| merit > most) {
                best = Some((merit, *candidate));
            }
        }
        let Some(((_, gain, _), candidate)) = best else {
            break;
        };
        uncovered &= !candidate.shared;
        cover.push((candidate, gain));
    }
    cover
}

pub(super) fn register(registry: &mut Registry, params: &PhrasesParams) {
    let (most, by) = (params.candidates, params.foreign);
    registry.reduce::<Holder, _>(stage::NOMINATE, move |context, groups| {
        let covered = context.state::<Bitmap>(state::COVERED)?;
        let homes = Homes::of(context, by)?;
        let mut nominees = context.shuffle::<Holder>(shuffle::NOMINEES)?;
        let mut chosen = PhraseCandidates::new(most);
        while let Some(group) = groups.next_group()? {
            let gram = group.key();
            chosen.clear();
            let (mut pages, mut needed) = (0, false);
            for row in group {
                pages += 1;
                // The address is irrelevant if only the domain makes a page foreign.
                let address = match by {
                    ForeignBy::Domain => UNSET,
                    _ => homes.addresses.get(row.page),
                };
                chosen.see(row.page, homes.domains.get(row.page), address);
                if row.slots() > 0 && covered.get(u64::from(row.page)) {
                    nominees.push(row.target())?;
                    needed = true;
                }
            }
            if needed {
                nominees.push(Holder::head(gram, pages))?;
                let candidates = chosen.pages.iter().enumerate();
                nominees.extend(candidates.map(|(at, &page)| Holder::candidate(gram, at, page)))?;
            }
        }
        Ok(())
    });
    registry.reduce::<Holder, _>(stage::OFFER, move |context, groups| {
        let homes = Homes::of(context, by)?;
        let mut offers = context.shuffle::<Offer>(shuffle::OFFERS)?;
        let (mut candidates, mut own): (Vec<u32>, Vec<u32>) = Default::default();
        while let Some(mut group) = groups.next_group()? {
            let gram = group.key();
            let Some(head) = group.next().filter(|row| row.is_head()) else {
                return Err("a phrase has no head".into());
            };
            candidates.clear();
            let mut crowded = false;
            for to in group {
                if !to.is_target() {
                    candidates.push(to.page);
                    continue;
                }
                let cut = head.facts() > most + 1;
                crowded |= cut;
                let mut facts = to.slots() | if to.has(POPULAR) { POPULAR } else { 0 };
                facts |= if cut { CUT } else { 0 };
                own.clear();
                let mut left = most;
                let mut offer = |source: u32, left: &mut u32| {
                    *left -= 1;
                    offers.push(Offer {
                        gram,
                        page: to.page,
                        source,
                        facts,
                    })
                };
                for &source in candidates.iter().filter(|&&source| source != to.page) {
                    if left == 0 {
                        break;
                    }
                    match homes.prefers(to.page, source) {
                        true => offer(source, &mut left)?,
                        false => own.push(source),
                    }
                }
                for &source in &own {
                    if left == 0 {
                        break;
                    }
                    offer(source, &mut left)?;
                }
            }
            context.count(counter::CROWDED, u64::from(crowded));
        }
        Ok(())
    });
    registry.reduce::<Offer, _>(stage::COVER, move |context, groups| {
        let homes = Homes::of(context, by)?;
        let named = context.state::<Bitmap>(NAMED)?;
        let mut by_source = context.wide_shuffle(shuffle::BY_SOURCE)?;
        let mut bits: HashMap<u64, u128> = HashMap::new();
        let mut candidates: Vec<CoverCandidate> = Vec::new();
        while let Some(group) = groups.next_group()? {
            let page = group.key();
            bits.clear();
            candidates.clear();
            let (mut used, mut popular, mut cut) = (0, 0, false);
            for offer in group {
                let (gram, slots) = (offer.gram, offer.facts & 0xffff);
                let mask = *bits.entry(gram).or_insert_with(|| {
                    // The slots of all phrases of a page sum up to its 84 shingles.
                    let ones = 1u128.checked_shl(slots).map_or(u128::MAX, |end| end - 1);
                    let mask = ones.checked_shl(used).unwrap_or(0);
                    used += slots;
                    mask
                });
                if offer.facts & POPULAR != 0 {
                    popular |= mask;
                    cut |= offer.facts & CUT != 0;
                }
                match candidates.last_mut() {
                    Some(last) if last.source == offer.source => last.shared |= mask,
                    _ => candidates.push(CoverCandidate {
                        source: offer.source,
                        shared: mask,
                        preferred: homes.prefers(page, offer.source),
                        foreign: homes.foreign(page, offer.source),
                    }),
                }
            }
            context.count(counter::CUT_COVERS, u64::from(cut));
            for (step, (candidate, shingles)) in greedy(&candidates, popular).iter().enumerate() {
                let unnamed = UnnamedSource {
                    page,
                    step: step as u32,
                    shingles: *shingles,
                    foreign: candidate.foreign,
                };
                named.set(u64::from(candidate.source));
                let source = u64::from(candidate.source);
                by_source.push_numbered(source, ROW, &serde_json::to_vec(&unnamed)?)?;
            }
        }
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The rule of the paper, with sets.
    fn naive(
        candidates: &[(BTreeSet<u32>, bool)],
        popular: &BTreeSet<u32>,
        whole: &BTreeSet<u32>,
    ) -> Vec<usize> {
        let mut uncovered = popular.clone();
        let mut cover = Vec::new();
        while !uncovered.is_empty() {
            let gives = |at: &usize| candidates[*at].0.intersection(&uncovered).count();
            let helpful: Vec<usize> = (0..candidates.len()).filter(|at| gives(at) > 0).collect();
            let foreign: Vec<usize> = helpful
                .iter()
                .copied()
                .filter(|&at| candidates[at].1)
                .collect();
            let eligible = if foreign.is_empty() { helpful } else { foreign };
            let Some(most) = eligible.iter().map(gives).max() else {
                break;
            };
            let equal: Vec<usize> = eligible
                .into_iter()
                .filter(|at| gives(at) == most)
                .collect();
            let overlap = |at: &usize| candidates[*at].0.intersection(whole).count();
            let largest = equal.iter().map(overlap).max().unwrap_or(0);
            let chosen = equal.into_iter().find(|at| overlap(at) == largest);
            let Some(chosen) = chosen else { break };
            uncovered.retain(|shingle| !candidates[chosen].0.contains(shingle));
            cover.push(chosen);
        }
        cover
    }

    proptest! {
        #[test]
        fn greedy_covers_follow_the_rule_of_the_paper(
            sets in prop::collection::vec((prop::collection::btree_set(0u32..20, 0..8), any::<bool>()), 0..12),
            popular in prop::collection::btree_set(0u32..20, 0..14),
        ) {
            let whole: BTreeSet<u32> = (0..20).collect();
            let mask = |set: &BTreeSet<u32>| set.iter().fold(0u128, |mask, shingle| mask | 1 << shingle);
            let candidates: Vec<CoverCandidate> = sets
                .iter()
                .enumerate()
                .map(|(source, (set, foreign))| CoverCandidate {
                    source: source as u32,
                    shared: mask(set),
                    preferred: *foreign,
                    foreign: *foreign,
                })
                .collect();
            let cover: Vec<usize> = greedy(&candidates, mask(&popular)).iter().map(|(taken, _)| taken.source as usize).collect();
            prop_assert_eq!(cover, naive(&sets, &popular, &whole));
        }
    }

    proptest! {
        /// A page finds the same foreign candidates among the chosen pages as among all pages.
        #[test]
        fn every_page_finds_the_first_foreign_candidates(
            homes in prop::collection::vec((0u32..4, 0u32..4), 0..60),
            most in 1u32..4,
        ) {
            let unset = |number: u32| if number == 3 { UNSET } else { number };
            let homes: Vec<(u32, u32)> =
                homes.into_iter().map(|(domain, address)| (unset(domain), unset(address))).collect();
            let mut chosen = PhraseCandidates::new(most);
            for (page, &(domain, address)) in (0..).zip(&homes) {
                chosen.see(page, domain, address);
            }
            prop_assert!(chosen.pages.len() as u32 <= 5 * (most + 1));
            let same = |one: u32, other: u32| one != UNSET && one == other;
            for (page, &(domain, address)) in (0u32..).zip(&homes) {
                let foreign = |other: &u32| {
                    let home = homes[*other as usize];
                    !same(domain, home.0) && !same(address, home.1)
                };
                let first = |pages: &[u32]| -> Vec<u32> {
                    let others = || pages.iter().copied().filter(|&other| other != page);
                    let (far, near) = (others().filter(|other| foreign(other)), others().filter(|other| !foreign(other)));
                    far.chain(near).take(most as usize).collect()
                };
                let all: Vec<u32> = (0..homes.len() as u32).collect();
                let (found, expected) = (first(&chosen.pages), first(&all));
                // The foreign ones are the same; of the others there are as many.
                let far = |pages: &[u32]| pages.iter().copied().filter(|other| foreign(other)).collect::<Vec<_>>();
                prop_assert_eq!(far(&found), far(&expected));
                prop_assert_eq!(found.len(), expected.len());
            }
        }
    }
}
