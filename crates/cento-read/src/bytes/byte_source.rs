//! The stored bytes of an input.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use crate::remote::RemoteBody;

/// The size of the buffer: large enough that system calls cost nothing, small enough to stay in the
/// cache.
const CAPACITY: usize = 1 << 20;

/// Where bytes come from.
pub(crate) enum ByteOrigin {
    /// A regular file of this many bytes, which can be read at any offset.
    File(File, u64),
    /// A regular file up to this offset.
    Range(File, u64),
    /// A remote object, which is prefetched.
    Remote(Box<RemoteBody>),
    /// A pipe or standard input, which can only be read forward.
    Stream(Box<dyn Read + Send>),
}

/// The stored bytes of an input, in a buffer that keeps some of the consumed bytes.
///
/// ```text
///   0        mark      start           end      capacity
///   ├─ gone ──┼─ kept ──┼─ available ──┼─ free ──┤
/// ```
/// Damage is often noticed long after it began, and the search for the next sound record has to
/// begin where the damage did: at the mark. The buffer keeps the bytes from there on while they
/// fit, so that a stream, which cannot seek, can go back too.
pub(crate) struct ByteSource {
    origin: ByteOrigin,
    buffer: Vec<u8>,
    mark: usize,
    start: usize,
    end: usize,
    /// The offset in the input of the end of the buffer.
    offset: u64,
    ended: bool,
}

impl ByteSource {
    pub(crate) fn new(origin: ByteOrigin) -> Self {
        let capacity = match &origin {
            // For a folder of small pages, clearing large buffers would take most of the time.
            ByteOrigin::File(_, length) => fitting(*length),
            ByteOrigin::Remote(body) => body.length().map_or(CAPACITY, fitting),
            ByteOrigin::Range(..) | ByteOrigin::Stream(_) => CAPACITY,
        };
        ByteSource::with_capacity(origin, capacity)
    }

    pub(crate) fn with_capacity(origin: ByteOrigin, capacity: usize) -> Self {
        ByteSource {
            origin,
            buffer: vec![0; capacity.max(1)],
            mark: 0,
            start: 0,
            end: 0,
            offset: 0,
            ended: false,
        }
    }

    /// The bytes that have been read and not yet consumed.
    pub(crate) fn available(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// The offset in the input of the first available byte.
    pub(crate) fn position(&self) -> u64 {
        self.offset - (self.end - self.start) as u64
    }

    pub(crate) fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
    }

    /// Marks the current position as the one to rewind to.
    pub(crate) fn mark(&mut self) {
        self.mark = self.start;
    }

    /// Reads more bytes. Returns whether there were any: none at the end of the input, or if the
    /// buffer is full of available bytes.
    pub(crate) fn more(&mut self) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        if self.end == self.buffer.len() {
            let mut keep = self.mark.min(self.start);
            if keep == 0 {
                // The marked bytes fill the buffer: drop them.
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
                ByteOrigin::File(file, _) => file.read(free),
                ByteOrigin::Range(file, end) => {
                    let left = end.saturating_sub(self.offset).min(free.len() as u64);
                    file.read(&mut free[..left as usize])
                }
                ByteOrigin::Remote(body) => body.read(free),
                ByteOrigin::Stream(stream) => stream.read(free),
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

    /// Reads if no byte is available. Returns whether any byte is available.
    pub(crate) fn fill(&mut self) -> io::Result<bool> {
        Ok(self.start < self.end || self.more()?)
    }

    /// Makes `count` bytes available, or as many as the input has and the buffer can hold.
    pub(crate) fn ensure(&mut self, count: usize) -> io::Result<()> {
        while self.available().len() < count && self.more()? {}
        Ok(())
    }

    /// Moves to the offset `to`. A stream moves as close to it as possible.
    pub(crate) fn seek(&mut self, to: u64) -> io::Result<()> {
        let first = self.offset - self.end as u64;
        if (first..=self.offset).contains(&to) {
            self.start = (to - first) as usize;
            self.mark = self.mark.min(self.start);
            return Ok(());
        }
        match &mut self.origin {
            ByteOrigin::File(..) | ByteOrigin::Range(..) | ByteOrigin::Remote(_) => {
                match &mut self.origin {
                    ByteOrigin::File(file, _) | ByteOrigin::Range(file, _) => {
                        file.seek(SeekFrom::Start(to))?;
                    }
                    ByteOrigin::Remote(body) => body.seek(to)?,
                    ByteOrigin::Stream(_) => {}
                }
                (self.mark, self.start, self.end) = (0, 0, 0);
                self.offset = to;
                self.ended = false;
            }
            ByteOrigin::Stream(_) if to < first => self.start = self.mark,
            ByteOrigin::Stream(_) => {
                while self.position() < to && self.fill()? {
                    let step = (to - self.position()).min(self.available().len() as u64);
                    self.consume(step as usize);
                }
            }
        }
        Ok(())
    }

    /// Whether the whole input exists already, so that reading ahead does not wait for a writer.
    pub(crate) fn reads_without_waiting(&self) -> bool {
        !matches!(self.origin, ByteOrigin::Stream(_))
    }

    /// Whether any offset can be reached without reading.
    pub(crate) fn seeks(&self) -> bool {
        match &self.origin {
            ByteOrigin::File(..) | ByteOrigin::Range(..) => true,
            ByteOrigin::Remote(body) => body.seeks(),
            ByteOrigin::Stream(_) => false,
        }
    }

    /// The end of the input, if it is known.
    pub(crate) fn length(&self) -> Option<u64> {
        match &self.origin {
            ByteOrigin::File(_, end) | ByteOrigin::Range(_, end) => Some(*end),
            ByteOrigin::Remote(body) => body.length(),
            ByteOrigin::Stream(_) => None,
        }
    }
}

/// The size of a buffer for a file of this length. One byte more than the file, so that the first
/// read finds the end.
fn fitting(length: u64) -> usize {
    usize::try_from(length)
        .map_or(CAPACITY, |length| length.saturating_add(1).min(CAPACITY))
        .max(512)
}
