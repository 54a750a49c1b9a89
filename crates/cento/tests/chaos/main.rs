//! Random rounds of kills, corruption, hostile input and careless outputs, on the real binary.
//!
//! Every round makes one random choice of each kind and asserts what must always hold:
//!
//! * **kill**: a killed command that is run again gives the same results;
//! * **corruption**: a flipped bit or a truncation in any file of a corpus, of its findings or of
//!   labels never changes results silently: it is an error, `info --verify` reports it, or the
//!   results are correct;
//! * **faults** of the machine: failing reads and writes, a disk that becomes full or read-only, a
//!   clock that jumps, too little memory, wrong bits in temporary files, two processes at once: an
//!   error, or the same results;
//! * **watch and serve** go through all of these too: verdicts and answers are right or missing;
//! * **scan, report, dedup and contamination** too: what they write is complete and right, or they
//!   fail;
//! * **hostile input**: mutated archives and tables are read or rejected, without a panic;
//! * **outputs**: whatever is named as an output, no byte of the inputs changes.
//!
//! `./check` runs a few rounds of one seed. `CENTO_LONG_TESTS=1` runs hundreds, from `CENTO_SEED`;
//! `CENTO_ROUNDS` is another number of rounds of each test. `--nocapture` shows how many rounds of
//! each kind were run. `docs/FAULTS.md` has the results of a long run.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot set up its sandbox fails"
)]

mod faults;
mod serving;
mod watching;
mod writing;

#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use support::{Archive, Random, Sandbox, contents};

/// Returns the number of rounds and the random generator.
fn plan(short: u64, long: u64) -> (u64, Random) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let rounds = number("CENTO_ROUNDS").unwrap_or(match std::env::var_os("CENTO_LONG_TESTS") {
        Some(_) => long,
        None => short,
    });
    (rounds, Random(number("CENTO_SEED").unwrap_or(16)))
}

/// How many rounds of each kind were run.
#[derive(Default)]
struct Rounds(BTreeMap<(String, String), u64>);

impl Rounds {
    fn add(&mut self, subject: &str, fault: &str) {
        let key = (subject.to_owned(), fault.to_owned());
        *self.0.entry(key).or_default() += 1;
    }

    /// Prints the counts, for `--nocapture`.
    fn print(&self) {
        for ((subject, fault), rounds) in &self.0 {
            let _ = writeln!(std::io::stderr(), "rounds: {subject} | {fault} | {rounds}");
        }
    }
}

/// Writes pages in two formats, with duplicates, near-duplicates, mirrors and quilts.
fn inputs(sandbox: &Sandbox, random: &mut Random) {
    let paragraphs: Vec<String> = (0..12).map(|_| random.paragraph(40)).collect();
    let mut archive = Archive {
        gzip: random.below(2) == 0,
        ..Archive::default()
    };
    let mut lines = String::new();
    for page in 0..40u64 {
        let chosen: Vec<&str> = (0..4)
            .map(|_| paragraphs[random.below(12) as usize].as_str())
            .collect();
        let words = 10 + random.below(30);
        let own = random.paragraph(words);
        let html = format!("<p>{}</p><p>{own}</p>", chosen.join("</p><p>"));
        archive.page(
            &format!("http://site{}.example/{page}", page % 5),
            &format!("<title>{page}</title>{html}"),
        );
        let text = format!("{}\n\n{own}", chosen.join("\n\n"));
        lines.push_str(&format!(
            "{}\n",
            serde_json::json!({ "url": format!("http://copy{}.example/{page}", page % 3), "text": text })
        ));
    }
    let ending = if archive.gzip { "warc.gz" } else { "warc" };
    sandbox.write(&format!("in/crawl.{ending}"), archive.bytes);
    sandbox.write("in/pages.jsonl", lines);
}

/// Analyses that print all rows of their main table.
const ANALYSES: [&[&str]; 11] = [
    &["copies", "c.cento", "--json"],
    &["overlap", "c.cento", "--json"],
    &["overlap", "c.cento", "--servers", "--json"],
    &["reuse", "c.cento", "--json"],
    &["quilts", "c.cento", "-c", "2", "--json"],
    &["passages", "c.cento", "--min-chars", "60", "--json"],
    &["phrases", "c.cento", "--json"],
    &["detect", "c.cento", "--labels", "l.labels", "--json"],
    &["overlap", "c.cento", "--replication", "--json"],
    &[
        "discover",
        "c.cento",
        "--more-than",
        "2",
        "--json",
        "-o",
        "d.labels",
    ],
    &[
        "query",
        "c.cento",
        "http://site1.example/1",
        "--top",
        "all",
        "--json",
    ],
];

