//! Scoring lists: sites, labels, originals, aliases.

use std::collections::{BTreeSet, HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_64;

use crate::error::Result;
use crate::score::scorer::{Scorer, tally};
use crate::score::table::for_each_row;
use crate::score::truth_index::{BadSite, Id, TruthIndex, UnionFind};
use crate::score::{ScoreLine, bad};
use crate::settings::PageKind;
use crate::truth::BadKind;

/// The minimum number of pages of a bad site that should be found: the rule of Fetterly, Manasse
/// and Najork.
const MIN_PAGES: u64 = 10;

impl Scorer<'_> {
    pub(super) fn sites(&mut self) -> Result<Vec<ScoreLine>> {
        let below = self.finding.table == "neighbourhoods";
        let mut line = self.line(if below { "neighbourhoods" } else { "sites" });
        let kinds: &[BadKind] = match self.finding.analysis.as_str() {
            "phrases" => &[BadKind::LinkFarm, BadKind::Spammer],
            "detect" => &[BadKind::Thief],
            _ => &[BadKind::LinkFarm, BadKind::Spammer, BadKind::Thief],
        };
        let path = &self.finding.path;
        let only_filed = match self.finding.analysis.as_str() {
            "detect" => self.only_filed()?,
            _ => false,
        };
        let known = &self.pages.known;
        let filed: HashSet<Id> = known.files.values().copied().collect();
        // A site that copied originals which the analysis does not have cannot be found.
        let can_be_found = |bad: &BadSite| {
            let stolen = bad.hosts.iter().filter_map(|host| known.stolen.get(host));
            let stolen: Vec<&Id> = stolen.flatten().collect();
            let of_these = stolen.iter().filter(|original| filed.contains(original));
            !only_filed || 2 * of_these.count() >= stolen.len()
        };
        let mut hit = HashSet::new();
        for_each_row(path, |row| {
            let Some(site) = row.text("site") else {
                return Err(bad(path, "a row has no site"));
            };
            if row.truth("flagged") == Some(false) {
                return Ok(());
            }
            let site = site
                .split_once("://")
                .map_or(site, |(_, rest)| rest)
                .trim_end_matches('/');
            let owner = known.bad.iter().position(|bad| owns(bad, site));
            // Among neighbourhoods, the folder of the pages must be found, not only its host.
            let is_all = |bad: &BadSite| {
                let folder = bad.prefix.as_deref().filter(|_| below);
                folder.is_none_or(|prefix| bare_prefix(prefix) == site)
            };
            match owner.and_then(|index| Some((index, known.bad.get(index)?))) {
                Some((index, bad)) if kinds.contains(&bad.kind) => {
                    line.right += 1;
                    if is_all(bad) {
                        hit.insert(index);
                    }
                }
                Some(_) => line.known += 1,
                None if known.templates.iter().any(|host| is_site(host, site)) => line.known += 1,
                // Originals on the site of their publisher are not copied.
                None if kinds == [BadKind::Thief]
                    && known
                        .publishers
                        .contains(site.split('/').next().unwrap_or(site)) =>
                {
                    line.known += 1;
                }
                None => line.wrong += 1,
            }
            Ok(())
        })?;
        for (index, bad) in known.bad.iter().enumerate() {
            if kinds.contains(&bad.kind) && bad.pages >= MIN_PAGES && can_be_found(bad) {
                line.expected += 1;
                line.found += u64::from(hit.contains(&index));
            }
        }
        Ok(vec![line])
    }

    /// Scores pairs of servers. A pair is right if pages of one share text with pages of the other
    /// according to the truth. Mirrors and other host names of a server should be found; a chain of
    /// found pairs that connects two counts. Known are pairs that share at most as many chunks as
    /// there are boilerplate notices, and pairs of sites that are made from pools of sentences or
    /// from a template.
    pub(super) fn servers(&mut self) -> Result<Vec<ScoreLine>> {
        let mut line = self.line("servers");
        let path = &self.finding.path;
        let known = &mut self.pages.known;
        let texts = texts_by_site(known);
        let none = HashSet::new();
        let (mut found, mut seen) = (UnionFind::default(), HashSet::new());
        for_each_row(path, |row| {
            let (Some(server), Some(of)) = (row.text("server"), row.text("of")) else {
                return Err(bad(path, "a row does not have two servers"));
            };
            let (first, second) = (known.id(server), known.id(of));
            if !seen.insert((first.min(second), first.max(second))) {
                return Ok(());
            }
            found.join(first, second);
            let of_site = |site: &str| texts.get(site).unwrap_or(&none);
            let shared = !of_site(server).is_disjoint(of_site(of));
            let from_pool = |site: &str| {
                known.templates.iter().any(|host| is_site(host, site))
                    || known.bad.iter().any(|bad| owns(bad, site))
            };
            // Most sites show the same notices, and may share nothing else.
            let notices = known.boilerplate.len() as u64;
            let little = row.whole("chunks").is_some_and(|chunks| chunks <= notices);
            if shared || known.hosts.same(first, second) {
                line.right += 1;
            } else if little || (from_pool(server) && from_pool(of)) {
                line.known += 1;
            } else {
                line.wrong += 1;
            }
            Ok(())
        })?;
        for &(alias, of) in &known.host_aliases {
            line.expected += 1;
            line.found += u64::from(found.same(alias, of));
        }
        Ok(vec![line])
    }

    /// Whether all originals in the table of matches next to this one are files. Then the analysis
    /// had no others.
    fn only_filed(&self) -> Result<bool> {
        let matches = self.finding.path.with_file_name("matches.parquet");
        let mut all = matches.exists();
        if all {
            for_each_row(&matches, |row| {
                all &= row
                    .text("original")
                    .is_none_or(|name| !name.contains("://"));
                Ok(())
            })?;
        }
        Ok(all)
    }

    /// Scores labels by the pages that they were found on.
    pub(super) fn labels(&mut self) -> Result<Vec<ScoreLine>> {
        let mut line = self.line("labels");
        let path = &self.finding.path;
        let mut found = HashSet::new();
        let pages = &mut *self.pages;
        for_each_row(path, |row| {
            // The examples of labels from originals are the originals.
            let filed = row.text("page").and_then(|name| pages.known.filed(name));
            if let Some(original) = filed {
                line.right += 1;
                found.insert(original);
                return Ok(());
            }
            let page = pages.page(row, "page", path)?;
            let known = &mut pages.known;
            let common = row
                .text("text")
                .is_some_and(|text| known.boilerplate.iter().any(|notice| notice == text.trim()));
            match known.kind(page) {
                _ if common => line.known += 1,
                Some(PageKind::Article | PageKind::Damaged | PageKind::Trap) | None
                    if !known.sources.contains(&page) =>
                {
                    line.wrong += 1;
                }
                Some(PageKind::News | PageKind::Spam | PageKind::Farm) => line.known += 1,
                _ => {
                    line.right += 1;
                    found.extend(known.copied.get(&page).copied());
                    found.insert(page);
                }
            }
            Ok(())
        })?;
        let originals: HashSet<Id> = pages.known.copied.values().copied().collect();
        line.expected = originals.len() as u64;
        line.found = originals.intersection(&found).count() as u64;
        Ok(vec![line])
    }

    /// Scores pages that copy originals, each with its original.
    pub(super) fn matches(&mut self) -> Result<Vec<ScoreLine>> {
        let (mut pages_line, mut originals) = (self.line("pages"), self.line("originals"));
        let path = &self.finding.path;
        let mut found: BTreeSet<(Id, Id)> = BTreeSet::new();
        let mut all_filed = true;
        let pages = &mut *self.pages;
        for_each_row(path, |row| {
            let page = pages.page(row, "page", path)?;
            let filed = row
                .text("original")
                .and_then(|name| pages.known.filed(name));
            let original = match filed {
                Some(original) => original,
                None => pages.page(row, "original", path)?,
            };
            // An original without copies is not in the truth, but not a URL either.
            let is_url = row
                .text("original")
                .is_some_and(|name| name.contains("://"));
            all_filed &= filed.is_some() || !is_url;
            found.insert((page, original));
            Ok(())
        })?;
        let known = &pages.known;
        // An analysis of the folder of originals does not have those that are only in the archives.
        // A page without an unchanged chunk cannot be found.
        let filed: HashSet<Id> = known.files.values().copied().collect();
        let can_be_found = |page: &Id, original: &Id| {
            let has_chunk = known
                .copied_chunks
                .get(page)
                .is_none_or(|&chunks| chunks > 0);
            has_chunk && (!all_filed || filed.contains(original))
        };
        let expected: HashSet<Id> = known
            .copied
            .iter()
            .filter(|(page, original)| can_be_found(page, original))
            .map(|(&page, _)| page)
            .collect();
        let named: BTreeSet<Id> = found.iter().map(|&(page, _)| page).collect();
        for page in named {
            pages_line.found += u64::from(expected.contains(&page));
            match known.kind(page) {
                _ if known.copied.contains_key(&page) => pages_line.right += 1,
                // The original itself is not a copy, but not a mistake either.
                Some(PageKind::Original) => pages_line.known += 1,
                _ => pages_line.wrong += 1,
            }
        }
        pages_line.expected = expected.len() as u64;
        for (page, original) in &found {
            match known.copied.get(page) {
                Some(truth) => {
                    let right = truth == original;
                    originals.found += u64::from(right && expected.contains(page));
                    tally(&mut originals, right, false);
                }
                None if page == original || known.kind(*page) == Some(PageKind::Original) => {
                    originals.known += 1;
                }
                None => originals.wrong += 1,
            }
        }
        originals.expected = expected.len() as u64;
        Ok(vec![pages_line, originals])
    }

    pub(super) fn aliases(&mut self) -> Result<Vec<ScoreLine>> {
        let (mut urls, mut servers) = (self.line("urls"), self.line("servers"));
        let path = &self.finding.path;
        let mut classes = UnionFind::default();
        let known = &mut self.pages.known;
        for_each_row(path, |row| {
            let (Some(alias), Some(of)) = (row.text("alias"), row.text("of")) else {
                return Err(bad(path, "a row does not have an alias and its target"));
            };
            let (first, second) = (known.id(alias), known.id(of));
            classes.join(first, second);
            if alias.contains("://") {
                let same_host = host(alias) == host(of);
                tally(
                    &mut urls,
                    same_host && known.exact.same(first, second),
                    false,
                );
            } else {
                tally(&mut servers, known.hosts.same(first, second), false);
            }
            Ok(())
        })?;
        for (pairs, line) in [
            (&known.url_aliases, &mut urls),
            (&known.host_aliases, &mut servers),
        ] {
            for &(alias, of) in pairs {
                line.expected += 1;
                line.found += u64::from(classes.same(alias, of));
            }
        }
        Ok(vec![urls, servers])
    }
}

