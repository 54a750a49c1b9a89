//! The result tables of `phrases`, with the words of phrases and the names of pages and sites.
//!
//! ```text
//!   examples ─ words ─▶ worded ◀─ names        worded ─ rank ─▶ by popularity ─ phrases ─▶ phrases
//!   covers ─▶ by source ◀─ names               by source ─ sources ─▶ page rows
//!   pages ─ page names ─▶ page rows ─ pages ─▶ pages, covers, by site
//!   by site ─ sites ─▶ by size ─ site table ─▶ sites
//! ```

use std::sync::Arc;

use cento_fingerprint::{GramHasher, word_hash};
use cento_flow::{Bitmap, Registry, StageError, TableName, WideGroups, table_row};
use cento_text::words::WordScanner;
use serde::{Deserialize, Serialize};

use super::cover::UnnamedSource;
use super::flow_names::{counter, shuffle, stage};
use super::params::PhrasesParams;
use super::phrase_rows::Example;
use super::popularity::PhraseCounts;
use crate::collapsed::GONE;
use crate::copies::MINIMA;
use crate::corpus_pages::CorpusPages;
use crate::names::{PageName, ROW, name_of};

/// Phrases whose words are looked up in one batch of texts.
const BATCH: usize = 4096;
/// Phrases of one page whose words are looked up at once, about 20 MiB. For more phrases its text
/// is read again.
const ROUND: usize = 1 << 18;
/// The most characters of a phrase that are stored. Real phrases are shorter, but a word may be as
/// long as its page.
const LONGEST: usize = 300;

/// The popular phrases.
pub const PHRASES_TABLE: TableName<PhraseRow> = TableName::new("phrases");
/// All pages that were compared.
pub const PAGES_TABLE: TableName<PhrasePageRow> = TableName::new("pages");
/// The pages of covering sets.
pub const COVERS_TABLE: TableName<CoverRow> = TableName::new("covers");
/// All sites.
pub const SITES_TABLE: TableName<PhraseSiteRow> = TableName::new("sites");

table_row! {
    /// A popular phrase.
    #[derive(Debug, Clone, PartialEq)]
    pub struct PhraseRow {
        /// Its words as they are compared: in lower case, separated by spaces.
        pub phrase: String,
        /// Its hash.
        pub hash: u64,
        /// The number of pages that have it.
        pub pages: u64,
        /// The number of sites of these pages. A page without a host, or without what else sites
        /// are grouped by, has none.
        pub sites: u64,
        /// The number of these pages that have it as one of their 84 shingles.
        pub sampled: u64,
        /// The first page in the corpus that has it.
        pub page_id: u64,
        /// The address of that page.
        pub page: String,
    }
}

table_row! {
    /// A page and its popular phrases.
    #[derive(Debug, Clone, PartialEq)]
    pub struct PhrasePageRow {
        /// The page.
        pub page_id: u64,
        /// Its address.
        pub page: String,
        /// Its site.
        pub site: Option<String>,
        /// Its shingles: 84, or 0 if it has fewer words than a phrase.
        pub shingles: u32,
        /// The number of popular shingles.
        pub popular: u32,
        /// The share of its distinct phrases that are on no other page, computed from all phrases
        /// of all pages; null if it has no phrases.
        pub originality: Option<f64>,
        /// The number of its distinct phrases.
        pub phrases: u64,
        /// The number of popular phrases.
        pub popular_phrases: u64,
        /// The number of phrases that are also on other pages.
        pub shared_phrases: u64,
        /// The number of other pages that cover its popular shingles, if it was covered.
        pub cover: Option<u32>,
        /// The number of its shingles that foreign pages cover.
        pub foreign: Option<u32>,
    }
}

table_row! {
    /// A page of a covering set.
    #[derive(Debug, Clone, PartialEq)]
    pub struct CoverRow {
        /// The covered page.
        pub page_id: u64,
        /// Its address.
        pub page: String,
        /// A page that covers some of its shingles. The rows are in the order of choice.
        pub source_id: u64,
        /// The address of that page.
        pub source: String,
        /// The number of shingles that it covers and those before it do not.
        pub shingles: u32,
        /// Whether it is foreign by the parameter `foreign`; by default of another domain and of
        /// another address.
        pub foreign: bool,
    }
}