fn set_up(sandbox: &Sandbox, random: &mut Random) {
    inputs(sandbox, random);
    sandbox.succeed(&["index", "in", "--part-size", "20K", "-o", "c.cento"]);
    sandbox.succeed(&["discover", "c.cento", "--more-than", "2", "-o", "l.labels"]);
}

fn results(sandbox: &Sandbox) -> Vec<String> {
    ANALYSES
        .iter()
        .map(|analysis| sandbox.succeed(analysis))
        .collect()
}

/// Runs a command and returns its status, standard output and transcript; fails on a panic or a
/// signal.
fn survive(sandbox: &Sandbox, arguments: &[&str]) -> (i32, String, String) {
    let output = sandbox.command(arguments).output().unwrap();
    let said = sandbox.transcript(&output);
    assert!(
        !said.contains("panicked") && matches!(output.status.code(), Some(0..=5)),
        "{arguments:?}: {said}"
    );
    (
        output.status.code().unwrap_or(-1),
        String::from_utf8_lossy(&output.stdout).into_owned(),
        said,
    )
}

#[test]
fn a_killed_command_gives_the_same_results_when_run_again() {
    let (rounds, mut random) = plan(6, 200);
    let sandbox = Sandbox::new();
    set_up(&sandbox, &mut random);
    let begun = Instant::now();
    let right = results(&sandbox);
    let mean = begun.elapsed() / ANALYSES.len() as u32;
    let mut counted = Rounds::default();
    for round in 0..rounds {
        let _ = fs::remove_dir_all(sandbox.path("c.cento/findings"));
        let _ = fs::remove_dir_all(sandbox.path("c.cento/query"));
        let chosen = (round % ANALYSES.len() as u64) as usize;
        counted.add(ANALYSES[chosen][0], "kill");
        let memory = ["16M", "64M", "1G"][random.below(3) as usize];
        let mut arguments = ANALYSES[chosen].to_vec();
        arguments.extend(["--memory", memory, "--threads", "2"]);
        let mut child = sandbox
            .command(&arguments)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(mean * random.below(1000) as u32 / 1000);
        let _ = child.kill();
        child.wait().unwrap();
        assert_eq!(
            sandbox.succeed(ANALYSES[chosen]),
            right[chosen],
            "{arguments:?}"
        );
        // Remains of the killed run do not affect verification.
        assert_eq!(survive(&sandbox, &["info", "c.cento", "--verify"]).0, 0);
    }
    counted.print();
}

/// Flips a bit of a file, truncates it, or overwrites some bytes with zeros. Returns its old
/// content.
fn corrupt(path: &Path, random: &mut Random) -> Vec<u8> {
    let whole = fs::read(path).unwrap();
    let mut bytes = whole.clone();
    let at = random.below(bytes.len().max(1) as u64) as usize;
    match random.below(3) {
        _ if bytes.is_empty() => bytes.push(7),
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes.truncate(at),
        _ => {
            let end = (at + 64).min(bytes.len());
            bytes[at..end].fill(0);
        }
    }
    fs::write(path, bytes).unwrap();
    whole
}

