//! From numbers to findings: who stays for whom, and why there are two of them.
//!
//! ```text
//!   kept of ─ targets ─▶ named
//!   pages ─ settle ─▶ by kept ─ classes ─▶ by verdict ─ causes ─▶ by id ─ pairs ─▶ pairs
//!                        ▼                    ▲
//!                     classes              mirrors (two hosts: are they one server?)
//! ```

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use cento_fingerprint::{base32, word_hash};
use cento_flow::{Bitmap, Registry, StageError, WideEmitter, WideGroups, table_row};
use serde::{Deserialize, Serialize};

use super::exact::Link;
use super::mirrors::verdict_key;
use crate::corpus_pages::CorpusPages;
use crate::names::{NAMED, PageName, ROW, name_of};
use crate::numbers::{Numbers, UNSET};
use crate::precedence::{Dates, Earlier, earlier};

/// Hosts of a class that are counted: half a megabyte of them.
const MOST_HOSTS: usize = 1 << 16;

table_row! {
    /// A page that is removed, and the page that is kept in its place.
    pub struct PairRow {
        /// The page that is removed.
        pub page_id: u64,
        /// Its address.
        pub page: String,
        /// The page that is kept.
        pub of_id: u64,
        /// Its address.
        pub of: String,
        /// How the two are alike: bytes, revisit, text or near.
        pub kind: String,
        /// The strongest way in which the page repeats any page before it, whichever it was removed
        /// for: bytes, revisit, text or near.
        pub repeats: String,
        /// How much; nothing if it was not verified.
        pub resemblance: Option<f64>,
        /// Why there are two: recapture (the same URL again), url-alias, server-alias or replica.
        pub cause: String,
        /// Why the page takes no part in analyses of text, if it does not: `revisit`, `not-text`
        /// and so on. Pages of which this is said are not among the pages that a summary counts.
        pub rejected: Option<String>,
        /// Which of the two is earlier by date: page, of, same, or unknown where one has no date.
        pub earlier: String,
        /// The date that the page is judged by: when it was published, else when it was fetched.
        pub page_date: Option<String>,
        /// Which of the two that is: published or fetched.
        pub page_dated_by: Option<String>,
        /// The date that the kept page is judged by.
        pub of_date: Option<String>,
        /// Which of the two that is.
        pub of_dated_by: Option<String>,
        /// The bytes of the page that is removed.
        pub bytes: u64,
        /// The digest of its payload, in base 32 as archives have it.
        pub payload_sha1: Option<String>,
        /// When the page that stays was fetched, as RFC 3339 has it.
        pub of_fetched_at: Option<String>,
    }
}

table_row! {
    /// Two pages that resemble each other, whatever becomes of them.
    pub struct NearRow {
        /// The page that would go.
        pub page_id: u64,
        /// Its address.
        pub page: String,
        /// The page that it resembles.
        pub of_id: u64,
        /// Its address.
        pub of: String,
        /// How much.
        pub resemblance: f64,
    }
}

table_row! {
    /// A page that is kept, and how many are removed in its favour.
    pub struct ClassRow {
        /// The page that is kept.
        pub kept_id: u64,
        /// Its address.
        pub kept: String,
        /// How many pages with text are alike, this one among them if it has text.
        pub pages: u64,
        /// How many of them are exact copies of it.
        pub exact: u64,
        /// How many records without text (revisits, rejected pages) repeat its payload.
        pub records: u64,
        /// How many hosts they are on; beyond 65,536 they are not counted.
        pub hosts: u64,
        /// The bytes of the pages that are removed.
        pub saved_bytes: u64,
    }
}

/// What travels about a page that goes.
#[derive(Serialize, Deserialize)]
struct Gone {
    page: PageName,
    link: u32,
    repeats: u32,
    rejected: Option<String>,
    payload: Option<String>,
}

/// What travels about a pair.
#[derive(Serialize, Deserialize)]
struct Pair {
    gone: Gone,
    of: PageName,
    cause: String,
}

/// The page for which a page goes in the end, and how it is related to it.
pub(super) fn follow(page: u32, kept_of: &Numbers, links: &Numbers) -> Option<(u32, Link)> {
    let (mut kept, mut weakest) = (page, Link::Bytes);
    // A reference leads to a payload, a payload to a text, a text to a text that it resembles.
    for _ in 0..4 {
        let next = kept_of.get(kept);
        if next == UNSET {
            break;
        }
        weakest = weakest.max(Link::of_number(links.get(kept)));
        kept = next;
    }
    (kept != page).then_some((kept, weakest))
}

