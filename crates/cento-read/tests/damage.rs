//! Damage to one record does not affect the others.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failure must end the test"
)]

mod common;

use std::collections::BTreeMap;

use cento_read::{Cause, Content, Settings};
use common::archive::{arc_description, arc_record, gzip, record, response};
use common::packs::{bzip2, lz4_with_all_checksums, xz, zstd};
use common::zip::{stored, zip};
use common::{Folder, Outcome, assert_resumes, pages_of};
use proptest::prelude::*;

/// How records are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stored {
    Warc,
    WarcGzip,
    WarcZstd,
    WarcLz4,
    WarcBzip2,
    WarcXz,
    Arc,
    ArcGzip,
    Lines,
    Wacz,
}

impl Stored {
    const EVERY: [Stored; 10] = [
        Stored::Warc,
        Stored::WarcGzip,
        Stored::WarcZstd,
        Stored::WarcLz4,
        Stored::WarcBzip2,
        Stored::WarcXz,
        Stored::Arc,
        Stored::ArcGzip,
        Stored::Lines,
        Stored::Wacz,
    ];

    fn name(self) -> &'static str {
        match self {
            Stored::Warc => "a.warc",
            Stored::WarcGzip => "a.warc.gz",
            Stored::WarcZstd => "a.warc.zst",
            Stored::WarcLz4 => "a.warc.lz4",
            Stored::WarcBzip2 => "a.warc.bz2",
            Stored::WarcXz => "a.warc.xz",
            Stored::Arc => "a.arc",
            Stored::ArcGzip => "a.arc.gz",
            Stored::Lines => "a.jsonl",
            Stored::Wacz => "a.wacz",
        }
    }

    fn record(self, number: usize, body: &str) -> Vec<u8> {
        let url = format!("http://a.example/{number}");
        let head = ["HTTP/1.1 200 OK", "Content-Type: text/html"];
        let warc = || response(&url, &head, body.as_bytes());
        let arc = || {
            let block = format!("{}\r\n\r\n{body}", head.join("\r\n"));
            arc_record(&url, "text/html", block.as_bytes())
        };
        match self {
            Stored::Warc => warc(),
            Stored::WarcGzip | Stored::Wacz => gzip(&warc()),
            Stored::WarcZstd => zstd(&warc()),
            Stored::WarcLz4 => lz4_with_all_checksums(&warc()),
            Stored::WarcBzip2 => bzip2(&warc()),
            Stored::WarcXz => xz(&warc()),
            Stored::Arc => arc(),
            Stored::ArcGzip => gzip(&arc()),
            Stored::Lines => {
                format!("{}\n", serde_json::json!({"url": url, "html": body})).into_bytes()
            }
        }
    }

    /// The number of bytes at the end of a record that the next record needs too: the line end,
    /// where records are separated by lines.
    fn shared(self) -> usize {
        match self {
            Stored::Arc | Stored::Lines => 1,
            _ => 0,
        }
    }

    fn file(self, records: &[Vec<u8>]) -> Vec<u8> {
        let bytes = records.concat();
        match self {
            Stored::Wacz => zip(&[stored("archive/a.warc.gz", &bytes)], false),
            Stored::Arc => [arc_description(), bytes].concat(),
            Stored::ArcGzip => [gzip(&arc_description()), bytes].concat(),
            _ => bytes,
        }
    }

    /// Whether the following bytes must keep their offsets.
    fn is_fixed(self) -> bool {
        self == Stored::Wacz
    }
}

