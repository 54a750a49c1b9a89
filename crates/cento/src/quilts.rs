//! `cento quilts`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use cento_find::quilts::{Foreign, QuiltsParams, QuiltsSummary, Sweep, sample};
use cento_find::{Findings, read_table, row_values};
use cento_scan::Analysis;
use cento_scan::analyses::quilts::Quilts;
use cento_scan::analyses::sweep::Sweeps;
use clap::Args;
use serde_json::{Map, Value, json};

use crate::analysis::{AnalysisArguments, FigureArguments, cannot_write, open_source};
use crate::failure::Failure;
use crate::output::{Lines, clean, number, print, table};

/// Find pages stitched from patches of other pages
///
/// A page is quilted if at least the share THETA of its distinct word k-grams are patch grams,
/// which are those on 2 to M pages, and if it takes at least C other pages to cover these (Najork
/// 2012). Every such page is found, with every source: nothing is sampled. The cover is greedy,
/// with ties broken by the order of the corpus; of pages that have the same patch, the earliest by
/// date is named as its source. That others have a page's words does not say who took them from
/// whom: dates and links may.
#[derive(Debug, Args)]
#[command(after_help = "\
Findings are tables in CORPUS/findings/quilts: quilts (each quilted page with its grams, patch fraction,
sources, attributed share and originality) and patches (what a page shares with each source, where it
stands in both texts in bytes, whether it is attributed, and which of the two is earlier). --out and
--json give quilts; with --sample those that were drawn, each with its patches; with --sweep the table
of definitions.

The date of a page is when it was published, else when it was fetched. A page is original in the grams
that are on no other page, or by their dates on later ones only. A gram is attributed if the page links to
any foreign page that has it, or to that page's domain.

Examples:
  cento quilts crawl.cento
  cento quilts crawl.cento --min-share 0.05 --out quilts.csv
  cento quilts crawl.cento --foreign ip --collapse
  cento quilts crawl.cento --sweep k=2..10 --sweep m=10..80:10 --sweep c=2..10 \\
      --sweep theta=0.4..1.0 --figures figures
  cento quilts crawl.cento --sample 100 --seed 1 --out to-judge.jsonl")]
pub(crate) struct QuiltsArguments {
    /// The corpus
    #[arg(value_name = "CORPUS")]
    pub(crate) corpus: PathBuf,
    /// Words of a gram
    #[arg(short, long, value_name = "K", default_value_t = 5)]
    pub(crate) k: u32,
    /// A gram on more pages than this is common, and no patch
    #[arg(short, long, value_name = "M", default_value_t = 50)]
    pub(crate) m: u32,
    /// The fewest sources of a quilt
    #[arg(short, long, value_name = "C", default_value_t = 4)]
    pub(crate) c: u32,
    /// The least share of patch grams, above 0 and up to 1
    #[arg(short, long, value_name = "THETA", default_value_t = 0.5)]
    pub(crate) theta: f64,
    /// Which pages can be sources: those of another domain, host or ip, or all (none). A page of
    /// which it is not known, as with files, is foreign to all
    #[arg(long, value_name = "BY", default_value_t = Foreign::Domain)]
    pub(crate) foreign: Foreign,
    /// Count only sources that add at least this share of the page's patch grams
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(crate) min_share: f64,
    /// Leave out copies and near-copies first, as `cento copies` finds them
    #[arg(long)]
    pub(crate) collapse: bool,
    /// Also count quilts for other values of one parameter, the others as they are: k=2..10,
    /// m=10..80:10, c=2,4,8, theta=0.4..1.0. May be given several times; each value of k takes a
    /// pass over the texts. --out and --json then give the counts
    #[arg(long, value_name = "NAME=VALUES", conflicts_with = "sample")]
    pub(crate) sweep: Vec<Sweep>,
    /// Draw the sweeps, as DIR/NAME.svg with the numbers in DIR/NAME.csv
    #[arg(long, value_name = "DIR", requires = "sweep", help_heading = "Output")]
    pub(crate) figures: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) figure_format: FigureArguments,
    /// Give so many quilts, drawn at random, with their patches: print them, or write them as --out
    /// and --json say
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub(crate) sample: Option<usize>,
    /// The seed of the sample
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        requires = "sample",
        help_heading = "Output"
    )]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) analysis: AnalysisArguments,
}