table_row! {
    /// A site.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct PhraseSiteRow {
        /// Its host, domain or address.
        pub site: String,
        /// The number of its pages; near-duplicates are counted once.
        pub pages: u64,
        /// The average number of popular shingles of its pages, of 84.
        pub mean: f64,
        /// The standard deviation of this number.
        pub deviation: f64,
        /// The share of the phrases of its pages that are on no other site. A phrase counts once
        /// for each of these pages. Computed from all phrases of all pages; null if it has none.
        pub originality: Option<f64>,
        /// Whether it is flagged.
        pub flagged: bool,
    }
}

/// A phrase with its words.
#[derive(Serialize, Deserialize)]
struct WordedPhrase {
    phrase: String,
    hash: u64,
    pages: u32,
    sites: u32,
    sampled: u32,
}

/// A page of a cover, with its name.
#[derive(Serialize, Deserialize)]
struct NamedSource {
    source_id: u64,
    source: String,
    shingles: u32,
    foreign: bool,
}

/// The numbers that a page adds to its site. They are integers, whose sums do not depend on the
/// order.
#[derive(Serialize, Deserialize)]
struct SiteTally {
    popular: u32,
    phrases: u64,
    abroad: u64,
}

pub(super) fn register(registry: &mut Registry, corpus: &Arc<CorpusPages>, params: &PhrasesParams) {
    phrases(registry, corpus, params);
    pages(registry, corpus, params);
    sites(registry, corpus, params);
}

fn phrases(registry: &mut Registry, corpus: &Arc<CorpusPages>, params: &PhrasesParams) {
    let (texts, k) = (Arc::clone(corpus), params.k as usize);
    registry.reduce::<Example, _>(stage::WORDS, move |context, groups| {
        let mut worded = context.wide_shuffle(shuffle::WORDED)?;
        let mut finder = PhraseFinder::new(k);
        let mut batch: Vec<Example> = Vec::new();
        let mut find = |batch: &mut Vec<Example>| {
            let mut pages: Vec<u32> = batch.iter().map(|example| example.page).collect();
            pages.dedup();
            let mut rest = batch.as_slice();
            texts.texts(&pages, |page, text| {
                context.check()?;
                let end = rest.partition_point(|example| example.page <= page);
                let (examples, later) = rest.split_at(end);
                rest = later;
                finder.find(text, examples, |example, phrase| {
                    let row = serde_json::to_vec(&WordedPhrase {
                        phrase,
                        hash: example.gram,
                        pages: example.pages,
                        sites: example.sites,
                        sampled: example.sampled,
                    })?;
                    Ok(worded.push_numbered(u64::from(page), ROW, &row)?)
                })
            })?;
            batch.clear();
            Ok::<_, StageError>(())
        };
        // Pages come in order, and the phrases of a page in the order of their hashes.
        while let Some(group) = groups.next_group()? {
            for example in group {
                if batch.len() >= BATCH + ROUND {
                    find(&mut batch)?;
                }
                batch.push(example);
            }
            if batch.len() >= BATCH {
                find(&mut batch)?;
            }
        }
        find(&mut batch)
    });
    let all = u64::from(corpus.all());
    registry.reduce(stage::RANK, move |context, groups| {
        let mut by_popularity = context.wide_shuffle(shuffle::BY_POPULARITY)?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            // Pages of covers have a name here, and need not be examples.
            let name = name_of(&mut group)?;
            for record in group {
                let worded: WordedPhrase = serde_json::from_slice(&record.value)?;
                let rank = all.saturating_sub(u64::from(worded.pages));
                let order = u64::from(u32::MAX - worded.sites) << 32 | worded.hash >> 32;
                let row = serde_json::to_vec(&(worded, name.page_id, &name.url))?;
                by_popularity.push_numbered(rank, order, &row)?;
            }
        }
        Ok(())
    });
    registry.reduce(stage::PHRASES, |context, groups| {
        let mut table = context.table(PHRASES_TABLE)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            for record in group {
                let (worded, page_id, page): (WordedPhrase, u64, String) =
                    serde_json::from_slice(&record.value)?;
                table.push(PhraseRow {
                    phrase: worded.phrase,
                    hash: worded.hash,
                    pages: u64::from(worded.pages),
                    sites: u64::from(worded.sites),
                    sampled: u64::from(worded.sampled),
                    page_id,
                    page,
                })?;
            }
        }
        Ok(())
    });
}