impl TruthIndex {
    /// The original with this file name, in any parent folder.
    fn filed(&self, name: &str) -> Option<Id> {
        let mut parts = name.rsplit('/');
        let (file, folder) = (parts.next()?, parts.next()?);
        self.files
            .get(&xxh3_64(format!("{folder}/{file}").as_bytes()))
            .copied()
    }
}

/// For each host and each of its parent domains: the families of pages that its pages belong to or
/// copy from.
fn texts_by_site(known: &mut TruthIndex) -> HashMap<String, HashSet<Id>> {
    let mut taken: HashMap<Id, Vec<Id>> = HashMap::new();
    for &(page, source) in known.passages.keys() {
        taken.entry(page).or_default().push(source);
    }
    for (&page, sources) in &known.quilts {
        let sources = sources.iter().map(|(source, _)| *source);
        taken.entry(page).or_default().extend(sources);
    }
    for (&page, &original) in &known.copied {
        taken.entry(page).or_default().push(original);
    }
    let mut texts: HashMap<String, HashSet<Id>> = HashMap::new();
    let pages = std::mem::take(&mut known.page_hosts);
    for (page, host) in &pages {
        let page = *page;
        let mut families = HashSet::from([known.families.of(page)]);
        for &source in taken.get(&page).map(Vec::as_slice).unwrap_or_default() {
            families.insert(known.families.of(source));
        }
        let mut site = host.as_str();
        loop {
            texts.entry(site.to_owned()).or_default().extend(&families);
            match site.split_once('.') {
                Some((_, above)) if above.contains('.') => site = above,
                _ => break,
            }
        }
    }
    known.page_hosts = pages;
    texts
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}

