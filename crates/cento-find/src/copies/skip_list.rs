//! Skip lists for crawlers: prefixes that mirror other prefixes, and single URLs.
//!
//! ```text
//!   # cento skip list, version 2: …
//!   prefix   mirror.example/pub/          original.example/
//!   keep     http://mirror.example/pub/news.html
//!   url      http://a.example/x?session=1 http://a.example/x
//! ```
//!
//! A crawler skips every URL under a `prefix` unless it is listed as `keep`, and every `url`. The
//! last column is fetched instead. A prefix has no scheme and ends with a slash. Fields are
//! separated by tabs.
//!
//! A prefix is skipped if at least [`SHARE`] of the pages under it, and at least five, have a
//! duplicate at the same path under the other prefix; a page that the crawler has not seen yet is
//! then probably a duplicate too. The longest paths that agree decide which prefixes are compared:
//! if too few of the pages under such a prefix are duplicates, its folders are tried. Of two such
//! prefixes the later by date is skipped; if dates do not decide, the longer. No content is lost: a
//! crawl that follows the list fetches at least one page of every class of duplicates, and every
//! page without duplicates.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::Write;

use cento_fingerprint::word_hash;
use cento_text::url::PageUrl;

use super::mirrors::{PREFIXES, prefixes};
use super::pairs::PAIRS;
use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::run::Findings;

/// The most pairs of prefixes that are considered: the largest ones.
const MOST: usize = 10_000;
/// The share of the pages under a prefix that must be duplicates of the page at the same path under
/// the other prefix.
const SHARE: f64 = 0.9;

/// A prefix of URLs under which pages are duplicates of those under another prefix.
#[derive(Debug, Clone, PartialEq)]
pub struct SkipRule {
    /// The prefix to skip.
    pub prefix: String,
    /// The prefix that is fetched instead.
    pub of_prefix: String,
    /// The number of pages that have a duplicate at the same path there.
    pub pages: u64,
    /// The number of pages under the prefix.
    pub all: u64,
}

impl SkipRule {
    /// Returns the share of the pages under the prefix that are duplicates.
    pub fn share(&self) -> f64 {
        self.pages as f64 / self.all.max(1) as f64
    }
}

/// The most folders within the prefixes that are considered.
const MOST_FOLDERS: usize = 1 << 20;
/// The fewest pages of a prefix.
const LEAST_PAGES: u64 = 5;

/// Two prefixes with the same pages.
#[derive(Clone)]
struct PrefixPair {
    prefix: String,
    of_prefix: String,
    pages: u64,
    dated: bool,
}

/// Returns the rules that follow from the findings of `copies`, largest first. A prefix that is
/// fetched instead of another is never skipped itself.
pub fn rules(findings: &Findings, source: &CorpusPages) -> Result<Vec<SkipRule>> {
    let candidates = candidates(findings)?;
    let counts = count_pages(&candidates, source)?;
    let all = |prefix: &str| counts.get(prefix).copied().unwrap_or(0);
    let mut rules: Vec<SkipRule> = Vec::new();
    for candidate in candidates {
        let rule = |prefix: &str, of_prefix: &str| SkipRule {
            prefix: prefix.to_owned(),
            of_prefix: of_prefix.to_owned(),
            pages: candidate.pages,
            all: all(prefix),
        };
        let mut choices = vec![rule(&candidate.prefix, &candidate.of_prefix)];
        if !candidate.dated {
            choices.push(rule(&candidate.of_prefix, &candidate.prefix));
        }
        let is_valid = |rule: &SkipRule| {
            let within = |one: &str, other: &str| one.starts_with(other);
            rule.share() >= SHARE
                && !within(&rule.of_prefix, &rule.prefix)
                && rules.iter().all(|known| {
                    !within(&rule.prefix, &known.prefix)
                        && !within(&rule.of_prefix, &known.prefix)
                        && !within(&known.of_prefix, &rule.prefix)
                })
        };
        let choice = choices.into_iter().find(|rule| is_valid(rule));
        rules.extend(choice);
    }
    Ok(rules)
}

fn candidates(findings: &Findings) -> Result<Vec<PrefixPair>> {
    let mut found: Vec<PrefixPair> = Vec::new();
    for row in findings.rows(PREFIXES)? {
        let row = row?;
        found.push(PrefixPair {
            prefix: row.prefix,
            of_prefix: row.of_prefix,
            pages: row.pages,
            dated: row.prefix_earlier != row.of_prefix_earlier,
        });
        if found.len() > 4 * MOST {
            shorten(&mut found);
        }
    }
    shorten(&mut found);
    let folders = folders_within(&found, findings)?;
    found.extend(folders);
    shorten(&mut found);
    Ok(found)
}

