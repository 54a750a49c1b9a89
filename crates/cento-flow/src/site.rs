//! The folder of a run: what it has finished, and what it has spilled.
//!
//! ```text
//! TEMP/cento-flow-4f0c…-91d2…/   named after the place of its tables, and after the flow; mode 0700
//!   lock                      held by the one process that works here
//!   boundary.json             the last stage after which everything that matters was on disk
//!   0003-000017.rows          what task 17 of the fourth stage has put out
//!   0003-seen.state           a broadcast state
//!   0003.tasks                which tasks of a stage are in the states that are saved
//!   *.aside                   not whole yet
//! ```
//!
//! Nothing here outlives a run that ends well, whether this run made it or one before it that was
//! interrupted and had another share of memory, which makes it another flow for the same tables.
//! After an interrupted run, the same flow with the same place for its tables finds its folder
//! again and resumes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cento_file::{Seal, check_seal};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
const VERSION: u32 = 2;

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
    /// What the folders of all flows for the same tables begin with.
    siblings: String,
    _lock: File,
}

impl Site {
    /// Takes the folder of a flow, as it was left or new. `tables` is where the flow's tables go.
    pub(crate) fn open(temp: &Path, flow: &Flow, tables: &Path) -> Result<Site> {
        fs::create_dir_all(temp).map_err(|error| Error::io(temp, error))?;
        // The place is the same from wherever it is named.
        let tables = fs::canonicalize(tables).unwrap_or_else(|_| tables.to_owned());
        let siblings = format!(
            "{PREFIX}{}-",
            short_hash(tables.as_os_str().as_encoded_bytes())
        );
        let json = serde_json::to_vec(&(VERSION, flow))
            .map_err(|error| Error::Unsound(error.to_string()))?;
        let path = temp.join(format!("{siblings}{}", short_hash(&json)));
        sweep_forgotten(temp, &path);
        let failed = |error| Error::io(&path, error);
        // A folder that somebody else has put there is not touched: then there is one that no later
        // run finds again.
        let path = match cento_file::private(&path).map_err(failed)? {
            true => path,
            false => {
                let other = tempfile::Builder::new()
                    .prefix(&siblings)
                    .tempdir_in(temp)
                    .map_err(failed)?;
                other.keep()
            }
        };
        let lock_path = path.join(LOCK);
        let lock = cento_file::lock(&lock_path).map_err(|error| Error::io(&lock_path, error))?;
        let Some(lock) = lock else {
            return Err(Error::Busy(path));
        };
        Ok(Site {
            path,
            siblings,
            _lock: lock,
        })
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

    /// Where to go on, if an earlier run got beyond a stage. What cannot be read counts as not
    /// there: then the run begins anew.
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
        self.sweep(Some(boundary), boundary.position.ordinal)
    }

    /// The tasks of a stage whose marks are in its saved states.
    pub(crate) fn tasks_in_states(&self, ordinal: u64) -> BTreeSet<usize> {
        self.load(&self.tasks_file(ordinal)).unwrap_or_default()
    }

    pub(crate) fn note_tasks_in_states(&self, ordinal: u64, tasks: &BTreeSet<usize>) -> Result<()> {
        self.save(&self.tasks_file(ordinal), tasks)
    }

    /// Removes what neither the boundary names nor the stage that comes next has left.
    pub(crate) fn sweep(&self, boundary: Option<&Boundary>, next: u64) -> Result<()> {
        let mut named: BTreeSet<&str> = BTreeSet::from([LOCK]);
        if let Some(boundary) = boundary {
            named.insert(BOUNDARY);
            let streams = boundary.streams.values().flatten();
            named.extend(streams.chain(boundary.states.values()).map(String::as_str));
        }
        let prefix = format!("{next:04}");
        let failed = |error| Error::io(&self.path, error);
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let of_next = name.starts_with(&prefix);
            let whole = !name.ends_with(ASIDE);
            if !(named.contains(name.as_ref()) || (of_next && whole)) {
                fs::remove_file(entry.path()).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// The run has ended well: nothing stays, of this run or of one that was killed and had another
    /// flow for the same tables.
    pub(crate) fn remove(self) -> Result<()> {
        fs::remove_dir_all(&self.path).map_err(|error| Error::io(&self.path, error))?;
        if let Some(temp) = self.path.parent() {
            sweep_dead(temp, |name, _| name.starts_with(&self.siblings));
        }
        Ok(())
    }

    /// The run has failed: what is finished stays for the next one, what is not goes. If that is
    /// nothing, the folder goes too. Best effort, for the failure is what the user should hear of.
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
        let saved = serde_json::json!({ "saved": value });
        let aside = path.with_extension(ASIDE);
        fs::write(&aside, cento_file::seal(&format!("{saved:#}")))
            .and_then(|()| fs::rename(&aside, path))
            .map_err(|error| Error::io(path, error))
    }

    fn load<T: DeserializeOwned>(&self, path: &Path) -> Option<T> {
        let bytes = fs::read(path).ok()?;
        if check_seal(&bytes) != Seal::Whole {
            return None;
        }
        let mut saved: Value = serde_json::from_slice(&bytes).ok()?;
        T::deserialize(saved.get_mut("saved")?.take()).ok()
    }
}

/// Removes folders of runs that were killed long ago and that nobody has resumed.
fn sweep_forgotten(temp: &Path, own: &Path) {
    sweep_dead(temp, |name, entry| {
        let age = entry.metadata().and_then(|metadata| metadata.modified());
        let old = age.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > FORGOTTEN));
        name.starts_with(PREFIX) && old && entry.path() != own
    });
}

/// Removes folders of dead runs. Whoever holds a lock lives, and what has no lock is not ours. Best
/// effort: folders of other users may be there too.
fn sweep_dead(temp: &Path, wanted: impl Fn(&str, &fs::DirEntry) -> bool) {
    let Ok(entries) = fs::read_dir(temp) else {
        return;
    };
    for entry in entries.flatten() {
        // Of the entry itself: a link to a folder is none.
        let folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let name = entry.file_name();
        if folder
            && name.to_str().is_some_and(|name| wanted(name, &entry))
            && !cento_file::is_locked(&entry.path().join(LOCK))
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn short_hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().chars().take(16).collect()
}
