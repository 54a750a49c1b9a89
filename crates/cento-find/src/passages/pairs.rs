//! Chooses the pairs of pages to align.
//!
//! ```text
//!   pages ─ texts ─▶ by text ─ collapse ─▶ copies (pages with the text of an earlier page)
//!   text ── fingerprints ──▶ by fingerprint ─ pair ─▶ by pair
//!                        or  a list ─ list ─▶ by pair
//! ```
//!
//! A fingerprint on p pages makes p²/2 pairs, so those on more than [`PassagesParams::max_pages`]
//! pages are ignored and counted. They are boilerplate, and a passage has other fingerprints. If
//! the pairs of one page are wanted, p pages make p pairs, and nothing is ignored.

use std::collections::HashMap;
use std::sync::Arc;

use cento_fingerprint::Scheme;
use cento_flow::{Bitmap, Registry, StageError};

use super::flow_names::{counter, shuffle, stage, state};
use super::params::PassagesParams;
use super::passage_rows::{FingerprintPage, RankPair};
use crate::corpus_pages::{CorpusPages, TextTask};
use crate::error::{Error, Result};
use crate::overlap::overlap_rows::HashPage;
use crate::overlap::page_order::PageOrder;

/// The pages whose pairs are chosen.
pub(super) enum Chosen {
    /// All pages.
    All,
    /// One page, by its number.
    Of(u32),
    /// Pairs of page numbers, and how many listed pairs have a page that the corpus does not have.
    Listed(Vec<(u32, u32)>, u64),
}

/// Returns the number of the kept page with a URL. If several have it, the last one in the order of
/// the corpus.
pub(super) fn page_of_url(source: &CorpusPages, url: &str) -> Result<u32> {
    let numbers = numbers_of(source, [url_hash(url)].into_iter())?;
    numbers.get(&url_hash(url)).copied().ok_or_else(|| {
        Error::Usage(format!(
            "the corpus has no page with text and the URL {url}"
        ))
    })
}

/// Two pages to compare, by the hashes of their URLs: URLs of millions of pairs are long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedPair {
    a: u128,
    b: u128,
}

impl ListedPair {
    /// The bytes of memory that a pair takes while its pages are looked up.
    pub const BYTES: u64 = 160;

    /// A pair of pages with these URLs.
    pub fn new(a: &str, b: &str) -> ListedPair {
        ListedPair {
            a: url_hash(a),
            b: url_hash(b),
        }
    }
}

