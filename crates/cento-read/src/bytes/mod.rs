//! From a file or a stream to unpacked bytes that know where they came from.
//!
//! ```text
//!  Source                         Stream
//!  bytes as stored, with    →     unpacked bytes in a window, cut where the
//!  their offsets; rewinds         compressed members are cut
//! ```
//! Two layers and no more: each layer between the file and the record is a copy of every byte.

mod ahead;
mod blocks;
mod growth;
mod gzip;
mod handle;
mod lz4;
mod packing;
mod source;
mod stream;
mod unpack;
mod whole;
mod zstd;

pub(crate) use ahead::Ahead;
pub(crate) use gzip::{Beginning, header_length};
pub(crate) use handle::{Handle, Part};
use packing::unpacker;
pub(crate) use packing::{FRONT, packing_named, packing_of, unpack_front, unpacked_name};
pub(crate) use source::{Origin, Source};
pub(crate) use stream::{Filled, Stream, Trouble};
pub(crate) use zstd::{MAGIC as ZSTD_MAGIC, decoder as zstd_decoder, step as zstd_step};
