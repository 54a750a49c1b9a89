//! The manifest: the file that describes a corpus and names the parts that belong to it.
//!
//! A part that the manifest does not name does not exist. The manifest is replaced as a whole: it
//! is written under another name, synced and renamed. A reader sees the corpus before or after a
//! commit, and a crash loses at most the parts that were not committed yet.
//!
//! Nothing in it depends on when, where or on how many threads the corpus was built: the same
//! inputs and parameters result in the same bytes.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use cento_read::{Place, Skipped};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::parameters::Parameters;
use crate::schema::Table;

/// The format version that this program writes.
///
/// 1: the first. 2: the table of pages has the columns `page_type`, `id` and `row`.
pub const FORMAT_NEWEST: u32 = 2;
/// The oldest format version that this program reads.
pub const FORMAT_OLDEST: u32 = 1;

/// The name of the manifest in the folder of a corpus.
pub const MANIFEST: &str = "manifest.json";

/// The name under which a new manifest is written before it replaces the current one.
pub(crate) const NEW_MANIFEST: &str = "manifest.json.new";

/// The description of a corpus: how it was made, and its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the layout and of the tables.
    pub format: u32,
    /// How pages became text and chunks, in all parts.
    pub parameters: Parameters,
    /// Every run of `cento index`, the first one and those with `--add`, in order.
    pub runs: Vec<Run>,
    /// The committed parts, sorted by task and sequence, and therefore by page id.
    pub parts: Vec<Part>,
    /// Whether it was made for one command, which has texts in memory; only the table of pages then
    /// has a checksum.
    #[serde(default, skip_serializing_if = "is_false")]
    pub texts_only: bool,
}

/// One run of `cento index`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The list of its inputs in JSON Lines, in the order of their ordinals.
    pub inputs: FileEntry,
    /// The ordinal of its first input.
    pub first_input: u32,
    /// The number of its first task.
    pub first_task: u32,
    /// The number of its tasks.
    pub tasks: u32,
    /// The settings that inputs are read with. A resumed run must have the same.
    pub reading: BTreeMap<String, String>,
    /// Files in the folders to be read that are not read, by cause.
    #[serde(rename = "passed_over")]
    pub skipped_files: BTreeMap<String, Tally>,
    /// Whether all its tasks are finished.
    pub complete: bool,
}

/// The tables of one range of pages. A part never changes once it is committed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The task that made it.
    pub task: u32,
    /// Its position among the parts of that task.
    pub sequence: u32,
    /// The lowest page id, if it has pages.
    pub first_page: Option<u64>,
    /// The highest page id.
    pub last_page: Option<u64>,
    /// The table of pages.
    pub pages: FileEntry,
    /// The table of texts, unless the corpus was made without text.
    pub text: Option<FileEntry>,
    /// The table of chunks.
    pub chunks: FileEntry,
    /// Counts of what was read for it.
    pub counts: Counts,
    /// Where the next part of the task starts; `None` if this is the last one.
    pub next: Option<Cursor>,
}

/// A position in the input of a task, where a resumed run continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// The ordinal of the input.
    pub input: u32,
    /// The number of records of that input that are finished.
    pub record: u32,
    /// The byte offset at which reading can start.
    pub offset: u64,
    /// The number of records to skip after that offset.
    pub skip: u32,
}

/// A file of a corpus, with its checksums.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// The path within the corpus, with `/` between components.
    pub file: String,
    /// The number of its rows.
    pub rows: u64,
    /// Its size.
    pub bytes: u64,
    /// The BLAKE3 hash of the file, in hex; `cento info --verify` checks it.
    pub blake3: String,
    /// The BLAKE3 hash of its last 64 KiB, in hex; checked whenever a corpus is opened.
    pub tail: String,
}

/// Counts of what was read, kept and rejected.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Physical records read: WARC records of every type, lines, rows, files.
    pub records: u64,
    /// Rows in the table of pages.
    pub pages: u64,
    /// Pages that were kept.
    pub kept: u64,
    /// Pages that were rejected, by reason.
    pub rejected: BTreeMap<String, Tally>,
    /// Records that could not be read, by cause.
    pub damaged: BTreeMap<String, Tally>,
    /// Valid records that are not pages, such as requests and metadata.
    pub other_records: u64,
    /// Bytes of payload of all pages.
    pub payload_bytes: u64,
    /// Bytes of text in the kept pages.
    pub text_bytes: u64,
    /// Words in the kept pages.
    pub words: u64,
    /// Chunks in the kept pages.
    pub chunks: u64,
    /// Pages that are rows of tables: JSON Lines or Parquet.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rows: u64,
    /// Kept pages that state a publication date which is not understood or cannot be one.
    #[serde(default, skip_serializing_if = "Tally::is_empty")]
    pub unread_dates: Tally,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A count with an example.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// The count.
    pub count: u64,
    /// The first of them in the order of the input.
    pub example: String,
}

