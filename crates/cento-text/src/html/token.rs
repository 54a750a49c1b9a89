//! The tokenizer: a page as a sequence of text runs, start tags and end tags, by the rules of the
//! WHATWG standard.
//!
//! The standard describes eighty states that read one character each. Read over a page that is
//! wholly in memory they come down to a few searches: text ends at a `<` that a letter, `/`, `!` or
//! `?` follows; a comment ends at `-->` or `--!>`; a tag ends at the first `>` outside a quoted
//! value. So the tokenizer jumps from one such byte to the next, and hands out slices of the page.
//! Nothing is decoded or copied until somebody asks: [`Text::decode`] and [`Attributes::get`] do it
//! then.
//!
//! The tests hold its output against that of a tokenizer which is written state by state.

use super::scan::{self, SPACE, TAG_NAME_END, UNQUOTED_END, bytes_below, bytes_equal};
use super::tag::{ContentModel, Tag, pack};

mod parts;
mod raw;

use parts::{AttributeSpan, slice};
pub use parts::{Attributes, EndTag, StartTag, Text, decode_name, decode_value};

/// Receives what the tokenizer finds, in the order of the page.
pub trait Sink {
    /// A run of text. Runs may follow one another without a tag between (a comment, say, parts
    /// them).
    fn text(&mut self, text: Text<'_>);

    /// Whether the attributes of this start tag will be looked at. If not, they are skipped at
    /// higher speed, and [`Sink::start_tag`] sees none.
    fn wants_attributes(&mut self, tag: Tag) -> bool;

    /// A start tag. The answer says how to read on: [`Tag::content_model`] in HTML,
    /// [`ContentModel::Data`] inside SVG and MathML, where for instance `<title>` is a tag like any
    /// other.
    fn start_tag(&mut self, start: StartTag<'_>) -> ContentModel;

    /// An end tag.
    fn end_tag(&mut self, end: EndTag<'_>);

    /// Whether to read on. Asked once in [`BETWEEN_QUESTIONS`] bytes or so; if not, that was all.
    fn goes_on(&mut self) -> bool {
        true
    }

    /// Whether the current place is inside SVG or MathML, so that `<![CDATA[` is one. Asked only
    /// where one occurs.
    fn in_foreign_content(&self) -> bool {
        false
    }
}

/// How many bytes of a page are read between two questions whether to read on: a millisecond or
/// two.
pub const BETWEEN_QUESTIONS: usize = 256 << 10;

/// Reads `page` from its beginning to its end.
pub fn tokenize<S: Sink>(page: &str, sink: &mut S) {
    let mut tokenizer = Tokenizer {
        page,
        bytes: page.as_bytes(),
        attributes: Vec::new(),
    };
    tokenizer.run(sink);
}

struct Tokenizer<'a> {
    page: &'a str,
    bytes: &'a [u8],
    /// The attributes of the start tag being read; kept for its memory.
    attributes: Vec<AttributeSpan>,
}

/// Where a tag ended: the position behind its `>`, and whether a `/` stood before that.
type TagEnd = Option<(usize, bool)>;

impl<'a> Tokenizer<'a> {
    fn run<S: Sink>(&mut self, sink: &mut S) {
        let end = self.bytes.len();
        // Text from `begin` on has not been handed out; the search for its end is at `at`.
        let mut begin = 0;
        let mut at = 0;
        let mut ask = BETWEEN_QUESTIONS;
        while let Some(open) = scan::find_byte(self.bytes, at, b'<') {
            if open >= ask {
                if !sink.goes_on() {
                    return;
                }
                ask = open + BETWEEN_QUESTIONS;
            }
            let next = match self.bytes.get(open + 1) {
                Some(byte) if byte.is_ascii_alphabetic() => {
                    self.data(begin, open, sink);
                    self.start_tag(open + 1, sink)
                }
                Some(b'/') => match self.bytes.get(open + 2) {
                    Some(byte) if byte.is_ascii_alphabetic() => {
                        self.data(begin, open, sink);
                        self.end_tag(open + 2, sink)
                    }
                    Some(_) => {
                        self.data(begin, open, sink);
                        // `</>` is nothing, any other is a comment; both end at the next `>`.
                        self.past_greater(open + 2)
                    }
                    // The page ends after `</`, which is then text.
                    None => break,
                },
                Some(b'!') => {
                    self.data(begin, open, sink);
                    self.declaration(open + 2, sink)
                }
                Some(b'?') => {
                    self.data(begin, open, sink);
                    self.past_greater(open + 2)
                }
                _ => {
                    at = open + 1;
                    continue;
                }
            };
            // Nothing comes after a tag or comment that the page ends in.
            let Some(next) = next else { return };
            begin = next;
            at = next;
        }
        self.data(begin, end, sink);
    }

    #[inline]
    fn data<S: Sink>(&self, begin: usize, end: usize, sink: &mut S) {
        self.emit(begin, end, ContentModel::Data, sink);
    }

    #[inline]
    fn emit<S: Sink>(&self, begin: usize, end: usize, model: ContentModel, sink: &mut S) {
        if begin < end {
            let raw = slice(self.page, (begin, end));
            sink.text(Text { raw, model });
        }
    }

    fn past_greater(&self, from: usize) -> Option<usize> {
        Some(1 + scan::find_byte(self.bytes, from, b'>')?)
    }

    /// Behind `<!`: a comment, a doctype, or something that is treated as a comment.
    fn declaration<S: Sink>(&self, at: usize, sink: &mut S) -> Option<usize> {
        let rest = self.bytes.get(at..)?;
        if rest.starts_with(b"--") {
            return self.comment(at + 2);
        }
        if rest.starts_with(b"[CDATA[") && sink.in_foreign_content() {
            let begin = at + b"[CDATA[".len();
            let found = memchr::memmem::find(self.bytes.get(begin..)?, b"]]>");
            let end = found.map_or(self.bytes.len(), |length| begin + length);
            self.emit(begin, end, ContentModel::PlainText, sink);
            return Some((end + b"]]>".len()).min(self.bytes.len()));
        }
        // A doctype, too, ends at the first `>`, even inside its quotes.
        self.past_greater(at)
    }

    /// Behind `<!--`. The comment ends at `-->` or `--!>`, but right here also at `>` or `->`.
    fn comment(&self, begin: usize) -> Option<usize> {
        let rest = self.bytes.get(begin..)?;
        if rest.starts_with(b">") {
            return Some(begin + 1);
        }
        if rest.starts_with(b"->") {
            return Some(begin + 2);
        }
        for greater in memchr::memchr_iter(b'>', rest) {
            let before = rest.get(..greater)?;
            if before.ends_with(b"--") || before.ends_with(b"--!") {
                return Some(begin + greater + 1);
            }
        }
        None
    }

    fn start_tag<S: Sink>(&mut self, name: usize, sink: &mut S) -> Option<usize> {
        let (tag, name_end) = self.tag_name(name)?;
        self.attributes.clear();
        let (next, self_closing) = if self.bytes.get(name_end) == Some(&b'>') {
            (name_end + 1, false)
        } else if sink.wants_attributes(tag) {
            self.tag_rest::<true>(name_end)?
        } else {
            self.tag_rest::<false>(name_end)?
        };
        let model = sink.start_tag(StartTag {
            tag,
            attributes: Attributes {
                page: self.page,
                spans: &self.attributes,
            },
            self_closing,
            name: (name, name_end),
        });
        match model {
            ContentModel::Data => Some(next),
            _ => self.raw(next, slice(self.page, (name, name_end)), model, sink),
        }
    }

    fn end_tag<S: Sink>(&mut self, name: usize, sink: &mut S) -> Option<usize> {
        let (tag, name_end) = self.tag_name(name)?;
        let next = if self.bytes.get(name_end) == Some(&b'>') {
            name_end + 1
        } else {
            self.tag_rest::<false>(name_end)?.0
        };
        sink.end_tag(EndTag {
            tag,
            page: self.page,
            name: (name, name_end),
        });
        Some(next)
    }

    /// The tag whose name begins at `begin`, and where the name ends.
    #[inline(always)]
    fn tag_name(&self, begin: usize) -> Option<(Tag, usize)> {
        if let Some(word) = scan::load(self.bytes, begin) {
            // Bytes up to the space, `/` and `>` end the name, apart from control characters, which
            // are not worth being told apart here: they take the slow way.
            let ends =
                bytes_below(word, b' ' + 1) | bytes_equal(word, b'/') | bytes_equal(word, b'>');
            if ends != 0 {
                let bits = ends.trailing_zeros() & !7;
                let end = begin + (bits / 8) as usize;
                if self
                    .bytes
                    .get(end)
                    .is_some_and(|&byte| scan::is(byte, TAG_NAME_END))
                {
                    let key = (word | 0x2020_2020_2020_2020) & !(u64::MAX << bits);
                    return Some((Tag::from_key(key), end));
                }
            }
        }
        let end = scan::find_class(self.bytes, begin, TAG_NAME_END)?;
        let tag = match pack(self.bytes.get(begin..end)?) {
            Some(key) => Tag::from_key(key),
            None => Tag::from_name(slice(self.page, (begin, end))),
        };
        Some((tag, end))
    }

    /// What follows the name of a tag, up to its end.
    #[inline]
    fn tag_rest<const RECORD: bool>(&mut self, mut at: usize) -> TagEnd {
        let bytes = self.bytes;
        loop {
            // Before an attribute name.
            match *bytes.get(at)? {
                b'>' => return Some((at + 1, false)),
                b'/' => {
                    if *bytes.get(at + 1)? == b'>' {
                        return Some((at + 2, true));
                    }
                    at += 1;
                    continue;
                }
                byte if scan::is(byte, SPACE) => {
                    at += 1;
                    continue;
                }
                _ => {}
            }
            // The first character belongs to the name even if it is `=`.
            let name = at;
            let name_end = scan::find_attribute_name_end(bytes, at + 1)?;
            at = name_end;
            // Hardly anybody puts spaces around the equals sign, so they are looked for only where
            // there is one.
            if scan::is(*bytes.get(at)?, SPACE) {
                at = scan::skip_class(bytes, at + 1, SPACE)?;
            }
            let mut value = (name_end, name_end);
            if *bytes.get(at)? == b'=' {
                at += 1;
                if scan::is(*bytes.get(at)?, SPACE) {
                    at = scan::skip_class(bytes, at + 1, SPACE)?;
                }
                match *bytes.get(at)? {
                    quote @ (b'"' | b'\'') => {
                        let end = scan::find_byte(bytes, at + 1, quote)?;
                        value = (at + 1, end);
                        at = end + 1;
                    }
                    // A value that is missing; the loop above finds the end of the tag.
                    b'>' => {}
                    _ => {
                        let end = scan::find_class(bytes, at, UNQUOTED_END)?;
                        value = (at, end);
                        at = end;
                    }
                }
            }
            if RECORD {
                self.attributes.push(AttributeSpan {
                    name: (name, name_end),
                    value,
                });
            }
        }
    }
}
