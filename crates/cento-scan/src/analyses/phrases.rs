//! Popular phrases, told; the figures are those of Fetterly, Manasse & Najork 2005.

use std::sync::Arc;

use cento_find::phrases::{
    PHRASES, PhraseFigures, PhrasesParams, PhrasesSummary, SiteKind, figures, phrases,
};
use cento_find::{Findings, Result, Source, Workplace};
use cento_view::{Axis, Figure, Format, Mark, Region, Rule, Series};
use serde_json::{Value, json};

use crate::analysis::{Analysis, Command, Told, parameters};
use crate::profile::Profile;
use crate::rows::{Row, first, for_each, largest};
use crate::section::{Cell, Drawing, Headline, Next, Section, Table};
use crate::words::{counted, number, percent, quoted, shortened};

/// Bins of the histogram of originality.
const BINS: usize = 20;
/// Letters of a phrase that are shown.
const PHRASE: usize = 80;

/// `cento phrases`.
pub struct Phrases;

impl Analysis for Phrases {
    fn name(&self) -> &'static str {
        PHRASES
    }

    fn title(&self) -> &'static str {
        "Popular phrases and originality"
    }

    fn question(&self) -> &'static str {
        "Which phrases does everybody use, which pages and sites are made of them, and how original is each?"
    }

    fn weight(&self) -> u32 {
        15
    }

    fn plan(&self, corpus: &Profile) -> std::result::Result<Value, String> {
        let usual = PhrasesParams::default();
        corpus.needs_text(u64::from(usual.min_pages))?;
        Ok(json!(usual))
    }

    fn run(&self, source: &Arc<Source>, asked: &Value, workplace: &Workplace) -> Result<Findings> {
        phrases(source, &parameters(asked)?, workplace)
    }

    fn command(&self, corpus: &str, asked: &Value) -> String {
        let usual = PhrasesParams::default();
        let asked: PhrasesParams = parameters(asked).unwrap_or_else(|_| usual.clone());
        let cover = |pages: Option<u32>| pages.map_or("all".to_owned(), |pages| pages.to_string());
        let command = Command::new("phrases", corpus)
            .option("-k", &asked.k, &usual.k)
            .option("--min-pages", &asked.min_pages, &usual.min_pages)
            .flag("--exact", asked.exact)
            .flag("--no-collapse", asked.collapse.is_none());
        let command = match (asked.collapse, usual.collapse) {
            (Some(scheme), Some(usual)) => command.option("--scheme", &scheme, &usual),
            _ => command,
        };
        command
            .option("--site", &asked.site, &usual.site)
            .option("--flag-pages", &asked.flag_pages, &usual.flag_pages)
            .option("--flag-mean", &asked.flag_mean, &usual.flag_mean)
            .option(
                "--flag-deviation",
                &asked.flag_deviation,
                &usual.flag_deviation,
            )
            .option("--cover-from", &asked.cover_from, &usual.cover_from)
            .option(
                "--cover-pages",
                &cover(asked.cover_pages),
                &cover(usual.cover_pages),
            )
            .option("--candidates", &asked.candidates, &usual.candidates)
            .end()
    }

    fn figures(&self, findings: &Findings) -> Result<Vec<Drawing>> {
        let params: PhrasesParams = parameters(&findings.record.parameters)?;
        let data = figures(findings, params.flag_pages)?;
        let with = |name, figure, numbers| Drawing {
            name,
            figure,
            numbers: Some(numbers),
        };
        Ok(vec![
            Drawing::new("popularity", popularity(&data, &params)),
            Drawing::new("pages", popular_shingles(&data, &params)),
            with("covers", covers(&data, &params), cover_counts(&data)),
            with("sites", sites(&data, &params), site_counts(&data)),
            Drawing::new("originality", originality(findings, &params)?),
        ])
    }

    fn tell(&self, told: &Told<'_>) -> Result<Section> {
        let counts: PhrasesSummary = told.findings.summary()?;
        let asked: PhrasesParams = parameters(&told.findings.record.parameters)?;
        let mut section = Section::default();
        let popular = first(told.findings, "phrases", told.top)?;
        section.sentences.push(match counts.phrases {
            0 => format!(
                "No phrase of {} words is on {} pages.",
                asked.k, asked.min_pages
            ),
            some => format!(
                "{} of {} words {} on {} pages or more.",
                counted(some, "phrase", "phrases"),
                asked.k,
                are(some),
                asked.min_pages
            ),
        });
        if let Some(row) = popular.first() {
            section.sentences.push(format!(
                "The most popular is “{}”, on {} pages.",
                shortened(row.word("phrase"), PHRASE),
                number(row.count("pages"))
            ));
        }
        let (mut pages, mut sum) = (0u64, 0.0);
        for_each(told.findings, "pages", ["originality"], |[originality]| {
            pages += 1;
            sum += originality;
        })?;
        if pages > 0 {
            section.headlines.push(Headline::new(
                percent(sum / pages as f64),
                "of a page is on no other, on average",
            ));
            section.sentences.push(format!(
                "On average {} of a page is on no other page.",
                percent(sum / pages as f64)
            ));
        }
        if counts.popular_pages > 0 {
            section.sentences.push(format!(
                "{} {} made of popular phrases: {} of 84 shingles or more.",
                counted(counts.popular_pages, "page", "pages"),
                are(counts.popular_pages),
                asked.cover_from
            ));
        }
        if counts.sites > 1 {
            section.sentences.push(match counts.flagged {
                0 => format!(
                    "None of {} sites (by {}) is made of popular phrases.",
                    number(counts.sites),
                    asked.site
                ),
                some => format!(
                    "{} of {} sites (by {}) {} made of popular phrases, on all of their pages.",
                    number(some),
                    number(counts.sites),
                    asked.site,
                    are(some)
                ),
            });
        }
        if counts.phrases > 0 {
            section.tables.push(phrases_table(&popular, &counts));
        }
        if counts.sites > 0 {
            section.tables.extend(site_tables(told, &asked, &counts)?);
        }
        section.next = next(told, &asked, &counts);
        Ok(section)
    }
}

