//! The members of one large file, inflated ahead of its reader by other threads.
//!
//! ```text
//!   file     │ block 0        │ block 1        │ block 2        │ …
//!   members  ├──┬───┬─────┬──┼──┬──┬────┬──────┼─┬───┬──────┬───┼─
//!   reader      ↑ takes from block 0           │                │
//!   helpers                  └ inflates 1      └ inflates 2
//! ```
//! Where a member begins is known for certain only when the one before it has been inflated. But
//! most places that look like a beginning are one. So each block is inflated from the first place
//! in it that looks like one, and the reader, which knows for certain, takes what was made for the
//! place it is at, or inflates the member itself. What it reads is therefore the same with any
//! number of helpers, on any file; on a sound one it just comes sooner.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use super::gzip::MAGIC;
use super::whole::{LARGEST, WholeMember};

/// As much of the file is one thread's work.
const BLOCK: u64 = 1 << 20;
/// Read beyond the end of a block, for the last member that begins in it.
const OVERLAP: u64 = 256 << 10;
/// A block that unpacks to more is left unfinished; pages are a tenth of that.
const MOST_UNPACKED: usize = 32 << 20;
/// A block that looks so often as if a member began where none does is left to the reader.
const MOST_MISSES: usize = 16;

/// Threads that inflate the members of a file ahead of its reader.
pub(crate) struct Ahead {
    shared: Arc<Shared>,
    own: Helper,
    current: Block,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    blocks: u64,
    /// How many blocks, that of the reader included, may exist at a time.
    depth: u64,
}

#[derive(Default)]
struct State {
    /// The block that the reader is in; what lies before it is of no use.
    reader: u64,
    /// The first block that nobody has begun.
    next: u64,
    /// Blocks that have been begun and are not done.
    begun: BTreeSet<u64>,
    done: BTreeMap<u64, Block>,
    /// Blocks to be used again, for the memory that they have.
    spare: Vec<Block>,
    ended: bool,
}

/// What the members that begin in one block unpack to.
#[derive(Default)]
struct Block {
    number: Option<u64>,
    /// Where each begins in the file, how long it is there, and where in `unpacked` its content
    /// lies.
    members: Vec<(u64, usize, Range<usize>)>,
    unpacked: Vec<u8>,
}

/// What it takes to inflate a block.
struct Helper {
    file: File,
    inflater: WholeMember,
    packed: Vec<u8>,
}

impl Ahead {
    /// Sets `helpers` threads to work on the file; nothing if it is too small to be worth it, or if
    /// that cannot be done.
    pub(crate) fn new(path: &Path, length: u64, helpers: usize) -> Option<Self> {
        if helpers == 0 || length < 4 * BLOCK {
            return None;
        }
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            blocks: length.div_ceil(BLOCK),
            depth: 2 * helpers as u64 + 1,
        });
        let mut ahead = Ahead {
            shared,
            own: Helper::new(path)?,
            current: Block::default(),
            threads: Vec::new(),
        };
        for _ in 0..helpers {
            let shared = Arc::clone(&ahead.shared);
            let path = PathBuf::from(path);
            // A thread that cannot be had is one helper fewer.
            let thread = Builder::new().name("inflate".into()).spawn(move || {
                if let Some(helper) = Helper::new(&path) {
                    shared.help(helper);
                }
            });
            ahead.threads.extend(thread);
        }
        Some(ahead)
    }

    /// The content of the member at `offset`, and how long the member is in the file.
    ///
    /// The reader goes forward, as a rule, from any place. While what it needs is being made by
    /// another, it makes something that it will need later.
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
                // The reader went back to look for something. Nobody does that again.
                break Block {
                    number: Some(number),
                    ..Block::default()
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
                None => break Block::default(),
            }
        };
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            // One that panicked has delivered nothing, and nothing was built on it.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The next block to inflate, if one may be begun now.
    fn claim(&self, state: &mut State) -> Option<(u64, Block)> {
        let number = state.next;
        if number >= self.blocks || number >= state.reader + self.depth {
            return None;
        }
        state.next += 1;
        state.begun.insert(number);
        Some((number, state.spare.pop().unwrap_or_default()))
    }

    /// Puts a block by for its memory, if not enough are.
    fn keep(&self, state: &mut State, block: Block) {
        if (state.spare.len() as u64) < self.depth {
            state.spare.push(block);
        }
    }

    fn deliver(&self, state: &mut State, number: u64, block: Block) {
        state.begun.remove(&number);
        if number >= state.reader {
            state.done.insert(number, block);
        } else {
            self.keep(state, block);
        }
        self.changed.notify_all();
    }

    fn help(&self, mut helper: Helper) {
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

impl Helper {
    fn new(path: &Path) -> Option<Self> {
        Some(Helper {
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

    /// Inflates what begins in a block, as far as it can be.
    fn inflate(&mut self, number: u64, mut block: Block) -> Block {
        let begin = number * BLOCK;
        block.number = Some(number);
        block.members.clear();
        block.unpacked.clear();
        if self.read(begin).is_err() {
            // The reader comes to the same place, and says what is wrong with it.
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

    /// Members of all sizes, some of them too large to be unpacked at once, with what each holds.
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
    fn what_is_made_ahead_is_what_the_members_hold() {
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
                // Nothing begins one byte on.
                assert!(ahead.member(offset + 1).is_none());
                offset += packed.len() as u64;
            }
            assert_eq!(found, 294, "all but the six that are too large");
        }
    }

    #[test]
    fn reading_may_begin_anywhere_and_stop_anywhere() {
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
