//! Exports all verdicts: one row for each judge and item.

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_DISPOSITION;
use axum::response::Response;
use serde_json::json;

use super::log::JudgingSession;
use crate::respond::{NDJSON, fresh};
use crate::routes::SharedState;

/// The columns of the export.
const COLUMNS: [&str; 12] = [
    "session", "list", "run", "filter", "seed", "item", "key", "evidence", "judge", "verdict",
    "note", "time",
];

fn rows(sessions: &[JudgingSession]) -> impl Iterator<Item = [serde_json::Value; 12]> {
    sessions.iter().flat_map(|session| {
        let verdicts = session.verdicts.values().flat_map(|of| of.values());
        verdicts.filter_map(move |verdict| {
            let sample = &session.sample;
            let item = sample.items.get(verdict.item as usize)?;
            Some([
                json!(sample.session),
                json!(sample.list),
                json!(sample.run),
                json!(sample.filter),
                json!(sample.seed),
                json!(verdict.item),
                json!(item.key),
                json!(item.evidence),
                json!(verdict.judge),
                json!(verdict.verdict),
                json!(verdict.note),
                json!(verdict.time),
            ])
        })
    })
}

fn file(text: String, kind: &'static str, name: &'static str) -> Response {
    let mut response = fresh(Body::from(text), kind);
    let headers = response.headers_mut();
    headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static(name));
    response
}

/// All verdicts as JSON Lines.
pub(crate) async fn export_lines(State(state): SharedState) -> Response {
    let mut out = String::new();
    for row in rows(&state.verdicts.sessions()) {
        let object: serde_json::Map<_, _> = COLUMNS
            .iter()
            .map(|&name| name.to_owned())
            .zip(row)
            .collect();
        out.push_str(&serde_json::Value::Object(object).to_string());
        out.push('\n');
    }
    file(out, NDJSON, "attachment; filename=\"verdicts.jsonl\"")
}

/// All verdicts as CSV.
pub(crate) async fn export_csv(State(state): SharedState) -> Response {
    let mut out = format!("{}\r\n", COLUMNS.join(","));
    for row in rows(&state.verdicts.sessions()) {
        let cells = row.iter().map(|value| match value.as_str() {
            Some(text) => csv_cell(text),
            None => value.to_string(),
        });
        out.push_str(&cells.collect::<Vec<_>>().join(","));
        out.push_str("\r\n");
    }
    file(
        out,
        "text/csv; charset=utf-8",
        "attachment; filename=\"verdicts.csv\"",
    )
}

/// Quotes a cell. One that a spreadsheet would take for a formula begins with an apostrophe.
fn csv_cell(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = match formula {
        true => format!("'{text}"),
        false => text.to_owned(),
    };
    match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::csv_cell;

    #[test]
    fn cells_are_quoted_and_never_formulas() {
        assert_eq!(csv_cell("plain"), "plain");
        assert_eq!(csv_cell("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(csv_cell("=HYPERLINK(1,2)"), "\"'=HYPERLINK(1,2)\"");
        assert_eq!(csv_cell("@cmd"), "'@cmd");
    }
}
