//! From numbers to findings: phrases in words, pages and sites with names.
//!
//! ```text
//!   examples ─ words ─▶ worded ◀─ names        worded ─ rank ─▶ by popularity ─ phrases ─▶ phrases
//!   gifts ─▶ by source ◀─ names                by source ─ sources ─▶ page rows
//!   pages ─ page names ─▶ page rows ─ pages ─▶ pages, covers, by site ─ sites ─▶ by size ─ list ─▶ sites
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use cento_flow::{Bitmap, Registry, StageError, WideGroups, table_row};
use cento_print::{circular_grams, word_hash};
use cento_text::words::WordScanner;
use serde::{Deserialize, Serialize};

use super::count::Account;
use super::cover::Gift;
use super::params::PhrasesParams;
use super::rows::Example;
use crate::copies::MINIMA;
use crate::names::{PageName, ROW, name_of};
use crate::source::Source;

/// Phrases whose words are looked for together: those of some pages, whose texts are read together.
const BATCH: usize = 4096;
/// Characters of a phrase that are shown. Real ones are shorter; a word may be as long as its page.
const LONGEST: usize = 300;

table_row! {
    /// A popular phrase.
    pub struct PhraseRow {
        /// Its words, as they are compared: in one case, with a space between each two.
        pub phrase: String,
        /// Its hash.
        pub hash: u64,
        /// How many pages have it; if phrases are sampled, as one of their 84.
        pub pages: u64,
        /// How many sites these are of.
        pub sites: u64,
        /// The first page that has it.
        pub page_id: u64,
        /// The address of that page.
        pub page: String,
    }
}

table_row! {
    /// A page and what it has of popular phrases.
    pub struct PageRow {
        /// The page.
        pub page_id: u64,
        /// Its address.
        pub page: String,
        /// Its site.
        pub site: Option<String>,
        /// Its shingles: 84, or none if it has no words.
        pub shingles: u32,
        /// How many of these are popular.
        pub popular: u32,
        /// How much of the page is on no other page: of its shingles, or of its phrases if all were counted.
        pub originality: f64,
        /// Its distinct phrases, if all were counted.
        pub phrases: Option<u64>,
        /// How many of these are popular.
        pub popular_phrases: Option<u64>,
        /// How many other pages cover its popular shingles, if it was covered.
        pub cover: Option<u32>,
        /// How many of its shingles are covered by pages of another domain and another address.
        pub foreign: Option<u32>,
    }
}

table_row! {
    /// A page of a covering set.
    pub struct CoverRow {
        /// The page that is covered.
        pub page_id: u64,
        /// Its address.
        pub page: String,
        /// A page that covers some of it; they come in the order in which they were taken.
        pub source_id: u64,
        /// The address of that page.
        pub source: String,
        /// How many shingles it covers that those before it did not.
        pub shingles: u32,
        /// Whether it is of another domain and of another address.
        pub foreign: bool,
    }
}

table_row! {
    /// A site.
    pub struct SiteRow {
        /// Its host, domain or address.
        pub site: String,
        /// How many pages it has, near-copies counted once.
        pub pages: u64,
        /// Popular shingles of a page, of 84, on average.
        pub mean: f64,
        /// The standard deviation of their number.
        pub deviation: f64,
        /// How much of its pages is on no other site.
        pub originality: f64,
        /// Whether it is flagged.
        pub flagged: bool,
    }
}

/// A phrase in words.
#[derive(Serialize, Deserialize)]
struct Worded {
    phrase: String,
    hash: u64,
    pages: u32,
    sites: u32,
}

/// A page of a cover, by name.
#[derive(Serialize, Deserialize)]
struct Named {
    source_id: u64,
    source: String,
    shingles: u32,
    foreign: bool,
}

/// What a page adds to its site: whole numbers, whose sums do not depend on an order.
#[derive(Serialize, Deserialize)]
struct Share {
    popular: u32,
    phrases: u64,
    abroad: u64,
}

/// A site, on its way to its place in the table.
#[derive(Serialize, Deserialize)]
struct Site {
    site: String,
    pages: u64,
    mean: f64,
    deviation: f64,
    originality: f64,
}

pub(super) fn register(registry: &mut Registry, source: &Arc<Source>, params: &PhrasesParams) {
    phrases(registry, source, params);
    pages(registry, source, params);
    sites(registry, source, params);
}

