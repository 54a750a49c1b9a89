//! From labels to originals: which original a page has its labels from.
//!
//! A label may be on several originals, and does not say from which of them a page has it. So the
//! originals of a page are a greedy cover: first the one with most of the matched chunks, then the
//! one with most of the rest. A label on more than [`CROWD`] originals does not take part in the
//! cover. It is attributed to the first of the first [`RANKS`] originals of the page that has it,
//! or to none.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The most originals of a label that takes part in the cover.
pub const CROWD: usize = 256;
/// Originals of a page to which its common labels can be attributed.
pub const RANKS: usize = 64;

/// A label of a page, the number of its chunks, and the range of its originals in a list.
#[derive(Debug, Clone, Copy)]
pub struct MatchedLabel {
    /// The number of the label.
    pub label: u32,
    /// How many chunks of the page are this label.
    pub chunks: u32,
    /// Where its originals begin in the list.
    pub from: usize,
    /// Where they end.
    pub to: usize,
}

/// Attributes every matched label to one original. The original with most of the chunks comes
/// first; ties go to the lowest number.
pub fn assign(labels: &[MatchedLabel], originals: &[u32]) -> Vec<Option<u32>> {
    let of = |label: &MatchedLabel| originals.get(label.from..label.to).unwrap_or_default();
    let mut attributed = vec![None; labels.len()];
    // The usual case: there is only one original.
    if let Some(&only) = originals.first()
        && originals.iter().all(|&other| other == only)
    {
        attributed.fill(Some(only));
        return attributed;
    }
    let mut holders: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for (at, label) in labels.iter().enumerate() {
        for &original in of(label) {
            holders.entry(original).or_default().push(at);
            *counts.entry(original).or_default() += u64::from(label.chunks);
        }
    }
    // Ordered by the last known counts, which are upper bounds.
    let mut queue: BTreeSet<(Reverse<u64>, u32)> = counts
        .iter()
        .map(|(&original, &count)| (Reverse(count), original))
        .collect();
    while let Some((Reverse(expected), original)) = queue.pop_first() {
        let now = counts.get(&original).copied().unwrap_or(0);
        if now == 0 {
            continue;
        }
        if now < expected {
            queue.insert((Reverse(now), original));
            continue;
        }
        for at in holders.remove(&original).unwrap_or_default() {
            let (Some(label), Some(slot)) = (labels.get(at), attributed.get_mut(at)) else {
                continue;
            };
            if slot.is_some() {
                continue;
            }
            *slot = Some(original);
            for other in of(label) {
                if let Some(count) = counts.get_mut(other) {
                    *count -= u64::from(label.chunks);
                }
            }
        }
    }
    attributed
}

/// The originals of labels, with their names, in memory.
///
/// Memory: 8 bytes per label, 4 bytes per original of each label, and the names.
#[derive(Debug, Clone, Default)]
pub struct LabelOriginals {
    /// Where the originals of each label begin.
    begins: Vec<u64>,
    originals: Vec<u32>,
    names: BTreeMap<u32, String>,
}

/// What a page has from one original.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OriginalMatch<'a> {
    /// The name of the original.
    pub original: &'a str,
    /// The number of chunks of the page that are attributed to it.
    pub chunks: u32,
    /// The number of distinct labels among them.
    pub labels: u32,
}

impl LabelOriginals {
    /// Adds the next label, in the order of the label file, with the numbers of its originals.
    pub fn push_label(&mut self, originals: &[u32]) {
        self.begins.push(self.originals.len() as u64);
        self.originals.extend(originals);
    }

    /// Adds the name of an original.
    pub fn push_name(&mut self, original: u32, name: String) {
        self.names.insert(original, name);
    }

    /// The number of labels.
    pub fn labels(&self) -> u64 {
        self.begins.len() as u64
    }

    /// The number of an original without a name, if there is one: then the tables are incomplete.
    pub fn unnamed(&self) -> Option<u32> {
        let mut originals = self.originals.iter().copied();
        originals.find(|original| !self.names.contains_key(original))
    }

    fn of(&self, label: u32) -> &[u32] {
        let at = label as usize;
        let Some(&begin) = self.begins.get(at) else {
            return &[];
        };
        let end = match self.begins.get(at + 1) {
            Some(&end) => end as usize,
            None => self.originals.len(),
        };
        self.originals.get(begin as usize..end).unwrap_or_default()
    }

