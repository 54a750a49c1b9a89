//! Commands that write a corpus with a report, a report, or a data set, through every fault: an
//! output is complete and right, or the command fails; the same command then succeeds, and nothing
//! else is left behind.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::faults::{any_magnitude, ended_cleanly, library, under_limit};
use crate::support::{Random, Sandbox, contents};
use crate::{Rounds, corrupt, plan, set_up};

/// The commands write to `out`, or to a corpus or a file whose name begins with it. Those with an
/// option to replace an output have it, because an interrupted run may have written a part of it.
const COMMANDS: [&[&str]; 5] = [
    &["scan", "in", "--reproducible", "-o", "out.cento"],
    &["report", "r.cento", "--reproducible", "-o", "out.html"],
    &["dedup", "in", "--overwrite", "-o", "out"],
    &["dedup", "c.cento", "--overwrite", "-o", "out"],
    &[
        "contamination",
        "c.cento",
        "--against",
        "items.jsonl",
        "--filter",
        "--overwrite",
        "-o",
        "out",
    ],
];

const FAULTS: [&str; 11] = [
    "kill",
    "full disk",
    "read-only disk",
    "failing read",
    "failing write",
    "clock jumps",
    "memory",
    "corrupted part",
    "corrupted temporary file",
    "wrong bit in a temporary file",
    "two processes",
];

/// What a command has written, by name: without the records of runs, which have times in them.
type Written = BTreeMap<String, Vec<u8>>;

fn written(sandbox: &Sandbox) -> Written {
    let mut files = Written::new();
    for (name, bytes) in contents(&sandbox.path("")) {
        let ignored = ["run.json", ".lock", "fault_injection.so"];
        let known = ["in/", "c.cento/", "r.cento/", "l.labels", "items.jsonl"];
        if !known.iter().any(|known| name.starts_with(known))
            && !ignored.iter().any(|ending| name.ends_with(ending))
        {
            files.insert(name, bytes);
        }
    }
    files
}

/// The tables of a corpus.
fn tables(files: &Written) -> Written {
    let is_table = |name: &String| {
        let folders = ["out.cento/pages/", "out.cento/text/", "out.cento/chunks/"];
        folders.iter().any(|folder| name.starts_with(folder))
    };
    let tables = files.iter().filter(|(name, _)| is_table(name));
    let tables = tables.map(|(name, bytes)| (name.clone(), bytes.clone()));
    tables.collect()
}

/// Removes everything that a command may have written.
fn clear(sandbox: &Sandbox) {
    for output in ["out", "out.cento", "c.cento/query", "temporary"] {
        let _ = fs::remove_dir_all(sandbox.path(output));
    }
    let _ = fs::remove_file(sandbox.path("out.html"));
    fs::create_dir(sandbox.path("temporary")).unwrap();
}

/// Removes the cached results of an analysis that the command runs.
fn forget(sandbox: &Sandbox, arguments: &[&str]) {
    let analysis = match arguments[0] {
        "dedup" => "copies",
        "contamination" => "grams",
        _ => return,
    };
    let _ = fs::remove_dir_all(sandbox.path("c.cento/findings").join(analysis));
}

