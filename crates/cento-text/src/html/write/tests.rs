//! The writer against its definition.

use super::*;
use crate::html::tag::ContentModel;
use crate::html::token::Text;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Flowing(String),
    Preformatted(String, bool),
    Edge(Edge),
    LineBreak,
}

fn write(steps: &[Step]) -> String {
    let mut text = String::new();
    let mut writer = Writer::new(&mut text, ());
    for step in steps {
        match step {
            Step::Flowing(raw) => writer.flowing(raw),
            Step::Preformatted(raw, references) => writer.preformatted(raw, *references),
            Step::Edge(edge) => writer.edge(*edge),
            Step::LineBreak => writer.line_break(),
        }
    }
    text
}

/// The definition: one decoded character at a time, and what stands between two visible ones worked
/// out from all of it.
fn write_naively(steps: &[Step]) -> String {
    #[derive(Clone, Copy)]
    enum Item {
        Visible(char),
        Flowing,
        Blank(char),
        Break,
        Edge(Edge),
    }
    let mut items = Vec::new();
    for step in steps {
        let (raw, model, preformatted) = match step {
            Step::Edge(edge) => {
                items.push(Item::Edge(*edge));
                continue;
            }
            Step::LineBreak => {
                items.push(Item::Break);
                continue;
            }
            Step::Flowing(raw) => (raw, ContentModel::Data, false),
            Step::Preformatted(raw, true) => (raw, ContentModel::Data, true),
            Step::Preformatted(raw, false) => (raw, ContentModel::RawText, true),
        };
        // Line ends are evened out before anything else; NUL is no character of the text in any
        // element.
        let raw = raw
            .replace("\r\n", "\n")
            .replace('\r', "\n")
            .replace('\0', "");
        for character in (Text { raw: &raw, model }).decode().chars() {
            items.push(match character {
                '\n' | '\r' if preformatted => Item::Break,
                ' ' | '\u{A0}' if preformatted => Item::Blank(' '),
                '\t' if preformatted => Item::Blank('\t'),
                ' ' | '\t' | '\n' | '\r' | '\x0C' | '\u{A0}' => Item::Flowing,
                other if parts_words(other) && preformatted => Item::Blank(' '),
                other if parts_words(other) => Item::Flowing,
                other if other.is_control() => continue,
                other => Item::Visible(other),
            });
        }
    }
    let mut text = String::new();
    let mut between = Vec::new();
    for item in items {
        let Item::Visible(character) = item else {
            between.push(item);
            continue;
        };
        let mut strongest = Edge::None;
        let mut blank = String::new();
        for item in between.drain(..) {
            match item {
                Item::Visible(_) => unreachable!(),
                Item::Flowing => strongest = strongest.max(Edge::Space),
                Item::Blank(character) => blank.push(character),
                Item::Edge(edge) => {
                    strongest = strongest.max(edge);
                    if edge >= Edge::Cell {
                        blank.clear();
                    }
                }
                Item::Break => {
                    strongest = if strongest >= Edge::Line {
                        Edge::Paragraph
                    } else {
                        Edge::Line
                    };
                    blank.clear();
                }
            }
        }
        if !text.is_empty() {
            text.push_str(match strongest {
                Edge::Space if blank.is_empty() => " ",
                Edge::None | Edge::Space => "",
                Edge::Cell => "\t",
                Edge::Line => "\n",
                Edge::Paragraph => "\n\n",
            });
            text.push_str(&blank);
        }
        text.push(character);
    }
    text
}

fn raw() -> impl Strategy<Value = String> {
    let pieces = &[
        " ",
        "  ",
        "\n",
        "\r\n",
        "\r",
        "\t",
        "\x0C",
        "\x0B",
        "\0",
        "\x7F",
        "\u{85}",
        "\u{A0}",
        "©",
        "é",
        "漢字",
        "a",
        "word",
        "two words",
        "longer run of words",
        "&nbsp;",
        "&amp;",
        "&",
        "&#10;",
        "&#13;",
        "&#9;",
        "&#32;",
        "&#x85;",
        "&#x81;",
        "&eacute",
        "&acE;",
        "<",
    ];
    prop::collection::vec(prop::sample::select(pieces.as_slice()), 0..12)
        .prop_map(|pieces| pieces.concat())
}

fn step() -> impl Strategy<Value = Step> {
    let edge = prop::sample::select(
        [
            Edge::None,
            Edge::Space,
            Edge::Cell,
            Edge::Line,
            Edge::Paragraph,
        ]
        .as_slice(),
    );
    prop_oneof![
        3 => raw().prop_map(Step::Flowing),
        3 => (raw(), any::<bool>()).prop_map(|(raw, references)| Step::Preformatted(raw, references)),
        2 => edge.prop_map(Step::Edge),
        1 => Just(Step::LineBreak),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    #[test]
    fn runs_are_written_as_their_characters_one_by_one(steps in prop::collection::vec(step(), 0..10)) {
        prop_assert_eq!(write(&steps), write_naively(&steps));
    }
}
