//! Main-content selection on small pages of common types.

use cento_text::content::{Selection, apply, select};
use cento_text::html::{Extractor, Options};

fn keep(html: &str, selection: Selection) -> String {
    let mut extractor = Extractor::new();
    let page = extractor.extract(html, &Options { outline: true });
    let mut text = String::new();
    apply(&page.text, &select(page, selection), &mut text);
    text
}

fn main_content(html: &str) -> String {
    keep(html, Selection::Main)
}

/// Asserts that each of `kept` is in the main content and none of `removed` is.
fn assert_main(html: &str, kept: &[&str], removed: &[&str]) {
    let text = main_content(html);
    for part in kept {
        assert!(
            text.contains(part),
            "'{part}' is not in the main content:\n{text}"
        );
    }
    for part in removed {
        assert!(
            !text.contains(part),
            "'{part}' is in the main content:\n{text}"
        );
    }
}

const OTTERS: [&str; 4] = [
    "Otters sleep on their backs and hold each other by the paw, lest the sea carry one of them away in the night.",
    "They keep a favourite stone in a fold of skin under the arm, and crack shells with it, lying on their backs again.",
    "Short one.",
    "A pelt has more hair to the square centimetre than a person has on the whole head, and the skin is never wet.",
];

fn paragraphs(texts: &[&str]) -> String {
    texts.iter().map(|text| format!("<p>{text}</p>")).collect()
}

fn news_page(article: &str, after: &str) -> String {
    format!(
        "<!doctype html><html><head><title>Otters | The Daily Otter</title></head><body class='single comments-open'>
         <header><div class=logo><a href=/>The Daily Otter</a></div>
         <nav><ul><li><a href=/news>News</a><li><a href=/sport>Sport</a><li><a href=/weather>Weather</a></ul></nav></header>
         <div class='content-with-sidebar'><div class=column>
         <h1>Otters sleep hand in hand</h1>
         <div class=byline>By <a href=/ann>Ann Author</a>, 4 May</div>
         <div class='entry-content'>{article}
         <div class='share-buttons'><a href=/f>Share</a> <a href=/t>Tweet</a></div></div>
         {after}</div>
         <aside class=sidebar><h3>Most read</h3><ul><li><a href=/1>Ten seals you will not believe</a>
         <li><a href=/2>Walrus wins mayoral race in a landslide, demands fish</a></ul>
         <p>Our weekly letter brings the best of the sea to your inbox, every Friday morning, for nothing at all.</p></aside></div>
         <footer><p>© The Daily Otter. All rights reserved. Reproduction in whole or in part is forbidden without consent.</p>
         <a href=/terms>Terms</a></footer></body></html>"
    )
}

#[test]
fn an_article_is_kept_without_its_surroundings() {
    let html = news_page(&paragraphs(&OTTERS), "");
    assert_eq!(main_content(&html), OTTERS.join("\n\n"));
}

#[test]
fn comments_are_removed_even_if_longer_than_the_article() {
    let comment = "<li class=comment><b>Someone</b><p>I have to disagree with every single word of this article, and here \
                   is, at considerable length, why I do so and why you should do so, too.</p>";
    let comments = format!(
        "<div id=comments><h3>40 thoughts</h3><ol>{}</ol></div>",
        comment.repeat(40)
    );
    let html = news_page(&paragraphs(&OTTERS), &comments);
    assert_eq!(main_content(&html), OTTERS.join("\n\n"));
}

#[test]
fn captions_and_links_to_other_articles_are_removed() {
    let article = format!(
        "{}<figure><img src=o.jpg><figcaption>An otter, pictured yesterday (Photo: A. Nother)</figcaption></figure>
         <p><a href=/more>READ MORE: Beavers build a dam in the town hall</a></p>{}
         <div class='related'><h4>Related</h4><p>Seals, too, sleep in the water, we found out in a long article last year that \
         won a prize.</p></div>{}<h3>You may also like</h3>",
        paragraphs(&OTTERS[..1]),
        paragraphs(&OTTERS[1..3]),
        paragraphs(&OTTERS[3..]),
    );
    // Links are removed where the page is certainly an article, which the metadata says here. On
    // other pages they may be content.
    let page = news_page(&article, "").replace(
        "<head>",
        "<head><meta property=og:type content=article>
         <meta property=article:published_time content=2019-05-04>",
    );
    assert_eq!(main_content(&page), OTTERS.join("\n\n"));
}

