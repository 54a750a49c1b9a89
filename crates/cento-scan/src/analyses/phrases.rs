//! Popular phrases, told; the figures are those of Fetterly, Manasse & Najork 2005.

use std::sync::Arc;

use cento_figure::{Axis, Bins, Figure, Format, Mark, Rule, Series};
use cento_find::phrases::{
    PHRASES, PhraseFigures, PhrasesParams, PhrasesSummary, SiteFigure, SiteKind, figures, phrases,
};
use cento_find::{CorpusPages, Findings, Result, Workplace};
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

    fn run(
        &self,
        source: &Arc<CorpusPages>,
        asked: &Value,
        workplace: &Workplace,
    ) -> Result<Findings> {
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
            .option("--foreign", &asked.foreign, &usual.foreign)
            .end()
    }

    fn figures(&self, findings: &Findings) -> Result<Vec<Drawing>> {
        let params: PhrasesParams = parameters(&findings.record.parameters)?;
        let data = figures(findings, &params)?;
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
        section.sentences.push(popularity_sentence(&counts, &asked));
        if let Some(row) = popular.first() {
            section.sentences.push(format!(
                "Of these, “{}” is on the most pages: {}.",
                shortened(row.word("phrase"), PHRASE),
                number(row.count("pages"))
            ));
        }
        let (mut pages, mut sum) = (0u64, 0.0);
        // By whole numbers, and without the pages that have no phrase.
        for_each(
            told.findings,
            "pages",
            ["phrases", "shared_phrases"],
            |[phrases, shared]| {
                if phrases > 0.0 {
                    pages += 1;
                    sum += 1.0 - shared / phrases;
                }
            },
        )?;
        if pages > 0 {
            let mean = percent(sum / pages as f64);
            section.headlines.push(Headline::new(
                mean.clone(),
                "of a page is on no other, on average",
            ));
            section.sentences.push(format!(
                "On average {mean} of a page is on no other page, by all phrases of {} pages{}.",
                number(pages),
                match asked.collapse {
                    Some(_) => ", copies and near-copies counted once",
                    None => "",
                }
            ));
        }
        if counts.popular_pages > 0 {
            section.sentences.push(format!(
                "{} {} popular phrases for {} or more of 84 shingles.",
                counted(counts.popular_pages, "page", "pages"),
                if counts.popular_pages == 1 {
                    "has"
                } else {
                    "have"
                },
                asked.cover_from
            ));
        }
        if counts.sites > 1 {
            section.sentences.push(format!(
                "{} of {} sites (by {}) {} flagged: {} pages or more, {} popular shingles of 84 or more on average, with a deviation below {}.",
                match counts.flagged {
                    0 => "None".to_owned(),
                    some => number(some),
                },
                number(counts.sites),
                asked.site,
                if counts.flagged <= 1 { "is" } else { "are" },
                number(asked.flag_pages),
                asked.flag_mean,
                asked.flag_deviation
            ));
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

fn popularity_sentence(counts: &PhrasesSummary, asked: &PhrasesParams) -> String {
    let (k, least) = (asked.k, asked.min_pages);
    match (counts.phrases, asked.exact) {
        (0, true) => format!("No phrase of {k} words is on {least} pages."),
        (0, false) => format!(
            "No phrase of {k} words is among the 84 that were sampled from each page for {least} pages."
        ),
        (some, true) => format!(
            "{} of {k} words {} on {least} pages or more.",
            counted(some, "phrase", "phrases"),
            are(some)
        ),
        (some, false) => format!(
            "{} of {k} words {} among the 84 that were sampled from each page for {least} pages or more.",
            counted(some, "phrase", "phrases"),
            are(some)
        ),
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
            match row.has("originality") {
                true => Cell::Share(row.real("originality")),
                false => Cell::Nothing,
            },
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
            "flagged sites: {} pages or more, mean of {} popular shingles or more, deviation below {}",
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
            why: "find popular phrases among all, and not among 84 of each page".to_owned(),
        });
    }
    next
}

fn originality(findings: &Findings, params: &PhrasesParams) -> Result<Figure> {
    let mut bins = Bins::new(BINS);
    for_each(
        findings,
        "pages",
        ["phrases", "shared_phrases"],
        |[phrases, shared]| {
            if phrases > 0.0 {
                bins.add((phrases - shared) as u64, phrases as u64);
            }
        },
    )?;
    Ok(Figure::new(
        "How original are the pages?",
        Axis::linear("Share of the page that is on no other page")
            .format(Format::Share)
            .covering(0.0)
            .covering(1.0),
        Axis::linear("Pages").format(Format::Count).covering(0.0),
    )
    .caption(match params.collapse {
        Some(_) => "By all phrases of a page; copies and near-copies count as one page.",
        None => "By all phrases of a page.",
    })
    .series(bins.series("pages")))
}

