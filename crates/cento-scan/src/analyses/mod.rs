//! The analyses, one module each: what an analysis is for, which corpora it suits, and how its
//! results are summarised.

pub mod contamination;
pub mod copies;
pub mod copies_sweep;
pub mod detect;
pub mod discover;
pub mod excerpt;
pub mod overlap;
pub mod passages;
pub mod phrases;
pub mod quilts;
pub mod replication;
pub mod reuse;
pub mod sweep;

use crate::analysis::Analysis;

/// All analyses, in the order of a scan and of a report. This is the only place where an analysis
/// is registered.
///
/// Duplicates come first: other analyses exclude them and reuse these results.
static ALL: [&dyn Analysis; 13] = [
    &copies::Copies,
    &copies_sweep::CopiesSweeps,
    &replication::Replication,
    &overlap::Servers,
    &overlap::Pages,
    &reuse::Reuse,
    &passages::Passages,
    &quilts::Quilts,
    &sweep::Sweeps,
    &phrases::Phrases,
    &discover::Discover,
    &detect::Detect,
    &contamination::Contamination,
];

/// Returns all analyses.
pub fn analyses() -> &'static [&'static dyn Analysis] {
    &ALL
}

/// Returns the analysis of a name.
pub fn analysis(name: &str) -> Option<&'static dyn Analysis> {
    ALL.iter().copied().find(|analysis| analysis.name() == name)
}

/// Turns the names of columns into those of a table.
fn columns<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}
