//! What a Parquet file says about itself is Thrift, and Thrift can claim without end.
//!
//! The library passes over fields that it does not know. A list of truths takes no bytes for its
//! elements there, so seven bytes can claim two thousand million of them, and passing over those
//! takes seconds; a small file holds thousands of such lists. So every header is walked through
//! here first, at the cost of the bytes that it has, and only then given to the library.

use std::io::{Cursor, Error, ErrorKind, Read, Result};

use parquet::errors::Result as ParquetResult;
use parquet::file::reader::{ChunkReader, Length};

use crate::bytes::{Handle, Part};

/// No header of a page is longer. They take a hundred bytes, and some kilobytes with the smallest
/// and largest values.
const MAX_HEADER: usize = 16 << 20;

/// As many elements without bytes may be in a header.
const MAX_WEIGHTLESS: u64 = 1 << 16;

/// As deep may a header nest: as deep as the library passes over.
const MAX_DEPTH: u32 = 64;

/// A file whose page headers are walked through before the library sees them.
#[derive(Clone)]
pub(super) struct Walked(pub(super) Handle);

impl Length for Walked {
    fn len(&self) -> u64 {
        self.0.length()
    }
}

impl ChunkReader for Walked {
    type T = Header;

    fn get_read(&self, start: u64) -> ParquetResult<Header> {
        Ok(Header {
            rest: self.0.get_read(start)?,
            head: None,
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<::bytes::Bytes> {
        self.0.get_bytes(start, length)
    }
}

/// The header of a page, and what comes behind it. It is walked through when the first byte is
/// asked for, for the library also opens places where no header is, and then reads nothing.
pub(super) struct Header {
    rest: Part,
    head: Option<Cursor<Vec<u8>>>,
}

impl Read for Header {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let head = match &mut self.head {
            Some(head) => head,
            none => {
                let bytes = walk(&mut self.rest, MAX_HEADER).map_err(|error| {
                    let problem = format!("the header of a page is damaged: {error}");
                    Error::new(error.kind(), problem)
                })?;
                none.insert(Cursor::new(bytes))
            }
        };
        match head.read(buffer)? {
            0 => self.rest.read(buffer),
            count => Ok(count),
        }
    }
}

/// Walks over one struct, and answers with its bytes. Fails if there are more than `most`, or if it
/// claims what takes no bytes without end.
pub(super) fn walk(input: &mut impl Read, most: usize) -> Result<Vec<u8>> {
    let mut walk = Walk::new(input, most);
    walk.structure(MAX_DEPTH)?;
    Ok(walk.seen)
}

/// Walks over a footer. In its list of columns each says how many come below it, and the library
/// makes room for as many; none can have more below it than there are.
pub(super) fn walk_footer(footer: &[u8]) -> Result<()> {
    let mut input = footer;
    let mut walk = Walk::new(&mut input, footer.len());
    walk.structure(MAX_DEPTH)?;
    if walk.children > walk.columns {
        return Err(bad("a column claims more columns than there are"));
    }
    Ok(())
}

/// Where the list of columns is in a footer, and where in each how many are below it: by the
/// numbers of fields.
const COLUMNS: [i64; 1] = [2];
const CHILDREN: [i64; 2] = [2, 5];

struct Walk<'a, R> {
    input: &'a mut R,
    seen: Vec<u8>,
    most: usize,
    weightless: u64,
    /// The numbers of the fields that lead to where it is.
    path: Vec<i64>,
    /// The length of the list of columns, if this is a footer.
    columns: u64,
    /// The most columns that one of them has below it.
    children: u64,
}

impl<'a, R: Read> Walk<'a, R> {
    fn new(input: &'a mut R, most: usize) -> Self {
        Walk {
            input,
            seen: Vec::with_capacity(128),
            most,
            weightless: 0,
            path: Vec::new(),
            columns: 0,
            children: 0,
        }
    }

    fn structure(&mut self, depth: u32) -> Result<()> {
        let mut field = 0i64;
        loop {
            let head = self.byte()?;
            if head & 15 == 0 {
                return Ok(());
            }
            // The number of a field stands by itself if it is not said as a step from the one
            // before.
            field = match head >> 4 {
                0 => signed(self.number()?),
                step => field.wrapping_add(i64::from(step)),
            };
            self.path.push(field);
            self.value(head & 15, depth)?;
            self.path.pop();
        }
    }

