//! The names in the flow of `phrases`. A flow refers to its parts by name, from several files.

/// Stages.
pub(super) mod stage {
    pub(crate) const HOMES: &str = "homes";
    pub(crate) const ALIKE: &str = "alike";
    pub(crate) const NOTE: &str = "note";
    pub(crate) const SHINGLE: &str = "shingle";
    pub(crate) const COUNT: &str = "count";
    pub(crate) const SHARE: &str = "share";
    pub(crate) const SUM: &str = "sum";
    pub(crate) const CHOOSE: &str = "choose";
    pub(crate) const NOMINATE: &str = "nominate";
    pub(crate) const OFFER: &str = "offer";
    pub(crate) const COVER: &str = "cover";
    pub(crate) const WORDS: &str = "words";
    pub(crate) const RANK: &str = "rank";
    pub(crate) const PHRASES: &str = "phrases";
    pub(crate) const PAGE_NAMES: &str = "page names";
    pub(crate) const SOURCES: &str = "sources";
    pub(crate) const PAGES: &str = "pages";
    pub(crate) const SITES: &str = "sites";
    pub(crate) const SITE_TABLE: &str = "site table";
}

/// Shuffles.
pub(super) mod shuffle {
    pub(crate) const BY_PHRASE: &str = "by phrase";
    pub(crate) const HOLDERS: &str = "holders";
    pub(crate) const BY_PAGE: &str = "by page";
    pub(crate) const EXAMPLES: &str = "examples";
    pub(crate) const COVERABLE: &str = "coverable";
    pub(crate) const OFFERERS: &str = "offerers";
    pub(crate) const NOMINEES: &str = "nominees";
    pub(crate) const OFFERS: &str = "offers";
    pub(crate) const BY_SOURCE: &str = "by source";
    pub(crate) const PAGE_ROWS: &str = "page rows";
    pub(crate) const WORDED: &str = "worded";
    pub(crate) const BY_POPULARITY: &str = "by popularity";
    pub(crate) const BY_SITE: &str = "by site";
    pub(crate) const BY_SIZE: &str = "by size";
}

/// States. Those of hosts, domains and addresses have the name of their kind.
pub(super) mod state {
    pub(crate) const SEEN: &str = "seen";
    pub(crate) const COVERED: &str = "covered";
}

/// Counters.
pub(super) mod counter {
    pub(crate) const PAGES: &str = "pages";
    pub(crate) const POPULAR_PAGES: &str = "pages of popular shingles";
    pub(crate) const COVERED: &str = "covered";
    pub(crate) const CROWDED: &str = "phrases of more pages than candidates";
    pub(crate) const CUT_COVERS: &str = "covers of some candidates";
    pub(crate) const NO_ADDRESS: &str = "pages of no address";
    pub(crate) const FLAGGED: &str = "flagged";
}