/// The numbers of the figure of covers: how many pages a disc stands for, and the foreign
/// contribution to all of them.
fn cover_counts(data: &PhraseFigures) -> String {
    let mut text = "popular,cover,pages,foreign\r\n".to_owned();
    for ((popular, cover), (pages, foreign)) in &data.covers {
        text.push_str(&format!("{popular},{cover},{pages},{foreign}\r\n"));
    }
    text
}

/// The sites of the figure with the number of their pages.
fn site_counts(data: &PhraseFigures) -> String {
    let mut text = "site,mean,deviation,pages,flagged\r\n".to_owned();
    for site in &data.sites {
        text.push_str(&format!(
            "\"{}\",{},{},{},{}\r\n",
            site.site.replace('"', "\"\""),
            site.mean,
            site.deviation,
            site.pages,
            site.flagged
        ));
    }
    text
}

fn popularity(data: &PhraseFigures, params: &PhrasesParams) -> Figure {
    let points = data.popularity.iter();
    Figure::new(
        "Popularity of phrases",
        Axis::log10(match params.exact {
            true => "Pages that have the phrase",
            false => "Pages that the phrase was sampled from",
        })
        .format(Format::Count),
        Axis::log10("Phrases").format(Format::Count),
    )
    .caption(format!(
        "Each dot is a number of phrases of {} words, and {}. Phrases of fewer than {} pages are left out.",
        params.k,
        match params.exact {
            true => "how many pages have each of them",
            false => "how many pages have each of them among 84 that were sampled",
        },
        params.min_pages
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
    )
    // A number that no page has is no point of the line.
    .joined_within(1.0))
    .rule(Rule::vertical(
        f64::from(params.cover_from),
        format!("covered: {} or more", params.cover_from),
    ))
}

fn covers(data: &PhraseFigures, params: &PhrasesParams) -> Figure {
    let discs = data.covers.iter();
    let discs = discs.map(|(&(popular, size), &(pages, foreign))| {
        let all = pages * u64::from(popular);
        let part = foreign as f64 / all.max(1) as f64;
        (f64::from(popular), f64::from(size), pages as f64, part)
    });
    Figure::new(
        "How many pages cover the popular shingles of a page",
        Axis::linear("Popular shingles of the page").format(Format::Count),
        Axis::linear("Pages of the covering set").format(Format::Count),
    )
    .caption(format!(
        "The area of a disc is the number of covered pages at its place ({}), and its inner disc the share of their popular shingles that foreign pages cover. At the bottom a page can be put together from one or two others, near the diagonal from many.",
        match params.cover_pages {
            Some(most) => format!("at most {most} for each number of popular shingles"),
            None => "all were covered".to_owned(),
        }
    ))
    .areas("pages", "covered by foreign pages")
    .series(Series::discs("covered pages", discs))
}

fn sites(data: &PhraseFigures, params: &PhrasesParams) -> Figure {
    let mut caption = format!(
        "A dot is a site ({}) of {} pages or more, at the mean of its pages; bars are one standard deviation to either side. High, far right and with short bars: every page is made of what others say.",
        params.site, params.flag_pages
    );
    if data.more_sites > 0 {
        caption.push_str(&format!(
            " Without {} smaller sites.",
            number(data.more_sites)
        ));
    }
    let of = |flagged: bool| {
        let sites: Vec<&SiteFigure> = (data.sites.iter())
            .filter(|site| site.flagged == flagged)
            .collect();
        let points = sites
            .iter()
            .map(|site| (site.mean, site.pages as f64, site.deviation));
        let name = if flagged { "flagged" } else { "other sites" };
        let names: Vec<&str> = sites.iter().map(|site| site.site.as_str()).collect();
        (!sites.is_empty()).then(|| {
            let series = Series::with_x_errors(name, points);
            match flagged {
                true => series.named(names),
                false => series,
            }
        })
    };
    let figure = Figure::new(
        "Sites by their popular shingles",
        Axis::linear("Mean of popular shingles a page, of 84")
            .covering(0.0)
            .covering(84.0),
        Axis::log10("Pages of the site").format(Format::Count),
    )
    .caption(caption)
    .rule(Rule::vertical(
        params.flag_mean,
        format!(
            "flagged: mean ≥ {}, deviation < {}",
            params.flag_mean, params.flag_deviation
        ),
    ));
    let series = [of(false), of(true)].into_iter().flatten();
    series.fold(figure, Figure::series)
}