/// Returns a command whose temporary files are in the sandbox.
fn command(sandbox: &Sandbox, arguments: &[&str]) -> Command {
    let mut command = sandbox.command(arguments);
    command
        .env("TMPDIR", sandbox.path("temporary"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[test]
fn an_output_is_complete_or_the_command_fails_whatever_happens() {
    let (rounds, mut random) = plan(11, 300);
    let sandbox = Sandbox::new();
    let Some(library) = library(&sandbox) else {
        return;
    };
    set_up(&sandbox, &mut random);
    items(&sandbox, &mut random);
    sandbox.succeed(&["scan", "in", "-o", "r.cento"]);
    let mut right = Vec::new();
    for arguments in COMMANDS {
        clear(&sandbox);
        let begun = Instant::now();
        let output = command(&sandbox, arguments).output().unwrap();
        assert!(output.status.success(), "{}", sandbox.transcript(&output));
        let files = written(&sandbox);
        assert!(!files.is_empty(), "{arguments:?}");
        right.push((files, begun.elapsed()));
    }
    let mut counted = Rounds::default();
    for round in 0..rounds {
        let fault = FAULTS[(round % FAULTS.len() as u64) as usize];
        // A scan of plain inputs reads no corpus, and a report has no temporary files.
        let able: &[usize] = match fault {
            "corrupted part" => &[1, 3, 4],
            "wrong bit in a temporary file" => &[2, 3, 4],
            _ => &[0, 1, 2, 3, 4],
        };
        // Another command each time that a fault comes round again.
        let turn = round + round / FAULTS.len() as u64;
        let chosen = able[(turn % able.len() as u64) as usize];
        let arguments = COMMANDS[chosen];
        counted.add(arguments[0], fault);
        clear(&sandbox);
        forget(&sandbox, arguments);
        let (right, time) = &right[chosen];
        let case = format!("round {round}: {arguments:?}, {fault}");
        let (output, restored) = run(&sandbox, arguments, fault, *time, &library, &mut random);
        let killed = matches!(fault, "kill" | "memory" | "corrupted temporary file");
        // A program that the system kills says nothing.
        let succeeded = match killed && !output.status.success() {
            true => false,
            false => ended_cleanly(&sandbox, &output, &case),
        };
        let files = written(&sandbox);
        // A file that cannot be read to its end is reported, and its other records are used.
        let reported = sandbox.transcript(&output).contains("Input/output error");
        // One that could not be read for its digest has none in the corpus.
        let undigested = arguments[0] == "scan" && fault == "failing read";
        if succeeded && !reported {
            match undigested {
                true => assert_files(&tables(&files), &tables(right), &case),
                false => assert_files(&files, right, &case),
            }
        }
        // Files of a data set and reports have their names when they are complete; a corpus has a
        // manifest that says which of its parts are.
        if arguments[0] != "scan" && !reported {
            for (name, bytes) in files.iter().filter(|(name, _)| right.contains_key(*name)) {
                assert!(right.get(name) == Some(bytes), "{case}: {name} is wrong");
            }
        }
        if let Some((path, bytes)) = restored {
            fs::write(path, bytes).unwrap();
        }
        if succeeded && (reported || undigested) {
            clear(&sandbox);
        }
        let again = command(&sandbox, arguments).output().unwrap();
        let said = sandbox.transcript(&again);
        assert!(again.status.success(), "{case}, again: {said}");
        assert_files(&written(&sandbox), right, &format!("{case}, again"));
    }
    counted.print();
}

/// Fails if files are missing, differ, or should not be there.
fn assert_files(found: &Written, right: &Written, case: &str) {
    let names = |files: &Written| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(found), names(right), "{case}");
    for (name, bytes) in found {
        assert!(right.get(name) == Some(bytes), "{case}: {name} differs");
    }
}

/// Writes items of a benchmark: some are on pages of the corpus.
fn items(sandbox: &Sandbox, random: &mut Random) {
    let pages = fs::read_to_string(sandbox.path("in/pages.jsonl")).unwrap();
    let mut lines = String::new();
    for (number, page) in pages.lines().enumerate().step_by(7) {
        let page: serde_json::Value = serde_json::from_str(page).unwrap();
        let own = random.paragraph(30);
        let text = match number % 2 {
            0 => page["text"].as_str().unwrap(),
            _ => own.as_str(),
        };
        lines.push_str(&format!("{}\n", json!({ "id": number, "text": text })));
    }
    sandbox.write("items.jsonl", lines);
}

/// Runs a command with a fault. Also returns a file that was corrupted, with its content.
fn run(
    sandbox: &Sandbox,
    arguments: &[&str],
    fault: &str,
    time: Duration,
    library: &Path,
    random: &mut Random,
) -> (Output, Option<(std::path::PathBuf, Vec<u8>)>) {
    let at = any_magnitude(random, 500).to_string();
    let mut faulty = command(sandbox, arguments);
    let faults: Vec<(&str, &str)> = match fault {
        "kill" | "corrupted temporary file" => {
            let mut child = faulty.spawn().unwrap();
            std::thread::sleep(time * random.below(1000) as u32 / 1000);
            let _ = child.kill();
            let output = child.wait_with_output().unwrap();
            if fault == "kill" {
                return (output, None);
            }
            // What is not complete yet has another name than a complete output.
            let mut remains = written(sandbox);
            remains.retain(|name, _| name.contains("temporary/") || name.contains("/tmp/"));
            let mut names: Vec<String> = remains.into_keys().collect();
            if !names.is_empty() {
                let name = names.swap_remove(random.below(names.len() as u64) as usize);
                corrupt(&sandbox.path(&name), random);
            }
            let output = command(sandbox, arguments).output().unwrap();
            return (output, None);
        }
        "corrupted part" => {
            let corpus = sandbox.path(arguments[1]);
            let files = contents(&corpus).into_iter();
            let files = files.map(|(name, _)| name);
            let mut names: Vec<String> = files.filter(|name| !name.ends_with(".lock")).collect();
            let name = names.swap_remove(random.below(names.len() as u64) as usize);
            let path = corpus.join(name);
            let whole = corrupt(&path, random);
            return (faulty.output().unwrap(), Some((path, whole)));
        }
        "memory" => {
            let mut limited = under_limit(sandbox, arguments, 40_000 + random.below(400_000));
            limited.env("TMPDIR", sandbox.path("temporary"));
            return (limited.output().unwrap(), None);
        }
        "two processes" => {
            let other = command(sandbox, arguments).spawn().unwrap();
            let output = faulty.output().unwrap();
            let other = other.wait_with_output().unwrap();
            let others = ended_cleanly(sandbox, &other, fault);
            assert!(others || output.status.success(), "{arguments:?}");
            return (output, None);
        }
        "full disk" => vec![
            ("FAULT_WRITE", &at),
            ("FAULT_ERROR", "28"),
            ("FAULT_STAY", "1"),
        ],
        "read-only disk" => vec![
            ("FAULT_WRITE", &at),
            ("FAULT_ERROR", "30"),
            ("FAULT_STAY", "1"),
        ],
        "failing write" => vec![("FAULT_WRITE", &at), ("FAULT_ERROR", "5")],
        "failing read" => vec![("FAULT_READ", &at)],
        "clock jumps" => vec![("FAULT_CLOCK", "1")],
        _ => {
            // With little memory, rows are in temporary files.
            faulty.args(["--memory", "2M", "--threads", "1"]);
            vec![("FAULT_FLIP", &at)]
        }
    };
    faulty
        .env("LD_PRELOAD", library)
        .env("FAULT_ROOT", fs::canonicalize(sandbox.path("")).unwrap())
        .envs(faults);
    (faulty.output().unwrap(), None)
}
