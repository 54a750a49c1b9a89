//! Quilted pages.

use std::collections::BTreeMap;
use std::sync::Arc;

use cento_figure::{Axis, Bins, Figure, Mark, NumberFormat, Rule, Series};
use cento_find::quilts::{
    Foreign, PATCHES_TABLE, QUILTS, QUILTS_TABLE, QuiltRow, QuiltsParams, QuiltsSummary, quilts,
};
use cento_find::{CorpusPages, Findings, Result, Workplace};
use cento_report::format::{counted, number, part_of, percent, plural, spelled};
use cento_report::{
    Drawing, Excerpt, Finding, FindingEvidence, Headline, ReportCell, ReportTable, Section,
    Suggestion,
};
use serde_json::{Value, json};

use super::columns;
use super::excerpt::{SourceDates, excerpts};
use crate::analysis::{Analysis, CommandLine, SectionInput, parse_parameters};
use crate::profile::Profile;
use crate::select::largest_by;

/// Pages that are shown as excerpts.
const EXCERPTS: usize = 5;
/// Bins of the histogram of patch fractions.
const BINS: usize = 20;

/// `cento quilts`.
pub struct Quilts;

/// Returns the parameters for a corpus, or the reason why it is unsuitable.
pub(crate) fn plan(corpus: &Profile) -> std::result::Result<QuiltsParams, String> {
    let default = QuiltsParams::default();
    corpus.needs_text(u64::from(default.c) + 1)?;
    // If all pages are in one domain, no page would have a source in another one.
    let foreign = match (corpus.with_host, corpus.domains, corpus.hosts) {
        (0, _, _) => default.foreign,
        (_, 2.., _) => default.foreign,
        (_, _, 2..) => Foreign::Host,
        _ => Foreign::None,
    };
    Ok(QuiltsParams {
        foreign,
        // Each of five duplicates would be a quilt of the other four. A scan finds duplicates
        // anyway.
        collapse: true,
        // Long pages share a stock phrase or two with many others. A source that adds less than 2 %
        // is chance.
        min_share: 0.02,
        ..default
    })
}