/// Finds the words of phrases in a text. It stores only the last words.
struct PhraseFinder {
    scanner: WordScanner,
    hasher: GramHasher,
    /// The last words, as a ring buffer, each cut to the length that is stored.
    words: Vec<String>,
    found: Vec<bool>,
}

impl PhraseFinder {
    fn new(k: usize) -> PhraseFinder {
        PhraseFinder {
            scanner: WordScanner::new(),
            hasher: GramHasher::new(k),
            words: vec![String::new(); k.max(1)],
            found: Vec::new(),
        }
    }

    /// Calls `each` with phrases of a text and their words. The phrases are sorted by their hashes.
    /// Fails if the text does not have all of them.
    fn find(
        &mut self,
        text: &str,
        phrases: &[Example],
        mut each: impl FnMut(&Example, String) -> Result<(), StageError>,
    ) -> Result<(), StageError> {
        self.hasher.reset();
        self.found.clear();
        self.found.resize(phrases.len(), false);
        let (hasher, words, found) = (&mut self.hasher, &mut self.words, &mut self.found);
        let (mut count, mut left, mut result) = (0, phrases.len(), Ok(()));
        self.scanner.scan(text, |word| {
            if left == 0 || result.is_err() {
                return;
            }
            let slot = count % words.len();
            if let Some(kept) = words.get_mut(slot) {
                kept.clear();
                kept.extend(word.normal.chars().take(LONGEST + 1));
            }
            count += 1;
            let Some(gram) = hasher.push(word_hash(word.normal)) else {
                return;
            };
            let Ok(at) = phrases.binary_search_by_key(&gram, |example| example.gram) else {
                return;
            };
            let (Some(example), Some(found @ false)) = (phrases.get(at), found.get_mut(at)) else {
                return;
            };
            *found = true;
            left -= 1;
            let (newer, older) = words.split_at(count % words.len());
            let phrase = older.iter().chain(newer).map(String::as_str);
            result = each(example, shortened(&phrase.collect::<Vec<_>>().join(" ")));
        });
        result?;
        match left {
            0 => Ok(()),
            _ => Err("a phrase is not on its page".into()),
        }
    }
}

fn shortened(phrase: &str) -> String {
    match phrase.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", phrase.get(..end).unwrap_or_default()),
        None => phrase.to_owned(),
    }
}

