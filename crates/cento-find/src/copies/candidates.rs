//! Selects candidate pairs from buckets, in rounds over the pages that are kept so far, until no
//! candidates are left.
//!
//! ```text
//!   by band ─ meet ─┬─▶ possible ─ choose ─┬─▶ candidates ─ verify ─┬─▶ edges ─ decide ─▶ removed,
//!      ▲            │       ▲              │                        │     ▲         known edges
//!      │            ▼       │              ▼                        ▼     └─── carry ───┘
//!   requeue ◀─ waiting   recall ◀──────  tried ◀────────────────────┘
//! ```
//!
//! The goal is the greedy choice: in the order of precedence, a page is removed if it resembles a
//! kept page, and kept otherwise. Exactly one set of pages is such that no two of its pages
//! resemble each other and every other page resembles an earlier page of the set: the greedy
//! choice. So each round compares some pairs of pages that are kept so far, and `decide` evaluates
//! all edges known; a page whose kept page has itself been removed is kept again, and takes part in
//! the next round. The rounds end when every pair of kept pages that share a bucket has been
//! compared. Chains of any length and order are thus resolved exactly as if all these pairs were
//! compared at once.
//!
//! The work per page is bounded, even on hostile input. In a bucket of more than [`LEAF`] pages,
//! only neighbours in the order of signatures are compared: the bucket is split into the largest
//! subtrees of the trie of signatures that have at most that many pages. [`PICKED`] candidates of a
//! page are compared per round, the most promising first, and none after [`MOST_UNLIKE`] turned out
//! to be dissimilar. Pages with more candidates than these bounds allow are counted.

use cento_flow::{Context, Emitter, Groups, Registry, StageError};

use super::copy_rows::{
    ALIKE, CROWDED, CandidatePair, InBucket, NearEdge, PENDING, Possible, RankedPage, UNLIKE,
    agreement, common_prefix,
};
use super::exact::comparable;
use super::near::Gates;
use super::params::CopiesParams;
use super::stage_names::{shuffle, stage, state};
use crate::numbers::{Numbers, UNSET};

/// The most pages of a bucket that are compared with each other.
pub(super) const LEAF: usize = 128;
/// The most candidates of a page from one bucket in the first round, when most pages are yet to be
/// removed.
const FIRST: usize = 8;
/// The most candidates of a page from one bucket in later rounds.
const LATER: usize = MOST_UNLIKE;
/// The most candidates of a page that are compared in one round.
const PICKED: usize = 8;
/// The same for a page that almost certainly resembles some of its candidates.
const PICKED_OF_SURE: usize = 4;
/// The number of dissimilar candidates after which a page is not compared any more.
pub(super) const MOST_UNLIKE: usize = 32;
/// The most rounds of comparisons. A corpus needs about as many as its longest chain of pages that
/// are kept again, which is short.
pub(super) const ROUNDS: u16 = 32;

/// The counter that is zero after the last round.
pub(super) const CHANGES: &str = "changes";
/// The counter of pages that were not compared with all their candidates.
pub(super) const PAGES_CROWDED: &str = "pages crowded";

/// Sets a flag of a page in a state of numbers, replacing that of an earlier round.
///
/// [`Numbers`] keeps the smaller of two numbers of a page, so that of a later round is smaller; its
/// lowest bit is the inverted flag. The number depends on the round and not on the former number,
/// which a task on another machine does not know: a stage that reads a state and writes to it sends
/// all of it.
pub(super) fn set_flag(numbers: &Numbers, page: u32, round: u16, flag: bool) {
    let fresh = (UNSET >> 1) - 1 - u32::from(round);
    numbers.set(page, fresh << 1 | u32::from(!flag));
}

/// Returns the flag of a page: false if it was never set.
pub(super) fn flag(numbers: &Numbers, page: u32) -> bool {
    numbers.get(page) & 1 == 0
}