/// Looks up the pages of pairs of URLs.
pub(super) fn pages_of_pairs(source: &CorpusPages, pairs: &[ListedPair]) -> Result<Chosen> {
    let numbers = numbers_of(source, pairs.iter().flat_map(|pair| [pair.a, pair.b]))?;
    let number = |url: u128| numbers.get(&url).copied();
    let mut unknown = 0;
    let mut found = Vec::with_capacity(pairs.len());
    for pair in pairs {
        match (number(pair.a), number(pair.b)) {
            (Some(a), Some(b)) if a != b => found.push((a, b)),
            (Some(_), Some(_)) => {}
            _ => unknown += 1,
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(Chosen::Listed(found, unknown))
}

fn url_hash(url: &str) -> u128 {
    let hash = blake3::hash(url.as_bytes());
    let (bytes, _) = hash.as_bytes().split_at(16);
    bytes
        .iter()
        .fold(0, |sum, &byte| sum << 8 | u128::from(byte))
}

fn numbers_of(
    source: &CorpusPages,
    urls: impl Iterator<Item = u128>,
) -> Result<HashMap<u128, u32>> {
    let mut wanted: Vec<u128> = urls.collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut numbers = HashMap::new();
    for task in 0..source.page_tasks().len() {
        source.for_each_page::<Error>(task, |facts| {
            let hash = url_hash(facts.url);
            if facts.reject.is_none() && wanted.binary_search(&hash).is_ok() {
                numbers.insert(hash, facts.number);
            }
            Ok(())
        })?;
    }
    Ok(numbers)
}

pub(super) fn register(
    registry: &mut Registry,
    source: &Arc<CorpusPages>,
    params: &PassagesParams,
    order: &Arc<PageOrder>,
    chosen: &Arc<Chosen>,
) {
    let (pages, ranks) = (Arc::clone(source), Arc::clone(order));
    registry.map(stage::TEXTS, move |context| {
        let mut rows = context.shuffle::<HashPage>(shuffle::BY_TEXT)?;
        pages.for_each_page::<StageError>(context.task()?, |facts| {
            let hash = facts.text_hash.filter(|_| facts.reject.is_none());
            match hash.and_then(|hash| hash.try_into().ok()) {
                Some(hash) => Ok(rows.push(HashPage::new(hash, ranks.rank(facts.number)))?),
                None => Ok(()),
            }
        })
    });
    let (ranks, pages) = (Arc::clone(order), Arc::clone(chosen));
    registry.reduce::<HashPage, _>(stage::COLLAPSE, move |context, groups| {
        let copies = context.state::<Bitmap>(state::COPIES)?;
        while let Some(group) = groups.next_group()? {
            for copy in group.skip(1) {
                let page = ranks.page(copy.page);
                // The requested page is compared even if another page has its text.
                if !matches!(*pages, Chosen::Of(of) if of == page) {
                    copies.set(u64::from(page));
                    // Listed pages are all compared.
                    let is_counted = !matches!(*pages, Chosen::Listed(..));
                    context.count(counter::COPIES, u64::from(is_counted));
                }
            }
        }
        Ok(())
    });
    let (ranks, pairs) = (Arc::clone(order), Arc::clone(chosen));
    registry.map(stage::LIST, move |context| {
        let mut rows = context.shuffle::<RankPair>(shuffle::BY_PAIR)?;
        if let Chosen::Listed(pairs, unknown) = &*pairs {
            context.count(counter::UNKNOWN, *unknown);
            for &(one, other) in pairs {
                rows.push(RankPair::new(ranks.rank(one), ranks.rank(other)))?;
            }
        }
        Ok(())
    });
    let (pages, ranks, settings) = (Arc::clone(source), Arc::clone(order), params.clone());
    registry.map(stage::FINGERPRINTS, move |context| {
        let copies = context.state::<Bitmap>(state::COPIES)?;
        let mut rows = context.shuffle::<FingerprintPage>(shuffle::BY_FINGERPRINT)?;
        let scheme = Scheme::Winnow {
            k: settings.k,
            w: settings.w,
        };
        let mut words = Vec::new();
        let mut fingerprints: Vec<u64> = Vec::new();
        let task: TextTask = context.task()?;
        pages.for_each_text::<StageError>(&task, |page, text| {
            context.check()?;
            if copies.get(u64::from(page)) {
                return Ok(());
            }
            words.clear();
            cento_align::word_hashes(text, settings.fold.into(), |hash| words.push(hash));
            fingerprints.clear();
            scheme.for_each(&words, |fingerprint| fingerprints.push(fingerprint.hash));
            fingerprints.sort_unstable();
            fingerprints.dedup();
            let rank = ranks.rank(page);
            let page_rows = fingerprints.iter();
            Ok(rows.extend(page_rows.map(|&fingerprint| FingerprintPage { fingerprint, rank }))?)
        })
    });
    let (ranks, pages, settings) = (Arc::clone(order), Arc::clone(chosen), params.clone());
    registry.reduce::<FingerprintPage, _>(stage::PAIR, move |context, groups| {
        let mut pairs = context.shuffle::<RankPair>(shuffle::BY_PAIR)?;
        let mut common = 0;
        let mut members: Vec<u32> = Vec::new();
        let of = match *pages {
            Chosen::Of(page) => Some(ranks.rank(page)),
            _ => None,
        };
        let limit = match of {
            Some(_) => usize::MAX,
            None => settings.max_pages as usize,
        };
        while let Some(group) = groups.next_group()? {
            members.clear();
            let mut is_common = false;
            for row in group {
                is_common |= members.len() == limit;
                if !is_common {
                    members.push(row.rank);
                }
            }
            if is_common {
                common += 1;
                continue;
            }
            match of {
                Some(of) if members.binary_search(&of).is_ok() => {
                    let others = members.iter().filter(|&&other| other != of);
                    pairs.extend(others.map(|&other| RankPair::new(of, other)))?;
                }
                Some(_) => {}
                None => {
                    for (at, &b) in members.iter().enumerate() {
                        let later = members.iter().skip(at + 1);
                        pairs.extend(later.map(|&a| RankPair { a, b }))?;
                    }
                }
            }
        }
        context.count(counter::COMMON, common);
        Ok(())
    });
}
