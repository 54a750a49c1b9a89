//! What each analysis got right.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_64;

use crate::error::Result;
use crate::score::known::{Bad, Classes, Id, unordered};
use crate::score::table::{Row, for_each_row};
use crate::score::{Finding, Line, Pages, bad};
use crate::settings::Kind;
use crate::truth::BadKind;

/// The resemblance of near-copies that nobody named.
const RESEMBLANCE: f64 = 0.8;

/// Pages that a bad site must have to be found by its pages: the rule of Fetterly, Manasse and Najork.
const LEAST_PAGES: u64 = 10;

/// Scores one table.
pub(crate) struct Judge<'a> {
    finding: &'a Finding,
    pages: &'a mut Pages,
    resemblance: f64,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(
        finding: &'a Finding,
        pages: &'a mut Pages,
        resemblance: Option<f64>,
    ) -> Judge<'a> {
        Judge {
            finding,
            pages,
            resemblance: resemblance
                .or(finding.number("resemblance"))
                .unwrap_or(RESEMBLANCE),
        }
    }

    pub(crate) fn run(&mut self) -> Result<Vec<Line>> {
        match (self.finding.analysis.as_str(), self.finding.table.as_str()) {
            ("copies", _) => self.copies(),
            ("overlap" | "reuse", _) => self.pairs(),
            ("passages", _) => self.passages(),
            ("quilts", _) => self.quilts(),
            ("discover", _) => self.labels(),
            ("detect", "matches") => self.matches(),
            ("aliases", _) => self.aliases(),
            _ => self.sites(),
        }
    }

    fn line(&self, what: &'static str) -> Line {
        Line {
            analysis: self.finding.analysis.clone(),
            what,
            ..Line::default()
        }
    }

    /// Gives every pair of pages to `visit`.
    fn for_each_pair(
        &mut self,
        columns: [&str; 2],
        mut visit: impl FnMut(&mut Pages, &Row, Id, Id) -> Result<()>,
    ) -> Result<()> {
        let path = &self.finding.path;
        let pages = &mut *self.pages;
        for_each_row(path, |row| {
            let first = pages.page(row, columns[0], path)?;
            let second = pages.page(row, columns[1], path)?;
            visit(pages, row, first, second)
        })
    }

    fn copies(&mut self) -> Result<Vec<Line>> {
        let (mut exact, mut near) = (self.line("exact"), self.line("near"));
        let least = self.resemblance;
        let mut classes = Classes::default();
        let mut seen = HashSet::new();
        self.for_each_pair(["page", "of"], |pages, row, page, of| {
            let known = &mut pages.known;
            // A revisit has the address of what it repeats.
            if page == of {
                if known.revisited.contains(&page) {
                    exact.right += 1;
                }
                return Ok(());
            }
            if !seen.insert(unordered(page, of)) {
                return Ok(());
            }
            classes.join(page, of);
            if known.exact.same(page, of) {
                exact.right += 1;
                return Ok(());
            }
            let right = match known.resemblance(page, of) {
                Some(resemblance) => resemblance >= least,
                None => known.families.same(page, of),
            };
            let line = if row.real("resemblance") == Some(1.0) && !right {
                &mut exact
            } else {
                &mut near
            };
            tally(line, right, known.same_template(page, of));
            Ok(())
        })?;
        for pair in &self.pages.known.pairs {
            let line = if pair.exact { &mut exact } else { &mut near };
            if pair.exact || pair.resemblance >= least {
                line.expected += 1;
                line.found += u64::from(classes.same(pair.copy, pair.of));
            }
        }
        Ok(vec![exact, near])
    }

    /// Pairs of pages that share text. Exact copies stand for each other.
    fn pairs(&mut self) -> Result<Vec<Line>> {
        let mut line = self.line("pairs");
        let mut seen = HashSet::new();
        self.for_each_pair(["page", "of"], |pages, _, page, of| {
            let known = &mut pages.known;
            let pair = unordered(known.exact.of(page), known.exact.of(of));
            if page == of || !seen.insert(pair) {
                return Ok(());
            }
            if known.related(page, of) {
                line.right += 1;
            } else if known.same_template(page, of) || known.both_diced(page, of) {
                line.known += 1;
            } else {
                line.wrong += 1;
            }
            Ok(())
        })?;
        let expected = self.expected_pairs();
        line.expected = expected.len() as u64;
        line.found = expected.intersection(&seen).count() as u64;
        Ok(vec![line])
    }

    /// Pairs that should be found, with exact copies standing for each other: by chunks, those with as many chunks in common as the
    /// run asked for; else all that share a passage or are copies.
    fn expected_pairs(&mut self) -> HashSet<(Id, Id)> {
        let threshold = match (self.finding.analysis.as_str(), self.finding.word("chunk")) {
            ("overlap", None | Some("paragraph")) => self.finding.number("threshold").or(Some(1.0)),
            ("overlap", Some(_)) => Some(f64::INFINITY),
            _ => None,
        };
        let known = &mut self.pages.known;
        let mut expected = HashSet::new();
        let mut add = |exact: &mut Classes, first: Id, second: Id| {
            let (first, second) = (exact.of(first), exact.of(second));
            if first != second {
                expected.insert(unordered(first, second));
            }
        };
        for pair in &known.pairs {
            if threshold.is_none_or(|threshold| pair.shared_chunks as f64 >= threshold) {
                add(&mut known.exact, pair.copy, pair.of);
            }
        }
        if threshold.is_none() {
            for &(page, source) in known.passages.keys() {
                if known.natures.contains_key(&source) {
                    add(&mut known.exact, page, source);
                }
            }
        }
        expected
    }

    fn passages(&mut self) -> Result<Vec<Line>> {
        let mut line = self.line("bytes");
        // What was found in each page from each source, as stretches of the page with those of the source.
        let mut found: HashMap<(Id, Id), Vec<[u64; 4]>> = HashMap::new();
        let path = &self.finding.path;
        self.for_each_pair(["page", "source"], |pages, row, page, source| {
            let mut places = [0; 4];
            for (place, column) in
                places
                    .iter_mut()
                    .zip(["begin", "end", "source_begin", "source_end"])
            {
                *place = row
                    .whole(column)
                    .ok_or_else(|| bad(path, &format!("a row has no {column}")))?;
            }
            let [begin, end, source_begin, source_end] = places;
            if begin >= end || source_begin >= source_end {
                return Err(bad(path, "a row has a passage that ends before it begins"));
            }
            let known = &mut pages.known;
            if known.passages.contains_key(&(page, source)) {
                found.entry((page, source)).or_default().push(places);
            } else if known.passages.contains_key(&(source, page)) {
                let turned = [source_begin, source_end, begin, end];
                found.entry((source, page)).or_default().push(turned);
            } else if known.families.same(page, source) {
                line.right += end - begin;
            } else if known.related(page, source)
                || known.same_template(page, source)
                || known.both_diced(page, source)
                || is_boilerplate(
                    pages.text(row, "page")?,
                    begin,
                    end,
                    &pages.known.boilerplate,
                )
            {
                line.known += end - begin;
            } else {
                line.wrong += end - begin;
            }
            Ok(())
        })?;
        for (pair, truth) in &self.pages.known.passages {
            let found = found.get(pair).map(Vec::as_slice).unwrap_or_default();
            let all: Vec<(u64, u64)> = found.iter().map(|place| (place[0], place[1])).collect();
            let mut right = Vec::new();
            for passage in truth {
                line.expected += passage.at.1 - passage.at.0;
                let aligned = found
                    .iter()
                    .filter(|place| common((place[2], place[3]), passage.source_at).is_some())
                    .filter_map(|place| common((place[0], place[1]), passage.at));
                right.extend(aligned);
            }
            let right = length(right);
            line.found += right;
            line.right += right;
            line.wrong += length(all) - right;
        }
        Ok(vec![line])
    }

    fn quilts(&mut self) -> Result<Vec<Line>> {
        let (mut pages_line, mut sources) = (self.line("pages"), self.line("sources"));
        let mut links = self.line("attributed");
        let least = self.finding.number("min_share").unwrap_or(0.0);
        let mut found: BTreeSet<Id> = BTreeSet::new();
        let mut pairs: BTreeMap<(Id, Id), Option<bool>> = BTreeMap::new();
        self.for_each_pair(["page", "source"], |_, row, page, source| {
            if row.real("share").is_none_or(|share| share >= least) {
                found.insert(page);
                pairs.insert((page, source), row.truth("attributed"));
            }
            Ok(())
        })?;
        let known = &mut self.pages.known;
        for &page in &found {
            match known.kind(page) {
                _ if known.quilts.contains_key(&page) => pages_line.right += 1,
                Some(Kind::Spam | Kind::Farm) => pages_line.known += 1,
                _ => pages_line.wrong += 1,
            }
        }
        pages_line.expected = known.quilts.len() as u64;
        pages_line.found = pages_line.right;
        for (&(page, source), &attributed) in &pairs {
            let Some(truth) = known.quilts.get(&page) else {
                continue;
            };
            let source = known.exact.of(source);
            let right = truth
                .iter()
                .any(|&(id, _)| id == source || known.exact.of(id) == source);
            tally(&mut sources, right, false);
            if attributed == Some(true) {
                tally(&mut links, known.attributed.contains(&page), false);
            }
        }
        for (page, truth) in &known.quilts {
            for (source, _) in truth.iter().filter(|(_, share)| *share >= least) {
                sources.expected += 1;
                let attributed = pairs.get(&(*page, *source));
                sources.found += u64::from(attributed.is_some());
                if known.attributed.contains(page) {
                    links.expected += 1;
                    links.found += u64::from(attributed == Some(&Some(true)));
                }
            }
        }
        let tells_links = pairs.values().any(Option::is_some);
        Ok(if tells_links {
            vec![pages_line, sources, links]
        } else {
            vec![pages_line, sources]
        })
    }

    fn sites(&mut self) -> Result<Vec<Line>> {
        let mut line = self.line("sites");
        let wanted: &[BadKind] = match self.finding.analysis.as_str() {
            "phrases" => &[BadKind::LinkFarm, BadKind::Spammer],
            "detect" => &[BadKind::Thief],
            _ => &[BadKind::LinkFarm, BadKind::Spammer, BadKind::Thief],
        };
        let path = &self.finding.path;
        let known = &self.pages.known;
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
            match owner.and_then(|index| Some((index, known.bad.get(index)?))) {
                Some((index, bad)) if wanted.contains(&bad.kind) => {
                    line.right += 1;
                    hit.insert(index);
                }
                Some(_) => line.known += 1,
                None if known.templates.iter().any(|host| is_site(host, site)) => line.known += 1,
                None => line.wrong += 1,
            }
            Ok(())
        })?;
        for (index, bad) in known.bad.iter().enumerate() {
            if wanted.contains(&bad.kind) && bad.pages >= LEAST_PAGES {
                line.expected += 1;
                line.found += u64::from(hit.contains(&index));
            }
        }
        Ok(vec![line])
    }

    /// Labels by the pages that they were found on.
    fn labels(&mut self) -> Result<Vec<Line>> {
        let mut line = self.line("labels");
        let path = &self.finding.path;
        let mut found = HashSet::new();
        let pages = &mut *self.pages;
        for_each_row(path, |row| {
            let page = pages.page(row, "page", path)?;
            let known = &mut pages.known;
            let common = row
                .text("text")
                .is_some_and(|text| known.boilerplate.iter().any(|notice| notice == text.trim()));
            match known.kind(page) {
                _ if common => line.known += 1,
                Some(Kind::Article | Kind::Damaged | Kind::Trap) | None
                    if !known.sources.contains(&page) =>
                {
                    line.wrong += 1
                }
                Some(Kind::News | Kind::Spam | Kind::Farm) => line.known += 1,
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

    /// Pages that copy originals, each to its original.
    fn matches(&mut self) -> Result<Vec<Line>> {
        let (mut pages_line, mut originals) = (self.line("pages"), self.line("originals"));
        let path = &self.finding.path;
        let mut found: BTreeSet<(Id, Id)> = BTreeSet::new();
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
            found.insert((page, original));
            Ok(())
        })?;
        let known = &pages.known;
        let named: BTreeSet<Id> = found.iter().map(|&(page, _)| page).collect();
        for page in named {
            match known.kind(page) {
                _ if known.copied.contains_key(&page) => pages_line.right += 1,
                // The publisher's own page is no copy, and no mistake either.
                Some(Kind::Original) => pages_line.known += 1,
                _ => pages_line.wrong += 1,
            }
        }
        pages_line.expected = known.copied.len() as u64;
        pages_line.found = pages_line.right;
        for (page, original) in &found {
            match known.copied.get(page) {
                Some(truth) => tally(&mut originals, truth == original, false),
                None if page == original => originals.known += 1,
                None => originals.wrong += 1,
            }
        }
        originals.expected = known.copied.len() as u64;
        originals.found = originals.right;
        Ok(vec![pages_line, originals])
    }

    fn aliases(&mut self) -> Result<Vec<Line>> {
        let (mut urls, mut servers) = (self.line("urls"), self.line("servers"));
        let path = &self.finding.path;
        let mut classes = Classes::default();
        let known = &mut self.pages.known;
        for_each_row(path, |row| {
            let (Some(alias), Some(of)) = (row.text("alias"), row.text("of")) else {
                return Err(bad(
                    path,
                    "a row has no alias, or nothing that it is one of",
                ));
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

impl crate::score::known::Known {
    /// An original by the name of its file, whatever folder stands before it.
    fn filed(&self, name: &str) -> Option<Id> {
        let mut parts = name.rsplit('/');
        let (file, folder) = (parts.next()?, parts.next()?);
        self.files
            .get(&xxh3_64(format!("{folder}/{file}").as_bytes()))
            .copied()
    }
}

fn tally(line: &mut Line, right: bool, template: bool) {
    if right {
        line.right += 1;
    } else {
        line.wrong += 1;
        line.templates += u64::from(template);
    }
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}

/// Whether `site` is this host or its domain.
fn is_site(host: &str, site: &str) -> bool {
    host == site || host.strip_prefix("www.") == Some(site)
}

/// Whether a host, domain, address or prefix is that of a bad site; a clean folder of one is not.
fn owns(bad: &Bad, site: &str) -> bool {
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

/// What two stretches have in common.
fn common(first: (u64, u64), second: (u64, u64)) -> Option<(u64, u64)> {
    let both = (first.0.max(second.0), first.1.min(second.1));
    (both.0 < both.1).then_some(both)
}

/// How much stretches cover, each place counted once.
fn length(mut stretches: Vec<(u64, u64)>) -> u64 {
    stretches.sort_unstable();
    let mut covered = 0;
    let mut done = 0;
    for (begin, end) in stretches {
        covered += end.saturating_sub(begin.max(done));
        done = done.max(end);
    }
    covered
}

/// Whether a stretch says nothing but what most sites say.
fn is_boilerplate(text: Option<String>, begin: u64, end: u64, notices: &[String]) -> bool {
    let stretch = text
        .as_deref()
        .and_then(|text| text.get(begin as usize..end as usize));
    stretch.is_some_and(|stretch| notices.iter().any(|notice| notice.contains(stretch.trim())))
}