fn are(count: u64) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

fn phrases_table(rows: &[Row], counts: &PhrasesSummary) -> Table {
    let with_sites = counts.sites > 0;
    let mut columns = vec!["phrase", "pages"];
    columns.extend(with_sites.then_some("sites"));
    columns.push("for example");
    Table {
        title: "most popular phrases".to_owned(),
        columns: columns.into_iter().map(str::to_owned).collect(),
        more: counts.phrases.saturating_sub(rows.len() as u64),
        rows: rows
            .iter()
            .map(|row| {
                let mut cells = vec![
                    Cell::Text(shortened(row.word("phrase"), PHRASE)),
                    Cell::Count(row.count("pages")),
                ];
                cells.extend(with_sites.then(|| Cell::Count(row.count("sites"))));
                cells.push(Cell::Address(row.word("page").to_owned()));
                cells
            })
            .collect(),
    }
}

/// The flagged sites, and the largest ones with how original they are.
fn site_tables(
    told: &Told<'_>,
    asked: &PhrasesParams,
    counts: &PhrasesSummary,
) -> Result<Vec<Table>> {
    let columns = ["site", "pages", "original", "popular of 84", "deviation"];
    let cells = |row: &Row| {
        vec![
            Cell::Text(row.word("site").to_owned()),
            Cell::Count(row.count("pages")),
            Cell::Share(row.real("originality")),
            Cell::Number(row.real("mean")),
            Cell::Number(row.real("deviation")),
        ]
    };
    let table = |title: &str, rows: &[Row], all: u64| Table {
        title: title.to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows: rows.iter().map(cells).collect(),
        more: all.saturating_sub(rows.len() as u64),
    };
    let mut tables = Vec::new();
    if counts.flagged > 0 {
        let mut rows = largest(told.findings, "sites", &["flagged", "pages"], told.top)?;
        rows.retain(|row| row.holds("flagged"));
        let title = format!(
            "flagged sites: {} pages or more, mean {} or more, deviation below {}",
            asked.flag_pages, asked.flag_mean, asked.flag_deviation
        );
        tables.push(table(&title, &rows, counts.flagged));
    }
    let rows = largest(told.findings, "sites", &["pages"], told.top)?;
    tables.push(table(
        "originality of the largest sites",
        &rows,
        counts.sites,
    ));
    Ok(tables)
}

fn next(told: &Told<'_>, asked: &PhrasesParams, counts: &PhrasesSummary) -> Vec<Next> {
    let corpus = quoted(told.corpus);
    let mut next = Vec::new();
    if counts.sites > 0 {
        next.push(Next {
            command: format!("cento phrases {corpus} --out sites.csv"),
            why: "list all sites with their originality".to_owned(),
        });
        if asked.site == SiteKind::Host && counts.sites > 1 {
            next.push(Next {
                command: format!("cento phrases {corpus} --site ip"),
                why: "find spammers who have a few pages on each of many hosts".to_owned(),
            });
        }
    }
    if !asked.exact {
        next.push(Next {
            command: format!("cento phrases {corpus} --exact"),
            why: "count all phrases of all pages, and not 84 of each".to_owned(),
        });
    }
    next
}

fn originality(findings: &Findings, params: &PhrasesParams) -> Result<Figure> {
    let mut bins = [0u64; BINS];
    for_each(findings, "pages", ["originality"], |[originality]| {
        let bin = ((originality * BINS as f64) as usize).min(BINS - 1);
        if let Some(bin) = bins.get_mut(bin) {
            *bin += 1;
        }
    })?;
    let width = 1.0 / BINS as f64;
    let bins = bins.iter().enumerate().map(|(bin, &pages)| {
        let from = bin as f64 * width;
        (from, from + width, pages as f64)
    });
    Ok(Figure::new(
        "How original are the pages?",
        Axis::linear("Share of the page that is on no other page")
            .format(Format::Share)
            .covering(0.0)
            .covering(1.0),
        Axis::linear("Pages").format(Format::Count).covering(0.0),
    )
    .caption(match params.exact {
        true => "By all phrases of a page; copies and near-copies count as one page.",
        false => "By 84 phrases sampled from each page; copies and near-copies count as one page.",
    })
    .series(Series::histogram("pages", bins)))
}

