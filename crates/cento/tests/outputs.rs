//! No data is lost: inputs, existing outputs, devices, and targets of links.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its sandbox fails"
)]

mod support;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use support::{Random, Sandbox};

/// JSON Lines of pages; every second page duplicates the one before it.
fn lines(seed: u64, count: u64) -> String {
    let mut random = Random(seed);
    let mut text = String::new();
    for number in 0..count {
        let words = random.paragraph(30);
        for copy in 0..2 {
            let url = format!("http://{seed}.example/{number}/{copy}");
            text.push_str(&format!(
                "{}\n",
                serde_json::json!({ "url": url, "text": words.trim() })
            ));
        }
    }
    text
}

fn status(sandbox: &Sandbox, arguments: &[&str]) -> (i32, String) {
    let output = sandbox.command(arguments).output().unwrap();
    (
        output.status.code().unwrap_or(-1),
        sandbox.transcript(&output),
    )
}

fn line_count(path: &Path) -> usize {
    fs::read_to_string(path).unwrap().lines().count()
}

#[test]
fn filtering_into_the_input_folder_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("d/x.jsonl", lines(1, 4));
    let command = ["copies", "d", "--filter", "-o", "d/unique"];
    let (code, said) = status(&sandbox, &command);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("d would overwrite itself"), "{said}");
    assert!(!sandbox.path("d/unique").exists());
    // The same folder under another name.
    symlink(sandbox.path("d"), sandbox.path("link")).unwrap();
    assert_eq!(
        status(&sandbox, &["copies", "link", "--filter", "-o", "d/unique"]).0,
        2
    );
    // A corpus does not record its input folder, but existing files are not replaced.
    sandbox.succeed(&["index", "d", "-o", "c.cento"]);
    sandbox.succeed(&["copies", "c.cento", "--filter", "-o", "out"]);
    assert_eq!(line_count(&sandbox.path("out/x.jsonl")), 4);
    let (code, said) = status(&sandbox, &["copies", "c.cento", "--filter", "-o", "out"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("out/x.jsonl already exists"), "{said}");
    sandbox.succeed(&["copies", "c.cento", "--filter", "-o", "out", "--overwrite"]);
    assert_eq!(line_count(&sandbox.path("out/x.jsonl")), 4);
}

#[test]
fn an_output_that_is_an_input_under_another_name_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("p/a.jsonl", lines(1, 4));
    sandbox.write("p/p/a.jsonl", lines(2, 4));
    let before = fs::read(sandbox.path("p/p/a.jsonl")).unwrap();
    sandbox.succeed(&["index", "p", "-o", "c.cento"]);
    for more in [&[][..], &["--overwrite"]] {
        for source in ["p", "c.cento"] {
            let mut command = vec!["copies", source, "--filter", "-o", "p/p"];
            command.extend(more);
            let (code, said) = status(&sandbox, &command);
            assert_eq!(code, 2, "{said}");
        }
    }
    // A hard link is another path to the same file.
    fs::create_dir(sandbox.path("out")).unwrap();
    fs::hard_link(sandbox.path("p/a.jsonl"), sandbox.path("out/a.jsonl")).unwrap();
    let (code, said) = status(
        &sandbox,
        &["copies", "c.cento", "--filter", "-o", "out", "--overwrite"],
    );
    assert_eq!(code, 2, "{said}");
    assert_eq!(fs::read(sandbox.path("p/p/a.jsonl")).unwrap(), before);
    // --out and --skip-list are checked too.
    for option in ["--out", "--skip-list"] {
        for source in ["c.cento", "p/a.jsonl"] {
            let (code, said) = status(&sandbox, &["copies", source, option, "p/a.jsonl"]);
            assert_eq!(code, 2, "{said}");
        }
    }
    let (code, said) = status(&sandbox, &["overlap", "c.cento", "--out", "p/p/a.jsonl"]);
    assert_eq!(code, 2, "{said}");
    let command = [
        "detect",
        "c.cento",
        "--against",
        "p/a.jsonl",
        "-o",
        "p/a.jsonl",
    ];
    assert_eq!(status(&sandbox, &command).0, 2);
    assert_eq!(line_count(&sandbox.path("p/a.jsonl")), 8);
}

