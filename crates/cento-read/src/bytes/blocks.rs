//! bzip2 and xz, stream by stream. Mostly a file is one of them, but parallel packers write many.

use bzip2::Decompress;
use liblzma::stream::{Action, Stream as Decoder};
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

/// Unpacks the bzip2 streams of a source.
#[derive(Default)]
pub(crate) struct Unbzip2 {
    decoder: Option<Decompress>,
}

impl Unpack for Unbzip2 {
    fn inside(&self) -> bool {
        self.decoder.is_some()
    }

    fn leave(&mut self) {
        self.decoder = None;
    }

    fn begin(&mut self, source: &mut Source) -> Result<(), Trouble> {
        source.ensure(BZIP2_MAGIC)?;
        if !is_bzip2(source.available()) {
            return Err(damaged("no bzip2 stream begins here"));
        }
        self.decoder = Some(Decompress::new(false));
        Ok(())
    }

    fn pull(&mut self, source: &mut Source, output: &mut Vec<u8>) -> Result<usize, Trouble> {
        let before = output.len();
        let decoder = self.decoder.as_mut().ok_or(Trouble::Truncated)?;
        loop {
            let more = source.fill()?;
            let consumed = decoder.total_in();
            let status = decoder
                .decompress_vec(source.available(), output)
                .map_err(|error| damaged(format!("bzip2: {error}")))?;
            source.consume((decoder.total_in() - consumed) as usize);
            if status == bzip2::Status::StreamEnd {
                self.decoder = None;
                return Ok(output.len() - before);
            }
            if output.len() > before {
                return Ok(output.len() - before);
            }
            if !more {
                return Err(Trouble::Truncated);
            }
        }
    }

    fn begins_with(&mut self, bytes: &[u8], expected: Beginning) -> bool {
        self.decoder = None;
        let mut front = Vec::with_capacity(expected.reach);
        is_bzip2(bytes)
            && Decompress::new(false)
                .decompress_vec(bytes, &mut front)
                .is_ok()
            && shows(&front, expected)
    }

    /// A block has to be there as a whole before anything of it can be had.
    fn front(&self) -> usize {
        1 << 20
    }

    fn find(&self, bytes: &[u8]) -> (Option<usize>, usize) {
        let found = memmem::find_iter(bytes, b"BZh").find(|&at| is_bzip2(&bytes[at..]));
        (found, BZIP2_MAGIC)
    }
}

/// Unpacks the xz streams of a source.
#[derive(Default)]
pub(crate) struct Unxz {
    decoder: Option<Decoder>,
}

fn xz_decoder() -> Result<Decoder, Trouble> {
    Decoder::new_stream_decoder(XZ_MEMORY, 0).map_err(|error| damaged(format!("xz: {error}")))
}

impl Unpack for Unxz {
    fn inside(&self) -> bool {
        self.decoder.is_some()
    }

    fn leave(&mut self) {
        self.decoder = None;
    }

    /// Zeros may stand between streams.
    fn preface(&mut self, source: &mut Source) -> Result<(), Trouble> {
        while source.fill()? && source.available()[0] == 0 {
            let zeros = source.available().iter().take_while(|&&byte| byte == 0);
            source.consume(zeros.count());
        }
        Ok(())
    }

    fn begin(&mut self, source: &mut Source) -> Result<(), Trouble> {
        source.ensure(XZ_MAGIC.len())?;
        if !source.available().starts_with(&XZ_MAGIC) {
            return Err(damaged("no xz stream begins here"));
        }
        self.decoder = Some(xz_decoder()?);
        Ok(())
    }

    fn pull(&mut self, source: &mut Source, output: &mut Vec<u8>) -> Result<usize, Trouble> {
        let before = output.len();
        let decoder = self.decoder.as_mut().ok_or(Trouble::Truncated)?;
        loop {
            let more = source.fill()?;
            let consumed = decoder.total_in();
            let status = decoder
                .process_vec(source.available(), output, Action::Run)
                .map_err(|error| damaged(format!("xz: {error}")))?;
            source.consume((decoder.total_in() - consumed) as usize);
            if status == liblzma::stream::Status::StreamEnd {
                self.decoder = None;
                return Ok(output.len() - before);
            }
            if output.len() > before {
                return Ok(output.len() - before);
            }
            if !more {
                return Err(Trouble::Truncated);
            }
        }
    }

    fn begins_with(&mut self, bytes: &[u8], expected: Beginning) -> bool {
        self.decoder = None;
        let mut front = Vec::with_capacity(expected.reach);
        let Ok(mut decoder) = xz_decoder() else {
            return false;
        };
        bytes.starts_with(&XZ_MAGIC)
            && decoder.process_vec(bytes, &mut front, Action::Run).is_ok()
            && shows(&front, expected)
    }

    fn front(&self) -> usize {
        4 << 10
    }

    fn find(&self, bytes: &[u8]) -> (Option<usize>, usize) {
        (memmem::find(bytes, &XZ_MAGIC), XZ_MAGIC.len())
    }
}
