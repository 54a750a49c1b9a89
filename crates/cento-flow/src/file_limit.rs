//! The limit on open files.

use std::sync::LazyLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The maximum number of task files that are kept open; more are not faster.
const MAX_OPEN: u64 = 400;
/// Open files that are reserved for tables, inputs, connections, and one task file per thread.
const RESERVED: u64 = 64;

/// Raises the soft limit on open files to the hard limit, and returns it. The soft limit is often
/// 256 or 1,024 where the hard limit is far higher.
pub fn raise_file_limit() -> u64 {
    static LIMIT: LazyLock<u64> = LazyLock::new(|| {
        let limit = getrlimit(Resource::Nofile);
        let raised = Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        };
        // If the system refuses, the limit stays as it was.
        let _ = setrlimit(Resource::Nofile, raised);
        // `None` means unlimited.
        getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
    });
    *LIMIT
}

/// The number of task files that may stay open. Any other task file is opened for each read.
pub(crate) fn max_open_files() -> usize {
    within(raise_file_limit())
}

fn within(limit: u64) -> usize {
    let left = limit.saturating_sub(RESERVED).min(limit / 2);
    usize::try_from(left.min(MAX_OPEN)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn task_files_leave_half_of_the_limit_and_64_files_for_others() {
        for (limit, kept) in [
            (0, 0),
            (64, 0),
            (100, 36),
            (256, 128),
            (1024, 400),
            (u64::MAX, 400),
        ] {
            assert_eq!(within(limit), kept, "{limit}");
        }
    }

    #[test]
    fn the_soft_limit_is_raised_to_the_hard_limit() {
        let limit = raise_file_limit();
        let allowed = getrlimit(Resource::Nofile);
        assert_eq!(Some(limit), allowed.current.or(Some(u64::MAX)));
    }
}
