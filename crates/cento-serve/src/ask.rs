//! Ask: which pages of the corpus share text with this one?
//!
//! The text is pasted, uploaded, or that of a page of the corpus. `cento-query` finds the pages;
//! the best of them are aligned with the text, passage by passage.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use cento_labels::LabelKind;
use cento_query::{Answer, QuerySettings};
use cento_read::Content;
use cento_report::escape;
use cento_report::format::{counted, percent};
use cento_text::content::Selection;
use serde::Deserialize;
use serde_json::Value;

use crate::detect::text_of;
use crate::error::{Error, Refusal};
use crate::multipart::{boundary, parts};
use crate::question_index::IndexStatus;
use crate::respond::{HTML, JSON, Served, SitePage, fresh, fresh_json, read_body, see_other};
use crate::routes::{SharedState, has_type};
use crate::state::SiteState;
use crate::views::{compare_texts, page_link};

/// Bytes of a question, pages of an answer, and pages that are aligned.
const LONGEST: usize = 4 << 20;
const TOP: usize = 20;
const MOST: usize = 100;
const ALIGNED: usize = 5;

/// A question.
enum Question {
    /// A text, with the name that it is shown under.
    Text(String, String),
    /// A page of the corpus.
    Page(u64),
}

/// An answer, with the texts that it is about.
struct Answered {
    about: String,
    text: String,
    answer: Answer,
}

fn answer(state: &SiteState, question: Question, top: usize) -> Result<Answered, Refusal> {
    let index = state.index.get()?;
    let settings = QuerySettings {
        top,
        ..QuerySettings::default()
    };
    let failed = |error: cento_query::Error| match error {
        cento_query::Error::Unsuitable(reason) => Refusal::missing(reason),
        error => Error::Query(error).into(),
    };
    match question {
        Question::Text(name, text) => Ok(Answered {
            answer: index.query(&text, &settings).map_err(failed)?,
            about: name,
            text,
        }),
        Question::Page(page_id) => {
            let answer = index.query_page(page_id, &settings).map_err(failed)?;
            let page = crate::views::PageDetails::of(state.store()?, page_id)?;
            Ok(Answered {
                answer,
                about: page.url,
                text: state.store()?.text(page_id)?.unwrap_or_default(),
            })
        }
    }
}

/// Finds the page of a URL. Of several captures, the first.
fn page_at(state: &SiteState, url: &str) -> Result<u64, Refusal> {
    let missing = || Refusal::missing(format!("The corpus has no page with the URL {url}."));
    let pages = state.store()?.pages_at(url)?;
    pages.first().copied().ok_or_else(missing)
}

/// The text of an uploaded file. Its character set and whether it is HTML are detected as in a file
/// that the index reads.
fn file_text(state: &SiteState, name: &str, content: &[u8]) -> Result<String, Refusal> {
    let decoded = cento_read::decode_file(name, content.to_vec());
    match (decoded.page.content, decoded.reject) {
        (Content::Html(html), None) => Ok(page_text(state, &html, true)),
        (Content::Text(text), None) => Ok(page_text(state, &text, false)),
        (_, reject) => {
            let why = reject.map_or_else(|| "it has no text".to_owned(), |reject| reject.detail);
            Err(Refusal::bad(format!(
                "The file is neither text nor HTML: {why}."
            )))
        }
    }
}

/// The text of an uploaded page, extracted as the index extracted those of the corpus.
fn page_text(state: &SiteState, content: &str, html: bool) -> String {
    let selection = state.source.corpora().first().map(|corpus| {
        cento_find::discover::recipe_of(corpus.parameters(), LabelKind::Chunks).content
    });
    match html {
        true => text_of(content, selection.unwrap_or(Selection::All)),
        false => cento_text::plain::plain_text(content).into_owned(),
    }
}

/// Seconds after which a page that waits for the index is loaded again.
const RELOAD: &str = "3";
const REFRESH: HeaderName = HeaderName::from_static("refresh");

