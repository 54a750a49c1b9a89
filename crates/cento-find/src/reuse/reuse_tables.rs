//! The result tables: joins names to pairs of page numbers.
//!
//! ```text
//!   of (left) ─ name of ─▶ page (right) ─ name page ─▶ ranked ─ write ─▶ pairs, identical
//!   ignored fingerprints ─ note ─▶ noted ─ show ─▶ named ─ name ─▶ ranked ─ write ─▶ ignored
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use cento_fingerprint::Scheme;
use cento_flow::{Bitmap, Fragment, Registry, TableName, WideGroups, table_row};
use serde::{Deserialize, Serialize};

use super::category::{Category, Containment};
use super::fingerprints::PageFingerprints;
use super::params::ReuseParams;
use super::reuse_rows::IgnoredFingerprint;
use super::stage_names::{shuffle, stage};
use super::style::{ReuseStyle, same_host};
use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::names::{self, NAMED, PageName, name_of};
use crate::precedence::{Dates, Earlier, earlier};

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

/// A pair of page numbers, on its way to the tables. No category stands for the table `identical`.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct PairRecord {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) shared: u32,
    pub(super) left_size: u32,
    pub(super) right_size: u32,
    pub(super) left_copies: u32,
    pub(super) right_copies: u32,
    pub(super) frame: u32,
    pub(super) frequent: u32,
    pub(super) category: Option<Category>,
    pub(super) style: ReuseStyle,
}

impl PairRecord {
    /// Returns the record of a page with the fingerprints of an earlier one.
    pub(super) fn identical(first: u32, copy: u32, size: u32) -> PairRecord {
        PairRecord {
            left: first,
            right: copy,
            shared: size,
            left_size: size,
            right_size: size,
            left_copies: 0,
            right_copies: 0,
            frame: 0,
            frequent: 0,
            category: None,
            style: ReuseStyle::Reuse,
        }
    }

    /// Returns the key by which the tables are sorted: by category, then by the larger containment.
    fn rank(&self) -> u64 {
        const WEAKNESS_BITS: u32 = 26;
        let smaller = u64::from(self.left_size.min(self.right_size).max(1));
        let lacking = smaller.saturating_sub(u64::from(self.shared));
        let weakness = (lacking << WEAKNESS_BITS) / smaller;
        match self.category {
            Some(category) => (category.index() as u64) << WEAKNESS_BITS | weakness,
            // Sorted by the first page; keys of evenly distributed leading bits balance the load.
            None => 7 << WEAKNESS_BITS | u64::from(self.left >> 4),
        }
    }
}

/// The number of bits of a rank.
pub(super) const RANK_BITS: u32 = 29;

/// What the tables show of a page.
#[derive(Debug, Serialize, Deserialize)]
struct SideName {
    page_id: u64,
    url: String,
    host: Option<String>,
    published: Option<i64>,
    fetched: Option<i64>,
}

impl From<PageName> for SideName {
    fn from(name: PageName) -> SideName {
        SideName {
            page_id: name.page_id,
            url: name.url,
            host: name.host,
            published: name.published_at,
            fetched: name.fetched_at,
        }
    }
}

impl SideName {
    fn dates(&self) -> Dates {
        Dates {
            published: self.published,
            fetched: self.fetched,
        }
    }
}

