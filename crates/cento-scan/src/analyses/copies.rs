//! Duplicates and near-duplicates.

use std::collections::BTreeMap;
use std::sync::Arc;

use cento_figure::{Axis, Figure, Mark, NumberFormat, Series};
use cento_find::copies::{
    ALL_PAIRS, CLASSES, COPIES, ClassRow, CopiesParams, CopiesScheme, CopiesSummary, MIRRORS,
    MirrorRow, copies,
};
use cento_find::{CorpusPages, Findings, Result, Workplace};
use cento_report::format::{counted, number, part_of, percent, plural, size};
use cento_report::{
    Drawing, Finding, FindingEvidence, Headline, ReportCell, ReportTable, Section, Suggestion,
};
use serde_json::{Value, json};

use super::columns;
use crate::analysis::{Analysis, CommandLine, SectionInput, parse_parameters};
use crate::profile::Profile;
use crate::select::largest_by;

/// `cento copies`.
pub struct Copies;

impl Analysis for Copies {
    fn name(&self) -> &'static str {
        COPIES
    }

    fn title(&self) -> &'static str {
        "Duplicates and near-duplicates"
    }

    fn question(&self) -> &'static str {
        "Which pages repeat another page, and which page of each group should be kept?"
    }

    fn plan(&self, corpus: &Profile) -> std::result::Result<Value, String> {
        // Files with identical bytes are duplicates even if they have no text.
        if corpus.all_pages < 2 {
            corpus.needs_pages(2)?;
        }
        Ok(json!(CopiesParams::default()))
    }

    fn run(
        &self,
        source: &Arc<CorpusPages>,
        parameters: &Value,
        workplace: &Workplace,
    ) -> Result<Findings> {
        copies(source, &parse_parameters(parameters)?, workplace)
    }

    fn command(&self, corpus: &str, parameters: &Value, _: &[String]) -> String {
        let default = CopiesParams::default();
        let params: CopiesParams = parse_parameters(parameters).unwrap_or_else(|_| default.clone());
        CommandLine::new("copies", corpus)
            .option("--resemblance", &params.resemblance, &default.resemblance)
            .option("-k", &params.k, &default.k)
            .option("--rule", &params.scheme, &default.scheme)
            .option("--keep", &params.keep, &default.keep)
            .finish()
    }

    fn figures(&self, findings: &Findings) -> Result<Vec<Drawing>> {
        let summary: CopiesSummary = findings.summary()?;
        let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
        for class in findings.rows(CLASSES)? {
            let pages = class?.pages;
            // The others are classes of records without text.
            if pages > 1 {
                *sizes.entry(pages).or_default() += 1;
            }
        }
        Ok(vec![
            Drawing::new("kinds-of-copies", kinds_figure(&summary)),
            Drawing::new("class-sizes", sizes_figure(&sizes)),
        ])
    }

    fn summarise(&self, input: &SectionInput<'_>) -> Result<Section> {
        let summary: CopiesSummary = input.findings.summary()?;
        let (removed, pages) = (summary.removed(), summary.pages);
        let mut section = Section::default();
        if pages > 0 {
            section.headlines.push(Headline::new(
                part_of(pages - removed, pages),
                "of the pages remain after duplicates are removed",
            ));
        }
        let params: CopiesParams = parse_parameters(&input.findings.record.parameters)?;
        let near = params.near() && !summary.without_text;
        section.sentences = sentences(&summary, near);
        if summary.near > 0 && params.scheme == CopiesScheme::Resemblance {
            section.notes.push(format!(
                "Of all distinct {}-grams that a near-duplicate and the page it duplicates have, \
                 both have at least {}. How often a page repeats them does not count, nor does its \
                 length.",
                params.k,
                percent(params.resemblance)
            ));
        }
        if pages > 0 && removed == 0 {
            section.absent = Some(match near {
                true => "no duplicates or near-duplicates".to_owned(),
                false => "no pages with identical text or bytes".to_owned(),
            });
        }
        let classes = largest_classes(input.findings, input.top)?;
        section.sentences.extend(largest_class(&classes, input));
        let mirrors = input.findings.rows(MIRRORS)?;
        let mirrors = largest_by(mirrors, |row| row.pages, 1)?;
        section.sentences.extend(mirrors.first().map(shared_pages));
        if removed > 0 {
            section.findings.push(finding(&summary, &classes, input));
            section.sentences.push(format!(
                "Removing the {} saves {}.",
                plural(removed, "duplicate", "duplicates"),
                size(summary.saved_bytes)
            ));
            section.suggestions = suggestions(&input.command(self), &summary);
        }
        section.tables = vec![
            self::classes(input.findings, input.top)?,
            self::mirrors(input.findings, input.top)?,
        ];
        Ok(section)
    }
}

