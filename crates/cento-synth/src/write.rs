//! Writing a crawl to a folder.
//!
//! ```text
//! DIR/
//!   synth.json                    the settings: whose folder this is, and whether a broken run can go on
//!   crawl/synth-00000.warc.gz …   the archives
//!   originals/00000/original-….html
//!   truth.jsonl                   written last: a folder that has it is complete
//!   tmp/                          while it is written
//! ```
//! Each archive is a task of its own: it and what is true of its pages are written aside and
//! renamed when done. So a run that is broken off leaves nothing that looks whole and is not, and
//! the next one with the same settings goes on with the archives that are missing. Which pages are
//! in which archive follows from the settings, hence the bytes are the same for any number of
//! threads.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use cento_store::Progress;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::html;
use crate::layout::{Layout, Role};
use crate::pages::{Maker, Page};
use crate::random::{Purpose, Random, mix};
use crate::settings::{Kind, Settings};
use crate::tell::{Teller, Written, original_file};
use crate::warc::{Damage, Header, WarcWriter, digest};

/// The file that says whose folder it is.
const MARK: &str = "synth.json";
/// The file that is written last.
pub const TRUTH: &str = "truth.jsonl";
const ARCHIVES: &str = "crawl";
const ORIGINALS: &str = "originals";
const ASIDE: &str = "tmp";

/// Originals that one task writes.
const ORIGINALS_A_TASK: u64 = 1_000;

/// A crawl to make.
pub struct Synthesis<'a> {
    /// The folder to make it in.
    pub folder: PathBuf,
    /// What it is to be like.
    pub settings: Settings,
    /// How many threads write.
    pub threads: usize,
    /// Whether a crawl that is in the folder is thrown away first.
    pub force: bool,
    /// Who watches, and can stop it.
    pub progress: &'a Progress,
}

/// What was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// Archives.
    pub files: u64,
    /// Archives that an earlier run had finished.
    pub files_from_before: u64,
    /// Originals in their folder.
    pub originals: u64,
    /// Bytes of HTML in this run.
    pub payload_bytes: u64,
    /// Bytes of all archives on disk.
    pub archive_bytes: u64,
    /// Bytes of truth.
    pub truth_bytes: u64,
    /// Pages of each kind, in the order of [`Kind::ALL`].
    pub kinds: Vec<(Kind, u64)>,
}

