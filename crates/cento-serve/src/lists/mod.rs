//! Lists over the tables of findings: sorted, filtered and paged in memory.
//!
//! ```text
//!   findings/ANALYSIS/RUN/TABLE.parquet ─ load.rs ─▶ columns.rs ─ query.rs ─▶ rows of one page
//!                            all.rs: what each list has, and where its rows lead
//! ```

mod all;
mod columns;
mod listing;
mod load;
mod query;
mod spec;

use cento_find::{CorpusPages, known_findings};
use std::path::{Path, PathBuf};

pub(crate) use all::{LISTS, address};
pub(crate) use columns::{ColumnStorage, ListValue};
pub(crate) use listing::{ListPage, Listing, day};
pub(crate) use query::ListQuery;
pub(crate) use spec::{ListSpec, Show};

use columns::ColumnsBuilder;
use load::{LoadFailure, PageDates};

use crate::error::Result;

/// A list, or the reason why there is none.
pub(crate) enum ListState {
    Loaded(Box<Listing>),
    /// No run of its analysis has findings for this corpus.
    NoFindings,
    /// Its rows do not fit into memory.
    TooLarge {
        rows: u64,
    },
}

/// All lists of a corpus.
pub(crate) struct Lists {
    states: Vec<ListState>,
}

impl Lists {
    /// Loads the newest findings of each list, as far as memory allows.
    pub(crate) fn load(source: &CorpusPages, folder: &Path, memory: u64) -> Result<Lists> {
        let dates = PageDates::of(source)?;
        let mut left = memory.saturating_sub(dates.memory());
        let mut states = Vec::new();
        let mut verified: Vec<PathBuf> = Vec::new();
        for spec in &LISTS {
            let found = known_findings(folder, spec.analysis, source)?;
            let Some(findings) = found.into_iter().next() else {
                states.push(ListState::NoFindings);
                continue;
            };
            // Several lists may be tables of one run.
            if !verified.contains(&findings.path) {
                findings.verify()?;
                verified.push(findings.path.clone());
            }
            let storage: Vec<_> = spec.columns.iter().map(|column| column.storage).collect();
            let mut builder = ColumnsBuilder::new(&storage, left);
            match (spec.load)(&findings, &dates, &mut builder) {
                Ok(()) => {
                    let list = Listing::new(spec, findings, builder.finish());
                    left = left.saturating_sub(list.memory());
                    states.push(ListState::Loaded(Box::new(list)));
                }
                Err(LoadFailure::TooLarge) => {
                    let mut tables = findings.record.report.tables.iter();
                    let table = tables.find(|table| table.name == spec.table);
                    let rows = table.map_or(0, |table| table.rows);
                    states.push(ListState::TooLarge { rows });
                }
                Err(LoadFailure::Find(error)) => return Err(error.into()),
            }
        }
        Ok(Lists { states })
    }

    /// Returns a list by its name.
    pub(crate) fn get(&self, name: &str) -> Option<(&'static ListSpec, &ListState)> {
        self.iter().find(|(spec, _)| spec.name == name)
    }

    /// Returns a list if it is loaded.
    pub(crate) fn loaded(&self, name: &str) -> Option<&Listing> {
        match self.get(name)? {
            (_, ListState::Loaded(list)) => Some(list),
            _ => None,
        }
    }

    /// Returns all lists.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static ListSpec, &ListState)> {
        LISTS.iter().zip(&self.states)
    }

    /// Bytes of memory that the loaded lists use.
    pub(crate) fn memory(&self) -> u64 {
        let lists = self.states.iter().map(|state| match state {
            ListState::Loaded(list) => list.memory(),
            _ => 0,
        });
        lists.sum()
    }
}
