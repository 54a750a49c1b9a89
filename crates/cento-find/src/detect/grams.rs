//! Contamination: which items of a benchmark are in a corpus, wherever in a paragraph they stand.
//!
//! ```text
//!   items ─ item grams ─▶ by gram, by item, grams        texts ─ page grams ─▶ by gram
//!   by gram ─ meet ─▶ by item ─ weigh ─▶ by page ◀─ names     by page ─ placed ─▶ item rows ◀─ item names
//!   item rows ─ items ─▶ items, places
//! ```
//!
//! An item is found by its overlapping runs of k words. How much of it is anywhere in the corpus is exact. Where it is, is listed for
//! grams of at most [`CROWD`] items, on at most [`PAGES`] pages each: a phrase that every question has, or every page, is no place.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use cento_flow::{Bitmap, Flow, Registry, Row, Stage, StageError, WideGroups, table_row};
use cento_print::{grams as roll, word_hash};
use cento_text::words::WordScanner;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::moments::{real, share};
use crate::error::{Error, Result};
use crate::names::{self, NAMED, PageName, ROW, name_of, with_named};
use crate::run::{Findings, Workplace};
use crate::source::Source;

/// The name of the analysis.
pub const GRAMS: &str = "contamination";
/// Items of a gram beyond which it is no place.
const CROWD: usize = 64;
/// Pages of a gram that are places.
const PAGES: usize = 1000;

/// The parameters of a search for items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GramsParams {
    /// Words of a gram.
    pub k: u32,
    /// What share of an item a page must have to be listed.
    pub min_share: f64,
}

impl GramsParams {
    /// Fails if the numbers make no sense.
    pub fn check(&self) -> Result<()> {
        if !(1..=100).contains(&self.k) {
            let k = self.k;
            return Err(Error::Parameter(format!(
                "grams of {k} words are not between 1 and 100"
            )));
        }
        if !(0.0..=1.0).contains(&self.min_share) {
            let share = self.min_share;
            return Err(Error::Parameter(format!(
                "a share of {share} is not between 0 and 1"
            )));
        }
        Ok(())
    }
}

/// What was counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GramsSummary {
    /// Items.
    pub items: u64,
    /// Those that are shorter than a gram, and were not looked for.
    pub short: u64,
    /// Those of which anything was found.
    pub found: u64,
    /// Those of which a page has enough to be listed.
    pub listed: u64,
    /// Grams that too many items have to be a place.
    pub crowded: u64,
}

table_row! {
    /// An item, and how much of it is in the corpus.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ItemRow {
        /// The item.
        pub item_id: u64,
        /// Its address.
        pub item: String,
        /// Its distinct grams.
        pub grams: u64,
        /// How many of these are in the corpus.
        pub found: u64,
        /// What share that is.
        pub share: f64,
        /// On how many pages there is enough of it to be listed.
        pub pages: u64,
        /// The largest share of it that is on one page.
        pub most: f64,
    }
}

table_row! {
    /// A page that has an item, or enough of it.
    #[derive(Debug, Clone, PartialEq)]
    pub struct PlaceRow {
        /// The item.
        pub item_id: u64,
        /// Its address.
        pub item: String,
        /// The page.
        pub page_id: u64,
        /// Its address.
        pub page: String,
        /// How many of the item's grams the page has.
        pub grams: u64,
        /// What share that is.
        pub share: f64,
        /// Where the longest stretch of them begins in the text, in bytes.
        pub begin: u32,
        /// Where it ends.
        pub end: u32,
    }
}

/// A gram of an item or of a page.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Gram {
    hash: u64,
    kind: u32,
    of: u32,
    begin: u32,
    end: u32,
}

const ITEM: u32 = 0;
const PAGE: u32 = 1;

impl Row for Gram {
    type Key = u64;
    type Rest = (u32, u32, u32);

    fn key(&self) -> u64 {
        self.hash
    }

    fn rest(&self) -> (u32, u32, u32) {
        (self.kind, self.of, self.begin)
    }
}

/// What is said about an item.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct AboutItem {
    item: u32,
    kind: u32,
    page: u32,
    begin: u32,
    end: u32,
}

