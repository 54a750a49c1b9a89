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
        "<script type='application/ld+json'>{\"@type\": \"http://schema.org/BlogPosting\", \"datePublished\" : \"2021-05-04T10:00Z\"}</script>",
        "<script type='application/ld+json'>{\"@type\":\"WebPage\",\"datePublished\":null,\"datePublished\":\"2021\\u002d05\\-04T10:00Z\"</script>",
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
        "<script type=application/ld+json>{\"@type\":\"Article\",\"datePublished\":\"3\"}</script>",
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
        "<script>{\"@type\":\"Article\",\"datePublished\":\"2021\"}</script>",
        "<script type=application/ld+json>{\"@type\":\"Article\",\"datePublished\":2021}</script>",
        "<script type=application/ld+json>{\"@type\":\"Article\",\"datePublished\":\"2021",
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

/// A page with a script of JSON-LD.
fn described(json: &str) -> String {
    format!("<script type=application/ld+json>{json}</script>")
}

#[test]
fn dates_of_other_things_in_json_ld_are_not_the_page_s() {
    for json in [
        r#"{"@type":"Review","itemReviewed":{"@type":"Book","datePublished":"1999"}}"#,
        r#"{"@type":"Article","comment":[{"@type":"Comment","datePublished":"2008"}]}"#,
        r#"{"@type":"ItemList","itemListElement":[{"@type":"NewsArticle","datePublished":"2010"}]}"#,
        r#"{"@type":"ItemList","itemListElement":[{"@type":"ListItem","item":{"@type":"Article","datePublished":"2010"}}]}"#,
        r#"{"@type":"Article","isBasedOn":{"@type":"Article","datePublished":"2001"}}"#,
        r#"{"@type":"Article","mentions":[{"@type":"Article","datePublished":"2001"}]}"#,
        r#"{"@type":"Article","isBasedOn":[[{"@type":"Article","datePublished":"2001"}]]}"#,
        r#"{"@type":"Article","isBasedOn":{"mainEntity":{"@type":"Article","datePublished":"2001"}}}"#,
        r#"{"@type":"Product","review":{"@type":"Review","datePublished":"2006"}}"#,
        r#"{"@type":"VideoObject","datePublished":"2009"}"#,
        r#"{"@type":"Book","datePublished":"1813"}"#,
        r#"{"@type":"JobPosting","datePublished":"2009"}"#,
        r#"{"@graph":[{"@type":"Comment","datePublished":"2009"}]}"#,
        r#"{"datePublished":"2009"}"#,
    ] {
        assert_eq!(published(&described(json)), None, "{json}");
    }
    for json in [
        r#"{"mentions":{"@type":"Article","datePublished":"1990"},"datePublished":"2020","@type":"NewsArticle"}"#,
        r#"{"@type":["Thing","Article"],"author":[{"@type":"Person"}],"datePublished":"2020"}"#,
        r#"[{"@type":"BreadcrumbList"},{"@type":"Article","datePublished":"2020"}]"#,
        r#"{"@graph":[{"@type":"WebSite"},{"@type":"WebPage"},{"@type":"Article","datePublished":"2020"}]}"#,
        r#"{"@type":"WebPage","mainEntity":{"@type":"Article","datePublished":"2020"}}"#,
        r#"{"@type":"Article","mainEntityOfPage":{"@type":"WebPage","datePublished":"2020"}}"#,
        r#"{"@type":"WebPage","hasPart":{"@type":"Article","datePublished":"2001"},"datePublished":"2020"}"#,
        "<!-- //<![CDATA[\n{\"@type\":\"Article\",\"datePublished\":\"2020\"}\n//]]> -->",
    ] {
        assert_eq!(
            published(&described(json)).as_deref(),
            Some("2020"),
            "{json}"
        );
    }
}

