//! How often pages are replicated, and what a crawler would save: Figure 1, Table 2 and the savings of the paper.
//!
//! Three notions of a replica, each wider than the one before: the same text, 15 chunks of four lines in common, 25 of two lines. A page
//! is its own first replica. A crawler that knows them visits pages in the order of their ids, and leaves out each that is a
//! replica of one it has visited; what it leaves out is what it saves. A *collection* is what was visited in one folder of a
//! server, with all servers that hold replicas of it.
//!
//! What is known of pages is held in memory here, some [`PAGE_BYTES`] for each, as in the paper.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use cento_flow::{Flow, Registry, Stage, StageError, table_row};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::PAIRS;
use super::numbers::{self, NUMBERS};
use super::params::Params;
use crate::error::{Error, Result};
use crate::run::{Findings, Workplace};
use crate::source::Source;
use crate::tables::read_table;

/// The name of the analysis.
pub const REPLICATION: &str = "replication";
/// The tables.
pub const REPLICAS: &str = "replicas";
/// What a crawler would save.
pub const SAVINGS: &str = "savings";
/// The most replicated collections.
pub const COLLECTIONS: &str = "collections";
/// Bytes that are held for each page, and for each pair.
const PAGE_BYTES: u64 = 80;
const PAIR_BYTES: u64 = 16;
/// How the paper's bars are cut: pages with at least so many replicas.
const BARS: [u32; 6] = [1, 2, 3, 10, 100, 1000];

table_row! {
    /// How many pages have so many replicas.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct ReplicasRow {
        /// The notion of a replica: `exact`, `lines:4` or `lines:2`.
        pub notion: String,
        /// At least so many, the page itself among them.
        pub from: u32,
        /// At most so many; none for the last bar.
        pub to: Option<u32>,
        /// Pages.
        pub pages: u64,
        /// Of all pages.
        pub share: f64,
    }
}

table_row! {
    /// What a crawler would save that leaves out replicas.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct SavingsRow {
        /// The notion of a replica.
        pub notion: String,
        /// Pages in all.
        pub pages: u64,
        /// Pages that need not be visited.
        pub saved_pages: u64,
        /// Of all pages.
        pub share: f64,
        /// Bytes of all pages.
        pub bytes: u64,
        /// Bytes of the pages that need not be visited.
        pub saved_bytes: u64,
        /// Of all bytes.
        pub share_of_bytes: f64,
    }
}

table_row! {
    /// A collection that several servers have.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct CollectionRow {
        /// Servers that have some of it.
        pub servers: u32,
        /// Its pages on the server that was visited.
        pub pages: u32,
        /// Replicas of them, these not counted.
        pub replicas: u32,
        /// The folder on the server that was visited.
        pub collection: String,
        /// One of its pages.
        pub page: String,
    }
}

/// What was found, in few words.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplicationSummary {
    /// Figure 1.
    pub replicas: Vec<ReplicasRow>,
    /// Savings.
    pub savings: Vec<SavingsRow>,
    /// How many collections are on several servers.
    pub collections: u64,
}

/// What is known of all pages.
struct Pages {
    bytes: Vec<u64>,
    /// The first page with the same text.
    first: Vec<u32>,
    /// How many pages have the text, for those that are first.
    copies: Vec<u32>,
}

/// What a notion of a replica says.
struct Notion {
    name: String,
    /// For each page, how many replicas it has.
    replicas: Vec<u32>,
    /// For each page, the visited page that it is a replica of: itself if it is visited.
    visited: Vec<u32>,
}

/// Finds how often the pages of a corpus are replicated. Overlaps are found, or found again, on the way.
pub fn replication(source: &Arc<Source>, workplace: &Workplace) -> Result<Findings> {
    let notions = [
        Params::new("lines:4".parse().unwrap_or_default()),
        Params::new("lines:2".parse().unwrap_or_default()),
    ];
    let told = std::sync::Mutex::new(ReplicationSummary::default());
    workplace.run(
        REPLICATION,
        &notions,
        source,
        || {
            let overlaps = notions
                .iter()
                .map(|params| {
                    Ok((
                        params.chunk.to_string(),
                        numbers::run(source, params, workplace)?,
                    ))
                })
                .collect::<Result<Vec<_>>>()?;
            let (summary, collections) = tell(source, &overlaps, workplace.memory)?;
            let flow = plan(source, &summary, &collections);
            if let Ok(mut told) = told.lock() {
                told.clone_from(&summary);
            }
            let mut registry = Registry::new();
            registry.map("tell", move |context| {
                let mut table = context.table::<ReplicasRow>(REPLICAS)?;
                summary
                    .replicas
                    .iter()
                    .cloned()
                    .try_for_each(|row| table.push(row))?;
                let mut table = context.table::<SavingsRow>(SAVINGS)?;
                summary
                    .savings
                    .iter()
                    .cloned()
                    .try_for_each(|row| table.push(row))?;
                let mut table = context.table::<CollectionRow>(COLLECTIONS)?;
                collections
                    .iter()
                    .cloned()
                    .try_for_each(|row| table.push(row))?;
                Ok::<_, StageError>(())
            });
            Ok((registry, flow))
        },
        |_, _| Ok(told.lock().map_or(Value::Null, |told| json!(*told))),
    )
}