#[test]
fn inputs_in_different_parent_folders_have_different_outputs() {
    let sandbox = Sandbox::new();
    sandbox.write("data/a.jsonl", lines(1, 3));
    sandbox.write("work/data/a.jsonl", lines(2, 5));
    fs::create_dir_all(sandbox.path("work/here")).unwrap();
    let mut command = sandbox.command(&[
        "copies",
        "../data/a.jsonl",
        "../../data/a.jsonl",
        "--filter",
        "-o",
        "out",
    ]);
    let output = command
        .current_dir(sandbox.path("work/here"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", sandbox.transcript(&output));
    let out = sandbox.path("work/here/out");
    assert_eq!(line_count(&out.join("data/a.jsonl")), 3);
    assert_eq!(line_count(&out.join("work/data/a.jsonl")), 5);
}

#[test]
fn unusual_file_names_are_filtered() {
    let sandbox = Sandbox::new();
    sandbox.write("d/@list.jsonl", lines(1, 3));
    sandbox.write("d/a[1]*.jsonl", lines(2, 3));
    let odd = sandbox.path("d").join(OsStr::from_bytes(b"\xff\xfe.jsonl"));
    fs::write(&odd, lines(3, 3)).unwrap();
    let mut index = sandbox.command(&["index", ".", "-o", "../c.cento"]);
    let output = index.current_dir(sandbox.path("d")).output().unwrap();
    assert!(output.status.success(), "{}", sandbox.transcript(&output));
    let mut copies = sandbox.command(&["copies", "../c.cento", "--filter", "-o", "../out"]);
    let output = copies.current_dir(sandbox.path("d")).output().unwrap();
    assert!(output.status.success(), "{}", sandbox.transcript(&output));
    // Also as an argument.
    let mut named = sandbox.command(&["copies", "--filter", "-o", "named"]);
    let output = named.arg(&odd).output().unwrap();
    assert!(output.status.success(), "{}", sandbox.transcript(&output));
    let path = sandbox
        .path("named")
        .join(OsStr::from_bytes(b"\xff\xfe.jsonl"));
    assert_eq!(line_count(&path), 3);
    for name in [&b"@list.jsonl"[..], b"a[1]*.jsonl", b"\xff\xfe.jsonl"] {
        let path = sandbox.path("out").join(OsStr::from_bytes(name));
        assert_eq!(line_count(&path), 3, "{}", path.display());
    }
}

#[test]
fn an_input_that_changed_after_indexing_is_not_filtered() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines(1, 4));
    sandbox.succeed(&["index", "a.jsonl", "-o", "c.cento"]);
    // The same lines in another order: the same size, but other duplicates.
    let text = fs::read_to_string(sandbox.path("a.jsonl")).unwrap();
    let mut turned: Vec<&str> = text.lines().collect();
    turned.rotate_left(1);
    sandbox.write("a.jsonl", turned.join("\n") + "\n");
    let (code, said) = status(&sandbox, &["copies", "c.cento", "--filter", "-o", "out"]);
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("a.jsonl has changed since it was indexed"),
        "{said}"
    );
    assert!(!sandbox.path("out/a.jsonl").exists());
}

#[test]
fn devices_pipes_and_links_are_written_to_and_not_replaced() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines(1, 4));
    sandbox.succeed(&["index", "a.jsonl", "-o", "c.cento"]);
    sandbox.succeed(&[
        "discover",
        "--from",
        "a.jsonl",
        "--min-length",
        "10",
        "-o",
        "a.labels",
    ]);
    let labels = fs::read(sandbox.path("a.labels")).unwrap();
    // A link to a device, so that a mistake does not replace the device itself.
    symlink("/dev/null", sandbox.path("null")).unwrap();
    sandbox.succeed(&["labels", "merge", "a.labels", "-o", "null"]);
    assert!(
        sandbox
            .path("null")
            .symlink_metadata()
            .unwrap()
            .is_symlink()
    );
    assert!(
        sandbox
            .path("null")
            .metadata()
            .unwrap()
            .file_type()
            .is_char_device()
    );
    assert!(!sandbox.path("null.parquet").exists());
    for name in ["-", "/dev/stdout"] {
        let output = sandbox
            .command(&["labels", "merge", "a.labels", "-o", name])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", sandbox.transcript(&output));
        assert_eq!(&output.stdout[..4], &labels[..4]);
        assert_eq!(
            fs::read_dir(sandbox.path(".")).unwrap().count(),
            6,
            "{name}"
        );
    }
    sandbox.succeed(&["scan", "c.cento", "--only", "copies"]);
    let page = sandbox.succeed(&["report", "c.cento", "-o", "-"]);
    let page = page.trim().to_lowercase();
    assert!(
        page.starts_with("<!doctype html>") && page.ends_with("</html>"),
        "{page:.100}"
    );
    // A link that the user names is followed and kept.
    sandbox.write("v2.html", "old");
    symlink("v2.html", sandbox.path("latest.html")).unwrap();
    sandbox.succeed(&["report", "c.cento", "-o", "latest.html"]);
    assert!(
        sandbox
            .path("latest.html")
            .symlink_metadata()
            .unwrap()
            .is_symlink()
    );
    assert!(
        fs::read_to_string(sandbox.path("v2.html"))
            .unwrap()
            .contains("</html>")
    );
}

