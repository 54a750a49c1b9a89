//! gzip.
//!
//! Headers and trailers of members are parsed here rather than by the library: only then are the
//! exact offsets of members known, and the inflater can be reused for the next member. Setting it
//! up again would take as long as decompressing a short record.

use flate2::{Crc, Decompress, DecompressError, FlushDecompress, Status};

use super::ahead::Ahead;
use super::byte_source::ByteSource;
use super::stream::StreamError;
use super::unpack::Unpack;
use super::whole::{self, WholeMember};
use crate::Cause;

/// The first bytes of every member.
pub(crate) const MAGIC: [u8; 3] = [0x1f, 0x8b, 0x08];

const HEADER_CRC: u8 = 2;
const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;
const RESERVED: u8 = 0xe0;

/// The longest header. Real headers are far shorter.
const LONGEST_HEADER: usize = 1 << 17;

/// The number of bytes to make available when a member begins. Nearly all members are shorter.
const MEMBER: usize = 256 << 10;

/// How a record begins, to distinguish a member that begins a record from one that continues one.
#[derive(Clone, Copy)]
pub(crate) struct Beginning {
    /// The number of bytes to check, at most [`Beginning::LONGEST`]. A member may have fewer.
    pub(crate) reach: usize,
    /// Whether the first bytes of a member (`reach` bytes, or all if it is shorter) begin a record.
    pub(crate) fits: fn(&[u8]) -> bool,
}

impl Beginning {
    pub(crate) const LONGEST: usize = 512;
}

/// The result of parsing the header of a member.
enum MemberHeader {
    /// A complete header of this length.
    Whole(usize),
    /// An incomplete header.
    Cut,
    /// Not a header.
    Wrong,
}

fn damaged(detail: String) -> StreamError {
    StreamError::Damaged(Cause::BadGzip, detail)
}

fn header(bytes: &[u8]) -> MemberHeader {
    let known = bytes.len().min(MAGIC.len());
    if bytes[..known] != MAGIC[..known] {
        return MemberHeader::Wrong;
    }
    let Some(&flags) = bytes.get(3) else {
        return MemberHeader::Cut;
    };
    if flags & RESERVED != 0 {
        return MemberHeader::Wrong;
    }
    let mut end = 10;
    if flags & EXTRA != 0 {
        let Some(length) = bytes.get(end..end + 2) else {
            return MemberHeader::Cut;
        };
        end += 2 + usize::from(u16::from_le_bytes([length[0], length[1]]));
    }
    for text in [NAME, COMMENT] {
        if flags & text != 0 {
            let rest = bytes.get(end..).unwrap_or_default();
            match memchr::memchr(0, rest) {
                Some(length) => end += length + 1,
                None => return MemberHeader::Cut,
            }
        }
    }
    if flags & HEADER_CRC != 0 {
        end += 2;
    }
    if end <= bytes.len() {
        MemberHeader::Whole(end)
    } else {
        MemberHeader::Cut
    }
}

/// Decompresses the members of a source, one after the other.
pub(crate) struct Gunzip {
    inflate: Decompress,
    checksum: Crc,
    inside: bool,
    whole: Option<WholeMember>,
    ahead: Option<Ahead>,
}

impl Gunzip {
    pub(crate) fn new(ahead: Option<Ahead>) -> Self {
        Gunzip {
            inflate: Decompress::new(false),
            checksum: Crc::new(),
            inside: false,
            whole: WholeMember::new(),
            ahead,
        }
    }

    /// Describes the damage and its position. Some messages of the library describe its own state
    /// rather than the data.
    fn wrong(&self, error: &DecompressError) -> StreamError {
        let what = match error.message() {
            Some(message) if message.starts_with("invalid") => message,
            _ => "the data are corrupted",
        };
        damaged(format!(
            "{what} about {} bytes into the member, after {} decompressed bytes",
            self.inflate.total_in(),
            self.inflate.total_out()
        ))
    }

