//! How bytes are packed, as their name or they themselves say.

use std::io::Cursor;

use super::ahead::Ahead;
use super::blocks::{Unbzip2, Unxz, XZ_MAGIC, is_bzip2};
use super::gzip::{self, Gunzip};
use super::lz4::{self, Unlz4};
use super::source::{Origin, Source};
use super::stream::{Filled, Stream};
use super::unpack::{Unpack, skippable};
use super::zstd::{self, Unzstd};
use crate::Packing;

/// As much of a packed input as it takes to see what it holds: a whole block, even of bzip2.
pub(crate) const FRONT: usize = (1 << 20) - 1;

/// What the names of packed files end with.
const ENDINGS: [(&str, Packing); 6] = [
    (".gz", Packing::Gzip),
    (".zst", Packing::Zstd),
    (".zstd", Packing::Zstd),
    (".lz4", Packing::Lz4),
    (".bz2", Packing::Bzip2),
    (".xz", Packing::Xz),
];

/// What unpacks it, with whatever was set to work on it beforehand; nothing if it is not packed.
pub(super) fn unpacker(packing: Packing, ahead: Option<Ahead>) -> Option<Box<dyn Unpack>> {
    Some(match packing {
        Packing::Plain => return None,
        Packing::Gzip => Box::new(Gunzip::new(ahead)),
        Packing::Zstd => Box::new(Unzstd::new()),
        Packing::Lz4 => Box::new(Unlz4::new()),
        Packing::Bzip2 => Box::<Unbzip2>::default(),
        Packing::Xz => Box::<Unxz>::default(),
    })
}

/// What a name, in small letters, is without the ending that tells of a packing.
pub(crate) fn unpacked_name(lower: &str) -> &str {
    ENDINGS
        .iter()
        .find_map(|(ending, _)| lower.strip_suffix(ending))
        .unwrap_or(lower)
}

/// The packing that a name tells of.
pub(crate) fn packing_named(name: &str) -> Option<Packing> {
    let lower = name.to_ascii_lowercase();
    let known = ENDINGS.iter().find(|(ending, _)| lower.ends_with(ending))?;
    Some(known.1)
}

/// The packing that the first bytes of an input show.
pub(crate) fn packing_of(front: &[u8]) -> Option<Packing> {
    if front.starts_with(&gzip::MAGIC) {
        Some(Packing::Gzip)
    } else if front.starts_with(&zstd::MAGIC) {
        Some(Packing::Zstd)
    } else if front.starts_with(&lz4::MAGIC) {
        Some(Packing::Lz4)
    } else if is_bzip2(front) {
        Some(Packing::Bzip2)
    } else if front.starts_with(&XZ_MAGIC) {
        Some(Packing::Xz)
    } else {
        // zstd and LZ4 share these frames; what comes after the first tells, if it can be seen.
        let (_, length) = skippable(front)?;
        let rest = front.get(8..)?.get(length as usize..);
        match rest {
            Some(rest) if rest.starts_with(&lz4::MAGIC) => Some(Packing::Lz4),
            _ => Some(Packing::Zstd),
        }
    }
}

/// What `bytes`, packed so, unpack to, as far as they reach: about `limit` bytes of it, or less.
pub(crate) fn unpack_front(bytes: &[u8], packing: Packing, limit: usize) -> Vec<u8> {
    let origin = Origin::Stream(Box::new(Cursor::new(bytes.to_vec())));
    let mut stream = Stream::new(Source::with_capacity(origin, bytes.len() + 1), packing);
    // An error is no matter: what came before it is wanted just as well.
    while stream.window().len() < limit {
        match stream.fill() {
            Ok(Filled::Bytes) => {}
            Ok(Filled::MemberEnd) if matches!(stream.next_member(), Ok(true)) => {}
            _ => break,
        }
    }
    let window = stream.window();
    window[..window.len().min(limit)].to_vec()
}
