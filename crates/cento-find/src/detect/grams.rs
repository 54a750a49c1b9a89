//! Contamination: which items of a benchmark are in a corpus, wherever in a paragraph they stand.
//!
//! ```text
//!   items ─ item grams ─▶ by gram, by item, grams        texts ─ page grams ─▶ by gram
//!   by gram ─ meet ─▶ by item ─ weigh ─▶ by page ◀─ names     by page ─ placed ─▶ item rows ◀─ item names
//!   item rows ─ items ─▶ items, places
//! ```
//!
//! An item is found by its overlapping runs of k words. A run that more than [`CROWD`] different
//! items have, such as a prompt that they all begin with, says nothing about which of them is
//! there: it is ignored, in what is found of an item and in what there is of it, and counted. Items
//! of the same words count as one here, up to [`MOST`] of them. All pages are listed that have
//! enough of an item.
//!
//! Nothing is held of a text but the last k words: what occurs twice is found out where grams meet.

use std::collections::VecDeque;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use cento_fingerprint::{GramHasher, word_hash};
use cento_flow::{Bitmap, Flow, Registry, Row, Stage, StageError, WideGroups, table_row};
use cento_text::words::WordScanner;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::moments::{real, share, typed};
use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::names::{self, NAMED, PageName, ROW, name_of, with_named};
use crate::run::{Findings, Workplace};

