//! What pages are in a file, a folder, an archive or a table.

#[cfg(test)]
#[path = "../tests/common/archive.rs"]
mod archive;
mod bytes;
mod cause;
mod date;
mod decode;
mod error;
mod fields;
mod format;
mod input;
mod json;
mod page;
mod reader;
mod record;
mod settings;
mod single;
mod table;
mod warc;

pub use cause::Cause;
pub use decode::decode;
pub use error::Error;
pub use fields::{FieldAssignment, FieldMap, Role};
pub use format::{Format, Packing};
pub use input::{IgnoredCause, IgnoredFiles, Input, Resolved, resolve};
pub use page::{Content, Decoded, Page, Reject, Rejected};
pub use reader::Reader;
pub use record::{Ignored, IgnoredKind, Item, Place, Record, Skipped, Start};
pub use settings::{Limits, Settings};
