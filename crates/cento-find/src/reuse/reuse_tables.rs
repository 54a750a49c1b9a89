//! The result tables: sorts pairs of page numbers, and looks up the names of the pages.
//!
//! ```text
//!   pairs ─▶ ranked ─ write ─▶ pairs, identical
//!   ignored fingerprints ─ show ─▶ ignored ranked ─ write ignored ─▶ ignored
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use cento_fingerprint::Scheme;
use cento_flow::{Fragment, Registry, TableName, WideGroups, table_row};
use serde::{Deserialize, Serialize};

use super::category::{Category, Containment};
use super::fingerprints::PageFingerprints;
use super::params::ReuseParams;
use super::reuse_rows::{IgnoredFingerprint, RankedPair};
use super::stage_names::{shuffle, stage};
use super::style::{ReuseStyle, same_host};
use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::name_files::{MappedName, NameFiles};
use crate::precedence::{Earlier, earlier};

/// The main table: pairs by category, those of the largest containment first.
pub const PAIRS: TableName<ReusePairRow> = TableName::new("pairs");
/// Pages with the same set of fingerprints as an earlier page.
pub const IDENTICAL: TableName<IdenticalRow> = TableName::new("identical");
/// Ignored fingerprints, those on most pages first.
pub const IGNORED: TableName<IgnoredRow> = TableName::new("ignored");

/// Ignored fingerprints whose texts are read together.
const LOOKUP: usize = 256;
/// The number of characters that are shown of an ignored fingerprint.
const SHOWN: usize = 200;

table_row! {
    /// Two pages that share text. Of pages with the same set of fingerprints, only the earliest is
    /// in a pair.
    pub struct ReusePairRow {
        /// The page that is later by date; if dates do not decide, the one with the higher id. With
        /// `--against`, the page of the first corpus.
        pub page_id: u64,
        /// Its URL.
        pub page: String,
        /// The other page. With `--against`, a page of the second corpus.
        pub of_id: u64,
        /// Its URL.
        pub of: String,
        /// `C1` to `C6`, or `one-sided`.
        pub category: String,
        /// `reuse`, `template`, `phrase`, `frame` or `alias`.
        pub style: String,
        /// Distinct fingerprints that both have.
        pub shared: u32,
        /// Distinct fingerprints of the page, without ignored ones.
        pub page_fingerprints: u32,
        /// Distinct fingerprints of the other page, without ignored ones.
        pub of_fingerprints: u32,
        /// The share of the page's fingerprints found in the other: C(page, of).
        pub page_containment: f64,
        /// The share of the other's fingerprints found in the page: C(of, page).
        pub of_containment: f64,
        /// Shared fingerprints that belong to a page frame.
        pub frame: u32,
        /// Frequent shared fingerprints that do not belong to a page frame.
        pub frequent: u32,
        /// The number of pages with the fingerprints of the page, including itself.
        pub page_copies: u32,
        /// The number of pages with the fingerprints of the other, including itself.
        pub of_copies: u32,
    }
}

table_row! {
    /// A page with the same set of fingerprints as an earlier one: C1 with a containment of 1 both
    /// ways.
    pub struct IdenticalRow {
        /// The page.
        pub page_id: u64,
        /// Its URL.
        pub page: String,
        /// The earliest page with these fingerprints, which represents all of them in the table
        /// `pairs`.
        pub of_id: u64,
        /// Its URL.
        pub of: String,
        /// Distinct fingerprints of each.
        pub fingerprints: u32,
        /// `alias` if both pages are on one host, else `reuse`.
        pub style: String,
    }
}

table_row! {
    /// A fingerprint that is ignored because it is on too many pages.
    pub struct IgnoredRow {
        /// The fingerprint.
        pub fingerprint: u64,
        /// The number of distinct pages that have it.
        pub pages: u32,
        /// The first of these pages.
        pub page_id: u64,
        /// Its URL.
        pub page: String,
        /// The text of the fingerprint on that page.
        pub text: Option<String>,
    }
}

pub(super) fn register(
    registry: &mut Registry,
    source: &Arc<CorpusPages>,
    params: &ReuseParams,
    names: &Arc<NameFiles>,
) {
    let params = params.clone();
    let scheme = params.scheme;
    let page_names = Arc::clone(names);
    registry.reduce::<RankedPair, _>(stage::WRITE, move |context, groups| {
        let mut pairs = context.table(PAIRS)?;
        let mut identical = context.table(IDENTICAL)?;
        while let Some(group) = groups.next_group()? {
            for pair in group {
                let left = page_names.get(pair.left)?;
                let right = page_names.get(pair.right)?;
                match pair.category() {
                    Some(category) => {
                        pairs.push(pair_row(pair, category, left, right, params.against))?;
                    }
                    None => {
                        let style = identical_style(left, right);
                        if params.selects(style) {
                            identical.push(identical_row(pair, left, right, style))?;
                        }
                    }
                }
            }
        }
        Ok(())
    });
    register_ignored(registry, source, scheme, names);
}

