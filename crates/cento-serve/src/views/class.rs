//! The class view: a kept page and the pages that were removed for it.

use cento_report::format::{counted, number};
use cento_report::{ReportTable, TableHead, escape};
use serde_json::{Value, json};

use super::{PageDetails, page_link};
use crate::error::Refusal;
use crate::lists::Listing;
use crate::respond::SitePage;
use crate::state::SiteState;

/// Members that are shown.
const MEMBERS: usize = 500;

/// A class of duplicates.
pub(crate) struct ClassView {
    kept: PageDetails,
    rows: Vec<u32>,
    more: usize,
}

impl ClassView {
    pub(crate) fn of(state: &SiteState, kept_id: u64) -> Result<ClassView, Refusal> {
        let missing = || Refusal::missing(format!("Page {kept_id} has no duplicates."));
        let list = duplicates(state).ok_or_else(missing)?;
        let column = list.spec.column("of_id").ok_or_else(missing)?;
        let rows = list.columns.rows_with(column, kept_id);
        if rows.is_empty() {
            return Err(missing());
        }
        Ok(ClassView {
            kept: PageDetails::of(state.store()?, kept_id)?,
            rows: rows.iter().take(MEMBERS).copied().collect(),
            more: rows.len().saturating_sub(MEMBERS),
        })
    }

    pub(crate) fn render(&self, state: &SiteState) -> SitePage {
        let all = (self.rows.len() + self.more) as u64;
        let dated = self.kept.dated().unwrap_or_else(|| "no date".to_owned());
        let mut body = format!(
            "<h1>Copy class</h1>\n<p>Kept page: {} ({})</p>\n<p>{} {} removed in its favour.</p>\n",
            page_link(state, self.kept.page_id, &self.kept.url),
            escape(&dated),
            counted(all, "duplicate", "duplicates"),
            if all == 1 { "was" } else { "were" },
        );
        if let Some(list) = duplicates(state) {
            let visible = list.visible().filter_map(|at| list.spec.columns.get(at));
            let names = visible.map(|column| column.label.to_owned());
            let table = ReportTable {
                title: String::new(),
                columns: std::iter::once("evidence".to_owned())
                    .chain(names)
                    .collect(),
                rows: self.rows.iter().map(|&row| list.cells(row)).collect(),
                ..ReportTable::default()
            };
            let heads = vec![TableHead::default(); table.columns.len()];
            body.push_str(&table.rows_html(&heads, &state.root));
        }
        if self.more > 0 {
            body.push_str(&format!(
                "<p class=\"muted\">and {} more</p>\n",
                number(self.more as u64)
            ));
        }
        SitePage {
            title: "Copy class".to_owned(),
            body,
            module: None,
            entry: "lists",
        }
    }

    pub(crate) fn json(&self, state: &SiteState) -> Value {
        let list = duplicates(state);
        let rows = self.rows.iter();
        let rows = rows.filter_map(|&row| list.map(|list| list.json(row)));
        json!({
            "kept": self.kept.json(),
            "duplicates": rows.collect::<Vec<_>>(),
            "more": self.more,
        })
    }
}

fn duplicates(state: &SiteState) -> Option<&Listing> {
    state.lists.loaded("duplicates")
}