#[test]
fn of_several_articles_the_one_that_names_the_page_states_its_date() {
    let own = r#"{"@type":"Article","datePublished":"2020-02-03","mainEntityOfPage":{"@id":"https://www.a.example/own/"}}"#;
    let other =
        r#"{"@type":"Article","datePublished":"2007-02-03","url":"https:\/\/a.example\/other"}"#;
    let undated = r#"{"@type":"Article","@id":"https://a.example/undated#article"}"#;
    let page = described(&format!("[{other},{own},{undated}]"));
    let of = |html: &str, url: &str| extract(html).published_of(url).map(str::to_owned);
    assert_eq!(published(&page), None);
    assert_eq!(
        of(&page, "https://a.example/own").as_deref(),
        Some("2020-02-03")
    );
    assert_eq!(
        of(&page, "http://a.example/other#top").as_deref(),
        Some("2007-02-03")
    );
    assert_eq!(of(&page, "https://a.example/undated"), None);
    assert_eq!(of(&page, "https://a.example/"), None);
    for address in [
        "<link rel=canonical href=https://a.example/own>",
        "<meta property=og:url content=https://a.example/own>",
    ] {
        let page = format!("{page}{address}");
        assert_eq!(published(&page).as_deref(), Some("2020-02-03"));
    }
    // They agree: the page is described twice, once without the time.
    let twice = described(
        r#"[{"@type":"Article","datePublished":"2020-02-03T23:30:00-05:00"},{"@type":"WebPage","datePublished":"2020-02-03"}]"#,
    );
    assert_eq!(published(&twice).as_deref(), Some("2020-02-03"));
    let one_is_undated =
        described(r#"[{"@type":"Article","datePublished":"2020"},{"@type":"Article"}]"#);
    assert_eq!(published(&one_is_undated), None);
    // Other data decide where JSON-LD does not.
    let vague = format!("{page}<meta name=date content=2019>");
    assert_eq!(published(&vague).as_deref(), Some("2019"));
}

#[test]
fn a_date_in_microdata_belongs_to_the_nearest_item() {
    let date = |year: u32| format!("<meta itemprop=datePublished content={year}>");
    let scope = "itemscope itemtype=https://schema.org/";
    let [own, other] = [date(2020), date(2013)];
    for html in [
        format!("<div itemprop=review {scope}Review>{other}</div>"),
        format!("<div {scope}Article><p itemprop=comment {scope}Comment>{other}</p></div>"),
        format!("<div {scope}Article><i itemprop=isBasedOn {scope}Article>{other}</i></div>"),
        format!("<div {scope}Review>{other}</div>"),
        format!("<ul {scope}ItemList><li itemprop=itemListElement {scope}Article>{other}</ul>"),
        format!("<article {scope}Article>{own}</article><article {scope}Article>{other}</article>"),
        // A blog that lists its posts.
        format!(
            "<body {scope}Blog><div itemprop=blogPost {scope}BlogPosting>{own}</div>\
             <div itemprop=blogPost {scope}BlogPosting>{other}</div>"
        ),
    ] {
        assert_eq!(published(&html), None, "{html}");
    }
    for html in [
        format!(
            "<div {scope}Article><div itemprop=review {scope}Review><div>{other}</div></div>{own}</div>"
        ),
        format!("<div {scope}Article>{own}<p itemprop=review {scope}Review>{other}<p>o</div>"),
        format!(
            "<div {scope}ItemList><p itemprop=itemListElement {scope}Article>{other}<p>o</div>{own}"
        ),
        format!("<body {scope}WebPage><main itemprop=mainEntity {scope}BlogPosting>{own}</main>"),
        // The page of a post, as themes of blogs describe it.
        format!("<body {scope}Blog><div itemprop=blogPost {scope}BlogPosting>{own}</div>"),
        format!("<div itemscope>{own}</div>"),
        format!("<div {scope}Article>{own}</div><video {scope}VideoObject>{other}</video>"),
        format!(
            "<link rel=canonical href=https://a.example/own><div {scope}Article>{other}</div><div {scope}Article>\
             <meta itemscope itemprop=mainEntityOfPage itemid=https://a.example/own>{own}</div>"
        ),
    ] {
        assert_eq!(published(&html).as_deref(), Some("2020"), "{html}");
    }
}

/// Asserts that the date of each page is that of none of its parts.
fn assert_undated(pages: &[&str]) {
    for html in pages {
        assert_eq!(published(html), None, "{html}");
    }
}

fn assert_dated_2020(pages: &[&str]) {
    for html in pages {
        assert_eq!(published(html).as_deref(), Some("2020"), "{html}");
    }
}

#[test]
fn the_date_of_an_article_in_an_aside_is_not_the_page_s() {
    assert_undated(&[
        "<aside><article><time itemprop=datePublished datetime=2003></time></article></aside>",
        "<article><h1>Own</h1><p>text</article><aside><h2>Also</h2><article><h3>Bees</h3>\
         <time datetime=2003 pubdate>1 Jan 2003</time></article></aside>",
        "<aside><aside></aside><time itemprop=datePublished datetime=2003></time></aside>",
        "<aside><div itemscope itemtype=https://schema.org/Article><time datetime=2003 pubdate></div>",
    ]);
}

#[test]
fn the_date_of_a_related_article_is_not_the_page_s() {
    assert_undated(&[
        "<div class=related><div itemscope itemtype=https://schema.org/Article>\
         <meta itemprop=datePublished content=2003></div></div>",
        "<section id=RelatedPosts><time datetime=2003 pubdate></section>",
        "<ul class='c-list sidebar-left'><li><time itemprop=datePublished datetime=2003></ul>",
        "<div class=recent-posts><div></div><p>x<time itemprop=datePublished datetime=2003></div>",
    ]);
}

#[test]
fn the_date_of_a_comment_is_not_the_page_s() {
    assert_undated(&[
        "<article class=comment><time itemprop=datePublished datetime=2003></article>",
        "<article class=comment><time pubdate datetime=2003></article>",
        "<article>own<article><time pubdate datetime=2003></time></article></article>",
        "<ol><li class=comment><time itemprop=datePublished datetime=2003></ol>",
        "<li class=comment>x<li class=comment><time itemprop=datePublished datetime=2003></li>",
        "<time class=comment-date itemprop=datePublished datetime=2003></time>",
    ]);
}

#[test]
fn a_date_beside_the_article_with_the_heading_is_not_the_page_s() {
    let article = "<article><h1>Own</h1><p>text</article>";
    let dated = "<article><h1>Own</h1><time itemprop=datePublished datetime=2020></time></article>";
    let beside = [
        "<div class=cards><a href=/o>Other</a><time itemprop=datePublished datetime=2003></time></div>",
        "<div class=top-stories><time itemprop=datePublished datetime=2003></time></div>",
    ];
    for beside in beside {
        assert_undated(&[
            &format!("<main>{article}</main>{beside}"),
            &format!("{beside}{article}"),
        ]);
        assert_dated_2020(&[&format!("<main>{dated}</main>{beside}")]);
    }
    assert_undated(&[
        "<article><h1>Own</h1><div id=discussion><time pubdate datetime=2003></div></article>",
    ]);
    // Without a heading in the article, the date may be that of the page.
    assert_dated_2020(&[
        "<h1>Own</h1><time itemprop=datePublished datetime=2020></time><article>text</article>",
    ]);
}

#[test]
fn a_name_about_the_layout_does_not_hide_the_date() {
    let article =
        "<article class=post><h1>Own</h1><time itemprop=datePublished datetime=2020></article>";
    let item = "<article class='post sidebar-right' itemscope itemtype=https://schema.org/BlogPosting>\
        <h1>Own</h1><time itemprop=datePublished datetime=2020></time></article>";
    assert_dated_2020(&[
        &format!("<div class='site-content post-navigation-below'>{article}</div>"),
        &format!("<div class=right-sidebar>{article}</div>"),
        item,
        &article.replace("class=post", "class='post left-sidebar'"),
        "<div class=post><h3>Own</h3><div class=post-footer><time itemprop=datePublished datetime=2020></div></div>",
        "<article><h1>Own</h1><abbr itemprop=datePublished title=2020>then</abbr></article>",
    ]);
    // What follows the first heading keeps its name.
    assert_undated(&[
        "<h1>Own</h1><div class=sidebar><h1>News</h1><time pubdate datetime=2003></div>",
    ]);
    assert_undated(&["<aside><h1>News</h1><time pubdate datetime=2003></time></aside>"]);
}

#[test]
fn the_type_of_a_script_may_have_parameters() {
    let script = r#"<script type="application/ld+json; charset=utf-8">
        {"@type":"NewsArticle","datePublished":"2020"}</script>"#;
    assert_dated_2020(&[script]);
}

#[test]
fn the_date_of_a_neighbour_in_the_navigation_is_not_the_page_s() {
    assert_undated(&[
        "<nav class=post-navigation><a href=/x><time itemprop=datePublished datetime=2003></a></nav>",
        "<div class=post-navigation><time pubdate datetime=2003></div>",
        "<div role=navigation><time pubdate datetime=2003></div>",
    ]);
}

#[test]
fn the_date_in_the_footer_of_the_page_is_not_the_page_s() {
    assert_undated(&[
        "<footer><time itemprop=datePublished datetime=2003></footer>",
        "<footer><article><time itemprop=datePublished datetime=2003></article></footer>",
        "<article>own</article><footer><time pubdate datetime=2003></footer>",
        "<body itemscope itemtype=https://schema.org/WebPage>\
         <footer><meta itemprop=datePublished content=2003></footer>",
        "<div class=site-footer><time itemprop=datePublished datetime=2003></div>",
    ]);
}

#[test]
fn the_date_of_a_quoted_post_is_not_the_page_s() {
    assert_undated(&[
        "<blockquote class=twitter><time itemprop=datePublished datetime=2003></blockquote>",
        "<article>own<blockquote><time pubdate datetime=2003></blockquote></article>",
        "<div class='quote'><time itemprop=datePublished datetime=2003></div>",
    ]);
}

#[test]
fn of_several_articles_with_different_dates_none_is_the_page() {
    assert_undated(&[
        "<article><time pubdate datetime=2003></time></article>\
         <article><time pubdate datetime=2004></time></article>",
        "<article><h1>a</h1><time pubdate datetime=2003></time></article>\
         <article><time pubdate datetime=2004></time></article>",
        "<article><time itemprop=datePublished datetime=2003></time></article>\
         <article><time itemprop=datePublished datetime=2004></time></article>",
        "<body itemscope itemtype=https://schema.org/WebPage>\
         <article><time itemprop=datePublished datetime=2003></time></article>\
         <article><time itemprop=datePublished datetime=2004></time></article>",
        "<article>undated</article><article><time pubdate datetime=2003></time></article>",
        "<article><h1>undated</h1></article><article><time pubdate datetime=2003></article>",
        "<article><ul><li><time pubdate datetime=2003></time><li><time pubdate datetime=2004></time></ul>",
        "<p><time pubdate datetime=2003></time><p><time pubdate datetime=2004></time>",
        "<article itemscope itemtype=https://schema.org/Article>\
         <time itemprop=datePublished datetime=2003></time><time itemprop=datePublished datetime=2004></time>",
    ]);
    assert_dated_2020(&[
        "<article><time pubdate datetime=2020></time></article>\
         <article><time pubdate datetime=2020></time></article>",
        "<article><h1>own</h1><time pubdate datetime=2020></time></article><article>card</article>",
        "<article itemscope itemtype=https://schema.org/Article><h1>own</h1>\
         <time itemprop=datePublished datetime=2020></time></article><article>card</article>",
    ]);
}

#[test]
fn the_date_of_an_article_that_json_ld_says_is_elsewhere_is_not_the_page_s() {
    let canonical = "<link rel=canonical href=https://a.example/own>";
    let open_graph = "<meta property=og:url content=https://a.example/own>";
    let elsewhere = r#""url":"https://a.example/other","mainEntityOfPage":{"@type":"WebPage","@id":"https://a.example/other"}"#;
    let of = |names: &str| {
        described(&format!(
            r#"{{"@type":"NewsArticle","datePublished":"2020",{names}}}"#
        ))
    };
    let other = of(elsewhere);
    assert_undated(&[
        &format!("{canonical}{other}"),
        &format!("{other}{open_graph}"),
        &format!(
            "{canonical}{}",
            of(r#""mainEntityOfPage":"https://a.example/other""#)
        ),
    ]);
    assert_dated_2020(&[
        // Nobody knows the address of this page.
        &other,
        &format!("<link rel=canonical href=/own>{other}"),
        &format!("{canonical}{}", of(r#""url":"http://www.a.example/own/""#)),
        &format!(
            "{canonical}{}",
            of(r#""url":"https://a.example/amp","mainEntityOfPage":"https://a.example/own""#)
        ),
        // A name is no address, and a relative address may be this page.
        &format!("{canonical}{}", of(r#""@id":"https://a.example/id/7""#)),
        &format!("{canonical}{}", of(r#""url":"/own.html""#)),
    ]);
    let page = extract(&format!("{canonical}{other}"));
    assert_eq!(
        page.published_of("https://a.example/other"),
        Some("2020"),
        "it was fetched from there"
    );
}

#[test]
fn the_date_of_the_page_s_own_article_is_read_wherever_it_is_in_it() {
    assert_dated_2020(&[
        "<article><time itemprop=datePublished datetime=2020></article>",
        "<article><time pubdate datetime=2020></article>",
        "<article><header><time pubdate datetime=2020></time></header></article>",
        "<article><footer><time pubdate datetime=2020></time></footer></article>",
        "<article><footer><time itemprop=datePublished datetime=2020></time></footer></article>",
        "<article><div class=entry-footer><time itemprop=datePublished datetime=2020></div></article>",
        "<div itemscope itemtype=https://schema.org/Article><footer><meta itemprop=datePublished content=2020></footer></div>",
        "<header><time pubdate datetime=2020></time></header><article>text</article>",
        "<div><p>By me, <time pubdate datetime=2020></time></div>",
        "<div class=post><span itemprop=datePublished content=2020></span></div>",
        "<body class='single comments-open right-sidebar'><article class='post category-comments'>\
         <time itemprop=datePublished datetime=2020></time></article>",
        "<div class=left-sidebar><main><time pubdate datetime=2020></main></div>",
        "<article><time pubdate datetime=2020></time><div itemscope itemtype=https://schema.org/Article>x</div></article>",
        "<article><div itemscope itemtype=https://schema.org/Article><time itemprop=datePublished datetime=2020></div></article>",
        "<body itemscope itemtype=https://schema.org/WebPage><article><time itemprop=datePublished datetime=2020></article>",
        // After parts that have ended.
        "<nav><ul><li>x</ul></nav><aside><aside>y</aside></aside><time pubdate datetime=2020>",
        "<ol><li class=comment>x<li><time pubdate datetime=2020></ol>",
        "<ol><li class=comment>x</ol><time pubdate datetime=2020>",
        "<article><time pubdate datetime=2020></time><ol><li class=comment><time pubdate datetime=2003></time></ol></article>\
         <aside><article><time pubdate datetime=2004></time></article></aside>",
        // It says that it is the page's own.
        "<meta name=date content=2020><aside><time itemprop=datePublished datetime=2003></time></aside>",
    ]);
}

#[test]
fn a_missing_date_as_programs_write_it_is_ignored() {
    assert_dated_2020(&[
        "<meta property=article:published_time content=1970-01-01T00:00:00Z><meta name=date content=2020>",
        "<time itemprop=datePublished datetime='1970-01-01 00:00:00'></time><time pubdate datetime=2020></time>",
    ]);
}

#[test]
fn text_of_other_things_in_json_ld_is_not_the_page_s() {
    let body = "otters sleep on their backs and hold each other by the paws ".repeat(8);
    let article = format!(r#"{{"@type":"NewsArticle","articleBody":"{body}"}}"#);
    let product = format!(r#"{{"@type":"Product","description":"{body}"}}"#);
    let is_read = |json: &str| {
        let page = format!("{}<p>Visible words.", described(json));
        extract(&page).text.contains("otters")
    };
    for json in [
        format!(r#"{{"@type":"NewsArticle","mentions":{article}}}"#),
        format!(r#"{{"@type":"NewsArticle","isBasedOn":{article}}}"#),
        format!(r#"{{"@type":"ItemList","itemListElement":[{article}]}}"#),
        format!(r#"{{"@type":"ItemList","itemListElement":[{product}]}}"#),
        format!(r#"{{"@type":"Product","isSimilarTo":{product}}}"#),
        format!(r#"{{"@type":"Article","comment":{{"@type":"Comment","text":"{body}"}}}}"#),
        format!(r#"{{"@type":"Review","articleBody":"{body}"}}"#),
        format!(r#"[{article},{{"@type":"NewsArticle","articleBody":"{body} once more"}}]"#),
        format!(r#"[{article},{{"@type":"NewsArticle"}}]"#),
    ] {
        assert!(!is_read(&json), "{json}");
    }
    for json in [
        article.clone(),
        product,
        format!(r#"{{"@type":"Product","offers":{{"@type":"Offer"}},"description":"{body}"}}"#),
        format!(r#"{{"@type":"DiscussionForumPosting","text":"{body}"}}"#),
        format!(r#"{{"@type":"WebPage","mainEntity":{article}}}"#),
        format!(r#"[{article},{article}]"#),
    ] {
        assert!(is_read(&json), "{json}");
    }
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
        ("<html lang=de_AT.UTF-8>", Some("de")),
        ("<html lang=zh-Hans-CN>", Some("zh")),
        ("<html lang=es-419>", Some("es")),
        ("<html lang=de-DE-1996>", Some("de")),
        ("<html lang=en-US-x-twain>", Some("en")),
        ("<html lang=en->", Some("en")),
        ("<html lang=UTF-8>", None),
        ("<html lang=utf>", None),
        ("<html lang=utf-8 xml:lang=fr>", Some("fr")),
        ("<html lang=ISO-8859-1>", None),
        ("<html lang=ISO-8859-15>", None),
        ("<html lang=windows-1252>", None),
        ("<html lang=win-1252>", None),
        ("<html lang=euc-jp>", None),
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
