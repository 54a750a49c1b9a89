//! How long the work on one page takes.

use std::time::Duration;

/// The work on one page, on one thread, and how long it may take.
///
/// It is the time that the processor works on it which counts, not the time that passes: a machine
/// that sleeps, swaps or has other things to do must not change what a corpus holds. All steps are
/// linear in the size of the page, so that within the other limits none comes near the default;
/// this is a guard, and the only limit whose outcome can differ between machines.
pub(crate) struct Work {
    begun: Duration,
    most: Duration,
}

impl Work {
    pub(crate) fn begin(most: Duration) -> Work {
        Work { begun: now(), most }
    }

    /// Whether there is time left.
    pub(crate) fn goes_on(&self) -> bool {
        now().saturating_sub(self.begun) < self.most
    }
}

/// The time that this thread has worked.
#[cfg(unix)]
fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_nanos(u64::try_from(time.tv_nsec).unwrap_or(0))
}

/// Where a thread's own time cannot be had, the time that passes.
#[cfg(not(unix))]
fn now() -> Duration {
    static BEGUN: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    BEGUN.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_counts_and_waiting_does_not() {
        let work = Work::begin(Duration::from_millis(30));
        assert!(work.goes_on());
        #[cfg(unix)]
        {
            std::thread::sleep(Duration::from_millis(60));
            assert!(work.goes_on());
        }
        let begun = std::time::Instant::now();
        while work.goes_on() {
            assert!(begun.elapsed() < Duration::from_secs(60));
        }
        assert!(!Work::begin(Duration::ZERO).goes_on());
    }
}
