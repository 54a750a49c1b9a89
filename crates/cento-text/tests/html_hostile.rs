//! Hostile pages: each takes a moment, or minutes if the code is quadratic.

use cento_text::html::{Extract, Extractor, Options};

fn extract(html: &str) -> Extract {
    let plain = Extractor::new().extract(html, &Options::default()).clone();
    let outlined = Extractor::new()
        .extract(html, &Options { outline: true })
        .clone();
    assert_eq!(plain.text, outlined.text);
    // References may make a text slightly longer than its page.
    assert!(plain.text.len() <= html.len() / 2 * 3);
    plain
}

fn text(html: &str) -> String {
    extract(html).text
}

#[test]
fn one_repeated_byte_takes_linear_time() {
    for byte in [
        "<", ">", "&", "\"", "'", "/", "=", "!", "-", " ", "\0", "\r", "\t", "\u{a0}", "&#", "&#x",
        "</", "<!", "<?", "<!-", "<a", "<a ",
    ] {
        let page = byte.repeat(1 << 15);
        extract(&page);
        extract(&format!("<p {page}"));
        extract(&format!("<p x={page}"));
        extract(&format!("<p x=\"{page}"));
        extract(&format!("<!--{page}"));
        extract(&format!("<script>{page}"));
        extract(&format!("<script><!--{page}"));
        extract(&format!("<title>{page}"));
        extract(&format!("<pre>{page}"));
    }
    assert_eq!(text(&"<".repeat(1 << 20)).len(), 1 << 20);
    assert_eq!(text(&"&".repeat(1 << 20)).len(), 1 << 20);
}

#[test]
fn unclosed_elements_take_linear_time() {
    for piece in [
        "<a>",
        "<a href=x>y",
        "<p>",
        "<div>",
        "<li>",
        "<ul>",
        "<ul><li>",
        "<table>",
        "<table><tr><td>",
        "<td>",
        "<b>",
        "<svg>",
        "<svg><foreignObject><div>",
        "<math>",
        "<math><annotation>",
        "<template>",
        "<noscript>",
        "<object>",
        "<video>",
        "<select><option>",
        "<pre>",
        "<h1>",
        "<dl><dt>",
        "<body>",
        "<html lang=x>",
        "<title>",
        "<textarea>",
        "<xmp>",
        "<!--",
        "<![CDATA[",
        "<base>",
        "<meta content=x>",
        "<script type=application/ld+json>",
    ] {
        extract(&piece.repeat(20_000));
        extract(&format!(
            "{}</p></x></div></section>{}",
            piece.repeat(1_000),
            "</p></x></div></section>".repeat(5_000)
        ));
    }
}

#[test]
fn pages_of_end_tags_take_linear_time() {
    for opened in [
        "",
        "<object>",
        "<template>",
        "<table><td>",
        "<svg>",
        "<section><table>",
    ] {
        let page = format!(
            "{opened}{}{}",
            "<div>".repeat(600),
            "</x></p></td></section></li>".repeat(5_000)
        );
        extract(&page);
    }
}

#[test]
fn dates_in_deeply_nested_parts_and_articles_take_linear_time() {
    let time = "<time itemprop=datePublished pubdate datetime=2003>";
    for piece in [
        "<article>",
        "<article itemprop=blogPost itemscope>",
        "<article><h1>a</h1>",
        "<aside>",
        "<li class=comment>",
        "<ul><li class=comment>",
        "<div class=related>",
        "<div itemscope><h1>a",
        "<p class=reply itemscope><main>",
        "<article></article>",
        "</article></aside></li>",
    ] {
        extract(&format!("{}{time}", piece.repeat(20_000)));
        let pages = format!("{piece}{time}").repeat(20_000);
        extract(&pages);
    }
    let names = format!("<div class='{}'>{time}", "a-b_c ".repeat(200_000));
    assert_eq!(extract(&names).published.as_deref(), Some("2003"));
}

#[test]
fn tags_with_many_attributes_take_linear_time() {
    let names: String = (0..20_000).map(|i| format!(" a{i}=b")).collect();
    extract(&format!("<a{names} href=x>y"));
    extract(&format!("<div{names}>y"));
    extract(&format!("<meta{}>", " content=x".repeat(20_000)));
    extract(&format!("<a {}>", "href=x ".repeat(20_000)));
}

#[test]
fn millions_of_references_take_linear_time() {
    for reference in [
        "&nGt;",
        "&acE",
        "&CounterClockwiseContourIntegra",
        "&#x10FFFF;",
        "&#9999999999",
        "&notnotnot",
        "&amp",
    ] {
        extract(&reference.repeat(20_000));
    }
    assert_eq!(
        text(&format!("&{}", "a".repeat(1 << 20))).len(),
        (1 << 20) + 1
    );
    assert_eq!(text(&format!("&#{};", "9".repeat(1 << 20))), "\u{FFFD}");
}

#[test]
fn scripts_that_open_and_close_escapes_take_linear_time() {
    for piece in [
        "<!--",
        "<!--<script>",
        "<script>",
        "</scrip",
        "</script",
        "-->",
        "<!--<script>-->",
        "<!--</",
    ] {
        extract(&format!("<script>{}", piece.repeat(20_000)));
    }
    let dates = "\"datePublished\"".repeat(20_000);
    extract(&format!(
        "<script type=application/ld+json>{dates}</script>"
    ));
    extract(&format!(
        "<script type=application/ld+json>{}</script>",
        "\"datePublished\": \"".repeat(20_000)
    ));
}

#[test]
fn endless_preformatted_whitespace_takes_linear_time() {
    let spaces = " ".repeat(1 << 20);
    assert_eq!(text(&format!("<pre>a{spaces}</pre>")), "a");
    assert_eq!(text(&format!("<pre>a{spaces}b</pre>")).len(), (1 << 20) + 2);
    assert_eq!(
        text(&format!("<pre>a{}b</pre>", "\n \t".repeat(1 << 18))),
        "a\n\n \tb"
    );
    extract(&format!("<pre>a{}", " <b>".repeat(20_000)));
    extract(&format!("<pre>a{}", "\n <div>".repeat(20_000)));
}

#[test]
fn depth_counts_open_elements_that_need_an_end_tag() {
    for (html, depth) in [
        ("", 0),
        ("<p>a<p>b<li>c<td>d<h1>e<br>f", 0),
        ("<div>a</div><div>b</div>", 1),
        ("<div><section><ul><li>a</ul></section></div><div>", 3),
        ("</div></div><div>a", 1),
        ("<template><div></template><div>", 1),
    ] {
        assert_eq!(extract(html).depth, depth, "{html}");
    }
    assert_eq!(extract(&"<div>".repeat(100_000)).depth, 100_000);
}

#[test]
fn extraction_stops_on_request() {
    let page = "<p>word ".repeat(1 << 18);
    let mut extractor = Extractor::new();
    let all = extractor.extract(&page, &Options::default()).text.len();
    for questions in [1, 3] {
        for outline in [false, true] {
            let mut asked = 0;
            let extract = extractor.extract_while(&page, &Options { outline }, &mut || {
                asked += 1;
                asked < questions
            });
            let part = extract.text.len();
            assert!(part > 0 && part < all / 2, "{part} of {all}");
            assert_eq!(asked, questions);
        }
    }
}
