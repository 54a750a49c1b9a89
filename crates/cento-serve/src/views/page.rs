//! The page view: what the corpus and the findings say about one page, and its text.

use std::ops::Range;

use cento_report::escape;
use cento_report::format::{counted, number, shortened, size};
use serde_json::{Value, json};

use super::{PageDetails, floor, outside_link};
use crate::error::Refusal;
use crate::lists::{ListState, Listing, Show, day};
use crate::respond::SitePage;
use crate::state::SiteState;

/// Bytes of text that are shown at once, and marks in it.
const SHOWN: usize = 100_000;
const MARKS: u64 = 5_000;
/// Findings of one list that are linked.
const LINKED: usize = 5;

/// What to mark in the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PageMarks {
    /// The chunks that `cento detect` found among the labels.
    pub(crate) labels: bool,
    /// A phrase, by its normal form.
    pub(crate) phrase: Option<String>,
    /// A chunk, by its hash in hexadecimal.
    pub(crate) chunk: Option<String>,
    /// Where the shown text begins, in bytes.
    pub(crate) from: usize,
}

/// The rows of one list about a page.
struct ListedFindings {
    list: &'static str,
    rows: usize,
    /// The evidence of the first rows, and the text of the link to it.
    links: Vec<(String, String)>,
}

/// One page with its findings.
pub(crate) struct PageView {
    page: PageDetails,
    text: Option<String>,
    marks: Vec<Range<usize>>,
    /// What the marks are, as a sentence.
    about_marks: Option<String>,
    findings: Vec<ListedFindings>,
    from: usize,
}

impl PageView {
    pub(crate) fn of(
        state: &SiteState,
        page_id: u64,
        wanted: &PageMarks,
    ) -> Result<PageView, Refusal> {
        let corpus = state.store()?;
        let page = PageDetails::of(corpus, page_id)?;
        let text = match state.source.has_text() {
            true => corpus.text(page_id)?,
            false => None,
        };
        let mut marks = Vec::new();
        let mut about_marks = None;
        if wanted.labels
            && let Some(matches) = &state.matches
        {
            let found = matches.rows(page_id, MARKS)?;
            marks.extend(found.iter().map(|row| row.begin as usize..row.end as usize));
            about_marks = Some(format!(
                "Marked: {}.",
                counted(
                    matches.count(page_id),
                    "chunk that is a label",
                    "chunks that are labels"
                )
            ));
        }
        if let (Some(phrase), Some(text)) = (&wanted.phrase, &text) {
            marks = phrase_ranges(text, phrase);
            about_marks = Some(match marks.len() {
                0 => "The phrase was not found in the text.".to_owned(),
                some => format!(
                    "Marked: {} of the phrase.",
                    counted(some as u64, "place", "places")
                ),
            });
        }
        if let Some(hash) = &wanted.chunk {
            let chunks = corpus.chunks(page_id)?;
            let named = chunks
                .iter()
                .filter(|chunk| hex(&chunk.chunk_hash) == *hash);
            marks = named
                .map(|chunk| chunk.begin as usize..chunk.end as usize)
                .collect();
            about_marks = Some(match marks.len() {
                0 => "The chunk is not among the chunks of the page as the corpus stores them."
                    .to_owned(),
                some => format!(
                    "Marked: {} of the chunk.",
                    counted(some as u64, "place", "places")
                ),
            });
        }
        marks.sort_by_key(|mark| (mark.start, mark.end));
        let from = match (&text, wanted.from) {
            (Some(text), 0) => {
                // The part with the first mark.
                let first = marks.first().map_or(0, |mark| mark.start);
                match first > SHOWN / 2 {
                    true => floor(text, first.saturating_sub(SHOWN / 10)),
                    false => 0,
                }
            }
            (Some(text), from) => floor(text, from),
            (None, _) => 0,
        };
        Ok(PageView {
            findings: findings_of(state, page_id),
            page,
            text,
            marks,
            about_marks,
            from,
        })
    }

