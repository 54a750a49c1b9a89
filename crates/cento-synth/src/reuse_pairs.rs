//! Pairs of pages whose category of reuse is known: Table 3 of Seo & Croft with truth instead of
//! assessors.
//!
//! A pair consists of two pages of own text around one passage, which the second page has with a
//! known edit rate. The category follows from the words of the passage that are unchanged, as a
//! share of each page:
//!
//! ```text
//!   page  own text │ passage            │ own text   share = unchanged words / words of the page
//!   of    own text │ passage, edited    │ own text
//! ```

use std::io::Write;
use std::path::Path;

use cento_file::Output;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::edit::{WordEdit, apply, decide};
use crate::error::{Error, Result};
use crate::language::Language;
use crate::prose::{Prose, sentence};
use crate::random::{Purpose, Random};
use crate::settings::SynthSettings;

/// The folder of the pages, in the folder of a synthetic crawl.
pub const REUSE: &str = "reuse";
/// The file of pages: JSON Lines of url and text.
pub const REUSE_PAGES: &str = "pages.jsonl";
/// The file of pairs: JSON Lines of [`ReusePair`].
pub const REUSE_PAIRS: &str = "pairs.jsonl";

/// The categories of the paper, and the planned shares of the two pages before edits. Each is in
/// the middle of its range. Sentences are not divided, so a few pairs of short pages miss the
/// planned category: the recorded one is that of the text as written.
const PLAN: [(&str, f64, f64); 7] = [
    ("C1", 0.93, 0.93),
    ("C2", 0.93, 0.68),
    ("C3", 0.93, 0.3),
    ("C4", 0.68, 0.68),
    ("C5", 0.68, 0.3),
    ("C6", 0.3, 0.3),
    ("none", 0.0, 0.0),
];

/// A pair of pages and what is known about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReusePair {
    /// The URL of the page with the original passage.
    pub page: String,
    /// The URL of the page with the edited passage.
    pub of: String,
    /// `C1` to `C6`, `one-sided` or `none`, by the shares below and the thresholds 0.8, 0.5 and
    /// 0.1.
    pub category: String,
    /// The share of the words of the passage that were edited on purpose.
    pub edit_rate: f64,
    /// The unchanged words of the passage.
    pub shared_words: u64,
    /// The words of the page.
    pub page_words: u64,
    /// The words of the other page.
    pub of_words: u64,
}

/// Returns the category of a pair, from whole numbers.
fn category(shared: u64, page: u64, of: u64) -> &'static str {
    let range = |whole: u64| {
        let tenths = [8, 5, 1];
        tenths
            .iter()
            .position(|tenths| whole > 0 && 10 * shared >= tenths * whole)
    };
    match (range(page), range(of)) {
        (None, None) => "none",
        (None, _) | (_, None) => "one-sided",
        (Some(one), Some(other)) => match (one.min(other), one.max(other)) {
            (0, 0) => "C1",
            (0, 1) => "C2",
            (0, _) => "C3",
            (1, 1) => "C4",
            (1, _) => "C5",
            _ => "C6",
        },
    }
}

/// Returns prose of at least `words` words.
fn prose(language: Language, words: u64, random: &mut Random) -> Prose {
    let mut prose = Prose::default();
    while (prose.words.len() as u64) < words {
        prose.push_sentence(language, &sentence(language, random));
    }
    prose
}

/// A page in the making.
#[derive(Default)]
struct PairedPage {
    text: String,
    words: u64,
}

impl PairedPage {
    fn add(&mut self, text: &str, words: u64) {
        if words > 0 {
            self.text.push_str(text);
            self.text.push_str("\n\n");
            self.words += words;
        }
    }

    fn add_own(&mut self, language: Language, words: u64, random: &mut Random) {
        if words > 0 {
            let own = prose(language, words, random);
            self.add(&own.text, own.words.len() as u64);
        }
    }
}

