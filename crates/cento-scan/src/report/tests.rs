//! The page holds what it should, and nothing that a stranger put there acts.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::analyses::analysis;
use crate::section::{Cell, Excerpt, Next, Origin, Piece, Quote, Table};

/// A report in which every text is the same one.
fn report_of(text: &str) -> Report {
    let text = text.to_owned();
    let section = Section {
        headlines: vec![Headline::new(text.clone(), text.clone())],
        sentences: vec![text.clone()],
        tables: vec![Table {
            title: text.clone(),
            columns: vec![text.clone(), text.clone()],
            rows: vec![vec![Cell::Address(text.clone()), Cell::Text(text.clone())]],
            more: 1,
        }],
        excerpts: vec![Excerpt {
            page: text.clone(),
            about: text.clone(),
            pieces: vec![
                Piece::Own(text.clone()),
                Piece::From(0, text.clone()),
                Piece::From(9, text.clone()),
                Piece::Gap(12),
            ],
            sources: vec![Origin {
                source: text.clone(),
                about: text.clone(),
                quotes: vec![Quote {
                    before: text.clone(),
                    words: text.clone(),
                    after: text.clone(),
                }],
            }],
            more: 3,
        }],
        next: vec![Next {
            command: text.clone(),
            why: text.clone(),
        }],
    };
    let figure = cento_figure::Figure::new(
        text.clone(),
        cento_figure::Axis::of_categories(text.clone(), [text.clone()]),
        cento_figure::Axis::linear(text.clone()),
    )
    .caption(text.clone())
    .series(cento_figure::Series::columns(text.clone(), [1.0]));
    let chapters = analysis("copies").map(|analysis| Chapter {
        analysis,
        command: text.clone(),
        findings: text.clone(),
        section,
        drawings: vec![Drawing::new("figure", figure)],
    });
    let left_out = analysis("quilts").map(|analysis| LeftOut {
        analysis,
        reason: text.clone(),
    });
    Report {
        corpus: text,
        profile: Profile::default(),
        chapters: chapters.into_iter().collect(),
        left_out: left_out.into_iter().collect(),
    }
}

/// The elements, the attributes, and where links lead.
type Markup = (BTreeSet<String>, BTreeSet<String>, Vec<String>);

/// All elements and attributes of a page, which must be well-formed.
fn markup(page: &str) -> Result<Markup, String> {
    let page = page.replacen("<!DOCTYPE html>", "", 1);
    let document = roxmltree::Document::parse(&page).map_err(|error| error.to_string())?;
    let (mut elements, mut attributes, mut targets) =
        (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        elements.insert(node.tag_name().name().to_owned());
        for attribute in node.attributes() {
            attributes.insert(attribute.name().to_owned());
            if attribute.name() == "href" {
                targets.push(attribute.value().to_owned());
            }
        }
    }
    Ok((elements, attributes, targets))
}

type Result<T, E> = std::result::Result<T, E>;

const ATTACKS: [&str; 10] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "</style><script>alert(1)</script>",
    "</title><svg onload=alert(1)>",
    "javascript:alert(1)",
    "https://evil.example/\"onclick=\"alert(1)",
    "]]><!-- --><![CDATA[",
    "&lt;script&gt; &#60;script&#62; &quot;",
    "\u{202e}\u{0}\u{1b}[31m{{7*7}}${7*7}",
];

#[test]
fn attacks_are_text_and_add_no_element_and_no_attribute() {
    let plain = markup(&report_of("plain").html());
    assert!(plain.is_ok(), "{plain:?}");
    for attack in ATTACKS {
        let attacked = markup(&report_of(attack).html());
        let (elements, attributes, targets) = attacked.clone().unwrap_or_default();
        let (known, usual, _) = plain.clone().unwrap_or_default();
        assert!(attacked.is_ok(), "{attack}: {attacked:?}");
        let with_links: BTreeSet<String> = ["a", "href", "rel"].map(str::to_owned).into();
        let beyond: Vec<_> = elements
            .difference(&known)
            .filter(|name| !with_links.contains(*name))
            .collect();
        assert!(beyond.is_empty(), "{attack}: {beyond:?}");
        let beyond: Vec<_> = attributes
            .difference(&usual)
            .filter(|name| !with_links.contains(*name))
            .collect();
        assert!(beyond.is_empty(), "{attack}: {beyond:?}");
        for target in targets {
            assert!(
                target.starts_with('#') || target.starts_with("https://"),
                "{target}"
            );
        }
    }
}

#[test]
fn the_page_names_nothing_outside_of_it() {
    let page = report_of("plain").html();
    for word in [
        "<script", "src=", "url(", "@import", "<link", "<iframe", "<object", "<form",
    ] {
        assert!(!page.contains(word), "{word}");
    }
    assert!(page.contains("default-src 'none'"));
}

proptest! {
    #[test]
    fn any_text_gives_a_page_that_is_well_formed(text in "\\PC{0,60}|[\\x00-\\x7f]{0,60}") {
        let told = markup(&report_of(&text).html());
        prop_assert!(told.is_ok(), "{:?}", told);
    }
}
