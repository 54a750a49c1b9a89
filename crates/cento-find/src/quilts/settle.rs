//! From numbers to findings: quilts and patches with names, dates and links.
//!
//! ```text
//!   pages ─ names ─▶ by source ─ sources ─▶ by page ─ settle ─▶ quilts, patches
//!     └─── links ──────────────────────────▶
//! ```

use std::sync::Arc;

use cento_flow::{Bitmap, Registry, StageError, WideGroups, table_row};
use cento_print::link_hash;
use cento_text::url::PageUrl;
use serde::{Deserialize, Serialize};

use super::find::{Counted, Gift, LINKS, QUILT, patch_order, runs_order};
use super::places::Run;
use super::servers::seconds;
use crate::names::{PageName, name_of};
use crate::source::Source;

table_row! {
    /// A quilted page.
    pub struct QuiltRow {
        /// The page.
        pub page_id: u64,
        /// Its address.
        pub page: String,
        /// Its distinct grams.
        pub grams: u64,
        /// Those that are patch grams: on other pages too, and on no more than m in all.
        pub patch_grams: u64,
        /// Their share.
        pub patch_fraction: f64,
        /// How many sources cover them.
        pub sources: u64,
        /// The share of the patch grams that a foreign page has; nothing if all pages could be sources.
        pub foreign_share: Option<f64>,
        /// The share of the patch grams that came from sources that the page links to.
        pub attributed_share: f64,
        /// The share of its grams that are on no other page, or on later ones only.
        pub originality: f64,
    }
}

table_row! {
    /// What a source gave to a quilted page.
    pub struct PatchRow {
        /// The quilted page.
        pub page_id: u64,
        /// Its address.
        pub page: String,
        /// The source.
        pub source_id: u64,
        /// Its address.
        pub source: String,
        /// The patch grams that it adds to those of the sources before it.
        pub grams: u64,
        /// Their share of all patch grams of the page.
        pub share: f64,
        /// Whether the page links to the source, or to another domain that the source is on.
        pub attributed: bool,
        /// Which of the two is earlier: page, source, same or unknown.
        pub earlier: String,
        /// By which date: published or fetched.
        pub earlier_by: Option<String>,
        /// Where each run of these grams begins in the text of the page, in bytes.
        pub begins: Vec<u32>,
        /// Where it ends.
        pub ends: Vec<u32>,
        /// Where it begins in the text of the source.
        pub source_begins: Vec<u32>,
        /// Where it ends there.
        pub source_ends: Vec<u32>,
    }
}

/// The links of a page.
#[derive(Default, Serialize, Deserialize)]
struct Links {
    hashes: Vec<u64>,
    domains: Vec<String>,
}

impl Links {
    /// Whether a page with these links tells whom it has its words from. Links of a site to itself are its own navigation: they
    /// attribute only what they lead to.
    fn attribute(&self, page: &PageName, source: &PageName) -> bool {
        let url = PageUrl::new(&source.url);
        if self.hashes.contains(&link_hash(url.link_key())) {
            return true;
        }
        match &source.domain {
            Some(domain) if page.domain.as_ref() != Some(domain) => self.domains.contains(domain),
            _ => false,
        }
    }
}

/// A patch with the name of its source.
#[derive(Serialize, Deserialize)]
struct Patch {
    grams: u64,
    source: PageName,
}

/// Which of two pages is earlier, and by which date.
fn earlier(page: &PageName, source: &PageName) -> (&'static str, Option<&'static str>) {
    let dates = [
        ("published", page.published_at, source.published_at),
        ("fetched", page.fetched_at, source.fetched_at),
    ];
    for (name, page, source) in dates {
        if let (Some(page), Some(source)) = (page, source) {
            let which = match seconds(page).cmp(&seconds(source)) {
                std::cmp::Ordering::Less => "page",
                std::cmp::Ordering::Equal => "same",
                std::cmp::Ordering::Greater => "source",
            };
            return (which, Some(name));
        }
    }
    ("unknown", None)
}

