//! The outline: blocks, their elements, and the counts used by content selection.

use cento_text::html::{Extract, Extractor, Options, Tag};
use proptest::prelude::*;

fn outlined(html: &str) -> Extract {
    Extractor::new()
        .extract(html, &Options { outline: true })
        .clone()
}

/// Each block as its text, its tag, and the path of containers down to it.
fn blocks(html: &str) -> Vec<(String, Tag, String)> {
    let page = outlined(html);
    let mut out = Vec::new();
    for block in &page.outline.blocks {
        let mut path = Vec::new();
        let mut at = block.container;
        while at != 0 {
            let container = &page.outline.containers[at as usize];
            path.push(container.tag.name());
            at = container.parent;
        }
        path.reverse();
        let text = page.text[block.begin as usize..block.end as usize].to_owned();
        out.push((text, block.tag, path.join(" ")));
    }
    out
}

fn paths(html: &str) -> Vec<(String, String)> {
    blocks(html)
        .into_iter()
        .map(|(text, _, path)| (text, path))
        .collect()
}

fn expect(html: &str, expected: &[(&str, &str)]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|&(text, path)| (text.to_owned(), path.to_owned()))
        .collect();
    assert_eq!(paths(html), expected, "{html}");
}

#[test]
fn elements_stay_open_after_the_end_of_a_body() {
    // A page that contains another one.
    expect(
        "<body><main><p>a<div><html><body><p>b</body></html></div><p>c</main><footer>d</body>e",
        &[
            ("a", "body main p"),
            ("b", "body main div p"),
            ("c", "body main p"),
            ("d", "body footer"),
            ("e", "body footer"),
        ],
    );
}

#[test]
fn text_that_is_only_stated_is_in_no_element() {
    let stated =
        "Otters sleep on their backs and hold each other by the paw, lest the sea carry one away. "
            .repeat(3);
    let stated = stated.trim_end();
    let html = format!(
        "<script type=application/ld+json>{{\"@type\":\"NewsArticle\",\"articleBody\":\"{stated}\"}}</script>\
         <body><footer>unclosed"
    );
    expect(&html, &[("unclosed", "body footer"), (stated, "")]);
}

#[test]
fn blocks_belong_to_their_elements() {
    expect(
        "x<body>a<article><h1>b</h1><p>c <b>d</b></p>e</article><footer>f</footer>",
        &[
            ("x", ""),
            ("a", "body"),
            ("b", "body article h1"),
            ("c d", "body article p"),
            ("e", "body article"),
            ("f", "body footer"),
        ],
    );
    assert_eq!(blocks("<td>a")[0].1, Tag::Td);
}

#[test]
fn a_line_break_ends_a_block_only_at_a_blank_line() {
    expect("<p>a<br>b<br><br>c", &[("a\nb", "p"), ("c", "p")]);
    expect("<pre>a\n\nb</pre>", &[("a\n\nb", "pre")]);
}

#[test]
fn elements_with_optional_end_tags_are_closed() {
    expect(
        "<p>a<p>b<div>c</div>",
        &[("a", "p"), ("b", "p"), ("c", "div")],
    );
    expect(
        "<ul><li>a<li>b<ul><li>c</ul>d<li>e</ul>",
        &[
            ("a", "ul li"),
            ("b", "ul li"),
            ("c", "ul li ul li"),
            ("d", "ul li"),
            ("e", "ul li"),
        ],
    );
    expect(
        "<dl><dt>a<dd>b<p>c<dt>d</dl>e",
        &[
            ("a", "dl dt"),
            ("b", "dl dd"),
            ("c", "dl dd p"),
            ("d", "dl dt"),
            ("e", ""),
        ],
    );
    expect(
        "<table><tr><td>a<td>b<table><td>c</table>d<tr><th>e</table>f",
        &[
            ("a", "table tr td"),
            ("b", "table tr td"),
            ("c", "table tr td table td"),
            ("d", "table tr td"),
            ("e", "table tr th"),
            ("f", ""),
        ],
    );
    expect(
        "<table><thead><tr><td>a<tbody><tr><td>b</table>",
        &[("a", "table thead tr td"), ("b", "table tbody tr td")],
    );
    expect("<h1>a<h2>b</h2>c", &[("a", "h1"), ("b", "h2"), ("c", "")]);
    expect(
        "<select><option>a<option>b</select>c",
        &[("a", "select option"), ("b", "select option"), ("c", "")],
    );
}

