//! The tables of pairs and classes: which page is removed for which, and the cause of each
//! duplicate.
//!
//! ```text
//!   kept of ─ targets ─▶ named
//!   pages ─ removed pages ─▶ by kept ─ classes ─▶ by verdict ─ causes ─▶ by id ─ pairs ─▶ pairs
//!                                         ▼           ▲
//!                                      classes     mirrors (are two hosts one server?)
//! ```

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use cento_fingerprint::{base32, word_hash};
use cento_flow::{Bitmap, Registry, StageError, TableName, WideEmitter, WideGroups, table_row};
use cento_text::url::PageUrl;
use serde::{Deserialize, Serialize};

use super::exact::CopyLink;
use super::mirrors::verdict_key;
use super::stage_names::{counter, shuffle, stage, state};
use crate::corpus_pages::CorpusPages;
use crate::names::{NAMED, PageName, ROW, name_of};
use crate::numbers::{Numbers, UNSET};
use crate::precedence::{Dates, Earlier, earlier};

/// The most hosts of a class that are counted: half a megabyte of hashes.
const MOST_HOSTS: usize = 1 << 16;

/// The table of removed pages, ordered by page id.
pub const PAIRS: TableName<CopyPairRow> = TableName::new("pairs");
/// The table of all verified near-duplicate pairs.
pub const NEAR_PAIRS: TableName<NearRow> = TableName::new("near_pairs");
/// The table of kept pages that have duplicates.
pub const CLASSES: TableName<ClassRow> = TableName::new("classes");

/// The ways in which two pages are alike, in the columns `kind` and `repeats`.
pub(super) mod kind {
    pub(in super::super) const BYTES: &str = "bytes";
    pub(in super::super) const REVISIT: &str = "revisit";
    pub(in super::super) const TEXT: &str = "text";
    pub(in super::super) const NEAR: &str = "near";
}

table_row! {
    /// A removed page, and the page that is kept instead.
    pub struct CopyPairRow {
        /// The removed page.
        pub page_id: u64,
        /// Its URL.
        pub page: String,
        /// The kept page.
        pub of_id: u64,
        /// Its URL.
        pub of: String,
        /// How the two are alike: bytes, revisit, text or near.
        pub kind: String,
        /// The strongest way in which the page repeats any earlier page, not only the kept one:
        /// bytes, revisit, text or near.
        pub repeats: String,
        /// The resemblance of the two; null if it was not verified.
        pub resemblance: Option<f64>,
        /// The cause of the duplicate: recapture (the same URL again, or another spelling of it),
        /// url-alias, server-alias or replica.
        pub cause: String,
        /// Why the page was rejected, if it was: `revisit`, `not-text` and so on. Summaries do not
        /// count rejected pages as pages.
        pub rejected: Option<String>,
        /// Which of the two is earlier by date: page, of, same, or unknown if their dates do not
        /// decide (see [`crate::precedence`]).
        pub earlier: String,
        /// The date of the page: when it was published, else when it was fetched.
        pub page_date: Option<String>,
        /// Which of these the date is: published or fetched.
        pub page_dated_by: Option<String>,
        /// The date of the kept page.
        pub of_date: Option<String>,
        /// Which date that is: published or fetched.
        pub of_dated_by: Option<String>,
        /// The bytes of the removed page.
        pub bytes: u64,
        /// The SHA-1 of its payload, in base 32 as in WARC files.
        pub payload_sha1: Option<String>,
        /// When the kept page was fetched, in RFC 3339.
        pub of_fetched_at: Option<String>,
    }
}

table_row! {
    /// Two pages that resemble each other, whether or not one of them is removed.
    pub struct NearRow {
        /// The page that comes later in the order of precedence.
        pub page_id: u64,
        /// Its URL.
        pub page: String,
        /// The page that comes first.
        pub of_id: u64,
        /// Its URL.
        pub of: String,
        /// The resemblance of the two.
        pub resemblance: f64,
    }
}

table_row! {
    /// A kept page, and the number of pages that are removed for it.
    pub struct ClassRow {
        /// The kept page.
        pub kept_id: u64,
        /// Its URL.
        pub kept: String,
        /// The number of pages with text in the class, including the kept one if it has text.
        pub pages: u64,
        /// How many of them are exact duplicates of the kept page.
        pub exact: u64,
        /// The number of records without text (revisits, rejected pages) that repeat its payload.
        pub records: u64,
        /// The number of hosts they are on, at most 65,536.
        pub hosts: u64,
        /// The bytes of the removed pages.
        pub saved_bytes: u64,
    }
}