/// The duplicates in one sentence, for the opening of a report.
fn finding(summary: &CopiesSummary, classes: &[ClassRow], input: &SectionInput<'_>) -> Finding {
    let (removed, pages) = (summary.removed(), summary.pages);
    let kinds = [
        (summary.bytes, "with identical bytes"),
        (summary.text, "with identical text"),
        (
            summary.near,
            plural(summary.near, "near-duplicate", "near-duplicates"),
        ),
    ];
    let kinds = kinds.iter().filter(|(count, _)| *count > 0);
    let kinds: Vec<String> = kinds
        .map(|(count, kind)| format!("{} {kind}", number(*count)))
        .collect();
    let is_largest = classes.get(1).map(|next| next.pages) != classes.first().map(|one| one.pages);
    let largest = classes.first().map_or(String::new(), |class| {
        format!(
            "; {} has {} pages, of which {} is kept",
            match is_largest {
                true => "the largest group",
                false => "one of the largest groups",
            },
            number(class.pages),
            input.short(&class.kept)
        )
    });
    Finding {
        sentence: format!(
            "{} of {} ({}) {} of another page: {}{largest}.",
            number(removed),
            counted(pages, "page", "pages"),
            part_of(removed, pages),
            plural(removed, "is a duplicate", "are duplicates"),
            kinds.join(", "),
        ),
        pages: removed,
        evidence: FindingEvidence::Table(0),
    }
}

fn kinds_figure(summary: &CopiesSummary) -> Figure {
    let kinds = [
        ("kept", summary.pages.saturating_sub(summary.removed())),
        ("identical bytes", summary.bytes),
        ("identical text", summary.text),
        ("near-duplicates", summary.near),
    ];
    let kinds = kinds.iter().filter(|(_, pages)| *pages > 0);
    Figure::new(
        "How many pages are duplicates?",
        Axis::linear("Pages")
            .format(NumberFormat::Count)
            .covering(0.0),
        Axis::of_categories("", kinds.clone().map(|(name, _)| *name)),
    )
    .caption(
        "Pages with text: those that are kept, and those that are removed as duplicates of a kept \
         page, by kind of duplicate.",
    )
    .series(Series::rows("pages", kinds.map(|(_, pages)| *pages as f64)))
}

fn sizes_figure(sizes: &BTreeMap<u64, u64>) -> Figure {
    Figure::new(
        "How large are the groups of duplicates?",
        Axis::log10("Pages of a group, including the kept page").format(NumberFormat::Count),
        Axis::log10("Groups").format(NumberFormat::Count),
    )
    .caption(
        "Each dot shows how many groups have a given number of pages with text. A group is a kept \
         page with all pages that are removed as its duplicates.",
    )
    .series(Series::new(
        "groups",
        Mark::Points,
        sizes
            .iter()
            .map(|(&pages, &groups)| (pages as f64, groups as f64)),
    ))
}

fn sentences(summary: &CopiesSummary, near: bool) -> Vec<String> {
    let (removed, pages) = (summary.removed(), summary.pages);
    let mut sentences = vec![match removed {
        0 if pages == 0 => "No page has text.".to_owned(),
        0 => format!(
            "There are no {} among {} with text.",
            match near {
                true => "duplicates or near-duplicates",
                false => "exact duplicates",
            },
            counted(pages, "page", "pages")
        ),
        _ => format!(
            "{} of {} pages with text ({}) {}: {} with identical bytes, {} with identical text in \
             different bytes{}.",
            number(removed),
            number(pages),
            part_of(removed, pages),
            plural(removed, "is a duplicate", "are duplicates"),
            number(summary.bytes),
            number(summary.text),
            match near {
                true => format!(
                    ", {}",
                    counted(summary.near, "near-duplicate", "near-duplicates")
                ),
                false => String::new(),
            }
        ),
    }];
    if !near && !summary.without_text {
        sentences.push("Near-duplicates were not searched for.".to_owned());
    }
    if summary.repeated_records > 0 {
        sentences.push(format!(
            "{} of {} without text ({} among them) {} the payload of another page or record.",
            number(summary.repeated_records),
            counted(summary.records, "record", "records"),
            counted(summary.repeated_revisits, "revisit", "revisits"),
            plural(summary.repeated_records, "repeats", "repeat"),
        ));
    }
    if summary.pages_crowded > 0 {
        sentences.push(format!(
            "{} text with too many other pages to be compared with all of them. Some of {} \
             near-duplicates may be missing.",
            match summary.pages_crowded {
                1 => "1 page shares".to_owned(),
                many => format!("{} pages share", number(many)),
            },
            plural(summary.pages_crowded, "its", "their"),
        ));
    }
    if summary.wide_classes > 0 {
        sentences.push(format!(
            "{} {} on more than {ALL_PAIRS} hosts. Not all pairs of these hosts were compared, so \
             whether they are aliases can depend on which pages are kept.",
            counted(
                summary.wide_classes,
                "group of duplicates",
                "groups of duplicates"
            ),
            plural(summary.wide_classes, "is", "are"),
        ));
    }
    if summary.without_text {
        let reason = "Near-duplicates were not searched for, because the corpus contains no text.";
        sentences.push(reason.to_owned());
    }
    sentences
}

