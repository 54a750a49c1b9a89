//! From numbers to findings: phrases in words, pages and sites with names.
//!
//! ```text
//!   examples ─ words ─▶ worded ◀─ names        worded ─ rank ─▶ by popularity ─ phrases ─▶ phrases
//!   gifts ─▶ by source ◀─ names                by source ─ sources ─▶ page rows
//!   pages ─ page names ─▶ page rows ─ pages ─▶ pages, covers, by site ─ sites ─▶ by size ─ list ─▶ sites
//! ```

use std::sync::Arc;

use cento_fingerprint::{GramHasher, word_hash};
use cento_flow::{Bitmap, Registry, StageError, WideGroups, table_row};
use cento_text::words::WordScanner;
use serde::{Deserialize, Serialize};

use super::count::Account;
use super::cover::Gift;
use super::params::PhrasesParams;
use super::rows::Example;
use crate::collapsed::GONE;
use crate::copies::MINIMA;
use crate::corpus_pages::CorpusPages;
use crate::names::{PageName, ROW, name_of};

/// Phrases whose words are looked for together: those of some pages, whose texts are read together.
const BATCH: usize = 4096;
/// Phrases of one page whose words are looked for together, about 20 MiB. For more of them its text
/// is read again.
const ROUND: usize = 1 << 18;
/// Characters of a phrase that are shown. Real ones are shorter; a word may be as long as its page.
const LONGEST: usize = 300;

table_row! {
    /// A popular phrase.
    pub struct PhraseRow {
        /// Its words, as they are compared: in one case, with a space between each two.
        pub phrase: String,
        /// Its hash.
        pub hash: u64,
        /// How many pages have it.
        pub pages: u64,
        /// How many sites these are of.
        pub sites: u64,
        /// How many of the pages have it as one of their 84 shingles.
        pub sampled: u64,
        /// A page that has it: the first one in the corpus.
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
        /// Its shingles: 84, or none if it has fewer words than a phrase.
        pub shingles: u32,
        /// How many of these are popular.
        pub popular: u32,
        /// The share of its distinct phrases that are on no other page, by all phrases of all
        /// pages; nothing if it has none.
        pub originality: Option<f64>,
        /// Its distinct phrases.
        pub phrases: u64,
        /// How many of these are popular.
        pub popular_phrases: u64,
        /// How many of these are on other pages too.
        pub shared_phrases: u64,
        /// How many other pages cover its popular shingles, if it was covered.
        pub cover: Option<u32>,
        /// How many of its shingles are covered by foreign pages.
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
        /// Whether it is foreign: of another domain and of another address, or as was asked for.
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
        /// The share of the distinct phrases of its pages that are on no other site, by all phrases
        /// of all pages; nothing if it has none.
        pub originality: Option<f64>,
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
    sampled: u32,
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
    originality: Option<f64>,
    flagged: bool,
}

pub(super) fn register(registry: &mut Registry, source: &Arc<CorpusPages>, params: &PhrasesParams) {
    phrases(registry, source, params);
    pages(registry, source, params);
    sites(registry, source, params);
}

fn phrases(registry: &mut Registry, source: &Arc<CorpusPages>, params: &PhrasesParams) {
    let (texts, k) = (Arc::clone(source), params.k as usize);
    registry.reduce::<Example, _>("words", move |context, groups| {
        let mut worded = context.wide_shuffle("worded")?;
        let mut finder = Finder::new(k);
        let mut wanted: Vec<Example> = Vec::new();
        let mut find = |wanted: &mut Vec<Example>| {
            let mut pages: Vec<u32> = wanted.iter().map(|example| example.page).collect();
            pages.dedup();
            let mut rest = wanted.as_slice();
            texts.texts(&pages, |page, text| {
                context.check()?;
                let end = rest.partition_point(|example| example.page <= page);
                let (examples, later) = rest.split_at(end);
                rest = later;
                finder.find(text, examples, |example, phrase| {
                    let row = serde_json::to_vec(&Worded {
                        phrase,
                        hash: example.gram,
                        pages: example.pages,
                        sites: example.sites,
                        sampled: example.sampled,
                    })?;
                    Ok(worded.push_numbered(u64::from(page), ROW, &row)?)
                })
            })?;
            wanted.clear();
            Ok::<_, StageError>(())
        };
        // Pages come in order, and the phrases of each by their hashes.
        while let Some(group) = groups.next_group()? {
            for example in group {
                if wanted.len() >= BATCH + ROUND {
                    find(&mut wanted)?;
                }
                wanted.push(example);
            }
            if wanted.len() >= BATCH {
                find(&mut wanted)?;
            }
        }
        find(&mut wanted)
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
                    sampled: u64::from(worded.sampled),
                    page_id,
                    page,
                })?;
            }
        }
        Ok(())
    });
}

