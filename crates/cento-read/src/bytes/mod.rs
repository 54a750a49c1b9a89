//! From a file or a stream to unpacked bytes that know where they came from.
//!
//! ```text
//!  Source                         Stream
//!  bytes as stored, with    →     unpacked bytes in a window, cut where the
//!  their offsets; rewinds         compressed members are cut
//! ```
//! Two layers and no more: each layer between the file and the record is a copy of every byte.

mod gzip;
mod source;
mod stream;

pub(crate) use gzip::{Beginning, MAGIC as GZIP_MAGIC, header_length, unpack_front};
pub(crate) use source::{Origin, Source};
pub(crate) use stream::{Filled, Stream, Trouble};
