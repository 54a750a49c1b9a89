//! `cento phrases`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Arc;

use cento_find::Findings;
use cento_find::copies::CopiesScheme;
use cento_find::phrases::{ForeignBy, PhrasesParams, PhrasesSummary, SiteKind};
use cento_scan::Analysis;
use cento_scan::analyses::phrases::Phrases;
use cento_scan::rows::{first, first_that};
use clap::Args;
use serde_json::json;

use crate::analysis::{AnalysisArguments, FigureArguments, open_source};
use crate::failure::Failure;
use crate::output::{Lines, number, print, shortened, table};
use crate::words::refuse;

/// Find popular phrases, and the pages and sites that are made of them
///
/// After Fetterly, Manasse & Najork 2005. From each page 84 phrases of five words are sampled, its
/// shingles; near-copies count as one page. Unlike in the paper the end of a page is not joined to
/// its beginning: that would be a phrase nobody wrote. A phrase is popular if it is a shingle of
/// --min-pages pages. A site is flagged if it has many popular shingles on all of its pages: what
/// was sliced and diced from a limited stock of sentences, but also templates filled from a
/// database, so look at what is flagged. For pages of many popular shingles, a covering set tells
/// which other pages they could be put together from.
#[derive(Debug, Args)]
#[command(after_help = "\
Findings are tables in CORPUS/findings/phrases: sites (the main one: pages, mean and deviation of popular
shingles, originality, flagged), phrases (words, pages, sites, pages it was sampled from, an example),
pages (popular shingles, originality, size and foreign contribution of the covering set) and covers
(page, source, shingles).

Originality is the share of a page's phrases that are on no other page, or of a site's that are on no other
site. It is always made from all phrases of all pages; only popularity is sampled, unless --exact. Covering
sets are greedy: the page with the most of what is not covered yet, pages of another domain and address
first. They are made for --cover-pages pages of each number of popular shingles from --cover-from up; of a
phrase, --candidates pages are candidates for each of them, foreign ones first. A covering set says
from where a page could be put together, not from where it was. --foreign ip counts what comes from
another address as foreign, even from the same domain, as the paper does.

Examples:
  cento phrases crawl.cento
  cento phrases crawl.cento --site ip
  cento phrases crawl.cento --exact --min-pages 20 --out sites.csv
  cento phrases crawl.cento --cover-pages all --figures figures/")]
pub(crate) struct PhrasesArguments {
    /// The corpus
    #[arg(value_name = "CORPUS")]
    pub(crate) corpus: PathBuf,
    /// Words of a phrase
    #[arg(short, long, value_name = "K", default_value_t = 5)]
    pub(crate) k: u32,
    /// A phrase is popular if it was sampled from this many pages; with --exact, if it is on this
    /// many
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) min_pages: u32,
    /// Find popular phrases among all phrases of all pages, and not among the sampled ones alone
    #[arg(long)]
    pub(crate) exact: bool,
    /// Leave near-copies in
    #[arg(long)]
    pub(crate) no_collapse: bool,
    /// How near-copies are found: resemblance, or megashingle as in the paper
    #[arg(long, value_name = "SCHEME", default_value_t = CopiesScheme::Resemblance, conflicts_with = "no_collapse")]
    pub(crate) scheme: CopiesScheme,

    /// What a site is: host, domain or ip. A spammer with a few pages on each of many hosts shows
    /// by ip alone
    #[arg(long, value_name = "KIND", default_value_t = SiteKind::Host, help_heading = "Sites")]
    pub(crate) site: SiteKind,
    /// Flag sites of at least this many pages
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Sites")]
    pub(crate) flag_pages: u64,
    /// And of at least this many popular shingles a page, of 84
    #[arg(
        long,
        value_name = "MEAN",
        default_value_t = 30.0,
        help_heading = "Sites"
    )]
    pub(crate) flag_mean: f64,
    /// And of a standard deviation below this
    #[arg(
        long,
        value_name = "DEVIATION",
        default_value_t = 15.0,
        help_heading = "Sites"
    )]
    pub(crate) flag_deviation: f64,

    /// Cover pages of at least this many popular shingles
    #[arg(
        long,
        value_name = "N",
        default_value_t = 30,
        help_heading = "Covering sets"
    )]
    pub(crate) cover_from: u32,
    /// How many pages to cover for each number of popular shingles; 0 for none, or all
    #[arg(
        long,
        value_name = "N",
        default_value = "50",
        help_heading = "Covering sets"
    )]
    pub(crate) cover_pages: CoverPages,
    /// How many pages of one phrase are candidates for the cover of a page, foreign ones first
    #[arg(
        long,
        value_name = "N",
        default_value_t = 256,
        help_heading = "Covering sets"
    )]
    pub(crate) candidates: u32,
    /// Which pages are foreign: those of another domain and address (both), of another ip, or of
    /// another domain. One that is not known is foreign to all
    #[arg(
        long,
        value_name = "BY",
        default_value_t = ForeignBy::Both,
        help_heading = "Covering sets"
    )]
    pub(crate) foreign: ForeignBy,

    /// Write the paper's figures to a folder, as SVG and as CSV
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub(crate) figures: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) figure_format: FigureArguments,
    #[command(flatten)]
    pub(crate) analysis: AnalysisArguments,
}

