//! How often every object occurs, and which of them become labels.
//!
//! ```text
//!   chunks ─ note ─▶ seen            (only if not all fit in memory)
//!   chunks, pages ─ objects ─▶ by hash ─ count ─▶ candidates ─ select ─▶ examples     (blind)
//!                                          └─▶ examples, by original                  (informed)
//! ```
//!
//! Which objects are the most frequent ones, nobody knows before all are counted: `count` writes
//! down how many occur how often, in each partition, and `select` reads it. Partitions are ranges
//! of hashes, so those before one tell how many of equally frequent objects are left to take.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use cento_flow::{Bitmap, Context, Registry, Row, SeenFilter, StageError};
use cento_labels::Recipe;
use serde::{Deserialize, Serialize};

use super::params::{DiscoverParams, How};
use crate::corpus_pages::{ChunkTask, CorpusPages, TextTask};
use crate::names::{NAMED, ROW};
use crate::numbers::{Numbers, UNSET};
use crate::sites::DOMAINS;
use crate::tally::Tally;

/// Where objects come from.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ObjectTask {
    /// The table of chunks.
    Chunks(ChunkTask),
    /// Texts, cut again.
    Text(TextTask),
    /// Pages, for their payloads.
    Pages(usize),
}

/// An object on a page.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Seen {
    hash: [u64; 2],
    site: u32,
    page: u32,
    begin: u32,
    bytes: u32,
}

impl Seen {
    fn new(hash: &[u8], site: u32, page: u32, begin: u32, bytes: u32) -> Seen {
        let hash = hash.first_chunk::<16>().copied().unwrap_or_default();
        let hash = u128::from_be_bytes(hash);
        Seen {
            hash: [(hash >> 64) as u64, hash as u64],
            site,
            page,
            begin,
            bytes,
        }
    }
}

impl Row for Seen {
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
pub(super) struct Candidate {
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

impl Row for Candidate {
    type Key = u128;
    type Rest = ();

    fn key(&self) -> u128 {
        u128::from(self.hash[0]) << 64 | u128::from(self.hash[1])
    }

    fn rest(&self) {}
}

/// One label that an original has.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Owned {
    pub(super) page: u32,
}

impl Row for Owned {
    type Key = u32;
    type Rest = ();

    fn key(&self) -> u32 {
        self.page
    }

