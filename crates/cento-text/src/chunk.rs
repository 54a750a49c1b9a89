//! Splits a text into chunks: the pieces of a page that are hashed and compared.

mod lines;
mod sentence;

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// How a text is split into chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ChunkKind {
    /// Paragraphs: text between blank lines.
    #[default]
    Paragraph,
    /// Groups of this many consecutive non-blank lines. Lines wider than 80 columns are wrapped
    /// between words.
    Lines(u32),
    /// Groups of this many consecutive non-blank lines of any length; a block of HTML is one line.
    /// This was the meaning of `lines:N` before lines were wrapped, and old corpora and labels are
    /// still read this way.
    UnwrappedLines(u32),
    /// Groups of this many consecutive sentences.
    Sentences(u32),
    /// Groups of this many consecutive words.
    Words(u32),
    /// The whole text.
    Document,
}

impl fmt::Display for ChunkKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChunkKind::Paragraph => formatter.pad("paragraph"),
            ChunkKind::Lines(count) => formatter.pad(&format!("lines:{count}")),
            ChunkKind::UnwrappedLines(count) => formatter.pad(&format!("unwrapped-lines:{count}")),
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
            ("unwrapped-lines", 1..) => Ok(ChunkKind::UnwrappedLines(count)),
            ("sentences", 1..) => Ok(ChunkKind::Sentences(count)),
            ("words", 1..) => Ok(ChunkKind::Words(count)),
            _ => Err(UnknownChunkKind::new(name)),
        }
    }
}

impl ChunkKind {
    /// The name in corpora and label files. It differs from the name on the command line if that
    /// name once had another meaning, so that old and new chunks are never compared: `lines:4` was
    /// not wrapped, `lines:4@80` is.
    pub fn stored_name(self) -> String {
        match self {
            ChunkKind::Lines(count) => format!("lines:{count}@{}", lines::COLUMNS),
            ChunkKind::UnwrappedLines(count) => format!("lines:{count}"),
            other => other.to_string(),
        }
    }

    /// Parses a [stored name](ChunkKind::stored_name).
    pub fn from_stored_name(name: &str) -> Result<ChunkKind, UnknownChunkKind> {
        let wrapped = name.strip_suffix(&format!("@{}", lines::COLUMNS));
        match (wrapped.unwrap_or(name).parse()?, wrapped) {
            (kind @ ChunkKind::Lines(_), Some(_)) => Ok(kind),
            (ChunkKind::Lines(count), None) => Ok(ChunkKind::UnwrappedLines(count)),
            (_, Some(_)) => Err(UnknownChunkKind::new(name)),
            (kind, None) => Ok(kind),
        }
    }
}

/// The error for an unknown [`ChunkKind`] name.
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
            "unknown chunk kind '{}': expected paragraph, lines:N, sentences:N, words:N or document, with N at least 1",
            self.name
        )
    }
}

impl std::error::Error for UnknownChunkKind {}

/// Calls `visit` with the byte range of every chunk of `text`, in order.
///
/// Ranges are on character boundaries, disjoint, not empty, and neither begin nor end with white
/// space. The last chunk may have fewer lines, sentences or words than the others.
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
            let mut group = RangeGroup::new(count, &mut visit);
            lines(text, |line| {
                if !line.is_empty() {
                    lines::wrap(text, line, |row| group.push(row));
                }
            });
            group.finish();
        }
        ChunkKind::UnwrappedLines(count) => {
            let mut group = RangeGroup::new(count, &mut visit);
            lines(text, |line| {
                if !line.is_empty() {
                    group.push(line);
                }
            });
            group.finish();
        }
        ChunkKind::Sentences(count) => {
            let mut group = RangeGroup::new(count, &mut visit);
            paragraphs(text, &mut |paragraph: Range<usize>| {
                sentence::sentences(text, paragraph, |sentence| group.push(sentence));
            });
            group.finish();
        }
        ChunkKind::Words(count) => {
            let mut group = RangeGroup::new(count, &mut visit);
            crate::words::for_each_word_range(text, |word| group.push(word));
            group.finish();
        }
    }
}

