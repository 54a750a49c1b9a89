//! Responses: pages in the frame of the site, JSON, and files with tags.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LOCATION, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use cento_report::escape;
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::assets;
use crate::error::Refusal;
use crate::settings::ClientLimits;
use crate::state::SiteState;

/// The outcome of a request.
pub(crate) type Served = Result<Response, Refusal>;

pub(crate) const HTML: &str = "text/html; charset=utf-8";
pub(crate) const JSON: &str = "application/json";
pub(crate) const NDJSON: &str = "application/x-ndjson";

/// A page of the site: what is inside the frame.
#[derive(Debug, Default)]
pub(crate) struct SitePage {
    pub(crate) title: String,
    /// The HTML of the main part.
    pub(crate) body: String,
    /// The module that the page needs, if any.
    pub(crate) module: Option<&'static str>,
    /// The entry of the navigation that leads here.
    pub(crate) entry: &'static str,
}

impl SitePage {
    /// Renders the page in its frame.
    pub(crate) fn render(&self, state: &SiteState) -> String {
        let mut out = String::with_capacity(self.body.len() + 4096);
        out.push_str("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n");
        out.push_str(
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n",
        );
        out.push_str(&format!(
            "<title>{} – cento</title>\n<link rel=\"stylesheet\" href=\"{}\" />\n\
             <script type=\"module\" src=\"{}\"></script>\n",
            escape(&self.title),
            assets::address("site.css"),
            assets::address("keys.js"),
        ));
        if let Some(module) = self.module {
            out.push_str(&format!(
                "<script type=\"module\" src=\"{}\"></script>\n",
                assets::address(module)
            ));
        }
        out.push_str(
            "</head>\n<body class=\"site\">\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n\
             <nav class=\"top\" aria-label=\"Site\"><ul>\n",
        );
        out.push_str(&format!(
            "<li class=\"corpus\"><bdi>{}</bdi></li>\n",
            escape(&cento_report::format::shortened(&state.corpus, 60))
        ));
        let mut entry = |name: &str, target: &str, title: &str| {
            let current = if name == self.entry {
                " aria-current=\"page\""
            } else {
                ""
            };
            out.push_str(&format!(
                "<li><a href=\"{target}\"{current}>{}</a></li>\n",
                escape(title)
            ));
        };
        entry("overview", "/", "Overview");
        entry("lists", "/lists", "Lists");
        entry("judge", "/judge", "Judge");
        entry("ask", "/ask", "Ask");
        out.push_str(&format!(
            "</ul></nav>\n<main id=\"main\">\n{}</main>\n</body>\n</html>\n",
            self.body
        ));
        out
    }

    /// Returns the page as a response, or that the reader has it already.
    pub(crate) fn respond(&self, state: &SiteState, headers: &HeaderMap) -> Response {
        tagged(self.render(state).into_bytes(), HTML, headers)
    }
}

/// Returns bytes with a tag of their content, or that the reader has them already.
pub(crate) fn tagged(bytes: Vec<u8>, kind: &'static str, headers: &HeaderMap) -> Response {
    let tag = tag_of(&bytes);
    if has_tag(headers, &tag) {
        return unchanged(&tag);
    }
    with_tag(bytes, kind, &tag)
}

/// Returns the tag of some bytes.
pub(crate) fn tag_of(bytes: &[u8]) -> String {
    let hash = blake3::hash(bytes).to_hex();
    format!("\"{}\"", hash.get(..32).unwrap_or_default())
}

/// Whether the reader has the content with this tag.
pub(crate) fn has_tag(headers: &HeaderMap, tag: &str) -> bool {
    let values = headers.get_all(IF_NONE_MATCH).iter();
    values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|one| one.trim().trim_start_matches("W/") == tag)
}

/// Returns that the reader has the content with this tag.
pub(crate) fn unchanged(tag: &str) -> Response {
    with_headers(StatusCode::NOT_MODIFIED, Body::empty(), HTML, Some(tag))
}

pub(crate) fn with_tag(bytes: Vec<u8>, kind: &'static str, tag: &str) -> Response {
    with_headers(StatusCode::OK, Body::from(bytes), kind, Some(tag))
}