fn phrases(registry: &mut Registry, source: &Arc<Source>, params: &PhrasesParams) {
    let (texts, k) = (Arc::clone(source), params.k as usize);
    registry.reduce::<Example, _>("words", move |context, groups| {
        let mut worded = context.wide_shuffle("worded")?;
        let mut finder = Finder::new(k);
        let mut wanted: HashMap<u32, Vec<Example>> = HashMap::new();
        let mut size = 0;
        loop {
            let group = groups.next_group()?;
            let done = group.is_none();
            if let Some(group) = group {
                let examples = wanted.entry(group.key()).or_default();
                examples.extend(group);
                size += examples.len();
            }
            if !done && size < BATCH {
                continue;
            }
            let mut pages: Vec<u32> = wanted.keys().copied().collect();
            pages.sort_unstable();
            texts.texts(&pages, |page, text| {
                context.check()?;
                let Some(examples) = wanted.get(&page) else {
                    return Ok(());
                };
                finder.read(text);
                for example in examples {
                    let phrase = finder
                        .words(example.gram)
                        .ok_or("a phrase is not on its page")?;
                    let row = serde_json::to_vec(&Worded {
                        phrase,
                        hash: example.gram,
                        pages: example.pages,
                        sites: example.sites,
                    })?;
                    worded.push_numbered(u64::from(page), ROW, &row)?;
                }
                Ok::<_, StageError>(())
            })?;
            wanted.clear();
            size = 0;
            if done {
                return Ok(());
            }
        }
    });
    let all = u64::from(source.all());
    registry.reduce("rank", move |context, groups| {
        let mut by_popularity = context.wide_shuffle("by popularity")?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            // Pages of covers are named as well, and need not be examples.
            let name = name_of(&mut group)?;
            for record in group {
                let worded: Worded = serde_json::from_slice(&record.value)?;
                let rank = all.saturating_sub(u64::from(worded.pages));
                let order = u64::from(u32::MAX - worded.sites) << 32 | worded.hash >> 32;
                let row = serde_json::to_vec(&(worded, name.page_id, &name.url))?;
                by_popularity.push_numbered(rank, order, &row)?;
            }
        }
        Ok(())
    });
    registry.reduce("phrases", |context, groups| {
        let mut table = context.table::<PhraseRow>("phrases")?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            for record in group {
                let (worded, page_id, page): (Worded, u64, String) =
                    serde_json::from_slice(&record.value)?;
                table.push(PhraseRow {
                    phrase: worded.phrase,
                    hash: worded.hash,
                    pages: u64::from(worded.pages),
                    sites: u64::from(worded.sites),
                    page_id,
                    page,
                })?;
            }
        }
        Ok(())
    });
}

/// Finds the words of phrases in a text.
struct Finder {
    scanner: WordScanner,
    k: usize,
    hashes: Vec<u64>,
    /// All normal forms behind each other, and where each ends.
    normals: String,
    ends: Vec<usize>,
    /// The first word of each phrase.
    places: HashMap<u64, usize>,
}

impl Finder {
    fn new(k: usize) -> Finder {
        Finder {
            scanner: WordScanner::new(),
            k,
            hashes: Vec::new(),
            normals: String::new(),
            ends: Vec::new(),
            places: HashMap::new(),
        }
    }

    fn read(&mut self, text: &str) {
        self.hashes.clear();
        self.normals.clear();
        self.ends.clear();
        self.places.clear();
        let (hashes, normals, ends) = (&mut self.hashes, &mut self.normals, &mut self.ends);
        self.scanner.scan(text, |word| {
            hashes.push(word_hash(word.normal));
            normals.push_str(word.normal);
            ends.push(normals.len());
        });
        let (mut at, places) = (0, &mut self.places);
        circular_grams(&self.hashes, self.k, |gram| {
            places.entry(gram).or_insert(at);
            at += 1;
        });
    }

    fn words(&self, gram: u64) -> Option<String> {
        let first = *self.places.get(&gram)?;
        let mut phrase = String::new();
        for word in first..first + self.k {
            let word = word % self.ends.len().max(1);
            let begin = word
                .checked_sub(1)
                .map_or(Some(0), |before| self.ends.get(before).copied());
            let normal = self.normals.get(begin?..*self.ends.get(word)?)?;
            if !phrase.is_empty() {
                phrase.push(' ');
            }
            phrase.push_str(normal);
        }
        if let Some((end, _)) = phrase.char_indices().nth(LONGEST) {
            phrase.truncate(end);
            phrase.push('…');
        }
        Some(phrase)
    }
}

