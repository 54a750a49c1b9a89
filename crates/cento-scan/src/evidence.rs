//! Evidence to be sent to somebody: one file for each site that shares text with originals.
//!
//! ```text
//!   passages ─ first pass ─▶ counts of each site ─▶ head of its file
//!            ─ second pass ─▶ entries, appended to the file of their site
//! ```
//!
//! Only the counts of sites, and the passages of one page with one original, are in memory.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use cento_find::detect::{COPIED_PASSAGES_TABLE, CopiedPassageRow};
use cento_find::precedence::stated_date;
use cento_find::{Findings, Result};
use cento_report::format::{counted, number, percent, plural, size};
use cento_report::{EvidenceEntry, EvidenceHead};

use crate::analyses::copied_passages::{comparison, relation_to, words_of_sides};

/// Bytes of each side of a passage that are shown at most: all that the table has.
const LONGEST: usize = 20_000;
/// The name of the pages that have no host.
const NO_HOST: &str = "pages without a host";

/// What the pages of a site share with originals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SiteEvidence {
    /// Pages.
    pub pages: u64,
    /// Pairs of a page and an original.
    pub pairs: u64,
    /// Passages.
    pub passages: u64,
    /// The words of originals that the pages have in them, each counted once for each pair.
    pub words: u64,
    last_page: Option<u64>,
}

/// How the texts were compared, for the head of each file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EvidenceMethod {
    /// When, how and what was compared, in sentences.
    pub sentences: Vec<String>,
    /// The command, quoted for a shell; empty if it is not known.
    pub command: String,
}

/// Returns the name of the site of a row.
fn site_of(row: &CopiedPassageRow) -> &str {
    row.site.as_deref().unwrap_or(NO_HOST)
}

/// Counts what each site shares with originals.
pub fn evidence_sites(findings: &Findings) -> Result<BTreeMap<String, SiteEvidence>> {
    let mut sites: BTreeMap<String, SiteEvidence> = BTreeMap::new();
    let mut last_pair = None;
    for row in findings.rows(COPIED_PASSAGES_TABLE)? {
        let row = row?;
        let pair = (row.page_id, row.original_id);
        let name = site_of(&row);
        let site = match sites.get_mut(name) {
            Some(site) => site,
            None => sites.entry(name.to_owned()).or_default(),
        };
        site.pages += u64::from(site.last_page != Some(row.page_id));
        site.last_page = Some(row.page_id);
        if last_pair.replace(pair) != Some(pair) {
            site.pairs += 1;
            site.words += u64::from(row.reused_words);
        }
        site.passages += u64::from(row.text.is_some());
    }
    Ok(sites)
}

/// Returns the head of the file of a site.
pub fn evidence_head(name: &str, site: &SiteEvidence, method: &EvidenceMethod) -> EvidenceHead {
    EvidenceHead {
        site: name.to_owned(),
        summary: vec![format!(
            "{} of this site {} listed here, with {} and {} in common with the reference texts. \
             A word counts if the page and the reference text have it in the same passage, once for each page and \
             reference text.",
            counted(site.pages, "page", "pages"),
            plural(site.pages, "is", "are"),
            counted(site.passages, "passage", "passages"),
            counted(site.words, "word", "words"),
        )],
        method: method.sentences.clone(),
        command: method.command.clone(),
    }
}

/// Calls `each` with every page and original, in the order of the table: the name of the site, and
/// the entry.
pub fn for_each_evidence<E: From<cento_find::Error>>(
    findings: &Findings,
    mut each: impl FnMut(&str, EvidenceEntry) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let mut numbers: BTreeMap<String, u64> = BTreeMap::new();
    let mut pair: Vec<CopiedPassageRow> = Vec::new();
    let mut finish = |pair: &mut Vec<CopiedPassageRow>| -> std::result::Result<(), E> {
        let Some(first) = pair.first() else {
            return Ok(());
        };
        let site = site_of(first).to_owned();
        let number = numbers.entry(site.clone()).or_default();
        *number += 1;
        let entry = entry(*number, pair);
        pair.clear();
        each(&site, entry)
    };
    for row in findings.rows(COPIED_PASSAGES_TABLE)? {
        let row = row?;
        let is_same = pair.first().is_none_or(|first| {
            (first.page_id, first.original_id) == (row.page_id, row.original_id)
        });
        if !is_same {
            finish(&mut pair)?;
        }
        pair.push(row);
    }
    finish(&mut pair)
}

