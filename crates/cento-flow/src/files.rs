//! How many files may be open.

use std::sync::LazyLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that stay open between reads at most; more are no faster.
const MOST: u64 = 400;
/// What is left to all else that opens files: tables, inputs, connections, and each thread a file
/// that it opens anew.
const OTHERS: u64 = 64;

/// Asks the system for as many open files as this process may have, and answers how many that is.
/// What a shell allows at first is often 256, or 1,024, where a process that asks may have far
/// more.
pub fn raise_file_limit() -> u64 {
    static LIMIT: LazyLock<u64> = LazyLock::new(|| {
        let limit = getrlimit(Resource::Nofile);
        let raised = Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        };
        // Where that is refused, the limit stays as it was.
        let _ = setrlimit(Resource::Nofile, raised);
        // No number means that there is no limit.
        getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
    });
    *LIMIT
}

/// How many files may stay open between reads. Beyond them a file is opened for each read.
pub(crate) fn kept_open() -> usize {
    within(raise_file_limit())
}

fn within(limit: u64) -> usize {
    let left = limit.saturating_sub(OTHERS).min(limit / 2);
    usize::try_from(left.min(MOST)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_stay_open_leave_room_for_others() {
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
    fn the_limit_is_raised_to_what_the_process_may_have() {
        let limit = raise_file_limit();
        let allowed = getrlimit(Resource::Nofile);
        assert_eq!(Some(limit), allowed.current.or(Some(u64::MAX)));
    }
}
