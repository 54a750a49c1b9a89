//! The folder of a run: what it has finished, and what it has spilled.
//!
//! ```text
//! TEMP/cento-flow-4f0c…/      named after the flow and the place of its tables
//!   lock                      held by the one process that works here
//!   boundary.json             the last stage after which everything that matters was on disk
//!   0003-000017.rows          what task 17 of the fourth stage has put out
//!   0003-seen.state           a broadcast state
//!   0003.tasks                which tasks of a stage are in the states that are saved
//!   *.aside                   not whole yet
//! ```
//!
//! Nothing here outlives a run that ends well. After a run that was broken off, the same flow with the same place for its tables
//! finds its folder again and goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::assemble::TableReport;
use crate::error::{Error, Result};
use crate::flow::Flow;
use crate::report::StageReport;
use crate::spill::ASIDE;

const PREFIX: &str = "cento-flow-";
const LOCK: &str = "lock";
const BOUNDARY: &str = "boundary.json";
/// Folders of runs that nobody has gone on with for so long are removed by the next run.
const FORGOTTEN: Duration = Duration::from_secs(7 * 24 * 3600);
/// Changes when files of an older program must not be gone on with.
const VERSION: u32 = 1;

/// The next stage of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Position {
    /// How many stages were run before, rounds counted.
    pub(crate) ordinal: u64,
    pub(crate) step: usize,
    pub(crate) round: u32,
    pub(crate) stage: usize,
    /// The counter of the loop so far in this round.
    pub(crate) changes: u64,
}

/// The state of a run between two stages, all of it on disk.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Boundary {
    pub(crate) position: Position,
    /// Files of what was put out and not yet read, by shuffle or table.
    pub(crate) streams: BTreeMap<String, Vec<String>>,
    /// Files of broadcast states.
    pub(crate) states: BTreeMap<String, String>,
    pub(crate) stages: Vec<StageReport>,
    pub(crate) tables: Vec<TableReport>,
}

pub(crate) struct Site {
    path: PathBuf,
    _lock: File,
}

impl Site {
    /// Takes the folder of a flow, as it was left or new. `tables` is where the flow's tables go.
    pub(crate) fn open(temp: &Path, flow: &Flow, tables: &Path) -> Result<Site> {
        fs::create_dir_all(temp).map_err(|error| Error::io(temp, error))?;
        let json = serde_json::to_vec(&(VERSION, flow, tables))
            .map_err(|error| Error::Unsound(error.to_string()))?;
        let name = blake3::hash(&json).to_hex();
        let path = temp.join(format!("{PREFIX}{}", name.get(..16).unwrap_or_default()));
        sweep_forgotten(temp, &path);
        fs::create_dir_all(&path).map_err(|error| Error::io(&path, error))?;
        let lock_path = path.join(LOCK);
        let lock = File::create(&lock_path).map_err(|error| Error::io(&lock_path, error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Busy(path)),
            Err(TryLockError::Error(error)) => return Err(Error::io(&lock_path, error)),
        }
        Ok(Site { path, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn task_file(&self, ordinal: u64, task: usize) -> PathBuf {
        self.path.join(format!("{ordinal:04}-{task:06}.rows"))
    }

    pub(crate) fn state_file(&self, ordinal: u64, name: &str) -> PathBuf {
        self.path.join(format!("{ordinal:04}-{name}.state"))
    }

    fn tasks_file(&self, ordinal: u64) -> PathBuf {
        self.path.join(format!("{ordinal:04}.tasks"))
    }

    /// Where to go on, if an earlier run got beyond a stage. What cannot be read counts as not there: then the run begins anew.
    pub(crate) fn boundary(&self) -> Option<Boundary> {
        let boundary: Boundary = self.load(&self.path.join(BOUNDARY))?;
        let streams = boundary.streams.values().flatten();
        let mut files = streams.chain(boundary.states.values());
        files
            .all(|file| self.path.join(file).is_file())
            .then_some(boundary)
    }

    /// Notes that all before a stage is done and on disk, and removes what that makes superfluous.
    pub(crate) fn note_boundary(&self, boundary: &Boundary) -> Result<()> {
        self.save(&self.path.join(BOUNDARY), boundary)?;
        self.sweep(Some(boundary), None)
    }

    /// The tasks of a stage whose marks are in its saved states.
    pub(crate) fn tasks_in_states(&self, ordinal: u64) -> BTreeSet<usize> {
        self.load(&self.tasks_file(ordinal)).unwrap_or_default()
    }

    pub(crate) fn note_tasks_in_states(&self, ordinal: u64, tasks: &BTreeSet<usize>) -> Result<()> {
        self.save(&self.tasks_file(ordinal), tasks)
    }

    /// Removes what neither the boundary names nor the stage that comes next has left.
    pub(crate) fn sweep(&self, boundary: Option<&Boundary>, next: Option<u64>) -> Result<()> {
        let mut named: BTreeSet<&str> = BTreeSet::from([LOCK]);
        if let Some(boundary) = boundary {
            named.insert(BOUNDARY);
            let streams = boundary.streams.values().flatten();
            named.extend(streams.chain(boundary.states.values()).map(String::as_str));
        }
        let prefix = next.map(|ordinal| format!("{ordinal:04}"));
        let failed = |error| Error::io(&self.path, error);
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let of_next = prefix
                .as_ref()
                .is_some_and(|prefix| name.starts_with(prefix.as_str()));
            let whole = !name.ends_with(ASIDE);
            if !(named.contains(name.as_ref()) || (of_next && whole)) {
                fs::remove_file(entry.path()).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// The run has ended well: nothing stays.
    pub(crate) fn remove(self) -> Result<()> {
        fs::remove_dir_all(&self.path).map_err(|error| Error::io(&self.path, error))
    }

    /// The run has failed: what is finished stays for the next one, what is not goes. If that is nothing, the folder goes too. Best effort,
    /// for the failure is what the user should hear of.
    pub(crate) fn leave(self) {
        let Ok(entries) = fs::read_dir(&self.path) else {
            return;
        };
        let mut worth_keeping = false;
        for entry in entries.flatten() {
            let name = entry.file_name();
            if name.to_string_lossy().ends_with(ASIDE) {
                let _ = fs::remove_file(entry.path());
            } else if name != LOCK {
                worth_keeping = true;
            }
        }
        if !worth_keeping {
            let _ = fs::remove_dir_all(&self.path);
        }
    }

    fn save(&self, path: &Path, value: &impl Serialize) -> Result<()> {
        let json = serde_json::to_vec(value).map_err(|error| Error::Unsound(error.to_string()))?;
        let aside = path.with_extension(ASIDE);
        fs::write(&aside, json)
            .and_then(|()| fs::rename(&aside, path))
            .map_err(|error| Error::io(path, error))
    }

    fn load<T: DeserializeOwned>(&self, path: &Path) -> Option<T> {
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }
}

/// Removes folders of runs that died long ago. Whoever holds a lock lives. Best effort: other users' folders may be there too.
fn sweep_forgotten(temp: &Path, own: &Path) {
    let Ok(entries) = fs::read_dir(temp) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX) && path != own;
        let age = entry.metadata().and_then(|metadata| metadata.modified());
        let old = age.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > FORGOTTEN));
        if !ours || !old {
            continue;
        }
        let free = match File::open(path.join(LOCK)) {
            Ok(lock) => lock.try_lock().is_ok(),
            Err(_) => true,
        };
        if free {
            let _ = fs::remove_dir_all(&path);
        }
    }
}