    /// Attributes the labels of a page to originals. `matched` has the number of every label of the
    /// page, once for each of its chunks, in any order; it is sorted. The original with most chunks
    /// comes first.
    pub fn attribute(&self, matched: &mut [u32]) -> Vec<OriginalMatch<'_>> {
        matched.sort_unstable();
        let (mut labels, mut originals) = (Vec::new(), Vec::new());
        let mut common: Vec<(u32, u32)> = Vec::new();
        for same in matched.chunk_by(|one, other| one == other) {
            let Some(&label) = same.first() else {
                continue;
            };
            let chunks = u32::try_from(same.len()).unwrap_or(u32::MAX);
            let of = self.of(label);
            if of.len() > CROWD {
                common.push((label, chunks));
            } else if !of.is_empty() {
                let from = originals.len();
                originals.extend(of);
                labels.push(MatchedLabel {
                    label,
                    chunks,
                    from,
                    to: originals.len(),
                });
            }
        }
        let mut shares: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
        for (label, original) in labels.iter().zip(assign(&labels, &originals)) {
            if let Some(original) = original {
                let (chunks, count) = shares.entry(original).or_default();
                *chunks += label.chunks;
                *count += 1;
            }
        }
        let mut first: Vec<(Reverse<u32>, u32)> = shares
            .iter()
            .map(|(&original, &(chunks, _))| (Reverse(chunks), original))
            .collect();
        first.sort_unstable();
        first.truncate(RANKS);
        for (label, chunks) in common {
            let of = self.of(label);
            let has = |&&(_, original): &&(Reverse<u32>, u32)| of.contains(&original);
            if let Some(&(_, original)) = first.iter().find(has)
                && let Some((sum, count)) = shares.get_mut(&original)
            {
                *sum += chunks;
                *count += 1;
            }
        }
        let mut found: Vec<(Reverse<u32>, u32, u32)> = shares
            .into_iter()
            .map(|(original, (chunks, labels))| (Reverse(chunks), original, labels))
            .collect();
        found.sort_unstable();
        found
            .into_iter()
            .map(|(Reverse(chunks), original, labels)| OriginalMatch {
                original: self.names.get(&original).map_or("", String::as_str),
                chunks,
                labels,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition: repeatedly choose the original with most of the remaining chunks.
    fn naive(labels: &[(u32, Vec<u32>)]) -> Vec<Option<u32>> {
        let mut attributed = vec![None; labels.len()];
        loop {
            let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
            for ((chunks, originals), attributed) in labels.iter().zip(&attributed) {
                if attributed.is_none() {
                    originals
                        .iter()
                        .for_each(|&original| *counts.entry(original).or_default() += chunks);
                }
            }
            let best = counts
                .iter()
                .max_by_key(|&(&original, &count)| (count, Reverse(original)));
            let Some((&best, _)) = best else {
                return attributed;
            };
            for ((_, originals), attributed) in labels.iter().zip(&mut attributed) {
                if attributed.is_none() && originals.contains(&best) {
                    *attributed = Some(best);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn originals_are_a_greedy_cover(
            labels in proptest::collection::vec((1u32..4, proptest::collection::btree_set(0u32..8, 1..5)), 0..20)
        ) {
            let labels: Vec<(u32, Vec<u32>)> = labels.into_iter().map(|(chunks, set)| (chunks, set.into_iter().collect())).collect();
            let mut originals = Vec::new();
            let mut matched = Vec::new();
            for (label, (chunks, list)) in (0..).zip(&labels) {
                let from = originals.len();
                originals.extend(list);
                matched.push(MatchedLabel { label, chunks: *chunks, from, to: originals.len() });
            }
            prop_assert_eq!(assign(&matched, &originals), naive(&labels));

            // The same with names and repeated labels.
            let mut names = LabelOriginals::default();
            let mut page = Vec::new();
            for (label, (chunks, list)) in (0u32..).zip(&labels) {
                names.push_label(list);
                page.extend(vec![label; *chunks as usize]);
            }
            (0..8).for_each(|original| names.push_name(original, format!("original {original}")));
            prop_assert_eq!(names.unnamed(), None);
            page.reverse();
            let mut expected: BTreeMap<String, (u32, u32)> = BTreeMap::new();
            for ((chunks, _), original) in labels.iter().zip(naive(&labels)) {
                let (sum, count) = expected.entry(format!("original {}", original.unwrap())).or_default();
                *sum += chunks;
                *count += 1;
            }
            let found = names.attribute(&mut page);
            prop_assert!(found.is_sorted_by_key(|one| Reverse(one.chunks)));
            let found: BTreeMap<String, (u32, u32)> = found.into_iter().map(|one| (one.original.to_owned(), (one.chunks, one.labels))).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_label_of_too_many_originals_follows_the_other_labels_of_its_page() {
        let mut names = LabelOriginals::default();
        let everywhere: Vec<u32> = (0..300).collect();
        names.push_label(&everywhere);
        names.push_label(&[7]);
        assert_eq!(names.unnamed(), Some(0));
        (0..300).for_each(|original| names.push_name(original, original.to_string()));
        assert_eq!(names.attribute(&mut [0, 0]), []);
        let [only] = &names.attribute(&mut [0, 1, 0])[..] else {
            panic!("one original");
        };
        assert_eq!((only.original, only.chunks, only.labels), ("7", 3, 2));
        assert_eq!(names.labels(), 2);
    }
}
