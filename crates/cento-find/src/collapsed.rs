//! Pages that an analysis leaves out because they are copies or near-copies of others.
//!
//! ```text
//!   pairs of copies ─ gone ─▶ gone: one bit a page
//! ```
//!
//! The ids of the removed pages are streamed past the pages of the corpus, both in order, so
//! nothing but the bitmap is held, and the bitmap is a state of the flow: it is part of the memory
//! budget.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use cento_flow::{Bitmap, Flow, Registry, Stage, StageError};
use serde_json::{Value, json};

use crate::copies::{CopiesParams, copies};
use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::run::{Findings, Workplace};
use crate::tables::read_table;

/// The state, and the stage that fills it.
pub(crate) const GONE: &str = "gone";

/// Looks for copies, or finds that they were looked for before.
pub(crate) fn removed(
    source: &Arc<CorpusPages>,
    params: &CopiesParams,
    workplace: &Workplace,
) -> Result<Findings> {
    if source.corpora().len() > 1 {
        return Err(Error::Usage(
            "near-copies are collapsed in one corpus at a time".into(),
        ));
    }
    let workplace = Workplace {
        again: false,
        ..workplace.clone()
    };
    copies(source, params, &workplace)
}

/// Adds the state of removed pages to a flow, empty if nothing is to be removed.
pub(crate) fn with_gone(
    flow: Flow,
    source: &CorpusPages,
    copies: Option<&Findings>,
    asked: &Value,
) -> Flow {
    let bytes = u64::from(source.kept()).div_ceil(8).max(8);
    let pairs = copies.map(|findings| json!(findings.table("pairs")));
    flow.state(GONE, "bitmap", json!({ "bytes": bytes })).stage(
        Stage::map(GONE, pairs.into_iter().collect())
            .with(json!({ "source": source.identity(), "params": asked }))
            .writes(GONE),
    )
}

/// Registers what [`with_gone`] names.
pub(crate) fn register(registry: &mut Registry, source: &Arc<CorpusPages>) {
    let pages = Arc::clone(source);
    registry.map(GONE, move |context| {
        let gone = context.state::<Bitmap>(GONE)?;
        let pairs: PathBuf = context.task()?;
        let mut ids = ids_of(&pairs)?;
        let mut next = ids.next().transpose()?;
        for task in 0..pages.page_tasks().len() {
            pages.for_each_page(task, |facts| {
                // Both are in the order of ids, and an id that no page has would hold up all
                // others.
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

/// The ids of the pages that are removed, in order. The table has kept pages first and then those
/// without text, which no flow over texts asks about, so it is read up to the first id that is
/// lower than the one before it.
fn ids_of(pairs: &Path) -> Result<impl Iterator<Item = Result<u64>> + use<>> {
    let ids = read_table(pairs)?.flat_map(|batch| {
        let ids = batch.and_then(|batch| {
            let column = batch.column_by_name("page_id");
            let ids = column.and_then(|column| column.as_primitive_opt::<UInt64Type>());
            ids.map(|ids| ids.values().to_vec())
                .ok_or_else(|| Error::Bug("the table of pairs has no page ids".into()))
        });
        match ids {
            Ok(ids) => ids.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        }
    });
    let mut last = 0;
    Ok(ids.take_while(move |id| match id {
        Ok(id) => std::mem::replace(&mut last, *id) <= *id,
        Err(_) => true,
    }))
}
