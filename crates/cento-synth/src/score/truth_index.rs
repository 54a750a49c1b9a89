//! The truth, indexed for look-ups of results.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_64;

use crate::error::Result;
use crate::settings::PageKind;
use crate::truth::{AliasKind, BadKind, Likeness, TruthReader, TruthRecord};

/// A page, by number.
pub(crate) type Id = u32;

/// Equivalence classes: union–find with path halving.
#[derive(Debug, Default, Clone)]
pub(crate) struct UnionFind {
    parents: Vec<Id>,
}

impl UnionFind {
    pub(crate) fn of(&mut self, id: Id) -> Id {
        while self.parents.len() <= id as usize {
            self.parents.push(self.parents.len() as Id);
        }
        let mut at = id;
        loop {
            let parent = self.parents.get(at as usize).copied().unwrap_or(at);
            if parent == at {
                return at;
            }
            let above = self.parents.get(parent as usize).copied().unwrap_or(parent);
            if let Some(entry) = self.parents.get_mut(at as usize) {
                *entry = above;
            }
            at = above;
        }
    }

    pub(crate) fn join(&mut self, first: Id, second: Id) {
        let (first, second) = (self.of(first), self.of(second));
        let (low, high) = (first.min(second), first.max(second));
        if let Some(entry) = self.parents.get_mut(high as usize) {
            *entry = low;
        }
    }

    pub(crate) fn same(&mut self, first: Id, second: Id) -> bool {
        self.of(first) == self.of(second)
    }
}

/// A pair of whole copies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CopyPair {
    pub(crate) copy: Id,
    pub(crate) of: Id,
    pub(crate) exact: bool,
    pub(crate) resemblance: f64,
    pub(crate) shared_chunks: u64,
}

/// A passage: its range on the page and in the source.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TruthPassage {
    pub(crate) at: (u64, u64),
    pub(crate) source_at: (u64, u64),
    /// Its length in characters, on the side where it is shorter.
    pub(crate) chars: u64,
}

/// A site that should be found.
#[derive(Debug, Clone)]
pub(crate) struct BadSite {
    pub(crate) kind: BadKind,
    pub(crate) hosts: HashSet<String>,
    pub(crate) ips: HashSet<String>,
    pub(crate) pages: u64,
    pub(crate) prefix: Option<String>,
    pub(crate) clean: Option<String>,
}

/// The kind and the template of a page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageNature {
    pub(crate) kind: PageKind,
    pub(crate) template: u64,
}

/// Everything that results are compared with.
#[derive(Debug, Default)]
pub(crate) struct TruthIndex {
    ids: HashMap<u64, Id>,
    /// Classes of copies of whole pages, edited or not.
    pub(crate) families: UnionFind,
    /// Classes of copies with identical text.
    pub(crate) exact: UnionFind,
    pub(crate) pairs: Vec<CopyPair>,
    listed: HashMap<(Id, Id), f64>,
    pub(crate) natures: HashMap<Id, PageNature>,
    pub(crate) passages: HashMap<(Id, Id), Vec<TruthPassage>>,
    pub(crate) quilts: HashMap<Id, Vec<(Id, f64)>>,
    pub(crate) attributed: HashSet<Id>,
    /// Pages that copy an original, with the original.
    pub(crate) copied: HashMap<Id, Id>,
    /// The number of chunks that such a page shares with its original.
    pub(crate) copied_chunks: HashMap<Id, u64>,
    /// The originals that pages of a host copy, one for each page.
    pub(crate) stolen: HashMap<String, Vec<Id>>,
    /// Hosts of originals.
    pub(crate) publishers: HashSet<String>,
    /// Originals by the names of their files.
    pub(crate) files: HashMap<u64, Id>,
    pub(crate) bad: Vec<BadSite>,
    pub(crate) url_aliases: Vec<(Id, Id)>,
    pub(crate) host_aliases: Vec<(Id, Id)>,
    pub(crate) hosts: UnionFind,
    pub(crate) revisited: HashSet<Id>,
    /// Pages that others copy from.
    pub(crate) sources: HashSet<Id>,
    pub(crate) boilerplate: Vec<String>,
    /// Hosts of reports: full of popular phrases, but not spam.
    pub(crate) templates: HashSet<String>,
    /// Every page with its host.
    pub(crate) page_hosts: Vec<(Id, String)>,
}

fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}

/// A pair in ascending order.
pub(crate) fn unordered(first: Id, second: Id) -> (Id, Id) {
    (first.min(second), first.max(second))
}

impl TruthIndex {
    pub(crate) fn read(truth: TruthReader) -> Result<TruthIndex> {
        let mut known = TruthIndex::default();
        for record in truth {
            known.add(record?);
        }
        Ok(known)
    }

    /// The number of a URL or host.
    pub(crate) fn id(&mut self, name: &str) -> Id {
        let next = self.ids.len() as Id;
        *self.ids.entry(xxh3_64(name.as_bytes())).or_insert(next)
    }