/// How many grams it has, as `page`.
const TOTAL: u32 = 0;
/// One of them is somewhere.
const FOUND: u32 = 1;
/// One of them is at a place.
const PLACE: u32 = 2;

impl Row for AboutItem {
    type Key = u32;
    type Rest = (u32, u32, u32, u32);

    fn key(&self) -> u32 {
        self.item
    }

    fn rest(&self) -> (u32, u32, u32, u32) {
        (self.kind, self.page, self.begin, self.end)
    }
}

#[derive(Serialize, Deserialize)]
struct Placed {
    item: u32,
    grams: u64,
    share: u64,
    begin: u32,
    end: u32,
    page: Option<(u64, String)>,
}

/// Looks for the items of a corpus in another.
pub fn grams(
    source: &Arc<Source>,
    items: &Arc<Source>,
    params: &GramsParams,
    workplace: &Workplace,
) -> Result<Findings> {
    params.check()?;
    if !source.has_text() || !items.has_text() {
        return Err(Error::Parameter(
            "grams are made of text, and a corpus keeps none: index it again without --no-text"
                .into(),
        ));
    }
    let asked = json!({ "k": params.k, "min_share": params.min_share, "items": items.identity() });
    workplace.run(
        GRAMS,
        &asked,
        source,
        || {
            let flow = flow(source, items, params, &asked, workplace.memory);
            Ok((registry(source, items, params), flow))
        },
        |_, report| {
            let counted = |name: &str| report.counted(name);
            Ok(json!(GramsSummary {
                items: u64::from(items.kept()),
                short: counted("short"),
                found: counted("found"),
                listed: counted("listed"),
                crowded: counted("crowded"),
            }))
        },
    )
}

fn flow(source: &Source, items: &Source, params: &GramsParams, asked: &Value, memory: u64) -> Flow {
    let bits = 32 - source.all().leading_zeros();
    let item_bits = (32 - items.all().leading_zeros()).max(1);
    let parts = items
        .corpora()
        .iter()
        .flat_map(|corpus| &corpus.manifest().parts);
    let words: u64 = parts.map(|part| part.counts.words).sum();
    // Two bytes a gram of an item: one gram of a page in sixteen that is none of theirs travels in vain.
    let bytes = (2 * words).clamp(1 << 12, (memory / 4).max(1 << 12));
    with_named(Flow::new(GRAMS), source)
        .state("grams", "bitmap", json!({ "bytes": bytes }))
        .shuffle("by gram")
        .shuffle_of_numbers("by item", item_bits)
        .shuffle_of_numbers("by page", bits)
        .shuffle_of_numbers("item rows", item_bits)
        .table("items")
        .table("places")
        .stage(
            Stage::map("item grams", items.text_tasks())
                .with(asked.clone())
                .writes("grams")
                .writes("by gram")
                .writes("by item"),
        )
        .stage(
            Stage::map("page grams", source.text_tasks())
                .with(json!({ "source": source.identity(), "k": params.k }))
                .reads("grams")
                .writes("by gram"),
        )
        .stage(Stage::reduce("meet", "by gram").writes("by item"))
        .stage(
            Stage::reduce("weigh", "by item")
                .writes(NAMED)
                .writes("by page")
                .writes("item rows"),
        )
        .stage(names::stage(source, &["by page"]))
        .stage(Stage::map("item names", items.page_tasks()).writes("item rows"))
        .stage(Stage::reduce("placed", "by page").writes("item rows"))
        .stage(
            Stage::reduce("items", "item rows")
                .named("item table")
                .writes("items")
                .writes("places"),
        )
}

fn registry(source: &Arc<Source>, items: &Arc<Source>, params: &GramsParams) -> Registry {
    let mut registry = Registry::new();
    gather(&mut registry, source, items, params.k as usize);
    weigh(&mut registry, params.min_share);
    settle(&mut registry, items);
    names::register(&mut registry, source);
    registry
}

/// The words of a text with their places, and their grams.
#[derive(Default)]
struct Cut {
    scanner: WordScanner,
    hashes: Vec<u64>,
    ranges: Vec<(u32, u32)>,
    seen: HashSet<u64>,
}

