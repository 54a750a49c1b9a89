//! From buckets to pairs worth comparing: rounds in which the pages that are kept so far meet,
//! until nothing is left to compare.
//!
//! ```text
//!   by band ─ meet ─┬─▶ possible ─ choose ─┬─▶ candidates ─ verify ─┬─▶ edges ─ decide ─▶ decisions, known edges
//!      ▲            │       ▲              │                        │     ▲                      │
//!      │            ▼       │              ▼                        ▼     └──────── carry ───────┘
//!      └─ again ─ waiting   └─ recall ─ tried ◀──────────────────────
//! ```
//!
//! What is wanted is the greedy choice: in the order of who is kept, a page is removed if a kept
//! page resembles it, and kept otherwise. There is exactly one set of pages such that no two of
//! them resemble each other and every other page resembles an earlier one of them, and that is the
//! greedy choice. So a round compares some pairs of pages that are kept so far, and `decide`
//! resolves all edges known; a page that was removed for a page which is itself removed is then
//! kept again, and meets the others in the next round. The rounds end when no pair of kept pages is
//! left that met and was not compared. A chain of any length and order is thus resolved exactly as
//! by comparing all pairs that meet.
//!
//! The work of a page is bounded, whoever wrote the others. Of a bucket of more than [`LEAF`]
//! pages, only neighbours in the order of signatures are compared: the bucket is cut into the
//! largest subtrees of the trie of signatures with no more pages than that. [`PICKED`] candidates
//! of a page are compared in a round, the most promising first, and after [`MOST_UNLIKE`] that were
//! unlike it no more. Pages with candidates beyond these bounds are counted.

use cento_flow::{Context, Emitter, Groups, Registry, StageError};

use super::exact::comparable;
use super::near::Gates;
use super::params::CopiesParams;
use super::rows::{
    ALIKE, CROWDED, Candidate, Edge, InBucket, PENDING, Place, Possible, UNLIKE, agreement,
    common_prefix,
};
use crate::numbers::Numbers;

/// The pages of a bucket that are compared with each other.
pub(super) const LEAF: usize = 128;
/// Candidates that a page gets from one bucket in the first round, when most of its pages are still
/// to be removed.
const FIRST: usize = 8;
/// Candidates that a page gets from one bucket in later rounds.
const LATER: usize = MOST_UNLIKE;
/// Candidates of a page that are compared in one round.
const PICKED: usize = 8;
/// Candidates that are compared in one round of a page which surely resembles some of them.
const PICKED_OF_SURE: usize = 4;
/// Pages that a page may turn out to be unlike before it is compared with no more.
pub(super) const MOST_UNLIKE: usize = 32;
/// Rounds of comparisons. What a corpus needs is about as many as its longest chain of pages that
/// come back, which is few.
pub(super) const ROUNDS: u16 = 32;

/// The counter that is zero after the last round.
pub(super) const CHANGES: &str = "changes";
/// Pages that were not compared with all that they met.
pub(super) const PAGES_CROWDED: &str = "pages crowded";

/// Says yes or no of a page in a state of numbers, in place of what was said before.
///
/// Of two numbers for a page the smaller one stays, so each answer is smaller than all before it,
/// and its lowest bit is what it says.
pub(super) fn answer(numbers: &Numbers, page: u32, yes: bool) {
    let fresh = (numbers.get(page) >> 1).saturating_sub(1);
    numbers.set(page, fresh << 1 | u32::from(!yes));
}

/// What was last said of a page: no, if nothing was.
pub(super) fn answered(numbers: &Numbers, page: u32) -> bool {
    numbers.get(page) & 1 == 0
}

