//! Analyses that are interrupted, run out of disk space, or have little memory.

mod support;

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use support::{Sandbox, SmallDisk};

/// The corpus of a synthetic crawl that takes a moment to analyse.
fn corpus() -> Sandbox {
    let sandbox = Sandbox::new();
    let crawl = ["--pages", "800", "--words", "200", "--languages", "en,zh"];
    sandbox.succeed(&[&["synth", "-o", "s"][..], &crawl].concat());
    sandbox.succeed(&["index", "s/crawl", "-o", "s.cento"]);
    sandbox
}

/// An analysis that writes much to disk, with its findings in a folder and options.
fn phrases<'a>(findings: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["phrases", "s.cento", "--exact", "--collapse=no", "--json"];
    arguments.extend(["--findings", findings]);
    arguments.extend(more);
    arguments
}

const LITTLE: [&str; 4] = ["--threads", "2", "--memory", "16M"];

#[test]
fn an_interrupted_analysis_stops_and_resumes() {
    let sandbox = corpus();
    let expected = sandbox.succeed(&phrases("whole", &LITTLE));
    let child = sandbox
        .command(&phrases("interrupted", &LITTLE))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let begun = Instant::now();
    let id = child.id().to_string();
    let signal = Command::new("kill").args(["-INT", &id]).status();
    assert!(signal.unwrap().success());
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        assert_eq!(output.status.code(), Some(130), "{message}");
        assert!(message.contains("hint: "), "{message}");
        // An idle machine needs less than a second; tests run in parallel.
        let elapsed = begun.elapsed();
        assert!(elapsed < Duration::from_secs(10), "{elapsed:?}");
    }
    assert_eq!(sandbox.succeed(&phrases("interrupted", &LITTLE)), expected);
}

#[test]
fn threads_and_memory_do_not_change_results() {
    let sandbox = corpus();
    let expected = sandbox.succeed(&phrases("whole", &LITTLE));
    let much = ["--threads", "7", "--memory", "2G"];
    assert_eq!(sandbox.succeed(&phrases("much", &much)), expected);
    let refused = sandbox.run(&phrases("small", &["--threads", "4", "--memory", "1M"]));
    assert!(!refused.starts_with("status: 0"), "{refused}");
    assert!(refused.contains("too small"), "{refused}");
}

#[test]
fn a_full_temporary_disk_is_reported_and_the_next_run_resumes() {
    let sandbox = corpus();
    let expected = sandbox.succeed(&phrases("whole", &LITTLE));
    let Some(disk) = SmallDisk::mount(sandbox.path("temp"), "64k") else {
        return;
    };
    let options = [&LITTLE[..], &["--temp", "temp"]].concat();
    let failed = sandbox.run(&phrases("full", &options));
    assert!(failed.starts_with("status: 5"), "{failed}");
    assert!(failed.contains("hint: "), "{failed}");
    disk.remount("size=400m");
    assert_eq!(sandbox.succeed(&phrases("full", &options)), expected);
    assert_eq!(fs::read_dir(sandbox.path("temp")).unwrap().count(), 0);
}
