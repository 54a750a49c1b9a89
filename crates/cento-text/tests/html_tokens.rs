//! Compares the tokenizer with html5gum, which implements the standard's states one character at a
//! time.

use cento_text::html::token::{
    Attributes, EndTag, StartTag, TextToken, TokenSink, decode_name, decode_value, tokenize,
};
use cento_text::html::{ContentModel, Tag};
use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Emitter, ForwardingEmitter, State, Tokenizer};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The common representation: text in one piece, comments and doctypes removed.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    Text(String),
    Start {
        name: String,
        attributes: BTreeMap<String, String>,
        self_closing: bool,
    },
    End(String),
}

fn push_text(tokens: &mut Vec<Token>, text: &str) {
    match tokens.last_mut() {
        _ if text.is_empty() => {}
        Some(Token::Text(last)) => last.push_str(text),
        _ => tokens.push(Token::Text(text.to_owned())),
    }
}

struct Collector {
    tokens: Vec<Token>,
    wants: fn(Tag) -> bool,
}

fn attribute_map(attributes: Attributes<'_>) -> BTreeMap<String, String> {
    let mut map = BTreeMap::new();
    for (name, value) in attributes.iter() {
        map.entry(decode_name(name))
            .or_insert_with(|| decode_value(value).into_owned());
    }
    for (name, value) in &map {
        if !name.contains('\u{FFFD}') {
            assert_eq!(attributes.get(name).as_deref(), Some(value.as_str()));
        }
    }
    map
}

impl TokenSink for Collector {
    fn text(&mut self, text: TextToken<'_>) {
        push_text(&mut self.tokens, &text.decode());
    }

    fn wants_attributes(&mut self, tag: Tag) -> bool {
        (self.wants)(tag)
    }

    fn start_tag(&mut self, start: StartTag<'_>) -> ContentModel {
        assert_eq!(start.tag, Tag::from_name(start.name()));
        self.tokens.push(Token::Start {
            name: decode_name(start.name()),
            attributes: attribute_map(start.attributes),
            self_closing: start.self_closing,
        });
        start.tag.content_model()
    }

    fn end_tag(&mut self, end: EndTag<'_>) {
        assert_eq!(end.tag, Tag::from_name(end.name()));
        self.tokens.push(Token::End(decode_name(end.name())));
    }
}

fn ours(html: &str, wants: fn(Tag) -> bool) -> Vec<Token> {
    let mut collector = Collector {
        tokens: Vec::new(),
        wants,
    };
    tokenize(html, &mut collector);
    collector.tokens
}

/// html5gum, with the states of [`Tag::content_model`]; its own simple switching treats `noframe`
/// as an element.
#[derive(Default)]
struct Switching {
    inner: DefaultEmitter,
    name: Vec<u8>,
    is_start: bool,
}

impl ForwardingEmitter for Switching {
    type Token = html5gum::Token;

    fn inner(&mut self) -> &mut impl Emitter<Token = Self::Token> {
        &mut self.inner
    }

    fn init_start_tag(&mut self) {
        self.name.clear();
        self.is_start = true;
        Emitter::init_start_tag(&mut self.inner);
    }

    fn init_end_tag(&mut self) {
        self.is_start = false;
        Emitter::init_end_tag(&mut self.inner);
    }

    fn push_tag_name(&mut self, name: &[u8]) {
        if self.is_start {
            self.name.extend(name);
        }
        Emitter::push_tag_name(&mut self.inner, name);
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        let _own_choice = Emitter::emit_current_tag(&mut self.inner);
        if !self.is_start {
            return None;
        }
        let name = String::from_utf8_lossy(&self.name);
        match Tag::from_name(&name).content_model() {
            ContentModel::Data => None,
            ContentModel::RcData => Some(State::RcData),
            ContentModel::RawText => Some(State::RawText),
            ContentModel::Script => Some(State::ScriptData),
            ContentModel::PlainText => Some(State::PlainText),
        }
    }
}

