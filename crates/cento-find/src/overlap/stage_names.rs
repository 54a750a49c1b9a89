//! The names of the stages, shuffles, states and counters of `overlap`, with its analysis of
//! replication.
//!
//! The flow names a stage in one file and the registry implements it in another; a constant makes a
//! misspelt name a compile error.

/// Stages.
pub(super) mod stage {
    pub(in super::super) const TEXTS: &str = "texts";
    pub(in super::super) const COLLAPSE: &str = "collapse";
    pub(in super::super) const NAMES_OF_SERVERS: &str = "names of servers";
    pub(in super::super) const NUMBER_SERVERS: &str = "number servers";
    pub(in super::super) const CUT: &str = "cut";
    pub(in super::super) const SPREAD: &str = "spread";
    pub(in super::super) const COUNT: &str = "count";
    pub(in super::super) const SUM: &str = "sum";
    pub(in super::super) const LARGEST: &str = "largest";
    pub(in super::super) const NOTE_COMMON: &str = "note common";
    pub(in super::super) const SHOW_COMMON: &str = "show common";
    pub(in super::super) const ADD_UP: &str = "add up";
    pub(in super::super) const NAME_OF: &str = "name of";
    pub(in super::super) const NAME_PAGE: &str = "name page";
    pub(in super::super) const WRITE: &str = "write";
    pub(in super::super) const NAME_COMMON: &str = "name common";
    pub(in super::super) const WRITE_COMMON: &str = "write common";
    pub(in super::super) const COLLAPSE_RANKS: &str = "collapse ranks";
    pub(in super::super) const SHARED: &str = "shared";
    pub(in super::super) const SIGN: &str = "sign";
    pub(in super::super) const GROUP: &str = "group";
    pub(in super::super) const SPREAD_GROUPS: &str = "spread groups";
    pub(in super::super) const HOT_PAGES: &str = "hot pages";
    pub(in super::super) const HOT_SETS: &str = "hot sets";
    pub(in super::super) const CHUNKS_OF_HOT_SETS: &str = "chunks of hot sets";
    pub(in super::super) const COUNT_GROUPS: &str = "count groups";
    pub(in super::super) const SUM_GROUPS: &str = "sum groups";
}

/// Shuffles.
pub(super) mod shuffle {
    pub(in super::super) const BY_TEXT: &str = "by text";
    pub(in super::super) const BY_SERVER: &str = "by server";
    pub(in super::super) const BY_CHUNK: &str = "by chunk";
    pub(in super::super) const BY_STRIP: &str = "by strip";
    pub(in super::super) const PAIR_COUNTS: &str = "pairs of numbers";
    pub(in super::super) const LARGEST: &str = "largest of each strip";
    pub(in super::super) const PAGE_COUNTS: &str = "facts";
    pub(in super::super) const COMMON: &str = "common chunks";
    pub(in super::super) const OF: &str = "of";
    pub(in super::super) const PAGE: &str = "page";
    pub(in super::super) const RANKED: &str = "ranked";
    pub(in super::super) const COMMON_NOTED: &str = "common noted";
    pub(in super::super) const COMMON_NAMED: &str = "common named";
    pub(in super::super) const COMMON_RANKED: &str = "common ranked";
}

/// States.
pub(super) mod state {
    pub(in super::super) const COPIES: &str = "copies";
    pub(in super::super) const SERVERS: &str = "numbers of servers";
    pub(in super::super) const RESERVE: &str = "reserve";
}

/// Counters that the summary reads.
pub(super) mod counter {
    pub(in super::super) const COPIES: &str = "copies";
    pub(in super::super) const SERVERS: &str = "servers";
    pub(in super::super) const PAGES_WITHOUT_A_SERVER: &str = "pages without a server";
    pub(in super::super) const DISTINCT_CHUNKS: &str = "distinct chunks";
    pub(in super::super) const CHUNKS_OF_SEVERAL_PAGES: &str = "chunks of several pages";
    pub(in super::super) const CHUNKS_OF_PAGES: &str = "chunks of pages";
    pub(in super::super) const COMMON_CHUNKS_OF_PAGES: &str = "common chunks of pages";
    pub(in super::super) const PAGES_WITH_COMMON_CHUNKS: &str = "pages with common chunks";
    pub(in super::super) const PAGES_WITH_ENOUGH_COMMON_CHUNKS: &str =
        "pages with enough common chunks";
}
