//! Compares the writer with its definition.

use super::*;
use crate::html::tag::ContentModel;
use crate::html::token::TextToken;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum WriterCall {
    Flowing(String),
    Preformatted(String, bool),
    Edge(TagEdge),
    LineBreak,
}

fn write(steps: &[WriterCall]) -> String {
    let mut text = String::new();
    let mut writer = Writer::new(&mut text, ());
    for step in steps {
        match step {
            WriterCall::Flowing(raw) => writer.flowing(raw),
            WriterCall::Preformatted(raw, references) => writer.preformatted(raw, *references),
            WriterCall::Edge(edge) => writer.edge(*edge),
            WriterCall::LineBreak => writer.line_break(),
        }
    }
    text
}

/// The definition: decodes one character at a time and derives each separator from everything
/// between two visible characters.
fn write_naively(steps: &[WriterCall]) -> String {
    #[derive(Clone, Copy)]
    enum WrittenItem {
        Visible(char),
        Flowing,
        Blank(char),
        Break,
        Edge(TagEdge),
    }
    let mut items = Vec::new();
    for step in steps {
        let (raw, model, preformatted) = match step {
            WriterCall::Edge(edge) => {
                items.push(WrittenItem::Edge(*edge));
                continue;
            }
            WriterCall::LineBreak => {
                items.push(WrittenItem::Break);
                continue;
            }
            WriterCall::Flowing(raw) => (raw, ContentModel::Data, false),
            WriterCall::Preformatted(raw, true) => (raw, ContentModel::Data, true),
            WriterCall::Preformatted(raw, false) => (raw, ContentModel::RawText, true),
        };
        // Line ends are normalised first; NUL is removed in every element.
        let raw = raw
            .replace("\r\n", "\n")
            .replace('\r', "\n")
            .replace('\0', "");
        for character in (TextToken { raw: &raw, model }).decode().chars() {
            items.push(match character {
                '\n' | '\r' if preformatted => WrittenItem::Break,
                ' ' | '\u{A0}' if preformatted => WrittenItem::Blank(' '),
                '\t' if preformatted => WrittenItem::Blank('\t'),
                ' ' | '\t' | '\n' | '\r' | '\x0C' | '\u{A0}' => WrittenItem::Flowing,
                other if separates_words(other) && preformatted => WrittenItem::Blank(' '),
                other if separates_words(other) => WrittenItem::Flowing,
                other if other.is_control() => continue,
                other => WrittenItem::Visible(other),
            });
        }
    }
    let mut text = String::new();
    let mut between = Vec::new();
    for item in items {
        let WrittenItem::Visible(character) = item else {
            between.push(item);
            continue;
        };
        let mut strongest = TagEdge::None;
        let mut blank = String::new();
        for item in between.drain(..) {
            match item {
                WrittenItem::Visible(_) => unreachable!(),
                WrittenItem::Flowing => strongest = strongest.max(TagEdge::Space),
                WrittenItem::Blank(character) => blank.push(character),
                WrittenItem::Edge(edge) => {
                    strongest = strongest.max(edge);
                    if edge >= TagEdge::Cell {
                        blank.clear();
                    }
                }
                WrittenItem::Break => {
                    strongest = if strongest >= TagEdge::Line {
                        TagEdge::Paragraph
                    } else {
                        TagEdge::Line
                    };
                    blank.clear();
                }
            }
        }
        if !text.is_empty() {
            text.push_str(match strongest {
                TagEdge::Space if blank.is_empty() => " ",
                TagEdge::None | TagEdge::Space => "",
                TagEdge::Cell => "\t",
                TagEdge::Line => "\n",
                TagEdge::Paragraph => "\n\n",
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

fn step() -> impl Strategy<Value = WriterCall> {
    let edge = prop::sample::select(
        [
            TagEdge::None,
            TagEdge::Space,
            TagEdge::Cell,
            TagEdge::Line,
            TagEdge::Paragraph,
        ]
        .as_slice(),
    );
    prop_oneof![
        3 => raw().prop_map(WriterCall::Flowing),
        3 => (raw(), any::<bool>()).prop_map(|(raw, references)| WriterCall::Preformatted(raw, references)),
        2 => edge.prop_map(WriterCall::Edge),
        1 => Just(WriterCall::LineBreak),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    #[test]
    fn runs_are_written_like_their_single_characters(steps in prop::collection::vec(step(), 0..10)) {
        prop_assert_eq!(write(&steps), write_naively(&steps));
    }
}
