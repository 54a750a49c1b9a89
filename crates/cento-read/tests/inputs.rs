//! Resolving arguments into inputs.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failure must end the test"
)]

mod common;

use cento_read::{Content, Error, Format, IgnoredCause, Resolved, Settings, Start, resolve};
use common::archive::{gzip, response};
use common::{Folder, Outcome, pages_of};

fn names(folder: &Folder, resolved: &Resolved) -> Vec<String> {
    let root = format!("{}/", folder.name(""));
    let root = root.replace("//", "/");
    resolved
        .inputs
        .iter()
        .map(|input| {
            input
                .name
                .strip_prefix(&root)
                .unwrap_or(&input.name)
                .to_owned()
        })
        .collect()
}

fn found(specs: &[&str]) -> Result<Resolved, Error> {
    let specs: Vec<_> = specs.iter().map(|&spec| spec.to_owned()).collect();
    resolve(&specs, &Settings::default())
}

fn site() -> Folder {
    let folder = Folder::new();
    for name in [
        "site/b.html",
        "site/a/index.htm",
        "site/a/notes.txt",
        "site/readme",
        "site/.hidden/x.html",
        "site/.x.html",
        "site/style.css",
        "crawl.warc",
    ] {
        folder.write(name, b"Some words.");
    }
    folder.write("site/data", &[0; 100]);
    folder.write("site/pack.zip", b"PK\x03\x04");
    folder
}

#[test]
fn a_folder_is_walked_in_order_without_hidden_files() {
    let folder = site();
    let resolved = found(&[&folder.name("site")]).unwrap();
    assert_eq!(
        names(&folder, &resolved),
        [
            "site/a/index.htm",
            "site/a/notes.txt",
            "site/b.html",
            "site/readme"
        ]
    );
    let formats: Vec<_> = resolved
        .inputs
        .iter()
        .map(|input| input.format.unwrap())
        .collect();
    assert_eq!(
        formats,
        [Format::Html, Format::Text, Format::Html, Format::Text]
    );
    assert_eq!(resolved.inputs[0].bytes, Some(11));
    let ignored: Vec<_> = resolved
        .ignored
        .iter()
        .map(|ignored| (ignored.cause, ignored.count))
        .collect();
    assert_eq!(
        ignored,
        [
            (IgnoredCause::NotPage, 1),
            (IgnoredCause::Binary, 1),
            (IgnoredCause::Unsupported, 1)
        ]
    );
}

#[test]
fn patterns_lists_and_repetitions_become_one_sorted_list() {
    let folder = site();
    folder.write(
        "list",
        format!(
            "# what to read\n\n  {}  \n{}\n",
            folder.name("crawl.warc"),
            folder.name("site/*.html")
        )
        .as_bytes(),
    );
    let pattern = folder.name("site/**/*.htm*");
    let list = format!("@{}", folder.name("list"));
    let again = folder.name("site/../site/b.html");
    let resolved = found(&[&pattern, &list, &folder.name("site/b.html"), &again]).unwrap();
    assert_eq!(
        names(&folder, &resolved),
        ["crawl.warc", "site/a/index.htm", "site/b.html"]
    );
}

#[test]
fn an_input_that_cannot_be_found_is_an_error_with_a_hint() {
    let folder = site();
    folder.write("empty/x/.keep", b"");
    folder.write("list.json", b"[\n  {\"text\": \"a\"}\n]\n");
    folder.write("loop", format!("@{}", folder.name("loop")).as_bytes());
    for (specs, expected) in [
        (vec![folder.name("missing.warc")], "no such file or folder"),
        (vec![folder.name("*.none")], "no file matches this pattern"),
        (vec![folder.name("[")], "invalid pattern: "),
        (
            vec![folder.name("empty")],
            "the folder contains nothing to read",
        ),
        (
            vec![folder.name("site/data")],
            "the file contains neither text nor a known format",
        ),
        (
            vec![folder.name("site/pack.zip")],
            "an archive of files is not supported",
        ),
        (
            vec![folder.name("list.json")],
            "JSON that is not one object per line is not supported",
        ),
        (
            vec![format!("@{}", folder.name("missing"))],
            "no such file or folder",
        ),
        (
            vec![format!("@{}", folder.name("loop"))],
            "the list contains itself",
        ),
        (
            vec![format!("@{}", folder.name("empty/x/.keep"))],
            "the list is empty",
        ),
        (vec![], "no input was specified"),
        (
            vec![folder.name("site/data"), folder.name("site/pack.zip")],
            "nothing to read, only 1 binary",
        ),
    ] {
        let error = resolve(&specs, &Settings::default()).unwrap_err();
        let shown = error.to_string();
        assert!(shown.contains(expected), "{shown}");
        assert!(error.hint().is_some(), "{shown}");
    }
    let settings = Settings {
        base_url: Some("example.org".into()),
        ..Settings::default()
    };
    assert!(matches!(
        resolve(&[folder.name("site")], &settings),
        Err(Error::BadBaseUrl { .. })
    ));
}

