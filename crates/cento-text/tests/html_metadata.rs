//! The metadata and links of a page.

use cento_text::html::{Extract, Extractor, LONGEST_LINK, MOST_LINKS, Options};

fn extract(html: &str) -> Extract {
    Extractor::new().extract(html, &Options::default()).clone()
}

fn published(html: &str) -> Option<String> {
    extract(html).published
}

fn language(html: &str) -> Option<String> {
    extract(html).language
}

fn links(html: &str) -> Vec<String> {
    extract(html).links().map(str::to_owned).collect()
}

#[test]
fn the_first_title_is_used_with_open_graph_as_a_fallback() {
    let title = |html: &str| extract(html).title;
    assert_eq!(
        title("<title>\n a &amp;  b\u{a0}</title><title>c</title>").as_deref(),
        Some("a & b")
    );
    assert_eq!(
        title("<svg><title>icon</title></svg><title>page</title>").as_deref(),
        Some("page")
    );
    assert_eq!(
        title("<meta property=og:title content=' o  g '><title> </title>").as_deref(),
        Some("o g")
    );
    assert_eq!(
        title("<meta property=og:title content=og><title>t</title>").as_deref(),
        Some("t")
    );
    assert_eq!(title("<template><title>x</title></template>"), None);
    assert_eq!(title("<p>x"), None);
    // Unclosed: browsers also treat the rest of the page as the title.
    let long = title(&format!("<title>{}", "wörd ".repeat(100_000))).unwrap();
    assert!(long.len() <= 1_024 && long.starts_with("wörd wörd") && !long.ends_with(' '));
}

#[test]
fn each_source_of_the_date_is_read() {
    for html in [
        "<meta property='article:published_time' content=' 2021-05-04T10:00Z '>",
        "<META NAME='Article:Published_Time' CONTENT='2021-05-04T10:00Z'>",
        "<meta itemprop=datePublished content=2021-05-04T10:00Z>",
        "<meta name=datePublished content=2021-05-04T10:00Z>",
        "<time itemprop='datePublished dateModified' datetime=2021-05-04T10:00Z>May</time>",
        "<span itemprop=datePublished content=2021-05-04T10:00Z>May</span>",
        "<script type='application/ld+json'>{\"@type\": \"X\", \"datePublished\" : \"2021-05-04T10:00Z\"}</script>",
        "<script type='application/ld+json'>{\"datePublished\":null,\"datePublished\":\"2021\\u002d05\\-04T10:00Z\"</script>",
        "<meta name=DC.date.issued content=2021-05-04T10:00Z>",
        "<meta name=citation_publication_date content=2021-05-04T10:00Z>",
        "<meta name=pubdate content=2021-05-04T10:00Z>",
        "<meta name=date content=2021-05-04T10:00Z>",
        "<meta name=dc.date content=2021-05-04T10:00Z>",
        "<time pubdate datetime=2021-05-04T10:00Z>May</time>",
    ] {
        assert_eq!(
            published(html).as_deref(),
            Some("2021-05-04T10:00Z"),
            "{html}"
        );
    }
}

#[test]
fn the_most_reliable_source_of_the_date_is_used() {
    let statements = [
        "<time pubdate datetime=6>",
        "<meta name=date content=5>",
        "<meta name=pubdate content=4>",
        "<script type=application/ld+json>{\"datePublished\":\"3\"}</script>",
        "<meta itemprop=datePublished content=2>",
        "<meta property=article:published_time content=1>",
    ];
    for better in 1..statements.len() {
        let both = [statements[better - 1], statements[better]];
        let expected = (6 - better).to_string();
        assert_eq!(
            published(&both.concat()).as_deref(),
            Some(expected.as_str())
        );
        assert_eq!(
            published(&[both[1], both[0]].concat()).as_deref(),
            Some(expected.as_str())
        );
    }
    assert_eq!(
        published("<meta name=date content=1><meta name=date content=2>").as_deref(),
        Some("1")
    );
}

#[test]
fn text_that_is_not_a_date_is_ignored() {
    for html in [
        "<time datetime=2021>",
        "<time pubdate>2021</time>",
        "<meta name=date content=yesterday>",
        "<meta name=date content=''>",
        "<meta name=date>",
        "<script>{\"datePublished\":\"2021\"}</script>",
        "<script type=application/ld+json>{\"datePublished\":2021}</script>",
        "<script type=application/ld+json>{\"datePublished\":\"2021",
        "words<noscript><meta name=date content=2021></noscript>",
        "<p>\"datePublished\":\"2021\"",
    ] {
        assert_eq!(published(html), None, "{html}");
    }
    assert_eq!(
        published(&format!("<meta name=date content={}>", "1".repeat(65))),
        None
    );
}

#[test]
fn the_language_is_a_bare_subtag() {
    for (html, expected) in [
        ("<html lang=de>", Some("de")),
        ("<HTML LANG='pt-BR'>", Some("pt")),
        ("<html xml:lang=EN_us>", Some("en")),
        ("<html xml:lang=fr lang=it>", Some("it")),
        ("<html lang='' xml:lang=fr>", Some("fr")),
        (
            "<meta http-equiv=Content-Language content='nl, en'>",
            Some("nl"),
        ),
        ("<meta property=og:locale content=ja_JP>", Some("ja")),
        (
            "<meta property=og:locale content=ja_JP><meta http-equiv=content-language content=ko>",
            Some("ko"),
        ),
        ("<html lang=gsw>", Some("gsw")),
        ("<html lang=deutsch>", None),
        ("<html lang=x-default>", None),
        ("<html lang='{{lang}}'>", None),
        ("<html lang=und>", None),
        ("<html lang=12>", None),
        ("<p lang=de>", None),
    ] {
        assert_eq!(language(html).as_deref(), expected, "{html}");
    }
}

#[test]
fn base_and_canonical_are_the_first_of_their_kind() {
    let page = extract(
        "<base target=x><base href=' /a&amp;b '><base href=/c><link rel=stylesheet href=/d><link rel='x Canonical' href=/e>\
         <link rel=canonical href=/f>",
    );
    assert_eq!(page.base.as_deref(), Some("/a&b"));
    assert_eq!(page.canonical.as_deref(), Some("/e"));
}

#[test]
fn links_are_decoded_trimmed_and_in_order() {
    assert_eq!(
        links(
            "<a href=' /a?b=1&amp;c=2&copy=3\n'>x</a><A rel=nofollow HREF=/d>y</A><map><area href=\"e#f\"></map><a href=/g href=/h>"
        ),
        ["/a?b=1&c=2&copy=3", "/d", "e#f", "/g"]
    );
}

#[test]
fn links_without_a_target_on_the_web_are_skipped() {
    assert_eq!(
        links(
            "<a>a</a><a href>b</a><a href=''>c</a><a href='#d'>d</a><a href='JavaScript:e()'>e</a><a href='mailto:f@g'>f</a>\
             <a href='data:,h'>h</a><a href='tel:1'>i</a><a href='about:blank'>j</a><link href=/k><a href=télé:phone>l</a>\
             <noscript><a href=/m>m</a></noscript><a href=java>n</a>"
        ),
        ["télé:phone", "java"]
    );
}

#[test]
fn the_number_and_length_of_links_are_limited() {
    assert_eq!(
        links(&"<a href=x>".repeat(MOST_LINKS + 10)).len(),
        MOST_LINKS
    );
    let long = |length: usize| links(&format!("<a href={}>", "x".repeat(length))).len();
    assert_eq!((long(LONGEST_LINK), long(LONGEST_LINK + 1)), (1, 0));
}