impl Cut {
    /// Calls `each` with every distinct gram of a text and where it stands first. Answers how many there are.
    fn grams(
        &mut self,
        text: &str,
        k: usize,
        mut each: impl FnMut(u64, u32, u32) -> std::result::Result<(), StageError>,
    ) -> std::result::Result<u32, StageError> {
        self.hashes.clear();
        self.ranges.clear();
        self.seen.clear();
        let (hashes, ranges) = (&mut self.hashes, &mut self.ranges);
        self.scanner.scan(text, |word| {
            hashes.push(word_hash(word.normal));
            ranges.push((word.range.start as u32, word.range.end as u32));
        });
        let (ranges, seen) = (&self.ranges, &mut self.seen);
        let mut outcome = Ok(());
        roll(&self.hashes, k, |gram, at| {
            if outcome.is_ok() && seen.insert(gram) {
                let begin = ranges.get(at).map_or(0, |range| range.0);
                let end = ranges.get(at + k - 1).map_or(begin, |range| range.1);
                outcome = each(gram, begin, end);
            }
        });
        outcome?;
        Ok(seen.len() as u32)
    }
}

fn gather(registry: &mut Registry, source: &Arc<Source>, items: &Arc<Source>, k: usize) {
    let texts = Arc::clone(items);
    registry.map("item grams", move |context| {
        let all = context.state::<Bitmap>("grams")?;
        let mut by_gram = context.shuffle::<Gram>("by gram")?;
        let mut by_item = context.shuffle::<AboutItem>("by item")?;
        let mut cut = Cut::default();
        texts.for_each_text(&context.task()?, |item, text| {
            context.check()?;
            let total = cut.grams(text, k, |hash, begin, end| {
                all.set(hash);
                by_gram.push(Gram {
                    hash,
                    kind: ITEM,
                    of: item,
                    begin,
                    end,
                })?;
                Ok(())
            })?;
            context.count("short", u64::from(total == 0));
            by_item.push(AboutItem {
                item,
                kind: TOTAL,
                page: total,
                begin: 0,
                end: 0,
            })?;
            Ok::<_, StageError>(())
        })
    });
    let texts = Arc::clone(source);
    registry.map("page grams", move |context| {
        let all = context.state::<Bitmap>("grams")?;
        let mut by_gram = context.shuffle::<Gram>("by gram")?;
        let mut cut = Cut::default();
        texts.for_each_text(&context.task()?, |page, text| {
            context.check()?;
            cut.grams(text, k, |hash, begin, end| {
                if all.get(hash) {
                    by_gram.push(Gram {
                        hash,
                        kind: PAGE,
                        of: page,
                        begin,
                        end,
                    })?;
                }
                Ok(())
            })?;
            Ok::<_, StageError>(())
        })
    });
    registry.reduce::<Gram, _>("meet", |context, groups| {
        let mut by_item = context.shuffle::<AboutItem>("by item")?;
        let mut items: Vec<u32> = Vec::new();
        while let Some(group) = groups.next_group()? {
            items.clear();
            let mut pages = 0;
            for row in group {
                if row.kind == ITEM {
                    items.push(row.of);
                    continue;
                }
                if items.is_empty() {
                    break;
                }
                let about = |item: u32, kind: u32| AboutItem {
                    item,
                    kind,
                    page: row.of,
                    begin: row.begin,
                    end: row.end,
                };
                if pages == 0 {
                    for &item in &items {
                        by_item.push(AboutItem {
                            page: 0,
                            begin: 0,
                            end: 0,
                            ..about(item, FOUND)
                        })?;
                    }
                    context.count("crowded", u64::from(items.len() > CROWD));
                }
                pages += 1;
                if items.len() > CROWD || pages > PAGES {
                    break;
                }
                for &item in &items {
                    by_item.push(about(item, PLACE))?;
                }
            }
        }
        Ok(())
    });
}

