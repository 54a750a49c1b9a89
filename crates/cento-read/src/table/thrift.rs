//! Checks the Thrift metadata of Parquet files before the library parses it.
//!
//! The library skips unknown fields. The elements of a list of booleans take no bytes, so seven
//! bytes can claim two billion of them, and skipping those takes seconds; a small file can contain
//! thousands of such lists. So every header is checked here first, in time proportional to its
//! bytes.
//!
//! The library trusts the types of fields that it knows: where a file claims another type, the two
//! read different values from there on, and what was checked here is not what the library reads. So
//! a known field must have its type ([`Shape`]).

use super::shape::{FOOTER, Fields, PAGE_HEADER, Shape};
use std::io::{Error, ErrorKind, Read, Result};

/// The maximum number of elements without bytes in a header.
const MAX_ZERO_SIZED: u64 = 1 << 16;

/// The maximum nesting depth of a header, the same as in the library.
const MAX_DEPTH: u32 = 64;

/// The header of a page, and what it claims.
pub(super) struct PageHeader {
    pub(super) bytes: Vec<u8>,
    /// The size of the page after the header, as stored and decompressed.
    pub(super) packed: u64,
    pub(super) unpacked: u64,
    /// The size of its levels, which come first and are not compressed.
    pub(super) levels: u64,
}

/// Checks the header of a page. Fails if it has more than `most` bytes, too many elements without
/// bytes, or if a dictionary claims more values than it has bytes: the library reserves memory for
/// as many as are claimed.
pub(super) fn walk(input: &mut impl Read, most: usize) -> Result<PageHeader> {
    let mut walk = ThriftWalk::new(input, most);
    walk.structure(PAGE_HEADER, MAX_DEPTH)?;
    if walk.dictionary_values > walk.page_bytes {
        return Err(bad("a dictionary claims more values than it has bytes"));
    }
    Ok(PageHeader {
        packed: walk.packed_bytes,
        unpacked: walk.page_bytes,
        levels: walk.levels,
        bytes: walk.seen,
    })
}

/// Checks a footer. Each element of its list of columns contains the number of its children, for
/// which the library reserves memory. It cannot exceed the number of columns.
pub(super) fn walk_footer(footer: &[u8]) -> Result<()> {
    let mut input = footer;
    let mut walk = ThriftWalk::new(&mut input, footer.len());
    walk.structure(FOOTER, MAX_DEPTH)?;
    if walk.children > walk.columns {
        return Err(bad("a column claims too many children"));
    }
    Ok(())
}

/// The paths, by field number, of the list of columns in a footer and of the number of children in
/// each.
const COLUMNS: [i16; 1] = [2];
const CHILDREN: [i16; 2] = [2, 5];

/// The paths of the sizes of a page in its header, uncompressed and as stored, of the number of
/// values if it is a dictionary, and of the sizes of its levels if they are not compressed.
const PAGE_BYTES: [i16; 1] = [2];
const PACKED_BYTES: [i16; 1] = [3];
const DICTIONARY_VALUES: [i16; 2] = [7, 1];
const LEVELS: [[i16; 2]; 2] = [[8, 5], [8, 6]];

struct ThriftWalk<'a, R> {
    input: &'a mut R,
    seen: Vec<u8>,
    most: usize,
    zero_sized: u64,
    /// The field numbers of the current path.
    path: Vec<i16>,
    /// The length of the list of columns, if this is a footer.
    columns: u64,
    /// The largest number of children of a column.
    children: u64,
    /// The size of a page, uncompressed and as stored, if this is its header.
    page_bytes: u64,
    packed_bytes: u64,
    /// The sum of the sizes of its levels.
    levels: u64,
    /// The number of values of a dictionary.
    dictionary_values: u64,
}

impl<'a, R: Read> ThriftWalk<'a, R> {
    fn new(input: &'a mut R, most: usize) -> Self {
        ThriftWalk {
            input,
            seen: Vec::with_capacity(128),
            most,
            zero_sized: 0,
            path: Vec::new(),
            columns: 0,
            children: 0,
            page_bytes: 0,
            packed_bytes: 0,
            levels: 0,
            dictionary_values: 0,
        }
    }

    fn structure(&mut self, fields: Fields, depth: u32) -> Result<()> {
        let mut field = 0i16;
        loop {
            let head = self.byte()?;
            if head & 15 == 0 {
                return Ok(());
            }
            // A field number is either a difference to the previous one or stored separately. The
            // library reads its lowest 16 bits.
            field = match head >> 4 {
                0 => signed(self.number()?) as i16,
                step => field
                    .checked_add(i16::from(step))
                    .ok_or_else(|| bad("it has too many fields"))?,
            };
            let known = fields.iter().find(|(number, _)| *number == field);
            let shape = known.map_or(Shape::Any, |(_, shape)| *shape);
            self.path.push(field);
            self.value(head & 15, shape, depth)?;
            self.path.pop();
        }
    }

