//! Threads that decompress the gzip members of a large file ahead of its reader.
//!
//! ```text
//!   file     │ block 0        │ block 1        │ block 2        │ …
//!   members  ├──┬───┬─────┬──┼──┬──┬────┬──────┼─┬───┬──────┬───┼─
//!   reader      ↑ reads block 0                │                │
//!   helpers                  └ inflates 1      └ inflates 2
//! ```
//! The beginning of a member is known for certain only when the previous member has been
//! decompressed, but most byte sequences that look like a beginning are one. So each block is
//! decompressed from the first such sequence on. The reader knows its position for certain: it
//! takes the member that was decompressed from exactly this position, or decompresses it itself. So
//! the result is the same for any number of helpers and any file; a sound file is just read faster.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use super::gzip::MAGIC;
use super::whole::{LARGEST, WholeMember};

/// The size of a block, the unit of work of a thread.
const BLOCK: u64 = 1 << 20;
/// The number of bytes read beyond the end of a block, for the last member that begins in it.
const OVERLAP: u64 = 256 << 10;
/// The maximum decompressed size of a block. Ordinary pages need a tenth of it.
const MOST_UNPACKED: usize = 32 << 20;
/// The maximum number of false beginnings in a block. The rest of the block is left to the reader.
const MOST_MISSES: usize = 16;

/// Threads that decompress the members of a file ahead of its reader.
pub(crate) struct Ahead {
    shared: Arc<SharedBlocks>,
    own: Inflater,
    current: InflatedBlock,
    threads: Vec<JoinHandle<()>>,
}

struct SharedBlocks {
    state: Mutex<AheadState>,
    changed: Condvar,
    blocks: u64,
    /// The maximum number of blocks at a time, including the reader's.
    depth: u64,
}

#[derive(Default)]
struct AheadState {
    /// The block of the reader. Earlier blocks are not needed.
    reader: u64,
    /// The first block that no thread has begun.
    next: u64,
    /// Blocks that have been begun and not finished.
    begun: BTreeSet<u64>,
    done: BTreeMap<u64, InflatedBlock>,
    /// Blocks whose memory can be reused.
    spare: Vec<InflatedBlock>,
    ended: bool,
}

/// The decompressed members that begin in one block.
#[derive(Default)]
struct InflatedBlock {
    number: Option<u64>,
    /// For each member: its offset and length in the file, and the range of its content in
    /// `unpacked`.
    members: Vec<(u64, usize, Range<usize>)>,
    unpacked: Vec<u8>,
}

/// The file handle and buffers of a thread that decompresses blocks.
struct Inflater {
    file: File,
    inflater: WholeMember,
    packed: Vec<u8>,
}

impl Ahead {
    /// Starts `helpers` threads on the file. None if the file is too small to benefit or cannot be
    /// opened. Threads that cannot be started are left out: the reader works without them.
    pub(crate) fn new(path: &Path, length: u64, helpers: usize) -> Option<Self> {
        if helpers == 0 || length < 4 * BLOCK {
            return None;
        }
        let shared = Arc::new(SharedBlocks {
            state: Mutex::default(),
            changed: Condvar::new(),
            blocks: length.div_ceil(BLOCK),
            depth: 2 * helpers as u64 + 1,
        });
        let mut ahead = Ahead {
            shared,
            own: Inflater::new(path)?,
            current: InflatedBlock::default(),
            threads: Vec::new(),
        };
        for _ in 0..helpers {
            let shared = Arc::clone(&ahead.shared);
            let path = PathBuf::from(path);
            let thread = Builder::new().name("inflate".into()).spawn(move || {
                if let Some(helper) = Inflater::new(&path) {
                    shared.help(helper);
                }
            });
            ahead.threads.extend(thread);
        }
        Some(ahead)
    }

    /// The content of the member at `offset`, and its length in the file.
    ///
    /// The reader usually moves forward, from any position. While another thread decompresses the
    /// block that the reader needs, the reader decompresses one that it will need later.
    pub(crate) fn member(&mut self, offset: u64) -> Option<(usize, &[u8])> {
        let number = offset / BLOCK;
        if self.current.number != Some(number) {
            self.fetch(number);
        }
        let at = self
            .current
            .members
            .binary_search_by_key(&offset, |member| member.0)
            .ok()?;
        let (_, length, content) = self.current.members.get(at)?;
        Some((*length, self.current.unpacked.get(content.clone())?))
    }

    fn fetch(&mut self, number: u64) {
        let shared = &*self.shared;
        let mut state = shared.lock();
        let old = std::mem::take(&mut self.current);
        shared.keep(&mut state, old);
        state.reader = number;
        state.next = state.next.max(number.min(shared.blocks));
        while let Some(entry) = state.done.first_entry()
            && *entry.key() < number
        {
            let block = entry.remove();
            shared.keep(&mut state, block);
        }
        shared.changed.notify_all();
        self.current = loop {
            if let Some(block) = state.done.remove(&number) {
                break block;
            }
            if state.next > number && !state.begun.contains(&number) {
                // The reader moved back, to a block that is not decompressed again.
                break InflatedBlock {
                    number: Some(number),
                    ..InflatedBlock::default()
                };
            }
            match shared.claim(&mut state) {
                Some((claimed, block)) => {
                    drop(state);
                    let block = self.own.inflate(claimed, block);
                    state = shared.lock();
                    shared.deliver(&mut state, claimed, block);
                }
                None if state.begun.contains(&number) => state = shared.wait(state),
                None => break InflatedBlock::default(),
            }
        };
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has delivered nothing.
            let _ = thread.join();
        }
    }
}

