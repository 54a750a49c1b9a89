//! Bytes of a text as bits of machine words.

/// Computes one bit for each of 64 bytes; the first byte is the lowest bit.
///
/// Compilers vectorise the first loop as long as it does nothing else.
#[inline]
pub(crate) fn gather(block: &[u8; 64], is: impl Fn(u8) -> bool) -> u64 {
    let mut flags = [0u8; 64];
    for (flag, &byte) in flags.iter_mut().zip(block) {
        *flag = if is(byte) { 0xff } else { 0 };
    }
    let (rows, _) = flags.as_chunks::<8>();
    let mut square = 0;
    for (number, row) in rows.iter().enumerate() {
        square |= u64::from_le_bytes(*row) & eight(1 << number);
    }
    transpose(square)
}

/// Up to 64 bytes as a block, padded with zeros.
#[inline]
pub(crate) fn padded(bytes: &[u8]) -> [u8; 64] {
    match bytes.first_chunk() {
        Some(block) => *block,
        None => {
            let mut block = [0; 64];
            block[..bytes.len()].copy_from_slice(bytes);
            block
        }
    }
}

/// A number made of eight copies of `byte`.
pub(crate) const fn eight(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Transposes an 8 × 8 bit matrix: bit `i` of byte `j` becomes bit `j` of byte `i`.
#[inline]
fn transpose(mut square: u64) -> u64 {
    for (distance, mask) in [
        (7, 0x00aa_00aa_00aa_00aa),
        (14, 0x0000_cccc_0000_cccc),
        (28, 0x0000_0000_f0f0_f0f0),
    ] {
        let differing = (square ^ square >> distance) & mask;
        square ^= differing ^ differing << distance;
    }
    square
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_matrix_is_transposed() {
        for row in 0..8 {
            for column in 0..8 {
                let (one, mirrored) = (1 << (8 * row + column), 1 << (8 * column + row));
                assert_eq!(transpose(one), mirrored);
                assert_eq!(transpose(!one), !mirrored);
            }
        }
    }
}
