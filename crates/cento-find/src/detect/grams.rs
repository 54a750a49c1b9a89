//! Contamination: which items of a benchmark are in a corpus, at any position of a page.
//!
//! ```text
//!   items ─ item grams ─▶ by gram, by item, grams        texts ─ page grams ─▶ by gram
//!   by gram ─ meet ─▶ by item ─ sum ─▶ by page ◀─ names
//!   by page ─ placed ─▶ item rows ◀─ item names          item rows ─ items ─▶ items, places
//! ```
//!
//! An item is found by its overlapping runs of k words. A run that more than [`most_items`]
//! different items have, such as a common prompt, does not identify an item. It is ignored on both
//! sides, in the grams that are found and in the grams of the item, and counted. If that leaves
//! fewer than k grams, the item has fewer than k words of its own, and is not searched. Items of
//! the same words count as one, up to [`MOST`] of them. All pages with enough of an item are
//! listed.
//!
//! Only the last k words of a text are in memory: repetitions are recognised where grams meet.

use std::collections::VecDeque;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use cento_fingerprint::{GramHasher, word_hash};
use cento_flow::{
    Bitmap, Flow, Registry, Row, Stage, StageError, TableName, WideGroups, table_row,
};
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
/// All items.
pub const ITEMS_TABLE: TableName<ItemRow> = TableName::new("items");
/// The pages that have items.
pub const PLACES_TABLE: TableName<PlaceRow> = TableName::new("places");
/// A gram of more items, of the same words or not, is ignored.
const MOST: usize = 4096;
/// The bytes of the text of an item that the table has.
const LONGEST_TEXT: usize = 2_000;
/// The order of the text of an item: the last.
const TEXT: u64 = u64::MAX;
/// The state of items that are listed.
const LISTED: &str = "listed items";
/// The most occurrences of a gram on a page that are considered.
const REPEATS: u32 = 256;

/// Returns the number of different items above which a gram is ignored: a tenth of all items, but
/// at least 8, so that questions about one text do not hide it, and at most 64.
pub fn most_items(items: u64) -> u64 {
    (items / 10).clamp(8, 64)
}

/// The parameters of `detect --grams`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GramsParams {
    /// Words of a gram.
    pub k: u32,
    /// The minimum share of an item on a page that is listed.
    pub min_share: f64,
}

impl GramsParams {
    /// Fails if a parameter is out of range.
    pub fn check(&self) -> Result<()> {
        if !(1..=100).contains(&self.k) {
            let k = self.k;
            return Err(Error::Usage(format!("a gram has 1 to 100 words, not {k}")));
        }
        if !(0.0..=1.0).contains(&self.min_share) {
            let share = self.min_share;
            return Err(Error::Usage(format!(
                "a minimum share of {share} is not between 0 and 1"
            )));
        }
        Ok(())
    }
}

/// The summary of `detect --grams`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GramsSummary {
    /// Items.
    pub items: u64,
    /// Items that are shorter than a gram, which were skipped.
    pub short: u64,
    /// Items of which every gram is on too many items, which were skipped.
    pub common: u64,
    /// Items of which any gram was found.
    pub found: u64,
    /// Items of which a page has enough to be listed.
    pub listed: u64,
    /// Distinct grams on too many items, which were ignored.
    pub crowded: u64,
}

table_row! {
    /// An item and its share in the corpus.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ItemRow {
        /// The item.
        pub item_id: u64,
        /// Its address.
        pub item: String,
        /// Its distinct grams.
        pub grams: u64,
        /// The number of its grams on too many items, which are ignored; all of them if fewer
        /// than k are left. The others are its own.
        pub common: u64,
        /// The number of its own grams that are in the corpus.
        pub found: u64,
        /// The share of its own grams that are in the corpus.
        pub share: f64,
        /// The number of pages with enough of it to be listed.
        pub pages: u64,
        /// The largest share of its own grams on one page.
        pub most: f64,
        /// The beginning of its text, up to 2,000 bytes, if a page has enough of it to be listed.
        pub text: Option<String>,
    }
}