#[test]
fn links_in_an_untrusted_corpus_are_not_followed() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines(1, 4));
    sandbox.write("b.jsonl", lines(2, 4));
    sandbox.succeed(&["index", "a.jsonl", "-o", "c.cento"]);
    for name in [
        "report.html",
        "report.html.new",
        ".lock",
        "manifest.json.new",
    ] {
        sandbox.write(&format!("victim-{name}"), "precious");
        let path = sandbox.path("c.cento").join(name);
        let _ = fs::remove_file(&path);
        symlink(sandbox.path(&format!("victim-{name}")), path).unwrap();
    }
    sandbox.succeed(&["scan", "c.cento", "--only", "copies"]);
    let _ = sandbox.run(&["index", "--add", "b.jsonl", "-o", "c.cento"]);
    fs::remove_file(sandbox.path("c.cento/.lock")).unwrap();
    sandbox.succeed(&["index", "--add", "b.jsonl", "-o", "c.cento"]);
    for name in [
        "report.html",
        "report.html.new",
        ".lock",
        "manifest.json.new",
    ] {
        let victim = sandbox.path(&format!("victim-{name}"));
        assert_eq!(fs::read(victim).unwrap(), b"precious", "{name}");
    }
    // Temporary folders are cleaned up, but links to other folders are not followed.
    sandbox.write("home/letter.txt", "precious");
    fs::remove_dir_all(sandbox.path("c.cento/tmp")).unwrap();
    symlink(sandbox.path("home"), sandbox.path("c.cento/tmp")).unwrap();
    sandbox.write("e.jsonl", lines(3, 4));
    let (code, said) = status(&sandbox, &["index", "--add", "e.jsonl", "-o", "c.cento"]);
    assert_eq!(code, 4, "{said}");
    assert_eq!(
        fs::read(sandbox.path("home/letter.txt")).unwrap(),
        b"precious"
    );
}

#[test]
fn temporary_corpora_are_private_and_remains_are_removed() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines(1, 2_000));
    fs::create_dir(sandbox.path("temp")).unwrap();
    let entries = || -> Vec<_> {
        let entries = fs::read_dir(sandbox.path("temp")).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let mut left = 0;
    for pause in [20, 60, 120, 250, 500] {
        let mut child = sandbox
            .command(&["copies", "a.jsonl", "--temp", "temp", "--threads", "1"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(pause));
        for path in entries() {
            let mode = path
                .metadata()
                .map_or(0o700, |found| found.permissions().mode());
            assert_eq!(mode & 0o777, 0o700);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        left = left.max(entries().len());
    }
    assert!(left > 0, "no run was killed in time to leave files");
    // A folder with a similar name is not removed.
    fs::create_dir(sandbox.path("temp/cento-backup")).unwrap();
    sandbox.succeed(&["copies", "a.jsonl", "--temp", "temp"]);
    assert_eq!(entries(), [sandbox.path("temp/cento-backup")]);
}

#[test]
fn remains_of_a_killed_run_are_removed_by_a_run_with_other_memory() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines(1, 3_000));
    sandbox.succeed(&["index", "a.jsonl", "-o", "c.cento"]);
    let folders = || {
        let mut found = Vec::new();
        for analysis in fs::read_dir(sandbox.path("c.cento/findings"))
            .into_iter()
            .flatten()
        {
            for run in fs::read_dir(analysis.unwrap().path()).unwrap() {
                for entry in fs::read_dir(run.unwrap().path()).unwrap() {
                    let name = entry.unwrap().file_name().into_string().unwrap();
                    if name.starts_with("cento-flow-") || name.contains(".part") {
                        found.push(name);
                    }
                }
            }
        }
        found
    };
    let mut left = 0;
    for pause in [30, 60, 120, 200, 300] {
        let mut child = sandbox
            .command(&[
                "copies",
                "c.cento",
                "--again",
                "--memory",
                "64M",
                "--threads",
                "1",
            ])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(pause));
        child.kill().unwrap();
        child.wait().unwrap();
        left = left.max(folders().len());
    }
    assert!(left > 0, "no run was killed in time to leave files");
    sandbox.succeed(&[
        "copies",
        "c.cento",
        "--again",
        "--memory",
        "512M",
        "--threads",
        "2",
    ]);
    assert_eq!(folders(), Vec::<String>::new());
}

