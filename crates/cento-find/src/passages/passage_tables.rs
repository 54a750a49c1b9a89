//! The table of passages: joins names, dates and links to the passages of page numbers.
//!
//! ```text
//!   pages ─ names ─▶ by b, by a      links ─▶ by a      both come first in every group
//!   passages ─▶ by b ─ name b ─▶ by a ─ name a ─▶ ranked ─ write ─▶ passages, strongest first
//! ```

use std::sync::Arc;

use cento_fingerprint::link_hash;
use cento_flow::{Bitmap, Fragment, Registry, StageError, TableName, WideGroups, table_row};
use cento_text::url::{PageUrl, without_tracking_parameters};
use serde::{Deserialize, Serialize};

use super::alignment::FoundPassage;
use super::flow_names::{shuffle, stage};
use crate::corpus_pages::CorpusPages;
use crate::names::{NAMED, PageName, name_of};
use crate::precedence::{Dates, Earlier, earlier};

/// The table of passages: the longest first.
pub const PASSAGES_TABLE: TableName<PassageRow> = TableName::new("passages");
/// The table of passages of pairs that share only fingerprints that are on many pages: of each page
/// with the earliest that has them. Clusters need them to be complete; as a list they are mostly
/// boilerplate.
pub const FREQUENT_TABLE: TableName<PassageRow> = TableName::new("frequent");

/// The order of the records of a page in the shuffle by a: its name (0), its links, its passages.
const LINKS: u64 = 1;
const PASSAGE: u64 = 2;

table_row! {
    /// A passage that two pages share. Ends are exclusive.
    #[derive(Debug)]
    pub struct PassageRow {
        /// The page that is later by date; if dates do not decide, the one that comes later in the
        /// corpus.
        pub a_id: u64,
        /// Its URL.
        pub a: String,
        /// The other page.
        pub b_id: u64,
        /// Its URL.
        pub b: String,
        /// Where the passage begins in the text of a, in bytes.
        pub a_begin: u32,
        /// Where it ends there.
        pub a_end: u32,
        /// Where it begins in the text of b, in bytes.
        pub b_begin: u32,
        /// Where it ends there.
        pub b_end: u32,
        /// Where it begins in the text of a, in Unicode characters.
        pub a_begin_char: u32,
        /// Where it ends there.
        pub a_end_char: u32,
        /// Where it begins in the text of b, in Unicode characters.
        pub b_begin_char: u32,
        /// Where it ends there.
        pub b_end_char: u32,
        /// How many words it has in a.
        pub words: u32,
        /// How many words it has in b.
        pub b_words: u32,
        /// Twice the number of words that both sides have, over the words of both sides: from 0 to
        /// 1. A word counts as often as the side has it that has it less often.
        pub identical: f64,
        /// The share of the words of a that b has, counted in the same way.
        pub a_in_b: f64,
        /// The share of the words of b that a has.
        pub b_in_a: f64,
        /// How it was reused: verbatim, edited or scattered.
        pub kind: String,
        /// Which page is earlier by date: b, same, or unknown if their dates do not decide (see
        /// [`crate::precedence`]).
        pub earlier: String,
        /// The date of a: when it was published, else when it was fetched.
        pub a_date: Option<String>,
        /// Which of these the date is: published or fetched.
        pub a_dated_by: Option<String>,
        /// The date of b.
        pub b_date: Option<String>,
        /// Which of these the date is: published or fetched.
        pub b_dated_by: Option<String>,
        /// Whether a links to b or to its domain. Null if both are on the same domain, or if a has
        /// no links, as plain text has none.
        pub attributed: Option<bool>,
    }
}

/// The links of a page.
#[derive(Debug, Default, Serialize, Deserialize)]
struct PageLinks {
    hashes: Vec<u64>,
    domains: Vec<String>,
}

impl PageLinks {
    /// Whether they lead to a page or to its domain.
    fn lead_to(&self, page: &PageName) -> bool {
        let has_domain = |domain: &String| self.domains.contains(domain);
        links_to(&self.hashes, &page.url) || page.domain.as_ref().is_some_and(has_domain)
    }
}

/// Whether the links of a page, by their hashes, lead to a URL. Parameters that only track visitors
/// are ignored.
pub fn links_to(link_hashes: &[u64], url: &str) -> bool {
    let page = PageUrl::new(url);
    let key = without_tracking_parameters(page.link_key());
    link_hashes.contains(&link_hash(&key))
}