/// A removed page, as it is sent to the kept page.
#[derive(Serialize, Deserialize)]
struct RemovedPage {
    page: PageName,
    link: u32,
    repeats: u32,
    rejected: Option<String>,
    payload: Option<String>,
}

/// Whether two URLs are spellings of one, which differ in the fragment, the default port or the
/// case of the host.
fn is_same_address(one: &str, other: &str) -> bool {
    one == other || PageUrl::new(one).canonical() == PageUrl::new(other).canonical()
}

/// A removed page and the kept page, before the cause is known.
#[derive(Serialize, Deserialize)]
struct RemovedPair {
    removed: RemovedPage,
    of: PageName,
    cause: String,
}

/// Returns the kept page for which a page is removed, and how the two are related.
pub(super) fn follow(page: u32, kept_of: &Numbers, links: &Numbers) -> Option<(u32, CopyLink)> {
    let (mut kept, mut weakest) = (page, CopyLink::Bytes);
    // A revisit points to a payload, a payload to a text, a text to a text that it resembles.
    for _ in 0..4 {
        let next = kept_of.get(kept);
        if next == UNSET {
            break;
        }
        weakest = weakest.max(CopyLink::of_number(links.get(kept)));
        kept = next;
    }
    (kept != page).then_some((kept, weakest))
}

/// Registers the joins that add URLs to verified pairs.
pub(super) fn register_near(registry: &mut Registry) {
    registry.reduce(stage::NEAR_OF, |context, groups| {
        let mut near = context.wide_shuffle(shuffle::NEAR)?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let of = name_of(&mut group)?;
            for record in group {
                let row: [u32; 2] = bytemuck::try_pod_read_unaligned(&record.value)
                    .map_err(|error| error.to_string())?;
                let [page, bits] = row;
                let value = serde_json::to_vec(&(of.page_id, &of.url, bits))?;
                near.push_numbered(u64::from(page), ROW + of.page_id, &value)?;
            }
        }
        Ok(())
    });
    registry.reduce(stage::NEAR_PAGES, |context, groups| {
        let mut table = context.table(NEAR_PAIRS)?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let page = name_of(&mut group)?;
            for record in group {
                let (of_id, of, bits): (u64, String, u32) = serde_json::from_slice(&record.value)?;
                table.push(NearRow {
                    page_id: page.page_id,
                    page: page.url.clone(),
                    of_id,
                    of,
                    resemblance: rounded(f32::from_bits(bits)),
                })?;
            }
        }
        Ok(())
    });
}

/// The most hosts a task counts before it flushes the counts.
const COUNTED_HOSTS: usize = 1 << 13;

/// The number of pages of each host in a task. A later stage adds up the counts of a host, so they
/// can be flushed at any time.
#[derive(Default)]
struct HostCounts(HashMap<String, u64>);

impl HostCounts {
    fn add(&mut self, host: &str) {
        match self.0.get_mut(host) {
            Some(count) => *count += 1,
            None => drop(self.0.insert(host.to_owned(), 1)),
        }
    }

    fn flush(&mut self, shuffles: &mut [&mut WideEmitter]) -> cento_flow::Result<()> {
        for (host, count) in self.0.drain() {
            for shuffle in &mut *shuffles {
                shuffle.push(host.as_bytes(), 0, &count.to_le_bytes())?;
            }
        }
        Ok(())
    }
}

