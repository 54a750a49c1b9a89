//! What a list is: its columns, what it can be filtered by, and where its rows lead.

use super::columns::ColumnStorage;
use super::listing::Listing;
use super::load::LoadRows;

/// How a column is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    /// The address of a page; the name is that of the column with its id.
    Page(&'static str),
    /// Text.
    Text,
    /// A count.
    Count,
    /// A share, from 0 to 1.
    Share,
    /// Any other number.
    Number,
    /// A number of bytes.
    Bytes,
    /// A day.
    Date,
    /// Yes or no.
    Flag,
    /// Only in the interface for programs: ids and hashes.
    Hidden,
}

/// A column of a list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnSpec {
    /// The name, as in the table of the findings.
    pub(crate) name: &'static str,
    /// The name for people.
    pub(crate) label: &'static str,
    pub(crate) storage: ColumnStorage,
    pub(crate) show: Show,
}

/// A list: one table of the findings.
pub(crate) struct ListSpec {
    /// The name in addresses.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// What a row is, as a sentence.
    pub(crate) about: &'static str,
    /// The analysis that makes the findings.
    pub(crate) analysis: &'static str,
    /// The table with its rows.
    pub(crate) table: &'static str,
    /// The command that makes them, without the name of the corpus: verb and options.
    pub(crate) command: (&'static str, &'static str),
    pub(crate) columns: &'static [ColumnSpec],
    /// The columns that identify a row.
    pub(crate) key: &'static [&'static str],
    /// The column that filters by score use.
    pub(crate) score: &'static str,
    /// The column that filters by category use.
    pub(crate) category: Option<&'static str>,
    /// The column that filters by date use.
    pub(crate) date: Option<&'static str>,
    /// The columns with URLs or hosts.
    pub(crate) hosts: &'static [&'static str],
    /// The text of the link to the evidence of a row.
    pub(crate) link: &'static str,
    /// Where the evidence of a row is.
    pub(crate) evidence: fn(&Listing, u32) -> String,
    pub(crate) load: LoadRows,
}

impl ListSpec {
    /// Returns the number of a column.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Returns the command that makes the findings of this list.
    pub(crate) fn command_for(&self, corpus: &str) -> String {
        let (verb, options) = self.command;
        format!(
            "cento {verb} {}{options}",
            cento_report::format::quoted(corpus)
        )
    }
}

const fn column(
    name: &'static str,
    label: &'static str,
    storage: ColumnStorage,
    show: Show,
) -> ColumnSpec {
    ColumnSpec {
        name,
        label,
        storage,
        show,
    }
}

/// An address, with the name of the column that has the id of the page.
pub(super) const fn page(name: &'static str, label: &'static str, id: &'static str) -> ColumnSpec {
    column(name, label, ColumnStorage::Text, Show::Page(id))
}

pub(super) const fn text(name: &'static str, label: &'static str) -> ColumnSpec {
    column(name, label, ColumnStorage::Text, Show::Text)
}

pub(super) const fn count(name: &'static str, label: &'static str) -> ColumnSpec {
    column(name, label, ColumnStorage::Whole, Show::Count)
}

pub(super) const fn bytes(name: &'static str, label: &'static str) -> ColumnSpec {
    column(name, label, ColumnStorage::Whole, Show::Bytes)
}

pub(super) const fn flag(name: &'static str, label: &'static str) -> ColumnSpec {
    column(name, label, ColumnStorage::Whole, Show::Flag)
}

pub(super) const fn share(name: &'static str, label: &'static str) -> ColumnSpec {
    column(name, label, ColumnStorage::Real, Show::Share)
}

pub(super) const fn number(name: &'static str, label: &'static str) -> ColumnSpec {
    column(name, label, ColumnStorage::Real, Show::Number)
}

pub(super) const fn date(name: &'static str, label: &'static str) -> ColumnSpec {
    column(name, label, ColumnStorage::Date, Show::Date)
}

pub(super) const fn id(name: &'static str) -> ColumnSpec {
    column(name, name, ColumnStorage::Whole, Show::Hidden)
}

pub(super) const fn hash(name: &'static str) -> ColumnSpec {
    column(name, name, ColumnStorage::Text, Show::Hidden)
}
