//! The directory of a zip.
//!
//! ```text
//!  ┌ header │ data ┐ ┌ header │ data ┐ … ┌ directory ────────────┐ ┌ end ───────────────────┐
//!  │ a.warc.gz     │ │ b.warc.gz     │   │ name, size, offset; … │ │ offset of the directory│
//!  └───────────────┘ └───────────────┘   └───────────────────────┘ └────────────────────────┘
//! ```
//! A zip is read from its end, and all offsets are checked: the directory must be within the zip,
//! and the files before the directory, without overlaps. A file that violates this, or has another
//! compression method than deflate, is not read; the others are.

use std::io::{self, Read, Seek, SeekFrom};

use crate::bytes::Handle;

/// The largest directory: some hundred thousand files. A WACZ has a few dozen.
const MAX_DIRECTORY: u64 = 32 << 20;

/// The end of the directory without its comment, and the longest comment.
const END: u64 = 22;
const MAX_COMMENT: u64 = 0xffff;

/// The sizes of the zip64 locator and of the zip64 end of the directory.
const LOCATOR: u64 = 20;
const END_64: usize = 56;

/// The sizes of the fixed parts of a local header and of a directory entry.
const LOCAL: usize = 30;
const LISTED: usize = 46;

/// A file in a zip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ZipEntry {
    pub(super) name: String,
    /// Whether the bytes are deflated; otherwise they are stored.
    pub(super) deflated: bool,
    /// The checksum of the inflated bytes.
    pub(super) crc: u32,
    /// The offset of the header in the zip.
    header: u64,
    /// The offset of the bytes in the zip. For a file that cannot be read, the offset of its
    /// directory entry, which is within no other file.
    pub(super) begin: u64,
    /// The end of the bytes in the zip.
    pub(super) end: u64,
    /// Why the file cannot be read.
    pub(super) problem: Option<String>,
}

impl ZipEntry {
    fn reject(&mut self, listed: u64, problem: impl Into<String>) {
        (self.begin, self.end) = (listed, listed);
        self.problem = Some(problem.into());
    }
}

/// Why the directory of a zip cannot be read.
#[derive(Debug)]
pub(super) enum ZipError {
    Io(io::Error),
    /// What is wrong with the zip.
    Damaged(String),
}

impl From<io::Error> for ZipError {
    fn from(error: io::Error) -> Self {
        ZipError::Io(error)
    }
}

fn damaged<T>(what: impl Into<String>) -> Result<T, ZipError> {
    Err(ZipError::Damaged(what.into()))
}