impl SharedBlocks {
    fn lock(&self) -> MutexGuard<'_, AheadState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, AheadState>) -> MutexGuard<'a, AheadState> {
        self.changed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The next block to decompress, if one may be begun now.
    fn claim(&self, state: &mut AheadState) -> Option<(u64, InflatedBlock)> {
        let number = state.next;
        if number >= self.blocks || number >= state.reader + self.depth {
            return None;
        }
        state.next += 1;
        state.begun.insert(number);
        Some((number, state.spare.pop().unwrap_or_default()))
    }

    /// Keeps the memory of a block for reuse, up to a limit.
    fn keep(&self, state: &mut AheadState, block: InflatedBlock) {
        if (state.spare.len() as u64) < self.depth {
            state.spare.push(block);
        }
    }

    fn deliver(&self, state: &mut AheadState, number: u64, block: InflatedBlock) {
        state.begun.remove(&number);
        if number >= state.reader {
            state.done.insert(number, block);
        } else {
            self.keep(state, block);
        }
        self.changed.notify_all();
    }

    fn help(&self, mut helper: Inflater) {
        let mut state = self.lock();
        while !state.ended {
            match self.claim(&mut state) {
                Some((number, block)) => {
                    drop(state);
                    let block = helper.inflate(number, block);
                    state = self.lock();
                    self.deliver(&mut state, number, block);
                }
                None => state = self.wait(state),
            }
        }
    }
}

impl Inflater {
    fn new(path: &Path) -> Option<Self> {
        Some(Inflater {
            file: File::open(path).ok()?,
            inflater: WholeMember::new()?,
            packed: Vec::new(),
        })
    }

    fn read(&mut self, begin: u64) -> io::Result<()> {
        self.packed.clear();
        self.file.seek(SeekFrom::Start(begin))?;
        (&mut self.file)
            .take(BLOCK + OVERLAP)
            .read_to_end(&mut self.packed)?;
        Ok(())
    }

    /// Decompresses the members that begin in a block.
    fn inflate(&mut self, number: u64, mut block: InflatedBlock) -> InflatedBlock {
        let begin = number * BLOCK;
        block.number = Some(number);
        block.members.clear();
        block.unpacked.clear();
        if self.read(begin).is_err() {
            // The reader finds the same error and reports it.
            return block;
        }
        let end = self.packed.len().min(BLOCK as usize);
        let (mut at, mut misses) = (0, 0);
        while at < end && misses < MOST_MISSES && block.unpacked.len() < MOST_UNPACKED {
            let rest = &self.packed[at..];
            if !rest.starts_with(&MAGIC) {
                match memchr::memmem::find(rest, &MAGIC) {
                    Some(next) => at += next,
                    None => break,
                }
                continue;
            }
            let before = block.unpacked.len();
            block.unpacked.reserve(LARGEST);
            match self.inflater.inflate(rest, &mut block.unpacked) {
                Some(length) => {
                    let content = before..block.unpacked.len();
                    block.members.push((begin + at as u64, length, content));
                    at += length.max(1);
                }
                None => {
                    misses += 1;
                    at += 1;
                }
            }
        }
        block
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    /// Members of all sizes and their contents. Some are too large to be decompressed at once.
    fn members(count: u64) -> Vec<(Vec<u8>, Vec<u8>)> {
        (0..count)
            .map(|number| {
                let length = match number % 50 {
                    7 => 3 << 20,
                    rest => rest * 3000,
                };
                let mut state = 2 * number + 1;
                let content: Vec<u8> = (0..length)
                    .map(|_| {
                        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                        (state >> 60) as u8
                    })
                    .collect();
                let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(&content).unwrap();
                (encoder.finish().unwrap(), content)
            })
            .collect()
    }

    #[test]
    fn members_decompressed_ahead_have_the_right_content() {
        let members = members(300);
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for (packed, _) in &members {
            file.write_all(packed).unwrap();
        }
        let length = file.as_file().metadata().unwrap().len();
        assert!(length > 6 * BLOCK);
        for helpers in [1, 2, 7] {
            let mut ahead = Ahead::new(file.path(), length, helpers).unwrap();
            let (mut offset, mut found) = (0, 0);
            for (packed, content) in &members {
                if let Some((taken, unpacked)) = ahead.member(offset) {
                    assert_eq!((taken, unpacked), (packed.len(), content.as_slice()));
                    found += 1;
                }
                // No member begins at the next byte.
                assert!(ahead.member(offset + 1).is_none());
                offset += packed.len() as u64;
            }
            assert_eq!(found, 294, "all but the six large ones");
        }
    }

    #[test]
    fn reading_may_begin_and_stop_anywhere() {
        let members = members(200);
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut offsets = vec![0];
        for (packed, _) in &members {
            file.write_all(packed).unwrap();
            offsets.push(offsets.last().unwrap() + packed.len() as u64);
        }
        let length = *offsets.last().unwrap();
        for first in [0, 60, 120, 199] {
            let mut ahead = Ahead::new(file.path(), length, 2).unwrap();
            let (_, unpacked) = ahead.member(offsets[first]).unwrap();
            assert_eq!(unpacked, members[first].1);
        }
        let mut ahead = Ahead::new(file.path(), length, 2).unwrap();
        assert!(ahead.member(length).is_none());
        assert!(ahead.member(length + 100 * BLOCK).is_none());
    }
}
