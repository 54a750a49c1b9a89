//! Passages that pages share.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use cento_align::differing_words;
use cento_figure::{Axis, Figure, Mark, NumberFormat, Series};
use cento_find::passages::{
    ANALYSIS, APPEARANCES_TABLE, CLUSTER_ANALYSIS, CLUSTERS_TABLE, ClusterRow, ClustersSummary,
    FoldChoice, PASSAGES_TABLE, PairChoice, PassageRow, PassagesParams, PassagesSummary, clusters,
    run,
};
use cento_find::precedence::{date_relation, shown_day, stated_days};
use cento_find::{CorpusPages, Error, Findings, Result, Workplace};
use cento_report::format::{counted, number, plural, shared_words, shortened, size};
use cento_report::{
    ComparedPiece, ComparedSide, Comparison, Drawing, Finding, FindingEvidence, Headline,
    ReportCell, ReportTable, Section, Suggestion,
};
use serde_json::{Value, json};

use super::columns;
use crate::analysis::{Analysis, CommandLine, SectionInput, parse_parameters};
use crate::profile::Profile;
use crate::select::first;

/// Passages that a report shows side by side.
const COMPARISONS: usize = 5;
/// Bytes of each side of a passage that are shown at most.
const LONGEST: usize = 1_600;
/// Clusters in the figure of their spread.
const CLUSTERS: usize = 6;
/// Milliseconds of a day.
const DAY: f64 = 86_400_000.0;

/// `cento passages`.
pub struct Passages;

