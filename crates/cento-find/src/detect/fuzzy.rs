//! Edited chunks: those that share enough fingerprints with a label. They are reported apart, and count for no score.
//!
//! ```text
//!   provenance ─ label prints ─▶ by print, prints      texts ─ chunk prints ─▶ by print
//!   by print ─ meet ─▶ pairs ─ resemble ─▶ fuzzy labels ◀─ fuzzy origins      fuzzy labels ─ fuzzy names ─▶ fuzzy rows ─▶ fuzzy
//! ```
//!
//! Fingerprints are those of winnowing over runs of three words: texts that share six words in a row share one. A fingerprint that many
//! labels have tells nothing of which of them was edited, and is passed over.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use cento_flow::{Bitmap, Flow, Registry, Row, Stage, StageError, WideGroups, table_row};
use cento_labels::LabelKind;
use cento_print::Scheme;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::matching::GroupTask;
use super::moments::{real, share};
use super::params::{DetectParams, LabelSet};
use crate::error::{Error, Result};
use crate::names::{NAMED, ROW, name_of};
use crate::provenance::{label_rows, table_of};
use crate::source::Source;
use crate::tables::open_groups;
use crate::words::WordHasher;

const SCHEME: Scheme = Scheme::Winnow { k: 3, w: 4 };
/// Labels that may have a fingerprint in common.
const CROWD: usize = 64;
/// The shuffle whose pages need names.
pub(super) const ROWS: &str = "fuzzy rows";

table_row! {
    /// A chunk that is an edited label.
    #[derive(Debug, Clone, PartialEq)]
    pub struct FuzzyRow {
        /// The page.
        pub page_id: u64,
        /// Its address.
        pub page: String,
        /// Which chunk of it.
        pub ordinal: u32,
        /// Its first byte in the text.
        pub begin: u32,
        /// The byte behind it.
        pub end: u32,
        /// The label that it resembles most.
        pub hash: [u8; 16],
        /// How much: the share of fingerprints of both that both have.
        pub resemblance: f64,
        /// What the label says.
        pub text: Option<String>,
        /// The page that the label came from.
        pub origin: String,
    }
}

/// A fingerprint of a label or of a chunk.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Print {
    hash: u64,
    kind: u32,
    /// The label, or the page.
    of: u32,
    ordinal: u32,
    begin: u32,
    end: u32,
    /// How many fingerprints the label or the chunk has.
    size: u32,
}

const LABEL: u32 = 0;
const CHUNK: u32 = 1;

impl Row for Print {
    type Key = u64;
    type Rest = (u32, u32, u32);

    fn key(&self) -> u64 {
        self.hash
    }

    fn rest(&self) -> (u32, u32, u32) {
        (self.kind, self.of, self.ordinal)
    }
}

/// A fingerprint that a chunk shares with a label.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Pair {
    page: u32,
    ordinal: u32,
    label: u32,
    begin: u32,
    end: u32,
    sizes: [u32; 2],
}

impl Row for Pair {
    type Key = u32;
    type Rest = (u32, u32);

    fn key(&self) -> u32 {
        self.page
    }

    fn rest(&self) -> (u32, u32) {
        (self.ordinal, self.label)
    }
}

/// A chunk and the label that it resembles most.
#[derive(Serialize, Deserialize)]
struct Edited {
    page: u32,
    ordinal: u32,
    begin: u32,
    end: u32,
    resemblance: u64,
    said: Option<(Option<String>, String, u64)>,
}

/// Fails if there is nothing to compare edited chunks with.
pub(super) fn check(source: &Source, set: &LabelSet) -> Result<()> {
    let wrong = |what: &str| Err(Error::Parameter(what.to_owned()));
    if set.used().recipe.of == LabelKind::Files {
        return wrong("files are matched whole: --fuzzy is for labels of chunks");
    }
    if !source.has_text() {
        return wrong("the corpus keeps no text: --fuzzy has nothing to compare");
    }
    if !set.table {
        return wrong(
            "the table beside the labels is missing, and their texts with it: --fuzzy needs it",
        );
    }
    Ok(())
}

/// The distinct fingerprints of a text, sorted.
fn prints(hasher: &mut WordHasher, text: &str, out: &mut Vec<u64>) {
    out.clear();
    SCHEME.for_each(hasher.words(text), |print| out.push(print.hash));
    out.sort_unstable();
    out.dedup();
}

