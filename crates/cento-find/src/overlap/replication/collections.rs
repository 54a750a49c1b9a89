//! Collections of pages that several servers replicate: Table 2 of the paper.
//!
//! ```text
//!   pages ─ members ─▶ by class ─ hosts of classes ─▶ by hosts ─ host sets ─▶ by size …
//!   … ─ merge collections ─▶ by strength ─ write collections ─▶ collections
//! ```
//!
//! A *class* is a visited page with its replicas. Classes on the same servers form a collection: a
//! manual is one collection however many folders it has, and whichever server is visited first.
//! Mirrors are rarely complete, so a smaller collection is merged into a larger one if at least
//! half of its servers, and at least two, have the larger one in the same place: in the same
//! folder, or in one inside the other.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use cento_fingerprint::word_hash;
use cento_flow::{Flow, Registry, Shuffle, Stage, StageError, WideGroups};
use serde::{Deserialize, Serialize};

use super::super::page_order::PageOrder;
use super::resolve::Notion;
use super::{COLLECTIONS, CollectionRow};
use crate::corpus_pages::CorpusPages;

const MEMBERS: &str = "members";
const HOSTS_OF_CLASSES: &str = "hosts of classes";
const HOST_SETS: &str = "host sets";
const MERGE_COLLECTIONS: &str = "merge collections";
const WRITE_COLLECTIONS: &str = "write collections";
const BY_CLASS: &str = "by class";
const BY_HOSTS: &str = "by hosts";
const BY_SIZE: &str = "by size";
const BY_STRENGTH: &str = "by strength";
/// The most servers of a class that are considered.
const MOST_HOSTS: usize = 1 << 16;
/// The most collections that others can be merged into: the largest ones.
const MOST_JOINED: usize = 1 << 14;

/// The part of a collection on one server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Holding {
    /// The folder that contains all of it.
    folder: String,
    /// The first of its pages by URL.
    page: String,
    pages: u32,
}

impl Holding {
    fn absorb(&mut self, other: Holding) {
        let common = common_folder(&self.folder, &other.folder).len();
        self.folder.truncate(common);
        self.page = std::mem::take(&mut self.page).min(other.page);
        self.pages += other.pages;
    }
}

/// A set of servers and the pages that they replicate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Collection {
    hosts: BTreeMap<String, Holding>,
    pages: u32,
    replicas: u32,
}

impl Collection {
    fn absorb(&mut self, other: Collection) {
        for (host, holding) in other.hosts {
            match self.hosts.get_mut(&host) {
                Some(known) => known.absorb(holding),
                None => drop(self.hosts.insert(host, holding)),
            }
        }
        self.pages += other.pages;
        self.replicas += other.replicas;
    }

    /// Whether a smaller collection is part of this one.
    fn contains(&self, other: &Collection) -> bool {
        let same_place = |(host, holding): &(&String, &Holding)| {
            self.hosts.get(*host).is_some_and(|known| {
                let (one, other) = (path_of(&known.folder), path_of(&holding.folder));
                one.starts_with(other) || other.starts_with(one)
            })
        };
        let together = other.hosts.iter().filter(same_place).count();
        together >= 2 && 2 * together >= other.hosts.len()
    }

    fn row(self) -> Option<CollectionRow> {
        let servers = self.hosts.len() as u32;
        // Of servers with equally many pages, the first by name.
        let most = self
            .hosts
            .into_values()
            .reduce(|most, next| if next.pages > most.pages { next } else { most })?;
        Some(CollectionRow {
            servers,
            pages: self.pages,
            replicas: self.replicas,
            collection: most.folder,
            page: most.page,
        })
    }
}

/// Merges collections.
#[derive(Default)]
struct Collections {
    collections: Vec<Collection>,
    /// The collections of each server, by the hash of its name.
    by_host: HashMap<u64, Vec<usize>>,
}

impl Collections {
    /// Merges a collection into a larger one, or adds it. Returns it if there are too many
    /// collections.
    fn add(&mut self, collection: Collection) -> Option<Collection> {
        let hosts: Vec<u64> = collection
            .hosts
            .keys()
            .map(|host| word_hash(host))
            .collect();
        let known = hosts.iter().filter_map(|host| self.by_host.get(host));
        let candidates: BTreeSet<usize> = known.flatten().copied().collect();
        let contains = |&at: &usize| {
            self.collections
                .get(at)
                .is_some_and(|known| known.contains(&collection))
        };
        let container = candidates.into_iter().find(contains);
        let at = container.unwrap_or(self.collections.len());
        if at >= MOST_JOINED {
            return Some(collection);
        }
        for host in hosts {
            let positions = self.by_host.entry(host).or_default();
            if !positions.contains(&at) {
                positions.push(at);
            }
        }
        match self.collections.get_mut(at) {
            Some(known) => known.absorb(collection),
            None => self.collections.push(collection),
        }
        None
    }
}

