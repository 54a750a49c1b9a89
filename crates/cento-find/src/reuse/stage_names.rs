//! The names of the stages, shuffles, states and counters of `reuse`.

use super::category::Category;

/// Stages.
pub(super) mod stage {
    pub(in super::super) const HOSTS: &str = "hosts";
    pub(in super::super) const NUMBER_HOSTS: &str = "number hosts";
    pub(in super::super) const NUMBER_ADDRESSES: &str = "number addresses";
    pub(in super::super) const FINGERPRINT: &str = "fingerprint";
    pub(in super::super) const COLLAPSE: &str = "collapse";
    pub(in super::super) const COUNT_HOSTS: &str = "count hosts";
    pub(in super::super) const SPREAD: &str = "spread";
    pub(in super::super) const SIZES: &str = "sizes";
    pub(in super::super) const COUNT: &str = "count";
    pub(in super::super) const SHOW_IGNORED: &str = "show ignored";
    pub(in super::super) const WRITE: &str = "write";
    pub(in super::super) const WRITE_IGNORED: &str = "write ignored";
    pub(in super::super) const TALLY: &str = "tally";
}

/// Shuffles.
pub(super) mod shuffle {
    pub(in super::super) const BY_HOST_NAME: &str = "by host name";
    pub(in super::super) const BY_ADDRESS: &str = "by address";
    pub(in super::super) const BY_FINGERPRINT: &str = "by fingerprint";
    pub(in super::super) const BY_SET: &str = "by set";
    pub(in super::super) const BY_HOST: &str = "by host";
    pub(in super::super) const BY_STRIP: &str = "by strip";
    pub(in super::super) const REMOVED: &str = "removed";
    pub(in super::super) const IGNORED: &str = "ignored fingerprints";
    pub(in super::super) const IGNORED_RANKED: &str = "ignored ranked";
    pub(in super::super) const RANKED: &str = "ranked";
}

/// States.
pub(super) mod state {
    /// The host of each page, as the number of its first page.
    pub(in super::super) const HOSTS: &str = "hosts of pages";
    /// The address of each page that has a host, as the number of its first page.
    pub(in super::super) const ADDRESSES: &str = "addresses of pages";
    /// The distinct pages of each host.
    pub(in super::super) const HOST_PAGES: &str = "pages of hosts";
    /// The distinct fingerprints of each page.
    pub(in super::super) const SIZES: &str = "sizes of pages";
    /// The ignored ones among them.
    pub(in super::super) const IGNORED: &str = "ignored of pages";
    /// Those of page frames.
    pub(in super::super) const FRAMES: &str = "frames of pages";
    /// Pages with the fingerprint set of an earlier page.
    pub(in super::super) const COPIES: &str = "copies";
    /// The number of pages with the fingerprint set of a page.
    pub(in super::super) const COPY_COUNTS: &str = "copy counts";
    pub(in super::super) const RESERVE: &str = "reserve";

    /// States of one number per page.
    pub(in super::super) const NUMBERS: [&str; 7] = [
        HOSTS,
        ADDRESSES,
        HOST_PAGES,
        SIZES,
        IGNORED,
        FRAMES,
        COPY_COUNTS,
    ];
}

/// Returns the name of the state of the pages of a category.
pub(super) fn pages_of(category: Category) -> String {
    format!("pages of {category}")
}

/// Counters that the summary reads.
pub(super) mod counter {
    pub(in super::super) const COPIES: &str = "copies";
    pub(in super::super) const WITHOUT_FINGERPRINTS: &str = "pages without fingerprints";
    pub(in super::super) const FINGERPRINTS_OF_PAGES: &str = "fingerprints of pages";
    pub(in super::super) const DISTINCT: &str = "distinct fingerprints";
    pub(in super::super) const SHARED: &str = "shared fingerprints";
    pub(in super::super) const IGNORED_OF_PAGES: &str = "ignored fingerprints of pages";
    pub(in super::super) const FRAMES_OF_PAGES: &str = "frame fingerprints of pages";
    pub(in super::super) const PAGES_WITH_IGNORED: &str = "pages with ignored fingerprints";
    pub(in super::super) const PAGES_OF_IGNORED: &str = "pages of ignored fingerprints only";
    pub(in super::super) const JOINED: &str = "pairs joined";
    pub(in super::super) const ROWS_JOINED_PARTS: &str = "parts of strips";
    pub(in super::super) const PAGES_RELATED: &str = "pages in C1 to C6";
    pub(in super::super) const PAGES_NEAR: &str = "pages in C1, C2 or C4";
    pub(in super::super) const PAGES_LOCAL: &str = "pages in C3, C5 or C6";
}
