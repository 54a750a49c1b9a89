//! zstd, with the dictionary that a web archive may contain.
//!
//! ```text
//!  ┌ skippable frame 0x184D2A5D ┐ ┌ frame ┐ ┌ frame ┐
//!  │ dictionary, compressed or  │ │ record│ │ record│ …
//!  └ not                        ┘ └───────┘ └───────┘
//! ```

use std::io;

use memchr::memmem;
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

use super::byte_source::ByteSource;
use super::gzip::Beginning;
use super::stream::StreamError;
use super::unpack::{Unpack, damaged, pass_skippable, shows, skippable};

/// The magic number of frames with content.
pub(crate) const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The kind of skippable frame that contains a dictionary.
pub(crate) const DICTIONARY: u8 = 13;

/// The largest dictionary, compressed and decompressed. Real ones have up to a few megabytes.
const LARGEST_DICTIONARY: usize = 32 << 20;

/// The largest window. Frames may require gigabytes; the `zstd` tool has the same default limit.
const LARGEST_WINDOW_LOG: u32 = 27;

/// The first block can only be decompressed as a whole.
const FRONT: usize = 160 << 10;

/// Creates a decoder for windows of up to 2 to the power of `window_log` bytes.
pub(crate) fn decoder(dictionary: &[u8], window_log: u32) -> io::Result<Decoder<'static>> {
    let mut decoder = Decoder::with_dictionary(dictionary)?;
    decoder.set_parameter(DParameter::WindowLogMax(window_log))?;
    Ok(decoder)
}

/// Decompresses into the spare capacity of `output`. Returns how much of `input` was consumed, and
/// whether the frame has ended.
pub(crate) fn step(
    decoder: &mut Decoder<'static>,
    input: &[u8],
    output: &mut Vec<u8>,
) -> io::Result<(usize, bool)> {
    let filled = output.len();
    let mut input = InBuffer::around(input);
    let mut output = OutBuffer::around_pos(output, filled);
    let hint = decoder.run(&mut input, &mut output)?;
    Ok((input.pos(), hint == 0))
}

/// Decompresses the frames of a source.
pub(crate) struct Unzstd {
    /// Created when the first frame begins, because a dictionary may precede it.
    decoder: Option<Decoder<'static>>,
    dictionary: Vec<u8>,
    inside: bool,
}

impl Unzstd {
    pub(crate) fn new() -> Self {
        Unzstd {
            decoder: None,
            dictionary: Vec::new(),
            inside: false,
        }
    }

    fn decoder(&mut self) -> Result<&mut Decoder<'static>, StreamError> {
        if self.decoder.is_none() {
            let made = decoder(&self.dictionary, LARGEST_WINDOW_LOG);
            self.decoder = Some(made.map_err(|error| damaged(error.to_string()))?);
            self.dictionary = Vec::new();
        }
        let decoder = self.decoder.as_mut().ok_or(StreamError::Truncated)?;
        decoder.reinit()?;
        Ok(decoder)
    }

    /// Reads a dictionary of `length` bytes from `source`.
    fn read_dictionary(&mut self, source: &mut ByteSource, length: u32) -> Result<(), StreamError> {
        let length = length as usize;
        if length > LARGEST_DICTIONARY {
            return Err(damaged(format!(
                "the dictionary has {length} bytes, the limit is {LARGEST_DICTIONARY}"
            )));
        }
        let mut stored = Vec::new();
        while stored.len() < length {
            if !source.fill()? {
                return Err(StreamError::Truncated);
            }
            let available = source.available();
            let step = available.len().min(length - stored.len());
            stored.extend_from_slice(&available[..step]);
            source.consume(step);
        }
        self.dictionary = if stored.starts_with(&MAGIC) {
            unpack_dictionary(&stored)?
        } else {
            stored
        };
        Ok(())
    }
}

fn unpack_dictionary(stored: &[u8]) -> Result<Vec<u8>, StreamError> {
    let wrong = |error: io::Error| damaged(format!("the dictionary: {error}"));
    let mut decoder = decoder(&[], LARGEST_WINDOW_LOG).map_err(wrong)?;
    let mut dictionary = Vec::new();
    let mut rest = stored;
    loop {
        dictionary.reserve(128 << 10);
        let before = dictionary.len();
        let (read, ended) = step(&mut decoder, rest, &mut dictionary).map_err(wrong)?;
        rest = &rest[read..];
        if dictionary.len() > LARGEST_DICTIONARY {
            return Err(damaged("the dictionary is too large"));
        }
        if ended {
            return Ok(dictionary);
        }
        if read == 0 && dictionary.len() == before {
            return Err(damaged("the dictionary is truncated"));
        }
    }
}

impl Unpack for Unzstd {
    fn inside(&self) -> bool {
        self.inside
    }

    fn leave(&mut self) {
        self.inside = false;
    }

    fn preface(&mut self, source: &mut ByteSource) -> Result<(), StreamError> {
        if source.position() == 0 {
            source.ensure(8)?;
            if let Some((DICTIONARY, length)) = skippable(source.available()) {
                source.consume(8);
                self.read_dictionary(source, length)?;
            }
        }
        pass_skippable(source)
    }

    fn begin(&mut self, source: &mut ByteSource) -> Result<(), StreamError> {
        source.ensure(MAGIC.len())?;
        let available = source.available();
        if !available.starts_with(&MAGIC) {
            return Err(if MAGIC.starts_with(available) {
                StreamError::Truncated
            } else {
                damaged("expected a zstd frame")
            });
        }
        self.decoder()?;
        self.inside = true;
        Ok(())
    }

    fn pull(
        &mut self,
        source: &mut ByteSource,
        output: &mut Vec<u8>,
    ) -> Result<usize, StreamError> {
        let before = output.len();
        let decoder = self.decoder.as_mut().ok_or(StreamError::Truncated)?;
        loop {
            let more = source.fill()?;
            let (read, ended) = step(decoder, source.available(), output)
                .map_err(|error| damaged(format!("zstd: {error}")))?;
            source.consume(read);
            self.inside = !ended;
            if ended || output.len() > before {
                return Ok(output.len() - before);
            }
            if !more {
                return Err(StreamError::Truncated);
            }
        }
    }

    fn begins_with(&mut self, bytes: &[u8], expected: Beginning) -> Option<bool> {
        self.inside = false;
        if !bytes.starts_with(&MAGIC) {
            return Some(false);
        }
        let Ok(decoder) = self.decoder() else {
            return Some(false);
        };
        let mut front = Vec::with_capacity(expected.reach);
        let mut rest = bytes;
        while front.len() < expected.reach {
            let before = (rest.len(), front.len());
            match step(decoder, rest, &mut front) {
                Ok((read, false)) if read > 0 || front.len() > before.1 => rest = &rest[read..],
                Ok((_, false)) => return None,
                Ok((_, true)) | Err(_) => break,
            }
        }
        Some(shows(&front, expected))
    }

    fn front(&self) -> usize {
        FRONT
    }

    fn find(&self, bytes: &[u8]) -> (Option<usize>, usize) {
        (memmem::find(bytes, &MAGIC), MAGIC.len())
    }
}