table_row! {
    /// A page with enough of an item.
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
        /// The number of own grams of the item on the page.
        pub grams: u64,
        /// The share of the own grams of the item on the page.
        pub share: f64,
        /// Where the longest passage of such grams begins in the text, in bytes.
        pub begin: u32,
        /// Where it ends.
        pub end: u32,
    }
}

/// A gram of an item or of a page.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct ItemGram {
    hash: u64,
    kind: u32,
    of: u32,
    /// For a page, where the gram begins; for an item, half of the hash of all its words.
    begin: u32,
    /// For a page, where the gram ends; for an item, the other half.
    end: u32,
}

const ITEM: u32 = 0;
const PAGE: u32 = 1;

impl Row for ItemGram {
    type Key = u64;
    type Rest = (u32, u32, u32);

    fn key(&self) -> u64 {
        self.hash
    }

    fn rest(&self) -> (u32, u32, u32) {
        (self.kind, self.of, self.begin)
    }
}

/// A row about an item.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct ItemFact {
    item: u32,
    kind: u32,
    page: u32,
    begin: u32,
    end: u32,
    /// Whether this is the first occurrence of the gram on the page: grams are counted once.
    first: u32,
}

/// The item exists.
const EXISTS: u32 = 0;
/// The item has an own gram; `page` says whether it was found.
const OWN: u32 = 1;
/// The item has a gram of too many items.
const COMMON: u32 = 2;
/// An own gram occurs on a page.
const PLACE: u32 = 3;

impl Row for ItemFact {
    type Key = u32;
    type Rest = (u32, u32, u32, u32, u32);

    fn key(&self) -> u32 {
        self.item
    }

    fn rest(&self) -> (u32, u32, u32, u32, u32) {
        (self.kind, self.page, self.begin, self.end, self.first)
    }
}

/// An item on a page.
#[derive(Serialize, Deserialize)]
struct PlacedItem {
    item: u32,
    grams: u64,
    share: u64,
    begin: u32,
    end: u32,
    page: Option<(u64, String)>,
}

