//! A file that appears whole or not at all.
//!
//! ```text
//!   report.html                          the place: what was there before stays until the end
//!   .report.html.8f3c0b1d52a9e674.part   what is written, locked by who writes it, renamed when it is whole
//! ```
//!
//! The name aside cannot be guessed and is created exclusively, so no link of a stranger is
//! followed and two processes that write one file do not meet. What a killed process leaves behind
//! has no lock: who writes the same file next removes it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::folder::is_same;
use crate::lock::{free_lock, not_following};
use crate::{live, random_name};

const PART: &str = ".part";
const ATTEMPTS: usize = 16;

/// A file while it is written.
#[derive(Debug)]
pub struct Output {
    target: Target,
    file: File,
    /// Empty once there is nothing to remove.
    aside: PathBuf,
}

#[derive(Debug)]
enum Target {
    /// The file aside takes this name.
    Name(PathBuf),
    /// What is aside is copied to this when it is whole: it is no regular file.
    Device(PathBuf),
    /// The same for standard output.
    Standard,
}

/// Whether a path means standard output.
pub fn is_standard_output(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]
        .iter()
        .any(|name| path == Path::new(name))
}

/// Whether a path means something that is written to and not replaced: standard output, a device or
/// a pipe. It has no place beside it.
pub fn is_stream(path: &Path) -> bool {
    let special = |metadata: fs::Metadata| !metadata.is_file() && !metadata.is_dir();
    is_standard_output(path) || path.metadata().is_ok_and(special)
}

impl Output {
    /// Begins the file that a user named. A link is followed, and the file that it leads to is
    /// replaced; a device, a pipe and standard output (`-`) are written to. A file that must not be
    /// written to is not replaced either.
    pub fn create(path: &Path) -> io::Result<Output> {
        if is_standard_output(path) {
            return Self::elsewhere(Target::Standard);
        }
        let place = match path.symlink_metadata() {
            Ok(metadata) if metadata.is_symlink() => match fs::canonicalize(path) {
                Ok(place) => place,
                // A link to nothing yet: what it leads to is made.
                Err(error) if error.kind() == io::ErrorKind::NotFound => dangling(path)?,
                Err(error) => return Err(error),
            },
            _ => path.to_owned(),
        };
        match place.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(metadata) if !metadata.is_file() => Self::elsewhere(Target::Device(place)),
            Ok(metadata) if metadata.permissions().readonly() => {
                Err(io::ErrorKind::PermissionDenied.into())
            }
            Ok(metadata) => {
                let output = Self::beside(&place)?;
                // A file keeps its permissions, as if it had been written to.
                let _ = output.file.set_permissions(metadata.permissions());
                Ok(output)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::beside(&place),
            Err(error) => Err(error),
        }
    }

    /// Begins a file in a folder of our own, where there is no reason for anything but regular
    /// files: whatever has its name is replaced, and no link is followed.
    pub fn within(path: &Path) -> io::Result<Output> {
        if path.symlink_metadata().is_ok_and(|there| there.is_dir()) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Self::beside(path)
    }

    fn beside(path: &Path) -> io::Result<Output> {
        let Some(name) = path.file_name() else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        sweep(path);
        for _ in 0..ATTEMPTS {
            let mut part = std::ffi::OsString::from(".");
            part.push(name);
            part.push(format!(".{}{PART}", random_name()));
            let aside = path.with_file_name(part);
            live::note(&aside);
            let created = create_new(&aside);
            let file = match created {
                Ok(file) => file,
                Err(error) => {
                    live::forget(&aside);
                    match error.kind() {
                        io::ErrorKind::AlreadyExists => continue,
                        _ => return Err(error),
                    }
                }
            };
            // Where files cannot be locked, nobody takes this one for abandoned.
            let _ = file.try_lock();
            if is_same(&file, &aside) {
                return Ok(Output {
                    target: Target::Name(path.to_owned()),
                    file,
                    aside,
                });
            }
            live::forget(&aside);
        }
        Err(io::Error::other("no file can be made beside it"))
    }

    /// Begins a file that has no name, to be copied when it is whole.
    fn elsewhere(target: Target) -> io::Result<Output> {
        let aside = std::env::temp_dir().join(format!(".cento-{}{PART}", random_name()));
        let file = create_new(&aside)?;
        fs::remove_file(&aside)?;
        Ok(Output {
            target,
            file,
            aside: PathBuf::new(),
        })
    }

    /// The name under which the file is written, by which it can be read before it is finished.
    pub fn aside(&self) -> &Path {
        &self.aside
    }

