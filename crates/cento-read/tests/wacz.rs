//! The archives in a WACZ are read as one input, from any offset, and damage is reported.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failure must end the test"
)]

mod common;

use cento_read::{Cause, Error, Item, Settings, Start, resolve};
use common::archive::{gzip, record, response};
use common::zip::{deflated, stored, zip};
use common::{Folder, Outcome, assert_resumes, pages_of, read_from};

fn page(number: usize) -> Vec<u8> {
    let body = format!("<p>Page {number}");
    response(
        &format!("http://a/{number}"),
        &["HTTP/1.1 200 OK", "Content-Type: text/html"],
        body.as_bytes(),
    )
}

fn members(numbers: std::ops::Range<usize>) -> Vec<u8> {
    numbers.flat_map(|number| gzip(&page(number))).collect()
}

fn plain(numbers: std::ops::Range<usize>) -> Vec<u8> {
    numbers.flat_map(page).collect()
}

/// Twelve pages in four archives, which are not sorted by name.
fn sample(wide: bool) -> Vec<u8> {
    let info = record("warcinfo", "", "application/warc-fields", b"software: none");
    zip(
        &[
            stored("archive/c.warc", &plain(6..9)),
            stored("pages/pages.jsonl", b"{\"format\": \"json-pages-1.0\"}\n"),
            stored("archive/a.warc.gz", &[gzip(&info), members(0..3)].concat()),
            deflated("archive/d.warc.gz", &members(9..12)),
            stored("archive/empty.warc.gz", b""),
            stored("indexes/index.cdx", &members(50..51)),
            deflated("archive/b.warc", &plain(3..6)),
            stored("datapackage.json", b"{}"),
        ],
        wide,
    )
}

fn open(path: &str, from: Start) -> Result<Vec<(cento_read::Place, Outcome)>, Error> {
    let settings = Settings::default();
    let inputs = resolve(&[path.to_owned()], &settings)?.inputs;
    read_from(&inputs[0], &settings, from)
}

#[test]
fn archives_are_read_in_the_order_of_their_names_as_one_input() {
    let folder = Folder::new();
    for wide in [false, true] {
        let bytes = sample(wide);
        let path = folder.write("crawl.wacz", &bytes);
        let all = open(&path, Start::default()).unwrap();
        assert_eq!(all.len(), 13);
        for (at, (place, outcome)) in all.iter().enumerate() {
            assert_eq!(place.ordinal as usize, at);
            if at > 0 {
                assert_eq!(outcome.page().url, format!("http://a/{}", at - 1));
            }
            // Offsets refer to the zip.
            let (begin, end) = (
                place.offset as usize,
                (place.offset + place.length) as usize,
            );
            match at {
                1..4 => assert_eq!(bytes[begin..end], gzip(&page(at - 1))),
                7..10 => assert_eq!(bytes[begin..end], page(at - 1)),
                4..7 | 10..13 => assert_eq!(place.length, 0),
                _ => {}
            }
        }
    }
}

#[test]
fn reading_resumes_after_every_record() {
    let folder = Folder::new();
    for wide in [false, true] {
        let path = folder.write("crawl.wacz", &sample(wide));
        assert_resumes(&path, &Settings::default(), 13);
    }
}

#[test]
fn a_zip_is_a_wacz_if_it_contains_archives() {
    let folder = Folder::new();
    let settings = Settings::default();
    for name in ["crawl.zip", "crawl"] {
        let path = folder.write(name, &sample(false));
        assert_eq!(pages_of(&[path], &settings).unwrap().len(), 13);
    }
    let path = folder.write("plain.zip", &zip(&[stored("a.html", b"<p>a")], false));
    assert!(matches!(
        pages_of(&[path], &settings),
        Err(Error::Unsupported { .. })
    ));
    let path = folder.write("plain.wacz", &zip(&[stored("a.html", b"<p>a")], false));
    assert!(matches!(
        pages_of(&[path], &settings),
        Err(Error::BadWacz { .. })
    ));
}

#[test]
fn a_truncated_wacz_is_an_error() {
    let folder = Folder::new();
    let bytes = sample(true);
    for cut in 0..bytes.len() {
        let path = folder.write("crawl.wacz", &bytes[..cut]);
        assert!(
            matches!(open(&path, Start::default()), Err(Error::BadWacz { .. })),
            "{cut}"
        );
    }
}

#[test]
fn a_damaged_directory_is_read_or_an_error() {
    let folder = Folder::new();
    for wide in [false, true] {
        let bytes = sample(wide);
        let directory = bytes.windows(4).position(|at| at == b"PK\x01\x02").unwrap();
        for at in directory..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= [0x01, 0x80, 0xff][at % 3];
            let path = folder.write("crawl.wacz", &bytes);
            match open(&path, Start::default()) {
                Ok(all) => assert!(all.len() < 30, "{at}"),
                Err(error) => assert!(matches!(error, Error::BadWacz { .. }), "{error}"),
            }
        }
    }
}

#[test]
fn a_file_within_another_file_is_skipped() {
    let folder = Folder::new();
    let inner = zip(&[stored("archive/b.warc.gz", &members(0..2))], false);
    let mut bytes = zip(&[stored("archive/a.warc.gz", &inner)], false);
    // The directory also lists the inner file.
    let listed = |bytes: &[u8]| {
        let begin = bytes
            .windows(4)
            .rposition(|at| at == b"PK\x01\x02")
            .unwrap();
        let end = bytes
            .windows(4)
            .rposition(|at| at == b"PK\x05\x06")
            .unwrap();
        (begin, end)
    };
    let (begin, end) = listed(&inner);
    let mut second = inner[begin..end].to_vec();
    let place = 30 + "archive/a.warc.gz".len() as u32;
    second[42..46].copy_from_slice(&place.to_le_bytes());
    let (begin, end) = listed(&bytes);
    let size = (end - begin + second.len()) as u32;
    bytes[end + 12..end + 16].copy_from_slice(&size.to_le_bytes());
    bytes.splice(end..end, second);
    let path = folder.write("crawl.wacz", &bytes);
    let skipped = skipped_in(&path);
    let overlap = "archive/b.warc.gz: it overlaps with another file";
    assert_eq!(skipped.last().unwrap(), &(Cause::BadEntry, overlap.into()));
    let all = open(&path, Start::default()).unwrap();
    assert_resumes(&path, &Settings::default(), all.len());
}

