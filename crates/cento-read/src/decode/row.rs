//! Pages out of tables: the text is a field, and what is known about it are others.

use std::borrow::Cow;

use super::{digest, rejected, with_text};
use crate::json::{Plan, Value, may_exceed, nesting};
use crate::{Cause, Decoded, Page, Place, Reject, Role, Settings, Skipped, date};

/// A page whose text is given.
pub(super) fn page(mut page: Page, text: String, markup: bool) -> Decoded {
    digest(&mut page, text.as_bytes());
    page.mime = Some(if markup { "text/html" } else { "text/plain" }.to_owned());
    with_text(page, text, markup)
}

/// A page out of a JSON object.
pub(super) fn json(
    mut page: Page,
    line: &[u8],
    plan: &Plan,
    place: Place,
    settings: &Settings,
) -> Result<Decoded, Skipped> {
    let skipped = |cause: Cause, detail: String| Skipped {
        place,
        cause,
        detail,
    };
    let limit = settings.limits.max_nesting;
    let deepest = if may_exceed(line, limit) {
        nesting(line)
    } else {
        0
    };
    if deepest > limit {
        let detail = format!("{deepest} objects and lists within each other, the limit is {limit}");
        return Err(skipped(Cause::TooDeep, detail));
    }
    let mut picked = plan
        .pick(line)
        .map_err(|error| skipped(Cause::BadJson, error.to_string()))?;
    let mut said = |role: Role| plan.take(&mut picked, role).map(Value::into_text);
    let (text, markup) = match said(Role::Text) {
        Some(text) => (text, false),
        None => match said(Role::Html) {
            Some(html) => (html, true),
            None => {
                let fields = &settings.fields;
                let names: Vec<_> = fields
                    .names(Role::Text)
                    .chain(fields.names(Role::Html))
                    .collect();
                let names = names.join(", ");
                return Err(skipped(
                    Cause::MissingField,
                    format!("there is no text in {names}"),
                ));
            }
        },
    };
    if let Some(url) = said(Role::Url).or_else(|| said(Role::Id)) {
        page.url = url.into_owned();
    }
    page.ip = said(Role::Ip).map(Cow::into_owned);
    page.title = said(Role::Title).map(Cow::into_owned);
    page.language = said(Role::Language).map(Cow::into_owned);
    page.published = said(Role::Date).map(|date| date::from_text(&date).into_owned());
    if text.len() as u64 > settings.limits.max_page_bytes {
        digest(&mut page, text.as_bytes());
        let limit = settings.limits.max_page_bytes;
        let detail = format!("{} bytes, the limit is {limit}", text.len());
        return Ok(rejected(page, Reject::TooLarge, detail));
    }
    Ok(self::page(page, text.into_owned(), markup))
}
