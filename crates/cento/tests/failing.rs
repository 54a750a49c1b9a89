//! Invalid inputs and outputs: one clear line, one hint, and no partial output.

mod support;

use std::fs;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use insta::assert_snapshot;
use support::{Archive, Random, Sandbox, SmallDisk};

/// Returns whether a path exists in the sandbox.
fn exists(sandbox: &Sandbox, output: &str) -> bool {
    sandbox.path(output).symlink_metadata().is_ok()
}

#[test]
fn a_missing_input_is_named() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["index", "nowhere.warc.gz", "-o", "x.cento"]));
    assert_snapshot!(sandbox.run(&["index", "no*.warc.gz", "-o", "x.cento"]));
    assert_snapshot!(sandbox.run(&["index", "@nolist", "-o", "x.cento"]));
    assert!(!exists(&sandbox, "x.cento"));
}

#[test]
fn an_empty_folder_is_reported() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("empty")).unwrap();
    assert_snapshot!(sandbox.run(&["index", "empty", "-o", "x.cento"]));
    assert!(!exists(&sandbox, "x.cento"));
}

#[test]
fn a_file_of_zeros_is_rejected() {
    let sandbox = Sandbox::new();
    sandbox
        .write("zeros", vec![0; 100_000])
        .write("zeros.warc.gz", vec![0; 100_000])
        .write("nothing.warc", "");
    assert_snapshot!(sandbox.run(&["index", "zeros", "-o", "x.cento"]));
    assert_snapshot!(sandbox.run(&["index", "zeros.warc.gz", "-o", "x.cento"]));
    assert_snapshot!(sandbox.run(&["index", "nothing.warc", "-o", "x.cento"]));
    assert!(!exists(&sandbox, "x.cento"));
}

#[test]
fn the_readable_part_of_a_truncated_archive_is_indexed() {
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
    assert!(!exists(&sandbox, "stump.cento"));
}

#[test]
fn a_table_without_the_named_column_lists_its_columns() {
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
    assert!(!exists(&sandbox, "x.cento"));
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
    assert!(!exists(&sandbox, "x.cento"));
    assert_snapshot!(sandbox.run(&["index", "table.parquet", "-o", "t.cento"]));
    assert_snapshot!(sandbox.run(&["cat", "t.cento", "--url", "http://t.example/2"]));
}

#[test]
fn wrong_usage_exits_with_status_2() {
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
    assert!(!exists(&sandbox, "x.cento"));
}

#[test]
fn existing_files_are_not_overwritten() {
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
    assert_snapshot!(sandbox.run(&["report", "mine"]));
    assert_snapshot!(sandbox.run(&["info", "nowhere.cento"]));
    assert_snapshot!(sandbox.run(&["cat", "file.cento", "--id", "0"]));
}

#[test]
fn a_read_only_output_is_reported() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "text");
    let Some(disk) = SmallDisk::mount(sandbox.path("disk"), "1m") else {
        return;
    };
    disk.remount("ro");
    assert_snapshot!(sandbox.run(&["index", "a.txt", "-o", "disk/x.cento"]));
}

#[test]
fn a_corrupted_corpus_is_reported() {
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

#[test]
fn a_full_disk_is_reported_and_the_next_run_resumes() {
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
    let Some(disk) = SmallDisk::mount(sandbox.path("disk"), "300k") else {
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
    assert!(!exists(&sandbox, "disk/x.cento"));
    // A scan reports the same.
    let scanned = sandbox.run(&["scan", "crawl.warc.gz", "-o", "disk/x.cento"]);
    assert!(scanned.contains("No space left on device"), "{scanned}");
    disk.remount("size=100m");
    sandbox.succeed(&index);
    assert!(
        sandbox
            .run(&["info", "disk/x.cento", "--verify"])
            .contains("all checksums match")
    );
}
