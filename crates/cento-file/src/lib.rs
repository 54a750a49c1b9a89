//! Writing files so that nothing is lost and nothing is let in. Every crate that writes a file for
//! somebody goes through here.
//!
//! # Brief overview
//!
//! * An [`Output`] is a file that appears whole or not at all: it is written under a name of its
//!   own beside its place and renamed. What is not a regular file (a device, a pipe, standard
//!   output) is written to and never replaced.
//! * A [`PrivateFolder`] holds temporary files: nobody else can look into it, it is removed when it
//!   is dropped, and what a killed process leaves behind is removed by the next one.
//! * [`lock`] takes a lock file without following links.
//! * A [`Checksum`] tells whether a file still is what it was; a [`seal`] does so within a file of
//!   JSON.
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
mod fault;
mod folder;
mod live;
mod lock;
mod output;
mod seal;

pub use checksum::Checksum;
pub use fault::{Fault, bug_hint};
pub use folder::{PrivateFolder, private};
pub use live::clean_up;
pub use lock::{is_locked, lock};
pub use output::{Output, is_standard_output, is_stream, replace};
pub use seal::{Seal, check_seal, seal};

use std::path::Path;

/// What a file is by itself, whatever its name: its device and its number there. None if there is
/// no such file.
pub fn inode(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = path.metadata().ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// Letters that nobody can guess.
fn random_name() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    // The standard library seeds this from the random numbers of the operating system.
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    format!("{:016x}", hasher.finish())
}
