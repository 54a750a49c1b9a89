//! The engine through the binary: killed, interrupted, out of room, in little memory.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its sandbox should stop there"
)]

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use support::{Random, Sandbox};

/// Rows that take a moment, in several row groups, so that there are several tasks.
const ROWS: &str = "3000000";

fn make(sandbox: &Sandbox) {
    sandbox.succeed(&["flow-bench", "rows.parquet", "--make", ROWS]);
}

/// A run that writes every task's output to disk at once.
fn count(output: &str) -> Vec<&str> {
    let mut arguments = vec!["flow-bench", "rows.parquet", "-o", output, "--temp", "temp"];
    arguments.extend([
        "--threads",
        "2",
        "--memory",
        "8M",
        "--checkpoint",
        "0",
        "--prefilter",
        "1M",
        "--partitions",
        "32",
    ]);
    arguments
}

fn table(sandbox: &Sandbox, output: &str) -> Vec<u8> {
    fs::read(sandbox.path(output).join("counts.parquet")).unwrap()
}

fn left(path: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(path) else {
        return Vec::new();
    };
    entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn a_flow_killed_at_any_moment_resumes_and_ends_like_an_unbroken_one() {
    let sandbox = Sandbox::new();
    make(&sandbox);
    let begun = Instant::now();
    sandbox.succeed(&count("whole"));
    let whole = begun.elapsed();
    let wanted = table(&sandbox, "whole");
    let kills = if std::env::var_os("CENTO_LONG_TESTS").is_some() {
        40
    } else {
        6
    };
    let mut random = Random(7);
    let (mut killed, mut round) = (0, 0);
    while killed < kills {
        round += 1;
        let output = format!("out-{round}");
        loop {
            let mut child = sandbox
                .command(&count(&output))
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            // Over the whole run; a resumed run is shorter, so it comes to its end some day.
            std::thread::sleep(whole * random.below(900) as u32 / 1000);
            if killed < kills && child.try_wait().unwrap().is_none() {
                child.kill().unwrap();
                child.wait().unwrap();
                killed += 1;
                continue;
            }
            assert!(child.wait().unwrap().success());
            break;
        }
        assert!(table(&sandbox, &output) == wanted, "round {round}");
        assert_eq!(left(&sandbox.path("temp")), [""; 0], "round {round}");
        assert_eq!(
            left(&sandbox.path(&output)),
            ["counts.parquet"],
            "round {round}"
        );
    }
}

#[test]
fn an_interrupted_flow_ends_within_a_second_and_resumes() {
    let sandbox = Sandbox::new();
    make(&sandbox);
    sandbox.succeed(&count("whole"));
    let child = sandbox
        .command(&count("out"))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let begun = Instant::now();
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        // A second is for a machine that has nothing else to do; tests run beside each other.
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "{:?}",
            begun.elapsed()
        );
        assert!(message.contains("interrupted"), "{message}");
        assert!(message.contains("run the same command again"), "{message}");
        sandbox.succeed(&count("out"));
    }
    assert!(table(&sandbox, "out") == table(&sandbox, "whole"));
    assert_eq!(left(&sandbox.path("temp")), [""; 0]);
}

#[test]
fn memory_and_threads_and_partitions_change_nothing() {
    let sandbox = Sandbox::new();
    make(&sandbox);
    sandbox.succeed(&count("whole"));
    for (output, options) in [
        ("one", ["--threads", "1", "--memory", "1M"]),
        ("seven", ["--threads", "7", "--memory", "8G"]),
    ] {
        let mut arguments = vec!["flow-bench", "rows.parquet", "-o", output];
        arguments.extend(options);
        sandbox.succeed(&arguments);
        assert!(
            table(&sandbox, output) == table(&sandbox, "whole"),
            "{output}"
        );
        assert_eq!(left(&sandbox.path(output)), ["counts.parquet"]);
    }
    let refused = sandbox.run(&[
        "flow-bench",
        "rows.parquet",
        "-o",
        "x",
        "--threads",
        "4",
        "--memory",
        "1M",
    ]);
    assert!(refused.contains("is too small"), "{refused}");
}

#[test]
fn a_full_temporary_disk_is_told_and_a_rerun_with_room_goes_on() {
    let sandbox = Sandbox::new();
    make(&sandbox);
    sandbox.succeed(&count("whole"));
    let place = sandbox.path("temp");
    fs::create_dir_all(&place).unwrap();
    let mount = |options: &str| {
        let outcome = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(&place)
            .output();
        outcome.is_ok_and(|output| output.status.success())
    };
    if !mount("size=20m") {
        eprintln!("skipped: this user may not mount a file system");
        return;
    }
    let failed = sandbox.run(&count("out"));
    let finished = left(&place);
    let remounted = mount("remount,size=200m");
    let json = sandbox.run(&[&count("out")[..], &["--json"]].concat());
    let remains = left(&place);
    let _ = Command::new("umount").arg(&place).status();
    assert!(failed.contains("no room is left in"), "{failed}");
    assert!(failed.contains("hint: make room"), "{failed}");
    assert_eq!(finished.len(), 1);
    assert!(remounted && remains.is_empty(), "{remains:?}");
    // The passes before the one that failed were not done again.
    let resumed = [1, 2].map(|tasks| json.contains(&format!("\"resumed\":{tasks},")));
    assert!(resumed.contains(&true), "{json}");
    assert!(table(&sandbox, "out") == table(&sandbox, "whole"));
}
