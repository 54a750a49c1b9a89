//! What a corpus contains: it decides which analyses are suitable.

use std::collections::{BTreeSet, HashSet};
use std::hash::{BuildHasher, Hash, RandomState};
use std::path::PathBuf;

use cento_find::{CorpusPages, Error, Result};
use cento_store::{Counts, Parameters};
use cento_text::url::PageUrl;

/// Distinct names that are counted, in 16 MB of hashes. A count that reaches it is a lower bound.
pub(crate) const MAX_NAMES: u64 = 1 << 20;
/// Top-level folders of files that are remembered.
const MAX_FOLDERS: usize = 1 << 12;

/// What a corpus contains.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Profile {
    /// Pages with text.
    pub pages: u64,
    /// All pages, rejected ones too.
    pub all_pages: u64,
    /// Whether the corpus contains text.
    pub text: bool,
    /// Pages with text that have a host.
    pub with_host: u64,
    /// Distinct hosts, up to a million.
    pub hosts: u64,
    /// Distinct registered domains, up to a million.
    pub domains: u64,
    /// The folder of all pages, with a slash at its end, if none of them has a host. Addresses are
    /// shown relative to it.
    pub root: String,
    /// The top-level folders of pages without a host. Results group pages by their first prefix,
    /// and these are not websites.
    pub folders: BTreeSet<String>,
    /// How much was read and rejected.
    pub counts: Counts,
    /// A file of labels to search for, named by the user.
    pub labels: Option<PathBuf>,
    /// The parameters of the corpus; of several corpora, those of the first.
    pub parameters: Parameters,
}

/// Returns the folder of a file, with its slash.
fn folder(path: &str) -> &str {
    let end = path.rfind('/').map_or(0, |slash| slash + 1);
    path.get(..end).unwrap_or_default()
}

/// Shortens a folder to the closest one that also contains a file.
fn shorten_to_common(root: &mut String, path: &str) {
    if path.starts_with(root.as_str()) {
        return;
    }
    let same = root.bytes().zip(path.bytes());
    let same = same.take_while(|(one, other)| one == other).count();
    // A slash is never part of another character in UTF-8, so this cuts between characters.
    let end = root.as_bytes().get(..same).unwrap_or_default();
    let end = end.iter().rposition(|&byte| byte == b'/');
    root.truncate(end.map_or(0, |slash| slash + 1));
}

/// Counts distinct names by their hashes.
struct DistinctNames {
    state: RandomState,
    seen: HashSet<u64>,
}

impl DistinctNames {
    fn new() -> DistinctNames {
        DistinctNames {
            state: RandomState::new(),
            seen: HashSet::new(),
        }
    }

    fn add(&mut self, name: impl Hash) {
        if self.count() < MAX_NAMES {
            self.seen.insert(self.state.hash_one(name));
        }
    }

    fn count(&self) -> u64 {
        self.seen.len() as u64
    }
}

impl Profile {
    /// Reads the metadata of every page of a corpus, but no text.
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
        let [mut hosts, mut domains] = [DistinctNames::new(), DistinctNames::new()];
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
                match facts.host {
                    Some(host) => {
                        hosts.add(host);
                        profile.with_host += 1;
                    }
                    None => profile.add_folder(facts.url),
                }
                if let Some(domain) = facts.domain {
                    domains.add(domain);
                }
                Ok::<_, Error>(())
            })?;
        }
        if profile.with_host == 0 && profile.pages > 0 {
            profile.root = root.unwrap_or_default();
        }
        profile.hosts = hosts.count();
        profile.domains = domains.count();
        Ok(profile)
    }

    fn add_folder(&mut self, path: &str) {
        if self.folders.len() >= MAX_FOLDERS {
            return;
        }
        let url = PageUrl::new(path);
        if let Some(folder) = url.prefixes().next()
            && !self.folders.contains(folder)
        {
            self.folders.insert(folder.to_owned());
        }
    }

    /// Fails with a reason unless the corpus has text and at least this many pages.
    pub(crate) fn needs_text(&self, pages: u64) -> std::result::Result<(), String> {
        if !self.text {
            return Err("the corpus contains no text (it was indexed with --no-text)".to_owned());
        }
        self.needs_pages(pages)
    }

    /// Fails with a reason unless the corpus has at least this many pages with text.
    pub(crate) fn needs_pages(&self, pages: u64) -> std::result::Result<(), String> {
        if self.pages >= pages {
            return Ok(());
        }
        Err(match self.pages {
            0 => "no page has text".to_owned(),
            few => format!("it needs at least {pages} pages, and the corpus has {few}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_closest_folder_of_all_pages() {
        let mut root = folder("/a/bü/c/d.txt").to_owned();
        assert_eq!(root, "/a/bü/c/");
        shorten_to_common(&mut root, "/a/bü/c/e/f.txt");
        assert_eq!(root, "/a/bü/c/");
        shorten_to_common(&mut root, "/a/bû/c/d.txt");
        assert_eq!(root, "/a/");
        shorten_to_common(&mut root, "name.txt");
        assert_eq!(root, "");
    }

    #[test]
    fn the_top_level_folders_of_files_are_known() {
        let mut profile = Profile::default();
        for path in ["/data/a/x.txt", "/home/y.txt", "docs/a.txt", "docs/b/c.txt"] {
            profile.add_folder(path);
        }
        let folders: Vec<&str> = profile.folders.iter().map(String::as_str).collect();
        assert_eq!(folders, ["/", "docs/"]);
    }
}
