//! `cento index`, `info` and `cat`: everything that the real binary prints.

mod support;

use support::{Archive, Random, Sandbox, assert_same, contents};

use insta::assert_snapshot;

/// A small folder of pages in several languages and other files.
fn folder() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox
        .write("docs/en.html", "<html lang=en><title>Patchwork</title><body><h1>Patchwork</h1><p>A garment stitched from patches.\
            <p>A poem made of other poets&rsquo; lines. <a href='de.html'>German</a> <a href='https://www.example.co.uk/x#y'>UK</a>")
        .write("docs/de.html", "<html lang=de-AT><meta charset=utf-8><meta property='article:published_time' content='2024-03-05T08:00:00+01:00'>\
            <title>Flickwerk</title><p>Ein Gewand aus Flicken, groß und bunt.</p><div>Noch ein Absatz.</div>")
        .write("docs/zh.html", "<html lang=zh><meta charset=gb18030><title>\u{b0d9}</title>")
        .write("docs/zh.html", b"<html lang=zh><meta charset=gb2312><title>\xd6\xd0\xce\xc4</title><p>\xb0\xd9\xbc\xd2\xd2\xc2\xca\xc7\xd3\xc3\xcb\xe9\xb2\xbc\xc6\xb4\xb3\xc9\xb5\xc4\xa1\xa3".as_slice())
        .write("docs/notes/plain.txt", "First paragraph,\nof two lines.\n\n\nSecond paragraph.\n")
        .write("docs/notes/empty.txt", " \n\n")
        .write("docs/picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice());
    sandbox
}

#[test]
fn a_folder_is_indexed() {
    let sandbox = folder();
    assert_snapshot!(sandbox.run(&["index", "docs", "-o", "docs.cento"]));
    assert_snapshot!(sandbox.run(&["info", "docs.cento"]));
    assert_snapshot!(sandbox.run(&["info", "docs.cento", "--json", "--verify"]));
    assert_snapshot!(sandbox.run(&["cat", "docs.cento", "--url", "docs/en.html"]));
    assert_snapshot!(sandbox.run(&["cat", "docs.cento", "--url", "docs/zh.html", "--chunks"]));
    assert_snapshot!(sandbox.run(&[
        "cat",
        "docs.cento",
        "--url",
        "docs/de.html",
        "--chunks",
        "--json"
    ]));
}

#[test]
fn a_corpus_is_not_made_at_an_address() {
    let sandbox = folder();
    for verb in ["index", "scan"] {
        let printed = sandbox.run(&[verb, "docs", "-o", "s3://bucket/docs.cento"]);
        let error = "error: s3://bucket/docs.cento is an address, and a corpus is a folder";
        assert!(printed.contains(error), "{printed}");
    }
    assert!(!sandbox.path("s3:").exists());
}

#[test]
fn files_that_are_not_text_are_ignored() {
    let sandbox = Sandbox::new();
    sandbox
        .write("mixed/model.json", "{\"weights\": [1, 2, 3]}\n")
        .write("mixed/notes.md", "# Notes\n\nSome text.")
        .write("mixed/broken.parquet", "PAR1 and nothing more")
        .write("mixed/zeros.bin", vec![0; 1000])
        .write("mixed/.hidden/secret.txt", "not for reading")
        .write("mixed/main.rs", "fn main() { println!(\"text too\"); }");
    assert_snapshot!(sandbox.run(&["index", "mixed", "-o", "mixed.cento"]));
}

#[test]
fn a_corpus_inside_its_input_folder_is_not_indexed() {
    let sandbox = folder();
    sandbox.succeed(&["index", ".", "-o", "self.cento"]);
    let again = sandbox.run(&["index", ".", "-o", "again.cento"]);
    assert!(again.contains("e.g. self.cento\n"), "{again}");
    assert_same(
        &sandbox.path("self.cento/pages"),
        &sandbox.path("again.cento/pages"),
    );
}

#[test]
fn a_folder_is_indexed_under_a_base_url() {
    let sandbox = folder();
    sandbox.succeed(&[
        "index",
        "docs",
        "--base-url",
        "https://www.example.co.uk/d/",
        "-o",
        "docs.cento",
    ]);
    assert_snapshot!(sandbox.run(&[
        "cat",
        "docs.cento",
        "--url",
        "https://www.example.co.uk/d/en.html"
    ]));
}

/// A news page with a menu, a consent dialogue and a footer.
const OTTERS: &str = "<html><title>Otters</title><body><nav><a href=/>Home</a> <a href=/a>Animals</a></nav>\
    <div class=cookie-consent><p>We use cookies to improve your visit. Accept all cookies?</div>\
    <article><h1>Otters</h1>\
    <p>Otters sleep on their backs and hold each other by the paw, lest the sea carry one of them away.\
    <p>They keep a favourite stone in a fold of skin under the arm, and crack shells with it on the chest.\
    <p>A pelt has more hair to the square centimetre than a person has on the whole head, and is never wet.\
    </article><footer><p>All rights reserved.</footer>";

