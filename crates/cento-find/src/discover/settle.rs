//! From numbers to labels with text, names and reasons.
//!
//! ```text
//!   examples ─ texts ─▶ worded ◀─ names      worded ─ name ─▶ in order ─ labels ─▶ labels
//!   by original ─ owned ─▶ owners ◀─ names   owners ─ originals ─▶ originals
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use cento_flow::{Bitmap, Registry, StageError, WideGroups};
use serde::{Deserialize, Serialize};

use super::count::{Example, Owned};
use super::params::DiscoverParams;
use super::propose::{Sight, propose};
use crate::corpus_pages::CorpusPages;
use crate::names::{NAMED, ROW, name_of};
use crate::provenance::{LabelRow, OriginalRow};
use crate::sites::SITES;
use crate::tally::Tally;

/// Labels whose texts are looked for together.
const BATCH: usize = 4096;
/// Bytes of text that are kept of a label: beyond any paragraph. `detect --fuzzy` compares no more
/// than this, and says so.
const LONGEST: usize = 256 << 10;

/// A label with its text.
#[derive(Serialize, Deserialize)]
struct Worded {
    example: Example,
    text: Option<String>,
}

/// A label with all but its place in the table.
#[derive(Serialize, Deserialize)]
struct Named {
    worded: Worded,
    page_id: u64,
    page: String,
    proposed: Option<String>,
}

pub(super) fn register(
    registry: &mut Registry,
    source: &Arc<CorpusPages>,
    params: &DiscoverParams,
) {
    texts(registry, source, params);
    let (all, informed, file) = (
        u64::from(source.kept()),
        params.informed(),
        params.of_files(),
    );
    registry.reduce("name", move |context, groups| {
        let mut in_order = context.wide_shuffle("in order")?;
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
                let worded: Worded = serde_json::from_slice(&record.value)?;
                let example = &worded.example;
                let proposed = propose(&Sight {
                    text: worded.text.as_deref(),
                    file,
                    bytes: u64::from(example.bytes),
                    count: example.count,
                    largest: example.largest,
                    sites: u64::from(example.sites),
                    all_sites: sites,
                    originals: informed.then(|| (u64::from(example.pages), all)),
                });
                context.count("proposed", u64::from(proposed.is_some()));
                let [first, second] = example.hash;
                let row = serde_json::to_vec(&Named {
                    worded,
                    page_id: name.page_id,
                    page: name.url.clone(),
                    proposed,
                })?;
                in_order.push_numbered(first, second, &row)?;
            }
        }
        Ok(())
    });
    registry.reduce("labels", |context, groups| {
        let mut table = context.table::<LabelRow>("labels")?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            for record in group {
                let named: Named = serde_json::from_slice(&record.value)?;
                let example = named.worded.example;
                let [first, second] = example.hash;
                context.count("labels", 1);
                context.count("occurrences", example.count);
                table.push(LabelRow {
                    hash: (u128::from(first) << 64 | u128::from(second)).to_be_bytes(),
                    text: named.worded.text,
                    bytes: u64::from(example.bytes),
                    count: example.count,
                    pages: u64::from(example.pages),
                    sites: u64::from(example.sites),
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

fn texts(registry: &mut Registry, source: &Arc<CorpusPages>, params: &DiscoverParams) {
    let pages = Arc::clone(source);
    let readable = source.has_text() && !params.of_files();
    registry.reduce("texts", move |context, groups| {
        let mut worded = context.wide_shuffle("worded")?;
        let mut push = |page: u32, example: Example, text: Option<&str>| {
            let begin = example.begin as usize;
            let chunk = text.and_then(|text| text.get(begin..begin + example.bytes as usize));
            let row = serde_json::to_vec(&Worded {
                text: chunk.map(shortened),
                example,
            })?;
            worded.push_numbered(u64::from(page), ROW, &row)?;
            Ok::<_, StageError>(())
        };
        let mut wanted: BTreeMap<u32, Vec<Example>> = BTreeMap::new();
        let mut size = 0;
        let mut groups = WideGroups::new(groups);
        loop {
            let group = groups.next_group()?;
            let done = group.is_none();
            // The labels of a page that has too many to wait for other pages.
            let mut rest = None;
            if let Some(mut group) = group {
                let page = u32::try_from(group.number())?;
                let waiting = wanted.entry(page).or_default();
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
                let numbers: Vec<u32> = wanted.keys().copied().collect();
                pages.texts(&numbers, |page, text| {
                    context.check()?;
                    for example in wanted.remove(&page).unwrap_or_default() {
                        push(page, example, Some(text))?;
                    }
                    if last == Some(page) {
                        text_of_last = Some(text.to_owned());
                    }
                    Ok::<_, StageError>(())
                })?;
            }
            for (page, examples) in std::mem::take(&mut wanted) {
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
    registry.reduce::<Owned, _>("owned", |context, groups| {
        let named = context.state::<Bitmap>(NAMED)?;
        let mut owners = context.wide_shuffle("owners")?;
        while let Some(group) = groups.next_group()? {
            let page = u64::from(group.key());
            named.set(page);
            let labels = group.count() as u64;
            owners.push_numbered(page, ROW, &labels.to_le_bytes())?;
        }
        Ok(())
    });
    registry.reduce("originals", |context, groups| {
        let mut table = context.table::<OriginalRow>("originals")?;
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
