//! How states travel on a cluster: runs of zeros or ones are stored as their length.
//!
//! A task writes to a few of the pages, bits or counters of a state, and all others have the value
//! of an empty state. So what it sends has the size of what it has written, not that of the state:
//!
//! ```text
//!   serialised   0000…0000 │ 17 4 99 … 23 │ 0000…0000
//!   compact      zeros, n  │ literal, n, 17 4 99 … 23 │ zeros, n
//! ```
//!
//! Bytes are compared in blocks, since a run of a few bytes is not worth its header.

use std::io::{self, Read, Write};

/// Runs have a length that is a multiple of this many bytes, apart from the end.
const BLOCK: usize = 16;
/// Literal bytes that are collected before they are written.
const LITERAL: usize = 64 << 10;
/// What a run consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunKind {
    Zeros = 0,
    Ones = 1,
    Literal = 2,
}

impl RunKind {
    #[inline(always)]
    fn of(block: &[u8]) -> RunKind {
        match <[u8; BLOCK]>::try_from(block).map(u128::from_ne_bytes) {
            Ok(0) => RunKind::Zeros,
            Ok(u128::MAX) => RunKind::Ones,
            Ok(_) => RunKind::Literal,
            // The end, which is shorter.
            Err(_) if block.iter().all(|&byte| byte == 0) => RunKind::Zeros,
            Err(_) if block.iter().all(|&byte| byte == u8::MAX) => RunKind::Ones,
            Err(_) => RunKind::Literal,
        }
    }

    fn from_byte(byte: u8) -> io::Result<RunKind> {
        match byte {
            0 => Ok(RunKind::Zeros),
            1 => Ok(RunKind::Ones),
            2 => Ok(RunKind::Literal),
            _ => Err(invalid()),
        }
    }
}

fn invalid() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a compact state is corrupted")
}

/// Compacts the bytes that are written to it.
pub(crate) struct CompactWriter<W> {
    output: W,
    /// The run that has begun.
    kind: RunKind,
    length: u64,
    /// The bytes of a literal run that has begun.
    literal: Vec<u8>,
    /// Less than a block.
    rest: Vec<u8>,
}

impl<W: Write> CompactWriter<W> {
    pub(crate) fn new(output: W) -> CompactWriter<W> {
        CompactWriter {
            output,
            kind: RunKind::Zeros,
            length: 0,
            literal: Vec::new(),
            rest: Vec::new(),
        }
    }

    fn add(&mut self, block: &[u8]) -> io::Result<()> {
        let kind = RunKind::of(block);
        if kind != self.kind || self.literal.len() >= LITERAL {
            self.end_run()?;
            self.kind = kind;
        }
        self.length += block.len() as u64;
        if kind == RunKind::Literal {
            self.literal.extend_from_slice(block);
        }
        Ok(())
    }

    fn end_run(&mut self) -> io::Result<()> {
        if self.length > 0 {
            // The header of a run: its length and its kind, seven bits a byte, the lowest first.
            let mut header = u128::from(self.length) << 2 | self.kind as u128;
            let mut bytes = [0; 10];
            let mut many = 0;
            for byte in &mut bytes {
                *byte = (header & 0x7f) as u8;
                header >>= 7;
                many += 1;
                if header == 0 {
                    break;
                }
                *byte |= 0x80;
            }
            self.output
                .write_all(bytes.get(..many).unwrap_or_default())?;
            self.output.write_all(&self.literal)?;
        }
        self.length = 0;
        self.literal.clear();
        Ok(())
    }

    /// Writes what remains, and returns the output.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        let rest = std::mem::take(&mut self.rest);
        if !rest.is_empty() {
            self.add(&rest)?;
        }
        self.end_run()?;
        Ok(self.output)
    }
}

