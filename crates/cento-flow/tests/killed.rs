//! Runs over Parquet files in processes that are killed, and on disks that are full.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its files should stop there"
)]

#[path = "../examples/count_grams/flow.rs"]
mod count_grams;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cento_flow::{Error, Progress, Result, RunReport, Runner};

/// Rows in several row groups, and so for several tasks.
const ROWS: u64 = 3_000_000;
/// The environment variable that makes [`child_process`] run the flow in this folder.
const CHILD: &str = "CENTO_FLOW_TEST_FOLDER";
const OUTPUT: &str = "CENTO_FLOW_TEST_OUTPUT";

/// Counts the grams of `folder/rows.parquet`, with the output of every task written to disk.
fn count(folder: &Path, output: &str) -> Result<RunReport> {
    let rows = folder.join("rows.parquet");
    let flow = count_grams::flow(&rows, Some(1 << 20), Some(32)).unwrap();
    Runner {
        registry: &count_grams::registry(),
        threads: 2,
        memory: 8 << 20,
        temp: folder.join("temp"),
        tables: folder.join(output),
        progress: Progress::new(),
        checkpoint: Duration::ZERO,
    }
    .run(&flow)
}

fn table(folder: &Path, output: &str) -> Vec<u8> {
    fs::read(folder.join(output).join("counts.parquet")).unwrap()
}

fn names(path: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(path) else {
        return Vec::new();
    };
    entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}

/// Not a test: what the child processes of the test below do. Without the environment variables it
/// does nothing.
#[test]
fn child_process() {
    if let (Some(folder), Ok(output)) = (std::env::var_os(CHILD), std::env::var(OUTPUT)) {
        count(Path::new(&folder), &output).unwrap();
    }
}

#[test]
fn a_run_killed_at_any_moment_resumes_and_writes_the_same_bytes() {
    let sandbox = tempfile::tempdir().unwrap();
    let folder = sandbox.path();
    count_grams::make_file(&folder.join("rows.parquet"), ROWS).unwrap();
    let started = Instant::now();
    count(folder, "whole").unwrap();
    let duration = started.elapsed();
    let kills = match std::env::var_os("CENTO_LONG_TESTS") {
        Some(_) => 40,
        None => 6,
    };
    let mut random: u64 = 7;
    let (mut killed, mut round) = (0, 0);
    while killed < kills {
        round += 1;
        let output = format!("out-{round}");
        loop {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "child_process"])
                .env(CHILD, folder)
                .env(OUTPUT, &output)
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            // At any time in the run. A resumed run is shorter, so that every output is finished.
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            std::thread::sleep(duration * ((random >> 33) % 900) as u32 / 1000);
            if killed < kills && child.try_wait().unwrap().is_none() {
                child.kill().unwrap();
                child.wait().unwrap();
                killed += 1;
                continue;
            }
            assert!(child.wait().unwrap().success());
            break;
        }
        assert!(
            table(folder, &output) == table(folder, "whole"),
            "round {round}"
        );
        assert_eq!(names(&folder.join("temp")), [""; 0], "round {round}");
        assert_eq!(
            names(&folder.join(&output)),
            ["counts.parquet"],
            "round {round}"
        );
    }
}

#[test]
fn a_full_disk_is_reported_and_a_run_with_more_space_resumes() {
    let sandbox = tempfile::tempdir().unwrap();
    let folder = sandbox.path();
    let temp = folder.join("temp");
    fs::create_dir_all(&temp).unwrap();
    let mount = |options: &str| {
        let outcome = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(&temp)
            .output();
        outcome.is_ok_and(|output| output.status.success())
    };
    if !mount("size=20m") {
        assert!(
            std::env::var_os("CI").is_none(),
            "the test needs to mount a file system"
        );
        eprintln!("skipped: this user cannot mount a file system");
        return;
    }
    count_grams::make_file(&folder.join("rows.parquet"), ROWS).unwrap();
    count_with_other_temp(folder);
    let failed = count(folder, "out");
    let left = names(&temp);
    let remounted = mount("remount,size=200m");
    let resumed = count(folder, "out");
    let left_after = names(&temp);
    let _ = Command::new("umount").arg(&temp).status();
    let error = failed.unwrap_err();
    assert!(matches!(error, Error::DiskFull(_)), "{error}");
    assert!(error.hint().unwrap().contains("free some space"));
    assert_eq!(left.len(), 1);
    assert!(remounted);
    let report = resumed.unwrap();
    assert!(left_after.is_empty(), "{left_after:?}");
    // Finished tasks were not run again.
    assert!(
        report.stages.iter().any(|stage| stage.resumed > 0),
        "{report}"
    );
    assert!(table(folder, "out") == table(folder, "whole"));
}

/// Writes the table `whole` with temporary files outside the small disk.
fn count_with_other_temp(folder: &Path) {
    let elsewhere = tempfile::tempdir().unwrap();
    fs::copy(
        folder.join("rows.parquet"),
        elsewhere.path().join("rows.parquet"),
    )
    .unwrap();
    count(elsewhere.path(), "whole").unwrap();
    fs::create_dir_all(folder.join("whole")).unwrap();
    let written = elsewhere.path().join("whole/counts.parquet");
    fs::copy(written, folder.join("whole/counts.parquet")).unwrap();
}
