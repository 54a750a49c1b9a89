//! A filtered input contains exactly the records that were kept.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failure must end the test"
)]

mod common;

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, ListArray, RecordBatch, StringArray, types::Int32Type};
use arrow_schema::DataType;
use cento_read::{Fate, Reject, RevisitOf, Settings, resolve, rewrite};
use common::archive::{arc_description, arc_record, gzip, response};
use common::packs::{bzip2, lz4, xz, zstd};
use common::{Folder, Outcome, pages_of};
use parquet::arrow::ArrowWriter;
use proptest::prelude::*;

type Pack = fn(&[u8]) -> Vec<u8>;

fn plain(bytes: &[u8]) -> Vec<u8> {
    bytes.to_vec()
}

/// How records are stored: compressed one by one, then all together.
const STORED: [(&str, Pack, Pack); 12] = [
    ("a.warc", plain, plain),
    ("b.warc.gz", gzip, plain),
    ("c.warc.gz", plain, gzip),
    ("d.warc.zst", zstd, plain),
    ("e.warc.zst", plain, zstd),
    ("f.warc.lz4", lz4, plain),
    ("g.warc.bz2", bzip2, plain),
    ("h.arc", plain, plain),
    ("i.arc.gz", gzip, plain),
    ("j.jsonl", plain, plain),
    ("k.jsonl.gz", plain, gzip),
    ("l.jsonl.xz", plain, xz),
];

fn stored(name: &str, one: Pack, all: Pack, pages: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    if name.contains(".arc") {
        bytes.extend(one(&arc_description()));
    }
    for page in 0..pages {
        let url = format!("http://a.example/{page}");
        let body = format!("<p>page {page}");
        let record = if name.contains("warc") {
            response(
                &url,
                &["HTTP/1.1 200 OK", "Content-Type: text/html"],
                body.as_bytes(),
            )
        } else if name.contains(".arc") {
            let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{body}");
            arc_record(&url, "text/html", block.as_bytes())
        } else {
            format!("{}\n", serde_json::json!({ "url": url, "html": body })).into_bytes()
        };
        bytes.extend(one(&record));
    }
    all(&bytes)
}

fn urls(path: &str) -> Vec<String> {
    let outcomes = pages_of(&[path.to_owned()], &Settings::default()).unwrap_or_default();
    let pages = outcomes.iter().filter_map(|outcome| match outcome {
        Outcome::Page(decoded) => Some(decoded.page.url.clone()),
        _ => None,
    });
    pages.collect()
}

fn written(folder: &Folder, name: &str, fate: &mut dyn FnMut(u32) -> Fate) -> String {
    let settings = Settings::default();
    let inputs = resolve(&[folder.name(name)], &settings).unwrap().inputs;
    let output = folder.path("out").join(name);
    rewrite(&inputs[0], &settings, &output, fate).unwrap();
    output.display().to_string()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn exactly_the_kept_records_are_copied(gone in prop::collection::vec(any::<bool>(), 1..9)) {
        for (name, one, all) in STORED {
            let folder = Folder::new();
            let bytes = stored(name, one, all, gone.len());
            let path = folder.write(name, &bytes);
            // In ARC files the description is a record too.
            let first = usize::from(name.contains(".arc"));
            let drop = |record: u32| (record as usize).checked_sub(first).is_some_and(|at| gone[at]);
            let output = written(&folder, name, &mut |record| if drop(record) { Fate::Drop } else { Fate::Keep });
            let expected: Vec<String> = urls(&path).into_iter().zip(&gone).filter(|(_, gone)| !**gone).map(|(url, _)| url).collect();
            prop_assert_eq!(urls(&output), expected, "{}", name);
            if !gone.contains(&true) && !name.starts_with(['k', 'l']) {
                prop_assert_eq!(std::fs::read(&output).unwrap(), bytes, "{}", name);
            }
        }
    }
}

#[test]
fn a_copy_of_the_same_bytes_becomes_a_revisit_record() {
    for (name, one, all) in STORED.iter().filter(|(name, ..)| name.contains("warc")) {
        let folder = Folder::new();
        folder.write(name, &stored(name, *one, *all, 3));
        let output = written(&folder, name, &mut |record| match record {
            1 => Fate::Revisit(RevisitOf {
                url: "http://a.example/0".into(),
                date: Some("2024-05-03T12:00:00Z".into()),
                payload_sha1: "A".repeat(32),
            }),
            _ => Fate::Keep,
        });
        let outcomes = pages_of(&[output], &Settings::default()).unwrap();
        assert_eq!(outcomes.len(), 3, "{name}");
        let Outcome::Page(revisit) = &outcomes[1] else {
            unreachable!("{name}: {:?}", outcomes[1]);
        };
        let reject = revisit.reject.as_ref().map(|reject| reject.reason);
        assert_eq!(reject, Some(Reject::Revisit), "{name}");
        let page = &revisit.page;
        assert_eq!(page.url, "http://a.example/1");
        assert_eq!(page.revisit_of_url.as_deref(), Some("http://a.example/0"));
        assert_eq!(page.payload_sha1, Some([0; 20]));
        assert_eq!(page.status, Some(200));
    }
}