fn theirs(html: &str) -> Vec<Token> {
    let string = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut tokens = Vec::new();
    for token in Tokenizer::new_with_emitter(html, Switching::default()) {
        let Ok(token) = token;
        match token {
            html5gum::Token::StartTag(start) => tokens.push(Token::Start {
                name: string(&start.name),
                attributes: start
                    .attributes
                    .iter()
                    .map(|(name, value)| (string(name), string(&value.value)))
                    .collect(),
                self_closing: start.self_closing,
            }),
            html5gum::Token::EndTag(end) => tokens.push(Token::End(string(&end.name))),
            html5gum::Token::String(text) => push_text(&mut tokens, &string(&text.value)),
            html5gum::Token::Comment(_)
            | html5gum::Token::Doctype(_)
            | html5gum::Token::Error(_) => {}
        }
    }
    tokens
}

fn assert_same(html: &str) {
    let theirs = theirs(html);
    assert_eq!(ours(html, |_| true), theirs, "{html:?}");
    // Unneeded attributes are skipped by other code, which must end tags at the same positions.
    let bare: Vec<Token> = theirs
        .into_iter()
        .map(|token| match token {
            Token::Start {
                name, self_closing, ..
            } => Token::Start {
                name,
                attributes: BTreeMap::new(),
                self_closing,
            },
            other => other,
        })
        .collect();
    assert_eq!(ours(html, |_| false), bare, "{html:?}");
}

/// Pieces that are significant in some state, in or out of place.
const PIECES: &[&str] = &[
    "<",
    ">",
    "/",
    "=",
    "\"",
    "'",
    "&",
    ";",
    "#",
    "-",
    "!",
    "?",
    "[",
    "]",
    " ",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\x0C",
    "\0",
    "`",
    "a",
    "x",
    "é",
    "漢",
    "\u{a0}",
    "\u{85}",
    "\x0B",
    "\x7f",
    "😀",
    "</",
    "/>",
    "<!",
    "<!-",
    "<!--",
    "-->",
    "--!>",
    "->",
    "--",
    "--!",
    "<!-->",
    "<!--->",
    "<!---->",
    "<?",
    "</>",
    "</ ",
    "<![CDATA[",
    "]]>",
    "<!doctype ",
    "<!DOCTYPE html PUBLIC \"",
    "<a",
    "<a ",
    "<a href=",
    "<a href=\"",
    "<A HREF='",
    " href=x",
    " b=\"c\"",
    " B='d'",
    " b",
    " =",
    " b = ",
    "<p>",
    "</p>",
    "</P >",
    "<br/>",
    "<br / x>",
    "<title>",
    "</title>",
    "</title",
    "</TITLE ",
    "</titlex>",
    "<textarea>",
    "</textarea/>",
    "<script>",
    "<script ",
    "</script>",
    "</script",
    "</SCRIPT/",
    "</script\t",
    "<scriptx>",
    "<style>",
    "</style>",
    "<xmp>",
    "</xmp>",
    "<iframe>",
    "</iframe>",
    "<noembed>",
    "</noembed>",
    "<noframes>",
    "</noframes>",
    "<noscript>",
    "</noscript>",
    "<svg>",
    "</svg>",
    "<plaintext>",
    "<Custom-Tag>",
    "<blockquote ",
    "</foreignObject>",
    "<h1>",
    "<h7>",
    "<h\u{11}>",
    "<a\0b>",
    "<a \0=\0>",
    "&amp;",
    "&amp",
    "&ampamp;",
    "&lt",
    "&gt;",
    "&quot;",
    "&nbsp;",
    "&notit;",
    "&notin;",
    "&not",
    "&copy=1",
    "&copy;",
    "&eacute;",
    "&eacute",
    "&xyzzy;",
    "&CounterClockwiseContourIntegral;",
    "&CounterClockwiseContourIntegrall;",
    "&nGt;",
    "&acE;",
    "&#65;",
    "&#65",
    "&#x41;",
    "&#X4a",
    "&#",
    "&#x",
    "&#0;",
    "&#13;",
    "&#128;",
    "&#x9f;",
    "&#xD800;",
    "&#x10FFFF;",
    "&#x110000;",
    "&#99999999999999999999;",
    "&#xFFFE;",
];