/// Searches a corpus for the items of another.
///
/// `names` are the names of the inputs with the items, for commands in reports.
pub fn grams(
    corpus: &Arc<CorpusPages>,
    items: &Arc<CorpusPages>,
    names: &[String],
    params: &GramsParams,
    workplace: &Workplace,
) -> Result<Findings> {
    params.check()?;
    if !corpus.has_text() || !items.has_text() {
        return Err(Error::Unsuitable(
            "a corpus was indexed without text, which grams consist of: index it again without \
             --no-text"
                .into(),
        ));
    }
    let settings = json!({
        "k": params.k, "min_share": params.min_share, "items": items.identity(), "against": names,
    });
    workplace.run_naming(
        GRAMS,
        &settings,
        &[corpus, items],
        || {
            let flow = flow(corpus, items, params, &settings, workplace.memory);
            Ok((registry(corpus, items, params), flow))
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
    corpus: &CorpusPages,
    items: &CorpusPages,
    params: &GramsParams,
    settings: &Value,
    memory: u64,
) -> Flow {
    let bits = 32 - corpus.all().leading_zeros();
    let item_bits = (32 - items.all().leading_zeros()).max(1);
    let parts = items
        .corpora()
        .iter()
        .flat_map(|corpus| &corpus.manifest().parts);
    let words: u64 = parts.map(|part| part.counts.words).sum();
    // Two bytes per gram of an item: of the other grams, one in sixteen passes the filter.
    let bytes = (2 * words).clamp(1 << 12, (memory / 4).max(1 << 12));
    with_named(Flow::new(GRAMS), corpus)
        .state("grams", "bitmap", json!({ "bytes": bytes }))
        .state(
            LISTED,
            "bitmap",
            json!({ "bytes": u64::from(items.all()).div_ceil(8).max(8) }),
        )
        .shuffle("by gram")
        .shuffle_of_numbers("by item", item_bits)
        .shuffle_of_numbers("by page", bits)
        .shuffle_of_numbers("item rows", item_bits)
        .table(ITEMS_TABLE)
        .table(PLACES_TABLE)
        .stage(
            Stage::map("item grams", items.text_tasks())
                .with(settings.clone())
                .writes("grams")
                .writes("by gram")
                .writes("by item"),
        )
        .stage(
            Stage::map("page grams", corpus.text_tasks())
                .with(json!({ "source": corpus.identity(), "k": params.k }))
                .reads("grams")
                .writes("by gram"),
        )
        .stage(Stage::reduce("meet", "by gram").writes("by item"))
        .stage(
            Stage::reduce("sum", "by item")
                .writes(NAMED)
                .writes(LISTED)
                .writes("by page")
                .writes("item rows"),
        )
        .stage(names::stage(corpus, &["by page"]))
        .stage(
            Stage::map("item texts", items.text_tasks())
                .reads(LISTED)
                .writes("item rows"),
        )
        .stage(Stage::map("item names", items.page_tasks()).writes("item rows"))
        .stage(Stage::reduce("placed", "by page").writes("item rows"))
        .stage(
            Stage::reduce("items", "item rows")
                .named("item table")
                .writes(ITEMS_TABLE.as_str())
                .writes(PLACES_TABLE.as_str()),
        )
}

fn registry(corpus: &Arc<CorpusPages>, items: &Arc<CorpusPages>, params: &GramsParams) -> Registry {
    let mut registry = Registry::new();
    gather(&mut registry, corpus, items, params.k as usize);
    sum(&mut registry, params.min_share, params.k);
    tables(&mut registry, items);
    names::register(&mut registry, corpus);
    registry
}

/// Finds the grams of texts, one text after the other.
struct GramCutter {
    scanner: WordScanner,
    hasher: GramHasher,
    /// Where the last k words begin.
    begins: VecDeque<u32>,
    k: usize,
}

impl GramCutter {
    fn new(k: usize) -> GramCutter {
        GramCutter {
            scanner: WordScanner::default(),
            hasher: GramHasher::new(k),
            begins: VecDeque::with_capacity(k),
            k,
        }
    }

    /// Calls `each` with every gram of a text and its position, in order.
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

fn gather(registry: &mut Registry, corpus: &Arc<CorpusPages>, items: &Arc<CorpusPages>, k: usize) {
    let texts = Arc::clone(items);
    registry.map("item grams", move |context| {
        let all = context.state::<Bitmap>("grams")?;
        let mut by_gram = context.shuffle::<ItemGram>("by gram")?;
        let mut by_item = context.shuffle::<ItemFact>("by item")?;
        let mut cut = GramCutter::new(k);
        texts.for_each_text(&context.task()?, |item, text| {
            context.check()?;
            let fingerprint = cut.fingerprint(text);
            let mut any = false;
            cut.grams(text, |hash, _, _| {
                any = true;
                all.set(hash);
                by_gram.push(ItemGram {
                    hash,
                    kind: ITEM,
                    of: item,
                    begin: (fingerprint >> 32) as u32,
                    end: fingerprint as u32,
                })
            })?;
            context.count("short", u64::from(!any));
            by_item.push(ItemFact {
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
    let texts = Arc::clone(corpus);
    registry.map("page grams", move |context| {
        let all = context.state::<Bitmap>("grams")?;
        let mut by_gram = context.shuffle::<ItemGram>("by gram")?;
        let mut cut = GramCutter::new(k);
        texts.for_each_text(&context.task()?, |page, text| {
            context.check()?;
            cut.grams(text, |hash, begin, end| {
                if !all.get(hash) {
                    return Ok(());
                }
                by_gram.push(ItemGram {
                    hash,
                    kind: PAGE,
                    of: page,
                    begin,
                    end,
                })
            })
        })
    });
    let most_items = most_items(u64::from(items.kept())) as usize;
    registry.reduce::<ItemGram, _>("meet", move |context, groups| {
        let mut by_item = context.shuffle::<ItemFact>("by item")?;
        let (mut items, mut different) = (Vec::<u32>::new(), Vec::<(u32, u32)>::new());
        while let Some(group) = groups.next_group()? {
            items.clear();
            different.clear();
            let about = |item: u32, kind: u32, page: u32| ItemFact {
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
                    if !crowded && different.len() <= most_items && items.len() < MOST {
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
                    by_item.push(ItemFact {
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

/// The grams of an item on a page.
#[derive(Default)]
struct OnPage {
    page: u32,
    grams: u64,
    passage: LongestPassage,
}

fn sum(registry: &mut Registry, least: f64, k: u32) {
    let least = typed(least);
    registry.reduce::<ItemFact, _>("sum", move |context, groups| {
        let named = context.state::<Bitmap>(NAMED)?;
        let listed_items = context.state::<Bitmap>(LISTED)?;
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
                let (begin, end) = on.passage.longest;
                let row = serde_json::to_vec(&PlacedItem {
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
                    // The facts about pages follow those about the item.
                    _ if common > 0 && own < u64::from(k) => {}
                    _ => {
                        if current.as_ref().is_none_or(|on| on.page != row.page) {
                            flush(current.take(), own)?;
                        }
                        let on = current.get_or_insert_default();
                        on.page = row.page;
                        on.grams += u64::from(row.first);
                        on.passage.add(row.begin, row.end);
                    }
                }
            }
            flush(current.take(), own)?;
            if common > 0 && own < u64::from(k) {
                common += own;
                (own, found) = (0, 0);
                context.count("common", 1);
            }
            context.count("found", u64::from(found > 0));
            context.count("listed", u64::from(listed > 0));
            if listed > 0 {
                listed_items.set(u64::from(item));
            }
            let row = serde_json::to_vec(&(own, common, found, listed, most))?;
            rows.push_numbered(u64::from(item), ROW, &row)?;
        }
        Ok(())
    });
}

/// The longest passage of grams that touch or overlap. They are added in order.
#[derive(Debug, Default)]
struct LongestPassage {
    longest: (u32, u32),
    current: Option<(u32, u32)>,
}

impl LongestPassage {
    fn add(&mut self, begin: u32, end: u32) {
        // A few spaces or punctuation marks between two words do not end a passage.
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

fn tables(registry: &mut Registry, items: &Arc<CorpusPages>) {
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
    let texts = Arc::clone(items);
    registry.map("item texts", move |context| {
        let listed = context.state::<Bitmap>(LISTED)?;
        let mut rows = context.wide_shuffle("item rows")?;
        texts.for_each_text(&context.task()?, |number, text| {
            if listed.get(u64::from(number)) {
                let most = LONGEST_TEXT.min(text.len());
                let end = (0..=most).rev().find(|&end| text.is_char_boundary(end));
                let end = end.unwrap_or(0);
                let text = text.get(..end).unwrap_or_default();
                rows.push_numbered(u64::from(number), TEXT, text.as_bytes())?;
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
                let mut placed: PlacedItem = serde_json::from_slice(&record.value)?;
                placed.page = Some((name.page_id, name.url.clone()));
                // The page with the largest share of the item comes first.
                let order = ROW + 1 + (super::moments::ONE - placed.share);
                let item = u64::from(placed.item);
                rows.push_numbered(item, order, &serde_json::to_vec(&placed)?)?;
            }
        }
        Ok(())
    });
    registry.reduce("items", |context, groups| {
        let mut table = context.table(ITEMS_TABLE)?;
        let mut places = context.table(PLACES_TABLE)?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let name = name_of(&mut group)?;
            let Some(record) = group.next() else {
                continue;
            };
            let (own, common, found, pages, most): (u64, u64, u64, u64, u64) =
                serde_json::from_slice(&record.value)?;
            let mut text = None;
            for record in group {
                if record.order == TEXT {
                    text = Some(String::from_utf8(record.value)?);
                    continue;
                }
                let placed: PlacedItem = serde_json::from_slice(&record.value)?;
                let (page_id, page) = placed.page.ok_or("a found item has no page")?;
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
            table.push(ItemRow {
                item_id: name.page_id,
                item: name.url,
                grams: own + common,
                common,
                found,
                share: real(share(found, own)),
                pages,
                most: real(most),
                text,
            })?;
        }
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_passage_is_the_position_of_an_item() {
        let longest = |places: &[(u32, u32)]| {
            let mut passage = LongestPassage::default();
            places
                .iter()
                .for_each(|&(begin, end)| passage.add(begin, end));
            passage.longest
        };
        assert_eq!(
            longest(&[(0, 10), (5, 20), (40, 50), (52, 70), (60, 90)]),
            (40, 90)
        );
        assert_eq!(longest(&[(7, 9)]), (7, 9));
        assert_eq!(longest(&[]), (0, 0));
    }
}
