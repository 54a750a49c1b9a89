//! Lock files, which the system releases when their process ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Sets options to open a file without following a link or waiting for the other end of a pipe.
pub(crate) fn not_following(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
}

/// A locked file. It is unlocked when this is dropped or the process ends.
///
/// Closing the file would not be enough: between `fork` and `exec`, a process that another thread
/// starts has a copy of each descriptor, and with it the lock. Unlocking releases it for all
/// copies.
#[derive(Debug)]
pub struct Lock(File);

impl Lock {
    pub(crate) fn file(&self) -> &File {
        &self.0
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Locks a file, which is created if it does not exist. Returns `None` if another process holds the
/// lock. A link is an error, because it could be an attempt to modify another file.
pub fn lock(path: &Path) -> io::Result<Option<Lock>> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let file = not_following(&mut options).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        ));
    }
    match file.try_lock() {
        Ok(()) => Ok(Some(Lock(file))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether a process holds a lock. Returns true if this cannot be determined.
pub fn is_locked(path: &Path) -> bool {
    free_lock(path).is_none()
}

/// Takes a lock if its file exists and no process holds it.
pub(crate) fn free_lock(path: &Path) -> Option<Lock> {
    let file = not_following(OpenOptions::new().read(true))
        .open(path)
        .ok()?;
    let regular = file.metadata().ok()?.is_file();
    (regular && file.try_lock().is_ok()).then_some(Lock(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_has_one_owner_and_is_released_when_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = lock(&path).unwrap().unwrap();
        assert!(lock(&path).unwrap().is_none());
        assert!(is_locked(&path));
        drop(held);
        assert!(!is_locked(&path));
        assert!(lock(&path).unwrap().is_some());
    }

    #[test]
    fn a_dropped_lock_is_released_while_a_forked_process_has_its_descriptor() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = lock(&path).unwrap().unwrap();
        let copy = held.0.try_clone().unwrap();
        drop(held);
        assert!(lock(&path).unwrap().is_some());
        drop(copy);
    }

    #[test]
    fn locking_does_not_follow_links_or_truncate_files() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        std::fs::write(&victim, "precious").unwrap();
        let path = folder.path().join("lock");
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        assert!(lock(&path).is_err());
        assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
        assert!(lock(&victim).unwrap().is_some());
        assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
    }
}