    fn value(&mut self, kind: u8, depth: u32) -> Result<()> {
        let deeper = depth
            .checked_sub(1)
            .ok_or_else(|| bad("it nests too deep"))?;
        match kind {
            1 | 2 => self.weightless += 1,
            3 => drop(self.byte()?),
            4..=6 => {
                let number = signed(self.number()?);
                if self.path == CHILDREN {
                    self.children = self.children.max(u64::try_from(number).unwrap_or(0));
                }
            }
            7 => self.bytes(8)?,
            8 => {
                let length = self.number()?;
                self.bytes(length)?;
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = match head >> 4 {
                    15 => self.number()?,
                    count => u64::from(count),
                };
                if self.path == COLUMNS {
                    self.columns = count;
                }
                self.values(&[head & 15], count, deeper)?;
            }
            11 => {
                let count = self.number()?;
                if count > 0 {
                    let kinds = self.byte()?;
                    self.values(&[kinds >> 4, kinds & 15], count, deeper)?;
                }
            }
            12 => self.structure(deeper)?,
            13 => self.bytes(16)?,
            _ => return Err(bad("it holds a value of no known kind")),
        }
        if self.weightless > MAX_WEIGHTLESS {
            return Err(bad("it claims more than it holds"));
        }
        Ok(())
    }

    fn values(&mut self, kinds: &[u8], count: u64, depth: u32) -> Result<()> {
        for _ in 0..count {
            for &kind in kinds {
                self.value(kind, depth)?;
            }
        }
        Ok(())
    }

    fn number(&mut self) -> Result<u64> {
        let (mut number, mut shift) = (0u64, 0u32);
        loop {
            let byte = self.byte()?;
            number |= u64::from(byte & 127).wrapping_shl(shift);
            if byte & 128 == 0 {
                return Ok(number);
            }
            shift = shift.wrapping_add(7);
        }
    }

    fn byte(&mut self) -> Result<u8> {
        self.bytes(1)?;
        Ok(self.seen.last().copied().unwrap_or(0))
    }

    fn bytes(&mut self, count: u64) -> Result<()> {
        let left = self.most - self.seen.len();
        if count > left as u64 {
            return Err(bad("it is too long"));
        }
        let read = self
            .input
            .by_ref()
            .take(count)
            .read_to_end(&mut self.seen)?;
        if (read as u64) < count {
            return Err(bad("it ends too early"));
        }
        Ok(())
    }
}

/// A number that may be negative, as it is written: 0, −1, 1, −2, …
fn signed(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

fn bad(problem: &str) -> Error {
    Error::new(ErrorKind::InvalidData, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Field 1 = 5, field 2 = "ab", then the end; and what comes after is left alone.
    #[test]
    fn a_struct_is_walked_to_its_end_and_no_further() {
        let mut input: &[u8] = &[0x15, 0x0a, 0x18, 2, b'a', b'b', 0, 99, 98];
        assert_eq!(walk(&mut input, 100).unwrap().len(), 7);
        assert_eq!(input, [99, 98]);
    }

    #[test]
    fn endless_claims_are_refused_at_once() {
        let endless = [0xff, 0xff, 0xff, 0xff, 0x07];
        // A list of truths; a set of them; a map of them; a list of such lists.
        for head in [&[0x19, 0xf1][..], &[0x1a, 0xf2], &[0x1b], &[0x19, 0xf9]] {
            let mut input = head.to_vec();
            input.extend(endless);
            input.extend([0x11; 40]);
            assert!(walk(&mut &input[..], 1 << 20).is_err(), "{head:?}");
        }
    }

    /// A footer of two columns, of which the first says how many are below it.
    #[test]
    fn no_column_has_more_below_it_than_there_are() {
        let footer = |below: u8| [0x15, 2, 0x19, 0x2c, 0x55, below, 0, 0x55, 0, 0, 0];
        assert!(walk_footer(&footer(2)).is_ok());
        assert!(walk_footer(&footer(4)).is_ok());
        assert!(walk_footer(&footer(6)).is_err());
        // By the number of the field alone, rather than by a step.
        assert!(walk_footer(&[0x05, 2, 2, 0x09, 4, 0x1c, 0x05, 10, 0x7e, 0, 0]).is_err());
    }

    #[test]
    fn what_is_cut_off_or_too_deep_or_too_long_is_refused() {
        assert!(walk(&mut &[0x15][..], 100).is_err());
        assert!(walk(&mut &[0x1c; 10_000][..], 100_000).is_err());
        assert!(walk(&mut &[0x18, 0xff, 0xff, 0xff, 0x7f][..], 100).is_err());
        assert!(walk(&mut &[0x15, 0x0a, 0x15, 0x0a, 0][..], 4).is_err());
    }
}
