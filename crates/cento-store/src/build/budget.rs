//! How many batches and helper threads fit in the memory of a build.

/// The memory that a batch of small pages needs at most: the bodies of its records, their text,
/// their rows, and the encoded rows.
const BATCH_MEMORY: u64 = 64 << 20;
/// How many times its own size the largest page needs in addition: as read, decoded, as text,
/// selected, and in a column that may have grown to twice its content.
const PAGE_COPIES: u64 = 6;
/// How many threads can process what one thread inflates: about 125 and 900 MB/s, each on one core.
const THREADS_PER_INFLATER: usize = 7;
/// The memory of one more thread that inflates ahead: two blocks of members at their largest.
const HELPER_MEMORY: u64 = 64 << 20;

/// Returns how many batches may exist at once.
pub(super) fn batches(threads: usize, memory: u64, largest_page: u64) -> usize {
    let batch = BATCH_MEMORY.saturating_add(largest_page.saturating_mul(PAGE_COPIES));
    let affordable = usize::try_from(memory / batch).unwrap_or(usize::MAX);
    affordable.clamp(1, threads.max(1) * 2)
}

/// Returns how many threads should inflate ahead of each reader so that no thread waits for it: 0
/// where enough files can be read in parallel, some where many threads work on one file.
pub(super) fn helpers(threads: usize, tasks: usize, memory: u64) -> usize {
    let readers = tasks.clamp(1, threads.max(1));
    let needed = threads
        .div_ceil(readers * THREADS_PER_INFLATER)
        .saturating_sub(1);
    let affordable = memory / 8 / (HELPER_MEMORY * readers as u64);
    needed.min(usize::try_from(affordable).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helpers_are_started_where_many_threads_share_few_files() {
        let plenty = 64 << 30;
        assert_eq!(helpers(2, 1, plenty), 0);
        assert_eq!(helpers(7, 1, plenty), 0);
        assert_eq!(helpers(16, 1, plenty), 2);
        assert_eq!(helpers(64, 1, plenty), 9);
        assert_eq!(helpers(64, 4, plenty), 2);
        assert_eq!(helpers(64, 1000, plenty), 0);
        assert_eq!(helpers(64, 1, 512 << 20), 1);
        assert_eq!(helpers(64, 0, plenty), 9);
    }

    #[test]
    fn batches_are_limited_by_memory_and_by_threads() {
        assert_eq!(batches(4, 64 << 30, 0), 8);
        assert_eq!(batches(4, 128 << 20, 0), 2);
        assert_eq!(batches(4, 0, u64::MAX), 1);
        assert_eq!(batches(0, 64 << 30, 0), 2);
    }
}
