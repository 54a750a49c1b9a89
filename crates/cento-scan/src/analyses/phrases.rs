//! Popular phrases and originality, with the figures of Fetterly, Manasse & Najork 2005.

use std::sync::Arc;

use cento_figure::{Axis, Bins, Figure, Mark, NumberFormat, Rule, Series, csv_cell};
use cento_find::phrases::{
    PAGES_TABLE, PHRASES, PHRASES_TABLE, PhraseFigures, PhraseRow, PhraseSiteRow, PhrasesParams,
    PhrasesSummary, SITES_TABLE, SiteFigure, SiteKind, figures, phrases,
};
use cento_find::{CorpusPages, Findings, Result, Workplace};
use cento_report::format::{counted, number, percent, plural, shortened};
use cento_report::{Drawing, Headline, ReportCell, ReportTable, Section, Suggestion};
use serde_json::{Value, json};

use super::columns;
use crate::analysis::{Analysis, CommandLine, SectionInput, parse_parameters};
use crate::profile::Profile;
use crate::select::{first, largest_by};

/// Bins of the histogram of originality.
const BINS: usize = 20;
/// Characters of a phrase that are shown.
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
        "Which phrases are popular, which pages and sites consist of them, and how original is each?"
    }

    fn weight(&self) -> u32 {
        15
    }

    fn plan(&self, corpus: &Profile) -> std::result::Result<Value, String> {
        let default = PhrasesParams::default();
        corpus.needs_text(u64::from(default.min_pages))?;
        Ok(json!(default))
    }

    fn run(
        &self,
        source: &Arc<CorpusPages>,
        parameters: &Value,
        workplace: &Workplace,
    ) -> Result<Findings> {
        phrases(source, &parse_parameters(parameters)?, workplace)
    }

    fn command(&self, corpus: &str, parameters: &Value, _: &[String]) -> String {
        let default = PhrasesParams::default();
        let params: PhrasesParams =
            parse_parameters(parameters).unwrap_or_else(|_| default.clone());
        let cover = |pages: Option<u32>| pages.map_or("all".to_owned(), |pages| pages.to_string());
        let command = CommandLine::new("phrases", corpus)
            .option("-k", &params.k, &default.k)
            .option("--min-pages", &params.min_pages, &default.min_pages)
            .flag("--exact", params.exact)
            .flag("--collapse=no", params.collapse.is_none());
        let command = match (params.collapse, default.collapse) {
            (Some(scheme), Some(default)) => command.option("--rule", &scheme, &default),
            _ => command,
        };
        command
            .option("--site", &params.site, &default.site)
            .option("--flag-pages", &params.flag_pages, &default.flag_pages)
            .option("--flag-mean", &params.flag_mean, &default.flag_mean)
            .option(
                "--flag-deviation",
                &params.flag_deviation,
                &default.flag_deviation,
            )
            .option("--cover-from", &params.cover_from, &default.cover_from)
            .option(
                "--cover-pages",
                &cover(params.cover_pages),
                &cover(default.cover_pages),
            )
            .option("--candidates", &params.candidates, &default.candidates)
            .option("--foreign", &params.foreign, &default.foreign)
            .finish()
    }

    fn figures(&self, findings: &Findings) -> Result<Vec<Drawing>> {
        let params: PhrasesParams = parse_parameters(&findings.record.parameters)?;
        let data = figures(findings, &params)?;
        let with_data = |name, figure, data| Drawing {
            data: Some(data),
            ..Drawing::new(name, figure)
        };
        Ok(vec![
            Drawing::new("popularity", popularity(&data, &params)),
            Drawing::new("pages", popular_shingles(&data, &params)),
            with_data("covers", covers(&data, &params), cover_data(&data)),
            with_data("sites", sites(&data, &params), site_data(&data)),
            Drawing::new("originality", originality(findings, &params)?),
        ])
    }

    fn summarise(&self, input: &SectionInput<'_>) -> Result<Section> {
        let summary: PhrasesSummary = input.findings.summary()?;
        let params: PhrasesParams = parse_parameters(&input.findings.record.parameters)?;
        let mut section = Section::default();
        let popular = first(input.findings.rows(PHRASES_TABLE)?, input.top)?;
        section.sentences.push(count_sentence(&summary, &params));
        section
            .sentences
            .extend(most_popular(&popular, params.exact));
        let (mut pages, mut sum) = (0u64, 0.0);
        for page in input.findings.rows(PAGES_TABLE)? {
            let page = page?;
            // Pages shorter than a phrase have no originality.
            if page.phrases > 0 {
                pages += 1;
                sum += 1.0 - page.shared_phrases as f64 / page.phrases as f64;
            }
        }
        if pages > 0 {
            let mean = percent(sum / pages as f64);
            section.sentences.push(format!(
                "On average, {mean} of the phrases of a page are on no other page ({}{}).",
                counted(pages, "page", "pages"),
                match params.collapse {
                    Some(_) => ", duplicates counted once",
                    None => "",
                }
            ));
            section.headlines.push(Headline::new(
                mean,
                match params.collapse {
                    Some(_) => "average originality of a page, without duplicates",
                    None => "average originality of a page",
                },
            ));
        }
        if summary.popular_pages > 0 {
            section.sentences.push(format!(
                "On {}, {} or more of the 84 sampled phrases are popular.",
                counted(summary.popular_pages, "page", "pages"),
                params.cover_from
            ));
        }
        if summary.sites > 1 {
            section.sentences.push(format!(
                "{} of {} sites (grouped by {}) {} flagged for popular phrases.",
                match summary.flagged {
                    0 => "None".to_owned(),
                    some => number(some),
                },
                number(summary.sites),
                params.site,
                if summary.flagged > 1 { "are" } else { "is" },
            ));
            section.notes.push(format!(
                "A site is flagged if it has at least {}, on average at least {} popular phrases \
                 of the 84 that are sampled from each page, and a standard deviation below {}.",
                counted(params.flag_pages, "page", "pages"),
                params.flag_mean,
                params.flag_deviation
            ));
        }
        if summary.phrases > 0 {
            section.tables.push(phrases_table(popular, &summary));
        }
        if summary.sites > 0 {
            section.tables.extend(site_tables(input, &summary)?);
        }
        section.suggestions = suggestions(input, &params, &summary);
        Ok(section)
    }
}