    fn rest(&self) {}
}

/// A label, on its way to the page that it is shown from.
#[derive(Serialize, Deserialize)]
pub(super) struct Example {
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
    source: &Arc<CorpusPages>,
    params: &DiscoverParams,
) {
    let (pages, recipe) = (Arc::clone(source), params.recipe);
    registry.map("note", move |context| {
        let seen = context.state::<SeenFilter>("seen")?;
        for_each_object(&pages, &recipe, context, |hash, _, _, _| {
            seen.note(half(hash));
            Ok(())
        })
    });
    let (pages, asked) = (Arc::clone(source), params.clone());
    registry.map("objects", move |context| {
        let filter = context.stage().reads.iter().any(|name| name == "seen");
        let seen = match filter {
            true => Some(context.state::<SeenFilter>("seen")?),
            false => None,
        };
        // Originals are one site: so they come in the order of their numbers.
        let domains = match asked.informed() {
            true => None,
            false => Some(context.state::<Numbers>(DOMAINS)?),
        };
        let singles = context.state::<Tally>("singles")?;
        let mut by_hash = context.shuffle::<Seen>("by hash")?;
        let mut single = [0; 2];
        for_each_object(
            &pages,
            &asked.recipe,
            context,
            |hash, page, begin, bytes| {
                context.count("objects", 1);
                if seen
                    .as_ref()
                    .is_some_and(|seen| !seen.seen_again(half(hash)))
                {
                    let stopped = hash
                        .first_chunk()
                        .is_some_and(|hash| asked.stops.binary_search(hash).is_ok());
                    single[usize::from(stopped)] += 1;
                    context.count("stopped", u64::from(stopped));
                    return Ok(());
                }
                let site = domains.as_ref().map_or(0, |domains| domains.get(page));
                by_hash.push(Seen::new(hash, site, page, begin, bytes))?;
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

/// Calls `each` with hash, page, place and bytes of all objects of a task.
fn for_each_object(
    source: &CorpusPages,
    recipe: &Recipe,
    context: &Context<'_>,
    mut each: impl FnMut(&[u8], u32, u32, u32) -> Result<(), StageError>,
) -> Result<(), StageError> {
    match context.task()? {
        ObjectTask::Chunks(task) => source.for_each_placed_chunk(&task, |page, chunk| {
            let bytes = chunk.end.saturating_sub(chunk.begin);
            each(&chunk.chunk_hash, page, chunk.begin, bytes)
        }),
        ObjectTask::Text(task) => {
            let mut room = String::new();
            source.for_each_text(&task, |page, text| {
                context.check()?;
                let mut outcome = Ok(());
                recipe.cut(text, &mut room, |range, hash| {
                    if outcome.is_ok() {
                        outcome = each(&hash, page, range.start as u32, range.len() as u32);
                    }
                });
                outcome
            })
        }
        ObjectTask::Pages(task) => source.for_each_page(task, |facts| {
            // A page that a crawler made by going in circles is none.
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
    let asked = params.clone();
    registry.reduce::<Seen, _>("count", move |context, groups| {
        let frequencies = context.state::<Tally>("counted")?;
        let mut candidates = match asked.informed() {
            false => Some(context.shuffle::<Candidate>("candidates")?),
            true => None,
        };
        let mut informed = match asked.how {
            How::Informed(least) => Some((
                least,
                context.state::<Bitmap>(NAMED)?,
                context.wide_shuffle("examples")?,
                context.shuffle::<Owned>("by original")?,
            )),
            _ => None,
        };
        let mut holders: Vec<u32> = Vec::new();
        // How often, and whether it is a stop: how many objects.
        let mut counted: HashMap<u64, [u64; 2]> = HashMap::new();
        while let Some(group) = groups.next_group()? {
            let key = group.key();
            let stopped = asked.stops.binary_search(&key.to_be_bytes()).is_ok();
            let mut all = Candidate {
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
                    // A page without a domain adds none to the count, and is compared with no
                    // other.
                    if row.site == UNSET || last_site != Some(row.site) {
                        all.sites += u32::from(row.site != UNSET);
                        last_site = Some(row.site);
                        of_site = 0;
                    }
                }
                // The same label may have more white space on one page than on another.
                longest = row.bytes.max(longest);
                of_site += 1;
                all.largest = all.largest.max(of_site);
                if (row.page, row.begin) < (all.page, all.begin) || all.page == UNSET {
                    (all.page, all.begin, all.bytes) = (row.page, row.begin, row.bytes);
                }
            }
            let entry = counted.entry(all.count).or_default();
            entry[usize::from(stopped)] += 1;
            context.count("stopped", u64::from(stopped));
            if stopped {
                continue;
            }
            if let Some((least, named, examples, by_original)) = &mut informed {
                if u64::from(longest) >= *least {
                    named.set(u64::from(all.page));
                    for &page in &holders {
                        by_original.push(Owned { page })?;
                    }
                    push_example(examples, &all, holders.clone())?;
                }
            } else if let Some(candidates) = &mut candidates {
                let enough = match asked.how {
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
    label: &Candidate,
    originals: Vec<u32>,
) -> Result<(), StageError> {
    let row = serde_json::to_vec(&Example {
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
    registry.reduce::<Candidate, _>("select", move |context, groups| {
        let frequencies = context.state::<Tally>("counted")?;
        let named = context.state::<Bitmap>(NAMED)?;
        let mut examples = context.wide_shuffle("examples")?;
        let cut = cut(how, &frequencies.sums());
        // Of those that occur as often as the last one taken, the partitions before this one have
        // taken some.
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
    registry.map("frequencies", |context| {
        let frequencies = context.state::<Tally>("counted")?;
        let singles = context.state::<Tally>("singles")?;
        let mut table = context.table::<super::FrequencyRow>("frequencies")?;
        let mut sums = frequencies.sums();
        for (count, more) in singles.sums() {
            let sum = sums.entry(count).or_default();
            sum[0] += more[0];
            sum[1] += more[1];
        }
        sums.retain(|_, sum| sum[0] + sum[1] > 0);
        for (count, [free, stopped, ..]) in sums {
            table.push(super::FrequencyRow {
                count,
                objects: free + stopped,
                stopped,
            })?;
        }
        Ok(())
    });
}

/// From where on objects are labels: all that occur more often than this, and so many of those that
/// occur so often.
#[derive(Debug, PartialEq, Eq)]
struct Cut {
    count: u64,
    ties: u64,
}

fn cut(how: How, frequencies: &BTreeMap<u64, [u64; 4]>) -> Cut {
    let top = match how {
        How::Threshold(threshold) => {
            return Cut {
                count: threshold,
                ties: 0,
            };
        }
        How::Informed(_) => return Cut { count: 0, ties: 0 },
        How::Top(top) => top,
    };
    let mut left = top;
    for (&count, &[free, ..]) in frequencies.iter().rev() {
        // What occurs once is no duplicate, however few there are.
        if count < 2 {
            break;
        }
        if free >= left {
            return Cut { count, ties: left };
        }
        left -= free;
    }
    Cut { count: 1, ties: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_is_cut_where_it_ends() {
        let frequencies: BTreeMap<u64, [u64; 4]> = [(1, 50), (2, 10), (5, 3), (9, 1)]
            .map(|(count, free)| (count, [free, 7, 0, 0]))
            .into();
        let top = |top| cut(How::Top(top), &frequencies);
        assert_eq!(top(1), Cut { count: 9, ties: 1 });
        assert_eq!(top(3), Cut { count: 5, ties: 2 });
        assert_eq!(top(4), Cut { count: 5, ties: 3 });
        assert_eq!(top(6), Cut { count: 2, ties: 2 });
        assert_eq!(top(1000), Cut { count: 1, ties: 0 });
        assert_eq!(
            cut(How::Threshold(5), &frequencies),
            Cut { count: 5, ties: 0 }
        );
    }
}