pub(super) fn register(registry: &mut Registry, params: &CopiesParams) {
    let settings = params.clone();
    registry.reduce::<InBucket, _>(stage::MEET, move |context, groups| {
        meet(context, &settings, groups)
    });
    let settings = params.clone();
    registry.reduce::<Possible, _>(stage::CHOOSE, move |context, groups| {
        choose(context, &settings, groups)
    });
    // A stage consumes its input and cannot refill it, so these stages carry rows to the next
    // round.
    registry.reduce::<Possible, _>(stage::RECALL, |context, groups| {
        let mut possible = context.shuffle::<Possible>(shuffle::POSSIBLE)?;
        while let Some(group) = groups.next_group()? {
            for row in group {
                let round = row.round + 1;
                possible.push(Possible { round, ..row })?;
            }
        }
        Ok(())
    });
    registry.reduce::<InBucket, _>(stage::REQUEUE, |context, groups| {
        let mut by_band = context.shuffle::<InBucket>(shuffle::BY_BAND)?;
        while let Some(group) = groups.next_group()? {
            for row in group {
                let round = row.round + 1;
                by_band.push(InBucket { round, ..row })?;
            }
        }
        Ok(())
    });
    registry.reduce::<NearEdge, _>(stage::CARRY, |context, groups| {
        let mut edges = context.shuffle::<NearEdge>(shuffle::EDGES)?;
        while let Some(group) = groups.next_group()? {
            for edge in group {
                let round = edge.round + 1;
                edges.push(NearEdge { round, ..edge })?;
            }
        }
        Ok(())
    });
}

/// Compares the signatures of the kept pages of each bucket. Rows that may be needed in the next
/// round are written to `waiting`.
fn meet(
    context: &Context<'_>,
    params: &CopiesParams,
    groups: &mut Groups<'_, InBucket>,
) -> Result<(), StageError> {
    let removed = context.state::<Numbers>(state::REMOVED)?;
    let sated = context.state::<Numbers>(state::SATED)?;
    let mut waiting = context.shuffle::<InBucket>(shuffle::WAITING)?;
    let mut leaf = Leaf {
        params,
        gates: Gates::new(params.resemblance),
        sated: &sated,
        possible: &mut *context.shuffle::<Possible>(shuffle::POSSIBLE)?,
        rows: Vec::with_capacity(LEAF + 1),
        similar: Vec::new(),
    };
    let mut window: Vec<InBucket> = Vec::with_capacity(LEAF + 1);
    while let Some(mut group) = groups.next_group()? {
        window.clear();
        let (mut split, mut any_waiting, mut ended) = (false, false, false);
        while !ended {
            while window.len() <= LEAF && !ended {
                match group.next() {
                    None => ended = true,
                    Some(row) if flag(&removed, row.place.page) => {
                        waiting.push(row)?;
                        any_waiting = true;
                    }
                    Some(row) => window.push(row),
                }
            }
            if ended {
                let crowded = leaf.compare(&window, split)?;
                // If all pairs were compared, the bucket is finished.
                if split || any_waiting || crowded {
                    window.iter().try_for_each(|&row| waiting.push(row))?;
                }
                break;
            }
            split = true;
            let end = cut(&window);
            let (now, _) = window.split_at(end);
            leaf.compare(now, true)?;
            // More pages with one signature than fit: the first is compared with all of them.
            let anchor = usize::from(end == LEAF && same(&window));
            now.iter()
                .skip(anchor)
                .try_for_each(|&row| waiting.push(row))?;
            window.drain(anchor..end);
        }
        if split {
            context.count("buckets split", 1);
        }
        context.check()?;
    }
    Ok(())
}

/// Whether all rows have the same signature.
fn same(window: &[InBucket]) -> bool {
    let ends = window.first().zip(window.last());
    ends.is_some_and(|(first, last)| first.signature == last.signature)
}

/// Returns where the largest subtree ends that begins with the first of these rows and has at most
/// [`LEAF`] rows. One row more than that is passed, so that the depth of the subtree is known.
fn cut(window: &[InBucket]) -> usize {
    let Some((first, last)) = window.first().zip(window.last()) else {
        return 0;
    };
    if first.signature == last.signature {
        return LEAF;
    }
    let depth = common_prefix(&first.signature, &last.signature) + 1;
    window.partition_point(|row| common_prefix(&first.signature, &row.signature) >= depth)
}