/// The skipped items of a file.
fn skipped_in(path: &str) -> Vec<(Cause, String)> {
    let settings = Settings::default();
    let inputs = resolve(&[path.to_owned()], &settings).unwrap().inputs;
    let mut reader = inputs[0].open(&settings, Start::default()).unwrap();
    let mut skipped = Vec::new();
    let mut ordinal = 0;
    while let Some(item) = reader.next().unwrap() {
        assert_eq!(item.place().ordinal, ordinal);
        ordinal += 1;
        if let Item::Skipped(item) = item {
            skipped.push((item.cause, item.detail));
        }
    }
    skipped
}

#[test]
fn a_file_that_cannot_be_read_is_skipped_and_the_others_are_read() {
    let folder = Folder::new();
    let sound = sample(false);
    // The directory entry of the first archive, c.warc: flags, method, offset and size.
    let directory = sound.windows(4).position(|at| at == b"PK\x01\x02").unwrap();
    for (at, value, problem) in [
        (8, 1, "it is encrypted"),
        (10, 14, "it is neither stored nor deflated"),
        (42, 7, "it is not where the directory says"),
        (45, 99, "it is not before the directory"),
        (23, 99, "it is not before the directory"),
    ] {
        let mut bytes = sound.clone();
        bytes[directory + at] = value;
        let path = folder.write("crawl.wacz", &bytes);
        assert_eq!(
            skipped_in(&path),
            [(Cause::BadEntry, format!("archive/c.warc: {problem}"))]
        );
        let all = open(&path, Start::default()).unwrap();
        let pages = all
            .iter()
            .filter(|(_, outcome)| matches!(outcome, Outcome::Page(..)));
        assert_eq!((all.len(), pages.count()), (11, 9));
        assert_resumes(&path, &Settings::default(), 11);
    }
}

#[test]
fn damage_to_a_deflated_file_is_reported_after_its_records() {
    let folder = Folder::new();
    let files = |bytes: &[u8]| {
        zip(
            &[
                deflated("archive/a.warc", bytes),
                stored("archive/b.warc", &plain(9..12)),
            ],
            false,
        )
    };
    let sound = files(&plain(0..9));
    // A wrong checksum.
    let mut bytes = sound.clone();
    let directory = bytes.windows(4).position(|at| at == b"PK\x01\x02").unwrap();
    bytes[directory + 16] ^= 1;
    let path = folder.write("checksum.wacz", &bytes);
    let skipped = skipped_in(&path);
    assert_eq!(skipped.len(), 1);
    assert!(
        skipped[0]
            .1
            .starts_with("archive/a.warc: the checksum is wrong")
    );
    assert_resumes(&path, &Settings::default(), 13);
    // Damage within the compressed data.
    let begin = 30 + "archive/a.warc".len();
    let mut reported = 0;
    for at in begin + 60..begin + 90 {
        let mut bytes = sound.clone();
        bytes[at] ^= 0xff;
        let path = folder.write("damaged.wacz", &bytes);
        let skipped = skipped_in(&path);
        assert_eq!(skipped.last().unwrap().0, Cause::BadEntry);
        reported += usize::from(skipped.last().unwrap().1.contains("is corrupted after"));
        let urls: Vec<_> = open(&path, Start::default())
            .unwrap()
            .into_iter()
            .filter_map(|(_, outcome)| match outcome {
                Outcome::Page(decoded) => Some(decoded.page.url),
                _ => None,
            })
            .collect();
        assert!(urls.ends_with(&[
            "http://a/9".into(),
            "http://a/10".into(),
            "http://a/11".into()
        ]));
    }
    assert!(reported > 0);
}

#[test]
fn damage_to_one_archive_affects_only_what_it_touches() {
    let folder = Folder::new();
    let mut bytes = sample(false);
    let settings = Settings::default();
    let path = folder.write("crawl.wacz", &bytes);
    let all = open(&path, Start::default()).unwrap();
    let second = all[2].0;
    bytes[(second.offset + second.length / 2) as usize] ^= 0xff;
    let path = folder.write("crawl.wacz", &bytes);
    let inputs = resolve(&[path], &settings).unwrap().inputs;
    let mut reader = inputs[0].open(&settings, Start::default()).unwrap();
    let mut skipped = 0;
    let mut ordinals = 0;
    while let Some(item) = reader.next().unwrap() {
        assert_eq!(item.place().ordinal, ordinals);
        ordinals += 1;
        skipped += usize::from(matches!(item, Item::Skipped(_)));
    }
    assert_eq!((ordinals, skipped), (13, 1));
}

#[cfg(unix)]
#[test]
fn a_wacz_cannot_be_read_from_a_stream() {
    let folder = Folder::new();
    let path = folder.name("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    if !made.is_ok_and(|status| status.success()) {
        return;
    }
    let writer = std::thread::spawn({
        let path = path.clone();
        // The reader may close the pipe before everything is written.
        move || drop(std::fs::write(path, sample(false)))
    });
    assert!(matches!(
        open(&path, Start::default()),
        Err(Error::NeedsFile { .. })
    ));
    writer.join().unwrap();
}
