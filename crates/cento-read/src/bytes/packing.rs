//! Detects the compression format by name and content.

use std::io::Cursor;

use super::ahead::Ahead;
use super::blocks::{Unbzip2, Unxz, XZ_MAGIC, is_bzip2};
use super::byte_source::{ByteOrigin, ByteSource};
use super::gzip::{self, Gunzip};
use super::lz4::{self, Unlz4};
use super::stream::{Filled, Stream};
use super::unpack::{SKIPPABLE, Unpack, skippable};
use super::zstd::{self, Unzstd};
use crate::Packing;

/// The number of bytes needed to detect the content of a compressed input: a whole block, even of
/// bzip2.
pub(crate) const FRONT: usize = (1 << 20) - 1;

/// The number of bytes after which [`packing_of`] has seen every magic number. That of bzip2 is the
/// longest.
pub(crate) const LONGEST_MAGIC: usize = 10;

/// Whether the first bytes may be the beginning of a compressed input, as far as they are known.
pub(crate) fn may_be_packed(front: &[u8]) -> bool {
    let (first, second) = (front.first(), front.get(1));
    let known = [
        (0x1f, 0x8b),
        (0x28, 0xb5),
        (0x04, 0x22),
        (b'B', b'Z'),
        (0xfd, b'7'),
    ];
    first.is_none_or(|&first| {
        let skippable = (first >> 4 == 5).then_some((first, SKIPPABLE[0]));
        known
            .into_iter()
            .chain(skippable)
            .any(|(one, two)| one == first && second.is_none_or(|&second| second == two))
    })
}

/// The file name extensions of compression formats.
const ENDINGS: [(&str, Packing); 6] = [
    (".gz", Packing::Gzip),
    (".zst", Packing::Zstd),
    (".zstd", Packing::Zstd),
    (".lz4", Packing::Lz4),
    (".bz2", Packing::Bzip2),
    (".xz", Packing::Xz),
];

/// Creates the decompressor for a format. None for plain input.
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

/// Removes the extension of a compression format from a name in lower case.
pub(crate) fn unpacked_name(lower: &str) -> &str {
    ENDINGS
        .iter()
        .find_map(|(ending, _)| lower.strip_suffix(ending))
        .unwrap_or(lower)
}

/// The compression format by file name.
pub(crate) fn packing_named(name: &str) -> Option<Packing> {
    let lower = name.to_ascii_lowercase();
    let known = ENDINGS.iter().find(|(ending, _)| lower.ends_with(ending))?;
    Some(known.1)
}

/// The compression format by the first bytes of an input.
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
        // zstd and LZ4 share skippable frames. What follows the first one decides, if it is
        // visible.
        let (_, length) = skippable(front)?;
        let rest = front.get(8..)?.get(length as usize..);
        match rest {
            Some(rest) if rest.starts_with(&lz4::MAGIC) => Some(Packing::Lz4),
            _ => Some(Packing::Zstd),
        }
    }
}

/// Decompresses the beginning of an input, at most `limit` bytes.
pub(crate) fn unpack_front(bytes: &[u8], packing: Packing, limit: usize) -> Vec<u8> {
    let origin = ByteOrigin::Stream(Box::new(Cursor::new(bytes.to_vec())));
    let mut stream = Stream::new(ByteSource::with_capacity(origin, bytes.len() + 1), packing);
    // Errors are ignored: the bytes before the damage are enough.
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
