//! Which hosts and which prefixes of addresses hold the same pages.
//!
//! ```text
//!   pages ─ members ─▶ by class ─ evidence ─┬─▶ by hosts ─ shared hosts ─▶ hosts ─ host pages ─▶ of hosts ─ mirrors ─▶ mirrors
//!                                           └─▶ by prefix ─ prefixes ─▶ prefixes
//! ```
//!
//! Evidence is counted by class and for unordered pairs: two hosts share a page if a class has a
//! page on each. So neither the order of the records nor the choice of the page that is kept
//! changes what is found. A class on more than [`ALL_PAIRS`] hosts gives evidence for pairs with
//! one host of it (the same one for the same hosts) and with that of the kept page.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cento_fingerprint::word_hash;
use cento_flow::{Bitmap, Flow, Registry, Stage, StageError, WideGroups, table_row};
use serde::{Deserialize, Serialize};

use super::settle::follow;
use crate::corpus_pages::CorpusPages;
use crate::names::NAMED;
use crate::numbers::Numbers;
use crate::precedence::{Dates, Earlier, earlier};

/// Two hosts are aliases only if so much of the smaller one is on the other: the same text at the
/// same path.
const ALIAS_SHARE: f64 = 0.5;
/// Without a common address, fewer such pages than this make no alias.
const ALIAS_PAGES: u64 = 5;
/// Fewer pages than this make no rule.
pub(super) const RULE_PAGES: u64 = 5;
/// Hosts, or pages, of a class that are compared with each other.
const ALL_PAIRS: usize = 24;
/// Pages of a class that are looked at.
const MOST_MEMBERS: usize = 1 << 14;
const BY_MEMBERS: &str = "by members";

table_row! {
    /// Two hosts that have the same pages.
    pub struct MirrorRow {
        /// The host whose pages are later by date more often; where that is not known, the later by
        /// name.
        pub host: String,
        /// The other host.
        pub of_host: String,
        /// Pages that both have: classes with a page on each.
        pub pages: u64,
        /// How many of these have the same text at the same path.
        pub same_paths: u64,
        /// All pages of the host.
        pub host_pages: u64,
        /// All pages of the other one.
        pub of_host_pages: u64,
        /// Shared pages of which that of the host is earlier by date.
        pub host_earlier: u64,
        /// Shared pages of which that of the other host is earlier by date.
        pub of_host_earlier: u64,
        /// Whether they were served from one address.
        pub shared_ip: bool,
        /// Whether they are two names of one server.
        pub alias: bool,
    }
}

table_row! {
    /// Two prefixes of addresses under which the same paths lead to copies.
    pub struct PrefixRow {
        /// The prefix whose pages are later by date more often; where that is not known, the
        /// longer, then the later by name.
        pub prefix: String,
        /// The other prefix.
        pub of_prefix: String,
        /// How many classes have a page at the same path under each.
        pub pages: u64,
        /// Those of which the page under the prefix is earlier by date.
        pub prefix_earlier: u64,
        /// Those of which the page under the other prefix is earlier by date.
        pub of_prefix_earlier: u64,
    }
}

/// A page of a class.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Member {
    url: String,
    host: Option<String>,
    domain: Option<String>,
    ip: Option<String>,
    /// The identity of its text, as far as 64 bits tell.
    text: u64,
    published: Option<i64>,
    fetched: Option<i64>,
    kept: bool,
}

impl Member {
    fn dates(&self) -> Dates {
        Dates {
            published: self.published,
            fetched: self.fetched,
        }
    }
}

/// What one class says about two hosts, the first by name first.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Evidence {
    same_path: bool,
    same_ip: bool,
    other_ip: bool,
    same_domain: bool,
    /// How many of the two are earlier than the other by date: none or one.
    earlier: [u64; 2],
}

fn who_is_earlier(one: Dates, other: Dates) -> [u64; 2] {
    match earlier(one, other) {
        Earlier::First => [1, 0],
        Earlier::Second => [0, 1],
        Earlier::Same | Earlier::Unknown => [0, 0],
    }
}

/// An address without its scheme, cut behind its host.
fn host_and_path(url: &str) -> (&str, &str) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').map_or((rest, ""), |at| rest.split_at(at))
}

