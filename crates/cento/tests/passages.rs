//! `cento passages`.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod support;

use support::{Archive, Sandbox};

use serde_json::Value;

/// A passage of 54 words with letters outside ASCII.
const PASSAGE: &str = "The committee decided to close the old bridge over the Öresund until the \
    engineers have finished their report, because two of its pillars are cracked — nobody knows for \
    how long they will carry the weight of the traffic — and the ferry, which was to be sold in \
    spring, will run every twenty minutes instead.";

fn objects(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn place(row: &Value, name: &str) -> usize {
    usize::try_from(row[name].as_u64().unwrap()).unwrap()
}

#[test]
fn offsets_in_a_text_file_are_those_of_the_file() {
    let sandbox = Sandbox::new();
    let a = format!("\u{feff}Erste Zeile: Zwölf Füße.\r\n\r\n{PASSAGE}\r\nLetzte Zeile.\r\n");
    let b = format!("日本語の文章。\n\n{PASSAGE}\n");
    sandbox.write("a.txt", &a);
    sandbox.write("b.txt", &b);
    let rows = objects(&sandbox.succeed(&["passages", "a.txt", "b.txt", "--json"]));
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    let keys: Vec<&str> = row
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let mut expected = [
        "a",
        "b",
        "a_begin",
        "a_end",
        "b_begin",
        "b_end",
        "a_begin_char",
        "a_end_char",
        "b_begin_char",
        "b_end_char",
        "words",
        "b_words",
        "identical",
        "a_in_b",
        "b_in_a",
        "kind",
    ];
    expected.sort_unstable();
    assert_eq!(keys, expected);
    for (text, side) in [(&a, "a"), (&b, "b")] {
        let begin = place(row, &format!("{side}_begin"));
        let end = place(row, &format!("{side}_end"));
        assert_eq!(&text[begin..end], PASSAGE);
        let begin = place(row, &format!("{side}_begin_char"));
        let end = place(row, &format!("{side}_end_char"));
        let chars: String = text.chars().skip(begin).take(end - begin).collect();
        assert_eq!(chars, PASSAGE);
    }
    assert_eq!(
        (row["kind"].as_str(), row["words"].as_u64()),
        (Some("verbatim"), Some(54))
    );
}

#[test]
fn html_is_compared_by_its_visible_text() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "a.html",
        format!("<html><body><h1>News</h1><p>{PASSAGE}</p></body></html>"),
    );
    sandbox.write("b.txt", format!("Something else.\n{PASSAGE}\n"));
    let rows = objects(&sandbox.succeed(&["passages", "a.html", "b.txt", "--json"]));
    assert_eq!(rows.len(), 1);
    assert_eq!(place(&rows[0], "a_begin"), "News\n\n".len());
}

