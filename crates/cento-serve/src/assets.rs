//! Style sheets and modules, embedded in the binary.

use std::sync::LazyLock;

use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;

use crate::error::Refusal;
use crate::respond::{Served, has_tag, tag_of, unchanged, with_tag};

/// A file of the site.
struct Asset {
    name: &'static str,
    kind: &'static str,
    content: String,
    tag: String,
}

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let style = [
        cento_report::STYLE,
        cento_figure::STYLE,
        include_str!("assets/site.css"),
    ]
    .concat();
    let css = "text/css; charset=utf-8";
    let module = "text/javascript; charset=utf-8";
    let files = [
        ("site.css", css, style),
        ("keys.js", module, include_str!("assets/keys.js").to_owned()),
        (
            "quilt.js",
            module,
            include_str!("assets/quilt.js").to_owned(),
        ),
        (
            "judge.js",
            module,
            include_str!("assets/judge.js").to_owned(),
        ),
    ];
    files
        .into_iter()
        .map(|(name, kind, content)| Asset {
            name,
            kind,
            tag: tag_of(content.as_bytes()),
            content,
        })
        .collect()
});

/// Returns the address of a file, which changes with its content.
pub(crate) fn address(name: &str) -> String {
    let asset = ASSETS.iter().find(|asset| asset.name == name);
    let version = asset.map_or("", |asset| asset.tag.get(1..9).unwrap_or_default());
    format!("/assets/{name}?v={version}")
}

/// Serves a file.
pub(crate) fn serve(name: &str, headers: &HeaderMap) -> Served {
    let asset = ASSETS.iter().find(|asset| asset.name == name);
    let Some(asset) = asset else {
        return Err(Refusal::missing("There is no such file."));
    };
    if has_tag(headers, &asset.tag) {
        return Ok(unchanged(&asset.tag));
    }
    let mut response: Response =
        with_tag(asset.content.clone().into_bytes(), asset.kind, &asset.tag);
    let cached = HeaderValue::from_static("private, max-age=3600");
    response.headers_mut().insert(CACHE_CONTROL, cached);
    Ok(response)
}
