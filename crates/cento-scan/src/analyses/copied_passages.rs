//! Text that pages share with originals: the results of `cento detect --against` for publishers.

use std::sync::Arc;

use cento_align::{Fold, differing_words};
use cento_find::detect::{
    COPIED_PASSAGES, COPIED_PASSAGES_TABLE, CopiedPassageRow, CopiedPassagesSummary,
};
use cento_find::precedence::{DatedBy, Dates, date_relation, needs_times, stated_date, stated_day};
use cento_find::{CorpusPages, Error, Findings, Result, Workplace};
use cento_report::format::{counted, number, plural, shared_words};
use cento_report::{
    ComparedSide, Comparison, Drawing, Finding, FindingEvidence, Headline, ReportCell, ReportTable,
    Section,
};
use serde_json::Value;

use super::columns;
use super::passages::compared_pieces;
use crate::analysis::{Analysis, SectionInput};
use crate::profile::Profile;

/// Bytes of each side of a passage that a report shows at most.
const LONGEST: usize = 1_600;

/// The second part of `cento detect --against`.
pub struct CopiedPassages;

impl Analysis for CopiedPassages {
    fn name(&self) -> &'static str {
        COPIED_PASSAGES
    }

    fn title(&self) -> &'static str {
        "Text shared with your originals"
    }

    fn question(&self) -> &'static str {
        "Which pages have the words of your originals, which words, and do they link to them?"
    }

    fn by_default(&self) -> bool {
        false
    }

    fn plan(&self, _: &Profile) -> std::result::Result<Value, String> {
        Err("it needs originals: `cento detect CORPUS --against ORIGINALS`".to_owned())
    }

    fn run(&self, _: &Arc<CorpusPages>, _: &Value, _: &Workplace) -> Result<Findings> {
        Err(Error::Usage("originals are missing".to_owned()))
    }

    fn command(&self, _: &str, _: &Value, _: &[String]) -> String {
        // Parameters identify originals by their content: nobody knows where they were.
        String::new()
    }

    fn figures(&self, _: &Findings) -> Result<Vec<Drawing>> {
        Ok(Vec::new())
    }

    fn summarise(&self, input: &SectionInput<'_>) -> Result<Section> {
        let summary: CopiedPassagesSummary = input.findings.summary()?;
        let mut section = Section::default();
        let counts = SharingCounts::read(input.findings, input.top)?;
        let Some(strongest) = counts.strongest.first() else {
            section.sentences.push(match summary.sharing.pages {
                0 => {
                    section.absent = Some("no pages with text of your originals".to_owned());
                    format!(
                        "None of {} has a chunk of your {}.",
                        counted(summary.searched, "page", "pages"),
                        match summary.originals {
                            1 => "original".to_owned(),
                            all => format!("{} originals", number(all)),
                        },
                    )
                }
                pages => format!(
                    "{} only chunks of more than 256 originals, which are attributed to none.",
                    counted(pages, "page has", "pages have"),
                ),
            });
            return Ok(section);
        };
        let sharing = summary.sharing;
        let sentence = format!(
            "{} of {}, on {}, {} text with {}.",
            number(sharing.pages),
            counted(summary.searched, "page", "pages"),
            counted(sharing.sites, "host", "hosts"),
            plural(sharing.pages, "shares", "share"),
            match summary.originals {
                1 => "your original".to_owned(),
                all => format!(
                    "{} of your {} originals",
                    number(sharing.originals),
                    number(all)
                ),
            },
        );
        section.headlines.push(Headline::new(
            number(sharing.pages),
            plural(
                sharing.pages,
                "page with text of your originals",
                "pages with text of your originals",
            ),
        ));
        section.findings.push(Finding {
            sentence: format!(
                "{sentence} No page has more words in common with one original than {}. {}",
                input.short(&strongest.page),
                relation(strongest)
            ),
            pages: sharing.pages,
            evidence: FindingEvidence::Comparison(0),
        });
        section.sentences.push(sentence);
        section.sentences.push(format!(
            "Each chunk is attributed to one original; this makes {}, with {}.",
            counted(
                summary.pairs,
                "pair of a page and an original",
                "pairs of a page and an original"
            ),
            counted(summary.passages, "passage", "passages"),
        ));
        let unlisted = sharing.pages.saturating_sub(counts.pages);
        if unlisted > 0 {
            section.sentences.push(format!(
                "{} only chunks of more than 256 originals, which are attributed to none.",
                counted(unlisted, "page has", "pages have"),
            ));
        }
        if summary.same_domain > 0 {
            section.sentences.push(format!(
                "{} of these pairs {} on one domain: `--own DOMAIN` ignores your own pages.",
                number(summary.same_domain),
                plural(summary.same_domain, "is", "are"),
            ));
        }
        if summary.without_passages > 0 {
            section.sentences.push(format!(
                "{} of a page and an original {} only short chunks, which are no passages.",
                counted(summary.without_passages, "pair", "pairs"),
                plural(summary.without_passages, "shares", "share"),
            ));
        }
        section.notes.push(
            "The share of a page is that of its chunks that are chunks of the original, without \
             stop chunks; the share of an original is that of its chunks that were searched for. \
             Words in common are words of the original that the page has in the same passage, each \
             counted once. Which of the two is earlier is said only where their dates decide it: a \
             page that was published before the other was fetched need not be the earlier one."
                .to_owned(),
        );
        let mut table = table(&counts.strongest, summary.pairs);
        table.command = list_command(&input.findings.record.request.command);
        section.tables.push(table);
        for row in &counts.strongest {
            section.comparisons.extend(comparison(row, LONGEST));
        }
        Ok(section)
    }
}

