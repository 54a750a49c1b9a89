//! Reading one input, record by record.

use crate::{Error, Item};

/// Reads one input, record by record, in order.
pub struct Reader {
    pub(crate) records: Box<dyn Records + Send>,
}

/// What each format does.
pub(crate) trait Records {
    fn next(&mut self) -> Result<Option<Item>, Error>;
    fn bytes_read(&self) -> u64;
}

impl Reader {
    pub(crate) fn new(records: impl Records + Send + 'static) -> Self {
        Reader {
            records: Box::new(records),
        }
    }

    /// The next record; nothing at the end.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator of results cannot stop at an error"
    )]
    pub fn next(&mut self) -> Result<Option<Item>, Error> {
        self.records.next()
    }

    /// How many bytes of the input, as stored, have been read so far: for progress.
    pub fn bytes_read(&self) -> u64 {
        self.records.bytes_read()
    }
}

/// The next of the items that `next` finds, the `first` or one after it: where reading can begin
/// only before that, what comes before is passed over.
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

/// The ordinal after `ordinal`.
pub(crate) fn following(ordinal: u32, input: &str) -> Result<u32, Error> {
    ordinal.checked_add(1).ok_or_else(|| Error::TooManyRecords {
        name: input.to_owned(),
    })
}
