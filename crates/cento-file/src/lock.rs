//! Locks: held by a living process, and by nobody else.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens without following a link and without waiting for the other end of a pipe.
pub(crate) fn not_following(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
}

/// Takes the lock at a path, and makes its file if there is none; none if another process holds it.
/// The lock ends with the file that is returned, or with the process. A link in its place is an
/// error: who made it may want another file to be touched.
pub fn lock(path: &Path) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let file = not_following(&mut options).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is not a regular file",
        ));
    }
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether a process holds the lock at a path. Where that cannot be found out, the answer is yes.
pub fn is_locked(path: &Path) -> bool {
    free_lock(path).is_none()
}

/// The lock at a path, if it is there and nobody holds it.
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
    fn a_lock_is_held_by_one_and_ends_with_it() {
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
    fn a_lock_follows_no_link_and_empties_no_file() {
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