    fn end(&mut self, source: &mut ByteSource) -> Result<(), StreamError> {
        self.inside = false;
        source.ensure(8)?;
        let &[a, b, c, d, e, f, g, h] = source
            .available()
            .first_chunk::<8>()
            .ok_or(StreamError::Truncated)?;
        source.consume(8);
        if u32::from_le_bytes([a, b, c, d]) != self.checksum.sum() {
            return Err(damaged("the checksum is wrong".into()));
        }
        if u32::from_le_bytes([e, f, g, h]) != self.checksum.amount() {
            return Err(damaged("the length is wrong".into()));
        }
        Ok(())
    }
}

impl Unpack for Gunzip {
    fn inside(&self) -> bool {
        self.inside
    }

    fn leave(&mut self) {
        self.inside = false;
    }

    fn whole(
        &mut self,
        source: &mut ByteSource,
        output: &mut Vec<u8>,
    ) -> Result<bool, StreamError> {
        if let Some(ahead) = &mut self.ahead
            && let Some((length, content)) = ahead.member(source.position())
        {
            output.extend_from_slice(content);
            source.seek(source.position() + length as u64)?;
            return Ok(true);
        }
        let Some(whole) = &mut self.whole else {
            return Ok(false);
        };
        if source.reads_without_waiting() {
            source.ensure(MEMBER)?;
        }
        output.reserve(whole::LARGEST);
        let length = whole.inflate(source.available(), output);
        source.consume(length.unwrap_or(0));
        Ok(length.is_some())
    }

    fn begin(&mut self, source: &mut ByteSource) -> Result<(), StreamError> {
        loop {
            match header(source.available()) {
                MemberHeader::Whole(length) => {
                    source.consume(length);
                    break;
                }
                MemberHeader::Cut if source.available().len() < LONGEST_HEADER => {
                    if !source.more()? {
                        return Err(StreamError::Truncated);
                    }
                }
                MemberHeader::Cut => return Err(damaged("the header has no end".into())),
                MemberHeader::Wrong => {
                    return Err(damaged("expected a gzip member".into()));
                }
            }
        }
        self.inflate.reset(false);
        self.checksum.reset();
        self.inside = true;
        Ok(())
    }

    fn pull(
        &mut self,
        source: &mut ByteSource,
        output: &mut Vec<u8>,
    ) -> Result<usize, StreamError> {
        let before = output.len();
        loop {
            if !source.fill()? {
                return Err(StreamError::Truncated);
            }
            let consumed = self.inflate.total_in();
            let status = self
                .inflate
                .decompress_vec(source.available(), output, FlushDecompress::None)
                .map_err(|error| self.wrong(&error))?;
            source.consume((self.inflate.total_in() - consumed) as usize);
            if status == Status::StreamEnd {
                self.checksum.update(&output[before..]);
                self.end(source)?;
                return Ok(output.len() - before);
            }
            if output.len() > before {
                self.checksum.update(&output[before..]);
                return Ok(output.len() - before);
            }
        }
    }

    fn begins_with(&mut self, bytes: &[u8], expected: Beginning) -> Option<bool> {
        self.inside = false;
        let mut front = [0; Beginning::LONGEST];
        let front = &mut front[..expected.reach.min(Beginning::LONGEST)];
        let MemberHeader::Whole(length) = header(bytes) else {
            return Some(false);
        };
        self.inflate.reset(false);
        let done = self
            .inflate
            .decompress(&bytes[length..], front, FlushDecompress::None);
        // At most `front.len()` bytes were decompressed.
        let count = self.inflate.total_out() as usize;
        Some(done.is_ok() && (expected.fits)(&front[..count]))
    }

    /// Enough for a header, the code tables and a few symbols.
    fn front(&self) -> usize {
        4 << 10
    }

    fn find(&self, bytes: &[u8]) -> (Option<usize>, usize) {
        (memchr::memmem::find(bytes, &MAGIC), MAGIC.len())
    }

    fn cause(&self) -> Cause {
        Cause::BadGzip
    }
}

/// The length of the gzip header at the beginning of `bytes`, if there is one.
pub(crate) fn header_length(bytes: &[u8]) -> Option<usize> {
    match header(bytes) {
        MemberHeader::Whole(length) => Some(length),
        MemberHeader::Cut | MemberHeader::Wrong => None,
    }
}
