//! Chunks: the pieces of a page that are hashed and compared.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// What a chunk is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ChunkKind {
    /// What stands between blank lines.
    #[default]
    Paragraph,
    /// So many consecutive lines that are not blank.
    Lines(u32),
    /// So many consecutive sentences.
    Sentences(u32),
    /// So many consecutive words.
    Words(u32),
    /// The whole text.
    Document,
}

impl fmt::Display for ChunkKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChunkKind::Paragraph => formatter.pad("paragraph"),
            ChunkKind::Lines(count) => formatter.pad(&format!("lines:{count}")),
            ChunkKind::Sentences(count) => formatter.pad(&format!("sentences:{count}")),
            ChunkKind::Words(count) => formatter.pad(&format!("words:{count}")),
            ChunkKind::Document => formatter.pad("document"),
        }
    }
}

impl FromStr for ChunkKind {
    type Err = UnknownChunkKind;

    fn from_str(name: &str) -> Result<Self, UnknownChunkKind> {
        let (kind, count) = match name.split_once(':') {
            Some((kind, count)) => {
                let count = count.parse::<u32>().ok().filter(|&count| count > 0);
                (kind, count.ok_or_else(|| UnknownChunkKind::new(name))?)
            }
            None => (name, 0),
        };
        match (kind, count) {
            ("paragraph", 0) => Ok(ChunkKind::Paragraph),
            ("document", 0) => Ok(ChunkKind::Document),
            ("lines", 1..) => Ok(ChunkKind::Lines(count)),
            ("sentences", 1..) => Ok(ChunkKind::Sentences(count)),
            ("words", 1..) => Ok(ChunkKind::Words(count)),
            _ => Err(UnknownChunkKind::new(name)),
        }
    }
}

/// A name that no [`ChunkKind`] has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownChunkKind {
    name: String,
}

impl UnknownChunkKind {
    fn new(name: &str) -> Self {
        UnknownChunkKind {
            name: name.to_owned(),
        }
    }
}

impl fmt::Display for UnknownChunkKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "'{}' is no kind of chunk: there are paragraph, lines:N, sentences:N, words:N and document, with N from 1",
            self.name
        )
    }
}

impl std::error::Error for UnknownChunkKind {}

/// Gives `visit` the byte range of every chunk of `text`, in order.
///
/// Ranges lie on character boundaries, are disjoint, and neither begin nor end with white space. The empty chunk is no
/// chunk. Chunks of several lines, sentences or words do not overlap; the last may have fewer.
///
/// ```
/// use cento_text::chunk::{ChunkKind, chunks};
///
/// let text = "One fish.\nTwo fish.\n\n Red fish.\n";
/// let mut found = Vec::new();
/// chunks(text, ChunkKind::Paragraph, |range| found.push(&text[range]));
/// assert_eq!(found, ["One fish.\nTwo fish.", "Red fish."]);
/// ```
pub fn chunks(text: &str, kind: ChunkKind, mut visit: impl FnMut(Range<usize>)) {
    match kind {
        ChunkKind::Paragraph => paragraphs(text, &mut visit),
        ChunkKind::Document => {
            let range = trim(text, 0..text.len());
            if !range.is_empty() {
                visit(range);
            }
        }
        ChunkKind::Lines(count) => {
            let mut group = Group::new(count, &mut visit);
            lines(text, |line| {
                if !line.is_empty() {
                    group.push(line);
                }
            });
            group.finish();
        }
        ChunkKind::Sentences(count) => {
            let mut group = Group::new(count, &mut visit);
            paragraphs(text, &mut |paragraph: Range<usize>| {
                sentences(text, paragraph, |sentence| group.push(sentence));
            });
            group.finish();
        }
        ChunkKind::Words(count) => {
            let mut group = Group::new(count, &mut visit);
            crate::words::for_each_word_range(text, |word| group.push(word));
            group.finish();
        }
    }
}

/// Joins so many consecutive ranges into one.
struct Group<'visit, Visit> {
    size: u32,
    held: u32,
    range: Range<usize>,
    visit: &'visit mut Visit,
}

impl<'visit, Visit: FnMut(Range<usize>)> Group<'visit, Visit> {
    fn new(size: u32, visit: &'visit mut Visit) -> Self {
        Group {
            size,
            held: 0,
            range: 0..0,
            visit,
        }
    }

    fn push(&mut self, range: Range<usize>) {
        if self.held == 0 {
            self.range.start = range.start;
        }
        self.range.end = range.end;
        self.held += 1;
        if self.held >= self.size {
            self.finish();
        }
    }

    fn finish(&mut self) {
        if self.held > 0 {
            (self.visit)(self.range.clone());
            self.held = 0;
        }
    }
}

/// The part of `range` without white space at either end.
fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let trimmed = part.trim_start();
    let begin = range.start + (part.len() - trimmed.len());
    begin..begin + trimmed.trim_end().len()
}

/// Every line, trimmed; blank ones are empty ranges.
fn lines(text: &str, mut visit: impl FnMut(Range<usize>)) {
    let mut begin = 0;
    for end in memchr::memchr_iter(b'\n', text.as_bytes()) {
        visit(trim(text, begin..end));
        begin = end + 1;
    }
    visit(trim(text, begin..text.len()));
}

fn paragraphs(text: &str, visit: &mut impl FnMut(Range<usize>)) {
    let mut paragraph = 0..0;
    lines(text, |line| {
        if line.is_empty() {
            if !paragraph.is_empty() {
                visit(paragraph.clone());
                paragraph = 0..0;
            }
        } else if paragraph.is_empty() {
            paragraph = line;
        } else {
            paragraph.end = line.end;
        }
    });
    if !paragraph.is_empty() {
        visit(paragraph);
    }
}

fn sentences(text: &str, paragraph: Range<usize>, mut visit: impl FnMut(Range<usize>)) {
    let joined = text[paragraph.clone()].replace(['\n', '\r'], " ");
    let segmenter = icu_segmenter::SentenceSegmenter::new(Default::default());
    let mut begin = 0;
    for end in segmenter.segment_str(&joined) {
        let sentence = trim(text, paragraph.start + begin..paragraph.start + end);
        if !sentence.is_empty() {
            visit(sentence);
        }
        begin = end;
    }
}