/// A kind of damage to a record.
#[derive(Clone, Debug)]
enum Damage {
    Flip(Vec<(prop::sample::Index, u8)>),
    Zeros(prop::sample::Index, usize),
    Other(prop::sample::Index, Vec<u8>),
    Cut(prop::sample::Index, usize),
    Insert(prop::sample::Index, Vec<u8>),
    Again(prop::sample::Index, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let index = any::<prop::sample::Index>;
    let garbage = prop_oneof![
        prop::collection::vec(any::<u8>(), 1..200),
        prop::collection::vec(
            prop::sample::select(b"\r\n \0WARC/10:<9{\"".to_vec()),
            1..60
        ),
        Just(b"\r\n\r\n\r\n".to_vec()),
        Just(b"WARC/1.0\r\n\r\n".to_vec()),
        Just(b"WARC/1.0\r\nContent-Length: 99999999999999999999\r\n\r\n".to_vec()),
        Just([0x1f, 0x8b, 8, 0].to_vec()),
        Just([0x28, 0xb5, 0x2f, 0xfd].to_vec()),
        Just(vec![0; 700]),
    ];
    prop_oneof![
        3 => prop::collection::vec((index(), 1..=255_u8), 1..6).prop_map(Damage::Flip),
        1 => (index(), 1..300_usize).prop_map(|(at, length)| Damage::Zeros(at, length)),
        1 => (index(), garbage.clone()).prop_map(|(at, bytes)| Damage::Other(at, bytes)),
        2 => (index(), 1..300_usize).prop_map(|(at, length)| Damage::Cut(at, length)),
        2 => (index(), garbage).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        1 => (index(), 1..300_usize).prop_map(|(at, length)| Damage::Again(at, length)),
    ]
}

impl Damage {
    fn keeps_length(&self) -> bool {
        matches!(
            self,
            Damage::Flip(_) | Damage::Zeros(..) | Damage::Other(..)
        )
    }

