//! The report on copies and near-copies.

use std::collections::BTreeMap;
use std::sync::Arc;

use cento_figure::{Axis, Figure, Format, Mark, Series};
use cento_find::copies::{COPIES, CopiesParams, CopiesSummary, copies};
use cento_find::{CorpusPages, Findings, Result, Workplace};
use serde_json::{Value, json};

use crate::analysis::{Analysis, Command, Told, parameters};
use crate::profile::Profile;
use crate::rows::{Row, for_each, largest};
use crate::section::{Cell, Drawing, Headline, Next, Section, Table};
use crate::words::{counted, number, part_of, quoted, size};

/// `cento copies`.
pub struct Copies;

impl Analysis for Copies {
    fn name(&self) -> &'static str {
        COPIES
    }

    fn title(&self) -> &'static str {
        "Copies and near-copies"
    }

    fn question(&self) -> &'static str {
        "Which pages say what another page says, and which of them should be kept?"
    }

    fn plan(&self, corpus: &Profile) -> std::result::Result<Value, String> {
        // Files of the same bytes are copies even if neither has text.
        if corpus.all_pages < 2 {
            corpus.needs_pages(2)?;
        }
        Ok(json!(CopiesParams::default()))
    }

    fn run(
        &self,
        source: &Arc<CorpusPages>,
        asked: &Value,
        workplace: &Workplace,
    ) -> Result<Findings> {
        copies(source, &parameters(asked)?, workplace)
    }

    fn command(&self, corpus: &str, asked: &Value) -> String {
        let usual = CopiesParams::default();
        let asked: CopiesParams = parameters(asked).unwrap_or_else(|_| usual.clone());
        Command::new("copies", corpus)
            .option("--resemblance", &asked.resemblance, &usual.resemblance)
            .option("-k", &asked.k, &usual.k)
            .option("--scheme", &asked.scheme, &usual.scheme)
            .option("--keep", &asked.keep, &usual.keep)
            .end()
    }

    fn figures(&self, findings: &Findings) -> Result<Vec<Drawing>> {
        let counted: CopiesSummary = findings.summary()?;
        let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
        for_each(findings, "classes", ["pages"], |[pages]| {
            // The others are of records without text.
            if pages > 1.0 {
                *sizes.entry(pages as u64).or_default() += 1;
            }
        })?;
        let unique = counted.pages.saturating_sub(counted.removed());
        let kinds = [
            ("kept", unique),
            ("same bytes", counted.bytes),
            ("same text", counted.text),
            ("near-copies", counted.near),
        ];
        let kinds = kinds.iter().filter(|(_, pages)| *pages > 0);
        Ok(vec![
            Drawing::new(
                "kinds-of-copies",
                Figure::new(
                    "What becomes of the pages?",
                    Axis::linear("Pages").format(Format::Count).covering(0.0),
                    Axis::of_categories("", kinds.clone().map(|(name, _)| *name)),
                )
                .caption("Pages with text that are kept, and those that are removed because an earlier one in the order of who is kept says the same, by how alike the two are.")
                .series(Series::rows("pages", kinds.map(|(_, pages)| *pages as f64))),
            ),
            Drawing::new(
                "class-sizes",
                Figure::new(
                    "How many pages are alike?",
                    Axis::log10("Pages of a class, the kept one among them").format(Format::Count),
                    Axis::log10("Classes").format(Format::Count),
                )
                .caption("Each dot is a number of classes of so many pages with text. A class is a kept page with all pages that are removed in its favour.")
                .series(Series::new(
                    "classes",
                    Mark::Points,
                    sizes.iter().map(|(&pages, &classes)| (pages as f64, classes as f64)),
                )),
            ),
        ])
    }

    fn tell(&self, told: &Told<'_>) -> Result<Section> {
        let counts: CopiesSummary = told.findings.summary()?;
        let (removed, pages) = (counts.removed(), counts.pages);
        let classes = classes(told.findings, told.top)?;
        let mirrors = mirrors(told.findings, told.top)?;
        let mut section = Section::default();
        if pages > 0 {
            section.headlines.push(Headline::new(
                part_of(pages - removed, pages),
                "of the pages remain without copies",
            ));
        }
        section.sentences.push(match removed {
            0 if pages == 0 => "No page has text.".to_owned(),
            0 => format!("No page of {} with text is a copy of another.", number(pages)),
            _ => format!(
                "{} of {} pages with text ({}) repeat another page: {} with the same bytes, {} with the same text in other bytes, {} with nearly the same text. {} of the pages remain without them.",
                number(removed),
                number(pages),
                part_of(removed, pages),
                number(counts.bytes),
                number(counts.text),
                number(counts.near),
                part_of(pages - removed, pages)
            ),
        });
        if counts.repeated_records > 0 {
            section.sentences.push(format!(
                "{} of {} without text, among them {}, repeat the payload of another page or record.",
                number(counts.repeated_records),
                counted(counts.records, "record", "records"),
                counted(counts.repeated_revisits, "revisit", "revisits"),
            ));
        }
        if counts.pages_crowded > 0 {
            section.sentences.push(format!(
                "{} {} so much in common with so many others that only the most similar ones were compared with {}: near-copies among them may be missing.",
                counted(counts.pages_crowded, "page", "pages"),
                if counts.pages_crowded == 1 { "has" } else { "have" },
                if counts.pages_crowded == 1 { "it" } else { "them" },
            ));
        }
        if counts.without_text {
            let why = "Near-copies were not looked for, because the corpus keeps no text.";
            section.sentences.push(why.to_owned());
        }
        if let Some([Cell::Address(kept), Cell::Count(pages), _, hosts @ ..]) =
            classes.rows.first().map(Vec::as_slice)
        {
            let place = match hosts {
                [Cell::Count(hosts @ 2..)] => format!(" on {} hosts", number(*hosts)),
                _ => String::new(),
            };
            // Several classes may be the largest.
            let which = match classes.rows.get(1).and_then(|row| row.get(1)) {
                Some(Cell::Count(next)) if next == pages => "One of the largest classes",
                _ => "The largest class",
            };
            if *pages > 1 {
                section.sentences.push(format!(
                    "{which} of copies has {} pages{place}; {} is the one that is kept.",
                    number(*pages),
                    told.short(kept)
                ));
            }
        }
        let strongest = largest(told.findings, "mirrors", &["pages"], 1)?;
        section.sentences.extend(strongest.first().map(in_common));
        if removed > 0 {
            section.sentences.push(format!(
                "The copies hold {} of payload.",
                size(counts.saved_bytes)
            ));
            let corpus = quoted(told.corpus);
            section.next = vec![
                Next {
                    command: format!("cento copies {corpus} --filter -o unique/"),
                    why: "write the inputs again without the copies".to_owned(),
                },
                Next {
                    command: format!("cento copies {corpus} --out pairs.csv"),
                    why: "list every copy with the page that is kept in its place, and which of the two is earlier"
                        .to_owned(),
                },
            ];
            if counts.url_alias + counts.server_alias > 0 {
                section.next.push(Next {
                    command: format!("cento copies {corpus} --skip-list skip.tsv"),
                    why: "tell a crawler what it need not fetch".to_owned(),
                });
            }
        }
        section.tables = vec![classes, mirrors];
        Ok(section)
    }
}