impl Analysis for Passages {
    fn name(&self) -> &'static str {
        ANALYSIS
    }

    fn title(&self) -> &'static str {
        "Passages"
    }

    fn question(&self) -> &'static str {
        "Exactly which words do pages share, and which page had them first?"
    }

    fn too_large(&self, corpus: &Profile) -> Option<String> {
        let bytes = corpus.counts.text_bytes;
        (bytes > MOST_TEXT).then(|| {
            format!(
                "it compares pairs of pages word by word, and a scan of more than {} of text ({} \
                 here) does not do that by default; `--only {ANALYSIS}` adds it to the report",
                size(MOST_TEXT),
                size(bytes)
            )
        })
    }

    fn weight(&self) -> u32 {
        150
    }

    fn plan(&self, corpus: &Profile) -> std::result::Result<Value, String> {
        corpus.needs_text(2)?;
        Ok(json!(PassagesParams::default()))
    }

    fn run(
        &self,
        source: &Arc<CorpusPages>,
        parameters: &Value,
        workplace: &Workplace,
    ) -> Result<Findings> {
        let params: PassagesParams = parse_parameters(parameters)?;
        if let PairChoice::Listed(_) = params.pairs {
            return Err(Error::Usage("listed pairs need their list".to_owned()));
        }
        let findings = run(source, &params, &[], workplace)?;
        match clusters(source, &params, &findings, workplace) {
            // The passages are worth showing without them.
            Err(Error::Flow(cento_flow::Error::TooLittleMemory { .. })) => {}
            joined => joined?.mark_used(&workplace.request),
        }
        Ok(findings)
    }

    fn command(&self, corpus: &str, parameters: &Value, inputs: &[String]) -> String {
        let command = CommandLine::new("passages", corpus);
        let Ok(params) = parse_parameters::<PassagesParams>(parameters) else {
            return command.finish();
        };
        let default = PassagesParams::default();
        let command = match &params.pairs {
            PairChoice::All => command,
            PairChoice::Of(url) => command.option("--of", url, &String::new()),
            PairChoice::Listed(_) if inputs.is_empty() => command.flag("--pairs FILE", true),
            PairChoice::Listed(_) => command.inputs(inputs),
        };
        command
            .flag("--fold ocr", params.fold == FoldChoice::Ocr)
            .option("--min-chars", &params.min_chars, &default.min_chars)
            .option("--max-pages", &params.max_pages, &default.max_pages)
            .finish()
    }

    fn figures(&self, findings: &Findings) -> Result<Vec<Drawing>> {
        let mut drawings = vec![Drawing::new("passages", lengths(findings)?)];
        if let Some(joined) = clusters_of(findings)? {
            drawings.push(spread(&joined)?);
        }
        Ok(drawings)
    }

    fn summarise(&self, input: &SectionInput<'_>) -> Result<Section> {
        let summary: PassagesSummary = input.findings.summary()?;
        let params: PassagesParams = parse_parameters(&input.findings.record.parameters)?;
        let strongest = first(input.findings.rows(PASSAGES_TABLE)?, input.top)?;
        let mut section = Section {
            sentences: sentences(input, &summary, &params, &strongest),
            ..Section::default()
        };
        let Some(row) = strongest.first() else {
            // There may be passages of text on many pages, and in what was not compared.
            if summary.common == 0 && summary.framed == 0 {
                section.absent = Some(format!(
                    "no passages of at least {} characters were found on two {}",
                    number(params.min_chars.into()),
                    different_pages(&summary),
                ));
                return Ok(section);
            }
            add_travelling(&mut section, input, &input.command(self))?;
            return Ok(section);
        };
        let shared = SharingPages::read(input.findings)?;
        section.findings.push(Finding {
            sentence: format!(
                "{}{} of {}{} {} passages of at least {} characters with another page; the \
                 strongest, on {} and {}, has {}. {}",
                if shared.pages >= MAX_COUNTED {
                    "At least "
                } else {
                    ""
                },
                number(shared.pages as u64),
                counted(
                    summary.pages.saturating_sub(summary.copies),
                    "page",
                    "pages"
                ),
                match summary.copies {
                    0 => "",
                    _ => " (those with identical text counted once)",
                },
                plural(shared.pages as u64, "shares", "share"),
                number(params.min_chars.into()),
                input.short(&row.a),
                input.short(&row.b),
                words_of_sides(row, ["the first", "the second"]),
                direction(row)
            ),
            pages: shared.pages as u64,
            evidence: FindingEvidence::Comparison(0),
        });
        section.headlines.push(Headline::new(
            number(summary.passages),
            plural(summary.passages, "shared passage", "shared passages"),
        ));
        let command = input.command(self);
        let mut passages = table(&strongest, summary.passages);
        passages.command = format!("{command} --out passages.csv");
        section.tables.push(passages);
        for row in &shared.first {
            section
                .comparisons
                .push(comparison(input.source, row, params.fold)?);
        }
        add_travelling(&mut section, input, &command)?;
        section.suggestions.push(Suggestion {
            command: format!("{command} --out passages.csv"),
            purpose: "list all passages with their offsets".to_owned(),
        });
        section.suggestions.push(Suggestion {
            command: format!("{command} --clusters"),
            purpose: "list the passages that are on many pages, and where each appeared first"
                .to_owned(),
        });
        Ok(section)
    }
}

/// The most bytes of text of a corpus whose passages a scan finds by default. In 61 MB of RFCs, of
/// which every fifth pair is compared, this takes 25 to 35 processor seconds, four fifths of the
/// time of the scan.
const MOST_TEXT: u64 = 100_000_000;
/// Pages that are counted, in 16 MB of ids. A count that reaches it is a lower bound.
const MAX_COUNTED: usize = 1 << 20;

/// The pages that share passages.
#[derive(Default)]
struct SharingPages {
    pages: usize,
    /// The longest passage of each of the first pairs of pages.
    first: Vec<PassageRow>,
}

impl SharingPages {
    fn read(findings: &Findings) -> Result<SharingPages> {
        let mut shared = SharingPages::default();
        let mut ids = HashSet::new();
        let mut pairs = BTreeSet::new();
        for row in findings.rows(PASSAGES_TABLE)? {
            let row = row?;
            for page_id in [row.a_id, row.b_id] {
                if ids.len() < MAX_COUNTED {
                    ids.insert(page_id);
                }
            }
            if shared.first.len() < COMPARISONS && pairs.insert((row.a_id, row.b_id)) {
                shared.first.push(row);
            }
        }
        shared.pages = ids.len();
        Ok(shared)
    }
}

