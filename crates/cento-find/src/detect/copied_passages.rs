//! The passages that pages share with originals: in which words, and by which dates and links.
//!
//! `detect` finds the pages with chunks of originals. Each of them is aligned with these originals
//! here, so that the result does not depend on where chunks begin and end, and has everything that
//! a reader needs without the originals.
//!
//! ```text
//!   matches of detect ─ align ─▶ passages, in the order of the matches
//! ```

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use cento_align::{AlignSettings, Aligner, Fold, Passage, common_words};
use cento_flow::{Flow, Registry, Stage, StageError, TableName, table_row};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::detect_tables::{MATCHES_TABLE, MatchRow};
use super::params::{DetectParams, LabelSet};
use super::shared_chunks::{ChunkSets, SharedChunks, SharingSets};
use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::page_details::{LinkTo, PageDetails};
use crate::precedence::{Earlier, earlier};
use crate::provenance::{originals_of, read_originals};
use crate::run::{Findings, Workplace};
use crate::tables::read_rows;

/// The name of the analysis.
pub const COPIED_PASSAGES: &str = "copied-passages";
/// The passages, by page and original.
pub const COPIED_PASSAGES_TABLE: TableName<CopiedPassageRow> = TableName::new("passages");

const STAGE: &str = "align with originals";
const PAIRS: &str = "pairs";
const SAME_DOMAIN: &str = "pairs on one domain";
const WITHOUT: &str = "pairs without passages";
/// The most tasks. Each reads the matches up to its own.
const MOST_TASKS: u64 = 64;
/// The fewest matches of a task.
const TASK_MATCHES: u64 = 16;
/// Bytes of each side of a passage that are stored.
const LONGEST: usize = 20_000;
/// If no passage of the usual length is found: the fewest characters and words of a shorter one.
const SHORT_CHARS: usize = 40;
const SHORT_WORDS: usize = 8;
/// Revised when the same input yields other rows.
const REVISION: u32 = 3;

table_row! {
    /// A passage that a page shares with an original. A pair whose common chunks are too short for
    /// a passage has one row without it.
    #[derive(Debug, Clone, PartialEq)]
    pub struct CopiedPassageRow {
        /// The page.
        pub page_id: u64,
        /// Its URL.
        pub page: String,
        /// Its host.
        pub site: Option<String>,
        /// Its title.
        pub title: Option<String>,
        /// When it was published, according to itself.
        pub published: Option<String>,
        /// When it was fetched.
        pub fetched: Option<String>,
        /// The SHA-1 of its payload, in hexadecimal digits.
        pub payload_sha1: Option<String>,
        /// The bytes of its payload.
        pub bytes: u64,
        /// The input that it was read from.
        pub source: String,
        /// The original, by its id among the originals.
        pub original_id: u64,
        /// The URL of the original.
        pub original: String,
        /// Its title.
        pub original_title: Option<String>,
        /// When it was published, according to itself.
        pub original_published: Option<String>,
        /// When it was fetched.
        pub original_fetched: Option<String>,
        /// The SHA-1 of its payload, in hexadecimal digits.
        pub original_sha1: Option<String>,
        /// What the page links to: `page` (the original), `domain` (another page of its domain),
        /// `none`, `unknown` (only the text of the page was read), `same-domain` (both are on one
        /// domain), or `no-address` (the original has no web address).
        pub links: String,
        /// Which of the two is earlier by date: `page`, `original`, `same`, or `unknown` if their
        /// dates do not decide (see [`crate::precedence`]).
        pub earlier: String,
        /// The chunks of the page that are chunks of the original which were searched for, whether
        /// or not they are attributed to it.
        pub chunks: u64,
        /// Their share of the chunks of the page, without stop chunks.
        pub of_page: f64,
        /// The share of the labels of the original that are on the page.
        pub of_original: f64,
        /// The number of passages that the two share.
        pub passages: u32,
        /// The words of the original that the page has in the same passage, each counted once: a
        /// page may repeat a passage, and an edited one spans words that the page does not have.
        pub reused_words: u32,
        /// Where the passage begins in the text of the page, in bytes.
        pub begin: Option<u32>,
        /// Where it ends there.
        pub end: Option<u32>,
        /// Where it begins in the text of the original, in bytes.
        pub original_begin: Option<u32>,
        /// Where it ends there.
        pub original_end: Option<u32>,
        /// How many words it has on the page.
        pub words: Option<u32>,
        /// How many words it has in the original.
        pub original_words: Option<u32>,
        /// Twice the number of words that both sides have, over the words of both sides: from 0 to
        /// 1. A word counts as often as the side has it that has it less often.
        pub identical: Option<f64>,
        /// The share of its words on the page that it has in the original, too.
        pub page_in_original: Option<f64>,
        /// The share of its words in the original that it has on the page, too.
        pub original_in_page: Option<f64>,
        /// How it was reused: verbatim, edited or scattered.
        pub kind: Option<String>,
        /// Its text on the page, up to 20,000 bytes.
        pub text: Option<String>,
        /// Its text in the original, up to 20,000 bytes.
        pub original_text: Option<String>,
    }
}

