//! Label files.

use std::fs;

use cento_labels::{Detector, LabelKind, Labels, LabelsWriter, Recipe, StopList};
use cento_text::chunk::ChunkKind;
use cento_text::content::Selection;
use cento_text::normal::Normalisation;

use crate::fixture::TEXTS;
use crate::forge;

/// The bytes are the header of a label file in JSON, a line break, and its sections; or a whole
/// file; or, if they begin with `#`, a stop list.
pub fn labels(bytes: &[u8]) {
    if bytes.starts_with(b"#") {
        return stop_list(&String::from_utf8_lossy(bytes));
    }
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

/// Parses a stop list, and its entries as lines of another one.
fn stop_list(text: &str) {
    let Ok(list) = StopList::parse(text) else {
        return;
    };
    for kind in LabelKind::ALL {
        list.hashes(&recipe_of(kind));
        for entry in list.texts(kind) {
            let line = format!("[{kind}]\n{}\n", StopList::line(entry));
            let again = StopList::parse(&line);
            let texts = again.as_ref().map(|list| list.texts(kind));
            assert_eq!(texts, Ok(&[entry.clone()][..]), "entries can be written");
        }
    }
}

fn recipe_of(kind: LabelKind) -> Recipe {
    match kind {
        LabelKind::Chunks => Recipe::default(),
        LabelKind::Files => Recipe::files(),
    }
}

/// Label files of each kind, with and without labels and stops.
#[expect(clippy::unwrap_used, reason = "seeds are made by hand")]
pub(crate) fn seeds() -> Vec<(String, Vec<u8>)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.labels");
    let mut seeds = Vec::new();
    let words = Recipe {
        content: Selection::Main,
        chunk: ChunkKind::Words(3),
        normalisation: Normalisation::None,
        ..Recipe::default()
    };
    for (name, recipe, count, stops) in [
        ("none", Recipe::default(), 0, 0),
        ("some", Recipe::default(), 6, 1),
        ("many", Recipe::default(), 40, 5),
        ("words", words, 6, 1),
        ("files", Recipe::files(), 6, 1),
    ] {
        let hash = |number: usize| {
            let chunk = TEXTS.get(number).copied().unwrap_or("chunk");
            recipe.chunk_hash(&format!("{chunk}{}", number / TEXTS.len()))
        };
        let mut hashes: Vec<[u8; 16]> = (0..count).map(hash).collect();
        hashes.sort_unstable();
        let mut writer = LabelsWriter::create(&path, recipe, count as u64).unwrap();
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
    let stops = "# a list\nversion 1\n[chunks]\nShare \\\\ this\\tpage\n[files]\n\\#\n";
    seeds.push(("stops".to_owned(), stops.into()));
    seeds
}
