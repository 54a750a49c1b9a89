//! Main-content selection and page types on pages other than articles: each test is a small page of
//! a kind that once went wrong.

use cento_text::content::{ExplainedBlock, PageType, Selection, analyse, apply, explain};
use cento_text::html::{Extractor, Options};
use std::fmt::Write;

fn main_content(html: &str) -> (Option<PageType>, String) {
    let mut extractor = Extractor::new();
    let page = extractor.extract(html, &Options { outline: true });
    let content = analyse(page, Selection::Main);
    let mut text = String::new();
    apply(&page.text, &content.ranges, &mut text);
    (content.page_type, text)
}

/// Asserts that each of `kept` is in the main content and none of `removed` is.
fn assert_main(html: &str, kept: &[&str], removed: &[&str]) {
    let (_, text) = main_content(html);
    for part in kept {
        assert!(text.contains(part), "'{part}' is not in:\n{text}");
    }
    for part in removed {
        assert!(!text.contains(part), "'{part}' is in:\n{text}");
    }
}

const PARAGRAPHS: [&str; 3] = [
    "Otters sleep on their backs and hold each other by the paw, lest the sea carry one of them away in the night.",
    "They keep a favourite stone in a fold of skin under the arm, and crack shells with it, lying on their backs.",
    "A pelt has more hair to the square centimetre than a person has on the whole head, and the skin is never wet.",
];

fn article(before: &str, after: &str) -> String {
    let text: String = PARAGRAPHS
        .iter()
        .map(|text| format!("<p>{text}</p>"))
        .collect();
    format!(
        "<html><head><title>Otters</title><meta property=og:type content=article></head><body>
         <nav><a href=/>Home</a> <a href=/news>News</a></nav>{before}
         <main><article><h1>Otters sleep hand in hand</h1><div class=entry-content>{text}{text}</div></article></main>
         {after}<footer>© 2026 The Daily Otter</footer></body></html>"
    )
}

#[test]
fn a_consent_dialogue_is_removed() {
    let dialogue = format!(
        "<div id=onetrust-consent-sdk><h2>Privacy preferences</h2>{}</div>",
        "<p>These cookies are necessary for the website to function and cannot be switched off in our systems. They are \
         usually only set in response to actions made by you.</p>"
            .repeat(3)
    );
    assert_main(
        &article("", &dialogue),
        &PARAGRAPHS,
        &["necessary for the website"],
    );
    assert_main(
        &article(&dialogue, ""),
        &PARAGRAPHS,
        &["necessary for the website"],
    );
}

#[test]
fn the_copy_in_a_text_field_is_removed() {
    let field = format!(
        "<section><h2>Republish this story</h2><textarea><p>{}</textarea></section>",
        PARAGRAPHS.join(" ")
    );
    let copy = PARAGRAPHS.join(" ");
    assert_main(&article("", &field), &PARAGRAPHS, &[&copy]);
}

#[test]
fn login_and_newsletter_forms_are_removed() {
    let forms = "<div class=newsletter-signup><h3>Stay in touch</h3><p>Sign up to our weekly newsletter and receive the best \
                 stories of the sea in your inbox every Friday, for free.</p><form><input name=email><button>Subscribe</button>\
                 </form></div><div class=login-box><p>Log in to your account to comment on this story, or register here in \
                 less than two minutes.</p><form><input><input></form></div>";
    assert_main(
        &article("", forms),
        &PARAGRAPHS,
        &["weekly newsletter", "Log in to your account"],
    );
}

#[test]
fn an_archive_banner_is_removed() {
    let banner = "<div id=wm-ipp-base><div class=wayback-toolbar><p>The Wayback Machine has 37 captures of this page from 12 Mar \
                  2009 to 4 May 2026, about this capture.</p></div></div>";
    assert_main(&article(banner, ""), &PARAGRAPHS, &["37 captures"]);
}

