//! One loaded list: its columns, and the rows that a query selects.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use cento_find::Findings;
use cento_find::precedence::{DatedBy, shown_day};
use cento_report::ReportCell;
use cento_text::url::PageUrl;
use serde_json::{Map, Value};

use super::columns::{ListColumns, ListValue};
use super::query::ListQuery;
use super::spec::{ListSpec, Show};

/// Bytes of cached selections of one list, at most; a small list needs less.
const CACHED: usize = 32 << 20;
/// The number of cached selections of one list.
const CACHED_QUERIES: usize = 64;

/// The number of the host of a text that has none.
const NO_HOST: u32 = u32::MAX;

/// A list that is loaded.
pub(crate) struct Listing {
    pub(crate) spec: &'static ListSpec,
    pub(crate) findings: Findings,
    pub(crate) columns: ListColumns,
    /// The distinct hosts of the columns of [`ListSpec::hosts`].
    hosts: Vec<String>,
    /// For each text in these columns the number of its host.
    host_numbers: Vec<u32>,
    /// Bytes of cached selections.
    cached: usize,
    /// The rows that recent queries selected, the most recent last.
    selections: Mutex<Vec<(String, Arc<[u32]>)>>,
}

/// The rows of one page of a list.
pub(crate) struct ListPage {
    /// Row numbers.
    pub(crate) rows: Vec<u32>,
    /// The number of rows that match the query.
    pub(crate) matching: usize,
}

impl Listing {
    pub(crate) fn new(
        spec: &'static ListSpec,
        findings: Findings,
        columns: ListColumns,
    ) -> Listing {
        let mut hosts: Vec<String> = Vec::new();
        let mut known: HashMap<String, u32> = HashMap::new();
        let mut host_numbers = vec![NO_HOST; columns.texts().len()];
        for column in spec.hosts.iter().filter_map(|name| spec.column(name)) {
            for row in 0..columns.rows() as u32 {
                let number = columns.text_number(row, column);
                let place = number.and_then(|number| host_numbers.get_mut(number as usize));
                let (Some(number), Some(place)) = (number, place) else {
                    continue;
                };
                if *place != NO_HOST {
                    continue;
                }
                if let Some(host) = columns.texts().get(number).and_then(host_of) {
                    *place = *known.entry(host).or_insert_with_key(|host| {
                        hosts.push(host.clone());
                        (hosts.len() - 1) as u32
                    });
                }
            }
        }
        let cached = CACHED.min(CACHED_QUERIES * (columns.rows() * 4 + 64));
        Listing {
            spec,
            findings,
            columns,
            hosts,
            host_numbers,
            cached,
            selections: Mutex::default(),
        }
    }

    /// Bytes of memory that the list uses.
    pub(crate) fn memory(&self) -> u64 {
        let names: usize = self.hosts.iter().map(String::capacity).sum();
        let hosts = self.hosts.capacity() * size_of::<String>() + names;
        let numbers = self.host_numbers.capacity() * 4;
        self.columns.memory() + (hosts + numbers + self.cached) as u64
    }

