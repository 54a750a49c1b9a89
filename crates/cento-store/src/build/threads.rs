//! Running one function on several threads, with panics as errors.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::error::{Error, Result};

/// Calls `work` on this many threads at once, one of them the current one, and waits for all.
/// Returns the first error; a panic is an error. If the system does not start as many threads, the
/// others do all the work, so `work` must take its share from a common queue.
pub(super) fn on_threads(threads: usize, work: impl Fn() -> Result<()> + Sync) -> Result<()> {
    on_threads_of(threads, thread::Builder::new, work)
}

fn on_threads_of(
    threads: usize,
    builder: impl Fn() -> thread::Builder,
    work: impl Fn() -> Result<()> + Sync,
) -> Result<()> {
    let failure = Mutex::new(None);
    let work = || {
        if let Err(error) = catch(&work) {
            lock(&failure).get_or_insert(error);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            if builder().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    match lock(&failure).take() {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Calls `work`, and turns a panic into an error.
pub(super) fn catch(work: impl FnOnce() -> Result<()>) -> Result<()> {
    // What is shared with the thread that panicked stays sound: parts are committed as a whole, and
    // the manifest names no others.
    std::panic::catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(Error::Panicked(message(panic.as_ref()))))
}

/// The message of a panic.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("no message").to_owned()
}

/// Locks a mutex, even if a thread panicked while it held the lock: such a panic ends the run with
/// an error, and leaves nothing behind these locks that others would commit.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn all_threads_work_and_a_panic_in_one_is_an_error() {
        for threads in [0, 1, 5] {
            let calls = AtomicUsize::new(0);
            let outcome = on_threads(threads, || {
                assert_ne!(calls.fetch_add(1, Ordering::Relaxed), 0, "the first call");
                Ok(())
            });
            assert_eq!(calls.into_inner(), threads.max(1));
            let error = outcome.unwrap_err();
            assert!(matches!(&error, Error::Panicked(why) if why.contains("the first call")));
        }
    }

    #[test]
    fn the_current_thread_does_all_the_work_if_no_other_can_be_started() {
        // No system has this much address space for a stack.
        let builder = || thread::Builder::new().stack_size(1 << 60);
        let calls = AtomicUsize::new(0);
        let work = || {
            calls.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        on_threads_of(8, builder, work).unwrap();
        assert_eq!(calls.into_inner(), 1);
    }
}
