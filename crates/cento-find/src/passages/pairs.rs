//! Chooses the pairs of pages to align.
//!
//! ```text
//!   pages ─ texts ─▶ by text ─ collapse ─▶ copies (pages with the text of an earlier page)
//!   text ── fingerprints ──▶ by fingerprint ─ pair ─▶ by pair
//!                        or  a list ─ list ─▶ by pair
//! ```
//!
//! A fingerprint on p pages makes p²/2 pairs. If it is on more than [`PassagesParams::max_pages`]
//! pages, only the earliest of them is compared with the others, so that a text is found on all of
//! its pages in p pairs, with its first appearance:
//!
//! ```text
//!   page 1 ─┬─ page 2      Such pairs are marked, and aligned only if they share a run of these
//!           ├─ page 3      fingerprints: text, and no phrase (alignment.rs). Frames do not count.
//!           ╰─ page 4 …
//! ```
//!
//! If the pairs of one page are wanted, p pages make p pairs, and all are compared.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use cento_fingerprint::Scheme;
use cento_flow::{Bitmap, Registry, StageError};

use super::flow_names::{counter, shuffle, stage, state};
use super::frames::{Frames, site_number};
use super::params::PassagesParams;
use super::passage_rows::{FingerprintPage, OUTSIDE, SharedPlace};
use crate::corpus_pages::{CorpusPages, TextTask};
use crate::error::{Error, Result};
use crate::numbers::Numbers;
use crate::overlap::overlap_rows::HashPage;
use crate::overlap::page_order::PageOrder;

/// The pages whose pairs are chosen.
pub(super) enum Chosen {
    /// All pages.
    All,
    /// One page.
    Of(ChosenPage),
    /// Listed pairs.
    Listed(ChosenPairs),
}

/// A page whose pairs are wanted.
pub(super) struct ChosenPage {
    number: u32,
    /// The hash of its text. All other pages with this text are compared, because a copy of the
    /// whole page is what is searched for.
    text: Vec<u8>,
    /// Whether its URL was captured several times.
    repeated: bool,
}

/// Pairs of page numbers.
pub(super) struct ChosenPairs {
    pairs: Vec<(u32, u32)>,
    /// Listed pairs with a page that the corpus does not have.
    unknown: u64,
    /// Listed pairs of a page with itself, and repetitions of others.
    superfluous: u64,
    /// URLs that were captured several times.
    repeated: u64,
}

/// The kept pages with some URLs, by the hashes of these.
#[derive(Default)]
struct PagesOfUrls {
    /// Of several captures of a URL, the earliest: who was first is a question about that one.
    numbers: HashMap<u128, u32>,
    /// URLs with several captures.
    repeated: HashSet<u128>,
}

