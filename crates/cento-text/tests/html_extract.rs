//! What a page looks like as text, and what it says about itself.

use cento_text::html::{Extract, Extractor, Options};

fn extract(html: &str) -> Extract {
    Extractor::new().extract(html, &Options::default()).clone()
}

fn text(html: &str) -> String {
    extract(html).text
}

#[test]
fn whitespace_collapses_across_elements() {
    assert_eq!(text("a \n\t b<b> c </b> d"), "a b c d");
    assert_eq!(text("foo<b>bar</b>"), "foobar");
    assert_eq!(text("  <p> a </p>  "), "a");
    assert_eq!(text("a&nbsp;&nbsp; \u{a0}b"), "a b");
    assert_eq!(text("a\r\n\r\nb\x0Cc"), "a b c");
}

#[test]
fn blocks_part_lines_and_paragraphs() {
    assert_eq!(text("<p>a<p>b"), "a\n\nb");
    assert_eq!(text("<h1>a</h1>b<ul><li>c<li>d</ul>e"), "a\n\nb\n\nc\nd\n\ne");
    assert_eq!(text("a<br>b<br><br>c<br><br><br>d"), "a\nb\n\nc\n\nd");
    assert_eq!(text("<table><tr><td>a<td>b<tr><td><td>c</table>"), "a\tb\nc");
    assert_eq!(text("<div>a<br></div><div>b</div>"), "a\n\nb");
    assert_eq!(text("<dl><dt>a<dd>b<dt>c<dd>d</dl>"), "a\nb\nc\nd");
}
