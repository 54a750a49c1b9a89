//! The pages on which people judge.

use std::sync::atomic::Ordering;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use cento_report::escape;
use cento_report::format::{counted, number, percent};
use serde_json::Value;

use super::confirm::{can_confirm, confirm};
use super::log::{Judgement, JudgingSession, judge_name};
use super::sample::start_sample;
use super::statistics::{agreement, precision};
use crate::error::Refusal;
use crate::lists::{LISTS, Show, address};
use crate::respond::{HTML, Served, SitePage, fresh, parameter, read_form, see_other};
use crate::routes::SharedState;
use crate::state::SiteState;
use crate::views::{ClassView, PageMarks, PageView, PairView, PassageView, QuiltView};

/// The value of a field of a form.
fn field<'a>(form: &'a [(String, String)], name: &str) -> &'a str {
    let found = form.iter().find(|(other, _)| other == name);
    found.map_or("", |(_, value)| value.as_str())
}

fn whole<T: std::str::FromStr>(form: &[(String, String)], name: &str) -> Result<T, Refusal> {
    let wrong = |_| Refusal::bad(format!("{name} is not a whole number."));
    field(form, name).trim().parse().map_err(wrong)
}

fn session_number(text: &str) -> Result<u32, Refusal> {
    let missing = |_| Refusal::missing(format!("There is no session {text}."));
    text.parse().map_err(missing)
}

/// Starts a session with a sample of a list.
pub(crate) async fn start(State(state): SharedState, request: Request) -> Served {
    let filter = request.uri().query().unwrap_or_default().to_owned();
    let form = read_form(request).await?;
    let (size, seed) = (whole(&form, "size")?, whole(&form, "seed")?);
    let list = field(&form, "list").to_owned();
    let session = state
        .heavy(move |state| start_sample(state, &list, &filter, size, seed))
        .await?;
    Ok(see_other(&format!("/judge/{session}")))
}

fn title_of(list: &str) -> &str {
    let found = LISTS.iter().find(|spec| spec.name == list);
    found.map_or(list, |spec| spec.title)
}

/// All sessions, and what their verdicts say.
pub(crate) async fn index(State(state): SharedState) -> Served {
    let sessions = state.verdicts.sessions();
    let mut body = String::from("<h1>Judge</h1>\n");
    if sessions.is_empty() {
        body.push_str(
            "<p>There are no sessions yet. Open a <a href=\"/lists\">list</a>, choose filters if you like, and start a session \
             with a random sample of it at the end of the page.</p>\n",
        );
    } else {
        body.push_str("<h2>Sessions</h2>\n<ul class=\"lists\">\n");
        for session in &sessions {
            let sample = &session.sample;
            let judges = session.verdicts.iter().map(|(judge, verdicts)| {
                format!(
                    "{} {} of {}",
                    escape(judge),
                    number(verdicts.len() as u64),
                    number(sample.items.len() as u64)
                )
            });
            let judges: Vec<String> = judges.collect();
            body.push_str(&format!(
                "<li><a href=\"/judge/{number}\">Session {number}: {}</a><br /><span class=\"muted\">{} of {}, seed {}{}. {}</span></li>\n",
                escape(title_of(&sample.list)),
                counted(sample.items.len() as u64, "item", "items"),
                counted(sample.rows, "row", "rows"),
                sample.seed,
                match sample.filter.as_str() {
                    "" => String::new(),
                    filter => format!(", filtered by <code>{}</code>", escape(filter)),
                },
                match judges.is_empty() {
                    true => "Not judged yet".to_owned(),
                    false => judges.join(", "),
                },
                number = sample.session,
            ));
        }
        body.push_str("</ul>\n");
        tables(&mut body, &sessions);
        body.push_str(
            "<h2>Export</h2>\n<p><a href=\"/judge/export.jsonl\">All verdicts as JSON Lines</a>, <a href=\"/judge/export.csv\">as CSV</a></p>\n",
        );
    }
    let page = SitePage {
        title: "Judge".to_owned(),
        body,
        module: None,
        entry: "judge",
    };
    Ok(fresh(Body::from(page.render(&state)), HTML))
}

