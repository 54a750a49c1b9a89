//! What is held by several servers together: Table 2 of the paper.
//!
//! ```text
//!   pages ─ members ─▶ by class ─ hosts ─▶ by hosts ─ host sets ─▶ by size ─ merge ─▶ collections
//! ```
//!
//! A *class* is a visited page with its replicas. Classes that are on the same servers belong
//! together: a manual is one collection however many folders it has, and whichever server was
//! visited first. Mirrors are seldom complete, so a set of servers joins a larger collection if at
//! least half of its servers, and two of them, have that collection in the same place: in one
//! folder, or in one inside the other.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use cento_fingerprint::word_hash;
use cento_flow::{Flow, Registry, Shuffle, Stage, StageError, WideGroups};
use serde::{Deserialize, Serialize};

use super::super::order::Order;
use super::resolve::Notion;
use super::{COLLECTIONS, CollectionRow};
use crate::corpus_pages::CorpusPages;

const BY_CLASS: &str = "by class";
const BY_HOSTS: &str = "by hosts";
const BY_SIZE: &str = "by size";
const BY_STRENGTH: &str = "by strength";
/// Servers of a class that are looked at.
const MOST_HOSTS: usize = 1 << 16;
/// Collections that later ones may join: the largest. What comes after them stands alone.
const MOST_JOINED: usize = 1 << 14;

/// What a server has of a collection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Holding {
    /// The folder that holds all of it.
    folder: String,
    /// One of its pages: of several the first by name.
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

/// A set of servers and what they hold together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Held {
    hosts: BTreeMap<String, Holding>,
    pages: u32,
    replicas: u32,
}

impl Held {
    fn absorb(&mut self, other: Held) {
        for (host, holding) in other.hosts {
            match self.hosts.get_mut(&host) {
                Some(known) => known.absorb(holding),
                None => drop(self.hosts.insert(host, holding)),
            }
        }
        self.pages += other.pages;
        self.replicas += other.replicas;
    }

    /// Whether another set of servers holds more of the same.
    fn takes(&self, other: &Held) -> bool {
        let same_place = |(host, holding): &(&String, &Holding)| {
            self.hosts.get(*host).is_some_and(|known| {
                known.folder.starts_with(&holding.folder)
                    || holding.folder.starts_with(&known.folder)
            })
        };
        let together = other.hosts.iter().filter(same_place).count();
        together >= 2 && 2 * together >= other.hosts.len()
    }