/// What stands before the path components at the end that two addresses share: at least one, and
/// not the whole path of both hosts.
pub(super) fn prefixes(one: &str, other: &str) -> Option<(String, String)> {
    let parts = |url: &str| -> Vec<String> {
        let (host, path) = host_and_path(url);
        let mut parts = vec![host.to_ascii_lowercase()];
        parts.extend(path.split('/').skip(1).map(str::to_owned));
        parts
    };
    let (one, other) = (parts(one), parts(other));
    let shared = one
        .iter()
        .skip(1)
        .rev()
        .zip(other.iter().skip(1).rev())
        .take_while(|(one, other)| one == other)
        .count();
    let before = |parts: &[String]| {
        let before = parts.get(..parts.len() - shared).unwrap_or_default();
        format!("{}/", before.join("/"))
    };
    let (one, other) = (before(&one), before(&other));
    (shared > 0 && one != other).then_some((one, other))
}

/// The hosts of a class, and what two of them share in it.
struct Hosts<'m>(BTreeMap<&'m str, Vec<&'m Member>>);

impl<'m> Hosts<'m> {
    fn of(members: &'m [Member]) -> Hosts<'m> {
        let mut hosts: BTreeMap<&str, Vec<&Member>> = BTreeMap::new();
        for member in members {
            if let Some(host) = &member.host {
                hosts.entry(host).or_default().push(member);
            }
        }
        Hosts(hosts)
    }

    fn evidence(&self, one: &str, other: &str) -> Option<Evidence> {
        let (one, other) = (self.0.get(one)?, self.0.get(other)?);
        let first = |members: &[&Member]| members.iter().find_map(|member| member.domain.clone());
        let dates = |members: &[&Member]| {
            let dates = members.iter().map(|member| member.dates());
            dates.min_by_key(|dates| dates.decisive().map_or(i64::MAX, |(date, _)| date))
        };
        let mut evidence = Evidence {
            same_domain: first(one) == first(other),
            earlier: who_is_earlier(dates(one)?, dates(other)?),
            ..Evidence::default()
        };
        let at_path = |member: &&&Member| (host_and_path(&member.url).1.to_owned(), member.text);
        let paths: BTreeSet<(String, u64)> = one.iter().map(|member| at_path(&member)).collect();
        evidence.same_path = other.iter().any(|member| paths.contains(&at_path(&member)));
        let ips: BTreeSet<&str> = one
            .iter()
            .filter_map(|member| member.ip.as_deref())
            .collect();
        for ip in other.iter().filter_map(|member| member.ip.as_deref()) {
            evidence.same_ip |= ips.contains(ip);
            evidence.other_ip |= !ips.is_empty();
        }
        evidence.other_ip &= !evidence.same_ip;
        Some(evidence)
    }

    /// The pairs that the class gives evidence for, the first by name first.
    fn pairs(&self, kept: Option<&'m str>) -> BTreeSet<(&'m str, &'m str)> {
        let names: Vec<&str> = self.0.keys().copied().collect();
        pairs(&names, kept, word_hash)
            .into_iter()
            .map(|(one, other)| (one.min(other), one.max(other)))
            .collect()
    }
}

/// All pairs of a few; of many, those with one that is always the same of the same many, and with
/// `kept`.
fn pairs<T: Copy + PartialEq>(all: &[T], kept: Option<T>, hash: impl Fn(T) -> u64) -> Vec<(T, T)> {
    let mut pairs = Vec::new();
    if all.len() <= ALL_PAIRS {
        for (at, &one) in all.iter().enumerate() {
            pairs.extend(all.iter().skip(at + 1).map(|&other| (one, other)));
        }
        return pairs;
    }
    let centre = all.iter().copied().min_by_key(|&one| hash(one));
    for centre in centre.into_iter().chain(kept) {
        let others = all.iter().filter(|&&other| other != centre);
        pairs.extend(others.map(|&other| (centre, other)));
    }
    pairs
}

/// Adds the stages that find them to a flow whose pages know for whom they are removed. `bits` are
/// those of page numbers.
pub(super) fn with_evidence(flow: Flow, source: &CorpusPages, bits: u32) -> Flow {
    flow.shuffle_of_numbers(BY_MEMBERS, bits)
        .shuffle("by hosts")
        .shuffle("by prefix")
        .table("mirrors")
        .table("prefixes")
        .stage(
            Stage::map("members", source.page_tasks())
                .reads("kept of")
                .reads("links")
                .reads(NAMED)
                .writes(BY_MEMBERS),
        )
        .stage(
            Stage::reduce("evidence", BY_MEMBERS)
                .writes("by hosts")
                .writes("by prefix"),
        )
        .stage(Stage::reduce("shared hosts", "by hosts").writes("hosts"))
        .stage(Stage::reduce("host pages", "hosts").writes("of hosts"))
        .stage(
            Stage::reduce("mirrors", "of hosts")
                .writes("mirrors")
                .writes("by verdict"),
        )
        .stage(Stage::reduce("prefixes", "by prefix").writes("prefixes"))
}

/// The key under which a pair of hosts finds its verdict.
pub(super) fn verdict_key(one: &str, other: &str) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&(one.min(other), one.max(other)))
}

