//! Opening and searching label files.

use std::path::{Path, PathBuf};

use cento_file::{Checksum, MappedFile};

use crate::error::{Error, Result};
use crate::filter::{bucket, key, may_contain};
use crate::header::{FileSection, LabelsHeader};
use crate::write::with_suffix;

/// An open label file, of which only the parts that are used are in memory.
///
/// Opening checks only the header, and [`Labels::verify`] checks the rest. Lookups in a corrupted
/// file give wrong answers but are memory-safe.
pub struct Labels {
    path: PathBuf,
    header: LabelsHeader,
    map: MappedFile,
    /// The start of the stop chunks with the same first bits. Computed when the file is opened,
    /// because there are few.
    stop_begins: Vec<u32>,
    stop_bits: u32,
}

fn failed(path: &Path, error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::InvalidInput => Error::NotLabels(path.to_owned()),
        _ => Error::io(path, error),
    }
}

impl Labels {
    /// Opens a label file.
    pub fn open(path: &Path) -> Result<Labels> {
        Labels::of(
            path,
            MappedFile::open(path).map_err(|error| failed(path, error))?,
        )
    }

    /// Reads a label file into memory, for a long-running process: another program that overwrites
    /// the file in place, as `cp` does, cannot affect it. Opening needs as much memory as the file
    /// has bytes.
    pub fn load(path: &Path) -> Result<Labels> {
        Labels::of(
            path,
            MappedFile::copy(path).map_err(|error| failed(path, error))?,
        )
    }

    fn of(path: &Path, map: MappedFile) -> Result<Labels> {
        let mut labels = Labels {
            path: path.to_owned(),
            header: LabelsHeader::decode(map.bytes(), path)?,
            map,
            stop_begins: Vec::new(),
            stop_bits: 0,
        };
        labels.stop_bits = labels.header.stops.max(1).ilog2().min(20) + 1;
        let mut begins = Vec::with_capacity((1 << labels.stop_bits) + 1);
        for (at, stop) in labels.stops().iter().enumerate() {
            let bucket = bucket(stop, labels.stop_bits);
            while begins.len() as u64 <= bucket {
                begins.push(u32::try_from(at).unwrap_or(u32::MAX));
            }
        }
        let all = u32::try_from(labels.header.stops).unwrap_or(u32::MAX);
        begins.resize((1 << labels.stop_bits) + 1, all);
        labels.stop_begins = begins;
        Ok(labels)
    }

    /// Verifies all checksums, and that the hashes are sorted.
    pub fn verify(&self) -> Result<()> {
        let corrupted = |detail: &str| Err(Error::corrupted(&self.path, detail));
        for (name, section) in [
            ("the labels", &self.header.hashes),
            ("the stops", &self.header.stop_hashes),
            ("the index", &self.header.index),
            ("the filter", &self.header.filter),
        ] {
            let hash = blake3::hash(self.section(section));
            if hash.to_hex().as_str() != section.blake3 {
                return corrupted(&format!("the checksum of {name} does not match"));
            }
        }
        for section in [&self.header.hashes, &self.header.stop_hashes] {
            if !hashes(self.section(section)).is_sorted_by(|one, other| one < other) {
                return corrupted("its hashes are not sorted");
            }
        }
        Ok(())
    }

    /// Verifies the checksums of the sidecar files that exist.
    pub fn verify_sidecars(&self) -> Result<()> {
        for sidecar in &self.header.sidecars {
            let path = with_suffix(&self.path, &sidecar.ending);
            if !path.is_file() {
                continue;
            }
            let found = Checksum::of(&path).map_err(|error| Error::io(&path, error))?;
            if (found.bytes, &found.blake3) != (sidecar.bytes, &sidecar.blake3) {
                let labels = self.path.clone();
                return Err(Error::SidecarMismatch { path, labels });
            }
        }
        Ok(())
    }

