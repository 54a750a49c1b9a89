//! Running work on several threads, with errors and panics reported to the caller.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

use crate::error::{Error, Result};

/// Calls `work` on this thread and on `threads - 1` others, and returns when all of them have
/// ended.
///
/// The first failure, an error or a panic, is returned. `stop` is called as soon as a thread fails,
/// so that the others can end early instead of waiting for what the failed one should have done.
///
/// If the system refuses to start a thread, the ones that run do all the work: `work` must take its
/// tasks from a shared queue. One thread, this one, always runs, so that this is not an error.
pub(crate) fn on_threads(
    threads: usize,
    stop: impl Fn() + Sync,
    work: impl Fn() -> Result<()> + Sync,
) -> Result<()> {
    on_threads_of(Builder::new, threads, stop, work)
}

fn on_threads_of(
    builder: impl Fn() -> Builder,
    threads: usize,
    stop: impl Fn() + Sync,
    work: impl Fn() -> Result<()> + Sync,
) -> Result<()> {
    let failure = Mutex::new(None);
    let guarded = || {
        // What a panic leaves behind is not used: the run ends with the error below.
        let outcome = catch_unwind(AssertUnwindSafe(&work))
            .unwrap_or_else(|panic| Err(Error::Panicked(message_of(panic.as_ref()))));
        if let Err(error) = outcome {
            let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
            // Later failures are consequences of the first: the others were stopped.
            failure.get_or_insert(error);
            drop(failure);
            stop();
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            if builder().spawn_scoped(scope, guarded).is_err() {
                break;
            }
        }
        guarded();
    });
    let failure = failure.into_inner().unwrap_or_else(PoisonError::into_inner);
    failure.map_or(Ok(()), Err)
}

fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    #[test]
    fn work_runs_once_on_every_thread() {
        for threads in [0, 1, 5] {
            let called = AtomicUsize::new(0);
            let work = || {
                called.fetch_add(1, Ordering::Relaxed);
                Ok(())
            };
            on_threads(threads, || {}, work).unwrap();
            assert_eq!(called.into_inner(), threads.max(1));
        }
    }

    #[test]
    fn the_calling_thread_does_all_the_work_if_no_thread_can_be_started() {
        let (next, called) = (AtomicUsize::new(0), AtomicUsize::new(0));
        // No machine has memory for such a stack.
        let impossible = || Builder::new().stack_size(1 << 60);
        let work = || {
            called.fetch_add(1, Ordering::Relaxed);
            while next.fetch_add(1, Ordering::Relaxed) < 100 {}
            Ok(())
        };
        on_threads_of(impossible, 4, || {}, work).unwrap();
        assert_eq!(called.into_inner(), 1);
        assert!(next.into_inner() > 100);
    }

    #[test]
    fn a_panic_on_any_thread_stops_the_others_and_is_an_error() {
        for threads in [1, 4] {
            let (stopped, first) = (AtomicBool::new(false), AtomicBool::new(true));
            let work = || {
                assert!(!first.swap(false, Ordering::Relaxed), "a test panics");
                while !stopped.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
                Err(Error::Cancelled)
            };
            let stop = || stopped.store(true, Ordering::Relaxed);
            let error = on_threads(threads, stop, work).unwrap_err();
            assert!(matches!(&error, Error::Panicked(message) if message == "a test panics"));
            assert!(error.hint().unwrap().contains("report"), "{error}");
        }
    }
}
