//! From groups, pairs and hot sets to how many replicas each page has, and for which of them a
//! crawler would skip it.
//!
//! Pages are known by rank, and visited in that order. A page that shares enough with a visited one
//! is skipped; otherwise it is visited itself.

use super::super::PAIRS;
use super::stages::{COPIES, GROUPS, SET_CHUNKS, SETS};
use crate::error::Result;
use crate::run::Findings;
use crate::tables::read_table;
use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};

/// Steps of counting that hot sets may cost: ten seconds or so. What is not counted then is said.
const MOST_STEPS: u64 = 1 << 33;
const NONE: u32 = u32::MAX;

/// What a notion of a replica says. Pages are known by rank, and what is true of the leader of a
/// group is true of its pages.
#[derive(Debug, Default)]
pub(super) struct Notion {
    pub(super) name: String,
    leaders: Vec<u32>,
    replicas: Vec<u32>,
    visited: Vec<u32>,
    /// Pages whose hot chunks were not compared with those of all others. For these, and for those
    /// that they were not compared with, the numbers are lower bounds.
    pub(super) beyond: u64,
}

impl Notion {
    fn of_leader(&self, values: &[u32], page: u32) -> u32 {
        let leader = self.leaders.get(page as usize).copied().unwrap_or(page);
        values.get(leader as usize).copied().unwrap_or(page)
    }

    /// How many replicas a page has, itself among them.
    pub(super) fn replicas(&self, page: u32) -> u32 {
        self.of_leader(&self.replicas, page)
    }

    /// The visited page that a page is a replica of: itself if it is visited.
    pub(super) fn visited(&self, page: u32) -> u32 {
        self.of_leader(&self.visited, page)
    }

    /// Pages in all.
    pub(super) fn pages(&self) -> u32 {
        self.leaders.len() as u32
    }
}

/// Hot sets with enough chunks to make replicas by themselves, and all others, by number.
pub(super) struct Sets {
    /// The set of each page.
    pub(super) of: Vec<u32>,
    begins: Vec<u32>,
    chunks: Vec<u32>,
    threshold: u32,
    /// Sets that have a chunk, if these have enough chunks.
    holders: Vec<u32>,
    holder_begins: Vec<u32>,
    counts: Vec<u32>,
    /// Steps that may still be made.
    pub(super) steps: u64,
}

impl Sets {
    /// Sets by the hot chunks that each has, in order; `of` says which set a page has.
    pub(super) fn new(of: Vec<u32>, lists: &[(u32, Vec<u64>)], threshold: u32) -> Sets {
        let mut names: Vec<u64> = lists.iter().flat_map(|(_, list)| list).copied().collect();
        names.sort_unstable();
        names.dedup();
        let number = |chunk: u64| names.binary_search(&chunk).unwrap_or_default() as u32;
        let mut sets = Sets {
            of,
            begins: vec![0],
            chunks: Vec::new(),
            threshold,
            holders: Vec::new(),
            holder_begins: Vec::new(),
            counts: vec![0; lists.len()],
            steps: MOST_STEPS,
        };
        for (_, list) in lists {
            sets.chunks.extend(list.iter().map(|&chunk| number(chunk)));
            sets.begins.push(sets.chunks.len() as u32);
        }
        for set in 0..lists.len() {
            let (begin, end) = sets.range(set as u32);
            if let Some(list) = sets.chunks.get_mut(begin..end) {
                list.sort_unstable();
            }
        }
        sets.invert(names.len());
        sets
    }

