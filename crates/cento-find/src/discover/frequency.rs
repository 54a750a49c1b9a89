//! How often every object occurs, and which objects become labels.
//!
//! ```text
//!   chunks ─ note ─▶ seen            (only if not all fit in memory)
//!   chunks, pages ─ objects ─▶ by hash ─ count ─▶ candidates ─ select ─▶ examples     (blind)
//!                                          └─▶ examples, by original                  (informed)
//! ```
//!
//! The most frequent objects are known only after all are counted: `count` records the frequencies
//! of each partition, and `select` reads them. Partitions are ranges of hashes, so the partitions
//! before a given one determine how many of the equally frequent objects are still to be selected.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use cento_flow::{Bitmap, Context, Registry, Row, SeenFilter, StageError};
use cento_labels::Recipe;
use serde::{Deserialize, Serialize};

use super::flow_names::{counter, shuffle, stage, state};
use super::params::{DiscoverParams, How};
use super::{FREQUENCIES_TABLE, FrequencyRow};
use crate::corpus_pages::{ChunkTask, CorpusPages, TextTask};
use crate::names::{NAMED, ROW};
use crate::numbers::{Numbers, UNSET};
use crate::sites::DOMAINS;
use crate::tally::TaskTally;

/// Objects to read.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ObjectTask {
    /// The table of chunks.
    Chunks(ChunkTask),
    /// Texts, which are cut again.
    Text(TextTask),
    /// Pages, for their payloads.
    Pages(usize),
}

/// An occurrence of an object on a page.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct ObjectRow {
    hash: [u64; 2],
    site: u32,
    page: u32,
    begin: u32,
    bytes: u32,
}

impl ObjectRow {
    fn new(hash: &[u8], site: u32, page: u32, begin: u32, bytes: u32) -> ObjectRow {
        let hash = hash.first_chunk::<16>().copied().unwrap_or_default();
        let hash = u128::from_be_bytes(hash);
        ObjectRow {
            hash: [(hash >> 64) as u64, hash as u64],
            site,
            page,
            begin,
            bytes,
        }
    }
}

impl Row for ObjectRow {
    type Key = u128;
    type Rest = (u32, u32, u32);

    fn key(&self) -> u128 {
        u128::from(self.hash[0]) << 64 | u128::from(self.hash[1])
    }

    fn rest(&self) -> (u32, u32, u32) {
        (self.site, self.page, self.begin)
    }
}

/// An object that may become a label.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct LabelCandidate {
    hash: [u64; 2],
    count: u64,
    largest: u64,
    pages: u32,
    sites: u32,
    page: u32,
    begin: u32,
    bytes: u32,
    unused: u32,
}

impl Row for LabelCandidate {
    type Key = u128;
    type Rest = ();

    fn key(&self) -> u128 {
        u128::from(self.hash[0]) << 64 | u128::from(self.hash[1])
    }

    fn rest(&self) {}
}

/// An original, once for each of its labels.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct LabelOriginal {
    pub(super) page: u32,
}

impl Row for LabelOriginal {
    type Key = u32;
    type Rest = ();

    fn key(&self) -> u32 {
        self.page
    }

    fn rest(&self) {}
}

/// A label, sent to its first page to look up its text.
#[derive(Serialize, Deserialize)]
pub(super) struct LabelExample {
    pub(super) hash: [u64; 2],
    pub(super) count: u64,
    pub(super) largest: u64,
    pub(super) pages: u32,
    pub(super) sites: u32,
    pub(super) begin: u32,
    pub(super) bytes: u32,
    pub(super) originals: Vec<u32>,
}

pub(super) fn register(
    registry: &mut Registry,
    corpus: &Arc<CorpusPages>,
    params: &DiscoverParams,
) {
    let (pages, recipe) = (Arc::clone(corpus), params.recipe);
    registry.map(stage::NOTE, move |context| {
        let seen = context.state::<SeenFilter>(state::SEEN)?;
        for_each_object(&pages, &recipe, context, |hash, _, _, _| {
            seen.note(half(hash));
            Ok(())
        })
    });
    let (pages, settings) = (Arc::clone(corpus), params.clone());
    registry.map(stage::OBJECTS, move |context| {
        let filter = context.stage().reads.iter().any(|name| name == state::SEEN);
        let seen = match filter {
            true => Some(context.state::<SeenFilter>(state::SEEN)?),
            false => None,
        };
        // Originals count as one site, so that they are ordered by their numbers.
        let domains = match settings.informed() {
            true => None,
            false => Some(context.state::<Numbers>(DOMAINS)?),
        };
        let singles = context.state::<TaskTally>(state::SINGLES)?;
        let mut by_hash = context.shuffle::<ObjectRow>(shuffle::BY_HASH)?;
        let mut single = [0; 2];
        for_each_object(
            &pages,
            &settings.recipe,
            context,
            |hash, page, begin, bytes| {
                context.count(counter::OBJECTS, 1);
                if seen
                    .as_ref()
                    .is_some_and(|seen| !seen.seen_again(half(hash)))
                {
                    let stopped = hash
                        .first_chunk()
                        .is_some_and(|hash| settings.stops.binary_search(hash).is_ok());
                    single[usize::from(stopped)] += 1;
                    context.count(counter::STOPPED, u64::from(stopped));
                    return Ok(());
                }
                let site = domains.as_ref().map_or(0, |domains| domains.get(page));
                by_hash.push(ObjectRow::new(hash, site, page, begin, bytes))?;
                Ok(())
            },
        )?;
        singles.note(context.task_number(), 1, [single[0], single[1], 0, 0]);
        Ok(())
    });
    count(registry, params);
    select(registry, params);
}

