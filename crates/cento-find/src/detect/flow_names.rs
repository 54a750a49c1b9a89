//! The names in the flow of `detect`. A flow refers to its parts by name, from several files.

/// Stages.
pub(super) mod stage {
    pub(crate) const OWN: &str = "own";
    pub(crate) const MATCH: &str = "match";
    pub(crate) const ORIGINS: &str = "origins";
    pub(crate) const ATTRIBUTE: &str = "attribute";
    pub(crate) const LABEL_TABLE: &str = "label table";
    pub(crate) const SCORE: &str = "score";
    pub(crate) const COMMON: &str = "common";
    pub(crate) const ATTRIBUTE_COMMON: &str = "attribute common";
    pub(crate) const LOCATE: &str = "locate";
    pub(crate) const ORIGINAL_NAMES: &str = "original names";
    pub(crate) const COPIED: &str = "copied";
    pub(crate) const PREFIXES: &str = "prefixes of pages";
    pub(crate) const NEIGHBOURS: &str = "neighbours";
    pub(crate) const AGGREGATE: &str = "aggregate";
    pub(crate) const PAGES: &str = "pages";
    pub(crate) const PAGE_TABLE: &str = "page table";
    pub(crate) const NEIGHBOURHOODS: &str = "neighbourhoods";
    pub(crate) const NEIGHBOURHOOD_TABLE: &str = "neighbourhood table";
    pub(crate) const SITES: &str = "sites";
    pub(crate) const SITE_TABLE: &str = "site table";
    pub(crate) const THRESHOLDS: &str = "thresholds";
    pub(crate) const FUZZY_TABLE: &str = "fuzzy table";
}

/// Shuffles.
pub(super) mod shuffle {
    pub(crate) const BY_PAGE: &str = "by page";
    pub(crate) const BY_LABEL: &str = "by label";
    pub(crate) const POSITIONS: &str = "positions";
    pub(crate) const COMMON_LABELS: &str = "common labels";
    pub(crate) const COMMON_MATCHES: &str = "common matches";
    pub(crate) const LABEL_ROWS: &str = "label rows";
    pub(crate) const BY_ORIGINAL: &str = "by original";
    pub(crate) const PAGE_ROWS: &str = "page rows";
    pub(crate) const SCORED: &str = "scored";
    pub(crate) const BY_PREFIX: &str = "by prefix";
    pub(crate) const MATCHED_PREFIXES: &str = "matched prefixes";
    pub(crate) const BY_SITE: &str = "by site";
    pub(crate) const RANKED_PAGES: &str = "ranked pages";
    pub(crate) const RANKED_PREFIXES: &str = "ranked prefixes";
    pub(crate) const RANKED_SITES: &str = "ranked sites";
}

/// States.
pub(super) mod state {
    pub(crate) const OWN: &str = "own";
    pub(crate) const MATCHED: &str = "matched";
    pub(crate) const KNOWN_ORIGINALS: &str = "known originals";
    pub(crate) const PAGE_MOMENTS: &str = "page moments";
    pub(crate) const MOMENTS: &str = "moments";
}

/// Counters.
pub(super) mod counter {
    pub(crate) const PAGES: &str = "pages";
    pub(crate) const OWN_PAGES: &str = "own pages";
    pub(crate) const SCORED: &str = "scored";
    pub(crate) const CHUNKS: &str = "chunks";
    pub(crate) const STOPPED: &str = "stopped";
    pub(crate) const MATCHED: &str = "matched";
    pub(crate) const TARGETS: &str = "targets";
    pub(crate) const SITES: &str = "sites";
    pub(crate) const FLAGGED_SITES: &str = "flagged sites";
    pub(crate) const NEIGHBOURHOODS: &str = "neighbourhoods";
    pub(crate) const FLAGGED: &str = "flagged";
    pub(crate) const COMMON_LABELS: &str = "common labels";
    pub(crate) const COMMON_CHUNKS: &str = "common chunks";
    pub(crate) const ATTRIBUTED_COMMON: &str = "attributed common chunks";
    pub(crate) const FUZZY_PAGES: &str = "fuzzy pages";
    pub(crate) const COMPARED_LABELS: &str = "compared labels";
    pub(crate) const CROWDED_RUNS: &str = "crowded runs";
    pub(crate) const CUT_LABELS: &str = "cut labels";
}
