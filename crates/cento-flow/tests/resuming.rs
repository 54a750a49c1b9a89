//! Interrupted runs and corrupted files.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its files should stop there"
)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cento_flow::{Error, Flow, Progress, Registry, Shuffle};
use support::{Machine, Pair, RandomRows, flow, left, oracle, read_summaries, registry};

fn tasks() -> Vec<RandomRows> {
    (0..8)
        .map(|seed| RandomRows {
            seed,
            rows: 20_000,
            keys: 9_000,
            hot: 2,
            small: false,
        })
        .collect()
}

/// A machine that writes the output of every task to disk.
fn careful() -> Machine {
    Machine {
        threads: 1,
        memory: 8 << 20,
        checkpoint: Duration::ZERO,
    }
}

/// The usual functions, but the call of `make` with the number `at` fails. Also returns the number
/// of calls.
fn failing(at: usize) -> (Registry, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let mut registry = registry();
    let counted = Arc::clone(&calls);
    registry.map("make", move |context| {
        if counted.fetch_add(1, Ordering::Relaxed) == at {
            return Err("interrupted".into());
        }
        let mut pairs = context.shuffle::<Pair>("pairs")?;
        Ok(pairs.extend(context.task::<RandomRows>()?.pairs())?)
    });
    (registry, calls)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let run_folder = fs::read_dir(folder.join("temp"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.is_dir())
        .unwrap();
    let mut files: Vec<PathBuf> = fs::read_dir(run_folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "rows"));
    files
}

fn summaries() -> Flow {
    flow(
        &tasks(),
        Shuffle {
            partitions: 8,
            ..Shuffle::default()
        },
    )
}

#[test]
fn a_run_resumes_after_the_last_finished_task() {
    let folder = tempfile::tempdir().unwrap();
    let (broken, calls) = failing(5);
    let error = careful()
        .run(folder.path(), &broken, &summaries())
        .unwrap_err();
    assert_eq!(error.to_string(), "make, task 5: interrupted");
    assert_eq!(
        (files(folder.path()).len(), calls.load(Ordering::Relaxed)),
        (5, 6)
    );
    let (whole, calls) = failing(usize::MAX);
    let report = careful().run(folder.path(), &whole, &summaries()).unwrap();
    assert_eq!(
        (report.stages[0].resumed, calls.load(Ordering::Relaxed)),
        (5, 3)
    );
    assert_eq!(read_summaries(folder.path()), oracle(&tasks()));
    assert!(left(folder.path()).is_empty());
}

#[test]
fn a_run_resumes_within_a_reduce() {
    let folder = tempfile::tempdir().unwrap();
    let mut broken = registry();
    broken.reduce::<Pair, _>("summarise", |context, _| match context.task_number() {
        6 => Err("interrupted".into()),
        _ => Ok(()),
    });
    assert!(careful().run(folder.path(), &broken, &summaries()).is_err());
    // The map and the first six partitions of the reduce are not run again.
    let report = careful()
        .run(folder.path(), &registry(), &summaries())
        .unwrap();
    assert_eq!(report.stages.len(), 2);
    assert_eq!(report.stages[1].resumed, 6);
    assert!(left(folder.path()).is_empty());
}

#[test]
fn another_flow_does_not_resume_from_the_files_of_this_one() {
    let folder = tempfile::tempdir().unwrap();
    let (broken, _) = failing(5);
    assert!(careful().run(folder.path(), &broken, &summaries()).is_err());
    let fewer = flow(&tasks()[..3], Shuffle::default());
    let report = careful().run(folder.path(), &registry(), &fewer).unwrap();
    assert_eq!(report.stages[0].resumed, 0);
    assert_eq!(read_summaries(folder.path()), oracle(&tasks()[..3]));
    // The tables are complete, so that the files of the interrupted flow for the same tables are
    // removed.
    assert!(left(folder.path()).is_empty());
}