#[test]
fn differing_words_are_marked_without_colour_in_a_pipe() {
    let sandbox = Sandbox::new();
    let edited = PASSAGE
        .replace("cracked", "broken")
        .replace("twenty", "thirty");
    sandbox.write("a.txt", PASSAGE);
    sandbox.write("b.txt", edited);
    let text = sandbox.succeed(&["passages", "a.txt", "b.txt"]);
    assert!(!text.contains('\u{1b}'), "{text}");
    for word in ["[cracked]", "[broken]", "[twenty]", "[thirty]", "54 words"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let tei = sandbox.succeed(&["passages", "a.txt", "b.txt", "--print", "tei"]);
    assert!(tei.contains("<hi rend=\"differing\">cracked</hi>"), "{tei}");
    let csv = sandbox.succeed(&["passages", "a.txt", "b.txt", "--print", "csv"]);
    assert!(csv.starts_with("a,b,a_begin,a_end,b_begin"), "{csv}");
    sandbox.write("c.txt", "Nothing of this.");
    let none = sandbox.succeed(&["passages", "a.txt", "c.txt"]);
    assert!(
        none.contains(
            "No passage of at least 160 characters was found. Use --min-chars to find shorter ones."
        ),
        "{none}"
    );
}

#[test]
fn ocr_noise_is_tolerated_on_request() {
    let sandbox = Sandbox::new();
    let noisy = PASSAGE
        .replace("engineers", "engi-\nneers")
        .replace("close", "c1ose")
        .replace("the", "tbe")
        .replace("carry", "cany")
        .replace("bridge", "hridge")
        .replace("pillars", "piliars")
        .replace("committee", "comm ittee")
        .replace("traffic", "traf fic")
        .replace("minutes", "min\nutes");
    sandbox.write("clean.txt", PASSAGE);
    sandbox.write("scan.txt", noisy);
    let share = |more: &[&str]| {
        let arguments = [&["passages", "scan.txt", "clean.txt", "--json"][..], more].concat();
        let rows = objects(&sandbox.succeed(&arguments));
        rows.iter()
            .map(|row| row["identical"].as_f64().unwrap())
            .fold(0.0, f64::max)
    };
    // "cany" is not read as "carry": the letters are too different.
    assert!((0.95..1.0).contains(&share(&["--fold", "ocr"])));
    assert!(share(&[]) < 0.8);
}

/// Three pages with the passage, two of them dated, and one without it.
fn corpus() -> Sandbox {
    let sandbox = Sandbox::new();
    let page = |url: &str, text: &str, date: Option<&str>| {
        let line = serde_json::json!({ "url": url, "text": text, "date": date, "extra": [1, 2] });
        format!("{line}\n")
    };
    let lines = [
        page(
            "http://late.example/x",
            &format!("They wrote this. {PASSAGE} So it is."),
            Some("2020-05-01"),
        ),
        page(
            "http://early.example/y",
            &format!("{PASSAGE} It rained."),
            Some("2019-03-02"),
        ),
        page(
            "http://other.example/z",
            "An unrelated page about sheep, and about cheap ships.",
            Some("2018-01-01"),
        ),
        page(
            "http://undated.example/w",
            &format!("No date here. {PASSAGE}"),
            None,
        ),
    ];
    sandbox.write("pages.jsonl", lines.concat());
    sandbox.succeed(&["index", "pages.jsonl", "-o", "x.cento"]);
    sandbox
}

#[test]
fn the_direction_of_passages_of_a_corpus_follows_dates() {
    let sandbox = corpus();
    let rows = objects(&sandbox.succeed(&["passages", "x.cento", "--json"]));
    assert_eq!(rows.len(), 3);
    let row = rows
        .iter()
        .find(|row| row["a"] == "http://late.example/x" && row["earlier"] == "b")
        .unwrap();
    assert_eq!(row["b"], "http://early.example/y");
    assert_eq!(row["b_dated_by"], "published");
    // Plain text has no links.
    assert_eq!(row["attributed"], Value::Null);
    assert_eq!(
        rows.iter()
            .filter(|row| row["earlier"] == "unknown")
            .count(),
        2
    );
    let of = [
        "passages",
        "x.cento",
        "--of",
        "http://early.example/y",
        "--json",
    ];
    assert_eq!(objects(&sandbox.succeed(&of)).len(), 2);
    sandbox.write(
        "pairs.csv",
        "page,of\r\nhttp://late.example/x,http://early.example/y\r\n",
    );
    let listed = ["passages", "x.cento", "--pairs", "pairs.csv", "--json"];
    assert_eq!(objects(&sandbox.succeed(&listed)).len(), 1);
    let text = sandbox.succeed(&["passages", "x.cento"]);
    assert!(text.contains("3 verbatim, 0 edited, 0 scattered"), "{text}");
    assert!(
        text.contains("The second page was published earlier than the first (published 2019-03-02"),
        "{text}"
    );
}

#[test]
fn a_travelling_passage_is_one_cluster_with_a_figure() {
    let sandbox = corpus();
    let arguments = [
        "passages",
        "x.cento",
        "--clusters",
        "--figures",
        "figures",
        "--json",
    ];
    let rows = objects(&sandbox.succeed(&arguments));
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["first"], "http://early.example/y");
    assert_eq!(
        (rows[0]["pages"].as_u64(), rows[0]["sites"].as_u64()),
        (Some(3), Some(3))
    );
    let figure = std::fs::read_to_string(sandbox.path("figures/passage-spread.csv")).unwrap();
    assert_eq!(figure.lines().count(), 3, "{figure}");
}

