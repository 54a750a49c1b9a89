//! What a crawler can load: which prefixes mirror which, and which single addresses to skip.
//!
//! ```text
//!   # cento skip list, version 2: …
//!   prefix   mirror.example/pub/          original.example/
//!   keep     http://mirror.example/pub/news.html
//!   url      http://a.example/x?session=1 http://a.example/x
//! ```
//!
//! A crawler skips every address under a `prefix`, except those that are listed as `keep`, and
//! every `url`. The last column is what is fetched instead. A prefix has no scheme, and ends with a
//! slash. Fields are separated by tabs.
//!
//! A prefix is skipped if at least [`SHARE`] of the pages under it, and five of them, have a copy
//! at the same path under the other prefix; so what a crawler has not seen yet is probably a copy
//! too. Of two such prefixes the later by date is skipped; where dates do not tell, the longer. No
//! page is lost by that: a crawl that obeys the list fetches at least one page of every class of
//! copies, and every page that is unlike all others.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::Write;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use cento_fingerprint::word_hash;

use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::run::Findings;
use crate::tables::read_table;

/// Rules that are looked at: the largest ones.
const MOST: usize = 10_000;
/// A prefix is skipped if so many of the pages under it are copies of the page at the same path
/// under the other.
const SHARE: f64 = 0.9;

/// A prefix of addresses under which pages are copies of those under another.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// The prefix to skip.
    pub prefix: String,
    /// The prefix that is fetched instead.
    pub of_prefix: String,
    /// How many pages have a copy at the same path there.
    pub pages: u64,
    /// How many pages there are under the prefix.
    pub all: u64,
}

impl Rule {
    /// How many of the pages under the prefix are copies.
    pub fn share(&self) -> f64 {
        self.pages as f64 / self.all.max(1) as f64
    }
}

/// Two prefixes that hold the same pages.
struct Candidate {
    prefix: String,
    of_prefix: String,
    pages: u64,
    dated: bool,
}

/// The rules that findings of copies give, the largest first. No prefix is skipped that another is
/// skipped for.
pub fn rules(findings: &Findings, source: &CorpusPages) -> Result<Vec<Rule>> {
    let candidates = candidates(findings)?;
    let counts = count_pages(&candidates, source)?;
    let all = |prefix: &str| counts.get(prefix).copied().unwrap_or(0);
    let mut rules: Vec<Rule> = Vec::new();
    for candidate in candidates {
        let rule = |prefix: &str, of_prefix: &str| Rule {
            prefix: prefix.to_owned(),
            of_prefix: of_prefix.to_owned(),
            pages: candidate.pages,
            all: all(prefix),
        };
        let mut choices = vec![rule(&candidate.prefix, &candidate.of_prefix)];
        if !candidate.dated {
            choices.push(rule(&candidate.of_prefix, &candidate.prefix));
        }
        let fine = |rule: &Rule| {
            let within = |one: &str, other: &str| one.starts_with(other);
            rule.share() >= SHARE
                && !within(&rule.of_prefix, &rule.prefix)
                && rules.iter().all(|known| {
                    !within(&rule.prefix, &known.prefix)
                        && !within(&rule.of_prefix, &known.prefix)
                        && !within(&known.of_prefix, &rule.prefix)
                })
        };
        let choice = choices.into_iter().find(|rule| fine(rule));
        rules.extend(choice);
    }
    Ok(rules)
}

fn strings<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b arrow_array::StringArray> {
    let column = batch.column_by_name(name);
    column
        .and_then(|column| column.as_string_opt::<i32>())
        .ok_or_else(|| Error::Bug(format!("a table of findings has no column `{name}`")))
}

fn numbers<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b arrow_array::UInt64Array> {
    let column = batch.column_by_name(name);
    column
        .and_then(|column| column.as_primitive_opt::<UInt64Type>())
        .ok_or_else(|| Error::Bug(format!("a table of findings has no column `{name}`")))
}

fn candidates(findings: &Findings) -> Result<Vec<Candidate>> {
    let mut found: Vec<Candidate> = Vec::new();
    let shorten = |found: &mut Vec<Candidate>| {
        found.sort_by(|one, other| {
            let by_name = (&one.prefix, &one.of_prefix).cmp(&(&other.prefix, &other.of_prefix));
            other.pages.cmp(&one.pages).then(by_name)
        });
        found.truncate(MOST);
    };
    for batch in read_table(&findings.table("prefixes"))? {
        let batch = batch?;
        let (prefix, of_prefix) = (strings(&batch, "prefix")?, strings(&batch, "of_prefix")?);
        let (pages, earlier, of_earlier) = (
            numbers(&batch, "pages")?,
            numbers(&batch, "prefix_earlier")?,
            numbers(&batch, "of_prefix_earlier")?,
        );
        found.extend((0..batch.num_rows()).map(|row| Candidate {
            prefix: prefix.value(row).to_owned(),
            of_prefix: of_prefix.value(row).to_owned(),
            pages: pages.value(row),
            dated: earlier.value(row) != of_earlier.value(row),
        }));
        if found.len() > 4 * MOST {
            shorten(&mut found);
        }
    }
    shorten(&mut found);
    Ok(found)
}

/// Counts the pages under each prefix.
fn count_pages(candidates: &[Candidate], source: &CorpusPages) -> Result<HashMap<String, u64>> {
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

/// Calls `each` with every prefix that an address is under.
fn under(url: &str, mut each: impl FnMut(&str)) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.find('/').unwrap_or(rest.len());
    let (host, path) = rest.split_at(host);
    let address = format!("{}{path}", host.to_ascii_lowercase());
    for (at, _) in address.match_indices('/') {
        each(address.get(..=at).unwrap_or_default());
    }
}

