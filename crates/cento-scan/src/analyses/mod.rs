//! The analyses, one module each: what it is for, what it needs of a corpus, and what is told of
//! its findings.

pub mod copies;
pub mod detect;
pub mod discover;
mod excerpt;
pub mod overlap;
pub mod phrases;
pub mod quilts;
pub mod replication;
pub mod sweep;

use crate::analysis::Analysis;

/// All analyses, in the order in which a scan runs and a report tells them. This is the one place
/// where an analysis is entered.
///
/// Copies come first: others leave them out, and find again what was found.
static ALL: [&dyn Analysis; 9] = [
    &copies::Copies,
    &replication::Replication,
    &overlap::Servers,
    &overlap::Pages,
    &quilts::Quilts,
    &sweep::Sweeps,
    &phrases::Phrases,
    &discover::Discover,
    &detect::Detect,
];

/// All analyses.
pub fn analyses() -> &'static [&'static dyn Analysis] {
    &ALL
}

/// The analysis of a name.
pub fn analysis(name: &str) -> Option<&'static dyn Analysis> {
    ALL.iter().copied().find(|analysis| analysis.name() == name)
}