/// Adds the stages up to where pages need names.
pub(super) fn with_stages(
    flow: Flow,
    source: &Source,
    set: &LabelSet,
    own: bool,
    memory: u64,
) -> Result<Flow> {
    let chunks = Stage::map("chunk prints", source.text_tasks())
        .reads("prints")
        .writes("by print");
    let labels = set.used().count;
    // Two bytes for each of the fingerprints that a label has, about, and no more than an eighth of the memory.
    let bytes = (labels * 64).clamp(1 << 12, (memory / 8).max(1 << 12));
    let table = super::group_tasks(&table_of(set.labels.path()))?;
    let bits = 32 - source.all().leading_zeros();
    Ok(flow
        .state("prints", "bitmap", json!({ "bytes": bytes }))
        .state(
            "resembled",
            "bitmap",
            json!({ "bytes": labels.div_ceil(8).max(8) }),
        )
        .shuffle("by print")
        .shuffle_of_numbers("pairs", bits)
        .shuffle_of_numbers("fuzzy labels", (64 - labels.leading_zeros()).max(1))
        .shuffle_of_numbers(ROWS, bits)
        .table("fuzzy")
        .stage(
            Stage::map("label prints", table.clone())
                .writes("prints")
                .writes("by print"),
        )
        .stage(match own {
            true => chunks.reads("own"),
            false => chunks,
        })
        .stage(Stage::reduce("meet", "by print").writes("pairs"))
        .stage(
            Stage::reduce("resemble", "pairs")
                .writes(NAMED)
                .writes("resembled")
                .writes("fuzzy labels"),
        )
        .stage(
            Stage::map("fuzzy origins", table)
                .reads("resembled")
                .writes("fuzzy labels"),
        )
        .stage(Stage::reduce("fuzzy names", "fuzzy labels").writes(ROWS)))
}

pub(super) fn register(
    registry: &mut Registry,
    source: &Arc<Source>,
    set: &LabelSet,
    params: &DetectParams,
) {
    registry.map("label prints", |context| {
        let task: GroupTask = context.task()?;
        let seen = context.state::<Bitmap>("prints")?;
        let mut by_print = context.shuffle::<Print>("by print")?;
        let (mut hasher, mut found) = (WordHasher::default(), Vec::new());
        let mut label = u32::try_from(task.first_row)?;
        for batch in open_groups(&task.file, task.group)? {
            context.check()?;
            for row in label_rows(&batch?).ok_or("the table beside the labels is none")? {
                prints(
                    &mut hasher,
                    row.text.as_deref().unwrap_or_default(),
                    &mut found,
                );
                for &hash in &found {
                    seen.set(hash);
                    by_print.push(Print {
                        hash,
                        kind: LABEL,
                        of: label,
                        ordinal: 0,
                        begin: 0,
                        end: 0,
                        size: found.len() as u32,
                    })?;
                }
                label += 1;
            }
        }
        Ok(())
    });
    let (texts, labels, asked) = (Arc::clone(source), Arc::clone(&set.labels), params.clone());
    registry.map("chunk prints", move |context| {
        let seen = context.state::<Bitmap>("prints")?;
        let own = match asked.own.is_empty() {
            true => None,
            false => Some(context.state::<Bitmap>("own")?),
        };
        let mut by_print = context.shuffle::<Print>("by print")?;
        let (mut hasher, mut found, mut room) = (WordHasher::default(), Vec::new(), String::new());
        let recipe = labels.header().recipe;
        texts.for_each_text(&context.task()?, |page, text| {
            context.check()?;
            if own.as_ref().is_some_and(|own| own.get(u64::from(page))) {
                return Ok(());
            }
            let mut outcome = Ok::<_, StageError>(());
            let mut ordinal = 0;
            recipe.cut(text, &mut room, |range, hash| {
                ordinal += 1;
                let exact = labels.find(&hash).is_some();
                if exact || (!asked.no_stop && labels.is_stop(&hash)) || outcome.is_err() {
                    return;
                }
                let chunk = text.get(range.clone()).unwrap_or_default();
                prints(&mut hasher, chunk, &mut found);
                for &hash in found.iter().filter(|&&hash| seen.get(hash)) {
                    let pushed = by_print.push(Print {
                        hash,
                        kind: CHUNK,
                        of: page,
                        ordinal: ordinal - 1,
                        begin: range.start as u32,
                        end: range.end as u32,
                        size: found.len() as u32,
                    });
                    if let Err(error) = pushed {
                        outcome = Err(error.into());
                        return;
                    }
                }
            });
            outcome
        })
    });
    pairs(registry, params);
    named(registry, set);
}

