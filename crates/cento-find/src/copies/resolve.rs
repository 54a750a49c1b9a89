//! Who stays and who goes.
//!
//! Pages are gone through in the order of who stays. One goes if a page that stays resembles it,
//! and stays otherwise. So with A ~ B ~ C and A unlike C, B goes in favour of A, and C stays:
//! nobody is dropped for a page that it does not resemble.
//!
//! The order is whole, so this takes one thread; it takes one look at each verified edge, and a bit
//! of memory for each page.

use std::sync::Arc;

use cento_flow::{Bitmap, Registry, StageError};

use super::exact::Link;
use super::meet::{answer, answered};
use super::rows::{Edge, Place};
use crate::corpus_pages::CorpusPages;
use crate::names::{NAMED, ROW};
use crate::numbers::{Numbers, UNSET};

pub(super) fn register(registry: &mut Registry, source: &Arc<CorpusPages>) {
    registry.reduce::<Edge, _>("decide", |context, groups| {
        let removed = context.state::<Numbers>("removed")?;
        let mut known = context.shuffle::<Edge>("known edges")?;
        while let Some(group) = groups.next_group()? {
            let page = Place::of_key(group.key()).page;
            let mut alike = false;
            for edge in group {
                // Edges lead from earlier pages to later ones, and earlier ones are decided.
                alike |= !answered(&removed, edge.of.page);
                known.push(edge)?;
            }
            answer(&removed, page, alike);
        }
        Ok(())
    });
    registry.reduce::<Edge, _>("resolve", |context, groups| {
        let (kept_of, links) = (
            context.state::<Numbers>("kept of")?,
            context.state::<Numbers>("links")?,
        );
        let named = context.state::<Bitmap>(NAMED)?;
        let mut near = context.wide_shuffle("near of")?;
        while let Some(group) = groups.next_group()? {
            let page = Place::of_key(group.key()).page;
            let mut best: Option<Edge> = None;
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
                links.set(page, Link::Near(edge.resemblance).number());
            }
        }
        Ok(())
    });
    let pages = source.all();
    registry.reduce::<Edge, _>("close", move |context, groups| {
        let (kept_of, links) = (
            context.state::<Numbers>("kept of")?,
            context.state::<Numbers>("links")?,
        );
        let ranks = context.state::<Numbers>("ranks")?;
        let bytes = u64::from(pages) * size_of::<u32>() as u64;
        let _lease = context.budget().take(bytes, "the classes of all pages")?;
        let mut classes = Classes {
            parents: (0..pages).collect(),
        };
        let order = |page: u32| Place {
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
                links.set(page, Link::Near(0).number());
            }
        }
        Ok::<_, StageError>(())
    });
}

/// Classes of pages that are joined one by one; each is known by the page that stays.
struct Classes {
    parents: Vec<u32>,
}

impl Classes {
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

    fn join(&mut self, one: u32, other: u32, order: impl Fn(u32) -> Place) {
        let (one, other) = (self.find(one), self.find(other));
        let (kept, gone) = if order(one) <= order(other) {
            (one, other)
        } else {
            (other, one)
        };
        if let Some(slot) = self.parents.get_mut(gone as usize) {
            *slot = kept;
        }
    }
}
