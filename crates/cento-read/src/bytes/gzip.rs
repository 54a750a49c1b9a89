//! gzip, member by member.
//!
//! The header and the trailer of a member are read here rather than by the inflating library: only
//! then is it known to the byte where a member begins and ends, and the inflater can be used again
//! for the next one without setting it up anew, which for short records would cost as much as
//! inflating them.

use flate2::{Crc, Decompress, DecompressError, FlushDecompress, Status};

use super::ahead::Ahead;
use super::source::Source;
use super::stream::Trouble;
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

/// No header that was ever written in earnest is longer.
const LONGEST_HEADER: usize = 1 << 17;

/// As much of the input is at hand when a member begins, if there is as much. Nearly all members
/// are shorter.
const MEMBER: usize = 256 << 10;

/// How a record begins, so that a member that begins one is known from one that goes on with one.
#[derive(Clone, Copy)]
pub(crate) struct Beginning {
    /// How many bytes tell, at most [`Beginning::LONGEST`]. A member may have fewer.
    pub(crate) reach: usize,
    /// Whether the first bytes of a member, that many or all it has, begin a record.
    pub(crate) fits: fn(&[u8]) -> bool,
}

impl Beginning {
    pub(crate) const LONGEST: usize = 512;
}

/// The header of a member, as far as it is there.
enum Header {
    /// It ends here.
    Whole(usize),
    /// It goes on.
    Cut,
    /// It is none.
    Wrong,
}

fn damaged(detail: String) -> Trouble {
    Trouble::Damaged(Cause::BadGzip, detail)
}

fn header(bytes: &[u8]) -> Header {
    let known = bytes.len().min(MAGIC.len());
    if bytes[..known] != MAGIC[..known] {
        return Header::Wrong;
    }
    let Some(&flags) = bytes.get(3) else {
        return Header::Cut;
    };
    if flags & RESERVED != 0 {
        return Header::Wrong;
    }
    let mut end = 10;
    if flags & EXTRA != 0 {
        let Some(length) = bytes.get(end..end + 2) else {
            return Header::Cut;
        };
        end += 2 + usize::from(u16::from_le_bytes([length[0], length[1]]));
    }
    for text in [NAME, COMMENT] {
        if flags & text != 0 {
            let rest = bytes.get(end..).unwrap_or_default();
            match memchr::memchr(0, rest) {
                Some(length) => end += length + 1,
                None => return Header::Cut,
            }
        }
    }
    if flags & HEADER_CRC != 0 {
        end += 2;
    }
    if end <= bytes.len() {
        Header::Whole(end)
    } else {
        Header::Cut
    }
}

/// Unpacks the members of a source, one after the other.
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

    /// What is wrong with the member, and where: the library's own words are about its state rather
    /// than about the data.
    fn wrong(&self, error: &DecompressError) -> Trouble {
        let what = match error.message() {
            Some(message) if message.starts_with("invalid") => message,
            _ => "the data do not inflate",
        };
        damaged(format!(
            "{what} about {} bytes into the member, {} of it unpacked",
            self.inflate.total_in(),
            self.inflate.total_out()
        ))
    }

    fn end(&mut self, source: &mut Source) -> Result<(), Trouble> {
        self.inside = false;
        source.ensure(8)?;
        let &[a, b, c, d, e, f, g, h] = source
            .available()
            .first_chunk::<8>()
            .ok_or(Trouble::Truncated)?;
        source.consume(8);
        if u32::from_le_bytes([a, b, c, d]) != self.checksum.sum() {
            return Err(damaged("the checksum differs".into()));
        }
        if u32::from_le_bytes([e, f, g, h]) != self.checksum.amount() {
            return Err(damaged("the length differs".into()));
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

    fn whole(&mut self, source: &mut Source, output: &mut Vec<u8>) -> Result<bool, Trouble> {
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
        if source.hurries() {
            source.ensure(MEMBER)?;
        }
        output.reserve(whole::LARGEST);
        let length = whole.inflate(source.available(), output);
        source.consume(length.unwrap_or(0));
        Ok(length.is_some())
    }

    fn begin(&mut self, source: &mut Source) -> Result<(), Trouble> {
        loop {
            match header(source.available()) {
                Header::Whole(length) => {
                    source.consume(length);
                    break;
                }
                Header::Cut if source.available().len() < LONGEST_HEADER => {
                    if !source.more()? {
                        return Err(Trouble::Truncated);
                    }
                }
                Header::Cut => return Err(damaged("the header has no end".into())),
                Header::Wrong => {
                    return Err(damaged("no compressed member begins here".into()));
                }
            }
        }
        self.inflate.reset(false);
        self.checksum.reset();
        self.inside = true;
        Ok(())
    }

    fn pull(&mut self, source: &mut Source, output: &mut Vec<u8>) -> Result<usize, Trouble> {
        let before = output.len();
        loop {
            if !source.fill()? {
                return Err(Trouble::Truncated);
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
        let Header::Whole(length) = header(bytes) else {
            return Some(false);
        };
        self.inflate.reset(false);
        let done = self
            .inflate
            .decompress(&bytes[length..], front, FlushDecompress::None);
        // No more than fits was unpacked.
        let count = self.inflate.total_out() as usize;
        Some(done.is_ok() && (expected.fits)(&front[..count]))
    }

    /// A header, the code tables, a few symbols.
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

/// How long the header is that `bytes` begin with; nothing if they begin with none.
pub(crate) fn header_length(bytes: &[u8]) -> Option<usize> {
    match header(bytes) {
        Header::Whole(length) => Some(length),
        Header::Cut | Header::Wrong => None,
    }
}
