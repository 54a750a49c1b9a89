//! What stops a transfer for good.

use std::fmt;
use std::io;

use cento_file::Fault;

/// What is the matter with an input on another machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoteTrouble {
    /// What was typed is no URL.
    BadAddress,
    /// There is no such object.
    Missing,
    /// The server does not let us have it.
    Forbidden,
    /// It is no longer what it was when it was first looked at.
    Changed,
    /// The server gives nothing but the whole, and parts are needed.
    NoRanges,
    /// The server refuses for another reason.
    Refused,
    /// The server cannot be reached, or fails time and again.
    Unreachable,
}

/// What stopped a transfer, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) name: String,
    pub(crate) trouble: RemoteTrouble,
    pub(crate) detail: String,
    /// How often it was tried.
    pub(crate) tries: u32,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.name, self.detail)?;
        match self.tries {
            0 | 1 => Ok(()),
            tries => write!(formatter, " (tried {tries} times)"),
        }
    }
}

impl std::error::Error for Failure {}

/// Readers of every format know what to do with errors of the system: a failure travels as one.
impl From<Failure> for io::Error {
    fn from(failure: Failure) -> Self {
        io::Error::other(failure)
    }
}

/// Whether an error of the system is a failure of the network on its way through a library.
pub(crate) fn lasting(error: &io::Error) -> Option<&Failure> {
    error.get_ref()?.downcast_ref()
}

impl RemoteTrouble {
    /// Who has to act on it.
    pub(crate) fn fault(self) -> Fault {
        match self {
            RemoteTrouble::BadAddress | RemoteTrouble::Missing => Fault::Usage,
            RemoteTrouble::Changed | RemoteTrouble::NoRanges => Fault::Unsuitable,
            RemoteTrouble::Forbidden | RemoteTrouble::Refused | RemoteTrouble::Unreachable => {
                Fault::Environment
            }
        }
    }

    /// What the user can do about it.
    pub(crate) fn hint(self, name: &str, detail: &str) -> String {
        let s3 = name.starts_with("s3://");
        match self {
            RemoteTrouble::BadAddress => {
                "write s3://BUCKET/KEY, s3://BUCKET/PREFIX/, http://HOST/PATH or https://HOST/PATH".into()
            }
            RemoteTrouble::Missing if s3 => {
                "check the spelling; end a prefix with / to read everything below it".into()
            }
            RemoteTrouble::Missing => "check the spelling; relative lines of a list need --list-base".into(),
            RemoteTrouble::Forbidden if name.starts_with("s3://commoncrawl/") => {
                "without AWS credentials only files can be read here, not prefixes: \
                 give @https://data.commoncrawl.org/crawl-data/CC-MAIN-…/warc.paths.gz"
                    .into()
            }
            RemoteTrouble::Forbidden if s3 => {
                "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (`aws configure export-credentials --format env` \
                 prints those of a profile), or give --anonymous for a public bucket"
                    .into()
            }
            RemoteTrouble::Forbidden => "check that you may read it; http://USER:PASSWORD@HOST/… gives a password".into(),
            RemoteTrouble::Changed => "index it again under another name, once it no longer changes".into(),
            RemoteTrouble::NoRanges => "download it and name the file".into(),
            RemoteTrouble::Refused if s3 && detail.contains("AWS_REGION") => {
                "set AWS_REGION to the region of the bucket".into()
            }
            RemoteTrouble::Refused => "check the URL".into(),
            RemoteTrouble::Unreachable => {
                "check the network; what was finished is kept, and the same command goes on from there; \
                 --retries, --stall-timeout and --max-rate make it more patient"
                    .into()
            }
        }
    }
}