fn pages(registry: &mut Registry, corpus: &Arc<CorpusPages>, params: &PhrasesParams) {
    let facts = Arc::clone(corpus);
    registry.map(stage::PAGE_NAMES, move |context| {
        let gone = context.state::<Bitmap>(GONE)?;
        let mut rows = context.wide_shuffle(shuffle::PAGE_ROWS)?;
        facts.for_each_page(context.task()?, |facts| {
            if facts.reject.is_none() && !gone.get(u64::from(facts.number)) {
                let number = u64::from(facts.number);
                rows.push_numbered(number, 0, &serde_json::to_vec(&PageName::from(facts))?)?;
            }
            Ok::<_, StageError>(())
        })
    });
    registry.reduce(stage::SOURCES, |context, groups| {
        let mut rows = context.wide_shuffle(shuffle::PAGE_ROWS)?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let name = name_of(&mut group)?;
            for record in group {
                let unnamed: UnnamedSource = serde_json::from_slice(&record.value)?;
                let order = ROW + 1 + u64::from(unnamed.step);
                let row = serde_json::to_vec(&NamedSource {
                    source_id: name.page_id,
                    source: name.url.clone(),
                    shingles: unnamed.shingles,
                    foreign: unnamed.foreign,
                })?;
                rows.push_numbered(u64::from(unnamed.page), order, &row)?;
            }
        }
        Ok(())
    });
    let params = params.clone();
    registry.reduce(stage::PAGES, move |context, groups| {
        let mut table = context.table(PAGES_TABLE)?;
        let mut covers = context.table(COVERS_TABLE)?;
        let mut by_site = context.wide_shuffle(shuffle::BY_SITE)?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let number = group.number();
            let name = name_of(&mut group)?;
            let counts: PhraseCounts = match group.next() {
                Some(record) => serde_json::from_slice(&record.value)?,
                None => PhraseCounts::default(),
            };
            let site = params.site.of_name(&name);
            let (mut cover, mut foreign) = (0, 0);
            for record in group {
                let named: NamedSource = serde_json::from_slice(&record.value)?;
                cover += 1;
                foreign += if named.foreign { named.shingles } else { 0 };
                covers.push(CoverRow {
                    page_id: name.page_id,
                    page: name.url.clone(),
                    source_id: named.source_id,
                    source: named.source,
                    shingles: named.shingles,
                    foreign: named.foreign,
                })?;
            }
            if let Some(site) = site {
                let tally = serde_json::to_vec(&SiteTally {
                    popular: counts.popular,
                    phrases: counts.phrases,
                    abroad: counts.phrases_abroad,
                })?;
                by_site.push(site.as_bytes(), number, &tally)?;
            }
            table.push(PhrasePageRow {
                page_id: name.page_id,
                site: site.map(str::to_owned),
                page: name.url,
                shingles: counts.shingles,
                popular: counts.popular,
                originality: originality(counts.phrases, counts.shared_phrases),
                phrases: counts.phrases,
                popular_phrases: counts.popular_phrases,
                shared_phrases: counts.shared_phrases,
                cover: (cover > 0).then_some(cover),
                foreign: (cover > 0).then_some(foreign),
            })?;
        }
        Ok(())
    });
}

/// The share of a whole that is not shared, to six digits; none if the whole is 0.
fn originality(whole: u64, shared: u64) -> Option<f64> {
    (whole > 0).then(|| rounded(whole.saturating_sub(shared) as f64 / whole as f64))
}

fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn sites(registry: &mut Registry, corpus: &Arc<CorpusPages>, params: &PhrasesParams) {
    let (all, params) = (u64::from(corpus.all()), params.clone());
    registry.reduce(stage::SITES, move |context, groups| {
        let mut by_size = context.wide_shuffle(shuffle::BY_SIZE)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            let (mut site, mut pages) = (String::new(), 0u64);
            let (mut sum, mut squares) = (0u128, 0u128);
            let (mut phrases, mut abroad) = (0, 0);
            for record in group {
                let tally: SiteTally = serde_json::from_slice(&record.value)?;
                if pages == 0 {
                    site = String::from_utf8_lossy(&record.key).into_owned();
                }
                pages += 1;
                sum += u128::from(tally.popular);
                squares += u128::from(tally.popular).pow(2);
                phrases += tally.phrases;
                abroad += tally.abroad;
            }
            let count = pages.max(1) as f64;
            let variance = (squares * u128::from(pages)).saturating_sub(sum * sum);
            let mean = sum as f64 / count;
            let deviation = (variance as f64).sqrt() / count;
            // Not by the rounded numbers: they would flag a site that is just below.
            let flagged = pages >= params.flag_pages
                && mean >= params.flag_mean
                && deviation < params.flag_deviation;
            let mean = rounded(mean);
            let row = serde_json::to_vec(&PhraseSiteRow {
                site,
                pages,
                mean,
                deviation: rounded(deviation),
                originality: originality(phrases, abroad),
                flagged,
            })?;
            // Among sites of one size, those with more popular shingles come first.
            let order = ((f64::from(MINIMA) - mean).max(0.0) * 1e6) as u64;
            by_size.push_numbered(all.saturating_sub(pages), order, &row)?;
        }
        Ok(())
    });
    registry.reduce(stage::SITE_TABLE, |context, groups| {
        let mut table = context.table(SITES_TABLE)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            for record in group {
                let site: PhraseSiteRow = serde_json::from_slice(&record.value)?;
                context.count(counter::FLAGGED, u64::from(site.flagged));
                table.push(site)?;
            }
        }
        Ok(())
    });
}