#[test]
fn stray_end_tags_close_nothing_else() {
    expect(
        "<div>a</section>b</p>c</div>d",
        &[("a", "div"), ("b", "div"), ("c", "div"), ("d", "")],
    );
    expect(
        "<div><table><td>a</div>b</td></table>c</div>",
        &[("a", "div table td"), ("b", "div table td"), ("c", "div")],
    );
    expect(
        "<section><div>a</section>b",
        &[("a", "section div"), ("b", "")],
    );
}

#[test]
fn hints_are_the_names_of_the_container() {
    let page = outlined(
        "<div id=i class='a &amp; b' style=x ROLE=main>t<p itemprop=p itemtype=q class=''>u<p>v",
    );
    let hints: Vec<_> = page
        .outline
        .containers
        .iter()
        .map(|container| page.outline.hint(container))
        .collect();
    assert_eq!(hints, ["", "a & b i main", "p q", ""]);
}

#[test]
fn link_bytes_are_those_between_the_link_tags() {
    let links = |html: &str| -> Vec<u32> {
        outlined(html)
            .outline
            .blocks
            .iter()
            .map(|block| block.link_bytes)
            .collect()
    };
    assert_eq!(links("<p>ab <a href=x>cde</a> f <a name=y>g</a>"), [3]);
    assert_eq!(links("<p>ab<a href=x> cde </a>f"), [4]);
    assert_eq!(
        links("<a href=x><div>abc</div><div>de</div></a><p>f"),
        [3, 2, 0]
    );
    assert_eq!(links("<p><a href=x>a<a href=y>b</a>c"), [2]);
    assert_eq!(links("<p><a href=x></a>c"), [0]);
    assert_eq!(links("<table><td><a href=x>a<td>b"), [1, 0]);
}

#[test]
fn tags_are_counted_up_to_each_block() {
    let page = outlined("<body><p>a<b>b</b>c <i></i></p><svg><g><path></svg><p>d");
    let counts: Vec<_> = page
        .outline
        .blocks
        .iter()
        .map(|block| (block.tags_before, block.tags_inside))
        .collect();
    // body p | b /b | i /i /p svg p
    assert_eq!(counts, [(2, 2), (9, 0)]);
    assert_eq!(page.outline.tags, 9);
}

#[test]
fn containers_have_the_range_of_their_text() {
    let page = outlined("<div>a<p>bc</p></div><div><p></p></div><div>d</div>");
    let texts: Vec<_> = page
        .outline
        .containers
        .iter()
        .map(|container| {
            (
                &page.text[container.begin as usize..container.end as usize],
                container.blocks.clone(),
            )
        })
        .collect();
    assert_eq!(
        texts,
        [
            ("a\n\nbc\n\nd", 0..3),
            ("a\n\nbc", 0..2),
            ("bc", 1..2),
            ("", 2..2),
            ("", 2..2),
            ("d", 2..3)
        ]
    );
}

#[test]
fn deep_nesting_is_flattened_and_unwinds() {
    let page = outlined(&format!(
        "{}x{}<p>y",
        "<div>".repeat(100_000),
        "</div>".repeat(100_000)
    ));
    assert_eq!(page.text, "x\n\ny");
    assert_eq!(page.outline.containers.len(), 1 + 511 + 1);
    let last = page.outline.blocks.last().unwrap();
    assert_eq!(
        (
            last.tag,
            page.outline.containers[last.container as usize].parent
        ),
        (Tag::P, 0)
    );
}

