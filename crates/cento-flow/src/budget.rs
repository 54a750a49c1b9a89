//! The memory budget of a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// A limit on the memory that all parts of a run use together.
///
/// ```text
///   ├──────── half ────────┼─────── quarter ──────┼─────── quarter ──────┤
///   output of finished       output of running      partitions being
///   tasks, and states        tasks, per thread      sorted, per thread
/// ```
///
/// The shares of the threads are reserved when a stage starts, so that no thread ever waits for
/// memory. The output of finished tasks stays in memory while the budget allows, and is written to
/// disk otherwise.
#[derive(Debug)]
pub struct MemoryBudget {
    limit: u64,
    used: AtomicU64,
}

/// Memory taken from a budget; dropping the lease returns it.
#[derive(Debug)]
pub struct Lease {
    budget: Arc<MemoryBudget>,
    bytes: u64,
}

impl MemoryBudget {
    /// The smallest budget for one thread. With less, a thread could not fill a chunk of rows and
    /// sort another.
    pub const MINIMUM_PER_THREAD: u64 = 1 << 20;

    /// Creates a budget of `limit` bytes for a number of threads.
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

    /// The size of the budget in bytes.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Bytes that are taken.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Bytes that can still be taken.
    pub fn available(&self) -> u64 {
        self.limit.saturating_sub(self.used())
    }

    /// Takes bytes if they are available.
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

    /// Takes bytes, or fails with an error that names what they are needed for.
    pub fn take(self: &Arc<Self>, bytes: u64, reason: &str) -> Result<Lease> {
        self.try_take(bytes).ok_or_else(|| Error::TooLittleMemory {
            limit: self.limit,
            needed: self.used().saturating_add(bytes),
            reason: format!(", including {reason}"),
        })
    }
}

impl Lease {
    /// The size of the lease.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The shares of a budget for each thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shares {
    /// Bytes of rows that are collected before they are partitioned.
    pub(crate) chunk: usize,
    /// Bytes of chunks that a running task may keep in memory before it spills them.
    pub(crate) task: u64,
    /// Bytes that a thread may always use for sorting.
    pub(crate) sort: u64,
}

/// A chunk fits in the second-level cache, so that partitioning it does not leave the cache.
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
    fn dropping_a_lease_returns_its_memory() {
        let budget = MemoryBudget::new(4 << 20, 1).unwrap();
        let lease = budget.try_take(3 << 20).unwrap();
        assert!(budget.try_take(2 << 20).is_none());
        assert!(budget.take(2 << 20, "a filter").is_err());
        drop(lease);
        assert_eq!(budget.used(), 0);
        assert!(budget.try_take(u64::MAX).is_none());
    }

    #[test]
    fn a_budget_below_the_minimum_is_refused_with_a_hint() {
        let error = MemoryBudget::new(1 << 20, 2).unwrap_err();
        assert!(error.to_string().contains("too small"), "{error}");
        assert!(error.hint().unwrap().contains("--memory"));
    }
}