fn pages(registry: &mut Registry, source: &Arc<Source>, params: &PhrasesParams) {
    let facts = Arc::clone(source);
    registry.map("page names", move |context| {
        let gone = context.state::<Bitmap>("gone")?;
        let mut rows = context.wide_shuffle("page rows")?;
        facts.for_each_page(context.task()?, |facts| {
            if facts.reject.is_none() && !gone.get(u64::from(facts.number)) {
                let number = u64::from(facts.number);
                rows.push_numbered(number, 0, &serde_json::to_vec(&PageName::from(facts))?)?;
            }
            Ok::<_, StageError>(())
        })
    });
    registry.reduce("sources", |context, groups| {
        let mut rows = context.wide_shuffle("page rows")?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let name = name_of(&mut group)?;
            for record in group {
                let gift: Gift = serde_json::from_slice(&record.value)?;
                let order = ROW + 1 + u64::from(gift.step);
                let row = serde_json::to_vec(&Named {
                    source_id: name.page_id,
                    source: name.url.clone(),
                    shingles: gift.shingles,
                    foreign: gift.foreign,
                })?;
                rows.push_numbered(u64::from(gift.page), order, &row)?;
            }
        }
        Ok(())
    });
    let asked = params.clone();
    registry.reduce("pages", move |context, groups| {
        let mut table = context.table::<PageRow>("pages")?;
        let mut covers = context.table::<CoverRow>("covers")?;
        let mut by_site = context.wide_shuffle("by site")?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let number = group.number();
            let name = name_of(&mut group)?;
            let account: Account = match group.next() {
                Some(record) => serde_json::from_slice(&record.value)?,
                None => Account::default(),
            };
            let site = asked.site.of_name(&name);
            let (mut cover, mut foreign) = (0, 0);
            for record in group {
                let named: Named = serde_json::from_slice(&record.value)?;
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
            let (whole, shared, abroad) = match asked.exact {
                true => (
                    account.phrases,
                    account.shared_phrases,
                    account.phrases_abroad,
                ),
                false => (
                    u64::from(account.shingles),
                    u64::from(account.shared),
                    u64::from(account.abroad),
                ),
            };
            if let Some(site) = site {
                let share = serde_json::to_vec(&Share {
                    popular: account.popular,
                    phrases: whole,
                    abroad,
                })?;
                by_site.push(site.as_bytes(), number, &share)?;
            }
            table.push(PageRow {
                page_id: name.page_id,
                site: site.map(str::to_owned),
                page: name.url,
                shingles: account.shingles,
                popular: account.popular,
                originality: originality(whole, shared),
                phrases: asked.exact.then_some(account.phrases),
                popular_phrases: asked.exact.then_some(account.popular_phrases),
                cover: (cover > 0).then_some(cover),
                foreign: (cover > 0).then_some(foreign),
            })?;
        }
        Ok(())
    });
}

/// What is left of a whole without what is shared, to six digits. Nothing at all is original.
fn originality(whole: u64, shared: u64) -> f64 {
    rounded(1.0 - shared as f64 / whole.max(1) as f64)
}

fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn sites(registry: &mut Registry, source: &Arc<Source>, params: &PhrasesParams) {
    let all = u64::from(source.all());
    registry.reduce("sites", move |context, groups| {
        let mut by_size = context.wide_shuffle("by size")?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            let (mut site, mut pages) = (String::new(), 0u64);
            let (mut sum, mut squares) = (0u128, 0u128);
            let (mut phrases, mut abroad) = (0, 0);
            for record in group {
                let share: Share = serde_json::from_slice(&record.value)?;
                if pages == 0 {
                    site = String::from_utf8_lossy(&record.key).into_owned();
                }
                pages += 1;
                sum += u128::from(share.popular);
                squares += u128::from(share.popular).pow(2);
                phrases += share.phrases;
                abroad += share.abroad;
            }
            let count = pages.max(1) as f64;
            let variance = (squares * u128::from(pages)).saturating_sub(sum * sum);
            let mean = rounded(sum as f64 / count);
            let row = serde_json::to_vec(&Site {
                site,
                pages,
                mean,
                deviation: rounded((variance as f64).sqrt() / count),
                originality: originality(phrases, abroad),
            })?;
            // Of sites of one size the one with more popular shingles comes first.
            let order = ((f64::from(MINIMA) - mean).max(0.0) * 1e6) as u64;
            by_size.push_numbered(all.saturating_sub(pages), order, &row)?;
        }
        Ok(())
    });
    let asked = params.clone();
    registry.reduce("list", move |context, groups| {
        let mut table = context.table::<SiteRow>("sites")?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            for record in group {
                let site: Site = serde_json::from_slice(&record.value)?;
                let flagged = site.pages >= asked.flag_pages
                    && site.mean >= asked.flag_mean
                    && site.deviation < asked.flag_deviation;
                context.count("flagged", u64::from(flagged));
                table.push(SiteRow {
                    site: site.site,
                    pages: site.pages,
                    mean: site.mean,
                    deviation: site.deviation,
                    originality: site.originality,
                    flagged,
                })?;
            }
        }
        Ok(())
    });
}
