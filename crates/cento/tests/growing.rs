//! Inputs that change after they were indexed: `cento scan FOLDER` and `cento index` again.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod support;

use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use support::{Random, Sandbox};

/// A folder with files a to c.
fn folder() -> Sandbox {
    let sandbox = Sandbox::new();
    for (name, seed) in [("a", 1), ("b", 2), ("c", 3)] {
        write(&sandbox, name, seed);
    }
    sandbox
}

fn write(sandbox: &Sandbox, name: &str, seed: u64) {
    sandbox.write(&format!("docs/{name}.html"), Random(seed).page("Page", 40));
}

fn info(sandbox: &Sandbox) -> Value {
    let info = sandbox.succeed(&["info", "docs.cento", "--json"]);
    serde_json::from_str(&info).unwrap()
}

fn pages(sandbox: &Sandbox) -> u64 {
    info(sandbox)["counts"]["pages"].as_u64().unwrap()
}

const SCAN: [&str; 4] = ["scan", "docs", "--only", "copies,quilts"];
const INDEX: [&str; 4] = ["index", "docs", "-o", "docs.cento"];

/// Runs a scan, and returns what it printed and which analyses used cached results.
fn scan(sandbox: &Sandbox) -> (String, Vec<bool>) {
    let said = sandbox.run(&SCAN);
    assert!(said.starts_with("status: 0"), "{said}");
    let lines = sandbox.succeed(&[&SCAN[..], &["--json", "--quiet"]].concat());
    let cached = lines.lines().map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["cached"].as_bool().unwrap()
    });
    (said, cached.collect())
}

#[test]
fn new_files_are_added_by_the_next_scan() {
    let sandbox = folder();
    sandbox.succeed(&SCAN);
    let report = || fs::read_to_string(sandbox.path("docs.cento/report.html")).unwrap();
    let before = report();
    for (name, seed) in [("d", 4), ("e", 5)] {
        write(&sandbox, name, seed);
    }
    let (said, _) = scan(&sandbox);
    assert!(
        said.contains("note: 2 new files were added: docs/d.html, docs/e.html"),
        "{said}"
    );
    assert!(said.contains("5 pages"), "{said}");
    assert_eq!(pages(&sandbox), 5);
    assert_ne!(report(), before, "the report is updated");

    // Nothing changes from now on: nothing is indexed, and all results are cached.
    let manifest = || fs::read(sandbox.path("docs.cento/manifest.json")).unwrap();
    let made = manifest();
    let (said, cached) = scan(&sandbox);
    assert!(
        said.contains("note: nothing new: docs.cento has all 5 files"),
        "{said}"
    );
    assert_eq!(cached, [true, true]);
    assert_eq!(manifest(), made);
}

