//! The pair view: the passages that two pages share, side by side, with the differing words marked.

use cento_align::{AlignSettings, Aligner, Fold, Passage, differing_words};
use cento_report::format::{counted, number, shared_words};
use cento_report::{ComparedSide, Comparison, escape};
use cento_scan::analyses::passages::compared_pieces;
use serde_json::{Value, json};

use super::{PageDetails, comparison_json, floor, page_link};
use crate::error::Refusal;
use crate::respond::SitePage;
use crate::state::SiteState;

/// Bytes of each text that are compared, passages that are shown, and bytes of each.
const LONGEST_TEXT: usize = 256 << 10;
const PASSAGES: usize = 60;
const LONGEST_PASSAGE: usize = 20_000;
/// If no long passage is found: the fewest characters and words of a shorter one.
const SHORT_CHARS: usize = 40;
const SHORT_WORDS: usize = 8;

/// Two texts, aligned.
pub(crate) struct ComparedTexts {
    pub(crate) comparisons: Vec<Comparison>,
    /// The number of passages that are not shown.
    pub(crate) more: usize,
    /// The fewest characters of a passage.
    minimum: usize,
    /// Whether a text is longer than what was compared.
    cut: bool,
}

/// Aligns two texts with these addresses.
pub(crate) fn compare_texts(texts: [&str; 2], addresses: [&str; 2]) -> ComparedTexts {
    let [a, b] = texts.map(|text| text.get(..floor(text, LONGEST_TEXT)).unwrap_or_default());
    let mut settings = AlignSettings::default();
    let mut minimum = settings.minimum_chars;
    let mut passages = Aligner::new(settings.clone()).align_texts(a, b);
    if passages.is_empty() {
        settings.minimum_chars = SHORT_CHARS;
        settings.verbatim_words = SHORT_WORDS;
        minimum = SHORT_CHARS;
        passages = Aligner::new(settings).align_texts(a, b);
    }
    let compare = |passage: &Passage| {
        let one = a.get(passage.a.clone()).unwrap_or_default();
        let other = b.get(passage.b.clone()).unwrap_or_default();
        let [only_one, only_other] = differing_words(one, other, Fold::None);
        let side = |address: &str, text: &str, differing: &[std::ops::Range<usize>]| ComparedSide {
            address: address.to_owned(),
            pieces: compared_pieces(text, differing, LONGEST_PASSAGE),
        };
        Comparison {
            about: format!(
                "{}, {}; characters {} to {} of the first text, {} to {} of the second.",
                passage.kind.as_str(),
                shared_words(
                    [passage.words, passage.b_words].map(|words| words as u64),
                    [passage.a_in_b, passage.b_in_a],
                    ["the first", "the second"],
                ),
                number(passage.a_chars.start as u64),
                number(passage.a_chars.end as u64),
                number(passage.b_chars.start as u64),
                number(passage.b_chars.end as u64),
            ),
            sides: [
                side(addresses[0], one, &only_one),
                side(addresses[1], other, &only_other),
            ],
        }
    };
    ComparedTexts {
        comparisons: passages.iter().take(PASSAGES).map(compare).collect(),
        more: passages.len().saturating_sub(PASSAGES),
        minimum,
        cut: texts.iter().any(|text| text.len() > LONGEST_TEXT),
    }
}

/// Two pages with the passages that they share.
pub(crate) struct PairView {
    pages: [PageDetails; 2],
    /// None if a page has no text.
    compared: Option<ComparedTexts>,
}

impl PairView {
    pub(crate) fn of(state: &SiteState, a: u64, b: u64) -> Result<PairView, Refusal> {
        if a == b {
            return Err(Refusal::bad("A pair has two different pages."));
        }
        let corpus = state.store()?;
        let pages = [PageDetails::of(corpus, a)?, PageDetails::of(corpus, b)?];
        let compared = match (corpus.text(a)?, corpus.text(b)?) {
            (Some(one), Some(other)) => Some(compare_texts(
                [&one, &other],
                [&pages[0].url, &pages[1].url],
            )),
            _ => None,
        };
        Ok(PairView { pages, compared })
    }

    /// What the comparison found, in sentences.
    fn sentences(&self) -> Vec<String> {
        let Some(compared) = &self.compared else {
            let without = self.pages.iter().find(|page| page.reject.is_some());
            let reason = without.and_then(|page| page.reject.as_deref());
            return vec![match reason {
                Some(reason) => format!(
                    "At least one of the two pages was rejected ({reason}) and has no text to compare."
                ),
                None => "At least one of the two pages has no text to compare.".to_owned(),
            }];
        };
        let found = compared.comparisons.len() + compared.more;
        let mut sentences = vec![match found {
            0 => format!(
                "The two texts share no passage of at least {} characters.",
                compared.minimum
            ),
            _ => format!(
                "The two texts share {} of at least {} characters.",
                counted(found as u64, "passage", "passages"),
                compared.minimum
            ),
        }];
        if compared.more > 0 {
            sentences.push(format!(
                "The first {} are shown.",
                compared.comparisons.len()
            ));
        }
        if compared.cut {
            sentences.push(format!(
                "Only the first {} KiB of each text were compared.",
                LONGEST_TEXT >> 10
            ));
        }
        sentences.push(self.pages[0].relation(&self.pages[1]));
        sentences
    }

    pub(crate) fn render(&self, state: &SiteState) -> SitePage {
        let [first, second] = &self.pages;
        let mut body = format!(
            "<h1>Two pages compared</h1>\n<ol class=\"pair\">\n<li>{}</li>\n<li>{}</li>\n</ol>\n",
            page_link(state, first.page_id, &first.url),
            page_link(state, second.page_id, &second.url),
        );
        for sentence in self.sentences() {
            body.push_str(&format!("<p dir=\"auto\">{}</p>\n", escape(&sentence)));
        }
        for comparison in self
            .compared
            .iter()
            .flat_map(|compared| &compared.comparisons)
        {
            body.push_str(&comparison.html(&state.root));
        }
        SitePage {
            title: "Two pages compared".to_owned(),
            body,
            module: None,
            entry: "lists",
        }
    }

    pub(crate) fn json(&self) -> Value {
        let comparisons = self
            .compared
            .iter()
            .flat_map(|compared| &compared.comparisons);
        json!({
            "a": self.pages[0].json(),
            "b": self.pages[1].json(),
            "about": self.sentences(),
            "passages": comparisons.map(comparison_json).collect::<Vec<_>>(),
        })
    }
}
