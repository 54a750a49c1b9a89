//! Finds hosts and URL prefixes that have the same pages.
//!
//! ```text
//!   pages ─ members ─▶ by members ─ evidence ─┬─▶ by hosts ─ shared hosts ─▶ hosts ─ host pages …
//!                                             └─▶ by prefix ─ prefixes ─▶ prefixes
//!   … ─▶ of hosts ─ mirrors ─▶ mirrors
//! ```
//!
//! Evidence is collected per class and for unordered pairs: two hosts share a page if a class has a
//! page on each. For classes on at most [`ALL_PAIRS`] hosts the result depends neither on the order
//! of records nor on which page is kept.
//!
//! A class on more hosts contributes evidence only for pairs with two of its hosts: one that
//! depends on the set of hosts alone, and the host of the kept page, because the cause of every
//! pair in the class is looked up under that host. With another order of precedence another page is
//! kept, so for these hosts the evidence, and with it the `alias` column and the cause
//! `server-alias`, can differ. All pairs would take quadratic time: a class on 10,000 hosts has 50
//! million. The summary counts such classes ([`super::CopiesSummary::wide_classes`]).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cento_fingerprint::word_hash;
use cento_flow::{Bitmap, Flow, Registry, Stage, StageError, TableName, WideGroups, table_row};
use serde::{Deserialize, Serialize};

use super::pairs::follow;
use super::stage_names::{counter, shuffle, stage, state};
use crate::corpus_pages::CorpusPages;
use crate::names::NAMED;
use crate::numbers::Numbers;
use crate::precedence::{Dates, Earlier, earlier};

/// The share of the smaller host that must be on the other one, with the same text at the same
/// path, for the two to be aliases.
const ALIAS_SHARE: f64 = 0.5;
/// The number of such pages required if the hosts have no IP address in common.
const ALIAS_PAGES: u64 = 5;
/// The number of pages required for a rule.
const RULE_PAGES: u64 = 5;
/// The most hosts, or pages, of a class for which all pairs are compared.
pub const ALL_PAIRS: usize = 24;
/// The most pages of a class that are considered.
const MOST_MEMBERS: usize = 1 << 14;

/// The table of hosts that have the same pages.
pub const MIRRORS: TableName<MirrorRow> = TableName::new("mirrors");
/// The table of URL prefixes that have the same pages.
pub const PREFIXES: TableName<PrefixRow> = TableName::new("prefixes");

table_row! {
    /// Two hosts that have the same pages.
    pub struct MirrorRow {
        /// The host whose pages are later by date more often; if dates do not decide, the later by
        /// name.
        pub host: String,
        /// The other host.
        pub of_host: String,
        /// Shared pages: classes with a page on each.
        pub pages: u64,
        /// Shared pages with the same text at the same path.
        pub same_paths: u64,
        /// All pages of the host.
        pub host_pages: u64,
        /// All pages of the other host.
        pub of_host_pages: u64,
        /// Shared pages that are earlier by date on the host.
        pub host_earlier: u64,
        /// Shared pages that are earlier by date on the other host.
        pub of_host_earlier: u64,
        /// Whether they were served from the same IP address.
        pub shared_ip: bool,
        /// Whether they seem to be two names of one server: most pages of the smaller host are on
        /// the other at the same paths, and the hosts have an address or a domain in common. For
        /// hosts that share classes on more than 24 hosts, this can depend on which pages are kept.
        pub alias: bool,
    }
}

table_row! {
    /// Two URL prefixes under which the same paths lead to duplicates.
    pub struct PrefixRow {
        /// The prefix whose pages are later by date more often; if dates do not decide, the longer,
        /// then the later by name.
        pub prefix: String,
        /// The other prefix.
        pub of_prefix: String,
        /// Shared pages: classes with a page at the same path under each.
        pub pages: u64,
        /// Shared pages that are earlier by date under the prefix.
        pub prefix_earlier: u64,
        /// Shared pages that are earlier by date under the other prefix.
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
    /// The first 64 bits of the hash of its text.
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

/// The evidence of one class about two hosts, which are in the order of their names.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Evidence {
    same_path: bool,
    same_ip: bool,
    same_domain: bool,
    /// Whether each of the two is earlier than the other by date: 0 or 1.
    earlier: [u64; 2],
}

fn who_is_earlier(one: Dates, other: Dates) -> [u64; 2] {
    match earlier(one, other) {
        Earlier::First => [1, 0],
        Earlier::Second => [0, 1],
        Earlier::Same | Earlier::Unknown => [0, 0],
    }
}

/// Splits a URL, without its scheme, after its host.
fn host_and_path(url: &str) -> (&str, &str) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').map_or((rest, ""), |at| rest.split_at(at))
}