/// Returns the clusters of these passages, if they were computed.
fn clusters_of(findings: &Findings) -> Result<Option<Findings>> {
    let folder = findings.path.parent().and_then(Path::parent);
    let Some(folder) = folder.map(|folder| folder.join(CLUSTER_ANALYSIS)) else {
        return Ok(None);
    };
    let Ok(runs) = std::fs::read_dir(&folder) else {
        return Ok(None);
    };
    for run in runs.flatten() {
        let Ok(joined) = Findings::open(&run.path()) else {
            continue;
        };
        let (one, other) = (&joined.record, &findings.record);
        if (&one.parameters, &one.corpora, one.revision)
            == (&other.parameters, &other.corpora, other.revision)
        {
            joined.verify()?;
            return Ok(Some(joined));
        }
    }
    Ok(None)
}

/// Adds the passages that are on many pages, if they were joined.
fn add_travelling(section: &mut Section, input: &SectionInput<'_>, command: &str) -> Result<()> {
    if let Some(joined) = clusters_of(input.findings)? {
        let (sentences, mut table) = travelling(&joined, input.top)?;
        section.sentences.extend(sentences);
        table.command = format!("{command} --clusters --out clusters.csv");
        if !table.rows.is_empty() {
            section.tables.push(table);
        }
    }
    Ok(())
}

/// Describes the passages that are on many pages: sentences and a table.
fn travelling(joined: &Findings, top: usize) -> Result<(Vec<String>, ReportTable)> {
    let summary: ClustersSummary = joined.summary()?;
    let rows = first(joined.rows(CLUSTERS_TABLE)?, top)?;
    let sentence = match summary.clusters {
        0 => "No passage was found on three or more pages.".to_owned(),
        some => format!(
            "{} {} three or more pages. A group joins passages that overlap on a page, also \
             through other pages: not every page has all of its words.",
            counted(some, "group of passages", "groups of passages"),
            plural(some, "is on", "are on")
        ),
    };
    let cells = |row: &ClusterRow| {
        vec![
            ReportCell::Text(shortened(&row.text, SHOWN)),
            ReportCell::Count(row.pages.into()),
            ReportCell::Count(row.sites.into()),
            ReportCell::Count(row.words.into()),
            match row.first_decided {
                true => ReportCell::Address(row.first.clone()),
                false => ReportCell::Text("unknown".to_owned()),
            },
            dated(&row.first_date, &row.first_dated_by),
        ]
    };
    Ok((
        vec![sentence],
        ReportTable {
            title: "passages on three or more pages".to_owned(),
            columns: columns([
                "passage",
                "pages",
                "sites",
                "words",
                "published or fetched first, where dates decide",
                "earliest date",
            ]),
            more: summary.clusters.saturating_sub(rows.len() as u64),
            rows: rows.iter().map(cells).collect(),
            ..ReportTable::default()
        },
    ))
}

/// Characters of a passage in a table.
const SHOWN: usize = 120;

/// Names the pages that are compared: of those with identical text, only one is.
fn different_pages(summary: &PassagesSummary) -> &'static str {
    match summary.copies {
        0 => "pages",
        _ => "pages with different texts",
    }
}

