//! Working on several threads, or on as many as the system gives.

/// Calls `work` on so many threads at once, this one among them, and returns when all have ended.
/// Where the system starts no more threads, those that there are do all of it: work must be taken
/// from a common stock.
pub(crate) fn on_threads(threads: usize, work: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for _ in 1..threads {
            let started = std::thread::Builder::new().spawn_scoped(scope, &work);
            if started.is_err() {
                break;
            }
        }
        work();
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn all_threads_work_and_one_is_enough() {
        for threads in [0, 1, 5] {
            let called = AtomicUsize::new(0);
            on_threads(threads, || {
                called.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(called.into_inner(), threads.max(1));
        }
    }
}
