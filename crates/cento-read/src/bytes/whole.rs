//! Decompresses a gzip member in a single call.
//!
//! An inflater that can stop after any byte is slower on every byte. Nearly all members of an
//! archive are small and completely in the buffer. libdeflate decompresses them in a single call,
//! which takes about two thirds of the time (`bench/compare limits`). Only its C interface returns
//! where a member ends, so this module has `unsafe` code. A member that cannot be decompressed here
//! is left to the incremental inflater, which also reports the error.
#![expect(
    unsafe_code,
    reason = "only the C interface of libdeflate returns the end of a member"
)]

use std::ptr::NonNull;

use libdeflate_sys as c;

/// The largest decompressed size of a member that is decompressed in a single call.
pub(crate) const LARGEST: usize = 1 << 20;

/// Decompresses small members that are completely in memory.
pub(crate) struct WholeMember {
    inflater: NonNull<c::libdeflate_decompressor>,
}

// SAFETY: a decompressor owns its memory and shares nothing with other decompressors or threads.
unsafe impl Send for WholeMember {}

impl WholeMember {
    /// Returns `None` if there is not enough memory.
    pub(crate) fn new() -> Option<Self> {
        // SAFETY: has no arguments, and returns a valid pointer or null.
        let inflater = unsafe { c::libdeflate_alloc_decompressor() };
        Some(WholeMember {
            inflater: NonNull::new(inflater)?,
        })
    }

    /// Decompresses the member at the beginning of `packed` and appends the content to `output`.
    /// Verifies checksum and length. Returns the compressed length of the member.
    ///
    /// If there is no complete and sound member, or its content exceeds the spare capacity of
    /// `output`, returns `None` and leaves `output` unchanged.
    pub(crate) fn inflate(&mut self, packed: &[u8], output: &mut Vec<u8>) -> Option<usize> {
        let before = output.len();
        let space = output.spare_capacity_mut();
        let (mut taken, mut made) = (0, 0);
        // SAFETY: the decompressor is valid and not shared. It reads within `packed` and writes
        // within `space`, which need not be initialised. It writes both counts before it returns
        // success.
        let result = unsafe {
            c::libdeflate_gzip_decompress_ex(
                self.inflater.as_ptr(),
                packed.as_ptr().cast(),
                packed.len(),
                space.as_mut_ptr().cast(),
                space.len(),
                &raw mut taken,
                &raw mut made,
            )
        };
        if result != c::libdeflate_result_LIBDEFLATE_SUCCESS || made > space.len() {
            return None;
        }
        // SAFETY: the first `made` bytes of the spare capacity have just been written.
        unsafe { output.set_len(before + made) };
        Some(taken.min(packed.len()))
    }
}

impl Drop for WholeMember {
    fn drop(&mut self) {
        // SAFETY: allocated by the same library, and not used afterwards.
        unsafe { c::libdeflate_free_decompressor(self.inflater.as_ptr()) }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;

    fn member(content: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    proptest! {
        #[test]
        fn a_member_is_decompressed_up_to_its_last_byte_and_no_further(
            before in proptest::collection::vec(any::<u8>(), 0..20),
            content in proptest::collection::vec(0u8..4, 0..5000),
            after in proptest::collection::vec(any::<u8>(), 0..50),
        ) {
            let mut packed = member(&content);
            let length = packed.len();
            packed.extend_from_slice(&after);
            let mut output = before.clone();
            output.reserve(content.len());
            let mut whole = WholeMember::new().unwrap();
            prop_assert_eq!(whole.inflate(&packed, &mut output), Some(length));
            prop_assert_eq!(output, [before, content].concat());
        }

        #[test]
        fn a_truncated_or_damaged_member_leaves_the_output_unchanged(
            content in proptest::collection::vec(0u8..4, 1..2000),
            at in any::<prop::sample::Index>(),
            bit in 0u32..8,
            cut in any::<bool>(),
        ) {
            let mut packed = member(&content);
            // Name, time and system in the header are not covered by the checksum.
            let at = 10 + at.index(packed.len() - 10);
            if cut {
                packed.truncate(at);
            } else {
                packed[at] ^= 1 << bit;
            }
            let mut output = Vec::with_capacity(2 * content.len());
            let mut whole = WholeMember::new().unwrap();
            // Damage in unused bits of the last byte of the deflate stream has no effect.
            if whole.inflate(&packed, &mut output).is_some() {
                prop_assert_eq!(output, content);
            } else {
                prop_assert!(output.is_empty());
            }
        }
    }

    #[test]
    fn a_member_larger_than_the_spare_capacity_is_not_decompressed() {
        let packed = member(&[7; 5000]);
        let mut output = Vec::with_capacity(100);
        assert!(output.capacity() < 5000);
        assert_eq!(
            WholeMember::new().unwrap().inflate(&packed, &mut output),
            None
        );
        assert!(output.is_empty());
    }
}