pub(crate) fn run(arguments: &QuiltsArguments) -> Result<ExitCode, Failure> {
    let params = QuiltsParams {
        k: arguments.k,
        m: arguments.m,
        c: arguments.c,
        theta: arguments.theta,
        foreign: arguments.foreign,
        min_share: arguments.min_share,
        collapse: arguments.collapse,
    };
    params.check()?;
    check_sample(arguments)?;
    let source = Arc::new(open_source(
        &[&arguments.corpus],
        arguments.analysis.partial,
    )?);
    let mut swept = None;
    let findings = arguments.analysis.run(&arguments.corpus, |workplace| {
        let findings = Quilts.run(&source, &json!(params), workplace)?;
        if !arguments.sweep.is_empty() {
            let asked = json!({ "pivot": params, "sweeps": arguments.sweep });
            swept = Some(Sweeps.run(&source, &asked, workplace)?);
        }
        Ok(findings)
    })?;
    if let (Some(folder), Some(swept)) = (&arguments.figures, &swept) {
        arguments
            .figure_format
            .write(folder, &Sweeps.figures(swept)?)?;
    }
    if let Some(count) = arguments.sample {
        let drawn = drawn(&findings, count, arguments.seed)?;
        let lines = || drawn.iter().map(|quilt| format!("{quilt}\n"));
        if let Some(out) = &arguments.analysis.out {
            std::fs::write(out, lines().collect::<String>())
                .map_err(|error| cannot_write(out, &error))?;
        }
        let text: String = match arguments.analysis.json {
            true => lines().collect(),
            false => drawn.iter().map(described).collect(),
        };
        print(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    // Who asks for other definitions wants to know how many quilts there are by each.
    let asked = match &swept {
        Some(swept) => swept.table("sweep"),
        None => findings.table("quilts"),
    };
    if !arguments.analysis.give(&asked)? {
        print(&summary(arguments, &findings)?)?;
        if let Some(swept) = &swept {
            print(&sweep_table(swept)?)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A quilt has a list of patches, which only lines of JSON can hold.
fn check_sample(arguments: &QuiltsArguments) -> Result<(), Failure> {
    match &arguments.analysis.out {
        Some(out)
            if arguments.sample.is_some() && out.extension().is_none_or(|end| end != "jsonl") =>
        {
            Err(Failure::usage(
                format!(
                    "{}: quilts are drawn with their patches, as lines of JSON",
                    out.display()
                ),
                "end its name with .jsonl, or leave --sample out for a table of all quilts",
            ))
        }
        _ => Ok(()),
    }
}

/// The rows of a table as JSON objects, of those pages for which `wanted` holds.
fn objects(
    findings: &Findings,
    name: &str,
    wanted: impl Fn(&Map<String, Value>) -> bool,
) -> Result<Vec<Map<String, Value>>, Failure> {
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

/// A sample of quilts, each with its patches.
fn drawn(findings: &Findings, count: usize, seed: u64) -> Result<Vec<Value>, Failure> {
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
    value
        .as_f64()
        .map_or("–".to_owned(), |share| format!("{:.0}%", 100.0 * share))
}

/// A quilt for people.
fn described(quilt: &Value) -> String {
    let mut text = format!(
        "{}\n  {} of its grams are patches{}, {} original\n",
        text_of(&quilt["page"]),
        percent(&quilt["patch_fraction"]),
        match quilt["foreign_share"].is_null() {
            true => format!(
                ", {} of these attributed",
                percent(&quilt["attributed_share"])
            ),
            false => format!(
                ", {} of these foreign, and {} of the foreign ones attributed",
                percent(&quilt["foreign_share"]),
                percent(&quilt["attributed_share"])
            ),
        },
        percent(&quilt["originality"]),
    );
    let patches = quilt["patches"].as_array().map_or(&[][..], Vec::as_slice);
    for patch in patches.iter().take(10) {
        let mut about = Vec::new();
        match patch["earlier"].as_str() {
            Some("page") => about.push("dated later"),
            Some("source") => about.push("dated earlier"),
            Some("same") => about.push("same date"),
            _ => {}
        }
        if patch["attributed"] == true {
            about.push("attributed");
        }
        let share = percent(&patch["share"]);
        let about = match about.is_empty() {
            true => String::new(),
            false => format!(" ({})", about.join(", ")),
        };
        text.push_str(&format!(
            "  {share:>5}  {}{about}\n",
            text_of(&patch["source"])
        ));
    }
    if patches.len() > 10 {
        text.push_str(&format!("         and {} more\n", patches.len() - 10));
    }
    text
}

fn summary(arguments: &QuiltsArguments, findings: &Findings) -> Result<String, Failure> {
    let counted: QuiltsSummary = findings.summary()?;
    let mut text = format!(
        "{} of {} pages are ({}, {}, {}, {})-quilted\n",
        number(counted.quilts),
        number(counted.pages),
        arguments.k,
        arguments.m,
        arguments.c,
        arguments.theta
    );
    let mut lines = Lines::default();
    let mean = counted.patches as f64 / counted.quilts.max(1) as f64;
    let kind = match arguments.foreign {
        Foreign::None => "on any page".to_owned(),
        foreign => format!("foreign by {foreign}"),
    };
    if counted.quilts > 0 {
        lines.add_with(
            "sources",
            format!("{mean:.2}"),
            format!("for each of them on average, {kind}"),
        );
        let dated = counted.earlier_sources + counted.later_sources + counted.same_dates;
        lines.add_with(
            "earlier sources",
            number(counted.earlier_sources),
            format!(
                "of {} where both pages have a date, and {} in all",
                number(dated),
                number(counted.patches)
            ),
        );
        lines.add_with(
            "first themselves",
            number(counted.first_quilts),
            "had over half of what they share before all others, by the dates",
        );
        lines.add_with(
            "attributed",
            number(counted.attributed_quilts),
            "link to foreign pages or domains with half of their foreign patches or more",
        );
    }
    lines.add_with(
        "patchy pages",
        number(counted.patchy),
        "with enough patch grams, from however many sources",
    );
    if arguments.collapse {
        lines.add_with(
            "left out",
            number(counted.collapsed),
            "copies and near-copies",
        );
    }
    if counted.of_no_server > 0 {
        let note = format!(
            "pages whose {} is not known: foreign to all others",
            arguments.foreign
        );
        lines.add_with("no server", number(counted.of_no_server), note);
    }
    text.push_str(&lines.render());
    text.push_str(&largest(findings)?);
    if counted.quilts == 0 {
        text.push_str(match counted.patchy {
            0 if counted.patch_grams == 0 => "no gram is on several pages and on no more than M\n",
            0 => "no page has so large a share of patch grams: --theta lowers it\n",
            _ => "none of the patchy pages needs so many sources: -c lowers it, --foreign widens it\n",
        });
    }
    text.push_str(&format!(
        "{} {}\n",
        if findings.known {
            "found before, in"
        } else {
            "in"
        },
        clean(&findings.path.display().to_string())
    ));
    Ok(text)
}

/// The quilts with the most sources.
fn largest(findings: &Findings) -> Result<String, Failure> {
    let mut rows: Vec<(u64, Vec<String>)> = Vec::new();
    let shorten = |rows: &mut Vec<(u64, Vec<String>)>| {
        // A stable sort: of equals those that come first in the corpus stay.
        rows.sort_by_key(|row| std::cmp::Reverse(row.0));
        rows.truncate(5);
    };
    for batch in read_table(&findings.table("quilts"))? {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            let values: BTreeMap<&str, Value> = row_values(&batch, row).collect();
            let value = |name: &str| values.get(name).cloned().unwrap_or(Value::Null);
            let sources = value("sources").as_u64().unwrap_or(0);
            let cells = vec![
                text_of(&value("page")),
                number(sources),
                percent(&value("patch_fraction")),
                percent(&value("attributed_share")),
            ];
            rows.push((sources, cells));
            if rows.len() > 1000 {
                shorten(&mut rows);
            }
        }
    }
    shorten(&mut rows);
    if rows.is_empty() {
        return Ok(String::new());
    }
    let rows: Vec<Vec<String>> = rows.into_iter().map(|(_, cells)| cells).collect();
    Ok(table(
        &["most sources", "sources", "patches", "attributed"],
        &rows,
    ))
}

/// The paper's Table 1.
fn sweep_table(swept: &Findings) -> Result<String, Failure> {
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
