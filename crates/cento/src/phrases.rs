//! `cento phrases`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Arc;

use cento_find::Findings;
use cento_find::copies::CopiesScheme;
use cento_find::phrases::{
    ForeignBy, PHRASES_TABLE, PhrasesParams, PhrasesSummary, SITES_TABLE, SiteKind,
};
use cento_report::format::{counted, percent};
use cento_scan::Analysis;
use cento_scan::analyses::phrases::Phrases;
use cento_scan::select::{first, first_that};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::json;

use crate::analysis::{AnalysisArguments, Collapse};
use crate::command_error::CommandError;
use crate::command_line::refuse;
use crate::corpus_input::CorpusArguments;
use crate::figures::FigureArguments;
use crate::output::{Lines, number, print, shortened, table_of};
use crate::terminal::sentences;
use crate::top::TopArguments;

/// Find popular phrases, and the pages and sites made of them
///
/// After Fetterly, Manasse & Najork 2005. From each page, 84 phrases of five words are sampled, its
/// shingles; near-duplicates count as one page. Unlike in the paper, the end of a page is not
/// joined to its beginning, which would make phrases that nobody wrote. A phrase is popular if it
/// is a shingle of at least --min-pages pages. A site is flagged if all of its pages have many
/// popular shingles: such pages may be generated from a limited stock of sentences, but also be
/// templates filled from a database, so review what is flagged. For pages with many popular
/// shingles, a covering set names other pages that they could be assembled from.
#[derive(Debug, Args)]
#[command(mut_arg("top", |top| top.conflicts_with("json")))]
#[command(after_help = "\
Findings are tables in CORPUS/findings/phrases: sites (the main one: pages, mean and deviation of
popular shingles, originality, flagged), phrases (words, pages, sites, pages it was sampled from, an
example), pages (popular shingles, originality, size and foreign contribution of the covering set)
and covers (page, source, shingles).

Originality is the share of a page's phrases that are on no other page, or of the phrases of a
site's pages that are on no other site; a phrase counts once for each of these pages. It is computed
from all phrases of all pages; only popularity is sampled, unless --exact. Covering sets are greedy:
each step adds the page that covers most of the remaining phrases, foreign pages first. They are
computed for --cover-pages pages of each number of popular shingles from --cover-from up. For each
phrase, --candidates pages are considered, foreign pages first. A covering set shows how a page
could be assembled, not how it was. --foreign ip counts pages of another address as foreign even if
they have the same domain, as in the paper.

Examples:
  cento phrases crawl.cento
  cento phrases crawl.cento --site ip
  cento phrases crawl.cento --exact --min-pages 20 --out sites.csv
  cento phrases crawl.cento --cover-pages all --figures figures/")]
