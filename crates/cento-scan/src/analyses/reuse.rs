//! Local text reuse.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use cento_figure::{Axis, Figure, Mark, NumberFormat, Series};
use cento_find::reuse::{
    ANALYSIS, Category, IDENTICAL, PAIRS, ReusePairRow, ReuseParams, ReuseStyle, ReuseSummary, run,
};
use cento_find::{CorpusPages, Findings, PageDetails, Result, Workplace};
use cento_report::format::{counted, number, part_of, percent, plural};
use cento_report::{
    Drawing, Finding, FindingEvidence, Headline, ReportCell, ReportTable, Section, Suggestion,
};
use serde_json::{Value, json};

use super::columns;
use crate::aligned::{details, longest_passage, relation};
use crate::analysis::{Analysis, CommandLine, SectionInput, parse_parameters};
use crate::profile::Profile;
use crate::select::first_that;

/// `cento reuse`.
pub struct Reuse;

impl Analysis for Reuse {
    fn name(&self) -> &'static str {
        ANALYSIS
    }

    fn title(&self) -> &'static str {
        "Local text reuse"
    }

    fn question(&self) -> &'static str {
        "Which pages share text, from a passage to the whole page, and in which style?"
    }

    fn weight(&self) -> u32 {
        5
    }

    fn plan(&self, corpus: &Profile) -> std::result::Result<Value, String> {
        corpus.needs_text(2)?;
        Ok(json!(ReuseParams::default()))
    }

    fn run(
        &self,
        source: &Arc<CorpusPages>,
        parameters: &Value,
        workplace: &Workplace,
    ) -> Result<Findings> {
        run(source, &parse_parameters(parameters)?, workplace)
    }

    fn command(&self, corpus: &str, parameters: &Value, _: &[String]) -> String {
        let command = CommandLine::new(ANALYSIS, corpus);
        let Ok(params) = parse_parameters::<ReuseParams>(parameters) else {
            return command.finish();
        };
        let usual = ReuseParams::default();
        let max_pages = params.max_pages.map(|most| format!("--max-pages {most}"));
        let styles: Vec<&str> = params.styles.iter().map(|style| style.name()).collect();
        let (limits, limits_usual) = (params.thresholds, usual.thresholds);
        command
            .option("--scheme", &params.scheme, &usual.scheme)
            .option("--most", &limits.most, &limits_usual.most)
            .option(
                "--considerable",
                &limits.considerable,
                &limits_usual.considerable,
            )
            .option("--partial-share", &limits.partial, &limits_usual.partial)
            .option("--min-shared", &params.min_shared, &usual.min_shared)
            .flag(&max_pages.unwrap_or_default(), params.max_pages.is_some())
            .option("--frequent", &params.frequent, &usual.frequent)
            .flag("--frame", params.frame)
            .option("--style", &styles.join(","), &String::new())
            .finish()
    }

    fn figures(&self, findings: &Findings) -> Result<Vec<Drawing>> {
        let summary: ReuseSummary = findings.summary()?;
        Ok(vec![Drawing::new("reuse-categories", figure(&summary))])
    }

    fn summarise(&self, input: &SectionInput<'_>) -> Result<Section> {
        let summary: ReuseSummary = input.findings.summary()?;
        let params: ReuseParams = parse_parameters(&input.findings.record.parameters)?;
        let genuine = ReuseStyle::Reuse.name();
        let considerable = percent(params.thresholds.considerable.share());
        let rows = input.findings.rows(PAIRS)?;
        let rows = first_that(rows, input.top, |row: &ReusePairRow| row.style == genuine)?;
        let mut section = Section {
            headlines: vec![
                Headline::new(
                    number(summary.near_duplicate_pages),
                    format!("pages that share {considerable} or more (C1, C2, C4)"),
                ),
                Headline::new(
                    number(summary.local_reuse_pages),
                    "pages that share less (C3, C5, C6)",
                ),
            ],
            sentences: sentences(&summary, &params),
            tables: vec![category_table(&summary)],
            ..Section::default()
        };
        section.sentences.extend(ignored(&summary));
        section.notes.push(format!(
            "Fingerprints are a selection of the runs of words of a page ({}). Each distinct one \
             counts once, so that shares of them are not shares of the text.",
            params.scheme
        ));
        let contained = ContainedPages::read(input.findings, &params)?;
        if let Some(sentence) = contained.sentence(input) {
            section.sentences.insert(0, sentence);
        }
        if contained.pages == 0 && summary.identical == 0 {
            section.absent = Some(format!(
                "no page with at least {} of its fingerprints in another page, apart from text on {} or \
                 more pages, page frames and aliases",
                percent(HALF),
                number(u64::from(params.frequent)),
            ));
        }
        let list = format!("{} --out reuse.csv", input.command(self));
        if !rows.is_empty() {
            let mut table = pair_table(&rows, &summary);
            table.title = "pairs of pages that share text: A".to_owned();
            table.command = list;
            section.tables.push(table);
        }
        contained.show(input, &mut section, &rows)?;
        section.suggestions.push(Suggestion {
            command: format!("{} --out reuse.csv", input.command(self)),
            purpose: "list all pairs of pages".to_owned(),
        });
        if !params.frame && summary.frame_page_fingerprints > 0 {
            let params = json!(ReuseParams {
                frame: true,
                ..params
            });
            section.suggestions.push(Suggestion {
                command: self.command(input.corpus, &params, &[]),
                purpose: "compare pages without navigation, headers and footers".to_owned(),
            });
        }
        Ok(section)
    }
}