/// One task that writes what is known; what that is belongs to the flow, so that no other is gone on with.
fn plan(source: &Source, summary: &ReplicationSummary, collections: &[CollectionRow]) -> Flow {
    let told = blake3::hash(json!([summary, collections]).to_string().as_bytes());
    Flow::new(REPLICATION)
        .table(REPLICAS)
        .table(SAVINGS)
        .table(COLLECTIONS)
        .stage(
            Stage::map(
                "tell",
                vec![json!([source.identity(), told.to_hex().to_string()])],
            )
            .writes(REPLICAS)
            .writes(SAVINGS)
            .writes(COLLECTIONS),
        )
}

fn tell(
    source: &Source,
    overlaps: &[(String, Findings)],
    memory: u64,
) -> Result<(ReplicationSummary, Vec<CollectionRow>)> {
    let pairs = overlaps
        .iter()
        .map(|(_, findings)| {
            findings
                .summary::<super::Summary>()
                .map(|summary| summary.pairs)
        })
        .try_fold(0, |most, pairs| Ok::<_, Error>(pairs?.max(most)))?;
    let needed = u64::from(source.kept()) * PAGE_BYTES + pairs * PAIR_BYTES;
    if needed > memory {
        let what = format!("{needed} bytes of memory are needed for what is known of all pages");
        return Err(Error::Parameter(what));
    }
    let pages = Pages::read(source)?;
    let mut notions = vec![pages.exact()];
    for (name, findings) in overlaps {
        notions.push(pages.near(name, findings)?);
    }
    let mut summary = ReplicationSummary::default();
    for notion in &notions {
        summary.replicas.extend(bars(notion));
        summary.savings.push(pages.savings(notion));
    }
    let collections = match notions.last() {
        Some(widest) => collections(source, widest)?,
        None => Vec::new(),
    };
    summary.collections = collections.len() as u64;
    Ok((summary, collections))
}

impl Pages {
    fn read(source: &Source) -> Result<Pages> {
        let mut pages = Pages {
            bytes: Vec::new(),
            first: Vec::new(),
            copies: Vec::new(),
        };
        let mut texts: HashMap<[u8; 16], u32> = HashMap::new();
        for task in 0..source.page_tasks().len() {
            source.for_each_page::<Error>(task, |facts| {
                if facts.reject.is_some() {
                    return Ok(());
                }
                let hash = facts.text_hash.and_then(|hash| hash.try_into().ok());
                let first = *texts
                    .entry(hash.unwrap_or_default())
                    .or_insert(facts.number);
                pages.bytes.push(facts.bytes);
                pages.first.push(first);
                pages.copies.push(0);
                if let Some(copies) = pages.copies.get_mut(first as usize) {
                    *copies += 1;
                }
                Ok(())
            })?;
        }
        Ok(pages)
    }

    fn copies_of(&self, page: u32) -> u32 {
        self.copies.get(page as usize).copied().unwrap_or_default()
    }

    fn exact(&self) -> Notion {
        Notion {
            name: "exact".to_owned(),
            replicas: self
                .first
                .iter()
                .map(|&first| self.copies_of(first))
                .collect(),
            visited: self.first.clone(),
        }
    }

    /// A page's replicas are the pages that it overlaps with, and the copies of those and of its own.
    fn near(&self, name: &str, findings: &Findings) -> Result<Notion> {
        let edges = Pages::edges(findings)?;
        let mut replicas = self.copies.clone();
        for &(page, of) in &edges {
            for (one, other) in [(page, of), (of, page)] {
                if let Some(count) = replicas.get_mut(one as usize) {
                    *count += self.copies_of(other);
                }
            }
        }
        // By the higher page: when its turn comes, all that it may be a replica of have had theirs.
        let mut visited: Vec<u32> = (0..self.first.len() as u32).collect();
        for &(page, of) in &edges {
            let of_is_visited = visited.get(of as usize) == Some(&of);
            if let Some(slot) = visited.get_mut(page as usize)
                && *slot == page
                && of_is_visited
            {
                *slot = of;
            }
        }
        let through_first = |values: &[u32]| -> Vec<u32> {
            let firsts = self.first.iter();
            firsts
                .map(|&first| values.get(first as usize).copied().unwrap_or(first))
                .collect()
        };
        Ok(Notion {
            name: name.to_owned(),
            replicas: through_first(&replicas),
            visited: through_first(&visited),
        })
    }

    /// The pairs of an overlap, in order.
    fn edges(findings: &Findings) -> Result<Vec<(u32, u32)>> {
        let mut edges = Vec::new();
        for batch in read_table(&findings.table(PAIRS))? {
            let batch = batch?;
            let column = |name: &str| {
                let column = batch.column_by_name(name);
                column.and_then(|column| column.as_primitive_opt::<UInt32Type>())
            };
            let (Some(page), Some(of)) = (column("page"), column("of")) else {
                return Err(Error::NoFindings {
                    corpus: findings.path.clone(),
                    analysis: NUMBERS.to_owned(),
                });
            };
            let pairs = page.values().iter().zip(of.values());
            edges.extend(pairs.map(|(&page, &of)| (page.max(of), page.min(of))));
        }
        edges.sort_unstable();
        Ok(edges)
    }