    fn value(&mut self, kind: u8, shape: Shape, depth: u32) -> Result<()> {
        let deeper = depth
            .checked_sub(1)
            .ok_or_else(|| bad("it is nested too deeply"))?;
        if !shape.has_kind(kind) {
            return Err(bad("a field has the type of another"));
        }
        match kind {
            1 | 2 => self.zero_sized += 1,
            3 => drop(self.byte()?),
            4..=6 => {
                let number = signed(self.number()?);
                self.note(number);
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
                let element = match shape {
                    Shape::List(element) => *element,
                    _ => Shape::Any,
                };
                self.values(&[head & 15], element, count, deeper)?;
            }
            11 => {
                let count = self.number()?;
                if count > 0 {
                    let kinds = self.byte()?;
                    self.values(&[kinds >> 4, kinds & 15], Shape::Any, count, deeper)?;
                }
            }
            12 => {
                let fields = match shape {
                    Shape::Struct(fields) => fields,
                    _ => &[],
                };
                self.structure(fields, deeper)?;
            }
            13 => self.bytes(16)?,
            _ => return Err(bad("it contains a value of unknown type")),
        }
        if self.zero_sized > MAX_ZERO_SIZED {
            return Err(bad("it claims too many values"));
        }
        Ok(())
    }

    /// Keeps a number that the library uses to reserve memory. It reads the lowest 32 bits.
    fn note(&mut self, number: i64) {
        let number = u64::try_from(number as i32).unwrap_or(0);
        if self.path == CHILDREN {
            self.children = self.children.max(number);
        } else if self.path == PAGE_BYTES {
            self.page_bytes = number;
        } else if self.path == PACKED_BYTES {
            self.packed_bytes = number;
        } else if LEVELS.iter().any(|path| self.path == path) {
            self.levels = self.levels.saturating_add(number);
        } else if self.path == DICTIONARY_VALUES {
            self.dictionary_values = number;
        }
    }

    fn values(&mut self, kinds: &[u8], shape: Shape, count: u64, depth: u32) -> Result<()> {
        for _ in 0..count {
            for &kind in kinds {
                self.value(kind, shape, depth)?;
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
            return Err(bad("it is truncated"));
        }
        Ok(())
    }
}

/// Decodes a zigzag number: 0, −1, 1, −2, …
fn signed(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

pub(super) fn bad(problem: &str) -> Error {
    Error::new(ErrorKind::InvalidData, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Field 1 = 5, field 9 = "ab", the end, and other bytes.
    #[test]
    fn a_struct_is_read_to_its_end_and_no_further() {
        let mut input: &[u8] = &[0x15, 0x0a, 0x88, 2, b'a', b'b', 0, 99, 98];
        assert_eq!(walk(&mut input, 100).unwrap().bytes.len(), 7);
        assert_eq!(input, [99, 98]);
    }

    #[test]
    fn claims_of_many_values_are_rejected_at_once() {
        let endless = [0xff, 0xff, 0xff, 0xff, 0x07];
        // A list, a set and a map of booleans; a list of such lists.
        for head in [&[0x19, 0xf1][..], &[0x1a, 0xf2], &[0x1b], &[0x19, 0xf9]] {
            let mut input = head.to_vec();
            input.extend(endless);
            input.extend([0x11; 40]);
            assert!(walk(&mut &input[..], 1 << 20).is_err(), "{head:?}");
        }
    }

    /// A footer of two columns, of which the first has a number of children.
    #[test]
    fn a_column_cannot_have_more_children_than_there_are_columns() {
        let footer = |below: u8| [0x15, 2, 0x19, 0x2c, 0x55, below, 0, 0x55, 0, 0, 0];
        assert!(walk_footer(&footer(2)).is_ok());
        assert!(walk_footer(&footer(4)).is_ok());
        assert!(walk_footer(&footer(6)).is_err());
        // With a separate field number.
        assert!(walk_footer(&[0x05, 2, 2, 0x09, 4, 0x1c, 0x05, 10, 0x7e, 0, 0]).is_err());
    }

    /// Field 3 of a footer is the number of rows, field 2 the list of columns.
    #[test]
    fn a_known_field_has_its_type() {
        assert!(walk_footer(&[0x36, 2, 0]).is_ok());
        assert!(walk_footer(&[0x38, 1, b'a', 0]).is_err());
        // A list of numbers instead of structs; an empty list may have any type.
        assert!(walk_footer(&[0x29, 0x15, 2, 0]).is_err());
        assert!(walk_footer(&[0x29, 0, 0]).is_ok());
        // An unknown field, and a number whose lowest 16 bits are 3.
        assert!(walk_footer(&[0x08, 0x80, 0x02, 1, b'a', 0]).is_ok());
        assert!(walk_footer(&[0x08, 0x86, 0x80, 0x08, 1, b'a', 0]).is_err());
    }

    /// This file passed a check without types, and then cost the library a second.
    #[test]
    fn a_footer_that_the_library_would_read_otherwise_is_rejected() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/table");
        let file = std::fs::read(format!("{folder}/desynchronised-footer")).unwrap();
        let end = file.len() - 8;
        let length = u32::from_le_bytes(file[end..end + 4].try_into().unwrap());
        assert!(walk_footer(&file[end - length as usize..end]).is_err());
    }

    #[test]
    fn truncated_deep_and_long_structs_are_rejected() {
        assert!(walk(&mut &[0x15][..], 100).is_err());
        assert!(walk(&mut &[0x1c; 10_000][..], 100_000).is_err());
        assert!(walk(&mut &[0x18, 0xff, 0xff, 0xff, 0x7f][..], 100).is_err());
        assert!(walk(&mut &[0x15, 0x0a, 0x15, 0x0a, 0][..], 4).is_err());
    }
}