/// Parameters in a short form: names and values without braces.
fn short(parameters: &Value) -> String {
    let Some(object) = parameters.as_object() else {
        return parameters.to_string();
    };
    let pairs = object.iter().filter_map(|(name, value)| match value {
        Value::Null | Value::Object(_) | Value::Array(_) => None,
        value => Some(format!("{name}={}", value.to_string().trim_matches('"'))),
    });
    pairs.collect::<Vec<_>>().join(" ")
}

fn tables(out: &mut String, sessions: &[JudgingSession]) {
    let rows = precision(sessions);
    if !rows.is_empty() {
        out.push_str(
            "<h2>Precision</h2>\n<p>The share of spam among the items that were judged spam or not spam, with the interval of Wilson \
             for a confidence of 95&#160;%. Items that are unsure do not count.</p>\n\
             <div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">list and parameters</th><th scope=\"col\">judge</th>\
             <th scope=\"col\" class=\"n\">spam</th><th scope=\"col\" class=\"n\">not spam</th><th scope=\"col\" class=\"n\">unsure</th>\
             <th scope=\"col\" class=\"n\">precision</th><th scope=\"col\" class=\"n\">interval</th></tr></thead>\n<tbody>\n",
        );
        for row in rows {
            let filter = match row.filter.as_str() {
                "" => String::new(),
                filter => format!(", filtered by {filter}"),
            };
            out.push_str(&format!(
                "<tr><td>{}<br /><span class=\"muted\">{}{}</span></td><td><bdi>{}</bdi></td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
                escape(title_of(&row.list)),
                escape(&short(&row.parameters)),
                escape(&filter),
                escape(row.judge.as_deref().unwrap_or("majority of all")),
                number(row.spam),
                number(row.not_spam),
                number(row.unsure),
                row.precision().map_or("–".to_owned(), percent),
                row.interval().map_or("–".to_owned(), |[low, high]| format!(
                    "{} to {}",
                    percent(low),
                    percent(high)
                )),
            ));
        }
        out.push_str("</tbody></table></div>\n");
    }
    let pairs = agreement(sessions);
    if !pairs.is_empty() {
        out.push_str(
            "<h2>Agreement of judges</h2>\n<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">list</th><th scope=\"col\">judges</th>\
             <th scope=\"col\" class=\"n\">items of both</th><th scope=\"col\" class=\"n\">same verdict</th><th scope=\"col\" class=\"n\">share</th>\
             <th scope=\"col\" class=\"n\">Cohen’s kappa</th></tr></thead>\n<tbody>\n",
        );
        for pair in pairs {
            out.push_str(&format!(
                "<tr><td>{}</td><td><bdi>{}</bdi> and <bdi>{}</bdi></td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
                escape(title_of(&pair.list)),
                escape(&pair.judges[0]),
                escape(&pair.judges[1]),
                number(pair.items),
                number(pair.same),
                percent(pair.same as f64 / pair.items as f64),
                pair.kappa.map_or("undefined".to_owned(), |kappa| format!("{kappa:.3}")),
            ));
        }
        out.push_str("</tbody></table></div>\n");
    }
}

/// One item of a session, or the form for the name of the judge.
pub(crate) async fn show(
    State(state): SharedState,
    Path(number): Path<String>,
    request: Request,
) -> Served {
    let number = session_number(&number)?;
    let session = state.verdicts.session(number)?;
    let name = parameter(&request, "judge").unwrap_or_default();
    if name.trim().is_empty() {
        let page = ask_name(&session);
        return Ok(fresh(Body::from(page.render(&state)), HTML));
    }
    let judge = judge_name(&name)?;
    let item = match parameter(&request, "item") {
        Some(text) => Some(
            text.parse::<u32>()
                .map_err(|_| Refusal::bad("item is not a number."))?,
        ),
        None => session.next_item(&judge, 0),
    };
    let stored = parameter(&request, "stored");
    let page = state
        .heavy(move |state| match item {
            Some(item) => item_page(state, &session, &judge, item, stored.as_deref()),
            None => Ok(finished_page(&session, &judge)),
        })
        .await?;
    Ok(fresh(Body::from(page.render(&state)), HTML))
}

