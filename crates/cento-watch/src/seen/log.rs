//! The file of seen pages.
//!
//! ```text
//!   0                                  512
//!   ┌───────┬─────────┬────────┬───────┬────────┬────────┬─ ─ ─
//!   │ magic │ version │ length │ …JSON │ record │ record │
//!   └───────┴─────────┴────────┴───────┴────────┴────────┴─ ─ ─
//!   record:  mark (4)  length (4)  checksum (8)  content, padded to a multiple of 8
//!   content: flags (1)  SHA-1 (20)  text hash (16)  [84 minima of 4 bytes]  URL
//! ```
//!
//! All numbers are little-endian. The checksum is the first 8 bytes of the BLAKE3 hash of the
//! content. Records begin at multiples of 8, so that the record after a damaged one is found.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::MINIMA;
use crate::error::{Error, Result};

const MAGIC: [u8; 8] = *b"CENTOSEE";
/// The format version that is written, and the newest that is read.
const FORMAT_NEWEST: u32 = 1;
const HEADER: usize = 512;
const MARK: [u8; 4] = *b"page";
/// The bytes of a record before its content.
const HEAD: usize = 16;
/// The longest content. A URL that is longer is cut.
const LONGEST: usize = 8 << 10;
/// The longest URL.
const LONGEST_URL: usize = 4 << 10;
/// How much of the file is read at a time.
const BUFFER: usize = 1 << 20;

const HAS_PAYLOAD: u8 = 1;
const HAS_MINIMA: u8 = 2;
const KNOWN_TEXT: u8 = 4;

#[derive(Serialize, Deserialize)]
struct LogHeader {
    parameters: String,
}

/// A page in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SeenRecord {
    pub(super) payload: Option<[u8; 20]>,
    pub(super) text: [u8; 16],
    /// The minima of a page that is not a near-duplicate.
    pub(super) minima: Option<Box<[u32; MINIMA]>>,
    /// Whether an earlier page has the same text.
    pub(super) known_text: bool,
    pub(super) url: String,
}

impl SeenRecord {
    fn encode(&self) -> Vec<u8> {
        let mut content = vec![0; HEAD];
        let flags = [
            (self.payload.is_some(), HAS_PAYLOAD),
            (self.minima.is_some(), HAS_MINIMA),
            (self.known_text, KNOWN_TEXT),
        ];
        content.push(flags.iter().map(|&(set, flag)| u8::from(set) * flag).sum());
        content.extend(self.payload.unwrap_or_default());
        content.extend(self.text);
        for minimum in self.minima.iter().flat_map(|minima| minima.iter()) {
            content.extend(minimum.to_le_bytes());
        }
        let mut end = self.url.len().min(LONGEST_URL);
        while !self.url.is_char_boundary(end) {
            end -= 1;
        }
        content.extend(self.url.as_bytes().get(..end).unwrap_or_default());
        let (head, body) = content.split_at_mut(HEAD);
        let length = (body.len() as u32).to_le_bytes();
        let parts = [&MARK[..], &length, &checksum(body)];
        head.copy_from_slice(&parts.concat());
        content.resize(content.len().next_multiple_of(8), 0);
        content
    }

    /// Decodes the content of a record.
    fn decode(content: &[u8]) -> Option<SeenRecord> {
        let (&[flags], rest) = content.split_first_chunk()?;
        let (payload, rest) = rest.split_first_chunk()?;
        let (text, mut rest) = rest.split_first_chunk()?;
        let mut minima = None;
        if flags & HAS_MINIMA != 0 {
            let bytes;
            (bytes, rest) = rest.split_at_checked(4 * MINIMA)?;
            let mut list = Box::new([0; MINIMA]);
            for (slot, bytes) in list.iter_mut().zip(bytes.as_chunks().0) {
                *slot = u32::from_le_bytes(*bytes);
            }
            minima = Some(list);
        }
        Some(SeenRecord {
            payload: (flags & HAS_PAYLOAD != 0).then_some(*payload),
            text: *text,
            minima,
            known_text: flags & KNOWN_TEXT != 0,
            url: String::from_utf8_lossy(rest).into_owned(),
        })
    }
}

fn checksum(content: &[u8]) -> [u8; 8] {
    let hash = blake3::hash(content);
    hash.as_bytes().first_chunk().copied().unwrap_or_default()
}

