//! Resolves groups, pairs and hot sets: the number of replicas of each page, and the visited page
//! for which a crawler would skip it.
//!
//! Pages are identified by rank and visited in that order. A page that shares enough with a visited
//! page is skipped; otherwise it is visited.

use std::sync::Arc;

use cento_flow::{Lease, MemoryBudget, TableName};

use super::stages::{GROUP_PAIRS, GROUPS, LeaderRow, SAME_TEXT, SET_CHUNKS, SETS};
use crate::error::{Error, Result};
use crate::run::Findings;

/// The bytes of memory per page while a notion is resolved: leaders, weights, sets, replicas and
/// visited pages.
pub(super) const BYTES_PER_PAGE: u64 = 20;
/// The most steps of comparing hot sets: about ten seconds. Pages that are not compared with all
/// others are counted.
const MOST_STEPS: u64 = 1 << 33;
const NONE: u32 = u32::MAX;

/// The replicas of all pages under one notion. Pages are identified by rank. Values are stored for
/// the leader of a group and hold for all its pages.
#[derive(Debug, Default)]
pub(super) struct Notion {
    pub(super) name: String,
    leaders: Vec<u32>,
    replicas: Vec<u32>,
    visited: Vec<u32>,
    /// Pages whose hot chunks were not compared with those of all others. For these pages, and for
    /// those that they were not compared with, the numbers are lower bounds.
    pub(super) beyond: u64,
}

impl Notion {
    /// The bytes of memory per page.
    pub(super) const BYTES_PER_PAGE: u64 = 12;

    fn of_leader(&self, values: &[u32], page: u32) -> u32 {
        let leader = self.leaders.get(page as usize).copied().unwrap_or(page);
        values.get(leader as usize).copied().unwrap_or(page)
    }

    /// Returns the number of replicas of a page, including itself.
    pub(super) fn replicas(&self, page: u32) -> u32 {
        self.of_leader(&self.replicas, page)
    }

    /// Returns the visited page that a page is a replica of: itself if it is visited.
    pub(super) fn visited(&self, page: u32) -> u32 {
        self.of_leader(&self.visited, page)
    }

    /// Returns the number of pages.
    pub(super) fn pages(&self) -> u32 {
        self.leaders.len() as u32
    }
}

/// The hot sets, by number.
pub(super) struct HotSets {
    /// The set of each page.
    pub(super) of: Vec<u32>,
    begins: Vec<u32>,
    chunks: Vec<u32>,
    threshold: u32,
    /// The sets of each chunk, among the sets with at least the threshold of chunks.
    holders: Vec<u32>,
    holder_begins: Vec<u32>,
    counts: Vec<u32>,
    /// The steps that are left of [`MOST_STEPS`].
    pub(super) steps: u64,
}

impl HotSets {
    /// The bytes of memory for sets with `chunks` chunks in all. The peak is in [`HotSets::new`]:
    /// the chunks by hash, sorted and by number.
    fn bytes(chunks: u64, sets: u64) -> u64 {
        24 * chunks + 40 * sets
    }

    /// Returns sets with the hashes of their hot chunks. The chunks of set `n` are those from
    /// `begins[n]` to `begins[n + 1]`, and `of` has the set of each page.
    pub(super) fn new(of: Vec<u32>, begins: Vec<u32>, hashes: &[u64], threshold: u32) -> HotSets {
        let mut names: Vec<u64> = hashes.to_vec();
        names.sort_unstable();
        names.dedup();
        let number = |chunk: &u64| names.binary_search(chunk).unwrap_or_default() as u32;
        let count = begins.len().saturating_sub(1);
        let mut sets = HotSets {
            of,
            begins,
            chunks: hashes.iter().map(number).collect(),
            threshold,
            holders: Vec::new(),
            holder_begins: Vec::new(),
            counts: vec![0; count],
            steps: MOST_STEPS,
        };
        for set in 0..count {
            let (begin, end) = sets.range(set as u32);
            if let Some(list) = sets.chunks.get_mut(begin..end) {
                list.sort_unstable();
            }
        }
        let chunks = names.len();
        drop(names);
        sets.invert(chunks);
        sets
    }