/// The share of a page above which it is contained in another.
const HALF: f64 = 0.5;
/// Pages that are counted, in 16 MB of ids. A count that reaches it is a lower bound.
const MAX_COUNTED: usize = 1 << 20;
/// Pairs that are shown side by side.
const COMPARISONS: usize = 3;

/// Pages that are found in another page by half or more. As in the summary, each of several pages
/// with the same fingerprints counts.
#[derive(Default)]
struct ContainedPages {
    pages: u64,
    /// Whether there may be more.
    are_more: bool,
    /// The pair with the largest share.
    strongest: Option<ReusePairRow>,
}

impl ContainedPages {
    fn read(findings: &Findings, params: &ReuseParams) -> Result<ContainedPages> {
        // The number of pages with the fingerprints of a page, by the page that represents them.
        let mut copies: HashMap<u64, u64> = HashMap::new();
        let mut strongest = None::<ReusePairRow>;
        for row in findings.rows(PAIRS)? {
            let row = row?;
            if row.style != ReuseStyle::Reuse.name() {
                continue;
            }
            let sides = [
                (row.page_containment, row.page_id, row.page_copies),
                (row.of_containment, row.of_id, row.of_copies),
            ];
            for (_, page_id, of_page) in sides.iter().filter(|(share, ..)| *share >= HALF) {
                if copies.len() < MAX_COUNTED {
                    copies.insert(*page_id, u64::from(*of_page));
                }
            }
            let key = |row: &ReusePairRow| (Self::sides(row).0, row.shared);
            if Self::sides(&row).0 >= HALF
                && strongest.as_ref().is_none_or(|best| key(best) < key(&row))
            {
                strongest = Some(row);
            }
        }
        // Pages with the same fingerprints contain each other, unless all are on one host. With
        // two corpora, only pairs of pages of both count.
        let mut sets: HashMap<u64, (u64, bool)> = HashMap::new();
        for row in findings.rows(IDENTICAL)?.filter(|_| !params.against) {
            let row = row?;
            if sets.len() < MAX_COUNTED || sets.contains_key(&row.of_id) {
                let (pages, is_reuse) = sets.entry(row.of_id).or_insert((1, false));
                *pages += 1;
                *is_reuse |= row.style == ReuseStyle::Reuse.name();
            }
        }
        let are_more = copies.len().max(sets.len()) >= MAX_COUNTED;
        let reused = sets.into_iter().filter(|(_, (_, is_reuse))| *is_reuse);
        copies.extend(reused.map(|(page_id, (pages, _))| (page_id, pages)));
        Ok(ContainedPages {
            pages: copies.values().sum(),
            are_more,
            strongest,
        })
    }

