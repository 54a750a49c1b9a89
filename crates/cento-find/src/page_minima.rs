//! One number per page, of which the smallest is kept: what states of one number per page share.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::BuildHasherDefault;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use bytemuck::Zeroable;
use bytes::Bytes;
use cento_flow::StageError;

use crate::numbers::NumberHasher;

/// The number of pages that are written or read together.
const BATCH: usize = 1 << 14;
/// A sparse state becomes a dense one when one of so many pages has a number.
const DENSE_FROM: usize = 32;

/// An atomic number. Zeros are the largest one, so that memory that nobody has written to, which
/// the system provides without occupying any, has no numbers.
pub(crate) trait AtomicNumber: Zeroable + Send + Sync {
    type Value: Copy + Ord + Send;
    type Bytes: AsRef<[u8]> + for<'a> TryFrom<&'a [u8]>;
    /// The value of a page without a number.
    const UNSET: Self::Value;
    const SIZE: usize;

    /// Keeps the smaller of its number and another one.
    fn lower(&self, value: Self::Value);
    fn value(&self) -> Self::Value;
    fn encode(value: Self::Value) -> Self::Bytes;
    fn decode(bytes: Self::Bytes) -> Self::Value;
}

macro_rules! atomic_number {
    ($atomic:ty, $value:ty) => {
        impl AtomicNumber for $atomic {
            type Value = $value;
            type Bytes = [u8; size_of::<$value>()];
            const UNSET: $value = <$value>::MAX;
            const SIZE: usize = size_of::<$value>();

            #[inline]
            fn lower(&self, value: $value) {
                self.fetch_max(!value, Ordering::Relaxed);
            }

            #[inline]
            fn value(&self) -> $value {
                !self.load(Ordering::Relaxed)
            }

            #[inline]
            fn encode(value: $value) -> Self::Bytes {
                value.to_le_bytes()
            }

            #[inline]
            fn decode(bytes: Self::Bytes) -> $value {
                <$value>::from_le_bytes(bytes)
            }
        }
    };
}

atomic_number!(AtomicU32, u32);
atomic_number!(AtomicU64, u64);

/// The numbers of all pages.
pub(crate) struct PageMinima<A: AtomicNumber> {
    pages: usize,
    numbers: PageNumbers<A>,
}

enum PageNumbers<A: AtomicNumber> {
    Dense(Vec<A>),
    Sparse(SparseNumbers<A>),
    /// As [`PageMinima::write`] has written them.
    View(Bytes),
}

/// The numbers of few pages.
struct SparseNumbers<A: AtomicNumber> {
    few: Mutex<HashMap<u32, A::Value, BuildHasherDefault<NumberHasher>>>,
    /// All of them, once they are many.
    many: OnceLock<Vec<A>>,
}

impl<A: AtomicNumber> PageMinima<A> {
    /// Returns the numbers of pages that have none yet.
    pub(crate) fn dense(pages: u64) -> PageMinima<A> {
        let pages = pages as usize;
        PageMinima {
            pages,
            numbers: PageNumbers::Dense(bytemuck::zeroed_vec(pages)),
        }
    }

    /// The same, for a task that sets the numbers of few pages.
    pub(crate) fn sparse(pages: u64) -> PageMinima<A> {
        PageMinima {
            pages: pages as usize,
            numbers: PageNumbers::Sparse(SparseNumbers {
                few: Mutex::default(),
                many: OnceLock::new(),
            }),
        }
    }

    /// Returns the numbers that [`PageMinima::write`] has written; None if they are not those of
    /// this many pages.
    pub(crate) fn view(pages: u64, bytes: Bytes) -> Option<PageMinima<A>> {
        let pages = pages as usize;
        (bytes.len() == pages * A::SIZE).then_some(PageMinima {
            pages,
            numbers: PageNumbers::View(bytes),
        })
    }

    /// Sets the number of a page, unless it has a smaller one.
    #[inline]
    pub(crate) fn set(&self, page: u32, value: A::Value) {
        match &self.numbers {
            PageNumbers::Dense(numbers) => {
                if let Some(number) = numbers.get(page as usize) {
                    number.lower(value);
                }
            }
            PageNumbers::Sparse(sparse) if (page as usize) < self.pages => {
                sparse.set(page, value, self.pages);
            }
            _ => {}
        }
    }

    /// Returns the number of a page.
    #[inline]
    pub(crate) fn get(&self, page: u32) -> A::Value {
        let at = page as usize;
        let found = match &self.numbers {
            PageNumbers::Dense(numbers) => numbers.get(at).map(A::value),
            PageNumbers::Sparse(sparse) => match sparse.many.get() {
                Some(many) => many.get(at).map(A::value),
                None => sparse.lock().get(&page).copied(),
            },
            PageNumbers::View(bytes) => {
                let bytes = bytes.get(at * A::SIZE..(at + 1) * A::SIZE);
                let bytes = bytes.and_then(|bytes| A::Bytes::try_from(bytes).ok());
                bytes.map(A::decode)
            }
        };
        found.unwrap_or(A::UNSET)
    }