    /// Counting sort of the sets by their chunks.
    fn invert(&mut self, chunks: usize) {
        let mut places = vec![0u32; chunks + 1];
        let all = 0..self.begins.len().saturating_sub(1) as u32;
        let large = |sets: &Sets, set: &u32| sets.chunks_of(*set).len() >= sets.threshold as usize;
        for set in all.clone().filter(|set| large(self, set)) {
            for &chunk in self.chunks_of(set) {
                if let Some(place) = places.get_mut(chunk as usize + 1) {
                    *place += 1;
                }
            }
        }
        let mut sum = 0;
        for place in &mut places {
            sum += *place;
            *place = sum;
        }
        self.holder_begins.clone_from(&places);
        let mut holders = vec![0; sum as usize];
        for set in all.filter(|set| large(self, set)) {
            for &chunk in self.chunks_of(set) {
                if let Some(place) = places.get_mut(chunk as usize) {
                    if let Some(slot) = holders.get_mut(*place as usize) {
                        *slot = set;
                    }
                    *place += 1;
                }
            }
        }
        self.holders = holders;
    }

    fn range(&self, set: u32) -> (usize, usize) {
        let at = |at: usize| self.begins.get(at).copied().unwrap_or_default() as usize;
        (at(set as usize), at(set as usize + 1))
    }

    fn chunks_of(&self, set: u32) -> &[u32] {
        let (begin, end) = self.range(set);
        self.chunks.get(begin..end).unwrap_or_default()
    }

    /// The set of a page, if it has one.
    fn set(&self, page: u32) -> Option<u32> {
        let set = self.of.get(page as usize).copied();
        set.filter(|&set| set != NONE)
    }

    /// Hot chunks that two pages share.
    fn shared(&self, one: u32, other: u32) -> u32 {
        let (Some(one), Some(other)) = (self.set(one), self.set(other)) else {
            return 0;
        };
        let (mut one, mut other) = (self.chunks_of(one), self.chunks_of(other));
        let mut shared = 0;
        while let ([first, rest @ ..], [other_first, other_rest @ ..]) = (one, other) {
            match first.cmp(other_first) {
                std::cmp::Ordering::Less => one = rest,
                std::cmp::Ordering::Greater => other = other_rest,
                std::cmp::Ordering::Equal => {
                    shared += 1;
                    (one, other) = (rest, other_rest);
                }
            }
        }
        shared
    }

    fn holders_of(&self, chunk: u32) -> &[u32] {
        let at = |at: usize| self.holder_begins.get(at).copied().unwrap_or_default() as usize;
        let range = at(chunk as usize)..at(chunk as usize + 1);
        self.holders.get(range).unwrap_or_default()
    }

    /// Steps that it takes to find what a set is related to.
    fn cost(&self, set: u32) -> u64 {
        let chunks = self.chunks_of(set).iter();
        chunks
            .map(|&chunk| self.holders_of(chunk).len() as u64)
            .sum()
    }

    /// The sets that share enough with a set, itself among them if it has enough. None if it would
    /// take too many steps.
    fn related(&mut self, set: u32) -> Option<Vec<u32>> {
        if self.chunks_of(set).len() < self.threshold as usize {
            return Some(Vec::new());
        }
        self.steps = self.steps.checked_sub(self.cost(set))?;
        let mut related = Vec::new();
        let mut counts = std::mem::take(&mut self.counts);
        for &chunk in self.chunks_of(set) {
            for &holder in self.holders_of(chunk) {
                if let Some(count) = counts.get_mut(holder as usize) {
                    *count += 1;
                    if *count == self.threshold {
                        related.push(holder);
                    }
                }
            }
        }
        for &chunk in self.chunks_of(set) {
            for &holder in self.holders_of(chunk) {
                if let Some(count) = counts.get_mut(holder as usize) {
                    *count = 0;
                }
            }
        }
        self.counts = counts;
        Some(related)
    }
}

/// Calls `each` with the rows of a table of two columns of numbers.
fn for_each_like(findings: &Findings, table: &str, mut each: impl FnMut(u32, u32)) -> Result<()> {
    for batch in read_table(&findings.table(table))? {
        let batch = batch?;
        let column = |at: usize| batch.column(at).as_primitive::<UInt32Type>().values();
        for (&page, &first) in column(0).iter().zip(column(1)) {
            each(page, first);
        }
    }
    Ok(())
}