#[test]
fn stripped_inputs_keep_the_first_appearance_only() {
    let sandbox = corpus();
    sandbox.succeed(&["passages", "x.cento", "--strip", "-o", "stripped"]);
    let text = std::fs::read_to_string(sandbox.path("stripped/pages.jsonl")).unwrap();
    let pages = objects(&text);
    let texts: Vec<&str> = pages
        .iter()
        .map(|page| page["text"].as_str().unwrap())
        .collect();
    assert_eq!(texts[0], "They wrote this. So it is.");
    assert_eq!(texts[1], format!("{PASSAGE} It rained."));
    assert_eq!(texts[3], "No date here.");
    assert!(
        pages
            .iter()
            .all(|page| page["extra"] == serde_json::json!([1, 2]))
    );
    let cuts = std::fs::read_to_string(sandbox.path("stripped/cuts.csv")).unwrap();
    // The undated page shares the passage with both others: two rows, one stretch.
    assert_eq!(cuts.lines().count(), 1 + 3, "{cuts}");
    // Existing files are not replaced.
    assert!(
        sandbox
            .run(&["passages", "x.cento", "--strip", "-o", "stripped"])
            .contains("already exists")
    );
}

#[test]
fn text_and_html_files_are_stripped() {
    let sandbox = Sandbox::new();
    let own = "Some words of introduction that are only here and nowhere else.";
    sandbox.write("site/a.txt", format!("{PASSAGE} End of it."));
    sandbox.write("site/b.txt", format!("{own} {PASSAGE}"));
    sandbox.write(
        "site/c.html",
        format!("<html><body><p>1 &lt; 2</p><p>{PASSAGE}</p></body></html>"),
    );
    sandbox.succeed(&["index", "site", "-o", "x.cento"]);
    sandbox.succeed(&["passages", "x.cento", "--strip", "-o", "out"]);
    let read = |name: &str| std::fs::read_to_string(sandbox.path(name)).unwrap();
    assert_eq!(read("out/a.txt"), format!("{PASSAGE} End of it."));
    assert_eq!(read("out/b.txt"), own);
    assert!(read("out/c.html").ends_with("<p>1 &lt; 2</p>\n"));
}