    /// Merges the numbers that [`PageMinima::write`] has written.
    pub(crate) fn absorb(&self, other: &mut dyn Read) -> Result<(), StageError> {
        let mut bytes = vec![0; BATCH * A::SIZE];
        for begin in (0..self.pages).step_by(BATCH) {
            let many = BATCH.min(self.pages - begin);
            let bytes = bytes.get_mut(..many * A::SIZE).unwrap_or_default();
            other.read_exact(bytes)?;
            for (page, number) in (begin as u32..).zip(bytes.chunks_exact(A::SIZE)) {
                let value = A::Bytes::try_from(number).map_or(A::UNSET, A::decode);
                if value != A::UNSET {
                    self.set(page, value);
                }
            }
        }
        Ok(())
    }

    /// Writes all numbers, little-endian, in the order of pages.
    pub(crate) fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        match &self.numbers {
            PageNumbers::Dense(numbers) => write_dense(numbers, output),
            PageNumbers::View(bytes) => output.write_all(bytes),
            PageNumbers::Sparse(sparse) => match sparse.many.get() {
                Some(many) => write_dense(many, output),
                None => sparse.write_few(self.pages, output),
            },
        }
    }
}

impl<A: AtomicNumber> SparseNumbers<A> {
    fn lock(
        &self,
    ) -> std::sync::MutexGuard<'_, HashMap<u32, A::Value, BuildHasherDefault<NumberHasher>>> {
        self.few.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, page: u32, value: A::Value, pages: usize) {
        if let Some(number) = self.many.get().and_then(|many| many.get(page as usize)) {
            number.lower(value);
            return;
        }
        let mut few = self.lock();
        // Another thread may have moved them while this one waited.
        if let Some(number) = self.many.get().and_then(|many| many.get(page as usize)) {
            number.lower(value);
            return;
        }
        match few.entry(page) {
            Entry::Occupied(mut entry) => {
                let smaller = value.min(*entry.get());
                entry.insert(smaller);
            }
            Entry::Vacant(entry) => {
                entry.insert(value);
            }
        }
        if few.len() > pages / DENSE_FROM {
            self.many.get_or_init(|| {
                let many: Vec<A> = bytemuck::zeroed_vec(pages);
                for (page, value) in few.drain() {
                    if let Some(number) = many.get(page as usize) {
                        number.lower(value);
                    }
                }
                few.shrink_to_fit();
                many
            });
        }
    }

    fn write_few(&self, pages: usize, output: &mut dyn Write) -> io::Result<()> {
        let few = self.lock();
        let mut numbers: Vec<(u32, A::Value)> =
            few.iter().map(|(&page, &value)| (page, value)).collect();
        drop(few);
        numbers.sort_unstable();
        let mut next = numbers.into_iter().peekable();
        let unset = A::encode(A::UNSET).as_ref().repeat(BATCH);
        let mut bytes = unset.clone();
        for begin in (0..pages).step_by(BATCH) {
            let end = pages.min(begin + BATCH);
            let mut changed = false;
            while let Some((page, value)) = next.next_if(|&(page, _)| (page as usize) < end) {
                let at = (page as usize - begin) * A::SIZE;
                if let Some(slot) = bytes.get_mut(at..at + A::SIZE) {
                    slot.copy_from_slice(A::encode(value).as_ref());
                    changed = true;
                }
            }
            output.write_all(bytes.get(..(end - begin) * A::SIZE).unwrap_or_default())?;
            if changed {
                bytes.copy_from_slice(&unset);
            }
        }
        Ok(())
    }
}

fn write_dense<A: AtomicNumber>(numbers: &[A], output: &mut dyn Write) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(BATCH * A::SIZE);
    for batch in numbers.chunks(BATCH) {
        bytes.clear();
        for number in batch {
            bytes.extend_from_slice(A::encode(number.value()).as_ref());
        }
        output.write_all(&bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written<A: AtomicNumber>(minima: &PageMinima<A>) -> Vec<u8> {
        let mut bytes = Vec::new();
        minima.write(&mut bytes).unwrap();
        bytes
    }

    proptest! {
        #[test]
        fn all_forms_have_the_same_numbers_and_bytes(
            pages in 1u64..40_000,
            changes in prop::collection::vec((0u32..40_000, 0u64..9), 0..2000),
        ) {
            let [dense, copy] = [0, 1].map(|_| PageMinima::<AtomicU64>::dense(pages));
            let sparse = PageMinima::<AtomicU64>::sparse(pages);
            for &(page, value) in &changes {
                dense.set(page, value);
                sparse.set(page, value);
            }
            let bytes = written(&dense);
            prop_assert_eq!(&bytes, &written(&sparse));
            copy.absorb(&mut bytes.as_slice()).unwrap();
            let view = PageMinima::<AtomicU64>::view(pages, bytes.clone().into()).unwrap();
            prop_assert_eq!(&bytes, &written(&copy));
            prop_assert_eq!(&bytes, &written(&view));
            for page in changes.iter().map(|&(page, _)| page).chain([0, pages as u32]) {
                let least = changes.iter().filter(|&&(other, _)| other == page);
                let least = least.map(|&(_, value)| value).min();
                let expected = least.filter(|_| u64::from(page) < pages).unwrap_or(u64::MAX);
                for minima in [&dense, &sparse, &copy, &view] {
                    prop_assert_eq!(minima.get(page), expected);
                }
            }
        }
    }

    #[test]
    fn bytes_of_another_number_of_pages_are_no_view() {
        let bytes = written(&PageMinima::<AtomicU32>::dense(10));
        assert!(PageMinima::<AtomicU32>::view(10, bytes.clone().into()).is_some());
        assert!(PageMinima::<AtomicU32>::view(11, bytes.into()).is_none());
    }
}
