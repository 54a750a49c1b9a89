//! Threads that decompress ahead of a reader change only the time.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failure must end the test"
)]

mod common;

use cento_read::{Settings, Start, resolve};
use common::archive::{gzip, response};
use common::{Folder, read_from};

fn page(url: &str, text: &str) -> Vec<u8> {
    let head = ["HTTP/1.1 200 OK", "Content-Type: text/plain"];
    response(url, &head, text.as_bytes())
}

/// Text that compresses to about a third.
fn noise(seed: u64, length: usize) -> String {
    let mut state = seed.wrapping_mul(2) + 1;
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            char::from(b'a' + ((state >> 60) & 7) as u8)
        })
        .collect()
}

/// Records of many sizes in several blocks. Some are damaged or truncated, some are followed by
/// garbage that looks like the beginning of a member.
fn archive() -> Vec<u8> {
    let mut archive = Vec::new();
    for number in 0..400u64 {
        let length = match number % 40 {
            7 => 2 << 20,
            rest => 1000 * rest as usize,
        };
        let url = format!("http://a.example/{number}");
        let mut member = gzip(&page(&url, &noise(number, length)));
        match number {
            50 | 250 => {
                let middle = member.len() / 2;
                member[middle] ^= 0x10;
            }
            100 => member.truncate(member.len() - 20),
            150 => member.extend_from_slice(b"\x1f\x8b\x08 not a member"),
            200 => member = gzip(&page(&url, "inner")).repeat(2),
            _ => {}
        }
        archive.extend_from_slice(&member);
    }
    archive
}

#[test]
fn helpers_do_not_change_the_records() {
    let folder = Folder::new();
    let path = folder.write("a.warc.gz", &archive());
    let alone = Settings::default();
    let inputs = resolve(&[path], &alone).unwrap().inputs;
    assert!(inputs[0].bytes > Some(6 << 20), "{:?}", inputs[0].bytes);
    let expected = read_from(&inputs[0], &alone, Start::default()).unwrap();
    assert!(expected.len() >= 400);
    for helpers in [1, 2, 5] {
        let with_helpers = Settings {
            helpers,
            ..Settings::default()
        };
        let read = read_from(&inputs[0], &with_helpers, Start::default()).unwrap();
        assert!(read == expected, "{helpers} helpers");
        for at in [0, 49, 50, 51, 99, 250, 390] {
            let rest = read_from(&inputs[0], &with_helpers, expected[at].0.next).unwrap();
            assert!(rest == expected[at + 1..], "{helpers} helpers, after {at}");
        }
    }
}
