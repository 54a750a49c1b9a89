//! `/api/detect`: pages against labels, one per request or as a stream.
//!
//! ```text
//!   application/json       {"text": …} or {"html": …}        ─▶ one verdict
//!   text/plain             the text of a page                ─▶ one verdict
//!   application/x-ndjson   one such object per line, streamed ─▶ one verdict per line, streamed
//! ```

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use bytes::{Bytes, BytesMut};
use cento_labels::{Detector, LabelKind};
use cento_text::content::{self, Selection};
use cento_text::html::{Extractor, Options};
use http_body_util::BodyExt;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::Refusal;
use crate::respond::{JSON, NDJSON, Served, client_limits, fresh, fresh_json, read_body, too_slow};
use crate::routes::{SharedState, count_detected, has_type};
use crate::state::SiteState;
use crate::streamed::TaskBody;

/// Bytes of one page.
const LONGEST_PAGE: usize = 4 << 20;
/// How long a stream may take.
const STREAM: Duration = Duration::from_secs(6 * 3600);
/// Pages larger than this are compared on a thread that may be blocked.
const LARGE: usize = 64 << 10;

/// A page to compare.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DetectRequest {
    /// Returned with the verdict.
    url: Option<Value>,
    text: Option<String>,
    html: Option<String>,
}

fn no_labels() -> Refusal {
    Refusal::new(
        StatusCode::NOT_IMPLEMENTED,
        "The server has no labels of chunks. Start it with --labels NAME.labels.",
    )
}

fn has_labels(state: &SiteState) -> bool {
    let labels = state.labels.as_ref();
    labels.is_some_and(|labels| labels.header().recipe.of == LabelKind::Chunks)
}

pub(crate) async fn detect(State(state): SharedState, request: Request) -> Served {
    if !has_labels(&state) {
        return Err(no_labels());
    }
    if has_type(&request, NDJSON) {
        return Ok(stream(state, request));
    }
    let plain = has_type(&request, "text/plain");
    if !plain && !has_type(&request, JSON) {
        return Err(Refusal::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "The body must be application/json, text/plain or application/x-ndjson.",
        ));
    }
    let body = read_body(request, LONGEST_PAGE).await?;
    let value = compare_bounded(&state, &body, plain)?;
    Ok(fresh_json(StatusCode::OK, &value))
}

/// Compares a page without holding up other requests.
fn compare_bounded(state: &Arc<SiteState>, body: &[u8], plain: bool) -> Result<Value, Refusal> {
    match body.len() > LARGE {
        true => tokio::task::block_in_place(|| compare(state, body, plain)),
        false => compare(state, body, plain),
    }
}

fn compare(state: &SiteState, body: &[u8], plain: bool) -> Result<Value, Refusal> {
    let labels = state.labels.as_ref().ok_or_else(no_labels)?;
    let page = match plain {
        true => DetectRequest {
            url: None,
            text: Some(
                str::from_utf8(body)
                    .map_err(|_| Refusal::bad("The text is not UTF-8."))?
                    .to_owned(),
            ),
            html: None,
        },
        false => serde_json::from_slice(body)
            .map_err(|error| Refusal::bad(format!("The page: {error}.")))?,
    };
    let text = match (page.text, page.html) {
        (Some(text), None) => cento_text::plain::plain_text(&text).into_owned(),
        (None, Some(html)) => text_of(&html, labels.header().recipe.content),
        _ => return Err(Refusal::bad("A page has either text or html.")),
    };
    let verdict = Detector::new(labels).page(&text);
    count_detected(state, 1);
    let mut value = json!({
        "chunks": verdict.chunks,
        "stopped": verdict.stopped,
        "matched": verdict.matched,
        "contains": verdict.contains(),
    });
    if let Some(url) = page.url {
        value["url"] = url;
    }
    Ok(value)
}

/// Extracts the text of a page as an index does.
pub(crate) fn text_of(html: &str, selection: Selection) -> String {
    let mut extractor = Extractor::new();
    let outline = selection != Selection::All;
    let extract = extractor.extract(html, &Options { outline });
    match selection {
        Selection::All => extract.text.clone(),
        selection => {
            let mut text = String::new();
            let ranges = content::select(extract, selection);
            content::apply(&extract.text, &ranges, &mut text);
            text
        }
    }
}

/// The state of a stream: what was received, and whether it has ended.
struct LineStream {
    state: Arc<SiteState>,
    body: Body,
    /// How long the client may pause.
    pause: Duration,
    received: BytesMut,
    ended: bool,
}

fn stream(state: Arc<SiteState>, request: Request) -> axum::response::Response {
    let mut lines = LineStream {
        state,
        pause: client_limits(&request).stream_pause,
        body: request.into_body(),
        received: BytesMut::new(),
        ended: false,
    };
    // A few answers wait for a slow reader; then the stream waits too.
    let (answers, waiting) = tokio::sync::mpsc::channel(4);
    let work = async move {
        while let Some(answer) = lines.next().await {
            if answers.send(answer).await.is_err() {
                break;
            }
        }
    };
    tokio::spawn(tokio::time::timeout(STREAM, work));
    fresh(Body::new(TaskBody(waiting)), NDJSON)
}

fn error_line(refusal: &Refusal) -> Bytes {
    Bytes::from(format!("{}\n", json!({ "error": refusal.message })))
}

impl LineStream {
    /// Returns the verdicts on the lines that have arrived, or waits for more.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.ended {
                return None;
            }
            let complete = self.received.iter().rposition(|&byte| byte == b'\n');
            if let Some(end) = complete {
                let lines = self.received.split_to(end + 1).freeze();
                return Some(self.verdicts(&lines));
            }
            if self.received.len() > LONGEST_PAGE {
                self.ended = true;
                return Some(error_line(&Refusal::bad(format!(
                    "A line has more than {LONGEST_PAGE} bytes."
                ))));
            }
            let frame = match tokio::time::timeout(self.pause, self.body.frame()).await {
                Err(_) => {
                    self.ended = true;
                    return Some(error_line(&too_slow()));
                }
                Ok(None) => {
                    self.ended = true;
                    // The last line may lack its end.
                    let rest = self.received.split().freeze();
                    let blank = rest.iter().all(u8::is_ascii_whitespace);
                    return (!blank).then(|| self.verdicts(&rest));
                }
                Ok(Some(Err(_))) => {
                    self.ended = true;
                    return None;
                }
                Ok(Some(Ok(frame))) => frame,
            };
            if let Ok(data) = frame.into_data() {
                self.received.extend_from_slice(&data);
            }
        }
    }

    /// The verdicts on some lines. A line that is not a page gets an error, and others do not
    /// suffer.
    fn verdicts(&self, lines: &[u8]) -> Bytes {
        let mut out = String::new();
        let lines = lines.split(|&byte| byte == b'\n');
        for line in lines.filter(|line| !line.iter().all(u8::is_ascii_whitespace)) {
            let value = match compare_bounded(&self.state, line, false) {
                Ok(value) => value,
                Err(refusal) => json!({ "error": refusal.message }),
            };
            out.push_str(&value.to_string());
            out.push('\n');
        }
        Bytes::from(out)
    }
}