/// What the figure of covers cannot show: how many pages a dot stands for, and the foreign contribution to all of them.
fn cover_counts(data: &PhraseFigures) -> String {
    let mut text = "popular,cover,pages,foreign\r\n".to_owned();
    for ((popular, cover), (pages, foreign)) in &data.covers {
        text.push_str(&format!("{popular},{cover},{pages},{foreign}\r\n"));
    }
    text
}

/// The sites of the figure with the number of their pages.
fn site_counts(data: &PhraseFigures) -> String {
    let mut text = "mean,deviation,pages\r\n".to_owned();
    for (mean, deviation, pages) in &data.sites {
        text.push_str(&format!("{mean},{deviation},{pages}\r\n"));
    }
    text
}

fn popularity(data: &PhraseFigures, params: &PhrasesParams) -> Figure {
    let points = data.popularity.iter();
    Figure::new(
        "Popularity of phrases",
        Axis::log10("Pages that have the phrase").format(Format::Count),
        Axis::log10("Phrases").format(Format::Count),
    )
    .caption(format!(
        "Each dot is a number of phrases of {} words that so many pages have; phrases on fewer than {} pages are left out.",
        params.k, params.min_pages
    ))
    .series(Series::new(
        "phrases",
        Mark::Points,
        points.map(|(&pages, &phrases)| (pages as f64, phrases as f64)),
    ))
}

fn popular_shingles(data: &PhraseFigures, params: &PhrasesParams) -> Figure {
    let all: u64 = data.pages.values().sum();
    let points = data.pages.iter();
    Figure::new(
        "Popular shingles of a page",
        Axis::linear("Popular shingles, of 84")
            .format(Format::Count)
            .covering(0.0)
            .covering(84.0),
        Axis::log10("Share of all pages").format(Format::Share),
    )
    .caption(format!(
        "Of {} pages, so many have so many popular shingles. A page that says only what others say stands at the right.",
        number(all)
    ))
    .series(Series::new(
        "pages",
        Mark::Line,
        points.map(|(&popular, &pages)| (f64::from(popular), pages as f64 / all.max(1) as f64)),
    ))
    .rule(Rule::vertical(
        f64::from(params.cover_from),
        format!("covered: {} or more", params.cover_from),
    ))
}

fn covers(data: &PhraseFigures, params: &PhrasesParams) -> Figure {
    // Half of a page's popular shingles tells those that live on others from those that repeat themselves.
    let of = |foreign: bool| {
        let chosen = data
            .covers
            .iter()
            .filter(move |((popular, _), (pages, given))| {
                (2 * given >= pages * u64::from(*popular)) == foreign
            });
        chosen.map(|(&(popular, size), _)| (f64::from(popular), f64::from(size)))
    };
    Figure::new(
        "How many pages cover the popular shingles of a page",
        Axis::linear("Popular shingles of the page").format(Format::Count),
        Axis::linear("Pages of the covering set").format(Format::Count),
    )
    .caption(format!(
        "A dot stands for all covered pages at its place ({}). At the bottom a page is put together from one or two others, near the diagonal from many.",
        match params.cover_pages {
            Some(most) => format!("at most {most} for each number of popular shingles"),
            None => "all were covered".to_owned(),
        }
    ))
    .series(Series::new("mostly from other domains and addresses", Mark::Points, of(true)))
    .series(Series::new("mostly from their own", Mark::Points, of(false)))
}

fn sites(data: &PhraseFigures, params: &PhrasesParams) -> Figure {
    let mut caption = format!(
        "A dot is a site ({}) of {} pages or more. High and even, at the lower right: every page is made of what others say.",
        params.site, params.flag_pages
    );
    if data.more_sites > 0 {
        caption.push_str(&format!(
            " Without {} smaller sites.",
            number(data.more_sites)
        ));
    }
    let points = data.sites.iter();
    let figure = Figure::new(
        "Sites by their popular shingles",
        Axis::linear("Mean of popular shingles a page, of 84")
            .covering(0.0)
            .covering(84.0),
        Axis::linear("Standard deviation")
            .covering(0.0)
            .covering(30.0),
    )
    .caption(caption)
    .series(Series::new(
        "sites",
        Mark::Points,
        points.map(|&(mean, deviation, _)| (mean, deviation)),
    ))
    .region(Region {
        label: format!(
            "flagged: mean ≥ {}, deviation < {}",
            params.flag_mean, params.flag_deviation
        ),
        x: (Some(params.flag_mean), None),
        y: (Some(0.0), Some(params.flag_deviation)),
    });
    data.flagged
        .iter()
        .fold(figure, |figure, (mean, deviation, site)| {
            figure.note(*mean, *deviation, site.clone())
        })
}