/// The counts of the analysis.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiedPassagesSummary {
    /// Pages that were searched, without those of the owner.
    pub searched: u64,
    /// Originals.
    pub originals: u64,
    /// The pages and originals that have a chunk in common.
    pub sharing: SharingSets,
    /// Pairs of a page and an original to which chunks of the page are attributed.
    pub pairs: u64,
    /// Pairs on one domain: perhaps the page is the original.
    pub same_domain: u64,
    /// Pairs whose common chunks are too short for a passage.
    pub without_passages: u64,
    /// Passages.
    pub passages: u64,
}

/// Some matches of `detect`.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct MatchRange {
    begin: u64,
    end: u64,
}

/// Aligns the pages that `detect` found with their originals.
///
/// `set` are the labels of all originals, and `detected` the findings with these labels.
pub fn copied_passages(
    corpus: &Arc<CorpusPages>,
    originals: &Arc<CorpusPages>,
    set: &LabelSet,
    detected: &Findings,
    workplace: &Workplace,
) -> Result<Findings> {
    let matches = detected.record.report.rows(MATCHES_TABLE.as_str());
    let settings = json!({
        "revision": REVISION,
        "detect": detected.record.question,
        "originals": originals.identity(),
    });
    let summary: super::DetectSummary = detected.summary()?;
    let parameters: DetectParams = serde_json::from_value(detected.record.parameters.clone())
        .map_err(|error| Error::corrupted(&detected.path, error.to_string()))?;
    workplace.run(
        COPIED_PASSAGES,
        &settings,
        corpus,
        || {
            let mut numbers = HashMap::new();
            for row in read_originals(&originals_of(set.labels().path()))? {
                let row = row?;
                // Of several originals with one URL, the first.
                numbers.entry(row.page).or_insert(row.page_id);
            }
            let task_rows = matches.div_ceil(MOST_TASKS).max(TASK_MATCHES);
            let tasks = (0..matches.div_ceil(task_rows)).map(|task| {
                json!(MatchRange {
                    begin: task * task_rows,
                    end: (task + 1) * task_rows,
                })
            });
            let comparison = PageComparison {
                corpus: Arc::clone(corpus),
                originals: Arc::clone(originals),
                numbers,
                matches: detected.table(MATCHES_TABLE.as_str()),
                sets: ChunkSets {
                    labels: set.shared_labels(),
                    no_stop: parameters.no_stop,
                },
            };
            let mut registry = Registry::new();
            registry.map(STAGE, move |context| {
                let range: MatchRange = context.task()?;
                let mut table = context.table(COPIED_PASSAGES_TABLE)?;
                let rows = read_rows::<MatchRow>(&comparison.matches)?;
                let (skipped, length) = (range.begin as usize, range.end - range.begin);
                let mut aligners = Aligners::default();
                let mut page = None;
                for row in rows.skip(skipped).take(length as usize) {
                    context.check()?;
                    let found = comparison.compare(&row?, &mut page, &mut aligners)?;
                    context.count(PAIRS, 1);
                    let is_own = |row: &CopiedPassageRow| row.links == LinkTo::SameDomain.name();
                    let same_domain = found.first().is_some_and(is_own);
                    context.count(SAME_DOMAIN, u64::from(same_domain));
                    let without = found.iter().filter(|row| row.passages == 0).count();
                    context.count(WITHOUT, without as u64);
                    found.into_iter().try_for_each(|row| table.push(row))?;
                }
                Ok(())
            });
            let flow = Flow::new(COPIED_PASSAGES)
                .table(COPIED_PASSAGES_TABLE)
                .stage(
                    Stage::map(STAGE, tasks.collect())
                        .with(json!({ "source": corpus.identity(), "settings": settings }))
                        .writes(COPIED_PASSAGES_TABLE.as_str()),
                );
            Ok((registry, flow))
        },
        |_, report| {
            let without_passages = report.counted(WITHOUT);
            Ok(json!(CopiedPassagesSummary {
                searched: summary.pages,
                originals: u64::from(originals.kept()),
                sharing: SharingSets::of(set, detected)?,
                pairs: report.counted(PAIRS),
                same_domain: report.counted(SAME_DOMAIN),
                without_passages,
                passages: report
                    .rows(COPIED_PASSAGES_TABLE.as_str())
                    .saturating_sub(without_passages),
            }))
        },
    )
}