pub(super) fn register(registry: &mut Registry, source: &Arc<CorpusPages>) {
    registry.map(stage::TARGETS, |context| {
        let (kept_of, links) = (
            context.state::<Numbers>(state::KEPT_OF)?,
            context.state::<Numbers>(state::LINKS)?,
        );
        let named = context.state::<Bitmap>(NAMED)?;
        let (begin, end): (u32, u32) = context.task()?;
        for page in begin..end {
            if let Some((kept, _)) = follow(page, &kept_of, &links) {
                named.set(u64::from(kept));
            }
        }
        Ok(())
    });
    let pages = Arc::clone(source);
    registry.map(stage::REMOVED_PAGES, move |context| {
        let (kept_of, links) = (
            context.state::<Numbers>(state::KEPT_OF)?,
            context.state::<Numbers>(state::LINKS)?,
        );
        let named = context.state::<Bitmap>(NAMED)?;
        let mut by_kept = context.wide_shuffle(shuffle::BY_KEPT)?;
        let mut hosts = context.wide_shuffle(shuffle::HOSTS)?;
        let mut of_hosts = context.wide_shuffle(shuffle::OF_HOSTS)?;
        let duplicate = context.state::<Bitmap>(state::DUPLICATE)?;
        let same_bytes = context.state::<Bitmap>(state::SAME_BYTES)?;
        let mut counts = HostCounts::default();
        pages.for_each_page(context.task()?, |facts| {
            let number = facts.number;
            if let (Some(host), None) = (facts.host, facts.reject) {
                counts.add(host);
                if counts.0.len() >= COUNTED_HOSTS {
                    counts.flush(&mut [&mut hosts, &mut of_hosts])?;
                }
            }
            if named.get(u64::from(number)) {
                let name = serde_json::to_vec(&PageName::from(facts))?;
                by_kept.push_numbered(u64::from(number), 0, &name)?;
            }
            if let Some((kept, link)) = follow(number, &kept_of, &links) {
                // `repeats` does not depend on which page is kept.
                let at = u64::from(number);
                let repeats = match (facts.reject, duplicate.get(at), same_bytes.get(at)) {
                    (None, true, true) => CopyLink::Bytes,
                    (None, true, false) => CopyLink::Text,
                    (None, ..) => link,
                    // Records without text were matched by their payload.
                    (Some(_), ..) if facts.revisit => CopyLink::Revisit,
                    (Some(_), ..) => CopyLink::Bytes,
                };
                let removed = serde_json::to_vec(&RemovedPage {
                    page: facts.into(),
                    link: link.number(),
                    repeats: repeats.number(),
                    rejected: facts.reject.map(str::to_owned),
                    payload: facts.payload_sha1.map(base32),
                })?;
                by_kept.push_numbered(u64::from(kept), ROW + u64::from(number), &removed)?;
            }
            Ok::<_, StageError>(())
        })?;
        Ok(counts.flush(&mut [&mut hosts, &mut of_hosts])?)
    });
    classes(registry, source);
    registry.reduce(stage::CAUSES, |context, groups| {
        let mut by_id = context.wide_shuffle(shuffle::BY_ID)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            // Hosts that share only records without text have no verdict.
            let mut alias = false;
            for record in group {
                if record.order == 0 {
                    alias = record.value == [1];
                    continue;
                }
                let mut pair: RemovedPair = serde_json::from_slice(&record.value)?;
                pair.cause = if alias {
                    counter::SERVER_ALIAS
                } else {
                    counter::REPLICA
                }
                .to_owned();
                by_id.push_numbered(pair.removed.page.page_id, ROW, &serde_json::to_vec(&pair)?)?;
            }
        }
        Ok(())
    });
    registry.reduce(stage::PAIRS, |context, groups| {
        let mut pairs = context.table(PAIRS)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            for record in group {
                let RemovedPair { removed, of, cause } = serde_json::from_slice(&record.value)?;
                let (page, link) = (removed.page, CopyLink::of_number(removed.link));
                let repeats = kind_of(CopyLink::of_number(removed.repeats));
                if removed.rejected.is_none() {
                    context.count(repeats, 1);
                    context.count(counter::SAVED_BYTES, page.bytes);
                    context.count(&cause, 1);
                } else {
                    context.count(counter::REPEATED_RECORDS, 1);
                    let revisit = CopyLink::of_number(removed.repeats) == CopyLink::Revisit;
                    context.count(counter::REPEATED_REVISITS, u64::from(revisit));
                }
                let dates = [&page, &of].map(Dates::from);
                let date = |dates: Dates| {
                    dates
                        .decisive()
                        .map(|(date, _)| cento_text::date::render(date))
                };
                let dated_by = |dates: Dates| dates.decisive().map(|(_, by)| by.name().to_owned());
                let [page_dates, of_dates] = dates;
                pairs.push(CopyPairRow {
                    page_id: page.page_id,
                    page: page.url,
                    of_id: of.page_id,
                    of: of.url,
                    kind: kind_of(link).to_owned(),
                    repeats: repeats.to_owned(),
                    resemblance: match link {
                        CopyLink::Near(0) => None,
                        CopyLink::Near(bits) => Some(rounded(f32::from_bits(bits))),
                        _ => Some(1.0),
                    },
                    cause,
                    rejected: removed.rejected,
                    earlier: match earlier(page_dates, of_dates) {
                        Earlier::First => "page",
                        Earlier::Second => "of",
                        Earlier::Same => "same",
                        Earlier::Unknown => "unknown",
                    }
                    .to_owned(),
                    page_date: date(page_dates),
                    page_dated_by: dated_by(page_dates),
                    of_date: date(of_dates),
                    of_dated_by: dated_by(of_dates),
                    bytes: page.bytes,
                    payload_sha1: removed.payload,
                    of_fetched_at: of.fetched_at.map(cento_text::date::render),
                })?;
            }
        }
        Ok(())
    });
}