/// Returns a key that sorts the largest first.
fn descending(first: u32, second: u32) -> u64 {
    u64::from(u32::MAX - first) << 32 | u64::from(u32::MAX - second)
}

/// Returns a URL up to its last slash.
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

/// Returns the position of the path of a URL, after its scheme, host and port.
fn path_begin(url: &str) -> usize {
    let host = url.find("://").map_or(0, |scheme| scheme + 3);
    let path = url.get(host..).and_then(|rest| rest.find('/'));
    path.map_or(url.len(), |path| host + path)
}

/// Returns the path of a URL.
fn path_of(url: &str) -> &str {
    url.get(path_begin(url)..).unwrap_or_default()
}

/// Returns the deepest folder that contains two folders of one host, which may have different
/// schemes and ports: at least the root of the first.
fn common_folder<'a>(one: &'a str, other: &str) -> &'a str {
    let begin = path_begin(one);
    let (path, other) = (path_of(one), path_of(other));
    let same = path
        .bytes()
        .zip(other.bytes())
        .take_while(|(one, other)| one == other)
        .count();
    if same == path.len() && same == other.len() {
        return one;
    }
    let slash = path.as_bytes().get(..same).unwrap_or_default();
    let slash = slash.iter().rposition(|&byte| byte == b'/');
    let end = slash.map_or(begin, |slash| begin + slash + 1);
    one.get(..end).unwrap_or_default()
}

/// Adds the stages that find collections.
pub(super) fn with_collections(flow: Flow, source: &CorpusPages) -> Flow {
    // One partition, because merging depends on the order of all rows.
    let in_order = Shuffle {
        fixed: true,
        partitions: 1,
        key_bits: Some(64),
    };
    flow.table(COLLECTIONS)
        .shuffle_of_numbers(BY_CLASS, super::super::stages::bits(source.kept()))
        .shuffle(BY_HOSTS)
        .shuffle_with(BY_SIZE, in_order)
        .shuffle_of_numbers(BY_STRENGTH, 64)
        .stage(Stage::map(MEMBERS, source.page_tasks()).writes(BY_CLASS))
        .stage(Stage::reduce(HOSTS_OF_CLASSES, BY_CLASS).writes(BY_HOSTS))
        .stage(Stage::reduce(HOST_SETS, BY_HOSTS).writes(BY_SIZE))
        .stage(Stage::reduce(MERGE_COLLECTIONS, BY_SIZE).writes(BY_STRENGTH))
        .stage(Stage::reduce(WRITE_COLLECTIONS, BY_STRENGTH).writes(COLLECTIONS.as_str()))
}