    /// Gives the file its name, or copies it to what has no name.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()?;
        match &self.target {
            Target::Name(path) => {
                // If somebody has removed the file aside, another one may have its name.
                if !is_same(&self.file, &self.aside) {
                    return Err(io::ErrorKind::NotFound.into());
                }
                fs::rename(&self.aside, path)?;
                live::forget(&self.aside);
                self.aside = PathBuf::new();
                Ok(())
            }
            Target::Device(path) => {
                let mut device = OpenOptions::new().write(true).open(path)?;
                copy_all(&mut self.file, &mut device)
            }
            Target::Standard => {
                let mut out = io::stdout().lock();
                copy_all(&mut self.file, &mut out)
            }
        }
    }

    /// Makes what was written last through a power cut, and then [finishes](Output::finish).
    pub fn finish_synced(self) -> io::Result<()> {
        if matches!(self.target, Target::Name(_)) {
            self.file.sync_all()?;
        }
        self.finish()
    }

    /// Whether what is written ends on a terminal, where people would see bytes that are no text.
    pub fn is_terminal(&self) -> bool {
        matches!(self.target, Target::Standard) && io::stdout().is_terminal()
    }
}

/// Creates a file in a folder of our own in place of whatever has its name, without following a
/// link.
pub fn replace(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    create_new(path)
}

fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    not_following(&mut options).open(path)
}

fn copy_all(from: &mut File, to: &mut impl Write) -> io::Result<()> {
    from.seek(SeekFrom::Start(0))?;
    match io::copy(from, to).and_then(|_| to.flush()) {
        // A reader that has heard enough is no error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome,
    }
}

/// Where a link leads to that leads to nothing.
fn dangling(path: &Path) -> io::Result<PathBuf> {
    let target = fs::read_link(path)?;
    Ok(match path.parent() {
        Some(folder) => folder.join(target),
        None => target,
    })
}

/// Removes what killed processes have left of the same file. Best effort.
fn sweep(path: &Path) {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let (Ok(entries), Some(name)) = (fs::read_dir(folder), path.file_name()) else {
        return;
    };
    let mut begin = std::ffi::OsString::from(".");
    begin.push(name);
    begin.push(".");
    let begin = begin.as_encoded_bytes().to_owned();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let random = name
            .as_encoded_bytes()
            .strip_prefix(begin.as_slice())
            .and_then(|rest| rest.strip_suffix(PART.as_bytes()));
        let ours = random
            .is_some_and(|random| random.len() == 16 && random.iter().all(u8::is_ascii_hexdigit));
        if ours && let Some(_held) = free_lock(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if !self.aside.as_os_str().is_empty() {
            let _ = fs::remove_file(&self.aside);
            live::forget(&self.aside);
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Read for Output {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.file.read(bytes)
    }
}

impl Seek for Output {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_appears_when_it_is_whole_and_an_unfinished_one_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        fs::write(&path, "before").unwrap();
        let mut output = Output::create(&path).unwrap();
        output.write_all(b"after").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"before");
        output.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"after");
        let mut output = Output::create(&path).unwrap();
        output.write_all(b"never").unwrap();
        drop(output);
        assert_eq!(fs::read(&path).unwrap(), b"after");
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[test]
    fn a_device_is_written_to_and_not_replaced() {
        let mut output = Output::create(Path::new("/dev/null")).unwrap();
        output.write_all(b"gone").unwrap();
        output.finish().unwrap();
        let there = Path::new("/dev/null").metadata().unwrap();
        assert!(there.file_type().is_char_device());
    }

    #[test]
    fn a_link_that_a_user_names_stays_and_one_of_a_stranger_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("v2"), folder.path().join("latest"));
        fs::write(&file, "before").unwrap();
        symlink("v2", &link).unwrap();
        let mut output = Output::create(&link).unwrap();
        output.write_all(b"after").unwrap();
        output.finish().unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"after");
        let mut output = Output::within(&link).unwrap();
        output.write_all(b"mine").unwrap();
        output.finish().unwrap();
        assert!(!link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"after");
    }

    #[test]
    fn two_who_write_one_file_do_not_meet() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let mut one = Output::create(&path).unwrap();
        let mut other = Output::create(&path).unwrap();
        one.write_all(b"one").unwrap();
        other.write_all(b"other").unwrap();
        one.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");
        other.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"other");
    }

    #[test]
    fn what_a_killed_process_left_of_the_same_file_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let left = folder.path().join(".a.txt.0123456789abcdef.part");
        fs::write(&left, "half").unwrap();
        let other = folder.path().join(".b.txt.0123456789abcdef.part");
        fs::write(&other, "half").unwrap();
        let living = Output::create(&folder.path().join("a.txt")).unwrap();
        let again = Output::create(&folder.path().join("a.txt")).unwrap();
        assert!(!left.exists() && other.exists());
        living.finish().unwrap();
        again.finish().unwrap();
    }

    #[test]
    fn a_folder_and_a_protected_file_are_refused_and_permissions_stay() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Output::create(folder.path()).is_err());
        let path = folder.path().join("a.txt");
        fs::write(&path, "before").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        Output::create(&path).unwrap().finish().unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
        assert!(Output::create(&path).is_err());
    }
}
