//! Writing a crawl to a folder.
//!
//! ```text
//! DIR/
//!   synth.json                    the settings; a run is resumed only with the same ones
//!   crawl/synth-00000.warc.gz …   the archives
//!   originals/00000/original-….html
//!   truth.jsonl                   written last: a folder that has it is complete
//!   tmp/                          unfinished files
//! ```
//! Each archive is one task. The archive and the truth about its pages are written under temporary
//! names and renamed when complete. An interrupted run leaves no incomplete archive, and the next
//! run with the same settings writes those that are missing. The pages of an archive depend on the
//! settings alone, so the bytes are the same for any number of threads.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use cento_store::Progress;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::html;
use crate::layout::{Layout, PageRole};
use crate::pages::{PageMaker, SynthPage};
use crate::random::{Purpose, Random, mix};
use crate::settings::{PageKind, SynthSettings};
use crate::truth_writer::{TruthWriter, WrittenPage, original_file};
use crate::warc::{RecordDamage, RecordHeader, WarcWriter, digest};

/// The file with the settings. A folder that has it is one of ours.
const SETTINGS_FILE: &str = "synth.json";
/// The truth file, which is written last.
pub const TRUTH: &str = "truth.jsonl";
const ARCHIVES: &str = "crawl";
const ORIGINALS: &str = "originals";
const UNFINISHED: &str = "tmp";

/// The number of originals that one task writes.
const ORIGINALS_PER_TASK: u64 = 1_000;

/// A synthetic crawl to write.
pub struct Synthesis<'a> {
    /// The folder to write to.
    pub folder: PathBuf,
    /// The settings of the crawl.
    pub settings: SynthSettings,
    /// The number of threads.
    pub threads: usize,
    /// Whether an existing crawl in the folder is removed first.
    pub force: bool,
    /// Counters to raise, and the switch that cancels the run.
    pub progress: &'a Progress,
}

/// What a run wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SynthesisSummary {
    /// The number of archives.
    pub files: u64,
    /// The number of archives that an interrupted run had finished.
    pub files_from_before: u64,
    /// The number of files in the folder of originals.
    pub originals: u64,
    /// The size of the HTML that this run wrote.
    pub payload_bytes: u64,
    /// The size of all archives on disk.
    pub archive_bytes: u64,
    /// The size of the truth file.
    pub truth_bytes: u64,
    /// The number of pages of each kind, in the order of [`PageKind::ALL`].
    pub kinds: Vec<(PageKind, u64)>,
}