fn count_sentence(summary: &PhrasesSummary, params: &PhrasesParams) -> String {
    let (k, least) = (params.k, params.min_pages);
    let once = match (params.collapse, summary.gone) {
        (Some(_), 1..) => " (duplicates counted once)",
        _ => "",
    };
    let phrases = match summary.phrases {
        0 => "No phrase".to_owned(),
        some => counted(some, "phrase", "phrases"),
    };
    let singular = summary.phrases <= 1;
    match params.exact {
        true => format!(
            "{phrases} of {k} words {} on {least} or more pages{once}.",
            if singular { "is" } else { "are" }
        ),
        false => format!(
            "{phrases} of {k} words {} sampled from {least} or more pages{once}, with 84 samples per \
             page.",
            if singular { "was" } else { "were" }
        ),
    }
}

/// Names the most popular phrase. If phrases were sampled, another one may be on more pages.
fn most_popular(phrases: &[PhraseRow], is_exact: bool) -> Option<String> {
    let most = phrases.first()?;
    let is_tie = phrases.get(1).is_some_and(|next| next.pages == most.pages);
    let which = match (phrases.len(), is_tie, is_exact) {
        (1, _, false) => "The phrase",
        (_, true, true) => "One of the most popular phrases",
        (_, false, true) => "The most popular phrase",
        (_, true, false) => "One of the most popular of them",
        (_, false, false) => "The most popular of them",
    };
    Some(format!(
        "{which} is “{}”, on {}.",
        shortened(&most.phrase, PHRASE),
        counted(most.pages, "page", "pages")
    ))
}