#[test]
fn all_columns_of_the_kept_rows_are_copied() {
    let folder = Folder::new();
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(
        (0..5).map(|row| Some(vec![Some(row), None])),
    );
    let columns: Vec<(&str, ArrayRef)> = vec![
        (
            "text",
            Arc::new(StringArray::from(vec!["a", "b", "c", "d", "e"])),
        ),
        ("stars", Arc::new(Int64Array::from(vec![1, 2, 3, 4, 5]))),
        ("lists", Arc::new(lists)),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    folder.write("a.parquet", &bytes);
    let output = written(&folder, "a.parquet", &mut |row| {
        if row % 2 == 1 { Fate::Drop } else { Fate::Keep }
    });
    let file = std::fs::File::open(output).unwrap();
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file)
        .unwrap()
        .build()
        .unwrap();
    let rest: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    assert_eq!(rest.len(), 1);
    let kept = arrow_array::UInt32Array::from(vec![0, 2, 4]);
    assert_eq!(rest[0].num_columns(), 3);
    assert_eq!(rest[0].num_rows(), 3);
    for (column, whole) in rest[0].columns().iter().zip(batch.columns()) {
        let data: Vec<ArrayRef> = kept
            .values()
            .iter()
            .map(|&row| whole.slice(row as usize, 1))
            .collect();
        for (at, one) in data.iter().enumerate() {
            assert_eq!(&column.slice(at, 1), one);
        }
    }
}

#[test]
fn texts_of_tables_are_replaced_in_the_column_they_were_read_from() {
    let texts = ["one", "two", "three", "four"];
    let strings = || StringArray::from(vec![Some("one"), Some("two"), None, Some("four")]);
    let cast = |kind: &DataType| arrow_cast::cast(&strings(), kind).unwrap();
    let html: ArrayRef = Arc::new(StringArray::from(vec!["<p>1", "<p>2", "<p>three", "<p>4"]));
    let dictionary = |key, value| DataType::Dictionary(Box::new(key), Box::new(value));
    for kind in [
        DataType::Utf8,
        DataType::LargeUtf8,
        DataType::Utf8View,
        DataType::Binary,
        DataType::LargeBinary,
        DataType::BinaryView,
        dictionary(DataType::Int32, DataType::Utf8),
        dictionary(DataType::UInt8, DataType::LargeUtf8),
        dictionary(DataType::Int64, DataType::Binary),
    ] {
        let folder = Folder::new();
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("text", cast(&kind)),
            ("html", html.clone()),
            ("stars", Arc::new(Int64Array::from(vec![1, 2, 3, 4]))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        folder.write("a.parquet", &bytes);
        let output = written(&folder, "a.parquet", &mut |row| match row {
            0 => Fate::Drop,
            3 => Fate::Keep,
            row => Fate::Replace(format!("not {} < 5", texts[row as usize])),
        });
        let file = std::fs::File::open(output).unwrap();
        let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file);
        let mut reader = reader.unwrap().build().unwrap();
        let rest = reader.next().unwrap().unwrap();
        assert_eq!(rest.schema(), batch.schema());
        let column = |name: &str| -> Vec<Option<String>> {
            let column = arrow_cast::cast(rest.column_by_name(name).unwrap(), &DataType::Utf8);
            let column = column.unwrap();
            let strings = column.as_any().downcast_ref::<StringArray>().unwrap();
            strings
                .iter()
                .map(|value| value.map(str::to_owned))
                .collect()
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            column("text"),
            [some("not two < 5"), None, some("four")],
            "{kind}"
        );
        let page = column("html")[1].clone().unwrap();
        assert!(page.ends_with("<p>not three &lt; 5</p>\n"), "{page}");
        assert_eq!(column("html")[0], some("<p>2"));
        assert_eq!(column("stars"), ["2", "3", "4"].map(some));
    }
}

#[test]
fn a_single_page_is_copied_or_not() {
    let folder = Folder::new();
    folder.write("kept.html", b"<p>kept");
    folder.write("removed.html", b"<p>removed");
    let kept = written(&folder, "kept.html", &mut |_| Fate::Keep);
    assert_eq!(std::fs::read(kept).unwrap(), b"<p>kept");
    let removed = written(&folder, "removed.html", &mut |_| Fate::Drop);
    assert!(!std::path::Path::new(&removed).exists());
}