fn ask_name(session: &JudgingSession) -> SitePage {
    let number = session.sample.session;
    let mut body = format!(
        "<h1>Session {number}: {}</h1>\n<form method=\"get\" action=\"/judge/{number}\">\n\
         <label>Your name <input name=\"judge\" required=\"\" maxlength=\"60\" autofocus=\"\" /></label>\n<button>Judge</button></form>\n",
        escape(title_of(&session.sample.list)),
    );
    for judge in session.verdicts.keys() {
        body.push_str(&format!(
            "<p><a href=\"{}\">Continue as <bdi>{}</bdi></a></p>\n",
            escape(&address(&format!("/judge/{number}"), &[("judge", judge)])),
            escape(judge)
        ));
    }
    SitePage {
        title: format!("Session {number}"),
        body,
        module: None,
        entry: "judge",
    }
}

fn progress(session: &JudgingSession, judge: &str) -> String {
    let (judged, all) = (session.judged(judge), session.sample.items.len());
    format!(
        "<p class=\"progress\"><progress value=\"{judged}\" max=\"{all}\"></progress> <span id=\"judged\">{judged} of {all}</span> judged by <bdi>{}</bdi></p>\n",
        escape(judge)
    )
}

fn undo_form(session: &JudgingSession, judge: &str) -> String {
    format!(
        "<form method=\"post\" action=\"/judge/{}/undo\" class=\"inline\"><input type=\"hidden\" name=\"judge\" value=\"{}\" />\
         <button data-key=\"z\"{}>Undo <kbd>z</kbd></button></form>\n",
        session.sample.session,
        escape(judge),
        if session.judged(judge) == 0 {
            " disabled=\"\""
        } else {
            ""
        },
    )
}

fn labels_form(session: &JudgingSession, judge: &str) -> String {
    if !can_confirm(&session.sample.list) {
        return String::new();
    }
    format!(
        "<form method=\"post\" action=\"/judge/{}/labels\" class=\"inline\"><input type=\"hidden\" name=\"judge\" value=\"{}\" />\
         <button data-key=\"l\">Write labels and stop chunks <kbd>l</kbd></button></form>\n",
        session.sample.session,
        escape(judge),
    )
}

fn finished_page(session: &JudgingSession, judge: &str) -> SitePage {
    let number = session.sample.session;
    let body = format!(
        "<h1>Session {number}: {}</h1>\n{}<p>All items are judged. <a href=\"/judge\">See what the verdicts say</a></p>\n{}{}",
        escape(title_of(&session.sample.list)),
        progress(session, judge),
        undo_form(session, judge),
        labels_form(session, judge),
    );
    SitePage {
        title: format!("Session {number}"),
        body,
        module: Some("judge.js"),
        entry: "judge",
    }
}

