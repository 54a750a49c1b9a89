//! The text in the state that a page embeds for its scripts.
//!
//! A page that scripts draw is an empty frame, and a script with everything that they show:
//!
//! ```text
//! <div id="root"></div>
//! <script type="application/json">{"article": {"articleBody": "<p>…"}, "related": […]}</script>
//! <script>window.__INITIAL_STATE__ = {…}</script>
//! ```
//!
//! What the keys mean is known to the scripts alone, so only a few names are believed, and only a
//! text that is most of what has such a name: a state also has the texts of other pages.

use super::entities::LEAST_BODY;
use super::json_ld::{JsonEvent, json_events};
use super::schema::json_decode;
use super::token::Attributes;

/// The keys of texts, those that say most clearly what they are first.
const KEYS: [&[&str]; 3] = [
    &["articleBody"],
    &[
        "body",
        "bodyHtml",
        "body_html",
        "content",
        "contentHtml",
        "content_html",
    ],
    &[
        "description",
        "descriptionHtml",
        "description_html",
        "longDescription",
    ],
];

/// How a script that assigns a state begins.
const ASSIGNMENTS: [&str; 3] = ["window.__", "window[\"__", "window['__"];

/// Returns the text of a page that is only in its state: longer than `shown`, which is the number
/// of bytes that the page shows, and more than twice as long as all others with such a key
/// together.
pub(super) fn embedded_text<'a>(
    scripts: impl Iterator<Item = &'a str>,
    shown: usize,
) -> Option<String> {
    let least = shown.max(LEAST_BODY);
    let mut texts: [Vec<String>; KEYS.len()] = Default::default();
    for script in scripts.filter(|script| script.len() > least) {
        let mut key = "";
        json_events(script, |event| match event {
            JsonEvent::Key(name) => key = name,
            JsonEvent::Value(value) if value.len() > least => {
                let rank = KEYS.iter().position(|names| names.contains(&key));
                let Some(texts) = rank.and_then(|rank| texts.get_mut(rank)) else {
                    return;
                };
                let text = json_decode(value);
                // JSON in a string is a state of its own, not a text.
                if !text.trim_start().starts_with(['{', '['])
                    && length_without_markup(&text) > least
                {
                    texts.push(text);
                }
            }
            _ => {}
        });
    }
    texts.into_iter().find_map(prevailing)
}

/// The text that is more than twice as long as all others together, not counting markup.
fn prevailing(mut texts: Vec<String>) -> Option<String> {
    texts.sort_unstable();
    texts.dedup();
    let lengths = texts.iter().map(|text| length_without_markup(text));
    let total: usize = lengths.clone().sum();
    let (longest, at) = lengths.zip(0..).max()?;
    (longest / 2 > total - longest).then(|| texts.swap_remove(at))
}

/// The number of bytes outside of tags.
fn length_without_markup(text: &str) -> usize {
    let mut parts = text.split('<');
    let first = parts.next().map_or(0, str::len);
    let after = |part: &str| {
        part.split_once('>')
            .map_or(part.len(), |(_, rest)| rest.len())
    };
    first + parts.map(after).sum::<usize>()
}

/// What a script is by its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScriptKind {
    /// JSON-LD.
    JsonLd,
    /// JSON.
    Json,
    /// Code.
    Code,
    /// Something else, such as a template.
    Other,
}

impl ScriptKind {
    /// The kind of a script with these attributes.
    pub(super) fn of(attributes: &Attributes<'_>) -> Self {
        let Some(declared) = attributes.get("type") else {
            return ScriptKind::Code;
        };
        let kind = declared.split(';').next().unwrap_or_default().trim();
        let is = |name: &str| kind.eq_ignore_ascii_case(name);
        match () {
            () if is("application/ld+json") => ScriptKind::JsonLd,
            () if is("application/json") => ScriptKind::Json,
            () if is("") || is("text/javascript") || is("application/javascript") => {
                ScriptKind::Code
            }
            () => ScriptKind::Other,
        }
    }

    /// Whether a script of this kind is the state of a page.
    pub(super) fn is_state(self, script: &str) -> bool {
        match self {
            ScriptKind::Json => true,
            ScriptKind::Code => {
                let script = script.trim_start();
                ASSIGNMENTS.iter().any(|name| script.starts_with(name))
            }
            ScriptKind::JsonLd | ScriptKind::Other => false,
        }
    }
}