impl<W: Write> Write for CompactWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut left = bytes;
        if !self.rest.is_empty() {
            let (now, later) = left.split_at(left.len().min(BLOCK - self.rest.len()));
            self.rest.extend_from_slice(now);
            left = later;
            if self.rest.len() == BLOCK {
                let block = std::mem::take(&mut self.rest);
                self.add(&block)?;
            }
        }
        let blocks = left.chunks_exact(BLOCK);
        let rest = blocks.remainder();
        for block in blocks {
            self.add(block)?;
        }
        self.rest.extend_from_slice(rest);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads the bytes that a [`CompactWriter`] has compacted.
pub(crate) struct CompactReader<'a> {
    input: &'a [u8],
    kind: RunKind,
    length: u64,
}

impl<'a> CompactReader<'a> {
    pub(crate) fn new(input: &'a [u8]) -> CompactReader<'a> {
        CompactReader {
            input,
            kind: RunKind::Zeros,
            length: 0,
        }
    }
}

impl Read for CompactReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.length == 0 {
            if self.input.is_empty() {
                return Ok(0);
            }
            let mut header = 0u128;
            for shift in (0..70).step_by(7) {
                let (&byte, rest) = self.input.split_first().ok_or_else(invalid)?;
                self.input = rest;
                header |= u128::from(byte & 0x7f) << shift;
                if byte & 0x80 == 0 {
                    break;
                }
            }
            self.kind = RunKind::from_byte((header & 3) as u8)?;
            self.length = u64::try_from(header >> 2).map_err(|_| invalid())?;
        }
        let many = usize::try_from(self.length).map_or(buffer.len(), |left| left.min(buffer.len()));
        let buffer = buffer.get_mut(..many).unwrap_or_default();
        match self.kind {
            RunKind::Zeros => buffer.fill(0),
            RunKind::Ones => buffer.fill(u8::MAX),
            RunKind::Literal => {
                let (now, later) = self.input.split_at_checked(many).ok_or_else(invalid)?;
                buffer.copy_from_slice(now);
                self.input = later;
            }
        }
        self.length -= many as u64;
        Ok(many)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn compacted(pieces: &[&[u8]]) -> Vec<u8> {
        let mut writer = CompactWriter::new(Vec::new());
        for piece in pieces {
            writer.write_all(piece).unwrap();
        }
        writer.finish().unwrap()
    }

    /// Runs of zeros, of ones and of other bytes.
    fn content() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![Just(0), Just(u8::MAX), any::<u8>()];
        let run = (byte, 0usize..400).prop_map(|(byte, many)| vec![byte; many]);
        prop::collection::vec(run, 0..20).prop_map(|runs| runs.concat())
    }

    proptest! {
        #[test]
        fn any_bytes_read_back_in_pieces_of_any_size(
            content in content(),
            written in 1usize..300,
            read in 1usize..300,
        ) {
            let pieces: Vec<&[u8]> = content.chunks(written).collect();
            let compact = compacted(&pieces);
            let mut reader = CompactReader::new(&compact);
            let mut found = Vec::new();
            let mut buffer = vec![0; read];
            loop {
                match reader.read(&mut buffer).unwrap() {
                    0 => break,
                    many => found.extend_from_slice(&buffer[..many]),
                }
            }
            prop_assert_eq!(found, content);
        }

        #[test]
        fn corrupted_bytes_are_no_panic(content in prop::collection::vec(any::<u8>(), 0..200)) {
            let limited = CompactReader::new(&content).take(1 << 16);
            let _ = io::copy(&mut { limited }, &mut io::sink());
        }
    }

    #[test]
    fn a_state_has_the_size_of_what_was_written_to_it() {
        assert_eq!(compacted(&[&[0; 1 << 20]]).len(), 4);
        assert_eq!(compacted(&[&[u8::MAX; 1 << 20]]).len(), 4);
        assert_eq!(compacted(&[]).len(), 0);
        let mut one = vec![0; 1 << 20];
        one[1 << 19] = 7;
        assert_eq!(compacted(&[&one]).len(), 4 + 1 + BLOCK + 3);
    }
}
