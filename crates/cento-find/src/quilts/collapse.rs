//! Pages that are left out because they are copies of others.

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use std::collections::HashSet;
use std::sync::Arc;

use crate::copies::{CopiesParams, copies};
use crate::error::{Error, Result};
use crate::run::Workplace;
use crate::source::Source;
use crate::tables::read_table;

/// The pages that are left out, a bit for each page.
#[derive(Default)]
pub(super) struct Skipped {
    bits: Vec<u64>,
    pub(super) pages: u64,
}

impl Skipped {
    #[inline(always)]
    pub(super) fn contains(&self, page: u32) -> bool {
        let word = self.bits.get(page as usize / 64);
        word.is_some_and(|word| word >> (page % 64) & 1 == 1)
    }

    fn insert(&mut self, page: u32) {
        if let Some(word) = self.bits.get_mut(page as usize / 64) {
            *word |= 1 << (page % 64);
            self.pages += 1;
        }
    }

    /// Copies and near-copies, by the analysis of that name.
    pub(super) fn copies(source: &Arc<Source>, workplace: &Workplace) -> Result<Skipped> {
        let workplace = Workplace {
            again: false,
            ..workplace.clone()
        };
        let findings = copies(source, &CopiesParams::default(), &workplace)?;
        let mut dropped: HashSet<u64> = HashSet::new();
        for batch in read_table(&findings.table("pairs"))? {
            let batch = batch?;
            let ids = batch.column_by_name("page_id");
            let ids = ids.and_then(|ids| ids.as_primitive_opt::<UInt64Type>());
            let ids = ids.ok_or_else(|| {
                Error::Parameter("the findings of copies have no page ids".to_owned())
            })?;
            dropped.extend(ids.values());
        }
        let mut skipped = Skipped {
            bits: vec![0; (source.kept() as usize).div_ceil(64)],
            pages: 0,
        };
        for task in 0..source.page_tasks().len() {
            source.for_each_page(task, |facts| {
                if facts.reject.is_none() && dropped.contains(&facts.page_id) {
                    skipped.insert(facts.number);
                }
                Ok::<_, Error>(())
            })?;
        }
        Ok(skipped)
    }
}