/// Registers the joins by which verified pairs get their names.
pub(super) fn register_near(registry: &mut Registry) {
    registry.reduce("near of", |context, groups| {
        let mut near = context.wide_shuffle("near")?;
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
    registry.reduce("near pages", |context, groups| {
        let mut table = context.table::<NearRow>("near_pairs")?;
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

/// Hosts that a task counts pages of before it passes the counts on.
const COUNTED_HOSTS: usize = 1 << 13;

/// How many pages of each host a task has seen. Counts of a host are added up later, so they can be
/// passed on at any time.
#[derive(Default)]
struct HostCounts(HashMap<String, u64>);

impl HostCounts {
    fn add(&mut self, host: &str) {
        match self.0.get_mut(host) {
            Some(count) => *count += 1,
            None => drop(self.0.insert(host.to_owned(), 1)),
        }
    }

    fn pass_on(&mut self, shuffles: &mut [&mut WideEmitter]) -> cento_flow::Result<()> {
        for (host, count) in self.0.drain() {
            for shuffle in &mut *shuffles {
                shuffle.push(host.as_bytes(), 0, &count.to_le_bytes())?;
            }
        }
        Ok(())
    }
}

pub(super) fn register(registry: &mut Registry, source: &Arc<CorpusPages>) {
    registry.map("targets", |context| {
        let (kept_of, links) = (
            context.state::<Numbers>("kept of")?,
            context.state::<Numbers>("links")?,
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
    registry.map("settle", move |context| {
        let (kept_of, links) = (
            context.state::<Numbers>("kept of")?,
            context.state::<Numbers>("links")?,
        );
        let named = context.state::<Bitmap>(NAMED)?;
        let mut by_kept = context.wide_shuffle("by kept")?;
        let mut hosts = context.wide_shuffle("hosts")?;
        let mut of_hosts = context.wide_shuffle("of hosts")?;
        let duplicate = context.state::<Bitmap>("duplicate")?;
        let same_bytes = context.state::<Bitmap>("same bytes")?;
        let mut counts = HostCounts::default();
        pages.for_each_page(context.task()?, |facts| {
            let number = facts.number;
            if let (Some(host), None) = (facts.host, facts.reject) {
                counts.add(host);
                if counts.0.len() >= COUNTED_HOSTS {
                    counts.pass_on(&mut [&mut hosts, &mut of_hosts])?;
                }
            }
            if named.get(u64::from(number)) {
                let name = serde_json::to_vec(&PageName::from(facts))?;
                by_kept.push_numbered(u64::from(number), 0, &name)?;
            }
            if let Some((kept, link)) = follow(number, &kept_of, &links) {
                // What is true of the page does not depend on which page it is removed for.
                let at = u64::from(number);
                let repeats = match (facts.reject, duplicate.get(at), same_bytes.get(at)) {
                    (None, true, true) => Link::Bytes,
                    (None, true, false) => Link::Text,
                    (None, ..) => link,
                    // Records without text have met by their payload.
                    (Some(_), ..) if facts.revisit => Link::Revisit,
                    (Some(_), ..) => Link::Bytes,
                };
                let gone = serde_json::to_vec(&Gone {
                    page: facts.into(),
                    link: link.number(),
                    repeats: repeats.number(),
                    rejected: facts.reject.map(str::to_owned),
                    payload: facts.payload_sha1.map(base32),
                })?;
                by_kept.push_numbered(u64::from(kept), ROW + u64::from(number), &gone)?;
            }
            Ok::<_, StageError>(())
        })?;
        Ok(counts.pass_on(&mut [&mut hosts, &mut of_hosts])?)
    });
    classes(registry, source);
    registry.reduce("causes", |context, groups| {
        let mut by_id = context.wide_shuffle("by id")?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            // There is no verdict on hosts that share records without text alone.
            let mut alias = false;
            for record in group {
                if record.order == 0 {
                    alias = record.value == [1];
                    continue;
                }
                let mut pair: Pair = serde_json::from_slice(&record.value)?;
                pair.cause = if alias { "server-alias" } else { "replica" }.to_owned();
                by_id.push_numbered(pair.gone.page.page_id, ROW, &serde_json::to_vec(&pair)?)?;
            }
        }
        Ok(())
    });
    registry.reduce("pairs", |context, groups| {
        let mut pairs = context.table::<PairRow>("pairs")?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            for record in group {
                let Pair { gone, of, cause } = serde_json::from_slice(&record.value)?;
                let (page, link) = (gone.page, Link::of_number(gone.link));
                let repeats = kind(Link::of_number(gone.repeats));
                if gone.rejected.is_none() {
                    context.count(repeats, 1);
                    context.count("saved bytes", page.bytes);
                    context.count(&cause, 1);
                } else {
                    context.count("repeated records", 1);
                    let revisit = Link::of_number(gone.repeats) == Link::Revisit;
                    context.count("repeated revisits", u64::from(revisit));
                }
                let dates = [&page, &of].map(Dates::from);
                let date = |dates: Dates| {
                    dates
                        .decisive()
                        .map(|(date, _)| cento_text::date::render(date))
                };
                let dated_by = |dates: Dates| dates.decisive().map(|(_, by)| by.name().to_owned());
                let [page_dates, of_dates] = dates;
                pairs.push(PairRow {
                    page_id: page.page_id,
                    page: page.url,
                    of_id: of.page_id,
                    of: of.url,
                    kind: kind(link).to_owned(),
                    repeats: repeats.to_owned(),
                    resemblance: match link {
                        Link::Near(0) => None,
                        Link::Near(bits) => Some(rounded(f32::from_bits(bits))),
                        _ => Some(1.0),
                    },
                    cause,
                    rejected: gone.rejected,
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
                    payload_sha1: gone.payload,
                    of_fetched_at: of.fetched_at.map(cento_text::date::render),
                })?;
            }
        }
        Ok(())
    });
}

/// A resemblance was kept with the precision of four bytes: as people read it.
fn rounded(resemblance: f32) -> f64 {
    (f64::from(resemblance) * 1e6).round() / 1e6
}

fn kind(link: Link) -> &'static str {
    match link {
        Link::Bytes => "bytes",
        Link::Revisit => "revisit",
        Link::Text => "text",
        Link::Near(_) => "near",
    }
}

fn classes(registry: &mut Registry, source: &Arc<CorpusPages>) {
    // Pages with text have the lowest numbers.
    let with_text = u64::from(source.kept());
    registry.reduce("classes", move |context, groups| {
        let mut classes = context.table::<ClassRow>("classes")?;
        let mut by_verdict = context.wide_shuffle("by verdict")?;
        let mut by_id = context.wide_shuffle("by id")?;
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
                let gone: Gone = serde_json::from_slice(&record.value)?;
                let page = &gone.page;
                if gone.rejected.is_none() {
                    class.pages += 1;
                    class.exact += u64::from(!matches!(Link::of_number(gone.link), Link::Near(_)));
                    class.saved_bytes += page.bytes;
                    if let Some(host) = &page.host
                        && hosts.len() < MOST_HOSTS
                    {
                        hosts.insert(word_hash(host));
                    }
                } else {
                    class.records += 1;
                }
                let mut pair = Pair {
                    gone,
                    of: of.clone(),
                    cause: String::new(),
                };
                match (&pair.gone.page.host, &pair.of.host) {
                    _ if pair.gone.page.url == pair.of.url => {
                        pair.cause = "recapture".to_owned();
                        by_id.push_numbered(
                            pair.gone.page.page_id,
                            ROW,
                            &serde_json::to_vec(&pair)?,
                        )?;
                    }
                    (Some(host), Some(of_host)) if host != of_host => {
                        let hosts = verdict_key(host, of_host)?;
                        by_verdict.push(&hosts, 1, &serde_json::to_vec(&pair)?)?;
                    }
                    // Files that have no host are copies of each other, and no names of one page.
                    (None, None) => {
                        pair.cause = "replica".to_owned();
                        by_id.push_numbered(
                            pair.gone.page.page_id,
                            ROW,
                            &serde_json::to_vec(&pair)?,
                        )?;
                    }
                    _ => {
                        pair.cause = "url-alias".to_owned();
                        by_id.push_numbered(
                            pair.gone.page.page_id,
                            ROW,
                            &serde_json::to_vec(&pair)?,
                        )?;
                    }
                }
            }
            // Pages are named for other reasons too.
            if class.pages > 1 {
                context.count("classes of pages", 1);
            }
            if class.pages + class.records > 1 {
                class.hosts = hosts.len() as u64;
                classes.push(class)?;
            }
        }
        Ok(())
    });
}