    /// Sorts the sets by their chunks, with a counting sort.
    fn invert(&mut self, chunks: usize) {
        let mut places = vec![0u32; chunks + 1];
        let all = 0..self.begins.len().saturating_sub(1) as u32;
        let large =
            |sets: &HotSets, set: &u32| sets.chunks_of(*set).len() >= sets.threshold as usize;
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

    /// Returns the set of a page, if any.
    fn set(&self, page: u32) -> Option<u32> {
        let set = self.of.get(page as usize).copied();
        set.filter(|&set| set != NONE)
    }

    /// Returns the number of hot chunks that two pages share.
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

    /// Returns the number of steps of [`HotSets::related`].
    fn cost(&self, set: u32) -> u64 {
        let chunks = self.chunks_of(set).iter();
        chunks
            .map(|&chunk| self.holders_of(chunk).len() as u64)
            .sum()
    }

    /// Returns the sets that share at least the threshold with a set, including itself if it is
    /// large enough. None if that would take too many steps.
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

/// Sets the leaders of the pages in a table.
fn read_leaders(
    findings: &Findings,
    table: TableName<LeaderRow>,
    leaders: &mut [u32],
) -> Result<()> {
    for row in findings.rows(table)? {
        let row = row?;
        if let Some(slot) = leaders.get_mut(row.page as usize) {
            *slot = row.first;
        }
    }
    Ok(())
}

/// Returns for each page the first page with the same text.
pub(super) fn first_of_text(findings: &Findings, pages: u32) -> Result<Vec<u32>> {
    let mut firsts: Vec<u32> = (0..pages).collect();
    read_leaders(findings, SAME_TEXT, &mut firsts)?;
    Ok(firsts)
}

/// Returns the replicas with identical text.
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

/// Returns the replicas of a notion from the results of its flow.
pub(super) fn near(
    name: &str,
    findings: &Findings,
    firsts: &[u32],
    threshold: u32,
    budget: &Arc<MemoryBudget>,
) -> Result<Notion> {
    let mut leaders: Vec<u32> = (0..firsts.len() as u32).collect();
    read_leaders(findings, GROUPS, &mut leaders)?;
    for page in 0..leaders.len() {
        let first = firsts.get(page).copied().unwrap_or_default() as usize;
        // The first page of a text precedes its duplicates, so its leader is final.
        let leader = leaders.get(first).copied();
        if let (Some(leader), Some(slot)) = (leader, leaders.get_mut(page)) {
            *slot = leader;
        }
    }
    let (sets, _lease) = read_sets(findings, firsts.len(), threshold, budget)?;
    let pairs = findings.rows(GROUP_PAIRS)?.map(|row| {
        let row = row?;
        Ok((row.left, row.right, row.chunks))
    });
    let mut notion = resolve(leaders, sets, pairs, threshold)?;
    name.clone_into(&mut notion.name);
    Ok(notion)
}

/// Reads the hot sets, and leases the memory for them before that. A set is known by its number,
/// which is its position in the table.
fn read_sets(
    findings: &Findings,
    pages: usize,
    threshold: u32,
    budget: &Arc<MemoryBudget>,
) -> Result<(HotSets, Lease)> {
    let report = &findings.record.report;
    let rows = report.rows(SET_CHUNKS.as_str());
    // A set has at least one chunk and at least one page.
    let most_sets = rows.min(report.rows(SETS.as_str()));
    let lease = budget.take(
        HotSets::bytes(rows, most_sets),
        "the sets of very common chunks",
    )?;
    if rows >= u64::from(u32::MAX) {
        return Err(Error::Unsuitable(format!(
            "very common chunks occur in too many combinations: {rows}"
        )));
    }
    let mut firsts: Vec<u32> = Vec::new();
    let mut begins: Vec<u32> = Vec::new();
    let mut hashes: Vec<u64> = Vec::with_capacity(rows as usize);
    for row in findings.rows(SET_CHUNKS)? {
        let row = row?;
        if firsts.last() != Some(&row.set) {
            firsts.push(row.set);
            begins.push(hashes.len() as u32);
        }
        hashes.push(row.chunk);
    }
    begins.push(hashes.len() as u32);
    let mut of = Vec::new();
    if !firsts.is_empty() {
        of = vec![NONE; pages];
        for row in findings.rows(SETS)? {
            let row = row?;
            let number = firsts.binary_search(&row.first);
            if let (Some(slot), Ok(number)) = (of.get_mut(row.page as usize), number) {
                *slot = number as u32;
            }
        }
    }
    Ok((HotSets::new(of, begins, &hashes, threshold), lease))
}

/// Resolves pairs, which must be in the order of their left pages.
pub(super) fn resolve(
    leaders: Vec<u32>,
    mut sets: HotSets,
    pairs: impl Iterator<Item = Result<(u32, u32, u32)>>,
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
    let mut visit = |page: u32, visited: &mut Vec<u32>, sets: &mut HotSets| {
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
    for pair in pairs {
        let (left, right, chunks) = pair?;
        while next <= left {
            if leaders.get(next as usize) == Some(&next) {
                visit(next, &mut visited, &mut sets);
            }
            next += 1;
        }
        let hot = sets.shared(left, right);
        // Replicas by hot chunks alone are counted already.
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

/// Adds the replicas that pages have by hot chunks alone. Returns the number of pages that were not
/// compared with all others.
fn add_sets(replicas: &mut [u32], weights: &[u32], leaders: &[u32], sets: &mut HotSets) -> u64 {
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
            // The sum includes the page itself, unless it is zero.
            *count += sum.saturating_sub(own);
        }
    }
    beyond
}