#[test]
fn every_post_of_a_thread_is_kept_and_a_signature_is_not() {
    let mut posts = String::new();
    for number in 1..=7 {
        write!(
            posts,
            "<div class=post id=post-{number}><div class=username><a href=/u/{number}>user{number}</a></div>
             <div class=post-body>Reply number {number} explains at some length how to fix the leaking boat, with all the \
             tools that are needed. It did work for me last summer, at least.</div>
             <div class=signature>Proud owner of a small boat since nineteen eighty-four, and still afloat.</div>
             <div class=actions><a href=#>Quote</a> <a href=#>Like</a></div></div>"
        )
        .unwrap();
    }
    let html = format!(
        "<html><head><title>Leaking boat</title><script type=application/ld+json>{{\"@type\":\"DiscussionForumPosting\"}}</script></head><body><nav><a href=/>Forum</a></nav>
         <div class=thread><h1>Leaking boat</h1>{posts}</div><footer>Powered by a forum</footer></body></html>"
    );
    let (page_type, text) = main_content(&html);
    assert_eq!(page_type, Some(PageType::Thread));
    for number in 1..=7 {
        assert!(
            text.contains(&format!("Reply number {number} explains")),
            "{text}"
        );
    }
    assert!(!text.contains("Proud owner"), "{text}");
}

#[test]
fn an_article_with_comments_is_not_a_thread() {
    let comments: String = (1..=30)
        .map(|number| {
            format!(
                "<li class=comment itemscope itemtype='http://schema.org/Comment'><cite>user{number}</cite>
                 <p>Number {number}: I have to disagree with every single word of this, and here is why, at length.</p>
                 <a href=#r>Reply</a></li>"
            )
        })
        .collect();
    let text: String = PARAGRAPHS
        .iter()
        .map(|text| format!("<p>{text}</p>"))
        .collect();
    let html = format!(
        "<html><head><title>Otters | The Daily Otter</title></head><body class=single>
         <header><nav><ul><li><a href=/news>News</a><li><a href=/sport>Sport</a></ul></nav></header>
         <div class=column><h1>Otters sleep hand in hand</h1><div class=byline>By <a href=/ann>Ann Author</a>, 4 May</div>
         <div class=entry-content>{text}{text}{text}</div>
         <div id=comments><h3>30 Responses</h3><ol class=commentlist>{comments}</ol></div></div>
         <footer><p>© The Daily Otter. All rights reserved.</p></footer></body></html>"
    );
    let (page_type, _) = main_content(&html);
    assert_eq!(page_type, Some(PageType::Article));
    assert_main(&html, &PARAGRAPHS, &["disagree", "Responses"]);
}

/// A blog post of 2010 with `after` at the end of its entry and `beside` it.
fn blog_post(names: &str, after: &str, beside: &str) -> String {
    let text: String = PARAGRAPHS
        .iter()
        .map(|text| format!("<p>{text}</p>"))
        .collect();
    format!(
        "<html><head><title>Otters</title></head><body><div id=page><div id=header><h1><a href=/>My blog</a></h1></div>
         <div id=content><div class='{names}'><h2><a href=/otters>Otters sleep hand in hand</a></h2>
         <div class=entry>{text}{text}</div>{after}</div></div>{beside}
         <div id=footer>My blog is proudly powered by WordPress</div></div></body></html>"
    )
}

const OTHER_TEXT: &str = "The lighthouse keeper wrote about the storm of last week, and about the boats that did not \
                          return until the following morning, to everybody's relief.";

#[test]
fn related_posts_with_compound_names_are_removed() {
    let related = format!(
        "<div id=jp-relatedposts class=jp-relatedposts><h3 class=jp-relatedposts-headline>Related</h3>{}</div>",
        format!("<div class=jp-relatedposts-post><p class=jp-relatedposts-post-excerpt>{OTHER_TEXT}</p></div>").repeat(3)
    );
    assert_main(
        &blog_post("post", &related, ""),
        &PARAGRAPHS,
        &["lighthouse keeper"],
    );
}

#[test]
fn comments_with_names_in_other_languages_are_removed() {
    for (area, comment) in [
        ("kommentare", "kommentarText"),
        ("commentaires", "texte_commentaire"),
        ("comentarios", "comentario"),
        ("reacties", "reactie"),
    ] {
        let comments = format!(
            "<div id={area}>{}</div>",
            format!("<div class={comment}>{OTHER_TEXT}</div>").repeat(12)
        );
        assert_main(
            &blog_post("post", &comments, ""),
            &PARAGRAPHS,
            &["lighthouse keeper"],
        );
    }
}

#[test]
fn a_sidebar_is_recognised_in_any_spelling() {
    for name in ["sidebar", "sideBar", "blogSideBarItem", "leftsidebar"] {
        let beside = format!(
            "<div class={name}><h3>About</h3><p>{OTHER_TEXT}</p><ul>{}</ul></div>",
            "<li><a href=/a>January 2009</a></li>".repeat(12)
        );
        assert_main(
            &blog_post("post", "", &beside),
            &PARAGRAPHS,
            &["lighthouse keeper", "January 2009"],
        );
    }
}