/// Returns the earliest kept page with a URL.
pub(super) fn page_of_url(source: &CorpusPages, order: &PageOrder, url: &str) -> Result<Chosen> {
    let found = pages_of_urls(source, order, [url_hash(url)].into_iter())?;
    let number = found.numbers.get(&url_hash(url)).copied();
    let number = number.ok_or_else(|| Error::UnknownUrl(url.to_owned()))?;
    let mut text = Vec::new();
    for task in 0..source.page_tasks().len() {
        source.for_each_page::<Error>(task, |facts| {
            if facts.reject.is_none() && facts.number == number {
                text = facts.text_hash.unwrap_or_default().to_vec();
            }
            Ok(())
        })?;
    }
    Ok(Chosen::Of(ChosenPage {
        number,
        text,
        repeated: !found.repeated.is_empty(),
    }))
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

/// Looks up the earliest pages of pairs of URLs.
pub(super) fn pages_of_pairs(
    source: &CorpusPages,
    order: &PageOrder,
    pairs: &[ListedPair],
) -> Result<Chosen> {
    let urls = pairs.iter().flat_map(|pair| [pair.a, pair.b]);
    let pages = pages_of_urls(source, order, urls)?;
    let number = |url: u128| pages.numbers.get(&url).copied();
    let mut unknown = 0;
    let mut found = Vec::with_capacity(pairs.len());
    for pair in pairs {
        match (number(pair.a), number(pair.b)) {
            (Some(a), Some(b)) if a != b => found.push((a.min(b), a.max(b))),
            (Some(_), Some(_)) => {}
            _ => unknown += 1,
        }
    }
    found.sort_unstable();
    found.dedup();
    let known = pairs.len() as u64 - unknown;
    Ok(Chosen::Listed(ChosenPairs {
        superfluous: known - found.len() as u64,
        pairs: found,
        unknown,
        repeated: pages.repeated.len() as u64,
    }))
}

fn url_hash(url: &str) -> u128 {
    let hash = blake3::hash(url.as_bytes());
    let (bytes, _) = hash.as_bytes().split_at(16);
    bytes
        .iter()
        .fold(0, |sum, &byte| sum << 8 | u128::from(byte))
}

fn pages_of_urls(
    source: &CorpusPages,
    order: &PageOrder,
    urls: impl Iterator<Item = u128>,
) -> Result<PagesOfUrls> {
    let mut wanted: Vec<u128> = urls.collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut found = PagesOfUrls::default();
    for task in 0..source.page_tasks().len() {
        source.for_each_page::<Error>(task, |facts| {
            let hash = url_hash(facts.url);
            if facts.reject.is_none() && wanted.binary_search(&hash).is_ok() {
                let known = found.numbers.entry(hash).or_insert(facts.number);
                if *known != facts.number {
                    found.repeated.insert(hash);
                    if order.rank(facts.number) < order.rank(*known) {
                        *known = facts.number;
                    }
                }
            }
            Ok(())
        })?;
    }
    Ok(found)
}

pub(super) fn register(
    registry: &mut Registry,
    source: &Arc<CorpusPages>,
    params: &PassagesParams,
    order: &Arc<PageOrder>,
    chosen: &Arc<Chosen>,
) {
    let (pages, ranks, wanted) = (Arc::clone(source), Arc::clone(order), Arc::clone(chosen));
    registry.map(stage::TEXTS, move |context| {
        let mut rows = context.shuffle::<HashPage>(shuffle::BY_TEXT)?;
        let sites = context.state::<Numbers>(state::SITES)?;
        pages.for_each_page::<StageError>(context.task()?, |facts| {
            let is_other = |hash: &&[u8]| !matches!(&*wanted, Chosen::Of(of) if of.text == **hash);
            let hash = facts.text_hash.filter(|_| facts.reject.is_none());
            let hash = hash.filter(is_other);
            sites.set(facts.number, site_number(facts.domain.or(facts.host)));
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
                copies.set(u64::from(page));
                // Listed pages are all compared.
                let is_counted = !matches!(*pages, Chosen::Listed(..));
                context.count(counter::COPIES, u64::from(is_counted));
            }
        }
        Ok(())
    });
    let pairs = Arc::clone(chosen);
    registry.map(stage::LIST, move |context| {
        let mut rows = context.shuffle::<SharedPlace>(shuffle::BY_PAIR)?;
        if let Chosen::Listed(listed) = &*pairs {
            context.count(counter::UNKNOWN, listed.unknown);
            context.count(counter::SUPERFLUOUS, listed.superfluous);
            context.count(counter::REPEATED, listed.repeated);
            for &(one, other) in &listed.pairs {
                rows.push(SharedPlace::new((one, 0), (other, 0)))?;
            }
        }
        Ok(())
    });
    let (pages, settings, chosen_pages) = (Arc::clone(source), params.clone(), Arc::clone(chosen));
    let ranks = Arc::clone(order);
    registry.map(stage::FINGERPRINTS, move |context| {
        let frames = Frames::of(context)?;
        let copies = context.state::<Bitmap>(state::COPIES)?;
        let mut rows = context.shuffle::<FingerprintPage>(shuffle::BY_FINGERPRINT)?;
        let scheme = Scheme::Winnow {
            k: settings.k,
            w: settings.w,
        };
        let (mut words, mut begins) = (Vec::new(), Vec::new());
        let mut fingerprints: Vec<(u64, u32)> = Vec::new();
        let task: TextTask = context.task()?;
        pages.for_each_text::<StageError>(&task, |page, text| {
            context.check()?;
            if copies.get(u64::from(page)) {
                return Ok(());
            }
            if let Chosen::Of(of) = &*chosen_pages
                && of.number == page
            {
                context.count(counter::REPEATED, u64::from(of.repeated));
            }
            words.clear();
            begins.clear();
            cento_align::word_hashes(text, settings.fold.into(), |hash, begin| {
                words.push(hash);
                begins.push(u32::try_from(begin).unwrap_or(u32::MAX));
            });
            fingerprints.clear();
            scheme.for_each(&words, |fingerprint| {
                fingerprints.push((fingerprint.hash, begins[fingerprint.position]));
            });
            fingerprints.sort_unstable();
            fingerprints.dedup_by_key(|fingerprint| fingerprint.0);
            let content = frames.content(page, text);
            context.count(counter::FRAMED, u64::from(content.len() < text.len()));
            let rank = ranks.rank(page);
            let page_rows = fingerprints.iter();
            Ok(
                rows.extend(page_rows.map(|&(fingerprint, place)| FingerprintPage {
                    fingerprint,
                    rank,
                    place: match content.contains(&(place as usize)) {
                        true => place,
                        false => OUTSIDE,
                    },
                }))?,
            )
        })
    });
    let (pages, settings) = (Arc::clone(chosen), params.clone());
    let ranks = Arc::clone(order);
    registry.reduce::<FingerprintPage, _>(stage::PAIR, move |context, groups| {
        let mut pairs = context.shuffle::<SharedPlace>(shuffle::BY_PAIR)?;
        let mut common = 0;
        // Numbers of pages, and where the fingerprint is.
        let mut members: Vec<(u32, u32)> = Vec::new();
        let of = match &*pages {
            Chosen::Of(of) => Some(of.number),
            _ => None,
        };
        let limit = match of {
            Some(_) => usize::MAX,
            None => settings.max_pages as usize,
        };
        while let Some(group) = groups.next_group()? {
            members.clear();
            let mut is_common = false;
            // The earliest page that has it outside of its frame.
            let mut earliest: Option<(u32, u32)> = None;
            for row in group {
                let member = (ranks.page(row.rank), row.place);
                if members.len() < limit {
                    members.push(member);
                    continue;
                }
                if !is_common {
                    (is_common, common) = (true, common + 1);
                    let mut others = members.iter().filter(|member| member.1 != OUTSIDE);
                    earliest = others.next().copied();
                    if let Some(first) = earliest {
                        pairs.extend(others.map(|&other| SharedPlace::frequent(first, other)))?;
                    }
                }
                match earliest {
                    _ if member.1 == OUTSIDE => {}
                    Some(first) => pairs.push(SharedPlace::frequent(first, member))?,
                    None => earliest = Some(member),
                }
            }
            if is_common {
                continue;
            }
            match of {
                Some(of) => {
                    if let Some(&of) = members.iter().find(|member| member.0 == of) {
                        let others = members.iter().filter(|&&other| other != of);
                        pairs.extend(others.map(|&other| SharedPlace::new(of, other)))?;
                    }
                }
                None => {
                    for (at, &one) in members.iter().enumerate() {
                        let others = members.iter().skip(at + 1);
                        pairs.extend(others.map(|&other| SharedPlace::new(one, other)))?;
                    }
                }
            }
        }
        context.count(counter::COMMON, common);
        Ok(())
    });
}