impl Analysis for Quilts {
    fn name(&self) -> &'static str {
        QUILTS
    }

    fn title(&self) -> &'static str {
        "Quilts"
    }

    fn question(&self) -> &'static str {
        "Which pages are stitched together from passages of other pages, and from which ones?"
    }

    fn weight(&self) -> u32 {
        20
    }

    fn plan(&self, corpus: &Profile) -> std::result::Result<Value, String> {
        plan(corpus).map(|params| json!(params))
    }

    fn run(
        &self,
        source: &Arc<CorpusPages>,
        parameters: &Value,
        workplace: &Workplace,
    ) -> Result<Findings> {
        quilts(source, &parse_parameters(parameters)?, workplace)
    }

    fn command(&self, corpus: &str, parameters: &Value, _: &[String]) -> String {
        command(corpus, &parse_parameters(parameters).unwrap_or_default())
    }

    fn figures(&self, findings: &Findings) -> Result<Vec<Drawing>> {
        let params: QuiltsParams = parse_parameters(&findings.record.parameters)?;
        let mut fractions = Bins::new(BINS);
        let mut sources: BTreeMap<u64, u64> = BTreeMap::new();
        for quilt in findings.rows(QUILTS_TABLE)? {
            let quilt = quilt?;
            fractions.add(quilt.patch_grams, quilt.grams);
            *sources.entry(quilt.sources).or_default() += 1;
        }
        let fractions = Figure::new(
            "How much of a quilt consists of patches?",
            Axis::linear("Patch fraction")
                .format(NumberFormat::Share)
                .covering(0.0)
                .covering(1.0),
            Axis::linear("Quilts").format(NumberFormat::Count).covering(0.0),
        )
        .caption("The patch fraction is the share of a page's distinct grams that a few other pages have too.")
        .series(fractions.series("quilts"))
        .rule(Rule::vertical(
            params.theta,
            format!("quilts: {} or more", percent(params.theta)),
        ));
        let sources = Figure::new(
            "How many sources does a quilt have?",
            Axis::log10("Sources that cover the patches").format(NumberFormat::Count),
            Axis::log10("Quilts").format(NumberFormat::Count),
        )
        .caption("Each dot shows how many quilts have a given number of sources. Sources are chosen greedily, the largest first.")
        .series(Series::new(
            "quilts",
            Mark::Points,
            sources.iter().map(|(&count, &quilts)| (count as f64, quilts as f64)),
        ));
        Ok(vec![
            Drawing::new("patch-fractions", fractions),
            Drawing::new("quilt-sources", sources),
        ])
    }

    fn summarise(&self, input: &SectionInput<'_>) -> Result<Section> {
        let summary: QuiltsSummary = input.findings.summary()?;
        let params: QuiltsParams = parse_parameters(&input.findings.record.parameters)?;
        let others = other_pages(&params, &summary);
        let mut section = Section::default();
        section.headlines.push(Headline::new(
            number(summary.quilts),
            plural(summary.quilts, "quilt", "quilts"),
        ));
        section
            .sentences
            .push(count_sentence(&summary, &params, others));
        section.notes.push(definition(&params, others));
        if summary.quilts == 0 {
            section.absent = Some("no quilted pages".to_owned());
            section.suggestions.push(Suggestion {
                command: format!("{} -t 0.3 -c 2", command(input.corpus, &params)),
                purpose: "search with a wider definition: fewer patches, fewer sources".to_owned(),
            });
            return Ok(section);
        }
        let first_pages = FirstPages::read(input.findings)?;
        let strongest = strongest(input.findings, &params, input.top, |_| true)?;
        let examples = examples(input.findings, &params, &first_pages)?;
        section.excerpts = excerpts(input, &params, &summary, examples.iter())?;
        let by_date = first_pages.sentence(summary.quilts);
        section.sentences.extend(by_date.clone());
        if let Some(page) = examples.first() {
            let shared = format!(
                "f the distinct {}-grams of {}, {} are also on {others}.",
                params.k,
                input.short(&page.page),
                percent(foreign_fraction(page, &params)),
            );
            let source = section.excerpts.first();
            let source = source.and_then(|page| page.sources.first());
            let largest = source.map_or(String::new(), |source| {
                format!(
                    ", the largest of which {} {}",
                    match first_pages.contains(page) {
                        true => "is on",
                        false => "is",
                    },
                    input.short(&source.address)
                )
            });
            // Later pages are not called its sources.
            let sources = match first_pages.contains(page) {
                true => format!(
                    "{} {} different parts of it{largest}.",
                    counted(page.sources, "page", "pages"),
                    plural(page.sources, "has", "have"),
                ),
                false => format!(
                    "It has {}{largest}.",
                    counted(page.sources, "source", "sources")
                ),
            };
            let dates = first_pages.dates.get(&page.page_id);
            let dates = dates.and_then(SourceDates::sentence);
            let mut finding = vec![format!(
                "{} of {} ({}) {}: {} or more {others} have different parts of {} text.",
                number(summary.quilts),
                counted(summary.pages, "page", "pages"),
                part_of(summary.quilts, summary.pages),
                plural(summary.quilts, "is a quilt", "are quilts"),
                spelled(params.c.into()),
                plural(summary.quilts, "its", "their"),
            )];
            finding.extend(by_date);
            finding.push(format!("O{shared}"));
            finding.extend(dates.clone());
            section.findings.push(Finding {
                sentence: finding.join(" "),
                pages: summary.quilts,
                evidence: FindingEvidence::Excerpt(0),
            });
            let mut example = vec![match first_pages.contains(page) {
                true => format!("O{shared}"),
                false => format!("For example, o{shared}"),
            }];
            example.push(sources);
            // Those of a single quilt are the dates of all sources.
            example.extend(dates.filter(|_| summary.quilts > 1));
            section.sentences.push(example.join(" "));
        }
        section.sentences.push(dates(&summary));
        section.sentences.push(match summary.attributed_quilts {
            _ if summary.linking == 0 => format!(
                "Whether quilts link to {others} is unknown, because no page of the corpus has \
                 links: plain text has none."
            ),
            0 => format!(
                "No quilt links to {others}, or to their domains, for at least half of the text \
                 that it shares with them."
            ),
            some => format!(
                "{} {} to {others}, or to their domains, for at least half of the text that {} \
                 with them.",
                counted(some, "quilt", "quilts"),
                plural(some, "links", "link"),
                plural(some, "it shares", "they share"),
            ),
        });
        section
            .tables
            .push(table(&strongest, &summary, &params, input.top));
        section.tables.push(sources_table(&section.excerpts));
        section.suggestions = suggestions(input.corpus, &params);
        Ok(section)
    }
}