/// For each page, the first page with the same text.
pub(super) fn first_of_text(findings: &Findings, pages: u32) -> Result<Vec<u32>> {
    let mut firsts: Vec<u32> = (0..pages).collect();
    for_each_like(findings, COPIES, |page, first| {
        if let Some(slot) = firsts.get_mut(page as usize) {
            *slot = first;
        }
    })?;
    Ok(firsts)
}

/// The replicas that have the same text.
pub(super) fn exact(firsts: &[u32]) -> Notion {
    let mut copies = vec![0u32; firsts.len()];
    for &first in firsts {
        if let Some(count) = copies.get_mut(first as usize) {
            *count += 1;
        }
    }
    Notion {
        name: "exact".to_owned(),
        visited: (0..firsts.len() as u32).collect(),
        leaders: firsts.to_vec(),
        replicas: copies,
        beyond: 0,
    }
}

/// The replicas of a notion by what its flow has found. A set is known by its number, which is that
/// of its place in the table.
pub(super) fn near(
    name: &str,
    findings: &Findings,
    firsts: &[u32],
    threshold: u32,
) -> Result<Notion> {
    let mut leaders: Vec<u32> = (0..firsts.len() as u32).collect();
    for_each_like(findings, GROUPS, |page, first| {
        if let Some(slot) = leaders.get_mut(page as usize) {
            *slot = first;
        }
    })?;
    for page in 0..leaders.len() {
        let first = firsts.get(page).copied().unwrap_or_default() as usize;
        // The leader of a first page is found before those of its copies, which come after it.
        let leader = leaders.get(first).copied();
        if let (Some(leader), Some(slot)) = (leader, leaders.get_mut(page)) {
            *slot = leader;
        }
    }
    let sets = read_sets(findings, firsts.len(), threshold)?;
    let pairs = read_table(&findings.table(PAIRS))?.map(|batch| {
        let batch = batch?;
        let column = |at: usize| batch.column(at).as_primitive::<UInt32Type>().values();
        let (left, right, chunks) = (column(0), column(1), column(2));
        let rows = left.iter().zip(right).zip(chunks);
        Ok(rows
            .map(|((&left, &right), &chunks)| (left, right, chunks))
            .collect::<Vec<_>>())
    });
    let mut notion = resolve(leaders, sets, pairs, threshold)?;
    name.clone_into(&mut notion.name);
    Ok(notion)
}

fn read_sets(findings: &Findings, pages: usize, threshold: u32) -> Result<Sets> {
    let mut lists: Vec<(u32, Vec<u64>)> = Vec::new();
    for batch in read_table(&findings.table(SET_CHUNKS))? {
        let batch = batch?;
        let sets = batch.column(0).as_primitive::<UInt32Type>().values();
        let chunks = batch.column(1).as_primitive::<UInt64Type>().values();
        for (&set, &chunk) in sets.iter().zip(chunks) {
            match lists.last_mut().filter(|(last, _)| *last == set) {
                Some((_, list)) => list.push(chunk),
                None => lists.push((set, vec![chunk])),
            }
        }
    }
    let mut of = Vec::new();
    if !lists.is_empty() {
        of = vec![NONE; pages];
        for_each_like(findings, SETS, |page, set| {
            let number = lists.binary_search_by_key(&set, |(set, _)| *set);
            if let (Some(slot), Ok(number)) = (of.get_mut(page as usize), number) {
                *slot = number as u32;
            }
        })?;
    }
    Ok(Sets::new(of, &lists, threshold))
}