pub(super) fn register(registry: &mut Registry, params: &CopiesParams) {
    let asked = params.clone();
    registry.reduce::<InBucket, _>("meet", move |context, groups| meet(context, &asked, groups));
    let asked = params.clone();
    registry.reduce::<Possible, _>("choose", move |context, groups| {
        choose(context, &asked, groups)
    });
    // What a stage reads is gone, and it cannot fill it again: these carry rows to the next round.
    registry.reduce::<Possible, _>("recall", |context, groups| {
        let mut possible = context.shuffle::<Possible>("possible")?;
        while let Some(group) = groups.next_group()? {
            for row in group {
                let round = row.round + 1;
                possible.push(Possible { round, ..row })?;
            }
        }
        Ok(())
    });
    registry.reduce::<InBucket, _>("again", |context, groups| {
        let mut by_band = context.shuffle::<InBucket>("by band")?;
        while let Some(group) = groups.next_group()? {
            for row in group {
                let round = row.round + 1;
                by_band.push(InBucket { round, ..row })?;
            }
        }
        Ok(())
    });
    registry.reduce::<Edge, _>("carry", |context, groups| {
        let mut edges = context.shuffle::<Edge>("edges")?;
        while let Some(group) = groups.next_group()? {
            for edge in group {
                edges.push(edge)?;
            }
        }
        Ok(())
    });
}