#[test]
fn why_main_explains_each_block() {
    let sandbox = Sandbox::new();
    sandbox.write("otters.html", OTTERS);
    sandbox.succeed(&["index", "otters.html", "--main", "-o", "otters.cento"]);
    let cat = ["cat", "otters.cento", "--url", "otters.html", "--why-main"];
    assert_snapshot!(sandbox.run(&cat));
    let json: serde_json::Value =
        serde_json::from_str(&sandbox.succeed(&[&cat[..], &["--json"]].concat())).expect("JSON");
    let blocks = json["why_main"]["blocks"].as_array().expect("blocks");
    let kept: Vec<&str> = blocks
        .iter()
        .filter(|block| block["kept"] == true)
        .filter_map(|block| block["text"].as_str())
        .collect();
    assert_eq!(kept.len(), 3, "{kept:?}");
    assert!(kept[0].starts_with("Otters sleep"), "{kept:?}");
    assert_eq!(json["page_type"], json["why_main"]["page_type"]);
}

#[test]
fn why_main_reads_inputs_as_they_were_indexed() {
    let sandbox = Sandbox::new();
    let line = serde_json::json!({"at": "http://a.example/otters", "source": OTTERS});
    sandbox
        .write("lines.data", format!("{line}\n"))
        .write("docs/animals/otters.html", OTTERS);
    sandbox.succeed(&[
        "index",
        "lines.data",
        "--format",
        "jsonl",
        "--field",
        "html=source",
        "--field",
        "url=at",
        "-o",
        "a.cento",
    ]);
    sandbox.succeed(&[
        "index",
        "docs",
        "--base-url",
        "http://a.example/docs/",
        "-o",
        "a.cento",
        "--add",
    ]);
    for url in [
        "http://a.example/otters",
        "http://a.example/docs/animals/otters.html",
    ] {
        let output = sandbox.succeed(&["cat", "a.cento", "--url", url, "--why-main"]);
        assert!(output.contains("rule: consent dialogue\n"), "{output}");
    }
}

#[test]
fn why_main_refuses_a_page_that_it_cannot_read_again() {
    let sandbox = Sandbox::new();
    sandbox.write("otters.html", OTTERS);
    sandbox.succeed(&["index", "otters.html", "-o", "otters.cento"]);
    let cat = ["cat", "otters.cento", "--id", "0", "--why-main"];
    sandbox.write("otters.html", format!("{OTTERS}<p>More."));
    assert_snapshot!(sandbox.run(&cat));
    std::fs::remove_file(sandbox.path("otters.html")).expect("it exists");
    assert_snapshot!(sandbox.run(&cat));
    let line = serde_json::json!({"url": "http://a.example/", "html": OTTERS}).to_string();
    let piped = ["index", "-", "--format", "jsonl", "-o", "piped.cento"];
    sandbox.run_with_input(&piped, line.as_bytes());
    assert_snapshot!(sandbox.run(&["cat", "piped.cento", "--id", "0", "--why-main"]));
}

/// An archive with redirects, errors, pictures, crawler traps and damage.
fn crawl() -> Archive {
    let mut archive = Archive::gzip();
    let mut random = Random(7);
    archive.record(
        "warcinfo",
        "",
        "application/warc-fields",
        b"software: test\r\n",
    );
    archive.record(
        "request",
        "http://a.example/",
        "application/http; msgtype=request",
        b"GET / HTTP/1.1\r\n\r\n",
    );
    archive.page("http://a.example/", &random.page("First", 3));
    archive.response(
        "http://a.example/moved",
        "HTTP/1.1 301 Moved\r\nLocation: /",
        b"<p>Moved",
    );
    archive.response(
        "http://a.example/logo.png",
        "HTTP/1.1 200 OK\r\nContent-Type: image/png",
        b"\x89PNG\r\n\x1a\n",
    );
    archive.page("http://a.example/x/y/x/y/x/y/x/y/", &random.page("Trap", 1));
    archive.page(
        "http://a.example/empty",
        "<html><body><script>1</script></body></html>",
    );
    let whole = Archive::gzip()
        .page("http://b.example/damaged", &random.page("Damaged", 9))
        .bytes
        .clone();
    let mut damaged = whole;
    let middle = damaged.len() / 2;
    for byte in &mut damaged[middle..middle + 20] {
        *byte ^= 0x5a;
    }
    archive.bytes.extend(damaged);
    archive.page(
        "http://b.example/after",
        &random.page("After the damage", 2),
    );
    archive.record(
        "conversion",
        "http://c.example/",
        "text/plain",
        "Already text.\n\nTwo paragraphs.".as_bytes(),
    );
    archive
}