/// Finds the words of phrases in a text, of which it keeps no more than the last words.
struct Finder {
    scanner: WordScanner,
    hasher: GramHasher,
    /// The last words, as a ring. A word may be as long as its page: of each so much is kept as is
    /// shown.
    words: Vec<String>,
    found: Vec<bool>,
}

impl Finder {
    fn new(k: usize) -> Finder {
        Finder {
            scanner: WordScanner::new(),
            hasher: GramHasher::new(k),
            words: vec![String::new(); k.max(1)],
            found: Vec::new(),
        }
    }

    /// Calls `each` with some phrases of a text, which come by their hashes, and with their words.
    /// All must be there.
    fn find(
        &mut self,
        text: &str,
        wanted: &[Example],
        mut each: impl FnMut(&Example, String) -> Result<(), StageError>,
    ) -> Result<(), StageError> {
        self.hasher.reset();
        self.found.clear();
        self.found.resize(wanted.len(), false);
        let (hasher, words, found) = (&mut self.hasher, &mut self.words, &mut self.found);
        let (mut count, mut left, mut result) = (0, wanted.len(), Ok(()));
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
            let Ok(at) = wanted.binary_search_by_key(&gram, |example| example.gram) else {
                return;
            };
            let (Some(example), Some(found @ false)) = (wanted.get(at), found.get_mut(at)) else {
                return;
            };
            *found = true;
            left -= 1;
            let (newer, older) = words.split_at(count % words.len());
            let phrase = older.iter().chain(newer).map(String::as_str);
            result = each(example, shown(&phrase.collect::<Vec<_>>().join(" ")));
        });
        result?;
        match left {
            0 => Ok(()),
            _ => Err("a phrase is not on its page".into()),
        }
    }
}

fn shown(phrase: &str) -> String {
    match phrase.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", phrase.get(..end).unwrap_or_default()),
        None => phrase.to_owned(),
    }
}

fn pages(registry: &mut Registry, source: &Arc<CorpusPages>, params: &PhrasesParams) {
    let facts = Arc::clone(source);
    registry.map("page names", move |context| {
        let gone = context.state::<Bitmap>(GONE)?;
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
            if let Some(site) = site {
                let share = serde_json::to_vec(&Share {
                    popular: account.popular,
                    phrases: account.phrases,
                    abroad: account.phrases_abroad,
                })?;
                by_site.push(site.as_bytes(), number, &share)?;
            }
            table.push(PageRow {
                page_id: name.page_id,
                site: site.map(str::to_owned),
                page: name.url,
                shingles: account.shingles,
                popular: account.popular,
                originality: originality(account.phrases, account.shared_phrases),
                phrases: account.phrases,
                popular_phrases: account.popular_phrases,
                shared_phrases: account.shared_phrases,
                cover: (cover > 0).then_some(cover),
                foreign: (cover > 0).then_some(foreign),
            })?;
        }
        Ok(())
    });
}

/// What is left of a whole without what is shared, to six digits; nothing of nothing.
fn originality(whole: u64, shared: u64) -> Option<f64> {
    (whole > 0).then(|| rounded(whole.saturating_sub(shared) as f64 / whole as f64))
}

fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn sites(registry: &mut Registry, source: &Arc<CorpusPages>, params: &PhrasesParams) {
    let (all, asked) = (u64::from(source.all()), params.clone());
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
            let mean = sum as f64 / count;
            let deviation = (variance as f64).sqrt() / count;
            // By the numbers themselves: rounding them first would flag what is just below.
            let flagged = pages >= asked.flag_pages
                && mean >= asked.flag_mean
                && deviation < asked.flag_deviation;
            let mean = rounded(mean);
            let row = serde_json::to_vec(&Site {
                site,
                pages,
                mean,
                deviation: rounded(deviation),
                originality: originality(phrases, abroad),
                flagged,
            })?;
            // Of sites of one size the one with more popular shingles comes first.
            let order = ((f64::from(MINIMA) - mean).max(0.0) * 1e6) as u64;
            by_size.push_numbered(all.saturating_sub(pages), order, &row)?;
        }
        Ok(())
    });
    registry.reduce("list", |context, groups| {
        let mut table = context.table::<SiteRow>("sites")?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            for record in group {
                let site: Site = serde_json::from_slice(&record.value)?;
                context.count("flagged", u64::from(site.flagged));
                table.push(SiteRow {
                    site: site.site,
                    pages: site.pages,
                    mean: site.mean,
                    deviation: site.deviation,
                    originality: site.originality,
                    flagged: site.flagged,
                })?;
            }
        }
        Ok(())
    });
}