/// Keeps the largest pairs. Of those with the same pages, a prefix comes before its folders.
fn shorten(found: &mut Vec<PrefixPair>) {
    found.sort_by(|one, other| {
        let by_name = (&one.prefix, &one.of_prefix).cmp(&(&other.prefix, &other.of_prefix));
        other.pages.cmp(&one.pages).then(by_name)
    });
    found.truncate(MOST);
}

/// Returns the folders within pairs of prefixes that have the same pages: all pages of a folder may
/// be duplicates if only some of the pages under the prefix are.
fn folders_within(pairs: &[PrefixPair], findings: &Findings) -> Result<Vec<PrefixPair>> {
    let mut numbers: HashMap<(&str, &str), usize> = HashMap::new();
    for (number, pair) in pairs.iter().enumerate() {
        numbers.insert((&pair.prefix, &pair.of_prefix), number);
        numbers.insert((&pair.of_prefix, &pair.prefix), number);
    }
    let mut counts: HashMap<(usize, String), u64> = HashMap::new();
    for row in findings.rows(PAIRS)? {
        let row = row?;
        let Some((one, other)) = prefixes(&row.page, &row.of) else {
            continue;
        };
        let Some(&number) = numbers.get(&(one.as_str(), other.as_str())) else {
            continue;
        };
        if row.rejected.is_some() {
            continue;
        }
        let mut folders = Vec::new();
        under(&row.page, |prefix| {
            folders.extend(prefix.strip_prefix(&one).map(str::to_owned));
        });
        for folder in folders.into_iter().filter(|folder| !folder.is_empty()) {
            let is_full = counts.len() >= MOST_FOLDERS;
            match counts.entry((number, folder)) {
                Entry::Occupied(mut count) => *count.get_mut() += 1,
                Entry::Vacant(count) if !is_full => {
                    count.insert(1);
                }
                Entry::Vacant(_) => {}
            }
        }
    }
    let counts = counts
        .into_iter()
        .filter(|&(_, pages)| pages >= LEAST_PAGES);
    let folders = counts.filter_map(|((number, folder), pages)| {
        let pair = pairs.get(number)?;
        Some(PrefixPair {
            prefix: format!("{}{folder}", pair.prefix),
            of_prefix: format!("{}{folder}", pair.of_prefix),
            pages,
            dated: pair.dated,
        })
    });
    Ok(folders.collect())
}

/// Counts the pages under each prefix.
fn count_pages(candidates: &[PrefixPair], source: &CorpusPages) -> Result<HashMap<String, u64>> {
    let mut counts: HashMap<String, u64> = HashMap::new();
    for candidate in candidates {
        counts.insert(candidate.prefix.clone(), 0);
        counts.insert(candidate.of_prefix.clone(), 0);
    }
    for task in 0..source.page_tasks().len() {
        source.for_each_page(task, |facts| {
            if facts.reject.is_none() {
                under(facts.url, |prefix| {
                    if let Some(count) = counts.get_mut(prefix) {
                        *count += 1;
                    }
                });
            }
            Ok::<_, Error>(())
        })?;
    }
    Ok(counts)
}

/// Calls `each` with every prefix of a URL that ends with a slash.
fn under(url: &str, mut each: impl FnMut(&str)) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.find('/').unwrap_or(rest.len());
    let (host, path) = rest.split_at(host);
    let address = format!("{}{path}", host.to_ascii_lowercase());
    for (at, _) in address.match_indices('/') {
        each(address.get(..=at).unwrap_or_default());
    }
}

/// The skipped prefixes.
struct Prefixes(HashSet<String>);

impl Prefixes {
    fn skip(&self, url: &str) -> bool {
        let mut skip = false;
        if !self.0.is_empty() {
            under(url, |prefix| skip |= self.0.contains(prefix));
        }
        skip
    }
}

/// The removed pages and the URLs that are fetched instead.
#[derive(Default)]
struct SkipPlan {
    /// Removed pages, by id and hash of the URL: two corpora may use the same ids.
    removed: HashSet<(u64, u64)>,
    /// The addresses of removed pages under a prefix.
    covered: HashSet<u64>,
    /// The addresses of removed pages that no prefix skips.
    single: HashSet<u64>,
    /// Classes whose kept page is under a skipped prefix, with the first URL of the class that is
    /// not, if any. That URL is fetched instead.
    instead: HashMap<(u64, u64), Option<String>>,
}

/// Returns the key of a page.
fn identity(id: u64, url: &str) -> (u64, u64) {
    (id, word_hash(url))
}