fn soup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(PIECES).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => "[a-zA-Z0-9 ]{0,12}",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Scripts have eighteen states, which general tag soup rarely reaches.
fn script() -> impl Strategy<Value = String> {
    let pieces = &[
        "<!--",
        "-->",
        "--",
        "-",
        ">",
        "<",
        "!",
        "<!",
        "<!-",
        "<script",
        "<SCRIPT>",
        "<script ",
        "</script",
        "</script>",
        "</script ",
        "</Script/",
        "/",
        "script",
        " ",
        "\n",
        "x",
        "\0",
        "</scriptx>",
        "<!-->",
        "--->",
        "<!--<script>",
    ];
    prop::collection::vec(prop::sample::select(pieces.as_slice()), 0..30)
        .prop_map(|pieces| format!("<script>{}</script><p>after", pieces.concat()))
}

/// Malformed attributes.
fn tag() -> impl Strategy<Value = String> {
    let pieces = &[
        " ", "\n", "\r", "/", ">", "=", "\"", "'", "a", "B", "href", "=\"", "='", "\" ", "' ",
        "\0", "&amp;", "&copy=", "&copy", "<", "`", "é", "\x0B", " = ", "value", "\t=\r\n",
    ];
    prop::collection::vec(prop::sample::select(pieces.as_slice()), 0..30)
        .prop_map(|pieces| format!("x<a {}>y</a>z", pieces.concat()))
}

fn comment() -> impl Strategy<Value = String> {
    let pieces = &[
        "-", "--", "!", ">", "<", "<!", "<!--", "->", "x", " ", "\0", "--!", "[CDATA[", "]]>",
    ];
    prop::collection::vec(prop::sample::select(pieces.as_slice()), 0..20)
        .prop_map(|pieces| format!("a<!--{}b<i>c", pieces.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn tag_soup_is_tokenized_as_by_html5gum(html in soup()) {
        assert_same(&html);
    }

    #[test]
    fn scripts_end_where_html5gum_ends_them(html in script()) {
        assert_same(&html);
    }

    #[test]
    fn attributes_are_split_as_by_html5gum(html in tag()) {
        assert_same(&html);
    }

    #[test]
    fn comments_end_where_html5gum_ends_them(html in comment()) {
        assert_same(&html);
    }

    #[test]
    fn random_bytes_are_tokenized_as_by_html5gum(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        assert_same(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn printable_bytes_are_tokenized_as_by_html5gum(html in "[ -@\\[-`{-~a-c\n]{0,120}") {
        assert_same(&html);
    }
}

#[test]
fn pieces_and_pairs_of_pieces_are_tokenized_as_by_html5gum() {
    for first in PIECES {
        assert_same(first);
        for second in PIECES {
            assert_same(&format!("{first}{second}"));
            assert_same(&format!("u{first}v{second}w"));
        }
    }
}

#[test]
fn a_page_may_end_anywhere() {
    let page = "<!DOCTYPE html><!-- c --><title>a &amp; b</title><script>x<!--<script>y</script>-->z</script>\
        <p class=\"a&amp;b\" id='c' d=e f>text &eacute; &#x41;</p><br/></>< 3 <?pi?><![CDATA[x]]><style>s</style>";
    for end in 0..=page.len() {
        assert_same(&page[..end]);
    }
}

#[test]
fn cdata_sections_are_text_in_foreign_content_only() {
    struct Foreign(String);
    impl TokenSink for Foreign {
        fn text(&mut self, text: TextToken<'_>) {
            self.0.push_str(&text.decode());
        }
        fn wants_attributes(&mut self, _: Tag) -> bool {
            false
        }
        fn start_tag(&mut self, _: StartTag<'_>) -> ContentModel {
            ContentModel::Data
        }
        fn end_tag(&mut self, _: EndTag<'_>) {}
        fn in_foreign_content(&self) -> bool {
            true
        }
    }
    for (html, expected) in [
        ("a<![CDATA[<b>&amp;]]>c", "a<b>&amp;c"),
        ("a<![CDATA[]]>c", "ac"),
        ("a<![CDATA[b", "ab"),
        ("a<![CDATA[b]]", "ab]]"),
        ("a<![cdata[b>c]]>", "ac]]>"),
    ] {
        let mut sink = Foreign(String::new());
        tokenize(html, &mut sink);
        assert_eq!(sink.0, expected, "{html}");
    }
    assert_same("a<![CDATA[<b>&amp;]]>c");
}
