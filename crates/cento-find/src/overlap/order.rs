//! The order in which pages take precedence: the earlier by date first, see [`crate::precedence`].

use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::precedence::Precedence;

/// The rank of each kept page, and the page of each rank. Without dates, ranks are the numbers of
/// pages, and nothing is held.
#[derive(Debug, Default)]
pub(super) struct Order {
    ranks: Vec<u32>,
    pages: Vec<u32>,
}

impl Order {
    /// Of the kept pages of a source.
    pub(super) fn of(source: &CorpusPages) -> Result<Order> {
        let mut order: Vec<Precedence> = Vec::new();
        for task in 0..source.page_tasks().len() {
            source.for_each_page::<Error>(task, |facts| {
                if facts.reject.is_none() {
                    order.push(Precedence::of(&facts));
                }
                Ok(())
            })?;
        }
        if order.is_sorted() {
            return Ok(Order::default());
        }
        order.sort_unstable();
        let pages: Vec<u32> = order.iter().map(|place| place.number).collect();
        drop(order);
        let mut ranks = vec![0; pages.len()];
        for (rank, &page) in (0u32..).zip(&pages) {
            if let Some(slot) = ranks.get_mut(page as usize) {
                *slot = rank;
            }
        }
        Ok(Order { ranks, pages })
    }

    /// The rank of a page.
    pub(super) fn rank(&self, page: u32) -> u32 {
        self.ranks.get(page as usize).copied().unwrap_or(page)
    }

    /// The page of a rank.
    pub(super) fn page(&self, rank: u32) -> u32 {
        self.pages.get(rank as usize).copied().unwrap_or(rank)
    }

    /// Bytes that are held.
    pub(super) fn bytes(&self) -> u64 {
        4 * (self.ranks.len() + self.pages.len()) as u64
    }
}