fn pairs(registry: &mut Registry, params: &DetectParams) {
    registry.reduce::<Print, _>("meet", |context, groups| {
        let mut pairs = context.shuffle::<Pair>("pairs")?;
        let mut labels: Vec<(u32, u32)> = Vec::new();
        while let Some(group) = groups.next_group()? {
            labels.clear();
            for row in group {
                if row.kind == LABEL {
                    if labels.len() <= CROWD {
                        labels.push((row.of, row.size));
                    }
                    continue;
                }
                if labels.len() > CROWD {
                    context.count("crowded fingerprints", 1);
                    break;
                }
                for &(label, size) in &labels {
                    pairs.push(Pair {
                        page: row.of,
                        ordinal: row.ordinal,
                        label,
                        begin: row.begin,
                        end: row.end,
                        sizes: [row.size, size],
                    })?;
                }
            }
        }
        Ok(())
    });
    let least = params.fuzzy.unwrap_or(1.0);
    registry.reduce::<Pair, _>("resemble", move |context, groups| {
        let pages = context.state::<Bitmap>(NAMED)?;
        let resembled = context.state::<Bitmap>("resembled")?;
        let mut labels = context.wide_shuffle("fuzzy labels")?;
        while let Some(group) = groups.next_group()? {
            let page = group.key();
            // Of each chunk, the label that it resembles most; of several, the lowest.
            let mut best: BTreeMap<u32, (u64, Pair)> = BTreeMap::new();
            let mut run: Option<(Pair, u64)> = None;
            let mut settle = |run: Option<(Pair, u64)>| {
                if let Some((pair, shared)) = run {
                    let [one, other] = pair.sizes.map(u64::from);
                    let score = share(shared, (one + other).saturating_sub(shared));
                    let entry = best.entry(pair.ordinal).or_insert((0, pair));
                    if score > entry.0 {
                        *entry = (score, pair);
                    }
                }
            };
            for pair in group {
                match &mut run {
                    Some((last, shared))
                        if (last.ordinal, last.label) == (pair.ordinal, pair.label) =>
                    {
                        *shared += 1;
                    }
                    _ => {
                        settle(run.take());
                        run = Some((pair, 1));
                    }
                }
            }
            settle(run.take());
            let mut any = false;
            for (ordinal, (score, pair)) in best {
                if real(score) < least {
                    continue;
                }
                any = true;
                resembled.set(u64::from(pair.label));
                let row = serde_json::to_vec(&Edited {
                    page,
                    ordinal,
                    begin: pair.begin,
                    end: pair.end,
                    resemblance: score,
                    said: None,
                })?;
                labels.push_numbered(u64::from(pair.label), ROW, &row)?;
            }
            if any {
                pages.set(u64::from(page));
                context.count("fuzzy pages", 1);
            }
        }
        Ok(())
    });
}

fn named(registry: &mut Registry, set: &LabelSet) {
    registry.map("fuzzy origins", |context| {
        let task: GroupTask = context.task()?;
        let resembled = context.state::<Bitmap>("resembled")?;
        let mut labels = context.wide_shuffle("fuzzy labels")?;
        let mut label = task.first_row;
        for batch in open_groups(&task.file, task.group)? {
            for row in label_rows(&batch?).ok_or("the table beside the labels is none")? {
                if resembled.get(label) {
                    labels.push_numbered(label, 0, &serde_json::to_vec(&(row.text, row.page))?)?;
                }
                label += 1;
            }
        }
        Ok(())
    });
    registry.reduce("fuzzy names", |context, groups| {
        let mut rows = context.wide_shuffle(ROWS)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            let label = group.number();
            let mut said: Option<(Option<String>, String)> = None;
            for record in group {
                if record.order == 0 {
                    said = Some(serde_json::from_slice(&record.value)?);
                    continue;
                }
                let mut edited: Edited = serde_json::from_slice(&record.value)?;
                edited.said = said.clone().map(|(text, page)| (text, page, label));
                let order = ROW + u64::from(edited.ordinal);
                rows.push_numbered(u64::from(edited.page), order, &serde_json::to_vec(&edited)?)?;
            }
        }
        Ok(())
    });
    let labels = Arc::clone(&set.labels);
    registry.reduce("fuzzy table", move |context, groups| {
        let mut table = context.table::<FuzzyRow>("fuzzy")?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let name = name_of(&mut group)?;
            for record in group {
                let edited: Edited = serde_json::from_slice(&record.value)?;
                let (text, origin, label) = edited.said.ok_or("a label says nothing")?;
                table.push(FuzzyRow {
                    page_id: name.page_id,
                    page: name.url.clone(),
                    ordinal: edited.ordinal,
                    begin: edited.begin,
                    end: edited.end,
                    hash: labels.get(label).unwrap_or_default(),
                    resemblance: real(edited.resemblance),
                    text,
                    origin,
                })?;
            }
        }
        Ok(())
    });
}
