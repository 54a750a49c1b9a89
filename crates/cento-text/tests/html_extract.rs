//! The text of a page: whitespace, blocks, references and hidden elements.

use cento_text::html::{Extractor, Options};

fn text(html: &str) -> String {
    Extractor::new()
        .extract(html, &Options::default())
        .text
        .clone()
}

#[test]
fn whitespace_collapses_across_elements() {
    assert_eq!(text("a \n\t b<b> c </b> d"), "a b c d");
    assert_eq!(text("foo<b>bar</b>"), "foobar");
    assert_eq!(text("  <p> a </p>  "), "a");
    assert_eq!(text("a&nbsp;&nbsp; \u{a0}b"), "a b");
    assert_eq!(text("a\r\n\r\nb\x0Cc"), "a b c");
    assert_eq!(text("a<!-- x -->b <!-- y --> c"), "ab c");
}

#[test]
fn blocks_separate_lines_and_paragraphs() {
    assert_eq!(text("<p>a<p>b"), "a\n\nb");
    assert_eq!(text("a<p>b</p>c"), "a\n\nb\n\nc");
    assert_eq!(
        text("<h1>a</h1>b<ul><li>c<li>d</ul>e"),
        "a\n\nb\n\nc\nd\n\ne"
    );
    assert_eq!(text("<dl><dt>a<dd>b<dt>c<dd>d</dl>"), "a\nb\nc\nd");
    assert_eq!(text("a<hr>b"), "a\n\nb");
    assert_eq!(text("<div>a</div><div><div>b</div></div>"), "a\n\nb");
    assert_eq!(text("<select><option>a<option>b</select>"), "a\nb");
    assert_eq!(
        text(
            "<fieldset><legend>a</legend><label>b</label> <button>c</button><button>d</button></fieldset>"
        ),
        "a\nb c d"
    );
    assert_eq!(text("<custom-element>a</custom-element>b"), "ab");
}

#[test]
fn two_line_breaks_in_a_row_make_a_paragraph() {
    assert_eq!(text("a<br>b<br><br>c<br> <br>\n<br>d"), "a\nb\n\nc\n\nd");
    assert_eq!(text("<div>a<br></div>b"), "a\n\nb");
    assert_eq!(text("<li>a<br></li><li>b"), "a\nb");
    assert_eq!(text("a</br>b"), "a\nb");
    assert_eq!(text("<br><br>a<br><br>"), "a");
}

#[test]
fn table_cells_are_separated() {
    assert_eq!(
        text("<table><tr><td>a<td>b<tr><td><td>c</table>"),
        "a\tb\nc"
    );
    assert_eq!(
        text(
            "<table><thead><tr><th>a</th>\n<th>b</th></tr></thead><tbody><tr><td>c</td></tr></tbody></table>d"
        ),
        "a\tb\nc\n\nd"
    );
    assert_eq!(text("<td><p>a</p></td><td>b</td>"), "a\n\nb");
}

#[test]
fn adjacent_links_are_separate_words() {
    assert_eq!(
        text("<nav><a href=1>Home</a><a href=2>About</a></nav>"),
        "Home About"
    );
    assert_eq!(text("<a href=1>Home</a>s"), "Homes");
    assert_eq!(text("un<a href=1>do</a>"), "undo");
}

#[test]
fn adjacent_spans_are_separate_words() {
    for (html, expected) in [
        (
            "<span>1972</span><span>2h 55m</span><b><span>R</span></b>",
            "1972 2h 55m R",
        ),
        (
            "<span>Batteries</span><!-- --><span><i>47</i></span>",
            "Batteries 47",
        ),
        (
            "<span>a word</span><span></span><span>another</span>",
            "a word another",
        ),
        // Not where a mark follows, where the text around continues, or in code.
        (
            "<span>one</span><span>, two</span><span>.</span>",
            "one, two.",
        ),
        (
            "<span>half</span>way, auto<span>matic</span>",
            "halfway, automatic",
        ),
        ("<pre><span>fn</span><span>2</span></pre>", "fn2"),
        ("47<span></span><span>th</span>", "47th"),
        // Initials, and letters that are moved one by one.
        ("<p>So <span>T</span><span>he</span> end", "So The end"),
        (
            "<span>o</span><span>t</span><span>t</span><span>er</span>",
            "otter",
        ),
    ] {
        assert_eq!(text(html), expected, "{html}");
    }
}

