//! Excludes duplicates and near-duplicates from an analysis.
//!
//! ```text
//!   pairs of `copies` ─ removed duplicates ─▶ one bit per page
//! ```
//!
//! The ids of the removed pages are merged with the pages of the corpus, both in order, so only the
//! bitmap is in memory. It is a state of the flow and part of the memory budget.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cento_flow::{Bitmap, Flow, Registry, Stage, StageError};
use serde_json::{Value, json};

use crate::copies::{self, CopiesParams, CopyPairRow, copies};
use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::run::{Findings, Workplace};
use crate::tables::read_rows;

/// The state of removed pages, the stage that fills it, and the counter of these pages.
pub(crate) const GONE: &str = "removed duplicates";

/// Runs `copies`, or reads its cached results.
pub(crate) fn removed(
    source: &Arc<CorpusPages>,
    params: &CopiesParams,
    workplace: &Workplace,
) -> Result<Findings> {
    if source.corpora().len() > 1 {
        return Err(Error::Usage(
            "near-duplicates can be collapsed in one corpus at a time only".into(),
        ));
    }
    let workplace = Workplace {
        again: false,
        ..workplace.for_step()
    };
    copies(source, params, &workplace)
}

/// Adds the state of removed pages to a flow. Without findings of `copies` it stays empty.
pub(crate) fn with_gone(
    flow: Flow,
    source: &CorpusPages,
    copies: Option<&Findings>,
    params: &Value,
) -> Flow {
    let bytes = u64::from(source.kept()).div_ceil(8).max(8);
    let pairs = copies.map(|findings| json!(findings.table(copies::PAIRS.as_str())));
    flow.state(GONE, "bitmap", json!({ "bytes": bytes })).stage(
        Stage::map(GONE, pairs.into_iter().collect())
            .with(json!({ "source": source.identity(), "params": params }))
            .writes(GONE),
    )
}

/// Registers the stage of [`with_gone`].
pub(crate) fn register(registry: &mut Registry, source: &Arc<CorpusPages>) {
    let pages = Arc::clone(source);
    registry.map(GONE, move |context| {
        let gone = context.state::<Bitmap>(GONE)?;
        let pairs: PathBuf = context.task()?;
        let mut ids = ids_of(&pairs)?;
        let mut next = ids.next().transpose()?;
        for task in 0..pages.page_tasks().len() {
            pages.for_each_page(task, |facts| {
                // Both are in the order of ids. An id that no page has is skipped, or it would
                // block all later ones.
                while next.is_some_and(|id| id < facts.page_id) {
                    next = ids.next().transpose()?;
                }
                if next == Some(facts.page_id) && facts.reject.is_none() {
                    gone.set(u64::from(facts.number));
                    context.count(GONE, 1);
                }
                Ok::<_, StageError>(())
            })?;
            context.check()?;
        }
        Ok(())
    });
}

/// Returns the ids of the removed pages with text, in order. The table lists pages with text first
/// and then records without text, which no flow over texts needs, so reading stops at the first id
/// that is lower than its predecessor.
fn ids_of(pairs: &Path) -> Result<impl Iterator<Item = Result<u64>> + use<>> {
    let ids = read_rows::<CopyPairRow>(pairs)?.map(|row| Ok(row?.page_id));
    let mut last = 0;
    Ok(ids.take_while(move |id| match id {
        Ok(id) => std::mem::replace(&mut last, *id) <= *id,
        Err(_) => true,
    }))
}