    fn add(&mut self, record: TruthRecord) {
        match record {
            TruthRecord::Boilerplate { text, .. } => self.boilerplate.push(text),
            TruthRecord::Page {
                url,
                kind,
                template,
                ..
            } => {
                let id = self.id(&url);
                let template = xxh3_64(template.as_bytes());
                self.page_hosts.push((id, host_of(&url).to_owned()));
                if kind == PageKind::Original {
                    self.publishers.insert(host_of(&url).to_owned());
                }
                if kind != PageKind::Revisit {
                    self.natures.insert(id, PageNature { kind, template });
                }
            }
            TruthRecord::Copy {
                copy,
                of,
                how,
                resemblance,
                shared_chunks,
                ..
            } => {
                let (copy, of) = (self.id(&copy), self.id(&of));
                let exact = how != Likeness::Near;
                self.pairs.push(CopyPair {
                    copy,
                    of,
                    exact,
                    resemblance,
                    shared_chunks,
                });
                self.listed.insert(unordered(copy, of), resemblance);
                self.sources.insert(of);
                self.families.join(copy, of);
                if exact {
                    self.exact.join(copy, of);
                }
            }
            TruthRecord::Revisit { url, .. } => {
                let id = self.id(&url);
                self.revisited.insert(id);
            }
            TruthRecord::Alias { kind, alias, of } => {
                let pair = (self.id(&alias), self.id(&of));
                match kind {
                    AliasKind::Url => self.url_aliases.push(pair),
                    AliasKind::Server | AliasKind::Mirror => {
                        self.host_aliases.push(pair);
                        self.hosts.join(pair.0, pair.1);
                    }
                }
            }
            TruthRecord::Passage {
                page,
                source,
                at,
                source_at,
                ..
            } => {
                let key = (self.id(&page), self.id(&source));
                self.sources.insert(key.1);
                let chars =
                    |span: &crate::truth::TextSpan| span.end_char.saturating_sub(span.begin_char);
                self.passages.entry(key).or_default().push(TruthPassage {
                    chars: chars(&at).min(chars(&source_at)),
                    at: (at.begin, at.end),
                    source_at: (source_at.begin, source_at.end),
                });
            }
            TruthRecord::Quilt {
                page,
                attributed,
                sources,
                ..
            } => {
                let page = self.id(&page);
                let sources = sources
                    .iter()
                    .map(|source| (self.id(&source.url), source.share))
                    .collect();
                self.quilts.insert(page, sources);
                if attributed {
                    self.attributed.insert(page);
                }
            }
            TruthRecord::Copied {
                page,
                original,
                file,
                extent,
                shared_chunks,
                ..
            } => {
                let host = host_of(&page).to_owned();
                let (page, original) = (self.id(&page), self.id(&original));
                self.stolen.entry(host).or_default().push(original);
                self.copied.insert(page, original);
                self.copied_chunks.insert(page, shared_chunks);
                if let Some(file) = file {
                    self.files.insert(xxh3_64(file.as_bytes()), original);
                }
                if extent == crate::truth::CopyExtent::Whole {
                    self.families.join(page, original);
                }
            }
            TruthRecord::BadSite {
                kind,
                hosts,
                ips,
                pages,
                prefix,
                clean,
            } => self.bad.push(BadSite {
                kind,
                hosts: hosts.into_iter().collect(),
                ips: ips.into_iter().collect(),
                pages,
                prefix,
                clean,
            }),
            TruthRecord::Template { host, .. } => {
                self.templates.insert(host);
            }
            TruthRecord::Truth { .. }
            | TruthRecord::Site { .. }
            | TruthRecord::Trap { .. }
            | TruthRecord::Damaged { .. } => {}
        }
    }

    /// The resemblance of a pair in the truth.
    pub(crate) fn resemblance(&self, first: Id, second: Id) -> Option<f64> {
        self.listed.get(&unordered(first, second)).copied()
    }

    pub(crate) fn kind(&self, id: Id) -> Option<PageKind> {
        self.natures.get(&id).map(|nature| nature.kind)
    }

    pub(crate) fn same_template(&self, first: Id, second: Id) -> bool {
        match (self.natures.get(&first), self.natures.get(&second)) {
            (Some(first), Some(second)) => first.template == second.template,
            _ => false,
        }
    }

    /// Whether both are made from pools of sentences.
    pub(crate) fn both_from_pools(&self, first: Id, second: Id) -> bool {
        let diced = |id| matches!(self.kind(id), Some(PageKind::Spam | PageKind::Farm));
        diced(first) && diced(second)
    }

    /// The original that a page copies, or the page itself if it is one.
    fn original(&self, id: Id) -> Option<Id> {
        match self.kind(id) {
            Some(PageKind::Original) => Some(id),
            _ => self.copied.get(&id).copied(),
        }
    }

    /// Whether two pages share text according to the truth.
    pub(crate) fn related(&mut self, first: Id, second: Id) -> bool {
        if self.families.same(first, second) {
            return true;
        }
        let (ours, theirs) = (self.exact.of(first), self.exact.of(second));
        let passage = |a: Id, b: Id| {
            self.passages.contains_key(&(a, b)) || self.passages.contains_key(&(b, a))
        };
        passage(first, second)
            || passage(ours, theirs)
            || matches!((self.original(first), self.original(second)), (Some(a), Some(b)) if a == b)
    }
}