/// What two hosts have in common, and which of them had it first, as far as dates tell.
fn in_common(row: &Row) -> String {
    let (host, of_host) = (row.word("host"), row.word("of_host"));
    let (later, earlier) = (row.count("host_earlier"), row.count("of_host_earlier"));
    let dated = later + earlier;
    let shared = format!(
        "{host} and {of_host} have {} in common",
        counted(row.count("pages"), "page", "pages")
    );
    match dated {
        0 => format!("{shared}."),
        _ => format!(
            "{shared}; {of_host} has the earlier one, by date, in {} of the {} whose dates differ.",
            number(earlier),
            number(dated)
        ),
    }
}

/// The largest classes.
pub fn classes(findings: &Findings, top: usize) -> Result<Table> {
    let counts: CopiesSummary = findings.summary()?;
    let rows = largest(findings, "classes", &["pages"], top)?;
    let rows: Vec<Row> = rows
        .into_iter()
        .filter(|row| row.count("pages") > 1)
        .collect();
    // Files have no hosts, and a column of zeros tells nothing.
    let hosts = rows.iter().any(|row| row.count("hosts") > 0);
    let mut columns = vec!["the page that is kept", "pages", "bytes saved"];
    columns.extend(hosts.then_some("hosts"));
    Ok(Table {
        title: "largest classes".to_owned(),
        columns: columns.into_iter().map(str::to_owned).collect(),
        more: counts.classes.saturating_sub(rows.len() as u64),
        rows: rows
            .iter()
            .map(|row| {
                let mut cells = vec![
                    Cell::Address(row.word("kept").to_owned()),
                    Cell::Count(row.count("pages")),
                    Cell::Bytes(row.count("saved_bytes")),
                ];
                cells.extend(hosts.then(|| Cell::Count(row.count("hosts"))));
                cells
            })
            .collect(),
    })
}

/// Hosts that have the same pages.
pub fn mirrors(findings: &Findings, top: usize) -> Result<Table> {
    let mut all: u64 = 0;
    for_each(findings, "mirrors", ["pages"], |_| all += 1)?;
    let rows = largest(findings, "mirrors", &["pages"], top)?;
    // Without dates, columns of zeros tell nothing.
    let dated = rows
        .iter()
        .any(|row| row.count("host_earlier") + row.count("of_host_earlier") > 0);
    let mut columns = vec!["host", "other host", "pages in common", "pages of the host"];
    let mut counts = vec!["pages", "host_pages"];
    if dated {
        columns.extend(["earlier on the host", "earlier on the other"]);
        counts.extend(["host_earlier", "of_host_earlier"]);
    }
    Ok(Table {
        title: "hosts with pages in common".to_owned(),
        columns: columns.into_iter().map(str::to_owned).collect(),
        more: all.saturating_sub(rows.len() as u64),
        rows: rows
            .iter()
            .map(|row| {
                let names = ["host", "of_host"].map(|name| Cell::Text(row.word(name).to_owned()));
                let counts = counts.iter().map(|name| Cell::Count(row.count(name)));
                names.into_iter().chain(counts).collect()
            })
            .collect(),
    })
}