impl Synthesis<'_> {
    /// Writes the crawl.
    pub fn run(&self) -> Result<SynthesisSummary> {
        let layout = Layout::new(self.settings.clone())?;
        self.claim()?;
        let tasks = layout.settings.files + self.original_tasks(&layout);
        let next = AtomicU64::new(0);
        let failure: Mutex<Option<(u64, Error)>> = Mutex::new(None);
        let totals = SynthesisTotals::default();
        let work = || {
            loop {
                let task = next.fetch_add(1, Ordering::Relaxed);
                if task >= tasks || self.progress.is_cancelled() {
                    break;
                }
                if let Err(error) = self.task(&layout, task, &totals) {
                    // The error of the first task is reported, whichever occurred first.
                    let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
                    if failure.as_ref().is_none_or(|(known, _)| task < *known) {
                        *failure = Some((task, error));
                    }
                    next.store(tasks, Ordering::Relaxed);
                }
            }
        };
        std::thread::scope(|scope| {
            // If the system does not start as many threads, the others do all the work.
            for _ in 1..self.threads.clamp(1, 256) {
                let thread = std::thread::Builder::new();
                if thread.spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        if let Some((_, error)) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        if self.progress.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let truth_bytes = self.merge_truth(&layout)?;
        let mut archive_bytes = 0;
        for file in 0..layout.settings.files {
            let path = self.archive(file);
            archive_bytes += path
                .metadata()
                .map_err(|error| Error::io(&path, error))?
                .len();
        }
        Ok(SynthesisSummary {
            files: layout.settings.files,
            files_from_before: totals.resumed.into_inner(),
            originals: layout.originals() - layout.first_filed(),
            payload_bytes: totals.payload.into_inner(),
            archive_bytes,
            truth_bytes,
            kinds: PageKind::ALL
                .map(|kind| (kind, layout.count(kind)))
                .to_vec(),
        })
    }

    fn original_tasks(&self, layout: &Layout) -> u64 {
        (layout.originals() - layout.first_filed()).div_ceil(ORIGINALS_PER_TASK)
    }

    /// Checks that the folder may be written to, and writes the settings.
    fn claim(&self) -> Result<()> {
        let folder = &self.folder;
        let failed = |error: io::Error| Error::io(folder, error);
        fs::create_dir_all(folder).map_err(failed)?;
        let settings_file = folder.join(SETTINGS_FILE);
        let settings = serde_json::to_string_pretty(&self.settings)
            .map_err(|error| Error::io(&settings_file, error.into()))?
            + "\n";
        match fs::read_to_string(&settings_file) {
            Ok(_) if self.force => self.clear()?,
            Ok(_) if folder.join(TRUTH).exists() => {
                return Err(Error::AlreadyComplete(folder.clone()));
            }
            Ok(known) if known != settings => return Err(Error::SettingsDiffer(folder.clone())),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if fs::read_dir(folder).map_err(failed)?.next().is_some() {
                    return Err(Error::NotEmpty(folder.clone()));
                }
            }
            Err(error) => return Err(Error::io(&settings_file, error)),
        }
        let write = StagedFile::new(folder.join(format!("{SETTINGS_FILE}.new")), settings_file);
        write.all(settings.as_bytes())?;
        for part in [ARCHIVES, UNFINISHED] {
            fs::create_dir_all(folder.join(part)).map_err(failed)?;
        }
        Ok(())
    }

    /// Removes the files of an earlier run, and nothing else.
    fn clear(&self) -> Result<()> {
        let removed = |path: &Path, outcome: io::Result<()>| match outcome {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(path, error)),
            _ => Ok(()),
        };
        let truth = self.folder.join(TRUTH);
        removed(&truth, fs::remove_file(&truth))?;
        for part in [ARCHIVES, ORIGINALS, UNFINISHED] {
            let path = self.folder.join(part);
            removed(&path, fs::remove_dir_all(&path))?;
        }
        let settings_file = self.folder.join(SETTINGS_FILE);
        removed(&settings_file, fs::remove_file(&settings_file))
    }

    fn archive_name(file: u64) -> String {
        format!("synth-{file:05}.warc.gz")
    }

    fn archive(&self, file: u64) -> PathBuf {
        self.folder.join(ARCHIVES).join(Self::archive_name(file))
    }

    fn truth_part(&self, file: u64) -> PathBuf {
        self.folder
            .join(UNFINISHED)
            .join(format!("truth-{file:05}.jsonl"))
    }

    fn task(&self, layout: &Layout, task: u64, totals: &SynthesisTotals) -> Result<()> {
        if task >= layout.settings.files {
            return self.originals(layout, task - layout.settings.files);
        }
        // The archive is renamed last, so if it exists, its truth does too.
        if self.archive(task).exists() && self.truth_part(task).exists() {
            totals.resumed.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        let name = Self::archive_name(task);
        let archive = StagedFile::new(self.folder.join(UNFINISHED).join(&name), self.archive(task));
        let truth = StagedFile::new(
            self.truth_part(task).with_extension("new"),
            self.truth_part(task),
        );
        let mut truth_out = truth.create()?;
        let mut warc = WarcWriter::new(archive.create()?, mix(layout.settings.seed ^ mix(task)));
        let maker = PageMaker { layout };
        let mut truth_writer = TruthWriter::new(maker);
        warc.info(
            &name,
            maker.page(layout.at(layout.places(task).start)).fetched,
        )
        .map_err(|error| archive.failed(error))?;
        let mut payload = 0;
        for place in layout.places(task) {
            if self.progress.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let page = maker.page(layout.at(place));
            let written = write_page(maker, &page, &name, &mut warc, &mut truth_writer).map_err(
                |failure| match failure {
                    WriteFailure::Io(error) => archive.failed(error),
                    WriteFailure::Other(error) => error,
                },
            )?;
            payload += written;
            self.progress.add_pages(1);
            self.progress.add_bytes(written);
            truth_out
                .write_all(&truth_writer.take())
                .map_err(|error| truth.failed(error))?;
        }
        totals.payload.fetch_add(payload, Ordering::Relaxed);
        truth.finish(truth_out)?;
        archive.finish(warc.into_inner())
    }

    fn originals(&self, layout: &Layout, task: u64) -> Result<()> {
        let maker = PageMaker { layout };
        let first = layout.first_filed() + task * ORIGINALS_PER_TASK;
        let last = layout.originals().min(first + ORIGINALS_PER_TASK);
        for index in first..last {
            if self.progress.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let path = self.folder.join(ORIGINALS).join(original_file(index));
            if path.exists() {
                continue;
            }
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
            }
            let html = html::render(&maker.page(PageRole {
                kind: PageKind::Original,
                index,
            }));
            let unfinished = self
                .folder
                .join(UNFINISHED)
                .join(format!("original-{index:08}.html"));
            StagedFile::new(unfinished, path).all(html.as_bytes())?;
        }
        Ok(())
    }

    /// Merges the truth of all archives into one file.
    fn merge_truth(&self, layout: &Layout) -> Result<u64> {
        let mut writer = TruthWriter::new(PageMaker { layout });
        writer.write_header()?;
        let head = writer.take();
        let truth = StagedFile::new(
            self.folder.join(UNFINISHED).join(TRUTH),
            self.folder.join(TRUTH),
        );
        let mut out = truth.create()?;
        out.write_all(&head).map_err(|error| truth.failed(error))?;
        let mut bytes = head.len() as u64;
        for file in 0..layout.settings.files {
            let path = self.truth_part(file);
            let mut part = File::open(&path).map_err(|error| Error::io(&path, error))?;
            bytes += io::copy(&mut part, &mut out).map_err(|error| truth.failed(error))?;
        }
        truth.finish(out)?;
        let unfinished = self.folder.join(UNFINISHED);
        fs::remove_dir_all(&unfinished).map_err(|error| Error::io(&unfinished, error))?;
        Ok(bytes)
    }
}

