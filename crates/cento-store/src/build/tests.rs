//! Builds whose threads panic.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use cento_file::Fault;

use super::*;
use crate::page_writer::PANICKING_URL;
use crate::task::PANICKING_INPUT;

/// Long for a build of a few pages, even on a busy machine.
const PROMPTLY: Duration = Duration::from_secs(120);

/// Writes a file of 400 pages and returns its name.
fn write_pages(folder: &Path, name: &str, url_of: impl Fn(usize) -> String) -> String {
    let path = folder.join(name);
    let lines: String = (0..400)
        .map(|number| {
            let text = format!("page {number} has these words and some more of them ").repeat(20);
            format!(
                "{{\"url\": \"{}\", \"text\": \"{text}\"}}\n",
                url_of(number)
            )
        })
        .collect();
    std::fs::write(&path, lines).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The outcome of a build in small parts. Fails if the build does not end.
fn build(specs: &[String], corpus: PathBuf, memory: u64) -> Result<Built> {
    let settings = Settings::default();
    let inputs = cento_read::resolve(specs, &settings).unwrap().inputs;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let build = Build::new(inputs, corpus)
            .settings(settings)
            .parameters(Parameters {
                part_bytes: 16 << 10,
                ..Parameters::default()
            })
            .threads(4)
            .memory(memory);
        sender.send(build.run()).unwrap();
    });
    receiver.recv_timeout(PROMPTLY).expect("the build hangs")
}

fn assert_is_reported_as_a_bug(error: &Error, corpus: &Path) {
    assert!(matches!(error, Error::Panicked(_)), "{error}");
    assert_eq!(error.fault(), Fault::Bug);
    assert!(error.hint().unwrap().contains("report it"));
    // Finished parts are kept, and the corpus is not taken for complete.
    if let Ok(manifest) = Manifest::load(corpus) {
        assert!(!manifest.complete());
    }
}

#[test]
fn a_worker_that_panics_ends_the_build_with_an_error() {
    for memory in [1, 64 << 20, 1 << 40] {
        let folder = tempfile::tempdir().unwrap();
        let spec = write_pages(folder.path(), "pages.jsonl", |number| match number {
            150 => PANICKING_URL.to_owned(),
            _ => format!("http://a/{number}"),
        });
        let corpus = folder.path().join("pages.cento");
        let error = build(&[spec], corpus.clone(), memory).unwrap_err();
        assert_is_reported_as_a_bug(&error, &corpus);
    }
}

#[test]
fn a_reader_that_panics_ends_the_build_and_no_thread_reads_on() {
    let folder = tempfile::tempdir().unwrap();
    let url = |number| format!("http://a/{number}");
    let specs = [
        write_pages(folder.path(), "a.jsonl", url),
        write_pages(folder.path(), PANICKING_INPUT, url),
    ];
    let corpus = folder.path().join("pages.cento");
    let error = build(&specs, corpus.clone(), 1 << 40).unwrap_err();
    assert_is_reported_as_a_bug(&error, &corpus);
}
