//! `cento watch` through every fault: verdicts are right or missing, and no page that was reported
//! is forgotten.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::faults::{ended_cleanly, library, under_limit};
use crate::support::{Random, Sandbox};
use crate::{Rounds, corrupt, plan, set_up};

const WATCH: [&str; 5] = ["watch", "--labels", "l.labels", "--seen", "s.seen"];

/// Returns `cento watch` with all pages on its standard input.
fn watch(sandbox: &Sandbox) -> Command {
    let mut command = sandbox.command(&WATCH);
    command
        .stdin(File::open(sandbox.path("in/pages.jsonl")).unwrap())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Returns the verdicts that were printed completely, by URL, and which of these pages were seen
/// before.
fn verdicts(output: &Output) -> BTreeMap<String, (Value, bool)> {
    let text = String::from_utf8_lossy(&output.stdout);
    let complete = text
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    let lines = complete.map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .map(|mut verdict| {
            let seen = verdict.as_object_mut().unwrap().remove("seen");
            let url = verdict["url"].as_str().unwrap().to_owned();
            (url, (verdict, seen.is_some_and(|seen| !seen.is_null())))
        })
        .collect()
}

#[test]
fn a_watch_gives_right_verdicts_and_forgets_no_page_whatever_happens() {
    let (rounds, mut random) = plan(9, 300);
    let sandbox = Sandbox::new();
    let Some(library) = library(&sandbox) else {
        return;
    };
    set_up(&sandbox, &mut random);
    let seen = sandbox.path("s.seen");
    let right = verdicts(&watch(&sandbox).output().unwrap());
    assert_eq!(right.len(), 40);
    let labels = fs::read(sandbox.path("l.labels")).unwrap();
    let mut counted = Rounds::default();
    for round in 0..rounds {
        let _ = fs::remove_file(&seen);
        let fault = FAULTS[(round % FAULTS.len() as u64) as usize];
        counted.add("watch", fault);
        let (output, forgets) = run(&sandbox, fault, &library, &mut random);
        // A program that the system kills says nothing.
        if !matches!(fault, "kill" | "memory") {
            ended_cleanly(&sandbox, &output, fault);
        }
        let reported = verdicts(&output);
        for (url, (verdict, _)) in &reported {
            assert_eq!(
                Some(verdict),
                right.get(url).map(|(verdict, _)| verdict),
                "{fault}"
            );
        }
        fs::write(sandbox.path("l.labels"), &labels).unwrap();
        let again = watch(&sandbox).output().unwrap();
        assert!(
            again.status.success(),
            "{fault}: {}",
            sandbox.transcript(&again)
        );
        let again = verdicts(&again);
        assert_eq!(again.len(), right.len(), "{fault}");
        for (url, (verdict, seen)) in &again {
            assert_eq!(
                Some(verdict),
                right.get(url).map(|(verdict, _)| verdict),
                "{fault}"
            );
            assert!(
                *seen || forgets || !reported.contains_key(url),
                "{fault}: {url} is forgotten"
            );
        }
    }
    counted.print();
}

const FAULTS: [&str; 9] = [
    "kill",
    "full disk",
    "read-only disk",
    "failing read",
    "clock jumps",
    "memory",
    "corrupted labels",
    "corrupted state",
    "two processes",
];

/// Runs the command with a fault. Also returns whether pages may be forgotten, because the file of
/// seen pages was corrupted.
fn run(sandbox: &Sandbox, fault: &str, library: &Path, random: &mut Random) -> (Output, bool) {
    let mut command = watch(sandbox);
    let at = (1 + random.below(60)).to_string();
    let root = fs::canonicalize(sandbox.path("")).unwrap();
    let faulty = |command: &mut Command, faults: &[(&str, &str)]| {
        command.env("LD_PRELOAD", library).env("FAULT_ROOT", &root);
        command.envs(faults.iter().copied());
    };
    match fault {
        "kill" => {
            let mut child = command.spawn().unwrap();
            std::thread::sleep(Duration::from_millis(random.below(60)));
            let _ = child.kill();
            return (child.wait_with_output().unwrap(), false);
        }
        "full disk" => faulty(
            &mut command,
            &[
                ("FAULT_WRITE", &at),
                ("FAULT_ERROR", "28"),
                ("FAULT_STAY", "1"),
            ],
        ),
        "read-only disk" => faulty(
            &mut command,
            &[
                ("FAULT_WRITE", &at),
                ("FAULT_ERROR", "30"),
                ("FAULT_STAY", "1"),
            ],
        ),
        "failing read" => faulty(&mut command, &[("FAULT_READ", &at)]),
        "clock jumps" => faulty(&mut command, &[("FAULT_CLOCK", "1")]),
        "memory" => {
            let mut limited = under_limit(sandbox, &WATCH, 20_000 + random.below(100_000));
            limited.stdin(File::open(sandbox.path("in/pages.jsonl")).unwrap());
            return (limited.output().unwrap(), false);
        }
        "corrupted labels" => drop(corrupt(&sandbox.path("l.labels"), random)),
        "corrupted state" => {
            assert!(watch(sandbox).output().unwrap().status.success());
            corrupt(&sandbox.path("s.seen"), random);
            let output = command.output().unwrap();
            // A header that cannot be read is an error, and the file has to be removed.
            if !output.status.success() {
                let _ = fs::remove_file(sandbox.path("s.seen"));
            }
            return (output, true);
        }
        _ => {
            let other = watch(sandbox).spawn().unwrap();
            let output = command.output().unwrap();
            let other = other.wait_with_output().unwrap();
            assert!(ended_cleanly(sandbox, &other, fault));
            // Of the two, exactly one has seen a page first.
            let (mine, others) = (verdicts(&output), verdicts(&other));
            for (url, (_, seen)) in &mine {
                let before = others.get(url).is_some_and(|(_, seen)| *seen);
                assert!(*seen || before, "{url} is new to both");
            }
            return (output, false);
        }
    }
    (command.output().unwrap(), false)
}
