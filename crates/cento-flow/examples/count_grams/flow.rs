//! The flow of the benchmark: counts the distinct pages of each gram, and keeps grams on 2 to 50
//! pages. Input and output are Parquet files.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{RecordBatch, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use bytemuck::{Pod, Zeroable};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use serde::{Deserialize, Serialize};
use serde_json::json;

use cento_flow::{Flow, Registry, Row, SeenFilter, Shuffle, Stage, StageError, table_row};

/// A gram and a page that it is on.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(crate) struct GramPage {
    /// The hash of the gram.
    gram: u64,
    /// The number of the page.
    page: u32,
}

impl Row for GramPage {
    type Key = u64;
    type Rest = u32;

    #[inline(always)]
    fn key(&self) -> u64 {
        self.gram
    }

    #[inline(always)]
    fn rest(&self) -> u32 {
        self.page
    }
}

table_row! {
    /// The number of pages of a gram.
    pub(crate) struct GramCount {
        /// The hash of the gram.
        gram: u64,
        /// The number of pages that have it.
        pages: u32,
    }
}

#[derive(Serialize, Deserialize)]
struct FileTask {
    file: String,
    row_group: usize,
}

#[derive(Deserialize)]
struct CountParameters {
    least: u32,
    most: u32,
}

/// Returns the functions of the flow.
pub(crate) fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.map("note", |context| {
        let seen = context.state::<SeenFilter>("seen")?;
        let task: FileTask = context.task()?;
        read(&task, &mut |grams, _| {
            grams.iter().for_each(|&gram| seen.note(gram));
            Ok(context.check()?)
        })
    });
    registry.map("read", |context| {
        let mut rows = context.shuffle::<GramPage>("by gram")?;
        let task: FileTask = context.task()?;
        read(&task, &mut |grams, pages| {
            let zipped = grams.iter().zip(pages);
            Ok(rows.extend(zipped.map(|(&gram, &page)| GramPage { gram, page }))?)
        })
    });
    registry.map("read repeated", |context| {
        let seen = context.state::<SeenFilter>("seen")?;
        let mut rows = context.shuffle::<GramPage>("by gram")?;
        let task: FileTask = context.task()?;
        read(&task, &mut |grams, pages| {
            let zipped = grams
                .iter()
                .zip(pages)
                .filter(|(gram, _)| seen.seen_again(**gram));
            Ok(rows.extend(zipped.map(|(&gram, &page)| GramPage { gram, page }))?)
        })
    });
    registry.reduce::<GramPage, _>("count", |context, groups| {
        let CountParameters { least, most } = context.parameters()?;
        let mut counts = context.table::<GramCount>("counts")?;
        while let Some(group) = groups.next_group()? {
            let gram = group.key();
            let (mut pages, mut last) = (0u32, None);
            for row in group {
                pages += u32::from(last != Some(row.page));
                last = Some(row.page);
            }
            if (least..=most).contains(&pages) {
                counts.push(GramCount { gram, pages })?;
            }
        }
        Ok(())
    });
    registry
}

/// Returns the flow over a file. With `prefilter`, the size of a filter of repeated grams in bytes,
/// it reads the file twice.
pub(crate) fn flow(
    file: &Path,
    prefilter: Option<u64>,
    partitions: Option<u32>,
) -> Result<Flow, StageError> {
    let builder = open(file)?;
    let bytes = std::fs::metadata(file)?.len();
    let tasks = (0..builder.metadata().num_row_groups())
        .map(|row_group| {
            json!(FileTask {
                file: file.display().to_string(),
                row_group
            })
        })
        .collect::<Vec<_>>();
    let mut shuffle = Shuffle::default();
    shuffle.partitions = partitions.unwrap_or(shuffle.partitions);
    let mut flow = Flow::new("count grams")
        .shuffle_with("by gram", shuffle)
        .table("counts");
    let read = match prefilter {
        None => Stage::map("read", tasks),
        Some(bytes) => {
            flow = flow
                .state("seen", "seen-filter", json!({ "bytes": bytes }))
                .stage(Stage::map("note", tasks.clone()).writes("seen"));
            Stage::map("read repeated", tasks).reads("seen")
        }
    };
    // A run must not be resumed over another file of the same name; here the length identifies it.
    let read = read.with(json!({ "bytes": bytes }));
    Ok(flow.stage(read.writes("by gram")).stage(
        Stage::reduce("count", "by gram")
            .with(json!({ "least": 2, "most": 50 }))
            .writes("counts"),
    ))
}