/// Resolves pairs that come in the order of their left pages, batch by batch.
pub(super) fn resolve(
    leaders: Vec<u32>,
    mut sets: Sets,
    pairs: impl Iterator<Item = Result<Vec<(u32, u32, u32)>>>,
    threshold: u32,
) -> Result<Notion> {
    let pages = leaders.len();
    let mut weights = vec![0u32; pages];
    for &leader in &leaders {
        if let Some(weight) = weights.get_mut(leader as usize) {
            *weight += 1;
        }
    }
    let weight = |page: u32| weights.get(page as usize).copied().unwrap_or_default();
    let mut replicas = weights.clone();
    let beyond = add_sets(&mut replicas, &weights, &leaders, &mut sets);
    sets.steps = MOST_STEPS;
    let mut visited: Vec<u32> = (0..pages as u32).collect();
    // The first visited page that is related to a set.
    let mut for_set = vec![NONE; sets.begins.len()];
    let mut visit = |page: u32, visited: &mut Vec<u32>, sets: &mut Sets| {
        let Some(slot) = visited.get_mut(page as usize) else {
            return;
        };
        let Some(set) = sets.set(page) else { return };
        if let Some(&related) = for_set.get(set as usize) {
            *slot = related.min(*slot);
        }
        if *slot == page {
            for set in sets.related(set).unwrap_or_else(|| vec![set]) {
                if let Some(slot) = for_set.get_mut(set as usize) {
                    *slot = page.min(*slot);
                }
            }
        }
    };
    let mut next = 0;
    for batch in pairs {
        for (left, right, chunks) in batch? {
            while next <= left {
                if leaders.get(next as usize) == Some(&next) {
                    visit(next, &mut visited, &mut sets);
                }
                next += 1;
            }
            let hot = sets.shared(left, right);
            // Of two that are replicas by their hot chunks alone, all is known.
            if hot >= threshold || chunks + hot < threshold {
                continue;
            }
            for (one, other) in [(left, right), (right, left)] {
                if let Some(count) = replicas.get_mut(one as usize) {
                    *count += weight(other);
                }
            }
            let left_is_visited = visited.get(left as usize) == Some(&left);
            if let Some(slot) = visited.get_mut(right as usize)
                && left_is_visited
            {
                *slot = left.min(*slot);
            }
        }
    }
    while (next as usize) < pages {
        if leaders.get(next as usize) == Some(&next) {
            visit(next, &mut visited, &mut sets);
        }
        next += 1;
    }
    Ok(Notion {
        name: String::new(),
        leaders,
        replicas,
        visited,
        beyond,
    })
}

/// Adds the replicas that pages have by hot chunks alone. Answers how many pages were not compared
/// with all others.
fn add_sets(replicas: &mut [u32], weights: &[u32], leaders: &[u32], sets: &mut Sets) -> u64 {
    let mut of_set = vec![0u32; sets.begins.len()];
    let is_leader = |page: u32| leaders.get(page as usize) == Some(&page);
    let pages = 0..replicas.len() as u32;
    for page in pages.clone().filter(|&page| is_leader(page)) {
        if let (Some(set), Some(weight)) = (sets.set(page), weights.get(page as usize))
            && let Some(sum) = of_set.get_mut(set as usize)
        {
            *sum += weight;
        }
    }
    let mut sums: Vec<Option<u32>> = Vec::with_capacity(of_set.len());
    for set in 0..sets.begins.len().saturating_sub(1) as u32 {
        let related = sets.related(set);
        let sum = |set: &u32| of_set.get(*set as usize).copied().unwrap_or_default();
        sums.push(related.map(|related| related.iter().map(sum).sum()));
    }
    let mut beyond = 0;
    for page in pages.filter(|&page| is_leader(page)) {
        let Some(set) = sets.set(page) else { continue };
        let own = weights.get(page as usize).copied().unwrap_or_default();
        let sum = match sums.get(set as usize) {
            Some(Some(sum)) => *sum,
            _ => {
                beyond += u64::from(own);
                of_set.get(set as usize).copied().unwrap_or_default()
            }
        };
        if let Some(count) = replicas.get_mut(page as usize) {
            // The page itself is in the sum, if there is one.
            *count += sum.saturating_sub(own);
        }
    }
    beyond
}
