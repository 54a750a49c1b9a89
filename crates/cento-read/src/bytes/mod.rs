//! Reads and decompresses the bytes of an input, and keeps track of their offsets.
//!
//! ```text
//!  ByteSource                     Stream
//!  stored bytes with their   →    decompressed bytes in a window that ends at the
//!  offsets; can rewind            end of the compressed member
//! ```
//! There are only two layers, because each layer between the file and the record copies every byte.

mod ahead;
mod blocks;
mod byte_source;
mod growth;
mod gzip;
mod handle;
mod lz4;
mod packing;
mod stream;
mod unpack;
mod whole;
mod zstd;

pub(crate) use ahead::Ahead;
pub(crate) use byte_source::{ByteOrigin, ByteSource};
pub(crate) use gzip::{Beginning, header_length};
pub(crate) use handle::{Handle, HandleReader};
use packing::unpacker;
pub(crate) use packing::{
    FRONT, LONGEST_MAGIC, may_be_packed, packing_named, packing_of, unpack_front, unpacked_name,
};
pub(crate) use stream::{Filled, Stream, StreamError};
pub(crate) use zstd::{MAGIC as ZSTD_MAGIC, decoder as zstd_decoder, step as zstd_step};
