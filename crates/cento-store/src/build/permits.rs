//! Permits: how many batches may exist at once.

use std::sync::{Condvar, Mutex, PoisonError};

use super::threads::lock;

/// A number of batches that may exist; waiting for a permit keeps memory within its bound.
pub(super) struct Permits {
    free: Mutex<usize>,
    freed: Condvar,
}

impl Permits {
    pub(super) fn new(free: usize) -> Permits {
        Permits {
            free: Mutex::new(free),
            freed: Condvar::new(),
        }
    }

    /// Waits for a permit.
    pub(super) fn acquire(&self) -> Permit<'_> {
        let mut free = lock(&self.free);
        while *free == 0 {
            free = self
                .freed
                .wait(free)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        Permit { permits: self }
    }

    pub(super) fn release(&self) {
        *lock(&self.free) += 1;
        self.freed.notify_all();
    }
}

/// The permit for one batch. It is released when dropped, unless a batch that waits for its turn
/// [keeps](Permit::keep) it.
pub(super) struct Permit<'a> {
    permits: &'a Permits,
}

impl Permit<'_> {
    pub(super) fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.permits.release();
    }
}