fn weigh(registry: &mut Registry, least: f64) {
    registry.reduce::<AboutItem, _>("weigh", move |context, groups| {
        let named = context.state::<Bitmap>(NAMED)?;
        let mut by_page = context.wide_shuffle("by page")?;
        let mut rows = context.wide_shuffle("item rows")?;
        while let Some(group) = groups.next_group()? {
            let item = group.key();
            let (mut total, mut found) = (0u64, 0u64);
            let mut pages: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
            for row in group {
                match row.kind {
                    TOTAL => total += u64::from(row.page),
                    FOUND => found += 1,
                    _ => pages
                        .entry(row.page)
                        .or_default()
                        .push((row.begin, row.end)),
                }
            }
            let (mut listed, mut most) = (0u64, 0);
            for (page, places) in pages {
                let part = share(places.len() as u64, total);
                most = part.max(most);
                if real(part) < least {
                    continue;
                }
                listed += 1;
                named.set(u64::from(page));
                let (begin, end) = longest(&places);
                let row = serde_json::to_vec(&Placed {
                    item,
                    grams: places.len() as u64,
                    share: part,
                    begin,
                    end,
                    page: None,
                })?;
                by_page.push_numbered(u64::from(page), ROW, &row)?;
            }
            context.count("found", u64::from(found > 0));
            context.count("listed", u64::from(listed > 0));
            let row = serde_json::to_vec(&(total, found, listed, most))?;
            rows.push_numbered(u64::from(item), ROW, &row)?;
        }
        Ok(())
    });
}

/// The longest stretch of places that touch or overlap; they come by where they begin.
fn longest(places: &[(u32, u32)]) -> (u32, u32) {
    // One space, or one mark and a space, between two words belongs to what they are part of.
    const GAP: u32 = 4;
    let mut best = (0, 0);
    let mut current: Option<(u32, u32)> = None;
    for &(begin, end) in places {
        current = match current {
            Some((first, last)) if begin <= last.saturating_add(GAP) => {
                Some((first, last.max(end)))
            }
            _ => Some((begin, end)),
        };
        if let Some((first, last)) = current
            && last - first > best.1 - best.0
        {
            best = (first, last);
        }
    }
    best
}

fn settle(registry: &mut Registry, items: &Arc<Source>) {
    let pages = Arc::clone(items);
    registry.map("item names", move |context| {
        let mut rows = context.wide_shuffle("item rows")?;
        pages.for_each_page(context.task()?, |facts| {
            if facts.reject.is_none() {
                let number = u64::from(facts.number);
                rows.push_numbered(number, 0, &serde_json::to_vec(&PageName::from(facts))?)?;
            }
            Ok::<_, StageError>(())
        })
    });
    registry.reduce("placed", |context, groups| {
        let mut rows = context.wide_shuffle("item rows")?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let name = name_of(&mut group)?;
            for record in group {
                let mut placed: Placed = serde_json::from_slice(&record.value)?;
                placed.page = Some((name.page_id, name.url.clone()));
                // The page that has most of the item comes first.
                let order = ROW + 1 + (super::moments::ONE - placed.share);
                let item = u64::from(placed.item);
                rows.push_numbered(item, order, &serde_json::to_vec(&placed)?)?;
            }
        }
        Ok(())
    });
    registry.reduce("items", |context, groups| {
        let mut table = context.table::<ItemRow>("items")?;
        let mut places = context.table::<PlaceRow>("places")?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let name = name_of(&mut group)?;
            let Some(record) = group.next() else {
                continue;
            };
            let (grams, found, pages, most): (u64, u64, u64, u64) =
                serde_json::from_slice(&record.value)?;
            table.push(ItemRow {
                item_id: name.page_id,
                item: name.url.clone(),
                grams,
                found,
                share: real(share(found, grams)),
                pages,
                most: real(most),
            })?;
            for record in group {
                let placed: Placed = serde_json::from_slice(&record.value)?;
                let (page_id, page) = placed.page.ok_or("a place has no page")?;
                places.push(PlaceRow {
                    item_id: name.page_id,
                    item: name.url.clone(),
                    page_id,
                    page,
                    grams: placed.grams,
                    share: real(placed.share),
                    begin: placed.begin,
                    end: placed.end,
                })?;
            }
        }
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_stretch_is_where_an_item_stands() {
        assert_eq!(
            longest(&[(0, 10), (5, 20), (40, 50), (52, 70), (60, 90)]),
            (40, 90)
        );
        assert_eq!(longest(&[(7, 9)]), (7, 9));
        assert_eq!(longest(&[]), (0, 0));
    }
}