/// Whether `site` is this host or its domain.
fn is_site(host: &str, site: &str) -> bool {
    host == site || host.strip_prefix("www.") == Some(site)
}

/// A prefix without scheme and trailing slash.
fn bare_prefix(prefix: &str) -> &str {
    let rest = prefix.split_once("://").map_or(prefix, |(_, rest)| rest);
    rest.trim_end_matches('/')
}

/// Whether a host, domain, network address or prefix belongs to a bad site, outside of its other
/// folder.
fn owns(bad: &BadSite, site: &str) -> bool {
    let bare = |prefix: &Option<String>| {
        prefix
            .as_deref()
            .and_then(|prefix| prefix.split_once("://"))
            .map(|(_, rest)| rest.trim_end_matches('/').to_owned())
    };
    let below = |prefix: &str| {
        site == prefix
            || site
                .strip_prefix(prefix)
                .is_some_and(|rest| rest.starts_with('/'))
    };
    if bare(&bad.clean).is_some_and(|clean| below(&clean)) {
        return false;
    }
    bad.ips.contains(site)
        || bad.hosts.iter().any(|host| is_site(host, site))
        || bad
            .hosts
            .iter()
            .any(|host| bad.prefix.is_none() && below(host))
        || bare(&bad.prefix).is_some_and(|prefix| below(&prefix))
}
