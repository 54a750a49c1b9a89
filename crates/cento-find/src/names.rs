//! Joins page names to result rows.
//!
//! Rows of hot shuffles identify pages by number only. At the end of a flow, one pass over the
//! pages tables looks up the pages of the result and joins their names in a shuffle of numbers:
//!
//! ```text
//!   result rows ──────────▶ by page:  7 │ order 0: the name of page 7
//!   pages table ─ names ──▶             │ order 1: a row about page 7      → reduce → named rows
//!    (only pages in `named`)            │ order 1: another row about page 7
//! ```
//!
//! A row about two pages passes through two such shuffles.

use std::sync::Arc;

use cento_flow::{Bitmap, Flow, Registry, Stage, WideGroup};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::corpus_pages::{CorpusPages, PageFacts};
use crate::error::{Error, Result};

/// The state of pages whose names are needed. Stages that write result rows set the bits of their
/// pages.
pub const NAMED: &str = "named";
const NAMES: &str = "names";
/// The order of the name among the records of a page: the first.
const NAME: u64 = 0;
/// The order of the rows about a page.
pub const ROW: u64 = 1;

/// The name of a page and the facts that result tables show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageName {
    /// Which of the corpora it is in.
    pub corpus: usize,
    /// Its id there.
    pub page_id: u64,
    /// Its URL.
    pub url: String,
    /// The host of the URL.
    pub host: Option<String>,
    /// The registered domain of the host.
    pub domain: Option<String>,
    /// The IP address of the server.
    pub ip: Option<String>,
    /// When it was fetched, in milliseconds.
    pub fetched_at: Option<i64>,
    /// When it was published, according to the page.
    pub published_at: Option<i64>,
    /// The bytes of its payload.
    pub bytes: u64,
    /// The words of its text.
    pub words: u32,
}

impl From<PageFacts<'_>> for PageName {
    fn from(facts: PageFacts<'_>) -> PageName {
        PageName {
            corpus: facts.corpus,
            page_id: facts.page_id,
            url: facts.url.to_owned(),
            host: facts.host.map(str::to_owned),
            domain: facts.domain.map(str::to_owned),
            ip: facts.ip.map(str::to_owned),
            fetched_at: facts.fetched_at,
            published_at: facts.published_at,
            bytes: facts.bytes,
            words: facts.words,
        }
    }
}

/// Adds the state of pages whose names are needed to a flow.
pub fn with_named(flow: Flow, source: &CorpusPages) -> Flow {
    let bytes = u64::from(source.all()).div_ceil(8).max(8);
    flow.state(NAMED, "bitmap", json!({ "bytes": bytes }))
}

/// Returns the stage that writes the names of these pages to shuffles of numbers.
pub fn stage(source: &CorpusPages, shuffles: &[&str]) -> Stage {
    let stage = Stage::map(NAMES, source.page_tasks())
        .with(json!(shuffles))
        .reads(NAMED);
    shuffles
        .iter()
        .fold(stage, |stage, name| stage.writes(name))
}

/// Registers the stage of [`stage`].
pub fn register(registry: &mut Registry, source: &Arc<CorpusPages>) {
    let source = Arc::clone(source);
    registry.map(NAMES, move |context| {
        let shuffles: Vec<String> = context.parameters()?;
        let named = context.state::<Bitmap>(NAMED)?;
        let mut emitters = shuffles
            .iter()
            .map(|name| context.wide_shuffle(name))
            .collect::<cento_flow::Result<Vec<_>>>()?;
        source.for_each_page(context.task()?, |facts| {
            if !named.get(u64::from(facts.number)) {
                return Ok::<_, cento_flow::StageError>(());
            }
            let name = serde_json::to_vec(&PageName::from(facts))?;
            for emitter in &mut emitters {
                emitter.push_numbered(u64::from(facts.number), NAME, &name)?;
            }
            Ok(())
        })
    });
}

/// Returns the name that precedes the rows about a page.
pub fn name_of(group: &mut WideGroup<'_, '_>) -> Result<PageName> {
    let number = group.number();
    let unnamed = || Error::Bug(format!("page {number} has no name"));
    let first = group
        .next()
        .filter(|record| record.order == NAME)
        .ok_or_else(unnamed)?;
    serde_json::from_slice(&first.value).map_err(|_| unnamed())
}