    pub(crate) fn render(&self, _state: &SiteState) -> SitePage {
        let page = &self.page;
        let title = page.heading();
        let mut body = format!(
            "<h1 dir=\"auto\">{}</h1>\n<p><bdi class=\"address\">{}</bdi>{}</p>\n<dl class=\"facts\">\n",
            escape(&title),
            escape(&shortened(&page.url, 400)),
            outside_link(&page.url)
        );
        let mut fact = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                body.push_str(&format!(
                    "<dt>{name}</dt><dd><bdi>{}</bdi></dd>\n",
                    escape(&value)
                ));
            }
        };
        fact("Published", page.dates.published.map(day));
        fact("Fetched", page.dates.fetched.map(day));
        fact("Language", page.language.clone());
        fact("Status", page.status.map(|status| status.to_string()));
        fact("Media type", page.mime.clone());
        fact("Size", Some(size(page.bytes)));
        fact(
            "Text",
            Some(format!(
                "{} in {}",
                counted(page.words.into(), "word", "words"),
                counted(page.chunks.into(), "chunk", "chunks")
            )),
        );
        fact("Input", Some(page.source.clone()));
        fact("Rejected", page.reject.clone());
        body.push_str("</dl>\n<h2>Findings</h2>\n");
        if self.findings.is_empty() {
            body.push_str("<p>No list that is loaded has a row about this page.</p>\n");
        } else {
            body.push_str("<ul class=\"summary\">\n");
            for ListedFindings { list, rows, links } in &self.findings {
                body.push_str(&format!("<li>{}: ", escape(list)));
                for (at, (target, text)) in links.iter().enumerate() {
                    let comma = if at > 0 { ", " } else { "" };
                    body.push_str(&format!(
                        "{comma}<a href=\"{}\"><bdi>{}</bdi></a>",
                        escape(target),
                        escape(text)
                    ));
                }
                if *rows > links.len() {
                    body.push_str(&format!(
                        " and {} more",
                        number((rows - links.len()) as u64)
                    ));
                }
                body.push_str("</li>\n");
            }
            body.push_str("</ul>\n");
        }
        body.push_str("<h2>Text</h2>\n");
        if let Some(about) = &self.about_marks {
            body.push_str(&format!("<p>{}</p>\n", escape(about)));
        }
        match &self.text {
            None => body.push_str("<p>The corpus has no text of this page.</p>\n"),
            Some(text) => self.write_text(&mut body, text),
        }
        SitePage {
            title,
            body,
            module: None,
            entry: "lists",
        }
    }

    fn write_text(&self, out: &mut String, text: &str) {
        let end = floor(text, self.from.saturating_add(SHOWN));
        let part = |bytes: usize, label: &str| {
            format!(
                "<p><a href=\"/pages/{}?from={bytes}\">{label}</a></p>\n",
                self.page.page_id
            )
        };
        if self.from > 0 {
            let before = self.from.saturating_sub(SHOWN).max(1);
            out.push_str(&part(before, "Earlier text"));
        }
        out.push_str("<div class=\"words\" dir=\"auto\">");
        let mut at = self.from;
        for mark in &self.marks {
            let (begin, stop) = (mark.start.max(at), mark.end.min(end));
            if stop <= begin || !text.is_char_boundary(begin) || !text.is_char_boundary(stop) {
                continue;
            }
            out.push_str(&escape(text.get(at..begin).unwrap_or_default()));
            out.push_str(&format!(
                "<mark class=\"s2\">{}</mark>",
                escape(text.get(begin..stop).unwrap_or_default())
            ));
            at = stop;
        }
        out.push_str(&escape(text.get(at..end).unwrap_or_default()));
        out.push_str("</div>\n");
        if end < text.len() {
            out.push_str(&part(end, "Later text"));
        }
    }

    pub(crate) fn json(&self) -> Value {
        let findings = self.findings.iter().map(|found| {
            let evidence = found.links.iter().map(|(target, _)| target);
            let evidence: Vec<&String> = evidence.collect();
            json!({ "list": found.list, "rows": found.rows, "evidence": evidence })
        });
        json!({
            "page": self.page.json(),
            "findings": findings.collect::<Vec<_>>(),
            "text": self.text.as_deref().map(|text| {
                text.get(self.from..floor(text, self.from.saturating_add(SHOWN)))
            }),
            "text_begin": self.from,
            "text_bytes": self.text.as_ref().map(String::len),
        })
    }
}

/// The rows of all lists that are about a page.
fn findings_of(state: &SiteState, page_id: u64) -> Vec<ListedFindings> {
    const IDS: [&str; 6] = ["page_id", "of_id", "kept_id", "a_id", "b_id", "first_id"];
    let mut found = Vec::new();
    for (spec, list) in state.lists.iter() {
        let ListState::Loaded(list) = list else {
            continue;
        };
        // Of phrases and labels, a page is only where they occur first.
        if matches!(spec.name, "phrases" | "labels" | "popular") {
            continue;
        }
        let columns = IDS.iter().filter_map(|name| spec.column(name));
        let mut rows: Vec<u32> = columns
            .flat_map(|column| list.columns.rows_with(column, page_id))
            .copied()
            .collect();
        rows.sort_unstable();
        rows.dedup();
        if rows.is_empty() {
            continue;
        }
        let links = rows.iter().take(LINKED).map(|&row| {
            let text = other_page(state, list, row, page_id);
            let text = text.unwrap_or_else(|| spec.link.to_owned());
            (list.evidence(row), text)
        });
        found.push(ListedFindings {
            list: spec.title,
            rows: rows.len(),
            links: links.collect(),
        });
    }
    found
}

/// The address of the other page of a pair.
fn other_page(state: &SiteState, list: &Listing, row: u32, page_id: u64) -> Option<String> {
    let pages = list
        .spec
        .columns
        .iter()
        .filter_map(|column| match column.show {
            Show::Page(id) => Some((column.name, list.id(row, id))),
            _ => None,
        });
    let pages: Vec<_> = pages.collect();
    let (name, _) = pages
        .iter()
        .find(|(_, id)| pages.len() == 2 && *id != page_id)?;
    let url = list.words(row, name);
    let url = url.strip_prefix(state.root.as_str()).unwrap_or(url);
    Some(shortened(url, 80))
}

fn hex(hash: &[u8; 16]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The places of a phrase, whose words are in normal form and separated by spaces.
fn phrase_ranges(text: &str, phrase: &str) -> Vec<Range<usize>> {
    let wanted: Vec<&str> = phrase.split(' ').filter(|word| !word.is_empty()).collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let words = cento_text::words::words(text);
    let places = words.windows(wanted.len()).filter(|window| {
        window
            .iter()
            .zip(&wanted)
            .all(|((_, form), wanted)| form == wanted)
    });
    let ranges = places.filter_map(|window| Some(window.first()?.0.start..window.last()?.0.end));
    ranges.take(MARKS as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_found_by_the_normal_forms_of_its_words() {
        let text = "The OLD bridge; the old, old bridge.";
        let found = phrase_ranges(text, "old bridge");
        let found: Vec<&str> = found.into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["OLD bridge", "old bridge"]);
        assert!(phrase_ranges(text, "").is_empty());
        assert!(phrase_ranges("", "old").is_empty());
    }
}