/// Finds passages of the usual length, and shorter ones where there are none.
struct Aligners {
    usual: Aligner,
    short: Aligner,
}

impl Default for Aligners {
    fn default() -> Aligners {
        let mut short = AlignSettings::default();
        short.minimum_chars = SHORT_CHARS;
        short.verbatim_words = SHORT_WORDS;
        Aligners {
            usual: Aligner::new(AlignSettings::default()),
            short: Aligner::new(short),
        }
    }
}

impl Aligners {
    fn align(&mut self, page: &str, original: &str) -> Vec<Passage> {
        let passages = self.usual.align_texts(page, original);
        match passages.is_empty() {
            true => self.short.align_texts(page, original),
            false => passages,
        }
    }
}

/// What the stage compares.
struct PageComparison {
    corpus: Arc<CorpusPages>,
    originals: Arc<CorpusPages>,
    /// The id of each original, by its URL.
    numbers: HashMap<String, u64>,
    /// The table of matches.
    matches: PathBuf,
    sets: ChunkSets,
}

/// A page with its text and its chunks.
struct PageText {
    details: PageDetails,
    text: String,
    chunks: Vec<[u8; 16]>,
}

impl PageComparison {
    fn read(&self, pages: &CorpusPages, page_id: u64) -> std::result::Result<PageText, StageError> {
        let corpus = pages.corpora().first().ok_or("there is no corpus")?;
        let details = PageDetails::of(corpus, page_id)?.ok_or("a page of a match is missing")?;
        let text = corpus.text(page_id).map_err(Error::from)?;
        Ok(PageText {
            details,
            text: text.unwrap_or_default(),
            chunks: self.sets.chunks(pages, page_id)?,
        })
    }