#[test]
fn archives_are_stripped_record_by_record() {
    let own = "Some words of introduction that are only here and nowhere else, at least so far.";
    for name in ["crawl.warc", "crawl.warc.gz", "whole.warc.gz"] {
        let sandbox = Sandbox::new();
        let mut archive = match name {
            "crawl.warc.gz" => Archive::gzip(),
            _ => Archive::default(),
        };
        archive.page("http://one.example/", &format!("<p>{PASSAGE}</p>"));
        archive.page(
            "http://two.example/",
            &format!("<p>{own}</p><p>{PASSAGE}</p>"),
        );
        archive.page(
            "http://three.example/",
            "<p>A third page, which stays as it is.</p>",
        );
        let bytes = match name {
            // All records in one member, which has to be divided.
            "whole.warc.gz" => gzip(&archive.bytes),
            _ => archive.bytes,
        };
        sandbox.write(&format!("in/{name}"), bytes);
        sandbox.succeed(&["index", "in", "-o", "x.cento"]);
        sandbox.succeed(&["passages", "x.cento", "--strip", "-o", "out"]);
        sandbox.succeed(&["index", "out", "-o", "y.cento"]);
        let third = "A third page, which stays as it is.";
        for (host, text) in [("one", PASSAGE), ("two", own), ("three", third)] {
            let url = format!("http://{host}.example/");
            let rows = objects(&sandbox.succeed(&["cat", "y.cento", "--url", &url, "--json"]));
            assert_eq!(rows[0]["text"], text, "{name}");
        }
        let folder = std::fs::read_dir(sandbox.path("out")).unwrap();
        assert_eq!(folder.count(), 2, "{name}: the archive and cuts.csv");
        // Nothing is left to strip.
        let rows = sandbox.succeed(&["passages", "y.cento", "--json"]);
        assert_eq!(rows, "");
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn pairs_come_from_the_tables_of_other_analyses() {
    let sandbox = corpus();
    for (analysis, more) in [
        ("reuse", &[][..]),
        ("overlap", &[]),
        ("copies", &["--rule", "resemblance", "--resemblance", "0.5"]),
        ("passages", &[]),
    ] {
        for ending in ["csv", "jsonl", "parquet"] {
            let table = format!("{analysis}.{ending}");
            let arguments = [&[analysis, "x.cento", "--out", &table][..], more].concat();
            sandbox.succeed(&arguments);
            let rows = sandbox.succeed(&["passages", "x.cento", "--pairs", &table, "--json"]);
            let rows = objects(&rows);
            match analysis {
                "reuse" | "passages" => assert_eq!(rows.len(), 3, "{table}"),
                _ => assert!(rows.len() <= 3, "{table}"),
            }
        }
    }
}

#[test]
fn a_page_that_was_published_before_another_was_fetched_need_not_be_earlier() {
    let sandbox = Sandbox::new();
    // `Archive` says that it was fetched in 2024.
    let mut archive = Archive::default();
    archive.page(
        "http://fetched.example/",
        &format!("<p>{PASSAGE}</p><p>One.</p>"),
    );
    sandbox.write("in/crawl.warc", archive.bytes);
    let dated = |name: &str, date: &str| {
        let html = format!("<p>{PASSAGE}</p><p>Of {name}.</p>");
        let url = format!("http://{name}.example/");
        serde_json::json!({ "url": url, "html": html, "date": date })
    };
    sandbox.write(
        "in/pages.jsonl",
        format!(
            "{}\n{}\n",
            dated("old", "1999-01-01"),
            dated("new", "2090-01-01")
        ),
    );
    sandbox.succeed(&["index", "in", "-o", "x.cento"]);
    let rows = objects(&sandbox.succeed(&["passages", "x.cento", "--json"]));
    let mut found: Vec<(&str, &str, &str)> = rows
        .iter()
        .map(|row| {
            let text = |name: &str| row[name].as_str().unwrap();
            (text("a"), text("b"), text("earlier"))
        })
        .collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            ("http://fetched.example/", "http://old.example/", "unknown"),
            ("http://new.example/", "http://fetched.example/", "b"),
            ("http://new.example/", "http://old.example/", "b"),
        ]
    );
    let text = sandbox.succeed(&["passages", "x.cento"]);
    for sentence in [
        "The second page was fetched before the first was published (fetched 20",
        "Their dates do not say which is earlier (fetched 20",
        "The second page was published earlier than the first (published 1999 or 1999-01-01;",
    ] {
        assert!(text.contains(sentence), "{sentence}: {text}");
    }
}

#[test]
fn a_passage_is_attributed_if_the_later_page_links_to_the_earlier() {
    let sandbox = Sandbox::new();
    let early = serde_json::json!({
        "url": "http://one.example/p", "text": PASSAGE, "date": "2019-01-01"
    });
    let html = format!("<p>{PASSAGE}</p><p>As <a href='http://one.example/p'>they</a> say.</p>");
    let late = serde_json::json!({
        "url": "http://two.example/q", "html": html, "date": "2020-01-01"
    });
    sandbox.write("pages.jsonl", format!("{early}\n{late}\n"));
    sandbox.succeed(&["index", "pages.jsonl", "-o", "x.cento"]);
    let rows = objects(&sandbox.succeed(&["passages", "x.cento", "--json"]));
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["attributed"], true);
}

#[test]
fn options_of_a_corpus_are_refused_for_two_files() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", PASSAGE);
    for option in [
        &["--clusters"][..],
        &["--all"],
        &["--threads", "2"],
        &["--again"],
    ] {
        let arguments = [&["passages", "a.txt", "a.txt"][..], option].concat();
        assert!(
            sandbox.run(&arguments).contains("has no effect"),
            "{option:?}"
        );
    }
    assert!(
        sandbox
            .run(&["passages", "a.txt"])
            .contains("a second file is missing")
    );
}

