//! Label files.

use std::fs;

use cento_labels::{Detector, Labels, LabelsWriter, Recipe};

use crate::fixture::TEXTS;
use crate::forge;

/// The bytes are the header of a label file in JSON, a line break, and its sections; or a whole
/// file.
pub fn labels(bytes: &[u8]) {
    let file = match bytes.iter().position(|&byte| byte == b'\n') {
        _ if bytes.starts_with(b"cento\x00L\n") => bytes.to_vec(),
        Some(end) => {
            let (header, sections) = bytes.split_at(end);
            forge::label_file(header, sections.get(1..).unwrap_or_default())
        }
        None => forge::label_file(bytes, &[]),
    };
    let Ok(folder) = tempfile::tempdir() else {
        return;
    };
    let path = folder.path().join("a.labels");
    if fs::write(&path, &file).is_err() {
        return;
    }
    let opened = Labels::open(&path);
    let loaded = Labels::load(&path);
    assert_eq!(opened.is_ok(), loaded.is_ok());
    let Ok(labels) = opened else { return };
    let verified = labels.verify().is_ok();
    let _ = labels.verify_sidecars();
    for (number, label) in labels.iter().enumerate().take(1000) {
        assert_eq!(labels.get(number as u64), Some(label));
        if let Some(found) = labels.find(&label).filter(|_| verified) {
            assert_eq!(
                found, number as u64,
                "sorted labels are found at their number"
            );
        }
        labels.is_stop(&label);
    }
    for text in TEXTS {
        let verdict = Detector::new(&labels).page(text);
        assert!(verdict.matched <= verdict.chunks);
    }
}

/// Label files with and without labels and stops.
#[expect(clippy::unwrap_used, reason = "seeds are made by hand")]
pub(crate) fn seeds() -> Vec<(String, Vec<u8>)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.labels");
    let mut seeds = Vec::new();
    for (name, count, stops) in [("none", 0, 0), ("some", 6, 1), ("many", 40, 5)] {
        let hash = |number: usize| {
            let chunk = TEXTS.get(number).copied().unwrap_or("chunk");
            Recipe::default().chunk_hash(&format!("{chunk}{}", number / TEXTS.len()))
        };
        let mut hashes: Vec<[u8; 16]> = (0..count).map(hash).collect();
        hashes.sort_unstable();
        let mut writer = LabelsWriter::create(&path, Recipe::default(), count as u64).unwrap();
        for hash in hashes {
            writer.push(hash).unwrap();
        }
        let mut stops: Vec<[u8; 16]> = (100..100 + stops).map(hash).collect();
        stops.sort_unstable();
        writer.finish(&stops, serde_json::Value::Null).unwrap();
        let file = fs::read(&path).unwrap();
        let (header, sections) = forge::label_parts(&file).unwrap();
        seeds.push((name.to_owned(), [header, b"\n", sections].concat()));
    }
    seeds
}
