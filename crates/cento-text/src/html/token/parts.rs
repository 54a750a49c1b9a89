//! What the tokenizer hands out: slices of the page, decoded when somebody asks.

use crate::html::reference::{self, Meaning, Place};
use crate::html::scan;
use crate::html::tag::{ContentModel, Tag};
use std::borrow::Cow;

/// A run of text as the page has it.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// The bytes of the page.
    pub raw: &'a str,
    /// How they are to be read: character references count in [`ContentModel::Data`] and
    /// [`ContentModel::RcData`].
    pub model: ContentModel,
}

impl<'a> Text<'a> {
    /// The characters: references resolved, line ends made `\n`, and NUL made U+FFFD where the
    /// standard says so.
    #[must_use]
    pub fn decode(self) -> Cow<'a, str> {
        let references = match self.model {
            ContentModel::Data | ContentModel::RcData => Some(Place::Text),
            _ => None,
        };
        // In data the tokenizer passes NUL on; the tree builder, which is the reader of this text,
        // drops it.
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
    /// Which element.
    pub tag: Tag,
    /// The attributes, if they were wanted.
    pub attributes: Attributes<'a>,
    /// Whether it ends in `/>`. HTML gives that no meaning; SVG does.
    pub self_closing: bool,
    pub(super) name: (usize, usize),
}

impl<'a> StartTag<'a> {
    /// Its name as the page spells it.
    #[must_use]
    pub fn name(&self) -> &'a str {
        slice(self.attributes.page, self.name)
    }
}

/// An end tag.
#[derive(Clone, Copy, Debug)]
pub struct EndTag<'a> {
    /// Which element.
    pub tag: Tag,
    pub(super) page: &'a str,
    pub(super) name: (usize, usize),
}

impl<'a> EndTag<'a> {
    /// Its name as the page spells it.
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
    /// Whether there are none (or none were wanted).
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.spans.is_empty()
    }

    /// The decoded value of the attribute called `name` (which must be in lower case), or nothing.
    /// Where a tag has several of that name, the first counts.
    #[must_use]
    pub fn get(self, name: &str) -> Option<Cow<'a, str>> {
        let span = self.spans.iter().find(|span| {
            span.name.1 - span.name.0 == name.len()
                && slice(self.page, span.name).eq_ignore_ascii_case(name)
        })?;
        Some(decode_value(slice(self.page, span.value)))
    }

    /// Name and value of each as the page spells them, repeated names included: [`decode_value`]
    /// and [`decode_name`] read them.
    pub fn iter(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.spans
            .iter()
            .map(move |span| (slice(self.page, span.name), slice(self.page, span.value)))
    }
}

/// Positions come from searches for ASCII bytes, so they are always on character boundaries.
#[inline]
pub(super) fn slice(page: &str, (begin, end): (usize, usize)) -> &str {
    page.get(begin..end).unwrap_or_default()
}

/// A tag or attribute name as the standard reads it: in lower case, NUL as U+FFFD.
#[must_use]
pub fn decode_name(raw: &str) -> String {
    raw.to_ascii_lowercase().replace('\0', "\u{FFFD}")
}

/// The value of an attribute from its spelling in the page.
#[must_use]
pub fn decode_value(raw: &str) -> Cow<'_, str> {
    decode(raw, Some(Place::Attribute), "\u{FFFD}")
}

fn decode<'a>(raw: &'a str, references: Option<Place>, nul: &str) -> Cow<'a, str> {
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
                match references.and_then(|place| reference::read(rest, place)) {
                    Some((meaning, length)) => {
                        match meaning {
                            Meaning::Character(character) => out.push(character),
                            Meaning::Text(text) => out.push_str(text),
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
