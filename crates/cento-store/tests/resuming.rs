//! A build that is interrupted again and again ends with the same files as an uninterrupted one, in
//! every input format.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot make its input should fail"
)]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use cento_store::{Build, Built, Error, Parameters, Progress, Result};

const RECORDS: usize = 700;

fn text(number: usize) -> String {
    format!(
        "Text number {number} says {} and little more.",
        number * 7919 % 1000
    )
}

fn json_lines() -> String {
    let line = |number| match number % 50 {
        49 => "no JSON\n".to_owned(),
        _ => format!(
            "{}\n",
            serde_json::json!({ "text": text(number), "id": number.to_string() })
        ),
    };
    (0..RECORDS).map(line).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn parquet() -> Vec<u8> {
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..RECORDS).map(text)));
    let batch = RecordBatch::try_from_iter([("text", texts)]).unwrap();
    let properties = parquet::file::properties::WriterProperties::builder()
        .set_max_row_group_row_count(Some(97))
        .build();
    let mut bytes = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn warc_record(number: usize) -> Vec<u8> {
    let kind = if number.is_multiple_of(3) {
        "metadata"
    } else {
        "resource"
    };
    let body = text(number);
    let head = format!(
        "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://a.example/{number}\r\nContent-Type: text/plain\r\n\
         WARC-Date: 2024-05-01T12:00:00Z\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body.as_bytes(), b"\r\n\r\n"].concat()
}

/// A folder for each format.
fn inputs(folder: &Path) -> Vec<&'static str> {
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    write("jsonl/a.jsonl", json_lines().as_bytes());
    write("jsonl-gzip/a.jsonl.gz", &gzip(json_lines().as_bytes()));
    write("parquet/a.parquet", &parquet());
    let records: Vec<Vec<u8>> = (0..RECORDS).map(warc_record).collect();
    write("warc/a.warc", &records.concat());
    let members: Vec<Vec<u8>> = records.iter().map(|record| gzip(record)).collect();
    write("warc-gzip/a.warc.gz", &members.concat());
    write("warc-one-member/a.warc.gz", &gzip(&records.concat()));
    for number in 0..RECORDS {
        write(&format!("files/{number}.txt"), text(number).as_bytes());
    }
    vec![
        "jsonl",
        "jsonl-gzip",
        "parquet",
        "warc",
        "warc-gzip",
        "warc-one-member",
        "files",
    ]
}

fn build(folder: &Path, output: &Path, progress: &Progress) -> Result<Built> {
    let settings = cento_read::Settings::default();
    let resolved = cento_read::resolve(&[folder.display().to_string()], &settings)?;
    Build::new(resolved.inputs, output)
        .settings(settings)
        .parameters(Parameters {
            part_bytes: 2500,
            ..Parameters::default()
        })
        .threads(2)
        .progress(progress)
        .run()
}

/// Every file of a corpus but the lock, with its content.
fn contents(folder: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            contents(&path, found);
        } else {
            found.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
    found.sort();
}

#[test]
fn an_interrupted_build_ends_with_the_same_files_as_an_uninterrupted_one() {
    let folder = tempfile::tempdir().unwrap();
    for name in inputs(folder.path()) {
        let input = folder.path().join(name);
        let whole = folder.path().join(format!("{name}-whole.cento"));
        let begun = std::time::Instant::now();
        build(&input, &whole, &Progress::default()).unwrap();
        let whole_time = begun.elapsed();

        let interrupted = folder.path().join(format!("{name}-interrupted.cento"));
        let mut stops = 0;
        let built = loop {
            let progress = Arc::new(Progress::default());
            if stops < 8 {
                let cancel = Arc::clone(&progress);
                let wait = whole_time / 6 + Duration::from_micros(500 * stops);
                std::thread::spawn(move || {
                    std::thread::sleep(wait);
                    cancel.cancel();
                });
            }
            match build(&input, &interrupted, &progress) {
                Err(Error::Cancelled) => stops += 1,
                outcome => break outcome.unwrap(),
            }
        };
        assert!(built.counts.kept > 0);
        let (mut left, mut right) = (Vec::new(), Vec::new());
        contents(&whole, &mut left);
        contents(&interrupted, &mut right);
        assert_eq!(left.len(), right.len(), "{name}");
        assert!(
            left.len() > 3 * 8,
            "{name} has too few parts to be interrupted between"
        );
        for ((file, left), (_, right)) in left.iter().zip(&right) {
            assert!(left == right, "{file} differs");
        }
    }
}