    fn row(self) -> Option<CollectionRow> {
        let servers = self.hosts.len() as u32;
        // Of servers that have as many pages, the first by name.
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

/// Collections as they are merged.
#[derive(Default)]
struct Collections {
    held: Vec<Held>,
    /// Collections of which a server has some, by the hash of its name.
    by_host: HashMap<u64, Vec<usize>>,
}

impl Collections {
    /// Takes what some servers hold: into a collection that it belongs to, or as a new one. It
    /// comes back if there is no more room.
    fn take(&mut self, held: Held) -> Option<Held> {
        let hosts: Vec<u64> = held.hosts.keys().map(|host| word_hash(host)).collect();
        let known = hosts.iter().filter_map(|host| self.by_host.get(host));
        let candidates: BTreeSet<usize> = known.flatten().copied().collect();
        let takes = |&at: &usize| self.held.get(at).is_some_and(|known| known.takes(&held));
        let taker = candidates.into_iter().find(takes);
        let at = taker.unwrap_or(self.held.len());
        if at >= MOST_JOINED {
            return Some(held);
        }
        for host in hosts {
            let places = self.by_host.entry(host).or_default();
            if !places.contains(&at) {
                places.push(at);
            }
        }
        match self.held.get_mut(at) {
            Some(known) => known.absorb(held),
            None => self.held.push(held),
        }
        None
    }
}

/// A number by which the largest come first.
fn descending(first: u32, second: u32) -> u64 {
    u64::from(u32::MAX - first) << 32 | u64::from(u32::MAX - second)
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

/// The folder that two folders are in.
fn common_folder<'a>(one: &'a str, other: &str) -> &'a str {
    let same = one
        .bytes()
        .zip(other.bytes())
        .take_while(|(one, other)| one == other)
        .count();
    if same == one.len() && same == other.len() {
        return one;
    }
    let slash = one.as_bytes().get(..same).unwrap_or_default();
    let slash = slash.iter().rposition(|&byte| byte == b'/');
    slash
        .and_then(|slash| one.get(..=slash))
        .unwrap_or_default()
}

/// Adds the stages that gather collections.
pub(super) fn with_collections(flow: Flow, source: &CorpusPages) -> Flow {
    // One partition: what joins what is decided in one order.
    let in_order = Shuffle {
        partitions: 1,
        key_bits: Some(64),
    };
    flow.table(COLLECTIONS)
        .shuffle_of_numbers(BY_CLASS, super::super::stages::bits(source.kept()))
        .shuffle(BY_HOSTS)
        .shuffle_with(BY_SIZE, in_order)
        .shuffle_of_numbers(BY_STRENGTH, 64)
        .stage(Stage::map("members", source.page_tasks()).writes(BY_CLASS))
        .stage(Stage::reduce("hosts of classes", BY_CLASS).writes(BY_HOSTS))
        .stage(Stage::reduce("host sets", BY_HOSTS).writes(BY_SIZE))
        .stage(Stage::reduce("merge collections", BY_SIZE).writes(BY_STRENGTH))
        .stage(Stage::reduce("write collections", BY_STRENGTH).writes(COLLECTIONS))
}

pub(super) fn register(
    registry: &mut Registry,
    source: &Arc<CorpusPages>,
    order: &Arc<Order>,
    notion: Notion,
) {
    let (pages, order) = (Arc::clone(source), Arc::clone(order));
    registry.map("members", move |context| {
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
    registry.reduce("hosts of classes", |context, groups| {
        let mut by_hosts = context.wide_shuffle(BY_HOSTS)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            let mut held = Held {
                pages: 1,
                ..Held::default()
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
                if let Some(known) = held.hosts.get_mut(&host) {
                    known.absorb(holding);
                    // Several pages of a class on one server are one page of the collection.
                    known.pages = 1;
                } else if held.hosts.len() < MOST_HOSTS {
                    held.hosts.insert(host, holding);
                }
            }
            if held.hosts.len() < 2 {
                continue;
            }
            held.replicas = members - 1;
            let names: Vec<&String> = held.hosts.keys().collect();
            let key = blake3::hash(&serde_json::to_vec(&names)?);
            by_hosts.push(key.as_bytes(), 0, &serde_json::to_vec(&held)?)?;
        }
        Ok(())
    });
    registry.reduce("host sets", |context, groups| {
        let mut by_size = context.wide_shuffle(BY_SIZE)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            let mut all = Held::default();
            for record in group {
                all.absorb(serde_json::from_slice(&record.value)?);
            }
            // The largest first; of equal ones, that on more servers.
            let size = descending(all.pages, all.hosts.len() as u32);
            by_size.push_numbered(size, 0, &serde_json::to_vec(&all)?)?;
        }
        Ok(())
    });
    registry.reduce("merge collections", |context, groups| {
        let mut by_strength = context.wide_shuffle(BY_STRENGTH)?;
        let mut write = |held: Held| -> std::result::Result<(), StageError> {
            let Some(row) = held.row() else {
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
                let held: Held = serde_json::from_slice(&record.value)?;
                if let Some(held) = collections.take(held) {
                    write(held)?;
                }
            }
        }
        collections.held.into_iter().try_for_each(write)
    });
    registry.reduce("write collections", |context, groups| {
        let mut table = context.table::<CollectionRow>(COLLECTIONS)?;
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
    fn two_folders_are_in_the_folder_that_both_begin_with() {
        for (one, other, expected) in [
            ("http://a/x/y/", "http://a/x/z/", "http://a/x/"),
            ("http://a/x/", "http://a/x/", "http://a/x/"),
            ("http://a/x/", "http://a/x/z/", "http://a/x/"),
            ("http://a/xy/", "http://a/xz/", "http://a/"),
        ] {
            assert_eq!(common_folder(one, other), expected);
        }
    }

    fn held(folders: &[&str], pages: u32) -> Held {
        let holdings = folders.iter().map(|&folder| {
            let host = folder.split('/').nth(2).unwrap();
            let holding = Holding {
                folder: folder.to_owned(),
                page: format!("{folder}page"),
                pages,
            };
            (host.to_owned(), holding)
        });
        Held {
            hosts: holdings.collect(),
            pages,
            replicas: pages,
        }
    }

    #[test]
    fn an_incomplete_mirror_joins_its_collection_and_a_licence_on_many_servers_does_not() {
        let manual = held(&["http://a/ldp/", "http://b/pub/ldp/", "http://c/ldp/"], 90);
        assert!(manual.takes(&held(
            &["http://a/ldp/howto/", "http://b/pub/ldp/howto/"],
            4
        )));
        assert!(manual.takes(&held(&["http://a/ldp/", "http://c/ldp/", "http://d/x/"], 4)));
        assert!(!manual.takes(&held(&["http://a/java/", "http://b/java/"], 4)));
        let licence: Vec<String> = (0..50).map(|host| format!("http://{host}/")).collect();
        let mut licence: Vec<&str> = licence.iter().map(String::as_str).collect();
        licence.extend(["http://a/", "http://b/"]);
        assert!(!manual.takes(&held(&licence, 1)));
    }
}