fn entry(number: u64, rows: &[CopiedPassageRow]) -> EvidenceEntry {
    let mut entry = EvidenceEntry {
        number,
        ..EvidenceEntry::default()
    };
    let Some(row) = rows.first() else {
        return entry;
    };
    let optional =
        |value: &Option<String>| value.clone().unwrap_or_else(|| "not stated".to_owned());
    // A date that is missing, and one that cannot be right, are not told apart.
    let no_date = || "none that cento could use".to_owned();
    let published = |date: &Option<String>| {
        let date = date.as_deref().map(stated_date);
        date.map_or_else(no_date, Cow::into_owned)
    };
    let fetched = |date: &Option<String>| date.clone().unwrap_or_else(no_date);
    let digest = |digest: &Option<String>| match digest {
        Some(hexadecimal) => format!("{hexadecimal} ({})", warc_digest(hexadecimal)),
        None => "none".to_owned(),
    };
    entry.page = vec![
        ("Address", row.page.clone()),
        ("Title", optional(&row.title)),
        (
            "Published, according to the page",
            published(&row.published),
        ),
        ("Fetched", fetched(&row.fetched)),
        ("SHA-1 of the payload", digest(&row.payload_sha1)),
        ("Size of the payload", size(row.bytes)),
        ("Read from", row.source.clone()),
    ];
    entry.reference = vec![
        ("Address", row.original.clone()),
        ("Title", optional(&row.original_title)),
        (
            "Published, according to the page",
            published(&row.original_published),
        ),
        ("Fetched", fetched(&row.original_fetched)),
        ("SHA-1 of the payload", digest(&row.original_sha1)),
    ];
    entry.relation = vec![
        match row.text {
            Some(_) => format!(
                "The two share {}, with {} of the reference text that the page has, too, each counted \
                 once. {} of the chunks of the page, without stop chunks, are chunks of the reference \
                 text that were searched for. {} of the chunks of the reference text that were \
                 searched for are on the page.",
                counted(row.passages.into(), "passage", "passages"),
                counted(row.reused_words.into(), "word", "words"),
                percent(row.of_page),
                percent(row.of_original),
            ),
            None => format!(
                "The two share {}, too short for a passage.",
                counted(row.chunks, "chunk", "chunks")
            ),
        },
        relation_to(row, "the reference text"),
    ];
    entry.passages = rows
        .iter()
        .filter_map(|row| {
            let mut passage = comparison(row, LONGEST)?;
            passage.about = format!(
                "{}, {}; bytes {} to {} of the text of the page, {} to {} of the reference text.",
                row.kind.as_deref().unwrap_or_default(),
                words_of_sides(row, ["the page", "the reference text"]),
                place(row.begin),
                place(row.end),
                place(row.original_begin),
                place(row.original_end),
            );
            Some(passage)
        })
        .collect();
    entry
}

fn place(place: Option<u32>) -> String {
    number(place.unwrap_or(0).into())
}

/// Returns a SHA-1 as WARC files have it: `sha1:` and base 32.
fn warc_digest(hexadecimal: &str) -> String {
    const DIGITS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let digits = hexadecimal.chars().filter_map(|digit| digit.to_digit(16));
    let (mut digest, mut bits, mut length) = ("sha1:".to_owned(), 0u32, 0);
    for digit in digits {
        bits = bits << 4 | digit;
        length += 4;
        if length >= 5 {
            length -= 5;
            let at = (bits >> length & 31) as usize;
            digest.push(DIGITS.get(at).copied().map_or('=', char::from));
            bits &= (1 << length) - 1;
        }
    }
    digest
}

