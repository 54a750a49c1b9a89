//! bzip2 and xz. Most files are a single stream, but parallel compressors write many.

use bzip2::Decompress;
use liblzma::stream::{Action, Stream as XzStream};
use memchr::memmem;

use super::byte_source::ByteSource;
use super::gzip::Beginning;
use super::stream::StreamError;
use super::unpack::{Unpack, damaged, shows};

/// The mark of a bzip2 block, after `BZh` and the block size.
const BZIP2_BLOCK: [u8; 6] = *b"1AY&SY";

/// The mark of the end of a bzip2 stream, which follows `BZh` and the block size in an empty
/// stream.
const BZIP2_END: [u8; 6] = [0x17, 0x72, 0x45, 0x38, 0x50, 0x90];

const BZIP2_MAGIC: usize = 10;

/// Whether `bytes` begin a bzip2 stream.
pub(crate) fn is_bzip2(bytes: &[u8]) -> bool {
    match bytes.first_chunk::<BZIP2_MAGIC>() {
        Some([b'B', b'Z', b'h', b'1'..=b'9', mark @ ..]) => [BZIP2_BLOCK, BZIP2_END].contains(mark),
        _ => false,
    }
}

/// The first bytes of every xz stream.
pub(crate) const XZ_MAGIC: [u8; 6] = *b"\xfd7zXZ\0";

/// The memory limit for xz. The highest preset needs half of it.
const XZ_MEMORY: u64 = 128 << 20;

/// The differences between bzip2 and xz.
pub(crate) trait Decoder: Sized + Send {
    const NAME: &'static str;
    /// The length of the magic number of a stream.
    const MAGIC: usize;
    /// The maximum number of bytes needed to decompress the beginning of a stream.
    const FRONT: usize;
    /// Whether there may be zeros between streams.
    const PADDED: bool;

    /// Whether `bytes` begin a stream.
    fn begins(bytes: &[u8]) -> bool;

    /// The first offset in `bytes` at which a stream may begin.
    fn find(bytes: &[u8]) -> Option<usize>;

    fn new() -> Result<Self, StreamError>;

    /// The number of bytes of the stream consumed so far.
    fn taken(&self) -> u64;

    /// Decompresses into the spare capacity of `output`. Returns whether the stream has ended.
    fn step(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<bool, StreamError>;
}

impl Decoder for Decompress {
    const NAME: &'static str = "bzip2";
    const MAGIC: usize = BZIP2_MAGIC;
    /// A block can only be decompressed as a whole.
    const FRONT: usize = 1 << 20;
    const PADDED: bool = false;

    fn begins(bytes: &[u8]) -> bool {
        is_bzip2(bytes)
    }

    fn find(bytes: &[u8]) -> Option<usize> {
        memmem::find_iter(bytes, b"BZh").find(|&at| is_bzip2(&bytes[at..]))
    }

    fn new() -> Result<Self, StreamError> {
        Ok(Decompress::new(false))
    }

    fn taken(&self) -> u64 {
        self.total_in()
    }

    fn step(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<bool, StreamError> {
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

    fn new() -> Result<Self, StreamError> {
        XzStream::new_stream_decoder(XZ_MEMORY, 0).map_err(|error| damaged(format!("xz: {error}")))
    }

    fn taken(&self) -> u64 {
        self.total_in()
    }

    fn step(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<bool, StreamError> {
        match self.process_vec(input, output, Action::Run) {
            Ok(status) => Ok(status == liblzma::stream::Status::StreamEnd),
            Err(error) => Err(damaged(format!("xz: {error}"))),
        }
    }
}

/// Decompresses the streams of a source.
pub(crate) struct Unblock<D> {
    decoder: Option<D>,
}

/// Decompresses bzip2.
pub(crate) type Unbzip2 = Unblock<Decompress>;

/// Decompresses xz.
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

    fn preface(&mut self, source: &mut ByteSource) -> Result<(), StreamError> {
        while D::PADDED && source.fill()? && source.available()[0] == 0 {
            let zeros = source.available().iter().take_while(|&&byte| byte == 0);
            source.consume(zeros.count());
        }
        Ok(())
    }

    fn begin(&mut self, source: &mut ByteSource) -> Result<(), StreamError> {
        source.ensure(D::MAGIC)?;
        if !D::begins(source.available()) {
            return Err(damaged(format!("expected a {} stream", D::NAME)));
        }
        self.decoder = Some(D::new()?);
        Ok(())
    }

    fn pull(
        &mut self,
        source: &mut ByteSource,
        output: &mut Vec<u8>,
    ) -> Result<usize, StreamError> {
        let before = output.len();
        loop {
            let decoder = self.decoder.as_mut().ok_or(StreamError::Truncated)?;
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
                return Err(StreamError::Truncated);
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