#[test]
fn each_side_has_its_own_share_of_common_words() {
    let sandbox = Sandbox::new();
    let own = "Nobody was told why in all those years before, alas.";
    sandbox.write("a.txt", format!("{PASSAGE} {own}"));
    sandbox.write(
        "b.txt",
        PASSAGE.replace("because", &format!("{own} because")),
    );
    let edited = PASSAGE.replace(" until the engineers have finished their report", "");
    sandbox.write("c.txt", &edited);
    let rows = objects(&sandbox.succeed(&["passages", "a.txt", "c.txt", "--json"]));
    let row = &rows[0];
    let (words, b_words) = (place(row, "words"), place(row, "b_words"));
    assert_eq!((words, b_words), (54, 47));
    // All words of the second are in the first.
    assert_eq!(row["b_in_a"], 1.0);
    assert_eq!(row["a_in_b"], 47.0 / 54.0);
    let identical = row["identical"].as_f64().unwrap();
    assert!((identical - 2.0 * 47.0 / (54.0 + 47.0)).abs() < 1e-9);
    let text = sandbox.succeed(&["passages", "a.txt", "c.txt"]);
    let line =
        "54 words of A and 47 of B: 87.0 % of those of A are in B, 100.0 % of those of B in A";
    assert!(text.contains(line), "{text}");
    let text = sandbox.succeed(&["passages", "a.txt", "a.txt"]);
    assert!(text.contains("words, all of them on both sides"), "{text}");
}

#[test]
fn what_is_cut_is_listed_by_stretch_with_its_duplicates() {
    let sandbox = Sandbox::new();
    let line = |url: &str, text: &str, date: Option<&str>| {
        format!(
            "{}\n",
            serde_json::json!({ "url": url, "text": text, "date": date })
        )
    };
    let own = "Some words of introduction that are only here and nowhere else.";
    let edited = PASSAGE
        .replace("committee", "council")
        .replace("engineers", "builders")
        .replace("pillars", "columns")
        .replace("ferry", "boat")
        .replace("twenty", "thirty")
        .replace("nobody", "no one");
    let copied = format!("{own} {PASSAGE}");
    let pages = [
        line("http://undated.example/", PASSAGE, None),
        line(
            "http://first.example/",
            &format!("{PASSAGE} End."),
            Some("2001-02-03"),
        ),
        line("http://copy.example/1", &copied, Some("2002-02-03")),
        line("http://copy.example/2", &copied, Some("2003-02-03")),
        line(
            "http://edited.example/",
            &format!("It rains. {edited} It rained."),
            Some("2004-05-06"),
        ),
    ];
    sandbox.write("pages.jsonl", pages.concat());
    let output = sandbox.run(&["passages", "pages.jsonl", "--strip", "-o", "out"]);
    for said in [
        "3 stretches of text cut from 3 pages, see cuts.csv; 1 page has no text left",
        "dates do not decide which page is earlier for 2 of 4 passages in cuts.csv",
    ] {
        assert!(output.contains(said), "{said}: {output}");
    }
    let read = |name: &str| std::fs::read_to_string(sandbox.path(name)).unwrap();
    let texts = |folder: &str| -> Vec<String> {
        let pages = objects(&read(&format!("{folder}/pages.jsonl")));
        let text = |page: &Value| page["text"].as_str().unwrap().to_owned();
        pages.iter().map(text).collect()
    };
    let kept = texts("out");
    assert_eq!(kept[0], "");
    assert_eq!(kept[1], format!("{PASSAGE} End."));
    assert_eq!([&kept[2], &kept[3]], [own, own]);
    assert!(kept[4].contains("builders"), "{}", kept[4]);
    // What was kept is what no range of the table has.
    let cuts = read("out/cuts.csv");
    let heading = cuts.lines().next().unwrap();
    assert!(heading.starts_with("page_id,page,begin,end,cut_begin,cut_end,copy_of,kept_id"));
    for line in cuts.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |at: usize| cells[at].parse::<usize>().unwrap();
        let page: Value = serde_json::from_str(&pages[number(0)]).unwrap();
        let text = page["text"].as_str().unwrap();
        assert_eq!(page["url"], cells[1]);
        let rest = format!("{}{}", &text[..number(4)], &text[number(5)..]);
        assert_eq!(rest.trim(), kept[number(0)], "{line}");
        assert!(number(4) <= number(2) && number(3) <= number(5), "{line}");
        assert_eq!(cells[6], if number(0) == 3 { "2" } else { "" });
    }
    let all = [
        "passages",
        "pages.jsonl",
        "--strip",
        "--strip-kinds",
        "verbatim,edited",
        "-o",
        "all",
    ];
    sandbox.succeed(&all);
    assert!(!texts("all")[4].contains("builders"), "{:?}", texts("all"));
}

