//! What a corpus has: by this it is decided which analyses have something to look for in it.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hash, RandomState};
use std::path::PathBuf;

use cento_find::{CorpusPages, Error, Result};
use cento_store::{Counts, Parameters};

/// Names that are told apart; beyond that, the count says "at least". 16 MB of hashes.
const MOST_NAMES: usize = 1 << 20;

/// What a corpus has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Profile {
    /// Pages with text.
    pub pages: u64,
    /// All pages, rejected ones too.
    pub all_pages: u64,
    /// Whether the text was kept.
    pub text: bool,
    /// Pages that have a host.
    pub with_host: u64,
    /// Distinct hosts, up to a million.
    pub hosts: u64,
    /// Distinct registered domains, up to a million.
    pub domains: u64,
    /// Distinct addresses of servers, up to a million.
    pub ips: u64,
    /// Pages with a date of publication or of fetching.
    pub with_date: u64,
    /// The folder that all pages are in, with a slash at its end, if none of them has a host:
    /// nobody wants to read it in every line.
    pub root: String,
    /// What was read and turned away.
    pub counts: Counts,
    /// A file of labels that somebody wants to look for in it.
    pub labels: Option<PathBuf>,
    /// How the corpus was made; of several, how the first was.
    pub parameters: Parameters,
}

/// The folder that a file is in, with its slash.
fn folder(path: &str) -> &str {
    let end = path.rfind('/').map_or(0, |slash| slash + 1);
    path.get(..end).unwrap_or_default()
}

/// Shortens a folder to one that a file is in too.
fn shorten_to_common(root: &mut String, path: &str) {
    if path.starts_with(root.as_str()) {
        return;
    }
    let same = root.bytes().zip(path.bytes());
    let same = same.take_while(|(one, other)| one == other).count();
    // A slash is one byte that is no part of another letter, so this is never within one.
    let end = root.as_bytes().get(..same).unwrap_or_default();
    let end = end.iter().rposition(|&byte| byte == b'/');
    root.truncate(end.map_or(0, |slash| slash + 1));
}

/// Distinct names, by their hashes.
struct Names {
    state: RandomState,
    seen: HashSet<u64>,
}

impl Names {
    fn new() -> Names {
        Names {
            state: RandomState::new(),
            seen: HashSet::new(),
        }
    }

    fn add(&mut self, name: impl Hash) {
        if self.seen.len() < MOST_NAMES {
            self.seen.insert(self.state.hash_one(name));
        }
    }

    fn count(&self) -> u64 {
        self.seen.len() as u64
    }
}

impl Profile {
    /// Looks at every page of a corpus, though not at its text.
    pub fn of(source: &CorpusPages) -> Result<Profile> {
        let mut profile = Profile {
            pages: u64::from(source.kept()),
            all_pages: u64::from(source.all()),
            text: source.has_text(),
            ..Profile::default()
        };
        for corpus in source.corpora() {
            profile.counts.add(&corpus.manifest().counts());
        }
        if let Some(corpus) = source.corpora().first() {
            profile.parameters = corpus.parameters().clone();
        }
        let [mut hosts, mut domains, mut ips] = [Names::new(), Names::new(), Names::new()];
        let mut root: Option<String> = None;
        for task in 0..source.page_tasks().len() {
            source.for_each_page(task, |facts| {
                match &mut root {
                    None => root = Some(folder(facts.url).to_owned()),
                    Some(root) => shorten_to_common(root, facts.url),
                }
                if facts.reject.is_some() {
                    return Ok(());
                }
                if let Some(host) = facts.host {
                    hosts.add(host);
                    profile.with_host += 1;
                }
                if let Some(domain) = facts.domain {
                    domains.add(domain);
                }
                if let Some(ip) = facts.ip {
                    ips.add(ip);
                }
                if facts.published_at.or(facts.fetched_at).is_some() {
                    profile.with_date += 1;
                }
                Ok::<_, Error>(())
            })?;
        }
        if profile.with_host == 0 && profile.pages > 0 {
            profile.root = root.unwrap_or_default();
        }
        profile.hosts = hosts.count();
        profile.domains = domains.count();
        profile.ips = ips.count();
        Ok(profile)
    }

    /// Why an analysis of texts that takes so many pages at least cannot be made; nothing if it
    /// can.
    pub(crate) fn needs_text(&self, pages: u64) -> std::result::Result<(), String> {
        if !self.text {
            return Err("the corpus keeps no text: it was indexed with --no-text".to_owned());
        }
        self.needs_pages(pages)
    }

    /// The same for an analysis that takes no text.
    pub(crate) fn needs_pages(&self, pages: u64) -> std::result::Result<(), String> {
        if self.pages >= pages {
            return Ok(());
        }
        Err(match self.pages {
            0 => "no page has text".to_owned(),
            1 => format!("it takes {pages} pages, and there is one"),
            few => format!("it takes {pages} pages, and there are {few}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_last_folder_that_all_are_in() {
        let mut root = folder("/a/bü/c/d.txt").to_owned();
        assert_eq!(root, "/a/bü/c/");
        shorten_to_common(&mut root, "/a/bü/c/e/f.txt");
        assert_eq!(root, "/a/bü/c/");
        shorten_to_common(&mut root, "/a/bû/c/d.txt");
        assert_eq!(root, "/a/");
        shorten_to_common(&mut root, "name.txt");
        assert_eq!(root, "");
    }
}