fn phrases_table(phrases: Vec<PhraseRow>, summary: &PhrasesSummary) -> ReportTable {
    let with_sites = summary.sites > 0;
    let names = ["phrase", "pages"].into_iter();
    let names = names.chain(with_sites.then_some("sites"));
    ReportTable {
        title: "most popular phrases".to_owned(),
        columns: columns(names.chain(["example page"])),
        more: summary.phrases.saturating_sub(phrases.len() as u64),
        rows: phrases
            .into_iter()
            .map(|row| {
                let mut cells = vec![
                    ReportCell::Text(shortened(&row.phrase, PHRASE)),
                    ReportCell::Count(row.pages),
                ];
                cells.extend(with_sites.then_some(ReportCell::Count(row.sites)));
                cells.push(ReportCell::Address(row.page));
                cells
            })
            .collect(),
        ..ReportTable::default()
    }
}

/// Returns the flagged sites, and the originality of the largest sites.
fn site_tables(input: &SectionInput<'_>, summary: &PhrasesSummary) -> Result<Vec<ReportTable>> {
    let names = [
        "site",
        "pages",
        "originality",
        "mean popular of 84",
        "deviation",
    ];
    let cells = |row: PhraseSiteRow| {
        vec![
            ReportCell::Text(row.site),
            ReportCell::Count(row.pages),
            row.originality
                .map_or(ReportCell::Unknown, ReportCell::Share),
            ReportCell::Number(row.mean),
            ReportCell::Number(row.deviation),
        ]
    };
    let table = |title: &str, rows: Vec<PhraseSiteRow>, all: u64| ReportTable {
        title: title.to_owned(),
        columns: columns(names),
        more: all.saturating_sub(rows.len() as u64),
        rows: rows.into_iter().map(cells).collect(),
        ..ReportTable::default()
    };
    let mut tables = Vec::new();
    if summary.flagged > 0 {
        let sites = input.findings.rows(SITES_TABLE)?;
        let mut rows = largest_by(sites, |row| (row.flagged, row.pages), input.top)?;
        rows.retain(|row| row.flagged);
        tables.push(table("flagged sites", rows, summary.flagged));
    }
    let sites = input.findings.rows(SITES_TABLE)?;
    let rows = largest_by(sites, |row| row.pages, input.top)?;
    let title = "originality of the largest sites";
    tables.push(table(title, rows, summary.sites));
    Ok(tables)
}

fn suggestions(
    input: &SectionInput<'_>,
    params: &PhrasesParams,
    summary: &PhrasesSummary,
) -> Vec<Suggestion> {
    let command = input.command(&Phrases);
    let mut suggestions = Vec::new();
    if summary.sites > 0 {
        suggestions.push(Suggestion {
            command: format!("{command} --out sites.csv"),
            purpose: "list all sites with their originality".to_owned(),
        });
        if params.site == SiteKind::Host && summary.sites > 1 {
            suggestions.push(Suggestion {
                command: format!("{command} --site ip"),
                purpose: "group pages by IP address, and find operators with a few pages on each \
                          of many hosts"
                    .to_owned(),
            });
        }
    }
    if !params.exact {
        suggestions.push(Suggestion {
            command: format!("{command} --exact"),
            purpose: "count all phrases, not only 84 samples per page".to_owned(),
        });
    }
    suggestions
}

fn originality(findings: &Findings, params: &PhrasesParams) -> Result<Figure> {
    let mut bins = Bins::new(BINS);
    for page in findings.rows(PAGES_TABLE)? {
        let page = page?;
        if page.phrases > 0 {
            let original = page.phrases.saturating_sub(page.shared_phrases);
            bins.add(original, page.phrases);
        }
    }
    Ok(Figure::new(
        "How original are the pages?",
        Axis::linear("Share of phrases that are on no other page")
            .format(NumberFormat::Share)
            .covering(0.0)
            .covering(1.0),
        Axis::linear("Pages")
            .format(NumberFormat::Count)
            .covering(0.0),
    )
    .caption(match params.collapse {
        Some(_) => {
            "Based on all phrases of each page. Duplicates and near-duplicates count as one page."
        }
        None => "Based on all phrases of each page.",
    })
    .series(bins.series("pages")))
}

