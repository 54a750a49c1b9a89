//! Sorted rows as groups of one key each.

use crate::error::{Error, Result};
use crate::row::Row;
use crate::stream::SortedStream;

/// Groups after which a reduce asks whether it should go on.
const PATIENCE: u64 = 1 << 12;

/// The groups of one partition, in the order of their keys.
pub struct Groups<'a, R: Row> {
    stream: SortedStream<'a, R>,
    at: usize,
    current: Option<R::Key>,
    groups: u64,
    rows: u64,
    failed: Option<Error>,
}

/// The rows of one key, in order. It is an iterator, so that a group can be larger than memory.
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

    /// The next group, whether or not all rows of the last one were read.
    pub fn next_group(&mut self) -> Result<Option<Group<'_, 'a, R>>> {
        self.failure()?;
        self.groups += 1;
        if self.groups.is_multiple_of(PATIENCE) {
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

    /// Rows that were gone through.
    pub(crate) fn rows(&self) -> u64 {
        self.rows + self.at as u64
    }

    /// What went wrong in the middle of a group that was the last one to be asked for.
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
    /// What its rows have in common.
    pub fn key(&self) -> R::Key {
        self.key
    }
}

impl<R: Row> Iterator for Group<'_, '_, R> {
    type Item = R;

    /// The next row. Reading from disk may fail: then the group ends, and asking for the next group
    /// gives the error.
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