#[test]
fn corruption_never_changes_results_silently() {
    let (rounds, mut random) = plan(24, 1500);
    let sandbox = Sandbox::new();
    set_up(&sandbox, &mut random);
    let right = results(&sandbox);
    let labels: Vec<PathBuf> = ["l.labels", "l.labels.parquet"]
        .map(|name| sandbox.path(name))
        .into();
    let mut files: Vec<PathBuf> = contents(&sandbox.path("c.cento"))
        .into_iter()
        .map(|(name, _)| sandbox.path("c.cento").join(name))
        .filter(|path| !path.ends_with(".lock"))
        .collect();
    files.extend(labels);
    let mut counted = Rounds::default();
    for round in 0..rounds {
        // As often a part of the corpus as any other file, of which there are more.
        let is_part = random.below(2) == 0;
        let of_kind = |path: &&PathBuf| (kind_of(path) == "corrupted part") == is_part;
        let chosen: Vec<&PathBuf> = files.iter().filter(of_kind).collect();
        let path = chosen[random.below(chosen.len() as u64) as usize];
        if !path.exists() {
            continue;
        }
        let whole = corrupt(path, &mut random);
        if fs::read(path).unwrap() == whole {
            continue;
        }
        let (verified, _, verification) = survive(&sandbox, &["info", "c.cento", "--verify"]);
        let chosen = (round % ANALYSES.len() as u64) as usize;
        counted.add(ANALYSES[chosen][0], kind_of(path));
        let (status, result, said) = survive(&sandbox, ANALYSES[chosen]);
        assert!(
            status != 0 || result == right[chosen],
            "{}: {:?} gave other results (verification: {verified})\n{verification}\n{said}",
            path.display(),
            ANALYSES[chosen]
        );
        // After the file is restored, results are as before: recomputed findings have the same
        // bytes.
        fs::write(path, &whole).unwrap();
    }
    assert_eq!(results(&sandbox), right);
    counted.print();
}

/// What a corrupted file is.
fn kind_of(path: &Path) -> &'static str {
    let path = path.display().to_string();
    match path.contains("/findings/") || path.contains("/query/") || path.contains(".labels") {
        true => "corrupted findings, labels or index",
        false => "corrupted part",
    }
}

#[test]
fn mutated_inputs_are_read_or_rejected() {
    let (rounds, mut random) = plan(10, 400);
    let mut counted = Rounds::default();
    for round in 0..rounds {
        counted.add("index", "mutated inputs");
        let sandbox = Sandbox::new();
        inputs(&sandbox, &mut random);
        for entry in fs::read_dir(sandbox.path("in")).unwrap() {
            let path = entry.unwrap().path();
            for _ in 0..random.below(6) {
                corrupt(&path, &mut random);
            }
        }
        let (status, _, _) = survive(&sandbox, &["index", "in", "-o", "c.cento"]);
        if status == 0 {
            survive(&sandbox, &["info", "c.cento", "--verify"]);
            survive(&sandbox, ANALYSES[(round % 5) as usize]);
        }
    }
    counted.print();
}

#[test]
fn no_output_overwrites_an_input() {
    let (rounds, mut random) = plan(16, 400);
    let sandbox = Sandbox::new();
    set_up(&sandbox, &mut random);
    let before = contents(&sandbox.path("in"));
    let archive = before
        .iter()
        .map(|(name, _)| format!("in/{name}"))
        .find(|name| name.contains("crawl"))
        .unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("in", sandbox.path("link")).unwrap();
        std::os::unix::fs::symlink("in/pages.jsonl", sandbox.path("link.jsonl")).unwrap();
        fs::hard_link(sandbox.path("in/pages.jsonl"), sandbox.path("hard.jsonl")).unwrap();
    }
    let outputs = [
        "in",
        "in/unique",
        "in/../in",
        "link",
        "link/deeper",
        "in/pages.jsonl",
        "link.jsonl",
        "hard.jsonl",
        archive.as_str(),
        ".",
        "c.cento",
        "/dev/null",
        "fresh",
    ];
    let mut counted = Rounds::default();
    for _ in 0..rounds {
        let output = outputs[random.below(outputs.len() as u64) as usize];
        let command: Vec<&str> = match random.below(6) {
            0 => vec!["copies", "in", "--filter", "-o", output],
            1 => vec!["copies", "c.cento", "--filter", "--overwrite", "-o", output],
            2 => vec!["copies", "c.cento", "--skip-list", output],
            3 => vec!["copies", "c.cento", "--out", output],
            4 => vec!["discover", "--from", "in", "-o", output],
            _ => vec!["report", "c.cento", "-o", output],
        };
        counted.add(command[0], "outputs that are inputs");
        let (_, _, said) = survive(&sandbox, &command);
        for (name, bytes) in &before {
            let path = sandbox.path("in").join(name);
            let now = fs::read(&path).unwrap_or_default();
            assert!(now == *bytes, "{command:?} changed {name}: {said}");
        }
        assert!(Path::new("/dev/null").metadata().unwrap().len() == 0);
    }
    counted.print();
}
