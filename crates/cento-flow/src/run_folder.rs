//! The temporary folder of a run: finished task output, spilled rows, and the state to resume from.
//!
//! ```text
//! TEMP/cento-flow-4f0c…-91d2…/   hash of the tables' folder, hash of the flow; mode 0700
//!   lock                      locked by the running process
//!   boundary.json             the last stage boundary at which all needed data was on disk
//!   0003-000017.rows          the output of task 17 of the fourth stage
//!   0003-kept-000002.rows     output that was in memory at a boundary
//!   0003-seen.state           a broadcast state
//!   0003.tasks                the tasks whose changes are in the saved states of a stage
//!   *.partial                 files that are being written
//! ```
//!
//! After an interrupted run, the same flow with the same folder for its tables finds this folder
//! and resumes. A successful run removes its folder, and those that interrupted runs have left for
//! the same tables: with another memory budget, for example, the flow has another hash.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cento_file::{Seal, check_seal};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::assemble::TableReport;
use crate::error::{Error, Result};
use crate::flow::{Flow, Step};
use crate::report::StageReport;
use crate::spill::PARTIAL;

const PREFIX: &str = "cento-flow-";
const LOCK: &str = "lock";
const BOUNDARY: &str = "boundary.json";
/// Folders of interrupted runs that are older than this are removed by the next run.
const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 3600);
/// Changes when a run must not be resumed from files of an older version.
const VERSION: u32 = 3;

/// The position of a run in its flow: the next stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Position {
    /// The number of stages that were run before, including every round of an iteration.
    pub(crate) ordinal: u64,
    pub(crate) step: usize,
    pub(crate) round: u32,
    pub(crate) stage: usize,
    /// The counter of the iteration in this round so far.
    pub(crate) changes: u64,
}

/// The state of a run between two stages, as it is saved to disk.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Boundary {
    pub(crate) position: Position,
    /// Files with output that no stage has read yet, by shuffle or table.
    pub(crate) streams: BTreeMap<String, Vec<String>>,
    /// Files of broadcast states.
    pub(crate) states: BTreeMap<String, String>,
    pub(crate) stages: Vec<StageReport>,
    pub(crate) tables: Vec<TableReport>,
}

impl Boundary {
    /// Whether its position and its names are those of a flow.
    fn is_of(&self, flow: &Flow) -> bool {
        let Position {
            ordinal,
            step,
            round,
            stage,
            changes: _,
        } = self.position;
        let in_flow = flow.steps.get(step).is_some_and(|step| match step {
            Step::Stage(_) => (round, stage) == (0, 0),
            Step::Repeat {
                stages, max_rounds, ..
            } => stage < stages.len() && round < *max_rounds,
        });
        let streams = &mut self.streams.keys();
        in_flow
            && ordinal < u64::from(u32::MAX)
            && streams.all(|name| flow.shuffles.contains_key(name) || flow.tables.contains(name))
            && self
                .states
                .keys()
                .all(|name| flow.states.contains_key(name))
    }
}

/// Whether a name is that of a file of rows or of a state in a run folder.
fn is_plain_name(name: &str) -> bool {
    let plain = !name.contains(['/', '\\']) && !name.starts_with('.');
    plain && (name.ends_with(".rows") || name.ends_with(".state"))
}

pub(crate) struct RunFolder {
    path: PathBuf,
    /// The prefix of the folders of all flows with the same folder for tables.
    siblings: String,
    _lock: cento_file::Lock,
}

