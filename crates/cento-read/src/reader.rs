//! Reads one input, record by record.

use crate::{Error, Item};

/// Reads one input, record by record, in order.
pub struct Reader {
    pub(crate) records: Box<dyn RecordReader + Send>,
}

/// Reads the records of one format.
pub(crate) trait RecordReader {
    fn next(&mut self) -> Result<Option<Item>, Error>;
    fn bytes_read(&self) -> u64;
}

impl Reader {
    pub(crate) fn new(records: impl RecordReader + Send + 'static) -> Self {
        Reader {
            records: Box::new(records),
        }
    }

    /// Returns the next item, or `None` at the end of the input.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator of results cannot stop at an error"
    )]
    pub fn next(&mut self) -> Result<Option<Item>, Error> {
        self.records.next()
    }

    /// The number of bytes of the stored input read so far, for progress reports.
    pub fn bytes_read(&self) -> u64 {
        self.records.bytes_read()
    }
}

/// Returns the next item whose ordinal is at least `first`. Where reading can only begin earlier,
/// the items before `first` are dropped.
pub(crate) fn from_first(
    first: u32,
    mut next: impl FnMut() -> Result<Option<Item>, Error>,
) -> Result<Option<Item>, Error> {
    loop {
        match next()? {
            Some(item) if item.place().ordinal < first => {}
            item => return Ok(item),
        }
    }
}

/// Returns the ordinal after `ordinal`.
pub(crate) fn following(ordinal: u32, input: &str) -> Result<u32, Error> {
    ordinal.checked_add(1).ok_or_else(|| Error::TooManyRecords {
        name: input.to_owned(),
    })
}
