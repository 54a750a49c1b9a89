//! The names of the stages, shuffles, states and counters of `copies`.
//!
//! The flow names a stage in one file and the registry implements it in another; a constant makes a
//! misspelt name a compile error.

/// Stages.
pub(super) mod stage {
    pub(in super::super) const DATES: &str = "dates";
    pub(in super::super) const DISTINCT_DATES: &str = "distinct dates";
    pub(in super::super) const RANK: &str = "rank";
    pub(in super::super) const RANK_PAGES: &str = "rank pages";
    pub(in super::super) const FACTS: &str = "facts";
    pub(in super::super) const SAME_TEXT: &str = "same text";
    pub(in super::super) const SAME_PAYLOAD: &str = "same payload";
    pub(in super::super) const SKETCH: &str = "sketch";
    pub(in super::super) const SPREAD: &str = "spread";
    pub(in super::super) const AGREE: &str = "agree";
    pub(in super::super) const CLOSURE: &str = "closure";
    pub(in super::super) const MEET: &str = "meet";
    pub(in super::super) const RECALL: &str = "recall";
    pub(in super::super) const CHOOSE: &str = "choose";
    pub(in super::super) const VERIFY: &str = "verify";
    pub(in super::super) const CARRY: &str = "carry";
    pub(in super::super) const DECIDE: &str = "decide";
    pub(in super::super) const REQUEUE: &str = "requeue";
    pub(in super::super) const RESOLVE: &str = "resolve";
    pub(in super::super) const NEAR_OF: &str = "near of";
    pub(in super::super) const NEAR_PAGES: &str = "near pages";
    pub(in super::super) const TARGETS: &str = "targets";
    pub(in super::super) const REMOVED_PAGES: &str = "removed pages";
    pub(in super::super) const CLASSES: &str = "classes";
    pub(in super::super) const CAUSES: &str = "causes";
    pub(in super::super) const PAIRS: &str = "pairs";
    pub(in super::super) const MEMBERS: &str = "members";
    pub(in super::super) const EVIDENCE: &str = "evidence";
    pub(in super::super) const SHARED_HOSTS: &str = "shared hosts";
    pub(in super::super) const HOST_PAGES: &str = "host pages";
    pub(in super::super) const MIRRORS: &str = "mirrors";
    pub(in super::super) const PREFIXES: &str = "prefixes";
}

/// Shuffles.
pub(super) mod shuffle {
    pub(in super::super) const DATES: &str = "dates of pages";
    pub(in super::super) const DISTINCT_DATES: &str = "distinct";
    pub(in super::super) const BY_DATE: &str = "by date";
    pub(in super::super) const BY_TEXT: &str = "by text";
    pub(in super::super) const BY_PAYLOAD: &str = "by payload";
    pub(in super::super) const BY_PAGE: &str = "by page";
    pub(in super::super) const BY_BAND: &str = "by band";
    pub(in super::super) const EDGES: &str = "edges";
    pub(in super::super) const POSSIBLE: &str = "possible";
    pub(in super::super) const TRIED: &str = "tried";
    pub(in super::super) const CANDIDATES: &str = "candidates";
    pub(in super::super) const WAITING: &str = "waiting";
    pub(in super::super) const KNOWN_EDGES: &str = "known edges";
    pub(in super::super) const NEAR_OF: &str = "near of";
    pub(in super::super) const NEAR: &str = "near";
    pub(in super::super) const BY_KEPT: &str = "by kept";
    pub(in super::super) const HOSTS: &str = "hosts";
    pub(in super::super) const OF_HOSTS: &str = "of hosts";
    pub(in super::super) const BY_VERDICT: &str = "by verdict";
    pub(in super::super) const BY_ID: &str = "by id";
    pub(in super::super) const BY_MEMBERS: &str = "by members";
    pub(in super::super) const BY_HOSTS: &str = "by hosts";
    pub(in super::super) const BY_PREFIX: &str = "by prefix";
}

/// States.
pub(super) mod state {
    pub(in super::super) const RANKS: &str = "ranks";
    pub(in super::super) const KEPT_OF: &str = "kept of";
    pub(in super::super) const LINKS: &str = "links";
    pub(in super::super) const DUPLICATE: &str = "duplicate";
    pub(in super::super) const SAME_BYTES: &str = "same bytes";
    pub(in super::super) const BANDS_SEEN: &str = "bands seen";
    pub(in super::super) const REMOVED: &str = "removed";
    pub(in super::super) const SATED: &str = "sated";
}

/// Counters that the summary reads.
pub(super) mod counter {
    pub(in super::super) const BYTES: &str = "bytes";
    pub(in super::super) const TEXT: &str = "text";
    pub(in super::super) const NEAR: &str = "near";
    pub(in super::super) const RECAPTURE: &str = "recapture";
    pub(in super::super) const URL_ALIAS: &str = "url-alias";
    pub(in super::super) const SERVER_ALIAS: &str = "server-alias";
    pub(in super::super) const REPLICA: &str = "replica";
    pub(in super::super) const SAVED_BYTES: &str = "saved bytes";
    pub(in super::super) const CLASSES_OF_PAGES: &str = "classes of pages";
    pub(in super::super) const REPEATED_RECORDS: &str = "repeated records";
    pub(in super::super) const REPEATED_REVISITS: &str = "repeated revisits";
    pub(in super::super) const CANDIDATES: &str = "candidates";
    pub(in super::super) const VERIFIED: &str = "verified";
    pub(in super::super) const WIDE_CLASSES: &str = "classes on many hosts";
}
