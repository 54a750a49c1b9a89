//! Tokens: slices of the page that are decoded on request.

use crate::html::reference::{self, ReferenceContext, Replacement};
use crate::html::scan;
use crate::html::tag::{ContentModel, Tag};
use std::borrow::Cow;

/// A run of text, not decoded.
#[derive(Clone, Copy, Debug)]
pub struct TextToken<'a> {
    /// The bytes of the page.
    pub raw: &'a str,
    /// How to decode them: character references occur in [`ContentModel::Data`] and
    /// [`ContentModel::RcData`].
    pub model: ContentModel,
}

impl<'a> TextToken<'a> {
    /// Decodes the text: resolves references, converts line ends to `\n`, and replaces NUL with
    /// U+FFFD where the standard requires it.
    #[must_use]
    pub fn decode(self) -> Cow<'a, str> {
        let references = match self.model {
            ContentModel::Data | ContentModel::RcData => Some(ReferenceContext::Text),
            _ => None,
        };
        // In data the tokenizer keeps NUL; the tree builder of the standard, here the reader of
        // this text, removes it.
        let nul = if self.model == ContentModel::Data {
            "\0"
        } else {
            "\u{FFFD}"
        };
        decode(self.raw, references, nul)
    }
}

/// A start tag with its attributes.
#[derive(Clone, Copy, Debug)]
pub struct StartTag<'a> {
    /// The tag.
    pub tag: Tag,
    /// The attributes, if the sink needs them.
    pub attributes: Attributes<'a>,
    /// Whether it ends in `/>`, which is ignored in HTML but not in SVG.
    pub self_closing: bool,
    pub(super) name: (usize, usize),
}

impl<'a> StartTag<'a> {
    /// Its name as written on the page.
    #[must_use]
    pub fn name(&self) -> &'a str {
        slice(self.attributes.page, self.name)
    }
}

/// An end tag.
#[derive(Clone, Copy, Debug)]
pub struct EndTag<'a> {
    /// The tag.
    pub tag: Tag,
    pub(super) page: &'a str,
    pub(super) name: (usize, usize),
}

impl<'a> EndTag<'a> {
    /// Its name as written on the page.
    #[must_use]
    pub fn name(&self) -> &'a str {
        slice(self.page, self.name)
    }
}

/// The attributes of one start tag, in the order of the page.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a> {
    pub(super) page: &'a str,
    pub(super) spans: &'a [AttributeSpan],
}

#[derive(Clone, Copy, Debug)]
pub(super) struct AttributeSpan {
    pub(super) name: (usize, usize),
    pub(super) value: (usize, usize),
}

impl<'a> Attributes<'a> {
    /// Whether there are no attributes (or the sink did not need them).
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.spans.is_empty()
    }

    /// The decoded value of the attribute `name` (which must be in lower case). The first one is
    /// used if the name is repeated.
    #[must_use]
    pub fn get(self, name: &str) -> Option<Cow<'a, str>> {
        let span = self.spans.iter().find(|span| {
            span.name.1 - span.name.0 == name.len()
                && slice(self.page, span.name).eq_ignore_ascii_case(name)
        })?;
        Some(decode_value(slice(self.page, span.value)))
    }

    /// The name and value of each attribute as written, including repeated names; decode them with
    /// [`decode_name`] and [`decode_value`].
    pub fn iter(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.spans
            .iter()
            .map(move |span| (slice(self.page, span.name), slice(self.page, span.value)))
    }
}

/// Positions are found by searching for ASCII bytes, so they are always on character boundaries.
#[inline]
pub(super) fn slice(page: &str, (begin, end): (usize, usize)) -> &str {
    page.get(begin..end).unwrap_or_default()
}

/// Decodes a tag or attribute name: lower case, NUL replaced with U+FFFD.
#[must_use]
pub fn decode_name(raw: &str) -> String {
    raw.to_ascii_lowercase().replace('\0', "\u{FFFD}")
}

/// Decodes the value of an attribute.
#[must_use]
pub fn decode_value(raw: &str) -> Cow<'_, str> {
    decode(raw, Some(ReferenceContext::Attribute), "\u{FFFD}")
}

fn decode<'a>(raw: &'a str, references: Option<ReferenceContext>, nul: &str) -> Cow<'a, str> {
    let bytes = raw.as_bytes();
    let Some(first) = scan::find_decoded(bytes, 0) else {
        return Cow::Borrowed(raw);
    };
    let mut out = String::with_capacity(raw.len());
    let mut done = 0;
    let mut next = Some(first);
    while let Some(at) = next {
        out.push_str(slice(raw, (done, at)));
        done = at + 1;
        match bytes.get(at) {
            Some(b'\r') => {
                out.push('\n');
                if bytes.get(done) == Some(&b'\n') {
                    done += 1;
                }
            }
            Some(0) => out.push_str(nul),
            _ => {
                let rest = bytes.get(at..).unwrap_or_default();
                match references.and_then(|context| reference::read(rest, context)) {
                    Some((replacement, length)) => {
                        match replacement {
                            Replacement::Character(character) => out.push(character),
                            Replacement::Text(text) => out.push_str(text),
                        }
                        done = at + length;
                    }
                    None => out.push('&'),
                }
            }
        }
        next = scan::find_decoded(bytes, done);
    }
    out.push_str(slice(raw, (done, raw.len())));
    Cow::Owned(out)
}