    /// The page that is contained and the page that contains it, of the strongest pair, with the
    /// share.
    fn sides(row: &ReusePairRow) -> (f64, (u64, &str), (u64, &str)) {
        let (page, of) = (
            (row.page_id, row.page.as_str()),
            (row.of_id, row.of.as_str()),
        );
        match row.page_containment >= row.of_containment {
            true => (row.page_containment, page, of),
            false => (row.of_containment, of, page),
        }
    }

    /// Counts them, and names the strongest pair.
    fn sentence(&self, input: &SectionInput<'_>) -> Option<String> {
        let pages = self.pages;
        if pages == 0 {
            return None;
        }
        let example = self.strongest.as_ref().map(|strongest| {
            let (share, (_, page), (_, other)) = Self::sides(strongest);
            format!(
                ": {} of those of {} are in {}",
                percent(share),
                input.short(page),
                input.short(other)
            )
        });
        Some(format!(
            "{}{} {} at least {} of {} fingerprints in another page (pairs of the styles template, \
             phrase, frame and alias are excluded){}.",
            match self.are_more {
                true => "At least ",
                false => "",
            },
            counted(pages, "page", "pages"),
            plural(pages, "has", "have"),
            percent(HALF),
            plural(pages, "its", "their"),
            example.unwrap_or_default(),
        ))
    }

    /// Adds the strongest pairs side by side, and the finding.
    fn show(
        &self,
        input: &SectionInput<'_>,
        section: &mut Section,
        rows: &[ReusePairRow],
    ) -> Result<()> {
        let mut seen = BTreeSet::new();
        let pairs = self.strongest.iter().chain(rows);
        let pairs = pairs.filter(|row| seen.insert((row.page_id, row.of_id)));
        for row in pairs.take(COMPARISONS) {
            let pages = [
                details(input.source, row.page_id)?,
                details(input.source, row.of_id)?,
            ];
            let about = format!(
                "{} of the fingerprints of the first are in the second, and {} of those of the second in \
                 the first.",
                percent(row.page_containment),
                percent(row.of_containment)
            );
            let [one, other] = &pages;
            let is_strongest = self.strongest.as_ref().is_some_and(|strongest| {
                (strongest.page_id, strongest.of_id) == (row.page_id, row.of_id)
            });
            let shown = longest_passage(input.source, [one, other], &about)?;
            if is_strongest && let Some(sentence) = self.sentence(input) {
                section.findings.push(Finding {
                    sentence: format!("{sentence} {}", contained_relation(row, [one, other])),
                    pages: self.pages,
                    evidence: match shown {
                        Some(_) => FindingEvidence::Comparison(section.comparisons.len()),
                        None => FindingEvidence::Section,
                    },
                });
            }
            section.comparisons.extend(shown);
        }
        Ok(())
    }
}

/// Says which of the two pages of a finding is earlier: the contained one is named first.
fn contained_relation(row: &ReusePairRow, [page, of]: [&PageDetails; 2]) -> String {
    match row.page_containment >= row.of_containment {
        true => relation(page, of),
        false => relation(of, page),
    }
}

fn sentences(summary: &ReuseSummary, params: &ReuseParams) -> Vec<String> {
    let least = percent(params.thresholds.partial.share());
    let apart = match summary.ignored {
        0 => String::new(),
        _ => format!(
            ", apart from those on more than {} distinct pages, which are ignored",
            number(summary.max_pages)
        ),
    };
    if summary.pairs() == 0 {
        return vec![format!(
            "No page has {least} or more of its fingerprints in another page{apart}."
        )];
    }
    let pages = summary.related_pages;
    let mut sentences = vec![match pages {
        0 => format!(
            "There are no two pages that each have {least} or more of their fingerprints in the \
             other{apart}."
        ),
        _ => format!(
            "{} of {} ({}) {} {least} or more of {} fingerprints with another page, which shares as \
             much of its own, in pairs of any style: {} {} a pair in which both pages share {} or more \
             (C1, C2, C4), and {} in one in which a page shares less (C3, C5, C6).",
            number(pages),
            counted(summary.pages, "page", "pages"),
            part_of(pages, summary.pages),
            plural(pages, "shares", "share"),
            plural(pages, "its", "their"),
            number(summary.near_duplicate_pages),
            plural(summary.near_duplicate_pages, "is in", "are in"),
            percent(params.thresholds.considerable.share()),
            number(summary.local_reuse_pages),
        ),
    }];
    let one_sided = summary
        .category(Category::OneSided)
        .map_or(0, |counts| counts.pairs);
    if one_sided > 0 {
        sentences.push(format!(
            "In {}, only one of the two pages shares {least} or more of its fingerprints.",
            counted(one_sided, "more pair", "more pairs")
        ));
    }
    sentences.extend(styles(summary, params));
    sentences
}