pub(super) fn register(registry: &mut Registry, source: &Arc<CorpusPages>) {
    let pages = Arc::clone(source);
    registry.map("members", move |context| {
        let (kept_of, links) = (
            context.state::<Numbers>("kept of")?,
            context.state::<Numbers>("links")?,
        );
        let named = context.state::<Bitmap>(NAMED)?;
        let mut members = context.wide_shuffle(BY_MEMBERS)?;
        pages.for_each_page(context.task()?, |facts| {
            let number = facts.number;
            let removed_for = follow(number, &kept_of, &links);
            let is_kept = removed_for.is_none();
            if facts.reject.is_some() || (is_kept && !named.get(u64::from(number))) {
                return Ok::<_, StageError>(());
            }
            let class = removed_for.map_or(number, |(kept, _)| kept);
            let text = facts.text_hash.and_then(|hash| hash.first_chunk());
            let member = Member {
                url: facts.url.to_owned(),
                host: facts.host.map(str::to_owned),
                domain: facts.domain.map(str::to_owned),
                ip: facts.ip.map(str::to_owned),
                text: text.map_or(0, |bytes| u64::from_le_bytes(*bytes)),
                published: facts.published_at,
                fetched: facts.fetched_at,
                kept: is_kept,
            };
            let value = serde_json::to_vec(&member)?;
            Ok(members.push_numbered(u64::from(class), u64::from(number), &value)?)
        })
    });
    registry.reduce("evidence", |context, groups| {
        let mut by_hosts = context.wide_shuffle("by hosts")?;
        let mut by_prefix = context.wide_shuffle("by prefix")?;
        let mut groups = WideGroups::new(groups);
        let mut members: Vec<Member> = Vec::new();
        while let Some(group) = groups.next_group()? {
            members.clear();
            let mut beyond = 0;
            for record in group {
                if members.len() < MOST_MEMBERS {
                    members.push(serde_json::from_slice(&record.value)?);
                } else {
                    beyond += 1;
                }
            }
            context.count("pages beyond large classes", beyond);
            if members.len() < 2 {
                continue;
            }
            let hosts = Hosts::of(&members);
            let kept = members.iter().find(|member| member.kept);
            for (one, other) in hosts.pairs(kept.and_then(|kept| kept.host.as_deref())) {
                if let Some(evidence) = hosts.evidence(one, other) {
                    let value = serde_json::to_vec(&evidence)?;
                    by_hosts.push(&verdict_key(one, other)?, 1, &value)?;
                }
            }
            for (pair, earlier) in prefix_pairs(&members) {
                let value = serde_json::to_vec(&earlier)?;
                by_prefix.push(&serde_json::to_vec(&pair)?, 0, &value)?;
            }
        }
        Ok(())
    });
    registry.reduce("prefixes", |context, groups| {
        let mut table = context.table::<PrefixRow>("prefixes")?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            let (mut pages, mut earlier) = (0, [0, 0]);
            let mut key = Vec::new();
            for record in group {
                let [one, other]: [u64; 2] = serde_json::from_slice(&record.value)?;
                pages += 1;
                earlier = [earlier[0] + one, earlier[1] + other];
                key = record.key;
            }
            if pages < RULE_PAGES {
                continue;
            }
            let (one, other): (String, String) = serde_json::from_slice(&key)?;
            let [one_earlier, other_earlier] = earlier;
            // Dates decide; then the shorter address is taken for the original.
            let by_name = |prefix: &String| (prefix.len(), prefix.clone());
            let one_is_first = (one_earlier, other_earlier).cmp(&(other_earlier, one_earlier));
            let one_is_first = one_is_first.then_with(|| by_name(&other).cmp(&by_name(&one)));
            table.push(if one_is_first.is_gt() {
                PrefixRow {
                    prefix: other,
                    of_prefix: one,
                    pages,
                    prefix_earlier: other_earlier,
                    of_prefix_earlier: one_earlier,
                }
            } else {
                PrefixRow {
                    prefix: one,
                    of_prefix: other,
                    pages,
                    prefix_earlier: one_earlier,
                    of_prefix_earlier: other_earlier,
                }
            })?;
        }
        Ok(())
    });
    mirrors(registry);
}