/// The name of the analysis.
pub const GRAMS: &str = "contamination";
/// Different items of a gram beyond which it is ignored.
const CROWD: usize = 64;
/// Items of a gram, of the same words or not, beyond which it is ignored.
const MOST: usize = 4096;
/// Places of one gram on one page that are looked at.
const REPEATS: u32 = 256;

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
            return Err(Error::Usage(format!(
                "grams of {k} words are not between 1 and 100"
            )));
        }
        if !(0.0..=1.0).contains(&self.min_share) {
            let share = self.min_share;
            return Err(Error::Usage(format!(
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
    /// Those that have no run of words of their own: each is in too many items, and they were not
    /// looked for.
    pub common: u64,
    /// Those of which anything was found.
    pub found: u64,
    /// Those of which a page has enough to be listed.
    pub listed: u64,
    /// Distinct grams that too many items have: ignored.
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
        /// How many of these too many items have: they are ignored, and the others are its own.
        pub common: u64,
        /// How many of its own are in the corpus.
        pub found: u64,
        /// What share of its own that is.
        pub share: f64,
        /// On how many pages there is enough of it to be listed.
        pub pages: u64,
        /// The largest share of its own grams that is on one page.
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
        /// How many of the item's own grams the page has.
        pub grams: u64,
        /// What share of them that is.
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
    /// Where it begins on a page; of an item, half of the hash of all its words.
    begin: u32,
    /// Where it ends; of an item, the other half.
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
    /// Whether it is the first place of its gram on its page: grams are counted once.
    first: u32,
}

/// It is there.
const EXISTS: u32 = 0;
/// It has a gram of its own; `page` tells whether it is somewhere.
const OWN: u32 = 1;
/// It has a gram that too many have.
const COMMON: u32 = 2;
/// One of its own is at a place.
const PLACE: u32 = 3;

impl Row for AboutItem {
    type Key = u32;
    type Rest = (u32, u32, u32, u32, u32);

    fn key(&self) -> u32 {
        self.item
    }

    fn rest(&self) -> (u32, u32, u32, u32, u32) {
        (self.kind, self.page, self.begin, self.end, self.first)
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
    source: &Arc<CorpusPages>,
    items: &Arc<CorpusPages>,
    params: &GramsParams,
    workplace: &Workplace,
) -> Result<Findings> {
    params.check()?;
    if !source.has_text() || !items.has_text() {
        return Err(Error::Unsuitable(
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
                common: counted("common"),
                found: counted("found"),
                listed: counted("listed"),
                crowded: counted("crowded"),
            }))
        },
    )
}

fn flow(
    source: &CorpusPages,
    items: &CorpusPages,
    params: &GramsParams,
    asked: &Value,
    memory: u64,
) -> Flow {
    let bits = 32 - source.all().leading_zeros();
    let item_bits = (32 - items.all().leading_zeros()).max(1);
    let parts = items
        .corpora()
        .iter()
        .flat_map(|corpus| &corpus.manifest().parts);
    let words: u64 = parts.map(|part| part.counts.words).sum();
    // Two bytes a gram of an item: one gram of a page in sixteen that is none of theirs travels in
    // vain.
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

fn registry(source: &Arc<CorpusPages>, items: &Arc<CorpusPages>, params: &GramsParams) -> Registry {
    let mut registry = Registry::new();
    gather(&mut registry, source, items, params.k as usize);
    weigh(&mut registry, params.min_share);
    settle(&mut registry, items);
    names::register(&mut registry, source);
    registry
}

/// Finds the grams of texts, one after the other.
struct Cut {
    scanner: WordScanner,
    hasher: GramHasher,
    /// Where the last k words begin.
    begins: VecDeque<u32>,
    k: usize,
}

impl Cut {
    fn new(k: usize) -> Cut {
        Cut {
            scanner: WordScanner::default(),
            hasher: GramHasher::new(k),
            begins: VecDeque::with_capacity(k),
            k,
        }
    }

    /// Calls `each` with every gram of a text and where it stands, in order.
    fn grams(
        &mut self,
        text: &str,
        mut each: impl FnMut(u64, u32, u32) -> cento_flow::Result<()>,
    ) -> std::result::Result<(), StageError> {
        self.hasher.reset();
        self.begins.clear();
        let (hasher, begins, k) = (&mut self.hasher, &mut self.begins, self.k);
        let mut outcome = Ok(());
        self.scanner.scan(text, |word| {
            if outcome.is_err() {
                return;
            }
            if begins.len() == k {
                begins.pop_front();
            }
            begins.push_back(word.range.start as u32);
            if let Some(gram) = hasher.push(word_hash(word.normal)) {
                let begin = begins.front().copied().unwrap_or(0);
                outcome = each(gram, begin, word.range.end as u32);
            }
        });
        Ok(outcome?)
    }

    /// A hash of all words of a text.
    fn fingerprint(&mut self, text: &str) -> u64 {
        let mut hash = 0u64;
        self.scanner.scan(text, |word| {
            hash = (hash ^ word_hash(word.normal))
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .rotate_left(23);
        });
        hash
    }
}

fn gather(registry: &mut Registry, source: &Arc<CorpusPages>, items: &Arc<CorpusPages>, k: usize) {
    let texts = Arc::clone(items);
    registry.map("item grams", move |context| {
        let all = context.state::<Bitmap>("grams")?;
        let mut by_gram = context.shuffle::<Gram>("by gram")?;
        let mut by_item = context.shuffle::<AboutItem>("by item")?;
        let mut cut = Cut::new(k);
        texts.for_each_text(&context.task()?, |item, text| {
            context.check()?;
            let fingerprint = cut.fingerprint(text);
            let mut any = false;
            cut.grams(text, |hash, _, _| {
                any = true;
                all.set(hash);
                by_gram.push(Gram {
                    hash,
                    kind: ITEM,
                    of: item,
                    begin: (fingerprint >> 32) as u32,
                    end: fingerprint as u32,
                })
            })?;
            context.count("short", u64::from(!any));
            by_item.push(AboutItem {
                item,
                kind: EXISTS,
                page: 0,
                begin: 0,
                end: 0,
                first: 0,
            })?;
            Ok::<_, StageError>(())
        })
    });
    let texts = Arc::clone(source);
    registry.map("page grams", move |context| {
        let all = context.state::<Bitmap>("grams")?;
        let mut by_gram = context.shuffle::<Gram>("by gram")?;
        let mut cut = Cut::new(k);
        texts.for_each_text(&context.task()?, |page, text| {
            context.check()?;
            cut.grams(text, |hash, begin, end| {
                if !all.get(hash) {
                    return Ok(());
                }
                by_gram.push(Gram {
                    hash,
                    kind: PAGE,
                    of: page,
                    begin,
                    end,
                })
            })
        })
    });
    registry.reduce::<Gram, _>("meet", |context, groups| {
        let mut by_item = context.shuffle::<AboutItem>("by item")?;
        let (mut items, mut different) = (Vec::<u32>::new(), Vec::<(u32, u32)>::new());
        while let Some(group) = groups.next_group()? {
            items.clear();
            different.clear();
            let about = |item: u32, kind: u32, page: u32| AboutItem {
                item,
                kind,
                page,
                begin: 0,
                end: 0,
                first: 0,
            };
            let (mut crowded, mut found) = (false, false);
            let (mut last_item, mut last_page, mut repeats) = (None, None, 0);
            for row in group {
                if row.kind == ITEM {
                    if last_item.replace(row.of) == Some(row.of) {
                        continue;
                    }
                    let words = (row.begin, row.end);
                    if !crowded && !different.contains(&words) {
                        different.push(words);
                    }
                    if !crowded && different.len() <= CROWD && items.len() < MOST {
                        items.push(row.of);
                        continue;
                    }
                    crowded = true;
                    for item in items.drain(..) {
                        by_item.push(about(item, COMMON, 0))?;
                    }
                    by_item.push(about(row.of, COMMON, 0))?;
                    continue;
                }
                if items.is_empty() {
                    break;
                }
                found = true;
                let first = last_page.replace(row.of) != Some(row.of);
                repeats = if first { 0 } else { repeats + 1 };
                if repeats >= REPEATS {
                    continue;
                }
                for &item in &items {
                    by_item.push(AboutItem {
                        begin: row.begin,
                        end: row.end,
                        first: u32::from(first),
                        ..about(item, PLACE, row.of)
                    })?;
                }
            }
            context.count("crowded", u64::from(crowded));
            for &item in &items {
                by_item.push(about(item, OWN, u32::from(found)))?;
            }
        }
        Ok(())
    });
}

/// What a page has of an item.
#[derive(Default)]
struct OnPage {
    page: u32,
    grams: u64,
    stretch: Stretch,
}

fn weigh(registry: &mut Registry, least: f64) {
    let least = typed(least);
    registry.reduce::<AboutItem, _>("weigh", move |context, groups| {
        let named = context.state::<Bitmap>(NAMED)?;
        let mut by_page = context.wide_shuffle("by page")?;
        let mut rows = context.wide_shuffle("item rows")?;
        while let Some(group) = groups.next_group()? {
            let item = group.key();
            let (mut own, mut common, mut found) = (0u64, 0u64, 0u64);
            let (mut listed, mut most) = (0u64, 0);
            let mut current: Option<OnPage> = None;
            let mut flush = |on: Option<OnPage>, own: u64| {
                let Some(on) = on else {
                    return Ok(());
                };
                let part = share(on.grams, own);
                most = part.max(most);
                if part < least {
                    return Ok(());
                }
                listed += 1;
                named.set(u64::from(on.page));
                let (begin, end) = on.stretch.longest;
                let row = serde_json::to_vec(&Placed {
                    item,
                    grams: on.grams,
                    share: part,
                    begin,
                    end,
                    page: None,
                })?;
                by_page.push_numbered(u64::from(on.page), ROW, &row)?;
                Ok::<_, StageError>(())
            };
            for row in group {
                match row.kind {
                    EXISTS => {}
                    OWN => {
                        own += 1;
                        found += u64::from(row.page);
                    }
                    COMMON => common += 1,
                    _ => {
                        if current.as_ref().is_none_or(|on| on.page != row.page) {
                            flush(current.take(), own)?;
                        }
                        let on = current.get_or_insert_default();
                        on.page = row.page;
                        on.grams += u64::from(row.first);
                        on.stretch.add(row.begin, row.end);
                    }
                }
            }
            flush(current.take(), own)?;
            context.count("common", u64::from(own == 0 && common > 0));
            context.count("found", u64::from(found > 0));
            context.count("listed", u64::from(listed > 0));
            let row = serde_json::to_vec(&(own, common, found, listed, most))?;
            rows.push_numbered(u64::from(item), ROW, &row)?;
        }
        Ok(())
    });
}

/// The longest stretch of places that touch or overlap; they come by where they begin.
#[derive(Debug, Default)]
struct Stretch {
    longest: (u32, u32),
    current: Option<(u32, u32)>,
}

impl Stretch {
    fn add(&mut self, begin: u32, end: u32) {
        // One space, or one mark and a space, between two words belongs to what they are part of.
        const GAP: u32 = 4;
        let (first, last) = match self.current {
            Some((first, last)) if begin <= last.saturating_add(GAP) => (first, last.max(end)),
            _ => (begin, end),
        };
        self.current = Some((first, last));
        if last - first > self.longest.1 - self.longest.0 {
            self.longest = (first, last);
        }
    }
}

fn settle(registry: &mut Registry, items: &Arc<CorpusPages>) {
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
            let (own, common, found, pages, most): (u64, u64, u64, u64, u64) =
                serde_json::from_slice(&record.value)?;
            table.push(ItemRow {
                item_id: name.page_id,
                item: name.url.clone(),
                grams: own + common,
                common,
                found,
                share: real(share(found, own)),
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
        let longest = |places: &[(u32, u32)]| {
            let mut stretch = Stretch::default();
            places
                .iter()
                .for_each(|&(begin, end)| stretch.add(begin, end));
            stretch.longest
        };
        assert_eq!(
            longest(&[(0, 10), (5, 20), (40, 50), (52, 70), (60, 90)]),
            (40, 90)
        );
        assert_eq!(longest(&[(7, 9)]), (7, 9));
        assert_eq!(longest(&[]), (0, 0));
    }
}