#[test]
fn preformatted_text_keeps_its_spaces() {
    assert_eq!(
        text("x<pre>\n  a  b\n\tc  \n\n\n\nd\n</pre>y"),
        "x\n\n  a  b\n\tc\n\nd\n\ny"
    );
    assert_eq!(text("<pre>  a</pre>"), "a");
    assert_eq!(text("<pre>a\r\nb\rc&#10;d</pre>"), "a\nb\nc\nd");
    assert_eq!(
        text("<pre><b>a</b>  <b>b</b>\n  <i>c</i></pre> d  e"),
        "a  b\n  c\n\nd e"
    );
    assert_eq!(
        text("<p>x</p><textarea>\n a &lt;b>  c\n</textarea>"),
        "x\n\n a <b>  c"
    );
    assert_eq!(text("<xmp><b>&amp;</b></xmp>"), "<b>&amp;</b>");
    assert_eq!(
        text("a<plaintext>b</plaintext><p>  c"),
        "a\n\nb</plaintext><p>  c"
    );
    // The end of the cell also ends an unclosed `pre`.
    assert_eq!(
        text("<table><td><pre>a  b</td><td>c  d</td></table>"),
        "a  b\tc d"
    );
}

#[test]
fn references_become_characters() {
    assert_eq!(
        text("&lt;p&gt; &amp;amp; &ampamp; &eacute;&eacute &notit; &#8364;&#x20AC;&#128;"),
        "<p> &amp; &amp; éé ¬it; €€€"
    );
    assert_eq!(
        text("AT&T R&D &nosuch; & &#; &#xg;"),
        "AT&T R&D &nosuch; & &#; &#xg;"
    );
    assert_eq!(text("&#xD800;&#x110000;&#0;"), "\u{FFFD}\u{FFFD}\u{FFFD}");
    assert_eq!(text("a&#32;&#9;&#10;&#13;&nbsp;b&NewLine;&Tab;c"), "a b c");
}

#[test]
fn control_characters_are_removed() {
    assert_eq!(text("a\0b\x01\x1B\x7Fc&#1;d"), "abcd");
    assert_eq!(text("<textarea>a\0b</textarea>"), "ab");
    assert_eq!(text("©\u{AD}®"), "©\u{AD}®");
}

#[test]
fn stray_windows_1252_characters_separate_words() {
    // Numeric references are read as in browsers; control characters in the text separate words.
    assert_eq!(text("one&#151;two it&#x92;s"), "one—two it’s");
    assert_eq!(
        text("one\u{97}two\u{85}\u{9C}three&#x81;four"),
        "one two three four"
    );
    assert_eq!(text("<pre>one\u{97}two</pre>"), "one two");
    assert_eq!(text("a\x1Fb"), "a b");
}

#[test]
fn a_page_of_noscript_alone_shows_it() {
    let page = "<title>Forum</title><script>draw()</script><noscript><p>One post.</p>\
        <a href=/2>Next</a><p>Another <b>post</b>.</noscript><img>";
    assert_eq!(text(page), "One post.\n\nNext\n\nAnother post.");
    assert_eq!(
        text("<p>\u{A0}–<noscript>All of it</noscript>"),
        "–All of it"
    );
    // Not if there is any other text, and not what every browser hides.
    assert_eq!(text("Words<noscript>Switch it on</noscript>"), "Words");
    assert_eq!(
        text("<template><noscript>x</noscript></template><noscript></noscript>"),
        ""
    );
    let mut extractor = Extractor::new();
    let extract = extractor.extract(page, &Options { outline: true });
    assert_eq!(extract.links().collect::<Vec<_>>(), ["/2"]);
    assert_eq!(extract.title.as_deref(), Some("Forum"));
    assert_eq!(extract.outline.blocks.len(), 3);
}

