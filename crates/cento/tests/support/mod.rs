//! A sandbox in which the real binary runs, and test inputs.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot set up its sandbox fails"
)]
#![allow(
    dead_code,
    clippy::allow_attributes,
    reason = "each test file is a separate crate and uses some of these"
)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// An empty folder in which commands run; it is removed after the test.
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

    /// Returns `cento` with these arguments, to be run in the sandbox.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cento"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command.env("COLUMNS", "100");
        command
    }

    /// Runs a command and returns its status and output, without times and paths that vary.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        self.transcript(&self.command(arguments).output().unwrap())
    }

    /// Like [`Sandbox::run`], with data on standard input.
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

    /// Runs a command that must succeed, and returns its standard output.
    pub(crate) fn succeed(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{}", self.transcript(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs a command that must succeed, and returns its peak anonymous memory in bytes, sampled
    /// every few milliseconds.
    pub(crate) fn peak_memory(&self, arguments: &[&str]) -> u64 {
        let mut child = self
            .command(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut peak = 0;
        loop {
            peak = peak.max(anonymous_memory(child.id()).unwrap_or(0));
            if let Some(status) = child.try_wait().unwrap() {
                assert!(status.success(), "{arguments:?}");
                return peak;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Returns the status and output of a command, without times and paths that vary.
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

/// Reports a test that needs something this machine does not have: in CI it fails, elsewhere it is
/// skipped. Pull requests must not lose tests silently.
pub(crate) fn skip(reason: &str) {
    if std::env::var_os("CI").is_some_and(|value| value == "true") {
        panic!("{reason}; in CI this test must not be skipped");
    }
    let _ = writeln!(std::io::stderr(), "skipped: {reason}");
}

/// Returns the anonymous resident memory of a process in bytes.
fn anonymous_memory(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// A small file system in memory, mounted until it is dropped.
pub(crate) struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts a file system of this size, such as `300k`. Returns `None`, after [`skip`], if this
    /// user may not mount.
    pub(crate) fn mount(folder: PathBuf, size: &str) -> Option<SmallDisk> {
        fs::create_dir_all(&folder).unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(&folder)
            .output();
        if mount.is_ok_and(|output| output.status.success()) {
            return Some(SmallDisk(folder));
        }
        skip("this user may not mount a file system");
        None
    }

    /// Changes the options of the file system, such as `ro` or `size=100m`.
    pub(crate) fn remount(&self, options: &str) {
        let status = Command::new("mount")
            .args(["-o", &format!("remount,{options}")])
            .arg(&self.0)
            .status();
        assert!(status.unwrap().success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// Replaces the name of a run, which depends on every byte of its corpus.
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

/// Removes progress lines: their number depends on how busy the machine is. All of them, and no
/// other lines on standard error, end in a rate per second or in a clock after two spaces.
fn without_progress(text: &str) -> String {
    let is_progress = |line: &&str| {
        let line = line.trim_end();
        let line = line.strip_suffix(" left").unwrap_or(line);
        let last = line.rsplit("  ").next().unwrap_or_default();
        let is_number =
            |text: &str| !text.is_empty() && text.chars().all(|letter| letter.is_ascii_digit());
        let is_clock = last.split_once(':').is_some_and(|(minutes, seconds)| {
            is_number(minutes) && is_number(seconds) && seconds.len() == 2
        });
        line.contains("  ") && (is_clock || last.ends_with("/s"))
    };
    text.split_inclusive('\n')
        .filter(|line| !is_progress(line))
        .collect()
}

/// Replaces seconds and rates, which differ from run to run, and the size of a corpus, which
/// depends on how it is stored.
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

/// Returns all files below a folder with their contents, sorted by name.
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

/// Asserts that two folders are identical, byte for byte, and names the file that differs.
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

/// A random generator with a fixed seed.
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

    /// A page with this many paragraphs, links and boilerplate.
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

/// A writer of WARC archives.
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

    /// Appends raw bytes, as a separate member if the archive is compressed.
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

    /// Appends an HTML page with status 200.
    pub(crate) fn page(&mut self, url: &str, html: &str) -> &mut Archive {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8";
        self.response(url, head, html.as_bytes())
    }
}

/// Returns `count` words of which each occurs once.
pub(crate) fn words(name: &str, count: usize) -> String {
    let words: Vec<String> = (0..count).map(|at| format!("{name}{at}")).collect();
    words.join(" ")
}

/// The content of a file in JSON Lines.
pub(crate) fn lines(pages: &[serde_json::Value]) -> String {
    pages.iter().map(|page| format!("{page}\n")).collect()
}

/// What a command printed, with single spaces.
pub(crate) fn said(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let said = sandbox.succeed(arguments);
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}
