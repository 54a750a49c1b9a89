//! Reading JSON Lines.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failure must end the test"
)]

mod common;

use cento_read::{Cause, Content, Error, Reject, Settings};
use common::{Folder, Outcome, archive::gzip, pages_of, settings_with};

fn pages(lines: &str, settings: &Settings) -> Vec<Outcome> {
    let folder = Folder::new();
    let path = folder.write("in.jsonl", lines.as_bytes());
    pages_of(&[path], settings).unwrap()
}

#[test]
fn fields_have_usual_names() {
    let outcomes = pages(
        r#"{"text": "one", "url": "http://a/1", "title": "T", "date": "2020-01-02", "language": "en", "other": {"text": 1}}
{"content": "two", "link": "http://a/2", "timestamp": 1577923200}
{"html": "<p>three", "id": 3, "ip": "192.0.2.1"}
{"body": "four"}
"#,
        &Settings::default(),
    );
    let [one, two, three, four] = &outcomes[..] else {
        panic!("{outcomes:?}")
    };
    let one = one.page();
    assert_eq!(one.content, Content::Text("one".into()));
    assert_eq!(one.url, "http://a/1");
    assert_eq!(one.title.as_deref(), Some("T"));
    assert_eq!(one.published.as_deref(), Some("2020-01-02"));
    assert_eq!(one.language.as_deref(), Some("en"));
    assert_eq!(two.page().url, "http://a/2");
    assert_eq!(
        two.page().published.as_deref(),
        Some("2020-01-02T00:00:00Z")
    );
    assert_eq!(three.page().content, Content::Html("<p>three".into()));
    assert_eq!(three.page().url, "3");
    assert_eq!(three.page().ip.as_deref(), Some("192.0.2.1"));
    assert!(
        four.page().url.ends_with("in.jsonl#3"),
        "{}",
        four.page().url
    );
}

#[test]
fn fields_can_be_named_and_nested() {
    let settings = settings_with(&[
        "text=doc.body",
        "url=meta.where.url",
        "date=when.it.was",
        "title=doc.body",
    ]);
    let outcomes = pages(
        r#"{"meta": {"n": [1, {"url": "no"}], "where": {"url": "http://a/"}}, "doc": {"body": "words"}, "when.it.was": "then", "text": "no"}
"#,
        &settings,
    );
    let page = outcomes[0].page();
    assert_eq!(page.content, Content::Text("words".into()));
    assert_eq!(page.url, "http://a/");
    assert_eq!(page.published.as_deref(), Some("then"));
    assert_eq!(page.title.as_deref(), Some("words"));
}

#[test]
fn a_field_named_for_html_is_used_instead_of_text() {
    let outcomes = pages(
        "{\"text\": \"no\", \"page\": \"<p>yes\"}\n",
        &settings_with(&["html=page"]),
    );
    assert_eq!(outcomes[0].page().content, Content::Html("<p>yes".into()));
}

#[test]
fn invalid_lines_are_skipped_with_a_cause() {
    let long = format!("{{\"text\": \"{}\"}}\n", "a".repeat(3_000));
    let lines = format!(
        "{{\"text\": \"good\"}}\nnot json\n{{\"text\": \"cut\n[1]\n\n{{\"url\": \"http://a/\"}}\n{{\"text\": null}}\n{{\"text\": [\"a\"]}}\n{long}{{\"text\": \"\"}}\n{{\"text\": \"a\"}} b\n{{\"text\": \"last\"}}"
    );
    let mut settings = Settings::default();
    settings.limits.max_line_bytes = 2_000;
    let seen: Vec<_> = pages(&lines, &settings)
        .iter()
        .map(|outcome| match outcome {
            Outcome::Page(decoded) => decoded
                .reject
                .as_ref()
                .map_or("page", |reject| reject.reason.name()),
            Outcome::Skipped(skipped) => skipped.cause.name(),
            Outcome::Ignored(ignored) => ignored.kind.name(),
        })
        .collect();
    let (bad, missing) = (Cause::BadJson.name(), Cause::MissingField.name());
    assert_eq!(
        seen,
        [
            "page",
            bad,
            bad,
            bad,
            "blank",
            missing,
            missing,
            missing,
            Cause::LineTooLong.name(),
            Reject::Empty.name(),
            bad,
            "page"
        ]
    );
}

#[test]
fn text_with_invalid_characters_is_kept() {
    let folder = Folder::new();
    let lines =
        b"\xef\xbb\xbf{\"text\": \"cut \\ud83d emoji\", \"n\": 1}\n{\"text\": \"caf\xe9\"}\n";
    let path = folder.write("in.jsonl", lines);
    let outcomes = pages_of(&[path], &Settings::default()).unwrap();
    let text = |at: usize| match &outcomes[at].page().content {
        Content::Text(text) => text.clone(),
        other => panic!("{other:?}"),
    };
    assert!(
        text(0).starts_with("cut \u{fffd}") && text(0).ends_with(" emoji"),
        "{}",
        text(0)
    );
    assert_eq!(text(1), "caf\u{fffd}");
}