/// The files of a zip whose names `wanted` accepts, sorted by name.
pub(super) fn entries(
    file: &Handle,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<ZipEntry>, ZipError> {
    let directory = directory(file)?;
    let mut found = Vec::new();
    let mut rest = directory.bytes.as_slice();
    while rest.starts_with(b"PK\x01\x02") {
        let (listed, after) = match DirectoryEntry::parse(rest) {
            Some(parsed) => parsed,
            None => return damaged("an entry of its directory is truncated"),
        };
        let place = directory.begin + (directory.bytes.len() - rest.len()) as u64;
        rest = after;
        if wanted(&listed.name) {
            // A file may end where the directory begins, so the offset is that after the signature
            // of the entry, which is within no file.
            found.push((listed.locate(file, directory.begin, place + 4)?, place + 4));
        }
    }
    if !rest.is_empty() && !rest.starts_with(b"PK\x05\x05") {
        return damaged("its directory contains an invalid entry");
    }
    // Bytes that several files share would be read several times: a small zip would become large.
    found.sort_by_key(|(entry, listed)| (entry.header, *listed));
    let mut taken = 0;
    for (entry, listed) in &mut found {
        if entry.problem.is_some() {
            continue;
        }
        if entry.header < taken {
            entry.reject(*listed, "it overlaps with another file");
        } else {
            taken = entry.end;
        }
    }
    let mut found: Vec<_> = found.into_iter().map(|(entry, _)| entry).collect();
    found.sort_by(|a, b| (&a.name, a.begin).cmp(&(&b.name, b.begin)));
    Ok(found)
}

struct Directory {
    begin: u64,
    bytes: Vec<u8>,
}

/// Reads the directory, whose offset is at the end of the zip.
fn directory(file: &Handle) -> Result<Directory, ZipError> {
    let length = file.length();
    let tail = length.min(END + MAX_COMMENT + LOCATOR);
    let bytes = read_at(file, length - tail, tail)?;
    // The last signature whose comment extends exactly to the end of the file, otherwise the last
    // signature: a comment may contain anything.
    let ends = || {
        memchr::memmem::rfind_iter(&bytes, b"PK\x05\x06")
            .filter(|&at| bytes.len() - at >= END as usize)
    };
    let Some(at) = ends()
        .find(|&at| at + END as usize + u16_at(&bytes, at + 20) as usize == bytes.len())
        .or_else(|| ends().next())
    else {
        return damaged("the directory at its end is missing");
    };
    let mut size = u64::from(u32_at(&bytes, at + 12));
    let mut begin = u64::from(u32_at(&bytes, at + 16));
    if (size == u64::from(u32::MAX) || begin == u64::from(u32::MAX))
        && let Some(locator) = at.checked_sub(LOCATOR as usize)
        && bytes[locator..].starts_with(b"PK\x06\x07")
    {
        let place = u64_at(&bytes, locator + 8);
        if place
            .checked_add(END_64 as u64)
            .is_none_or(|end| end > length)
        {
            return damaged("the end of its directory is not where it should be");
        }
        let end = read_at(file, place, END_64 as u64)?;
        if !end.starts_with(b"PK\x06\x06") {
            return damaged("the end of its directory is not where it should be");
        }
        size = u64_at(&end, 40);
        begin = u64_at(&end, 48);
    }
    if size > MAX_DIRECTORY {
        return damaged(format!(
            "its directory has {size} bytes, the limit is {MAX_DIRECTORY}"
        ));
    }
    if begin.checked_add(size).is_none_or(|end| end > length) {
        return damaged("its directory extends beyond the file");
    }
    let bytes = read_at(file, begin, size)?;
    if !bytes.is_empty() && !bytes.starts_with(b"PK\x01\x02") {
        return damaged("its directory is not where it should be");
    }
    Ok(Directory { begin, bytes })
}

/// An entry of the directory.
struct DirectoryEntry {
    name: String,
    method: u32,
    encrypted: bool,
    crc: u32,
    packed: u64,
    header: u64,
}

impl DirectoryEntry {
    /// Parses the entry at the beginning of `bytes`. Also returns the bytes after it.
    fn parse(bytes: &[u8]) -> Option<(DirectoryEntry, &[u8])> {
        let fixed = bytes.get(..LISTED)?;
        let name_end = LISTED + u16_at(fixed, 28) as usize;
        let extra_end = name_end + u16_at(fixed, 30) as usize;
        let end = extra_end + u16_at(fixed, 32) as usize;
        let mut listed = DirectoryEntry {
            name: String::from_utf8_lossy(bytes.get(LISTED..name_end)?).into_owned(),
            method: u16_at(fixed, 10),
            encrypted: u16_at(fixed, 8) & 1 == 1,
            crc: u32_at(fixed, 16),
            packed: u64::from(u32_at(fixed, 20)),
            header: u64::from(u32_at(fixed, 42)),
        };
        let unpacked = u64::from(u32_at(fixed, 24));
        let mut extra = bytes.get(name_end..extra_end)?;
        while extra.len() >= 4 {
            let (kind, length) = (u16_at(extra, 0), u16_at(extra, 2) as usize);
            let field = extra.get(4..4 + length)?;
            extra = &extra[4 + length..];
            if kind == 1 {
                // Contains only the values that do not fit above, in this order.
                let mut numbers = field.chunks_exact(8).map(|bytes| u64_at(bytes, 0));
                if unpacked == u64::from(u32::MAX) {
                    numbers.next();
                }
                for number in [&mut listed.packed, &mut listed.header] {
                    if *number == u64::from(u32::MAX) {
                        *number = numbers.next()?;
                    }
                }
            }
        }
        Some((listed, bytes.get(end..)?))
    }

    /// Finds the bytes of the file, which must be before the directory. `place` is the offset of
    /// its entry.
    fn locate(self, file: &Handle, directory: u64, place: u64) -> Result<ZipEntry, ZipError> {
        let mut entry = ZipEntry {
            deflated: self.method == 8,
            crc: self.crc,
            header: self.header,
            begin: 0,
            end: 0,
            problem: None,
            name: self.name,
        };
        if self.encrypted {
            entry.reject(place, "it is encrypted");
            return Ok(entry);
        }
        if !matches!(self.method, 0 | 8) {
            entry.reject(place, "it is neither stored nor deflated");
            return Ok(entry);
        }
        let header_end = self.header.checked_add(LOCAL as u64);
        if header_end.is_none_or(|end| end > directory) {
            entry.reject(place, OUTSIDE);
            return Ok(entry);
        }
        let header = read_at(file, self.header, LOCAL as u64)?;
        if !header.starts_with(b"PK\x03\x04") {
            entry.reject(place, "it is not where the directory says");
            return Ok(entry);
        }
        // The lengths of name and extra field may differ from those in the directory.
        let before = LOCAL as u64 + u64::from(u16_at(&header, 26)) + u64::from(u16_at(&header, 28));
        entry.begin = self.header + before;
        match entry.begin.checked_add(self.packed) {
            Some(end) if end <= directory => entry.end = end,
            _ => entry.reject(place, OUTSIDE),
        }
        Ok(entry)
    }
}

const OUTSIDE: &str = "it is not before the directory";

fn read_at(mut file: &Handle, at: u64, length: u64) -> Result<Vec<u8>, ZipError> {
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < length {
        return damaged("it was truncated while it was read");
    }
    Ok(bytes)
}

/// A little-endian number. Missing bytes count as 0; all callers have checked the length.
fn number_at(bytes: &[u8], at: usize, width: usize) -> u64 {
    let bytes = bytes.get(at..at + width).unwrap_or_default();
    bytes
        .iter()
        .rev()
        .fold(0, |number, &byte| number << 8 | u64::from(byte))
}

fn u16_at(bytes: &[u8], at: usize) -> u32 {
    number_at(bytes, at, 2) as u32
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    number_at(bytes, at, 4) as u32
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    number_at(bytes, at, 8)
}
