//! `cento quilts`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use cento_find::precedence::date_relation;
use cento_find::quilts::{Foreign, QuiltsParams, QuiltsSummary, Sweep, sample};
use cento_find::{Findings, read_table, row_values};
use cento_report::format::counted;
use cento_scan::Analysis;
use cento_scan::analyses::quilts::Quilts;
use cento_scan::analyses::sweep::Sweeps;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::{Map, Value, json};

use crate::analysis::{AnalysisArguments, Collapse};
use crate::command_error::CommandError;
use crate::corpus_input::{CorpusArguments, OpenedCorpus};
use crate::figures::FigureArguments;
use crate::files::write_file;
use crate::originals::ReadColumns;
use crate::output::{Lines, clean, number, print, print_as, say, table, table_of};
use crate::sample::SampleArguments;
use crate::top::TopArguments;

/// Find pages stitched from patches of other pages
///
/// A page is quilted if at least the share THETA of its distinct word k-grams are patch grams, and
/// at least C foreign pages are needed to cover the patch grams that foreign pages have (Najork
/// 2012). A patch gram occurs on 2 to M pages. All such pages are found with all of their sources,
/// without sampling. The cover is greedy, with ties broken by corpus order. If several pages have
/// the same patch, the earliest by date is named as its source. Shared text does not say who copied
/// from whom; dates and links may.
#[derive(Debug, Args)]
#[command(mut_arg("sample", |sample| sample.long_help(
    "Print this many results, drawn at random\n\nThe results are quilts with their patches; --out and \
     --json write them as JSON Lines"
)))]
#[command(mut_arg("top", |top| top.conflicts_with_all(["json", "sample"])))]
#[command(after_help = "\
Findings are tables in CORPUS/findings/quilts: quilts (each quilted page with its grams, patch
fraction, sources, attributed share and originality) and patches (what a page shares with each
source, its byte offsets in both texts, whether it is attributed, and which page is earlier). --out
and --json export quilts; with --sample, the sampled quilts with their patches; with --sweep, the
number of quilts by definition.

The date of a page is its publication date, else its fetch date. A gram is original if no other page
has it, or only pages with a later date. A gram is attributed if the page links to any foreign page
that has it, or to that page's domain.

Examples:
  cento quilts crawl.cento
  cento quilts crawl.cento --min-source 0.05 --out quilts.csv
  cento quilts crawl.cento --foreign ip --collapse
  cento quilts crawl.cento --sweep k=2..10 --sweep m=10..80:10 --sweep c=2..10 \\
      --sweep theta=0.4..1.0 --figures figures
  cento quilts crawl.cento --sample 100 --seed 1 --out to-judge.jsonl")]
pub(crate) struct QuiltsArguments {
    #[command(flatten)]
    pub(crate) corpus: CorpusArguments,
    /// Words per gram
    #[arg(short, long, value_name = "K", default_value_t = 5)]
    pub(crate) k: u32,
    /// Most pages of a patch gram; a gram on more pages is common
    #[arg(short, long, value_name = "M", default_value_t = 50)]
    pub(crate) m: u32,
    /// Minimum number of sources of a quilt
    #[arg(short, long, value_name = "C", default_value_t = 4)]
    pub(crate) c: u32,
    /// Minimum share of patch grams, above 0 and up to 1
    #[arg(short, long, value_name = "THETA", default_value_t = 0.5)]
    pub(crate) theta: f64,
    /// Which pages are foreign to a page. A page without a domain, host or ip, such as a local
    /// file, is foreign to all
    ///
    /// Only foreign pages can be sources: those of another domain, of another host, of another ip,
    /// or all pages (none).
    #[arg(
        long,
        value_name = "BY",
        default_value_t = Foreign::Domain,
        value_parser = PossibleValuesParser::new(["domain", "host", "ip", "none"])
            .try_map(|by| by.parse::<Foreign>())
    )]
    pub(crate) foreign: Foreign,
    /// Count only sources that cover at least this additional share of the page's patch grams
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(crate) min_source: f64,
    /// Count duplicates and near-duplicates as one page: yes or no
    ///
    /// `cento copies` finds them. Without a value: yes.
    #[arg(
        long,
        value_name = "YES|NO",
        default_value = "no",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "yes"
    )]
    pub(crate) collapse: Collapse,
    /// Count the findings for other values of one parameter
    ///
    /// Also counts quilts for k=2..10, m=10..80:10, c=2,4,8 or theta=0.4..1.0. May be repeated;
    /// each value of k takes a pass over the texts. --out and --json then export the counts.
    #[arg(long, value_name = "NAME=VALUES", conflicts_with = "sample")]
    pub(crate) sweep: Vec<Sweep>,
    /// Write figures to this folder, as SVG and CSV
    ///
    /// With --sweep: a figure for each sweep.
    #[arg(
        long,
        value_name = "FOLDER",
        requires = "sweep",
        help_heading = "Output"
    )]
    pub(crate) figures: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) figure_format: FigureArguments,
    #[command(flatten)]
    pub(crate) top: TopArguments,
    #[command(flatten)]
    pub(crate) sampling: SampleArguments,
    #[command(flatten)]
    pub(crate) analysis: AnalysisArguments,
}