    /// Returns the rows of a match. `page` is the page of the previous match: matches are sorted by
    /// page.
    fn compare(
        &self,
        row: &MatchRow,
        page: &mut Option<PageText>,
        aligners: &mut Aligners,
    ) -> std::result::Result<Vec<CopiedPassageRow>, StageError> {
        let page = match page.take() {
            Some(read) if read.details.page_id == row.page_id => page.insert(read),
            _ => page.insert(self.read(&self.corpus, row.page_id)?),
        };
        let number = self.numbers.get(&row.original);
        let number = *number.ok_or("an original of a match is missing")?;
        let original = self.read(&self.originals, number)?;
        let shared = self.sets.compare(&page.chunks, &original.chunks);
        let (text, original_text) = (&page.text, &original.text);
        let passages = aligners.align(text, original_text);
        let mut of_pair = pair_row(shared, &page.details, &original.details);
        of_pair.passages = u32::try_from(passages.len()).unwrap_or(u32::MAX);
        if passages.is_empty() {
            return Ok(vec![of_pair]);
        }
        of_pair.reused_words = reused_words(text, original_text, &passages);
        let place = |place: usize| Some(u32::try_from(place).unwrap_or(u32::MAX));
        let rows = passages.into_iter().map(|passage| CopiedPassageRow {
            begin: place(passage.a.start),
            end: place(passage.a.end),
            original_begin: place(passage.b.start),
            original_end: place(passage.b.end),
            words: place(passage.words),
            original_words: place(passage.b_words),
            identical: Some(passage.identical),
            page_in_original: Some(passage.a_in_b),
            original_in_page: Some(passage.b_in_a),
            kind: Some(passage.kind.as_str().to_owned()),
            text: Some(cut(text, passage.a.start, passage.a.end)),
            original_text: Some(cut(original_text, passage.b.start, passage.b.end)),
            ..of_pair.clone()
        });
        Ok(rows.collect())
    }
}

/// Counts the words of the original that the page has in the same passage, each once.
///
/// An edited or scattered passage spans words of the original that the page does not have, and
/// several passages may span the same words.
fn reused_words(page: &str, original: &str, passages: &[Passage]) -> u32 {
    let mut common: BTreeSet<usize> = BTreeSet::new();
    for passage in passages {
        let (a, b) = (page.get(passage.a.clone()), original.get(passage.b.clone()));
        let (Some(a), Some(b)) = (a, b) else {
            continue;
        };
        let [_, words] = common_words(a, b, Fold::None);
        common.extend(words.iter().map(|word| passage.b.start + word.start));
    }
    u32::try_from(common.len()).unwrap_or(u32::MAX)
}

/// Returns the row of a page and an original, without a passage.
fn pair_row(shared: SharedChunks, page: &PageDetails, original: &PageDetails) -> CopiedPassageRow {
    let date = |millis: Option<i64>| millis.map(cento_text::date::render);
    CopiedPassageRow {
        page_id: page.page_id,
        page: page.url.clone(),
        site: page.host.clone(),
        title: page.title.clone(),
        published: date(page.dates.published),
        fetched: date(page.dates.fetched),
        payload_sha1: page.payload_sha1.map(|digest| hexadecimal(&digest)),
        bytes: page.bytes,
        source: page.source.clone(),
        original_id: original.page_id,
        original: original.url.clone(),
        original_title: original.title.clone(),
        original_published: date(original.dates.published),
        original_fetched: date(original.dates.fetched),
        original_sha1: original.payload_sha1.map(|digest| hexadecimal(&digest)),
        links: page.links_to(original).name().to_owned(),
        earlier: match earlier(page.dates, original.dates) {
            Earlier::First => "page",
            Earlier::Second => "original",
            Earlier::Same => "same",
            Earlier::Unknown => "unknown",
        }
        .to_owned(),
        chunks: shared.chunks,
        of_page: shared.of_page,
        of_original: shared.of_original,
        passages: 0,
        reused_words: 0,
        begin: None,
        end: None,
        original_begin: None,
        original_end: None,
        words: None,
        original_words: None,
        identical: None,
        page_in_original: None,
        original_in_page: None,
        kind: None,
        text: None,
        original_text: None,
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a part of a text, up to [`LONGEST`] bytes.
fn cut(text: &str, begin: usize, end: usize) -> String {
    let mut last = end.min(begin + LONGEST);
    while !text.is_char_boundary(last) {
        last -= 1;
    }
    text.get(begin..last).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_passage_is_cut_between_characters() {
        let text = "汉".repeat(LONGEST);
        let stored = cut(&text, 3, text.len());
        assert_eq!(stored.len(), LONGEST - LONGEST % 3);
        assert_eq!(cut("one two", 4, 7), "two");
        assert_eq!(hexadecimal(&[0, 0xa5]), "00a5");
    }
}