#[test]
fn rejected_pages_are_counted_by_cause() {
    let sandbox = Sandbox::new();
    sandbox.write("crawl.warc.gz", crawl().bytes);
    assert_snapshot!(sandbox.run(&["index", "crawl.warc.gz", "-o", "crawl.cento"]));
    assert_snapshot!(sandbox.run(&["cat", "crawl.cento", "--url", "http://c.example/"]));
    assert_snapshot!(sandbox.run(&["cat", "crawl.cento", "--url", "http://a.example/moved"]));
    assert_snapshot!(sandbox.run(&[
        "index",
        "crawl.warc.gz",
        "-o",
        "strict.cento",
        "--strict",
        "--any-status"
    ]));
}

#[test]
fn a_revisit_record_is_a_duplicate_by_its_payload() {
    let sandbox = Sandbox::new();
    let mut archive = Archive::gzip();
    archive.page("http://a.example/", "<p>A garment stitched from patches.");
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
    let revisit = format!(
        "WARC/1.0\r\nWARC-Type: revisit\r\nWARC-Target-URI: http://a.example/again\r\nWARC-Date: 2024-06-01T12:00:00Z\r\n\
         WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest\r\n\
         WARC-Payload-Digest: sha1:7bce194b36f55838e94cffcc9259ed7a10e13a0b\r\n\
         WARC-Refers-To-Target-URI: http://a.example/\r\nWARC-Refers-To-Date: 2024-05-01T12:00:00Z\r\n\
         Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{head}\r\n\r\n",
        head.len()
    );
    archive.raw(revisit.as_bytes());
    sandbox.write("crawl.warc.gz", archive.bytes);
    assert_snapshot!(sandbox.run(&["index", "crawl.warc.gz", "-o", "crawl.cento"]));
    for url in ["http://a.example/", "http://a.example/again"] {
        assert_snapshot!(sandbox.run(&["cat", "crawl.cento", "--url", url]));
    }
}

#[test]
fn tables_are_read_by_field() {
    let sandbox = Sandbox::new();
    let lines = "{\"body\": \"One text.\", \"link\": \"http://n.example/1\", \"meta\": {\"when\": \"2024-03-05\"}}\n\
        not json\n\
        {\"link\": \"http://n.example/2\"}\n\
        {\"body\": \"<p>Another \\u2014 text.\", \"link\": \"http://n.example/3\", \"meta\": {\"when\": 1709625600}}\n";
    sandbox.write("news.jsonl", lines);
    let fields = [
        "--field",
        "text=body",
        "--field",
        "url=link",
        "--field",
        "date=meta.when",
    ];
    let arguments: Vec<&str> = ["index", "news.jsonl", "-o", "news.cento"]
        .into_iter()
        .chain(fields)
        .collect();
    assert_snapshot!(sandbox.run(&arguments));
    assert_snapshot!(sandbox.run(&["cat", "news.cento", "--url", "http://n.example/1"]));
    let arguments = [
        "index",
        "-",
        "-o",
        "piped.cento",
        "--field",
        "html=body",
        "--field",
        "url=link",
    ];
    assert_snapshot!(sandbox.run_with_input(&arguments, lines.as_bytes()));
    assert_snapshot!(sandbox.run(&["cat", "piped.cento", "--url", "http://n.example/3"]));
}

#[test]
fn a_list_and_a_pattern_name_the_same_inputs() {
    let sandbox = folder();
    sandbox.write(
        "list.txt",
        "# the pages\ndocs/en.html\ndocs/de.html\ndocs/zh.html\n",
    );
    sandbox.succeed(&["index", "@list.txt", "-o", "list.cento"]);
    sandbox.succeed(&["index", "docs/*.html", "-o", "pattern.cento"]);
    assert_same(&sandbox.path("list.cento"), &sandbox.path("pattern.cento"));
}

#[test]
fn chunks_hashes_and_normalisation_can_be_chosen() {
    let sandbox = folder();
    let arguments = [
        "--chunk",
        "words:3",
        "--hash",
        "sha1",
        "--normalise",
        "none",
    ];
    let index: Vec<&str> = ["index", "docs/notes/plain.txt", "-o", "w.cento"]
        .into_iter()
        .chain(arguments)
        .collect();
    sandbox.succeed(&index);
    assert_snapshot!(sandbox.run(&["cat", "w.cento", "--id", "0", "--chunks"]));
}