/// The pairs of prefixes that a class gives evidence for, each once, the first by name first; and
/// which is earlier.
fn prefix_pairs(members: &[Member]) -> BTreeMap<(String, String), [u64; 2]> {
    let kept = members.iter().position(|member| member.kept);
    let numbers: Vec<usize> = (0..members.len()).collect();
    let hash = |at: usize| {
        members
            .get(at)
            .map_or(u64::MAX, |member| word_hash(&member.url))
    };
    let mut found = BTreeMap::new();
    for (one, other) in pairs(&numbers, kept, hash) {
        let (Some(one), Some(other)) = (members.get(one), members.get(other)) else {
            continue;
        };
        let (one, other) = if one.url <= other.url {
            (one, other)
        } else {
            (other, one)
        };
        if let Some((prefix, of_prefix)) = prefixes(&one.url, &other.url) {
            let earlier = who_is_earlier(one.dates(), other.dates());
            if prefix <= of_prefix {
                found.insert((prefix, of_prefix), earlier);
            } else {
                let [one, other] = earlier;
                found.insert((of_prefix, prefix), [other, one]);
            }
        }
    }
    found
}

/// What is counted of two hosts.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Shared {
    pages: u64,
    same_paths: u64,
    shared_ip: bool,
    other_ip: bool,
    same_domain: bool,
    earlier: [u64; 2],
    host_pages: u64,
}

impl Shared {
    /// Whether two hosts that share so much are two names of one server. Most of the smaller one
    /// must be found on the other: the same text at the same paths. Beside that they must have one
    /// address; or have enough such pages, and not both other addresses and other domains.
    fn is_alias(&self, of_host_pages: u64) -> bool {
        let smaller = self.host_pages.min(of_host_pages).max(1);
        let most = self.same_paths as f64 / smaller as f64 >= ALIAS_SHARE;
        let elsewhere = self.other_ip && !self.shared_ip && !self.same_domain;
        self.same_paths > 0
            && most
            && (self.shared_ip || (self.same_paths >= ALIAS_PAGES && !elsewhere))
    }
}

fn mirrors(registry: &mut Registry) {
    registry.reduce("shared hosts", |context, groups| {
        let mut hosts = context.wide_shuffle("hosts")?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            let mut shared = Shared::default();
            let mut key = Vec::new();
            for record in group {
                let evidence: Evidence = serde_json::from_slice(&record.value)?;
                shared.pages += 1;
                shared.same_paths += u64::from(evidence.same_path);
                shared.shared_ip |= evidence.same_ip;
                shared.other_ip |= evidence.other_ip;
                shared.same_domain |= evidence.same_domain;
                shared.earlier[0] += evidence.earlier[0];
                shared.earlier[1] += evidence.earlier[1];
                key = record.key;
            }
            let (host, of_host): (String, String) = serde_json::from_slice(&key)?;
            let value = serde_json::to_vec(&(of_host, shared))?;
            hosts.push(host.as_bytes(), 1, &value)?;
        }
        Ok(())
    });
    // The number of pages of the one host is joined, then that of the other.
    registry.reduce("host pages", |context, groups| {
        let mut of_hosts = context.wide_shuffle("of hosts")?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            let mut all = 0;
            for record in group {
                if record.order == 0 {
                    all += count_of(&record.value);
                    continue;
                }
                let host = String::from_utf8_lossy(&record.key);
                let (of_host, mut shared): (String, Shared) =
                    serde_json::from_slice(&record.value)?;
                shared.host_pages = all;
                of_hosts.push(of_host.as_bytes(), 1, &serde_json::to_vec(&(host, shared))?)?;
            }
        }
        Ok(())
    });
    registry.reduce("mirrors", |context, groups| {
        let mut mirrors = context.table::<MirrorRow>("mirrors")?;
        let mut by_verdict = context.wide_shuffle("by verdict")?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            let mut all = 0;
            for record in group {
                if record.order == 0 {
                    all += count_of(&record.value);
                    continue;
                }
                let other = String::from_utf8_lossy(&record.key).into_owned();
                let (one, shared): (String, Shared) = serde_json::from_slice(&record.value)?;
                let alias = shared.is_alias(all);
                by_verdict.push(&verdict_key(&one, &other)?, 0, &[u8::from(alias)])?;
                mirrors.push(mirror_row(one, other, &shared, all, alias))?;
            }
        }
        Ok(())
    });
}