    /// Damages a record except for its last `shared` bytes.
    fn apply(&self, record: &mut Vec<u8>, shared: usize) {
        let end = record.len() - shared;
        let stretch = |at: &prop::sample::Index, length: usize| {
            let at = at.index(end);
            at..(at + length).min(end)
        };
        match self {
            Damage::Flip(flips) => {
                for (at, mask) in flips {
                    record[at.index(end)] ^= mask;
                }
            }
            Damage::Zeros(at, length) => record[stretch(at, *length)].fill(0),
            Damage::Other(at, bytes) => {
                let stretch = stretch(at, bytes.len());
                let count = stretch.len();
                record[stretch].copy_from_slice(&bytes[..count]);
            }
            Damage::Cut(at, length) => drop(record.drain(stretch(at, *length))),
            Damage::Insert(at, bytes) => {
                record.splice(at.index(end)..at.index(end), bytes.iter().copied());
            }
            Damage::Again(at, length) => {
                let copy = record[stretch(at, *length)].to_vec();
                record.splice(at.index(end)..at.index(end), copy);
            }
        }
    }
}

fn body(words: &[u16]) -> String {
    let words: Vec<_> = words.iter().map(u16::to_string).collect();
    format!("<p>{}</p>\n\n<p>end", words.join(" "))
}

/// The contents of the pages by URL, the causes of skipped records, and the number of ignored
/// records.
fn read(stored: Stored, bytes: &[u8]) -> (BTreeMap<String, Content>, Vec<Cause>, usize) {
    let folder = Folder::new();
    let path = folder.write(stored.name(), bytes);
    let mut pages = BTreeMap::new();
    let mut causes = Vec::new();
    let mut ignored = 0;
    for outcome in pages_of(&[path], &Settings::default()).unwrap() {
        match outcome {
            Outcome::Page(decoded) => {
                pages.insert(decoded.page.url, decoded.page.content);
            }
            Outcome::Skipped(skipped) => {
                assert!(!skipped.detail.is_empty());
                causes.push(skipped.cause);
            }
            Outcome::Ignored(_) => ignored += 1,
        }
    }
    (pages, causes, ignored)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn damage_to_one_record_does_not_affect_the_others(
        stored in prop::sample::select(Stored::EVERY.to_vec()),
        bodies in prop::collection::vec(prop::collection::vec(any::<u16>(), 1..200), 2..9),
        which in any::<prop::sample::Index>(),
        damage in damage(),
    ) {
        prop_assume!(!stored.is_fixed() || damage.keeps_length());
        let mut records: Vec<_> = bodies
            .iter()
            .enumerate()
            .map(|(number, words)| stored.record(number, &body(words)))
            .collect();
        let sound = read(stored, &stored.file(&records));
        prop_assert_eq!((sound.0.len(), sound.1.len()), (bodies.len(), 0));
        let which = which.index(records.len());
        damage.apply(&mut records[which], stored.shared());
        let (pages, causes, ignored) = read(stored, &stored.file(&records));
        let damaged = format!("http://a.example/{which}");
        for (url, content) in &sound.0 {
            if *url != damaged {
                prop_assert_eq!(pages.get(url), Some(content), "{}", url);
            }
        }
        // A lost record is reported, or has become a record of another type or URL.
        let reported = !causes.is_empty() || ignored > sound.2 || pages.len() == sound.0.len();
        prop_assert!(reported || pages.contains_key(&damaged));
        prop_assert!(causes.len() <= 12, "{:?}", causes);
    }
}

fn page(number: usize) -> Vec<u8> {
    Stored::Warc.record(number, &body(&[number as u16; 20]))
}

/// Checks that the three sound records around a damaged one are read, and the causes.
fn assert_skipped(what: &str, name: &str, bytes: &[u8], causes: &[Cause]) {
    let folder = Folder::new();
    let path = folder.write(name, bytes);
    let outcomes = pages_of(std::slice::from_ref(&path), &Settings::default()).unwrap();
    let mut urls = Vec::new();
    let mut found = Vec::new();
    for outcome in &outcomes {
        match outcome {
            Outcome::Page(decoded) => urls.push(decoded.page.url.as_str()),
            Outcome::Skipped(skipped) => found.push(skipped.cause),
            Outcome::Ignored(_) => {}
        }
    }
    for number in [1, 2, 3] {
        let url = format!("http://a.example/{number}");
        assert!(urls.contains(&url.as_str()), "{what}: {urls:?} {found:?}");
    }
    assert_eq!(found, causes, "{what}");
    assert_resumes(&path, &Settings::default(), outcomes.len());
}

#[test]
fn every_known_kind_of_damage_affects_only_the_damaged_record() {
    let with_length = |length: &str| {
        let sound = String::from_utf8(page(9)).unwrap();
        let begin = sound.find("Content-Length: ").unwrap();
        let end = begin + sound[begin..].find('\r').unwrap();
        format!("{}{length}{}", &sound[..begin], &sound[end..]).into_bytes()
    };
    let sound_length = page(9).len()
        - String::from_utf8(page(9))
            .unwrap()
            .find("\r\n\r\n")
            .unwrap()
        - 8;
    let utf16: Vec<u8> = page(9).iter().flat_map(|&byte| [byte, 0]).collect();
    let cases: &[(&str, Vec<u8>, &[Cause])] = &[
        (
            "too small",
            with_length("Content-Length: 30"),
            &[Cause::BadLength],
        ),
        (
            "too large",
            with_length("Content-Length: 300"),
            &[Cause::BadLength],
        ),
        (
            "huge",
            with_length("Content-Length: 99999999999"),
            &[Cause::Truncated],
        ),
        (
            "larger than 64 bits",
            with_length("Content-Length: 99999999999999999999"),
            &[Cause::BadHeader],
        ),
        (
            "negative",
            with_length("Content-Length: -5"),
            &[Cause::BadHeader],
        ),
        (
            "not a number",
            with_length("Content-Length: many"),
            &[Cause::BadHeader],
        ),
        ("absent", with_length("X: y"), &[Cause::BadHeader]),
        (
            "twice the same",
            with_length(&format!(
                "Content-Length: {sound_length}\r\nContent-Length: {sound_length}"
            )),
            &[],
        ),
        (
            "bare line feeds",
            page(9).into_iter().filter(|&byte| byte != b'\r').collect(),
            &[Cause::BadLength],
        ),
        (
            "a header cut off before the next record",
            page(9)[..60].to_vec(),
            &[Cause::BadHeader],
        ),
        (
            "line ends missing",
            page(9)[..page(9).len() - 4].to_vec(),
            &[],
        ),
        (
            "cut off",
            page(9)[..page(9).len() - 40].to_vec(),
            &[Cause::BadLength],
        ),
        (
            "garbage",
            b"some\0garbage\r\n\r\nbetween\r\n\r\n".to_vec(),
            &[Cause::BadHeader],
        ),
        ("zeros", vec![0; 1_000], &[Cause::BadHeader]),
        (
            "text",
            b"HTTP/1.1 200 OK\r\n\r\n<p>x\r\n".to_vec(),
            &[Cause::BadHeader],
        ),
        ("UTF-16", utf16, &[Cause::BadHeader]),
        ("line ends", b"\r\n\r\n\n\n\r\n\n".to_vec(), &[]),
        (
            "an empty record",
            record("response", "http://b/", "application/http", b""),
            &[],
        ),
        (
            "no URL",
            record(
                "response",
                "",
                "application/http",
                b"HTTP/1.1 200 OK\r\n\r\nx",
            ),
            &[],
        ),
        (
            "an unknown type",
            record("future", "http://b/", "text/plain", b"x"),
            &[],
        ),
        (
            "a continuation",
            record("continuation", "http://b/", "text/plain", b"x"),
            &[],
        ),
        (
            "a revisit of nothing",
            record("revisit", "http://b/", "application/http", b""),
            &[],
        ),
    ];
    for (what, broken, causes) in cases {
        let plain = [&page(1), &page(2), broken, &page(3)]
            .map(Vec::clone)
            .concat();
        assert_skipped(what, "a.warc", &plain, causes);
    }
    // At the beginning of the file.
    for (what, first, causes) in [
        (
            "garbage first",
            b"garbage\r\n".to_vec(),
            &[Cause::BadHeader][..],
        ),
        ("zeros first", vec![0; 600], &[Cause::BadHeader]),
        ("line ends first", b"\r\n\r\n".to_vec(), &[]),
    ] {
        let bytes = [first, page(1), page(2), page(3)].concat();
        assert_skipped(what, "a.warc", &bytes, causes);
    }
}

#[test]
fn every_known_kind_of_damage_to_a_member_affects_only_that_member() {
    let member = gzip(&page(9));
    let flipped = |at: usize| {
        let mut member = member.clone();
        member[at] ^= 0xff;
        member
    };
    let length = member.len();
    let cases: &[(&str, Vec<u8>, &[Cause])] = &[
        ("magic", flipped(0), &[Cause::BadGzip]),
        ("flags", flipped(3), &[Cause::BadGzip]),
        ("data", flipped(length / 2), &[Cause::BadGzip]),
        ("checksum", flipped(length - 8), &[Cause::BadGzip]),
        ("length", flipped(length - 1), &[Cause::BadGzip]),
        ("cut in its header", member[..5].to_vec(), &[Cause::BadGzip]),
        (
            "cut in its data",
            member[..length / 2].to_vec(),
            &[Cause::BadGzip],
        ),
        (
            "cut in its trailer",
            member[..length - 3].to_vec(),
            &[Cause::BadGzip],
        ),
        ("compressed twice", gzip(&member), &[Cause::BadHeader]),
        (
            "empty members",
            [gzip(b""), gzip(b""), gzip(b"\r\n")].concat(),
            &[],
        ),
        ("not compressed", page(9), &[Cause::BadGzip]),
        ("zeros", vec![0; 5_000], &[Cause::BadGzip]),
    ];
    for (what, broken, causes) in cases {
        let bytes = [
            gzip(&page(1)),
            gzip(&page(2)),
            broken.clone(),
            gzip(&page(3)),
        ]
        .concat();
        assert_skipped(what, "a.warc.gz", &bytes, causes);
    }
    let message = {
        let folder = Folder::new();
        let bytes = [gzip(&page(1)), flipped(length / 2), gzip(&page(2))].concat();
        let path = folder.write("a.warc.gz", &bytes);
        let outcomes = pages_of(&[path], &Settings::default()).unwrap();
        outcomes
            .into_iter()
            .find_map(|outcome| match outcome {
                Outcome::Skipped(skipped) => Some(skipped.detail),
                _ => None,
            })
            .unwrap()
    };
    assert!(!message.contains("state"), "{message}");
}

#[test]
fn a_response_that_is_complete_by_its_content_length_is_kept() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 10\r\n\r\n";
    let folder = Folder::new();
    for (body, kept) in [
        ("<p>cento!\n", true),
        ("<p>cento!\n\r\n\r\n", true),
        ("<p>cento", false),
        ("<p>cento!\nmore", false),
    ] {
        let claimed = head.len() + body.len() + 12;
        let line = format!("http://a/ 192.0.2.1 20240503120000 text/html {claimed}\n");
        let arc = [
            &arc_description()[..],
            line.as_bytes(),
            head.as_bytes(),
            body.as_bytes(),
        ]
        .concat();
        let warc = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/\r\nContent-Length: {claimed}\r\n\r\n{head}{body}"
        );
        for (name, bytes) in [
            ("a.arc", arc.clone()),
            ("a.arc.gz", gzip(&arc)),
            ("a.warc", warc.clone().into_bytes()),
            (
                "a.warc.gz",
                [gzip(warc.as_bytes()), gzip(&page(1))].concat(),
            ),
        ] {
            let path = folder.write(name, &bytes);
            let outcomes = pages_of(&[path], &Settings::default()).unwrap();
            let page = outcomes.iter().find_map(|outcome| match outcome {
                Outcome::Page(decoded) if decoded.page.url == "http://a/" => Some(&decoded.page),
                _ => None,
            });
            assert_eq!(page.is_some(), kept, "{name} {body:?}");
            if let Some(page) = page {
                assert_eq!(page.content, Content::Html("<p>cento!\n".into()));
            } else {
                assert!(outcomes.iter().any(
                    |outcome| matches!(outcome, Outcome::Skipped(skipped) if skipped.cause == Cause::Truncated)
                ));
            }
        }
    }
}

