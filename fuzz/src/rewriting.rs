//! Copying an input without some of its records.

use std::fs;

use cento_file::Fault;
use cento_read::{Fate, Format, Item, RevisitOf, Settings, Start, resolve, rewrite};

use crate::inputs::small_settings;

/// The bits of the first byte that choose the format.
const FORMATS: [Format; 6] = [
    Format::Warc,
    Format::JsonLines,
    Format::Parquet,
    Format::Arc,
    Format::Html,
    Format::Wacz,
];

/// The first byte chooses the format and which records are kept; the rest is the input.
pub fn rewriting(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else {
        return;
    };
    let Some(&format) = FORMATS.get(usize::from(choice & 7)) else {
        return;
    };
    let Ok(folder) = tempfile::tempdir() else {
        return;
    };
    let (input, output) = (folder.path().join("input"), folder.path().join("output"));
    if fs::write(&input, bytes).is_err() {
        return;
    }
    let settings = small_settings(format);
    let kept = choice >> 3;
    let mut fate = |ordinal: u32| match (kept, ordinal % 4) {
        (0, _) | (_, 0) => Fate::Keep,
        (_, 1) if kept & 1 != 0 => Fate::Drop,
        (_, 2) if kept & 2 != 0 => Fate::Replace("Another <text> & more.\n\nIts end.".to_owned()),
        (_, 3) if kept & 4 != 0 => Fate::Revisit(RevisitOf {
            url: "http://a.example/".to_owned(),
            date: None,
            payload_sha1: "A".repeat(32),
        }),
        _ => Fate::Keep,
    };
    let Ok(resolved) = resolve(&[input.display().to_string()], &settings) else {
        return;
    };
    let Some(found) = resolved.inputs.first() else {
        return;
    };
    match rewrite(found, &settings, &output, &mut fate) {
        Err(error) => {
            assert!(error.fault() != Fault::Bug, "{error}");
            assert!(!output.exists(), "an output appears when it is complete");
        }
        Ok(done) => {
            let bytes_are_copied = matches!(format, Format::Warc | Format::Arc | Format::Html);
            if kept == 0 && bytes_are_copied {
                let copy = fs::read(&output).unwrap_or_default();
                assert!(copy == bytes, "all bytes are copied");
                assert_eq!(done.dropped + done.revisits + done.replaced + done.lost, 0);
            }
            count_records(&output.display().to_string(), &settings);
        }
    }
}

/// Reads an output, which may be as damaged as the input was.
fn count_records(name: &str, settings: &Settings) {
    let Ok(resolved) = resolve(&[name.to_owned()], settings) else {
        return;
    };
    for input in &resolved.inputs {
        let Ok(mut reader) = input.open(settings, Start::default()) else {
            continue;
        };
        while let Ok(Some(item)) = reader.next() {
            assert!(matches!(
                item,
                Item::Record(_) | Item::Skipped(_) | Item::Ignored(_)
            ));
        }
    }
}

pub(crate) fn seeds() -> Vec<(String, Vec<u8>)> {
    let lines = "{\"url\":\"http://a.example/\",\"text\":\"To be\"}\n".repeat(5);
    let record = "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\n\
                  Content-Type: application/http; msgtype=response\r\nContent-Length: 47\r\n\r\n\
                  HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nabc\r\n\r\n";
    vec![
        ("records-kept".to_owned(), with(0, &record.repeat(4))),
        (
            "records-changed".to_owned(),
            with(7 << 3, &record.repeat(5)),
        ),
        ("lines-kept".to_owned(), with(1, &lines)),
        ("lines-changed".to_owned(), with(7 << 3 | 1, &lines)),
        ("page".to_owned(), with(4, "<p>To be")),
    ]
}

fn with(choice: u8, content: &str) -> Vec<u8> {
    [&[choice], content.as_bytes()].concat()
}