#[test]
fn a_post_that_is_commented_is_not_a_comment() {
    assert_main(
        &blog_post("post hentry commented", "", ""),
        &PARAGRAPHS,
        &[],
    );
}

#[test]
fn an_article_without_metadata_or_names_is_recognised() {
    let text = PARAGRAPHS.join("<p>");
    let html = format!(
        "<html><head><title>Otters</title></head><body><h1>Otters in the harbour</h1><hr>{text}<p>{text}
         <h2>Diet</h2><ul><li>Fish of all kinds<li>Clams</ul><p>{text}<hr><address>Ann Author</address></body></html>"
    );
    let (page_type, _) = main_content(&html);
    assert_eq!(page_type, Some(PageType::Article));
    assert_main(&html, &PARAGRAPHS, &[]);
}

#[test]
fn every_card_of_a_listing_is_kept() {
    let mut cards = String::new();
    for number in 1..=12 {
        write!(
            cards,
            "<div class=card><a href=/s/{number}><h3>Story number {number} about the harbour</h3></a>
             <p>A short teaser of story {number} that says what happened in the harbour this week.</p></div>"
        )
        .unwrap();
    }
    let html = format!(
        "<html><head><title>News</title></head><body><nav><a href=/>Home</a></nav><main><h1>Latest</h1>
         <div class=list>{cards}</div></main><footer>© 2026</footer></body></html>"
    );
    let (_, text) = main_content(&html);
    for number in 1..=12 {
        assert!(
            text.contains(&format!("teaser of story {number} that")),
            "{text}"
        );
    }
}

