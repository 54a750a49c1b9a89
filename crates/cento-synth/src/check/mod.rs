//! Checking that an index agrees with the truth: every record of a truth file against a corpus.
//!
//! Only the tables of the corpus are read; no page is generated again. Texts are read by page id,
//! their grams and chunks are computed, and every number in the truth is compared. Memory is a few
//! dozen bytes for each page of the corpus.

mod indexed_pages;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use cento_store::{Corpus, Progress};
use cento_text::content::Selection;

use crate::error::{Error, Result};
use crate::page_reader::{PageReader, compare};
use crate::truth::{CopyReason, Likeness, QuiltSource, TextSpan, TruthReader, TruthRecord};
use crate::truth_writer::span_of;
use indexed_pages::{IndexedPage, IndexedPages};

/// A check of a corpus against the truth.
pub struct Check<'a> {
    /// The corpus, indexed from the archives of a synthetic crawl.
    pub corpus: &'a Corpus,
    /// The truth file of the crawl.
    pub truth: PathBuf,
    /// Counters to raise, and the switch that cancels the check.
    pub progress: &'a Progress,
}

/// The outcome of a check.
#[derive(Debug, Default)]
pub struct CheckSummary {
    /// The number of records that agree, by type.
    pub hold: BTreeMap<&'static str, u64>,
    /// The number of records that do not agree, by type.
    pub fail: BTreeMap<&'static str, u64>,
    /// Descriptions of the first of these.
    pub examples: Vec<String>,
}

/// How many failures are described.
const EXAMPLES: usize = 50;

/// The size of the cache of texts: the records of a quilt refer to a dozen pages in turn.
const TEXTS: usize = 32;

impl CheckSummary {
    /// Whether all records agree.
    pub fn is_sound(&self) -> bool {
        self.fail.is_empty()
    }

    fn note(&mut self, kind: &'static str, outcome: std::result::Result<(), String>) {
        match outcome {
            Ok(()) => *self.hold.entry(kind).or_insert(0) += 1,
            Err(detail) => {
                *self.fail.entry(kind).or_insert(0) += 1;
                if self.examples.len() < EXAMPLES {
                    self.examples.push(format!("{kind}: {detail}"));
                }
            }
        }
    }
}

/// Finds the truth file of a corpus: next to the folder of archives that it was made from.
pub fn truth_of(corpus: &Corpus) -> Result<PathBuf> {
    #[derive(serde::Deserialize)]
    struct InputName {
        name: String,
    }
    for run in &corpus.manifest().runs {
        let path = corpus.path().join(&run.inputs.file);
        let list = std::fs::read_to_string(&path).map_err(|error| Error::io(&path, error))?;
        let first = list.lines().next().unwrap_or_default();
        if let Ok(input) = serde_json::from_str::<InputName>(first)
            && let Some(folder) = Path::new(&input.name).parent()
        {
            for folder in [Some(folder), folder.parent()].into_iter().flatten() {
                let truth = folder.join(crate::synthesis::TRUTH);
                if truth.is_file() {
                    return Ok(truth);
                }
            }
        }
    }
    Err(Error::NoTruth(format!(
        "there is no {} next to the inputs of {}",
        crate::synthesis::TRUTH,
        corpus.path().display()
    )))
}

impl Check<'_> {
    /// Runs the check.
    pub fn run(&self) -> Result<CheckSummary> {
        let parameters = self.corpus.parameters();
        if parameters.content != Selection::All || !parameters.text {
            return Err(Error::Settings {
                message: format!(
                    "{} does not have the full text of its pages",
                    self.corpus.path().display()
                ),
                hint: "the truth has offsets in the full text: index without --main and --no-text"
                    .to_owned(),
            });
        }
        let (truth, grams) = TruthReader::open(&self.truth)?;
        let mut checker = Checker {
            corpus: self.corpus,
            folder: self
                .truth
                .parent()
                .unwrap_or(Path::new(""))
                .join("originals"),
            grams,
            pages: IndexedPages::read(self.corpus)?,
            reader: PageReader::default(),
            texts: Vec::new(),
            checked: CheckSummary::default(),
        };
        for record in truth {
            if self.progress.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let record = record?;
            if matches!(record, TruthRecord::Page { .. }) {
                self.progress.add_pages(1);
            }
            checker.record(&record)?;
        }
        let unlisted = checker.pages.unlisted();
        let mut checked = checker.checked;
        if unlisted > 0 {
            checked.note(
                "page",
                Err(format!(
                    "{unlisted} pages of the corpus are not in the truth"
                )),
            );
        }
        Ok(checked)
    }
}

struct Checker<'a> {
    corpus: &'a Corpus,
    folder: PathBuf,
    grams: u32,
    pages: IndexedPages,
    reader: PageReader,
    texts: Vec<(String, Rc<str>)>,
    checked: CheckSummary,
}

/// What does not agree, if anything. The outer error is one of reading.
type Outcome = Result<std::result::Result<(), String>>;