#[test]
fn a_field_that_does_not_occur_is_an_error_that_lists_the_fields() {
    let folder = Folder::new();
    let path = folder.write(
        "in.jsonl",
        b"{\"text\": \"a\", \"meta\": {\"url\": \"b\"}}\n{\"text\": \"text2\"}\n",
    );
    let error = pages_of(
        std::slice::from_ref(&path),
        &settings_with(&["date=published"]),
    )
    .unwrap_err();
    assert!(matches!(&error, Error::NoSuchField { field, .. } if field == "published"));
    assert_eq!(
        error.hint().unwrap(),
        "name another with --field date=NAME; it has: meta.url, text"
    );
    let error = pages_of(std::slice::from_ref(&path), &settings_with(&["text=text2"])).unwrap_err();
    assert!(matches!(error, Error::NoSuchField { .. }));

    let other = folder.write("other.jsonl", b"{\"words\": \"a\"}\n");
    let error = pages_of(&[other], &Settings::default()).unwrap_err();
    assert!(matches!(&error, Error::NoTextField { found, .. } if found == &["words"]));

    // A field may occur late, and its name may be written with escapes.
    let mut lines = "{\"text\": \"a\"}\n".repeat(1_500);
    lines.push_str("{\"text\": \"a\", \"\\u0434\\u0430\\u0442\\u0430\": \"b\"}\n");
    let late = folder.write("late.jsonl", lines.as_bytes());
    let outcomes = pages_of(&[late], &settings_with(&["date=дата"])).unwrap();
    assert_eq!(outcomes[1_500].page().published.as_deref(), Some("b"));
}

#[test]
fn a_wrong_name_for_the_text_is_found_before_the_whole_input_is_read() {
    let folder = Folder::new();
    let lines = "{\"text\": \"a\"}\n".repeat(100_000);
    let path = folder.write("in.jsonl", lines.as_bytes());
    let settings = settings_with(&["text=body"]);
    let resolved = cento_read::resolve(&[path], &settings).unwrap();
    let mut reader = resolved.inputs[0]
        .open(&settings, Default::default())
        .unwrap();
    let mut records = 0;
    let error = loop {
        match reader.next() {
            Ok(_) => records += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::NoSuchField { .. }));
    assert!(records < 2_000);
}

#[test]
fn gzip_lines_are_read_in_any_number_of_members_and_up_to_damage() {
    let folder = Folder::new();
    let lines: Vec<_> = (0..2_000)
        .map(|at| format!("{{\"text\": \"{at} words\"}}\n"))
        .collect();
    let all = lines.concat();
    let texts = |path: &str| -> Vec<_> {
        pages_of(&[path.to_owned()], &Settings::default())
            .unwrap()
            .into_iter()
            .map(|outcome| match outcome {
                Outcome::Page(decoded) => match decoded.page.content {
                    Content::Text(text) => text,
                    other => panic!("{other:?}"),
                },
                Outcome::Skipped(skipped) => skipped.cause.name().to_owned(),
                Outcome::Ignored(_) => panic!("ignored"),
            })
            .collect()
    };
    let expected: Vec<_> = (0..2_000).map(|at| format!("{at} words")).collect();
    let one = folder.write("one.jsonl.gz", &gzip(all.as_bytes()));
    assert_eq!(texts(&one), expected);
    let pieces: Vec<_> = all.as_bytes().chunks(777).flat_map(gzip).collect();
    let many = folder.write("many.jsonl.gz", &pieces);
    assert_eq!(texts(&many), expected);
    let mut damaged: Vec<_> = lines
        .chunks(100)
        .flat_map(|lines| gzip(lines.concat().as_bytes()))
        .collect();
    let at = damaged.len() / 2;
    damaged[at..at + 40].fill(0);
    let damaged = texts(&folder.write("damaged.jsonl.gz", &damaged));
    assert_eq!(
        damaged.iter().filter(|text| text.ends_with("gzip")).count(),
        1
    );
    assert!(damaged.len() > 1_800 && damaged.last() == expected.last());
    let whole = gzip(all.as_bytes());
    let cut = texts(&folder.write("cut.jsonl.gz", &whole[..whole.len() / 2]));
    assert_eq!(cut.last().unwrap(), "truncated");
    assert_eq!(cut[..cut.len() - 1], expected[..cut.len() - 1]);
}

#[test]
fn reading_resumes_after_any_line() {
    let folder = Folder::new();
    let lines = "{\"text\": \"one\"}\n\nbad\n{\"text\": \"two\"}\r\n{\"text\": \"three\"}";
    for (name, bytes) in [
        ("in.jsonl", lines.as_bytes().to_vec()),
        ("in.jsonl.gz", gzip(lines.as_bytes())),
    ] {
        let path = folder.write(name, &bytes);
        common::assert_resumes(&path, &Settings::default(), 5);
    }
}
