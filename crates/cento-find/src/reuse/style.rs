//! The style of reuse, which the paper assigns by hand in its Tables 5 and 7.
//!
//! Rules, in this order; the first that applies decides:
//!
//! * `alias`: both pages are captures of one URL, or they have the same set of fingerprints and are
//!   on one host, apart from `www.`.
//! * `frame`: at least half of the shared fingerprints belong to the page frame of the host of
//!   either page.
//! * `template`: C1, C2 or C4; at least half of the other shared fingerprints are frequent;
//!   and each page has fingerprints that the other lacks (changed slots).
//! * `phrase`: not C1, C2 or C4; at least half of the other shared fingerprints are frequent.
//! * `reuse`: all other pairs.
//!
//! *Frequent* fingerprints are on at least [`ReuseParams::frequent`](super::ReuseParams::frequent)
//! distinct pages. A fingerprint belongs to the *page frame* of a host if it is on at least
//! [`FRAME_PAGES`] distinct pages of the host and on a fifth of them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::category::Category;

/// The minimum number of pages of a host with a fingerprint of its page frame.
pub const FRAME_PAGES: u32 = 5;
/// The minimum share of these pages: one in this many.
const FRAME_SHARE: u32 = 5;

/// Whether a fingerprint on `count` of the `pages` distinct pages of a host belongs to the frame.
pub(super) fn is_frame(count: u32, pages: u32) -> bool {
    count >= FRAME_PAGES && u64::from(count) * u64::from(FRAME_SHARE) >= u64::from(pages)
}

/// The style of reuse of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReuseStyle {
    /// Text that few pages have, or that one page has with nothing else.
    Reuse,
    /// The same frequent text with changed slots.
    Template,
    /// Frequent text that is a small part of at least one page.
    Phrase,
    /// Navigation, headers and footers.
    Frame,
    /// Captures of one URL, or the same fingerprints on one host.
    Alias,
}

/// The fingerprints of a pair, by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedKinds {
    /// Shared fingerprints.
    pub shared: u32,
    /// Shared fingerprints of page frames.
    pub frame: u32,
    /// Frequent shared fingerprints, without those of page frames.
    pub frequent: u32,
    /// Whether each page has fingerprints that the other lacks.
    pub slots: bool,
    /// Whether both pages are captures of one URL, or have the same set of fingerprints and are on
    /// one host.
    pub alias: bool,
}

impl ReuseStyle {
    /// All styles.
    pub const ALL: [ReuseStyle; 5] = [
        ReuseStyle::Reuse,
        ReuseStyle::Template,
        ReuseStyle::Phrase,
        ReuseStyle::Frame,
        ReuseStyle::Alias,
    ];

    /// Returns the style of a pair.
    pub fn of(category: Category, kinds: SharedKinds) -> ReuseStyle {
        let SharedKinds {
            shared,
            frame,
            frequent,
            slots,
            alias,
        } = kinds;
        let half = |part: u32, whole: u32| part > 0 && 2 * u64::from(part) >= u64::from(whole);
        let frequent = half(frequent, shared.saturating_sub(frame));
        match category.is_near_duplicate() {
            _ if alias => ReuseStyle::Alias,
            _ if half(frame, shared) => ReuseStyle::Frame,
            true if frequent && slots => ReuseStyle::Template,
            false if frequent => ReuseStyle::Phrase,
            _ => ReuseStyle::Reuse,
        }
    }

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            ReuseStyle::Reuse => "reuse",
            ReuseStyle::Template => "template",
            ReuseStyle::Phrase => "phrase",
            ReuseStyle::Frame => "frame",
            ReuseStyle::Alias => "alias",
        }
    }

    /// The position in [`ReuseStyle::ALL`].
    pub(super) fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for ReuseStyle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for ReuseStyle {
    type Err = String;

    fn from_str(text: &str) -> Result<ReuseStyle, String> {
        let found = ReuseStyle::ALL
            .into_iter()
            .find(|style| style.name() == text);
        found.ok_or_else(|| {
            format!("unknown style '{text}': expected reuse, template, phrase, frame or alias")
        })
    }
}

/// Whether two hosts are the same, apart from a leading `www.`. Pages without a host have none in
/// common.
pub(super) fn same_host(one: Option<&str>, other: Option<&str>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if bare_host(one) == bare_host(other))
}

/// Returns a host without a leading `www.`.
pub(super) fn bare_host(host: &str) -> &str {
    host.strip_prefix("www.").unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: SharedKinds = SharedKinds {
        shared: 10,
        frame: 0,
        frequent: 0,
        slots: true,
        alias: false,
    };

    #[test]
    fn the_first_rule_that_applies_decides() {
        for (category, kinds, expected) in [
            (Category::C1, PLAIN, ReuseStyle::Reuse),
            (
                Category::C1,
                SharedKinds {
                    alias: true,
                    frame: 10,
                    ..PLAIN
                },
                ReuseStyle::Alias,
            ),
            (
                Category::C4,
                SharedKinds { frame: 5, ..PLAIN },
                ReuseStyle::Frame,
            ),
            (
                Category::C4,
                SharedKinds { frame: 4, ..PLAIN },
                ReuseStyle::Reuse,
            ),
            (
                Category::C4,
                SharedKinds {
                    frame: 4,
                    frequent: 3,
                    ..PLAIN
                },
                ReuseStyle::Template,
            ),
            (
                Category::C4,
                SharedKinds {
                    frequent: 4,
                    ..PLAIN
                },
                ReuseStyle::Reuse,
            ),
            (
                Category::C2,
                SharedKinds {
                    frequent: 10,
                    slots: false,
                    ..PLAIN
                },
                ReuseStyle::Reuse,
            ),
            (
                Category::C6,
                SharedKinds {
                    frequent: 5,
                    slots: false,
                    ..PLAIN
                },
                ReuseStyle::Phrase,
            ),
            (
                Category::OneSided,
                SharedKinds {
                    frequent: 5,
                    ..PLAIN
                },
                ReuseStyle::Phrase,
            ),
            (
                Category::C6,
                SharedKinds {
                    frequent: 4,
                    ..PLAIN
                },
                ReuseStyle::Reuse,
            ),
        ] {
            assert_eq!(
                ReuseStyle::of(category, kinds),
                expected,
                "{category} {kinds:?}"
            );
        }
    }

    #[test]
    fn a_frame_is_on_five_pages_and_on_a_fifth_of_a_host() {
        assert!(is_frame(5, 25) && is_frame(100, 100));
        assert!(!is_frame(5, 26) && !is_frame(4, 4) && !is_frame(0, 0));
    }

    #[test]
    fn hosts_are_compared_without_www() {
        assert!(same_host(Some("www.a.org"), Some("a.org")));
        assert!(!same_host(Some("b.a.org"), Some("a.org")));
        assert!(!same_host(None, None));
    }
}
