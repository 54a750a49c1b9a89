//! What is printed fits the terminal that it is printed on.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot be set up fails or says why it is skipped"
)]

mod support;

use std::process::Command;
use std::sync::OnceLock;

use support::Sandbox;
use unicode_width::UnicodeWidthStr;

/// Runs a command on a terminal of this width, and returns what it prints there. Nothing if there
/// is no `script` to make a terminal with.
fn on_terminal(sandbox: &Sandbox, columns: usize, command: &str) -> Option<String> {
    let cento = env!("CARGO_BIN_EXE_cento");
    let line = format!("stty cols {columns} rows 40; {cento} {command}");
    let output = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(sandbox.path("."))
        .env_remove("COLUMNS")
        .env_remove("NO_COLOR")
        .env("TERM", "xterm")
        .stdin(std::process::Stdio::null())
        .output();
    match output {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n")),
        Err(error) => {
            eprintln!("skipped, no script(1): {error}");
            None
        }
    }
}

/// Removes escape sequences, and what a progress bar has overwritten.
fn plain(line: &str) -> String {
    let line = line.rsplit('\r').next().unwrap_or(line);
    let mut text = String::new();
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' {
            letters.find(|letter| letter.is_ascii_alphabetic());
        } else {
            text.push(letter);
        }
    }
    text
}

/// A corpus with findings of every kind, made once for all tests.
fn sandbox() -> &'static Sandbox {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    SANDBOX.get_or_init(made)
}

fn made() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.succeed(&["synth", "-o", "s", "--pages", "300"]);
    sandbox.succeed(&["scan", "s/crawl", "-o", "s.cento", "--quiet"]);
    sandbox.succeed(&["discover", "s.cento", "-o", "s.labels"]);
    let wide = "汉字".repeat(60);
    sandbox.write("wide/a.txt", format!("{wide}\n\n{wide}"));
    sandbox.write("wide/b.txt", format!("{wide}。\n\n另一个"));
    sandbox
}

const COMMANDS: [&str; 19] = [
    "scan s.cento",
    "info s.cento",
    "copies s.cento",
    "overlap s.cento --min-shared 1",
    "overlap s.cento --servers",
    "overlap s.cento --replication",
    "reuse s.cento",
    "query s.cento s/originals",
    "passages s.cento",
    "passages s.cento --clusters",
    "passages wide/a.txt wide/b.txt",
    "quilts s.cento --min-source 0.02",
    "phrases s.cento",
    "discover s.cento -o other.labels",
    "detect s.cento --labels s.labels",
    "detect s.cento --against s/originals --grams 8",
    "labels review s.labels",
    "score s.cento/findings --truth s/truth.jsonl",
    "info no-such-corpus-with-a-long-name/in-a-folder-that-does-not-exist/anywhere-at-all.cento",
];

#[test]
fn no_line_is_longer_than_the_terminal_is_wide() {
    let sandbox = sandbox();
    for columns in [80, 120, 200] {
        for command in COMMANDS {
            let Some(shown) = on_terminal(sandbox, columns, command) else {
                return;
            };
            for line in shown.lines().map(plain) {
                assert!(
                    line.width() <= columns,
                    "{columns} columns, cento {command}: {} columns\n{line}\n\n{shown}",
                    line.width()
                );
            }
            assert!(shown.lines().count() > 1, "{command}: {shown}");
        }
    }
}

#[test]
fn the_summary_of_a_scan_fits_on_one_screen() {
    let sandbox = sandbox();
    for columns in [80, 120] {
        let Some(shown) = on_terminal(sandbox, columns, "scan s.cento --quiet") else {
            return;
        };
        let lines = shown.lines().count();
        assert!((20..=40).contains(&lines), "{lines} lines:\n{shown}");
    }
    let piped = sandbox.succeed(&["scan", "s.cento"]);
    assert!(piped.lines().count() <= 44, "{piped}");
}

#[test]
fn output_is_coloured_only_on_a_terminal_or_on_request() {
    let sandbox = sandbox();
    let escape = '\u{1b}';
    let piped = sandbox.succeed(&["quilts", "s.cento"]);
    assert!(!piped.contains(escape), "{piped}");
    let forced = sandbox.succeed(&["quilts", "s.cento", "--color", "always"]);
    assert!(forced.contains(escape), "{forced}");
    if let Some(shown) = on_terminal(sandbox, 80, "quilts s.cento -q") {
        assert!(shown.contains(escape), "{shown}");
        let plain = on_terminal(sandbox, 80, "quilts s.cento -q --color never").unwrap();
        assert!(!plain.contains(escape), "{plain}");
        let bare = format!("NO_COLOR=1 {}", env!("CARGO_BIN_EXE_cento"));
        let output = Command::new("script")
            .args(["-qec", &format!("{bare} quilts s.cento -q"), "/dev/null"])
            .current_dir(sandbox.path("."))
            .output()
            .unwrap();
        assert!(!String::from_utf8_lossy(&output.stdout).contains(escape));
    }
}