/// The length in the record header may be too long, too short, or over the page limit.
#[test]
fn a_complete_response_with_a_wrong_record_length_is_kept_and_so_are_its_neighbours() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 10\r\n\r\n";
    let block = format!("{head}<p>cento!\n");
    let folder = Folder::new();
    for claimed in [
        0,
        block.len() - 3,
        block.len() + 1,
        block.len() + 12,
        block.len() + 300,
        1_000_000,
        100 << 20,
        usize::MAX >> 1,
    ] {
        let line = format!("http://a/ 192.0.2.1 20240503120000 text/html {claimed}\n");
        let arc_page = |number: usize| {
            let url = format!("http://n/{number}");
            let body =
                format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>neighbour {number}");
            arc_record(&url, "text/html", body.as_bytes())
        };
        let arc = [
            arc_description(),
            arc_page(1),
            format!("{line}{block}\n").into_bytes(),
            arc_page(2),
            arc_page(3),
        ]
        .concat();
        let claim = format!(
            "warc/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/\r\nContent-Length: {claimed}\r\n\r\n{block}\r\n\r\n"
        );
        let warc_page = |number: usize| {
            let head = ["HTTP/1.1 200 OK", "Content-Type: text/html"];
            response(&format!("http://n/{number}"), &head, b"<p>neighbour")
        };
        let warc = [warc_page(1), claim.into_bytes(), warc_page(2), warc_page(3)].concat();
        for (name, bytes) in [
            ("a.arc", arc.clone()),
            ("a.arc.gz", gzip(&arc)),
            ("a.warc", warc.clone()),
            ("a.warc.gz", gzip(&warc)),
        ] {
            // In input that cannot be read again, everything that an oversized record claims is
            // lost.
            if name.ends_with(".gz") && claimed > 64 << 20 {
                continue;
            }
            let path = folder.write(name, &bytes);
            let outcomes = pages_of(&[path], &Settings::default()).unwrap();
            let urls: Vec<&str> = outcomes
                .iter()
                .filter_map(|outcome| match outcome {
                    Outcome::Page(decoded) => Some(decoded.page.url.as_str()),
                    _ => None,
                })
                .collect();
            let expected = ["http://n/1", "http://a/", "http://n/2", "http://n/3"];
            assert_eq!(urls, expected, "{name} {claimed}");
            // If the length is too long by one, the line end counts as part of the page.
            let whole = outcomes.iter().any(|outcome| match outcome {
                Outcome::Page(decoded) => match &decoded.page.content {
                    Content::Html(html) => html.trim_end() == "<p>cento!",
                    _ => false,
                },
                Outcome::Skipped(_) | Outcome::Ignored(_) => false,
            });
            assert!(whole, "{name} {claimed}");
        }
    }
}