/// Prefixes that are skipped.
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

/// A row of the table of pairs.
struct Removed<'a> {
    page_id: u64,
    page: &'a str,
    of_id: u64,
    of: &'a str,
}

fn for_each_pair(
    findings: &Findings,
    mut each: impl FnMut(Removed<'_>) -> Result<()>,
) -> Result<()> {
    for batch in read_table(&findings.table("pairs"))? {
        let batch = batch?;
        let (page, of) = (strings(&batch, "page")?, strings(&batch, "of")?);
        let (page_id, of_id) = (numbers(&batch, "page_id")?, numbers(&batch, "of_id")?);
        for row in 0..batch.num_rows() {
            each(Removed {
                page_id: page_id.value(row),
                page: page.value(row),
                of_id: of_id.value(row),
                of: of.value(row),
            })?;
        }
    }
    Ok(())
}

/// What the pairs say of pages and addresses.
#[derive(Default)]
struct Plan {
    /// Removed pages, by id and hash of the address: ids of two corpora may be the same.
    removed: HashSet<(u64, u64)>,
    /// Hashes of the addresses of removed pages that no prefix skips.
    single: HashSet<u64>,
    /// Classes whose kept page is under a skipped prefix, with the first address of the class that
    /// is not, if there is one. That is fetched instead.
    instead: HashMap<(u64, u64), Option<String>>,
}

/// What a page is known by.
fn identity(id: u64, url: &str) -> (u64, u64) {
    (id, word_hash(url))
}

impl Plan {
    fn of(findings: &Findings, prefixes: &Prefixes) -> Result<Plan> {
        let mut plan = Plan::default();
        for_each_pair(findings, |pair| {
            plan.removed.insert(identity(pair.page_id, pair.page));
            let page_is_skipped = prefixes.skip(pair.page);
            if !page_is_skipped {
                plan.single.insert(word_hash(pair.page));
            }
            if prefixes.skip(pair.of) {
                let of = identity(pair.of_id, pair.of);
                let instead = plan.instead.entry(of).or_default();
                if !page_is_skipped && instead.as_deref().is_none_or(|known| pair.page < known) {
                    *instead = Some(pair.page.to_owned());
                }
            }
            Ok(())
        })?;
        Ok(plan)
    }

    /// What is fetched of a class.
    fn fetched<'a>(&'a self, of_id: u64, of: &'a str) -> &'a str {
        let instead = self.instead.get(&identity(of_id, of));
        let instead = instead.and_then(Option::as_deref);
        instead.unwrap_or(of)
    }
}

/// Writes the skip list of findings; answers how many prefixes and how many single addresses are in
/// it.
pub fn write_skip_list(
    findings: &Findings,
    source: &CorpusPages,
    out: &mut dyn Write,
) -> Result<(u64, u64)> {
    let rules = rules(findings, source)?;
    let failed = |error| Error::io(&findings.path, error);
    writeln!(
        out,
        "# cento skip list, version 2: skip what is under a prefix unless it is listed as keep, and skip each url; \
         the last column is fetched instead. At least {:.0} % of the known pages under a prefix are copies.",
        100.0 * SHARE
    )
    .map_err(failed)?;
    for rule in &rules {
        writeln!(out, "prefix\t{}\t{}", rule.prefix, rule.of_prefix).map_err(failed)?;
    }
    let prefixes = Prefixes(rules.iter().map(|rule| rule.prefix.clone()).collect());
    let plan = Plan::of(findings, &prefixes)?;
    // Addresses that must be fetched, and that a rule or a single line would skip.
    let mut fetch: HashSet<u64> = plan
        .instead
        .values()
        .flatten()
        .map(|url| word_hash(url))
        .collect();
    let mut keep: BTreeSet<String> = BTreeSet::new();
    for task in 0..source.page_tasks().len() {
        source.for_each_page::<Error>(task, |facts| {
            let counts = facts.reject.is_none_or(|reason| reason == "not-text");
            let page = identity(facts.page_id, facts.url);
            let replaced = plan.instead.get(&page).is_some_and(Option::is_some);
            if !counts || replaced || plan.removed.contains(&page) {
                return Ok(());
            }
            if prefixes.skip(facts.url) {
                keep.insert(plain(facts.url));
            } else if plan.single.contains(&word_hash(facts.url)) {
                fetch.insert(word_hash(facts.url));
            }
            Ok(())
        })?;
    }
    for url in &keep {
        writeln!(out, "keep\t{url}").map_err(failed)?;
    }
    let mut single = 0;
    for_each_pair(findings, |pair| {
        // Two captures of one address: the address is not skipped.
        let fetched = plan.fetched(pair.of_id, pair.of);
        let skipped = prefixes.skip(pair.page);
        if !skipped && pair.page != fetched && !fetch.contains(&word_hash(pair.page)) {
            writeln!(out, "url\t{}\t{}", plain(pair.page), plain(fetched)).map_err(failed)?;
            single += 1;
        }
        Ok(())
    })?;
    Ok((rules.len() as u64, single))
}

/// An address on one line.
fn plain(url: &str) -> String {
    url.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_under_each_of_its_prefixes() {
        let mut found = Vec::new();
        under("http://A.org/b/c.html", |prefix| {
            found.push(prefix.to_owned());
        });
        assert_eq!(found, ["a.org/", "a.org/b/"]);
    }
}