/// Returns the command that lists all rows, given the command that was run.
fn list_command(run: &str) -> String {
    match run {
        "" => String::new(),
        run if run.contains(" --out") || run.contains(" --json") => run.to_owned(),
        run => format!("{run} --out shared.csv"),
    }
}

/// Counts over all rows.
#[derive(Default)]
struct SharingCounts {
    /// Pages to which an original is attributed.
    pages: u64,
    /// The pairs with the most words of an original, each with its longest passage.
    strongest: Vec<CopiedPassageRow>,
}

impl SharingCounts {
    fn read(findings: &Findings, top: usize) -> Result<SharingCounts> {
        let mut counts = SharingCounts::default();
        let mut last_page = None;
        let mut pair: Option<CopiedPassageRow> = None;
        for row in findings.rows(COPIED_PASSAGES_TABLE)? {
            let row = row?;
            counts.pages += u64::from(last_page != Some(row.page_id));
            last_page = Some(row.page_id);
            match &mut pair {
                Some(pair)
                    if (pair.page_id, pair.original_id) == (row.page_id, row.original_id) =>
                {
                    if row.words > pair.words {
                        *pair = row;
                    }
                }
                _ => {
                    let done = pair.replace(row);
                    counts.add(done, top);
                }
            }
        }
        counts.add(pair, top);
        Ok(counts)
    }

    /// Keeps a pair if it is among the strongest; of equal ones, those that come first.
    fn add(&mut self, pair: Option<CopiedPassageRow>, top: usize) {
        let Some(pair) = pair else {
            return;
        };
        let at = self
            .strongest
            .partition_point(|other| other.reused_words >= pair.reused_words);
        if at < top.max(1) {
            self.strongest.insert(at, pair);
            self.strongest.truncate(top.max(1));
        }
    }
}

fn table(strongest: &[CopiedPassageRow], all: u64) -> ReportTable {
    let mut shown = 0;
    let rows = strongest.iter().map(|row| {
        let evidence = match row.text {
            Some(_) => {
                let anchor = FindingEvidence::Comparison(shown).anchor(COPIED_PASSAGES);
                shown += 1;
                ReportCell::Evidence {
                    target: format!("#{anchor}"),
                    text: "side by side".to_owned(),
                }
            }
            None => ReportCell::Text("short chunks only".to_owned()),
        };
        vec![
            ReportCell::Address(row.page.clone()),
            ReportCell::Text(row.title.clone().unwrap_or_default()),
            ReportCell::Address(row.original.clone()),
            ReportCell::Share(row.of_page),
            ReportCell::Share(row.of_original),
            ReportCell::Count(row.reused_words.into()),
            evidence,
            ReportCell::Text(dates(&row.published, &row.fetched)),
            ReportCell::Text(dates(&row.original_published, &row.original_fetched)),
            ReportCell::Text(row.earlier.clone()),
            ReportCell::Text(links(&row.links).to_owned()),
        ]
    });
    let rows: Vec<Vec<ReportCell>> = rows.collect();
    ReportTable {
        title: "pages with the most words in common with one original".to_owned(),
        columns: columns([
            "page",
            "title",
            "original",
            "% of page",
            "% of original",
            "words in common",
            "passages",
            "dates of the page",
            "dates of the original",
            "earlier",
            "links to",
        ]),
        more: all.saturating_sub(rows.len() as u64),
        rows,
        ..ReportTable::default()
    }
}

/// Says what the links of a page lead to.
pub(crate) fn links(links: &str) -> &str {
    match links {
        "page" => "the original",
        "domain" => "its domain",
        "none" => "none",
        "unknown" => "not known",
        "same-domain" => "same domain",
        _ => "no web address",
    }
}

