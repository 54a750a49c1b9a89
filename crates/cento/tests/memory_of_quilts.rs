//! What one hostile page may cost `quilts` and `phrases`, measured as anonymous memory of the
//! process.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::fmt::Write;
use std::process::Stdio;
use std::time::Duration;

use support::Sandbox;

const MIB: u64 = 1 << 20;

/// The most anonymous memory that a command had, in bytes, as often as one can look.
fn anonymous(sandbox: &Sandbox, arguments: &[&str]) -> u64 {
    let mut command = sandbox.command(arguments);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    let ended = loop {
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        let status = std::fs::read_to_string(&status).unwrap_or_default();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("RssAnon:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        most = most.max(kilobytes.unwrap_or(0) * 1024);
        std::thread::sleep(Duration::from_millis(3));
    };
    assert!(ended.success(), "{arguments:?}");
    most
}

/// Words of two letters, all grams of five of which are different: as many grams as a text of this
/// length can have.
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
fn a_page_of_tiny_words_costs_a_small_multiple_of_its_bytes() {
    const PAGE: usize = 5 << 20;
    let sandbox = Sandbox::new();
    let mut lines = String::new();
    let mut add = |url: &str, text: &str| {
        writeln!(lines, "{{\"url\": \"{url}\", \"text\": \"{text}\"}}").unwrap();
    };
    // A page of 5 MiB that is put together from four others, so that every stage has to do with all
    // of its grams.
    let sources: Vec<String> = (0..4).map(|seed| shortest_words(PAGE / 4, seed)).collect();
    for (number, source) in sources.iter().enumerate() {
        add(&format!("http://s{number}.example/"), source);
    }
    add("http://quilt.example/", &sources.concat());
    sandbox.write("p.jsonl", &lines);
    sandbox.succeed(&["index", "p.jsonl", "-o", "p.cento"]);
    // The budget, what the program itself may take, and the page.
    let most = 32 * MIB + 128 * MIB + PAGE as u64;
    for command in [&["quilts"][..], &["phrases", "--exact", "--no-collapse"]] {
        let options = ["p.cento", "--memory", "32M", "--threads", "2", "--json"];
        let cost = anonymous(&sandbox, &[command, &options].concat());
        assert!(
            cost < most,
            "{command:?}: {} MiB, at most {}",
            cost / MIB,
            most / MIB
        );
    }
}