const BUILD_FORM: &str = "<p>Building it takes about as long as an analysis of the corpus. Others are served meanwhile.</p>\n\
    <form method=\"post\" action=\"/ask/index\"><button>Build the index</button></form>\n";

const FORM: &str = "<form method=\"post\" action=\"/ask\" enctype=\"multipart/form-data\" class=\"ask\">\n\
    <label>A text <textarea name=\"text\" rows=\"8\" dir=\"auto\"></textarea></label>\n\
    <label>or the URL of a page of the corpus <input name=\"url\" /></label>\n\
    <label>or a file of text or HTML in any encoding, at most 4 MiB <input name=\"file\" type=\"file\" /></label>\n\
    <button>Ask</button></form>\n";

/// The form.
pub(crate) async fn form(State(state): SharedState) -> Served {
    let mut body = String::from(
        "<h1>Ask</h1>\n<p>Which pages of the corpus share text with a text, a page or a file of yours? Nothing of it is stored.</p>\n",
    );
    let status = state.index.status();
    match &status {
        IndexStatus::Ready(_) => body.push_str(FORM),
        IndexStatus::Building => body.push_str(
            "<p>The index for questions is being built. This page reloads until it is finished.</p>\n",
        ),
        IndexStatus::Missing(reason) | IndexStatus::Failed(reason) => body.push_str(&format!(
            "<p>{}</p>\n{BUILD_FORM}",
            escape(reason)
        )),
        IndexStatus::Impossible(reason) => {
            body.push_str(&format!("<p>{}</p>\n", escape(reason)));
        }
    }
    let page = SitePage {
        title: "Ask".to_owned(),
        body,
        module: None,
        entry: "ask",
    };
    let mut response = fresh(Body::from(page.render(&state)), HTML);
    if matches!(status, IndexStatus::Building) {
        let again = HeaderValue::from_static(RELOAD);
        response.headers_mut().insert(REFRESH, again);
    }
    Ok(response)
}

/// Starts to build the index, and returns to the form.
pub(crate) async fn build_index(State(state): SharedState) -> Served {
    state.index.start_again();
    Ok(see_other("/ask"))
}

/// Answers the form.
pub(crate) async fn ask(State(state): SharedState, request: Request) -> Served {
    let kind = request.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let boundary = boundary(kind).ok_or_else(|| {
        Refusal::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "The body must be multipart/form-data.",
        )
    })?;
    let body = read_body(request, LONGEST).await?;
    let page = state
        .heavy(move |state| {
            let parts = parts(&body, &boundary);
            let field = |name: &str| {
                let part = parts.iter().find(|part| part.name == name)?;
                (!part.content.trim_ascii().is_empty()).then_some(part)
            };
            let utf8 = |content: &[u8]| {
                let text = str::from_utf8(content).map(str::to_owned);
                text.map_err(|_| Refusal::bad("The text is not UTF-8."))
            };
            let question = if let Some(file) = field("file") {
                let name = file.file.clone().unwrap_or_default();
                let text = file_text(state, &name, file.content)?;
                Question::Text(name, text)
            } else if let Some(url) = field("url") {
                Question::Page(page_at(state, utf8(url.content)?.trim())?)
            } else if let Some(text) = field("text") {
                let text = page_text(state, &utf8(text.content)?, false);
                Question::Text("the text".to_owned(), text)
            } else {
                return Err(Refusal::bad("Paste a text, give a URL, or choose a file."));
            };
            render(state, &answer(state, question, TOP)?)
        })
        .await?;
    Ok(fresh(Body::from(page.render(&state)), HTML))
}

