//! Which files a zip holds, and where.
//!
//! ```text
//!  ┌ local header │ data ┐ ┌ local header │ data ┐ … ┌ directory ────────────┐ ┌ end ──────────────┐
//!  │ a.warc.gz           │ │ b.warc.gz           │   │ name, size, offset; … │ │ where that begins │
//!  └─────────────────────┘ └─────────────────────┘   └───────────────────────┘ └───────────────────┘
//! ```
//! It is read from its end. Nothing in it is believed that the length of the file speaks against: a
//! directory must lie within the file, and everything that it lists before the directory, no two of
//! the files within each other. A file of which that is not so, or that is packed in another way
//! than by deflating, cannot be read; the others can.

use std::io::{self, Read, Seek, SeekFrom};

use crate::bytes::Handle;

/// The largest directory that is read: some hundred thousand files. An archive of the web has a few
/// dozen.
const MAX_DIRECTORY: u64 = 32 << 20;

/// The end of the directory without its comment, and the longest comment.
const END: u64 = 22;
const MAX_COMMENT: u64 = 0xffff;

/// What stands where the 64-bit end of the directory is told.
const LOCATOR: u64 = 20;
const END_64: usize = 56;

/// The parts of a local header and of an entry of the directory whose length is fixed.
const LOCAL: usize = 30;
const LISTED: usize = 46;

/// A file in a zip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: String,
    /// Whether the bytes are deflated; else they are there as they are.
    pub(super) deflated: bool,
    /// The checksum of its bytes, inflated.
    pub(super) crc: u32,
    /// Where its header begins, in the zip.
    header: u64,
    /// Where its bytes begin, in the zip. Of one that cannot be read, where the directory lists it:
    /// a place that is in no other file.
    pub(super) begin: u64,
    /// Where they end.
    pub(super) end: u64,
    /// Why it cannot be read.
    pub(super) problem: Option<String>,
}

impl Entry {
    fn refuse(&mut self, listed: u64, problem: impl Into<String>) {
        (self.begin, self.end) = (listed, listed);
        self.problem = Some(problem.into());
    }
}

/// Why the files of a zip cannot be had.
#[derive(Debug)]
pub(super) enum Problem {
    Io(io::Error),
    /// What is wrong with the zip.
    Damaged(String),
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Problem::Io(error)
    }
}

fn damaged<T>(what: impl Into<String>) -> Result<T, Problem> {
    Err(Problem::Damaged(what.into()))
}

/// The files of a zip whose names `wanted` accepts, by name.
pub(super) fn entries(file: &Handle, wanted: impl Fn(&str) -> bool) -> Result<Vec<Entry>, Problem> {
    let directory = directory(file)?;
    let mut found = Vec::new();
    let mut rest = directory.bytes.as_slice();
    while rest.starts_with(b"PK\x01\x02") {
        let (listed, after) = match Listed::parse(rest) {
            Some(parsed) => parsed,
            None => return damaged("an entry of its directory is cut off"),
        };
        let place = directory.begin + (directory.bytes.len() - rest.len()) as u64;
        rest = after;
        if wanted(&listed.name) {
            // A file may end where the directory begins; behind the mark of its entry, no place is
            // shared.
            found.push((listed.locate(file, directory.begin, place + 4)?, place + 4));
        }
    }
    if !rest.is_empty() && !rest.starts_with(b"PK\x05\x05") {
        return damaged("its directory lists something that is no file");
    }
    // Bytes that several files share would be read as often, and a small zip would become a large
    // one.
    found.sort_by_key(|(entry, listed)| (entry.header, *listed));
    let mut taken = 0;
    for (entry, listed) in &mut found {
        if entry.problem.is_some() {
            continue;
        }
        if entry.header < taken {
            entry.refuse(*listed, "it overlaps with another file");
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

/// Reads the directory, to which the end of the file leads.
fn directory(file: &Handle) -> Result<Directory, Problem> {
    let length = file.length();
    let tail = length.min(END + MAX_COMMENT + LOCATOR);
    let bytes = read_at(file, length - tail, tail)?;
    // The last one whose comment reaches just to the end of the file, else the last one: a comment
    // may hold anything.
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
            "its directory has {size} bytes, more than {MAX_DIRECTORY}"
        ));
    }
    if begin.checked_add(size).is_none_or(|end| end > length) {
        return damaged("its directory does not lie within the file");
    }
    let bytes = read_at(file, begin, size)?;
    if !bytes.is_empty() && !bytes.starts_with(b"PK\x01\x02") {
        return damaged("its directory is not where it should be");
    }
    Ok(Directory { begin, bytes })
}

/// A file as the directory lists it.
struct Listed {
    name: String,
    method: u32,
    encrypted: bool,
    crc: u32,
    packed: u64,
    header: u64,
}

impl Listed {
    /// The first of `bytes`, and the bytes after it.
    fn parse(bytes: &[u8]) -> Option<(Listed, &[u8])> {
        let fixed = bytes.get(..LISTED)?;
        let name_end = LISTED + u16_at(fixed, 28) as usize;
        let extra_end = name_end + u16_at(fixed, 30) as usize;
        let end = extra_end + u16_at(fixed, 32) as usize;
        let mut listed = Listed {
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
                // Only what did not fit above is here, in this order.
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

    /// Finds the bytes of the file, which lie before the directory. `place` is where that lists it.
    fn locate(self, file: &Handle, directory: u64, place: u64) -> Result<Entry, Problem> {
        let mut entry = Entry {
            deflated: self.method == 8,
            crc: self.crc,
            header: self.header,
            begin: 0,
            end: 0,
            problem: None,
            name: self.name,
        };
        if self.encrypted {
            entry.refuse(place, "it is encrypted");
            return Ok(entry);
        }
        if !matches!(self.method, 0 | 8) {
            entry.refuse(place, "it is neither stored nor deflated");
            return Ok(entry);
        }
        let header_end = self.header.checked_add(LOCAL as u64);
        if header_end.is_none_or(|end| end > directory) {
            entry.refuse(place, OUTSIDE);
            return Ok(entry);
        }
        let header = read_at(file, self.header, LOCAL as u64)?;
        if !header.starts_with(b"PK\x03\x04") {
            entry.refuse(place, "it is not where the directory says");
            return Ok(entry);
        }
        // The lengths of name and extra differ between the directory and here.
        let before = LOCAL as u64 + u64::from(u16_at(&header, 26)) + u64::from(u16_at(&header, 28));
        entry.begin = self.header + before;
        match entry.begin.checked_add(self.packed) {
            Some(end) if end <= directory => entry.end = end,
            _ => entry.refuse(place, OUTSIDE),
        }
        Ok(entry)
    }
}

const OUTSIDE: &str = "it does not lie before the directory";

fn read_at(mut file: &Handle, at: u64, length: u64) -> Result<Vec<u8>, Problem> {
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < length {
        return damaged("it grew shorter while it was read");
    }
    Ok(bytes)
}

/// Numbers, lowest byte first. What is not there counts as 0; every caller has made sure that it
/// is.
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
