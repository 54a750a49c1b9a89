//! Which files a zip holds, and where.
//!
//! ```text
//!  ┌ local header │ data ┐ ┌ local header │ data ┐ … ┌ directory ────────────┐ ┌ end ──────────────┐
//!  │ a.warc.gz           │ │ b.warc.gz           │   │ name, size, offset; … │ │ where that begins │
//!  └─────────────────────┘ └─────────────────────┘   └───────────────────────┘ └───────────────────┘
//! ```
//! It is read from its end. Nothing in it is believed that the length of the file speaks against: a directory and
//! everything that it lists must lie within the file, and no two of the files within each other.

use std::io::{self, Read, Seek, SeekFrom};

use crate::bytes::Handle;

/// The largest directory that is read: some hundred thousand files. An archive of the web has a few dozen.
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
    /// Where its header begins, in the zip.
    header: u64,
    /// Where its bytes begin, in the zip.
    pub(super) begin: u64,
    /// Where they end.
    pub(super) end: u64,
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
        rest = after;
        if wanted(&listed.name) {
            found.push(listed.locate(file, directory.begin)?);
        }
    }
    if !rest.is_empty() && !rest.starts_with(b"PK\x05\x05") {
        return damaged("its directory lists something that is no file");
    }
    found.sort_by(|a, b| (&a.name, a.begin).cmp(&(&b.name, b.begin)));
    let mut places: Vec<_> = found
        .iter()
        .map(|entry| (entry.header, entry.end))
        .collect();
    places.sort_unstable();
    if places.windows(2).any(|pair| pair[0].1 > pair[1].0) {
        return damaged("two of its files overlap");
    }
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
    // The last one whose comment reaches just to the end of the file, else the last one: a comment may hold anything.
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

    /// Finds the bytes of the file, which lie before the directory.
    fn locate(self, file: &Handle, directory: u64) -> Result<Entry, Problem> {
        let name = self.name;
        let shown = name.escape_debug();
        if self.encrypted || !matches!(self.method, 0 | 8) {
            return damaged(format!("{shown} is neither stored nor deflated"));
        }
        let outside = || Problem::Damaged(format!("{shown} does not lie before its directory"));
        let header_end = self.header.checked_add(LOCAL as u64);
        if header_end.is_none_or(|end| end > directory) {
            return Err(outside());
        }
        let header = read_at(file, self.header, LOCAL as u64)?;
        if !header.starts_with(b"PK\x03\x04") {
            return damaged(format!("{shown} is not where its directory says"));
        }
        // The lengths of name and extra differ between the directory and here.
        let before = LOCAL as u64 + u64::from(u16_at(&header, 26)) + u64::from(u16_at(&header, 28));
        let begin = self.header + before;
        let end = begin
            .checked_add(self.packed)
            .filter(|&end| end <= directory)
            .ok_or_else(outside)?;
        Ok(Entry {
            deflated: self.method == 8,
            header: self.header,
            name,
            begin,
            end,
        })
    }
}

fn read_at(mut file: &Handle, at: u64, length: u64) -> Result<Vec<u8>, Problem> {
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < length {
        return damaged("it grew shorter while it was read");
    }
    Ok(bytes)
}

/// Numbers, lowest byte first. What is not there counts as 0; every caller has made sure that it is.
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
