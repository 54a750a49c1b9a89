//! The names in the flow of `discover`. A flow refers to its parts by name, from several files.

/// Stages.
pub(super) mod stage {
    pub(crate) const NOTE: &str = "note";
    pub(crate) const OBJECTS: &str = "objects";
    pub(crate) const COUNT: &str = "count";
    pub(crate) const SELECT: &str = "select";
    pub(crate) const FREQUENCIES: &str = "frequencies";
    pub(crate) const TEXTS: &str = "texts";
    pub(crate) const NAME: &str = "name";
    pub(crate) const LABELS: &str = "labels";
    pub(crate) const COUNT_ORIGINALS: &str = "labels of originals";
    pub(crate) const ORIGINALS: &str = "originals";
}

/// Shuffles.
pub(super) mod shuffle {
    pub(crate) const BY_HASH: &str = "by hash";
    pub(crate) const CANDIDATES: &str = "candidates";
    pub(crate) const EXAMPLES: &str = "examples";
    pub(crate) const BY_ORIGINAL: &str = "by original";
    pub(crate) const WITH_TEXT: &str = "with text";
    pub(crate) const ORIGINALS: &str = "originals";
    pub(crate) const IN_ORDER: &str = "in order";
}

/// States.
pub(super) mod state {
    pub(crate) const COUNTED: &str = "counted";
    pub(crate) const SINGLES: &str = "singles";
    pub(crate) const SEEN: &str = "seen";
}

/// Counters.
pub(super) mod counter {
    pub(crate) const OBJECTS: &str = "objects";
    pub(crate) const STOPPED: &str = "stopped";
    pub(crate) const OCCURRENCES: &str = "occurrences";
    pub(crate) const PROPOSED: &str = "proposed";
}