    /// Fails if a sidecar file with one of these suffixes was written with the labels and does not
    /// exist.
    pub fn check_sidecars_exist(&self, endings: &[&str]) -> Result<()> {
        let mut sidecars = self.header.sidecars.iter();
        let missing = sidecars.find_map(|sidecar| {
            let path = with_suffix(&self.path, &sidecar.ending);
            let is_missing = endings.contains(&sidecar.ending.as_str()) && !path.is_file();
            is_missing.then_some(path)
        });
        match missing {
            Some(path) => Err(Error::SidecarMissing {
                path,
                labels: self.path.clone(),
            }),
            None => Ok(()),
        }
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The header of the file.
    pub fn header(&self) -> &LabelsHeader {
        &self.header
    }

    /// The number of labels.
    pub fn len(&self) -> u64 {
        self.header.labels
    }

    /// Whether there are no labels.
    pub fn is_empty(&self) -> bool {
        self.header.labels == 0
    }

    /// Returns the number of the label with this hash, in the order of hashes.
    #[inline]
    pub fn find(&self, hash: &[u8; 16]) -> Option<u64> {
        let filter = self.section(&self.header.filter);
        if !may_contain(filter, self.header.shard_bits, key(hash)) {
            return None;
        }
        let entry = 4 * bucket(hash, self.header.index_bits) as usize;
        let index = self.section(&self.header.index);
        let bounds: &[u8; 8] = index.get(entry..)?.first_chunk()?;
        let (begin, end) = bounds.split_at(4);
        let number = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_le_bytes) as usize;
        let (begin, end) = (number(begin), number(end));
        let near = hashes(self.section(&self.header.hashes)).get(begin..end)?;
        search(near, hash).map(|at| (begin + at) as u64)
    }

    /// Whether this is the hash of a stop chunk.
    #[inline]
    pub fn is_stop(&self, hash: &[u8; 16]) -> bool {
        let bucket = bucket(hash, self.stop_bits) as usize;
        let bounds = self
            .stop_begins
            .get(bucket..)
            .and_then(<[u32]>::first_chunk);
        let Some(&[begin, end]) = bounds else {
            return false;
        };
        let stops = hashes(self.section(&self.header.stop_hashes));
        let near = stops.get(begin as usize..end as usize);
        near.is_some_and(|near| near.contains(hash))
    }

    /// Returns the label with a number.
    pub fn get(&self, number: u64) -> Option<[u8; 16]> {
        let all = hashes(self.section(&self.header.hashes));
        all.get(usize::try_from(number).ok()?).copied()
    }

    /// All labels, sorted.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = [u8; 16]> + '_ {
        hashes(self.section(&self.header.hashes)).iter().copied()
    }

    /// The hashes of all stop chunks, sorted.
    pub fn stops(&self) -> &[[u8; 16]] {
        hashes(self.section(&self.header.stop_hashes))
    }

    /// Returns the bytes of a section. Opening has checked that it is in the file.
    #[inline]
    fn section(&self, section: &FileSection) -> &[u8] {
        let begin = section.offset as usize;
        let end = begin.saturating_add(section.length as usize);
        self.map.bytes().get(begin..end).unwrap_or_default()
    }
}