#[test]
fn main_content_excludes_navigation() {
    let sandbox = Sandbox::new();
    let sentence =
        "The cento was a garment of patches, worn under armour by those who had no better. ";
    let menu: String = (0..30)
        .map(|n| format!("<li><a href=/{n}>Menu item {n}</a>"))
        .collect();
    let page = format!(
        "<html lang=en><title>Cento</title><body><nav><ul>{menu}</ul></nav><article><h1>Cento</h1><p>{}<p>{}<p>{}</article>\
         <footer><a href=/terms>Terms</a> <a href=/privacy>Privacy</a></footer>",
        sentence.repeat(4),
        sentence.repeat(5),
        sentence.repeat(3)
    );
    sandbox.write("page.html", page);
    sandbox.succeed(&["index", "page.html", "--main", "-o", "main.cento"]);
    assert_snapshot!(sandbox.run(&["cat", "main.cento", "--id", "0"]));
}

#[test]
fn a_corpus_can_be_indexed_without_text() {
    let sandbox = folder();
    sandbox.succeed(&["index", "docs", "--no-text", "-o", "bare.cento"]);
    assert!(
        !contents(&sandbox.path("bare.cento"))
            .iter()
            .any(|(name, _)| name.starts_with("text/part"))
    );
    assert_snapshot!(sandbox.run(&["cat", "bare.cento", "--url", "docs/en.html", "--chunks"]));
}

#[test]
fn hostile_pages_cannot_control_a_terminal() {
    let sandbox = Sandbox::new();
    let mut archive = Archive::default();
    archive.page(
        "http://h.example/\u{1b}]0;owned\u{7}",
        "<title>\u{1b}[2J\u{202e}title</title><p>text \u{9b}31m",
    );
    sandbox.write("hostile.warc", archive.bytes);
    sandbox.succeed(&["index", "hostile.warc", "-o", "h.cento"]);
    let shown = sandbox.run(&["cat", "h.cento", "--id", "0"]);
    assert!(
        !shown.chars().any(|c| c.is_control() && c != '\n'),
        "{shown:?}"
    );
    assert_snapshot!(shown);
}

#[test]
fn pages_are_added_only_with_the_same_parameters() {
    let sandbox = folder();
    sandbox.succeed(&[
        "index",
        "docs/en.html",
        "--chunk",
        "lines:2",
        "-o",
        "grow.cento",
    ]);
    assert_snapshot!(sandbox.run(&["index", "docs/de.html", "-o", "grow.cento"]));
    assert_snapshot!(sandbox.run(&[
        "index",
        "docs/de.html",
        "-o",
        "grow.cento",
        "--add",
        "--chunk",
        "paragraph"
    ]));
    assert_snapshot!(sandbox.run(&[
        "index",
        "docs/de.html",
        "docs/zh.html",
        "-o",
        "grow.cento",
        "--add"
    ]));
    assert_snapshot!(sandbox.run(&["cat", "grow.cento", "--id", "8589934592"]));
    assert_snapshot!(sandbox.run(&["index", "docs", "-o", "missing.cento", "--add"]));
}

#[test]
fn tables_have_the_same_bytes_on_any_number_of_threads() {
    let sandbox = Sandbox::new();
    let mut random = Random(1);
    for file in 0..6 {
        let mut archive = Archive::gzip();
        for page in 0..40 {
            let url = format!("http://site{}.example/{file}/{page}", page % 7);
            archive.page(&url, &random.page("Page", 12));
            archive.raw(b"not a record at all");
        }
        sandbox.write(&format!("crawl/{file}.warc.gz"), archive.bytes);
    }
    for threads in ["1", "2", "7"] {
        let output = format!("{threads}.cento");
        sandbox.succeed(&[
            "index",
            "crawl",
            "-o",
            &output,
            "--threads",
            threads,
            "--part-size",
            "100K",
        ]);
    }
    sandbox.succeed(&[
        "index",
        "crawl",
        "-o",
        "small.cento",
        "--memory",
        "1M",
        "--part-size",
        "100K",
    ]);
    for other in ["2.cento", "7.cento", "small.cento"] {
        assert_same(&sandbox.path("1.cento"), &sandbox.path(other));
    }
    let parts = contents(&sandbox.path("1.cento"));
    assert!(
        parts
            .iter()
            .filter(|(name, _)| name.starts_with("pages/"))
            .count()
            > 3
    );
}

#[test]
fn help_is_unchanged() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["--help"]));
    assert_snapshot!(sandbox.run(&["index", "--help"]));
    assert_snapshot!(sandbox.run(&["info", "--help"]));
    assert_snapshot!(sandbox.run(&["cat", "--help"]));
    let manual = sandbox.run(&["man"]);
    assert!(manual.contains(".TH cento-index 1"));
    assert!(manual.contains("out of disk space"), "exit statuses");
    for shell in ["bash", "zsh", "fish"] {
        assert!(sandbox.run(&["completions", shell]).contains("base-url"));
    }
}
