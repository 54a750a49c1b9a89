//! The names in the flow of `quilts`. A flow refers to its parts by name, from several files.

/// Stages.
pub(super) mod stage {
    pub(crate) const FACTS: &str = "facts";
    pub(crate) const ALIKE: &str = "alike";
    pub(crate) const NOTE: &str = "note";
    pub(crate) const GRAMS: &str = "grams";
    pub(crate) const PATCH_GRAMS: &str = "patch grams";
    pub(crate) const PATCHY: &str = "patchy";
    pub(crate) const LINKS: &str = "links";
    pub(crate) const LINKED: &str = "linked";
    pub(crate) const OTHERS: &str = "others";
    pub(crate) const COVER: &str = "cover";
    pub(crate) const RUNS: &str = "runs";
    pub(crate) const SOURCES: &str = "sources";
    pub(crate) const QUILTS: &str = "quilts and patches";
    pub(crate) const SWEEP: &str = "sweep";
}

/// Shuffles. Those of a level have its k in their names.
pub(super) mod shuffle {
    pub(crate) const BY_GRAM: &str = "by gram";
    pub(crate) const POSTINGS: &str = "postings";
    pub(crate) const COUNTS: &str = "counts";
    pub(crate) const OTHERS: &str = "others";
    pub(crate) const LINK_ENDS: &str = "link ends";
    pub(crate) const POSITIONS: &str = "positions";
    pub(crate) const BY_PAGE: &str = "by page";
    pub(crate) const BY_SOURCE: &str = "by source";
    pub(crate) const TALLY: &str = "tally";
}

/// States. Those of a level have its k in their names.
pub(super) mod state {
    pub(crate) const ORDER: &str = "order";
    pub(crate) const SEEN: &str = "seen";
    pub(crate) const PATCHY: &str = "patchy";
    pub(crate) const SERVERS: &str = "servers";
    pub(crate) const DOMAINS: &str = "domains";
    pub(crate) const ADDRESSES: &str = "addresses";
}

/// Counters.
pub(super) mod counter {
    pub(crate) const UNKNOWN_SERVER: &str = "pages of no known server";
    pub(crate) const GRAMS: &str = "grams of pages";
    pub(crate) const PATCH_GRAMS: &str = "patch grams of pages";
    pub(crate) const PATCHY: &str = "patchy pages";
    pub(crate) const TRIPLES: &str = "page, gram, other page";
    pub(crate) const SPILLED: &str = "spilled pages";
    pub(crate) const ATTRIBUTED_PATCHES: &str = "attributed patches";
    pub(crate) const ATTRIBUTED_QUILTS: &str = "attributed quilts";
    pub(crate) const FIRST_QUILTS: &str = "first quilts";
    pub(crate) const LINKING: &str = "pages with links";
}