pub(super) fn register(registry: &mut Registry, source: &Arc<CorpusPages>, params: &ReuseParams) {
    registry.reduce::<Fragment, _>(stage::NAME_OF, |context, groups| {
        let mut pages = context.wide_shuffle(shuffle::PAGE)?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let left = SideName::from(name_of(&mut group)?);
            for row in group {
                let record: PairRecord = serde_json::from_slice(&row.value)?;
                let value = serde_json::to_vec(&(record, &left))?;
                pages.push_numbered(u64::from(record.right), names::ROW, &value)?;
            }
        }
        Ok(())
    });
    registry.reduce::<Fragment, _>(stage::NAME_PAGE, |context, groups| {
        let mut ranked = context.wide_shuffle(shuffle::RANKED)?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let right = SideName::from(name_of(&mut group)?);
            for row in group {
                let (record, left): (PairRecord, SideName) = serde_json::from_slice(&row.value)?;
                let value = serde_json::to_vec(&(record, &left, &right))?;
                let order = u64::from(record.left) << 32 | u64::from(record.right);
                ranked.push_numbered(record.rank(), order, &value)?;
            }
        }
        Ok(())
    });
    let params = params.clone();
    let scheme = params.scheme;
    registry.reduce::<Fragment, _>(stage::WRITE, move |context, groups| {
        // Tables exist even if they have no rows.
        drop(context.table(PAIRS)?);
        drop(context.table(IDENTICAL)?);
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            for row in group {
                let (record, left, right): (PairRecord, SideName, SideName) =
                    serde_json::from_slice(&row.value)?;
                match record.category {
                    Some(category) => {
                        let row = pair_row(record, category, left, right, params.against);
                        context.table(PAIRS)?.push(row)?;
                    }
                    None => {
                        let style = identical_style(&left, &right);
                        if params.selects(style) {
                            let row = identical_row(record, left, right, style);
                            context.table(IDENTICAL)?.push(row)?;
                        }
                    }
                }
            }
        }
        Ok(())
    });
    register_ignored(registry, source, scheme);
}

fn pair_row(
    record: PairRecord,
    category: Category,
    left: SideName,
    right: SideName,
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
        page: page.url,
        of_id: of.page_id,
        of: of.url,
        category: category.name().to_owned(),
        style: record.style.name().to_owned(),
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

fn identical_style(first: &SideName, copy: &SideName) -> ReuseStyle {
    if same_host(first.host.as_deref(), copy.host.as_deref()) {
        ReuseStyle::Alias
    } else {
        ReuseStyle::Reuse
    }
}

fn identical_row(
    record: PairRecord,
    first: SideName,
    copy: SideName,
    style: ReuseStyle,
) -> IdenticalRow {
    IdenticalRow {
        page_id: copy.page_id,
        page: copy.url,
        of_id: first.page_id,
        of: first.url,
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

fn register_ignored(registry: &mut Registry, source: &Arc<CorpusPages>, scheme: Scheme) {
    registry.reduce::<IgnoredFingerprint, _>(stage::NOTE_IGNORED, |context, groups| {
        let named = context.state::<Bitmap>(NAMED)?;
        let mut rows = context.shuffle::<IgnoredFingerprint>(shuffle::IGNORED_NOTED)?;
        while let Some(group) = groups.next_group()? {
            named.set(u64::from(group.key()));
            rows.extend(group)?;
        }
        Ok(())
    });
    let source = Arc::clone(source);
    registry.reduce::<IgnoredFingerprint, _>(stage::SHOW_IGNORED, move |context, groups| {
        let mut names = context.wide_shuffle(shuffle::IGNORED_NAMED)?;
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
                let value = serde_json::to_vec(&(ignored.hash, ignored.pages, text))?;
                names.push_numbered(u64::from(ignored.page), names::ROW, &value)?;
            }
            if ended {
                return Ok(());
            }
        }
    });
    registry.reduce::<Fragment, _>(stage::NAME_IGNORED, |context, groups| {
        let mut ranked = context.wide_shuffle(shuffle::IGNORED_RANKED)?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let name = name_of(&mut group)?;
            for row in group {
                let (hash, pages, text): (u64, u32, Option<String>) =
                    serde_json::from_slice(&row.value)?;
                let excerpt = IgnoredExcerpt {
                    hash,
                    pages,
                    page_id: name.page_id,
                    page: name.url.clone(),
                    text,
                };
                let rank = u64::from(u32::MAX - pages);
                ranked.push_numbered(rank, hash, &serde_json::to_vec(&excerpt)?)?;
            }
        }
        Ok(())
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
        fingerprints.for_each(text, |hash, range| {
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