pub(super) fn register(registry: &mut Registry, source: &Arc<Source>, foreign: bool) {
    crate::names::register(registry, source);
    let pages = Arc::clone(source);
    registry.map("links", move |context| {
        let quilted = context.state::<Bitmap>("quilted")?;
        let mut by_page = context.wide_shuffle("by page")?;
        pages.for_each_links(context.task()?, |number, hashes, domains| {
            if !quilted.get(u64::from(number)) {
                return Ok::<_, StageError>(());
            }
            let links = Links {
                hashes: hashes.to_vec(),
                domains: domains.iter().map(|&domain| domain.to_owned()).collect(),
            };
            let links = serde_json::to_vec(&links)?;
            by_page.push_numbered(u64::from(number), LINKS, &links)?;
            Ok(())
        })
    });
    registry.reduce("sources", |context, groups| {
        let mut by_page = context.wide_shuffle("by page")?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let source = name_of(&mut group)?;
            for record in group {
                let gift: Gift = serde_json::from_slice(&record.value)?;
                let patch = serde_json::to_vec(&Patch {
                    grams: gift.grams,
                    source: source.clone(),
                })?;
                by_page.push_numbered(u64::from(gift.quilt), patch_order(gift.rank), &patch)?;
            }
        }
        Ok(())
    });
    registry.reduce("settle", move |context, groups| {
        let mut quilts = context.table::<QuiltRow>("quilts")?;
        let mut patches = context.table::<PatchRow>("patches")?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let page = name_of(&mut group)?;
            let mut links = Links::default();
            let mut counted: Option<Counted> = None;
            let mut runs: Vec<Run> = Vec::new();
            let mut attributed_grams = 0;
            for record in group {
                if record.order == LINKS {
                    links = serde_json::from_slice(&record.value)?;
                    continue;
                }
                if record.order == QUILT {
                    counted = Some(serde_json::from_slice(&record.value)?);
                    continue;
                }
                // The runs of a patch come before it.
                if record.order % 2 == runs_order(0) % 2 {
                    runs = Run::all_from(&record.value);
                    continue;
                }
                let Some(counted) = &counted else {
                    return Err("a patch has no quilt".into());
                };
                let Patch { grams, source } = serde_json::from_slice(&record.value)?;
                let attributed = links.attribute(&page, &source);
                attributed_grams += if attributed { grams } else { 0 };
                context.count("attributed patches", u64::from(attributed));
                let (earlier, earlier_by) = earlier(&page, &source);
                let runs = std::mem::take(&mut runs);
                patches.push(PatchRow {
                    page_id: page.page_id,
                    page: page.url.clone(),
                    source_id: source.page_id,
                    source: source.url,
                    grams,
                    share: share(grams, counted.patch),
                    attributed,
                    earlier: earlier.to_owned(),
                    earlier_by: earlier_by.map(str::to_owned),
                    begins: runs.iter().map(|run| run.begin).collect(),
                    ends: runs.iter().map(|run| run.end).collect(),
                    source_begins: runs.iter().map(|run| run.source_begin).collect(),
                    source_ends: runs.iter().map(|run| run.source_end).collect(),
                })?;
            }
            // Pages that only gave have a name here, and nothing else.
            let Some(counted) = counted else {
                continue;
            };
            let attributed_share = share(attributed_grams, counted.patch);
            context.count("attributed quilts", u64::from(attributed_share >= 0.5));
            quilts.push(QuiltRow {
                page_id: page.page_id,
                page: page.url,
                grams: counted.grams,
                patch_grams: counted.patch,
                patch_fraction: share(counted.patch, counted.grams),
                sources: counted.sources,
                foreign_share: foreign.then(|| share(counted.given, counted.patch)),
                attributed_share,
                originality: share(
                    (counted.grams + counted.first).saturating_sub(counted.shared),
                    counted.grams,
                ),
            })?;
        }
        Ok(())
    });
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(url: &str, domain: &str) -> PageName {
        PageName {
            corpus: 0,
            page_id: 0,
            url: url.to_owned(),
            host: None,
            domain: Some(domain.to_owned()),
            ip: None,
            fetched_at: None,
            published_at: None,
            bytes: 0,
            words: 0,
        }
    }

    #[test]
    fn a_link_to_the_source_or_to_its_domain_attributes() {
        let quilt = page("http://news.example/", "news.example");
        let source = page("http://www.paper.example/story", "paper.example");
        let url = PageUrl::new(&source.url);
        let to_page = Links {
            hashes: vec![link_hash(url.link_key())],
            domains: Vec::new(),
        };
        let to_domain = Links {
            hashes: Vec::new(),
            domains: vec!["paper.example".to_owned(), "news.example".to_owned()],
        };
        assert!(to_page.attribute(&quilt, &source) && to_domain.attribute(&quilt, &source));
        assert!(!Links::default().attribute(&quilt, &source));
        // Links of a site to itself lead anywhere on it.
        let sibling = page("http://news.example/2", "news.example");
        assert!(!to_domain.attribute(&quilt, &sibling));
    }

    #[test]
    fn dates_are_compared_with_their_like() {
        let (mut quilt, mut source) = (page("a", "a"), page("b", "b"));
        assert_eq!(earlier(&quilt, &source), ("unknown", None));
        (quilt.fetched_at, source.fetched_at) = (Some(1000), Some(2000));
        assert_eq!(earlier(&quilt, &source), ("page", Some("fetched")));
        quilt.published_at = Some(900_000);
        assert_eq!(earlier(&quilt, &source), ("page", Some("fetched")));
        source.published_at = Some(500_000);
        assert_eq!(earlier(&quilt, &source), ("source", Some("published")));
        source.published_at = Some(900_400);
        assert_eq!(earlier(&quilt, &source), ("same", Some("published")));
    }
}