fn sentences(
    input: &SectionInput<'_>,
    summary: &PassagesSummary,
    params: &PassagesParams,
    strongest: &[PassageRow],
) -> Vec<String> {
    let mut sentences = Vec::new();
    match strongest.first() {
        None if summary.frequent == 0 => sentences.push(format!(
            "No passage of at least {} characters was found on two {}.",
            number(params.min_chars.into()),
            different_pages(summary),
        )),
        None => sentences.push(format!(
            "Passages of at least {} characters were found only on pages that share nothing but \
             text on more than {} pages.",
            number(params.min_chars.into()),
            number(params.max_pages.into()),
        )),
        Some(row) => {
            sentences.push(format!(
                "{} of pages {} {}: {} verbatim, {} edited and {} scattered.",
                counted(summary.pairs, "pair", "pairs"),
                plural(summary.pairs, "shares", "share"),
                counted(summary.passages, "passage", "passages"),
                number(summary.verbatim),
                number(summary.edited),
                number(summary.scattered),
            ));
            sentences.push(format!(
                "The strongest is on {} and on {} and has {}. {}",
                input.short(&row.a),
                input.short(&row.b),
                words_of_sides(row, ["the first", "the second"]),
                direction(row)
            ));
        }
    }
    if summary.copies > 0 {
        sentences.push(format!(
            "{} the text of another page and {} not compared again.",
            match summary.copies {
                1 => "1 page has".to_owned(),
                copies => format!("{} pages have", number(copies)),
            },
            plural(summary.copies, "is", "are")
        ));
    }
    if summary.common > 0 {
        sentences.push(format!(
            "{} on more than {} pages; of pages that share nothing else, each was compared with the \
             earliest that has them. What these pairs share ({}) counts in the groups of passages \
             alone.",
            match summary.common {
                1 => "1 fingerprint is".to_owned(),
                many => format!("{} fingerprints are", number(many)),
            },
            number(params.max_pages.into()),
            counted(summary.frequent, "passage", "passages")
        ));
    }
    if summary.framed > 0 {
        sentences.push(format!(
            "{} with paragraphs that more than {} pages have, five or more of them of the same site; \
             these were not compared.",
            match summary.framed {
                1 => "1 page begins or ends".to_owned(),
                many => format!("{} pages begin or end", number(many)),
            },
            number(params.max_pages.into())
        ));
    }
    if !matches!(params.pairs, PairChoice::Listed(_)) {
        sentences.push(
            "Edited and scattered passages were looked for around the fingerprints that two pages \
             share; those that share none are missing."
                .to_owned(),
        );
    }
    sentences
}

/// Says how many words a passage has on both sides, and how many of them both have.
fn words_of_sides(row: &PassageRow, names: [&str; 2]) -> String {
    shared_words(
        [row.words.into(), row.b_words.into()],
        [row.a_in_b, row.b_in_a],
        names,
    )
}

/// Says which page is earlier, and by which dates.
pub fn direction(row: &PassageRow) -> String {
    dated_pair(
        &row.earlier,
        [
            (&row.a_date, &row.a_dated_by),
            (&row.b_date, &row.b_dated_by),
        ],
        row.attributed,
    )
}

/// Says which of two pages is earlier, `a` or `b`, by which dates, and whether the first links to
/// the second. Each date comes with what it is the date of: `published` or `fetched`.
pub fn dated_pair(
    earlier: &str,
    dates: [(&Option<String>, &Option<String>); 2],
    attributed: Option<bool>,
) -> String {
    let given = dates.map(|(date, by)| date.as_deref().zip(by.as_deref()));
    let [a, b] = stated_days(given);
    let [a_by, b_by] = dates.map(|(_, by)| by.as_deref().unwrap_or_default());
    let with_kind = |day: Option<Cow<'_, str>>, by: &str| match day {
        Some(day) => format!("{by} {day}"),
        None => "no date".to_owned(),
    };
    let (a, b) = (with_kind(a, a_by), with_kind(b, b_by));
    let mut text = match earlier {
        "a" => {
            let relation = date_relation(a_by, b_by, true, "the second");
            format!("The first page was {relation} ({a}; the second: {b}).")
        }
        "b" => {
            let relation = date_relation(b_by, a_by, true, "the first");
            format!("The second page was {relation} ({b}; the first: {a}).")
        }
        "same" => format!("Both have the same date ({a}; {b})."),
        _ => format!("Their dates do not say which is earlier ({a}; {b})."),
    };
    if attributed == Some(true) {
        text.push_str(" The first links to the second or to its domain.");
    }
    text
}