fn half(hash: &[u8]) -> u64 {
    u64::from_le_bytes(hash.first_chunk().copied().unwrap_or_default())
}

/// Calls `each` with the hash, page, offset and length of all objects of a task.
fn for_each_object(
    corpus: &CorpusPages,
    recipe: &Recipe,
    context: &Context<'_>,
    mut each: impl FnMut(&[u8], u32, u32, u32) -> Result<(), StageError>,
) -> Result<(), StageError> {
    match context.task()? {
        ObjectTask::Chunks(task) => corpus.for_each_placed_chunk(&task, |page, chunk| {
            let bytes = chunk.end.saturating_sub(chunk.begin);
            each(&chunk.chunk_hash, page, chunk.begin, bytes)
        }),
        ObjectTask::Text(task) => {
            let mut buffer = String::new();
            corpus.for_each_text(&task, |page, text| {
                context.check()?;
                let mut outcome = Ok(());
                recipe.cut(text, &mut buffer, |range, hash| {
                    if outcome.is_ok() {
                        outcome = each(&hash, page, range.start as u32, range.len() as u32);
                    }
                });
                outcome
            })
        }
        ObjectTask::Pages(task) => corpus.for_each_page(task, |facts| {
            // The same content again, from a crawler in a loop.
            if facts.reject == Some("recursion") {
                return Ok(());
            }
            match facts.payload_sha1 {
                Some(hash) => {
                    let bytes = u32::try_from(facts.bytes).unwrap_or(u32::MAX);
                    each(hash, facts.number, 0, bytes)
                }
                None => Ok(()),
            }
        }),
    }
}

fn count(registry: &mut Registry, params: &DiscoverParams) {
    let params = params.clone();
    registry.reduce::<ObjectRow, _>(stage::COUNT, move |context, groups| {
        let frequencies = context.state::<TaskTally>(state::COUNTED)?;
        let mut candidates = match params.informed() {
            false => Some(context.shuffle::<LabelCandidate>(shuffle::CANDIDATES)?),
            true => None,
        };
        let mut informed = match params.how {
            How::Informed(least) => Some((
                least,
                context.state::<Bitmap>(NAMED)?,
                context.wide_shuffle(shuffle::EXAMPLES)?,
                context.shuffle::<LabelOriginal>(shuffle::BY_ORIGINAL)?,
            )),
            _ => None,
        };
        let mut holders: Vec<u32> = Vec::new();
        // For each number of occurrences, the number of objects that are not stopped, and stopped.
        let mut counted: HashMap<u64, [u64; 2]> = HashMap::new();
        while let Some(group) = groups.next_group()? {
            let key = group.key();
            let stopped = params.stops.binary_search(&key.to_be_bytes()).is_ok();
            let mut all = LabelCandidate {
                hash: [(key >> 64) as u64, key as u64],
                count: 0,
                largest: 0,
                pages: 0,
                sites: 0,
                page: UNSET,
                begin: 0,
                bytes: 0,
                unused: 0,
            };
            let (mut last_site, mut last_page, mut of_site) = (None, None, 0);
            let mut longest = 0;
            holders.clear();
            for row in group {
                all.count += 1;
                if last_page != Some(row.page) {
                    all.pages += 1;
                    last_page = Some(row.page);
                    if informed.is_some() {
                        holders.push(row.page);
                    }
                    // A page without a domain does not count as a domain.
                    if row.site == UNSET || last_site != Some(row.site) {
                        all.sites += u32::from(row.site != UNSET);
                        last_site = Some(row.site);
                        of_site = 0;
                    }
                }
                // The same label may have more white space on some pages than on others.
                longest = row.bytes.max(longest);
                of_site += 1;
                all.largest = all.largest.max(of_site);
                if (row.page, row.begin) < (all.page, all.begin) || all.page == UNSET {
                    (all.page, all.begin, all.bytes) = (row.page, row.begin, row.bytes);
                }
            }
            let entry = counted.entry(all.count).or_default();
            entry[usize::from(stopped)] += 1;
            context.count(counter::STOPPED, u64::from(stopped));
            if stopped {
                continue;
            }
            if let Some((least, named, examples, by_original)) = &mut informed {
                if u64::from(longest) >= *least {
                    named.set(u64::from(all.page));
                    for &page in &holders {
                        by_original.push(LabelOriginal { page })?;
                    }
                    push_example(examples, &all, holders.clone())?;
                }
            } else if let Some(candidates) = &mut candidates {
                let enough = match params.how {
                    How::Threshold(threshold) => all.count > threshold,
                    _ => all.count > 1,
                };
                if enough {
                    candidates.push(all)?;
                }
            }
        }
        for (count, [free, stopped]) in counted {
            frequencies.note(context.task_number(), count, [free, stopped, 0, 0]);
        }
        Ok(())
    });
}