/// Counts the pairs by style, and says what the styles of frequent text rest on.
fn styles(summary: &ReuseSummary, params: &ReuseParams) -> Vec<String> {
    let counts = ReuseStyle::ALL.map(|style| (style, style_pairs(summary, style)));
    let counts = counts
        .into_iter()
        .filter(|(style, pairs)| *pairs > 0 || *style == ReuseStyle::Reuse);
    let listed: Vec<String> = counts
        .map(|(style, pairs)| format!("{} {style}", number(pairs)))
        .collect();
    let mut sentences = vec![format!(
        "{} by style: {}.",
        counted(summary.pairs(), "pair", "pairs"),
        listed.join(", ")
    )];
    if summary.rows != summary.pairs() {
        let mut why = Vec::new();
        if summary.identical > 0 {
            why.push("pages with the same fingerprints are one page in it".to_owned());
        }
        if !params.styles.is_empty() {
            let names: Vec<&str> = params.styles.iter().map(|style| style.name()).collect();
            why.push(format!(
                "it has only pairs of the style {}",
                names.join(" or ")
            ));
        }
        sentences.push(format!(
            "The table of pairs has {}{}.",
            counted(summary.rows, "row", "rows"),
            match why.is_empty() {
                true => String::new(),
                false => format!(": {}", why.join(", and ")),
            }
        ));
    }
    let is_frequent = |style| style_pairs(summary, style) > 0;
    if is_frequent(ReuseStyle::Template) || is_frequent(ReuseStyle::Phrase) {
        sentences.push(format!(
            "Text on {} or more pages counts as template or phrase, even where it was copied.",
            number(u64::from(params.frequent))
        ));
    }
    sentences
}

fn style_pairs(summary: &ReuseSummary, style: ReuseStyle) -> u64 {
    let counts = summary.categories.iter();
    counts.filter_map(|counts| counts.styles.get(&style)).sum()
}

/// Says which fingerprints are ignored because they are on too many pages. Returns no sentences if
/// none is ignored.
pub fn ignored(summary: &ReuseSummary) -> Vec<String> {
    if summary.ignored == 0 {
        return Vec::new();
    }
    let mut sentences = vec![format!(
        "{} on more than {} distinct pages {} ignored, both as shared text and in the size of a page.",
        counted(summary.ignored, "fingerprint", "fingerprints"),
        number(summary.max_pages),
        plural(summary.ignored, "is", "are"),
    )];
    if summary.pages_of_ignored > 0 {
        sentences.push(format!(
            "{} no other fingerprints, so pairs of {} may be missing; `--max-pages 0` ignores none.",
            match summary.pages_of_ignored {
                1 => "1 page has".to_owned(),
                some => format!("{} pages have", number(some)),
            },
            plural(summary.pages_of_ignored, "this page", "these pages"),
        ));
    }
    sentences
}

