//! Quilted pages, told.

use std::collections::BTreeMap;
use std::sync::Arc;

use cento_figure::{Axis, Bins, Figure, Format, Mark, Rule, Series};
use cento_find::quilts::{Foreign, QUILTS, QuiltsParams, QuiltsSummary, quilts};
use cento_find::{CorpusPages, Findings, Result, Workplace};
use serde_json::{Value, json};

use super::excerpt::excerpts;
use crate::analysis::{Analysis, Command, Told, parameters};
use crate::profile::Profile;
use crate::rows::{Row, for_each, largest_by};
use crate::section::{Cell, Drawing, Excerpt, Headline, Next, Section, Table};
use crate::words::{counted, number, part_of, percent, quoted};

/// Pages that are shown with their words.
const SHOWN: usize = 5;
/// Bins of the histogram of patch fractions.
const BINS: usize = 20;

/// `cento quilts`.
pub struct Quilts;

/// The parameters for a corpus.
pub(crate) fn plan(corpus: &Profile) -> std::result::Result<QuiltsParams, String> {
    let usual = QuiltsParams::default();
    corpus.needs_text(u64::from(usual.c) + 1)?;
    // Where all pages are of one domain, no page of it would have a foreign source.
    let foreign = match (corpus.with_host, corpus.domains, corpus.hosts) {
        (0, _, _) => usual.foreign,
        (_, 2.., _) => usual.foreign,
        (_, _, 2..) => Foreign::Host,
        _ => Foreign::None,
    };
    Ok(QuiltsParams {
        foreign,
        // A scan looks for copies anyway, and five copies of a page would each be quilted from the
        // other four.
        collapse: true,
        // Long pages have a phrase or two of everybody: a source that gave less than a fiftieth is
        // chance.
        min_share: 0.02,
        ..usual
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
        "Which pages are stitched together from patches of others, and whose patches are they?"
    }

    fn weight(&self) -> u32 {
        45
    }

    fn plan(&self, corpus: &Profile) -> std::result::Result<Value, String> {
        plan(corpus).map(|params| json!(params))
    }

    fn run(
        &self,
        source: &Arc<CorpusPages>,
        asked: &Value,
        workplace: &Workplace,
    ) -> Result<Findings> {
        quilts(source, &parameters(asked)?, workplace)
    }

    fn command(&self, corpus: &str, asked: &Value) -> String {
        let usual = QuiltsParams::default();
        let asked: QuiltsParams = parameters(asked).unwrap_or_else(|_| usual.clone());
        command(corpus, &asked)
    }

    fn figures(&self, findings: &Findings) -> Result<Vec<Drawing>> {
        let asked: QuiltsParams = parameters(&findings.record.parameters)?;
        let mut fractions = Bins::new(BINS);
        let mut sources: BTreeMap<u64, u64> = BTreeMap::new();
        for_each(
            findings,
            "quilts",
            ["patch_grams", "grams", "sources"],
            |[patch, grams, count]| {
                fractions.add(patch as u64, grams as u64);
                *sources.entry(count as u64).or_default() += 1;
            },
        )?;
        let fractions = Figure::new(
            "How much of a quilt is patches?",
            Axis::linear("Patch fraction")
                .format(Format::Share)
                .covering(0.0)
                .covering(1.0),
            Axis::linear("Quilted pages")
                .format(Format::Count)
                .covering(0.0),
        )
        .caption("The share of a page's distinct grams that are on a few other pages too.")
        .series(fractions.series("pages"))
        .rule(Rule::vertical(
            asked.theta,
            format!("quilted from {} up", asked.theta),
        ));
        let sources = Figure::new(
            "How many sources does a quilt have?",
            Axis::log10("Sources that cover the patches").format(Format::Count),
            Axis::log10("Quilted pages").format(Format::Count),
        )
        .caption("Each dot is a number of pages whose patches so many other pages cover, taken greedily.")
        .series(Series::new(
            "pages",
            Mark::Points,
            sources.iter().map(|(&count, &pages)| (count as f64, pages as f64)),
        ));
        Ok(vec![
            Drawing::new("patch-fractions", fractions),
            Drawing::new("quilt-sources", sources),
        ])
    }

    fn tell(&self, told: &Told<'_>) -> Result<Section> {
        let counts: QuiltsSummary = told.findings.summary()?;
        let asked: QuiltsParams = parameters(&told.findings.record.parameters)?;
        let mut section = Section::default();
        let whose = match asked.foreign {
            Foreign::Host => "pages of other hosts",
            Foreign::Domain if counts.of_no_server < counts.pages => "pages of other domains",
            Foreign::Ip => "pages of other servers",
            _ => "other pages",
        };
        let share = match asked.theta {
            0.5 => "half".to_owned(),
            theta => format!("a share of {theta}"),
        };
        let definition = format!(
            "{share} of their {}-grams or more are on 2 to {} pages, and covering these takes {} {whose} or more{}",
            asked.k,
            asked.m,
            asked.c,
            match asked.min_share {
                0.0 => String::new(),
                share => format!(
                    ", not counting any that adds less than {} of them",
                    percent(share)
                ),
            }
        );
        let aside = match asked.collapse {
            true => ", copies and near-copies left out,",
            false => "",
        };
        section
            .headlines
            .push(Headline::new(number(counts.quilts), "quilted pages"));
        if counts.quilts == 0 {
            section.sentences.push(format!(
                "No page of {}{aside} is quilted: {}.",
                number(counts.pages),
                match counts.patchy {
                    0 if counts.patch_grams == 0 => format!(
                        "no {}-gram is on several pages and on no more than {}",
                        asked.k, asked.m
                    ),
                    0 => format!(
                        "in none, {share} or more of the {}-grams are on 2 to {} pages",
                        asked.k, asked.m
                    ),
                    patchy => format!(
                        "{} enough such grams, but fewer than {} {whose} cover them",
                        match patchy {
                            1 => "1 page has".to_owned(),
                            some => format!("{} have", number(some)),
                        },
                        asked.c
                    ),
                }
            ));
            section.next.push(Next {
                command: format!("{} -t 0.3 -c 2", command(told.corpus, &asked)),
                why: "look for pages with fewer patches, from fewer sources".to_owned(),
            });
            return Ok(section);
        }
        section.sentences.push(format!(
            "{} of {} pages ({}){aside} are quilts: {definition}.",
            number(counts.quilts),
            number(counts.pages),
            part_of(counts.quilts, counts.pages)
        ));
        let top = most_quilted(told.findings, &asked, told.top.max(SHOWN))?;
        let shown = top.get(..SHOWN.min(top.len())).unwrap_or_default();
        section.excerpts = excerpts(told, &asked, whose, shown)?;
        if let Some(page) = top.first() {
            let chief = section
                .excerpts
                .first()
                .and_then(|page| page.sources.first());
            section.sentences.push(format!(
                "The most quilted is {}: {} of its {}-grams are also on {whose}, each on {} pages at most. It has {}{}.",
                told.short(page.word("page")),
                percent(foreign_fraction(page, &asked)),
                asked.k,
                asked.m,
                counted(page.count("sources"), "source", "sources"),
                chief.map_or(String::new(), |chief| format!(
                    ", and shares most with {}",
                    told.short(&chief.source)
                ))
            ));
        }
        section.sentences.push(dates(&counts));
        if counts.first_quilts > 0 {
            section.sentences.push(format!(
                "By their dates, {} of the quilts had more than half of the {}-grams that they share before all other pages.",
                number(counts.first_quilts),
                asked.k
            ));
        }
        section.sentences.push(match counts.attributed_quilts {
            0 => format!(
                "None of the quilts links to {whose} that have half of what it shares with these, or to their domains."
            ),
            some => format!(
                "{} of the quilts {} to {whose} that have half or more of what they share with these, or to their domains.",
                number(some),
                if some == 1 { "links" } else { "link" }
            ),
        });
        section.tables.push(table(&top, &counts, &asked, told.top));
        section.tables.push(sources_table(&section.excerpts));
        section.next = vec![
                    Next {
                        command: format!("{} --out quilts.csv", command(told.corpus, &asked)),
                        why: "list all quilts; patches.parquet beside the findings has every source and place".to_owned(),
                    },
                    Next {
                command: format!(
                    "{} --min-share 0.1",
                    command(
                        told.corpus,
                        &QuiltsParams {
                            min_share: QuiltsParams::default().min_share,
                            ..asked
                        }
                    )
                ),
                        why: "count only sources that add a tenth or more".to_owned(),
                    },
                    Next {
                        command: format!(
                            "cento quilts {} --sweep theta=0.4..1.0 --sweep c=2..10 --figures figures/",
                            quoted(told.corpus)
                        ),
                        why: "see how the number of quilts depends on the definition".to_owned(),
                    },
                ];
        Ok(section)
    }
}

fn command(corpus: &str, asked: &QuiltsParams) -> String {
    let usual = QuiltsParams::default();
    Command::new("quilts", corpus)
        .option("-k", &asked.k, &usual.k)
        .option("-m", &asked.m, &usual.m)
        .option("-c", &asked.c, &usual.c)
        .option("-t", &asked.theta, &usual.theta)
        .option("--foreign", &asked.foreign, &usual.foreign)
        .option("--min-share", &asked.min_share, &usual.min_share)
        .flag("--collapse", asked.collapse)
        .end()
}

/// What the dates say about who had the shared words first: no more than that, and nothing where
/// they are not known.
fn dates(counts: &QuiltsSummary) -> String {
    let (earlier, later) = (counts.earlier_sources, counts.later_sources);
    if earlier + later + counts.same_dates == 0 {
        return "Which page had the shared words first is not known: the pages have no dates."
            .to_owned();
    }
    let unknown = counts.patches.saturating_sub(earlier + later);
    let mut text = format!(
        "Of {} of quilts, {} dated earlier than the quilt, and {} later",
        counted(counts.patches, "source", "sources"),
        match earlier {
            1 => "1 is".to_owned(),
            some => format!("{} are", number(some)),
        },
        number(later)
    );
    if unknown > 0 {
        text.push_str(&format!(
            "; for the other {} the dates are missing or the same",
            number(unknown)
        ));
    }
    text.push('.');
    text
}

/// How much of a page is patches that could be from a source: those that only pages of its own
/// server have could not.
pub(super) fn foreign_fraction(page: &Row, asked: &QuiltsParams) -> f64 {
    let share = match asked.foreign {
        Foreign::None => 1.0,
        _ => page.real("foreign_share"),
    };
    page.real("patch_fraction") * share
}

fn most_quilted(findings: &Findings, asked: &QuiltsParams, most: usize) -> Result<Vec<Row>> {
    let columns = ["patch_fraction", "foreign_share", "originality", "sources"];
    let any = asked.foreign == Foreign::None;
    // A page that had its words before all others is not what is looked for, however many have them
    // now.
    let key = |values: &[f64]| match values {
        [fraction, share, originality, sources] => {
            let foreign = fraction * if any { 1.0 } else { *share };
            vec![foreign.min(1.0 - originality), *sources]
        }
        _ => Vec::new(),
    };
    largest_by(findings, "quilts", &columns, key, most)
}

/// With which pages the most quilted ones share their patches, the largest two of each.
fn sources_table(excerpts: &[Excerpt]) -> Table {
    let columns = ["page", "source", "what they share"];
    let rows = excerpts.iter().flat_map(|excerpt| {
        excerpt.sources.iter().take(2).map(|origin| {
            vec![
                Cell::Address(excerpt.page.clone()),
                Cell::Address(origin.source.clone()),
                Cell::Text(origin.about.clone()),
            ]
        })
    });
    Table {
        title: "their largest sources".to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows: rows.collect(),
        more: 0,
    }
}

fn table(rows: &[Row], counts: &QuiltsSummary, asked: &QuiltsParams, top: usize) -> Table {
    let rows = rows.get(..top.min(rows.len())).unwrap_or_default();
    Table {
        title: "most quilted pages".to_owned(),
        columns: [
            "page",
            "shared",
            "patches",
            "sources",
            "attributed",
            "original",
        ]
        .map(str::to_owned)
        .to_vec(),
        more: counts.quilts.saturating_sub(rows.len() as u64),
        rows: rows
            .iter()
            .map(|row| {
                vec![
                    Cell::Address(row.word("page").to_owned()),
                    Cell::Share(foreign_fraction(row, asked)),
                    Cell::Share(row.real("patch_fraction")),
                    Cell::Count(row.count("sources")),
                    Cell::Share(row.real("attributed_share")),
                    Cell::Share(row.real("originality")),
                ]
            })
            .collect(),
    }
}