pub(crate) struct PhrasesArguments {
    #[command(flatten)]
    pub(crate) corpus: CorpusArguments,
    /// Words per gram
    ///
    /// A phrase is a gram.
    #[arg(short, long, value_name = "K", default_value_t = 5)]
    pub(crate) k: u32,
    /// Minimum number of pages that a popular phrase was sampled from; with --exact, that it is on
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) min_pages: u32,
    /// Count all phrases of all pages, instead of the sampled ones
    #[arg(long)]
    pub(crate) exact: bool,
    /// Count duplicates and near-duplicates as one page: yes or no
    ///
    /// `cento copies` finds them. Without a value: yes.
    #[arg(
        long,
        value_name = "YES|NO",
        default_value = "yes",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "yes"
    )]
    pub(crate) collapse: Collapse,
    /// How near-duplicates are found: resemblance, or megashingle as in Fetterly et al. 2005
    #[arg(long, value_name = "RULE", default_value_t = CopiesScheme::Resemblance)]
    pub(crate) rule: CopiesScheme,

    /// What a site is: host, domain or ip. A spammer with few pages on each of many hosts shows up
    /// only by ip
    #[arg(long, value_name = "KIND", default_value_t = SiteKind::Host, help_heading = "Sites")]
    pub(crate) site: SiteKind,
    /// Flag only sites with at least this many pages
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Sites")]
    pub(crate) flag_pages: u64,
    /// Flag only sites with a mean of at least this many popular shingles per page, of 84
    #[arg(
        long,
        value_name = "MEAN",
        default_value_t = 30.0,
        help_heading = "Sites"
    )]
    pub(crate) flag_mean: f64,
    /// Flag only sites with a standard deviation of popular shingles below this
    #[arg(
        long,
        value_name = "DEVIATION",
        default_value_t = 15.0,
        help_heading = "Sites"
    )]
    pub(crate) flag_deviation: f64,

    /// Cover pages with at least this many popular shingles
    #[arg(
        long,
        value_name = "N",
        default_value_t = 30,
        help_heading = "Covering sets"
    )]
    pub(crate) cover_from: u32,
    /// Number of pages to cover for each number of popular shingles, or all; 0 covers none
    #[arg(
        long,
        value_name = "N",
        default_value = "50",
        help_heading = "Covering sets"
    )]
    pub(crate) cover_pages: CoverPages,
    /// Number of candidate pages per phrase for the cover of a page, foreign pages first
    #[arg(
        long,
        value_name = "N",
        default_value_t = 256,
        help_heading = "Covering sets"
    )]
    pub(crate) candidates: u32,
    /// Which pages are foreign to a page. A page without a domain, host or ip, such as a local
    /// file, is foreign to all
    ///
    /// Those of another domain and another ip (both), of another ip, or of another domain.
    #[arg(
        long,
        value_name = "BY",
        default_value_t = ForeignBy::Both,
        value_parser = PossibleValuesParser::new(["both", "ip", "domain"])
            .try_map(|by| by.parse::<ForeignBy>()),
        help_heading = "Covering sets"
    )]
    pub(crate) foreign: ForeignBy,

    /// Write figures to this folder, as SVG and CSV
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub(crate) figures: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) top: TopArguments,
    #[command(flatten)]
    pub(crate) figure_format: FigureArguments,
    #[command(flatten)]
    pub(crate) analysis: AnalysisArguments,
}

/// The number of pages to cover; `None` covers all.
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
                .map_err(|_| format!("expected a number or `all`, not `{text}`")),
        }
    }
}

impl PhrasesArguments {
    /// Validates the options and returns the parameters of the analysis.
    fn resolve(&self) -> Result<PhrasesParams, CommandError> {
        let params = PhrasesParams {
            k: self.k,
            min_pages: self.min_pages,
            exact: self.exact,
            collapse: self.collapse.is_yes().then_some(self.rule),
            site: self.site,
            flag_pages: self.flag_pages,
            flag_mean: self.flag_mean,
            flag_deviation: self.flag_deviation,
            cover_from: self.cover_from,
            cover_pages: self.cover_pages.0,
            candidates: self.candidates,
            foreign: self.foreign,
        };
        if params.collapse.is_none() {
            refuse(
                &["rule"],
                "--collapse no does not search for near-duplicates",
            )?;
        }
        if params.cover_pages == Some(0) {
            refuse(
                &["cover_from", "candidates", "foreign"],
                "--cover-pages 0 covers no page",
            )?;
        }
        params.check()?;
        Ok(params)
    }
}