/// The pages of a bucket that are compared with each other.
struct Leaf<'a> {
    params: &'a CopiesParams,
    gates: Gates,
    sated: &'a Numbers,
    possible: &'a mut Emitter<Possible>,
    rows: Vec<InBucket>,
    similar: Vec<(u32, RankedPage)>,
}

impl Leaf<'_> {
    /// Compares the signatures of all pairs. Returns true if a page has more candidates than it may
    /// have.
    fn compare(&mut self, rows: &[InBucket], split: bool) -> Result<bool, StageError> {
        self.rows.clear();
        self.rows.extend_from_slice(rows);
        self.rows.sort_unstable_by_key(|row| row.place);
        let mut any_crowded = false;
        for (at, row) in self.rows.iter().enumerate() {
            let round = row.round as u16;
            let mut crowded = split;
            if !flag(self.sated, row.place.page) {
                self.similar.clear();
                for of in self.rows.get(..at).unwrap_or_default() {
                    let agreement = agreement(&of.signature, &row.signature);
                    if agreement >= self.gates.possible
                        && comparable(self.params, of.place, row.place)
                    {
                        self.similar.push((agreement, of.place));
                    }
                }
                let most = if round == 0 { FIRST } else { LATER };
                if self.similar.len() > most {
                    crowded = true;
                    any_crowded = true;
                    best_first(&mut self.similar, self.gates.sure, most / 2);
                    self.similar.truncate(most);
                }
                for &(agreement, of) in &self.similar {
                    self.possible.push(Possible {
                        page: row.place,
                        of,
                        agreement,
                        state: PENDING,
                        round,
                    })?;
                }
            } else if at > 0 {
                any_crowded = true;
            }
            if crowded {
                self.possible.push(Possible {
                    page: row.place,
                    of: row.place,
                    agreement: 0,
                    state: CROWDED,
                    round,
                })?;
            }
        }
        Ok(any_crowded)
    }
}

/// Orders candidates: first the earliest of those that are almost certainly similar, because they
/// are the most likely to be kept; then by similarity.
fn best_first(candidates: &mut [(u32, RankedPage)], sure: u32, earliest: usize) {
    candidates.sort_unstable_by_key(|&(agreement, place)| (agreement < sure, place));
    let surely = candidates.partition_point(|&(agreement, _)| agreement >= sure);
    if let Some(rest) = candidates.get_mut(earliest.min(surely)..) {
        rest.sort_unstable_by_key(|&(agreement, place)| (std::cmp::Reverse(agreement), place));
    }
}

/// Chooses the candidates that each page is compared with in this round.
fn choose(
    context: &Context<'_>,
    params: &CopiesParams,
    groups: &mut Groups<'_, Possible>,
) -> Result<(), StageError> {
    let removed = context.state::<Numbers>(state::REMOVED)?;
    let sated = context.state::<Numbers>(state::SATED)?;
    let gates = Gates::new(params.resemblance);
    let mut candidates = context.shuffle::<CandidatePair>(shuffle::CANDIDATES)?;
    let mut tried = context.shuffle::<Possible>(shuffle::TRIED)?;
    let mut open: Vec<(u32, RankedPage)> = Vec::new();
    while let Some(group) = groups.next_group()? {
        open.clear();
        let (mut crowded, mut unlike, mut round) = (false, 0, 0);
        let mut last: Option<(RankedPage, RankedPage)> = None;
        let mut page = None;
        for row in group {
            round = row.round;
            page = Some(row.page);
            if row.state == CROWDED {
                crowded = true;
                continue;
            }
            // The same pair from several buckets; the row of a finished comparison comes first.
            if last == Some((row.page, row.of)) {
                continue;
            }
            last = Some((row.page, row.of));
            unlike += usize::from(row.state == UNLIKE);
            let undecided = row.state == PENDING
                && !flag(&removed, row.page.page)
                && !flag(&removed, row.of.page);
            if undecided {
                open.push((row.agreement, row.of));
            } else {
                tried.push(row)?;
            }
        }
        let Some(page) = page.filter(|page| !flag(&removed, page.page)) else {
            continue;
        };
        let surely = open.iter().any(|&(agreement, _)| agreement >= gates.sure);
        let most = if surely { PICKED_OF_SURE } else { PICKED };
        let most = most.min(MOST_UNLIKE.saturating_sub(unlike));
        best_first(&mut open, gates.sure, most / 2);
        let (now, later) = open.split_at(most.min(open.len()));
        for &(agreement, of) in now {
            candidates.push(CandidatePair {
                page,
                of,
                agreement,
                round: u32::from(round),
            })?;
        }
        for &(agreement, of) in later {
            tried.push(Possible {
                page,
                of,
                agreement,
                state: PENDING,
                round,
            })?;
        }
        let exhausted = unlike + now.len() >= MOST_UNLIKE || last_round(round);
        if !later.is_empty() && !exhausted {
            context.count(CHANGES, 1);
        }
        if crowded || (!later.is_empty() && exhausted) {
            context.count(PAGES_CROWDED, 1);
        }
        let is_sated = exhausted || later.len() >= MOST_UNLIKE;
        set_flag(&sated, page.page, round, is_sated);
    }
    Ok(())
}