/// Joins every `size` consecutive ranges into one.
struct RangeGroup<'visit, Visit> {
    size: u32,
    count: u32,
    range: Range<usize>,
    visit: &'visit mut Visit,
}

impl<'visit, Visit: FnMut(Range<usize>)> RangeGroup<'visit, Visit> {
    fn new(size: u32, visit: &'visit mut Visit) -> Self {
        RangeGroup {
            size,
            count: 0,
            range: 0..0,
            visit,
        }
    }

    fn push(&mut self, range: Range<usize>) {
        if self.count == 0 {
            self.range.start = range.start;
        }
        self.range.end = range.end;
        self.count += 1;
        if self.count >= self.size {
            self.finish();
        }
    }

    fn finish(&mut self) {
        if self.count > 0 {
            (self.visit)(self.range.clone());
            self.count = 0;
        }
    }
}

/// Removes white space from both ends of `range`.
fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let trimmed = part.trim_start();
    let begin = range.start + (part.len() - trimmed.len());
    begin..begin + trimmed.trim_end().len()
}

/// Calls `visit` with every line, trimmed; blank lines are empty ranges.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut<'text>(text: &'text str, kind: &str) -> Vec<&'text str> {
        let mut found = Vec::new();
        chunks(text, kind.parse().unwrap(), |range| {
            found.push(&text[range]);
        });
        found
    }

    /// The definition: lines of white space separate paragraphs.
    fn naive_paragraphs(text: &str) -> Vec<String> {
        let lines: Vec<&str> = text.split('\n').collect();
        lines
            .split(|line| line.trim().is_empty())
            .map(|paragraph| paragraph.join("\n").trim().to_owned())
            .filter(|paragraph| !paragraph.is_empty())
            .collect()
    }

    proptest! {
        #[test]
        fn paragraphs_are_separated_by_blank_lines(text in "([a-zé ]{0,5}[\\n\\r\\t \u{a0}\u{c}]{0,3}){0,12}") {
            prop_assert_eq!(cut(&text, "paragraph"), naive_paragraphs(&text));
        }

        #[test]
        fn chunks_are_ordered_and_trimmed_and_omit_only_space(
            text in "([a-zéA-Z中文]{0,4}[.!? \\n\u{2029}-]{0,3}){0,30}",
            kind in prop::sample::select(vec!["paragraph", "lines:1", "lines:3", "unwrapped-lines:2", "sentences:1", "sentences:2", "document"]),
        ) {
            let mut end = 0;
            let mut kept = String::new();
            chunks(&text, kind.parse().unwrap(), |range| {
                assert!(end <= range.start && range.start < range.end);
                let chunk = &text[range.clone()];
                assert_eq!(chunk, chunk.trim());
                assert!(text[end..range.start].trim().is_empty());
                kept.push_str(chunk);
                end = range.end;
            });
            prop_assert!(text[end..].trim().is_empty());
        }

        #[test]
        fn word_chunks_have_the_requested_size(text in "([a-zé中文]{0,4}[ .]{0,2}){0,30}", size in 1u32..7) {
            let words = crate::words::words(&text);
            let expected: Vec<Range<usize>> = words
                .chunks(size as usize)
                .map(|group| group[0].0.start..group[group.len() - 1].0.end)
                .collect();
            let mut found = Vec::new();
            chunks(&text, ChunkKind::Words(size), |range| found.push(range));
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn lines_are_grouped_without_blank_ones() {
        let text = "one\r\n\r\n two \nthree\n \nfour\nfive";
        assert_eq!(
            cut(text, "lines:2"),
            ["one\r\n\r\n two", "three\n \nfour", "five"]
        );
        assert_eq!(
            cut(text, "lines:1"),
            ["one", "two", "three", "four", "five"]
        );
    }

    #[test]
    fn sentences_continue_across_lines_but_not_across_paragraphs() {
        let text = "It was the best\nof times. It was the\nworst. Was it?\n\nNo heading here\n\nDr. No said 3.14 is pi! Yes.";
        assert_eq!(
            cut(text, "sentences:1"),
            [
                "It was the best\nof times.",
                "It was the\nworst.",
                "Was it?",
                "No heading here",
                "Dr.",
                "No said 3.14 is pi!",
                "Yes."
            ]
        );
        assert_eq!(
            cut(text, "sentences:3")[0],
            "It was the best\nof times. It was the\nworst. Was it?"
        );
        assert_eq!(
            cut("我来了。你看见了吗？没有！", "sentences:1"),
            ["我来了。", "你看见了吗？", "没有！"]
        );
        assert_eq!(
            cut("هل رأيت؟ نعم رأيت.", "sentences:1"),
            ["هل رأيت؟", "نعم رأيت."]
        );
    }

    #[test]
    fn no_chunk_is_empty() {
        for kind in ["paragraph", "lines:2", "sentences:1", "words:5", "document"] {
            assert!(cut("", kind).is_empty(), "{kind}");
            assert!(cut(" \n\t\u{3000}\n\n ", kind).is_empty(), "{kind}");
        }
    }

    #[test]
    fn the_document_is_one_trimmed_chunk() {
        assert_eq!(cut("\n a\n\nb \n", "document"), ["a\n\nb"]);
    }

    #[test]
    fn names_parse_and_unknown_names_are_refused_with_the_alternatives() {
        for name in [
            "paragraph",
            "lines:4",
            "unwrapped-lines:4",
            "sentences:1",
            "words:50",
            "document",
        ] {
            let kind = name.parse::<ChunkKind>().unwrap();
            assert_eq!(kind.to_string(), name);
            assert_eq!(ChunkKind::from_stored_name(&kind.stored_name()), Ok(kind));
        }
        for name in [
            "",
            "lines",
            "lines:0",
            "lines:-1",
            "words:x",
            "paragraph:2",
            "page",
            "words:99999999999",
        ] {
            let refused = name.parse::<ChunkKind>().unwrap_err().to_string();
            assert!(
                refused.starts_with(&format!("unknown chunk kind '{name}'")),
                "{refused}"
            );
        }
    }

    #[test]
    fn a_stored_name_from_before_wrapping_keeps_its_meaning() {
        let old = ChunkKind::from_stored_name("lines:4").unwrap();
        assert_eq!(old, ChunkKind::UnwrappedLines(4));
        assert_eq!(
            ChunkKind::from_stored_name("lines:4@80").unwrap(),
            ChunkKind::Lines(4)
        );
        for name in ["lines:4@72", "paragraph@80", "lines@80", "@80"] {
            assert!(ChunkKind::from_stored_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_changed_word_in_a_long_paragraph_changes_few_lines() {
        let words: Vec<String> = (0..400)
            .map(|word| format!("word{:03}", word * 7919 % 1000))
            .collect();
        let text = words.join(" ");
        let changed = text.replacen(&words[200], "wordXYZ", 1);
        let (before, after) = (cut(&text, "lines:1"), cut(&changed, "lines:1"));
        assert!(before.len() > 30);
        let same = before.iter().filter(|line| after.contains(line)).count();
        assert_eq!(same, before.len() - 1);
        assert_eq!(cut(&text, "unwrapped-lines:1").len(), 1);
    }

    #[test]
    fn hostile_text_takes_linear_time() {
        let begin = std::time::Instant::now();
        for text in [
            "\n".repeat(1 << 20),
            ". ".repeat(1 << 19),
            "é. 1 ".repeat(1 << 16),
            "é".repeat(1 << 18),
            "é.\n ".repeat(1 << 16),
            "x".repeat(1 << 20),
            "漢".repeat(1 << 17),
            "\u{301}".repeat(1 << 18),
        ] {
            for kind in [
                "paragraph",
                "lines:7",
                "unwrapped-lines:7",
                "sentences:3",
                "words:8",
                "document",
            ] {
                cut(&text, kind);
            }
        }
        assert!(begin.elapsed().as_secs() < 60);
    }
}