fn render(state: &SiteState, answered: &Answered) -> Result<SitePage, Refusal> {
    let Answered {
        about,
        text,
        answer,
    } = answered;
    let mut body = format!(
        "<h1>Ask</h1>\n<p dir=\"auto\">About <bdi>{}</bdi>: {}</p>\n",
        escape(about),
        match (answer.fingerprints, answer.pages) {
            (0, _) => "it has too few words to be compared.".to_owned(),
            (_, 0) => "no other page of the corpus shares enough text with it to reach a category of reuse.".to_owned(),
            (_, pages) => format!(
                "{} of the corpus {} text with it{}.",
                counted(pages, "page", "pages"),
                if pages == 1 { "shares" } else { "share" },
                match pages as usize > answer.matches.len() {
                    true => format!("; the best {} are shown", answer.matches.len()),
                    false => String::new(),
                }
            ),
        }
    );
    if answer.ignored > 0 {
        body.push_str(&format!(
            "<p class=\"muted\">{} on more than {} pages {} ignored, as boilerplate.</p>\n",
            counted(answer.ignored.into(), "fingerprint", "fingerprints"),
            answer.max_pages,
            if answer.ignored == 1 { "is" } else { "are" },
        ));
    }
    for (at, found) in answer.matches.iter().enumerate() {
        body.push_str(&format!(
            "<article>\n<h2>{}</h2>\n<p>{}: {} of the fingerprints of the text are in the page, {} of those of the page are in the text.</p>\n",
            page_link(state, found.page_id, &found.url),
            escape(&found.category.to_string()),
            percent(found.query_containment),
            percent(found.page_containment),
        ));
        if at < ALIGNED {
            let other = state.store()?.text(found.page_id)?.unwrap_or_default();
            let compared = compare_texts([text, &other], [about, &found.url]);
            for comparison in compared.comparisons.iter().take(3) {
                body.push_str(&comparison.html(&state.root));
            }
            let more = compared.more + compared.comparisons.len().saturating_sub(3);
            if more > 0 {
                body.push_str(&format!(
                    "<p class=\"muted\">and {} more</p>\n",
                    counted(more as u64, "passage", "passages")
                ));
            }
        }
        body.push_str("</article>\n");
    }
    body.push_str(FORM);
    Ok(SitePage {
        title: "Ask".to_owned(),
        body,
        module: None,
        entry: "ask",
    })
}

/// The body of a question of a program.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QueryRequest {
    text: Option<String>,
    html: Option<String>,
    page_id: Option<u64>,
    url: Option<String>,
    top: Option<usize>,
}

/// Answers a question of a program.
pub(crate) async fn query(State(state): SharedState, request: Request) -> Served {
    state.index.start();
    state.index.get()?;
    if !has_type(&request, JSON) {
        return Err(Refusal::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "The body must be application/json.",
        ));
    }
    let body = read_body(request, LONGEST).await?;
    let value = state
        .heavy(move |state| {
            let wanted: QueryRequest = serde_json::from_slice(&body)
                .map_err(|error| Refusal::bad(format!("The body: {error}.")))?;
            let QueryRequest {
                text,
                html,
                page_id,
                url,
                top,
            } = wanted;
            let name = || "the text".to_owned();
            let question = match (text, html, page_id, url) {
                (Some(text), None, None, None) => {
                    Question::Text(name(), page_text(state, &text, false))
                }
                (None, Some(html), None, None) => {
                    Question::Text(name(), page_text(state, &html, true))
                }
                (None, None, Some(page_id), None) => Question::Page(page_id),
                (None, None, None, Some(url)) => Question::Page(page_at(state, &url)?),
                _ => {
                    return Err(Refusal::bad(
                        "A question has one of text, html, page_id and url.",
                    ));
                }
            };
            let top = top.unwrap_or(TOP);
            if top == 0 || top > MOST {
                return Err(Refusal::bad(format!("top is from 1 to {MOST}.")));
            }
            let answered = answer(state, question, top)?;
            serde_json::to_value(&answered.answer).map_err(|error| Refusal::bad(error.to_string()))
        })
        .await?;
    let value: Value = value;
    Ok(fresh_json(StatusCode::OK, &value))
}
