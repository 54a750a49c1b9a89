//! Pages from JSON objects and rows of tables.

use std::borrow::Cow;

use super::{digest, rejected, with_text};
use crate::json::{FieldPlan, FieldValue, may_exceed, nesting};
use crate::{Cause, Decoded, Page, Place, Reject, Role, Settings, Skipped, date};

/// Completes a page from its text.
pub(super) fn page(mut page: Page, text: String, markup: bool, settings: &Settings) -> Decoded {
    match settings.skip_row_digests {
        true => page.payload_bytes = text.len() as u64,
        false => digest(&mut page, text.as_bytes()),
    }
    page.mime = Some(if markup { "text/html" } else { "text/plain" }.to_owned());
    with_text(page, text, markup)
}

/// Decodes a page from a JSON object.
pub(super) fn json(
    mut page: Page,
    line: &[u8],
    plan: &FieldPlan,
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
        let detail = format!("nested {deepest} deep, the limit is {limit}");
        return Err(skipped(Cause::TooDeep, detail));
    }
    let mut picked = plan
        .pick(line)
        .map_err(|error| skipped(Cause::BadJson, error.to_string()))?;
    let mut take = |role: Role| plan.take(&mut picked, role).map(FieldValue::into_text);
    let (text, markup) = match take(Role::Text) {
        Some(text) => (text, false),
        None => match take(Role::Html) {
            Some(html) => (html, true),
            None => {
                let fields = &settings.fields;
                let names: Vec<_> = fields
                    .names(Role::Text)
                    .chain(fields.names(Role::Html))
                    .collect();
                let names = names.join(", ");
                return Err(skipped(Cause::MissingField, format!("no text in {names}")));
            }
        },
    };
    page.row = Some(place.ordinal.into());
    page.id = take(Role::Id)
        .map(Cow::into_owned)
        .filter(|id| !id.is_empty());
    if let Some(url) = take(Role::Url)
        .map(Cow::into_owned)
        .or_else(|| page.id.clone())
    {
        page.url = url;
    }
    page.ip = take(Role::Ip).map(Cow::into_owned);
    page.title = take(Role::Title).map(Cow::into_owned);
    page.language = take(Role::Language).map(Cow::into_owned);
    page.published = take(Role::Date).map(|date| date::from_text(&date).into_owned());
    if text.len() as u64 > settings.limits.max_page_bytes {
        digest(&mut page, text.as_bytes());
        let limit = settings.limits.max_page_bytes;
        let detail = format!("{} bytes, the limit is {limit}", text.len());
        return Ok(rejected(page, Reject::TooLarge, detail));
    }
    Ok(self::page(page, text.into_owned(), markup, settings))
}
