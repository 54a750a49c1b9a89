//! Copies and near-copies, told.

use std::collections::BTreeMap;
use std::sync::Arc;

use cento_find::copies::{COPIES, CopiesParams, CopiesSummary, copies};
use cento_find::{Findings, Result, Source, Workplace};
use cento_view::{Axis, Figure, Format, Mark, Series};
use serde_json::{Value, json};

use crate::analysis::{Analysis, Command, Told, parameters};
use crate::profile::Profile;
use crate::rows::{for_each, largest};
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
        "Which pages say what another page says, and which of them should stay?"
    }

    fn plan(&self, corpus: &Profile) -> std::result::Result<Value, String> {
        // Files of the same bytes are copies even if neither has text.
        if corpus.all_pages < 2 {
            corpus.needs_pages(2)?;
        }
        Ok(json!(CopiesParams::default()))
    }

    fn run(&self, source: &Arc<Source>, asked: &Value, workplace: &Workplace) -> Result<Findings> {
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
            *sizes.entry(pages as u64).or_default() += 1;
        })?;
        let unique = counted.pages.saturating_sub(counted.dropped());
        let kinds = [
            ("kept", unique),
            ("same bytes", counted.bytes),
            ("revisits", counted.revisit),
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
                .caption("Pages that are kept, and those that go because another says the same, by how alike the two are.")
                .series(Series::rows("pages", kinds.map(|(_, pages)| *pages as f64))),
            ),
            Drawing::new(
                "class-sizes",
                Figure::new(
                    "How many pages are alike?",
                    Axis::log10("Pages of a class, the one that stays among them").format(Format::Count),
                    Axis::log10("Classes").format(Format::Count),
                )
                .caption("Each dot is a number of classes of so many pages. A class is a page that stays with all that go for it.")
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
        let dropped = counts.dropped();
        let pages = counts.pages.max(dropped);
        let classes = classes(told.findings, told.top)?;
        let mirrors = mirrors(told.findings, told.top)?;
        let mut section = Section::default();
        if pages > 0 {
            section.headlines.push(Headline::new(
                part_of(pages - dropped, pages),
                "of the pages are unique",
            ));
        }
        section.sentences.push(match dropped {
            0 if pages == 0 => "No page has text, and no two have the same bytes.".to_owned(),
            0 => format!("No page of {} is a copy of another.", number(pages)),
            _ => format!(
                "{} of {} pages ({}) are copies of others: {} with the same bytes, {} with the same text, {} with nearly the same text. {} of the pages are unique.",
                number(dropped),
                number(pages),
                part_of(dropped, pages),
                number(counts.bytes + counts.revisit),
                number(counts.text),
                number(counts.near),
                part_of(pages - dropped, pages)
            ),
        });
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
            section.sentences.push(format!(
                "The largest class has {} pages{place} that say what {} says.",
                number(*pages),
                told.short(kept)
            ));
        }
        if let Some(
            [
                Cell::Text(host),
                Cell::Text(of),
                Cell::Count(copies),
                Cell::Count(all),
            ],
        ) = mirrors.rows.first().map(Vec::as_slice)
        {
            section.sentences.push(format!(
                "{host} has copies of {of}: {} of its {}.",
                number(*copies),
                counted(*all, "page", "pages")
            ));
        }
        if dropped > 0 {
            section.sentences.push(format!(
                "Without the copies the corpus would be {} smaller.",
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
                    why: "list every copy with the page that it goes for, and why there are two"
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

/// The largest classes.
pub fn classes(findings: &Findings, top: usize) -> Result<Table> {
    let counts: CopiesSummary = findings.summary()?;
    let rows = largest(findings, "classes", &["pages"], top)?;
    // Files have no hosts, and a column of zeros tells nothing.
    let hosts = rows.iter().any(|row| row.count("hosts") > 0);
    let mut columns = vec!["the page that stays", "pages", "bytes saved"];
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

/// Hosts that have copies of another's pages.
pub fn mirrors(findings: &Findings, top: usize) -> Result<Table> {
    let mut all: u64 = 0;
    for_each(findings, "mirrors", ["pages"], |_| all += 1)?;
    let rows = largest(findings, "mirrors", &["pages"], top)?;
    Ok(Table {
        title: "hosts with copies of another's pages".to_owned(),
        columns: ["host", "copies of", "copies", "of pages"]
            .map(str::to_owned)
            .to_vec(),
        more: all.saturating_sub(rows.len() as u64),
        rows: rows
            .iter()
            .map(|row| {
                vec![
                    Cell::Text(row.word("host").to_owned()),
                    Cell::Text(row.word("of_host").to_owned()),
                    Cell::Count(row.count("pages")),
                    Cell::Count(row.count("host_pages")),
                ]
            })
            .collect(),
    })
}
