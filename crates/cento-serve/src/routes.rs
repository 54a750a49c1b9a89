//! The addresses of the site, and what every request passes through.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{MatchedPath, Path, Request, State};
use axum::http::header::{CONTENT_TYPE, SET_COOKIE};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::json;

use crate::error::Refusal;
use crate::guard::{SESSION_COOKIE, protect};
use crate::lists::{LISTS, ListQuery, ListState};
use crate::respond::{
    HTML, Served, SitePage, bare_page, fresh, fresh_json, has_tag, id, parameter, read_form,
    see_other, show_refusal, tag_of, unchanged, with_tag,
};
use crate::state::SiteState;
use crate::views::{
    ClassView, NeighbourhoodTree, PageMarks, PageView, PairView, PassageView, QuiltView, list_page,
    lists_page, no_list,
};
use crate::{api, ask, assets, detect, judge, openapi};

/// How long a handler may take to begin its response.
const LONGEST: Duration = Duration::from_secs(90);

pub(crate) type SharedState = State<Arc<SiteState>>;

/// Builds the router.
pub(crate) fn router(state: Arc<SiteState>) -> Router {
    Router::new()
        .route("/", get(overview))
        .route("/lists", get(lists))
        .route("/lists/{name}", get(list))
        .route("/quilts/{page_id}", get(quilt))
        .route("/classes/{page_id}", get(class))
        .route("/pair", get(pair))
        .route("/passages/{cluster}", get(passage))
        .route("/neighbourhoods", get(neighbourhoods))
        .route("/pages/{page_id}", get(page))
        .route("/judge", get(judge::index).post(judge::start))
        .route("/judge/export.jsonl", get(judge::export_lines))
        .route("/judge/export.csv", get(judge::export_csv))
        .route("/judge/{session}", get(judge::show).post(judge::verdict))
        .route("/judge/{session}/undo", post(judge::undo))
        .route("/judge/{session}/labels", post(judge::write_labels))
        .route("/ask", get(ask::form).post(ask::ask))
        .route("/ask/index", post(ask::build_index))
        .route("/login", get(login_form).post(login))
        .route("/assets/{name}", get(asset))
        .route("/health", get(health))
        .route("/metrics", get(metrics))
        .route("/api/openapi.json", get(openapi::describe))
        .route("/api/lists", get(api::lists))
        .route("/api/lists/{name}", get(api::list))
        .route("/api/lists/{name}/rows", get(api::rows))
        .route("/api/quilts/{page_id}", get(api::quilt))
        .route("/api/classes/{page_id}", get(api::class))
        .route("/api/pairs", get(api::pair))
        .route("/api/passages/{cluster}", get(api::passage))
        .route("/api/neighbourhoods", get(api::neighbourhoods))
        .route("/api/pages/{page_id}", get(api::page))
        .route("/api/sessions", get(api::sessions).post(api::start_session))
        .route("/api/sessions/{session}", get(api::session))
        .route("/api/sessions/{session}/verdicts", post(api::judge))
        .route("/api/sessions/{session}/undo", post(api::undo))
        .route("/api/verdicts", get(api::verdicts))
        .route("/api/detect", post(detect::detect))
        .route("/api/query", post(ask::query))
        .fallback(missing)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(Arc::clone(&state), watch))
        .with_state(state)
}

/// Checks a request, limits its time, shows refusals, and counts it.
async fn watch(State(state): SharedState, mut request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or("other", MatchedPath::as_str).to_owned();
    request.extensions_mut().insert(state.limits);
    let allowed = state.gate.check(&method, &path, request.headers());
    let mut response = match allowed {
        Err(refusal) => refusal.into_response(),
        Ok(()) => match tokio::time::timeout(LONGEST, next.run(request)).await {
            Ok(response) => response,
            Err(_) => Refusal::busy().into_response(),
        },
    };
    if let Some(refusal) = response.extensions_mut().remove::<Refusal>() {
        response = show_refusal(&state, &path, &refusal);
    }
    if method == Method::HEAD {
        *response.body_mut() = Body::empty();
    }
    protect(response.headers_mut());
    let time = begun.elapsed();
    let status = response.status().as_u16();
    state.metrics.count(&route, status, time);
    if let Some(log) = &state.log {
        log.request(method.as_str(), &path, status, time);
    }
    response
}

async fn missing() -> Refusal {
    Refusal::missing("There is no such page.")
}

async fn wrong_method() -> Refusal {
    Refusal::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "This address cannot be used in this way.",
    )
}

async fn overview(State(state): SharedState, request: Request) -> Served {
    let page = SitePage {
        title: state.corpus.clone(),
        body: state.overview.clone(),
        module: None,
        entry: "overview",
    };
    Ok(page.respond(&state, request.headers()))
}

async fn lists(State(state): SharedState, request: Request) -> Served {
    Ok(lists_page(&state).respond(&state, request.headers()))
}

async fn list(State(state): SharedState, Path(name): Path<String>, request: Request) -> Served {
    let Some((spec, list)) = state.lists.get(&name) else {
        let names: Vec<&str> = LISTS.iter().map(|list| list.name).collect();
        return Err(Refusal::missing(format!(
            "There is no list {name}. The lists are {}.",
            names.join(", ")
        )));
    };
    let ListState::Loaded(list) = list else {
        let body = format!(
            "<h1>{}</h1>\n<p dir=\"auto\">{}</p>\n",
            cento_report::escape(spec.title),
            cento_report::escape(&no_list(&state, spec, list))
        );
        let page = SitePage {
            title: spec.title.to_owned(),
            body,
            module: None,
            entry: "lists",
        };
        return Ok(page.respond(&state, request.headers()));
    };
    let query = ListQuery::parse(spec, request.uri().query().unwrap_or_default())?;
    api::check_run(list, &query)?;
    // Everything that the page depends on, so that it need not be rendered to be compared.
    let tag = tag_of(
        format!(
            "{} {} {query:?} {}",
            list.findings.record.question,
            spec.name,
            env!("CARGO_PKG_VERSION")
        )
        .as_bytes(),
    );
    if has_tag(request.headers(), &tag) {
        return Ok(unchanged(&tag));
    }
    let page = list_page(&state, list, &query).render(&state);
    Ok(with_tag(page.into_bytes(), HTML, &tag))
}

