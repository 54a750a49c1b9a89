//! The interface for programs: the content of the site as JSON.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use bytes::Bytes;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::error::Refusal;
use crate::judge::{Judgement, start_sample, statistics_json};
use crate::lists::{ListQuery, ListState, Listing};
use crate::respond::{
    JSON, NDJSON, Served, fresh, fresh_json, has_tag, id, parameter, read_body, tag_of,
    tagged_json, unchanged, with_tag,
};
use crate::routes::{SharedState, has_type, marks_of, pair_of};
use crate::state::SiteState;
use crate::streamed::IteratorBody;
use crate::views::{
    ClassView, NeighbourhoodTree, PageView, PairView, PassageView, QuiltView, no_list,
};

/// Rows of a stream that are sent together.
const BATCH: usize = 500;
/// Bytes of a JSON body.
const LONGEST_BODY: usize = 64 << 10;

pub(crate) async fn lists(State(state): SharedState, request: Request) -> Served {
    let lists = state.lists.iter().map(|(spec, list)| {
        let (rows, run, reason) = match list {
            ListState::Loaded(list) => {
                let run = &list.findings.record.question;
                (Some(list.columns.rows()), Some(run), None)
            }
            missing => (None, None, Some(no_list(&state, spec, missing))),
        };
        json!({
            "name": spec.name,
            "title": spec.title,
            "about": spec.about,
            "rows": rows,
            "run": run,
            "reason": reason,
            "columns": spec.columns.iter().map(|column| column.name).collect::<Vec<_>>(),
        })
    });
    let value = json!({ "corpus": state.corpus, "lists": lists.collect::<Vec<_>>() });
    Ok(tagged_json(&value, request.headers()))
}

/// Finds a list that is loaded, and parses the query of a request.
fn loaded<'a>(
    state: &'a SiteState,
    name: &str,
    request: &Request,
) -> Result<(&'a Listing, ListQuery), Refusal> {
    let list = match state.lists.get(name) {
        Some((_, ListState::Loaded(list))) => list,
        Some((spec, missing)) => return Err(Refusal::missing(no_list(state, spec, missing))),
        None => return Err(Refusal::missing(format!("There is no list {name}."))),
    };
    let query = ListQuery::parse(list.spec, request.uri().query().unwrap_or_default())?;
    check_run(list, &query)?;
    Ok((list, query))
}

/// Fails if the reader began to page through the findings of another run.
pub(crate) fn check_run(list: &Listing, query: &ListQuery) -> Result<(), Refusal> {
    let current = &list.findings.record.question;
    match &query.run {
        Some(run) if run != current => Err(Refusal::new(
            StatusCode::CONFLICT,
            "The findings have changed since the first page. Start again without `run`.",
        )),
        _ => Ok(()),
    }
}

pub(crate) async fn list(
    State(state): SharedState,
    Path(name): Path<String>,
    request: Request,
) -> Served {
    let (list, query) = loaded(&state, &name, &request)?;
    let run = &list.findings.record.question;
    let tag =
        tag_of(format!("{run} api {name} {query:?} {}", env!("CARGO_PKG_VERSION")).as_bytes());
    if has_tag(request.headers(), &tag) {
        return Ok(unchanged(&tag));
    }
    let page = list.page(&query);
    let pages = page.matching.div_ceil(query.size).max(1);
    let next = ListQuery {
        run: Some(run.clone()),
        ..query.clone()
    };
    let rows: Vec<_> = page.rows.iter().map(|&row| list.json(row)).collect();
    let value = json!({
        "list": name,
        "run": run,
        "rows_in_list": list.columns.rows(),
        "matching": page.matching,
        "page": query.page,
        "pages": pages,
        "size": query.size,
        "next": (query.page < pages).then(|| {
            format!("/api/lists/{name}?{}", next.address(list.spec, query.page + 1))
        }),
        "rows": rows,
    });
    Ok(with_tag(value.to_string().into_bytes(), JSON, &tag))
}

/// All rows that a query selects, one JSON object per line.
pub(crate) async fn rows(
    State(state): SharedState,
    Path(name): Path<String>,
    request: Request,
) -> Served {
    let (list, query) = loaded(&state, &name, &request)?;
    let selected = list.selection(&query);
    let state = Arc::clone(&state);
    let name: &'static str = list.spec.name;
    let batches = (0..selected.len()).step_by(BATCH);
    // Each batch is rendered when the reader is ready for it.
    let frames = batches.map(move |begin| {
        let end = (begin + BATCH).min(selected.len());
        let mut lines = String::new();
        if let Some(list) = state.lists.loaded(name) {
            for &row in selected.get(begin..end).unwrap_or_default() {
                lines.push_str(&Value::Object(list.json(row)).to_string());
                lines.push('\n');
            }
        }
        Bytes::from(lines)
    });
    Ok(fresh(Body::new(IteratorBody(frames)), NDJSON))
}

pub(crate) async fn quilt(
    State(state): SharedState,
    Path(page_id): Path<String>,
    request: Request,
) -> Served {
    let page_id = id(&page_id)?;
    let value = state
        .heavy(move |state| Ok(QuiltView::of(state, page_id)?.json()))
        .await?;
    Ok(tagged_json(&value, request.headers()))
}

pub(crate) async fn class(
    State(state): SharedState,
    Path(page_id): Path<String>,
    request: Request,
) -> Served {
    let page_id = id(&page_id)?;
    let value = state
        .heavy(move |state| Ok(ClassView::of(state, page_id)?.json(state)))
        .await?;
    Ok(tagged_json(&value, request.headers()))
}

