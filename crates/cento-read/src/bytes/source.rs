//! Bytes as stored.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use crate::remote::Body;

/// Reads this much at a time: large enough that system calls cost nothing, small enough to stay in
/// the cache.
const CAPACITY: usize = 1 << 20;

/// Where bytes come from.
pub(crate) enum Origin {
    /// A regular file of this many bytes: can be read from any place.
    File(File, u64),
    /// A regular file up to this byte, as if it ended there.
    Range(File, u64),
    /// On another machine, from where it is fetched ahead of being read.
    Remote(Box<Body>),
    /// A pipe or standard input: can only be read on.
    Stream(Box<dyn Read + Send>),
}

/// Bytes as stored, in a buffer that remembers some of what was consumed.
///
/// ```text
///   0        mark      start           end      capacity
///   ├─ gone ──┼─ kept ──┼─ available ──┼─ free ──┤
/// ```
/// Damage is often noticed only long after it began, and the search for the next sound record has
/// to start where the damage did: at the mark. While the bytes from there on fit into the buffer
/// they are kept in it, so that a stream, which cannot seek, can go back too.
pub(crate) struct Source {
    origin: Origin,
    buffer: Vec<u8>,
    mark: usize,
    start: usize,
    end: usize,
    /// The offset in the input of the end of the buffer.
    offset: u64,
    ended: bool,
}

impl Source {
    pub(crate) fn new(origin: Origin) -> Self {
        let capacity = match &origin {
            // A folder of small pages would otherwise spend its time on clearing large buffers. One
            // byte more, so that the end is found with the first read.
            Origin::File(_, length) => fitting(*length),
            Origin::Remote(body) => body.length().map_or(CAPACITY, fitting),
            Origin::Range(..) | Origin::Stream(_) => CAPACITY,
        };
        Source::with_capacity(origin, capacity)
    }

    pub(crate) fn with_capacity(origin: Origin, capacity: usize) -> Self {
        Source {
            origin,
            buffer: vec![0; capacity.max(1)],
            mark: 0,
            start: 0,
            end: 0,
            offset: 0,
            ended: false,
        }
    }

    /// What has been read and not yet consumed.
    pub(crate) fn available(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// The offset in the input of what is available.
    pub(crate) fn position(&self) -> u64 {
        self.offset - (self.end - self.start) as u64
    }

    pub(crate) fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
    }

    /// Remembers the present place to rewind to.
    pub(crate) fn mark(&mut self) {
        self.mark = self.start;
    }

    /// Reads more, after what is available. Answers whether there was more; there is none when the
    /// input has ended, or when the buffer is full of what is available.
    pub(crate) fn more(&mut self) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        if self.end == self.buffer.len() {
            let mut keep = self.mark.min(self.start);
            if keep == 0 {
                // What was marked fills the buffer: give it up.
                keep = self.start;
            }
            if keep == 0 {
                return Ok(false);
            }
            self.buffer.copy_within(keep..self.end, 0);
            self.start -= keep;
            self.end -= keep;
            self.mark = self.mark.saturating_sub(keep);
        }
        let free = &mut self.buffer[self.end..];
        let count = loop {
            let read = match &mut self.origin {
                Origin::File(file, _) => file.read(free),
                Origin::Range(file, end) => {
                    let left = end.saturating_sub(self.offset).min(free.len() as u64);
                    file.read(&mut free[..left as usize])
                }
                Origin::Remote(body) => body.read(free),
                Origin::Stream(stream) => stream.read(free),
            };
            match read {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.end += count;
        self.offset += count as u64;
        self.ended = count == 0;
        Ok(count > 0)
    }

    /// Whether any byte is available; reads if need be.
    pub(crate) fn fill(&mut self) -> io::Result<bool> {
        Ok(self.start < self.end || self.more()?)
    }

    /// Makes `count` bytes available, or as many as there are and the buffer can hold.
    pub(crate) fn ensure(&mut self, count: usize) -> io::Result<()> {
        while self.available().len() < count && self.more()? {}
        Ok(())
    }

    /// Goes back (or on) to `to`, or as near to it as can be: a stream may no longer, or not yet,
    /// have it.
    pub(crate) fn seek(&mut self, to: u64) -> io::Result<()> {
        let first = self.offset - self.end as u64;
        if (first..=self.offset).contains(&to) {
            self.start = (to - first) as usize;
            self.mark = self.mark.min(self.start);
            return Ok(());
        }
        match &mut self.origin {
            Origin::File(..) | Origin::Range(..) | Origin::Remote(_) => {
                match &mut self.origin {
                    Origin::File(file, _) | Origin::Range(file, _) => {
                        file.seek(SeekFrom::Start(to))?;
                    }
                    Origin::Remote(body) => body.seek(to)?,
                    Origin::Stream(_) => {}
                }
                (self.mark, self.start, self.end) = (0, 0, 0);
                self.offset = to;
                self.ended = false;
            }
            Origin::Stream(_) if to < first => self.start = self.mark,
            Origin::Stream(_) => {
                while self.position() < to && self.fill()? {
                    let step = (to - self.position()).min(self.available().len() as u64);
                    self.consume(step as usize);
                }
            }
        }
        Ok(())
    }

    /// Whether all that will come is there to be read, so that reading ahead makes nobody wait.
    pub(crate) fn hurries(&self) -> bool {
        !matches!(self.origin, Origin::Stream(_))
    }

    /// Whether any place can be reached at once.
    pub(crate) fn seeks(&self) -> bool {
        match &self.origin {
            Origin::File(..) | Origin::Range(..) => true,
            Origin::Remote(body) => body.seeks(),
            Origin::Stream(_) => false,
        }
    }

    /// Where the input ends, where that is known.
    pub(crate) fn length(&self) -> Option<u64> {
        match &self.origin {
            Origin::File(_, end) | Origin::Range(_, end) => Some(*end),
            Origin::Remote(body) => body.length(),
            Origin::Stream(_) => None,
        }
    }
}

/// A buffer that a file of this length fits into, if it is short.
fn fitting(length: u64) -> usize {
    usize::try_from(length)
        .map_or(CAPACITY, |length| length.saturating_add(1).min(CAPACITY))
        .max(512)
}