/// Names all dates of a page.
pub(crate) fn dates(published: &Option<String>, fetched: &Option<String>) -> String {
    let day = |date: &Option<String>, by: DatedBy| {
        let date = date.as_ref()?;
        Some(stated_day(date, by.name()).into_owned())
    };
    let (published, fetched) = (
        day(published, DatedBy::Published),
        day(fetched, DatedBy::Fetched),
    );
    match (published, fetched) {
        (Some(published), Some(fetched)) => format!("published {published}, fetched {fetched}"),
        (Some(published), None) => format!("published {published}"),
        (None, Some(fetched)) => format!("fetched {fetched}"),
        (None, None) => "no usable date".to_owned(),
    }
}

/// Names all dates of a page with their times.
fn moments(published: &Option<String>, fetched: &Option<String>) -> String {
    let published = published.as_deref().map(stated_date);
    match (published, fetched) {
        (Some(published), Some(fetched)) => format!("published {published}, fetched {fetched}"),
        (Some(published), None) => format!("published {published}"),
        (None, Some(fetched)) => format!("fetched {fetched}"),
        (None, None) => "none".to_owned(),
    }
}

/// Says which of a page and an original is earlier, with the dates, and what the page links to.
pub(crate) fn relation(row: &CopiedPassageRow) -> String {
    relation_to(row, "the original")
}

/// Like [`relation`], with another name for the original.
pub(crate) fn relation_to(row: &CopiedPassageRow, original: &str) -> String {
    let decisive = |published: &Option<String>, fetched: &Option<String>| {
        let millis = |date: &Option<String>| date.as_deref().and_then(cento_text::date::parse);
        let dates = Dates {
            published: millis(published),
            fetched: millis(fetched),
        };
        dates.decisive()
    };
    let page = decisive(&row.published, &row.fetched);
    let other = decisive(&row.original_published, &row.original_fetched);
    let by = |date: Option<(i64, DatedBy)>| date.map_or("", |(_, by)| by.name());
    let (page_by, original_by) = (by(page), by(other));
    let with_times = page
        .zip(other)
        .is_some_and(|(page, other)| needs_times(page, other));
    let shown = |published, fetched| match with_times {
        true => moments(published, fetched),
        false => dates(published, fetched),
    };
    let both = format!(
        "page: {}; {original}: {}",
        shown(&row.published, &row.fetched),
        shown(&row.original_published, &row.original_fetched)
    );
    let order = match row.earlier.as_str() {
        "page" => format!(
            "The page was {} ({both}).",
            date_relation(page_by, original_by, true, original)
        ),
        "original" => format!(
            "The page was {} ({both}).",
            date_relation(page_by, original_by, false, original)
        ),
        "same" => format!("Both have the same date ({both})."),
        _ => format!("Their dates do not say which is earlier ({both})."),
    };
    let link = match row.links.as_str() {
        "page" => format!(" The page links to {original}."),
        "domain" => {
            format!(" The page links to the domain of {original}, but not to {original} itself.")
        }
        "none" => {
            format!(" The page has no link to {original} or to another page of its domain.")
        }
        "unknown" => " Only the text of the page was read, so its links are not known.".to_owned(),
        "same-domain" => " Both are on one domain.".to_owned(),
        _ => String::new(),
    };
    format!("{order}{link}")
}

/// Says how many words a passage has on both sides, and how many of them both have.
pub(crate) fn words_of_sides(row: &CopiedPassageRow, names: [&str; 2]) -> String {
    shared_words(
        [row.words, row.original_words].map(|words| words.unwrap_or(0).into()),
        [row.page_in_original, row.original_in_page].map(|share| share.unwrap_or(0.0)),
        names,
    )
}

/// Shows a passage side by side, the page first; none if the row has no passage.
pub(crate) fn comparison(row: &CopiedPassageRow, longest: usize) -> Option<Comparison> {
    let (text, original) = (row.text.as_deref()?, row.original_text.as_deref()?);
    let [only_page, only_original] = differing_words(text, original, Fold::None);
    Some(Comparison {
        about: format!(
            "{}, {}. {}",
            row.kind.as_deref().unwrap_or_default(),
            words_of_sides(row, ["the page", "the original"]),
            relation(row)
        ),
        sides: [
            ComparedSide {
                address: row.page.clone(),
                pieces: compared_pieces(text, &only_page, longest),
            },
            ComparedSide {
                address: row.original.clone(),
                pieces: compared_pieces(original, &only_original, longest),
            },
        ],
    })
}
