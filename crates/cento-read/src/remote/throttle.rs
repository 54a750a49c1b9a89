//! The rate limit.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The size of a burst: the number of bytes of this time may be received at once after a pause.
const BURST: Duration = Duration::from_millis(250);

/// A token bucket that fills at `rate` tokens per second; a byte costs one token. It may be
/// overdrawn, and then the caller waits. So a piece larger than the bucket passes too, and late
/// callers are not starved by early ones.
struct Bucket {
    rate: f64,
    tokens: f64,
    filled: Duration,
    #[cfg(test)]
    paid: u64,
}

impl Bucket {
    fn new(rate: u64) -> Self {
        let rate = rate.max(1) as f64;
        Bucket {
            rate,
            tokens: rate * BURST.as_secs_f64(),
            filled: Duration::ZERO,
            #[cfg(test)]
            paid: 0,
        }
    }

    /// Takes tokens for `bytes` at the time `now`. Returns how long to wait.
    fn take(&mut self, now: Duration, bytes: usize) -> Duration {
        let elapsed = now.saturating_sub(self.filled).as_secs_f64();
        self.filled = self.filled.max(now);
        self.tokens = (self.tokens + elapsed * self.rate).min(self.rate * BURST.as_secs_f64());
        self.tokens -= bytes as f64;
        #[cfg(test)]
        {
            self.paid += bytes as u64;
        }
        Duration::try_from_secs_f64(-self.tokens / self.rate).unwrap_or(Duration::ZERO)
    }
}

/// A bucket that all transfers share.
pub(super) struct Throttle {
    begun: Instant,
    bucket: Mutex<Bucket>,
}

impl Throttle {
    pub(super) fn new(rate: u64) -> Self {
        Throttle {
            begun: Instant::now(),
            bucket: Mutex::new(Bucket::new(rate)),
        }
    }

    #[cfg(test)]
    pub(super) fn paid(&self) -> u64 {
        self.bucket
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .paid
    }

    /// Takes tokens for `bytes` that were received, and waits if the bucket is overdrawn.
    pub(super) async fn pay(&self, bytes: usize) {
        let wait = {
            let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
            bucket.take(self.begun.elapsed(), bytes)
        };
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_more_is_granted_than_the_rate_and_one_burst(
            rate in 1u64..1 << 34,
            pieces in prop::collection::vec((0usize..1 << 20, 0u64..2_000), 1..200),
        ) {
            // Several callers with one clock; each waits as long as required.
            let mut bucket = Bucket::new(rate);
            let mut free_at = [Duration::ZERO; 3];
            let mut granted = 0u64;
            let mut last = Duration::ZERO;
            for (number, (bytes, idle)) in pieces.into_iter().enumerate() {
                let caller = &mut free_at[number % 3];
                let now = (*caller + Duration::from_millis(idle)).max(last);
                last = now;
                *caller = now + bucket.take(now, bytes);
                granted += bytes as u64;
                // After the wait, everything granted is within the rate.
                let allowed = rate as f64 * (caller.as_secs_f64() + BURST.as_secs_f64());
                prop_assert!(granted as f64 <= allowed * 1.000_001 + 1.0, "{granted} > {allowed}");
            }
        }
    }

    #[test]
    fn the_rate_is_reached() {
        let mut bucket = Bucket::new(1_000_000);
        let mut now = Duration::ZERO;
        for _ in 0..1_000 {
            now += bucket.take(now, 10_000);
        }
        // Ten megabytes at one megabyte per second, minus the initial burst.
        assert!((now.as_secs_f64() - 9.75).abs() < 0.01, "{now:?}");
    }
}