/// Names the pages that count as sources.
pub(super) fn other_pages(params: &QuiltsParams, summary: &QuiltsSummary) -> &'static str {
    match params.foreign {
        Foreign::Host => "pages of other hosts",
        Foreign::Domain if summary.of_no_server < summary.pages => "pages of other domains",
        Foreign::Ip => "pages of other servers",
        _ => "other pages",
    }
}

/// Returns the minimum patch fraction in words.
fn least_share(theta: f64) -> String {
    match theta {
        0.5 => "half".to_owned(),
        theta => percent(theta),
    }
}

fn count_sentence(summary: &QuiltsSummary, params: &QuiltsParams, others: &str) -> String {
    let share = least_share(params.theta);
    let (k, m) = (params.k, params.m);
    if summary.quilts > 0 {
        let excluded = match params.collapse {
            true => ", duplicates excluded",
            false => "",
        };
        // The shared text may be on pages of the same server, too: only the sources are foreign.
        return format!(
            "{} of {} pages ({}{excluded}) {}: at least {share} of the distinct {k}-grams of {} are \
             also on other pages{}, and {} or more {} have different ones.",
            number(summary.quilts),
            number(summary.pages),
            part_of(summary.quilts, summary.pages),
            plural(summary.quilts, "is a quilt", "are quilts"),
            plural(summary.quilts, "it", "each"),
            match others {
                "pages of other domains" => ", of its own domain or not",
                "pages of other hosts" => ", of its own host or not",
                "pages of other servers" => ", of its own server or not",
                _ => "",
            },
            spelled(params.c.into()),
            match others {
                "other pages" => "of them",
                foreign => foreign,
            },
        );
    }
    let excluded = match params.collapse {
        true => " (duplicates excluded)",
        false => "",
    };
    format!(
        "There are no quilts among {}{excluded}: {}.",
        counted(summary.pages, "page", "pages"),
        match summary.patchy {
            0 if summary.patch_grams == 0 => format!("no {k}-gram is on 2 to {m} pages"),
            0 => format!("on every page, less than {share} of the {k}-grams are on 2 to {m} pages"),
            patchy => format!(
                "{} enough {k}-grams that are on 2 to {m} pages, but fewer than {} {others} cover \
                 them",
                match patchy {
                    1 => "1 page has".to_owned(),
                    some => format!("{} pages have", number(some)),
                },
                spelled(params.c.into())
            ),
        }
    )
}

/// The definition of a quilt, as a footnote.
fn definition(params: &QuiltsParams, others: &str) -> String {
    let min_share = match params.min_share {
        0.0 => String::new(),
        share => format!(
            " Pages that add less than {} of these are not counted.",
            percent(share)
        ),
    };
    format!(
        "A page is a quilt if at least {} of its distinct {k}-grams (runs of {k} words) are on 2 \
         to {} pages, and if it takes {} or more {others}, chosen greedily, to cover those of \
         these that such pages have.{min_share}",
        least_share(params.theta),
        params.m,
        spelled(params.c.into()),
        k = params.k,
    )
}

fn suggestions(corpus: &str, params: &QuiltsParams) -> Vec<Suggestion> {
    vec![
        Suggestion {
            command: format!("{} --out quilts.csv", command(corpus, params)),
            purpose: "list all quilts (patches.parquet in the results has every source and its \
                      positions)"
                .to_owned(),
        },
        Suggestion {
            command: format!(
                "{} --min-source 0.1",
                command(
                    corpus,
                    &QuiltsParams {
                        min_share: QuiltsParams::default().min_share,
                        ..params.clone()
                    }
                )
            ),
            purpose: "count only sources that add at least a tenth of the shared text".to_owned(),
        },
        Suggestion {
            command: format!(
                "{} --sweep theta=0.4..1.0 --sweep c=2..10 --figures figures/",
                command(corpus, params)
            ),
            purpose: "see how the number of quilts depends on the definition".to_owned(),
        },
    ]
}

