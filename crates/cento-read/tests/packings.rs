//! Inputs in all compression formats: complete, damaged, and resumed at any record.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failure must end the test"
)]

mod common;

use std::io::Write;

use cento_read::{Cause, Settings, Start, resolve};
use common::archive::response;
use common::packs::{PACKINGS, zstd};
use common::{Folder, Outcome, assert_resumes, pages_of, read_from};
use proptest::prelude::*;

fn records(count: usize) -> Vec<Vec<u8>> {
    (0..count)
        .map(|at| {
            let text: String = (0..at * 400)
                .map(|word| format!("{} ", word * at))
                .collect();
            let head = ["HTTP/1.1 200 OK", "Content-Type: text/html"];
            response(
                &format!("http://example.org/{at}"),
                &head,
                format!("<p>{at} {text}").as_bytes(),
            )
        })
        .collect()
}

fn urls(outcomes: &[Outcome]) -> Vec<String> {
    let pages = outcomes
        .iter()
        .filter(|outcome| matches!(outcome, Outcome::Page(_)));
    pages.map(|outcome| outcome.page().url.clone()).collect()
}

fn skippable(kind: u8, content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u32).to_le_bytes();
    [&[0x50 | kind, 0x2a, 0x4d, 0x18][..], &length, content].concat()
}

#[test]
fn an_archive_is_the_same_in_all_compression_formats_and_resumes_anywhere() {
    let records = records(12);
    let folder = Folder::new();
    let settings = Settings::default();
    let plain = pages_of(&[folder.write("a.warc", &records.concat())], &settings).unwrap();
    let texts = |outcomes: &[Outcome]| -> Vec<_> {
        outcomes
            .iter()
            .map(|outcome| outcome.page().content.clone())
            .collect()
    };
    for (ending, pack) in PACKINGS {
        let each: Vec<Vec<u8>> = records.iter().map(|record| pack(record)).collect();
        let pieces: Vec<u8> = records.concat().chunks(3_000).flat_map(pack).collect();
        for bytes in [each.concat(), pack(&records.concat()), pieces] {
            for name in [format!("a.warc.{ending}"), "without-ending".into()] {
                let path = folder.write(&name, &bytes);
                let read = pages_of(std::slice::from_ref(&path), &settings).unwrap();
                assert_eq!(texts(&read), texts(&plain), "{name}");
                assert_resumes(&path, &settings, records.len());
            }
        }
        let path = folder.write(&format!("a.warc.{ending}"), &each.concat());
        let input = &resolve(&[path], &settings).unwrap().inputs[0];
        let mut offset = 0;
        for ((place, _), member) in read_from(input, &settings, Start::default())
            .unwrap()
            .iter()
            .zip(&each)
        {
            assert_eq!((place.offset, place.length), (offset, member.len() as u64));
            offset += place.length;
            assert_eq!((place.next.offset, place.next.skip), (offset, 0));
        }
    }
}

#[test]
fn a_damaged_member_does_not_affect_the_others() {
    let records = records(8);
    let folder = Folder::new();
    for (ending, pack) in PACKINGS {
        let mut each: Vec<Vec<u8>> = records.iter().map(|record| pack(record)).collect();
        let middle = each[4].len() / 2;
        each[4][middle..middle + 20].fill(0xff);
        let path = folder.write(&format!("a.warc.{ending}"), &each.concat());
        let read = pages_of(std::slice::from_ref(&path), &Settings::default()).unwrap();
        assert!(urls(&read).len() >= 7, "{ending}: {:?}", urls(&read));
        assert!(
            urls(&read).ends_with(&["http://example.org/7".to_owned()]),
            "{ending}"
        );
        let causes: Vec<_> = read
            .iter()
            .filter_map(|outcome| match outcome {
                Outcome::Skipped(skipped) => Some(skipped.cause),
                _ => None,
            })
            .collect();
        // LZ4 without a checksum may decompress to something else, which is then a page.
        assert!(
            causes.iter().all(|&cause| cause == Cause::BadPacking),
            "{ending}: {causes:?}"
        );
        assert_resumes(&path, &Settings::default(), read.len());
        let cut = each.concat();
        let path = folder.write(&format!("cut.warc.{ending}"), &cut[..cut.len() - 10]);
        let read = pages_of(&[path], &Settings::default()).unwrap();
        match read.last() {
            Some(Outcome::Skipped(skipped)) => {
                assert_eq!(skipped.cause, Cause::Truncated, "{ending}");
            }
            other => panic!("{ending}: {other:?}"),
        }
    }
}

