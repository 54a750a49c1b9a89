//! Starting the runtime that transfers run on.

use std::io;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

/// How long idle threads for name lookups are kept. A thread that has ended cannot be replaced if
/// the process has reached its limit on threads.
const KEEP_ALIVE: Duration = Duration::from_secs(24 * 3600);

/// Starts a runtime for transfers, with one thread for name lookups.
pub(super) fn start() -> io::Result<Runtime> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let workers = cores.div_ceil(8).min(4);
    check_threads(workers + 1, |work| {
        thread::Builder::new()
            .name("cento-network".into())
            .spawn(work)
    })?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(workers)
        .thread_name("cento-network")
        .thread_keep_alive(KEEP_ALIVE)
        .enable_all()
        .build()?;
    // Starts the thread for name lookups.
    drop(runtime.spawn_blocking(|| ()));
    Ok(runtime)
}

/// Fails unless `count` threads can run at the same time.
///
/// `tokio` panics if it cannot start its workers, so threads are started here first. Another part
/// of the process may still take the last free thread in between; this is not handled.
fn check_threads<F>(count: usize, mut spawn: F) -> io::Result<()>
where
    F: FnMut(Box<dyn FnOnce() + Send>) -> io::Result<thread::JoinHandle<()>>,
{
    let mut started = Vec::new();
    let mut outcome = Ok(());
    for _ in 0..count {
        let (release, released) = mpsc::channel::<()>();
        // The thread ends when `release` is dropped.
        match spawn(Box::new(move || {
            let _ = released.recv();
        })) {
            Ok(thread) => started.push((release, thread)),
            Err(error) => {
                outcome = Err(error);
                break;
            }
        }
    }
    for (release, thread) in started {
        drop(release);
        // The closure does not panic.
        let _ = thread.join();
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_cannot_be_started_are_an_error() {
        for available in 0..3 {
            let mut started = 0;
            let checked = check_threads(3, |work| {
                if started == available {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                started += 1;
                thread::Builder::new().spawn(work)
            });
            assert_eq!(
                checked.map_err(|error| error.kind()),
                Err(io::ErrorKind::WouldBlock)
            );
        }
        assert!(check_threads(3, |work| thread::Builder::new().spawn(work)).is_ok());
    }
}