fn shop(description: &str, reviews: &str) -> String {
    format!(
        "<html><head><title>Copper kettle</title><meta property=og:type content=product>
         <script type=application/ld+json>{{\"@type\":\"Product\",\"name\":\"Copper kettle\",\"offers\":{{\"@type\":\"Offer\",
         \"price\":\"49\"}}}}</script></head><body><nav><a href=/>Shop</a> <a href=/cart>Cart</a></nav>
         <main><div class=product><h1>Copper kettle</h1><div class=price>$49.00</div>
         <button>Add to cart</button>{description}</div>{reviews}</main></body></html>"
    )
}

#[test]
fn reviews_are_not_taken_for_the_product() {
    let description = "<div class=product-description><p>This kettle of solid copper holds two litres and boils them in four \
                       minutes on any stove, gas or induction.</p><p>The handle is oak, stays cool, and can be replaced \
                       without tools.</p></div>";
    let review = "<div class=review><b>Ann</b><p>I bought this kettle for my mother, and she has not stopped talking about it \
                  since, which is why I give it four stars and not five.</p></div>";
    let html = shop(
        description,
        &format!("<div class=reviews>{}</div>", review.repeat(4)),
    );
    assert_eq!(main_content(&html).0, Some(PageType::Product));
    assert_main(
        &html,
        &["holds two litres", "handle is oak"],
        &["for my mother"],
    );
}

#[test]
fn a_hidden_duplicate_is_kept_once() {
    let description = "<div class=product-description><p>This kettle of solid copper holds two litres and boils them in four \
                       minutes on any stove, gas or induction.</p></div>";
    let html = shop(
        &format!("<div style='display: none'>{description}</div>{description}"),
        "",
    );
    assert_eq!(main_content(&html).1.matches("holds two litres").count(), 1);
}

#[test]
fn tables_are_not_given_up_for_footnotes() {
    let rows: String = (1..=30)
        .map(|year| {
            format!(
                "<tr><td>{}</td><td>{} tonnes of herring</td></tr>",
                1990 + year,
                year * 37
            )
        })
        .collect();
    let html = format!(
        "<html><head><title>Herring by year</title></head><body><nav><a href=/>Statistics</a></nav><main><h1>Herring by year</h1>
         <table>{rows}</table><div class=footnotes><p>1. Weights are landed weights as reported by the harbour masters, without \
         discards.</p></div></main></body></html>"
    );
    assert_main(
        &html,
        &["1995\t185 tonnes of herring", "2020\t1110 tonnes"],
        &["Statistics"],
    );
}

#[test]
fn content_in_noscript_only_is_kept() {
    let html = format!(
        "<html><head><title>Otters</title></head><body><div id=app>Loading</div><noscript><div class=post><p>{}</p><p>{}</p>\
         <p>{}</p></div></noscript></body></html>",
        PARAGRAPHS[0], PARAGRAPHS[1], PARAGRAPHS[2]
    );
    assert_main(&html, &PARAGRAPHS, &[]);
    // A request to turn on scripts does not replace the page.
    let html = article(
        "",
        "<noscript>Please turn on JavaScript in your browser.</noscript>",
    );
    assert_main(&html, &PARAGRAPHS, &["JavaScript"]);
}

#[test]
fn content_in_json_ld_only_is_kept() {
    let body = PARAGRAPHS.join("\\n");
    let html = format!(
        "<html><head><title>Otters</title><script type='application/ld+json'>{{\"@type\":\"NewsArticle\",\"articleBody\":\"{body}\"}}\
         </script></head><body><div id=app>Loading</div></body></html>"
    );
    assert_main(&html, &PARAGRAPHS, &[]);
    // A page that shows the text has it once.
    let shown = html.replace("Loading", &PARAGRAPHS.join("<p>"));
    let mut extractor = Extractor::new();
    let page = extractor.extract(&shown, &Options::default());
    assert_eq!(page.text.matches(PARAGRAPHS[0]).count(), 1);
}

#[test]
fn content_in_the_state_of_scripts_only_is_kept() {
    let body = PARAGRAPHS
        .map(|paragraph| format!("\\u003cp>{paragraph}\\u003c\\/p>"))
        .concat();
    let more =
        "They dive for urchins, crabs and clams, and eat a fifth of their own weight every day. ";
    let body = format!("{body}\\u003cp>{}", more.repeat(4));
    let state = format!(
        r#"{{"page":{{"title":"Otters","articleBody":"{body}"}},"related":[{{"articleBody":"Other pages have a summary here, which is long enough to be
            taken for a text of this page, but is shorter than it, as the summaries of other pages are on nearly all pages that embed them for their scripts."}}]}}"#
    );
    let page = |script: &str, shown: &str| {
        format!(
            "<html><head><title>Otters</title></head><body><div id=app>{shown}</div>{script}</body></html>"
        )
    };
    for script in [
        format!("<script id=__NEXT_DATA__ type=application/json>{state}</script>"),
        format!("<script>\n window.__INITIAL_STATE__ = {state};</script>"),
        format!("<script type='text/javascript'>window[\"__STATE__\"]={state}</script>"),
        format!(
            "<script type=application/json>{}</script>",
            state.replace("articleBody", "content_html")
        ),
    ] {
        assert_main(&page(&script, "Loading"), &PARAGRAPHS, &["Other pages"]);
        // A page that shows the text has it once.
        let shown = page(&script, &PARAGRAPHS.join("<p>"));
        let mut extractor = Extractor::new();
        let page = extractor.extract(&shown, &Options::default());
        assert_eq!(page.text.matches(PARAGRAPHS[0]).count(), 1);
    }
    let mut extractor = Extractor::new();
    let mut is_read = |html: String| {
        let page = extractor.extract(&html, &Options::default());
        page.text.contains(PARAGRAPHS[0])
    };
    // Which of several texts is that of the page is unknown.
    let list = format!(r#"[{{"content":"{body}"}},{{"content":"{body} More."}}]"#);
    for script in [
        format!("<script type=application/json>{list}</script>"),
        format!("<script type=text/template>{state}</script>"),
        format!("<script>render({state})</script>"),
        format!("<!-- <script type=application/json>{state}</script> -->"),
        format!(
            "<script type=application/json>{}</script>",
            state.replace("articleBody", "note")
        ),
    ] {
        assert!(!is_read(page(&script, "Loading")), "{script}");
    }
    // A page with more text than its state is complete.
    let script = format!("<script type=application/json>{state}</script>");
    let other = "A page about other animals has words of its own. ".repeat(40);
    assert!(is_read(page(&script, "Loading")));
    assert!(!is_read(page(&script, &other)));
}

#[test]
fn what_is_only_called_a_comment_is_kept_if_it_is_the_page() {
    let posts = |class: &str| {
        let post = |paragraph: &str| {
            format!(
                "<div class={class}-container><h3>orla commented</h3><div class={class}-body><p>{paragraph}</div></div>"
            )
        };
        PARAGRAPHS.map(post).concat()
    };
    let page = |text: &str| {
        format!(
            "<html><head><title>Otters</title></head><body><header><a href=/login>Sign in</a></header><main>\
             <h1>Otters at night</h1>{text}</main><footer>© 2024 Zoo</footer></body></html>"
        )
    };
    assert_main(&page(&posts("comment")), &PARAGRAPHS, &[]);
    assert_main(&page(&posts("signature")), &PARAGRAPHS, &[]);
    let lines = PARAGRAPHS.join("\n");
    assert_main(
        &page(&format!("<textarea>{lines}</textarea>")),
        &PARAGRAPHS,
        &[],
    );
    // Comments below an article are none of it, however short it is.
    let article = format!("<p>{}", PARAGRAPHS[0]);
    let comments = "<div class=comment-body><p>I have seen one of them sleep on its back, too, in the harbour, and it was a sight.</div>";
    let html = page(&format!(
        "{article}<div id=comments>{}</div>",
        comments.repeat(6)
    ));
    assert_main(&html, &PARAGRAPHS[..1], &["in the harbour"]);
}

#[test]
fn stated_text_follows_if_the_page_shows_none_of_it() {
    let mut extractor = Extractor::new();
    let mut text = |html: &str| {
        let page = extractor.extract(html, &Options::default());
        page.text.clone()
    };
    let body = PARAGRAPHS.join(" ");
    let json = |key: &str, kind: &str, text: &str| {
        format!(
            "<script type='application/ld+json'>{{\"@type\":\"{kind}\",\"{key}\":\"{text}\"}}</script>"
        )
    };
    let article = json("articleBody", "NewsArticle", &body);
    assert_eq!(text(&article), body);
    // What must be paid for is not shown.
    let shown = format!("{article}<p>{}", PARAGRAPHS[0]);
    assert_eq!(text(&shown), PARAGRAPHS[0]);
    // A short text in a frame.
    let short = "A lamp of brass, with a switch at the foot.";
    let product = json("description", "Product", short);
    assert_eq!(text(&product), short);
    assert_eq!(
        text(&format!("{product}<p>Loading")),
        format!("Loading\n\n{short}")
    );
    let more = "A page that shows more than this text is about something else.";
    assert_eq!(text(&format!("{product}<p>{more}")), more);
}

#[test]
fn short_content_in_noscript_is_kept_unless_it_asks_for_scripts() {
    let mut extractor = Extractor::new();
    let mut text = |html: &str| {
        let page = extractor.extract(html, &Options::default());
        page.text.clone()
    };
    let page = |noscript: &str| format!("<p>Views: 1043</p><noscript><p>{noscript}</noscript>");
    assert!(text(&page(PARAGRAPHS[0])).ends_with(PARAGRAPHS[0]));
    let asks = "Diese Seite braucht JavaScript; bitte schalten Sie es ein.";
    assert_eq!(text(&page(asks)), "Views: 1043");
    assert_eq!(text(&page("Otters")), "Views: 1043");
    let template = |mode: &str| format!("<div><template {mode}><p>Otters sleep</template></div>");
    assert_eq!(text(&template("shadowrootmode=open")), "Otters sleep");
    assert_eq!(text(&template("id=row")), "");
}

#[test]
fn every_decision_is_explained() {
    let html = article(
        "",
        "<div class=cookie-notice><p>We use cookies to improve your experience.</p></div>",
    );
    let mut extractor = Extractor::new();
    let page = extractor.extract(&html, &Options { outline: true });
    let explanation = explain(page);
    assert_eq!(explanation.page_type, Some(PageType::Article));
    assert_eq!(explanation.blocks.len(), page.outline.blocks.len());
    for block in &explanation.blocks {
        assert_eq!(
            block.kept,
            block.rule.is_none() && block.score > block.least,
            "{block:?}"
        );
        assert!(!block.reasons.is_empty());
    }
    let is_notice = |block: &&ExplainedBlock| page.text[block.range.clone()].contains("cookies");
    let notice = explanation.blocks.iter().find(is_notice).unwrap();
    assert_eq!(notice.rule.unwrap().name(), "consent dialogue");
}

#[test]
fn hostile_pages_are_read_in_linear_time() {
    let deep = "<div class='post comment'>".repeat(100_000) + PARAGRAPHS[0];
    assert!(main_content(&deep).1.contains("Otters sleep"));
    let siblings = "<p>o".repeat(300_000);
    main_content(&siblings);
    let json = format!(
        "<script type=application/ld+json>{}</script><p>o",
        "{\"@type\":".repeat(100_000)
    );
    assert_eq!(main_content(&json).1, "o");
    let headings = "<h2>o</h2>".repeat(100_000);
    main_content(&headings);
}
