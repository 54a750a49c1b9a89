//! bzip2 and xz, stream by stream. Mostly a file is one of them, but parallel packers write many.

use bzip2::Decompress;
use liblzma::stream::{Action, Stream as XzStream};
use memchr::memmem;

use super::gzip::Beginning;
use super::source::Source;
use super::stream::Trouble;
use super::unpack::{Unpack, damaged, shows};

/// The mark of a bzip2 block, which comes after `BZh` and the size of the blocks.
const BZIP2_BLOCK: [u8; 6] = *b"1AY&SY";

/// The mark of the end of a bzip2 stream, which comes first in an empty one.
const BZIP2_END: [u8; 6] = [0x17, 0x72, 0x45, 0x38, 0x50, 0x90];

const BZIP2_MAGIC: usize = 10;

/// Whether a bzip2 stream begins with `bytes`.
pub(crate) fn is_bzip2(bytes: &[u8]) -> bool {
    match bytes.first_chunk::<BZIP2_MAGIC>() {
        Some([b'B', b'Z', b'h', b'1'..=b'9', mark @ ..]) => [BZIP2_BLOCK, BZIP2_END].contains(mark),
        _ => false,
    }
}

/// The first bytes of every xz stream.
pub(crate) const XZ_MAGIC: [u8; 6] = *b"\xfd7zXZ\0";

/// What unpacking xz may take. The highest preset takes half of it.
const XZ_MEMORY: u64 = 128 << 20;

/// What bzip2 and xz do unlike each other.
pub(crate) trait Decoder: Sized + Send {
    const NAME: &'static str;
    /// How long the mark is by which a stream is known.
    const MAGIC: usize;
    /// How much of a stream it takes at most to unpack its beginning.
    const FRONT: usize;
    /// Whether zeros may stand between streams.
    const PADDED: bool;

    /// Whether a stream begins with `bytes`.
    fn begins(bytes: &[u8]) -> bool;

    /// The first place in `bytes` at which a stream may begin.
    fn find(bytes: &[u8]) -> Option<usize>;

    fn new() -> Result<Self, Trouble>;

    /// How much of the stream it has taken.
    fn taken(&self) -> u64;

    /// Unpacks into the spare capacity of `output`. Answers whether the stream is at its end.
    fn step(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<bool, Trouble>;
}

impl Decoder for Decompress {
    const NAME: &'static str = "bzip2";
    const MAGIC: usize = BZIP2_MAGIC;
    /// A block has to be there as a whole before anything of it can be had.
    const FRONT: usize = 1 << 20;
    const PADDED: bool = false;

    fn begins(bytes: &[u8]) -> bool {
        is_bzip2(bytes)
    }

    fn find(bytes: &[u8]) -> Option<usize> {
        memmem::find_iter(bytes, b"BZh").find(|&at| is_bzip2(&bytes[at..]))
    }

    fn new() -> Result<Self, Trouble> {
        Ok(Decompress::new(false))
    }

    fn taken(&self) -> u64 {
        self.total_in()
    }

    fn step(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<bool, Trouble> {
        match self.decompress_vec(input, output) {
            Ok(status) => Ok(status == bzip2::Status::StreamEnd),
            Err(error) => Err(damaged(format!("bzip2: {error}"))),
        }
    }
}

impl Decoder for XzStream {
    const NAME: &'static str = "xz";
    const MAGIC: usize = XZ_MAGIC.len();
    const FRONT: usize = 4 << 10;
    const PADDED: bool = true;

    fn begins(bytes: &[u8]) -> bool {
        bytes.starts_with(&XZ_MAGIC)
    }

    fn find(bytes: &[u8]) -> Option<usize> {
        memmem::find(bytes, &XZ_MAGIC)
    }

    fn new() -> Result<Self, Trouble> {
        XzStream::new_stream_decoder(XZ_MEMORY, 0).map_err(|error| damaged(format!("xz: {error}")))
    }

    fn taken(&self) -> u64 {
        self.total_in()
    }

    fn step(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<bool, Trouble> {
        match self.process_vec(input, output, Action::Run) {
            Ok(status) => Ok(status == liblzma::stream::Status::StreamEnd),
            Err(error) => Err(damaged(format!("xz: {error}"))),
        }
    }
}

/// Unpacks the streams of a source.
pub(crate) struct Unblock<D> {
    decoder: Option<D>,
}

/// Unpacks bzip2.
pub(crate) type Unbzip2 = Unblock<Decompress>;

/// Unpacks xz.
pub(crate) type Unxz = Unblock<XzStream>;

impl<D> Default for Unblock<D> {
    fn default() -> Self {
        Unblock { decoder: None }
    }
}

impl<D: Decoder> Unpack for Unblock<D> {
    fn inside(&self) -> bool {
        self.decoder.is_some()
    }

    fn leave(&mut self) {
        self.decoder = None;
    }

    fn preface(&mut self, source: &mut Source) -> Result<(), Trouble> {
        while D::PADDED && source.fill()? && source.available()[0] == 0 {
            let zeros = source.available().iter().take_while(|&&byte| byte == 0);
            source.consume(zeros.count());
        }
        Ok(())
    }

    fn begin(&mut self, source: &mut Source) -> Result<(), Trouble> {
        source.ensure(D::MAGIC)?;
        if !D::begins(source.available()) {
            return Err(damaged(format!("no {} stream begins here", D::NAME)));
        }
        self.decoder = Some(D::new()?);
        Ok(())
    }

    fn pull(&mut self, source: &mut Source, output: &mut Vec<u8>) -> Result<usize, Trouble> {
        let before = output.len();
        loop {
            let decoder = self.decoder.as_mut().ok_or(Trouble::Truncated)?;
            let more = source.fill()?;
            let taken = decoder.taken();
            let ended = decoder.step(source.available(), output)?;
            source.consume((decoder.taken() - taken) as usize);
            if ended {
                self.decoder = None;
            }
            if ended || output.len() > before {
                return Ok(output.len() - before);
            }
            if !more {
                return Err(Trouble::Truncated);
            }
        }
    }

    fn begins_with(&mut self, bytes: &[u8], expected: Beginning) -> Option<bool> {
        self.decoder = None;
        if !D::begins(bytes) {
            return Some(false);
        }
        let Ok(mut decoder) = D::new() else {
            return Some(false);
        };
        let mut front = Vec::with_capacity(expected.reach);
        match decoder.step(bytes, &mut front) {
            Ok(false) if front.len() < expected.reach => None,
            Ok(_) => Some(shows(&front, expected)),
            Err(_) => Some(false),
        }
    }

    fn front(&self) -> usize {
        D::FRONT
    }

    fn find(&self, bytes: &[u8]) -> (Option<usize>, usize) {
        (D::find(bytes), D::MAGIC)
    }
}
