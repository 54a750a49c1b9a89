//! A sandbox in which the real binary runs, and the inputs that tests give it.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its sandbox should stop there"
)]
#![allow(
    dead_code,
    clippy::allow_attributes,
    reason = "each test file is a crate of its own and uses its share of this"
)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// An empty folder in which commands run; it goes with the test.
pub(crate) struct Sandbox {
    folder: tempfile::TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Sandbox {
        Sandbox {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, and the folders above it.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Sandbox {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// `cento` with these arguments, to be run in the sandbox.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cento"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command.env("COLUMNS", "100");
        command
    }

    /// Runs and returns everything that the user would see, times and places evened out.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        self.transcript(&self.command(arguments).output().unwrap())
    }

    /// The same with something on standard input.
    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> String {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        self.transcript(&child.wait_with_output().unwrap())
    }

    /// Runs what must succeed.
    pub(crate) fn succeed(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{}", self.transcript(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(crate) fn transcript(&self, output: &Output) -> String {
        let status = output
            .status
            .code()
            .map_or("killed".to_owned(), |code| code.to_string());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut transcript = format!("status: {status}\n");
        for (name, content) in [
            ("stdout", text(&output.stdout)),
            ("stderr", without_progress(&text(&output.stderr))),
        ] {
            if !content.is_empty() {
                transcript.push_str(&format!("--- {name}\n{content}"));
            }
        }
        let folder = self.folder.path().display().to_string();
        transcript
            .replace(&folder, "[FOLDER]")
            .lines()
            .map(|line| without_times(&without_run(line)))
            .collect()
    }
}

/// The name of a run depends on every byte of its corpus.
fn without_run(line: &str) -> String {
    match line.rsplit_once('/') {
        Some((place, run))
            if place.contains("findings/")
                && run.len() == 16
                && run.chars().all(|c| c.is_ascii_hexdigit()) =>
        {
            format!("{place}/[RUN]")
        }
        _ => line.to_owned(),
    }
}

/// How often progress is told depends on how busy the machine is.
fn without_progress(said: &str) -> String {
    let is_progress = |line: &&str| {
        (line.contains(" pages  ") && line.contains("/s"))
            || line.contains(" % of all  ")
            || (line.contains(" of ") && line.contains(" rows  "))
    };
    said.split_inclusive('\n')
        .filter(|line| !is_progress(line))
        .collect()
}

/// Seconds and rates differ from run to run, and the size of a corpus with every change to how it
/// is stored.
fn without_times(line: &str) -> String {
    let begins = |name: &str| {
        line.strip_prefix("  ")
            .is_some_and(|line| line.starts_with(name))
    };
    if begins("seconds ") {
        "  seconds  [TIME]\n".to_owned()
    } else if begins("corpus ") {
        "  corpus  [SIZE]\n".to_owned()
    } else {
        format!("{line}\n")
    }
}

/// All files below a folder, by name, with their content; locks aside.
pub(crate) fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    fn walk(root: &Path, folder: &Path, found: &mut Vec<(String, Vec<u8>)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, found);
            } else {
                let name = path.strip_prefix(root).unwrap().display().to_string();
                found.push((name, fs::read(&path).unwrap()));
            }
        }
    }
    let mut found = Vec::new();
    walk(folder, folder, &mut found);
    found.sort();
    found
}

/// Asserts that two corpora are the same, byte for byte, and says which file differs.
pub(crate) fn assert_same(left: &Path, right: &Path) {
    let (left, right) = (contents(left), contents(right));
    let names = |files: &[(String, Vec<u8>)]| -> Vec<String> {
        files.iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(&left), names(&right));
    for ((name, left), (_, right)) in left.iter().zip(&right) {
        assert!(left == right, "{name} differs");
    }
}

/// Numbers that look random and are the same in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }

    /// A paragraph of made-up words.
    pub(crate) fn paragraph(&mut self, words: u64) -> String {
        let mut text = String::new();
        for _ in 0..words {
            for _ in 0..self.below(3) + 1 {
                text.push(char::from(b"bdfgklmnprstvz"[self.below(14) as usize]));
                text.push(char::from(b"aeiou"[self.below(5) as usize]));
            }
            text.push(' ');
        }
        text
    }

    /// A page of `paragraphs` paragraphs with a link and some furniture.
    pub(crate) fn page(&mut self, title: &str, paragraphs: u64) -> String {
        let mut html = format!(
            "<!doctype html><html lang=en><head><title>{title}</title><style>p {{}}</style></head>\
             <body><nav><a href=/>Home</a> <a href=http://other.example/x>Other</a></nav>\n"
        );
        for _ in 0..paragraphs {
            let words = self.below(60) + 5;
            html.push_str(&format!("<p>{}</p>\n", self.paragraph(words)));
        }
        html.push_str("<script>var a = '<p>not text</p>';</script></body></html>");
        html
    }
}

/// Writes archives record by record.
#[derive(Default)]
pub(crate) struct Archive {
    pub(crate) bytes: Vec<u8>,
    pub(crate) gzip: bool,
}

impl Archive {
    pub(crate) fn gzip() -> Archive {
        Archive {
            gzip: true,
            ..Archive::default()
        }
    }

    pub(crate) fn record(
        &mut self,
        kind: &str,
        url: &str,
        content_type: &str,
        block: &[u8],
    ) -> &mut Archive {
        let mut record = format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2024-05-01T12:00:00Z\r\n\
             WARC-IP-Address: 192.0.2.7\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
            block.len()
        )
        .into_bytes();
        record.extend_from_slice(block);
        record.extend_from_slice(b"\r\n\r\n");
        self.raw(&record)
    }

    /// Bytes as they are, as a member of their own if the archive is compressed.
    pub(crate) fn raw(&mut self, record: &[u8]) -> &mut Archive {
        if self.gzip {
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
            encoder.write_all(record).unwrap();
            self.bytes.extend(encoder.finish().unwrap());
        } else {
            self.bytes.extend_from_slice(record);
        }
        self
    }

    pub(crate) fn response(&mut self, url: &str, head: &str, body: &[u8]) -> &mut Archive {
        let mut block = format!("{head}\r\n\r\n").into_bytes();
        block.extend_from_slice(body);
        self.record(
            "response",
            url,
            "application/http; msgtype=response",
            &block,
        )
    }

    /// A page that was found.
    pub(crate) fn page(&mut self, url: &str, html: &str) -> &mut Archive {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8";
        self.response(url, head, html.as_bytes())
    }
}