pub(super) fn register(registry: &mut Registry, source: &Arc<CorpusPages>) {
    let pages = Arc::clone(source);
    registry.map(stage::LINKS, move |context| {
        let named = context.state::<Bitmap>(NAMED)?;
        let mut rows = context.wide_shuffle(shuffle::BY_A)?;
        pages.for_each_links::<StageError>(context.task()?, |page, hashes, domains| {
            if !named.get(u64::from(page)) || hashes.is_empty() && domains.is_empty() {
                return Ok(());
            }
            let links = PageLinks {
                hashes: hashes.to_vec(),
                domains: domains.iter().map(|&domain| domain.to_owned()).collect(),
            };
            Ok(rows.push_numbered(u64::from(page), LINKS, &serde_json::to_vec(&links)?)?)
        })
    });
    registry.reduce::<Fragment, _>(stage::NAME_B, |context, groups| {
        let mut rows = context.wide_shuffle(shuffle::BY_A)?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let b = name_of(&mut group)?;
            for record in group {
                let found: FoundPassage = serde_json::from_slice(&record.value)?;
                let value = serde_json::to_vec(&(&found, &b))?;
                rows.push_numbered(u64::from(found.a), PASSAGE, &value)?;
            }
        }
        Ok(())
    });
    registry.reduce::<Fragment, _>(stage::NAME_A, |context, groups| {
        let mut ranked = context.wide_shuffle(shuffle::RANKED)?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let a = name_of(&mut group)?;
            let mut links = PageLinks::default();
            for record in group {
                if record.order == LINKS {
                    links = serde_json::from_slice(&record.value)?;
                    continue;
                }
                let (found, b): (FoundPassage, PageName) = serde_json::from_slice(&record.value)?;
                let is_known =
                    !links.hashes.is_empty() && (a.domain.is_none() || a.domain != b.domain);
                let attributed = is_known.then(|| links.lead_to(&b));
                let strength = (f64::from(found.words[0]) * found.identical) as u64;
                let order = u64::from(found.a) << 32 | u64::from(found.b);
                let value = serde_json::to_vec(&(&found, &a, &b, attributed))?;
                ranked.push_numbered(u64::from(u32::MAX) - strength, order, &value)?;
            }
        }
        Ok(())
    });
    registry.reduce::<Fragment, _>(stage::WRITE, |context, groups| {
        let mut table = context.table(PASSAGES_TABLE)?;
        let mut frequent = context.table(FREQUENT_TABLE)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            for record in group {
                let (found, a, b, attributed): (FoundPassage, PageName, PageName, Option<bool>) =
                    serde_json::from_slice(&record.value)?;
                match found.is_frequent {
                    true => frequent.push(passage_row(found, a, b, attributed))?,
                    false => table.push(passage_row(found, a, b, attributed))?,
                }
            }
        }
        Ok(())
    });
}

fn passage_row(
    found: FoundPassage,
    a: PageName,
    b: PageName,
    attributed: Option<bool>,
) -> PassageRow {
    let (a_dates, b_dates) = (Dates::from(&a), Dates::from(&b));
    let date = |dates: Dates| {
        let decisive = dates.decisive();
        decisive.map(|(millis, _)| cento_text::date::render(millis))
    };
    let dated_by = |dates: Dates| dates.decisive().map(|(_, by)| by.name().to_owned());
    let [a_begin, a_end, b_begin, b_end] = found.bytes;
    let [a_begin_char, a_end_char, b_begin_char, b_end_char] = found.chars;
    PassageRow {
        a_id: a.page_id,
        a: a.url,
        b_id: b.page_id,
        b: b.url,
        a_begin,
        a_end,
        b_begin,
        b_end,
        a_begin_char,
        a_end_char,
        b_begin_char,
        b_end_char,
        words: found.words[0],
        b_words: found.words[1],
        identical: found.identical,
        a_in_b: found.shares[0],
        b_in_a: found.shares[1],
        kind: found.kind,
        earlier: match earlier(a_dates, b_dates) {
            Earlier::Second => "b",
            Earlier::Same => "same",
            // The page that is earlier by date comes second, so that it is never a.
            Earlier::First | Earlier::Unknown => "unknown",
        }
        .to_owned(),
        a_date: date(a_dates),
        a_dated_by: dated_by(a_dates),
        b_date: date(b_dates),
        b_dated_by: dated_by(b_dates),
        attributed,
    }
}