pub(crate) fn run(arguments: &PhrasesArguments) -> Result<ExitCode, CommandError> {
    let params = arguments.resolve()?;
    let corpus = arguments.corpus.open(&arguments.analysis)?;
    let source = Arc::clone(&corpus.source);
    let findings = arguments.analysis.run(&corpus.path, |workplace| {
        Phrases.run(&source, &json!(params), workplace)
    })?;
    if let Some(folder) = &arguments.figures {
        arguments
            .figure_format
            .write(folder, &Phrases.figures(&findings)?)?;
    }
    if !arguments.analysis.export(&findings.table("sites"))? {
        print(&summary(&params, &findings, arguments.top.rows())?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn summary(
    params: &PhrasesParams,
    findings: &Findings,
    top: usize,
) -> Result<String, CommandError> {
    let counts: PhrasesSummary = findings.summary()?;
    let mut text = format!(
        "{} of {} words, {} at least {} pages\n",
        counted(counts.phrases, "popular phrase", "popular phrases"),
        params.k,
        match params.exact {
            true => "on",
            false => "sampled from",
        },
        number(u64::from(params.min_pages))
    );
    let mut lines = Lines::default();
    let removed = match params.collapse {
        Some(_) => format!(
            "without {} duplicates and near-duplicates",
            number(counts.gone)
        ),
        None => "including duplicates and near-duplicates".to_owned(),
    };
    lines.add_with("pages", number(counts.pages), removed);
    lines.add_with(
        "pages of popular phrases",
        number(counts.popular_pages),
        format!("at least {} of 84 shingles are popular", params.cover_from),
    );
    if params.cover_pages != Some(0) {
        let remark = match params.cover_pages {
            Some(most) => format!("at most {most} for each number of popular shingles"),
            None => "all".to_owned(),
        };
        lines.add_with("pages covered", number(counts.covered), remark);
    }
    lines.add_with("sites", number(counts.sites), format!("by {}", params.site));
    lines.add_with(
        "sites flagged",
        number(counts.flagged),
        format!(
            "at least {} pages, mean at least {}, deviation below {}",
            params.flag_pages, params.flag_mean, params.flag_deviation
        ),
    );
    text.push_str(&lines.render());
    let rows = first(findings.rows(PHRASES_TABLE)?, top)?;
    if !rows.is_empty() {
        let cells: Vec<Vec<String>> = rows
            .iter()
            .map(|row| {
                vec![
                    shortened(&row.phrase, 60),
                    number(row.pages),
                    number(row.sites),
                    shortened(&row.page, 40),
                ]
            })
            .collect();
        text.push_str(&table_of(
            &["most popular phrases", "pages", "sites", "for example"],
            &cells,
            counts.phrases,
        ));
    }
    let flagged = first_that(findings.rows(SITES_TABLE)?, top, |row| row.flagged)?;
    if !flagged.is_empty() {
        let cells: Vec<Vec<String>> = flagged
            .iter()
            .map(|row| {
                vec![
                    shortened(&row.site, 60),
                    number(row.pages),
                    format!("{:.1}", row.mean),
                    format!("{:.1}", row.deviation),
                    match row.originality {
                        Some(originality) => percent(originality),
                        None => "–".to_owned(),
                    },
                ]
            })
            .collect();
        text.push_str(&table_of(
            &[
                "largest flagged sites",
                "pages",
                "popular of 84",
                "deviation",
                "original",
            ],
            &cells,
            counts.flagged,
        ));
    }
    text.push_str(&sentences(&advice(params, &counts)));
    Ok(text)
}

/// Explains empty results and limits, and what to try next.
fn advice(params: &PhrasesParams, counts: &PhrasesSummary) -> String {
    let mut text = String::new();
    if counts.pages == 0 {
        text.push_str("No page has text: `cento info` shows why pages were rejected.\n");
    } else if counts.phrases == 0 {
        let lower = if params.min_pages > 2 {
            "a lower --min-pages, "
        } else {
            ""
        };
        let exact = if params.exact {
            ""
        } else {
            "--exact, which counts all phrases, "
        };
        let which = match params.exact {
            true => "is on",
            false => "was sampled from",
        };
        text.push_str(&format!(
            "No phrase {which} at least {} pages. Try {lower}{exact}or a smaller -k.\n",
            params.min_pages
        ));
    }
    if counts.pages > 0 && counts.sites == 0 {
        let advice = match params.site {
            SiteKind::Ip => "The pages have no IP addresses, and so no sites: try --site domain.",
            _ => "The pages have no hosts: index with --base-url, or with a URL field.",
        };
        text.push_str(&format!("{advice}\n"));
    } else if counts.phrases > 0 && counts.flagged == 0 {
        let other = match params.site {
            SiteKind::Ip => "--site host or --site domain",
            SiteKind::Host => "--site ip or --site domain",
            SiteKind::Domain => "--site ip or --site host",
        };
        text.push_str(&format!(
            "No site is flagged. Try {other}, or change --flag-pages, --flag-mean or --flag-deviation.\n"
        ));
    }
    if counts.crowded > 0 {
        text.push_str(&format!(
            "{} phrases are on more than {} other pages, so not all pages were candidates: {} of {} covers could be smaller with a larger --candidates.\n",
            number(counts.crowded),
            number(u64::from(params.candidates)),
            number(counts.cut_covers),
            number(counts.covered)
        ));
    }
    if counts.covered > 0 && params.foreign == ForeignBy::Ip && counts.no_address > 0 {
        text.push_str(&format!(
            "{} of {} pages have no IP address and count as foreign to all others.\n",
            number(counts.no_address),
            number(counts.pages)
        ));
    }
    text
}