/// Returns the prefixes of two URLs before the trailing path components that they share. None if
/// they share no component, or if the prefixes are the same.
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

/// The pages of a class by host.
struct ClassHosts<'m>(BTreeMap<&'m str, Vec<&'m Member>>);

impl<'m> ClassHosts<'m> {
    fn of(members: &'m [Member]) -> ClassHosts<'m> {
        let mut hosts: BTreeMap<&str, Vec<&Member>> = BTreeMap::new();
        for member in members {
            if let Some(host) = &member.host {
                hosts.entry(host).or_default().push(member);
            }
        }
        ClassHosts(hosts)
    }

    fn evidence(&self, one: &str, other: &str) -> Option<Evidence> {
        let (one, other) = (self.0.get(one)?, self.0.get(other)?);
        let first = |members: &[&Member]| members.iter().find_map(|member| member.domain.clone());
        let dates = |members: &[&Member]| {
            let dates = members.iter().map(|member| member.dates());
            dates.min_by_key(|dates| dates.decisive().map_or(i64::MAX, |(date, _)| date))
        };
        let mut evidence = Evidence {
            same_domain: first(one).is_some_and(|domain| first(other) == Some(domain)),
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
        }
        Some(evidence)
    }

    /// Returns the pairs of hosts that the class gives evidence about, in the order of their names.
    fn pairs(&self, kept: Option<&'m str>) -> BTreeSet<(&'m str, &'m str)> {
        let names: Vec<&str> = self.0.keys().copied().collect();
        pairs(&names, kept, word_hash)
            .into_iter()
            .map(|(one, other)| (one.min(other), one.max(other)))
            .collect()
    }
}

/// Returns all pairs if there are at most [`ALL_PAIRS`] items; otherwise the pairs with the item of
/// the smallest hash and the pairs with `kept`.
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

/// Adds the stages that find mirrors and prefixes, after those that decide which pages are removed.
/// `bits` is the number of bits of page numbers.
pub(super) fn with_evidence(flow: Flow, source: &CorpusPages, bits: u32) -> Flow {
    flow.shuffle_of_numbers(shuffle::BY_MEMBERS, bits)
        .shuffle(shuffle::BY_HOSTS)
        .shuffle(shuffle::BY_PREFIX)
        .table(MIRRORS)
        .table(PREFIXES)
        .stage(
            Stage::map(stage::MEMBERS, source.page_tasks())
                .reads(state::KEPT_OF)
                .reads(state::LINKS)
                .reads(NAMED)
                .writes(shuffle::BY_MEMBERS),
        )
        .stage(
            Stage::reduce(stage::EVIDENCE, shuffle::BY_MEMBERS)
                .writes(shuffle::BY_HOSTS)
                .writes(shuffle::BY_PREFIX),
        )
        .stage(Stage::reduce(stage::SHARED_HOSTS, shuffle::BY_HOSTS).writes(shuffle::HOSTS))
        .stage(Stage::reduce(stage::HOST_PAGES, shuffle::HOSTS).writes(shuffle::OF_HOSTS))
        .stage(
            Stage::reduce(stage::MIRRORS, shuffle::OF_HOSTS)
                .writes(MIRRORS.as_str())
                .writes(shuffle::BY_VERDICT),
        )
        .stage(Stage::reduce(stage::PREFIXES, shuffle::BY_PREFIX).writes(PREFIXES.as_str()))
}

/// Returns the key of a pair of hosts in the shuffle of verdicts.
pub(super) fn verdict_key(one: &str, other: &str) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&(one.min(other), one.max(other)))
}