/// What is at the beginning of some bytes of the file.
enum Parsed {
    /// A record, and its length with padding.
    Record(SeenRecord, usize),
    /// A record that continues after the bytes.
    Incomplete,
    /// Something else.
    Damaged,
}

fn parse(bytes: &[u8]) -> Parsed {
    let known = bytes.len().min(MARK.len());
    if bytes.get(..known) != MARK.get(..known) {
        return Parsed::Damaged;
    }
    let Some((head, rest)) = bytes.split_at_checked(HEAD) else {
        return Parsed::Incomplete;
    };
    let number = head.get(4..8).and_then(<[u8]>::first_chunk);
    let length = number.map_or(0, |bytes| u32::from_le_bytes(*bytes)) as usize;
    if length > LONGEST {
        return Parsed::Damaged;
    }
    let padded = (HEAD + length).next_multiple_of(8);
    if bytes.len() < padded {
        return Parsed::Incomplete;
    }
    let content = rest.get(..length).unwrap_or_default();
    match head.get(8..) == Some(&checksum(content)[..]) {
        true => SeenRecord::decode(content)
            .map_or(Parsed::Damaged, |record| Parsed::Record(record, padded)),
        false => Parsed::Damaged,
    }
}

/// Where records are stored.
enum Storage {
    File(File),
    Memory(Vec<u8>),
}

/// Records that are only appended.
pub(super) struct SeenLog {
    path: PathBuf,
    storage: Storage,
    /// The end of what has been read or written by this process.
    end: u64,
    /// The number of damaged places.
    pub(super) damaged: u64,
}

impl SeenLog {
    pub(super) fn in_memory() -> SeenLog {
        SeenLog {
            path: PathBuf::new(),
            storage: Storage::Memory(Vec::new()),
            end: 0,
            damaged: 0,
        }
    }