#[derive(Default)]
struct SynthesisTotals {
    resumed: AtomicU64,
    payload: AtomicU64,
}

enum WriteFailure {
    Io(io::Error),
    Other(Error),
}

impl From<io::Error> for WriteFailure {
    fn from(error: io::Error) -> WriteFailure {
        WriteFailure::Io(error)
    }
}

impl From<Error> for WriteFailure {
    fn from(error: Error) -> WriteFailure {
        WriteFailure::Other(error)
    }
}

/// Writes a page and its truth records. Returns the size of its payload.
fn write_page<W: Write>(
    maker: PageMaker<'_>,
    page: &SynthPage,
    file: &str,
    warc: &mut WarcWriter<W>,
    truth: &mut TruthWriter<'_>,
) -> std::result::Result<u64, WriteFailure> {
    let html = html::render(page);
    let sha1 = digest(html.as_bytes());
    let header = RecordHeader {
        url: &page.url,
        fetched: page.fetched,
        address: &page.address,
    };
    let damage = (page.role.kind == PageKind::Damaged)
        .then(|| {
            RecordDamage::ALL
                .get(page.role.index as usize % RecordDamage::ALL.len())
                .copied()
        })
        .flatten();
    let mut payload = html.len() as u64;
    if page.role.kind == PageKind::Revisit {
        let (article, _) = maker.layout.whole(page.role);
        let (of, fetched) = maker.article_address(article);
        let of = RecordHeader {
            url: &of,
            fetched,
            address: &page.address,
        };
        warc.revisit(&header, &of, &sha1)?;
        payload = 0;
    } else {
        if Random::pair(
            maker.seed(),
            Purpose::Record,
            page.role.kind as u64,
            page.role.index,
        )
        .once_in(8)
        {
            warc.request(&header)?;
        }
        warc.response(&header, html.as_bytes(), &sha1, damage)?;
    }
    truth.write_page(&WrittenPage {
        page,
        html: &html,
        sha1,
        file,
        damage,
    })?;
    Ok(payload)
}

/// A file that is written under a temporary name and then renamed.
struct StagedFile {
    temporary: PathBuf,
    path: PathBuf,
}

impl StagedFile {
    fn new(temporary: PathBuf, path: PathBuf) -> StagedFile {
        StagedFile { temporary, path }
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::io(&self.path, error)
    }

    fn create(&self) -> Result<BufWriter<File>> {
        let file = File::create(&self.temporary).map_err(|error| self.failed(error))?;
        Ok(BufWriter::with_capacity(1 << 20, file))
    }

    fn finish(&self, out: BufWriter<File>) -> Result<()> {
        let file = out
            .into_inner()
            .map_err(|error| self.failed(error.into_error()))?;
        file.sync_data().map_err(|error| self.failed(error))?;
        fs::rename(&self.temporary, &self.path).map_err(|error| self.failed(error))
    }

    fn all(&self, bytes: &[u8]) -> Result<()> {
        let mut out = self.create()?;
        out.write_all(bytes).map_err(|error| self.failed(error))?;
        let file = out
            .into_inner()
            .map_err(|error| self.failed(error.into_error()))?;
        drop(file);
        fs::rename(&self.temporary, &self.path).map_err(|error| self.failed(error))
    }
}