impl RunFolder {
    /// Opens and locks the folder of a flow, or creates it. `tables` is the folder for the tables
    /// of the flow.
    pub(crate) fn open(temp: &Path, flow: &Flow, tables: &Path) -> Result<RunFolder> {
        fs::create_dir_all(temp).map_err(|error| Error::io(temp, error))?;
        // Different paths to the same folder have the same hash.
        let tables = fs::canonicalize(tables).unwrap_or_else(|_| tables.to_owned());
        let siblings = format!(
            "{PREFIX}{}-",
            short_hash(tables.as_os_str().as_encoded_bytes())
        );
        let json = serde_json::to_vec(&(VERSION, flow))
            .map_err(|error| Error::InvalidFlow(error.to_string()))?;
        let path = temp.join(format!("{siblings}{}", short_hash(&json)));
        sweep_old(temp, &path);
        let failed = |error| Error::io(&path, error);
        // A folder that another user has created under this name is not touched. The run gets a
        // folder with a random name instead, which no later run can resume from.
        let path = match cento_file::ensure_private(&path).map_err(failed)? {
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
            return Err(Error::InUse(path));
        };
        Ok(RunFolder {
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

    /// The last boundary of an interrupted run of a flow. `None` if there is none, if it is not one
    /// of this flow, or if one of its files is missing or corrupted: then the run starts again.
    pub(crate) fn boundary(&self, flow: &Flow) -> Option<Boundary> {
        let boundary: Boundary = self.load(&self.path.join(BOUNDARY))?;
        if !boundary.is_of(flow) {
            return None;
        }
        let streams = boundary.streams.values().flatten();
        let mut files = streams.chain(boundary.states.values());
        // The folder may be part of a corpus from somebody else. Corrupted files are removed, so
        // that only files in the folder may be named.
        files
            .all(|file| is_plain_name(file) && self.path.join(file).is_file())
            .then_some(boundary)
    }

    /// Saves a boundary, and removes the files that are no longer needed.
    pub(crate) fn write_boundary(&self, boundary: &Boundary) -> Result<()> {
        self.save(&self.path.join(BOUNDARY), boundary)?;
        self.sweep(Some(boundary), boundary.position.ordinal)
    }

    /// The tasks of a stage whose changes are in its saved states.
    pub(crate) fn tasks_in_states(&self, ordinal: u64) -> BTreeSet<usize> {
        self.load(&self.tasks_file(ordinal)).unwrap_or_default()
    }

    pub(crate) fn write_tasks_in_states(
        &self,
        ordinal: u64,
        tasks: &BTreeSet<usize>,
    ) -> Result<()> {
        self.save(&self.tasks_file(ordinal), tasks)
    }

    /// Removes all files except those that the boundary names and complete files of the stage
    /// `next`.
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
            let complete = !name.ends_with(PARTIAL);
            if !(named.contains(name.as_ref()) || (of_next && complete)) {
                fs::remove_file(entry.path()).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Removes the folder after a successful run, and the folders of interrupted runs for the same
    /// tables.
    pub(crate) fn remove(self) -> Result<()> {
        fs::remove_dir_all(&self.path).map_err(|error| Error::io(&self.path, error))?;
        if let Some(temp) = self.path.parent() {
            sweep_dead(temp, |name, _| name.starts_with(&self.siblings));
        }
        Ok(())
    }

    /// Removes unfinished files after a failed run, and the folder if nothing is left to resume
    /// from. Errors are ignored, because the user should see the error of the run.
    pub(crate) fn keep_finished(self) {
        let Ok(entries) = fs::read_dir(&self.path) else {
            return;
        };
        let mut resumable = false;
        for entry in entries.flatten() {
            let name = entry.file_name();
            if name.to_string_lossy().ends_with(PARTIAL) {
                let _ = fs::remove_file(entry.path());
            } else if name != LOCK {
                resumable = true;
            }
        }
        if !resumable {
            let _ = fs::remove_dir_all(&self.path);
        }
    }

    fn save(&self, path: &Path, value: &impl Serialize) -> Result<()> {
        let saved = serde_json::json!({ "saved": value });
        let partial = path.with_extension(PARTIAL);
        fs::write(&partial, cento_file::seal(&format!("{saved:#}")))
            .and_then(|()| fs::rename(&partial, path))
            .map_err(|error| Error::io(path, error))
    }

    fn load<T: DeserializeOwned>(&self, path: &Path) -> Option<T> {
        let bytes = fs::read(path).ok()?;
        if check_seal(&bytes) != Seal::Valid {
            return None;
        }
        let mut saved: Value = serde_json::from_slice(&bytes).ok()?;
        T::deserialize(saved.get_mut("saved")?.take()).ok()
    }
}

/// Removes folders of runs that were killed long ago and never resumed.
fn sweep_old(temp: &Path, own: &Path) {
    sweep_dead(temp, |name, entry| {
        let age = entry.metadata().and_then(|metadata| metadata.modified());
        let old = age.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > MAX_AGE));
        name.starts_with(PREFIX) && old && entry.path() != own
    });
}

/// Removes folders of processes that have ended: those whose lock is free. A folder without a lock
/// file is not ours. Errors are ignored, because folders of other users may be there as well.
fn sweep_dead(temp: &Path, is_stale: impl Fn(&str, &fs::DirEntry) -> bool) {
    let Ok(entries) = fs::read_dir(temp) else {
        return;
    };
    for entry in entries.flatten() {
        // The type of the entry itself: links are not followed.
        let folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let name = entry.file_name();
        if folder
            && name.to_str().is_some_and(|name| is_stale(name, &entry))
            && !cento_file::is_locked(&entry.path().join(LOCK))
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn short_hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().chars().take(16).collect()
}