pub(crate) async fn pair(State(state): SharedState, request: Request) -> Served {
    let (a, b) = pair_of(&request)?;
    let value = state
        .heavy(move |state| Ok(PairView::of(state, a, b)?.json()))
        .await?;
    Ok(tagged_json(&value, request.headers()))
}

pub(crate) async fn passage(
    State(state): SharedState,
    Path(cluster): Path<String>,
    request: Request,
) -> Served {
    let cluster = id(&cluster)?;
    let value = state
        .heavy(move |state| Ok(PassageView::of(state, cluster)?.json(state)))
        .await?;
    Ok(tagged_json(&value, request.headers()))
}

pub(crate) async fn neighbourhoods(State(state): SharedState, request: Request) -> Served {
    let at = parameter(&request, "at").unwrap_or_default();
    let value = state
        .heavy(move |state| NeighbourhoodTree::of(state, &at)?.json(state))
        .await?;
    Ok(tagged_json(&value, request.headers()))
}

pub(crate) async fn page(
    State(state): SharedState,
    Path(page_id): Path<String>,
    request: Request,
) -> Served {
    let page_id = id(&page_id)?;
    let marks = marks_of(&request)?;
    let value = state
        .heavy(move |state| Ok(PageView::of(state, page_id, &marks)?.json()))
        .await?;
    Ok(tagged_json(&value, request.headers()))
}

/// Reads a body of JSON. The media type is required: a form of another site cannot have it.
async fn read_json<T: DeserializeOwned>(request: Request) -> Result<T, Refusal> {
    if !has_type(&request, JSON) {
        return Err(Refusal::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "The body must be application/json.",
        ));
    }
    let body = read_body(request, LONGEST_BODY).await?;
    serde_json::from_slice(&body).map_err(|error| Refusal::bad(format!("The body: {error}.")))
}

pub(crate) async fn sessions(State(state): SharedState) -> Served {
    let sessions = state.verdicts.sessions();
    let sessions = sessions.iter().map(|session| {
        let judges = session.verdicts.keys();
        let judges = judges.map(|judge| json!({ "judge": judge, "judged": session.judged(judge) }));
        json!({
            "session": session.sample.session,
            "time": session.sample.time,
            "list": session.sample.list,
            "run": session.sample.run,
            "filter": session.sample.filter,
            "seed": session.sample.seed,
            "rows": session.sample.rows,
            "items": session.sample.items.len(),
            "judges": judges.collect::<Vec<_>>(),
        })
    });
    let value = json!({ "sessions": sessions.collect::<Vec<_>>() });
    Ok(fresh_json(StatusCode::OK, &value))
}

/// The body of a request for a new session.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SampleRequest {
    list: String,
    size: u32,
    seed: u64,
    #[serde(default)]
    filter: String,
}

pub(crate) async fn start_session(State(state): SharedState, request: Request) -> Served {
    let wanted: SampleRequest = read_json(request).await?;
    let session = state
        .heavy(move |state| {
            start_sample(
                state,
                &wanted.list,
                &wanted.filter,
                wanted.size,
                wanted.seed,
            )
        })
        .await?;
    Ok(fresh_json(
        StatusCode::CREATED,
        &json!({ "session": session }),
    ))
}

fn session_number(text: &str) -> Result<u32, Refusal> {
    let missing = || Refusal::missing(format!("There is no session {text}."));
    text.parse().map_err(|_| missing())
}

pub(crate) async fn session(State(state): SharedState, Path(number): Path<String>) -> Served {
    let session = state.verdicts.session(session_number(&number)?)?;
    let verdicts: Vec<_> = session
        .verdicts
        .values()
        .flat_map(|of| of.values())
        .collect();
    let value = json!({ "sample": session.sample, "verdicts": verdicts });
    Ok(fresh_json(StatusCode::OK, &value))
}

/// The body of a verdict.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VerdictRequest {
    judge: String,
    item: u32,
    verdict: String,
    #[serde(default)]
    note: String,
}

pub(crate) async fn judge(
    State(state): SharedState,
    Path(number): Path<String>,
    request: Request,
) -> Served {
    let number = session_number(&number)?;
    let wanted: VerdictRequest = read_json(request).await?;
    let verdict = Judgement::parse(&wanted.verdict)
        .ok_or_else(|| Refusal::bad("verdict is spam, not-spam or unsure."))?;
    state
        .heavy(move |state| {
            let VerdictRequest {
                judge, item, note, ..
            } = &wanted;
            state.verdicts.judge(number, judge, *item, verdict, note)
        })
        .await?;
    state.metrics.verdicts.fetch_add(1, Ordering::Relaxed);
    Ok(fresh_json(StatusCode::CREATED, &json!({ "stored": true })))
}

/// The body of an undo.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UndoRequest {
    judge: String,
}

pub(crate) async fn undo(
    State(state): SharedState,
    Path(number): Path<String>,
    request: Request,
) -> Served {
    let number = session_number(&number)?;
    let wanted: UndoRequest = read_json(request).await?;
    let item = state
        .heavy(move |state| state.verdicts.undo(number, &wanted.judge))
        .await?;
    Ok(fresh_json(StatusCode::OK, &json!({ "item": item })))
}

pub(crate) async fn verdicts(State(state): SharedState) -> Served {
    let value = statistics_json(&state.verdicts.sessions());
    Ok(fresh_json(StatusCode::OK, &value))
}
