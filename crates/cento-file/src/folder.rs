//! Private folders for temporary files.
//!
//! ```text
//! TEMP/cento-8f3c0b1d52a9e674/    mode 0700, a name that cannot be guessed
//!   lock                          locked while the process runs
//!   …                             the temporary files
//! ```
//!
//! A folder belongs to the process that holds its lock. Process ids would not work: they are
//! reused, and two containers that share a folder can have the same ids. The system releases a lock
//! when its process ends in any way. So a folder whose lock is free is abandoned, and the next
//! process that creates a private folder removes it.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::lock::{Lock, free_lock, lock};
use crate::{cleanup, random_name};

const PREFIX: &str = "cento-";
const LOCK: &str = "lock";
/// How many names are tried. Random names do not collide, but another process may remove a new
/// folder before it is locked.
const ATTEMPTS: usize = 16;

/// A folder that only this user can read, and that is removed with its content when this is
/// dropped.
#[derive(Debug)]
pub struct PrivateFolder {
    path: PathBuf,
    lock: Option<Lock>,
}

impl PrivateFolder {
    /// Creates a folder in `temp`, and `temp` if it does not exist. Removes abandoned folders.
    pub fn create(temp: &Path) -> io::Result<PrivateFolder> {
        fs::create_dir_all(temp)?;
        sweep(temp);
        for _ in 0..ATTEMPTS {
            let path = temp.join(format!("{PREFIX}{}", random_name()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
            cleanup::register(&path);
            // Until the folder is locked, another process may remove it as abandoned. Then another
            // name is tried.
            let failed = match lock(&path.join(LOCK)) {
                Ok(Some(held)) if is_same(held.file(), &path.join(LOCK)) => {
                    return Ok(PrivateFolder {
                        path,
                        lock: Some(held),
                    });
                }
                Ok(_) => None,
                Err(error) => Some(error).filter(|error| error.kind() != io::ErrorKind::NotFound),
            };
            let _ = fs::remove_dir_all(&path);
            cleanup::unregister(&path);
            if let Some(error) = failed {
                return Err(error);
            }
        }
        Err(io::Error::other(
            "cannot create a folder for temporary files",
        ))
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // If this fails, the next process removes the folder. The lock is released last.
        let _ = fs::remove_dir_all(&self.path);
        cleanup::unregister(&self.path);
        drop(self.lock.take());
    }
}

/// Creates a private folder, or checks that an existing one is private: it is not a link, belongs
/// to this user, cannot be written to by others, and has only regular files, so that no link leads
/// out of it. Returns false if it is not private.
pub fn ensure_private(path: &Path) -> io::Result<bool> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => return Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let metadata = path.symlink_metadata()?;
    if !metadata.is_dir() || !is_own(&metadata) || metadata.permissions().mode() & 0o022 != 0 {
        return Ok(false);
    }
    for entry in fs::read_dir(path)? {
        if !entry?.file_type()?.is_file() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_own(metadata: &fs::Metadata) -> bool {
    metadata.uid() == rustix::process::geteuid().as_raw()
}

/// Whether the path still names this open file.
pub(crate) fn is_same(file: &File, path: &Path) -> bool {
    let Ok((open, named)) = file
        .metadata()
        .and_then(|open| Ok((open, path.symlink_metadata()?)))
    else {
        return false;
    };
    (open.dev(), open.ino()) == (named.dev(), named.ino())
}

/// Whether a path is in a [`PrivateFolder`], and so exists only as long as this process needs it.
pub fn is_in_private_folder(path: &Path) -> bool {
    path.ancestors()
        .any(|folder| has_private_name(folder) && folder.join(LOCK).is_file())
}

fn has_private_name(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str());
    let random = name.and_then(|name| name.strip_prefix(PREFIX));
    random.is_some_and(|random| {
        random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Removes abandoned private folders of this user. Errors are ignored.
fn sweep(temp: &Path) {
    let Ok(entries) = fs::read_dir(temp) else {
        return;
    };
    for entry in entries.flatten() {
        let ours = has_private_name(&entry.path());
        // This does not follow links.
        let own = entry
            .metadata()
            .is_ok_and(|metadata| metadata.is_dir() && is_own(&metadata));
        if !ours || !own {
            continue;
        }
        let path = entry.path();
        if let Some(_held) = free_lock(&path.join(LOCK)) {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_a_private_folder_are_recognised() {
        let temp = tempfile::tempdir().unwrap();
        let folder = PrivateFolder::create(temp.path()).unwrap();
        assert!(is_in_private_folder(
            &folder.path().join("c.cento/findings")
        ));
        assert!(!is_in_private_folder(temp.path()));
        assert!(!is_in_private_folder(
            &temp.path().join("cento-0123456789abcdef/x")
        ));
    }

    #[test]
    fn a_private_folder_has_mode_0700_and_is_removed_when_it_is_dropped() {
        let temp = tempfile::tempdir().unwrap();
        let folder = PrivateFolder::create(temp.path()).unwrap();
        let other = PrivateFolder::create(temp.path()).unwrap();
        assert_ne!(folder.path(), other.path());
        let mode = folder.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let path = folder.path().to_owned();
        fs::write(path.join("text"), "words").unwrap();
        drop(folder);
        assert!(!path.exists());
        assert!(other.path().exists());
    }

    #[test]
    fn only_the_folder_of_a_killed_process_is_removed() {
        let temp = tempfile::tempdir().unwrap();
        let name = |name: &str| temp.path().join(name);
        let abandoned = name("cento-0123456789abcdef");
        fs::create_dir(&abandoned).unwrap();
        fs::write(abandoned.join("lock"), "").unwrap();
        fs::write(abandoned.join("text"), "words").unwrap();
        // Another name; without a lock; a link; another folder.
        fs::create_dir(name("cento-backup")).unwrap();
        fs::write(name("cento-backup").join("lock"), "").unwrap();
        fs::create_dir(name("cento-0123456789abcde0")).unwrap();
        fs::create_dir(name("precious")).unwrap();
        fs::write(name("precious").join("lock"), "").unwrap();
        std::os::unix::fs::symlink(name("precious"), name("cento-0123456789abcde1")).unwrap();
        let living = PrivateFolder::create(temp.path()).unwrap();
        let folder = PrivateFolder::create(temp.path()).unwrap();
        assert!(!abandoned.exists());
        assert!(name("cento-backup").join("lock").exists());
        assert!(name("cento-0123456789abcde0").exists());
        assert!(name("precious").join("lock").exists());
        assert!(living.path().exists() && folder.path().exists());
    }

    #[test]
    fn a_link_and_a_writable_folder_are_not_private() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("work");
        assert!(ensure_private(&path).unwrap());
        assert!(ensure_private(&path).unwrap());
        let link = temp.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(!ensure_private(&link).unwrap());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(!ensure_private(&path).unwrap());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(ensure_private(&path).unwrap());
        std::os::unix::fs::symlink("/etc/passwd", path.join("0000.partial")).unwrap();
        assert!(!ensure_private(&path).unwrap());
    }
}