/// Rounds a resemblance, which was stored as `f32`, to six decimals.
fn rounded(resemblance: f32) -> f64 {
    (f64::from(resemblance) * 1e6).round() / 1e6
}

fn kind_of(link: CopyLink) -> &'static str {
    match link {
        CopyLink::Bytes => kind::BYTES,
        CopyLink::Revisit => kind::REVISIT,
        CopyLink::Text => kind::TEXT,
        CopyLink::Near(_) => kind::NEAR,
    }
}

fn classes(registry: &mut Registry, source: &Arc<CorpusPages>) {
    // Pages with text have the lowest numbers.
    let with_text = u64::from(source.kept());
    registry.reduce(stage::CLASSES, move |context, groups| {
        let mut classes = context.table(CLASSES)?;
        let mut by_verdict = context.wide_shuffle(shuffle::BY_VERDICT)?;
        let mut by_id = context.wide_shuffle(shuffle::BY_ID)?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let has_text = group.number() < with_text;
            let of = name_of(&mut group)?;
            let mut class = ClassRow {
                kept_id: of.page_id,
                kept: of.url.clone(),
                pages: u64::from(has_text),
                exact: 0,
                records: 0,
                hosts: 0,
                saved_bytes: 0,
            };
            let mut hosts: HashSet<u64> = of.host.iter().map(|host| word_hash(host)).collect();
            for record in group {
                let removed: RemovedPage = serde_json::from_slice(&record.value)?;
                let page = &removed.page;
                if removed.rejected.is_none() {
                    class.pages += 1;
                    class.exact += u64::from(!matches!(
                        CopyLink::of_number(removed.link),
                        CopyLink::Near(_)
                    ));
                    class.saved_bytes += page.bytes;
                    if let Some(host) = &page.host
                        && hosts.len() < MOST_HOSTS
                    {
                        hosts.insert(word_hash(host));
                    }
                } else {
                    class.records += 1;
                }
                let mut pair = RemovedPair {
                    removed,
                    of: of.clone(),
                    cause: String::new(),
                };
                let cause = match (&pair.removed.page.host, &pair.of.host) {
                    // Names of records and files may occur in several inputs: only an address says
                    // that it is the same page.
                    (Some(_), _) if is_same_address(&pair.removed.page.url, &pair.of.url) => {
                        counter::RECAPTURE
                    }
                    (Some(host), Some(of_host)) if host != of_host => {
                        let hosts = verdict_key(host, of_host)?;
                        by_verdict.push(&hosts, 1, &serde_json::to_vec(&pair)?)?;
                        continue;
                    }
                    (Some(_), Some(_)) => counter::URL_ALIAS,
                    // A file has no host and cannot be an alias.
                    _ => counter::REPLICA,
                };
                pair.cause = cause.to_owned();
                let (page_id, pair) = (pair.removed.page.page_id, serde_json::to_vec(&pair)?);
                by_id.push_numbered(page_id, ROW, &pair)?;
            }
            // Pages are also named for near-duplicate pairs.
            if class.pages > 1 {
                context.count(counter::CLASSES_OF_PAGES, 1);
            }
            if class.pages + class.records > 1 {
                class.hosts = hosts.len() as u64;
                classes.push(class)?;
            }
        }
        Ok(())
    });
}