#[test]
fn an_archive_may_contain_a_dictionary() {
    let records = records(40);
    // Any bytes can be a dictionary: the frames refer back to them.
    let dictionary = records[39].clone();
    let mut packer = zstd::bulk::Compressor::with_dictionary(3, &dictionary).unwrap();
    let frames: Vec<u8> = records
        .iter()
        .flat_map(|record| packer.compress(record).unwrap())
        .collect();
    let folder = Folder::new();
    for stored in [dictionary.clone(), zstd(&dictionary)] {
        let bytes = [
            skippable(13, &stored),
            frames.clone(),
            skippable(1, b"index"),
        ]
        .concat();
        for name in ["a.warc.zst", "without-ending"] {
            let path = folder.write(name, &bytes);
            assert_resumes(&path, &Settings::default(), 40);
            let read = pages_of(&[path], &Settings::default()).unwrap();
            assert_eq!(urls(&read).len(), 40);
        }
    }
    let path = folder.write("b.warc.zst", &frames);
    assert_eq!(
        urls(&pages_of(&[path], &Settings::default()).unwrap()).len(),
        0
    );
}

/// It was read again from the dictionary on, and a resumed index had its records twice.
#[test]
fn reading_resumes_after_a_damaged_dictionary() {
    let frames: Vec<u8> = records(5).iter().flat_map(|record| zstd(record)).collect();
    let packed = zstd(b"To be, or not to be, that is the question");
    let folder = Folder::new();
    let mut too_long = skippable(13, b"To be");
    too_long[4..8].copy_from_slice(&1_000_000u32.to_le_bytes());
    for dictionary in [skippable(13, &packed[..packed.len() - 6]), too_long] {
        let path = folder.write("a.warc.zst", &[dictionary, frames.clone()].concat());
        assert_resumes(&path, &Settings::default(), 6);
        let read = pages_of(&[path], &Settings::default()).unwrap();
        assert!(matches!(read.first(), Some(Outcome::Skipped(_))));
        assert_eq!(urls(&read).len(), 5);
    }
}

#[test]
fn texts_pages_and_lines_are_read_in_all_compression_formats() {
    let folder = Folder::new();
    let lines: String = (0..500)
        .map(|at| format!("{{\"text\": \"Line {at}\"}}\n"))
        .collect();
    for (ending, pack) in PACKINGS {
        let path = folder.write(&format!("a.jsonl.{ending}"), &pack(lines.as_bytes()));
        assert_eq!(pages_of(&[path], &Settings::default()).unwrap().len(), 500);
        for (name, content) in [
            ("a.txt", "Once upon a time"),
            ("a.html", "<p>Once upon a time"),
            ("a", "<!DOCTYPE html>a"),
        ] {
            let path = folder.write(&format!("{name}.{ending}"), &pack(content.as_bytes()));
            let read = pages_of(&[path], &Settings::default()).unwrap();
            assert_eq!(read.len(), 1);
            assert_ne!(
                read[0].page().content,
                cento_read::Content::None,
                "{name}.{ending}"
            );
        }
    }
}

#[test]
fn a_window_that_is_too_large_is_rejected() {
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 3).unwrap();
    encoder.window_log(30).unwrap();
    encoder.write_all(b"Once upon a time").unwrap();
    let packed = encoder.finish().unwrap();
    let path = Folder::new();
    let path = (path.write("a.txt.zst", &packed), path);
    match &pages_of(&[path.0], &Settings::default()).unwrap()[..] {
        [Outcome::Skipped(skipped)] => assert_eq!(skipped.cause, Cause::BadPacking),
        other => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn damage_never_causes_a_panic_or_a_different_resume(
        which in 0..PACKINGS.len(),
        each in any::<bool>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let (ending, pack) = PACKINGS[which];
        let records = records(5);
        let mut bytes = if each {
            records.iter().flat_map(|record| pack(record)).collect()
        } else {
            pack(&records.concat())
        };
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(bytes.len() - cut.index(bytes.len()) / 8);
        let folder = Folder::new();
        let path = folder.write(&format!("a.warc.{ending}"), &bytes);
        let count = pages_of(std::slice::from_ref(&path), &Settings::default()).unwrap().len();
        assert_resumes(&path, &Settings::default(), count);
    }
}
