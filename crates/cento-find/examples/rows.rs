//! Prints the rows of Parquet tables as JSON Lines, for `reference/check.py`, which cannot read
//! Parquet.
//!
//! ```sh
//! cargo run -p cento-find --example rows -- crawl.cento/findings/quilts/*/patches.parquet
//! ```

use std::error::Error;
use std::io::Write;
use std::path::Path;

use cento_find::{read_table, row_values};
use serde_json::{Map, Value};

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for table in std::env::args_os().skip(1) {
        for batch in read_table(Path::new(&table))? {
            let batch = batch?;
            for row in 0..batch.num_rows() {
                let values = row_values(&batch, row).map(|(name, value)| (name.to_owned(), value));
                let object: Map<String, Value> = values.collect();
                writeln!(out, "{}", Value::Object(object))?;
            }
        }
    }
    out.flush()?;
    Ok(())
}