    /// Opens a file, or creates it. Fails without changing it if it is something else.
    pub(super) fn open(path: &Path, parameters: &str) -> Result<SeenLog> {
        let failed = |error| Error::io(path, error);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(Error::NotSeenPages(path.to_owned()));
        }
        // Released when the file is closed, also by errors.
        file.lock().map_err(failed)?;
        let mut log = SeenLog {
            path: path.to_owned(),
            storage: Storage::File(file),
            end: HEADER as u64,
            damaged: 0,
        };
        log.check_header(parameters)?;
        log.unlock();
        Ok(log)
    }

    fn check_header(&mut self, parameters: &str) -> Result<()> {
        let path = &self.path;
        let Storage::File(file) = &self.storage else {
            return Ok(());
        };
        let failed = |error| Error::io(path, error);
        let json = serde_json::to_vec(&LogHeader {
            parameters: parameters.to_owned(),
        })
        .map_err(|error| failed(error.into()))?;
        let length = (json.len() as u32).to_le_bytes();
        let mut expected = [&MAGIC[..], &FORMAT_NEWEST.to_le_bytes(), &length, &json].concat();
        expected.resize(HEADER, 0);
        let mut found = vec![0; HEADER];
        let count = read_at(file, &mut found, 0).map_err(failed)?;
        found.truncate(count);
        if found == expected {
            return Ok(());
        }
        // A new file, or one whose creator was killed.
        if count < HEADER && expected.starts_with(&found) {
            return file.write_all_at(&expected, 0).map_err(failed);
        }
        let number = |at: usize| {
            let bytes = found.get(at..).and_then(<[u8]>::first_chunk);
            bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
        };
        if !found.starts_with(&MAGIC) {
            return Err(Error::NotSeenPages(path.clone()));
        }
        if number(8) > FORMAT_NEWEST {
            return Err(Error::TooNew {
                path: path.clone(),
                found: number(8),
                newest: FORMAT_NEWEST,
            });
        }
        let json = found
            .get(16..)
            .and_then(|rest| rest.get(..number(12) as usize));
        match json.and_then(|json| serde_json::from_slice::<LogHeader>(json).ok()) {
            Some(header) => Err(Error::OtherParameters {
                path: path.clone(),
                found: header.parameters,
                expected: parameters.to_owned(),
            }),
            None => Err(Error::NotSeenPages(path.clone())),
        }
    }

    /// Waits for the lock.
    pub(super) fn lock(&mut self) -> Result<()> {
        match &self.storage {
            Storage::File(file) => file.lock().map_err(|error| Error::io(&self.path, error)),
            Storage::Memory(_) => Ok(()),
        }
    }

    /// Releases the lock.
    pub(super) fn unlock(&mut self) {
        if let Storage::File(file) = &self.storage {
            // If this fails, the lock is released when the file is closed.
            let _ = file.unlock();
        }
    }

    /// Reads the records that were appended by others, and calls `each` with their offsets. Cuts
    /// off a record that was written in part: under the lock, nobody is writing it.
    pub(super) fn read_new(&mut self, mut each: impl FnMut(u64, SeenRecord)) -> Result<()> {
        let Storage::File(file) = &self.storage else {
            return Ok(());
        };
        let failed = |error| Error::io(&self.path, error);
        let length = file.metadata().map_err(failed)?.len();
        if length < self.end {
            return Err(Error::Truncated(self.path.clone()));
        }
        if length == self.end {
            return Ok(());
        }
        let mut buffer = vec![0; BUFFER.min((length - self.end) as usize)];
        // The end of the last sound record, and whether what follows is damaged.
        let (mut at, mut sound, mut in_damage) = (self.end, self.end, false);
        while at < length {
            let count = read_at(file, &mut buffer, at).map_err(failed)?;
            let bytes = buffer.get(..count).unwrap_or_default();
            let last = at + count as u64 >= length;
            let mut position = 0;
            while let Some(rest) = bytes.get(position..).filter(|rest| !rest.is_empty()) {
                match parse(rest) {
                    Parsed::Record(record, bytes) => {
                        each(at + position as u64, record);
                        position += bytes;
                        sound = at + position as u64;
                        in_damage = false;
                        continue;
                    }
                    Parsed::Incomplete if !last => break,
                    Parsed::Incomplete | Parsed::Damaged => {}
                }
                self.damaged += u64::from(!in_damage);
                in_damage = true;
                position += 8;
            }
            if position == 0 && count == 0 {
                break;
            }
            at += position as u64;
        }
        // What follows the last sound record is what a killed process left. More than a record is
        // not: it is kept, and records are appended after it.
        if length - sound > (HEAD + LONGEST) as u64 {
            self.end = length.next_multiple_of(8);
            file.set_len(self.end).map_err(failed)?;
        } else {
            if length > sound {
                file.set_len(sound).map_err(failed)?;
                self.damaged -= u64::from(in_damage);
            }
            self.end = sound;
        }
        Ok(())
    }

    /// Appends a record and returns its offset.
    pub(super) fn append(&mut self, record: &SeenRecord) -> Result<u64> {
        let bytes = record.encode();
        let offset = self.end;
        match &mut self.storage {
            Storage::Memory(memory) => memory.extend(&bytes),
            Storage::File(file) => {
                if let Err(error) = file.write_all_at(&bytes, offset) {
                    // The disk is full. What was written of the record is cut off, now or by the
                    // next process.
                    let _ = file.set_len(offset);
                    return Err(Error::io(&self.path, error));
                }
            }
        }
        self.end += bytes.len() as u64;
        Ok(offset)
    }

    /// Reads the record at an offset. `None` if it has been damaged since.
    pub(super) fn record(&self, offset: u64) -> Result<Option<SeenRecord>> {
        let mut buffer;
        let bytes = match &self.storage {
            Storage::Memory(memory) => memory.get(offset as usize..).unwrap_or_default(),
            Storage::File(file) => {
                buffer = [0; HEAD + LONGEST + 8];
                let failed = |error| Error::io(&self.path, error);
                // Most records are short.
                let mut count = 1 << 10;
                loop {
                    let part = buffer.get_mut(..count).unwrap_or_default();
                    let read = read_at(file, part, offset).map_err(failed)?;
                    let bytes = buffer.get(..read).unwrap_or_default();
                    if read < count || !matches!(parse(bytes), Parsed::Incomplete) {
                        break buffer.get(..read).unwrap_or_default();
                    }
                    if count == buffer.len() {
                        return Ok(None);
                    }
                    count = buffer.len();
                }
            }
        };
        Ok(match parse(bytes) {
            Parsed::Record(record, _) => Some(record),
            _ => None,
        })
    }
}

/// Reads at an offset until the buffer is full or the file ends. Returns the number of bytes.
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut count = 0;
    while let Some(rest) = buffer.get_mut(count..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, offset + count as u64) {
            Ok(0) => break,
            Ok(read) => count += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}
