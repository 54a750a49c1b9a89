//! A limit on the processor time that one page may take.

use std::time::Duration;

/// The processor time that is left for one page on the current thread.
///
/// Processor time counts, not wall-clock time: a machine that sleeps, swaps or runs other programs
/// must not change the contents of a corpus. All steps are linear in the size of a page, so within
/// the other limits no page comes near the default. This is a safeguard, and the only limit whose
/// outcome can differ between machines.
pub(crate) struct TimeLimit {
    begun: Duration,
    limit: Duration,
}

impl TimeLimit {
    pub(crate) fn begin(limit: Duration) -> TimeLimit {
        TimeLimit {
            begun: thread_time(),
            limit,
        }
    }

    /// Whether no time is left.
    pub(crate) fn is_over(&self) -> bool {
        thread_time().saturating_sub(self.begun) >= self.limit
    }
}

/// The processor time of the current thread.
#[cfg(unix)]
fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_nanos(u64::try_from(time.tv_nsec).unwrap_or(0))
}

/// Wall-clock time, on systems without a clock for each thread.
#[cfg(not(unix))]
fn thread_time() -> Duration {
    static BEGUN: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    BEGUN.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_counts_and_sleeping_does_not() {
        let time = TimeLimit::begin(Duration::from_millis(30));
        assert!(!time.is_over());
        #[cfg(unix)]
        {
            std::thread::sleep(Duration::from_millis(60));
            assert!(!time.is_over());
        }
        let begun = std::time::Instant::now();
        while !time.is_over() {
            assert!(begun.elapsed() < Duration::from_secs(60));
        }
        assert!(TimeLimit::begin(Duration::ZERO).is_over());
    }
}