fn table(rows: &[PassageRow], all: u64) -> ReportTable {
    ReportTable {
        title: "strongest passages: A, later where dates decide".to_owned(),
        columns: columns([
            "A",
            "B",
            "words of A",
            "of these in B",
            "of the words of B in A",
            "kind",
            "earlier",
            "date of A",
            "date of B",
            "A links to B",
        ]),
        more: all.saturating_sub(rows.len() as u64),
        rows: rows
            .iter()
            .map(|row| {
                vec![
                    ReportCell::Address(row.a.clone()),
                    ReportCell::Address(row.b.clone()),
                    ReportCell::Count(row.words.into()),
                    ReportCell::Share(row.a_in_b),
                    ReportCell::Share(row.b_in_a),
                    ReportCell::Text(row.kind.clone()),
                    ReportCell::Text(match row.earlier.as_str() {
                        "b" => "B".to_owned(),
                        other => other.to_owned(),
                    }),
                    dated(&row.a_date, &row.a_dated_by),
                    dated(&row.b_date, &row.b_dated_by),
                    ReportCell::Text(
                        match row.attributed {
                            Some(true) => "yes",
                            Some(false) => "no",
                            None => "unknown",
                        }
                        .to_owned(),
                    ),
                ]
            })
            .collect(),
        ..ReportTable::default()
    }
}

/// Returns a date with what it is the date of.
fn dated(date: &Option<String>, by: &Option<String>) -> ReportCell {
    match (date, by) {
        (Some(date), Some(by)) => ReportCell::Text(format!("{by} {}", shown_day(date, by))),
        _ => ReportCell::Text("none".to_owned()),
    }
}

fn comparison(source: &CorpusPages, row: &PassageRow, fold: FoldChoice) -> Result<Comparison> {
    let [a, b] = passage_texts(source, row)?;
    let [only_a, only_b] = differing_words(&a, &b, fold.into());
    let side = |address: &str, text: &str, differing: &[Range<usize>]| ComparedSide {
        address: address.to_owned(),
        pieces: compared_pieces(text, differing, LONGEST),
    };
    Ok(Comparison {
        about: format!(
            "{}, {}. {}",
            row.kind,
            words_of_sides(row, ["the first", "the second"]),
            direction(row)
        ),
        sides: [side(&row.a, &a, &only_a), side(&row.b, &b, &only_b)],
    })
}

/// Reads the text of a passage on both pages.
pub fn passage_texts(source: &CorpusPages, row: &PassageRow) -> Result<[String; 2]> {
    let read = |page_id, begin: u32, end: u32| -> Result<String> {
        let corpus = source.corpora().first();
        let text = corpus.map(|corpus| corpus.text(page_id)).transpose()?;
        let text = text.flatten().unwrap_or_default();
        let text = text.get(begin as usize..end as usize).unwrap_or_default();
        Ok(text.to_owned())
    };
    Ok([
        read(row.a_id, row.a_begin, row.a_end)?,
        read(row.b_id, row.b_begin, row.b_end)?,
    ])
}

/// Cuts a text into what both sides have and what differs. What comes after `longest` bytes becomes
/// a gap.
pub fn compared_pieces(
    text: &str,
    differing: &[Range<usize>],
    longest: usize,
) -> Vec<ComparedPiece> {
    let end = (0..=longest.min(text.len()))
        .rev()
        .find(|&end| text.is_char_boundary(end))
        .unwrap_or(0);
    let mut pieces = Vec::new();
    let mut at = 0;
    for word in differing.iter().filter(|word| word.end <= end) {
        let between = &text[at..word.start];
        match pieces.last_mut() {
            // Words that differ together are marked together.
            Some(ComparedPiece::Differing(words)) if between.trim().is_empty() => {
                words.push_str(&text[at..word.end]);
            }
            _ => {
                if !between.is_empty() {
                    pieces.push(ComparedPiece::Same(between.to_owned()));
                }
                pieces.push(ComparedPiece::Differing(text[word.clone()].to_owned()));
            }
        }
        at = word.end;
    }
    if at < end {
        pieces.push(ComparedPiece::Same(text[at..end].to_owned()));
    }
    let left_out = text[end..].chars().count() as u64;
    if left_out > 0 {
        pieces.push(ComparedPiece::Gap(left_out));
    }
    pieces
}

/// Bars of the figure of lengths: the fewest words of each.
const BARS: [u32; 7] = [0, 25, 50, 100, 200, 500, 1000];

