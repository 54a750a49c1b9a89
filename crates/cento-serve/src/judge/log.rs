//! The log of verdicts: one JSON object per line, appended and synced before it is confirmed.
//!
//! ```text
//!   {"kind":"session", …}    a sample of a list, with all of its items
//!   {"kind":"verdict", …}    what a judge says about one item; a later one replaces an earlier one
//!   {"kind":"undo", …}       withdraws the verdict of a judge on one item
//! ```
//!
//! Nothing is ever changed or removed, except for an incomplete last line, which a crash left
//! behind before it was confirmed.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Refusal, Result};
use crate::metrics::now;

/// The file of the log in its folder.
pub(crate) const FILE: &str = "verdicts.jsonl";
const LOCK: &str = "lock";
/// Sessions of one corpus, judges of one session, characters of a name and of a note.
const SESSIONS: usize = 1_000;
const JUDGES: usize = 100;
const LONGEST_NAME: usize = 60;
const LONGEST_NOTE: usize = 2_000;

/// What a judge says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Judgement {
    Spam,
    NotSpam,
    Unsure,
}

impl Judgement {
    pub(crate) const ALL: [Judgement; 3] = [Judgement::Spam, Judgement::NotSpam, Judgement::Unsure];

    /// The name in files and addresses.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Judgement::Spam => "spam",
            Judgement::NotSpam => "not-spam",
            Judgement::Unsure => "unsure",
        }
    }

    /// The name for people.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Judgement::NotSpam => "not spam",
            other => other.name(),
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Judgement> {
        Judgement::ALL.into_iter().find(|one| one.name() == name)
    }
}

/// One item of a session: a row of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct JudgedItem {
    /// The key of the row.
    pub(crate) key: String,
    /// Where its evidence is.
    pub(crate) evidence: String,
    /// The values of the row.
    pub(crate) row: Value,
}

/// A sample of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SampleRecord {
    pub(crate) session: u32,
    pub(crate) time: String,
    pub(crate) list: String,
    /// The run whose findings were sampled, and its parameters.
    pub(crate) run: String,
    pub(crate) parameters: Value,
    /// The filters of the list, as the query of an address.
    pub(crate) filter: String,
    /// The number of rows that were sampled from.
    pub(crate) rows: u64,
    pub(crate) seed: u64,
    pub(crate) items: Vec<JudgedItem>,
}

/// A verdict of a judge on one item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct VerdictRecord {
    pub(crate) session: u32,
    pub(crate) time: String,
    pub(crate) judge: String,
    /// The number of the item, from 0.
    pub(crate) item: u32,
    pub(crate) verdict: Judgement,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) note: String,
}

/// Withdraws a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UndoRecord {
    pub(crate) session: u32,
    pub(crate) time: String,
    pub(crate) judge: String,
    pub(crate) item: u32,
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum LogLine {
    Session(Box<SampleRecord>),
    Verdict(VerdictRecord),
    Undo(UndoRecord),
}

/// A session with its current verdicts.
#[derive(Debug, Clone)]
pub(crate) struct JudgingSession {
    pub(crate) sample: SampleRecord,
    /// By judge and item.
    pub(crate) verdicts: BTreeMap<String, BTreeMap<u32, VerdictRecord>>,
    /// The items that each judge judged, in order, for undoing.
    history: BTreeMap<String, Vec<u32>>,
}

impl JudgingSession {
    /// Returns the verdict of a judge on an item.
    pub(crate) fn verdict(&self, judge: &str, item: u32) -> Option<&VerdictRecord> {
        self.verdicts.get(judge)?.get(&item)
    }

    /// Returns the number of items that a judge has judged.
    pub(crate) fn judged(&self, judge: &str) -> usize {
        self.verdicts.get(judge).map_or(0, BTreeMap::len)
    }

    /// Returns the first item that a judge has not judged, at or after a place, else before it.
    pub(crate) fn next_item(&self, judge: &str, after: u32) -> Option<u32> {
        let items = self.sample.items.len() as u32;
        let open = |item: &u32| self.verdict(judge, *item).is_none();
        (after..items)
            .find(open)
            .or_else(|| (0..after.min(items)).find(open))
    }

