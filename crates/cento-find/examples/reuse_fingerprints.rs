//! Writes the distinct fingerprints of all pages of a corpus to a Parquet file of (fingerprint,
//! page_id), for `bench/compare reuse`: what other programs find pairs from.
//!
//! ```text
//! cargo run --release -p cento-find --example reuse_fingerprints -- CORPUS SCHEME FILE
//! ```

use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use cento_find::reuse::PageFingerprints;
use cento_find::{CorpusPages, TextTask};
use parquet::arrow::ArrowWriter;

/// Rows of a batch.
const BATCH: usize = 1 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [corpus, scheme, file] = arguments.as_slice() else {
        return Err("usage: reuse_fingerprints CORPUS SCHEME FILE".into());
    };
    let source = CorpusPages::open(&[Path::new(corpus)])?;
    let mut ids = vec![0; source.kept() as usize];
    for task in 0..source.page_tasks().len() {
        source.for_each_page::<cento_find::Error>(task, |facts| {
            if let Some(id) = ids.get_mut(facts.number as usize) {
                *id = facts.page_id;
            }
            Ok(())
        })?;
    }
    let batch = |fingerprints: &mut Vec<u64>, pages: &mut Vec<u64>| {
        let columns: [(&str, ArrayRef); 2] = [
            (
                "fingerprint",
                Arc::new(UInt64Array::from(std::mem::take(fingerprints))),
            ),
            (
                "page_id",
                Arc::new(UInt64Array::from(std::mem::take(pages))),
            ),
        ];
        RecordBatch::try_from_iter(columns)
    };
    let (mut fingerprints, mut pages) = (Vec::new(), Vec::new());
    let schema = batch(&mut fingerprints, &mut pages)?.schema();
    let mut writer = ArrowWriter::try_new(File::create(file)?, schema, None)?;
    let mut of_page = PageFingerprints::new(scheme.parse().map_err(|error| format!("{error}"))?);
    for task in source.text_tasks() {
        let task: TextTask = serde_json::from_value(task)?;
        source.for_each_text::<cento_find::Error>(&task, |number, text| {
            let id = ids.get(number as usize).copied().unwrap_or_default();
            let set = of_page.set_of(text);
            fingerprints.extend_from_slice(set);
            pages.extend(set.iter().map(|_| id));
            Ok(())
        })?;
        if fingerprints.len() > BATCH {
            writer.write(&batch(&mut fingerprints, &mut pages)?)?;
        }
    }
    writer.write(&batch(&mut fingerprints, &mut pages)?)?;
    writer.close()?;
    Ok(())
}