/// Whether this is the last round.
pub(super) fn last_round(round: u16) -> bool {
    round + 1 >= ROUNDS
}

impl Possible {
    /// Returns the row of a candidate that was compared.
    pub(super) fn known(candidate: &CandidatePair, alike: bool) -> Possible {
        Possible {
            page: candidate.page,
            of: candidate.of,
            agreement: candidate.agreement,
            state: if alike { ALIKE } else { UNLIKE },
            round: candidate.round as u16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cento_flow::State;
    use serde_json::json;

    #[test]
    fn the_last_value_of_a_flag_counts() {
        let numbers = Numbers::create(&json!({ "pages": 3 })).unwrap();
        assert!(!flag(&numbers, 1));
        for (round, value) in [true, false, false, true, true, false]
            .into_iter()
            .enumerate()
        {
            set_flag(&numbers, 1, round as u16, value);
            assert_eq!(flag(&numbers, 1), value);
        }
        assert!(!flag(&numbers, 2));
    }

    /// On a cluster, a task begins with an empty state, and what it has written is merged.
    #[test]
    fn the_last_value_of_a_flag_counts_if_tasks_do_not_know_the_former_one() {
        let parameters = json!({ "pages": 2 });
        let merged = Numbers::create(&parameters).unwrap();
        for (round, value) in [true, false, true, true, false].into_iter().enumerate() {
            let of_task = Numbers::sparse(&parameters).unwrap();
            set_flag(&of_task, 1, round as u16, value);
            let mut written = Vec::new();
            of_task.write(&mut written).unwrap();
            merged.absorb(&mut written.as_slice()).unwrap();
            assert_eq!(flag(&merged, 1), value, "round {round}");
        }
    }

    #[test]
    fn buckets_are_split_at_subtrees() {
        let row = |first: u64, page| InBucket {
            bucket: 1,
            place: RankedPage { rank: 0, page },
            signature: [first << 60, 0, 0, 0, 0, 0],
            round: 0,
        };
        // 100 rows of one subtree and 100 of the next.
        let rows: Vec<InBucket> = (0..200)
            .map(|page| row(u64::from(page / 100), page))
            .collect();
        assert_eq!(cut(&rows[..=LEAF]), 100);
        // More rows with one signature than fit.
        let rows: Vec<InBucket> = (0..200).map(|page| row(7, page)).collect();
        assert_eq!(cut(&rows[..=LEAF]), LEAF);
        assert!(same(&rows[..=LEAF]));
    }

    #[test]
    fn certain_candidates_come_first_by_rank_then_the_most_similar() {
        let place = |page| RankedPage { rank: 0, page };
        let mut candidates = vec![
            (60, place(1)),
            (80, place(2)),
            (84, place(3)),
            (79, place(4)),
            (70, place(5)),
        ];
        best_first(&mut candidates, 78, 1);
        let order: Vec<u32> = candidates.iter().map(|(_, place)| place.page).collect();
        assert_eq!(order, [2, 3, 4, 5, 1]);
    }
}