fn command(corpus: &str, params: &QuiltsParams) -> String {
    let default = QuiltsParams::default();
    CommandLine::new("quilts", corpus)
        .option("-k", &params.k, &default.k)
        .option("-m", &params.m, &default.m)
        .option("-c", &params.c, &default.c)
        .option("-t", &params.theta, &default.theta)
        .option("--foreign", &params.foreign, &default.foreign)
        .option("--min-source", &params.min_share, &default.min_share)
        .flag("--collapse", params.collapse)
        .finish()
}

/// Says which pages are dated earlier, as evidence of who had the shared text first.
fn dates(summary: &QuiltsSummary) -> String {
    let (earlier, later) = (summary.earlier_sources, summary.later_sources);
    if earlier + later + summary.same_dates == 0 {
        return "Which pages had the shared text first is unknown, because their dates do not say."
            .to_owned();
    }
    let unknown = summary.patches.saturating_sub(earlier + later);
    let mut text = format!(
        "Dates of {}: {} earlier than the quilt, {} later",
        counted(summary.patches, "source", "sources"),
        number(earlier),
        number(later)
    );
    if unknown > 0 {
        text.push_str(&format!(", {} equal or unknown", number(unknown)));
    }
    text.push('.');
    text
}

/// Returns the share of a page that is also on pages that may be sources. Patches that only pages
/// of the same server have do not count.
pub(super) fn foreign_fraction(page: &QuiltRow, params: &QuiltsParams) -> f64 {
    let share = match params.foreign {
        Foreign::None => 1.0,
        // Without it, all pages may be sources.
        _ => page.foreign_share.unwrap_or(1.0),
    };
    page.patch_fraction * share
}

fn strongest(
    findings: &Findings,
    params: &QuiltsParams,
    most: usize,
    wanted: impl Fn(&QuiltRow) -> bool,
) -> Result<Vec<QuiltRow>> {
    // The smaller of two shares: of grams on foreign pages, and of grams that other pages had
    // first. A page that had its text before all others ranks low, however many pages have it now.
    let key = |page: &QuiltRow| {
        let fraction = foreign_fraction(page, params);
        (fraction.min(1.0 - page.originality), page.sources)
    };
    let rows = findings.rows(QUILTS_TABLE)?;
    let rows = rows.filter(|row| row.as_ref().map_or(true, &wanted));
    largest_by(rows, key, most)
}

/// Returns the quilts that are shown: those that had their text first, by the dates, come after all
/// others, because it is the other pages that may have quoted.
fn examples(
    findings: &Findings,
    params: &QuiltsParams,
    first_pages: &FirstPages,
) -> Result<Vec<QuiltRow>> {
    let mut examples = strongest(findings, params, EXCERPTS, |page| {
        !first_pages.contains(page)
    })?;
    let more = EXCERPTS.saturating_sub(examples.len());
    examples.extend(strongest(findings, params, more, |page| {
        first_pages.contains(page)
    })?);
    Ok(examples)
}

/// The quilts that had the text that they share first, by the dates: more than half of it is
/// otherwise only on later pages, or all of their sources are later.
struct FirstPages {
    /// The dates of the sources of each quilt.
    dates: BTreeMap<u64, SourceDates>,
    count: u64,
}

impl FirstPages {
    fn read(findings: &Findings) -> Result<FirstPages> {
        let mut dates: BTreeMap<u64, SourceDates> = BTreeMap::new();
        for patch in findings.rows(PATCHES_TABLE)? {
            let patch = patch?;
            dates.entry(patch.page_id).or_default().add(&patch);
        }
        let mut pages = FirstPages { dates, count: 0 };
        for page in findings.rows(QUILTS_TABLE)? {
            let page = page?;
            pages.count += u64::from(pages.contains(&page));
        }
        Ok(pages)
    }

    fn contains(&self, page: &QuiltRow) -> bool {
        let later = self.dates.get(&page.page_id);
        later.is_some_and(SourceDates::are_later) || is_dated_first(page)
    }

