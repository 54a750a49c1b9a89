//! `cento score`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use cento_synth::{Score, ScoreLine};
use clap::Args;
use serde_json::{Value, json};

use crate::command_error::CommandError;
use crate::output::{clean, number, print_as, say, table};

/// Score findings against the truth of a synthetic crawl
///
/// Prints precision, recall and F1 of each analysis. FINDINGS is the folder of a run
/// (NAME.cento/findings/ANALYSIS/RUN, with a run.json), a folder above it, or one table (.parquet,
/// .jsonl or .csv).
#[derive(Debug, Args)]
#[command(after_help = "\
Required columns. A page is identified by its URL, or by its id in a column of the same name with
the suffix _id (page_id, of_id, source_id):
  copies    pairs      page, of [, resemblance]   a page and what it copies; params: resemblance
            near_pairs page, of [, resemblance]   optional: pages that resemble each other
  overlap   pairs      page, of                   pages that share chunks; params: chunk, threshold
  overlap-servers  servers  server, of            hosts or domains that share chunks
  reuse     pairs      page, of                   pages that share text
  passages  passages   a, b, a_begin, a_end, b_begin, b_end [, earlier]         in bytes
            or         page, source, begin, end, source_begin, source_end
  quilts    patches    page, source [, share] [, attributed]                   params: min_share
  phrases   sites      site [, flagged]           hosts, domains or addresses
  discover  labels     page [, text]              an example page of each label
  detect    matches    page, original             the original by URL or by file
            sites      site [, flagged]           as for bad-sites
            neighbourhoods  site [, flagged]      prefixes: the folder of the bad pages among them
  bad-sites sites      site [, flagged]           hosts, domains, addresses or URL prefixes
  aliases   aliases    alias, of                  URLs, or hosts

If an analysis has several runs, each line shows the parameters in which they differ. A table that
was modified after its run is rejected.

Known reuse that an analysis is not meant to find (pages of one template, spam among quilts) counts
as `known`, neither right nor wrong. Results that follow from the truth (two copies of one page) are
right. `templates` counts the wrong results about two pages of one template.
A row that is repeated counts once. Matches of labels that belong to no originals are not scored.

Examples:
  cento score crawl.cento/findings --truth crawl/truth.jsonl
  cento score pairs.parquet --as copies --truth crawl/truth.jsonl --corpus crawl.cento")]
pub(crate) struct ScoreArguments {
    /// The folder of a run, a folder of runs, or one table
    #[arg(value_name = "FINDINGS", required = true)]
    pub(crate) findings: Vec<PathBuf>,
    /// What is to be found: the truth.jsonl of `cento synth`
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: PathBuf,
    /// The corpus that page ids refer to [default: the one that contains the findings]
    #[arg(long, value_name = "CORPUS")]
    pub(crate) corpus: Option<PathBuf>,
    /// Analysis that a table without a run.json comes from: one of those below
    #[arg(long = "as", value_name = "ANALYSIS")]
    pub(crate) analysis: Option<String>,
    /// Minimum resemblance of near-duplicates, 0.1 to 1; 1 finds only exact duplicates [default:
    /// that of the run, else 0.8]
    #[arg(long, value_name = "R")]
    pub(crate) resemblance: Option<f64>,
    /// Print JSON, one object per line
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(arguments: &ScoreArguments) -> Result<ExitCode, CommandError> {
    let scored = Score {
        findings: &arguments.findings,
        truth: &arguments.truth,
        corpus: arguments.corpus.as_deref(),
        analysis: arguments.analysis.as_deref(),
        resemblance: arguments.resemblance,
    }
    .run()?;
    for note in &scored.notes {
        say(&format!("note: {}", clean(note)));
    }
    let mut text = String::new();
    if arguments.json {
        for line in &scored.lines {
            let object = json!({
                "analysis": line.analysis, "what": line.what, "run": line.run, "parameters": line.parameters, "right": line.right, "wrong": line.wrong,
                "templates": line.templates, "known": line.known, "expected": line.expected, "found": line.found,
                "precision": line.precision(), "recall": line.recall(), "f1": line.f1(),
            });
            text.push_str(&format!("{object}\n"));
        }
    } else if !scored.lines.is_empty() {
        let rows: Vec<Vec<String>> = scored
            .lines
            .iter()
            .map(|line| {
                let name = format!("{} {}", line.analysis, line.what);
                let suffix = distinction(line, &scored.lines);
                let mut row = vec![clean(&format!("{name}{suffix}")).into_owned()];
                row.extend(
                    [
                        line.right,
                        line.wrong,
                        line.templates,
                        line.known,
                        line.expected,
                        line.found,
                    ]
                    .map(number),
                );
                row.extend([line.precision(), line.recall(), line.f1()].map(ratio));
                row
            })
            .collect();
        let heading = [
            "analysis",
            "right",
            "wrong",
            "templates",
            "known",
            "expected",
            "found",
            "precision",
            "recall",
            "F1",
        ];
        text = table(&heading, &rows);
    }
    print_as(arguments.json, &text)?;
    Ok(ExitCode::from(u8::from(scored.lines.is_empty())))
}

/// Returns a ratio with four decimals; one that is not 0 or 1 is not rounded to it.
fn ratio(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(value) if value < 1.0 && value > 0.999_95 => ">0.9999".to_owned(),
        Some(value) if value > 0.0 && value < 0.000_05 => "<0.0001".to_owned(),
        Some(value) => format!("{value:.4}"),
    }
}