fn item_page(
    state: &SiteState,
    session: &JudgingSession,
    judge: &str,
    item: u32,
    stored: Option<&str>,
) -> Result<SitePage, Refusal> {
    let number = session.sample.session;
    let missing = || Refusal::missing(format!("The session has no item {item}."));
    let judged = session
        .sample
        .items
        .get(item as usize)
        .ok_or_else(missing)?;
    let before = session.verdict(judge, item);
    let mut body = format!(
        "<h1>{}, item {}</h1>\n{}",
        escape(title_of(&session.sample.list)),
        item + 1,
        progress(session, judge),
    );
    if let Some(verdict) = stored.and_then(Judgement::parse) {
        body.push_str(&format!(
            "<p role=\"status\" id=\"stored\">Stored: {}.</p>\n",
            verdict.label()
        ));
    }
    body.push_str(&format!(
        "<form method=\"post\" action=\"/judge/{number}\" id=\"verdict\" class=\"verdict\">\n\
         <input type=\"hidden\" name=\"judge\" value=\"{}\" /><input type=\"hidden\" name=\"item\" value=\"{item}\" />\n",
        escape(judge)
    ));
    for (verdict, key) in Judgement::ALL.into_iter().zip(["s", "n", "u"]) {
        let pressed = before.is_some_and(|before| before.verdict == verdict);
        body.push_str(&format!(
            "<button name=\"verdict\" value=\"{}\" data-key=\"{key}\"{}>{} <kbd>{key}</kbd></button>\n",
            verdict.name(),
            if pressed { " class=\"pressed\"" } else { "" },
            verdict.label(),
        ));
    }
    let note = before.map_or("", |before| before.note.as_str());
    body.push_str(&format!(
        "<label>Note <kbd>e</kbd> <input name=\"note\" maxlength=\"2000\" value=\"{}\" data-key=\"e\" /></label>\n</form>\n",
        escape(note)
    ));
    body.push_str(&undo_form(session, judge));
    body.push_str(&labels_form(session, judge));
    body.push_str("<nav class=\"pager\" aria-label=\"Items\"><ul>\n");
    let mut entry = |other: u32, label: &str, key: &str| {
        let target = address(
            &format!("/judge/{number}"),
            &[("judge", judge), ("item", &other.to_string())],
        );
        body.push_str(&format!(
            "<li><a href=\"{}\" data-key=\"{key}\">{label} <kbd>{key}</kbd></a></li>\n",
            escape(&target)
        ));
    };
    if item > 0 {
        entry(item - 1, "Previous item", "p");
    }
    if (item as usize) + 1 < session.sample.items.len() {
        entry(item + 1, "Next item", "f");
    }
    body.push_str(&format!(
        "</ul></nav>\n<p><a href=\"{}\" data-key=\"o\">The evidence on a page of its own <kbd>o</kbd></a></p>\n<div class=\"evidence\">\n{}</div>\n",
        escape(&judged.evidence),
        evidence(state, &session.sample.list, judged),
    ));
    Ok(SitePage {
        title: format!("Session {number}, item {}", item + 1),
        body,
        module: Some("judge.js"),
        entry: "judge",
    })
}

/// The evidence of an item as part of a page: the values of the row, and what the row leads to.
fn evidence(state: &SiteState, list: &str, item: &super::log::JudgedItem) -> String {
    let mut out = String::from("<dl class=\"facts\">\n");
    let spec = LISTS.iter().find(|spec| spec.name == list);
    let columns = spec.into_iter().flat_map(|spec| spec.columns);
    for column in columns.filter(|column| column.show != Show::Hidden) {
        let text = match (item.row.get(column.name), column.show) {
            (None | Some(Value::Null), _) => continue,
            (Some(Value::String(text)), Show::Date) => {
                text.split('T').next().unwrap_or_default().to_owned()
            }
            (Some(Value::String(text)), _) => text.clone(),
            (Some(Value::Bool(flag)), _) => if *flag { "yes" } else { "no" }.to_owned(),
            (Some(value), Show::Share) => percent(value.as_f64().unwrap_or_default()),
            (Some(Value::Number(value)), _) => match value.as_u64() {
                Some(count) => number(count),
                None => format!("{:.1}", value.as_f64().unwrap_or_default()),
            },
            (Some(other), _) => other.to_string(),
        };
        out.push_str(&format!(
            "<dt>{}</dt><dd><bdi>{}</bdi></dd>\n",
            escape(column.label),
            escape(&cento_report::format::shortened(&text, 400))
        ));
    }
    out.push_str("</dl>\n");
    let shown = shown_evidence(state, item);
    match shown {
        Ok(Some(body)) => {
            out.push_str(&body.replacen("<h1", "<h2", 1).replacen("</h1>", "</h2>", 1));
        }
        Ok(None) => {}
        // The findings may have been computed again since the sample was drawn.
        Err(refusal) => out.push_str(&format!("<p>{}</p>\n", escape(&refusal.message))),
    }
    out
}

