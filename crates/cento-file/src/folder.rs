//! Folders for temporary files.
//!
//! ```text
//! TEMP/cento-8f3c0b1d52a9e674/    mode 0700, a name that nobody can guess
//!   lock                          held as long as its process lives
//!   …                             whatever its owner puts there
//! ```
//!
//! A folder belongs to the process that holds its lock. Process numbers would not do: they are used
//! again, and two containers that share a folder have the same ones. The system lets go of a lock
//! when its process ends, however it ends; so a folder whose lock is free is nobody's, and the next
//! process that needs such a folder removes it.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::lock::{free_lock, lock};
use crate::{live, random_name};

const PREFIX: &str = "cento-";
const LOCK: &str = "lock";
/// How often a name is drawn: it clashes with nothing unless somebody removes what we make.
const ATTEMPTS: usize = 16;

/// A folder that only this user can look into, and that is removed with all that is in it when this
/// is dropped.
#[derive(Debug)]
pub struct PrivateFolder {
    path: PathBuf,
    lock: Option<File>,
}

impl PrivateFolder {
    /// Makes a folder below `temp`, which is made too if it is not there. Removes what processes
    /// that were killed have left.
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
            live::note(&path);
            // Another process may take the folder for abandoned until its lock is held; then there
            // is another one.
            let failed = match lock(&path.join(LOCK)) {
                Ok(Some(held)) if is_same(&held, &path.join(LOCK)) => {
                    return Ok(PrivateFolder {
                        path,
                        lock: Some(held),
                    });
                }
                Ok(_) => None,
                Err(error) => Some(error).filter(|error| error.kind() != io::ErrorKind::NotFound),
            };
            let _ = fs::remove_dir_all(&path);
            live::forget(&path);
            if let Some(error) = failed {
                return Err(error);
            }
        }
        Err(io::Error::other(
            "no folder for temporary files can be made",
        ))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // Whatever is left of it is removed by the next process. The lock goes last.
        let _ = fs::remove_dir_all(&self.path);
        live::forget(&self.path);
        drop(self.lock.take());
    }
}

/// Makes a folder that is private, or makes sure that it is one: a folder, not a link to one, that
/// belongs to this user, that nobody else can write to, and in which there are regular files alone,
/// so that nothing in it leads elsewhere. False if it is something else.
pub fn private(path: &Path) -> io::Result<bool> {
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

/// Whether an open file is still the one of this name.
pub(crate) fn is_same(file: &File, path: &Path) -> bool {
    let Ok((open, named)) = file
        .metadata()
        .and_then(|open| Ok((open, path.symlink_metadata()?)))
    else {
        return false;
    };
    (open.dev(), open.ino()) == (named.dev(), named.ino())
}

/// Removes private folders of this user whose lock nobody holds. Best effort.
fn sweep(temp: &Path) {
    let Ok(entries) = fs::read_dir(temp) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(random) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else {
            continue;
        };
        let ours = random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit());
        // Of the entry itself, not of what a link leads to.
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
    fn a_private_folder_is_closed_to_others_and_goes_with_its_owner() {
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
    fn what_a_killed_process_left_is_removed_and_nothing_else_is() {
        let temp = tempfile::tempdir().unwrap();
        let name = |name: &str| temp.path().join(name);
        let abandoned = name("cento-0123456789abcdef");
        fs::create_dir(&abandoned).unwrap();
        fs::write(abandoned.join("lock"), "").unwrap();
        fs::write(abandoned.join("text"), "words").unwrap();
        // Not made by us; without a lock; a link; somebody's work.
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
    fn a_link_or_an_open_folder_is_not_private() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("work");
        assert!(private(&path).unwrap());
        assert!(private(&path).unwrap());
        let link = temp.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(!private(&link).unwrap());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(!private(&path).unwrap());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(private(&path).unwrap());
        std::os::unix::fs::symlink("/etc/passwd", path.join("0000.aside")).unwrap();
        assert!(!private(&path).unwrap());
    }
}