    fn savings(&self, notion: &Notion) -> SavingsRow {
        let (mut saved_pages, mut saved_bytes) = (0, 0);
        for ((page, &visited), &bytes) in (0u32..).zip(&notion.visited).zip(&self.bytes) {
            if visited != page {
                saved_pages += 1;
                saved_bytes += bytes;
            }
        }
        let (pages, bytes) = (self.first.len() as u64, self.bytes.iter().sum());
        SavingsRow {
            notion: notion.name.clone(),
            pages,
            saved_pages,
            share: saved_pages as f64 / pages.max(1) as f64,
            bytes,
            saved_bytes,
            share_of_bytes: saved_bytes as f64 / bytes.max(1) as f64,
        }
    }
}

fn bars(notion: &Notion) -> impl Iterator<Item = ReplicasRow> {
    BARS.iter().enumerate().map(|(at, &from)| {
        let to = BARS.get(at + 1).map(|next| next - 1);
        let within = |count: &&u32| **count >= from && to.is_none_or(|to| **count <= to);
        let pages = notion.replicas.iter().filter(within).count() as u64;
        ReplicasRow {
            notion: notion.name.clone(),
            from,
            to,
            pages,
            share: pages as f64 / notion.replicas.len().max(1) as f64,
        }
    })
}

/// What was visited in one folder.
#[derive(Default)]
struct Folder {
    page: String,
    pages: u32,
    replicas: u32,
    servers: BTreeSet<u64>,
}

/// Folders whose pages are on several servers, by how many.
fn collections(source: &Source, notion: &Notion) -> Result<Vec<CollectionRow>> {
    let replicated = |page: u32| {
        notion
            .replicas
            .get(page as usize)
            .is_some_and(|&count| count > 1)
    };
    let mut folders: BTreeMap<String, Folder> = BTreeMap::new();
    let mut folder_of: HashMap<u32, String> = HashMap::new();
    for task in 0..source.page_tasks().len() {
        source.for_each_page::<Error>(task, |facts| {
            let number = facts.number;
            if facts.reject.is_some() || !replicated(number) {
                return Ok(());
            }
            let visited = notion
                .visited
                .get(number as usize)
                .copied()
                .unwrap_or(number);
            if visited == number {
                folder_of.insert(number, folder(facts.url).to_owned());
            }
            // Who is visited comes before its replicas.
            let Some(name) = folder_of.get(&visited) else {
                return Ok(());
            };
            let folder = folders.entry(name.clone()).or_default();
            if visited == number {
                folder.pages += 1;
                if folder.page.is_empty() {
                    facts.url.clone_into(&mut folder.page);
                }
            } else {
                folder.replicas += 1;
            }
            if let Some(host) = facts.host {
                folder.servers.insert(cento_print::word_hash(host));
            }
            Ok(())
        })?;
    }
    let mut rows: Vec<CollectionRow> = folders
        .into_iter()
        .filter(|(_, folder)| folder.servers.len() > 1)
        .map(|(collection, folder)| CollectionRow {
            servers: folder.servers.len() as u32,
            pages: folder.pages,
            replicas: folder.replicas,
            collection,
            page: folder.page,
        })
        .collect();
    rows.sort_by(|one, other| {
        let strength = |row: &CollectionRow| (row.servers, row.replicas);
        strength(other)
            .cmp(&strength(one))
            .then_with(|| one.collection.cmp(&other.collection))
    });
    Ok(rows)
}

/// The address up to its last slash.
fn folder(url: &str) -> &str {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    match path.rfind('/') {
        Some(slash)
            if !path
                .get(..slash)
                .is_some_and(|before| before.ends_with('/')) =>
        {
            url.get(..=slash).unwrap_or(url)
        }
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_an_address_is_what_stands_before_its_page() {
        for (url, expected) in [
            ("http://a.example/x/y.html", "http://a.example/x/"),
            ("http://a.example/x/?q=/z", "http://a.example/x/"),
            ("http://a.example/", "http://a.example/"),
            ("http://a.example", "http://a.example"),
            ("docs/a.txt", "docs/"),
            ("a.txt", "a.txt"),
        ] {
            assert_eq!(folder(url), expected);
        }
    }

    #[test]
    fn bars_count_every_page_once_as_in_figure_1() {
        // A page alone, two of one text, and ten of another.
        let mut replicas = vec![1, 2, 2];
        replicas.extend([10; 10]);
        let notion = Notion {
            name: "exact".to_owned(),
            visited: Vec::new(),
            replicas,
        };
        let pages: Vec<u64> = bars(&notion).map(|row| row.pages).collect();
        assert_eq!(pages, [1, 2, 0, 10, 0, 0]);
    }
}