impl std::fmt::Debug for Labels {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Labels")
            .field("path", &self.path)
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

#[inline]
fn hashes(bytes: &[u8]) -> &[[u8; 16]] {
    bytes.as_chunks().0
}

/// Finds a hash among sorted hashes with the same first bits. There are usually few, and a linear
/// search is fastest. Many of them, made by an attacker, are searched by bisection.
#[inline]
fn search(near: &[[u8; 16]], hash: &[u8; 16]) -> Option<usize> {
    const FEW: usize = 64;
    if near.len() > FEW {
        return near.binary_search(hash).ok();
    }
    near.iter().position(|other| other == hash)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::{LabelsWriter, Recipe};

    fn file_of(path: &Path, all: &[[u8; 16]], stops: &[[u8; 16]]) -> Labels {
        let mut writer = LabelsWriter::create(path, Recipe::default(), all.len() as u64).unwrap();
        for &hash in all {
            writer.push(hash).unwrap();
        }
        writer.finish(stops, json!({ "how": "by hand" })).unwrap();
        Labels::open(path).unwrap()
    }

    fn hash(number: u64) -> [u8; 16] {
        cento_fingerprint::ChunkHash::Blake3.hash128(&number.to_le_bytes())
    }

    proptest! {
        #[test]
        fn labels_are_a_set(
            numbers in proptest::collection::btree_set(0u64..400, 0..300),
            close in proptest::collection::btree_set(any::<u8>(), 0..50),
        ) {
            // Hashes that are not evenly distributed are found as well.
            let mut all: Vec<[u8; 16]> = numbers.iter().map(|&number| hash(number)).collect();
            all.extend(close.iter().map(|&byte| { let mut hash = [0x33; 16]; hash[15] = byte; hash }));
            all.sort_unstable();
            let folder = tempfile::tempdir().unwrap();
            let labels = file_of(&folder.path().join("a.labels"), &all, &[]);
            labels.verify().unwrap();
            prop_assert_eq!(labels.iter().collect::<Vec<_>>(), all.clone());
            for number in 0..400 {
                let expected = all.binary_search(&hash(number)).ok();
                prop_assert_eq!(labels.find(&hash(number)), expected.map(|at| at as u64));
            }
            for (at, hash) in all.iter().enumerate() {
                prop_assert_eq!(labels.find(hash), Some(at as u64));
                prop_assert_eq!(labels.get(at as u64), Some(*hash));
            }
        }

        #[test]
        fn a_search_agrees_with_binary_search(all in proptest::collection::btree_set(any::<[u8; 16]>(), 0..150), other: [u8; 16]) {
            let all: Vec<[u8; 16]> = all.into_iter().collect();
            for hash in all.iter().chain([&other, &[0; 16], &[255; 16]]) {
                prop_assert_eq!(search(&all, hash), all.binary_search(hash).ok());
            }
        }

        #[test]
        fn a_change_of_any_byte_is_detected_and_does_not_panic(at in 0usize..10_000, byte in 1u8..) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.labels");
            let mut all: Vec<[u8; 16]> = (0..60).map(hash).collect();
            all.sort_unstable();
            drop(file_of(&path, &all, &[hash(100)]));
            let mut bytes = fs::read(&path).unwrap();
            // The padding of the header is not read.
            let used = 48 + u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
            let at = at % bytes.len();
            prop_assume!(at < used || at >= 8192);
            bytes[at] ^= byte;
            fs::write(&path, &bytes).unwrap();
            if let Ok(labels) = Labels::open(&path) {
                for number in 0..200 {
                    labels.find(&hash(number));
                    labels.is_stop(&hash(number));
                }
                prop_assert!(labels.verify().is_err());
            }
        }

        #[test]
        fn a_truncated_file_is_refused(length in 0usize..9000) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.labels");
            drop(file_of(&path, &[hash(1)], &[hash(2), hash(3)]));
            let bytes = fs::read(&path).unwrap();
            prop_assume!(length < bytes.len());
            fs::write(&path, &bytes[..length]).unwrap();
            prop_assert!(Labels::open(&path).is_err());
        }
    }

    #[test]
    fn invalid_headers_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.labels");
        drop(file_of(&path, &[hash(1)], &[]));
        let good = fs::read(&path).unwrap();
        let mut newer = good.clone();
        newer[8] = 9;
        fs::write(&path, &newer).unwrap();
        let error = Labels::open(&path).unwrap_err();
        assert!(matches!(error, Error::TooNew { found: 9, .. }));
        assert!(error.hint().is_some());
        for bytes in [&b""[..], b"hello", &good[..8], &[0; 9000]] {
            fs::write(&path, bytes).unwrap();
            assert!(Labels::open(&path).is_err());
        }
        // A header with a valid checksum and counts that exceed the file.
        let mut header = LabelsHeader::decode(&good, &path).unwrap();
        header.labels = u64::MAX / 8;
        header.hashes.length = u64::MAX - 4;
        let mut bytes = header.encode();
        bytes.extend(&good[8192..]);
        fs::write(&path, bytes).unwrap();
        assert!(matches!(Labels::open(&path), Err(Error::Corrupted { .. })));
    }

    #[test]
    fn an_unfinished_file_is_removed_and_the_old_one_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.labels");
        drop(file_of(&path, &[hash(1)], &[]));
        let mut writer = LabelsWriter::create(&path, Recipe::default(), 2).unwrap();
        writer.push([9; 16]).unwrap();
        assert!(matches!(writer.push([1; 16]), Err(Error::NotSorted)));
        drop(writer);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(Labels::open(&path).unwrap().get(0), Some(hash(1)));
    }

    #[test]
    fn stops_are_found_and_notes_are_kept_unless_they_are_too_long() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.labels");
        let labels = file_of(&path, &[hash(1)], &[hash(5), hash(4), hash(5)]);
        assert_eq!(labels.stops().len(), 2);
        assert!(labels.is_stop(&hash(4)) && !labels.is_stop(&hash(1)));
        assert_eq!(labels.header().made, json!({ "how": "by hand" }));
        let writer = LabelsWriter::create(&path, Recipe::default(), 0).unwrap();
        writer.finish(&[], json!("x".repeat(100_000))).unwrap();
        assert!(Labels::open(&path).unwrap().is_empty());
    }
}