fn push_example(
    examples: &mut cento_flow::WideEmitter,
    label: &LabelCandidate,
    originals: Vec<u32>,
) -> Result<(), StageError> {
    let row = serde_json::to_vec(&LabelExample {
        hash: label.hash,
        count: label.count,
        largest: label.largest,
        pages: label.pages,
        sites: label.sites,
        begin: label.begin,
        bytes: label.bytes,
        originals,
    })?;
    examples.push_numbered(u64::from(label.page), ROW, &row)?;
    Ok(())
}

fn select(registry: &mut Registry, params: &DiscoverParams) {
    let how = params.how;
    registry.reduce::<LabelCandidate, _>(stage::SELECT, move |context, groups| {
        let frequencies = context.state::<TaskTally>(state::COUNTED)?;
        let named = context.state::<Bitmap>(NAMED)?;
        let mut examples = context.wide_shuffle(shuffle::EXAMPLES)?;
        let cut = cut(how, &frequencies.sums());
        // Of the objects at the cut, the partitions before this one have selected some.
        let before = frequencies.before(context.task_number(), cut.count)[0];
        let mut ties = cut.ties.saturating_sub(before);
        while let Some(mut group) = groups.next_group()? {
            let Some(label) = group.next() else {
                continue;
            };
            if label.count < cut.count {
                continue;
            }
            if label.count == cut.count {
                if ties == 0 {
                    continue;
                }
                ties -= 1;
            }
            named.set(u64::from(label.page));
            push_example(&mut examples, &label, Vec::new())?;
        }
        Ok(())
    });
    registry.map(stage::FREQUENCIES, |context| {
        let frequencies = context.state::<TaskTally>(state::COUNTED)?;
        let singles = context.state::<TaskTally>(state::SINGLES)?;
        let mut table = context.table(FREQUENCIES_TABLE)?;
        let mut sums = frequencies.sums();
        for (count, more) in singles.sums() {
            let sum = sums.entry(count).or_default();
            sum[0] += more[0];
            sum[1] += more[1];
        }
        sums.retain(|_, sum| sum[0] + sum[1] > 0);
        for (count, [free, stopped, ..]) in sums {
            table.push(FrequencyRow {
                count,
                objects: free + stopped,
                stopped,
            })?;
        }
        Ok(())
    });
}

/// Where the labels are cut off: all objects that occur more often than `count` are labels, and
/// `ties` of those that occur exactly this often.
#[derive(Debug, PartialEq, Eq)]
struct CutOff {
    count: u64,
    ties: u64,
}

fn cut(how: How, frequencies: &BTreeMap<u64, [u64; 4]>) -> CutOff {
    let top = match how {
        How::Threshold(threshold) => {
            return CutOff {
                count: threshold,
                ties: 0,
            };
        }
        How::Informed(_) => return CutOff { count: 0, ties: 0 },
        How::Top(top) => top,
    };
    let mut left = top;
    for (&count, &[free, ..]) in frequencies.iter().rev() {
        // An object that occurs once is not a duplicate, even if there are few others.
        if count < 2 {
            break;
        }
        if free >= left {
            return CutOff { count, ties: left };
        }
        left -= free;
    }
    CutOff { count: 1, ties: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_labels_are_cut_at_their_number() {
        let frequencies: BTreeMap<u64, [u64; 4]> = [(1, 50), (2, 10), (5, 3), (9, 1)]
            .map(|(count, free)| (count, [free, 7, 0, 0]))
            .into();
        let top = |top| cut(How::Top(top), &frequencies);
        assert_eq!(top(1), CutOff { count: 9, ties: 1 });
        assert_eq!(top(3), CutOff { count: 5, ties: 2 });
        assert_eq!(top(4), CutOff { count: 5, ties: 3 });
        assert_eq!(top(6), CutOff { count: 2, ties: 2 });
        assert_eq!(top(1000), CutOff { count: 1, ties: 0 });
        assert_eq!(
            cut(How::Threshold(5), &frequencies),
            CutOff { count: 5, ties: 0 }
        );
    }
}
