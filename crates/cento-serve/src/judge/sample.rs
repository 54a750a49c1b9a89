//! Draws the sample of a session.

use std::collections::BTreeMap;

use serde_json::Value;

use super::log::{JudgedItem, SampleRecord};
use crate::error::Refusal;
use crate::lists::{ListQuery, Listing};
use crate::state::SiteState;

/// Items of a session.
const LARGEST: u32 = 1_000;

/// Draws a uniform sample of the rows that pass the filters, and stores it as a session.
///
/// The sample consists of the rows whose keys have the lowest hashes with the seed, in this order:
/// the same seed always draws the same rows, and the first items are a uniform sample too.
pub(crate) fn start_sample(
    state: &SiteState,
    list: &str,
    filter: &str,
    size: u32,
    seed: u64,
) -> Result<u32, Refusal> {
    if size == 0 || size > LARGEST {
        return Err(Refusal::bad(format!("A sample has 1 to {LARGEST} items.")));
    }
    let list = state
        .lists
        .loaded(list)
        .ok_or_else(|| Refusal::missing(format!("The list {list} has no findings.")))?;
    let mut query = ListQuery::parse(list.spec, filter)?;
    query.sort = None;
    query.page = 1;
    query.size = ListQuery::default().size;
    query.run = None;
    let rows = list.selection(&query);
    if rows.is_empty() {
        return Err(Refusal::bad("No row passes the filters."));
    }
    let record = &list.findings.record;
    state.verdicts.add_session(SampleRecord {
        session: 0,
        time: String::new(),
        list: list.spec.name.to_owned(),
        run: record.question.clone(),
        parameters: record.parameters.clone(),
        filter: query.address(list.spec, 1),
        rows: rows.len() as u64,
        seed,
        items: draw(list, &rows, size as usize, seed),
    })
}

fn draw(list: &Listing, rows: &[u32], size: usize, seed: u64) -> Vec<JudgedItem> {
    let mut drawn: BTreeMap<(u64, String), u32> = BTreeMap::new();
    for &row in rows {
        let key = list.key(row);
        let place = (cento_find::draw(seed, &key), key);
        if drawn.len() >= size
            && drawn
                .last_key_value()
                .is_some_and(|(last, _)| *last < place)
        {
            continue;
        }
        drawn.insert(place, row);
        if drawn.len() > size {
            drawn.pop_last();
        }
    }
    let items = drawn.into_iter().map(|((_, key), row)| JudgedItem {
        key,
        evidence: list.evidence(row),
        row: Value::Object(list.json(row)),
    });
    items.collect()
}
