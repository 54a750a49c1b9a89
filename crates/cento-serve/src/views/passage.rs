//! The passage view: where a passage travelled, on a time line.

use cento_find::passages::AppearanceRow;
use cento_find::precedence::shown_day;
use cento_report::escape;
use cento_report::format::{counted, number};
use cento_scan::analyses::passages::spread_figure;
use serde_json::{Value, json};

use super::{floor, page_link};
use crate::error::Refusal;
use crate::lists::{ListValue, Listing};
use crate::respond::SitePage;
use crate::state::SiteState;

/// Appearances that are read, and those that are quoted; bytes of a quote and of its context.
const APPEARANCES: u64 = 5_000;
const QUOTED: usize = 60;
const QUOTE: usize = 600;
const AROUND: usize = 60;
/// Milliseconds of a day.
const DAY: f64 = 86_400_000.0;

/// An appearance with its words.
struct QuotedAppearance {
    row: AppearanceRow,
    millis: Option<i64>,
    /// The text before the passage, the passage, and the text after it.
    quote: Option<[String; 3]>,
}

/// A passage that is on several pages.
pub(crate) struct PassageView {
    row: u32,
    appearances: Vec<QuotedAppearance>,
    more: u64,
}

impl PassageView {
    pub(crate) fn of(state: &SiteState, cluster: u64) -> Result<PassageView, Refusal> {
        let missing = || Refusal::missing(format!("There is no passage {cluster}."));
        let list = list(state).ok_or_else(missing)?;
        let column = list.spec.column("cluster").ok_or_else(missing)?;
        let row = list.columns.rows_with(column, cluster).first();
        let row = *row.ok_or_else(missing)?;
        let index = state.appearances.as_ref().ok_or_else(missing)?;
        let more = index.count(cluster).saturating_sub(APPEARANCES);
        let mut appearances: Vec<QuotedAppearance> = index
            .rows(cluster, APPEARANCES)?
            .into_iter()
            .map(|row| QuotedAppearance {
                millis: row.date.as_deref().and_then(cento_text::date::parse),
                row,
                quote: None,
            })
            .collect();
        // By date; undated ones last, in their order in the table.
        appearances.sort_by_key(|one| (one.millis.is_none(), one.millis));
        let corpus = state.store()?;
        for appearance in appearances.iter_mut().take(QUOTED) {
            let text = corpus.text(appearance.row.page_id)?.unwrap_or_default();
            appearance.quote = quote(&text, &appearance.row);
        }
        Ok(PassageView {
            row,
            appearances,
            more,
        })
    }

    pub(crate) fn render(&self, state: &SiteState) -> SitePage {
        let mut body = String::from("<h1>A travelling passage</h1>\n");
        if let Some(list) = list(state) {
            let dated = self.appearances.iter().filter(|one| one.millis.is_some());
            let dated = dated.count() as u64;
            body.push_str(&format!(
                "<p>The passage is on {} of {}; pages with identical text count as one. It has {} {}.</p>\n<p>{}</p>\n",
                counted(list.id(self.row, "pages"), "page", "pages"),
                counted(list.id(self.row, "sites"), "domain", "domains"),
                counted(list.id(self.row, "words"), "word", "words"),
                match dated {
                    0 => "on the first page of the corpus that has it",
                    _ => "on the page that is earliest by date",
                },
                match dated {
                    0 => "No page has a date, so that it is unknown where the passage appeared first.".to_owned(),
                    _ => format!(
                        "{} {} a date. A date is that of publication, else that of fetching: it says when a page is known to have had the passage, not who wrote it.",
                        counted(dated, "page", "pages"),
                        if dated == 1 { "has" } else { "have" },
                    ),
                }
            ));
            if dated >= 2 {
                let days = self.appearances.iter().filter_map(|one| one.millis);
                let days = days.map(|millis| millis as f64 / DAY).collect();
                let figure = spread_figure(std::iter::once(("this passage".to_owned(), days)));
                body.push_str(&format!(
                    "<div class=\"figures\"><figure>{}</figure></div>\n",
                    figure.svg_for_page()
                ));
            }
        }
        body.push_str("<ol class=\"timeline\">\n");
        for one in &self.appearances {
            let when = match (one.millis, &one.row.dated_by) {
                (Some(millis), by) => {
                    let by = by.as_deref().unwrap_or_default();
                    let date = cento_text::date::render(millis);
                    format!("{by} {}", shown_day(&date, by))
                }
                (None, _) => "no date".to_owned(),
            };
            body.push_str(&format!(
                "<li><span class=\"when\">{}</span> {}",
                escape(&when),
                page_link(state, one.row.page_id, &one.row.page)
            ));
            if let Some([before, passage, after]) = &one.quote {
                body.push_str(&format!(
                    "<blockquote dir=\"auto\">{}<mark class=\"s1\">{}</mark>{}</blockquote>",
                    escape(before),
                    escape(passage),
                    escape(after)
                ));
            }
            body.push_str("</li>\n");
        }
        body.push_str("</ol>\n");
        if self.more > 0 {
            body.push_str(&format!(
                "<p class=\"muted\">and {} more pages</p>\n",
                number(self.more)
            ));
        }
        SitePage {
            title: "A travelling passage".to_owned(),
            body,
            module: None,
            entry: "lists",
        }
    }

    pub(crate) fn json(&self, state: &SiteState) -> Value {
        let row = list(state).map(|list| list.json(self.row));
        let appearances = self.appearances.iter().map(|one| {
            json!({
                "page_id": one.row.page_id,
                "url": one.row.page,
                "site": one.row.site,
                "begin": one.row.begin,
                "end": one.row.end,
                "date": one.row.date,
                "dated_by": one.row.dated_by,
            })
        });
        json!({
            "passage": row,
            "appearances": appearances.collect::<Vec<_>>(),
            "more": self.more,
        })
    }
}

fn list(state: &SiteState) -> Option<&Listing> {
    let list = state.lists.loaded("clusters")?;
    // The key of the list must be a number, for the search by it.
    matches!(
        list.value(0, "cluster"),
        ListValue::Whole(_) | ListValue::Null
    )
    .then_some(list)
}

fn quote(text: &str, row: &AppearanceRow) -> Option<[String; 3]> {
    let (begin, end) = (row.begin as usize, row.end as usize);
    let passage = text.get(begin..end)?;
    let from = floor(text, begin.saturating_sub(AROUND));
    let shown = floor(text, end.min(begin + QUOTE)).max(begin);
    if shown < end {
        let cut = text.get(begin..shown)?;
        return Some([
            text.get(from..begin)?.to_owned(),
            format!("{cut} …"),
            String::new(),
        ]);
    }
    let to = floor(text, end + AROUND);
    Some([
        text.get(from..begin)?.to_owned(),
        passage.to_owned(),
        text.get(end..to)?.to_owned(),
    ])
}
