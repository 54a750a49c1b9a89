//! Groups of sorted rows with the same key.

use crate::error::{Error, Result};
use crate::row::Row;
use crate::stream::SortedStream;

/// Groups after which a reduce checks whether it was cancelled.
const CHECK_INTERVAL: u64 = 1 << 12;

/// The groups of one partition, sorted by key.
pub struct Groups<'a, R: Row> {
    stream: SortedStream<'a, R>,
    at: usize,
    current: Option<R::Key>,
    groups: u64,
    rows: u64,
    failed: Option<Error>,
}

/// The sorted rows of one key. It is an iterator, so that a group can be larger than memory.
pub struct Group<'g, 'a, R: Row> {
    groups: &'g mut Groups<'a, R>,
    key: R::Key,
}

impl<'a, R: Row> Groups<'a, R> {
    pub(crate) fn new(stream: SortedStream<'a, R>) -> Groups<'a, R> {
        Groups {
            stream,
            at: 0,
            current: None,
            groups: 0,
            rows: 0,
            failed: None,
        }
    }

    /// Returns the next group. Unread rows of the previous one are skipped.
    pub fn next_group(&mut self) -> Result<Option<Group<'_, 'a, R>>> {
        self.failure()?;
        self.groups += 1;
        if self.groups.is_multiple_of(CHECK_INTERVAL) {
            self.stream.check()?;
        }
        let key = loop {
            match self.peek()?.map(|row| row.key()) {
                None => return Ok(None),
                Some(key) if Some(key) == self.current => self.at += 1,
                Some(key) => break key,
            }
        };
        self.current = Some(key);
        Ok(Some(Group { groups: self, key }))
    }

    /// The number of rows that were read, skipped or dropped.
    pub(crate) fn rows(&self) -> u64 {
        self.rows + self.at as u64 + self.stream.dropped()
    }

    /// Returns the error that has ended the last group early.
    pub(crate) fn failure(&mut self) -> Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }

    #[inline(always)]
    fn peek(&mut self) -> Result<Option<R>> {
        match self.stream.batch().get(self.at) {
            Some(row) => Ok(Some(*row)),
            None => self.refill(),
        }
    }

    #[cold]
    fn refill(&mut self) -> Result<Option<R>> {
        self.failure()?;
        self.rows += self.at as u64;
        self.at = 0;
        if !self.stream.advance()? {
            return Ok(None);
        }
        Ok(self.stream.batch().first().copied())
    }
}

impl<R: Row> Group<'_, '_, R> {
    /// The key of the rows.
    pub fn key(&self) -> R::Key {
        self.key
    }
}

impl<R: Row> Iterator for Group<'_, '_, R> {
    type Item = R;

    /// Returns the next row. If reading from disk fails, the group ends, and
    /// [`Groups::next_group`] returns the error.
    #[inline(always)]
    fn next(&mut self) -> Option<R> {
        match self.groups.peek() {
            Ok(Some(row)) if row.key() == self.key => {
                self.groups.at += 1;
                Some(row)
            }
            Ok(_) => None,
            Err(error) => {
                self.groups.failed = Some(error);
                None
            }
        }
    }
}