fn with_headers(status: StatusCode, body: Body, kind: &'static str, tag: Option<&str>) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    if status != StatusCode::NOT_MODIFIED {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    if let Some(tag) = tag.and_then(|tag| HeaderValue::from_str(tag).ok()) {
        headers.insert(ETAG, tag);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    } else {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

/// Returns JSON that depends on the moment.
pub(crate) fn fresh_json(status: StatusCode, value: &Value) -> Response {
    with_headers(status, Body::from(value.to_string()), JSON, None)
}

/// Returns JSON with a tag.
pub(crate) fn tagged_json(value: &Value, headers: &HeaderMap) -> Response {
    tagged(value.to_string().into_bytes(), JSON, headers)
}

/// Returns any body that must not be stored.
pub(crate) fn fresh(body: Body, kind: &'static str) -> Response {
    with_headers(StatusCode::OK, body, kind, None)
}

/// Sends the reader to another page after a form.
pub(crate) fn see_other(target: &str) -> Response {
    let mut response = with_headers(StatusCode::SEE_OTHER, Body::empty(), HTML, None);
    if let Ok(target) = HeaderValue::from_str(target) {
        response.headers_mut().insert(LOCATION, target);
    }
    response
}

impl IntoResponse for Refusal {
    /// A response that [`show_refusal`] fills in, because only it knows who asked.
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = self.status;
        response.extensions_mut().insert(self);
        response
    }
}

/// Renders a refusal: as JSON for programs, as a page for people.
pub(crate) fn show_refusal(state: &Arc<SiteState>, path: &str, refusal: &Refusal) -> Response {
    let mut response = if path.starts_with("/api/") {
        fresh_json(refusal.status, &json!({ "error": refusal.message }))
    } else {
        let title = refusal.status.canonical_reason().unwrap_or("Error");
        let mut body = format!(
            "<h1>{}</h1>\n<p dir=\"auto\">{}</p>\n",
            escape(title),
            escape(&refusal.message)
        );
        // A reader without the token learns nothing about the corpus, not even its lists.
        let html = match refusal.status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::MISDIRECTED_REQUEST => {
                if refusal.status == StatusCode::UNAUTHORIZED {
                    body.push_str("<p><a href=\"/login\">Enter the token</a></p>\n");
                }
                bare_page(title, &body)
            }
            _ => SitePage {
                title: title.to_owned(),
                body,
                ..SitePage::default()
            }
            .render(state),
        };
        with_headers(refusal.status, Body::from(html), HTML, None)
    };
    if refusal.status == StatusCode::SERVICE_UNAVAILABLE {
        let headers = response.headers_mut();
        headers.insert(RETRY_AFTER, HeaderValue::from_static("5"));
    }
    response
}

/// Renders a page without navigation.
pub(crate) fn bare_page(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n\
         <title>{} – cento</title>\n<link rel=\"stylesheet\" href=\"{}\" />\n</head>\n\
         <body class=\"site\">\n<main id=\"main\">\n{body}</main>\n</body>\n</html>\n",
        escape(title),
        assets::address("site.css"),
    )
}

/// Reads a body of at most `limit` bytes.
pub(crate) async fn read_body(request: Request, limit: usize) -> Result<Bytes, Refusal> {
    let limits = client_limits(&request);
    let mut body = request.into_body();
    let read = async {
        let mut bytes = BytesMut::new();
        loop {
            let frame = tokio::time::timeout(limits.body_pause, body.frame()).await;
            let frame = match frame.map_err(|_| too_slow())? {
                None => return Ok(bytes.freeze()),
                Some(frame) => frame.map_err(|_| Refusal::bad("The body is incomplete."))?,
            };
            if let Ok(data) = frame.into_data() {
                if bytes.len() + data.len() > limit {
                    return Err(too_large(limit));
                }
                bytes.extend_from_slice(&data);
            }
        }
    };
    tokio::time::timeout(limits.body, read)
        .await
        .unwrap_or_else(|_| Err(too_slow()))
}

/// Returns the limits for the client of a request.
pub(crate) fn client_limits(request: &Request) -> ClientLimits {
    let limits = request.extensions().get::<ClientLimits>();
    limits.copied().unwrap_or_default()
}

pub(crate) fn too_slow() -> Refusal {
    Refusal::new(
        StatusCode::REQUEST_TIMEOUT,
        "The request was sent too slowly.",
    )
}

pub(crate) fn too_large(limit: usize) -> Refusal {
    Refusal::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("The request has more than {limit} bytes."),
    )
}

/// Parses a form of at most 64 KiB.
pub(crate) async fn read_form(request: Request) -> Result<Vec<(String, String)>, Refusal> {
    let body = read_body(request, 64 << 10).await?;
    let pairs = url::form_urlencoded::parse(&body);
    Ok(pairs
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect())
}

/// Returns the value of a parameter of the query of a request.
pub(crate) fn parameter(request: &Request, name: &str) -> Option<String> {
    let query = request.uri().query().unwrap_or_default();
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    let found = pairs.find(|(other, _)| other == name);
    found.map(|(_, value)| value.into_owned())
}

/// Parses the id of a page or another number.
pub(crate) fn id(text: &str) -> Result<u64, Refusal> {
    text.parse()
        .map_err(|_| Refusal::missing(format!("{text} is not a number.")))
}
