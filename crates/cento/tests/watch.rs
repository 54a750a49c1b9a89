//! `cento watch`: verdicts, streams, seen pages, changed labels, interruptions.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail where they cannot go on"
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};

use insta::assert_snapshot;
use serde_json::{Value, json};
use support::Sandbox;

const FOX: &str = "The quick brown fox jumps over the lazy dog while the five boxing wizards jump quickly, and nobody has ever seen them do it.";
const SECOND: &str = "A second paragraph of the original, which is long enough to be labelled as well, with words that nobody else would use.";
const CHINESE: &str = "这是一个很长的中文段落，用来测试中文文本的标签发现和检测功能是否正常工作，希望它能够正确地处理没有空格的文字，并且不会出错。";

/// A sandbox with the labels of two originals, one of them in Chinese.
fn with_labels() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox
        .write("mine/one.html", format!("<p>{FOX}</p><p>{SECOND}</p>"))
        .write("mine/two.html", format!("<p>{CHINESE}</p><p>{SECOND}</p>"));
    sandbox.succeed(&["index", "mine", "-o", "mine.cento"]);
    sandbox.succeed(&[
        "discover",
        "mine.cento",
        "--from",
        "mine",
        "-o",
        "mine.labels",
    ]);
    sandbox
}

fn pages() -> Vec<(String, Vec<String>)> {
    let text = |list: &[&str]| list.iter().map(|&one| one.to_owned()).collect();
    let mut pages = vec![
        (
            "http://thief.example/a/1".to_owned(),
            text(&["Home", FOX, SECOND, "Words of my own."]),
        ),
        (
            "http://thief.example/a/2".to_owned(),
            text(&["Home", CHINESE, SECOND]),
        ),
        (
            "http://thief.example/b/3".to_owned(),
            text(&["Home", "Nothing was taken here."]),
        ),
        (
            "http://honest.example/".to_owned(),
            text(&["Honest words on an honest page."]),
        ),
        ("http://honest.example/home".to_owned(), text(&["Home"])),
    ];
    let long: Vec<String> = (0..60).map(|at| format!("word{at}")).collect();
    let mut near = long.clone();
    near[3] = "another".to_owned();
    pages.push(("http://long.example/1".to_owned(), vec![long.join(" ")]));
    pages.push((
        "http://long.example/1?again".to_owned(),
        vec![long.join(" ")],
    ));
    pages.push(("http://long.example/2".to_owned(), vec![near.join(" ")]));
    pages
}

fn json_lines(pages: &[(String, Vec<String>)]) -> Vec<u8> {
    let line = |(url, chunks): &(String, Vec<String>)| {
        format!("{}\n", json!({ "url": url, "text": chunks.join("\n\n") }))
    };
    pages.iter().map(line).collect::<String>().into_bytes()
}

fn warc_record(url: &str, html: &str) -> Vec<u8> {
    let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{html}");
    format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nContent-Type: application/http\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
        http.len()
    )
    .into_bytes()
}

fn html(chunks: &[String]) -> String {
    chunks
        .iter()
        .map(|chunk| format!("<p>{chunk}</p>\n"))
        .collect()
}