fn open(path: &Path) -> Result<ParquetRecordBatchReaderBuilder<File>, StageError> {
    Ok(ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?)
}

type Each<'a> = &'a mut dyn FnMut(&[u64], &[u32]) -> Result<(), StageError>;

fn read(task: &FileTask, each: Each<'_>) -> Result<(), StageError> {
    let reader = open(task.file.as_ref())?
        .with_row_groups(vec![task.row_group])
        .with_batch_size(1 << 14)
        .build()?;
    for batch in reader {
        let batch = batch?;
        let column = |name: &str| {
            batch
                .column_by_name(name)
                .ok_or_else(|| format!("no column {name}"))
        };
        let grams = column("gram")?
            .as_primitive_opt::<UInt64Type>()
            .ok_or("gram is not u64")?;
        let pages = column("page")?
            .as_primitive_opt::<UInt32Type>()
            .ok_or("page is not u32")?;
        each(grams.values(), pages.values())?;
    }
    Ok(())
}

/// Rows of a page and of a row group.
const PAGE: u64 = 1000;
const ROW_GROUP: u64 = 1_000_000;

fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Returns the gram of a row. One row in six has a unique gram. The others draw from a pool in
/// which a few grams are on nearly every page and most are on few, as with words. Of all grams that
/// occur, 60 % occur once.
fn gram(row: u64, rows: u64) -> u64 {
    let dice = mix(row.wrapping_mul(2).wrapping_add(1));
    if dice % 1000 < UNIQUE {
        return mix(row ^ 0x5bd1_e995_0000_0000);
    }
    let pool = (rows * (1000 - UNIQUE) / 1000 / POOL_MEAN).max(1);
    let fraction = (dice >> 11) as f64 / (1u64 << 53) as f64;
    let key = (pool as f64 * fraction * fraction * fraction) as u64;
    mix(key ^ 0x2545_f491_0000_0000)
}

const UNIQUE: u64 = 165;
const POOL_MEAN: u64 = 4;

/// Writes a file of (gram, page) rows, page by page. Grams are stored without a dictionary, because
/// hashes do not compress.
pub(crate) fn make_file(path: &Path, rows: u64) -> Result<(), StageError> {
    let schema = Arc::new(Schema::new(vec![
        Field::new("gram", DataType::UInt64, false),
        Field::new("page", DataType::UInt32, false),
    ]));
    let properties = WriterProperties::builder()
        .set_column_dictionary_enabled(ColumnPath::from("gram"), false)
        .set_max_row_group_row_count(Some(ROW_GROUP as usize))
        .build();
    let partial = path.with_extension("partial");
    let file = File::create(&partial)?;
    let mut writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties))?;
    let mut begin = 0;
    while begin < rows {
        let end = rows.min(begin + (1 << 16));
        let grams: UInt64Array = (begin..end)
            .map(|row| gram(row, rows))
            .collect::<Vec<_>>()
            .into();
        let pages: UInt32Array = (begin..end)
            .map(|row| (row / PAGE) as u32)
            .collect::<Vec<_>>()
            .into();
        let batch =
            RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(grams), Arc::new(pages)])?;
        writer.write(&batch)?;
        begin = end;
    }
    writer.close()?;
    Ok(std::fs::rename(&partial, path)?)
}
