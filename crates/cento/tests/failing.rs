//! Bad input and bad places: one clear line, one hint, nothing half-written.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its sandbox should stop there"
)]

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use insta::assert_snapshot;
use support::{Archive, Random, Sandbox};

/// What is left in the sandbox besides what the test put there.
fn left(sandbox: &Sandbox, output: &str) -> bool {
    sandbox.path(output).symlink_metadata().is_ok()
}

#[test]
fn a_missing_file_is_named() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["index", "nowhere.warc.gz", "-o", "x.cento"]));
    assert_snapshot!(sandbox.run(&["index", "no*.warc.gz", "-o", "x.cento"]));
    assert_snapshot!(sandbox.run(&["index", "@nolist", "-o", "x.cento"]));
    assert!(!left(&sandbox, "x.cento"));
}

#[test]
fn an_empty_folder_says_that_it_is_empty() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("empty")).unwrap();
    assert_snapshot!(sandbox.run(&["index", "empty", "-o", "x.cento"]));
    assert!(!left(&sandbox, "x.cento"));
}

#[test]
fn a_file_of_zeros_is_no_page() {
    let sandbox = Sandbox::new();
    sandbox
        .write("zeros", vec![0; 100_000])
        .write("zeros.warc.gz", vec![0; 100_000])
        .write("nothing.warc", "");
    assert_snapshot!(sandbox.run(&["index", "zeros", "-o", "x.cento"]));
    assert_snapshot!(sandbox.run(&["index", "zeros.warc.gz", "-o", "x.cento"]));
    assert_snapshot!(sandbox.run(&["index", "nothing.warc", "-o", "x.cento"]));
    assert!(!left(&sandbox, "x.cento"));
}

#[test]
fn a_truncated_archive_gives_what_it_has() {
    let sandbox = Sandbox::new();
    let mut archive = Archive::gzip();
    let mut random = Random(3);
    archive.page("http://a.example/1", &random.page("One", 2));
    let whole = archive.bytes.len();
    archive.page("http://a.example/2", &random.page("Two", 2));
    sandbox.write("cut.warc.gz", &archive.bytes[..whole + 60]);
    sandbox.write("stump.warc.gz", &archive.bytes[..60]);
    assert_snapshot!(sandbox.run(&["index", "cut.warc.gz", "-o", "cut.cento"]));
    assert_snapshot!(sandbox.run(&["index", "stump.warc.gz", "-o", "stump.cento"]));
    assert!(!left(&sandbox, "stump.cento"));
}

#[test]
fn a_table_without_the_named_column_lists_those_it_has() {
    let sandbox = Sandbox::new();
    let column = |values: &[&str]| -> ArrayRef { Arc::new(StringArray::from(values.to_vec())) };
    let batch = RecordBatch::try_from_iter([
        ("body", column(&["One text.", "Two texts."])),
        (
            "link",
            column(&["http://t.example/1", "http://t.example/2"]),
        ),
    ])
    .unwrap();
    let mut bytes = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    sandbox.write("table.parquet", bytes);
    assert_snapshot!(sandbox.run(&[
        "index",
        "table.parquet",
        "--field",
        "text=content",
        "-o",
        "x.cento"
    ]));
    assert!(!left(&sandbox, "x.cento"));
    sandbox.write(
        "lines.jsonl",
        "{\"body\": \"text\"}\n{\"body\": \"text\"}\n",
    );
    assert_snapshot!(sandbox.run(&[
        "index",
        "lines.jsonl",
        "--field",
        "text=content",
        "-o",
        "x.cento"
    ]));
    assert!(!left(&sandbox, "x.cento"));
    assert_snapshot!(sandbox.run(&["index", "table.parquet", "-o", "t.cento"]));
    assert_snapshot!(sandbox.run(&["cat", "t.cento", "--url", "http://t.example/2"]));
}

#[test]
fn wrong_usage_is_told_apart_from_failure() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "text");
    assert_snapshot!(sandbox.run(&["index", "a.txt"]));
    assert_snapshot!(sandbox.run(&["index", "a.txt", "-o", "x.cento", "--chunk", "pages"]));
    assert_snapshot!(sandbox.run(&["index", "a.txt", "-o", "x.cento", "--memory", "lots"]));
    assert_snapshot!(sandbox.run(&["index", "a.txt", "-o", "x.cento", "--field", "body"]));
    assert_snapshot!(sandbox.run(&[
        "index",
        "a.txt",
        "-o",
        "x.cento",
        "--base-url",
        "example.org"
    ]));
    assert!(!left(&sandbox, "x.cento"));
}

