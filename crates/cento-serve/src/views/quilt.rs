//! The quilt view: the text of a page, coloured by source, with the sources beside it.

use cento_find::quilts::PatchRow;
use cento_report::{Excerpt, escape};
use cento_scan::analyses::excerpt::{ExcerptLimits, SourceNote, quilt_excerpt};
use serde_json::{Value, json};

use super::{PageDetails, excerpt_json, outside_link};
use crate::error::Refusal;
use crate::respond::SitePage;
use crate::state::SiteState;

/// Patches that are read, and how much is shown.
const PATCHES: u64 = 2_000;
const LIMITS: ExcerptLimits = ExcerptLimits {
    sources: 40,
    longest: 200_000,
    around: 20_000,
    quotes: 1,
};

/// A quilted page with its sources.
pub(crate) struct QuiltView {
    page: PageDetails,
    excerpt: Excerpt,
    command: String,
}

impl QuiltView {
    pub(crate) fn of(state: &SiteState, page_id: u64) -> Result<QuiltView, Refusal> {
        let missing = || Refusal::missing(format!("Page {page_id} is not a quilt."));
        let (Some(quilts), Some(patches)) = (&state.quilts, &state.patches) else {
            return Err(missing());
        };
        let row = quilts.rows(page_id, 1)?.pop().ok_or_else(missing)?;
        let corpus = state.store()?;
        let page = PageDetails::of(corpus, page_id)?;
        let findings = quilts.findings();
        let note = |patch: &PatchRow| {
            let source = PageDetails::of(corpus, patch.source_id).unwrap_or_default();
            SourceNote {
                dates: match source.dated() {
                    Some(dated) => format!(" ({dated})"),
                    None => " (no date)".to_owned(),
                },
                evidence: Some(format!("/pair?a={page_id}&b={}", patch.source_id)),
            }
        };
        let patches = patches.rows(page_id, PATCHES)?;
        let excerpt = quilt_excerpt(&state.source, findings, &row, patches, &LIMITS, &note)?;
        let analysis = cento_scan::analysis(cento_find::quilts::QUILTS);
        let command = analysis
            .map(|analysis| cento_scan::recorded_command(analysis, &state.corpus, findings));
        Ok(QuiltView {
            page,
            excerpt,
            command: command.unwrap_or_default(),
        })
    }

    pub(crate) fn render(&self, state: &SiteState) -> SitePage {
        let dated = self.page.dated().unwrap_or_else(|| "no date".to_owned());
        let title = self.page.heading();
        let body = format!(
            "<h1 dir=\"auto\">Quilt: {}</h1>\n<p class=\"muted\">{}. <a href=\"/pages/{}\">The page and its other findings</a>{}</p>\n\
             <p class=\"hint muted\">Point at a passage to find its source, and at a source to find its passages. With the keyboard: Tab, then Enter.</p>\n\
             {}<p class=\"muted\">Command: <code>{}</code></p>\n",
            escape(&title),
            escape(&dated),
            self.page.page_id,
            outside_link(&self.page.url),
            self.excerpt.html(&state.root),
            escape(&self.command),
        );
        SitePage {
            title: format!("Quilt: {title}"),
            body,
            module: Some("quilt.js"),
            entry: "lists",
        }
    }

    pub(crate) fn json(&self) -> Value {
        json!({ "page": self.page.json(), "quilt": excerpt_json(&self.excerpt) })
    }
}
