//! A report is well-formed, and untrusted text cannot add markup to it.

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::{
    Chapter, ComparedPiece, ComparedSide, Comparison, Drawing, EvidenceEntry, EvidenceHead,
    Excerpt, ExcerptPiece, ExcerptSource, Finding, FindingEvidence, Headline, Quote, Report,
    ReportCell, ReportTable, Section, SkippedNotice, Suggestion, evidence_end,
};

/// Returns a file of evidence in which every text is `text`.
fn evidence_of(text: &str) -> String {
    let head = EvidenceHead {
        site: text.to_owned(),
        summary: vec![text.to_owned()],
        method: vec![text.to_owned()],
        command: text.to_owned(),
    };
    let entry = EvidenceEntry {
        number: 1,
        page: vec![("Address", text.to_owned())],
        reference: vec![("Address", text.to_owned())],
        relation: vec![text.to_owned()],
        passages: vec![Comparison {
            about: text.to_owned(),
            sides: [(); 2].map(|()| ComparedSide {
                address: text.to_owned(),
                pieces: vec![ComparedPiece::Differing(text.to_owned())],
            }),
        }],
    };
    format!("{}{}{}", head.html(), entry.html(), evidence_end())
}

/// Returns a report in which every text is `text`.
fn report_of(text: &str) -> Report {
    let text = text.to_owned();
    let section = Section {
        headlines: vec![Headline::new(text.clone(), text.clone())],
        findings: vec![Finding {
            sentence: text.clone(),
            pages: 1,
            evidence: FindingEvidence::Comparison(0),
        }],
        absent: None,
        sentences: vec![text.clone()],
        notes: vec![text.clone()],
        tables: vec![ReportTable {
            title: text.clone(),
            columns: vec![text.clone(), text.clone()],
            rows: vec![vec![
                ReportCell::Address(text.clone()),
                ReportCell::Text(text.clone()),
            ]],
            more: 1,
            command: text.clone(),
        }],
        excerpts: vec![Excerpt {
            page: text.clone(),
            about: text.clone(),
            pieces: vec![
                ExcerptPiece::Own(text.clone()),
                ExcerptPiece::Shared(0, text.clone()),
                ExcerptPiece::Shared(9, text.clone()),
                ExcerptPiece::Gap(12),
            ],
            sources: vec![ExcerptSource {
                address: text.clone(),
                about: text.clone(),
                evidence: None,
                quotes: vec![Quote {
                    before: text.clone(),
                    passage: text.clone(),
                    after: text.clone(),
                }],
            }],
            more: 3,
        }],
        comparisons: vec![Comparison {
            about: text.clone(),
            sides: [(); 2].map(|()| ComparedSide {
                address: text.clone(),
                pieces: vec![
                    ComparedPiece::Same(text.clone()),
                    ComparedPiece::Differing(text.clone()),
                    ComparedPiece::Gap(7),
                ],
            }),
        }],
        suggestions: vec![Suggestion {
            command: text.clone(),
            purpose: text.clone(),
        }],
    };
    let figure = cento_figure::Figure::new(
        text.clone(),
        cento_figure::Axis::of_categories(text.clone(), [text.clone()]),
        cento_figure::Axis::linear(text.clone()),
    )
    .caption(text.clone())
    .series(cento_figure::Series::columns(text.clone(), [1.0]));
    let chapter = Chapter {
        id: "copies".to_owned(),
        title: text.clone(),
        question: text.clone(),
        run_by: Some(text.clone()),
        command: text.clone(),
        results: text.clone(),
        section,
        drawings: vec![Drawing::new("figure", figure)],
    };
    let skipped = SkippedNotice {
        title: text.clone(),
        reason: text.clone(),
    };
    Report {
        corpus: text.clone(),
        made: vec![text.clone()],
        command: text.clone(),
        introduction: vec![text.clone()],
        headlines: vec![Headline::new(text.clone(), text.clone())],
        root: text,
        chapters: vec![chapter],
        skipped: vec![skipped],
    }
}

/// The names of elements, the names of attributes, and the targets of links.
type Markup = (BTreeSet<String>, BTreeSet<String>, Vec<String>);

