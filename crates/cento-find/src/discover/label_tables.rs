//! The result tables of `discover`, with the texts of labels and the names of pages.
//!
//! ```text
//!   examples ─ texts ─▶ with text ◀─ names    with text ─ name ─▶ in order ─ labels ─▶ labels
//!   by original ─ labels of originals ─▶ originals ◀─ names    originals ─ originals ─▶ originals
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use cento_flow::{Bitmap, Registry, StageError, WideGroups};
use serde::{Deserialize, Serialize};

use super::flow_names::{counter, shuffle, stage};
use super::frequency::{LabelExample, LabelOriginal};
use super::params::DiscoverParams;
use super::propose::{LabelFacts, propose};
use super::{LABELS_TABLE, ORIGINALS_TABLE};
use crate::corpus_pages::CorpusPages;
use crate::names::{NAMED, ROW, name_of};
use crate::provenance::{LabelRow, OriginalRow};
use crate::sites::SITES;
use crate::tally::Tally;

/// Labels whose texts are looked up in one batch.
const BATCH: usize = 4096;
/// The most bytes of the text of a label that are stored, more than any paragraph has. `detect
/// --fuzzy` compares only these, and says so.
const LONGEST: usize = 256 << 10;

/// A label with its text.
#[derive(Serialize, Deserialize)]
struct LabelText {
    example: LabelExample,
    text: Option<String>,
}

/// A label with its text and its page.
#[derive(Serialize, Deserialize)]
struct NamedLabel {
    label: LabelText,
    page_id: u64,
    page: String,
    proposed: Option<String>,
}

pub(super) fn register(
    registry: &mut Registry,
    corpus: &Arc<CorpusPages>,
    params: &DiscoverParams,
) {
    texts(registry, corpus, params);
    let (all, informed, file) = (
        u64::from(corpus.kept()),
        params.informed(),
        params.of_files(),
    );
    registry.reduce(stage::NAME, move |context, groups| {
        let mut in_order = context.wide_shuffle(shuffle::IN_ORDER)?;
        let sites: u64 = match informed {
            true => 0,
            false => context
                .state::<Tally>(SITES)?
                .sums()
                .values()
                .map(|sum| sum[0])
                .sum(),
        };
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let name = name_of(&mut group)?;
            for record in group {
                let label: LabelText = serde_json::from_slice(&record.value)?;
                let example = &label.example;
                let proposed = propose(&LabelFacts {
                    text: label.text.as_deref(),
                    file,
                    bytes: u64::from(example.bytes),
                    count: example.count,
                    largest: example.largest,
                    sites: u64::from(example.sites),
                    all_sites: sites,
                    originals: informed.then(|| (u64::from(example.pages), all)),
                });
                context.count(counter::PROPOSED, u64::from(proposed.is_some()));
                let [first, second] = example.hash;
                let row = serde_json::to_vec(&NamedLabel {
                    label,
                    page_id: name.page_id,
                    page: name.url.clone(),
                    proposed,
                })?;
                in_order.push_numbered(first, second, &row)?;
            }
        }
        Ok(())
    });
    registry.reduce(stage::LABELS, move |context, groups| {
        let mut table = context.table(LABELS_TABLE)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            for record in group {
                let named: NamedLabel = serde_json::from_slice(&record.value)?;
                let example = named.label.example;
                let [first, second] = example.hash;
                context.count(counter::OCCURRENCES, example.count);
                table.push(LabelRow {
                    hash: (u128::from(first) << 64 | u128::from(second)).to_be_bytes(),
                    text: named.label.text,
                    bytes: u64::from(example.bytes),
                    count: example.count,
                    pages: u64::from(example.pages),
                    // Domains are not counted in a corpus of originals.
                    sites: (!informed).then_some(u64::from(example.sites)),
                    page_id: named.page_id,
                    page: named.page,
                    originals: example.originals,
                    proposed: named.proposed,
                })?;
            }
        }
        Ok(())
    });
    originals(registry);
}

fn texts(registry: &mut Registry, corpus: &Arc<CorpusPages>, params: &DiscoverParams) {
    let pages = Arc::clone(corpus);
    let readable = corpus.has_text() && !params.of_files();
    registry.reduce(stage::TEXTS, move |context, groups| {
        let mut with_text = context.wide_shuffle(shuffle::WITH_TEXT)?;
        let mut push = |page: u32, example: LabelExample, text: Option<&str>| {
            let begin = example.begin as usize;
            let chunk = text.and_then(|text| text.get(begin..begin + example.bytes as usize));
            let row = serde_json::to_vec(&LabelText {
                text: chunk.map(shortened),
                example,
            })?;
            with_text.push_numbered(u64::from(page), ROW, &row)?;
            Ok::<_, StageError>(())
        };
        let mut batch: BTreeMap<u32, Vec<LabelExample>> = BTreeMap::new();
        let mut size = 0;
        let mut groups = WideGroups::new(groups);
        loop {
            let group = groups.next_group()?;
            let done = group.is_none();
            // The labels of a page that has more than a batch.
            let mut rest = None;
            if let Some(mut group) = group {
                let page = u32::try_from(group.number())?;
                let waiting = batch.entry(page).or_default();
                for record in group.by_ref().take(BATCH) {
                    waiting.push(serde_json::from_slice(&record.value)?);
                    size += 1;
                }
                if waiting.len() == BATCH {
                    rest = Some((page, group));
                }
            }
            if !done && size < BATCH {
                continue;
            }
            let last = rest.as_ref().map(|(page, _)| *page);
            let mut text_of_last: Option<String> = None;
            if readable {
                let numbers: Vec<u32> = batch.keys().copied().collect();
                pages.texts(&numbers, |page, text| {
                    context.check()?;
                    for example in batch.remove(&page).unwrap_or_default() {
                        push(page, example, Some(text))?;
                    }
                    if last == Some(page) {
                        text_of_last = Some(text.to_owned());
                    }
                    Ok::<_, StageError>(())
                })?;
            }
            for (page, examples) in std::mem::take(&mut batch) {
                for example in examples {
                    push(page, example, None)?;
                }
            }
            if let Some((page, group)) = rest {
                for record in group {
                    let example = serde_json::from_slice(&record.value)?;
                    push(page, example, text_of_last.as_deref())?;
                }
            }
            size = 0;
            if done {
                return Ok(());
            }
        }
    });
}

fn shortened(text: &str) -> String {
    let mut end = LONGEST.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().to_owned()
}

fn originals(registry: &mut Registry) {
    registry.reduce::<LabelOriginal, _>(stage::COUNT_ORIGINALS, |context, groups| {
        let named = context.state::<Bitmap>(NAMED)?;
        let mut originals = context.wide_shuffle(shuffle::ORIGINALS)?;
        while let Some(group) = groups.next_group()? {
            let page = u64::from(group.key());
            named.set(page);
            let labels = group.count() as u64;
            originals.push_numbered(page, ROW, &labels.to_le_bytes())?;
        }
        Ok(())
    });
    registry.reduce(stage::ORIGINALS, |context, groups| {
        let mut table = context.table(ORIGINALS_TABLE)?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let original = u32::try_from(group.number())?;
            let name = name_of(&mut group)?;
            for record in group {
                let labels = record.value.first_chunk().copied().unwrap_or_default();
                table.push(OriginalRow {
                    original,
                    page_id: name.page_id,
                    page: name.url.clone(),
                    labels: u64::from_le_bytes(labels),
                })?;
            }
        }
        Ok(())
    });
}
