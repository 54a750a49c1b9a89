//! The numbers of the paper's figures 1, 2 and 11, from the tables of a run.

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;

use crate::error::{Error, Result};
use crate::run::Findings;
use crate::tables::read_table;

/// How many objects occur how often: the count, how many objects have it, how many of these are
/// stops.
pub fn frequencies(findings: &Findings) -> Result<Vec<[u64; 3]>> {
    let mut found = Vec::new();
    for batch in read_table(&findings.table("frequencies"))? {
        let batch = batch?;
        let column = |name: &str| {
            let column = batch.column_by_name(name);
            column
                .and_then(|column| column.as_primitive_opt::<UInt64Type>())
                .ok_or_else(|| Error::Bug(format!("the findings lack the column {name}")))
        };
        let [count, objects, stopped] = [column("count")?, column("objects")?, column("stopped")?];
        for row in 0..batch.num_rows() {
            found.push([count.value(row), objects.value(row), stopped.value(row)]);
        }
    }
    Ok(found)
}