impl QuiltsArguments {
    /// Validates the options and returns the parameters of the analysis.
    fn resolve(&self) -> Result<QuiltsParams, CommandError> {
        let params = QuiltsParams {
            k: self.k,
            m: self.m,
            c: self.c,
            theta: self.theta,
            foreign: self.foreign,
            min_share: self.min_source,
            collapse: self.collapse.is_yes(),
        };
        params.check()?;
        check_sample(self)?;
        Ok(params)
    }
}

/// The seed of `--sample` without `--seed`.
const SEED: u64 = 1;

pub(crate) fn run(arguments: &QuiltsArguments) -> Result<ExitCode, CommandError> {
    let params = arguments.resolve()?;
    let columns = match params.collapse {
        true => ReadColumns::Texts,
        false => ReadColumns::TextsWithoutDigests,
    };
    let corpus = arguments
        .corpus
        .open_columns(columns, &arguments.analysis)?;
    let source = Arc::clone(&corpus.source);
    let mut swept = None;
    let findings = arguments.analysis.run(&corpus.path, |workplace| {
        let workplace = workplace.with_less_memory(source.bytes_in_memory());
        let findings = Quilts.run(&source, &json!(params), &workplace)?;
        if !arguments.sweep.is_empty() {
            let settings = json!({ "pivot": params, "sweeps": arguments.sweep });
            swept = Some(Sweeps.run(&source, &settings, &workplace)?);
        }
        Ok(findings)
    })?;
    if let (Some(folder), Some(swept)) = (&arguments.figures, &swept) {
        arguments
            .figure_format
            .write(folder, &Sweeps.figures(swept)?)?;
    }
    if let Some(count) = arguments.sampling.sample {
        let seed = arguments.sampling.seed.unwrap_or(SEED);
        let sampled = sampled(&findings, count, seed)?;
        if sampled.is_empty() && count > 0 {
            say(
                "note: there are no quilts to draw a sample from; without --sample, the summary says why",
            );
        }
        let lines = || sampled.iter().map(|quilt| format!("{quilt}\n"));
        if let Some(out) = &arguments.analysis.out {
            write_file(out, lines().collect::<String>().as_bytes())?;
        }
        let text: String = match arguments.analysis.json {
            true => lines().collect(),
            false => {
                let counts: QuiltsSummary = findings.summary()?;
                let described = |quilt| described(quilt, counts.linking > 0);
                sampled.iter().map(described).collect()
            }
        };
        print_as(arguments.analysis.json, &text)?;
        return Ok(ExitCode::SUCCESS);
    }
    // A sweep is about the number of quilts by definition, so these are exported.
    let exported = match &swept {
        Some(swept) => swept.table("sweep"),
        None => findings.table("quilts"),
    };
    if !arguments.analysis.export(&exported)? {
        print(&summary(arguments, &corpus, &findings)?)?;
        if let Some(swept) = &swept {
            print(&sweep_table(swept)?)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Fails if a sample is to be written in a format that cannot hold the patches of a quilt.
fn check_sample(arguments: &QuiltsArguments) -> Result<(), CommandError> {
    match &arguments.analysis.out {
        Some(out)
            if arguments.sampling.sample.is_some()
                && out.extension().is_none_or(|end| end != "jsonl") =>
        {
            Err(CommandError::usage(
                format!(
                    "{}: sampled quilts have patches and are written as JSON Lines",
                    out.display()
                ),
                "use a file name that ends in .jsonl, or omit --sample to export all quilts",
            ))
        }
        _ => Ok(()),
    }
}

/// Returns the rows of a table that satisfy `wanted`, as JSON objects.
fn objects(
    findings: &Findings,
    name: &str,
    wanted: impl Fn(&Map<String, Value>) -> bool,
) -> Result<Vec<Map<String, Value>>, CommandError> {
    let mut objects = Vec::new();
    for batch in read_table(&findings.table(name))? {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            let values = row_values(&batch, row);
            let object = values.map(|(name, value)| (name.to_owned(), value));
            let object: Map<String, Value> = object.collect();
            if wanted(&object) {
                objects.push(object);
            }
        }
    }
    Ok(objects)
}

/// Returns a random sample of quilts, each with its patches.
fn sampled(findings: &Findings, count: usize, seed: u64) -> Result<Vec<Value>, CommandError> {
    let ids = sample(findings, count, seed)?;
    let id = |row: &Map<String, Value>| row.get("page_id").and_then(Value::as_u64);
    let wanted = |row: &Map<String, Value>| id(row).is_some_and(|id| ids.contains(&id));
    let mut patches: BTreeMap<Option<u64>, Vec<Value>> = BTreeMap::new();
    for mut patch in objects(findings, "patches", wanted)? {
        let page = id(&patch);
        patch.remove("page_id");
        patch.remove("page");
        patches.entry(page).or_default().push(Value::Object(patch));
    }
    let mut quilts = objects(findings, "quilts", wanted)?;
    for quilt in &mut quilts {
        let of_page = patches.remove(&id(quilt)).unwrap_or_default();
        quilt.insert("patches".to_owned(), json!(of_page));
    }
    Ok(quilts.into_iter().map(Value::Object).collect())
}

fn text_of(value: &Value) -> String {
    clean(value.as_str().unwrap_or_default()).into_owned()
}

fn percent(value: &Value) -> String {
    let share = value.as_f64();
    share.map_or("–".to_owned(), cento_report::format::percent)
}

/// Renders a quilt as text; without its attribution if no page has links.
fn described(quilt: &Value, has_links: bool) -> String {
    let mut text = format!(
        "{}\n  {} of the grams are patch grams{}, {} are on no other page or only on pages dated later\n",
        text_of(&quilt["page"]),
        percent(&quilt["patch_fraction"]),
        match (quilt["foreign_share"].is_null(), has_links) {
            (true, false) => String::new(),
            (false, false) => {
                format!(" ({} of them foreign)", percent(&quilt["foreign_share"]))
            }
            (true, true) => format!(
                " ({} of them attributed)",
                percent(&quilt["attributed_share"])
            ),
            (false, true) => format!(
                " ({} of them foreign, {} of these attributed)",
                percent(&quilt["foreign_share"]),
                percent(&quilt["attributed_share"])
            ),
        },
        percent(&quilt["originality"]),
    );
    let patches = quilt["patches"].as_array().map_or(&[][..], Vec::as_slice);
    for patch in patches.iter().take(10) {
        let mut about = Vec::new();
        let dated_by = |side: &str| text_of(&patch[side]);
        let (page_by, source_by) = (dated_by("page_dated_by"), dated_by("source_dated_by"));
        let relation = |is_earlier| date_relation(&source_by, &page_by, is_earlier, "the page");
        match patch["earlier"].as_str() {
            Some("page") => about.push(relation(false)),
            Some("source") => about.push(relation(true)),
            Some("same") => about.push("same date".to_owned()),
            _ => {}
        }
        if patch["attributed"] == true {
            about.push("attributed".to_owned());
        }
        let share = percent(&patch["share"]);
        let about = match about.is_empty() {
            true => String::new(),
            false => format!(" ({})", about.join(", ")),
        };
        text.push_str(&format!(
            "  {share:>8}  {}{about}\n",
            text_of(&patch["source"])
        ));
    }
    if patches.len() > 10 {
        text.push_str(&format!("            and {} more\n", patches.len() - 10));
    }
    text
}

fn summary(
    arguments: &QuiltsArguments,
    corpus: &OpenedCorpus,
    findings: &Findings,
) -> Result<String, CommandError> {
    let counts: QuiltsSummary = findings.summary()?;
    let mut text = format!(
        "{} of {} {} quilted (k={}, m={}, c={}, theta={})\n",
        number(counts.quilts),
        counted(counts.pages, "page", "pages"),
        if counts.pages == 1 || counts.quilts == 1 {
            "is"
        } else {
            "are"
        },
        arguments.k,
        arguments.m,
        arguments.c,
        arguments.theta
    );
    let mut lines = Lines::default();
    let mean = counts.patches as f64 / counts.quilts.max(1) as f64;
    let kind = match arguments.foreign {
        Foreign::None => "on any page".to_owned(),
        foreign => format!("foreign by {foreign}"),
    };
    if counts.quilts > 0 {
        lines.add_with(
            "sources",
            format!("{mean:.2}"),
            format!("per quilt on average, {kind}"),
        );
        let dated = counts.earlier_sources + counts.later_sources;
        lines.add_with(
            "earlier sources",
            number(counts.earlier_sources),
            format!(
                "of {} where dates decide, of {} in all",
                number(dated),
                number(counts.patches)
            ),
        );
        lines.add_with(
            "dated first",
            number(counts.first_quilts),
            "more than half of their shared grams are otherwise only on pages dated later",
        );
        match counts.linking {
            0 => lines.add_with(
                "attributed",
                "unknown",
                "the input has no links, as plain text has none",
            ),
            _ => lines.add_with(
                "attributed",
                number(counts.attributed_quilts),
                "link to pages or domains with at least half of their foreign patches",
            ),
        }
    }
    lines.add_with(
        "patchy pages",
        number(counts.patchy),
        format!(
            "at least {} of the grams are patch grams, from any number of sources",
            percent(&json!(arguments.theta))
        ),
    );
    if arguments.collapse.is_yes() {
        lines.add_with(
            "removed",
            number(counts.collapsed),
            "duplicates and near-duplicates",
        );
    }
    if counts.of_no_server > 0 {
        let note = format!(
            "pages without {}: foreign to all others",
            match arguments.foreign {
                Foreign::Ip => "an IP address".to_owned(),
                other => format!("a {other}"),
            }
        );
        lines.add_with("no server", number(counts.of_no_server), note);
    }
    text.push_str(&lines.render());
    text.push_str(&largest(findings, arguments.top.rows(), &counts)?);
    if counts.quilts == 0 {
        let advice = match counts.patchy {
            0 if counts.patch_grams == 0 => {
                format!("No gram is on 2 to {} pages.", number(arguments.m.into()))
            }
            0 => "No page has a large enough share of patch grams: try a lower --theta.".to_owned(),
            _ if arguments.collapse.is_yes() => {
                "No patchy page needs enough sources: try a lower -c or a wider --foreign."
                    .to_owned()
            }
            // A copy of the whole page is a cover of one page.
            _ => "No patchy page needs enough sources: try a lower -c, a wider --foreign, or \
                  --collapse to ignore copies of whole pages."
                .to_owned(),
        };
        text.push_str(&format!("{advice}\n"));
    }
    text.push_str(&corpus.findings_line(findings));
    Ok(text)
}

/// Renders the quilts with the most sources.
fn largest(
    findings: &Findings,
    top: usize,
    counts: &QuiltsSummary,
) -> Result<String, CommandError> {
    let mut rows: Vec<(u64, Vec<String>)> = Vec::new();
    let shorten = |rows: &mut Vec<(u64, Vec<String>)>| {
        // The sort is stable: ties are kept in corpus order.
        rows.sort_by_key(|row| std::cmp::Reverse(row.0));
        rows.truncate(top);
    };
    for batch in read_table(&findings.table("quilts"))? {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            let values: BTreeMap<&str, Value> = row_values(&batch, row).collect();
            let value = |name: &str| values.get(name).cloned().unwrap_or(Value::Null);
            let sources = value("sources").as_u64().unwrap_or(0);
            // Of all grams, like the patch fraction.
            let foreign = match (&value("foreign_share"), &value("patch_fraction")) {
                (Value::Number(share), Value::Number(patches)) => {
                    json!(share.as_f64().unwrap_or(0.0) * patches.as_f64().unwrap_or(0.0))
                }
                _ => Value::Null,
            };
            let cells = vec![
                text_of(&value("page")),
                number(sources),
                percent(&value("patch_fraction")),
                percent(&foreign),
                match counts.linking {
                    0 => "unknown".to_owned(),
                    _ => percent(&value("attributed_share")),
                },
            ];
            rows.push((sources, cells));
            if rows.len() > top.saturating_add(1000) {
                shorten(&mut rows);
            }
        }
    }
    shorten(&mut rows);
    if rows.is_empty() {
        return Ok(String::new());
    }
    let rows: Vec<Vec<String>> = rows.into_iter().map(|(_, cells)| cells).collect();
    Ok(table_of(
        &[
            "quilts with the most sources",
            "sources",
            "patches",
            "foreign",
            "attributed",
        ],
        &rows,
        counts.quilts,
    ))
}

/// Renders the number of quilts by definition, as in Table 1 of the paper.
fn sweep_table(swept: &Findings) -> Result<String, CommandError> {
    let rows: Vec<Vec<String>> = objects(swept, "sweep", |_| true)?
        .iter()
        .map(|row| {
            let value = |name: &str| row.get(name).cloned().unwrap_or(Value::Null);
            let mut cells = vec![text_of(&value("swept"))];
            cells.extend(["k", "m", "c", "theta"].map(|name| value(name).to_string()));
            cells.push(number(value("quilts").as_u64().unwrap_or(0)));
            let sources = value("sources").as_f64();
            cells.push(sources.map_or("–".to_owned(), |sources| format!("{sources:.2}")));
            cells
        })
        .collect();
    let heading = ["sweep of", "k", "m", "c", "theta", "quilts", "sources"];
    Ok(table(&heading, &rows))
}
