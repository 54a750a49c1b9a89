//! The peak memory of `quilts` and `phrases` on a hostile page.
#![cfg(target_os = "linux")]

mod support;

use std::fmt::Write;

use support::Sandbox;

const MIB: u64 = 1 << 20;

/// Words of two letters with distinct grams: as many grams as a text of this length can have.
fn shortest_words(bytes: usize, seed: usize) -> String {
    let mut text = String::with_capacity(bytes + 3);
    let mut state = seed as u64;
    while text.len() < bytes {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let letter = |shift: u32| char::from(b'a' + (state >> shift) as u8 % 26);
        text.extend([letter(40), letter(50), ' ']);
    }
    text
}

#[test]
fn a_page_of_tiny_words_stays_within_budget() {
    const PAGE: usize = 5 << 20;
    let sandbox = Sandbox::new();
    let mut lines = String::new();
    let mut add = |url: &str, text: &str| {
        writeln!(lines, "{{\"url\": \"{url}\", \"text\": \"{text}\"}}").unwrap();
    };
    // A page of 5 MiB assembled from four others, so that every stage handles all of its grams.
    let sources: Vec<String> = (0..4).map(|seed| shortest_words(PAGE / 4, seed)).collect();
    for (number, source) in sources.iter().enumerate() {
        add(&format!("http://s{number}.example/"), source);
    }
    add("http://quilt.example/", &sources.concat());
    sandbox.write("p.jsonl", &lines);
    sandbox.succeed(&["index", "p.jsonl", "-o", "p.cento"]);
    // The budget, 128 MiB for the program, and the page.
    let most = 32 * MIB + 128 * MIB + PAGE as u64;
    for command in [&["quilts"][..], &["phrases", "--exact", "--collapse=no"]] {
        let options = ["p.cento", "--memory", "32M", "--threads", "2", "--json"];
        let cost = sandbox.peak_memory(&[command, &options].concat());
        assert!(
            cost < most,
            "{command:?}: {} MiB, at most {}",
            cost / MIB,
            most / MIB
        );
    }
}