    /// Says how many of the quilts these are; nothing if there are none.
    fn sentence(&self, quilts: u64) -> Option<String> {
        let (which, each) = match self.count {
            0 => return None,
            _ if quilts == 1 => ("the quilt".to_owned(), "it"),
            all if all == quilts => (format!("all {} quilts", number(all)), "each of them"),
            1 => (format!("1 of the {} quilts", number(quilts)), "it"),
            some => {
                let of_all = format!("{} of the {} quilts", number(some), number(quilts));
                (of_all, "each of them")
            }
        };
        Some(format!(
            "By the dates, others may have quoted {which}: more than half of what {each} shares is \
             otherwise only on later pages, or all of its sources are later."
        ))
    }
}

/// Whether more than half of the shared grams of a page are otherwise only on later pages, as
/// [`QuiltsSummary::first_quilts`] counts them.
fn is_dated_first(page: &QuiltRow) -> bool {
    // The originality is the share of the grams that are not shared, or only with later pages.
    let original = (page.originality * page.grams as f64).round() as u64;
    let shared = (page.grams + page.first_grams).saturating_sub(original);
    2 * page.first_grams > shared
}

/// The two largest sources of each of the strongest quilts.
fn sources_table(excerpts: &[Excerpt]) -> ReportTable {
    let rows = excerpts.iter().flat_map(|excerpt| {
        excerpt.sources.iter().take(2).map(|source| {
            vec![
                ReportCell::Address(excerpt.page.clone()),
                ReportCell::Address(source.address.clone()),
                ReportCell::Text(source.about.clone()),
            ]
        })
    });
    ReportTable {
        title: "largest sources of these pages".to_owned(),
        columns: columns(["page", "source", "shared text"]),
        rows: rows.collect(),
        more: 0,
        ..ReportTable::default()
    }
}

fn table(
    quilts: &[QuiltRow],
    summary: &QuiltsSummary,
    params: &QuiltsParams,
    top: usize,
) -> ReportTable {
    let quilts = quilts.get(..top.min(quilts.len())).unwrap_or_default();
    ReportTable {
        title: "quilts: first those whose grams are foreign and not original".to_owned(),
        columns: columns([
            "page",
            "shared",
            "patches",
            "sources",
            "attributed",
            "original",
        ]),
        more: summary.quilts.saturating_sub(quilts.len() as u64),
        rows: quilts
            .iter()
            .map(|quilt| {
                vec![
                    ReportCell::Address(quilt.page.clone()),
                    ReportCell::Share(foreign_fraction(quilt, params)),
                    ReportCell::Share(quilt.patch_fraction),
                    ReportCell::Count(quilt.sources),
                    ReportCell::Share(quilt.attributed_share),
                    ReportCell::Share(quilt.originality),
                ]
            })
            .collect(),
        ..ReportTable::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(quilts: u64, pages: u64) -> QuiltsSummary {
        QuiltsSummary {
            quilts,
            pages,
            ..QuiltsSummary::default()
        }
    }

    #[test]
    fn quilts_are_counted_in_plain_words() {
        let params = QuiltsParams::default();
        let sentence =
            |quilts, pages| count_sentence(&summary(quilts, pages), &params, "other pages");
        assert_eq!(
            sentence(3, 12),
            "3 of 12 pages (25.0 %) are quilts: at least half of the distinct 5-grams of each are also \
             on other pages, and four or more of them have different ones."
        );
        assert!(
            sentence(1, 12)
                .contains("(8.3 %) is a quilt: at least half of the distinct 5-grams of it")
        );
        let foreign = count_sentence(&summary(1, 6), &params, "pages of other domains");
        assert!(foreign.ends_with(
            "also on other pages, of its own domain or not, and four or more pages of other domains \
             have different ones."
        ));
        assert!(sentence(0, 1).starts_with("There are no quilts among 1 page: no 5-gram is on 2"));
    }

    #[test]
    fn dates_are_reported_only_as_far_as_they_are_known() {
        assert!(dates(&summary(1, 1)).contains("unknown"));
        let mut dated = summary(1, 1);
        dated.patches = 4;
        dated.earlier_sources = 1;
        dated.later_sources = 2;
        assert_eq!(
            dates(&dated),
            "Dates of 4 sources: 1 earlier than the quilt, 2 later, 1 equal or unknown."
        );
    }
}