    fn apply(&mut self, line: LogLine) {
        match line {
            LogLine::Session(_) => {}
            LogLine::Verdict(verdict) => {
                let history = self.history.entry(verdict.judge.clone()).or_default();
                history.retain(|item| *item != verdict.item);
                history.push(verdict.item);
                let of_judge = self.verdicts.entry(verdict.judge.clone()).or_default();
                of_judge.insert(verdict.item, verdict);
            }
            LogLine::Undo(undo) => {
                if let Some(of_judge) = self.verdicts.get_mut(&undo.judge) {
                    of_judge.remove(&undo.item);
                }
                if let Some(history) = self.history.get_mut(&undo.judge) {
                    history.retain(|item| *item != undo.item);
                }
            }
        }
    }
}

/// The open file, and what it says.
#[derive(Debug, Default)]
struct OpenLog {
    /// The file and its lock; none before the first session.
    file: Option<(File, cento_file::Lock)>,
    sessions: Vec<JudgingSession>,
}

/// The verdicts on a corpus.
#[derive(Debug)]
pub(crate) struct VerdictLog {
    folder: PathBuf,
    open: Mutex<OpenLog>,
}

impl VerdictLog {
    /// Opens the log in a folder, if it exists. The folder is created by the first session.
    pub(crate) fn open(folder: &Path) -> Result<VerdictLog> {
        let mut open = OpenLog::default();
        if folder.join(FILE).exists() {
            open.read(folder)?;
        }
        Ok(VerdictLog {
            folder: folder.to_owned(),
            open: Mutex::new(open),
        })
    }

    fn lock(&self) -> MutexGuard<'_, OpenLog> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns all sessions, in order.
    pub(crate) fn sessions(&self) -> Vec<JudgingSession> {
        self.lock().sessions.clone()
    }

    /// Returns a session by its number.
    pub(crate) fn session(&self, number: u32) -> std::result::Result<JudgingSession, Refusal> {
        let open = self.lock();
        let found = open.sessions.get(number as usize).cloned();
        found.ok_or_else(|| Refusal::missing(format!("There is no session {number}.")))
    }

    /// Stores a sample as a new session, and returns its number.
    pub(crate) fn add_session(
        &self,
        mut sample: SampleRecord,
    ) -> std::result::Result<u32, Refusal> {
        let mut open = self.lock();
        if open.sessions.len() >= SESSIONS {
            return Err(Refusal::bad(format!(
                "There are {SESSIONS} sessions already."
            )));
        }
        if open.file.is_none() {
            std::fs::create_dir_all(&self.folder)?;
            open.read(&self.folder)?;
        }
        let number = open.sessions.len() as u32;
        sample.session = number;
        sample.time = now();
        let line = LogLine::Session(Box::new(sample.clone()));
        open.append(&line)?;
        open.sessions.push(JudgingSession {
            sample,
            verdicts: BTreeMap::new(),
            history: BTreeMap::new(),
        });
        Ok(number)
    }

    /// Stores a verdict.
    pub(crate) fn judge(
        &self,
        session: u32,
        judge: &str,
        item: u32,
        verdict: Judgement,
        note: &str,
    ) -> std::result::Result<(), Refusal> {
        let judge = judge_name(judge)?;
        if note.chars().count() > LONGEST_NOTE {
            return Err(Refusal::bad(format!(
                "A note has at most {LONGEST_NOTE} characters."
            )));
        }
        let mut open = self.lock();
        let of_session = open.session(session)?;
        if item as usize >= of_session.sample.items.len() {
            return Err(Refusal::missing(format!("The session has no item {item}.")));
        }
        if !of_session.verdicts.contains_key(&judge) && of_session.verdicts.len() >= JUDGES {
            return Err(Refusal::bad(format!(
                "The session has {JUDGES} judges already."
            )));
        }
        let record = VerdictRecord {
            session,
            time: now(),
            judge,
            item,
            verdict,
            note: note.trim().to_owned(),
        };
        open.append_to_session(LogLine::Verdict(record), session)
    }