impl Tally {
    /// Counts one more with this cause.
    pub(crate) fn add(
        tallies: &mut BTreeMap<String, Tally>,
        cause: &str,
        example: impl FnOnce() -> String,
    ) {
        match tallies.get_mut(cause) {
            Some(tally) => tally.count += 1,
            None => {
                tallies.insert(
                    cause.to_owned(),
                    Tally {
                        count: 1,
                        example: example(),
                    },
                );
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Counts one more.
    pub(crate) fn add_one(&mut self, example: impl FnOnce() -> String) {
        if self.count == 0 {
            self.example = example();
        }
        self.count += 1;
    }

    /// Adds what follows.
    fn append(&mut self, next: &Tally) {
        if self.count == 0 {
            self.example.clone_from(&next.example);
        }
        self.count = self.count.saturating_add(next.count);
    }

    fn merge(into: &mut BTreeMap<String, Tally>, from: &BTreeMap<String, Tally>) {
        for (cause, tally) in from {
            into.entry(cause.clone())
                .and_modify(|known| known.count = known.count.saturating_add(tally.count))
                .or_insert_with(|| tally.clone());
        }
    }
}

impl Counts {
    /// Counts a record that could not be read.
    pub(crate) fn add_damaged(&mut self, input: &str, skipped: &Skipped) {
        Tally::add(&mut self.damaged, skipped.cause.name(), || {
            let Place {
                ordinal, offset, ..
            } = skipped.place;
            format!("{input}, record {ordinal} at {offset}: {}", skipped.detail)
        });
    }

    /// Adds the counts of what follows in the order of the input.
    pub fn add(&mut self, next: &Counts) {
        self.records = self.records.saturating_add(next.records);
        self.pages = self.pages.saturating_add(next.pages);
        self.kept = self.kept.saturating_add(next.kept);
        Tally::merge(&mut self.rejected, &next.rejected);
        Tally::merge(&mut self.damaged, &next.damaged);
        self.other_records = self.other_records.saturating_add(next.other_records);
        self.payload_bytes = self.payload_bytes.saturating_add(next.payload_bytes);
        self.text_bytes = self.text_bytes.saturating_add(next.text_bytes);
        self.words = self.words.saturating_add(next.words);
        self.chunks = self.chunks.saturating_add(next.chunks);
        self.rows = self.rows.saturating_add(next.rows);
        self.unread_dates.append(&next.unread_dates);
    }
}

impl Manifest {
    /// The sum of the counts of one run.
    pub(crate) fn counts_of_run(&self, run: usize) -> Counts {
        let run = &self.runs[run];
        let tasks = run.first_task..run.first_task + run.tasks;
        let mut counts = Counts::default();
        for part in self.parts.iter().filter(|part| tasks.contains(&part.task)) {
            counts.add(&part.counts);
        }
        counts
    }

    /// The sum of the counts of all parts.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for part in &self.parts {
            counts.add(&part.counts);
        }
        counts
    }

    /// All files of the corpus except the manifest.
    pub fn files(&self) -> impl Iterator<Item = &FileEntry> {
        let inputs = self.runs.iter().map(|run| &run.inputs);
        let parts = self.parts.iter();
        inputs.chain(parts.flat_map(|part| {
            [Some(&part.pages), part.text.as_ref(), Some(&part.chunks)]
                .into_iter()
                .flatten()
        }))
    }

    /// The size of the corpus without the manifest.
    pub fn bytes_on_disk(&self) -> u64 {
        self.files()
            .fold(0, |sum, entry| sum.saturating_add(entry.bytes))
    }

    /// Whether all runs are complete.
    pub fn complete(&self) -> bool {
        self.runs.iter().all(|run| run.complete)
    }

    /// The last part of `task`, if it has any.
    pub(crate) fn last_part_of(&self, task: u32) -> Option<&Part> {
        let end = self.parts.partition_point(|part| part.task <= task);
        let last = self.parts.get(end.checked_sub(1)?)?;
        (last.task == task).then_some(last)
    }

    /// Inserts a part in order.
    pub(crate) fn insert(&mut self, part: Part) {
        let key = (part.task, part.sequence);
        let at = self
            .parts
            .partition_point(|known| (known.task, known.sequence) < key);
        self.parts.insert(at, part);
    }

    /// Reads and checks the manifest of the corpus at `corpus`.
    pub(crate) fn load(corpus: &Path) -> Result<Manifest> {
        let path = corpus.join(MANIFEST);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
                ) =>
            {
                return Err(Error::NotACorpus(corpus.to_owned()));
            }
            Err(error) => return Err(Error::io(&path, error)),
        };
        Self::parse(&path, &bytes)
    }

    /// Parses and checks a manifest. The first line of the file contains the checksum of the bytes
    /// after it, so the check does not depend on how JSON is written. The version is checked first:
    /// a newer program may compute another checksum.
    fn parse(path: &Path, bytes: &[u8]) -> Result<Manifest> {
        #[derive(Deserialize)]
        struct Head {
            checksum: String,
            format: u32,
        }
        let head: Head = serde_json::from_slice(bytes)
            .map_err(|error| Error::corrupted(path, format!("not a manifest ({error})")))?;
        if head.format > FORMAT_NEWEST {
            return Err(Error::TooNew {
                path: path.to_owned(),
                found: head.format,
                newest: FORMAT_NEWEST,
            });
        }
        let body = after_first_line(bytes);
        if head.checksum != blake3::hash(body).to_hex().as_str() {
            return Err(Error::corrupted(
                path,
                "its checksum does not match its content",
            ));
        }
        let manifest: Manifest = serde_json::from_slice(bytes)
            .map_err(|error| Error::corrupted(path, format!("not a manifest ({error})")))?;
        match manifest.contradiction() {
            Some(detail) => Err(Error::corrupted(path, detail)),
            None => Ok(manifest),
        }
    }

    /// Describes what no manifest of this program contains, even if the checksum is right: a corpus
    /// may be from an untrusted source. Callers may rely on the names of files and on sums of
    /// numbers.
    fn contradiction(&self) -> Option<String> {
        let mut next = (0u32, 0u32);
        for run in &self.runs {
            let end = |first: u32, count: u64| {
                u32::try_from(count)
                    .ok()
                    .and_then(|count| first.checked_add(count))
            };
            let ends = (
                end(run.first_input, run.inputs.rows),
                end(run.first_task, run.tasks.into()),
            );
            let (Some(inputs), Some(tasks)) = ends else {
                return Some("it has more inputs than the format allows".to_owned());
            };
            if (run.first_input, run.first_task) != next {
                return Some("its runs are not consecutive".to_owned());
            }
            next = (inputs, tasks);
            if !is_within(&run.inputs.file, "inputs") {
                return Some(format!("it names the file {:?}", run.inputs.file));
            }
        }
        let mut last = None;
        for part in &self.parts {
            let position = Some((part.task, part.sequence));
            if part.task >= next.1 || position <= last {
                return Some("its parts do not belong to its runs".to_owned());
            }
            last = position;
            let files = [
                (Some(&part.pages), Table::Pages, part.counts.pages),
                (part.text.as_ref(), Table::Text, part.counts.kept),
                (Some(&part.chunks), Table::Chunks, part.counts.chunks),
            ];
            for (entry, table, rows) in files {
                let Some(entry) = entry else {
                    if self.parameters.text && !self.texts_only {
                        return Some("a part has no text".to_owned());
                    }
                    continue;
                };
                if !is_within(&entry.file, table.name()) {
                    return Some(format!("it names the file {:?}", entry.file));
                }
                if entry.rows != rows || part.counts.kept > part.counts.pages {
                    return Some(format!(
                        "its counts of {} contradict each other",
                        table.name()
                    ));
                }
            }
        }
        None
    }

    /// The bytes that [`Manifest::load`] reads.
    fn render(&self) -> Vec<u8> {
        // A manifest consists of maps, strings and integers, so this does not fail.
        let json = serde_json::to_string_pretty(self).unwrap_or_default();
        let body = json.strip_prefix("{\n").unwrap_or(&json);
        let checksum = blake3::hash(body.as_bytes()).to_hex();
        format!("{{ \"checksum\": \"{checksum}\",\n{body}\n").into_bytes()
    }

    /// Replaces the manifest of the corpus at `corpus`, so that a crash leaves the old or the new
    /// one.
    pub(crate) fn save(&self, corpus: &Path) -> Result<()> {
        let new = corpus.join(NEW_MANIFEST);
        let path = corpus.join(MANIFEST);
        let write = || -> std::io::Result<()> {
            // Anything of this name is replaced, including links.
            let mut file = cento_file::replace(&new)?;
            file.write_all(&self.render())?;
            match self.texts_only {
                true => Ok(()),
                false => file.sync_all(),
            }
        };
        write().map_err(|error| Error::io(&new, error))?;
        fs::rename(&new, &path).map_err(|error| Error::io(&path, error))?;
        match self.texts_only {
            true => Ok(()),
            false => sync_folder(corpus),
        }
    }
}

