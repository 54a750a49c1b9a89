//! Delays between retries.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use super::RemoteSettings;

/// The longest delay that a server may ask for.
const LONGEST_REQUESTED_DELAY: Duration = Duration::from_secs(120);

/// The delay after `tries` consecutive failures. It doubles each time up to a limit and is
/// shortened by a random share of up to half, so that clients that failed together do not retry
/// together. It is at least what the server asked for.
pub(super) fn delay(
    settings: &RemoteSettings,
    tries: u32,
    requested_delay: Option<Duration>,
    random: u64,
) -> Duration {
    let doubled = 1u32
        .checked_shl(tries.saturating_sub(1).min(31))
        .unwrap_or(u32::MAX);
    let full = settings
        .first_delay
        .saturating_mul(doubled)
        .min(settings.longest_delay);
    let share = 0.5 + (random >> 11) as f64 / (1u64 << 54) as f64;
    full.mul_f64(share.min(1.0)).max(
        requested_delay
            .unwrap_or_default()
            .min(LONGEST_REQUESTED_DELAY),
    )
}

/// A random number.
pub(super) fn random() -> u64 {
    // The keys of the hasher are the only random numbers in the standard library.
    RandomState::new().hash_one(0u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_a_limit_and_are_shortened_at_random() {
        let settings = RemoteSettings {
            first_delay: Duration::from_millis(100),
            longest_delay: Duration::from_secs(2),
            ..RemoteSettings::default()
        };
        let full = |tries| delay(&settings, tries, None, u64::MAX);
        for (tries, milliseconds) in [(1, 100), (2, 200), (3, 400), (6, 2000), (40, 2000)] {
            assert_eq!(full(tries).as_millis(), milliseconds, "{tries}");
            assert_eq!(delay(&settings, tries, None, 0), full(tries) / 2);
        }
        for _ in 0..100 {
            let pause = delay(&settings, 3, None, random());
            assert!((full(3) / 2..=full(3)).contains(&pause), "{pause:?}");
        }
    }

    #[test]
    fn a_server_may_ask_for_a_longer_delay_up_to_a_limit() {
        let settings = RemoteSettings::default();
        let requested_delay = |seconds| delay(&settings, 1, Some(Duration::from_secs(seconds)), 0);
        assert_eq!(requested_delay(7), Duration::from_secs(7));
        assert_eq!(requested_delay(1 << 40), LONGEST_REQUESTED_DELAY);
        assert_eq!(requested_delay(0), settings.first_delay / 2);
    }
}