/// Hosts in the order of their dates; the first by name is taken for the original where these do
/// not tell.
fn mirror_row(one: String, other: String, shared: &Shared, all: u64, alias: bool) -> MirrorRow {
    let [one_earlier, other_earlier] = shared.earlier;
    let row = MirrorRow {
        host: other,
        of_host: one,
        pages: shared.pages,
        same_paths: shared.same_paths,
        host_pages: all,
        of_host_pages: shared.host_pages,
        host_earlier: other_earlier,
        of_host_earlier: one_earlier,
        shared_ip: shared.shared_ip,
        alias,
    };
    if one_earlier >= other_earlier {
        return row;
    }
    MirrorRow {
        host: row.of_host,
        of_host: row.host,
        host_pages: row.of_host_pages,
        of_host_pages: row.host_pages,
        host_earlier: row.of_host_earlier,
        of_host_earlier: row.host_earlier,
        ..row
    }
}

fn count_of(value: &[u8]) -> u64 {
    value.try_into().map_or(0, u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_what_stands_before_the_same_path() {
        let found = |one, other| prefixes(one, other);
        let pair = |one: &str, other: &str| Some((one.to_owned(), other.to_owned()));
        assert_eq!(
            found(
                "http://a.org/mirror/ubuntu/x/y.html",
                "https://B.org/pub/ubuntu/x/y.html"
            ),
            pair("a.org/mirror/", "b.org/pub/")
        );
        assert_eq!(
            found("http://a.org/x", "http://b.org/x"),
            pair("a.org/", "b.org/")
        );
        assert_eq!(found("http://a.org/x", "http://a.org/x"), None);
        assert_eq!(found("http://a.org/x", "http://b.org/y"), None);
        assert_eq!(found("http://a.org", "http://b.org"), None);
        assert_eq!(
            found("http://a.org/a/b", "http://a.org/b"),
            pair("a.org/a/", "a.org/")
        );
    }

    #[test]
    fn hosts_of_one_address_or_of_the_same_paths_are_aliases_and_those_of_others_are_not() {
        let shared = Shared {
            pages: 10,
            same_paths: 10,
            host_pages: 15,
            ..Shared::default()
        };
        assert!(shared.is_alias(1000));
        let few = Shared {
            same_paths: 4,
            host_pages: 4,
            ..shared
        };
        assert!(!few.is_alias(1000));
        let one_address = Shared {
            shared_ip: true,
            ..few
        };
        assert!(one_address.is_alias(1000));
        // Ten pages of five hundred say nothing about two servers.
        let little = Shared {
            host_pages: 500,
            shared_ip: true,
            ..shared
        };
        assert!(!little.is_alias(400));
        let mirror = Shared {
            other_ip: true,
            ..shared
        };
        assert!(!mirror.is_alias(1000));
        let in_one_domain = Shared {
            same_domain: true,
            ..mirror
        };
        assert!(in_one_domain.is_alias(1000));
    }

    #[test]
    fn of_many_hosts_pairs_are_those_with_one_of_them_and_with_the_kept_one() {
        let all: Vec<u32> = (0..100).collect();
        let found = pairs(&all, Some(50), |number| u64::from(100 - number));
        assert_eq!(found.len(), 198);
        assert!(found.iter().all(|&(one, _)| one == 99 || one == 50));
        assert_eq!(pairs(&[1u32, 2, 3], None, u64::from).len(), 3);
    }
}
