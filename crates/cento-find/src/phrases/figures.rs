//! The numbers of the paper's figures, from the tables of a run.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, BooleanArray, Float64Array, StringArray, UInt32Array, UInt64Array};

use super::params::PhrasesParams;
use crate::error::{Error, Result};
use crate::run::Findings;
use crate::tables::read_table;

/// Sites that are shown one by one: the largest. A figure needs an end, and there may be a million
/// hosts.
const SITES: usize = 10_000;

/// What the figures show.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PhraseFigures {
    /// How many phrases were sampled from so many pages (figure 1), or are on so many if popularity
    /// is not sampled.
    pub popularity: BTreeMap<u64, u64>,
    /// How many pages have so many popular shingles (figure 2).
    pub pages: BTreeMap<u32, u64>,
    /// How many covered pages have so many popular shingles and a cover of such a size, and how
    /// many of these shingles are covered by foreign pages, all together (figures 3 to 7).
    pub covers: BTreeMap<(u32, u32), (u64, u64)>,
    /// Sites that are large enough to be flagged, the largest first (figures 8 and 9).
    pub sites: Vec<SiteFigure>,
    /// How many more of these there are.
    pub more_sites: u64,
}

/// A site in a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct SiteFigure {
    /// Its host, domain or address.
    pub site: String,
    /// How many pages it has.
    pub pages: u64,
    /// Popular shingles of a page, on average.
    pub mean: f64,
    /// The standard deviation of their number.
    pub deviation: f64,
    /// Whether it is flagged.
    pub flagged: bool,
}

/// Reads the tables of a run.
pub fn figures(findings: &Findings, params: &PhrasesParams) -> Result<PhraseFigures> {
    let mut found = PhraseFigures::default();
    let counted = if params.exact { "pages" } else { "sampled" };
    for batch in read_table(&findings.table("phrases"))? {
        let batch = batch?;
        for &pages in long(&batch, counted)?.values() {
            *found.popularity.entry(pages).or_default() += 1;
        }
    }
    for batch in read_table(&findings.table("pages"))? {
        let batch = batch?;
        let [popular, cover, foreign] = [
            short(&batch, "popular")?,
            short(&batch, "cover")?,
            short(&batch, "foreign")?,
        ];
        for row in 0..batch.num_rows() {
            let popular = popular.value(row);
            *found.pages.entry(popular).or_default() += 1;
            if cover.is_valid(row) {
                let entry = found.covers.entry((popular, cover.value(row))).or_default();
                entry.0 += 1;
                entry.1 += u64::from(foreign.value(row));
            }
        }
    }
    for batch in read_table(&findings.table("sites"))? {
        let batch = batch?;
        let pages = long(&batch, "pages")?;
        let (mean, deviation) = (number(&batch, "mean")?, number(&batch, "deviation")?);
        let (site, flagged) = site_columns(&batch)?;
        for row in 0..batch.num_rows() {
            if pages.value(row) < params.flag_pages {
                continue;
            }
            if found.sites.len() >= SITES {
                found.more_sites += 1;
                continue;
            }
            found.sites.push(SiteFigure {
                site: site.value(row).to_owned(),
                pages: pages.value(row),
                mean: mean.value(row),
                deviation: deviation.value(row),
                flagged: flagged.value(row),
            });
        }
    }
    Ok(found)
}

fn missing(name: &str) -> Error {
    Error::Bug(format!("the findings lack the column {name}"))
}

fn long<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a UInt64Array> {
    let column = batch.column_by_name(name);
    let column = column.and_then(|column| column.as_primitive_opt::<UInt64Type>());
    column.ok_or_else(|| missing(name))
}

fn short<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a UInt32Array> {
    let column = batch.column_by_name(name);
    let column = column.and_then(|column| column.as_primitive_opt::<UInt32Type>());
    column.ok_or_else(|| missing(name))
}

fn number<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a Float64Array> {
    let column = batch.column_by_name(name);
    let column = column.and_then(|column| column.as_primitive_opt::<Float64Type>());
    column.ok_or_else(|| missing(name))
}

fn site_columns(batch: &RecordBatch) -> Result<(&StringArray, &BooleanArray)> {
    let site = batch.column_by_name("site");
    let site = site.and_then(|column| column.as_string_opt::<i32>());
    let flagged = batch.column_by_name("flagged");
    let flagged = flagged.and_then(|column| column.as_boolean_opt());
    Ok((
        site.ok_or_else(|| missing("site"))?,
        flagged.ok_or_else(|| missing("flagged"))?,
    ))
}