fn shown_evidence(
    state: &SiteState,
    item: &super::log::JudgedItem,
) -> Result<Option<String>, Refusal> {
    // The address was made by this program, but the file may have been edited.
    let (path, query) = item
        .evidence
        .split_once('?')
        .unwrap_or((&item.evidence, ""));
    let parameter = |name: &str| {
        let mut pairs = url::form_urlencoded::parse(query.as_bytes());
        let found = pairs.find(|(other, _)| other == name);
        found.map(|(_, value)| value.into_owned())
    };
    let page_of = |text: &str| {
        text.parse::<u64>()
            .map_err(|_| Refusal::missing("The evidence of this item is unknown."))
    };
    let mut parts = path.trim_start_matches('/').split('/');
    let page = match (parts.next(), parts.next()) {
        (Some("quilts"), Some(id)) => QuiltView::of(state, page_of(id)?)?.render(state),
        (Some("classes"), Some(id)) => ClassView::of(state, page_of(id)?)?.render(state),
        (Some("passages"), Some(id)) => PassageView::of(state, page_of(id)?)?.render(state),
        (Some("pair"), None) => {
            let a = page_of(&parameter("a").unwrap_or_default())?;
            let b = page_of(&parameter("b").unwrap_or_default())?;
            PairView::of(state, a, b)?.render(state)
        }
        (Some("pages"), Some(id)) => {
            let marks = PageMarks {
                labels: parameter("labels").is_some(),
                phrase: parameter("phrase"),
                chunk: parameter("chunk"),
                from: 0,
            };
            PageView::of(state, page_of(id)?, &marks)?.render(state)
        }
        _ => return Ok(None),
    };
    Ok(Some(page.body))
}

/// Stores a verdict, and shows the next item.
pub(crate) async fn verdict(
    State(state): SharedState,
    Path(number): Path<String>,
    request: Request,
) -> Served {
    let number = session_number(&number)?;
    let form = read_form(request).await?;
    let verdict = Judgement::parse(field(&form, "verdict"))
        .ok_or_else(|| Refusal::bad("A verdict is spam, not-spam or unsure."))?;
    let item: u32 = whole(&form, "item")?;
    let judge = judge_name(field(&form, "judge"))?;
    let note = field(&form, "note").to_owned();
    let name = judge.clone();
    let next = state
        .heavy(move |state| {
            // On the disk before the reader is told.
            state.verdicts.judge(number, &name, item, verdict, &note)?;
            Ok(state.verdicts.session(number)?.next_item(&name, item + 1))
        })
        .await?;
    state.metrics.verdicts.fetch_add(1, Ordering::Relaxed);
    let mut values = vec![("judge", judge.as_str()), ("stored", verdict.name())];
    let next = next.map(|next| next.to_string());
    if let Some(next) = &next {
        values.push(("item", next));
    }
    Ok(see_other(&address(&format!("/judge/{number}"), &values)))
}

/// Withdraws the last verdict of a judge, and shows its item again.
pub(crate) async fn undo(
    State(state): SharedState,
    Path(number): Path<String>,
    request: Request,
) -> Served {
    let number = session_number(&number)?;
    let form = read_form(request).await?;
    let judge = judge_name(field(&form, "judge"))?;
    let name = judge.clone();
    let item = state
        .heavy(move |state| state.verdicts.undo(number, &name))
        .await?;
    Ok(see_other(&address(
        &format!("/judge/{number}"),
        &[("judge", &judge), ("item", &item.to_string())],
    )))
}

/// Writes labels and stop chunks from the confirmed verdicts of a session.
pub(crate) async fn write_labels(
    State(state): SharedState,
    Path(number): Path<String>,
    request: Request,
) -> Served {
    let number = session_number(&number)?;
    let form = read_form(request).await?;
    let judge = judge_name(field(&form, "judge"))?;
    let files = state
        .heavy(move |state| confirm(state, &state.verdicts.session(number)?))
        .await?;
    let body = format!(
        "<h1>Labels and stop chunks</h1>\n<p>{} from items that most judges called spam: <code>{}</code></p>\n\
         <p>{} from items that most judges called not spam: <code>{}</code></p>\n\
         <p>To search for the labels: <code>{}</code></p>\n<p><a href=\"{}\">Back to the session</a></p>\n",
        counted(files.label_count as u64, "label", "labels"),
        escape(&files.labels.display().to_string()),
        counted(files.stop_count as u64, "stop chunk", "stop chunks"),
        escape(&files.stops.display().to_string()),
        escape(&format!(
            "cento detect {} --labels {}",
            cento_report::format::quoted(&state.corpus),
            cento_report::format::quoted(&files.labels.display().to_string())
        )),
        escape(&address(&format!("/judge/{number}"), &[("judge", &judge)])),
    );
    let page = SitePage {
        title: "Labels and stop chunks".to_owned(),
        body,
        module: None,
        entry: "judge",
    };
    Ok(fresh(Body::from(page.render(&state)), HTML))
}
