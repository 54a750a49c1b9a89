//! Output files that appear when they are complete.
//!
//! ```text
//!   report.html                          the old content stays until the new file is complete
//!   .report.html.8f3c0b1d52a9e674.part   the new file, locked by its writer, renamed at the end
//! ```
//!
//! The temporary name cannot be guessed and is created exclusively. So no link of another user is
//! followed, and two processes can write the same file. The temporary file of a killed process is
//! not locked any more: the next process that writes the same file removes it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::folder::is_same;
use crate::lock::{free_lock, not_following};
use crate::{cleanup, random_name};

const PART: &str = ".part";
const ATTEMPTS: usize = 16;

/// An output file that is being written.
#[derive(Debug)]
pub struct Output {
    target: OutputTarget,
    file: File,
    /// The path of the temporary file; empty if there is nothing to remove.
    partial: PathBuf,
}

/// What happens to the temporary file when it is complete.
#[derive(Debug)]
enum OutputTarget {
    /// It is renamed to this path.
    Name(PathBuf),
    /// It is copied to this path, which is not a regular file.
    Device(PathBuf),
    /// It is copied to standard output.
    Standard,
}

/// Whether a path means standard output.
pub fn is_standard_output(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]
        .iter()
        .any(|name| path == Path::new(name))
}

/// Whether a path means something that is written to and not replaced: standard output, a device or
/// a pipe.
pub fn is_stream(path: &Path) -> bool {
    let special = |metadata: fs::Metadata| !metadata.is_file() && !metadata.is_dir();
    is_standard_output(path) || path.metadata().is_ok_and(special)
}

impl Output {
    /// Creates an output at a path that the user has named. A link is followed, and its target is
    /// replaced; a device, a pipe and standard output (`-`) are written to. A read-only file is not
    /// replaced.
    pub fn create(path: &Path) -> io::Result<Output> {
        if is_standard_output(path) {
            return Self::unnamed(OutputTarget::Standard);
        }
        let resolved = match path.symlink_metadata() {
            Ok(metadata) if metadata.is_symlink() => match fs::canonicalize(path) {
                Ok(resolved) => resolved,
                // The target of a dangling link is created.
                Err(error) if error.kind() == io::ErrorKind::NotFound => dangling(path)?,
                Err(error) => return Err(error),
            },
            _ => path.to_owned(),
        };
        match resolved.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(metadata) if !metadata.is_file() => Self::unnamed(OutputTarget::Device(resolved)),
            Ok(metadata) if metadata.permissions().readonly() => {
                Err(io::ErrorKind::PermissionDenied.into())
            }
            Ok(metadata) => {
                let output = Self::next_to(&resolved)?;
                // The file keeps its permissions.
                let _ = output.file.set_permissions(metadata.permissions());
                Ok(output)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::next_to(&resolved),
            Err(error) => Err(error),
        }
    }

    /// Creates an output in a folder of cento, which has only regular files. Anything under this
    /// name is replaced, and links are not followed.
    pub fn within(path: &Path) -> io::Result<Output> {
        if path.symlink_metadata().is_ok_and(|there| there.is_dir()) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Self::next_to(path)
    }

    fn next_to(path: &Path) -> io::Result<Output> {
        let Some(name) = path.file_name() else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        sweep(path);
        for _ in 0..ATTEMPTS {
            let mut part = std::ffi::OsString::from(".");
            part.push(name);
            part.push(format!(".{}{PART}", random_name()));
            let partial = path.with_file_name(part);
            cleanup::register(&partial);
            let created = create_new(&partial);
            let file = match created {
                Ok(file) => file,
                Err(error) => {
                    cleanup::unregister(&partial);
                    match error.kind() {
                        io::ErrorKind::AlreadyExists => continue,
                        _ => return Err(error),
                    }
                }
            };
            // On file systems without locks, no process removes the file as abandoned.
            let _ = file.try_lock();
            if is_same(&file, &partial) {
                return Ok(Output {
                    target: OutputTarget::Name(path.to_owned()),
                    file,
                    partial,
                });
            }
            cleanup::unregister(&partial);
        }
        Err(io::Error::other(
            "cannot create a temporary file next to it",
        ))
    }

    /// Creates an unnamed temporary file, which is copied to the target when it is complete.
    fn unnamed(target: OutputTarget) -> io::Result<Output> {
        let partial = std::env::temp_dir().join(format!(".cento-{}{PART}", random_name()));
        let file = create_new(&partial)?;
        fs::remove_file(&partial)?;
        Ok(Output {
            target,
            file,
            partial: PathBuf::new(),
        })
    }

    /// The path of the temporary file, under which it can be read before it is finished.
    pub fn partial_path(&self) -> &Path {
        &self.partial
    }

    /// Renames the file, or copies it to a device or standard output.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()?;
        match &self.target {
            OutputTarget::Name(path) => {
                // If the temporary file was removed, another file may have its name.
                if !is_same(&self.file, &self.partial) {
                    return Err(io::ErrorKind::NotFound.into());
                }
                fs::rename(&self.partial, path)?;
                cleanup::unregister(&self.partial);
                self.partial = PathBuf::new();
                Ok(())
            }
            OutputTarget::Device(path) => {
                let mut device = OpenOptions::new().write(true).open(path)?;
                copy_all(&mut self.file, &mut device)
            }
            OutputTarget::Standard => {
                let mut out = io::stdout().lock();
                copy_all(&mut self.file, &mut out)
            }
        }
    }

    /// Syncs the file to disk, so that it survives a power failure, and [finishes](Output::finish)
    /// it.
    pub fn finish_synced(self) -> io::Result<()> {
        if matches!(self.target, OutputTarget::Name(_)) {
            self.file.sync_all()?;
        }
        self.finish()
    }

    /// Whether the output goes to a terminal, where binary data should not be shown.
    pub fn is_terminal(&self) -> bool {
        matches!(self.target, OutputTarget::Standard) && io::stdout().is_terminal()
    }
}

/// Creates a file in a folder of cento. Anything under this name is replaced, and links are not
/// followed.
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
        // A reader that has closed the pipe is not an error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome,
    }
}

/// Returns the target of a dangling link.
fn dangling(path: &Path) -> io::Result<PathBuf> {
    let target = fs::read_link(path)?;
    Ok(match path.parent() {
        Some(folder) => folder.join(target),
        None => target,
    })
}

/// Removes temporary files of killed processes for the same output. Errors are ignored.
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
        if !self.partial.as_os_str().is_empty() {
            let _ = fs::remove_file(&self.partial);
            cleanup::unregister(&self.partial);
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
    fn a_file_appears_when_it_is_finished_and_an_unfinished_one_is_removed() {
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
    fn create_follows_a_link_and_within_replaces_it() {
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
    fn two_outputs_can_write_the_same_file() {
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
    fn the_temporary_file_of_a_killed_process_is_removed() {
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
    fn folders_and_read_only_files_are_refused_and_permissions_are_kept() {
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