#[test]
fn a_first_page_is_named_with_the_kind_of_its_date() {
    let mut archive = Archive::default();
    for host in ["one", "two", "three"] {
        let text = format!("<p>Only on {host}: {host} and {host} again.</p><p>{PASSAGE}</p>");
        archive.page(&format!("http://{host}.example/"), &text);
    }
    let sandbox = Sandbox::new();
    sandbox.write("crawl.warc", archive.bytes);
    let text = sandbox.succeed(&["passages", "crawl.warc", "--clusters"]);
    assert!(text.contains("fetched 20"), "{text}");
    assert!(!text.contains("first date"), "{text}");
    // All were fetched at one moment.
    assert!(text.contains("unknown"), "{text}");
    let rows = objects(&sandbox.succeed(&["passages", "crawl.warc", "--clusters", "--json"]));
    assert_eq!(rows[0]["first_decided"], false);
    assert_eq!(rows[0]["last_dated_by"], "fetched");
}

#[test]
fn a_note_says_when_offsets_are_not_those_of_the_file() {
    let sandbox = Sandbox::new();
    let text = format!("Zwölf Füße. {PASSAGE}\n");
    sandbox.write("a.txt", &text);
    let letters = std::iter::once('\u{feff}').chain(text.chars());
    let little: Vec<u8> = letters
        .clone()
        .flat_map(|letter| u32::from(letter).to_le_bytes())
        .collect();
    let big: Vec<u8> = letters
        .flat_map(|letter| u32::from(letter).to_be_bytes())
        .collect();
    sandbox.write("little.txt", little);
    sandbox.write("big.txt", big);
    for name in ["little.txt", "big.txt"] {
        let output = sandbox.run(&["passages", name, "a.txt"]);
        let note =
            format!("note: offsets in {name} are those of the decoded text, not of the file\n");
        assert!(output.contains(&note), "{output}");
        let rows = objects(&sandbox.succeed(&["passages", name, "a.txt", "--json"]));
        assert_eq!(rows[0]["words"], 56, "{rows:?}");
        assert_eq!(rows[0]["kind"], "verbatim");
    }
    let mut invalid = text.repeat(9).into_bytes();
    invalid.insert(1600, 0xe9);
    sandbox.write("invalid.txt", invalid);
    let output = sandbox.run(&["passages", "invalid.txt", "a.txt"]);
    let note = "decoded text, not of the file (byte 1,600 is not valid UTF-8)";
    assert!(output.contains(note), "{output}");
    assert!(
        !sandbox
            .run(&["passages", "a.txt", "a.txt"])
            .contains("note:")
    );
}

#[test]
fn a_minimum_of_no_characters_is_refused_in_words() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", PASSAGE);
    let output = sandbox.run(&["passages", "a.txt", "a.txt", "--min-chars", "0"]);
    assert!(output.contains("the least is 1"), "{output}");
}

#[test]
fn long_names_keep_their_end() {
    let sandbox = Sandbox::new();
    let folder = "a/very/long/path/to/the/works/of/an/author/of/many/books";
    for name in ["remembrance-first.txt", "remembrance-second.txt"] {
        sandbox.write(&format!("{folder}/{name}"), PASSAGE);
    }
    let [a, b] = ["first", "second"].map(|name| format!("{folder}/remembrance-{name}.txt"));
    let text = sandbox.succeed(&["passages", &a, &b]);
    for end in ["…/remembrance-first.txt", "…/remembrance-second.txt"] {
        assert!(text.contains(end), "{text}");
    }
}