pub(super) fn register(registry: &mut Registry, source: &Arc<CorpusPages>) {
    let pages = Arc::clone(source);
    registry.map(stage::MEMBERS, move |context| {
        let (kept_of, links) = (
            context.state::<Numbers>(state::KEPT_OF)?,
            context.state::<Numbers>(state::LINKS)?,
        );
        let named = context.state::<Bitmap>(NAMED)?;
        let mut members = context.wide_shuffle(shuffle::BY_MEMBERS)?;
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
    registry.reduce(stage::EVIDENCE, |context, groups| {
        let mut by_hosts = context.wide_shuffle(shuffle::BY_HOSTS)?;
        let mut by_prefix = context.wide_shuffle(shuffle::BY_PREFIX)?;
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
            let hosts = ClassHosts::of(&members);
            if hosts.0.len() > ALL_PAIRS {
                context.count(counter::WIDE_CLASSES, 1);
            }
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
    registry.reduce(stage::PREFIXES, |context, groups| {
        let mut table = context.table(PREFIXES)?;
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
            // Dates decide; otherwise the shorter prefix is taken for the original.
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

/// Returns the pairs of prefixes that a class gives evidence about, each once and in the order of
/// their names, and which of the two is earlier.
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

/// The evidence of all classes about two hosts.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct SharedHosts {
    pages: u64,
    same_paths: u64,
    shared_ip: bool,
    same_domain: bool,
    earlier: [u64; 2],
    host_pages: u64,
}

impl SharedHosts {
    /// Whether the two hosts are names of one server. Most of the smaller one must be on the other,
    /// with the same text at the same paths. In addition they must have an IP address in common, or
    /// be in one domain and have enough such pages. Two domains whose addresses are unknown may be
    /// strangers: whoever copies a whole site copies its paths, too.
    fn is_alias(&self, of_host_pages: u64) -> bool {
        let smaller = self.host_pages.min(of_host_pages).max(1);
        let most = self.same_paths as f64 / smaller as f64 >= ALIAS_SHARE;
        let in_one_domain = self.same_domain && self.same_paths >= ALIAS_PAGES;
        self.same_paths > 0 && most && (self.shared_ip || in_one_domain)
    }
}

fn mirrors(registry: &mut Registry) {
    registry.reduce(stage::SHARED_HOSTS, |context, groups| {
        let mut hosts = context.wide_shuffle(shuffle::HOSTS)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            let mut shared = SharedHosts::default();
            let mut key = Vec::new();
            for record in group {
                let evidence: Evidence = serde_json::from_slice(&record.value)?;
                shared.pages += 1;
                shared.same_paths += u64::from(evidence.same_path);
                shared.shared_ip |= evidence.same_ip;
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
    // Joins the number of pages of the first host, then that of the second.
    registry.reduce(stage::HOST_PAGES, |context, groups| {
        let mut of_hosts = context.wide_shuffle(shuffle::OF_HOSTS)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            let mut all = 0;
            for record in group {
                if record.order == 0 {
                    all += count_of(&record.value);
                    continue;
                }
                let host = String::from_utf8_lossy(&record.key);
                let (of_host, mut shared): (String, SharedHosts) =
                    serde_json::from_slice(&record.value)?;
                shared.host_pages = all;
                of_hosts.push(of_host.as_bytes(), 1, &serde_json::to_vec(&(host, shared))?)?;
            }
        }
        Ok(())
    });
    registry.reduce(stage::MIRRORS, |context, groups| {
        let mut mirrors = context.table(MIRRORS)?;
        let mut by_verdict = context.wide_shuffle(shuffle::BY_VERDICT)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            let mut all = 0;
            for record in group {
                if record.order == 0 {
                    all += count_of(&record.value);
                    continue;
                }
                let other = String::from_utf8_lossy(&record.key).into_owned();
                let (one, shared): (String, SharedHosts) = serde_json::from_slice(&record.value)?;
                let alias = shared.is_alias(all);
                by_verdict.push(&verdict_key(&one, &other)?, 0, &[u8::from(alias)])?;
                mirrors.push(mirror_row(one, other, &shared, all, alias))?;
            }
        }
        Ok(())
    });
}

/// Returns the row of two hosts. If dates do not decide, the first by name is taken for the
/// original.
fn mirror_row(
    one: String,
    other: String,
    shared: &SharedHosts,
    all: u64,
    alias: bool,
) -> MirrorRow {
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
    fn prefixes_end_before_the_shared_path() {
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
    fn hosts_with_one_ip_or_in_one_domain_are_aliases_and_mirrors_elsewhere_are_not() {
        let shared = SharedHosts {
            pages: 10,
            same_paths: 10,
            host_pages: 15,
            same_domain: true,
            ..SharedHosts::default()
        };
        assert!(shared.is_alias(1000));
        let few = SharedHosts {
            same_paths: 4,
            host_pages: 4,
            ..shared
        };
        assert!(!few.is_alias(1000));
        let one_address = SharedHosts {
            shared_ip: true,
            ..few
        };
        assert!(one_address.is_alias(1000));
        // Ten shared pages of five hundred are no evidence.
        let little = SharedHosts {
            host_pages: 500,
            shared_ip: true,
            ..shared
        };
        assert!(!little.is_alias(400));
        // Whether their addresses are unknown or differ: another domain may be somebody else's.
        let mirror = SharedHosts {
            same_domain: false,
            ..shared
        };
        assert!(!mirror.is_alias(1000));
    }

    #[test]
    fn many_hosts_are_paired_with_two_of_them_only() {
        let all: Vec<u32> = (0..100).collect();
        let found = pairs(&all, Some(50), |number| u64::from(100 - number));
        assert_eq!(found.len(), 198);
        assert!(found.iter().all(|&(one, _)| one == 99 || one == 50));
        assert_eq!(pairs(&[1u32, 2, 3], None, u64::from).len(), 3);
    }
}
