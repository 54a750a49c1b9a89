//! Whatever happens to one record, the others are read as if nothing had.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what goes wrong is to end the test"
)]

mod common;

use std::collections::BTreeMap;

use cento_read::{Cause, Content, Settings};
use common::archive::{arc_description, arc_record, gzip, record, response};
use common::packs::{bzip2, lz4_with_all_checksums, xz, zstd};
use common::zip::{stored, zip};
use common::{Folder, Outcome, assert_resumes, pages_of};
use proptest::prelude::*;

/// How records are stored, one after the other.
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

    /// How many bytes at the end of a record belong to the next as much: what tells where a line
    /// ends, where nothing but lines tells a record from the next.
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

    /// Whether the bytes after a record must stay where they are.
    fn is_fixed(self) -> bool {
        self == Stored::Wacz
    }
}

/// What happens to a record.
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

    /// Damages a record; its last `shared` bytes are spared.
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

/// The content of each page by its address, the causes for which others were skipped, and how many
/// were ignored.
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
    fn damage_to_one_record_costs_no_other(
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
        // What is gone is told of, or has become a record of another type or address.
        let told = !causes.is_empty() || ignored > sound.2 || pages.len() == sound.0.len();
        prop_assert!(told || pages.contains_key(&damaged));
        prop_assert!(causes.len() <= 12, "{:?}", causes);
    }
}

fn page(number: usize) -> Vec<u8> {
    Stored::Warc.record(number, &body(&[number as u16; 20]))
}

/// The three sound records around something else are read, and what else there is has this cause.
fn assert_costs(what: &str, name: &str, bytes: &[u8], causes: &[Cause]) {
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
fn every_known_way_to_be_broken_costs_what_is_broken() {
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
            "beyond numbers",
            with_length("Content-Length: 99999999999999999999"),
            &[Cause::BadHeader],
        ),
        (
            "negative",
            with_length("Content-Length: -5"),
            &[Cause::BadHeader],
        ),
        (
            "no number",
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
            "a header that goes on with the next",
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
        ("two bytes a letter", utf16, &[Cause::BadHeader]),
        ("line ends", b"\r\n\r\n\n\n\r\n\n".to_vec(), &[]),
        (
            "an empty record",
            record("response", "http://b/", "application/http", b""),
            &[],
        ),
        (
            "no address",
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
            "a piece",
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
        assert_costs(what, "a.warc", &plain, causes);
    }
    // What comes first.
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
        assert_costs(what, "a.warc", &bytes, causes);
    }
}

#[test]
fn every_known_way_in_which_a_member_is_broken_costs_that_member() {
    let member = gzip(&page(9));
    let bent = |at: usize| {
        let mut member = member.clone();
        member[at] ^= 0xff;
        member
    };
    let length = member.len();
    let cases: &[(&str, Vec<u8>, &[Cause])] = &[
        ("magic", bent(0), &[Cause::BadGzip]),
        ("flags", bent(3), &[Cause::BadGzip]),
        ("data", bent(length / 2), &[Cause::BadGzip]),
        ("checksum", bent(length - 8), &[Cause::BadGzip]),
        ("length", bent(length - 1), &[Cause::BadGzip]),
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
        ("packed twice", gzip(&member), &[Cause::BadHeader]),
        (
            "empty members",
            [gzip(b""), gzip(b""), gzip(b"\r\n")].concat(),
            &[],
        ),
        ("not packed", page(9), &[Cause::BadGzip]),
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
        assert_costs(what, "a.warc.gz", &bytes, causes);
    }
    let message = {
        let folder = Folder::new();
        let bytes = [gzip(&page(1)), bent(length / 2), gzip(&page(2))].concat();
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
fn a_response_that_is_whole_by_its_own_account_is_kept_whatever_the_record_claims() {
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

/// Wherever it stands in a file, and whatever length its record claims: too much, too little, more
/// than any page may have.
#[test]
fn a_whole_response_in_the_middle_of_a_file_is_kept_and_so_are_its_neighbours() {
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
            // What cannot be read again, and claims more than any page has, is lost with all that
            // it claims.
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
            // A length that is too long by a line end takes that for part of the page.
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

/// Issue 15: whole responses of a damaged plain ARC file were lost.
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
    let damaged_header = "\0\0\0://a/0 192.0.2.1 2024 text/html\n<p>damaged\n";
    let mut files: Vec<(String, String)> = Vec::new();
    // Every length that is wrong, before a sound record and before a damaged one.
    for length in (0..whole(0).len() + 90).chain([1_000, 100_000, 100 << 20]) {
        // One byte too many is the line end, which then counts as part of the page.
        if length == whole(0).len() + 1 {
            continue;
        }
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
    // A page that was cut off, right before a record.
    for cut in [head + 3, head + 9] {
        let block = &whole(9)[..cut];
        let line = format!("http://a/9 192.0.2.1 20240503120000 text/html {}\n", block.len() + 7);
        let before = [sound(1), sound(2), line, block.into()].concat();
        let after = [sound(3), sound(4), sound(5)].concat();
        files.push((format!("cut at {cut}"), format!("{before}{after}")));
        let minified = "x".repeat(100_000);
        files.push((format!("long, cut at {cut}"), format!("{before}{minified}{after}")));
    }
    // The header of the last record was cut off.
    let wrong_last = [sound(1), sound(2), sound(3), sound(4), with_length(5, 200)].concat();
    files.push(("end".into(), format!("{wrong_last}http://a/6 192.0")));
    let folder = Folder::new();
    for (what, records) in files {
        let bytes = [arc_description(), records.into_bytes()].concat();
        let path = folder.write("a.arc", &bytes);
        let outcomes = pages_of(std::slice::from_ref(&path), &Settings::default()).unwrap();
        let contents: BTreeMap<&str, &Content> = outcomes
            .iter()
            .filter_map(|outcome| match outcome {
                Outcome::Page(decoded) => Some((decoded.page.url.as_str(), &decoded.page.content)),
                _ => None,
            })
            .collect();
        for number in 1..=5 {
            let url = format!("http://a/{number}");
            let expected = Content::Html(format!("<p>\n\ncento {number:02}\n"));
            assert_eq!(contents.get(url.as_str()), Some(&&expected), "{what}: {url}");
        }
        assert_resumes(&path, &Settings::default(), outcomes.len());
    }
}

#[test]
fn arc_files_are_found_and_opened_as_what_they_are() {
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
