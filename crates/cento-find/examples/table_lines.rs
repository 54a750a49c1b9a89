//! Prints tables of findings, one JSON object a line: for programs that check them.
//!
//! ```text
//!   cargo run --release -p cento-find --example table_lines -- CORPUS/findings/detect/*/pages.parquet
//! ```

use std::path::Path;
use std::process::ExitCode;

use cento_find::{read_table, row_values};
use serde_json::{Map, Value};

fn print(path: &Path) -> cento_find::Result<()> {
    for batch in read_table(path)? {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            let values = row_values(&batch, row);
            let object: Map<String, Value> = values
                .map(|(name, value)| (name.to_owned(), value))
                .collect();
            println!("{}", Value::Object(object));
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    for path in std::env::args().skip(1) {
        if let Err(error) = print(Path::new(&path)) {
            eprintln!("{path}: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