/// Describes the largest group of duplicates.
fn largest_class(classes: &[ClassRow], input: &SectionInput<'_>) -> Option<String> {
    let largest = classes.first()?;
    let hosts = match largest.hosts {
        hosts @ 2.. => format!(" on {} hosts", number(hosts)),
        _ => String::new(),
    };
    let which = match classes.get(1) {
        Some(next) if next.pages == largest.pages => "One of the largest groups",
        _ => "The largest group",
    };
    Some(format!(
        "{which} of duplicates has {} pages{hosts}; {} is kept.",
        number(largest.pages),
        input.short(&largest.kept)
    ))
}

/// Describes the pages that two hosts share, and on which of them they are dated earlier. Fetch
/// dates are the order of a crawl, so nothing is said about who had the pages first.
fn shared_pages(row: &MirrorRow) -> String {
    let shared = format!(
        "{} and {} have {} in common.",
        row.host,
        row.of_host,
        counted(row.pages, "page", "pages")
    );
    match row.host_earlier + row.of_host_earlier {
        0 => shared,
        dated => format!(
            "{shared} Of {} whose publication or fetch dates decide, {} {} earlier on {}.",
            counted(dated, "page", "pages"),
            number(row.of_host_earlier),
            plural(row.of_host_earlier, "is", "are"),
            row.of_host,
        ),
    }
}

/// `command` computes the results again.
fn suggestions(command: &str, summary: &CopiesSummary) -> Vec<Suggestion> {
    let mut suggestions = vec![
        Suggestion {
            command: format!("{command} --filter -o unique/"),
            purpose: "write the inputs again without the duplicates".to_owned(),
        },
        Suggestion {
            command: format!("{command} --out pairs.csv"),
            purpose: "list every duplicate with the page that is kept, and which of the two is \
                      dated earlier"
                .to_owned(),
        },
    ];
    if summary.url_alias + summary.server_alias > 0 {
        suggestions.push(Suggestion {
            command: format!("{command} --skip-list skip.tsv"),
            purpose: "write a list of addresses that a crawler can skip".to_owned(),
        });
    }
    suggestions
}

fn largest_classes(findings: &Findings, top: usize) -> Result<Vec<ClassRow>> {
    let mut rows = largest_by(findings.rows(CLASSES)?, |row| row.pages, top)?;
    rows.retain(|row| row.pages > 1);
    Ok(rows)
}

/// Returns the largest groups of duplicates.
pub fn classes(findings: &Findings, top: usize) -> Result<ReportTable> {
    let summary: CopiesSummary = findings.summary()?;
    let rows = largest_classes(findings, top)?;
    // Files have no hosts, and a column of zeros says nothing.
    let hosts = rows.iter().any(|row| row.hosts > 0);
    let names = ["kept page", "pages", "bytes saved"].into_iter();
    Ok(ReportTable {
        title: "largest groups of duplicates".to_owned(),
        columns: columns(names.chain(hosts.then_some("hosts"))),
        more: summary.classes.saturating_sub(rows.len() as u64),
        rows: rows
            .into_iter()
            .map(|row| {
                let mut cells = vec![
                    ReportCell::Address(row.kept),
                    ReportCell::Count(row.pages),
                    ReportCell::Bytes(row.saved_bytes),
                ];
                cells.extend(hosts.then_some(ReportCell::Count(row.hosts)));
                cells
            })
            .collect(),
        ..ReportTable::default()
    })
}

/// Returns the pairs of hosts that share the most pages.
pub fn mirrors(findings: &Findings, top: usize) -> Result<ReportTable> {
    let mut all: u64 = 0;
    let counted = findings.rows(MIRRORS)?.inspect(|_| all += 1);
    let rows = largest_by(counted, |row| row.pages, top)?;
    // Without dates, columns of zeros say nothing.
    let dated = rows
        .iter()
        .any(|row| row.host_earlier + row.of_host_earlier > 0);
    let names = ["host", "other host", "shared pages", "pages of the host"].into_iter();
    let dates = ["dated earlier on the host", "dated earlier on the other"];
    Ok(ReportTable {
        title: "hosts that share pages".to_owned(),
        columns: columns(names.chain(dates.into_iter().filter(|_| dated))),
        more: all.saturating_sub(rows.len() as u64),
        rows: rows
            .into_iter()
            .map(|row| {
                let mut cells = vec![
                    ReportCell::Text(row.host),
                    ReportCell::Text(row.of_host),
                    ReportCell::Count(row.pages),
                    ReportCell::Count(row.host_pages),
                ];
                if dated {
                    cells.push(ReportCell::Count(row.host_earlier));
                    cells.push(ReportCell::Count(row.of_host_earlier));
                }
                cells
            })
            .collect(),
        ..ReportTable::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_grammatical_for_none_one_and_many() {
        let first = |pages: u64, near: u64| {
            let summary = CopiesSummary {
                pages,
                near,
                ..CopiesSummary::default()
            };
            sentences(&summary, true).remove(0)
        };
        assert_eq!(first(0, 0), "No page has text.");
        assert_eq!(
            first(1, 0),
            "There are no duplicates or near-duplicates among 1 page with text."
        );
        assert!(first(2, 1).starts_with("1 of 2 pages with text (50.0 %) is a duplicate: "));
        assert!(first(9, 3).starts_with("3 of 9 pages with text (33.3 %) are duplicates: "));
    }
}
