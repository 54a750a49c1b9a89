//! Atomic output files, private temporary folders, lock files, checksums, and large tables in
//! memory. All crates of cento that write files use this one.
//!
//! # Brief overview
//!
//! * An [`Output`] is a file that appears when it is complete: it is written under a temporary name
//!   and renamed. Anything that is not a regular file (a device, a pipe, standard output) is
//!   written to and never replaced.
//! * A [`PrivateFolder`] is for temporary files: other users cannot read it, it is removed when it
//!   is dropped, and the folder of a killed process is removed by the next one.
//! * [`lock`] locks a file without following links.
//! * A [`MappedFile`] is read as if it were in memory.
//! * [`vec_in_huge_pages`] is for large tables that are read at random places.
//! * A [`Checksum`] detects changes of a file; [`seal`] adds a checksum to a JSON document.
//!
//! ```
//! use std::io::Write;
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("urls.txt");
//! let mut output = cento_file::Output::create(&path)?;
//! output.write_all(b"http://a.example/\n")?;
//! assert!(!path.exists());
//! output.finish()?;
//! assert_eq!(std::fs::read(&path)?, b"http://a.example/\n");
//! # Ok::<(), std::io::Error>(())
//! ```

mod checksum;
mod cleanup;
mod csv;
mod fault;
mod folder;
mod huge_pages;
mod lock;
mod mapped_file;
mod output;
mod seal;

pub use checksum::Checksum;
pub use cleanup::clean_up;
pub use csv::CsvRecords;
pub use fault::{Fault, bug_hint};
pub use folder::{PrivateFolder, ensure_private, is_in_private_folder};
pub use huge_pages::vec_in_huge_pages;
pub use lock::{Lock, is_locked, lock};
pub use mapped_file::MappedFile;
pub use output::{Output, is_standard_output, is_stream, replace};
pub use seal::{Seal, check_seal, seal};

use std::path::Path;

/// Returns the device and inode numbers of a file, which identify it under any name. `None` if the
/// file does not exist.
pub fn inode(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = path.metadata().ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// Returns 16 hexadecimal digits that cannot be guessed.
pub fn random_name() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    // The standard library seeds this with random numbers of the operating system.
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    format!("{:016x}", hasher.finish())
}