fn warc(pages: &[(String, Vec<String>)]) -> Vec<u8> {
    let record = |(url, chunks): &(String, Vec<String>)| warc_record(url, &html(chunks));
    pages.iter().flat_map(record).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn watch(sandbox: &Sandbox, options: &[&str]) -> Child {
    let mut arguments = vec!["watch", "--labels", "mine.labels"];
    arguments.extend(options);
    sandbox
        .command(&arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Runs the command on a stream; returns the verdicts, the summary and the status.
fn verdicts(sandbox: &Sandbox, options: &[&str], input: &[u8]) -> (Vec<Value>, String, i32) {
    let mut child = watch(sandbox, options);
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // It may stop reading early.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let lines = stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let stderr = String::from_utf8(output.stderr).unwrap();
    (lines.collect(), stderr, output.status.code().unwrap())
}

#[test]
fn every_page_gets_a_verdict_and_the_stream_a_summary() {
    let sandbox = with_labels();
    let arguments = ["watch", "--labels", "mine.labels", "--seen", "crawl.seen"];
    assert_snapshot!(sandbox.run_with_input(&arguments, &json_lines(&pages())));
    // Everything has been seen now, by another process.
    let (again, _, _) = verdicts(&sandbox, &["--seen", "crawl.seen"], &json_lines(&pages()));
    assert!(
        again.iter().all(|page| page["seen"]["as"] == "bytes"),
        "{again:?}"
    );
}

#[test]
fn help_is_unchanged() {
    assert_snapshot!(Sandbox::new().run(&["watch", "--help"]));
}

#[test]
fn errors_are_one_line_and_a_hint() {
    let sandbox = with_labels();
    sandbox.write("other", "not a file of seen pages\n");
    for arguments in [
        &["watch"][..],
        &["watch", "--labels", "none.labels"],
        &["watch", "--labels", "mine.labels", "--seen", "other"],
        &["watch", "--labels", "mine.labels", "--seen", "."],
        &["watch", "--labels", "mine.labels", "--threshold", "1.5"],
        &["watch", "--labels", "mine.labels", "--depth", "0"],
        &["watch", "--labels", "mine.labels", "--format", "parquet"],
        &["watch", "--labels", "other"],
        &[
            "watch",
            "--labels",
            "mine.labels",
            "--format",
            "warc",
            "--url",
            "http://a.example/",
        ],
        &[
            "watch",
            "--labels",
            "mine.labels",
            "--format",
            "html",
            "--field",
            "text=body",
        ],
    ] {
        assert_snapshot!(sandbox.run(arguments));
    }
    let binary = [0u8; 5000];
    assert_snapshot!(sandbox.run_with_input(&["watch", "--labels", "mine.labels"], &binary));
    let empty = sandbox.run_with_input(&["watch", "--labels", "mine.labels"], b"");
    assert_snapshot!(empty);
}

/// The same pages in any format and on any number of threads have the same verdicts, and these are
/// those of `cento detect`.
#[test]
fn verdicts_are_those_of_detect_in_every_format() {
    let sandbox = with_labels();
    let pages = pages();
    sandbox.write("crawl.jsonl", json_lines(&pages));
    sandbox.succeed(&["index", "crawl.jsonl", "-o", "c.cento"]);
    let detect = |table: &str| -> Vec<Value> {
        sandbox.succeed(&[
            "detect",
            "c.cento",
            "--labels",
            "mine.labels",
            "--page-threshold",
            "0.144",
            "--mean-threshold",
            "0.163",
            "--ratio-threshold",
            "0.163",
            "--findings",
            "found",
        ]);
        let run = std::fs::read_dir(sandbox.path("found/detect"))
            .unwrap()
            .next()
            .unwrap()
            .unwrap();
        let path = run.path().join(format!("{table}.parquet"));
        let rows = cento_find::read_table(&path).unwrap().flat_map(|batch| {
            let batch = batch.unwrap();
            (0..batch.num_rows())
                .map(|row| {
                    Value::Object(
                        cento_find::row_values(&batch, row)
                            .map(|(name, value)| (name.to_owned(), value))
                            .collect(),
                    )
                })
                .collect::<Vec<Value>>()
        });
        rows.collect()
    };
    let by_url = |rows: &[Value], key: &str| -> BTreeMap<String, Value> {
        rows.iter()
            .map(|row| (row[key].as_str().unwrap().to_owned(), row.clone()))
            .collect()
    };
    let expected = by_url(&detect("pages"), "page");
    let matches = detect("matches");
    let (found, summary, status) = verdicts(&sandbox, &[], &json_lines(&pages));
    assert_eq!((found.len(), status), (pages.len(), 0), "{summary}");
    for page in &found {
        let url = page["url"].as_str().unwrap();
        match expected.get(url) {
            None => assert_eq!(page["matched"], 0, "{page}"),
            Some(row) => {
                for name in ["chunks", "stopped", "matched", "contains"] {
                    assert_eq!(page[name], row[name], "{page} {row}");
                }
                assert_eq!(page["flagged"], row["target"]);
                let originals: BTreeSet<(String, u64)> = matches
                    .iter()
                    .filter(|row| row["page"] == url)
                    .map(|row| (row["original"].to_string(), row["chunks"].as_u64().unwrap()))
                    .collect();
                let ours: BTreeSet<(String, u64)> = page["originals"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|one| (one["original"].to_string(), one["chunks"].as_u64().unwrap()))
                    .collect();
                assert_eq!(ours, originals);
            }
        }
    }
    // The last report about a neighbourhood has its final scores.
    let neighbourhoods = detect("neighbourhoods");
    let mut last: BTreeMap<String, Value> = BTreeMap::new();
    for page in &found {
        for site in page["neighbourhoods"].as_array().unwrap() {
            last.insert(site["site"].as_str().unwrap().to_owned(), site.clone());
        }
    }
    let flagged: Vec<&Value> = neighbourhoods
        .iter()
        .filter(|row| row["flagged"] == true)
        .collect();
    assert!(!flagged.is_empty());
    for row in flagged {
        let ours = &last[row["site"].as_str().unwrap()];
        for name in [
            "pages", "chunks", "matched", "mean", "ratio", "by_mean", "by_ratio",
        ] {
            assert_eq!(ours[name], row[name], "{ours} {row}");
        }
    }
    // The other formats.
    let warc = warc(&pages);
    for (options, input) in [
        (&["--threads", "1"][..], warc.clone()),
        (&["--threads", "7", "--format", "warc"], warc.clone()),
        (&["--memory", "1M"], gzip(&warc)),
        (&["--format", "jsonl"], gzip(&json_lines(&pages))),
    ] {
        let (other, summary, status) = verdicts(&sandbox, options, &input);
        assert_eq!(status, 0, "{summary}");
        assert_eq!(other, found, "{options:?}");
    }
    let single = html(&pages[0].1);
    let url = pages[0].0.as_str();
    let (page, ..) = verdicts(&sandbox, &["--url", url], single.as_bytes());
    assert_eq!(page, found[..1]);
}

/// A crawler writes a page and waits for the verdict before it writes the next: no byte of the next
/// page is needed.
#[test]
fn a_verdict_does_not_wait_for_the_next_page() {
    let sandbox = with_labels();
    let pages = pages();
    let as_line = |page: &(String, Vec<String>)| json_lines(std::slice::from_ref(page));
    let as_record = |page: &(String, Vec<String>)| warc(std::slice::from_ref(page));
    let as_member = |page: &(String, Vec<String>)| gzip(&warc(std::slice::from_ref(page)));
    type Encode<'a> = &'a dyn Fn(&(String, Vec<String>)) -> Vec<u8>;
    let encodings: [(&[&str], Encode<'_>); 6] = [
        (&[], &as_line),
        (&[], &as_record),
        (&[], &as_member),
        (&["--format", "jsonl"], &as_line),
        (&["--format", "warc"], &as_record),
        (&["--seen", "crawl.seen"], &as_record),
    ];
    for (options, encode) in encodings {
        let mut child = watch(&sandbox, options);
        let mut stdin = child.stdin.take().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        for page in &pages {
            stdin.write_all(&encode(page)).unwrap();
            stdin.flush().unwrap();
            let mut line = String::new();
            // Without a verdict this waits for ever.
            stdout.read_line(&mut line).unwrap();
            let verdict: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(verdict["url"], page.0.as_str());
        }
        drop(stdin);
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn garbage_between_pages_is_counted_and_skipped() {
    let sandbox = with_labels();
    let pages = pages();
    let (expected, ..) = verdicts(&sandbox, &[], &warc(&pages));
    let urls = |found: &[Value]| -> Vec<String> {
        let kept = found.iter().filter(|page| page.get("rejected").is_none());
        kept.map(|page| page["url"].as_str().unwrap().to_owned())
            .collect()
    };
    // Records with garbage, NUL bytes, a half record and a damaged header between them.
    let mut stream = Vec::new();
    for (at, page) in pages.iter().enumerate() {
        stream.extend(warc(std::slice::from_ref(page)));
        match at {
            0 => stream.extend(b"garbage \xff\xfe\0\0 between records\r\n"),
            1 => stream.extend([0u8; 3000]),
            2 => stream.extend(b"WARC/1.0\r\nContent-Length: nine\r\n\r\nhalf a rec\r\n\r\n"),
            3 => {
                // Latin-1 bytes under the name of UTF-8, and a page of zeros.
                let mut broken = warc_record("http://broken.example/", "<p>caf\u{e9}</p>");
                let at = broken
                    .windows(2)
                    .position(|pair| pair == "\u{e9}".as_bytes())
                    .unwrap();
                broken[at] = 0xe9;
                broken[at + 1] = b'!';
                stream.extend(broken);
                stream.extend(warc_record("http://zero.example/", &"\0".repeat(500)));
            }
            _ => {}
        }
    }
    let (found, summary, status) = verdicts(&sandbox, &["--threads", "2"], &stream);
    assert_eq!(status, 0);
    let wanted: Vec<String> = urls(&expected);
    let have: Vec<String> = urls(&found)
        .into_iter()
        .filter(|url| !url.contains("broken") && !url.contains("zero"))
        .collect();
    assert_eq!(have, wanted, "{summary}");
    assert!(summary.contains("damaged: bad-header"), "{summary}");

    // A truncated member: what precedes it is reported.
    let mut packed: Vec<u8> = pages
        .iter()
        .flat_map(|page| gzip(&warc(std::slice::from_ref(page))))
        .collect();
    packed.truncate(packed.len() - 20);
    let (found, summary, status) = verdicts(&sandbox, &[], &packed);
    assert_eq!(
        (urls(&found).as_slice(), status),
        (&wanted[..wanted.len() - 1], 0)
    );
    assert!(summary.contains("damaged: truncated"), "{summary}");

    // Lines that are not JSON, one of them very long.
    let mut lines = json_lines(&pages[..2]);
    lines.extend(b"not json\n{\"url\": \"http://a.example/\"}\n\xff\xfe\n");
    lines.extend(vec![b'x'; 100_000_000]);
    lines.push(b'\n');
    lines.extend(json_lines(&pages[2..]));
    let (found, summary, status) = verdicts(&sandbox, &["--memory", "64M"], &lines);
    assert_eq!((urls(&found), status), (wanted, 0));
    assert!(summary.contains("damaged: line-too-long"), "{summary}");
}

#[test]
fn labels_are_loaded_again_when_the_file_changes() {
    let sandbox = with_labels();
    let empty = "mine/none.html";
    sandbox.write(empty, "<p>Entirely different words, in a paragraph that is long enough to be a label of its own, for once at least.</p>");
    sandbox.succeed(&[
        "discover",
        "mine.cento",
        "--from",
        empty,
        "-o",
        "other.labels",
    ]);
    let mut child = watch(&sandbox, &[]);
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let page = json_lines(&pages()[..1]);
    let mut ask = move || -> u64 {
        stdin.write_all(&page).unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let verdict: Value = serde_json::from_str(&line).unwrap();
        verdict["matched"].as_u64().unwrap()
    };
    let mut until = |matched: u64| {
        let found = (0..2000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            ask() == matched
        });
        assert!(found, "{matched} matches are expected");
    };
    assert_eq!(until(2), ());
    let read = |name: &str| std::fs::read(sandbox.path(name)).unwrap();
    let endings = ["", ".parquet", ".originals.parquet"];
    let original: Vec<Vec<u8>> = endings
        .iter()
        .map(|ending| read(&format!("mine.labels{ending}")))
        .collect();
    // Half a file, written over the old one as `cp` does: the old labels stay.
    sandbox.write("mine.labels", &original[0][..original[0].len() / 2]);
    std::thread::sleep(std::time::Duration::from_millis(60));
    until(2);
    for ending in endings {
        sandbox.write(
            &format!("mine.labels{ending}"),
            read(&format!("other.labels{ending}")),
        );
    }
    until(0);
    // The old ones again, renamed into place.
    for (ending, content) in endings.iter().zip(&original) {
        sandbox.write("new", content);
        std::fs::rename(
            sandbox.path("new"),
            sandbox.path(&format!("mine.labels{ending}")),
        )
        .unwrap();
    }
    until(2);
    drop(ask);
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert!(child.wait().unwrap().success());
    assert!(
        stderr.contains("the previous labels stay in use"),
        "{stderr}"
    );
    assert!(
        stderr.contains("mine.labels has changed and was loaded again: 1 label\n"),
        "{stderr}"
    );
}

#[test]
fn kill_9_loses_no_page_that_was_reported() {
    let sandbox = with_labels();
    let page = |at: usize| {
        let words: Vec<String> = (0..30).map(|word| format!("p{at}w{word}")).collect();
        (format!("http://a.example/{at}"), vec![words.join(" ")])
    };
    let mut reported = BTreeSet::new();
    for round in 0..6 {
        let mut child = watch(&sandbox, &["--seen", "crawl.seen"]);
        let mut stdin = child.stdin.take().unwrap();
        let all: Vec<_> = (0..3000).map(|at| page(round * 3000 + at)).collect();
        let writer = std::thread::spawn(move || {
            let _ = stdin.write_all(&json_lines(&all));
            // Keep the stream open.
            std::thread::sleep(std::time::Duration::from_millis(1));
            drop(stdin);
        });
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        for _ in 0..100 + 137 * round {
            let mut line = String::new();
            if stdout.read_line(&mut line).unwrap() == 0 {
                break;
            }
            let verdict: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(verdict["seen"], Value::Null, "{line}");
            reported.insert(verdict["url"].as_str().unwrap().to_owned());
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // Verdicts that were printed and not read yet count too.
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).unwrap();
        for line in rest.lines() {
            if let Ok(verdict) = serde_json::from_str::<Value>(line) {
                reported.insert(verdict["url"].as_str().unwrap().to_owned());
            }
        }
        writer.join().unwrap();
    }
    let all: Vec<_> = (0..18_000).map(page).collect();
    let (again, summary, status) = verdicts(&sandbox, &["--seen", "crawl.seen"], &json_lines(&all));
    assert_eq!(status, 0);
    assert!(!summary.contains("damaged"), "{summary}");
    for verdict in &again {
        let url = verdict["url"].as_str().unwrap();
        if reported.contains(url) {
            assert_eq!(
                verdict["seen"]["as"], "bytes",
                "{url} was reported and is forgotten"
            );
        }
    }
}

#[test]
fn of_two_processes_exactly_one_sees_a_page_first() {
    let sandbox = with_labels();
    let pages: Vec<_> = (0..1500)
        .map(|at| {
            let words: Vec<String> = (0..20).map(|word| format!("p{at}w{word}")).collect();
            (format!("http://a.example/{at}"), vec![words.join(" ")])
        })
        .collect();
    let reversed: Vec<_> = pages.iter().rev().cloned().collect();
    let new: usize = std::thread::scope(|scope| {
        let runs: Vec<_> = [&pages, &reversed, &pages]
            .into_iter()
            .map(|pages| {
                let sandbox = &sandbox;
                scope.spawn(move || {
                    let (found, ..) = verdicts(
                        sandbox,
                        &["--seen", "crawl.seen", "--threads", "1"],
                        &json_lines(pages),
                    );
                    found.iter().filter(|page| page["seen"].is_null()).count()
                })
            })
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).sum()
    });
    assert_eq!(new, 1500);
}

#[test]
fn a_closed_pipe_ends_it_without_a_message_and_ctrl_c_prints_the_summary() {
    let sandbox = with_labels();
    let many: Vec<u8> = json_lines(&pages()).repeat(20_000);
    let mut child = watch(&sandbox, &[]);
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(&many).is_err());
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut String::new()).unwrap();
    drop(stdout);
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert_eq!(
        (child.wait().unwrap().code(), stderr.as_str()),
        (Some(0), "")
    );
    assert!(writer.join().unwrap(), "it stopped reading");

    let mut child = watch(&sandbox, &[]);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&json_lines(&pages())).unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for _ in 0..pages().len() {
        stdout.read_line(&mut String::new()).unwrap();
    }
    // The stream is open and idle.
    let interrupted = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(interrupted.unwrap().success());
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(stderr.starts_with("2 of 8 pages flagged"), "{stderr}");
    drop(stdin);
}

#[test]
fn a_full_disk_is_an_error_and_what_was_seen_stays() {
    let sandbox = with_labels();
    let Some(_disk) = support::SmallDisk::mount(sandbox.path("small"), "64k") else {
        return;
    };
    let pages: Vec<_> = (0..500)
        .map(|at| {
            let words: Vec<String> = (0..30).map(|word| format!("p{at}w{word}")).collect();
            (format!("http://a.example/{at}"), vec![words.join(" ")])
        })
        .collect();
    let (found, stderr, status) = verdicts(
        &sandbox,
        &["--seen", "small/crawl.seen"],
        &json_lines(&pages),
    );
    assert_eq!(status, 5, "{stderr}");
    assert!(!found.is_empty() && found.len() < 500);
    std::fs::copy(sandbox.path("small/crawl.seen"), sandbox.path("copy.seen")).unwrap();
    let (again, ..) = verdicts(
        &sandbox,
        &["--seen", "copy.seen"],
        &json_lines(&pages[..found.len()]),
    );
    assert!(again.iter().all(|page| page["seen"]["as"] == "bytes"));
}
