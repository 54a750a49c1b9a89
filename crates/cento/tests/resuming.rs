//! Interrupted indexing: by kill -9 at any moment, and by Ctrl-C.

mod support;

use std::time::Duration;

use support::{Archive, Random, Sandbox, assert_same};

/// A crawl that takes a while to index in a debug build, in many small parts.
fn crawl(sandbox: &Sandbox, files: u64, pages: u64) {
    let mut random = Random(11);
    for file in 0..files {
        let mut archive = Archive {
            gzip: file % 2 == 0,
            ..Archive::default()
        };
        for page in 0..pages {
            archive.page(
                &format!("http://site{file}.example/{page}"),
                &random.page("Page", 30),
            );
        }
        let ending = if archive.gzip { "warc.gz" } else { "warc" };
        sandbox.write(&format!("crawl/{file}.{ending}"), archive.bytes);
    }
}

const INDEX: [&str; 7] = [
    "index",
    "crawl",
    "--part-size",
    "400K",
    "--threads",
    "2",
    "-o",
];

fn index(output: &str) -> Vec<&str> {
    INDEX.into_iter().chain([output]).collect()
}

#[test]
fn an_index_killed_at_any_moment_resumes_to_the_same_corpus() {
    let sandbox = Sandbox::new();
    crawl(&sandbox, 4, 60);
    let begun = std::time::Instant::now();
    sandbox.succeed(&index("whole.cento"));
    let whole = begun.elapsed();

    let complete = |output: &str| {
        // All committed parts are valid.
        let info = sandbox.run(&["info", output, "--verify"]);
        assert!(info.contains("all checksums match"), "{info}");
        !info.contains("unfinished")
    };
    let rounds = if std::env::var_os("CENTO_LONG_TESTS").is_some() {
        40
    } else {
        4
    };
    let mut random = Random(99);
    for round in 0..rounds {
        let output = format!("{round}.cento");
        let mut kills = 0;
        loop {
            let mut child = sandbox.command(&index(&output)).spawn().unwrap();
            // Kill at any point of the run.
            let share = random.below(1000) as u32;
            std::thread::sleep(whole * share / 1000);
            if kills < 12 && child.try_wait().unwrap().is_none() {
                child.kill().unwrap();
                child.wait().unwrap();
                kills += 1;
                if sandbox.path(&output).join("manifest.json").exists() && complete(&output) {
                    break;
                }
                continue;
            }
            assert!(child.wait().unwrap().success());
            break;
        }
        assert_same(&sandbox.path("whole.cento"), &sandbox.path(&output));
    }
}

#[test]
fn an_interrupted_addition_resumes() {
    let sandbox = Sandbox::new();
    crawl(&sandbox, 2, 40);
    sandbox.write("first.txt", "Some text to begin with.");
    for output in ["whole.cento", "interrupted.cento"] {
        sandbox.succeed(&["index", "first.txt", "-o", output, "--part-size", "400K"]);
    }
    let add = |output: &'static str| ["index", "crawl", "--add", "-o", output];
    sandbox.succeed(&add("whole.cento"));
    for _ in 0..3 {
        let mut child = sandbox.command(&add("interrupted.cento")).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(150));
        if child.try_wait().unwrap().is_some() {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        if !sandbox
            .run(&["info", "interrupted.cento"])
            .contains("unfinished")
        {
            break;
        }
    }
    // A run that was killed before it recorded its inputs has left the corpus unchanged, and one
    // that was killed after it finished has nothing left to do.
    if sandbox.run(&["info", "interrupted.cento", "--json"])
        != sandbox
            .run(&["info", "whole.cento", "--json"])
            .replace("whole", "interrupted")
    {
        sandbox.succeed(&add("interrupted.cento"));
    }
    assert_same(
        &sandbox.path("whole.cento"),
        &sandbox.path("interrupted.cento"),
    );
}

#[test]
fn an_index_is_resumed_only_with_the_same_inputs() {
    let sandbox = Sandbox::new();
    crawl(&sandbox, 4, 60);
    let mut child = sandbox.command(&index("x.cento")).spawn().unwrap();
    while !sandbox.path("x.cento/manifest.json").exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    if sandbox.run(&["info", "x.cento"]).contains("unfinished") {
        let other = std::fs::read(sandbox.path("crawl/2.warc.gz")).unwrap();
        sandbox.write("crawl/0.warc.gz", other);
        let refused = sandbox.run(&index("x.cento"));
        assert!(refused.contains("1 input has changed"), "{refused}");
        assert!(refused.contains("crawl/0.warc.gz"), "{refused}");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_indexing_and_says_how_to_resume() {
    let sandbox = Sandbox::new();
    crawl(&sandbox, 6, 200);
    let child = sandbox
        .command(&index("x.cento"))
        .stderr(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Wait until a part is committed.
    while !sandbox
        .path("x.cento/pages/part-00000-0000.parquet")
        .exists()
    {
        std::thread::sleep(Duration::from_millis(1));
    }
    let interrupt = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(interrupt.success());
    let ended = sandbox.transcript(&child.wait_with_output().unwrap());
    if ended.starts_with("status: 130") {
        assert!(
            ended.contains("error: interrupted\nhint: finished parts are kept"),
            "{ended}"
        );
        sandbox.succeed(&index("x.cento"));
    }
    sandbox.succeed(&index("whole.cento"));
    assert_same(&sandbox.path("whole.cento"), &sandbox.path("x.cento"));
}