/// Parses a page, which must be well-formed.
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
fn attacks_add_no_element_and_no_attribute() {
    attacks_add_nothing(&|text| report_of(text).html());
    attacks_add_nothing(&evidence_of);
}

fn attacks_add_nothing(page_of: &dyn Fn(&str) -> String) {
    let plain = markup(&page_of("plain"));
    assert!(plain.is_ok(), "{plain:?}");
    for attack in ATTACKS {
        let attacked = markup(&page_of(attack));
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
fn a_report_refers_to_nothing_outside_itself() {
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
    fn a_report_of_any_text_is_well_formed(text in "\\PC{0,60}|[\\x00-\\x7f]{0,60}") {
        let parsed = markup(&report_of(&text).html());
        prop_assert!(parsed.is_ok(), "{:?}", parsed);
    }
}

#[test]
fn a_report_opens_with_the_five_findings_that_concern_the_most_pages() {
    let finding = |pages: u64| Finding {
        sentence: format!("{pages} pages."),
        pages,
        evidence: FindingEvidence::Table(1),
    };
    let chapter = |id: &str, pages: &[u64], absent: &str| Chapter {
        id: id.to_owned(),
        section: Section {
            findings: pages.iter().map(|&pages| finding(pages)).collect(),
            absent: (!absent.is_empty()).then(|| absent.to_owned()),
            ..Section::default()
        },
        ..Chapter::default()
    };
    let report = Report {
        chapters: vec![
            chapter("copies", &[3, 9], ""),
            chapter("reuse", &[9, 1], ""),
            chapter("quilts", &[4, 2], ""),
        ],
        ..Report::default()
    };
    let found = report.findings();
    let found: Vec<(&str, u64)> = found
        .iter()
        .map(|(chapter, finding)| (chapter.id.as_str(), finding.pages))
        .collect();
    let expected = [
        ("copies", 9),
        ("reuse", 9),
        ("quilts", 4),
        ("copies", 3),
        ("quilts", 2),
    ];
    assert_eq!(found, expected);
    assert_eq!(report.nothing_found(), None);
    assert!(
        report
            .html()
            .contains("<a href=\"#quilts-table-2\">Evidence</a>")
    );

    let nothing = Report {
        chapters: vec![
            chapter("copies", &[], "no duplicates"),
            chapter("discover", &[], ""),
            chapter("quilts", &[], "no quilts"),
        ],
        ..Report::default()
    };
    let said = nothing.nothing_found().unwrap_or_default();
    assert_eq!(said, "There are no duplicates, and no quilts.");
    assert!(nothing.html().contains(&said));
}

#[test]
fn a_figure_of_two_points_is_a_table() {
    let figure = |points: &[(f64, f64)]| {
        let axis = |label: &str| {
            cento_figure::Axis::linear(label).format(cento_figure::NumberFormat::Count)
        };
        let figure = cento_figure::Figure::new("How many?", axis("Pages"), axis("Groups"));
        let mark = cento_figure::Mark::Points;
        Drawing::new(
            "sizes",
            figure.series(cento_figure::Series::new("groups", mark, points.to_vec())),
        )
    };
    let small = figure(&[(2.0, 40.0), (3.0, 1.0)]);
    assert!(small.is_too_small());
    let table = small.table();
    assert_eq!(table.title, "How many? Pages");
    assert_eq!(table.heading(), "How many?");
    let of_pairs = ReportTable {
        title: "pairs of pages: A".to_owned(),
        columns: vec!["A".to_owned(), "B".to_owned()],
        ..ReportTable::default()
    };
    assert_eq!(of_pairs.heading(), "pairs of pages");
    assert_eq!(table.columns, ["Pages", "Groups"]);
    assert_eq!(table.rows[0], [ReportCell::Count(2), ReportCell::Count(40)]);
    assert!(!figure(&[(2.0, 40.0), (3.0, 1.0), (4.0, 1.0)]).is_too_small());
}

#[test]
fn a_chapter_is_rendered_alone_as_it_is_in_a_report() {
    let report = report_of("plain");
    let html = report.chapters[0].html(&report.root);
    assert!(report.html().contains(&html));
}