#[test]
fn a_named_file_is_read_whatever_its_name() {
    let folder = site();
    folder.write("page", b"<!doctype html><p>Words");
    folder.write("list", b"{\"text\": \"words\"}\n");
    folder.write("zipped", &gzip(b"WARC/1.0\r\n"));
    folder.write("[odd]*", b"Words");
    let specs =
        ["site/style.css", "page", "list", "zipped", "[odd]*"].map(|name| folder.name(name));
    let resolved = resolve(&specs, &Settings::default()).unwrap();
    let formats: Vec<_> = resolved
        .inputs
        .iter()
        .map(|input| input.format.unwrap())
        .collect();
    assert_eq!(
        formats,
        [
            Format::Text,
            Format::JsonLines,
            Format::Html,
            Format::Text,
            Format::Warc
        ]
    );
    let settings = Settings {
        format: Some(Format::Html),
        ..Settings::default()
    };
    let resolved = resolve(&specs, &settings).unwrap();
    assert!(
        resolved
            .inputs
            .iter()
            .all(|input| input.format == Some(Format::Html))
    );
}

#[test]
fn the_url_of_a_file_is_its_path_or_below_the_base_url() {
    let folder = site();
    folder.write("site/größe & co.html", b"<p>Words");
    let outcomes = pages_of(&[folder.name("site/a")], &Settings::default()).unwrap();
    assert_eq!(outcomes[0].page().url, folder.name("site/a/index.htm"));
    let settings = Settings {
        base_url: Some("https://example.org/docs".into()),
        ..Settings::default()
    };
    let outcomes = pages_of(&[folder.name("site")], &settings).unwrap();
    let urls: Vec<_> = outcomes
        .iter()
        .map(|outcome| outcome.page().url.as_str())
        .collect();
    assert_eq!(
        urls,
        [
            "https://example.org/docs/a/index.htm",
            "https://example.org/docs/a/notes.txt",
            "https://example.org/docs/b.html",
            "https://example.org/docs/gr%C3%B6%C3%9Fe%20&%20co.html",
            "https://example.org/docs/readme",
        ]
    );
}

#[test]
fn single_pages_are_read_compressed_or_not_and_damage_is_reported() {
    let folder = Folder::new();
    let page = "<p>größe".repeat(1_000);
    folder.write("a.html", page.as_bytes());
    folder.write("b.html.gz", &gzip(page.as_bytes()));
    folder.write("c.html.gz", &gzip(page.as_bytes())[..50]);
    folder.write("d.html.gz", page.as_bytes());
    folder.write("e.txt", b"");
    folder.write(
        "f.xml",
        b"<?xml version='1.0' encoding='iso-8859-1'?><a>\xe9</a>",
    );
    let outcomes = pages_of(&[folder.name("")], &Settings::default()).unwrap();
    assert_eq!(outcomes[0].page().content, Content::Html(page.clone()));
    assert_eq!(outcomes[1].page().content, Content::Html(page.clone()));
    assert_eq!(
        outcomes[1].page().payload_sha1,
        outcomes[0].page().payload_sha1
    );
    assert!(
        matches!(&outcomes[2], Outcome::Skipped(skipped) if skipped.cause.name() == "truncated")
    );
    assert_eq!(outcomes[3].page().content, Content::Html(page));
    assert!(
        matches!(&outcomes[4], Outcome::Page(decoded) if decoded.reject.as_ref().unwrap().reason.name() == "empty")
    );
    let xml = "<?xml version='1.0' encoding='iso-8859-1'?><a>é</a>";
    assert_eq!(outcomes[5].page().content, Content::Html(xml.into()));
    assert_eq!(outcomes[5].page().mime.as_deref(), Some("application/xml"));
}

