//! Memory in huge pages.

/// The size of a huge page on most processors.
const HUGE_PAGE: usize = 2 << 20;

/// Creates an empty vector with a capacity, in huge pages if the system has them.
///
/// A table that is read at random places and is larger than a few megabytes misses the processor's
/// cache of addresses at nearly every access with pages of 4 KiB. Memory gets its pages when it is
/// first written to, so the system must be asked before: the vector is empty.
pub fn vec_in_huge_pages<T>(capacity: usize) -> Vec<T> {
    let mut vec = Vec::with_capacity(capacity);
    advise(vec.spare_capacity_mut());
    vec
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "only the system can change the size of pages")]
fn advise<T>(memory: &mut [std::mem::MaybeUninit<T>]) {
    let length = size_of_val(memory);
    let start = memory.as_mut_ptr().cast::<u8>();
    // Only whole huge pages inside the memory.
    let skipped = start.align_offset(HUGE_PAGE);
    let usable = length.saturating_sub(skipped) / HUGE_PAGE * HUGE_PAGE;
    if usable == 0 {
        return;
    }
    // Safety: the range is inside `memory`, which nobody else refers to, and this advice does not
    // change the content of memory or what may be done with it. Its failure changes nothing.
    let _ = unsafe {
        rustix::mm::madvise(
            start.wrapping_add(skipped).cast(),
            usable,
            rustix::mm::Advice::LinuxHugepage,
        )
    };
}

#[cfg(not(target_os = "linux"))]
fn advise<T>(_: &mut [std::mem::MaybeUninit<T>]) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_of_any_capacity_can_be_filled() {
        for capacity in [0, 1, 1 << 10, HUGE_PAGE / 8, HUGE_PAGE, HUGE_PAGE + 1] {
            let mut vec = vec_in_huge_pages::<u64>(capacity);
            assert!(vec.is_empty() && vec.capacity() >= capacity);
            vec.extend(0..capacity as u64);
            assert!(vec.iter().copied().eq(0..capacity as u64));
        }
    }
}
