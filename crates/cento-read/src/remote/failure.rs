//! Errors that end a transfer.

use std::fmt;
use std::io;

use cento_file::Fault;

/// The kind of an error with a remote input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoteErrorKind {
    /// The URL is invalid.
    BadAddress,
    /// The object does not exist.
    Missing,
    /// The server denies access.
    Forbidden,
    /// The object has changed since it was first read.
    Changed,
    /// The server does not support ranges, which this format needs.
    NoRanges,
    /// An output names a server that objects cannot be written to.
    ReadOnly,
    /// The server rejects the request for another reason.
    Refused,
    /// The server cannot be reached or fails repeatedly.
    Unreachable,
}

/// The detail of [`RemoteErrorKind::Missing`] if the bucket does not exist.
pub(super) const NO_BUCKET: &str = "no such bucket";

/// An error that ended a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TransferFailure {
    pub(crate) name: String,
    pub(crate) kind: RemoteErrorKind,
    pub(crate) detail: String,
    /// The number of attempts.
    pub(crate) tries: u32,
}

impl fmt::Display for TransferFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.name, self.detail)?;
        match self.tries {
            0 | 1 => Ok(()),
            tries => write!(formatter, " (tried {tries} times)"),
        }
    }
}

impl std::error::Error for TransferFailure {}

/// Readers of all formats handle I/O errors, so a failure is passed through them as one.
impl From<TransferFailure> for io::Error {
    fn from(failure: TransferFailure) -> Self {
        io::Error::other(failure)
    }
}

/// The transfer failure within an I/O error, if it contains one.
pub(crate) fn transfer_failure(error: &io::Error) -> Option<&TransferFailure> {
    error.get_ref()?.downcast_ref()
}

impl RemoteErrorKind {
    /// Who has to act on it.
    pub(crate) fn fault(self) -> Fault {
        match self {
            RemoteErrorKind::BadAddress | RemoteErrorKind::Missing | RemoteErrorKind::ReadOnly => {
                Fault::Usage
            }
            RemoteErrorKind::Changed | RemoteErrorKind::NoRanges => Fault::Unsuitable,
            RemoteErrorKind::Forbidden
            | RemoteErrorKind::Refused
            | RemoteErrorKind::Unreachable => Fault::Environment,
        }
    }

    /// What the user can do.
    pub(crate) fn hint(self, name: &str, detail: &str) -> String {
        let s3 = name.starts_with("s3://");
        match self {
            RemoteErrorKind::BadAddress => {
                "write s3://BUCKET/KEY, s3://BUCKET/PREFIX/, http://HOST/PATH or https://HOST/PATH".into()
            }
            RemoteErrorKind::Missing if s3 && detail == NO_BUCKET => {
                "check the name of the bucket".into()
            }
            RemoteErrorKind::Missing if s3 => {
                "check the spelling; a prefix must end with /".into()
            }
            RemoteErrorKind::Missing => "check the spelling; relative lines of a local list need --list-base".into(),
            RemoteErrorKind::Forbidden if name.starts_with("s3://commoncrawl/") => {
                "without AWS credentials, only single files of this bucket can be read; \
                 use @https://data.commoncrawl.org/crawl-data/CC-MAIN-…/warc.paths.gz"
                    .into()
            }
            RemoteErrorKind::Forbidden if s3 => {
                "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (`aws configure export-credentials --format env` \
                 prints those of a profile), or use --anonymous for a public bucket"
                    .into()
            }
            RemoteErrorKind::Forbidden => "check your permissions; write http://USER:PASSWORD@HOST/… for a password".into(),
            RemoteErrorKind::Changed => "index it again under another name when it no longer changes".into(),
            RemoteErrorKind::ReadOnly => "name a file, or an object of a bucket: s3://BUCKET/KEY".into(),
            RemoteErrorKind::NoRanges => "download it and read the file".into(),
            RemoteErrorKind::Refused if s3 && detail.contains("AWS_REGION") => {
                "set AWS_REGION to the region of the bucket".into()
            }
            RemoteErrorKind::Refused => "check the URL".into(),
            RemoteErrorKind::Unreachable => {
                "check the network; the same command resumes after the inputs that were finished; \
                 see also --retries, --stall-timeout and --max-rate"
                    .into()
            }
        }
    }
}