impl Synthesis<'_> {
    /// Makes it.
    pub fn run(&self) -> Result<Made> {
        let layout = Layout::new(self.settings.clone())?;
        self.claim()?;
        let tasks = layout.settings.files + self.original_tasks(&layout);
        let next = AtomicU64::new(0);
        let failure: Mutex<Option<(u64, Error)>> = Mutex::new(None);
        let totals = Totals::default();
        let work = || {
            loop {
                let task = next.fetch_add(1, Ordering::Relaxed);
                if task >= tasks || self.progress.is_cancelled() {
                    break;
                }
                if let Err(error) = self.task(&layout, task, &totals) {
                    // The failure of the lowest task is the one that is told, whoever was first.
                    let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
                    if failure.as_ref().is_none_or(|(known, _)| task < *known) {
                        *failure = Some((task, error));
                    }
                    next.store(tasks, Ordering::Relaxed);
                }
            }
        };
        std::thread::scope(|scope| {
            // Where the system starts no more threads, those that there are do all of it.
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
        let truth_bytes = self.gather(&layout)?;
        let mut archive_bytes = 0;
        for file in 0..layout.settings.files {
            let path = self.archive(file);
            archive_bytes += path
                .metadata()
                .map_err(|error| Error::io(&path, error))?
                .len();
        }
        Ok(Made {
            files: layout.settings.files,
            files_from_before: totals.from_before.into_inner(),
            originals: layout.originals() - layout.first_filed(),
            payload_bytes: totals.payload.into_inner(),
            archive_bytes,
            truth_bytes,
            kinds: Kind::ALL.map(|kind| (kind, layout.count(kind))).to_vec(),
        })
    }

    fn original_tasks(&self, layout: &Layout) -> u64 {
        (layout.originals() - layout.first_filed()).div_ceil(ORIGINALS_A_TASK)
    }

    /// Makes sure that the folder is ours to write to.
    fn claim(&self) -> Result<()> {
        let folder = &self.folder;
        let failed = |error: io::Error| Error::io(folder, error);
        fs::create_dir_all(folder).map_err(failed)?;
        let mark = folder.join(MARK);
        let ours = serde_json::to_string_pretty(&self.settings)
            .map_err(|error| Error::io(&mark, error.into()))?
            + "\n";
        match fs::read_to_string(&mark) {
            Ok(_) if self.force => self.clear()?,
            Ok(_) if folder.join(TRUTH).exists() => return Err(Error::Complete(folder.clone())),
            Ok(known) if known != ours => return Err(Error::OtherSettings(folder.clone())),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if fs::read_dir(folder).map_err(failed)?.next().is_some() {
                    return Err(Error::InTheWay(folder.clone()));
                }
            }
            Err(error) => return Err(Error::io(&mark, error)),
        }
        let write = Aside::new(folder.join(format!("{MARK}.new")), mark);
        write.all(ours.as_bytes())?;
        for part in [ARCHIVES, ASIDE] {
            fs::create_dir_all(folder.join(part)).map_err(failed)?;
        }
        Ok(())
    }

    /// Removes what an earlier run made, and nothing else.
    fn clear(&self) -> Result<()> {
        let gone = |path: &Path, outcome: io::Result<()>| match outcome {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(path, error)),
            _ => Ok(()),
        };
        let truth = self.folder.join(TRUTH);
        gone(&truth, fs::remove_file(&truth))?;
        for part in [ARCHIVES, ORIGINALS, ASIDE] {
            let path = self.folder.join(part);
            gone(&path, fs::remove_dir_all(&path))?;
        }
        let mark = self.folder.join(MARK);
        gone(&mark, fs::remove_file(&mark))
    }

    fn archive_name(file: u64) -> String {
        format!("synth-{file:05}.warc.gz")
    }

    fn archive(&self, file: u64) -> PathBuf {
        self.folder.join(ARCHIVES).join(Self::archive_name(file))
    }

    fn truth_part(&self, file: u64) -> PathBuf {
        self.folder
            .join(ASIDE)
            .join(format!("truth-{file:05}.jsonl"))
    }

    fn task(&self, layout: &Layout, task: u64, totals: &Totals) -> Result<()> {
        if task >= layout.settings.files {
            return self.originals(layout, task - layout.settings.files);
        }
        // The archive is renamed last, so where it is, its truth is as well.
        if self.archive(task).exists() && self.truth_part(task).exists() {
            totals.from_before.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        let name = Self::archive_name(task);
        let archive = Aside::new(self.folder.join(ASIDE).join(&name), self.archive(task));
        let truth = Aside::new(
            self.truth_part(task).with_extension("new"),
            self.truth_part(task),
        );
        let mut truth_out = truth.create()?;
        let mut warc = WarcWriter::new(archive.create()?, mix(layout.settings.seed ^ mix(task)));
        let maker = Maker { layout };
        let mut teller = Teller::new(maker);
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
            let written =
                put(maker, &page, &name, &mut warc, &mut teller).map_err(
                    |failure| match failure {
                        Failure::Io(error) => archive.failed(error),
                        Failure::Other(error) => error,
                    },
                )?;
            payload += written;
            self.progress.add_pages(1);
            self.progress.add_bytes(written);
            truth_out
                .write_all(&teller.take())
                .map_err(|error| truth.failed(error))?;
        }
        totals.payload.fetch_add(payload, Ordering::Relaxed);
        truth.finish(truth_out)?;
        archive.finish(warc.into_inner())
    }

    fn originals(&self, layout: &Layout, task: u64) -> Result<()> {
        let maker = Maker { layout };
        let first = layout.first_filed() + task * ORIGINALS_A_TASK;
        let last = layout.originals().min(first + ORIGINALS_A_TASK);
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
            let html = html::render(&maker.page(Role {
                kind: Kind::Original,
                index,
            }));
            let aside = self
                .folder
                .join(ASIDE)
                .join(format!("original-{index:08}.html"));
            Aside::new(aside, path).all(html.as_bytes())?;
        }
        Ok(())
    }

    /// Puts the head and the truth of all archives into one file.
    fn gather(&self, layout: &Layout) -> Result<u64> {
        let mut teller = Teller::new(Maker { layout });
        teller.head()?;
        let head = teller.take();
        let truth = Aside::new(self.folder.join(ASIDE).join(TRUTH), self.folder.join(TRUTH));
        let mut out = truth.create()?;
        out.write_all(&head).map_err(|error| truth.failed(error))?;
        let mut bytes = head.len() as u64;
        for file in 0..layout.settings.files {
            let path = self.truth_part(file);
            let mut part = File::open(&path).map_err(|error| Error::io(&path, error))?;
            bytes += io::copy(&mut part, &mut out).map_err(|error| truth.failed(error))?;
        }
        truth.finish(out)?;
        let aside = self.folder.join(ASIDE);
        fs::remove_dir_all(&aside).map_err(|error| Error::io(&aside, error))?;
        Ok(bytes)
    }
}