/// Identifies what a URL leads to, as a crawler sees it that normalises URLs: without fragment and
/// default port, and with the host in lower case.
fn address(url: &str) -> u64 {
    word_hash(PageUrl::new(url).canonical())
}

impl SkipPlan {
    fn of(findings: &Findings, prefixes: &Prefixes) -> Result<SkipPlan> {
        let mut plan = SkipPlan::default();
        for pair in findings.rows(PAIRS)? {
            let pair = pair?;
            plan.removed.insert(identity(pair.page_id, &pair.page));
            let page_is_skipped = prefixes.skip(&pair.page);
            match page_is_skipped {
                true => plan.covered.insert(address(&pair.page)),
                false => plan.single.insert(address(&pair.page)),
            };
            if prefixes.skip(&pair.of) {
                let of = identity(pair.of_id, &pair.of);
                let instead = plan.instead.entry(of).or_default();
                let first = |known: &str| pair.page.as_str() < known;
                if !page_is_skipped && instead.as_deref().is_none_or(first) {
                    *instead = Some(pair.page);
                }
            }
        }
        Ok(plan)
    }

    /// Returns the URL of a class that is fetched.
    fn fetched<'a>(&'a self, of_id: u64, of: &'a str) -> &'a str {
        let instead = self.instead.get(&identity(of_id, of));
        let instead = instead.and_then(Option::as_deref);
        instead.unwrap_or(of)
    }
}

/// Writes the skip list of findings. Returns the numbers of prefixes and of single URLs in it.
pub fn write_skip_list(
    findings: &Findings,
    source: &CorpusPages,
    out: &mut dyn Write,
) -> Result<(u64, u64)> {
    let rules = rules(findings, source)?;
    let failed = |error| Error::io(&findings.path, error);
    writeln!(
        out,
        "# cento skip list, version 2: skip URLs under a prefix unless listed as keep, and skip each url; \
         the last column is fetched instead. Of the pages with text under a prefix, at least {:.0} % are duplicates of the page at the same path.",
        100.0 * SHARE
    )
    .map_err(failed)?;
    for rule in &rules {
        writeln!(out, "prefix\t{}\t{}", rule.prefix, rule.of_prefix).map_err(failed)?;
    }
    let prefixes = Prefixes(rules.iter().map(|rule| rule.prefix.clone()).collect());
    let plan = SkipPlan::of(findings, &prefixes)?;
    // URLs that must be fetched although a rule or a single line would skip them.
    let mut fetch: HashSet<u64> = plan
        .instead
        .values()
        .flatten()
        .map(|url| address(url))
        .collect();
    let mut keep: BTreeSet<String> = BTreeSet::new();
    for task in 0..source.page_tasks().len() {
        source.for_each_page::<Error>(task, |facts| {
            let counts = facts.reject.is_none_or(|reason| reason == "not-text");
            // What could not be read once, such as an answer of a server that failed, may be a page
            // of its own the next time.
            let unread = !counts && !matches!(facts.reject, Some("recursion" | "revisit"));
            if unread && prefixes.skip(facts.url) && !plan.covered.contains(&address(facts.url)) {
                keep.insert(plain(facts.url));
            }
            let page = identity(facts.page_id, facts.url);
            let replaced = plan.instead.get(&page).is_some_and(Option::is_some);
            if !counts || replaced || plan.removed.contains(&page) {
                return Ok(());
            }
            if prefixes.skip(facts.url) {
                keep.insert(plain(facts.url));
            } else if plan.single.contains(&address(facts.url)) {
                fetch.insert(address(facts.url));
            }
            Ok(())
        })?;
    }
    for url in &keep {
        writeln!(out, "keep\t{url}").map_err(failed)?;
    }
    let mut single = 0;
    for pair in findings.rows(PAIRS)? {
        let pair = pair?;
        // A URL that was captured twice is not skipped.
        let fetched = plan.fetched(pair.of_id, &pair.of);
        let skipped = prefixes.skip(&pair.page);
        // After its first line, a URL counts as fetched: its other captures need no line.
        let page = address(&pair.page);
        if !skipped && page != address(fetched) && fetch.insert(page) {
            writeln!(out, "url\t{}\t{}", plain(&pair.page), plain(fetched)).map_err(failed)?;
            single += 1;
        }
    }
    Ok((rules.len() as u64, single))
}

/// Returns a URL without control characters, so that it takes one line.
fn plain(url: &str) -> String {
    url.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_under_each_of_its_prefixes() {
        let mut found = Vec::new();
        under("http://A.org/b/c.html", |prefix| {
            found.push(prefix.to_owned());
        });
        assert_eq!(found, ["a.org/", "a.org/b/"]);
    }
}
