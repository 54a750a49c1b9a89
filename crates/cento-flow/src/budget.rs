//! One memory budget that everything draws on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// A number of bytes that may be held at once, shared by all who hold any.
///
/// ```text
///   ├──────── half ────────┼─────── quarter ──────┼─────── quarter ──────┤
///   finished tasks' output   output of the tasks    partitions being
///   and states, then disk    that run, by thread    sorted, by thread
/// ```
///
/// What runs has its share set apart when a stage begins, so that no thread ever waits for another;
/// what is finished stays in memory while there is room and goes to disk when there is none.
#[derive(Debug)]
pub struct MemoryBudget {
    limit: u64,
    used: AtomicU64,
}

/// Bytes taken from a budget; given back when it is dropped.
#[derive(Debug)]
pub struct Lease {
    budget: Arc<MemoryBudget>,
    bytes: u64,
}

impl MemoryBudget {
    /// The smallest budget for one thread. Below it a thread could not hold a chunk of rows and
    /// sort another.
    pub const MINIMUM_PER_THREAD: u64 = 1 << 20;

    /// A budget of so many bytes for so many threads.
    pub fn new(limit: u64, threads: usize) -> Result<Arc<MemoryBudget>> {
        let needed = Self::MINIMUM_PER_THREAD * threads.max(1) as u64;
        if limit < needed {
            return Err(Error::TooLittleMemory {
                limit,
                needed,
                reason: format!(" for {threads} threads"),
            });
        }
        Ok(Arc::new(MemoryBudget {
            limit,
            used: AtomicU64::new(0),
        }))
    }

    /// All of it.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// What is taken now.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Bytes that can still be taken.
    pub fn available(&self) -> u64 {
        self.limit.saturating_sub(self.used())
    }

    /// Takes bytes if so many are left.
    pub fn try_take(self: &Arc<Self>, bytes: u64) -> Option<Lease> {
        self.used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                used.checked_add(bytes).filter(|&used| used <= self.limit)
            })
            .ok()?;
        Some(Lease {
            budget: Arc::clone(self),
            bytes,
        })
    }

    /// Takes bytes for something that there is no way around, or says for what there was no room.
    pub fn take(self: &Arc<Self>, bytes: u64, reason: &str) -> Result<Lease> {
        self.try_take(bytes).ok_or_else(|| Error::TooLittleMemory {
            limit: self.limit,
            needed: self.used().saturating_add(bytes),
            reason: format!(" with {reason}"),
        })
    }
}

impl Lease {
    /// How much it is.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// How the parts of a budget are laid out for a number of threads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shares {
    /// Rows that are collected before they are ordered by partition.
    pub(crate) chunk: usize,
    /// Chunks that a running task may hold before it writes them out.
    pub(crate) task: u64,
    /// What a thread may surely use to sort.
    pub(crate) sort: u64,
}

/// A chunk stays in the second-level cache, so that ordering it by partition does.
const CHUNK: u64 = 1 << 20;

impl Shares {
    pub(crate) fn new(budget: &MemoryBudget, threads: usize) -> Shares {
        let quarter = budget.limit / 4 / threads.max(1) as u64;
        Shares {
            chunk: (quarter / 8).clamp(16 << 10, CHUNK) as usize,
            task: quarter,
            sort: quarter,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_comes_back() {
        let budget = MemoryBudget::new(4 << 20, 1).unwrap();
        let lease = budget.try_take(3 << 20).unwrap();
        assert!(budget.try_take(2 << 20).is_none());
        assert!(budget.take(2 << 20, "a filter").is_err());
        drop(lease);
        assert_eq!(budget.used(), 0);
        assert!(budget.try_take(u64::MAX).is_none());
    }

    #[test]
    fn a_budget_below_the_minimum_is_refused_with_advice() {
        let error = MemoryBudget::new(1 << 20, 2).unwrap_err();
        assert!(error.to_string().contains("too small"), "{error}");
        assert!(error.hint().unwrap().contains("--memory"));
    }
}
