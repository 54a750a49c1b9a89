//! Chunks: the pieces of a page that are hashed and compared.

mod lines;
mod sentence;

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// What a chunk is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ChunkKind {
    /// What stands between blank lines.
    #[default]
    Paragraph,
    /// So many consecutive lines that are not blank, as a person sees them: lines wider than 80
    /// columns are wrapped between words.
    Lines(u32),
    /// So many consecutive lines that are not blank, however long they are: a block of HTML is one.
    /// What `lines:N` was until lines were wrapped; corpora and labels from then are still read as
    /// what they are.
    UnwrappedLines(u32),
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
    /// The name under which it is stored with what was cut so. It differs from the name that people
    /// use where the same name once meant something else, so that chunks of then and now are never
    /// compared: `lines:4` was not wrapped, `lines:4@80` is.
    pub fn stored_name(self) -> String {
        match self {
            ChunkKind::Lines(count) => format!("lines:{count}@{}", lines::COLUMNS),
            ChunkKind::UnwrappedLines(count) => format!("lines:{count}"),
            other => other.to_string(),
        }
    }

    /// Reads a name that was stored.
    pub fn of_stored_name(name: &str) -> Result<ChunkKind, UnknownChunkKind> {
        let wrapped = name.strip_suffix(&format!("@{}", lines::COLUMNS));
        match (wrapped.unwrap_or(name).parse()?, wrapped) {
            (kind @ ChunkKind::Lines(_), Some(_)) => Ok(kind),
            (ChunkKind::Lines(count), None) => Ok(ChunkKind::UnwrappedLines(count)),
            (_, Some(_)) => Err(UnknownChunkKind::new(name)),
            (kind, None) => Ok(kind),
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
/// Ranges lie on character boundaries, are disjoint, and neither begin nor end with white space.
/// The empty chunk is no chunk. Chunks of several lines, sentences or words do not overlap; the
/// last may have fewer.
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
                    lines::wrap(text, line, |row| group.push(row));
                }
            });
            group.finish();
        }
        ChunkKind::UnwrappedLines(count) => {
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
                sentence::sentences(text, paragraph, |sentence| group.push(sentence));
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

    /// Blank lines, however blank, split paragraphs: the definition, by way of owned lines.
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
        fn paragraphs_are_what_stands_between_blank_lines(text in "([a-zé ]{0,5}[\\n\\r\\t \u{a0}\u{c}]{0,3}){0,12}") {
            prop_assert_eq!(cut(&text, "paragraph"), naive_paragraphs(&text));
        }

        #[test]
        fn chunks_are_in_order_trimmed_and_lose_nothing_but_space(
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
        fn chunks_of_words_hold_so_many_words_each(text in "([a-zé中文]{0,4}[ .]{0,2}){0,30}", size in 1u32..7) {
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
    fn sentences_go_on_across_lines_but_not_across_paragraphs() {
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
    fn the_empty_chunk_is_no_chunk() {
        for kind in ["paragraph", "lines:2", "sentences:1", "words:5", "document"] {
            assert!(cut("", kind).is_empty(), "{kind}");
            assert!(cut(" \n\t\u{3000}\n\n ", kind).is_empty(), "{kind}");
        }
    }

    #[test]
    fn the_document_is_one_chunk_without_the_space_around_it() {
        assert_eq!(cut("\n a\n\nb \n", "document"), ["a\n\nb"]);
    }

    #[test]
    fn names_read_back_and_others_are_refused_with_the_choice() {
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
            assert_eq!(ChunkKind::of_stored_name(&kind.stored_name()), Ok(kind));
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
                refused.starts_with(&format!("'{name}' is no kind of chunk")),
                "{refused}"
            );
        }
    }

    #[test]
    fn a_stored_name_from_before_lines_were_wrapped_means_what_it_meant() {
        let old = ChunkKind::of_stored_name("lines:4").unwrap();
        assert_eq!(old, ChunkKind::UnwrappedLines(4));
        assert_eq!(
            ChunkKind::of_stored_name("lines:4@80").unwrap(),
            ChunkKind::Lines(4)
        );
        for name in ["lines:4@72", "paragraph@80", "lines@80", "@80"] {
            assert!(ChunkKind::of_stored_name(name).is_err(), "{name}");
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
