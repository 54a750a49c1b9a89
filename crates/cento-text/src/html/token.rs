//! The tokenizer: splits a page into text runs, start tags and end tags by the rules of the WHATWG
//! standard.
//!
//! The standard describes eighty states that each read one character. For a page in memory they
//! reduce to a few searches: text ends at a `<` followed by a letter, `/`, `!` or `?`; a comment
//! ends at `-->` or `--!>`; a tag ends at the first `>` outside a quoted value. The tokenizer jumps
//! from one such byte to the next and passes slices of the page to the sink. Nothing is decoded or
//! copied until [`TextToken::decode`] or [`Attributes::get`] is called.
//!
//! The tests compare its output with that of a tokenizer that implements the states.

use super::scan::{self, SPACE, TAG_NAME_END, UNQUOTED_END, bytes_below, bytes_equal};
use super::tag::{ContentModel, Tag, pack};

mod parts;
mod raw;

use parts::{AttributeSpan, slice};
pub use parts::{Attributes, EndTag, StartTag, TextToken, decode_name, decode_value};

/// Receives the tokens of a page, in order.
pub trait TokenSink {
    /// A run of text. Consecutive runs without a tag between them are possible, for example around
    /// a comment.
    fn text(&mut self, text: TextToken<'_>);

    /// Whether the attributes of this start tag are needed. If not, they are skipped faster, and
    /// [`TokenSink::start_tag`] receives none.
    fn wants_attributes(&mut self, tag: Tag) -> bool;

    /// A start tag. Returns how to read the following content: [`Tag::content_model`] in HTML,
    /// [`ContentModel::Data`] inside SVG and MathML, where for example `<title>` is an ordinary
    /// tag.
    fn start_tag(&mut self, start: StartTag<'_>) -> ContentModel;

    /// An end tag.
    fn end_tag(&mut self, end: EndTag<'_>);

    /// Whether to continue. Called about every [`CHECK_INTERVAL`] bytes; tokenizing stops if it
    /// returns false.
    fn should_continue(&mut self) -> bool {
        true
    }

    /// Whether the current position is inside SVG or MathML, so that `<![CDATA[` begins a CDATA
    /// section. Called only where one occurs.
    fn in_foreign_content(&self) -> bool {
        false
    }
}

/// The number of bytes between two calls of [`TokenSink::should_continue`]: a millisecond or two.
pub const CHECK_INTERVAL: usize = 256 << 10;

/// Tokenizes `page`.
pub fn tokenize<S: TokenSink>(page: &str, sink: &mut S) {
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
    /// The attributes of the current start tag; the allocation is reused.
    attributes: Vec<AttributeSpan>,
}

/// The end of a tag: the position after its `>`, and whether a `/` precedes it.
type TagEnd = Option<(usize, bool)>;

impl<'a> Tokenizer<'a> {
    fn run<S: TokenSink>(&mut self, sink: &mut S) {
        let end = self.bytes.len();
        // Text from `begin` on has not been emitted; the search for its end is at `at`.
        let mut begin = 0;
        let mut at = 0;
        let mut next_check = CHECK_INTERVAL;
        while let Some(open) = scan::find_byte(self.bytes, at, b'<') {
            if open >= next_check {
                if !sink.should_continue() {
                    return;
                }
                next_check = open + CHECK_INTERVAL;
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
                        // `</>` is ignored, anything else is a comment; both end at the next `>`.
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
            // An unterminated tag or comment extends to the end of the page.
            let Some(next) = next else { return };
            begin = next;
            at = next;
        }
        self.data(begin, end, sink);
    }

    #[inline]
    fn data<S: TokenSink>(&self, begin: usize, end: usize, sink: &mut S) {
        self.emit(begin, end, ContentModel::Data, sink);
    }

    #[inline]
    fn emit<S: TokenSink>(&self, begin: usize, end: usize, model: ContentModel, sink: &mut S) {
        if begin < end {
            let raw = slice(self.page, (begin, end));
            sink.text(TextToken { raw, model });
        }
    }

    fn past_greater(&self, from: usize) -> Option<usize> {
        Some(1 + scan::find_byte(self.bytes, from, b'>')?)
    }

    /// After `<!`: a comment, a doctype, or something treated as a comment.
    fn declaration<S: TokenSink>(&self, at: usize, sink: &mut S) -> Option<usize> {
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
        // A doctype also ends at the first `>`, even inside quotes.
        self.past_greater(at)
    }

    /// After `<!--`. The comment ends at `-->` or `--!>`; directly at its start also at `>` or
    /// `->`.
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

    fn start_tag<S: TokenSink>(&mut self, name: usize, sink: &mut S) -> Option<usize> {
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

    fn end_tag<S: TokenSink>(&mut self, name: usize, sink: &mut S) -> Option<usize> {
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

    /// Reads the tag name at `begin`; returns the tag and the end of the name.
    #[inline(always)]
    fn tag_name(&self, begin: usize) -> Option<(Tag, usize)> {
        if let Some(word) = scan::load(self.bytes, begin) {
            // Bytes up to the space, `/` and `>` end the name, except for other control characters,
            // which take the slow path.
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

    /// Reads the rest of a tag after its name.
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
            // Spaces around the equals sign are rare, so they are skipped only if there is one.
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
                    // A missing value; the loop above finds the end of the tag.
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
