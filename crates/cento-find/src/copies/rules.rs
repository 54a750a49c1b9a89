//! What a crawler can load: which prefixes mirror which, and which single addresses to skip.
//!
//! ```text
//!   # cento skip list, version 1: what, the address to skip, the address that stands for it
//!   prefix   mirror.example/pub/          original.example/
//!   url      http://a.example/x?session=1 http://a.example/x
//! ```
//!
//! A prefix has no scheme, and ends with a slash. Fields are separated by tabs.

use std::collections::HashMap;
use std::io::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;

use super::settle::prefixes;
use crate::error::{Error, Result};
use crate::run::Findings;
use crate::source::Source;
use crate::tables::read_table;

/// Rules that are looked at: the largest ones.
const MOST: usize = 10_000;
/// A prefix is skipped if so many of the pages under it are copies of the page at the same path under the other.
const SHARE: f64 = 0.9;

/// A prefix of addresses under which pages are copies of those under another.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// The prefix to skip.
    pub prefix: String,
    /// The prefix that stands for it.
    pub of_prefix: String,
    /// How many pages are copies.
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

/// The rules that findings of copies give, the largest first.
pub fn rules(findings: &Findings, source: &Source) -> Result<Vec<Rule>> {
    let mut found = Vec::new();
    for batch in read_table(&findings.table("prefixes"))? {
        let batch = batch?;
        let columns = (
            batch.column(0).as_string_opt::<i32>(),
            batch.column(1).as_string_opt::<i32>(),
            batch.column(2).as_primitive_opt::<UInt64Type>(),
        );
        let (Some(prefix), Some(of_prefix), Some(pages)) = columns else {
            return Err(Error::Parameter("the table of prefixes is not one".into()));
        };
        found.extend((0..batch.num_rows()).map(|row| Rule {
            prefix: prefix.value(row).to_owned(),
            of_prefix: of_prefix.value(row).to_owned(),
            pages: pages.value(row),
            all: 0,
        }));
        if found.len() > 4 * MOST {
            shorten(&mut found);
        }
    }
    shorten(&mut found);
    count_pages(&mut found, source)?;
    found.retain(|rule| rule.share() >= SHARE);
    Ok(found)
}

fn shorten(rules: &mut Vec<Rule>) {
    rules.sort_by(|one, other| {
        let by_name = (&one.prefix, &one.of_prefix).cmp(&(&other.prefix, &other.of_prefix));
        other.pages.cmp(&one.pages).then(by_name)
    });
    rules.truncate(MOST);
}

/// Counts the pages under each prefix.
fn count_pages(rules: &mut [Rule], source: &Source) -> Result<()> {
    let mut counts: HashMap<String, u64> =
        rules.iter().map(|rule| (rule.prefix.clone(), 0)).collect();
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
    for rule in rules {
        rule.all = counts.get(&rule.prefix).copied().unwrap_or(0);
    }
    Ok(())
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

/// Writes the skip list of findings; answers how many prefixes and how many single addresses are in it.
pub fn write_skip_list(
    findings: &Findings,
    source: &Source,
    out: &mut dyn Write,
) -> Result<(u64, u64)> {
    let rules = rules(findings, source)?;
    let failed = |error| Error::io(&findings.path, error);
    writeln!(
        out,
        "# cento skip list, version 1: what, the address to skip, the address that stands for it"
    )
    .map_err(failed)?;
    let mut covered = std::collections::HashSet::new();
    for rule in &rules {
        writeln!(out, "prefix\t{}\t{}", rule.prefix, rule.of_prefix).map_err(failed)?;
        covered.insert((rule.prefix.clone(), rule.of_prefix.clone()));
    }
    let mut single = 0;
    for batch in read_table(&findings.table("pairs"))? {
        let batch = batch?;
        let column = |name: &str| {
            let column = batch.column_by_name(name)?;
            column.as_string_opt::<i32>()
        };
        let (Some(page), Some(of)) = (column("page"), column("of")) else {
            return Err(Error::Parameter("the table of pairs is not one".into()));
        };
        for row in 0..batch.num_rows() {
            let (page, of) = (page.value(row), of.value(row));
            let by_rule = prefixes(page, of).is_some_and(|pair| covered.contains(&pair));
            // Two captures of one address: the address is not skipped.
            if !by_rule && page != of {
                writeln!(out, "url\t{}\t{}", plain(page), plain(of)).map_err(failed)?;
                single += 1;
            }
        }
    }
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
            found.push(prefix.to_owned())
        });
        assert_eq!(found, ["a.org/", "a.org/b/"]);
    }
}
