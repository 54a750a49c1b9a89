//! `cento score`.

use std::process::ExitCode;

use cento_synth::Score;
use serde_json::json;

use crate::arguments::ScoreArguments;
use crate::failure::Failure;
use crate::output::{clean, number, print, table};

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
        eprintln!("note: {}", clean(note));
    }
    let mut text = String::new();
    if arguments.json {
        for line in &scored.lines {
            let object = json!({
                "analysis": line.analysis, "what": line.what, "right": line.right, "wrong": line.wrong,
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
                let mut row = vec![format!("{} {}", clean(&line.analysis), line.what)];
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
