//! Who has to act on an error: the user, the owner of the data, the administrator, or us.

use std::io;

/// Who has to act on an error. The error type of every crate has a method that returns it, so that
/// commands choose exit statuses and hints by one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// The command was used wrongly: an option, a path, a combination of them.
    Usage,
    /// The corpus or the input is sound, but not suited to what was requested.
    Unsuitable,
    /// A file does not contain what its writer stored in it.
    Corrupted,
    /// A disk, a quota or a limit on file sizes is exhausted.
    OutOfSpace,
    /// Anything else outside the program: permissions, the network, another process.
    Environment,
    /// The user stopped the run.
    Interrupted,
    /// A bug in this program.
    Bug,
}

impl Fault {
    /// Classifies an error of the operating system.
    pub fn of_io(error: &io::Error) -> Fault {
        match error.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => Fault::OutOfSpace,
            _ => Fault::Environment,
        }
    }
}

/// Returns a hint for errors whose fault is [`Fault::Bug`]: where to report them.
pub fn bug_hint() -> String {
    let address = match env!("CARGO_PKG_REPOSITORY") {
        "" => String::new(),
        repository => format!(" at {repository}/issues"),
    };
    format!(
        "this is a bug in cento; please report it{address}, with this message and the output of `cento --version`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_not_the_fault_of_permissions() {
        let fault = |kind: io::ErrorKind| Fault::of_io(&kind.into());
        assert_eq!(fault(io::ErrorKind::StorageFull), Fault::OutOfSpace);
        assert_eq!(fault(io::ErrorKind::QuotaExceeded), Fault::OutOfSpace);
        assert_eq!(fault(io::ErrorKind::PermissionDenied), Fault::Environment);
    }
}