#[test]
fn a_file_over_the_limit_is_rejected() {
    let folder = Folder::new();
    let path = folder.write("a.txt", &[b'a'; 3_000]);
    let packed = folder.write("b.txt.gz", &gzip(&[b'a'; 3_000]));
    let mut settings = Settings::default();
    settings.limits.max_page_bytes = 2_999;
    for outcome in pages_of(&[path.clone(), packed.clone()], &settings).unwrap() {
        match outcome {
            Outcome::Page(decoded) => {
                assert_eq!(decoded.reject.unwrap().reason.name(), "too-large");
                assert_eq!(decoded.page.payload_bytes, 3_000);
            }
            other => panic!("{other:?}"),
        }
    }
    settings.limits.max_page_bytes = 3_000;
    for outcome in pages_of(&[path, packed], &settings).unwrap() {
        outcome.page();
    }
}

#[test]
fn compression_is_detected_by_content_not_by_name() {
    let folder = Folder::new();
    let record = response("http://a/", &["HTTP/1.1 200 OK"], b"<p>Words");
    for (name, bytes) in [
        ("a.warc", record.clone()),
        ("b.warc.gz", gzip(&record)),
        ("c.warc", gzip(&record)),
        ("d.warc.gz", record.clone()),
        ("e.warc.gz", [b"\0\0\0\0".to_vec(), gzip(&record)].concat()),
    ] {
        let path = folder.write(name, &bytes);
        let outcomes = pages_of(&[path], &Settings::default()).unwrap();
        assert_eq!(outcomes.last().unwrap().page().url, "http://a/", "{name}");
        assert_eq!(outcomes.len(), if name.starts_with('e') { 2 } else { 1 });
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_within_a_folder_and_out_of_it_only_on_request() {
    use std::os::unix::fs::symlink;
    let folder = site();
    symlink("..", folder.path("site/a/up")).unwrap();
    symlink(".", folder.path("site/again")).unwrap();
    symlink("nowhere", folder.path("site/dead.html")).unwrap();
    symlink("b.html", folder.path("site/z.html")).unwrap();
    folder.write("outside/c.html", b"<p>Words");
    symlink("../outside", folder.path("site/out")).unwrap();
    symlink("../outside/c.html", folder.path("site/secret.html")).unwrap();
    let resolved = found(&[&folder.name("site")]).unwrap();
    let within = [
        "site/a/index.htm",
        "site/a/notes.txt",
        "site/b.html",
        "site/readme",
        "site/z.html",
    ];
    assert_eq!(names(&folder, &resolved), within);
    let ignored = |cause| resolved.ignored.iter().find(|files| files.cause == cause);
    assert!(ignored(IgnoredCause::Unreadable).is_some());
    assert_eq!(ignored(IgnoredCause::Link).unwrap().count, 2);

    let follow = Settings {
        follow_links: true,
        ..Settings::default()
    };
    let resolved = cento_read::resolve(&[folder.name("site")], &follow).unwrap();
    let names = names(&folder, &resolved);
    assert!(names.contains(&"site/out/c.html".to_owned()), "{names:?}");
    assert!(names.contains(&"site/secret.html".to_owned()), "{names:?}");
}

#[test]
fn nested_lists_are_limited_in_depth_and_number_and_cycles_are_found() {
    let folder = site();
    // Each list names the next one twice: a billion lines, 30 lists deep.
    for depth in 0..30 {
        let next = folder.name(&format!("{}.list", depth + 1));
        let lines = format!("@{next}\n@{next}\n");
        folder.write(&format!("{depth}.list"), lines.as_bytes());
    }
    folder.write("30.list", folder.name("site").as_bytes());
    let error = found(&[&format!("@{}", folder.name("0.list"))]).unwrap_err();
    assert!(error.to_string().contains("more than 16 deep"), "{error}");
    let doubling = found(&[&format!("@{}", folder.name("16.list"))]).unwrap_err();
    assert!(
        doubling.to_string().contains("lists in total"),
        "{doubling}"
    );
    let few = found(&[&format!("@{}", folder.name("26.list"))]).unwrap();
    assert_eq!(few.inputs.len(), 4);
    folder.write("a.list", format!("@{}", folder.name("b.list")).as_bytes());
    folder.write("b.list", format!("@{}", folder.name("a.list")).as_bytes());
    assert!(found(&[&format!("@{}", folder.name("a.list"))]).is_err());
}

#[cfg(unix)]
#[test]
fn pipes_and_sparse_files_in_a_folder_are_ignored() {
    let folder = site();
    let made = std::process::Command::new("mkfifo")
        .arg(folder.path("site/pipe.html"))
        .status();
    assert!(made.unwrap().success());
    let sparse = std::fs::File::create(folder.path("site/hole.txt")).unwrap();
    // Some file systems do not support files of this size.
    let holed = sparse.set_len(5 << 40).is_ok();
    for spec in [folder.name("site"), folder.name("site/*")] {
        let resolved = found(&[&spec]).unwrap();
        let has = |cause| resolved.ignored.iter().any(|files| files.cause == cause);
        assert!(has(IgnoredCause::Special), "{spec}");
        assert!(has(IgnoredCause::Sparse) || !holed, "{spec}");
        let read = |name: &str| {
            resolved
                .inputs
                .iter()
                .any(|input| input.name.ends_with(name))
        };
        assert!(read("b.html") && !read("pipe.html"), "{spec}");
        assert!(!read("hole.txt") || !holed, "{spec}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_an_error_if_named_and_counted_if_found() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;
    let folder = site();
    set_permissions(folder.path("site/a"), Permissions::from_mode(0o000)).unwrap();
    set_permissions(folder.path("site/b.html"), Permissions::from_mode(0o000)).unwrap();
    // Root may read everything.
    if std::fs::read_dir(folder.path("site/a")).is_ok() {
        return;
    }
    let resolved = found(&[&folder.name("site")]).unwrap();
    assert_eq!(names(&folder, &resolved), ["site/readme"]);
    for name in ["site/a", "site/b.html"] {
        assert!(matches!(
            found(&[&folder.name(name)]),
            Err(Error::Permission { .. })
        ));
    }
}

#[cfg(unix)]
#[test]
fn the_format_of_a_pipe_is_detected_by_its_first_bytes() {
    let record = response("http://a/", &["HTTP/1.1 200 OK"], b"<p>Words");
    let folder = Folder::new();
    for (name, bytes, url) in [
        ("warc", record.clone(), "http://a/"),
        ("packed", gzip(&record), "http://a/"),
        (
            "lines",
            b"{\"text\": \"words\", \"url\": \"http://b/\"}\n".to_vec(),
            "http://b/",
        ),
        ("page", b"<html><p>Words".to_vec(), ""),
        ("text", b"Words".to_vec(), ""),
    ] {
        let path = folder.name(name);
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        if !made.is_ok_and(|status| status.success()) {
            return;
        }
        let writer = std::thread::spawn({
            let path = path.clone();
            move || {
                std::fs::write(&path, bytes).unwrap();
            }
        });
        let settings = Settings::default();
        let resolved = resolve(std::slice::from_ref(&path), &settings).unwrap();
        assert_eq!(resolved.inputs[0].format, None);
        let mut reader = resolved.inputs[0]
            .open(&settings, Start::default())
            .unwrap();
        let Some(cento_read::Item::Record(record)) = reader.next().unwrap() else {
            panic!("{name}")
        };
        let page = cento_read::decode(record, &settings).unwrap().page;
        assert_eq!(page.url, if url.is_empty() { &path } else { url });
        writer.join().unwrap();
    }
}