/// Returns one pair with the texts of its pages.
fn pair(settings: &SynthSettings, languages: &[Language], number: u64) -> (ReusePair, [String; 2]) {
    let mut random = Random::new(settings.seed, Purpose::ReusePair, number);
    let kinds = PLAN.len() as u64;
    let (name, page_share, of_share) = PLAN[(number % kinds) as usize];
    let turn = number / kinds;
    let at = |length: usize| (turn % length.max(1) as u64) as usize;
    let language = languages
        .get(at(languages.len()))
        .copied()
        .unwrap_or(Language::ALL[0]);
    let rates = &settings.edit_rates;
    let edit_rate = rates.get(at(rates.len())).copied().unwrap_or_default();
    let passage = match name {
        "none" => Prose::default(),
        _ => prose(language, settings.words / 2, &mut random),
    };
    let words = passage.words.len() as u64;
    let edits = decide(passage.words.len(), edit_rate, &mut random);
    let edited = apply(&passage, &edits, language, &mut random);
    let unchanged = |edit: &&WordEdit| matches!(edit, WordEdit::Keep | WordEdit::Insert);
    let shared_words = edits.iter().filter(unchanged).count() as u64;
    let inserted = edits
        .iter()
        .filter(|edit| **edit == WordEdit::Insert)
        .count() as u64;
    let deleted = edits
        .iter()
        .filter(|edit| **edit == WordEdit::Delete)
        .count() as u64;
    let mut build = |text: &str, words: u64, share: f64| {
        let own = match name {
            "none" => settings.words,
            _ => (words as f64 / share - words as f64) as u64,
        };
        let before = random.below(own + 1);
        let mut page = PairedPage::default();
        page.add_own(language, before, &mut random);
        page.add(text, words);
        page.add_own(language, own - before, &mut random);
        page
    };
    let page = build(&passage.text, words, page_share);
    let of = build(&edited.text, words + inserted - deleted, of_share);
    let url = |side: &str| format!("http://{side}{number}.{}.example/", name.to_lowercase());
    let pair = ReusePair {
        page: url("a"),
        of: url("b"),
        category: category(shared_words, page.words, of.words).to_owned(),
        edit_rate: if name == "none" { 0.0 } else { edit_rate },
        shared_words,
        page_words: page.words,
        of_words: of.words,
    };
    (pair, [page.text, of.text])
}

/// Writes `pairs` pairs planned for each category, and as many unrelated ones, to a folder: the
/// pages to [`REUSE_PAGES`] and the pairs to [`REUSE_PAIRS`]. Returns the number of pairs.
pub fn write_reuse_pairs(settings: &SynthSettings, pairs: u64, folder: &Path) -> Result<u64> {
    settings.validate()?;
    let languages = settings.schedule()?;
    std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
    let paths = [REUSE_PAGES, REUSE_PAIRS].map(|name| folder.join(name));
    let [mut pages_file, mut pairs_file] = [Vec::new(), Vec::new()];
    let total = pairs * PLAN.len() as u64;
    for number in 0..total {
        let (pair, texts) = pair(settings, &languages, number);
        for (url, text) in [&pair.page, &pair.of].into_iter().zip(texts) {
            pages_file.extend(format!("{}\n", json!({ "url": url, "text": text })).bytes());
        }
        pairs_file.extend(format!("{}\n", json!(pair)).bytes());
    }
    for (path, bytes) in paths.iter().zip([pages_file, pairs_file]) {
        let write = || -> std::io::Result<()> {
            let mut output = Output::create(path)?;
            output.write_all(&bytes)?;
            output.finish()
        };
        write().map_err(|error| Error::io(path, error))?;
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_in_the_category_of_their_text_and_nearly_always_in_the_planned_one() {
        let mut settings = SynthSettings::new(7, 100);
        settings.languages = vec![("en".to_owned(), 1), ("de".to_owned(), 1)];
        settings.words = 300;
        let languages = settings.schedule().unwrap();
        let mut as_planned = 0;
        for number in 0..70 {
            let (pair, texts) = pair(&settings, &languages, number);
            let actual = category(pair.shared_words, pair.page_words, pair.of_words);
            assert_eq!(pair.category, actual, "{pair:?}");
            as_planned += usize::from(actual == PLAN[(number % 7) as usize].0);
            for (text, words) in texts.iter().zip([pair.page_words, pair.of_words]) {
                let found = cento_text::words::count_words(text) as u64;
                assert_eq!(found, words, "{pair:?}");
            }
        }
        assert!(as_planned >= 63, "{as_planned} of 70");
    }

    #[test]
    fn the_boundaries_of_categories_are_inclusive() {
        assert_eq!(category(8, 10, 10), "C1");
        assert_eq!(category(40, 50, 81), "C3");
        assert_eq!(category(1, 10, 11), "one-sided");
        assert_eq!(category(0, 10, 10), "none");
    }
}
