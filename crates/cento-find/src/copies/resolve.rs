//! Decides which pages are kept and which are removed.
//!
//! Pages are processed in the order of precedence. A page is removed if it resembles a kept page;
//! otherwise it is kept. So if A ~ B and B ~ C, but not A ~ C, B is removed for A and C is kept: no
//! page is removed for a page that it does not resemble.
//!
//! The order is total, so this runs on one thread; it reads each verified edge once and needs one
//! bit of memory per page.

use std::sync::Arc;

use cento_flow::{Bitmap, Registry, StageError};

use super::candidates::{flag, set_flag};
use super::copy_rows::{NearEdge, RankedPage};
use super::exact::CopyLink;
use super::stage_names::{shuffle, stage, state};
use crate::corpus_pages::CorpusPages;
use crate::names::{NAMED, ROW};
use crate::numbers::{Numbers, UNSET};

pub(super) fn register(registry: &mut Registry, source: &Arc<CorpusPages>) {
    registry.reduce::<NearEdge, _>(stage::DECIDE, |context, groups| {
        let removed = context.state::<Numbers>(state::REMOVED)?;
        let mut known = context.shuffle::<NearEdge>(shuffle::KNOWN_EDGES)?;
        while let Some(group) = groups.next_group()? {
            let page = RankedPage::of_key(group.key()).page;
            let (mut alike, mut round) = (false, 0);
            for edge in group {
                round = edge.round as u16;
                // Edges lead from earlier to later pages, and earlier pages are decided already.
                alike |= !flag(&removed, edge.of.page);
                known.push(edge)?;
            }
            set_flag(&removed, page, round, alike);
        }
        Ok(())
    });
    registry.reduce::<NearEdge, _>(stage::RESOLVE, |context, groups| {
        let (kept_of, links) = (
            context.state::<Numbers>(state::KEPT_OF)?,
            context.state::<Numbers>(state::LINKS)?,
        );
        let named = context.state::<Bitmap>(NAMED)?;
        let mut near = context.wide_shuffle(shuffle::NEAR_OF)?;
        while let Some(group) = groups.next_group()? {
            let page = RankedPage::of_key(group.key()).page;
            let mut best: Option<NearEdge> = None;
            for edge in group {
                named.set(u64::from(page));
                named.set(u64::from(edge.of.page));
                let (of, row) = (u64::from(edge.of.page), [page, edge.resemblance]);
                near.push_numbered(of, ROW + u64::from(page), bytemuck::bytes_of(&row))?;
                if kept_of.get(edge.of.page) == UNSET
                    && best.is_none_or(|best| edge.resemblance > best.resemblance)
                {
                    best = Some(edge);
                }
            }
            if let Some(edge) = best {
                kept_of.set(page, edge.of.page);
                links.set(page, CopyLink::Near(edge.resemblance).number());
            }
        }
        Ok(())
    });
    let pages = source.all();
    registry.reduce::<NearEdge, _>(stage::CLOSURE, move |context, groups| {
        let (kept_of, links) = (
            context.state::<Numbers>(state::KEPT_OF)?,
            context.state::<Numbers>(state::LINKS)?,
        );
        let ranks = context.state::<Numbers>(state::RANKS)?;
        let bytes = u64::from(pages) * size_of::<u32>() as u64;
        let _lease = context.budget().take(bytes, "the classes of all pages")?;
        let mut classes = DisjointClasses {
            parents: (0..pages).collect(),
        };
        let order = |page: u32| RankedPage {
            rank: ranks.get(page),
            page,
        };
        while let Some(group) = groups.next_group()? {
            for edge in group {
                classes.join(edge.page.page, edge.of.page, order);
            }
        }
        for page in 0..pages {
            let kept = classes.find(page);
            if kept != page {
                kept_of.set(page, kept);
                links.set(page, CopyLink::Near(0).number());
            }
        }
        Ok::<_, StageError>(())
    });
}

/// Disjoint classes of pages; the root of each is its kept page.
struct DisjointClasses {
    parents: Vec<u32>,
}

impl DisjointClasses {
    fn parent(&self, page: u32) -> u32 {
        self.parents.get(page as usize).copied().unwrap_or(page)
    }

    fn find(&mut self, mut page: u32) -> u32 {
        while self.parent(page) != page {
            let grandparent = self.parent(self.parent(page));
            if let Some(slot) = self.parents.get_mut(page as usize) {
                *slot = grandparent;
            }
            page = grandparent;
        }
        page
    }

    fn join(&mut self, one: u32, other: u32, order: impl Fn(u32) -> RankedPage) {
        let (one, other) = (self.find(one), self.find(other));
        let (kept, removed) = if order(one) <= order(other) {
            (one, other)
        } else {
            (other, one)
        };
        if let Some(slot) = self.parents.get_mut(removed as usize) {
            *slot = kept;
        }
    }
}