/// Tables 4 and 6 of the paper, with the styles of Tables 5 and 7.
pub fn category_table(summary: &ReuseSummary) -> ReportTable {
    let frame = summary
        .categories
        .iter()
        .any(|counts| counts.pairs_with_frames.is_some());
    let mut names = vec![
        "category",
        "pages",
        "% of pages",
        "siblings a page",
        "pairs",
    ];
    names.extend(ReuseStyle::ALL.map(ReuseStyle::name));
    if frame {
        names.push("with frames");
    }
    let blank = || ReportCell::Text(String::new());
    let share = |pages: u64| ReportCell::Share(pages as f64 / summary.pages.max(1) as f64);
    let siblings =
        |siblings: u64, pages: u64| ReportCell::Number(siblings as f64 / pages.max(1) as f64);
    let row = |category: Category| {
        let counts = summary.category(category);
        let (pages, sum) = counts.map_or((0, 0), |counts| (counts.pages, counts.siblings));
        let mut cells = vec![
            ReportCell::Text(format!("{category} ({})", category.meaning())),
            ReportCell::Count(pages),
            share(pages),
            siblings(sum, pages),
            ReportCell::Count(counts.map_or(0, |counts| counts.pairs)),
        ];
        cells.extend(ReuseStyle::ALL.map(|style| {
            let pairs = counts.and_then(|counts| counts.styles.get(&style));
            ReportCell::Count(pairs.copied().unwrap_or_default())
        }));
        if frame {
            let pairs = counts.and_then(|counts| counts.pairs_with_frames);
            cells.push(pairs.map_or_else(blank, ReportCell::Count));
        }
        cells
    };
    let total = |name: &str, pages: u64, included: fn(Category) -> bool| {
        let counts = || {
            summary
                .categories
                .iter()
                .filter(|counts| included(counts.category))
        };
        let mut cells = vec![
            ReportCell::Text(name.to_owned()),
            ReportCell::Count(pages),
            share(pages),
            siblings(summary.siblings(included), pages),
            ReportCell::Count(counts().map(|counts| counts.pairs).sum()),
        ];
        cells.extend(ReuseStyle::ALL.map(|style| {
            let styles = counts().filter_map(|counts| counts.styles.get(&style));
            ReportCell::Count(styles.sum())
        }));
        if frame {
            let with_frames = counts().filter_map(|counts| counts.pairs_with_frames);
            cells.push(ReportCell::Count(with_frames.sum()));
        }
        cells
    };
    let six = Category::ALL
        .into_iter()
        .filter(|&category| category != Category::OneSided);
    let mut rows: Vec<Vec<ReportCell>> = six.map(row).collect();
    rows.push(total("C1 to C6", summary.related_pages, |category| {
        category != Category::OneSided
    }));
    rows.push(total(
        "C1, C2, C4",
        summary.near_duplicate_pages,
        Category::is_near_duplicate,
    ));
    rows.push(total(
        "C3, C5, C6",
        summary.local_reuse_pages,
        Category::is_local,
    ));
    rows.push(row(Category::OneSided));
    ReportTable {
        title: "category".to_owned(),
        columns: columns(names),
        rows,
        more: 0,
        ..ReportTable::default()
    }
}

/// The strongest pairs: A, B, and the share of each in the other.
pub fn pair_table(rows: &[ReusePairRow], summary: &ReuseSummary) -> ReportTable {
    ReportTable {
        title: "A".to_owned(),
        columns: columns([
            "A",
            "% of A in B",
            "B",
            "% of B in A",
            "category",
            "style",
            "shared",
        ]),
        more: summary.rows.saturating_sub(rows.len() as u64),
        rows: rows
            .iter()
            .map(|row| {
                vec![
                    ReportCell::Address(row.page.clone()),
                    ReportCell::Share(row.page_containment),
                    ReportCell::Address(row.of.clone()),
                    ReportCell::Share(row.of_containment),
                    ReportCell::Text(row.category.clone()),
                    ReportCell::Text(row.style.clone()),
                    ReportCell::Count(row.shared.into()),
                ]
            })
            .collect(),
        ..ReportTable::default()
    }
}

fn figure(summary: &ReuseSummary) -> Figure {
    let figure = Figure::new(
        "How much text do pairs of pages share?",
        Axis::of_categories("Category", Category::ALL.map(Category::name)),
        Axis::linear("Pairs of pages")
            .covering(0.0)
            .format(NumberFormat::Count),
    )
    .caption(format!(
        "C1, C2 and C4 are near-duplicates, C3, C5 and C6 local reuse (Seo & Croft 2008). {} of {} \
         are in C1 to C6.",
        percent(summary.related_pages as f64 / summary.pages.max(1) as f64),
        counted(summary.pages, "page", "pages"),
    ));
    ReuseStyle::ALL.into_iter().fold(figure, |figure, style| {
        let pairs = summary
            .categories
            .iter()
            .enumerate()
            .filter_map(|(at, counts)| {
                let pairs = counts.styles.get(&style)?;
                Some((at as f64, *pairs as f64))
            });
        figure.series(Series::new(style.name(), Mark::Stacked, pairs))
    })
}