#[test]
fn scripts_styles_and_fallbacks_are_not_shown() {
    for hidden in [
        "<script>if (a<b) '</p>'</script>",
        "<script><!-- <script> </script> --></script>",
        "<SCRIPT>x</SCRIPT >",
        "<style>p > a {}</style>",
        "<template><p>x</p><template>y</template>z</template>",
        "<noscript><p>x</p><img></noscript>",
        "<iframe><p>x</p></iframe>",
        "<object><param><p>x</p></object>",
        "<video><source>x</video>",
        "<audio>x</audio>",
        "<canvas>x</canvas>",
        "<svg><title>x</title><text>y</text><style>a > b</style><![CDATA[ </svg> ]]></svg>",
        "<svg><foreignObject><div>x</div></foreignObject><a>y</a></svg>",
        "<noembed>x</noembed>",
        "<noframes><p>x</p></noframes>",
        "<datalist><option>x</datalist>",
        "<title>x</title>",
        "<!-- x --><!DOCTYPE x><?x?></ x>",
        "<svg/>",
    ] {
        assert_eq!(text(&format!("a{hidden}b")), "ab", "{hidden}");
    }
    assert_eq!(text("<p hidden>a</p><img alt=b><input value=c>d"), "a\n\nd");
}

#[test]
fn formulas_are_shown_without_their_source() {
    let html = "<math><mi>x</mi><mo>=</mo><mn>1</mn><annotation encoding=tex>x=1</annotation></math> holds";
    assert_eq!(text(html), "x=1 holds");
    assert_eq!(text("<math><annotation>x=1</math> holds"), "holds");
}

#[test]
fn an_unclosed_element_does_not_hide_the_page() {
    assert_eq!(text("<div><video>x</div>a"), "a");
    assert_eq!(text("<td><canvas><td>x</table>a"), "a");
    assert_eq!(text("<svg><path>x<p>a"), "a");
    assert_eq!(text("<body><template>x<div></body>a"), "a");
    assert_eq!(text("<noscript><p>x</html>a"), "a");
    // Browsers show nothing here either.
    assert_eq!(text("a<object><div>x</div></p>y"), "a");
    assert_eq!(text("a<template></div>y"), "a");
    assert_eq!(text("a<script>y"), "a");
    assert_eq!(text("a<!-- y"), "a");
    assert_eq!(text("a<p class='y>z"), "a");
    assert_eq!(text("a<style>y</styl"), "a");
}

#[test]
fn pages_in_many_languages_keep_their_characters() {
    for words in [
        "中文网页没有空格",
        "日本語のページ　全角スペース",
        "ภาษาไทยไม่เว้นวรรค",
        "مرحبا بالعالم",
        "שלום \u{200F}עולם",
        "Straße İstanbul ışık",
        "e\u{301}tude na\u{AD}ïve zero\u{200B}width",
        "👩\u{200D}👩\u{200D}👧 🏳️\u{200D}🌈",
        "Â£ Ââ Ã",
    ] {
        assert_eq!(
            text(&format!("<p>{words}<p><b>{words}</b>")),
            format!("{words}\n\n{words}")
        );
    }
}

#[test]
fn an_extractor_starts_each_page_afresh() {
    let mut extractor = Extractor::new();
    let first = "<html lang=de><base href=b><link rel=canonical href=c><title>t</title><meta name=date content=2020>\
        <a href=x>y</a><pre>z";
    let page = extractor.extract(first, &Options { outline: true });
    assert_eq!((page.text.as_str(), page.links().count()), ("y\n\nz", 1));
    let page = extractor.extract("", &Options::default());
    assert_eq!(page.text, "");
    assert_eq!(page.links().count(), 0);
    assert_eq!(
        (&page.title, &page.published, &page.language),
        (&None, &None, &None)
    );
    assert_eq!((&page.base, &page.canonical), (&None, &None));
    assert!(page.outline.blocks.is_empty() && page.outline.containers.is_empty());
}