macro_rules! must {
    ($condition:expr, $($detail:tt)*) => {
        if !$condition {
            return Ok(Err(format!($($detail)*)));
        }
    };
}

/// Returns what another call found to be wrong.
macro_rules! pass {
    ($outcome:expr) => {
        match $outcome {
            Ok(value) => value,
            Err(detail) => return Ok(Err(detail)),
        }
    };
}

impl Checker<'_> {
    fn record(&mut self, record: &TruthRecord) -> Result<()> {
        let (kind, outcome) = match record {
            TruthRecord::Truth { .. } | TruthRecord::Boilerplate { .. } => return Ok(()),
            TruthRecord::Site { host, .. } => ("site", self.has_host(host)),
            TruthRecord::Page { .. } => ("page", self.pages.page(record)),
            TruthRecord::Copy { .. } => ("copy", self.copy(record)?),
            TruthRecord::Alias { alias, .. } if alias.contains("://") => {
                ("alias", self.kept(alias).map(drop))
            }
            TruthRecord::Alias { alias, of, .. } => (
                "alias",
                self.has_host(alias).and_then(|()| self.has_host(of)),
            ),
            TruthRecord::Revisit { .. } => ("revisit", self.pages.revisit(record)),
            TruthRecord::Passage { .. } => ("passage", self.passage(record)?),
            TruthRecord::Quilt {
                page,
                patch_share,
                sources,
                ..
            } => ("quilt", self.quilt(page, *patch_share, sources)?),
            TruthRecord::Copied { .. } => ("copied", self.copied(record)?),
            TruthRecord::BadSite {
                hosts,
                pages,
                prefix,
                ..
            } => ("bad-site", self.bad_site(hosts, *pages, prefix.is_some())),
            TruthRecord::Template { host, pages } => ("template", self.pages_of(&[host], *pages)),
            TruthRecord::Trap { host, pages } => ("trap", self.pages_of(&[host], *pages)),
            TruthRecord::Damaged { url, reject, .. } => {
                ("damaged", self.pages.damaged(url, reject.as_deref()))
            }
        };
        self.checked.note(kind, outcome);
        Ok(())
    }

    fn has_host(&self, host: &str) -> std::result::Result<(), String> {
        match self.pages.pages_of(host) {
            0 => Err(format!("{host} has no page")),
            _ => Ok(()),
        }
    }

    fn pages_of(&self, hosts: &[&String], pages: u64) -> std::result::Result<(), String> {
        let found: u64 = hosts.iter().map(|host| self.pages.pages_of(host)).sum();
        if found == pages {
            Ok(())
        } else {
            let first = hosts.first().map_or("", |host| host.as_str());
            Err(format!("{first} has {found} pages and should have {pages}"))
        }
    }

    fn bad_site(
        &self,
        hosts: &[String],
        pages: u64,
        partly: bool,
    ) -> std::result::Result<(), String> {
        let hosts: Vec<&String> = hosts.iter().collect();
        if partly {
            let found: u64 = hosts.iter().map(|host| self.pages.pages_of(host)).sum();
            return if found >= pages {
                Ok(())
            } else {
                Err(format!(
                    "there are {found} pages and should be at least {pages}"
                ))
            };
        }
        self.pages_of(&hosts, pages)
    }

    fn kept(&self, url: &str) -> std::result::Result<IndexedPage, String> {
        match self.pages.kept(url) {
            Some(page) if page.reject.is_none() => Ok(page),
            Some(_) => Err(format!("{url} was rejected")),
            None => Err(format!("{url} is not in the corpus")),
        }
    }

    fn text(&mut self, url: &str) -> Result<std::result::Result<Rc<str>, String>> {
        if let Some((_, text)) = self.texts.iter().find(|(known, _)| known == url) {
            return Ok(Ok(Rc::clone(text)));
        }
        let page = match self.kept(url) {
            Ok(page) => page,
            Err(detail) => return Ok(Err(detail)),
        };
        let Some(text) = self.corpus.text(page.page_id)? else {
            return Ok(Err(format!("{url} has no text")));
        };
        Ok(Ok(self.remember(url, text)))
    }

    fn remember(&mut self, url: &str, text: String) -> Rc<str> {
        if self.texts.len() >= TEXTS {
            self.texts.remove(0);
        }
        let text: Rc<str> = text.into();
        self.texts.push((url.to_owned(), Rc::clone(&text)));
        text
    }

    /// The text of a source: from the corpus, or from the folder of originals.
    fn source(
        &mut self,
        url: &str,
        crawled: bool,
        file: Option<&str>,
    ) -> Result<std::result::Result<Rc<str>, String>> {
        if crawled {
            return self.text(url);
        }
        let Some(file) = file else {
            return Ok(Err(format!(
                "{url} is neither in the crawl nor in the folder of originals"
            )));
        };
        let path = self.folder.join(file);
        let html = match std::fs::read_to_string(&path) {
            Ok(html) => html,
            Err(error) => return Ok(Err(format!("{}: {error}", path.display()))),
        };
        let text = self.reader.text(&html);
        Ok(Ok(text.into()))
    }

    fn copy(&mut self, record: &TruthRecord) -> Outcome {
        let TruthRecord::Copy {
            copy,
            of,
            how,
            why,
            resemblance,
            of_copy,
            of_source,
            shared_chunks,
            ..
        } = record
        else {
            return Ok(Ok(()));
        };
        let (first, second) = (pass!(self.kept(copy)), pass!(self.kept(of)));
        match how {
            Likeness::Bytes => must!(
                first.sha1 == second.sha1,
                "{copy} does not have the bytes of {of}"
            ),
            Likeness::Text => {
                must!(
                    first.text == second.text,
                    "{copy} does not have the text of {of}"
                );
            }
            Likeness::Near => {}
        }
        must!(
            *why == CopyReason::Sibling || first.fetched > second.fetched,
            "{copy} was not fetched after {of}"
        );
        let (ours, theirs) = (pass!(self.text(copy)?), pass!(self.text(of)?));
        let ours = self.reader.sets(&ours, self.grams);
        let theirs = self.reader.sets(&theirs, self.grams);
        let common = compare(&ours.grams, &theirs.grams);
        for (name, found, expected) in [
            ("resemblance", common.resemblance, resemblance),
            ("share of the copy", common.of_first, of_copy),
            ("share of the source", common.of_second, of_source),
        ] {
            must!(
                same(found, *expected),
                "{copy} and {of}: {name} is {found}; the truth says {expected}"
            );
        }
        let shared = ours.chunks.intersection(&theirs.chunks).count() as u64;
        must!(
            shared == *shared_chunks,
            "{copy} and {of} share {shared} chunks; the truth says {shared_chunks}"
        );
        Ok(Ok(()))
    }

    fn passage(&mut self, record: &TruthRecord) -> Outcome {
        let TruthRecord::Passage {
            page,
            source,
            crawled,
            file,
            at,
            source_at,
            segments,
            ..
        } = record
        else {
            return Ok(Ok(()));
        };
        let text = pass!(self.text(page)?);
        let of = pass!(self.source(source, *crawled, file.as_deref())?);
        must!(
            is_at(&text, at),
            "{page} does not have the text at {}..{}",
            at.begin,
            at.end
        );
        must!(
            is_at(&of, source_at),
            "{source} does not have the text at {}..{}",
            source_at.begin,
            source_at.end
        );
        must!(!segments.is_empty(), "{page}: a passage without segments");
        for &[begin, end, source_begin, source_end] in segments {
            let ours = text.get(begin as usize..end as usize);
            let theirs = of.get(source_begin as usize..source_end as usize);
            must!(
                ours.is_some() && ours == theirs,
                "{page} {begin}..{end} differs from {source} {source_begin}..{source_end}"
            );
            must!(
                at.begin <= begin && end <= at.end,
                "{page}: a segment is outside its passage"
            );
        }
        Ok(Ok(()))
    }

    fn quilt(&mut self, page: &str, patch_share: f64, sources: &[QuiltSource]) -> Outcome {
        let text = pass!(self.text(page)?);
        let grams = self.reader.grams(&text, self.grams);
        let mut left = grams.clone();
        for source in sources {
            let of = pass!(self.text(&source.url)?);
            let theirs = self.reader.grams(&of, self.grams);
            let share = compare(&grams, &theirs).of_first;
            must!(
                same(share, source.share),
                "{page}: the share of {} is {share}; the truth says {}",
                source.url,
                source.share
            );
            left.retain(|gram| !theirs.contains(gram));
        }
        let found = 1.0 - left.len() as f64 / grams.len().max(1) as f64;
        must!(
            same(found, patch_share),
            "{page}: the share of patches is {found}; the truth says {patch_share}"
        );
        Ok(Ok(()))
    }

    fn copied(&mut self, record: &TruthRecord) -> Outcome {
        let TruthRecord::Copied {
            page,
            original,
            file,
            crawled,
            of_page,
            of_original,
            shared_chunks,
            ..
        } = record
        else {
            return Ok(Ok(()));
        };
        let text = pass!(self.text(page)?);
        let of = pass!(self.source(original, *crawled, file.as_deref())?);
        if let (true, Some(file)) = (*crawled, file) {
            // An original that is in both places must be the same in both.
            let filed = pass!(self.source(original, false, Some(file))?);
            must!(filed == of, "{original}: its file has another text");
        }
        let ours = self.reader.sets(&text, self.grams);
        let theirs = self.reader.sets(&of, self.grams);
        let common = compare(&ours.grams, &theirs.grams);
        let shared = ours.chunks.intersection(&theirs.chunks).count() as u64;
        must!(
            same(common.of_first, *of_page)
                && same(common.of_second, *of_original)
                && shared == *shared_chunks,
            "{page} does not share with {original} what the truth says"
        );
        Ok(Ok(()))
    }
}

/// Compares two ratios of the same integers. They differ at most by rounding in the truth file.
fn same(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-9
}

fn is_at(text: &str, at: &TextSpan) -> bool {
    span_of(text, at.begin, at.end).as_ref() == Some(at)
}