#[test]
fn what_is_in_the_way_is_left_alone() {
    let sandbox = Sandbox::new();
    sandbox
        .write("a.txt", "text")
        .write("mine/precious.txt", "precious")
        .write("file.cento", "a file");
    assert_snapshot!(sandbox.run(&["index", "a.txt", "-o", "mine"]));
    assert_snapshot!(sandbox.run(&["index", "a.txt", "-o", "file.cento"]));
    assert_eq!(
        fs::read_to_string(sandbox.path("mine/precious.txt")).unwrap(),
        "precious"
    );
    assert_snapshot!(sandbox.run(&["info", "mine"]));
    assert_snapshot!(sandbox.run(&["info", "nowhere.cento"]));
    assert_snapshot!(sandbox.run(&["cat", "file.cento", "--id", "0"]));
}

#[test]
fn a_read_only_place_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "text");
    let place = sandbox.path("disk");
    let Some(disk) = SmallDisk::mount(&place, "1m") else {
        eprintln!("skipped: this user may not mount a file system");
        return;
    };
    disk.remount("ro");
    assert_snapshot!(sandbox.run(&["index", "a.txt", "-o", "disk/x.cento"]));
}

#[test]
fn a_damaged_corpus_is_not_trusted() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "Some text.\n\nMore text.");
    sandbox.succeed(&["index", "a.txt", "-o", "x.cento"]);
    assert_snapshot!(sandbox.run(&["cat", "x.cento", "--id", "5"]));
    assert_snapshot!(sandbox.run(&["cat", "x.cento", "--url", "b.txt"]));
    let part = sandbox.path("x.cento/chunks/part-00000-0000.parquet");
    let whole = fs::read(&part).unwrap();
    let mut bent = whole.clone();
    bent[20] ^= 1;
    fs::write(&part, &bent).unwrap();
    assert_snapshot!(sandbox.run(&["info", "x.cento", "--verify"]));
    fs::write(&part, &whole[1..]).unwrap();
    assert_snapshot!(sandbox.run(&["info", "x.cento"]));
    fs::remove_file(&part).unwrap();
    assert_snapshot!(sandbox.run(&["info", "x.cento"]));
}

/// A file system of a few pages, if this user may mount one.
struct SmallDisk<'a>(&'a Path);

impl SmallDisk<'_> {
    fn mount<'a>(place: &'a Path, size: &str) -> Option<SmallDisk<'a>> {
        fs::create_dir_all(place).unwrap();
        let options = format!("size={size}");
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(place)
            .output();
        mount
            .is_ok_and(|output| output.status.success())
            .then_some(SmallDisk(place))
    }

    fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        assert!(
            Command::new("mount")
                .args(["-o", &options])
                .arg(self.0)
                .status()
                .unwrap()
                .success()
        );
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn a_full_disk_is_told_and_a_rerun_with_room_goes_on() {
    let sandbox = Sandbox::new();
    let mut random = Random(5);
    let mut archive = Archive::gzip();
    for page in 0..300 {
        archive.page(
            &format!("http://a.example/{page}"),
            &random.page("Page", 40),
        );
    }
    sandbox.write("crawl.warc.gz", archive.bytes);
    let place = sandbox.path("disk");
    let Some(disk) = SmallDisk::mount(&place, "300k") else {
        eprintln!("skipped: this user may not mount a file system");
        return;
    };
    let index = [
        "index",
        "crawl.warc.gz",
        "-o",
        "disk/x.cento",
        "--threads",
        "1",
    ];
    assert_snapshot!(sandbox.run(&index));
    assert!(!left(&sandbox, "disk/x.cento"));
    // A scan says the same, and so does the report that no longer fits.
    let scanned = sandbox.run(&["scan", "crawl.warc.gz", "-o", "disk/x.cento"]);
    assert!(scanned.contains("No space left on device"), "{scanned}");
    disk.remount("size=100m");
    sandbox.succeed(&index);
    assert!(
        sandbox
            .run(&["info", "disk/x.cento", "--verify"])
            .contains("every checksum fits")
    );
}