    /// Returns a value by the name of its column.
    pub(crate) fn value(&self, row: u32, column: &str) -> ListValue<'_> {
        let number = self.spec.column(column);
        number.map_or(ListValue::Null, |column| self.columns.value(row, column))
    }

    /// Returns an id.
    pub(crate) fn id(&self, row: u32, column: &str) -> u64 {
        match self.value(row, column) {
            ListValue::Whole(id) => id,
            _ => 0,
        }
    }

    /// Returns a text; empty for null.
    pub(crate) fn words(&self, row: u32, column: &str) -> &str {
        match self.value(row, column) {
            ListValue::Text(text) => text,
            _ => "",
        }
    }

    /// Returns what identifies a row among those of the list, in all runs.
    pub(crate) fn key(&self, row: u32) -> String {
        let parts = self
            .spec
            .key
            .iter()
            .map(|name| match self.value(row, name) {
                ListValue::Text(text) => text.to_owned(),
                ListValue::Whole(number) => number.to_string(),
                _ => String::new(),
            });
        parts.collect::<Vec<_>>().join(" ")
    }

    /// Returns where the evidence of a row is.
    pub(crate) fn evidence(&self, row: u32) -> String {
        (self.spec.evidence)(self, row)
    }

    /// Returns the rows of one page.
    pub(crate) fn page(&self, query: &ListQuery) -> ListPage {
        let begin = query.page.saturating_sub(1).saturating_mul(query.size);
        if !query.is_filtered() {
            let all = self.columns.rows();
            let rows = (begin..begin.saturating_add(query.size).min(all))
                .filter_map(|position| self.row_at(position, query));
            return ListPage {
                rows: rows.collect(),
                matching: all,
            };
        }
        let selected = self.selection(query);
        let end = begin.saturating_add(query.size).min(selected.len());
        ListPage {
            rows: selected.get(begin..end).unwrap_or_default().to_vec(),
            matching: selected.len(),
        }
    }

    /// Returns all rows that a query selects, in its order.
    pub(crate) fn selection(&self, query: &ListQuery) -> Arc<[u32]> {
        let key = query.selection_key();
        let lock = || {
            self.selections
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let mut cached = lock();
        if let Some(at) = cached.iter().position(|(other, _)| *other == key) {
            let entry = cached.remove(at);
            let rows = Arc::clone(&entry.1);
            cached.push(entry);
            return rows;
        }
        drop(cached);
        let matcher = query.matcher(self);
        let rows: Arc<[u32]> = (0..self.columns.rows())
            .filter_map(|position| self.row_at(position, query))
            .filter(|&row| matcher.matches(self, row))
            .collect();
        let bytes = |rows: &[u32]| rows.len() * 4 + 64;
        if bytes(&rows) <= self.cached {
            let mut cached = lock();
            cached.push((key, Arc::clone(&rows)));
            let mut used: usize = cached.iter().map(|(_, rows)| bytes(rows)).sum();
            while (used > self.cached || cached.len() > CACHED_QUERIES) && cached.len() > 1 {
                let (_, rows) = cached.remove(0);
                used -= bytes(&rows);
            }
        }
        rows
    }

    /// Returns the row at a position in the order of a query: by a column, or as in the table.
    fn row_at(&self, position: usize, query: &ListQuery) -> Option<u32> {
        match query.sort {
            Some((column, descending)) => self.columns.order(column)?.at(position, descending),
            None => (position < self.columns.rows()).then_some(position as u32),
        }
    }

    /// Returns for each host whether it satisfies a condition.
    pub(super) fn hosts_that(&self, condition: impl Fn(&str) -> bool) -> Vec<bool> {
        self.hosts.iter().map(|host| condition(host)).collect()
    }

    /// Returns the number of the host of a text.
    pub(super) fn host_number(&self, row: u32, column: usize) -> Option<usize> {
        let number = self.columns.text_number(row, column)?;
        let host = *self.host_numbers.get(number as usize)?;
        (host != NO_HOST).then_some(host as usize)
    }

    /// Returns the distinct categories, in order, at most `most`.
    pub(crate) fn categories(&self, most: usize) -> Vec<String> {
        let Some(column) = self.spec.category.and_then(|name| self.spec.column(name)) else {
            return Vec::new();
        };
        let mut names: Vec<String> = Vec::new();
        // Rows in the order of the column: a category begins where the last one ends.
        let Some(order) = self.columns.order(column) else {
            return names;
        };
        let at = |position: usize| {
            let row = order.at(position, false)?;
            match self.columns.value(row, column) {
                ListValue::Text(text) => Some(text),
                _ => None,
            }
        };
        let mut position = 0;
        while let (Some(name), true) = (at(position), names.len() < most) {
            names.push(name.to_owned());
            let (mut low, mut high) = (position + 1, self.columns.rows());
            while low < high {
                let middle = low + (high - low) / 2;
                match at(middle) == Some(name) {
                    true => low = middle + 1,
                    false => high = middle,
                }
            }
            position = low;
        }
        names
    }

    /// Returns the numbers of visible columns.
    pub(crate) fn visible(&self) -> impl Iterator<Item = usize> {
        let columns = self.spec.columns.iter().enumerate();
        columns
            .filter(|(_, column)| column.show != Show::Hidden)
            .map(|(at, _)| at)
    }

    /// Returns the visible cells of a row: the link to its evidence, then its values.
    pub(crate) fn cells(&self, row: u32) -> Vec<ReportCell> {
        let evidence = ReportCell::Evidence {
            target: self.evidence(row),
            text: self.spec.link.to_owned(),
        };
        let values = self.visible().map(|column| self.cell(row, column));
        std::iter::once(evidence).chain(values).collect()
    }

    fn cell(&self, row: u32, column: usize) -> ReportCell {
        let Some(spec) = self.spec.columns.get(column) else {
            return ReportCell::Unknown;
        };
        match (self.columns.value(row, column), spec.show) {
            (ListValue::Text(text), Show::Page(id)) => ReportCell::Evidence {
                target: format!("/pages/{}", self.id(row, id)),
                text: text.to_owned(),
            },
            (ListValue::Text(text), _) => ReportCell::Text(text.to_owned()),
            (ListValue::Null, Show::Text | Show::Page(_) | Show::Flag | Show::Date) => {
                ReportCell::Text("–".to_owned())
            }
            (ListValue::Null, _) => ReportCell::Unknown,
            (ListValue::Whole(value), Show::Flag) => {
                ReportCell::Text(if value == 1 { "yes" } else { "no" }.to_owned())
            }
            (ListValue::Whole(value), Show::Bytes) => ReportCell::Bytes(value),
            (ListValue::Whole(value), _) => ReportCell::Count(value),
            (ListValue::Real(value), Show::Share) => ReportCell::Share(value),
            (ListValue::Real(value), _) => ReportCell::Number(value),
            (ListValue::Date(millis), _) => {
                // Perhaps of a publication, which may be known by its year only.
                let date = cento_text::date::render(millis);
                ReportCell::Text(shown_day(&date, DatedBy::Published.name()).to_owned())
            }
        }
    }

    /// Returns a row as JSON: all columns under their names in the table, the key of the row and
    /// the address of its evidence.
    pub(crate) fn json(&self, row: u32) -> Map<String, Value> {
        let mut object = Map::new();
        object.insert("key".to_owned(), self.key(row).into());
        for (at, column) in self.spec.columns.iter().enumerate() {
            let value = match self.columns.value(row, at) {
                ListValue::Text(text) => text.into(),
                ListValue::Whole(value) if column.show == Show::Flag => (value == 1).into(),
                ListValue::Whole(value) => value.into(),
                ListValue::Real(value) => value.into(),
                ListValue::Date(millis) => cento_text::date::render(millis).into(),
                ListValue::Null => Value::Null,
            };
            object.insert(column.name.to_owned(), value);
        }
        object.insert("evidence".to_owned(), self.evidence(row).into());
        object
    }
}

/// Renders the day of a date.
pub(crate) fn day(millis: i64) -> String {
    let date = cento_text::date::render(millis);
    date.split('T').next().unwrap_or_default().to_owned()
}

/// Returns the host of a URL, or of a prefix without a scheme.
fn host_of(text: &str) -> Option<String> {
    let of_url = PageUrl::new(text).host().map(str::to_owned);
    of_url.or_else(|| {
        let begin = text.split('/').next().unwrap_or_default();
        (!begin.is_empty()).then(|| begin.to_lowercase())
    })
}