    /// Withdraws the last verdict of a judge, and returns its item.
    pub(crate) fn undo(&self, session: u32, judge: &str) -> std::result::Result<u32, Refusal> {
        let judge = judge_name(judge)?;
        let mut open = self.lock();
        let history = open.session(session)?.history.get(&judge);
        let Some(&item) = history.and_then(|items| items.last()) else {
            return Err(Refusal::bad("There is no verdict to undo."));
        };
        let record = UndoRecord {
            session,
            time: now(),
            judge,
            item,
        };
        open.append_to_session(LogLine::Undo(record), session)?;
        Ok(item)
    }
}

/// Checks the name of a judge.
pub(crate) fn judge_name(name: &str) -> std::result::Result<String, Refusal> {
    let name = name.trim();
    let printable = name.chars().all(|letter| !letter.is_control());
    match name.is_empty() || name.chars().count() > LONGEST_NAME || !printable {
        true => Err(Refusal::bad(format!(
            "A judge has a name of 1 to {LONGEST_NAME} characters."
        ))),
        false => Ok(name.to_owned()),
    }
}

impl OpenLog {
    /// Opens or creates the file, and reads what it has.
    fn read(&mut self, folder: &Path) -> Result<()> {
        let path = folder.join(FILE);
        let failed = |error| Error::io(&path, error);
        let lock = cento_file::lock(&folder.join(LOCK)).map_err(failed)?;
        let Some(lock) = lock else {
            return Err(Error::Busy(folder.to_owned()));
        };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&path).map_err(failed)?;
        // The name of a new file must survive a crash too.
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(failed)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(failed)?;
        let complete = text
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |at| at + 1);
        if complete < text.len() {
            file.set_len(complete as u64).map_err(failed)?;
        }
        for (number, line) in text[..complete].split(|&byte| byte == b'\n').enumerate() {
            if line.is_empty() {
                continue;
            }
            let corrupted = |detail: String| Error::Corrupted {
                path: path.clone(),
                detail: format!("line {}: {detail}", number + 1),
            };
            let line: LogLine =
                serde_json::from_slice(line).map_err(|error| corrupted(error.to_string()))?;
            self.apply(line)
                .map_err(|refusal| corrupted(refusal.message))?;
        }
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        self.file = Some((file, lock));
        Ok(())
    }

    fn apply(&mut self, line: LogLine) -> std::result::Result<(), Refusal> {
        match line {
            LogLine::Session(sample) => self.sessions.push(JudgingSession {
                sample: *sample,
                verdicts: BTreeMap::new(),
                history: BTreeMap::new(),
            }),
            LogLine::Verdict(VerdictRecord { session, .. })
            | LogLine::Undo(UndoRecord { session, .. }) => {
                let found = self.sessions.get_mut(session as usize);
                let missing = || Refusal::missing(format!("There is no session {session}."));
                found.ok_or_else(missing)?.apply(line);
            }
        }
        Ok(())
    }

    fn session(&self, number: u32) -> std::result::Result<&JudgingSession, Refusal> {
        let missing = || Refusal::missing(format!("There is no session {number}."));
        self.sessions.get(number as usize).ok_or_else(missing)
    }

    /// Appends a line. It is on the disk when this returns.
    fn append(&mut self, line: &LogLine) -> std::result::Result<(), Refusal> {
        let Some((file, _)) = &mut self.file else {
            return Err(Refusal::bad("There is no session."));
        };
        let mut text = serde_json::to_vec(line).map_err(std::io::Error::other)?;
        text.push(b'\n');
        let before = file.stream_position()?;
        let written = file.write_all(&text).and_then(|()| file.sync_data());
        if let Err(error) = written {
            // A part of the line must not become the beginning of the next one.
            let _ = file.set_len(before);
            let _ = file.seek(SeekFrom::Start(before));
            return Err(error.into());
        }
        Ok(())
    }

    fn append_to_session(
        &mut self,
        line: LogLine,
        session: u32,
    ) -> std::result::Result<(), Refusal> {
        self.append(&line)?;
        if let Some(session) = self.sessions.get_mut(session as usize) {
            session.apply(line);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    pub(crate) fn sample(items: usize) -> SampleRecord {
        let item = |number: usize| JudgedItem {
            key: number.to_string(),
            evidence: format!("/quilts/{number}"),
            row: json!({}),
        };
        SampleRecord {
            session: 0,
            time: String::new(),
            list: "quilts".to_owned(),
            run: "run".to_owned(),
            parameters: json!({"k": 5}),
            filter: String::new(),
            rows: 100,
            seed: 1,
            items: (0..items).map(item).collect(),
        }
    }

    #[test]
    fn verdicts_are_read_again_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.verdicts");
        let log = VerdictLog::open(&path).unwrap();
        assert!(!path.exists(), "reading creates nothing");
        let session = log.add_session(sample(3)).unwrap();
        log.judge(session, "Ann", 0, Judgement::Spam, "").unwrap();
        log.judge(session, "Ann", 1, Judgement::NotSpam, "a <quote>")
            .unwrap();
        log.judge(session, "Bo", 0, Judgement::Unsure, "").unwrap();
        log.judge(session, "Ann", 0, Judgement::NotSpam, "")
            .unwrap();
        assert_eq!(log.undo(session, "Ann").unwrap(), 0);
        let before = log.session(session).unwrap();
        assert!(VerdictLog::open(&path).is_err(), "one server at a time");
        drop(log);
        let after = VerdictLog::open(&path).unwrap().session(session).unwrap();
        assert_eq!(before.verdicts, after.verdicts);
        assert_eq!(after.verdict("Ann", 0), None);
        assert_eq!(after.verdict("Ann", 1).unwrap().note, "a <quote>");
        assert_eq!(after.next_item("Ann", 0), Some(0));
        assert_eq!(after.next_item("Ann", 1), Some(2));
    }

    #[test]
    fn an_incomplete_line_is_dropped_and_damage_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let log = VerdictLog::open(folder.path()).unwrap();
        log.add_session(sample(1)).unwrap();
        log.judge(0, "Ann", 0, Judgement::Spam, "").unwrap();
        drop(log);
        let file = folder.path().join(FILE);
        let whole = std::fs::read(&file).unwrap();
        // Cut at every byte of the last line: the session survives, the verdict is absent.
        let last = whole[..whole.len() - 1]
            .iter()
            .rposition(|&byte| byte == b'\n')
            .unwrap()
            + 1;
        for end in last..whole.len() {
            std::fs::write(&file, &whole[..end]).unwrap();
            let session = VerdictLog::open(folder.path()).unwrap().session(0).unwrap();
            assert_eq!(session.judged("Ann"), 0);
        }
        let mut damaged = whole;
        damaged[5] = b'!';
        std::fs::write(&file, damaged).unwrap();
        assert!(matches!(
            VerdictLog::open(folder.path()),
            Err(Error::Corrupted { .. })
        ));
    }

    #[test]
    fn judgements_beyond_the_limits_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let log = VerdictLog::open(folder.path()).unwrap();
        let spam = Judgement::Spam;
        assert!(log.judge(0, "Ann", 0, spam, "").is_err());
        log.add_session(sample(1)).unwrap();
        assert!(log.judge(0, "", 0, spam, "").is_err());
        assert!(log.judge(0, "a\nb", 0, spam, "").is_err());
        assert!(log.judge(0, &"x".repeat(61), 0, spam, "").is_err());
        assert!(log.judge(0, "Ann", 1, spam, "").is_err());
        assert!(log.judge(0, "Ann", 0, spam, &"x".repeat(2_001)).is_err());
        assert!(log.undo(0, "Ann").is_err());
        assert!(log.judge(0, "汉字", 0, spam, "").is_ok());
    }
}