#[test]
fn a_flipped_bit_is_detected_and_the_task_is_run_again() {
    for at in [0, 1, 2, 3, 5, 8, 13] {
        let folder = tempfile::tempdir().unwrap();
        let (broken, _) = failing(5);
        assert!(careful().run(folder.path(), &broken, &summaries()).is_err());
        let file = &files(folder.path())[2];
        let mut bytes = fs::read(file).unwrap();
        // From the end to the beginning: trailer, footer, index, rows.
        let position = bytes.len() - 1 - (bytes.len() - 9) * at / 13;
        bytes[position] ^= 4;
        fs::write(file, bytes).unwrap();
        match careful().run(folder.path(), &registry(), &summaries()) {
            // The footer is read first; without it the task is not finished.
            Ok(report) => assert_eq!(report.stages[0].resumed, 4),
            Err(error) => {
                assert!(matches!(error, Error::Corrupted { .. }), "{error}");
                assert!(error.hint().unwrap().contains("run the same command again"));
                careful()
                    .run(folder.path(), &registry(), &summaries())
                    .unwrap();
            }
        }
        assert_eq!(read_summaries(folder.path()), oracle(&tasks()), "{at}");
        assert!(left(folder.path()).is_empty());
    }
}

#[test]
fn the_task_of_a_truncated_file_is_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let (broken, _) = failing(5);
    assert!(careful().run(folder.path(), &broken, &summaries()).is_err());
    for (number, file) in files(folder.path()).iter().enumerate() {
        let bytes = fs::read(file).unwrap();
        fs::write(file, &bytes[..bytes.len() * number / 5]).unwrap();
    }
    let report = careful()
        .run(folder.path(), &registry(), &summaries())
        .unwrap();
    assert_eq!(report.stages[0].resumed, 0);
    assert_eq!(read_summaries(folder.path()), oracle(&tasks()));
}

#[test]
fn a_cancelled_run_stops_within_a_second() {
    let folder = tempfile::tempdir().unwrap();
    let progress = Progress::new();
    let stopper = Arc::clone(&progress);
    let mut registry = registry();
    registry.map("make", |context| {
        let mut pairs = context.shuffle::<Pair>("pairs")?;
        loop {
            // This never ends unless the run is cancelled.
            pairs.push(Pair { key: 1, value: 1 })?;
        }
    });
    let stop = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        stopper.cancel();
        Instant::now()
    });
    let machine = Machine {
        threads: 2,
        memory: 8 << 20,
        ..Machine::large()
    };
    let error = machine
        .run_watched(folder.path(), &registry, &summaries(), &progress)
        .unwrap_err();
    assert!(matches!(error, Error::Cancelled));
    assert!(stop.join().unwrap().elapsed() < Duration::from_secs(1));
    assert!(left(folder.path()).is_empty());
}

#[test]
fn two_processes_cannot_run_the_same_flow() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_owned();
    let mut registry = registry();
    registry.map("make", move |_| {
        let second = Machine::large().run(&place, &support::registry(), &summaries());
        match second {
            Err(Error::InUse(_)) => Err("busy".into()),
            _ => Ok(()),
        }
    });
    let error = Machine::large()
        .run(folder.path(), &registry, &summaries())
        .unwrap_err();
    assert!(error.to_string().ends_with("busy"), "{error}");
}

/// The files of a run may come with a corpus from somebody else.
#[test]
fn a_forged_boundary_touches_no_file_outside_its_folder() {
    for (name, file) in [
        ("streams", "../../precious.rows"),
        ("streams", "../precious.rows"),
        ("states", "../../precious.state"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (broken, _) = failing(5);
        careful()
            .run(folder.path(), &broken, &summaries())
            .unwrap_err();
        let precious = folder
            .path()
            .join("temp")
            .join(file.rsplit('/').next().unwrap());
        fs::write(&precious, "not a file of rows").unwrap();
        fs::copy(&precious, folder.path().join(precious.file_name().unwrap())).unwrap();
        let run_folder = files(folder.path())[0].parent().unwrap().to_owned();
        let mut saved = serde_json::json!({
            "position": { "ordinal": 1, "step": 1, "round": 0, "stage": 0, "changes": 0 },
            "streams": {}, "states": {}, "stages": [], "tables": [],
        });
        saved[name] = match name {
            "streams" => serde_json::json!({ "pairs": [file] }),
            _ => serde_json::json!({ "seen": file }),
        };
        let boundary = serde_json::json!({ "saved": saved });
        fs::write(
            run_folder.join("boundary.json"),
            cento_file::seal(&format!("{boundary:#}")),
        )
        .unwrap();
        let (whole, _) = failing(usize::MAX);
        careful().run(folder.path(), &whole, &summaries()).unwrap();
        assert!(precious.exists(), "{name}: {file}");
        assert!(folder.path().join(precious.file_name().unwrap()).exists());
        assert_eq!(read_summaries(folder.path()), oracle(&tasks()));
    }
}