pub(super) fn register(
    registry: &mut Registry,
    source: &Arc<CorpusPages>,
    order: &Arc<PageOrder>,
    notion: Notion,
) {
    let (pages, order) = (Arc::clone(source), Arc::clone(order));
    registry.map(MEMBERS, move |context| {
        let mut classes = context.wide_shuffle(BY_CLASS)?;
        pages.for_each_page::<StageError>(context.task()?, |facts| {
            let rank = order.rank(facts.number);
            let Some(host) = facts.host.filter(|_| facts.reject.is_none()) else {
                return Ok(());
            };
            if notion.replicas(rank) > 1 {
                let class = u64::from(notion.visited(rank));
                let value = serde_json::to_vec(&(host, facts.url))?;
                classes.push_numbered(class, u64::from(rank), &value)?;
            }
            Ok(())
        })
    });
    registry.reduce(HOSTS_OF_CLASSES, |context, groups| {
        let mut by_hosts = context.wide_shuffle(BY_HOSTS)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            let mut collection = Collection {
                pages: 1,
                ..Collection::default()
            };
            let mut members = 0;
            for record in group {
                let (host, url): (String, String) = serde_json::from_slice(&record.value)?;
                members += 1;
                let holding = Holding {
                    folder: folder(&url).to_owned(),
                    page: url,
                    pages: 1,
                };
                if let Some(known) = collection.hosts.get_mut(&host) {
                    known.absorb(holding);
                    // Several pages of a class on one server count once.
                    known.pages = 1;
                } else if collection.hosts.len() < MOST_HOSTS {
                    collection.hosts.insert(host, holding);
                }
            }
            if collection.hosts.len() < 2 {
                continue;
            }
            collection.replicas = members - 1;
            let names: Vec<&String> = collection.hosts.keys().collect();
            let key = blake3::hash(&serde_json::to_vec(&names)?);
            by_hosts.push(key.as_bytes(), 0, &serde_json::to_vec(&collection)?)?;
        }
        Ok(())
    });
    registry.reduce(HOST_SETS, |context, groups| {
        let mut by_size = context.wide_shuffle(BY_SIZE)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            let mut all = Collection::default();
            for record in group {
                all.absorb(serde_json::from_slice(&record.value)?);
            }
            // The largest first; of equal ones, the one on more servers.
            let size = descending(all.pages, all.hosts.len() as u32);
            by_size.push_numbered(size, 0, &serde_json::to_vec(&all)?)?;
        }
        Ok(())
    });
    registry.reduce(MERGE_COLLECTIONS, |context, groups| {
        let mut by_strength = context.wide_shuffle(BY_STRENGTH)?;
        let mut write = |collection: Collection| -> std::result::Result<(), StageError> {
            let Some(row) = collection.row() else {
                return Ok(());
            };
            let strength = descending(row.servers, row.replicas);
            let row = (
                row.servers,
                row.pages,
                row.replicas,
                row.collection,
                row.page,
            );
            Ok(by_strength.push_numbered(strength, 0, &serde_json::to_vec(&row)?)?)
        };
        let mut collections = Collections::default();
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            for record in group {
                let collection: Collection = serde_json::from_slice(&record.value)?;
                if let Some(collection) = collections.add(collection) {
                    write(collection)?;
                }
            }
        }
        collections.collections.into_iter().try_for_each(write)
    });
    registry.reduce(WRITE_COLLECTIONS, |context, groups| {
        let mut table = context.table(COLLECTIONS)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            for record in group {
                let (servers, pages, replicas, collection, page) =
                    serde_json::from_slice(&record.value)?;
                table.push(CollectionRow {
                    servers,
                    pages,
                    replicas,
                    collection,
                    page,
                })?;
            }
        }
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_url_ends_with_its_last_slash() {
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
    fn the_common_folder_is_the_longest_common_prefix() {
        for (one, other, expected) in [
            ("http://a/x/y/", "http://a/x/z/", "http://a/x/"),
            ("http://a/x/", "http://a/x/", "http://a/x/"),
            ("http://a/x/", "http://a/x/z/", "http://a/x/"),
            ("http://a/xy/", "http://a/xz/", "http://a/"),
            ("http://a/x/", "https://a/x/", "http://a/x/"),
            ("http://a/x/y/", "https://a/x/", "http://a/x/"),
            ("http://a/", "http://a:8080/", "http://a/"),
            ("http://a:80/x/", "http://a/y/", "http://a:80/"),
            ("http://a", "https://a/x/", "http://a"),
        ] {
            assert_eq!(common_folder(one, other), expected);
        }
    }

    fn collection(folders: &[&str], pages: u32) -> Collection {
        let holdings = folders.iter().map(|&folder| {
            let host = folder.split('/').nth(2).unwrap();
            let holding = Holding {
                folder: folder.to_owned(),
                page: format!("{folder}page"),
                pages,
            };
            (host.to_owned(), holding)
        });
        Collection {
            hosts: holdings.collect(),
            pages,
            replicas: pages,
        }
    }

    #[test]
    fn an_incomplete_mirror_is_merged_and_a_licence_on_many_servers_is_not() {
        let manual = collection(&["http://a/ldp/", "http://b/pub/ldp/", "http://c/ldp/"], 90);
        assert!(manual.contains(&collection(
            &["http://a/ldp/howto/", "http://b/pub/ldp/howto/"],
            4
        )));
        assert!(manual.contains(&collection(
            &["http://a/ldp/", "http://c/ldp/", "http://d/x/"],
            4
        )));
        assert!(!manual.contains(&collection(&["http://a/java/", "http://b/java/"], 4)));
        let licence: Vec<String> = (0..50).map(|host| format!("http://{host}/")).collect();
        let mut licence: Vec<&str> = licence.iter().map(String::as_str).collect();
        licence.extend(["http://a/", "http://b/"]);
        assert!(!manual.contains(&collection(&licence, 1)));
    }
}
