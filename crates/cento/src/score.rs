//! `cento score`.

use std::process::ExitCode;

use cento_synth::{Score, ScoreLine};
use serde_json::json;

use crate::arguments::ScoreArguments;
use crate::failure::Failure;
use crate::output::{clean, number, print, say, table};

pub(crate) fn run(arguments: &ScoreArguments) -> Result<ExitCode, Failure> {
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
        let ratio =
            |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.4}"));
        let rows: Vec<Vec<String>> = scored
            .lines
            .iter()
            .map(|line| {
                let name = format!("{} {}", line.analysis, line.what);
                let told = told_apart(line, &scored.lines);
                let mut row = vec![clean(&format!("{name}{told}")).into_owned()];
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
    print(&text)?;
    Ok(ExitCode::from(u8::from(scored.lines.is_empty())))
}

/// What tells a run from others of the same analysis: the parameters that they differ in, or its
/// name; nothing if there is no other.
fn told_apart(line: &ScoreLine, lines: &[ScoreLine]) -> String {
    let others: Vec<&ScoreLine> = lines
        .iter()
        .filter(|other| other.analysis == line.analysis && other.run != line.run)
        .collect();
    if others.is_empty() {
        return String::new();
    }
    let parameters = line.parameters.iter();
    let differing: Vec<String> = parameters
        .filter(|(name, value)| {
            let mut others = others.iter();
            others.any(|other| other.parameters.get(*name) != Some(value))
        })
        .filter(|(_, value)| !value.is_object() && !value.is_array())
        .map(|(name, value)| match value.as_str() {
            Some(word) => format!("{name}={word}"),
            None => format!("{name}={value}"),
        })
        .collect();
    match differing.is_empty() {
        true => format!(" ({})", line.run),
        false => format!(" ({})", differing.join(", ")),
    }
}