/// How many pages are covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CoverPages(Option<u32>);

impl FromStr for CoverPages {
    type Err = String;

    fn from_str(text: &str) -> Result<CoverPages, String> {
        match text {
            "all" => Ok(CoverPages(None)),
            "none" => Ok(CoverPages(Some(0))),
            number => number
                .parse()
                .map(|number| CoverPages(Some(number)))
                .map_err(|_| format!("`{text}` is neither a number nor `all`")),
        }
    }
}

pub(crate) fn run(arguments: &PhrasesArguments) -> Result<ExitCode, Failure> {
    let params = PhrasesParams {
        k: arguments.k,
        min_pages: arguments.min_pages,
        exact: arguments.exact,
        collapse: (!arguments.no_collapse).then_some(arguments.scheme),
        site: arguments.site,
        flag_pages: arguments.flag_pages,
        flag_mean: arguments.flag_mean,
        flag_deviation: arguments.flag_deviation,
        cover_from: arguments.cover_from,
        cover_pages: arguments.cover_pages.0,
        candidates: arguments.candidates,
        foreign: arguments.foreign,
    };
    if params.cover_pages == Some(0) {
        refuse(
            &["cover_from", "candidates", "foreign"],
            "--cover-pages 0 covers no page",
        )?;
    }
    params.check()?;
    let source = Arc::new(open_source(
        &[&arguments.corpus],
        arguments.analysis.partial,
    )?);
    let findings = arguments.analysis.run(&arguments.corpus, |workplace| {
        Phrases.run(&source, &json!(params), workplace)
    })?;
    if let Some(folder) = &arguments.figures {
        arguments
            .figure_format
            .write(folder, &Phrases.figures(&findings)?)?;
    }
    if !arguments.analysis.give(&findings.table("sites"))? {
        print(&summary(&params, &findings)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn summary(params: &PhrasesParams, findings: &Findings) -> Result<String, Failure> {
    let counted: PhrasesSummary = findings.summary()?;
    let mut text = format!(
        "{} popular phrases of {} words, {} {} pages each at least\n",
        number(counted.phrases),
        params.k,
        match params.exact {
            true => "on",
            false => "sampled from",
        },
        number(u64::from(params.min_pages))
    );
    let mut lines = Lines::default();
    let left_out = match params.collapse {
        Some(_) => format!("without {} copies and near-copies", number(counted.gone)),
        None => "copies and near-copies among them".to_owned(),
    };
    lines.add_with("pages", number(counted.pages), left_out);
    lines.add_with(
        "pages of popular phrases",
        number(counted.popular_pages),
        format!("{} popular shingles of 84 or more", params.cover_from),
    );
    if params.cover_pages != Some(0) {
        let remark = match params.cover_pages {
            Some(most) => format!("at most {most} for each number of popular shingles"),
            None => "all of them".to_owned(),
        };
        lines.add_with("pages covered", number(counted.covered), remark);
    }
    lines.add_with(
        "sites",
        number(counted.sites),
        format!("by {}", params.site),
    );
    lines.add_with(
        "sites flagged",
        number(counted.flagged),
        format!(
            "{} pages or more, mean {} or more, deviation below {}",
            params.flag_pages, params.flag_mean, params.flag_deviation
        ),
    );
    text.push_str(&lines.render());
    let rows = first(findings, "phrases", 10)?;
    if !rows.is_empty() {
        let cells: Vec<Vec<String>> = rows
            .iter()
            .map(|row| {
                vec![
                    shortened(row.word("phrase"), 60),
                    number(row.count("pages")),
                    number(row.count("sites")),
                    shortened(row.word("page"), 40),
                ]
            })
            .collect();
        text.push_str(&table(
            &["most popular phrases", "pages", "sites", "for example"],
            &cells,
        ));
    }
    let flagged = first_that(findings, "sites", 10, |row| row.holds("flagged"))?;
    if !flagged.is_empty() {
        let cells: Vec<Vec<String>> = flagged
            .iter()
            .map(|row| {
                vec![
                    shortened(row.word("site"), 60),
                    number(row.count("pages")),
                    format!("{:.1}", row.real("mean")),
                    format!("{:.1}", row.real("deviation")),
                    match row.has("originality") {
                        true => format!("{:.0}%", 100.0 * row.real("originality")),
                        false => "–".to_owned(),
                    },
                ]
            })
            .collect();
        text.push_str(&table(
            &[
                "flagged sites, the largest",
                "pages",
                "popular of 84",
                "deviation",
                "original",
            ],
            &cells,
        ));
    }
    text.push_str(&advice(params, &counted));
    Ok(text)
}

/// Why something is empty, and what to do about it.
fn advice(params: &PhrasesParams, counted: &PhrasesSummary) -> String {
    let mut text = String::new();
    if counted.pages == 0 {
        text.push_str("No page has text: `cento info` tells why pages were rejected.\n");
    } else if counted.phrases == 0 {
        let lower = if params.min_pages > 2 {
            "a lower --min-pages, "
        } else {
            ""
        };
        let exact = if params.exact {
            ""
        } else {
            "--exact, which looks at all phrases, "
        };
        let which = match params.exact {
            true => "is on",
            false => "was sampled from",
        };
        text.push_str(&format!(
            "No phrase {which} {} pages. Try {lower}{exact}or a smaller -k.\n",
            params.min_pages
        ));
    }
    if counted.pages > 0 && counted.sites == 0 {
        let advice = match params.site {
            SiteKind::Ip => "The pages have no addresses of servers: try --site domain.",
            _ => "The pages have no hosts: index with --base-url, or with a field of URLs.",
        };
        text.push_str(&format!("{advice}\n"));
    } else if counted.phrases > 0 && counted.flagged == 0 {
        let other = match params.site {
            SiteKind::Ip => "--site host or --site domain",
            SiteKind::Host => "--site ip or --site domain",
            SiteKind::Domain => "--site ip or --site host",
        };
        text.push_str(&format!(
            "No site is flagged. {other} may show others; --flag-pages, --flag-mean and --flag-deviation set the rule.\n"
        ));
    }
    if counted.crowded > 0 {
        text.push_str(&format!(
            "{} phrases are on more than {} other pages, so not all were candidates, foreign ones first: {} of {} covers may need fewer pages with a larger --candidates.\n",
            number(counted.crowded),
            number(u64::from(params.candidates)),
            number(counted.cut_covers),
            number(counted.covered)
        ));
    }
    if counted.covered > 0 && params.foreign == ForeignBy::Ip && counted.no_address > 0 {
        text.push_str(&format!(
            "{} of {} pages have no address of a server: they count as foreign to all others.\n",
            number(counted.no_address),
            number(counted.pages)
        ));
    }
    text
}
