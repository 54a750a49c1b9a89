//! The order of precedence of pages: the earliest by date first, see [`crate::precedence`].

use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::precedence::Precedence;

/// The rank of each kept page, and the page of each rank. If the pages are in the order of their
/// dates already, ranks are page numbers, and no memory is used.
#[derive(Debug, Default)]
pub(crate) struct PageOrder {
    ranks: Vec<u32>,
    pages: Vec<u32>,
}

impl PageOrder {
    /// The most bytes of memory per page.
    pub(crate) const BYTES_PER_PAGE: u64 = 8;
    /// The bytes of memory per page while the order is computed.
    pub(crate) const BYTES_TO_SORT: u64 = (size_of::<Precedence>() + size_of::<u32>()) as u64;

    /// Fails if the order of all kept pages cannot be computed in this much memory.
    pub(crate) fn check_memory(source: &CorpusPages, memory: u64) -> Result<()> {
        let needed = u64::from(source.kept()) * Self::BYTES_TO_SORT;
        if needed <= memory {
            return Ok(());
        }
        Err(Error::Flow(cento_flow::Error::TooLittleMemory {
            limit: memory,
            needed,
            reason: format!(
                " to sort {} pages by date, at {} bytes each",
                source.kept(),
                Self::BYTES_TO_SORT
            ),
        }))
    }

    /// Returns the order of the kept pages of a corpus.
    pub(crate) fn of(source: &CorpusPages) -> Result<PageOrder> {
        let mut order: Vec<Precedence> = Vec::with_capacity(source.kept() as usize);
        for task in 0..source.page_tasks().len() {
            source.for_each_page::<Error>(task, |facts| {
                if facts.reject.is_none() {
                    order.push(Precedence::of(&facts));
                }
                Ok(())
            })?;
        }
        if order.is_sorted() {
            return Ok(PageOrder::default());
        }
        order.sort_unstable();
        let pages: Vec<u32> = order.iter().map(|page| page.number).collect();
        drop(order);
        let mut ranks = vec![0; pages.len()];
        for (rank, &page) in (0u32..).zip(&pages) {
            if let Some(slot) = ranks.get_mut(page as usize) {
                *slot = rank;
            }
        }
        Ok(PageOrder { ranks, pages })
    }

    /// Returns the rank of a page.
    pub(crate) fn rank(&self, page: u32) -> u32 {
        self.ranks.get(page as usize).copied().unwrap_or(page)
    }

    /// Returns the page of a rank.
    pub(crate) fn page(&self, rank: u32) -> u32 {
        self.pages.get(rank as usize).copied().unwrap_or(rank)
    }
}
