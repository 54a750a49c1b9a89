//! Corpora named on the command line: recognising them, and opening them.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use cento_find::CorpusPages;
use cento_report::format::counted;
use cento_store::{Corpus, MANIFEST, TextMemory};

use crate::command_error::CommandError;
use crate::output::{clean, say};

/// Returns whether a path names a corpus: a folder with a manifest, or any path that ends in
/// `.cento`, so that a misspelt or unfinished corpus is reported as such and never read as input.
pub(crate) fn is_corpus(path: impl AsRef<OsStr>) -> bool {
    let path = Path::new(path.as_ref());
    path.join(MANIFEST).is_file() || path.extension().is_some_and(|ending| ending == "cento")
}

/// Opens the corpora of an analysis. With `partial`, unfinished corpora are opened too, with a note
/// about how much of them there is.
pub(crate) fn open_corpora(paths: &[&Path], partial: bool) -> Result<CorpusPages, CommandError> {
    let corpora: Vec<_> = paths.iter().map(|path| (*path, None)).collect();
    open_with_texts(&corpora, partial)
}

/// Like [`open_corpora`], with the texts of temporary corpora that are in memory.
pub(crate) fn open_with_texts(
    corpora: &[(&Path, Option<&Arc<TextMemory>>)],
    partial: bool,
) -> Result<CorpusPages, CommandError> {
    let corpora = corpora.iter().map(|(path, texts)| match texts {
        Some(texts) => Corpus::open_temporary(path, Arc::clone(texts)),
        None if partial => Corpus::open_partial(path),
        None => Corpus::open(path),
    });
    let corpora = corpora.collect::<Result<Vec<_>, _>>();
    let source = CorpusPages::of(corpora.map_err(cento_find::Error::from)?)?;
    for corpus in source.corpora() {
        let manifest = corpus.manifest();
        if !manifest.complete() {
            say(&format!(
                "note: {} is unfinished; the results cover the {} indexed so far",
                clean(&corpus.path().display().to_string()),
                counted(manifest.counts().pages, "page", "pages")
            ));
        }
    }
    Ok(source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corpus_is_recognised_by_its_manifest_or_its_name() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_corpus(folder.path()));
        std::fs::write(folder.path().join(MANIFEST), "{}").unwrap();
        assert!(is_corpus(folder.path()));
        assert!(is_corpus("no-such-folder/crawl.cento"));
        assert!(is_corpus("no-such-folder/crawl.cento/"));
        assert!(!is_corpus("crawl.warc.gz"));
    }
}