#[test]
fn an_index_adds_new_files_under_any_spelling_of_the_folder() {
    let sandbox = folder();
    sandbox.succeed(&INDEX);
    write(&sandbox, "d", 4);
    let said = sandbox.run(&["index", "./docs/", "-o", "docs.cento"]);
    assert!(said.contains("1 new file was added"), "{said}");
    let path = sandbox.path("docs").display().to_string();
    let said = sandbox.run(&["index", &path, "-o", "docs.cento"]);
    assert!(
        said.contains("nothing new: docs.cento has all 4 files"),
        "{said}"
    );
    // Named twice in two ways, with --add: nothing is taken twice.
    sandbox.succeed(&["index", &path, "./docs", "-o", "docs.cento", "--add"]);
    assert_eq!(pages(&sandbox), 4);
    let json = sandbox.succeed(&["index", "docs", "-o", "docs.cento", "--json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["inputs_already_added"], 4);
    assert_eq!(json["inputs_added"], serde_json::json!([]));
}

#[test]
fn files_that_changed_or_vanished_are_an_error_until_the_corpus_is_refreshed() {
    let sandbox = folder();
    sandbox.succeed(&SCAN);
    sandbox.write("docs.cento/notes.txt", "kept");
    write(&sandbox, "b", 20);
    fs::remove_file(sandbox.path("docs/c.html")).unwrap();
    write(&sandbox, "d", 4);
    for command in [&SCAN[..], &INDEX[..]] {
        let refused = sandbox.run(command);
        assert!(refused.starts_with("status: 2"), "{refused}");
        assert!(
            refused.contains(
                "error: since docs.cento was made, 1 input has changed (docs/b.html), 1 input is \
                 missing (docs/c.html)"
            ),
            "{refused}"
        );
        assert!(refused.contains("hint: --refresh indexes all"), "{refused}");
        assert!(!refused.contains('{'), "{refused}");
    }
    assert_eq!(pages(&sandbox), 3, "the corpus is unchanged");

    let said = sandbox.run(&[&SCAN[..], &["--refresh"]].concat());
    assert!(
        said.contains("note: docs.cento was replaced: all inputs were indexed anew"),
        "{said}"
    );
    assert_eq!(pages(&sandbox), 3);
    let text = sandbox.succeed(&["cat", "docs.cento", "--url", "docs/d.html"]);
    assert!(!text.is_empty());
    let gone = sandbox.run(&["cat", "docs.cento", "--url", "docs/c.html"]);
    assert!(gone.starts_with("status: 1"), "{gone}");
    assert!(sandbox.path("docs.cento/notes.txt").is_file());
    let hidden = fs::read_dir(sandbox.path("."))
        .unwrap()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with('.'));
    assert_eq!(hidden.count(), 0, "nothing is left behind");
    // Refreshing again has nothing to do.
    let (said, cached) = scan(&sandbox);
    assert!(said.contains("nothing new"), "{said}");
    assert!(!cached.is_empty() && cached.iter().all(|&is_cached| is_cached));
    let said = sandbox.run(&[&INDEX[..], &["--refresh"]].concat());
    assert!(said.contains("nothing new"), "{said}");
}

#[test]
fn a_renamed_file_is_recognised() {
    let sandbox = folder();
    sandbox.succeed(&INDEX);
    fs::rename(sandbox.path("docs/c.html"), sandbox.path("docs/z.html")).unwrap();
    let refused = sandbox.run(&INDEX);
    assert!(
        refused.contains("1 input has another path (docs/c.html is now docs/z.html)"),
        "{refused}"
    );
    sandbox.succeed(&[&INDEX[..], &["--refresh"]].concat());
    assert_eq!(pages(&sandbox), 3);
}

#[test]
fn the_clock_does_not_matter_for_small_files() {
    let sandbox = folder();
    sandbox.succeed(&INDEX);
    let file = fs::File::options()
        .write(true)
        .open(sandbox.path("docs/a.html"))
        .unwrap();
    // Touched, an hour before it was made: unchanged.
    let before = SystemTime::now() - Duration::from_secs(3600);
    file.set_modified(before).unwrap();
    let said = sandbox.run(&INDEX);
    assert!(said.contains("nothing new"), "{said}");
    // The same size and time, other content: changed.
    let text = fs::read_to_string(sandbox.path("docs/a.html")).unwrap();
    let edited = text.replacen("Page", "Pgae", 1);
    assert_eq!(text.len(), edited.len());
    sandbox.write("docs/a.html", edited);
    file.set_modified(before).unwrap();
    let refused = sandbox.run(&INDEX);
    assert!(refused.contains("1 input has changed"), "{refused}");
}

#[test]
fn a_folder_that_grew_during_an_interruption_is_completed_and_extended() {
    let sandbox = Sandbox::new();
    for name in 0..400 {
        write(&sandbox, &format!("p{name:03}"), name + 1);
    }
    let index = [&INDEX[..], &["--part-size", "20K", "--threads", "1"]].concat();
    let mut child = sandbox.command(&index).spawn().unwrap();
    let first = sandbox.path("docs.cento/pages/part-00000-0000.parquet");
    while !first.exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let _ = child.kill();
    child.wait().unwrap();
    write(&sandbox, "q", 1000);
    sandbox.succeed(&index);
    assert_eq!(pages(&sandbox), 401);
    assert!(!sandbox.run(&["info", "docs.cento"]).contains("unfinished"));
}

#[test]
fn standard_input_is_not_read_into_a_complete_corpus_a_second_time() {
    let sandbox = Sandbox::new();
    let line = b"{\"url\": \"http://a.example/\", \"text\": \"One line of text.\"}\n";
    let index = ["index", "-", "--format", "jsonl", "-o", "docs.cento"];
    sandbox.run_with_input(&index, line);
    let refused = sandbox.run_with_input(&index, line);
    assert!(refused.starts_with("status: 2"), "{refused}");
    assert!(
        refused.contains("docs.cento was made from -, which cannot be read a second time"),
        "{refused}"
    );
    sandbox.run_with_input(&[&index[..], &["--add"]].concat(), line);
    assert_eq!(pages(&sandbox), 2);
}