#[derive(Default)]
struct Totals {
    from_before: AtomicU64,
    payload: AtomicU64,
}

enum Failure {
    Io(io::Error),
    Other(Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Io(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Other(error)
    }
}

/// Writes a page and tells the truth about it; returns the bytes of its payload.
fn put<W: Write>(
    maker: Maker<'_>,
    page: &Page,
    file: &str,
    warc: &mut WarcWriter<W>,
    teller: &mut Teller<'_>,
) -> std::result::Result<u64, Failure> {
    let html = html::render(page);
    let sha1 = digest(html.as_bytes());
    let header = Header {
        url: &page.url,
        fetched: page.fetched,
        address: &page.address,
    };
    let damage = (page.role.kind == Kind::Damaged)
        .then(|| {
            Damage::ALL
                .get(page.role.index as usize % Damage::ALL.len())
                .copied()
        })
        .flatten();
    let mut payload = html.len() as u64;
    if page.role.kind == Kind::Revisit {
        let (article, _) = maker.layout.whole(page.role);
        let (of, fetched) = maker.article_address(article);
        let of = Header {
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
    teller.tell(&Written {
        page,
        html: &html,
        sha1,
        file,
        damage,
    })?;
    Ok(payload)
}

/// A file that is written under another name first.
struct Aside {
    aside: PathBuf,
    path: PathBuf,
}

impl Aside {
    fn new(aside: PathBuf, path: PathBuf) -> Aside {
        Aside { aside, path }
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::io(&self.path, error)
    }

    fn create(&self) -> Result<BufWriter<File>> {
        let file = File::create(&self.aside).map_err(|error| self.failed(error))?;
        Ok(BufWriter::with_capacity(1 << 20, file))
    }

    fn finish(&self, out: BufWriter<File>) -> Result<()> {
        let file = out
            .into_inner()
            .map_err(|error| self.failed(error.into_error()))?;
        file.sync_data().map_err(|error| self.failed(error))?;
        fs::rename(&self.aside, &self.path).map_err(|error| self.failed(error))
    }

    fn all(&self, bytes: &[u8]) -> Result<()> {
        let mut out = self.create()?;
        out.write_all(bytes).map_err(|error| self.failed(error))?;
        let file = out
            .into_inner()
            .map_err(|error| self.failed(error.into_error()))?;
        drop(file);
        fs::rename(&self.aside, &self.path).map_err(|error| self.failed(error))
    }
}
