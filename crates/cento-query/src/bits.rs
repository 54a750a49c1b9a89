//! Numbers of a fixed number of bits, and numbers of a variable number of bytes.
//!
//! Reading never panics: a position beyond the end is `None`, because files may be corrupted or
//! come from a stranger.

/// The largest number of bytes of a variable-length number.
const VARINT_BYTES: usize = 10;

/// Returns the number of bits that a number needs.
pub(crate) fn width(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// Appends numbers of any width to bytes, the lowest bit first.
#[derive(Default)]
pub(crate) struct BitWriter {
    pending: u128,
    bits: u32,
}

impl BitWriter {
    /// Appends the lowest `width` bits of a number.
    pub(crate) fn push(&mut self, number: u64, width: u32, bytes: &mut Vec<u8>) {
        let mask = ((1u128 << width) - 1) as u64;
        self.pending |= u128::from(number & mask) << self.bits;
        self.bits += width;
        while self.bits >= 8 {
            bytes.push(self.pending as u8);
            self.pending >>= 8;
            self.bits -= 8;
        }
    }

    /// Fills the last byte with zeros.
    pub(crate) fn finish(self, bytes: &mut Vec<u8>) {
        if self.bits > 0 {
            bytes.push(self.pending as u8);
        }
    }
}

/// Returns the number of `width` bits that begins at a bit.
#[inline]
pub(crate) fn bits_at(bytes: &[u8], bit: usize, width: u32) -> Option<u64> {
    let begin = bit / 8;
    let shift = (bit % 8) as u32;
    let rest = bytes.get(begin..)?;
    let mask = ((1u128 << width.min(64)) - 1) as u64;
    if let Some(&near) = rest.first_chunk::<16>() {
        return Some((u128::from_le_bytes(near) >> shift) as u64 & mask);
    }
    let needed = (shift + width).div_ceil(8) as usize;
    if needed > rest.len() {
        return None;
    }
    let mut near = [0; 16];
    for (to, from) in near.iter_mut().zip(rest) {
        *to = *from;
    }
    Some((u128::from_le_bytes(near) >> shift) as u64 & mask)
}

/// Appends a number, seven bits per byte.
pub(crate) fn push_varint(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a variable-length number from the front of bytes.
#[inline]
pub(crate) fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for at in 0..VARINT_BYTES {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let part = u64::from(byte & 0x7f);
        if at == VARINT_BYTES - 1 && part > 1 {
            return None;
        }
        number |= part << (7 * at);
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Takes a number of `N` bytes from the front of bytes.
#[inline]
pub(crate) fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (&array, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(array)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_of_any_width_are_read_as_they_were_written(
            numbers in proptest::collection::vec((any::<u64>(), 0u32..=64), 0..40),
        ) {
            let mut bytes = Vec::new();
            let mut writer = BitWriter::default();
            for &(number, width) in &numbers {
                writer.push(number, width, &mut bytes);
            }
            writer.finish(&mut bytes);
            let mut bit = 0;
            for &(number, width) in &numbers {
                let expected = if width == 64 { number } else { number & ((1 << width) - 1) };
                prop_assert_eq!(bits_at(&bytes, bit, width), Some(expected));
                bit += width as usize;
            }
            prop_assert_eq!(bits_at(&bytes, 8 * bytes.len(), 1), None);
        }

        #[test]
        fn numbers_of_any_size_are_read_as_they_were_written(numbers: Vec<u64>, cut: u8) {
            let mut bytes = Vec::new();
            for &number in &numbers {
                push_varint(number, &mut bytes);
            }
            let mut rest = bytes.as_slice();
            for &number in &numbers {
                prop_assert_eq!(take_varint(&mut rest), Some(number));
            }
            prop_assert_eq!(take_varint(&mut rest), None);
            let mut cut = &bytes[..bytes.len().min(usize::from(cut))];
            while take_varint(&mut cut).is_some() {}
        }
    }

    #[test]
    fn a_number_that_does_not_fit_is_refused() {
        let mut long = [0xff; 11].as_slice();
        assert_eq!(take_varint(&mut long), None);
        let mut large = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f].as_slice();
        assert_eq!(take_varint(&mut large), None);
        assert_eq!((width(0), width(1), width(255), width(256)), (0, 1, 8, 9));
    }
}
