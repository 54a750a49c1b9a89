//! Covering sets: from which pages the popular shingles of a page can be put together.
//!
//! ```text
//!   offerers ─ offer ─▶ offers ─ cover ─▶ by source ─ sources ─▶ page rows
//!                 ▲ covered
//! ```
//!
//! The greedy rule of the paper: the page with the most of what is not covered yet; of equals the one that shares the most shingles
//! with the covered page, popular or not; of equals the first. A page of the same domain or of the same address is
//! taken only when no other has anything left to give.
//!
//! What this costs is bounded twice. As in the paper only some pages are covered, so many for each number of popular
//! shingles. And of a phrase only so many pages are candidates: the first ones by an order that is random and the same for all
//! phrases. So a phrase on a million pages makes no million times a million rows, and a page that is a candidate for one such
//! phrase is one for all of them.

use std::collections::HashMap;

use cento_flow::{Bitmap, Registry};
use serde::{Deserialize, Serialize};

use super::params::PhrasesParams;
use super::rows::{Holder, Offer, POPULAR};
use crate::names::{NAMED, ROW};
use crate::numbers::{Numbers, UNSET};

/// What a source gives to a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Gift {
    pub(super) page: u32,
    pub(super) step: u32,
    pub(super) shingles: u32,
    pub(super) foreign: bool,
}

/// A page that shares shingles with the one that is covered: one bit for each of these.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    source: u32,
    shared: u128,
    foreign: bool,
}

/// The greedy cover: sources with how many shingles each gives, in the order in which they are taken. Candidates must ascend.
fn greedy(candidates: &[Candidate], popular: u128) -> Vec<(Candidate, u32)> {
    let (mut uncovered, mut cover) = (popular, Vec::new());
    while uncovered != 0 {
        let mut best: Option<((bool, u32, u32), Candidate)> = None;
        for candidate in candidates {
            let gain = (candidate.shared & uncovered).count_ones();
            let merit = (candidate.foreign, gain, candidate.shared.count_ones());
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
    let most = params.candidates as usize;
    registry.reduce::<Holder, _>("offer", move |context, groups| {
        let covered = context.state::<Bitmap>("covered")?;
        let mut offers = context.shuffle::<Offer>("offers")?;
        // One more than may be candidates, for a page is no candidate for itself.
        let mut first: Vec<Holder> = Vec::with_capacity(most + 1);
        while let Some(mut group) = groups.next_group()? {
            let gram = group.key();
            first.clear();
            first.extend(group.by_ref().take(most + 1));
            let mut beyond = false;
            let mut offer = |to: Holder| {
                if to.slots() == 0 || !covered.get(u64::from(to.page)) {
                    return Ok(());
                }
                let others = first.iter().filter(|holder| holder.page != to.page);
                offers.extend(others.take(most).map(|holder| Offer {
                    gram,
                    page: to.page,
                    source: holder.page,
                    facts: to.slots() | if to.has(POPULAR) { POPULAR } else { 0 },
                }))
            };
            for &to in &first {
                offer(to)?;
            }
            for to in group {
                beyond = true;
                offer(to)?;
            }
            if beyond {
                context.count("phrases of more pages than candidates", 1);
            }
        }
        Ok(())
    });
    registry.reduce::<Offer, _>("cover", |context, groups| {
        let domains = context.state::<Numbers>("domain")?;
        let addresses = context.state::<Numbers>("ip")?;
        let named = context.state::<Bitmap>(NAMED)?;
        let mut by_source = context.wide_shuffle("by source")?;
        let same = |numbers: &Numbers, one: u32, other: u32| {
            let number = numbers.get(one);
            number != UNSET && number == numbers.get(other)
        };
        let mut bits: HashMap<u64, u128> = HashMap::new();
        let mut candidates: Vec<Candidate> = Vec::new();
        while let Some(group) = groups.next_group()? {
            let page = group.key();
            bits.clear();
            candidates.clear();
            let (mut used, mut popular) = (0, 0);
            for offer in group {
                let (gram, slots) = (offer.gram, offer.facts & 0xffff);
                let mask = *bits.entry(gram).or_insert_with(|| {
                    // All phrases of a page together are its 84 shingles.
                    let ones = 1u128.checked_shl(slots).map_or(u128::MAX, |end| end - 1);
                    let mask = ones.checked_shl(used).unwrap_or(0);
                    used += slots;
                    mask
                });
                if offer.facts & POPULAR != 0 {
                    popular |= mask;
                }
                match candidates.last_mut() {
                    Some(last) if last.source == offer.source => last.shared |= mask,
                    _ => candidates.push(Candidate {
                        source: offer.source,
                        shared: mask,
                        foreign: !same(&domains, page, offer.source)
                            && !same(&addresses, page, offer.source),
                    }),
                }
            }
            for (step, (candidate, shingles)) in greedy(&candidates, popular).iter().enumerate() {
                let gift = Gift {
                    page,
                    step: step as u32,
                    shingles: *shingles,
                    foreign: candidate.foreign,
                };
                named.set(u64::from(candidate.source));
                let source = u64::from(candidate.source);
                by_source.push_numbered(source, ROW, &serde_json::to_vec(&gift)?)?;
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

    /// The rule as the paper writes it, with sets.
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
        fn greedy_covers_are_as_the_paper_has_them(
            sets in prop::collection::vec((prop::collection::btree_set(0u32..20, 0..8), any::<bool>()), 0..12),
            popular in prop::collection::btree_set(0u32..20, 0..14),
        ) {
            let whole: BTreeSet<u32> = (0..20).collect();
            let mask = |set: &BTreeSet<u32>| set.iter().fold(0u128, |mask, shingle| mask | 1 << shingle);
            let candidates: Vec<Candidate> = sets
                .iter()
                .enumerate()
                .map(|(source, (set, foreign))| Candidate { source: source as u32, shared: mask(set), foreign: *foreign })
                .collect();
            let cover: Vec<usize> = greedy(&candidates, mask(&popular)).iter().map(|(taken, _)| taken.source as usize).collect();
            prop_assert_eq!(cover, naive(&sets, &popular, &whole));
        }
    }
}
