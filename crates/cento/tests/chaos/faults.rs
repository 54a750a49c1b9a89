//! Faults of the machine: reads and writes that fail, a clock that jumps, too little memory, a
//! corrupted temporary file, two processes at once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use crate::support::{Random, Sandbox, contents, skip};
use crate::{ANALYSES, Rounds, corrupt, plan, results, set_up};

const NO_SPACE: &str = "28";
const INPUT_OUTPUT: &str = "5";
const READ_ONLY: &str = "30";
const MANIFEST: &str = "manifest.json";

/// Compiles the library that makes system calls fail.
pub(crate) fn library(sandbox: &Sandbox) -> Option<PathBuf> {
    let library = sandbox.path("fault_injection.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/chaos/fault_injection.c");
    let compiled = Command::new("cc")
        .args(["-O1", "-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(source)
        .status();
    if compiled.is_ok_and(|status| status.success()) {
        return Some(library);
    }
    skip("there is no C compiler, which makes system calls fail");
    None
}

/// A number up to `limit`; all orders of magnitude are equally likely.
pub(crate) fn any_magnitude(random: &mut Random, limit: u64) -> u64 {
    let smaller = random.below(u64::from(limit.ilog2()));
    1 + random.below((limit >> smaller) + 1)
}

/// Fails if a command panicked, was killed, or failed without an error message. Returns whether it
/// succeeded.
pub(crate) fn ended_cleanly(sandbox: &Sandbox, output: &Output, fault: &str) -> bool {
    let said = sandbox.transcript(output);
    assert!(!said.contains("panicked"), "{fault}: {said}");
    match output.status.code() {
        Some(0) => true,
        Some(1..=5) => {
            assert!(said.contains("error: "), "{fault}: {said}");
            false
        }
        _ => panic!("{fault}: {said}"),
    }
}

/// The kind of fault that changes a bit of a temporary file.
const WRONG_BIT: u64 = 4;

#[test]
fn an_analysis_survives_failing_reads_and_writes_and_jumps_of_the_clock() {
    let (rounds, mut random) = plan(12, 300);
    let sandbox = Sandbox::new();
    let Some(library) = library(&sandbox) else {
        return;
    };
    set_up(&sandbox, &mut random);
    let right = results(&sandbox);
    let mut counted = Rounds::default();
    for round in 0..rounds {
        let _ = fs::remove_dir_all(sandbox.path("c.cento/findings"));
        let _ = fs::remove_dir_all(sandbox.path("c.cento/query"));
        let chosen = (round % ANALYSES.len() as u64) as usize;
        let mut arguments = ANALYSES[chosen].to_vec();
        let kind = random.below(6);
        // With little memory, rows are in temporary files.
        match kind {
            WRONG_BIT => arguments.extend(["--memory", "2M", "--threads", "1"]),
            _ => arguments.extend(["--memory", ["16M", "1G"][random.below(2) as usize]]),
        }
        let mut command = sandbox.command(&arguments);
        command
            .env("LD_PRELOAD", &library)
            .env("FAULT_ROOT", fs::canonicalize(sandbox.path("")).unwrap());
        let at = any_magnitude(&mut random, 2000).to_string();
        let fault = match kind {
            0 => {
                command.env("FAULT_READ", &at);
                "failing read"
            }
            1 => {
                command
                    .env("FAULT_WRITE", &at)
                    .env("FAULT_ERROR", NO_SPACE)
                    .env("FAULT_STAY", "1");
                "full disk"
            }
            2 => {
                command
                    .env("FAULT_WRITE", &at)
                    .env("FAULT_ERROR", INPUT_OUTPUT);
                "failing write"
            }
            3 => {
                // Sometimes from the start.
                let at = if random.below(3) == 0 {
                    "0"
                } else {
                    at.as_str()
                };
                command
                    .env("FAULT_WRITE", at)
                    .env("FAULT_ERROR", READ_ONLY)
                    .env("FAULT_STAY", "1");
                "read-only disk"
            }
            WRONG_BIT => {
                let bit = any_magnitude(&mut random, 60).to_string();
                command.env("FAULT_FLIP", bit);
                "wrong bit in a temporary file"
            }
            _ => {
                command.env("FAULT_CLOCK", "1");
                "clock jumps"
            }
        };
        counted.add(ANALYSES[chosen][0], fault);
        let fault = format!("{arguments:?}, {fault}, number {at}");
        let output = command.output().unwrap();
        if ended_cleanly(&sandbox, &output, &fault) {
            assert_eq!(
                String::from_utf8_lossy(&output.stdout),
                right[chosen],
                "{fault}"
            );
        }
        if kind == WRONG_BIT {
            // A wrong bit that was not read before is found now; then its task is repeated.
            let output = sandbox.command(ANALYSES[chosen]).output().unwrap();
            if !ended_cleanly(&sandbox, &output, &fault) {
                let said = sandbox.transcript(&output);
                assert!(said.contains("is corrupted"), "{fault}: {said}");
            }
        }
        assert_eq!(sandbox.succeed(ANALYSES[chosen]), right[chosen], "{fault}");
    }
    counted.print();
}

#[test]
fn an_index_survives_failing_reads_and_writes_and_jumps_of_the_clock() {
    let (rounds, mut random) = plan(8, 200);
    let sandbox = Sandbox::new();
    let Some(library) = library(&sandbox) else {
        return;
    };
    set_up(&sandbox, &mut random);
    let _ = fs::remove_dir_all(sandbox.path("c.cento/findings"));
    let right = contents(&sandbox.path("c.cento"));
    let index = ["index", "in", "--part-size", "20K", "-o", "d.cento"];
    let begun = Instant::now();
    sandbox.succeed(&index);
    let time = begun.elapsed();
    fs::remove_dir_all(sandbox.path("d.cento")).unwrap();
    let mut counted = Rounds::default();
    for _ in 0..rounds {
        let mut command = sandbox.command(&index);
        command
            .env("LD_PRELOAD", &library)
            .env("FAULT_ROOT", fs::canonicalize(sandbox.path("")).unwrap());
        let at = any_magnitude(&mut random, 300).to_string();
        let fault = match random.below(9) {
            0 => "failing read",
            1 => "full disk",
            2 => "read-only disk",
            3 => "memory",
            4 => "two processes",
            5 => "failing write",
            6 => "kill",
            7 => "corrupted part",
            _ => "clock jumps",
        };
        counted.add("index", fault);
        if matches!(fault, "kill" | "corrupted part") {
            let mut child = sandbox
                .command(&index)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(time * random.below(1000) as u32 / 1000);
            let _ = child.kill();
            child.wait().unwrap();
            if fault == "corrupted part" {
                resume_corrupted(&sandbox, &index, &right, &mut random);
            }
            if !is_complete(&sandbox) {
                sandbox.succeed(&index);
            }
            assert_eq!(differing(&sandbox, &right), [""; 0], "{fault}");
            fs::remove_dir_all(sandbox.path("d.cento")).unwrap();
            continue;
        }
        let mut other = None;
        match fault {
            "failing read" => drop(command.env("FAULT_READ", &at)),
            "failing write" => {
                command.env("FAULT_WRITE", &at);
                command.env("FAULT_ERROR", INPUT_OUTPUT);
            }
            "full disk" | "read-only disk" => {
                let error = if fault == "full disk" {
                    NO_SPACE
                } else {
                    READ_ONLY
                };
                command.env("FAULT_WRITE", &at).env("FAULT_STAY", "1");
                command.env("FAULT_ERROR", error);
            }
            "memory" => command = under_limit(&sandbox, &index, 30_000 + random.below(200_000)),
            "two processes" => {
                let mut second = sandbox.command(&index);
                let quiet = second.stdout(Stdio::null()).stderr(Stdio::null());
                other = Some(quiet.spawn().unwrap());
            }
            _ => drop(command.env("FAULT_CLOCK", "1")),
        }
        let output = command.output().unwrap();
        if let Some(mut other) = other {
            // One of the two has written the corpus; the other one says that it exists or is being
            // written.
            let others = other.wait().unwrap().success();
            assert!(others || output.status.success());
        }
        if fault == "memory" && !output.status.success() {
            // The system may refuse memory at any place, also for a stack.
            sandbox.succeed(&index);
            assert_eq!(differing(&sandbox, &right), [""; 0], "{fault}");
            fs::remove_dir_all(sandbox.path("d.cento")).unwrap();
            continue;
        }
        // A file that cannot be read to its end is reported; all other pages are in the corpus.
        let succeeded = ended_cleanly(&sandbox, &output, &at);
        let differing = || differing(&sandbox, &right);
        if succeeded && !differing().is_empty() {
            let said = sandbox.transcript(&output);
            let differing = differing();
            assert!(
                said.contains("Input/output error"),
                "{differing:?}, {at}: {said}"
            );
            fs::remove_dir_all(sandbox.path("d.cento")).unwrap();
        }
        let complete = fault == "two processes" || succeeded;
        if !complete || !sandbox.path("d.cento").exists() {
            sandbox.succeed(&index);
        }
        assert_eq!(differing(), [""; 0], "{fault}, {at}");
        fs::remove_dir_all(sandbox.path("d.cento")).unwrap();
    }
    counted.print();
}

/// Whether the corpus `d.cento` exists and its index was not interrupted.
fn is_complete(sandbox: &Sandbox) -> bool {
    let said = sandbox.run(&["info", "d.cento"]);
    said.starts_with("status: 0") && !said.contains("unfinished")
}

/// Corrupts a file of the corpus `d.cento`, whose index was killed, and resumes it. What is wrong
/// in the corpus then is found by verification and never in results. Removes such a corpus.
fn resume_corrupted(
    sandbox: &Sandbox,
    index: &[&str],
    right: &[(String, Vec<u8>)],
    random: &mut Random,
) {
    let corpus = sandbox.path("d.cento");
    let files = match corpus.exists() {
        true => contents(&corpus),
        false => Vec::new(),
    };
    let mut names: Vec<String> = files.into_iter().map(|(name, _)| name).collect();
    names.retain(|name| !name.ends_with(".lock"));
    if names.is_empty() {
        return;
    }
    let name = names.swap_remove(random.below(names.len() as u64) as usize);
    corrupt(&corpus.join(&name), random);
    let output = sandbox.command(index).output().unwrap();
    // A complete corpus is not written again.
    let exists = sandbox.transcript(&output).contains("already exists");
    let resumed = ended_cleanly(sandbox, &output, &name);
    let differ = differing(sandbox, right);
    if !resumed || !differ.is_empty() {
        let said = sandbox.run(&["info", "d.cento", "--verify"]);
        let sound = differ.is_empty() && exists;
        assert!(sound || !said.starts_with("status: 0"), "{name}: {said}");
        let copies = sandbox.command(&["copies", "d.cento", "--json"]).output();
        let copies = copies.unwrap();
        if ended_cleanly(sandbox, &copies, &name) {
            let known = sandbox.succeed(&["copies", "c.cento", "--json"]);
            assert_eq!(String::from_utf8_lossy(&copies.stdout), known, "{name}");
        }
        fs::remove_dir_all(&corpus).unwrap();
    }
}

/// The tables of the corpus `d.cento` that differ from those of the right one. A file that could
/// not be read for its digest has none; its pages are read again.
fn differing(sandbox: &Sandbox, right: &[(String, Vec<u8>)]) -> Vec<String> {
    let found = contents(&sandbox.path("d.cento"));
    let tables = |files: &[(String, Vec<u8>)]| -> BTreeMap<String, Vec<u8>> {
        let files = files.iter().cloned();
        let kept = files.filter(|(name, _)| !name.contains("inputs/") && name != MANIFEST);
        kept.filter(|(name, _)| !name.ends_with(".lock")).collect()
    };
    let (found, right) = (tables(&found), tables(right));
    let names = found.keys().chain(right.keys());
    let names = names.filter(|name| found.get(*name) != right.get(*name));
    let names: BTreeSet<String> = names.cloned().collect();
    names.into_iter().collect()
}

/// Returns a command with a limit on its address space.
pub(crate) fn under_limit(sandbox: &Sandbox, arguments: &[&str], kibibytes: u64) -> Command {
    let program = sandbox.command(&[]);
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("ulimit -v {kibibytes}; exec \"$@\""))
        .arg("sh")
        .arg(program.get_program())
        .args(arguments)
        .current_dir(sandbox.path(""))
        .stdin(Stdio::null());
    command
}

#[test]
fn too_little_memory_is_an_error_and_nothing_is_lost() {
    let (rounds, mut random) = plan(4, 100);
    let sandbox = Sandbox::new();
    set_up(&sandbox, &mut random);
    let right = results(&sandbox);
    let mut counted = Rounds::default();
    for round in 0..rounds {
        let _ = fs::remove_dir_all(sandbox.path("c.cento/findings"));
        let _ = fs::remove_dir_all(sandbox.path("c.cento/query"));
        let chosen = (round % ANALYSES.len() as u64) as usize;
        counted.add(ANALYSES[chosen][0], "memory");
        let arguments = [ANALYSES[chosen], &["--memory", "1G"]].concat();
        let limited = &mut under_limit(&sandbox, &arguments, 40_000 + random.below(400_000));
        let output = limited.output().unwrap();
        // The system may refuse memory at any place, also for a stack, and then kills the program.
        if output.status.success() {
            assert_eq!(String::from_utf8_lossy(&output.stdout), right[chosen]);
        } else if output.status.code().is_some() {
            assert!(!output.stderr.is_empty(), "{}", output.status);
        }
        assert_eq!(sandbox.succeed(ANALYSES[chosen]), right[chosen]);
    }
    counted.print();
}

#[test]
fn corrupted_remains_of_a_killed_run_are_never_used() {
    let (rounds, mut random) = plan(6, 200);
    let sandbox = Sandbox::new();
    set_up(&sandbox, &mut random);
    let corpus: Vec<String> = contents(&sandbox.path("c.cento"))
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let right = results(&sandbox);
    let mut counted = Rounds::default();
    for round in 0..rounds {
        let _ = fs::remove_dir_all(sandbox.path("c.cento/findings"));
        let _ = fs::remove_dir_all(sandbox.path("c.cento/query"));
        let chosen = (round % ANALYSES.len() as u64) as usize;
        counted.add(ANALYSES[chosen][0], "corrupted temporary file");
        let mut arguments = ANALYSES[chosen].to_vec();
        arguments.extend(["--memory", "16M"]);
        let mut child = sandbox
            .command(&arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(random.below(300)));
        let _ = child.kill();
        child.wait().unwrap();
        let remains: Vec<String> = contents(&sandbox.path("c.cento"))
            .into_iter()
            .map(|(name, _)| name)
            .filter(|name| !corpus.contains(name) && !name.ends_with(".lock"))
            .collect();
        if !remains.is_empty() {
            let name = &remains[random.below(remains.len() as u64) as usize];
            corrupt(&sandbox.path("c.cento").join(name), &mut random);
        }
        let output = sandbox.command(&arguments).output().unwrap();
        let fault = format!("{arguments:?}, one of {remains:?}");
        if ended_cleanly(&sandbox, &output, &fault) {
            assert_eq!(
                String::from_utf8_lossy(&output.stdout),
                right[chosen],
                "{fault}"
            );
        }
    }
    counted.print();
}

#[test]
fn two_processes_on_one_corpus_have_the_right_results() {
    let (rounds, mut random) = plan(4, 100);
    let sandbox = Sandbox::new();
    set_up(&sandbox, &mut random);
    let right = results(&sandbox);
    let mut counted = Rounds::default();
    for round in 0..rounds {
        let _ = fs::remove_dir_all(sandbox.path("c.cento/findings"));
        let _ = fs::remove_dir_all(sandbox.path("c.cento/query"));
        let first = (round % ANALYSES.len() as u64) as usize;
        let chosen = [first, random.below(ANALYSES.len() as u64) as usize];
        counted.add(ANALYSES[first][0], "two processes");
        let children = chosen.map(|chosen| {
            sandbox
                .command(ANALYSES[chosen])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        });
        let outputs = children.map(|child| child.wait_with_output().unwrap());
        let succeeded = [0, 1].map(|at| {
            let fault = format!("{:?} and another process", ANALYSES[chosen[at]]);
            let succeeded = ended_cleanly(&sandbox, &outputs[at], &fault);
            if succeeded {
                let result = String::from_utf8_lossy(&outputs[at].stdout);
                assert_eq!(result, right[chosen[at]], "{fault}");
            }
            succeeded
        });
        assert!(succeeded.contains(&true), "{chosen:?}");
    }
    counted.print();
}
