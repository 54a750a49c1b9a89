//! Detects changed files.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::UNIX_EPOCH;

use sha1::{Digest, Sha1};

use super::{Input, Location};

/// Files up to this size are digested completely.
const WHOLE: u64 = 64 << 10;
/// The number of pieces of larger files that are digested, including the first and the last bytes.
const PIECES: u64 = 16;
const PIECE: u64 = 4 << 10;

impl Input {
    /// Sets [`Input::version`] of a file that can be read.
    ///
    /// The version of a file of up to 64 KiB is its digest. Digesting a larger file would take as
    /// long as reading it, so its version consists of the digest of 16 pieces and the time of its
    /// last modification: an edit that keeps the size changes one of the two.
    pub fn identify(&mut self) {
        if let (Location::File(path), None) = (&self.location, &self.version) {
            self.version = version_of(path).ok();
        }
    }
}

fn version_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    let length = metadata.len();
    let mut digest = Sha1::new();
    let mut piece = Vec::new();
    if length <= WHOLE {
        file.take(WHOLE + 1).read_to_end(&mut piece)?;
        digest.update(&piece);
        return Ok(format!("sha1:{}", hex(digest)));
    }
    for number in 0..PIECES {
        // The last piece ends at the end of the file.
        let begin = (length - PIECE) / (PIECES - 1) * number;
        let begin = if number == PIECES - 1 {
            length - PIECE
        } else {
            begin
        };
        file.seek(SeekFrom::Start(begin))?;
        piece.clear();
        (&file).take(PIECE).read_to_end(&mut piece)?;
        digest.update(&piece);
    }
    let modified = metadata.modified()?;
    let modified = match modified.duration_since(UNIX_EPOCH) {
        Ok(since) => format!("{}.{:09}", since.as_secs(), since.subsec_nanos()),
        Err(before) => format!("-{:?}", before.duration()),
    };
    Ok(format!("sampled-sha1:{} modified:{modified}", hex(digest)))
}

fn hex(digest: Sha1) -> String {
    let bytes = digest.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, FileTimes};
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn an_edit_of_the_same_size_changes_the_version() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let version = || version_of(&path).unwrap();
        for size in [0, 1, 65_536, 65_537, 1_000_000] {
            fs::write(&path, vec![b'a'; size]).unwrap();
            let before = version();
            assert_eq!(before, version());
            if size > 0 {
                let mut edited = vec![b'a'; size];
                edited[size - 1] = b'b';
                fs::write(&path, edited).unwrap();
                assert_ne!(before, version(), "{size}");
            }
        }
        // In a large file, an edit outside the pieces changes the time.
        let mut large = vec![b'a'; 1_000_000];
        fs::write(&path, &large).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
        let set = |time| {
            let file = File::options().write(true).open(&path).unwrap();
            file.set_times(FileTimes::new().set_modified(time)).unwrap();
        };
        set(time);
        let before = version();
        large[10_000] = b'b';
        fs::write(&path, &large).unwrap();
        assert_ne!(before, version());
        // A new copy of a small file has the same version.
        fs::write(&path, "small").unwrap();
        let before = version();
        set(time);
        assert_eq!(before, version());
    }
}
