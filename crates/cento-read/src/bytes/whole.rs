//! A gzip member at once.
//!
//! An inflater that may stop after any byte pays for it with every byte. Nearly all members of an
//! archive are small, and lie whole in the buffer when their turn comes: those are inflated by
//! libdeflate in a single call, which takes about two thirds of the time (`bench/run read`).
//! libdeflate says where a member ended only through its C interface, so this is the one module
//! with `unsafe` in it. What cannot be inflated here, for whatever reason, is left as it is: the
//! inflater that reads on piece by piece comes to it next, and it alone says what is wrong with it.
#![expect(
    unsafe_code,
    reason = "the end of a member is told by the C interface of libdeflate alone"
)]

use std::ptr::NonNull;

use libdeflate_sys as c;

/// The largest member that is unpacked at once.
pub(crate) const LARGEST: usize = 1 << 20;

/// Inflates members that are small and wholly at hand.
pub(crate) struct WholeMember {
    inflater: NonNull<c::libdeflate_decompressor>,
}

// SAFETY: a decompressor is memory of its own that no other thread and no other decompressor knows.
unsafe impl Send for WholeMember {}

impl WholeMember {
    /// Nothing if there is no memory for one.
    pub(crate) fn new() -> Option<Self> {
        // SAFETY: takes nothing, and answers with a valid pointer or null.
        let inflater = unsafe { c::libdeflate_alloc_decompressor() };
        Some(WholeMember {
            inflater: NonNull::new(inflater)?,
        })
    }

    /// Appends to `output` what the member unpacks to that `packed` begins with, checksum and
    /// length proved, and answers how many bytes of `packed` it is.
    ///
    /// If `packed` begins with no sound and whole member, or with one that unpacks to more than
    /// `output` has spare capacity, there is no answer, and `output` is as it was.
    pub(crate) fn inflate(&mut self, packed: &[u8], output: &mut Vec<u8>) -> Option<usize> {
        let before = output.len();
        let room = output.spare_capacity_mut();
        let (mut taken, mut made) = (0, 0);
        // SAFETY: the decompressor is valid and ours alone; it reads within `packed`, and writes
        // within `room`, which need not be initialised for that; both counts are written to before
        // it returns a success.
        let result = unsafe {
            c::libdeflate_gzip_decompress_ex(
                self.inflater.as_ptr(),
                packed.as_ptr().cast(),
                packed.len(),
                room.as_mut_ptr().cast(),
                room.len(),
                &raw mut taken,
                &raw mut made,
            )
        };
        if result != c::libdeflate_result_LIBDEFLATE_SUCCESS || made > room.len() {
            return None;
        }
        // SAFETY: the first `made` bytes of the spare capacity have just been written.
        unsafe { output.set_len(before + made) };
        Some(taken.min(packed.len()))
    }
}

impl Drop for WholeMember {
    fn drop(&mut self) {
        // SAFETY: allocated by the same library, and not used after.
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
        fn a_member_is_unpacked_to_its_last_byte_and_no_further(
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
        fn what_is_cut_or_damaged_leaves_no_trace(
            content in proptest::collection::vec(0u8..4, 1..2000),
            at in any::<prop::sample::Index>(),
            bit in 0u32..8,
            cut in any::<bool>(),
        ) {
            let mut packed = member(&content);
            // Name, time and system in a header are nobody's business, and nothing checks them.
            let at = 10 + at.index(packed.len() - 10);
            if cut {
                packed.truncate(at);
            } else {
                packed[at] ^= 1 << bit;
            }
            let mut output = Vec::with_capacity(2 * content.len());
            let mut whole = WholeMember::new().unwrap();
            // Damage in unused bits of the last byte of the deflate stream changes nothing.
            if whole.inflate(&packed, &mut output).is_some() {
                prop_assert_eq!(output, content);
            } else {
                prop_assert!(output.is_empty());
            }
        }
    }

    #[test]
    fn a_member_larger_than_the_room_for_it_is_left_alone() {
        let packed = member(&[7; 5000]);
        let mut output = Vec::with_capacity(100);
        let room = output.capacity();
        assert!(room < 5000);
        assert_eq!(
            WholeMember::new().unwrap().inflate(&packed, &mut output),
            None
        );
        assert!(output.is_empty());
    }
}
