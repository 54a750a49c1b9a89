//! Remote inputs: `s3://bucket/key`, `http://…` and `https://…`; and outputs in buckets.
//!
//! ```text
//!  Client ── one for all inputs: a small runtime, an HTTP client, the buckets, the throttle
//!    │
//!  Object ── one input: its address, its length and its version
//!    ├── RemoteBody  ── reads forward from any offset, with prefetching (WARC, JSON Lines, pages)
//!    └── RangeReader ── reads at any offset, with large range requests (Parquet, zip)
//!          │
//!        Transfer ── fetches a range of bytes, with retries
//! ```
//! The rest of the crate is synchronous. `RemoteBody` and `RangeReader` hide the asynchronous code.
//!
//! [`RemoteOutput`] uploads a file, in parts that the library sends and retries (`upload.rs`).
//!
//! Everything is fetched with `GET`; requests to S3 use a URL that is signed for one request. So
//! one place interprets responses, retries and resumes, for all kinds of servers.
//!
//! `bytes(Transfer) = bytes(object)`, regardless of network errors, as long as retries succeed
//! within their limit; otherwise the result is an error. It is never a mixture of two versions of
//! an object: each response is compared with what is known about the object, and the server is
//! asked to do the same (`If-Match`).
//!
//! Memory: a `RemoteBody` holds at most `read_ahead` prefetched bytes, and a `RangeReader` at most
//! as many recently used bytes. Each reader has one of them.

#[cfg(not(feature = "remote"))]
mod absent;
mod address;
#[cfg(feature = "remote")]
mod answer;
#[cfg(feature = "remote")]
mod body;
#[cfg(feature = "remote")]
mod client;
mod failure;
mod output;
#[cfg(feature = "remote")]
mod ranged;
#[cfg(feature = "remote")]
mod retry;
#[cfg(feature = "remote")]
mod runtime;
#[cfg(feature = "remote")]
mod throttle;
#[cfg(feature = "remote")]
mod transfer;
#[cfg(feature = "remote")]
mod upload;

#[cfg(feature = "remote")]
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

#[cfg(not(feature = "remote"))]
pub(crate) use absent::{Client, RangeReader, RemoteBody};
pub use address::without_credentials;
pub(crate) use address::{Address, below, is_remote};
#[cfg(feature = "remote")]
pub(crate) use body::RemoteBody;
#[cfg(feature = "remote")]
pub(crate) use client::Client;
pub use failure::RemoteErrorKind;
pub(crate) use failure::{TransferFailure, transfer_failure};
pub use output::RemoteOutput;
#[cfg(feature = "remote")]
pub(crate) use ranged::RangeReader;
#[cfg(feature = "remote")]
use transfer::Transfer;

/// Settings for remote inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteSettings {
    /// The number of consecutive retries before an input fails. Progress resets the count.
    pub retries: u32,
    /// The delay before the first retry. It doubles with each retry and is shortened by a random
    /// share of up to half.
    pub first_delay: Duration,
    /// The longest delay.
    pub longest_delay: Duration,
    /// A request is retried if the server sends nothing for this time.
    pub stall_timeout: Duration,
    /// The maximum number of bytes per second for all inputs together.
    pub max_rate: Option<u64>,
    /// The number of bytes to prefetch for each input.
    pub read_ahead: usize,
    /// Do not sign requests, even if there are credentials in the environment.
    pub anonymous: bool,
    /// The base URL for relative lines of lists. Without it, the lines of a remote list are
    /// relative to its server or bucket, and those of a local list are paths.
    pub list_base: Option<String>,
}

impl Default for RemoteSettings {
    fn default() -> Self {
        RemoteSettings {
            retries: 8,
            first_delay: Duration::from_millis(500),
            longest_delay: Duration::from_secs(30),
            stall_timeout: Duration::from_secs(30),
            max_rate: None,
            read_ahead: 8 << 20,
            anonymous: false,
            list_base: None,
        }
    }
}

/// What is known about an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ObjectFacts {
    pub(crate) length: Option<u64>,
    /// The `ETag`, as sent by the server.
    pub(crate) tag: Option<String>,
    /// The time of the last modification, as sent by the server.
    pub(crate) modified: Option<String>,
    /// Whether the server supports ranges. None if this is not known yet.
    pub(crate) ranges: Option<bool>,
}

impl ObjectFacts {
    /// The version, which changes with the content.
    pub(crate) fn version(&self) -> Option<&str> {
        self.tag.as_deref().or(self.modified.as_deref())
    }
}

/// An object that was listed in a bucket.
pub(crate) struct ListedObject {
    pub(crate) address: Address,
    pub(crate) facts: ObjectFacts,
}

/// A request to inspect an object.
#[cfg_attr(
    not(feature = "remote"),
    expect(dead_code, reason = "no client reads it")
)]
pub(crate) struct Inspection {
    pub(crate) address: Address,
    pub(crate) facts: ObjectFacts,
    /// The number of first bytes to fetch.
    pub(crate) front: u64,
}

/// The result of inspecting an object: what is known about it, and its first bytes.
pub(crate) type Inspected = Result<(ObjectFacts, Vec<u8>), TransferFailure>;

/// A remote input.
#[derive(Clone)]
pub(crate) struct Object {
    client: Arc<Client>,
    address: Arc<Address>,
    facts: ObjectFacts,
}

impl Object {
    pub(crate) fn new(client: Arc<Client>, address: Address, facts: ObjectFacts) -> Self {
        Object {
            client,
            address: Arc::new(address),
            facts,
        }
    }

    pub(crate) fn facts(&self) -> &ObjectFacts {
        &self.facts
    }

    #[cfg(feature = "remote")]
    /// Fetches the bytes from `begin` to `end`, or to the end of the object.
    fn transfer(&self, begin: u64, end: Option<u64>) -> Transfer {
        Transfer::new(
            self.client.clone(),
            self.address.clone(),
            self.facts.clone(),
            begin..end.unwrap_or(u64::MAX),
        )
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Object")
            .field("address", &self.address.name())
            .field("facts", &self.facts)
            .finish_non_exhaustive()
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.address == other.address
    }
}

impl Eq for Object {}

impl PartialOrd for Object {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Object {
    fn cmp(&self, other: &Self) -> Ordering {
        self.address.cmp(&other.address)
    }
}