/// Returns a file name for each site: safe on every system, and different for every site.
///
/// The name of a host comes from a stranger. Only lower-case letters, digits, dots and hyphens of
/// ASCII stay. A name that changes gets a number, so that no site has the file of another one.
///
/// ```
/// use cento_scan::evidence_file_names;
///
/// let names = evidence_file_names(["a.example", "A.example", "../../etc"].into_iter());
/// assert_eq!(names["a.example"], "a.example.html");
/// assert_eq!(names["A.example"], "a.example-2.html");
/// assert_eq!(names["../../etc"], "etc-2.html");
/// ```
pub fn evidence_file_names<'s>(
    sites: impl Iterator<Item = &'s str> + Clone,
) -> BTreeMap<String, String> {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let mut used: BTreeSet<String> = BTreeSet::new();
    for site in sites.clone().filter(|site| file_stem(site) == *site) {
        used.insert(site.to_owned());
        names.insert(site.to_owned(), format!("{site}.html"));
    }
    for site in sites {
        if names.contains_key(site) {
            continue;
        }
        let stem = file_stem(site);
        let numbered = (2u64..).map(|number| format!("{stem}-{number}"));
        let name = numbered.into_iter().find(|name| !used.contains(name));
        let name = name.unwrap_or_default();
        used.insert(name.clone());
        names.insert(site.to_owned(), format!("{name}.html"));
    }
    names
}

/// Returns the safe part of the name of a site; the name itself if it is safe.
fn file_stem(site: &str) -> String {
    const LONGEST_NAME: usize = 80;
    // Names of devices on Windows, and of our own file.
    const RESERVED: [&str; 7] = ["index", "con", "prn", "aux", "nul", "com", "lpt"];
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let kept: String = site
        .chars()
        .flat_map(char::to_lowercase)
        .filter(|&letter| is_plain(letter) || letter == '.' || letter == '-')
        .take(LONGEST_NAME)
        .collect();
    let parts = kept.split('.').map(|part| part.trim_matches('-'));
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    let first = parts.first().copied().unwrap_or_default();
    let first = first.trim_end_matches(|letter: char| letter.is_ascii_digit());
    if parts.is_empty() || RESERVED.contains(&first) {
        return format!("site-{}", parts.join("."))
            .trim_end_matches('-')
            .to_owned();
    }
    parts.join(".")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_digest_is_written_as_in_warc_files() {
        // The SHA-1 of nothing.
        assert_eq!(
            warc_digest("da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
        );
    }

    #[test]
    fn file_names_of_hostile_hosts_are_safe() {
        let hosts = [
            "..",
            "../x",
            "a/b",
            "con",
            "COM1.example",
            "index",
            ".hidden",
            "",
            "-rf",
            "x\0y",
            "<script>.example",
            "пример.example",
            "a..b",
            "site-con",
        ];
        let names = evidence_file_names(hosts.into_iter());
        assert_eq!(names.len(), hosts.len());
        for (host, name) in &names {
            let is_plain = !name.starts_with(['.', '-']) && !name.contains("..");
            assert!(is_plain && name != "index.html", "{host}: {name}");
            assert!(!name.starts_with("con"), "{host}: {name}");
        }
    }

    proptest! {
        #[test]
        fn different_sites_have_different_plain_file_names(
            sites in proptest::collection::btree_set("\\PC{0,30}|[ab.-]{0,4}", 0..20),
        ) {
            let names = evidence_file_names(sites.iter().map(String::as_str));
            prop_assert_eq!(names.len(), sites.len());
            let different: BTreeSet<&String> = names.values().collect();
            prop_assert_eq!(different.len(), sites.len());
            for name in different {
                let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-".contains(&byte);
                prop_assert!(name.bytes().all(is_plain) && !name.starts_with(['.', '-']));
            }
        }
    }
}
