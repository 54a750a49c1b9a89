//! Loads the rows of lists from the tables of findings, through the structs that wrote them.

use std::collections::HashMap;

use cento_find::precedence::Dates;
use cento_find::{CorpusPages, Findings, Result};
use cento_flow::{TableName, TableRow};
use cento_store::{Projection, pages, projection};

use super::columns::{ColumnsBuilder, ListValue, OutOfMemory};

projection! {
    /// What the dates of pages are read from.
    struct DateColumns of pages { page_id, fetched_at, published_at }
}

/// The dates by which pages are ordered: when they were published, else when they were fetched.
#[derive(Debug, Default)]
pub(crate) struct PageDates(HashMap<u64, i64>);

impl PageDates {
    /// Reads the dates of all pages.
    pub(crate) fn of(source: &CorpusPages) -> Result<PageDates> {
        let mut dates = HashMap::new();
        for corpus in source.corpora() {
            for batch in corpus.scan::<DateColumns>() {
                let batch = batch?;
                for row in 0..batch.rows() {
                    let of_page = Dates {
                        published: batch.published_at.value(row),
                        fetched: batch.fetched_at.value(row),
                    };
                    if let Some((millis, _)) = of_page.decisive() {
                        dates.insert(batch.page_id.value(row), millis);
                    }
                }
            }
        }
        dates.shrink_to_fit();
        Ok(PageDates(dates))
    }

    /// Returns the date of a page as a value.
    pub(crate) fn of_page(&self, page_id: u64) -> ListValue<'static> {
        let date = self.0.get(&page_id);
        date.map_or(ListValue::Null, |&millis| ListValue::Date(millis))
    }

    /// Bytes of memory.
    pub(crate) fn memory(&self) -> u64 {
        self.0.capacity() as u64 * 17
    }
}

/// Why rows were not loaded.
pub(crate) enum LoadFailure {
    /// They do not fit into the memory of the lists.
    TooLarge,
    /// The findings cannot be read.
    Find(cento_find::Error),
}

impl From<OutOfMemory> for LoadFailure {
    fn from(_: OutOfMemory) -> LoadFailure {
        LoadFailure::TooLarge
    }
}

impl From<cento_find::Error> for LoadFailure {
    fn from(error: cento_find::Error) -> LoadFailure {
        LoadFailure::Find(error)
    }
}

/// Loads the rows of a list.
pub(crate) type LoadRows =
    fn(&Findings, &PageDates, &mut ColumnsBuilder) -> std::result::Result<(), LoadFailure>;

/// Calls `push` with each row of a table.
pub(super) fn each<T: TableRow>(
    findings: &Findings,
    table: TableName<T>,
    mut push: impl FnMut(T) -> std::result::Result<(), OutOfMemory>,
) -> std::result::Result<(), LoadFailure> {
    for row in findings.rows(table)? {
        push(row?)?;
    }
    Ok(())
}

pub(super) fn text(text: &str) -> ListValue<'_> {
    ListValue::Text(text)
}

pub(super) fn texts(text: &Option<String>) -> ListValue<'_> {
    text.as_deref().map_or(ListValue::Null, ListValue::Text)
}

pub(super) fn whole(value: impl Into<u64>) -> ListValue<'static> {
    ListValue::Whole(value.into())
}

pub(super) fn wholes<T: Into<u64>>(value: Option<T>) -> ListValue<'static> {
    value.map_or(ListValue::Null, |value| ListValue::Whole(value.into()))
}

pub(super) fn real(value: f64) -> ListValue<'static> {
    ListValue::Real(value)
}

pub(super) fn reals(value: Option<f64>) -> ListValue<'static> {
    value.map_or(ListValue::Null, ListValue::Real)
}

/// A date in RFC 3339, as tables have it.
pub(super) fn date(text: &Option<String>) -> ListValue<'static> {
    let millis = text.as_deref().and_then(cento_text::date::parse);
    millis.map_or(ListValue::Null, ListValue::Date)
}

/// A hash in hexadecimal.
pub(super) fn hex(hash: &[u8; 16]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}
