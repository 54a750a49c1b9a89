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

/// Locks a file, which is created if it does not exist. Returns `None` if another process holds the
/// lock. The lock is released when the returned file is dropped or the process ends. A link is an
/// error, because it could be an attempt to modify another file.
pub fn lock(path: &Path) -> io::Result<Option<File>> {
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
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether a process holds a lock. Returns true if this cannot be determined.
pub fn is_locked(path: &Path) -> bool {
    free_lock(path).is_none()
}

/// Takes a lock if its file exists and no process holds it.
pub(crate) fn free_lock(path: &Path) -> Option<File> {
    let file = not_following(OpenOptions::new().read(true))
        .open(path)
        .ok()?;
    let regular = file.metadata().ok()?.is_file();
    (regular && file.try_lock().is_ok()).then_some(file)
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
