//! What is in a WACZ is read as one input, from any place, and a damaged one is told.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what goes wrong is to end the test"
)]

mod common;

use std::io::Write;

use cento_read::{Error, Item, Settings, Start, resolve};
use common::archive::{gzip, record, response};
use common::{Folder, Outcome, assert_resumes, pages_of, read_from};
use flate2::Compression;
use flate2::write::DeflateEncoder;

/// A file to be put into a zip.
struct File<'a> {
    name: &'a str,
    bytes: &'a [u8],
    deflate: bool,
}

fn stored<'a>(name: &'a str, bytes: &'a [u8]) -> File<'a> {
    File {
        name,
        bytes,
        deflate: false,
    }
}

fn deflated<'a>(name: &'a str, bytes: &'a [u8]) -> File<'a> {
    File {
        deflate: true,
        ..stored(name, bytes)
    }
}

/// A zip, with 64-bit sizes and places if asked for. Checksums are left out: nobody looks at them.
fn zip(files: &[File<'_>], wide: bool) -> Vec<u8> {
    let mut zip = Vec::new();
    let mut directory = Vec::new();
    for file in files {
        let bytes = if file.deflate {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(file.bytes).unwrap();
            encoder.finish().unwrap()
        } else {
            file.bytes.to_vec()
        };
        let (packed, unpacked) = (bytes.len() as u64, file.bytes.len() as u64);
        let place = zip.len() as u64;
        let narrow = |number: u64| if wide { u32::MAX } else { number as u32 };
        let fields = |extra: &[u8]| {
            let mut fields = Vec::new();
            let method: u16 = if file.deflate { 8 } else { 0 };
            for number in [20, 0, method, 0, 0] {
                fields.extend_from_slice(&number.to_le_bytes());
            }
            for number in [0, narrow(packed), narrow(unpacked)] {
                fields.extend_from_slice(&number.to_le_bytes());
            }
            for number in [file.name.len() as u16, extra.len() as u16] {
                fields.extend_from_slice(&number.to_le_bytes());
            }
            fields
        };
        let extra_of = |numbers: &[u64]| {
            let mut extra = Vec::new();
            if wide {
                extra.extend_from_slice(&1_u16.to_le_bytes());
                extra.extend_from_slice(&(numbers.len() as u16 * 8).to_le_bytes());
                for number in numbers {
                    extra.extend_from_slice(&number.to_le_bytes());
                }
            }
            extra
        };
        let extra = extra_of(&[unpacked, packed]);
        zip.extend_from_slice(b"PK\x03\x04");
        zip.extend_from_slice(&fields(&extra));
        zip.extend_from_slice(file.name.as_bytes());
        zip.extend_from_slice(&extra);
        zip.extend_from_slice(&bytes);
        let extra = extra_of(&[unpacked, packed, place]);
        directory.extend_from_slice(b"PK\x01\x02\x14\x00");
        directory.extend_from_slice(&fields(&extra));
        directory.extend_from_slice(&[0; 10]);
        directory.extend_from_slice(&narrow(place).to_le_bytes());
        directory.extend_from_slice(file.name.as_bytes());
        directory.extend_from_slice(&extra);
    }
    let (begin, size, count) = (zip.len() as u64, directory.len() as u64, files.len() as u64);
    zip.extend_from_slice(&directory);
    if wide {
        let end = zip.len() as u64;
        zip.extend_from_slice(b"PK\x06\x06");
        zip.extend_from_slice(&44_u64.to_le_bytes());
        zip.extend_from_slice(&[45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        for number in [count, count, size, begin] {
            zip.extend_from_slice(&number.to_le_bytes());
        }
        zip.extend_from_slice(b"PK\x06\x07\0\0\0\0");
        zip.extend_from_slice(&end.to_le_bytes());
        zip.extend_from_slice(&1_u32.to_le_bytes());
    }
    zip.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    for _ in 0..2 {
        zip.extend_from_slice(&(count as u16).to_le_bytes());
    }
    for number in [size, begin] {
        let number = if wide { u32::MAX } else { number as u32 };
        zip.extend_from_slice(&number.to_le_bytes());
    }
    zip.extend_from_slice(&[0; 2]);
    zip
}

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

/// Twelve pages in four archives, in another order than that of their names.
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
            // A place is one in the zip.
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
fn a_zip_is_a_wacz_if_it_has_archives_in_it() {
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
fn wherever_a_wacz_is_cut_it_is_told() {
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
fn a_directory_with_any_byte_wrong_is_read_or_told() {
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
fn files_that_overlap_are_refused() {
    let folder = Folder::new();
    let inner = zip(&[stored("archive/b.warc.gz", &members(0..2))], false);
    let mut bytes = zip(&[stored("archive/a.warc.gz", &inner)], false);
    // The directory lists the file within the file as well.
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
    let Err(Error::BadWacz { problem, .. }) = open(&path, Start::default()) else {
        panic!("it was read")
    };
    assert_eq!(problem, "two of its files overlap");
}

#[test]
fn damage_in_one_archive_costs_what_it_touches() {
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
fn a_stream_cannot_be_read_from_its_end() {
    let folder = Folder::new();
    let path = folder.name("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    if !made.is_ok_and(|status| status.success()) {
        return;
    }
    let writer = std::thread::spawn({
        let path = path.clone();
        // Whoever reads may have gone before all is written.
        move || drop(std::fs::write(path, sample(false)))
    });
    assert!(matches!(
        open(&path, Start::default()),
        Err(Error::NeedsFile { .. })
    ));
    writer.join().unwrap();
}
