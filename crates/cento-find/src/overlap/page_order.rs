//! The order of precedence of pages: the earliest by date first, see [`crate::precedence`].

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cento_file::{MappedFile, Output};

use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::executor::{ExecutorRole, executor, on_cluster};
use crate::overlap::sorted_order::sort_to_file;
use crate::precedence::Precedence;
use crate::run::Workplace;

/// The rank of each kept page, and the page of each rank. If the pages are in the order of their
/// dates already, ranks are page numbers, and no memory is used.
#[derive(Debug, Default)]
pub(crate) struct PageOrder {
    ranks: NumberColumn,
    pages: NumberColumn,
    /// The file of the order, which its driver removes.
    file: Option<PathBuf>,
}

/// A number for each page or rank.
#[derive(Debug)]
enum NumberColumn {
    Own(Vec<u32>),
    /// In a file, from this byte on.
    Mapped(Arc<MappedFile>, usize, usize),
}

impl Default for NumberColumn {
    fn default() -> NumberColumn {
        NumberColumn::Own(Vec::new())
    }
}

impl NumberColumn {
    #[inline]
    fn get(&self, at: u32) -> Option<u32> {
        match self {
            NumberColumn::Own(numbers) => numbers.get(at as usize).copied(),
            NumberColumn::Mapped(file, begin, count) => {
                let at = Some(at as usize).filter(|at| at < count)?;
                let bytes = file.bytes().get(begin + 4 * at..begin + 4 * at + 4)?;
                Some(u32::from_le_bytes(bytes.try_into().ok()?))
            }
        }
    }

    fn write(&self, output: &mut impl Write) -> io::Result<()> {
        match self {
            NumberColumn::Own(numbers) => numbers
                .iter()
                .try_for_each(|number| output.write_all(&number.to_le_bytes())),
            NumberColumn::Mapped(file, begin, count) => {
                let bytes = file.bytes().get(*begin..begin + 4 * count);
                output.write_all(bytes.unwrap_or_default())
            }
        }
    }
}

impl PageOrder {
    /// The most bytes of memory per page.
    pub(crate) const BYTES_PER_PAGE: u64 = 8;
    /// The bytes of memory per page while the order is computed.
    pub(crate) const BYTES_TO_SORT: u64 = (size_of::<Precedence>() + size_of::<u32>()) as u64;

    /// Fails if the order of all kept pages cannot be computed in this much memory. On a cluster
    /// it always can.
    pub(crate) fn check_memory(source: &CorpusPages, memory: u64) -> Result<()> {
        let needed = u64::from(source.kept()) * Self::BYTES_TO_SORT;
        if needed <= memory || on_cluster() {
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

    /// Returns the bytes of memory that the order takes in this process. On a cluster it is mapped.
    pub(crate) fn held_bytes(source: &CorpusPages) -> u64 {
        match on_cluster() {
            true => 0,
            false => u64::from(source.kept()) * Self::BYTES_PER_PAGE,
        }
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
        Ok(PageOrder {
            ranks: NumberColumn::Own(ranks),
            pages: NumberColumn::Own(pages),
            file: None,
        })
    }

    /// The same; but on a cluster the driver computes the order once and writes it to a file
    /// beside the findings, which all processes map: it exists once on each machine.
    pub(crate) fn shared(source: &CorpusPages, workplace: &Workplace) -> Result<PageOrder> {
        let role = executor().role();
        if role == ExecutorRole::Local {
            return PageOrder::of(source);
        }
        let identity = blake3::hash(source.identity().to_string().as_bytes()).to_hex();
        let name: String = identity.chars().take(16).collect();
        let folder = &workplace.findings;
        let path = folder.join(format!(".page-order-{name}"));
        if role == ExecutorRole::Driver {
            let failed = |error| Error::io(&path, error);
            fs::create_dir_all(folder).map_err(failed)?;
            if u64::from(source.kept()) * Self::BYTES_TO_SORT <= workplace.memory {
                PageOrder::of(source)?.write(&path).map_err(failed)?;
            } else {
                sort_to_file(source, &path, workplace.memory)?;
            }
            let mut order = PageOrder::open(&path).map_err(failed)?;
            order.file = Some(path);
            return Ok(order);
        }
        match PageOrder::open(&path) {
            Ok(order) => Ok(order),
            Err(error) if error.kind() == io::ErrorKind::NotFound => PageOrder::of(source),
            Err(error) => Err(Error::io(&path, error)),
        }
    }

    /// Writes the pages and the ranks, one after the other.
    fn write(&self, path: &Path) -> io::Result<()> {
        let mut output = BufWriter::new(Output::within(path)?);
        self.pages.write(&mut output)?;
        self.ranks.write(&mut output)?;
        let output = output
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        output.finish()
    }

    fn open(path: &Path) -> io::Result<PageOrder> {
        let file = Arc::new(MappedFile::open(path)?);
        let count = file.bytes().len() / 8;
        Ok(PageOrder {
            pages: NumberColumn::Mapped(Arc::clone(&file), 0, count),
            ranks: NumberColumn::Mapped(file, 4 * count, count),
            file: None,
        })
    }

    /// Returns the rank of a page.
    pub(crate) fn rank(&self, page: u32) -> u32 {
        self.ranks.get(page).unwrap_or(page)
    }

    /// Returns the page of a rank.
    pub(crate) fn page(&self, rank: u32) -> u32 {
        self.pages.get(rank).unwrap_or(rank)
    }
}

impl Drop for PageOrder {
    fn drop(&mut self) {
        if let Some(path) = &self.file {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_reads_back_from_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("order");
        let order = PageOrder {
            ranks: NumberColumn::Own(vec![2, 0, 1]),
            pages: NumberColumn::Own(vec![1, 2, 0]),
            file: None,
        };
        for order in [order, PageOrder::default()] {
            order.write(&path).unwrap();
            let again = PageOrder::open(&path).unwrap();
            for number in 0..5 {
                assert_eq!(again.rank(number), order.rank(number));
                assert_eq!(again.page(number), order.page(number));
            }
        }
    }
}