fn lengths(findings: &Findings) -> Result<Figure> {
    let kinds = ["verbatim", "edited", "scattered"];
    let mut counts = [[0u64; BARS.len()]; 3];
    for row in findings.rows(PASSAGES_TABLE)? {
        let row = row?;
        let bar = BARS
            .partition_point(|&from| from <= row.words)
            .saturating_sub(1);
        if let Some(kind) = kinds.iter().position(|kind| *kind == row.kind) {
            counts[kind][bar] += 1;
        }
    }
    let names = BARS
        .iter()
        .enumerate()
        .map(|(at, from)| match BARS.get(at + 1) {
            Some(next) => format!("{from}–{}", next - 1),
            None => format!("{from} or more"),
        });
    let mut figure = Figure::new(
        "How long are shared passages?",
        Axis::of_categories("Words of the passage", names),
        Axis::linear("Passages").covering(0.0).format(NumberFormat::Count),
    )
    .caption(
        "A passage counts once for every pair of pages that share it. Verbatim: word for word, with \
         small edits at most. Scattered: a few sentences have words of a much longer stretch, as a \
         summary has.",
    );
    for (kind, counts) in kinds.iter().zip(counts) {
        let points = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let points: Vec<(f64, f64)> = points
            .map(|(at, &count)| (at as f64, count as f64))
            .collect();
        figure = figure.series(Series::new(*kind, Mark::Bars, points));
    }
    Ok(figure)
}

/// Draws how the passages of the largest clusters spread over time.
pub fn spread(findings: &Findings) -> Result<Drawing> {
    let clusters = first(findings.rows(CLUSTERS_TABLE)?, CLUSTERS)?;
    let mut days: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for row in findings.rows(APPEARANCES_TABLE)? {
        let row = row?;
        if row.cluster as usize > clusters.len() {
            break;
        }
        let millis = row.date.as_deref().and_then(cento_text::date::parse);
        if let Some(millis) = millis {
            days.entry(row.cluster)
                .or_default()
                .push(millis as f64 / DAY);
        }
    }
    let lines = clusters.iter().map(|cluster| {
        let mut words = cluster
            .text
            .split_whitespace()
            .take(6)
            .collect::<Vec<_>>()
            .join(" ");
        words.push('…');
        (words, days.remove(&cluster.cluster).unwrap_or_default())
    });
    Ok(Drawing::new("passage-spread", spread_figure(lines)))
}

/// Draws how passages spread: for each its name, and the dates of the pages that have it, in days.
pub fn spread_figure(lines: impl Iterator<Item = (String, Vec<f64>)>) -> Figure {
    let mut figure = Figure::new(
        "How do passages spread over time?",
        Axis::linear("Days after the first appearance").covering(0.0),
        Axis::linear("Pages with the passage")
            .covering(0.0)
            .format(NumberFormat::Count),
    )
    .caption(
        "Each line is one passage. Dates are those of publication, else of fetching; undated pages \
         are not shown.",
    );
    for (words, mut dates) in lines {
        dates.sort_by(f64::total_cmp);
        let Some(&begin) = dates.first() else {
            continue;
        };
        let points = dates
            .iter()
            .zip(1u32..)
            .map(|(date, pages)| (date - begin, f64::from(pages)));
        figure = figure.series(Series::new(words, Mark::Steps, points.collect::<Vec<_>>()));
    }
    figure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differing_words_beside_each_other_are_one_piece() {
        let text = "the old stone bridge is closed";
        let differing = vec![4..7, 8..13, 24..30];
        let same = |text: &str| ComparedPiece::Same(text.to_owned());
        let other = |text: &str| ComparedPiece::Differing(text.to_owned());
        assert_eq!(
            compared_pieces(text, &differing, 100),
            [
                same("the "),
                other("old stone"),
                same(" bridge is "),
                other("closed")
            ]
        );
        assert_eq!(
            compared_pieces(text, &differing, 10),
            [
                same("the "),
                other("old"),
                same(" st"),
                ComparedPiece::Gap(20)
            ]
        );
    }
}
