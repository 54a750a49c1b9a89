//! What this process has to remove when it ends before its time.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static LIVE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

pub(crate) fn note(path: &Path) {
    let mut live = LIVE.lock().unwrap_or_else(PoisonError::into_inner);
    live.insert(path.to_owned());
}

pub(crate) fn forget(path: &Path) {
    let mut live = LIVE.lock().unwrap_or_else(PoisonError::into_inner);
    live.remove(path);
}

/// Removes unfinished outputs and private folders of this process: for who is about to end it with
/// `exit`, which drops nothing.
pub fn clean_up() {
    let live = std::mem::take(&mut *LIVE.lock().unwrap_or_else(PoisonError::into_inner));
    for path in live {
        // Best effort: what stays is removed by the next process.
        let _ = match path.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(&path),
            _ => std::fs::remove_file(&path),
        };
    }
}