#[test]
fn tables_lists_code_and_headings_inside_an_article_are_kept() {
    let rows: String = (0..40)
        .map(|n| format!("<tr><td>otter {n}</td><td>{n} kg</td></tr>"))
        .collect();
    let article = format!(
        "{}<h2>The table</h2><table>{rows}</table><ul><li>fish</li><li>more fish</li></ul><pre>let otter = 1;</pre>{}",
        paragraphs(&OTTERS[..2]),
        paragraphs(&OTTERS[2..]),
    );
    assert_main(
        &news_page(&article, ""),
        &[
            "The table",
            "otter 39\t39 kg",
            "fish\nmore fish",
            "let otter = 1;",
            OTTERS[3],
        ],
        &["Most read", "Weather"],
    );
}

#[test]
fn running_text_is_kept_despite_its_element_name() {
    // As in manuals: the section is about sharing, and the sidebar is part of the book.
    let html = format!(
        "<div class=toc><a href=#a>One</a> <a href=#b>Two</a></div><div class=chapter><div class=section>{}</div>
         <div class=section id=FOR-UPDATE-SHARE><h2>Sharing</h2>{}</div>
         <div class=sidebar><p>{}</p></div></div>",
        paragraphs(&OTTERS),
        paragraphs(&["Rows can be locked for sharing, and then nobody else can change them until all let go."; 6]),
        "An otter in a box beside the text of a handbook is an example, and examples are what handbooks are read for.",
    );
    assert_main(
        &html,
        &[
            OTTERS[0],
            "Sharing",
            "until all let go.",
            "handbooks are read for",
        ],
        &["Two"],
    );
}

#[test]
fn a_chinese_article_is_kept_without_its_surroundings() {
    let article = [
        "水獭睡觉时仰面漂浮在海面上，常常互相牵着爪子，以免在夜里被海流冲散。",
        "它们在腋下的皮肤褶皱里藏着一块最喜欢的石头，用来敲开贝壳。",
        "短句。",
        "它的毛皮每平方厘米的毛发比一个人整个头上的头发还要多，所以皮肤从来不会被打湿。",
    ];
    let html = format!(
        "<body><div class=top><a href=/>首页</a><a href=/news>新闻</a><a href=/sports>体育</a><a href=/tech>科技</a></div>
         <div class=wrap><div class=left><h1>水獭牵着手睡觉</h1><div id=artibody>{}</div></div>
         <div class=right><ul><li><a href=/1>十张你不会相信的海豹照片</a><li><a href=/2>海象赢得了市长选举</a></ul></div></div>
         <div class=footer>版权所有，未经书面许可，任何人不得以任何形式转载、复制或传播本网站的全部或部分内容。</div>",
        paragraphs(&article)
    );
    assert_eq!(main_content(&html), article.join("\n\n"));
}

#[test]
fn text_in_layout_tables_with_line_breaks_is_found() {
    let html = format!(
        "<table><tr><td width=150><a href=1>One</a><br><a href=2>Two</a><br><a href=3>Three</a></td>
         <td><font size=2>{}</font></td></tr><tr><td colspan=2><a href=mailto:x>Mail us</a></td></tr></table>",
        OTTERS.join("<br><br>")
    );
    assert_eq!(main_content(&html), OTTERS.join("\n\n"));
}

#[test]
fn a_very_short_article_is_found() {
    let html = news_page(
        &paragraphs(&[
            OTTERS[0],
            OTTERS[1],
            "More to follow when the otters wake up again.",
        ]),
        "",
    );
    assert_main(&html, &[OTTERS[0], OTTERS[1]], &["Walrus", "Reproduction"]);
}

