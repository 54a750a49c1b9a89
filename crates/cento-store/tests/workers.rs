//! A corpus whose tasks were run by workers, some of them twice, has the same files as one that was
//! built by threads.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot make its input should fail"
)]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::mpsc::{Sender, channel};

use cento_store::{
    Build, BuildExecutor, BuildTasks, Built, Error, FinishedTask, Parameters, Result,
    with_build_executor,
};

/// Writes files of pages, and returns a build of them in small tasks and parts.
fn build_of(folder: &Path, files: usize, corpus: &str) -> Build<'static> {
    let inputs = folder.join("inputs");
    fs::create_dir_all(&inputs).unwrap();
    for file in 0..files {
        let line = |number: usize| {
            let text = format!("Page {number} of file {file} has these words. ").repeat(8);
            format!("{{\"url\": \"http://a/{file}/{number}\", \"text\": \"{text}\"}}\n")
        };
        let lines: String = (0..150).map(line).collect();
        fs::write(inputs.join(format!("{file}.jsonl")), lines).unwrap();
    }
    let settings = cento_read::Settings::default();
    let spec = inputs.to_str().unwrap().to_owned();
    let resolved = cento_read::resolve(&[spec], &settings).unwrap();
    Build::new(resolved.inputs, folder.join(corpus))
        .settings(settings)
        .parameters(Parameters {
            part_bytes: 24 << 10,
            ..Parameters::default()
        })
        .threads(2)
}

/// Runs one task of a build that a driver has started, and sends what is to be committed.
struct Worker {
    task: u32,
    finished: Sender<FinishedTask>,
}

impl BuildExecutor for Worker {
    fn execute(&self, tasks: &BuildTasks<'_>) -> Result<()> {
        let finished = tasks.run_task(self.task, 64 << 20)?;
        self.finished.send(finished).unwrap();
        Ok(())
    }

    fn is_worker(&self) -> bool {
        true
    }
}

/// Has every task run by two workers, and commits the output of the second one.
struct Driver {
    folder: PathBuf,
    files: usize,
    /// After how many tasks the driver is lost.
    lost_after: usize,
    ran: Rc<Cell<usize>>,
}

impl BuildExecutor for Driver {
    fn execute(&self, tasks: &BuildTasks<'_>) -> Result<()> {
        for task in tasks.unfinished() {
            if self.ran.get() == self.lost_after {
                return Err(Error::Cancelled);
            }
            self.ran.set(self.ran.get() + 1);
            let (sender, receiver) = channel();
            for _ in 0..2 {
                let worker = Worker {
                    task,
                    finished: sender.clone(),
                };
                let build = build_of(&self.folder, self.files, "workers.cento");
                let outcome = with_build_executor(Rc::new(worker), || build.run());
                assert!(matches!(outcome, Err(Error::Cancelled)), "{outcome:?}");
            }
            let _lost = receiver.recv().unwrap();
            tasks.commit(&[receiver.recv().unwrap()])?;
        }
        Ok(())
    }
}

fn files_of(corpus: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for folder in ["", "inputs", "pages", "text", "chunks", "tmp"] {
        for entry in fs::read_dir(corpus.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() && !path.ends_with(".lock") {
                let name = path.strip_prefix(corpus).unwrap().display().to_string();
                files.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    files
}

fn on_workers(folder: &Path, files: usize, lost_after: usize) -> (Result<Built>, usize) {
    let ran = Rc::new(Cell::new(0));
    let driver = Driver {
        folder: folder.to_owned(),
        files,
        lost_after,
        ran: Rc::clone(&ran),
    };
    let build = build_of(folder, files, "workers.cento").add_to_existing(files > 5);
    (
        with_build_executor(Rc::new(driver), || build.run()),
        ran.get(),
    )
}

#[test]
fn workers_write_the_same_corpus_also_if_the_driver_is_lost_and_if_inputs_are_added() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for files in [5, 8] {
        let here = build_of(folder, files, "threads.cento").add_to_existing(files > 5);
        let built = here.run().unwrap();
        let (lost, ran) = on_workers(folder, files, 2);
        assert!(matches!(lost, Err(Error::Cancelled)), "{lost:?}");
        assert_eq!(ran, 2);
        let (resumed, ran) = on_workers(folder, files, usize::MAX);
        assert_eq!(resumed.unwrap().counts, built.counts);
        assert!(ran >= 1);
        let [here, there] =
            ["threads", "workers"].map(|name| folder.join(name.to_owned() + ".cento"));
        assert!(files_of(&here) == files_of(&there));
    }
}

#[test]
fn a_worker_with_other_inputs_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert!(on_workers(folder, 3, 1).0.is_err());
    let (finished, _receiver) = channel();
    let worker = Worker { task: 0, finished };
    fs::write(folder.join("inputs/0.jsonl"), "{\"text\": \"other\"}\n").unwrap();
    let spec = folder.join("inputs").display().to_string();
    let inputs = cento_read::resolve(&[spec], &cento_read::Settings::default()).unwrap();
    let build = Build::new(inputs.inputs, folder.join("workers.cento")).parameters(Parameters {
        part_bytes: 24 << 10,
        ..Parameters::default()
    });
    let error = with_build_executor(Rc::new(worker), || build.run()).unwrap_err();
    assert!(matches!(error, Error::InputsDiffer { .. }), "{error}");
}