fn pair_row(
    record: RankedPair,
    category: Category,
    left: MappedName<'_>,
    right: MappedName<'_>,
    against: bool,
) -> ReusePairRow {
    let containment = Containment {
        shared: record.shared,
        page: record.right_size,
        of: record.left_size,
    };
    // The right page has the higher number.
    let swapped = against || earlier(right.dates(), left.dates()) == Earlier::First;
    let copies = (record.right_copies, record.left_copies);
    let (page, of, containment, copies) = if swapped {
        (left, right, containment.swapped(), (copies.1, copies.0))
    } else {
        (right, left, containment, copies)
    };
    ReusePairRow {
        page_id: page.page_id,
        page: page.url.to_owned(),
        of_id: of.page_id,
        of: of.url.to_owned(),
        category: category.name().to_owned(),
        style: record.style().name().to_owned(),
        shared: record.shared,
        page_fingerprints: containment.page,
        of_fingerprints: containment.of,
        page_containment: containment.of_page(),
        of_containment: containment.of_other(),
        frame: record.frame,
        frequent: record.frequent,
        page_copies: copies.0,
        of_copies: copies.1,
    }
}

fn identical_style(first: MappedName<'_>, copy: MappedName<'_>) -> ReuseStyle {
    if same_host(first.host, copy.host) {
        ReuseStyle::Alias
    } else {
        ReuseStyle::Reuse
    }
}

fn identical_row(
    record: RankedPair,
    first: MappedName<'_>,
    copy: MappedName<'_>,
    style: ReuseStyle,
) -> IdenticalRow {
    IdenticalRow {
        page_id: copy.page_id,
        page: copy.url.to_owned(),
        of_id: first.page_id,
        of: first.url.to_owned(),
        fingerprints: record.shared,
        style: style.name().to_owned(),
    }
}

/// A row of the table of ignored fingerprints, before it is sorted.
#[derive(Serialize, Deserialize)]
struct IgnoredExcerpt {
    hash: u64,
    pages: u32,
    page_id: u64,
    page: String,
    text: Option<String>,
}

fn register_ignored(
    registry: &mut Registry,
    source: &Arc<CorpusPages>,
    scheme: Scheme,
    names: &Arc<NameFiles>,
) {
    let (source, names) = (Arc::clone(source), Arc::clone(names));
    registry.reduce::<IgnoredFingerprint, _>(stage::SHOW_IGNORED, move |context, groups| {
        let mut ranked = context.wide_shuffle(shuffle::IGNORED_RANKED)?;
        let mut waiting: Vec<IgnoredFingerprint> = Vec::new();
        loop {
            let group = groups.next_group()?;
            let ended = group.is_none();
            waiting.extend(group.into_iter().flatten());
            if !ended && waiting.len() < LOOKUP {
                continue;
            }
            let texts = texts_of(&source, scheme, &waiting)?;
            for (ignored, text) in waiting.drain(..).zip(texts) {
                let name = names.get(ignored.page)?;
                let excerpt = IgnoredExcerpt {
                    hash: ignored.hash,
                    pages: ignored.pages,
                    page_id: name.page_id,
                    page: name.url.to_owned(),
                    text,
                };
                let rank = u64::from(u32::MAX - excerpt.pages);
                ranked.push_numbered(rank, excerpt.hash, &serde_json::to_vec(&excerpt)?)?;
            }
            if ended {
                return Ok(());
            }
        }
    });
    registry.reduce::<Fragment, _>(stage::WRITE_IGNORED, |context, groups| {
        let mut table = context.table(IGNORED)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            for row in group {
                let excerpt: IgnoredExcerpt = serde_json::from_slice(&row.value)?;
                table.push(IgnoredRow {
                    fingerprint: excerpt.hash,
                    pages: excerpt.pages,
                    page_id: excerpt.page_id,
                    page: excerpt.page,
                    text: excerpt.text,
                })?;
            }
        }
        Ok(())
    });
}

/// Reads the texts of fingerprints from their first pages, which must ascend.
fn texts_of(
    source: &CorpusPages,
    scheme: Scheme,
    ignored: &[IgnoredFingerprint],
) -> Result<Vec<Option<String>>> {
    let mut texts = vec![None; ignored.len()];
    let mut positions: HashMap<(u32, u64), usize> = HashMap::new();
    for (at, ignored) in ignored.iter().enumerate() {
        positions.insert((ignored.page, ignored.hash), at);
    }
    let mut pages: Vec<u32> = ignored.iter().map(|ignored| ignored.page).collect();
    pages.dedup();
    let mut fingerprints = PageFingerprints::new(scheme);
    source.texts::<Error>(&pages, |page, text| {
        let wanted = |hash| positions.contains_key(&(page, hash));
        fingerprints.for_each(text, wanted, |hash, range| {
            let slot = positions
                .get(&(page, hash))
                .and_then(|&at| texts.get_mut(at));
            if let Some(slot @ None) = slot {
                let text = text.get(range).unwrap_or_default();
                *slot = Some(text.chars().take(SHOWN).collect());
            }
        });
        Ok(())
    })?;
    Ok(texts)
}