async fn quilt(State(state): SharedState, Path(page_id): Path<String>, request: Request) -> Served {
    let page_id = id(&page_id)?;
    let page = state
        .heavy(move |state| Ok(QuiltView::of(state, page_id)?.render(state)))
        .await?;
    Ok(page.respond(&state, request.headers()))
}

async fn class(State(state): SharedState, Path(page_id): Path<String>, request: Request) -> Served {
    let page_id = id(&page_id)?;
    let page = state
        .heavy(move |state| Ok(ClassView::of(state, page_id)?.render(state)))
        .await?;
    Ok(page.respond(&state, request.headers()))
}

/// Returns the two pages of a request for a pair.
pub(crate) fn pair_of(request: &Request) -> Result<(u64, u64), Refusal> {
    let one = |name: &str| {
        let value = parameter(request, name);
        let value = value.ok_or_else(|| Refusal::bad("A pair has the parameters a and b."))?;
        value
            .parse::<u64>()
            .map_err(|_| Refusal::bad(format!("{name} is not the id of a page.")))
    };
    Ok((one("a")?, one("b")?))
}

async fn pair(State(state): SharedState, request: Request) -> Served {
    let (a, b) = pair_of(&request)?;
    let page = state
        .heavy(move |state| Ok(PairView::of(state, a, b)?.render(state)))
        .await?;
    Ok(page.respond(&state, request.headers()))
}

async fn passage(
    State(state): SharedState,
    Path(cluster): Path<String>,
    request: Request,
) -> Served {
    let cluster = id(&cluster)?;
    let page = state
        .heavy(move |state| Ok(PassageView::of(state, cluster)?.render(state)))
        .await?;
    Ok(page.respond(&state, request.headers()))
}

async fn neighbourhoods(State(state): SharedState, request: Request) -> Served {
    let at = parameter(&request, "at").unwrap_or_default();
    let page = state
        .heavy(move |state| NeighbourhoodTree::of(state, &at)?.render(state))
        .await?;
    Ok(page.respond(&state, request.headers()))
}

/// Returns what a request wants to be marked in a page.
pub(crate) fn marks_of(request: &Request) -> Result<PageMarks, Refusal> {
    let from = match parameter(request, "from") {
        Some(text) => text
            .parse()
            .map_err(|_| Refusal::bad("from is not a number of bytes."))?,
        None => 0,
    };
    Ok(PageMarks {
        labels: parameter(request, "labels").is_some(),
        phrase: parameter(request, "phrase"),
        chunk: parameter(request, "chunk"),
        from,
    })
}

async fn page(State(state): SharedState, Path(page_id): Path<String>, request: Request) -> Served {
    let page_id = id(&page_id)?;
    let marks = marks_of(&request)?;
    let page = state
        .heavy(move |state| Ok(PageView::of(state, page_id, &marks)?.render(state)))
        .await?;
    Ok(page.respond(&state, request.headers()))
}

async fn asset(Path(name): Path<String>, request: Request) -> Served {
    assets::serve(&name, request.headers())
}

async fn health() -> Response {
    fresh_json(StatusCode::OK, &json!({ "status": "ok" }))
}

async fn metrics(State(state): SharedState) -> Response {
    let text = state.metrics.render(state.memory());
    fresh(Body::from(text), "text/plain; version=0.0.4; charset=utf-8")
}

const LOGIN: &str = "<h1>Token</h1>\n<form method=\"post\" action=\"/login\">\n\
    <label>The token of this site <input name=\"token\" type=\"password\" autocomplete=\"current-password\" required=\"\" /></label>\n\
    <button>Enter</button></form>\n";

async fn login_form(State(state): SharedState) -> Response {
    let body = match state.gate.needs_token() {
        true => bare_page("Token", LOGIN),
        false => bare_page("Token", "<p>This site needs no token.</p>\n"),
    };
    fresh(Body::from(body), HTML)
}

async fn login(State(state): SharedState, request: Request) -> Served {
    let form = read_form(request).await?;
    let token = form.iter().find(|(name, _)| name == "token");
    let token = token.map_or("", |(_, value)| value.as_str());
    if !state.gate.is_token(token) {
        return Err(Refusal::new(
            StatusCode::UNAUTHORIZED,
            "This is not the token.",
        ));
    }
    let mut response = see_other("/");
    let proof = state.gate.proof().map(|proof| proof.to_hex().to_string());
    let cookie = format!(
        "{SESSION_COOKIE}={}; Path=/; HttpOnly; SameSite=Strict",
        proof.unwrap_or_default()
    );
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    Ok(response)
}

/// Whether the body of a request has this media type.
pub(crate) fn has_type(request: &Request, kind: &str) -> bool {
    let value = request.headers().get(CONTENT_TYPE);
    let value = value
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let essence = value.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case(kind)
}

/// Counts pages that were compared with labels.
pub(crate) fn count_detected(state: &SiteState, pages: u64) {
    state.metrics.detected.fetch_add(pages, Ordering::Relaxed);
}