#[test]
fn corrupted_findings_are_reported_and_never_used() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines(1, 30));
    sandbox.succeed(&["index", "a.jsonl", "-o", "c.cento"]);
    sandbox.succeed(&["copies", "c.cento"]);
    let right = sandbox.succeed(&["copies", "c.cento", "--json"]);
    let run = fs::read_dir(sandbox.path("c.cento/findings/copies")).unwrap();
    let run = run.into_iter().next().unwrap().unwrap().path();
    assert!(status(&sandbox, &["info", "c.cento", "--verify"]).0 == 0);
    let mut random = Random(7);
    for name in ["pairs.parquet", "run.json", "classes.parquet"] {
        for _ in 0..3 {
            let whole = fs::read(run.join(name)).unwrap();
            let mut flipped = whole.clone();
            let at = random.below(whole.len() as u64) as usize;
            flipped[at] ^= 1 << random.below(8);
            fs::write(run.join(name), &flipped).unwrap();
            let (code, said) = status(&sandbox, &["info", "c.cento", "--verify"]);
            assert_eq!(code, 4, "{name} at {at}: {said}");
            assert!(said.contains(name), "{said}");
            let (code, said) = status(&sandbox, &["report", "c.cento"]);
            // Without a readable run.json there are no findings.
            let expected = if name == "run.json" { 1 } else { 4 };
            assert_eq!(code, expected, "{name} at {at}: {said}");
            // The analysis replaces corrupted findings.
            assert_eq!(sandbox.succeed(&["copies", "c.cento", "--json"]), right);
            assert_eq!(status(&sandbox, &["info", "c.cento", "--verify"]).0, 0);
        }
    }
}

#[test]
fn corrupted_tables_of_labels_are_reported() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines(1, 30));
    sandbox.succeed(&["index", "a.jsonl", "-o", "c.cento"]);
    sandbox.succeed(&[
        "discover",
        "--from",
        "a.jsonl",
        "--min-length",
        "10",
        "-o",
        "a.labels",
    ]);
    sandbox.succeed(&["labels", "info", "a.labels", "--verify"]);
    for name in ["a.labels.parquet", "a.labels.originals.parquet"] {
        let whole = fs::read(sandbox.path(name)).unwrap();
        let mut flipped = whole.clone();
        flipped[whole.len() / 3] ^= 4;
        fs::write(sandbox.path(name), &flipped).unwrap();
        for command in [
            &["labels", "info", "a.labels", "--verify"][..],
            &["detect", "c.cento", "--labels", "a.labels"],
            &["labels", "merge", "a.labels", "-o", "b.labels"],
        ] {
            let (code, said) = status(&sandbox, command);
            assert_eq!(code, 4, "{said}");
            assert!(said.contains(name), "{said}");
        }
        fs::write(sandbox.path(name), &whole).unwrap();
    }
}

#[test]
fn ctrl_c_leaves_no_partial_output_of_a_filter() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines(1, 20_000));
    let mut child = sandbox
        .command(&[
            "copies", "a.jsonl", "--filter", "-o", "out", "--temp", "temp",
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(400));
    let begun = Instant::now();
    let interrupt = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(interrupt.success());
    let ended = child.wait().unwrap();
    // It may have ended before the signal arrived.
    assert!(matches!(ended.code(), Some(130 | 0)), "{ended:?}");
    assert!(begun.elapsed() < Duration::from_secs(20));
    let left = |folder: &str| fs::read_dir(sandbox.path(folder)).map_or(0, Iterator::count);
    assert_eq!(left("temp"), 0);
    if ended.code() == Some(130) {
        assert_eq!(left("out"), 0);
    }
}

#[test]
fn ctrl_c_does_not_wait_for_an_unresponsive_server() {
    let sandbox = Sandbox::new();
    // A server that sends the headers of a file and then nothing more.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/pages.jsonl", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            let read = std::io::Read::read(&mut stream, &mut request).unwrap_or(0);
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\nAccept-Ranges: bytes\r\n\r\n";
            let _ = std::io::Write::write_all(&mut stream, head.as_bytes());
            if !request[..read].starts_with(b"HEAD") {
                open.push(stream);
            }
        }
    });
    for presses in [1, 2] {
        let mut child = sandbox
            .command(&["index", &address, "-o", "c.cento"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(1500));
        let begun = Instant::now();
        for _ in 0..presses {
            let signal = ["-INT", &child.id().to_string()].map(str::to_owned);
            let _ = std::process::Command::new("kill").args(signal).status();
            std::thread::sleep(Duration::from_millis(300));
        }
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert!(
            begun.elapsed() < Duration::from_secs(15),
            "{:?}",
            begun.elapsed()
        );
    }
}