/// Issue 15: complete responses in a damaged plain ARC file were lost.
#[test]
fn a_damaged_plain_arc_loses_only_the_damaged_records() {
    let whole = |number: usize| {
        format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 14\r\n\r\n<p>\n\ncento {number:02}\n"
        )
    };
    let with_length = |number: usize, length: usize| {
        let block = whole(number);
        format!("http://a/{number} 192.0.2.1 20240503120000 text/html {length}\n{block}\n")
    };
    let sound = |number: usize| with_length(number, whole(number).len());
    let head = whole(0).find("<p>").unwrap();
    let damaged_header = "???://a/0 192.0.2.1 2024 text/html\n<p>damaged\n";
    let mut files: Vec<(String, String)> = Vec::new();
    // Every length, followed by a sound record or a damaged one.
    for length in (0..whole(0).len() + 90).chain([1_000, 100_000, 100 << 20]) {
        for (next, between) in [("sound", ""), ("damaged", damaged_header)] {
            let file = [
                sound(1),
                with_length(2, length),
                between.into(),
                sound(3),
                sound(4),
                sound(5),
            ];
            files.push((format!("{length}, then {next}"), file.concat()));
        }
    }
    // A page that was cut off directly before a record.
    for cut in [head + 3, head + 9] {
        let block = &whole(9)[..cut];
        let line = format!(
            "http://a/9 192.0.2.1 20240503120000 text/html {}\n",
            block.len() + 7
        );
        let before = [sound(1), sound(2), line, block.into()].concat();
        let after = [sound(3), sound(4), sound(5)].concat();
        files.push((format!("cut at {cut}"), format!("{before}{after}")));
        let minified = "x".repeat(100_000);
        files.push((
            format!("long, cut at {cut}"),
            format!("{before}{minified}{after}"),
        ));
    }
    // The header of the last record was cut off.
    let wrong_last = [sound(1), sound(2), sound(3), sound(4), with_length(5, 200)].concat();
    files.push(("end".into(), format!("{wrong_last}http://a/6 192.0")));
    let folder = Folder::new();
    for (what, records) in files {
        let bytes = [arc_description(), records.into_bytes()].concat();
        let path = folder.write("a.arc", &bytes);
        let outcomes = pages_of(std::slice::from_ref(&path), &Settings::default()).unwrap();
        // The line end after a record may be counted as part of the page, and the other way round.
        let contents: BTreeMap<&str, &str> = outcomes
            .iter()
            .filter_map(|outcome| match outcome {
                Outcome::Page(decoded) => match &decoded.page.content {
                    Content::Html(html) => Some((decoded.page.url.as_str(), html.trim_end())),
                    _ => None,
                },
                _ => None,
            })
            .collect();
        for number in 1..=5 {
            let url = format!("http://a/{number}");
            let expected = format!("<p>\n\ncento {number:02}");
            let content = contents.get(url.as_str());
            // If the length of a record ends before a line end of the next record, which is
            // damaged, both lengths are possible. Then the longer one is used.
            assert!(
                content.is_some_and(|content| content.starts_with(&expected)),
                "{what}: {url}: {content:?}"
            );
        }
        assert_resumes(&path, &Settings::default(), outcomes.len());
    }
}

#[test]
fn arc_files_are_recognised() {
    let folder = Folder::new();
    let records = |stored: Stored| {
        let records: Vec<_> = (0..5)
            .map(|number| stored.record(number, &body(&[7; 9])))
            .collect();
        stored.file(&records)
    };
    let (plain, members) = (records(Stored::Arc), records(Stored::ArcGzip));
    for (name, bytes) in [
        ("a.arc", &plain),
        ("a.arc.gz", &members),
        ("b.arc.gz", &gzip(&plain)),
        ("c.arc", &members),
        ("without-ending", &plain),
    ] {
        let path = folder.write(name, bytes);
        assert_resumes(&path, &Settings::default(), 6);
        let outcomes = pages_of(&[path], &Settings::default()).unwrap();
        let urls = outcomes
            .iter()
            .filter(|outcome| matches!(outcome, Outcome::Page(_)));
        assert_eq!(urls.count(), 5, "{name}");
    }
}
