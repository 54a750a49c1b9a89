//! Turns confirmed verdicts into labels and stop chunks.
//!
//! An item is confirmed if most of its judges gave the same verdict. A confirmed label (a row of
//! the list of labels) stays a label if it is spam, and becomes a stop chunk if it is not. Of a
//! confirmed page, the chunks of spam become labels, except for those that are also on a page that
//! was judged not to be spam, or on the built-in stop list.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use cento_file::Output;
use cento_find::discover::recipe_of;
use cento_labels::{LabelKind, LabelsWriter, Recipe, StopList};
use serde::Deserialize;
use serde_json::json;

use super::log::{Judgement, JudgingSession};
use super::statistics::majority_of;
use crate::error::{Error, Refusal};
use crate::state::SiteState;

/// The lists whose rows are about one page, with the column of its id.
const PAGE_LISTS: [(&str, &str); 4] = [
    ("quilts", "page_id"),
    ("detected", "page_id"),
    ("popular", "page_id"),
    ("duplicates", "page_id"),
];

/// The files that were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConfirmedFiles {
    pub(crate) labels: PathBuf,
    pub(crate) label_count: usize,
    pub(crate) stops: PathBuf,
    pub(crate) stop_count: usize,
}

/// Whether the verdicts of a list can become labels.
pub(crate) fn can_confirm(list: &str) -> bool {
    list == "labels" || PAGE_LISTS.iter().any(|(name, _)| *name == list)
}

/// Writes the labels and stop chunks of a session beside its verdicts.
pub(crate) fn confirm(
    state: &SiteState,
    session: &JudgingSession,
) -> Result<ConfirmedFiles, Refusal> {
    let sample = &session.sample;
    if !can_confirm(&sample.list) {
        return Err(Refusal::bad(
            "The rows of this list are neither labels nor single pages, so that they do not become labels.",
        ));
    }
    let mut spam = Vec::new();
    let mut fine = Vec::new();
    for (number, item) in (0u32..).zip(&sample.items) {
        match majority_of(session, number) {
            Some(Judgement::Spam) => spam.push(item),
            Some(Judgement::NotSpam) => fine.push(item),
            _ => {}
        }
    }
    let corpus = state.store()?;
    // Labels have the recipe of the run that found them; pages have that of the corpus.
    let recipe = match sample.list == "labels" {
        true => sample
            .parameters
            .get("recipe")
            .and_then(|recipe| Recipe::deserialize(recipe).ok())
            .filter(|recipe| recipe.of == LabelKind::Chunks)
            .ok_or_else(|| Refusal::bad("The labels of this list are not chunks of text."))?,
        false => recipe_of(corpus.parameters(), LabelKind::Chunks),
    };
    let built_in: BTreeSet<[u8; 16]> = StopList::built_in().hashes(&recipe).into_iter().collect();
    let mut labels: BTreeSet<[u8; 16]> = BTreeSet::new();
    let mut stops: BTreeMap<[u8; 16], String> = BTreeMap::new();
    if sample.list == "labels" {
        labels.extend(spam.iter().filter_map(|item| parse_hash(&item.key)));
        for item in &fine {
            let hash = parse_hash(&item.key);
            let page = item.row.get("page_id").and_then(serde_json::Value::as_u64);
            if let (Some(hash), Some(page)) = (hash, page)
                && let Some(text) = chunk_text(state, page, &hash)?
            {
                stops.insert(hash, text);
            }
        }
    } else {
        let column = PAGE_LISTS.iter().find(|(name, _)| *name == sample.list);
        let column = column.map_or("page_id", |(_, column)| column);
        let chunks = |item: &&super::log::JudgedItem| -> Result<Vec<[u8; 16]>, Refusal> {
            let page = item.row.get(column).and_then(serde_json::Value::as_u64);
            let chunks = page.map(|page| corpus.chunks(page)).transpose()?;
            let chunks = chunks.unwrap_or_default();
            Ok(chunks.iter().map(|chunk| chunk.chunk_hash).collect())
        };
        for item in &spam {
            labels.extend(chunks(item)?);
        }
        for item in &fine {
            for hash in chunks(item)? {
                labels.remove(&hash);
            }
        }
    }
    labels.retain(|hash| !built_in.contains(hash) && !stops.contains_key(hash));
    let folder = state.verdicts.folder();
    let named = |ending: &str| folder.join(format!("session-{}.{ending}", sample.session));
    let files = ConfirmedFiles {
        labels: named("labels"),
        label_count: labels.len(),
        stops: named("stops"),
        stop_count: stops.len(),
    };
    write_stops(&files.stops, stops.values())?;
    let mut all_stops: BTreeSet<[u8; 16]> = built_in;
    all_stops.extend(stops.keys());
    let write = || -> cento_labels::Result<()> {
        let mut writer = LabelsWriter::create(&files.labels, recipe, labels.len() as u64)?;
        for hash in &labels {
            writer.push(*hash)?;
        }
        let all_stops: Vec<[u8; 16]> = all_stops.iter().copied().collect();
        let made = json!({
            "verdicts": { "session": sample.session, "list": sample.list, "run": sample.run },
            "cento": env!("CARGO_PKG_VERSION"),
        });
        writer.finish(&all_stops, made)?;
        Ok(())
    };
    write().map_err(Error::from)?;
    Ok(files)
}

/// The text of a chunk on a page.
fn chunk_text(state: &SiteState, page: u64, hash: &[u8; 16]) -> Result<Option<String>, Refusal> {
    let corpus = state.store()?;
    let chunks = corpus.chunks(page)?;
    let Some(chunk) = chunks.iter().find(|chunk| chunk.chunk_hash == *hash) else {
        return Ok(None);
    };
    let text = corpus.text(page)?.unwrap_or_default();
    let text = text.get(chunk.begin as usize..chunk.end as usize);
    Ok(text.map(str::to_owned))
}

/// Writes a stop list that `cento discover --stops` and `cento detect` read.
fn write_stops<'a>(path: &Path, texts: impl Iterator<Item = &'a String>) -> Result<(), Refusal> {
    let write = || -> std::io::Result<()> {
        let mut output = Output::within(path)?;
        writeln!(output, "version 1\n[chunks]")?;
        for text in texts {
            writeln!(output, "{}", StopList::line(text))?;
        }
        output.finish_synced()
    };
    write().map_err(|error| Error::io(path, error).into())
}

fn parse_hash(hex: &str) -> Option<[u8; 16]> {
    let mut hash = [0; 16];
    if hex.len() != 32 {
        return None;
    }
    for (at, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(hash)
}