/// Whether `file` is a plain name of a file in `folder`.
fn is_within(file: &str, folder: &str) -> bool {
    let name = file
        .strip_prefix(folder)
        .and_then(|rest| rest.strip_prefix('/'));
    name.is_some_and(|name| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        !name.is_empty() && !name.starts_with('.') && name.bytes().all(plain)
    })
}

/// All bytes after the first line, without the line break at the end of the file.
fn after_first_line(bytes: &[u8]) -> &[u8] {
    let body = match bytes.iter().position(|&byte| byte == b'\n') {
        Some(end) => &bytes[end + 1..],
        None => &[],
    };
    body.strip_suffix(b"\n").unwrap_or(body)
}

/// Makes renames within `folder` survive a power failure.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| Error::io(folder, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Manifest {
        Manifest {
            format: FORMAT_NEWEST,
            parameters: Parameters::default(),
            runs: Vec::new(),
            parts: Vec::new(),
            texts_only: false,
        }
    }

    #[test]
    fn a_manifest_is_loaded_as_it_was_saved() {
        let folder = tempfile::tempdir().unwrap();
        sample().save(folder.path()).unwrap();
        assert_eq!(Manifest::load(folder.path()).unwrap(), sample());
        let bytes = fs::read(folder.path().join(MANIFEST)).unwrap();
        assert!(serde_json::from_slice::<serde_json::Value>(&bytes).is_ok());
    }

    #[test]
    fn a_changed_manifest_is_refused() {
        let text = String::from_utf8(sample().render()).unwrap();
        let path = Path::new("manifest.json");
        let changed = text.replace("\"paragraph\"", "\"document\"");
        assert_ne!(changed, text);
        assert!(matches!(
            Manifest::parse(path, changed.as_bytes()),
            Err(Error::Corrupted { .. })
        ));
        for end in 0..text.len() - 1 {
            assert!(Manifest::parse(path, &text.as_bytes()[..end]).is_err());
        }
    }

    #[test]
    fn a_manifest_that_names_files_outside_the_corpus_is_refused_even_if_its_checksum_matches() {
        let entry = |file: &str| FileEntry {
            file: file.to_owned(),
            rows: 1,
            bytes: 0,
            blake3: String::new(),
            tail: String::new(),
        };
        let with = |file: &str, first_task: u32, tasks: u32| {
            let run = Run {
                inputs: entry(file),
                first_input: 0,
                first_task,
                tasks,
                reading: BTreeMap::new(),
                skipped_files: BTreeMap::new(),
                complete: true,
            };
            Manifest {
                runs: vec![run],
                ..sample()
            }
        };
        let parse = |manifest: &Manifest| Manifest::parse(Path::new("m"), &manifest.render());
        assert!(parse(&with("inputs/run-00000.jsonl", 0, 1)).is_ok());
        for file in [
            "/etc/passwd",
            "inputs/../../x",
            "../inputs/x",
            "inputs/",
            "inputs",
            "inputs/..",
            "pages/x",
            "inputs/a/b",
            "",
        ] {
            let error = parse(&with(file, 0, 1)).unwrap_err();
            assert!(error.to_string().contains("it names the file"), "{file}");
        }
        assert!(parse(&with("inputs/run-00000.jsonl", 1, u32::MAX)).is_err());
        assert!(parse(&with("inputs/run-00000.jsonl", 7, 1)).is_err());
    }

    #[test]
    fn a_newer_format_is_refused_with_advice() {
        let text = String::from_utf8(sample().render()).unwrap();
        let newer = text.replace(
            &format!("\"format\": {FORMAT_NEWEST}"),
            &format!("\"format\": {}", FORMAT_NEWEST + 1),
        );
        let error = Manifest::parse(Path::new("manifest.json"), newer.as_bytes()).unwrap_err();
        assert!(matches!(error, Error::TooNew { .. }));
        assert!(error.hint().unwrap().contains("newer cento"));
    }
}
