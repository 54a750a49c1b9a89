//! Removing temporary files when the process exits early.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static PATHS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

pub(crate) fn register(path: &Path) {
    let mut paths = PATHS.lock().unwrap_or_else(PoisonError::into_inner);
    paths.insert(path.to_owned());
}

pub(crate) fn unregister(path: &Path) {
    let mut paths = PATHS.lock().unwrap_or_else(PoisonError::into_inner);
    paths.remove(path);
}

/// Removes unfinished outputs and private folders of this process. To be called before
/// `std::process::exit`, which does not drop them.
pub fn clean_up() {
    let paths = std::mem::take(&mut *PATHS.lock().unwrap_or_else(PoisonError::into_inner));
    for path in paths {
        // Errors are ignored: the next process removes what is left.
        let _ = match path.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(&path),
            _ => std::fs::remove_file(&path),
        };
    }
}