/// The data of the figure of covering sets: the number of pages of each disc, and the popular
/// shingles of them that foreign pages cover.
fn cover_data(data: &PhraseFigures) -> String {
    let mut text = "popular,cover,pages,foreign\r\n".to_owned();
    for ((popular, cover), (pages, foreign)) in &data.covers {
        text.push_str(&format!("{popular},{cover},{pages},{foreign}\r\n"));
    }
    text
}

/// The data of the figure of sites, with their numbers of pages.
fn site_data(data: &PhraseFigures) -> String {
    let mut text = "site,mean,deviation,pages,flagged\r\n".to_owned();
    for site in &data.sites {
        text.push_str(&format!(
            "{},{},{},{},{}\r\n",
            csv_cell(&site.site),
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
        "How popular are the phrases?",
        Axis::log10(match params.exact {
            true => "Pages with the phrase",
            false => "Pages from which the phrase was sampled",
        })
        .format(NumberFormat::Count),
        Axis::log10("Phrases").format(NumberFormat::Count),
    )
    .caption(format!(
        "Each dot shows how many phrases of {} words {} a given number of pages. Phrases below {} \
         pages are omitted.",
        params.k,
        match params.exact {
            true => "are on",
            false => "were sampled from",
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
        "How many popular phrases do pages have?",
        Axis::linear("Popular phrases, of 84 sampled")
            .format(NumberFormat::Count)
            .covering(0.0)
            .covering(84.0),
        Axis::log10("Share of pages").format(NumberFormat::Share),
    )
    .caption(format!(
        "{} by their number of popular phrases. The pages at the right consist of popular phrases only.",
        counted(all, "page", "pages")
    ))
    .series(Series::new(
        "pages",
        Mark::Line,
        points.map(|(&popular, &pages)| (f64::from(popular), pages as f64 / all.max(1) as f64)),
    )
    // The line has a gap where no page has a number.
    .joined_within(1.0))
    .rule(Rule::vertical(
        f64::from(params.cover_from),
        format!("covering sets: {} or more", params.cover_from),
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
        "How many other pages cover the popular phrases of a page?",
        Axis::linear("Popular phrases of the page").format(NumberFormat::Count),
        Axis::linear("Pages in the covering set").format(NumberFormat::Count),
    )
    .caption(format!(
        "The area of a disc is the number of pages at its position ({}). The inner disc is the share of their popular phrases that foreign pages cover. One or two other pages cover a page at the bottom; it takes many to cover one near the diagonal.",
        match params.cover_pages {
            Some(most) => format!("at most {most} for each number of popular shingles"),
            None => "all pages".to_owned(),
        }
    ))
    .areas("pages", "covered by foreign pages")
    .series(Series::discs("covered pages", discs))
}

fn sites(data: &PhraseFigures, params: &PhrasesParams) -> Figure {
    let mut caption = format!(
        "Each dot is a site (grouped by {}) with at least {} pages, at the mean of its pages. Bars show one standard deviation to either side. The pages of a site at the right with short bars consist of popular phrases.",
        params.site, params.flag_pages
    );
    if data.more_sites > 0 {
        caption.push_str(&format!(
            " {} {} omitted.",
            counted(data.more_sites, "more site", "more sites"),
            plural(data.more_sites, "is", "are")
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
        "How many popular phrases do sites have?",
        Axis::linear("Mean popular phrases per page, of 84 sampled")
            .covering(0.0)
            .covering(84.0),
        Axis::log10("Pages of the site").format(NumberFormat::Count),
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