fn check(page: &Extract) -> Result<(), TestCaseError> {
    let outline = &page.outline;
    let mut end = 0;
    let mut tags = 0;
    for (index, block) in outline.blocks.iter().enumerate() {
        let index = index as u32;
        // Only whitespace lies between two blocks.
        let gap = page.text.get(end..block.begin as usize);
        prop_assert!(
            gap.is_some_and(|gap| gap.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n')))
        );
        prop_assert_eq!(end == 0, block.begin == 0);
        let text = page.text.get(block.begin as usize..block.end as usize);
        prop_assert!(
            text.is_some_and(|text| !text.is_empty() && !text.ends_with([' ', '\t', '\n']))
        );
        prop_assert!(block.link_bytes <= block.end - block.begin);
        prop_assert!(tags <= block.tags_before);
        let container = &outline.containers[block.container as usize];
        prop_assert_eq!(block.tag, container.tag);
        prop_assert!(container.blocks.contains(&index));
        end = block.end as usize;
        tags = block.tags_before + block.tags_inside;
    }
    prop_assert_eq!(end, page.text.len());
    prop_assert!(tags <= outline.tags);
    for (index, container) in outline.containers.iter().enumerate().skip(1) {
        prop_assert!((container.parent as usize) < index);
        let parent = &outline.containers[container.parent as usize];
        prop_assert!(
            parent.blocks.start <= container.blocks.start
                && container.blocks.end <= parent.blocks.end
        );
        let inside =
            &outline.blocks[container.blocks.start as usize..container.blocks.end as usize];
        let (begin, end) = match (inside.first(), inside.last()) {
            (Some(first), Some(last)) => (first.begin, last.end),
            _ => (container.begin, container.begin),
        };
        prop_assert_eq!((container.begin, container.end), (begin, end));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn an_outline_covers_the_text_and_does_not_change_it(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60),
    ) {
        let html = pieces.concat();
        let plain = Extractor::new().extract(&html, &Options::default()).clone();
        let page = outlined(&html);
        prop_assert_eq!(&plain.text, &page.text);
        prop_assert!(plain.links().eq(page.links()));
        check(&page)?;

        let text = page.text.as_str();
        prop_assert_eq!(text, text.trim_matches([' ', '\t', '\n']));
        prop_assert!(!text.contains("\n\n\n") && !text.contains(" \n") && !text.contains("\t\n"));
        let is_unwanted = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{A0}';
        prop_assert!(!text.contains(is_unwanted));
    }
}

const PIECES: &[&str] = &[
    "a",
    "word ",
    " ",
    "\n",
    "\n\n",
    "  ",
    "\t",
    "&nbsp;",
    "&amp;",
    "é",
    "\u{a0}",
    "\0",
    "<p>",
    "</p>",
    "<p class=x>",
    "<div>",
    "</div>",
    "<div id=y>",
    "<br>",
    "<br><br>",
    "<hr>",
    "<b>",
    "</b>",
    "<a href=x>",
    "<a>",
    "</a>",
    "<ul>",
    "</ul>",
    "<li>",
    "</li>",
    "<dl>",
    "<dt>",
    "<dd>",
    "</dl>",
    "<table>",
    "</table>",
    "<tr>",
    "</tr>",
    "<td>",
    "</td>",
    "<th>",
    "<tbody>",
    "<h1>",
    "</h1>",
    "<h2>",
    "<pre>",
    "</pre>",
    "<pre>\n  x\n\n  y  \n",
    "<textarea> x\n</textarea>",
    "<section>",
    "</section>",
    "<article>",
    "</article>",
    "<body>",
    "</body>",
    "</html>",
    "<button>",
    "</button>",
    "<select>",
    "<option>",
    "</select>",
    "<svg>",
    "</svg>",
    "<svg><title>",
    "<foreignObject>",
    "</foreignObject>",
    "<math>",
    "</math>",
    "<annotation>",
    "<![CDATA[x > y]]>",
    "<template>",
    "</template>",
    "<noscript>",
    "</noscript>",
    "<video>",
    "</video>",
    "<object>",
    "</object>",
    "<script>x</script>",
    "<style>y</style>",
    "<title>t</title>",
    "<!-- c -->",
    "<xmp> & </xmp>",
];
