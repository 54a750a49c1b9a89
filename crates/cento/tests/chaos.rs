//! Chaos: seeded rounds of kills, damage, hostile input and careless outputs, on the real binary.
//!
//! Every round makes one random choice of each kind and asserts what must hold whatever was chosen:
//!
//! * **kill**: a command that was killed and is given again ends with the same answer;
//! * **damage**: a flipped bit or a cut in any file of a corpus, of its findings or of labels never
//!   changes an answer silently: it is an error, is found by `info --verify`, or the answer is the
//!   right one;
//! * **hostile input**: mutated archives and tables are read or refused, without a panic;
//! * **outputs**: whatever is named as an output, the inputs keep every byte.
//!
//! `./check` runs a few rounds of one seed. `CENTO_LONG_TESTS=1` runs hundreds, from `CENTO_SEED`.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its sandbox should stop there"
)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use support::{Archive, Random, Sandbox, contents};

/// How many rounds to run, and where they begin.
fn plan(short: u64, long: u64) -> (u64, Random) {
    let rounds = match std::env::var_os("CENTO_LONG_TESTS") {
        Some(_) => long,
        None => short,
    };
    let seed = std::env::var("CENTO_SEED").ok();
    let seed = seed.and_then(|seed| seed.parse().ok()).unwrap_or(16);
    (rounds, Random(seed))
}

/// Pages in two formats, with copies, near-copies, mirrors and quilts among them.
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

/// What is asked of a corpus: all rows of the main table, or what a person sees.
const QUESTIONS: [&[&str]; 6] = [
    &["copies", "c.cento", "--json"],
    &["overlap", "c.cento", "--json"],
    &["overlap", "c.cento", "--servers", "--json"],
    &["quilts", "c.cento", "-c", "2", "--json"],
    &["phrases", "c.cento", "--json"],
    &["detect", "c.cento", "--labels", "l.labels", "--json"],
];

fn set_up(sandbox: &Sandbox, random: &mut Random) {
    inputs(sandbox, random);
    sandbox.succeed(&["index", "in", "--part-size", "20K", "-o", "c.cento"]);
    sandbox.succeed(&["discover", "c.cento", "--threshold", "2", "-o", "l.labels"]);
}

fn answers(sandbox: &Sandbox) -> Vec<String> {
    QUESTIONS
        .iter()
        .map(|question| sandbox.succeed(question))
        .collect()
}

/// Runs and answers status, standard output and standard error; fails on a panic or a signal.
fn survive(sandbox: &Sandbox, arguments: &[&str]) -> (i32, String, String) {
    let output = sandbox.command(arguments).output().unwrap();
    let said = sandbox.transcript(&output);
    assert!(
        !said.contains("panicked") && matches!(output.status.code(), Some(0..=3)),
        "{arguments:?}: {said}"
    );
    (
        output.status.code().unwrap_or(-1),
        String::from_utf8_lossy(&output.stdout).into_owned(),
        said,
    )
}

#[test]
fn a_killed_command_that_is_given_again_has_the_same_answer() {
    let (rounds, mut random) = plan(6, 200);
    let sandbox = Sandbox::new();
    set_up(&sandbox, &mut random);
    let begun = Instant::now();
    let right = answers(&sandbox);
    let mean = begun.elapsed() / QUESTIONS.len() as u32;
    for _ in 0..rounds {
        let _ = fs::remove_dir_all(sandbox.path("c.cento/findings"));
        let asked = random.below(QUESTIONS.len() as u64) as usize;
        let memory = ["16M", "64M", "1G"][random.below(3) as usize];
        let mut arguments = QUESTIONS[asked].to_vec();
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
            sandbox.succeed(QUESTIONS[asked]),
            right[asked],
            "{arguments:?}"
        );
        // What the killed run left behind does not disturb verification.
        assert_eq!(survive(&sandbox, &["info", "c.cento", "--verify"]).0, 0);
    }
}

/// Flips a bit of a file, cuts it off, or fills some bytes with zeros.
fn damage(path: &Path, random: &mut Random) -> Vec<u8> {
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
fn no_damage_changes_an_answer_silently() {
    let (rounds, mut random) = plan(24, 1500);
    let sandbox = Sandbox::new();
    set_up(&sandbox, &mut random);
    let right = answers(&sandbox);
    let labels: Vec<PathBuf> = ["l.labels", "l.labels.parquet"]
        .map(|name| sandbox.path(name))
        .into();
    let mut files: Vec<PathBuf> = contents(&sandbox.path("c.cento"))
        .into_iter()
        .map(|(name, _)| sandbox.path("c.cento").join(name))
        .filter(|path| !path.ends_with(".lock"))
        .collect();
    files.extend(labels);
    for _ in 0..rounds {
        let path = &files[random.below(files.len() as u64) as usize];
        if !path.exists() {
            continue;
        }
        let whole = damage(path, &mut random);
        if fs::read(path).unwrap() == whole {
            continue;
        }
        let (verified, _, told) = survive(&sandbox, &["info", "c.cento", "--verify"]);
        let asked = random.below(QUESTIONS.len() as u64) as usize;
        let (status, answer, said) = survive(&sandbox, QUESTIONS[asked]);
        assert!(
            status != 0 || answer == right[asked] || verified != 0,
            "{}: {:?} answered otherwise\n{told}\n{said}",
            path.display(),
            QUESTIONS[asked]
        );
        // Restored, everything is as it was; findings that were computed anew have the same bytes.
        fs::write(path, &whole).unwrap();
    }
    assert_eq!(answers(&sandbox), right);
}

#[test]
fn mutated_inputs_are_read_or_refused() {
    let (rounds, mut random) = plan(10, 400);
    for round in 0..rounds {
        let sandbox = Sandbox::new();
        inputs(&sandbox, &mut random);
        for entry in fs::read_dir(sandbox.path("in")).unwrap() {
            let path = entry.unwrap().path();
            for _ in 0..random.below(6) {
                damage(&path, &mut random);
            }
        }
        let (status, _, _) = survive(&sandbox, &["index", "in", "-o", "c.cento"]);
        if status == 0 {
            survive(&sandbox, &["info", "c.cento", "--verify"]);
            survive(&sandbox, QUESTIONS[(round % 5) as usize]);
        }
    }
}

#[test]
fn no_output_costs_an_input() {
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
        let (_, _, said) = survive(&sandbox, &command);
        for (name, bytes) in &before {
            let path = sandbox.path("in").join(name);
            let now = fs::read(&path).unwrap_or_default();
            assert!(now == *bytes, "{command:?} changed {name}: {said}");
        }
        assert!(Path::new("/dev/null").metadata().unwrap().len() == 0);
    }
}
