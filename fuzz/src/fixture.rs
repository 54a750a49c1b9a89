//! A small corpus, and the resources of what runs on it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use cento_file::Fault;
use cento_find::overlap::OverlapParams;
use cento_find::quilts::QuiltsParams;
use cento_find::{CorpusPages, Workplace};
use cento_flow::{MemoryBudget, Progress};
use cento_query::IndexResources;
use cento_store::{Build, Parameters};
use cento_text::chunk::ChunkKind;
use tempfile::TempDir;

/// A folder with a corpus.
pub(crate) struct Fixture {
    pub(crate) folder: TempDir,
    pub(crate) corpus: PathBuf,
}

/// Pages with duplicates, shared paragraphs and words of their own.
pub(crate) const TEXTS: [&str; 6] = [
    "To be, or not to be, that is the question: whether it is nobler in the mind to suffer.\n\n\
     A garment stitched from patches, and a poem of other poets' lines.",
    "To be, or not to be, that is the question: whether it is nobler in the mind to suffer.\n\n\
     Nothing else of the kind was ever found in that house by the river.",
    "A garment stitched from patches, and a poem of other poets' lines.\n\n\
     Nothing else of the kind was ever found in that house by the river.",
    "To be, or not to be, that is the question: whether it is nobler in the mind to suffer.\n\n\
     A garment stitched from patches, and a poem of other poets' lines.",
    "Words of one page that no other page has, so that it is found nowhere but here.",
    "他每天早上在图书馆里读很多有意思的旧书和新书，然后回家吃饭睡觉。",
];

#[expect(clippy::unwrap_used, reason = "a target without its files cannot run")]
impl Fixture {
    /// Builds a corpus whose tables are not compressed, so that changed bytes are changed values.
    pub(crate) fn new() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("pages.jsonl");
        let mut lines = String::new();
        for (number, text) in TEXTS.iter().enumerate() {
            let url = format!("http://h{}.example/{number}", number % 3);
            let date = format!("2020-01-0{}", number + 1);
            let line = serde_json::json!({ "url": url, "text": text, "date": date });
            lines.push_str(&format!("{line}\n"));
        }
        fs::write(&input, lines).unwrap();
        let corpus = folder.path().join("pages.cento");
        build(&input, &corpus).unwrap();
        Fixture { folder, corpus }
    }

    /// The files of a folder in the corpus, by path within it.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(&self.corpus, "", &mut files);
        files
    }

    /// Makes the files of the corpus what they were, and removes others. A restored file has a time
    /// of its own, so that only those that were written since are written again.
    pub(crate) fn restore(&self, files: &BTreeMap<String, Vec<u8>>) {
        let mut restored = BTreeSet::new();
        walk(&self.corpus, "", &mut |name, path| {
            let Some(bytes) = files.get(&name) else {
                let _ = fs::remove_file(path);
                return;
            };
            let metadata = fs::symlink_metadata(path).unwrap();
            let is_restored = metadata.modified().is_ok_and(|time| time == UNIX_EPOCH);
            if is_restored && metadata.len() == bytes.len() as u64 {
                restored.insert(name);
            }
        });
        for (name, bytes) in files.iter().filter(|(name, _)| !restored.contains(*name)) {
            let path = self.corpus.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let mut file = fs::File::create(path).unwrap();
            file.write_all(bytes).unwrap();
            file.set_modified(UNIX_EPOCH).unwrap();
        }
    }
}

pub(crate) fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    walk(folder, prefix, &mut |name, path| {
        files.insert(name, fs::read(path).unwrap_or_default());
    });
}

/// Calls `each` with the name and the path of every file in a folder and the folders in it.
#[expect(clippy::unwrap_used, reason = "a target without its files cannot run")]
fn walk(folder: &Path, prefix: &str, each: &mut dyn FnMut(String, &Path)) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().unwrap().is_dir() {
            walk(&entry.path(), &format!("{name}/"), each);
        } else {
            each(name, &entry.path());
        }
    }
}
/// Indexes one input with small limits, so that small inputs reach them.
pub(crate) fn build(input: &Path, corpus: &Path) -> cento_store::Result<u64> {
    let settings = cento_read::Settings::default();
    let resolved = cento_read::resolve(&[input.display().to_string()], &settings)?;
    let built = Build::new(resolved.inputs, corpus)
        .settings(settings)
        .parameters(Parameters::default())
        .temporary(true)
        .threads(1)
        .memory(64 << 20)
        .run()?;
    Ok(built.counts.kept)
}

/// Quilts with thresholds that small pages reach.
pub(crate) fn small_quilts() -> QuiltsParams {
    QuiltsParams {
        k: 3,
        m: 2,
        c: 1,
        theta: 0.1,
        ..QuiltsParams::default()
    }
}

/// Overlap with a threshold that small pages reach.
pub(crate) fn small_overlap() -> OverlapParams {
    OverlapParams {
        threshold: 1,
        ..OverlapParams::new(ChunkKind::Paragraph)
    }
}

/// The resources of an analysis: little memory.
pub(crate) fn workplace(findings: PathBuf, threads: usize) -> Workplace {
    Workplace {
        threads,
        memory: 16 * MemoryBudget::MINIMUM_PER_THREAD * threads as u64,
        temp: None,
        findings,
        again: false,
        progress: Progress::new(),
        request: Default::default(),
    }
}

/// The resources of a query index.
pub(crate) fn index_resources() -> IndexResources {
    IndexResources {
        threads: 1,
        memory: 16 * MemoryBudget::MINIMUM_PER_THREAD,
        temp: None,
        again: false,
        progress: Progress::new(),
    }
}

/// Opens the pages of a corpus.
pub(crate) fn pages(corpus: &Path) -> cento_find::Result<Arc<CorpusPages>> {
    CorpusPages::open(&[corpus]).map(Arc::new)
}

/// Fails if an error is a bug of ours, such as a panic of a thread.
pub(crate) fn no_bug<T>(result: cento_find::Result<T>) -> Option<T> {
    result
        .inspect_err(|error| assert!(error.fault() != Fault::Bug, "{error}"))
        .ok()
}

/// Splits bytes into the name of a file, which is a line, and its content.
pub(crate) fn named_content(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    let (name, content) = bytes.split_at(end);
    Some((str::from_utf8(name).ok()?, content.get(1..)?))
}