/// Returns the parameters of a run by name. Those in an object have its name before theirs.
fn parameters(line: &ScoreLine) -> BTreeMap<String, String> {
    fn add(name: &str, value: &Value, into: &mut BTreeMap<String, String>) {
        match value {
            Value::Object(entries) => {
                for (below, value) in entries {
                    add(&format!("{name}.{below}"), value, into);
                }
            }
            Value::String(word) => drop(into.insert(name.to_owned(), word.clone())),
            value => drop(into.insert(name.to_owned(), value.to_string())),
        }
    }
    let mut all = BTreeMap::new();
    for (name, value) in &line.parameters {
        add(name, value, &mut all);
    }
    all
}

/// Returns what distinguishes a run from others of the same analysis: the parameters in which they
/// differ, else its name. Empty if there is no other run.
fn distinction(line: &ScoreLine, lines: &[ScoreLine]) -> String {
    let others: Vec<&ScoreLine> = lines
        .iter()
        .filter(|other| other.analysis == line.analysis && other.run != line.run)
        .collect();
    if others.is_empty() {
        return String::new();
    }
    let own = parameters(line);
    let others: Vec<_> = others.iter().map(|other| parameters(other)).collect();
    let differing: Vec<(&String, &String)> = own
        .iter()
        .filter(|(name, value)| others.iter().any(|other| other.get(*name) != Some(value)))
        .collect();
    let is_digest = |name: &str| name.ends_with("blake3");
    // A digest says nothing to people, and follows from what it is of.
    let mut shown = differing;
    shown.retain(|(name, _)| !is_digest(name));
    let is_like = |other: &BTreeMap<String, String>| {
        let mut shown = shown.iter();
        shown.all(|(name, value)| other.get(*name) == Some(*value))
    };
    let mut parts: Vec<String> = shown
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    if others.iter().any(is_like) {
        parts.push(line.run.clone());
    }
    format!(" ({})", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_below_one_is_not_shown_as_one() {
        assert_eq!(ratio(Some(158_798.0 / 158_800.0)), ">0.9999");
        assert_eq!(ratio(Some(1e-9)), "<0.0001");
        for (value, expected) in [(1.0, "1.0000"), (0.0, "0.0000"), (0.9999, "0.9999")] {
            assert_eq!(ratio(Some(value)), expected);
        }
        assert_eq!(ratio(None), "-");
    }

    #[test]
    fn runs_are_distinguished_by_parameters_at_any_depth() {
        let line = |run: &str, count: u64, digest: &str| ScoreLine {
            analysis: "detect".to_owned(),
            run: run.to_owned(),
            parameters: BTreeMap::from([
                ("depth".to_owned(), Value::Null),
                (
                    "labels".to_owned(),
                    json!({ "blake3": digest, "count": count }),
                ),
            ]),
            ..ScoreLine::default()
        };
        let lines = [line("a", 1, "x"), line("b", 48, "y"), line("c", 48, "z")];
        assert_eq!(distinction(&lines[0], &lines), " (labels.count=1)");
        assert_eq!(distinction(&lines[0], &lines[..1]), "");
        // Only the digests of two runs differ.
        assert_eq!(distinction(&lines[1], &lines[1..]), " (b)");
        assert_eq!(distinction(&lines[1], &lines), " (labels.count=48, b)");
    }
}