#[test]
fn a_forum_page_keeps_all_its_posts() {
    let posts: String = (1..=6)
        .map(|number| {
            format!(
                "<div class=post id=p{number}><div class=author><a href=/u{number}>user{number}</a></div>
                 <div class=text>Post number {number} says that otters are fine animals, and goes on saying it for a while, \
                 as people in such places will.</div>
                 <div class=actions><a href=#>Quote</a> <a href=#>Reply</a></div></div>"
            )
        })
        .collect();
    let html = format!("<nav><a href=/>Forum</a></nav><div id=thread><h1>Otters</h1>{posts}</div>");
    assert_main(
        &html,
        &[
            "Post number 1 says",
            "Post number 3 says",
            "Post number 6 says",
        ],
        // The names of authors may be content: on labelled pages, a third of them are.
        &["Forum", "Quote", "Reply"],
    );
}

#[test]
fn a_page_of_discussion_is_kept() {
    let comments: String = (1..=8)
        .map(|number| {
            format!(
                "<tr class=comment><td><a href=/u>user</a></td><td><div class=comment>I have to disagree with every single \
                 word of number {number}, and here is, at considerable length, why.</div></td></tr>"
            )
        })
        .collect();
    let html = format!("<a href=/>News</a><table class=comment-tree>{comments}</table>");
    assert_eq!(main_content(&html).matches("every single word").count(), 8);
}

#[test]
fn a_page_without_running_text_is_kept_whole() {
    for html in [
        "<h1>Index</h1><ul><li><a href=a>Aardvark</a><li><a href=b>Beaver</a><li><a href=o>Otter</a></ul>",
        "<form><label>Name</label><input><label>Otter</label><input><button>Send</button></form>",
        "Just a line",
        "<footer><p>A page that is a footer alone, with a text that would be long enough to be running text.</p></footer>",
    ] {
        assert_eq!(main_content(html), keep(html, Selection::All), "{html}");
        assert_ne!(main_content(html), "", "{html}");
    }
}

#[test]
fn an_empty_page_keeps_nothing() {
    for html in [
        "",
        " \n",
        "<html></html>",
        "<p></p>",
        "<script>otter()</script>",
    ] {
        for selection in Selection::EVERY {
            let mut extractor = Extractor::new();
            let page = extractor.extract(html, &Options { outline: true });
            assert_eq!(select(page, selection), [], "{selection}: {html}");
        }
    }
}

#[test]
fn without_an_outline_the_whole_text_is_kept() {
    let html = news_page(&paragraphs(&OTTERS), "");
    let mut extractor = Extractor::new();
    let page = extractor.extract(&html, &Options::default());
    let whole = 0..page.text.len();
    for selection in Selection::EVERY {
        assert_eq!(
            select(page, selection),
            std::slice::from_ref(&whole),
            "{selection}"
        );
    }
}

#[test]
fn deep_nesting_and_unclosed_elements_are_handled() {
    let depth = 50_000;
    let deep = format!(
        "{}{}{}",
        "<div class=comments>".repeat(depth),
        paragraphs(&OTTERS),
        "</div>".repeat(depth)
    );
    assert!(main_content(&deep).contains(OTTERS[0]));
    let unclosed = format!(
        "{}{}",
        "<div><table><tr><td><ul><li><p>".repeat(depth / 10),
        OTTERS.join("<p>")
    );
    assert!(main_content(&unclosed).contains(OTTERS[3]));
    let wide = "<div class=share><p>o</div>".repeat(depth);
    assert_ne!(main_content(&wide), "");
}

#[test]
fn the_slope_curve_finds_the_level_stretch() {
    let text = keep(&news_page(&paragraphs(&OTTERS), ""), Selection::Slope);
    assert!(text.contains(&OTTERS.join("\n\n")), "{text}");
    assert!(!text.contains("Weather"), "{text}");
}