#[test]
fn closed_or_full_output_streams_cause_no_panic() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines(1, 20));
    sandbox.succeed(&["index", "a.jsonl", "-o", "c.cento"]);
    let full = || {
        fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap()
    };
    for arguments in [
        &["scan", "c.cento", "--explain"][..],
        &["report", "c.cento"],
        &["copies", "c.cento", "--explain"],
        &["copies", "nosuch.cento"],
        &["info", "c.cento"],
        &["cat", "c.cento", "--id", "0"],
    ] {
        // Standard error is full: only its messages are lost.
        let output = sandbox.command(arguments).stderr(full()).output().unwrap();
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 2)), "{arguments:?}: {code:?}");
        // Standard output is full: an error, not a panic.
        let output = sandbox.command(arguments).stdout(full()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains("panicked"), "{arguments:?}: {said}");
        // Standard output is closed early.
        let mut child = sandbox
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains("panicked"), "{arguments:?}: {said}");
    }
}

#[test]
fn concurrent_runs_with_different_memory_do_not_interfere() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines(1, 500));
    sandbox.succeed(&["index", "a.jsonl", "-o", "c.cento"]);
    for round in 0..4 {
        let children: Vec<_> = ["64M", "96M", "128M"]
            .iter()
            .map(|memory| {
                let machine = ["--memory", memory, "--temp", memory, "--threads", "1"];
                sandbox
                    .command(&[&["copies", "c.cento", "--again"][..], &machine].concat())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .unwrap()
            })
            .collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(
                output.status.success(),
                "{round}: {}",
                sandbox.transcript(&output)
            );
        }
        assert_eq!(status(&sandbox, &["info", "c.cento", "--verify"]).0, 0);
    }
}

#[test]
fn an_empty_csv_file_has_a_header() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "a.jsonl",
        "{\"url\": \"http://a.example/\", \"text\": \"one page alone\"}\n",
    );
    sandbox.succeed(&["copies", "a.jsonl", "--out", "pairs.csv"]);
    let text = fs::read_to_string(sandbox.path("pairs.csv")).unwrap();
    assert!(text.starts_with("page_id,"), "{text:?}");
    assert_eq!(text.lines().count(), 1);
}

#[test]
fn options_without_effect_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines(1, 20));
    sandbox.succeed(&["index", "a.jsonl", "-o", "c.cento"]);
    for arguments in [
        &[
            "copies",
            "c.cento",
            "--rule",
            "megashingle",
            "--resemblance",
            "0.8",
        ][..],
        &["copies", "c.cento", "--resemblance", "1", "-k", "3"],
        &["copies", "c.cento", "--field", "text=body"],
        &["copies", "c.cento", "--base-url", "http://a.example/"],
        &["copies", "a.jsonl", "--again"],
        &["copies", "c.cento", "--overwrite"],
        &["scan", "c.cento", "--max-page", "1M"],
        &["scan", "c.cento", "--retries", "8"],
        &["scan", "c.cento", "--recursion-cycles", "3"],
        &["scan", "c.cento", "--main"],
        &[
            "scan", "c.cento", "--only", "copies", "--labels", "a.labels",
        ],
        &[
            "phrases",
            "c.cento",
            "--cover-pages",
            "0",
            "--candidates",
            "3",
        ],
        &["overlap", "c.cento", "--top", "3", "--json"],
        &["index", "a.jsonl", "-o", "d.cento", "--max-page", "4G"],
    ] {
        let (code, said) = status(&sandbox, arguments);
        assert_eq!(code, 2, "{arguments:?}: {said}");
    }
}

#[test]
fn csv_cells_are_never_formulas() {
    let sandbox = Sandbox::new();
    let text = "the same words on two pages are a copy whatever the pages are called by those who made them";
    let page = |url: &str| format!("{}\n", serde_json::json!({ "url": url, "text": text }));
    sandbox.write("a.jsonl", page("=cmd|'/c calc'!A0") + &page("@SUM(A1)"));
    sandbox.succeed(&["copies", "a.jsonl", "--out", "pairs.csv"]);
    let csv = fs::read_to_string(sandbox.path("pairs.csv")).unwrap();
    let row = csv.lines().nth(1).unwrap();
    assert!(row.contains("'=cmd") && row.contains("'@SUM"), "{csv}");
    // Numbers are not quoted.
    assert!(row.starts_with(|c: char| c.is_ascii_digit()), "{csv}");
}
