//! Inputs on other machines: `s3://bucket/key`, `http://…` and `https://…`.
//!
//! ```text
//!  Client ── one for all inputs: a small runtime, an HTTP client, the buckets, the throttle
//!    │
//!  Object ── one input: where it is, how long, and by what one tells that it has not changed
//!    ├── Body    ── read on from any place, some megabytes ahead of whoever reads     (WARC, JSON Lines, pages)
//!    └── Ranged  ── read anywhere, by ranges large enough to be worth a request       (Parquet, zip)
//!          │
//!        Transfer ── a range of bytes, whatever the network does meanwhile
//! ```
//! The rest of the crate is synchronous and stays so: what is asynchronous ends at `Body` and
//! `Ranged`.
//!
//! Everything is fetched by `GET`, and what lies on S3 by a URL that is signed for one request. So
//! there is one place that judges answers, tries again and goes on in the middle, and not one for
//! each kind of server.
//!
//! `bytes(Transfer) = bytes(object)`, whatever faults come between, as long as each of them is
//! mended within the tries that are allowed; otherwise the outcome is an error. It is never a
//! mixture of two versions of an object: each answer is held against what was known before, and the
//! server is asked to do the same (`If-Match`).
//!
//! Memory: a `Body` holds at most `read_ahead` bytes that nobody has asked for yet, and a `Ranged`
//! at most as many that were asked for lately. There are as many of them as there are readers.

mod address;
mod answer;
mod body;
mod client;
mod failure;
mod ranged;
mod retry;
mod runtime;
mod throttle;
mod transfer;

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use address::{Address, below, is_remote};
pub(crate) use body::Body;
pub(crate) use client::{Client, Listed, Wanted};
pub use failure::RemoteTrouble;
pub(crate) use failure::{Failure, lasting};
pub(crate) use ranged::Ranged;
use transfer::Transfer;

/// How to deal with other machines and what lies between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteSettings {
    /// How many times in a row a request may fail before the input is given up. Any real progress
    /// starts the count anew.
    pub retries: u32,
    /// The pause before the first retry; each one after it is twice as long. Chance takes off up to
    /// half.
    pub first_delay: Duration,
    /// The longest pause.
    pub longest_delay: Duration,
    /// A server from which nothing comes for so long is asked again.
    pub stall_timeout: Duration,
    /// How many bytes a second all inputs may fetch together.
    pub max_rate: Option<u64>,
    /// How many bytes of one input are fetched before anyone asks for them.
    pub read_ahead: usize,
    /// Sign no request, even if there are credentials in the environment.
    pub anonymous: bool,
    /// What the lines of a list are relative to. Without it, those of a list on a server are
    /// relative to that server or bucket, and those of a file are paths.
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

/// What is known of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) length: Option<u64>,
    /// Its `ETag`, as the server writes it.
    pub(crate) tag: Option<String>,
    /// When it was last changed, as the server writes it.
    pub(crate) modified: Option<String>,
    /// Whether the server gives parts of it. Nothing if it has not been asked for one.
    pub(crate) ranges: Option<bool>,
}

impl Facts {
    /// What differs when the object does.
    pub(crate) fn version(&self) -> Option<&str> {
        self.tag.as_deref().or(self.modified.as_deref())
    }
}

/// An input on another machine.
#[derive(Clone)]
pub(crate) struct Object {
    client: Arc<Client>,
    address: Arc<Address>,
    facts: Facts,
}

impl Object {
    pub(crate) fn new(client: Arc<Client>, address: Address, facts: Facts) -> Self {
        Object {
            client,
            address: Arc::new(address),
            facts,
        }
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The bytes from `begin` on, up to `end` or to the last.
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
