//! The names of the stages, shuffles, states and counters of `passages`.

/// Stages.
pub(super) mod stage {
    pub(in super::super) const TEXTS: &str = "texts";
    pub(in super::super) const COLLAPSE: &str = "collapse";
    pub(in super::super) const CHUNKS: &str = "chunks";
    pub(in super::super) const COMMON: &str = "common chunks";
    pub(in super::super) const FRAME: &str = "frames";
    pub(in super::super) const LIST: &str = "list";
    pub(in super::super) const FINGERPRINTS: &str = "fingerprints";
    pub(in super::super) const PAIR: &str = "pair";
    pub(in super::super) const ALIGN: &str = "align";
    pub(in super::super) const LINKS: &str = "links";
    pub(in super::super) const NAME_B: &str = "name b";
    pub(in super::super) const NAME_A: &str = "name a";
    pub(in super::super) const WRITE: &str = "write";
    pub(in super::super) const CLUSTER: &str = "cluster";
}

/// Shuffles.
pub(super) mod shuffle {
    pub(in super::super) const BY_TEXT: &str = "by text";
    pub(in super::super) const BY_CHUNK: &str = "by chunk";
    pub(in super::super) const COMMON_BY_PAGE: &str = "common by page";
    pub(in super::super) const BY_FINGERPRINT: &str = "by fingerprint";
    pub(in super::super) const BY_PAIR: &str = "by pair";
    pub(in super::super) const BY_B: &str = "by b";
    pub(in super::super) const BY_A: &str = "by a";
    pub(in super::super) const RANKED: &str = "ranked";
}

/// States.
pub(super) mod state {
    pub(in super::super) const COPIES: &str = "copies";
    /// Hashes of the sites of pages.
    pub(in super::super) const SITES: &str = "sites";
    /// Where the leading part of the frame ends.
    pub(in super::super) const HEADS: &str = "heads";
    /// Where the last run of common chunks begins and ends.
    pub(in super::super) const TAILS: &str = "tails";
    pub(in super::super) const TAIL_ENDS: &str = "tail ends";
    pub(in super::super) const PREPARED: &str = "prepared";
}

/// Counters that the summary reads.
pub(super) mod counter {
    pub(in super::super) const COPIES: &str = "copies";
    pub(in super::super) const COMMON: &str = "common fingerprints";
    pub(in super::super) const FRAMED: &str = "pages with frames";
    pub(in super::super) const CANDIDATES: &str = "candidates";
    pub(in super::super) const FREQUENT: &str = "candidates of frequent fingerprints";
    pub(in super::super) const PAIRS: &str = "pairs with passages";
    pub(in super::super) const UNKNOWN: &str = "unknown pages of listed pairs";
    pub(in super::super) const SUPERFLUOUS: &str = "superfluous listed pairs";
    pub(in super::super) const REPEATED: &str = "captured several times";
    pub(in super::super) const CLUSTERED: &str = "pages of clusters";
}