/// Compares the signatures of the kept pages of each bucket. What may have to meet again in the
/// next round waits.
fn meet(
    context: &Context<'_>,
    params: &CopiesParams,
    groups: &mut Groups<'_, InBucket>,
) -> Result<(), StageError> {
    let removed = context.state::<Numbers>("removed")?;
    let sated = context.state::<Numbers>("sated")?;
    let mut waiting = context.shuffle::<InBucket>("waiting")?;
    let mut leaf = Leaf {
        params,
        gates: Gates::new(params.resemblance),
        sated: &sated,
        possible: &mut *context.shuffle::<Possible>("possible")?,
        rows: Vec::with_capacity(LEAF + 1),
        met: Vec::new(),
    };
    let mut window: Vec<InBucket> = Vec::with_capacity(LEAF + 1);
    while let Some(mut group) = groups.next_group()? {
        window.clear();
        let (mut split, mut someone_waits, mut ended) = (false, false, false);
        while !ended {
            while window.len() <= LEAF && !ended {
                match group.next() {
                    None => ended = true,
                    Some(row) if answered(&removed, row.place.page) => {
                        waiting.push(row)?;
                        someone_waits = true;
                    }
                    Some(row) => window.push(row),
                }
            }
            if ended {
                let crowded = leaf.compare(&window, split)?;
                // Pages that all met, each with each, need not meet again.
                if split || someone_waits || crowded {
                    window.iter().try_for_each(|&row| waiting.push(row))?;
                }
                break;
            }
            split = true;
            let end = cut(&window);
            let (now, _) = window.split_at(end);
            leaf.compare(now, true)?;
            // More pages with one signature than fit: their first one meets all of them.
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

fn same(window: &[InBucket]) -> bool {
    let ends = window.first().zip(window.last());
    ends.is_some_and(|(first, last)| first.signature == last.signature)
}

/// Where the largest subtree ends that begins with the first of these rows and has no more than
/// [`LEAF`] of them. There is one row too many, so that its depth is known.
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

/// Pages of a bucket that are compared with each other.
struct Leaf<'a> {
    params: &'a CopiesParams,
    gates: Gates,
    sated: &'a Numbers,
    possible: &'a mut Emitter<Possible>,
    rows: Vec<InBucket>,
    met: Vec<(u32, Place)>,
}

impl Leaf<'_> {
    /// Compares the signatures of all pairs. True if a page has more candidates here than it gets.
    fn compare(&mut self, rows: &[InBucket], split: bool) -> Result<bool, StageError> {
        self.rows.clear();
        self.rows.extend_from_slice(rows);
        self.rows.sort_unstable_by_key(|row| row.place);
        let mut any_crowded = false;
        for (at, row) in self.rows.iter().enumerate() {
            let round = row.round as u16;
            let mut crowded = split;
            if !answered(self.sated, row.place.page) {
                self.met.clear();
                for of in self.rows.get(..at).unwrap_or_default() {
                    let agreement = agreement(&of.signature, &row.signature);
                    if agreement >= self.gates.possible
                        && comparable(self.params, of.place, row.place)
                    {
                        self.met.push((agreement, of.place));
                    }
                }
                let most = if round == 0 { FIRST } else { LATER };
                if self.met.len() > most {
                    crowded = true;
                    any_crowded = true;
                    best_first(&mut self.met, self.gates.sure, most / 2);
                    self.met.truncate(most);
                }
                for &(agreement, of) in &self.met {
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

/// Orders candidates: first the earliest of those that are surely alike, for they are the likeliest
/// to be kept; then those most alike.
fn best_first(candidates: &mut [(u32, Place)], sure: u32, earliest: usize) {
    candidates.sort_unstable_by_key(|&(agreement, place)| (agreement < sure, place));
    let surely = candidates.partition_point(|&(agreement, _)| agreement >= sure);
    if let Some(rest) = candidates.get_mut(earliest.min(surely)..) {
        rest.sort_unstable_by_key(|&(agreement, place)| (std::cmp::Reverse(agreement), place));
    }
}

/// Chooses which of its candidates a page is compared with in this round.
fn choose(
    context: &Context<'_>,
    params: &CopiesParams,
    groups: &mut Groups<'_, Possible>,
) -> Result<(), StageError> {
    let removed = context.state::<Numbers>("removed")?;
    let sated = context.state::<Numbers>("sated")?;
    let gates = Gates::new(params.resemblance);
    let mut candidates = context.shuffle::<Candidate>("candidates")?;
    let mut tried = context.shuffle::<Possible>("tried")?;
    let mut open: Vec<(u32, Place)> = Vec::new();
    while let Some(group) = groups.next_group()? {
        open.clear();
        let (mut crowded, mut unlike, mut round) = (false, 0, 0);
        let mut last: Option<(Place, Place)> = None;
        let mut page = None;
        for row in group {
            round = row.round;
            page = Some(row.page);
            if row.state == CROWDED {
                crowded = true;
                continue;
            }
            // The same pair from several buckets; what is known of it comes first.
            if last == Some((row.page, row.of)) {
                continue;
            }
            last = Some((row.page, row.of));
            unlike += usize::from(row.state == UNLIKE);
            let undecided = row.state == PENDING
                && !answered(&removed, row.page.page)
                && !answered(&removed, row.of.page);
            if undecided {
                open.push((row.agreement, row.of));
            } else {
                tried.push(row)?;
            }
        }
        let Some(page) = page.filter(|page| !answered(&removed, page.page)) else {
            continue;
        };
        let surely = open.iter().any(|&(agreement, _)| agreement >= gates.sure);
        let most = if surely { PICKED_OF_SURE } else { PICKED };
        let most = most.min(MOST_UNLIKE.saturating_sub(unlike));
        best_first(&mut open, gates.sure, most / 2);
        let (now, later) = open.split_at(most.min(open.len()));
        for &(agreement, of) in now {
            candidates.push(Candidate {
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
        answer(&sated, page.page, exhausted || later.len() >= MOST_UNLIKE);
    }
    Ok(())
}

/// Whether there is no round after this one.
pub(super) fn last_round(round: u16) -> bool {
    round + 1 >= ROUNDS
}

impl Possible {
    /// What is known of a candidate that was compared.
    pub(super) fn known(candidate: &Candidate, alike: bool) -> Possible {
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
    fn the_last_answer_counts() {
        let numbers = Numbers::create(&json!({ "pages": 3 })).unwrap();
        assert!(!answered(&numbers, 1));
        for yes in [true, false, false, true, true, false] {
            answer(&numbers, 1, yes);
            assert_eq!(answered(&numbers, 1), yes);
        }
        assert!(!answered(&numbers, 2));
    }

    #[test]
    fn buckets_are_cut_at_subtrees() {
        let row = |first: u64, page| InBucket {
            bucket: 1,
            place: Place { rank: 0, page },
            signature: [first << 60, 0, 0, 0, 0, 0],
            round: 0,
        };
        // 100 rows of one subtree, 100 of the next.
        let rows: Vec<InBucket> = (0..200)
            .map(|page| row(u64::from(page / 100), page))
            .collect();
        assert_eq!(cut(&rows[..=LEAF]), 100);
        // More of one signature than fit.
        let rows: Vec<InBucket> = (0..200).map(|page| row(7, page)).collect();
        assert_eq!(cut(&rows[..=LEAF]), LEAF);
        assert!(same(&rows[..=LEAF]));
    }

    #[test]
    fn sure_candidates_come_first_by_place_then_the_most_alike() {
        let place = |page| Place { rank: 0, page };
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
