//! Reads pages from files, folders, web archives, tables and remote storage.
//!
//! # Brief overview
//!
//! Reading has three steps, each with its own type:
//!
//! ```text
//!  arguments               inputs              records                     pages
//!  ┌──────────────┐       ┌───────┐           ┌────────┐                  ┌──────┐
//!  │ crawl/*.gz - │   →   │ Input │  open →   │ Reader │  Item::Record →  │ Page │
//!  │ @list site/  │       │ Input │           │        │                  │      │
//!  └──────────────┘       └───────┘           └────────┘                  └──────┘
//!    resolve()              sorted              one thread,                 decode()
//!                                               in order                    any thread
//! ```
//!
//! * [`resolve`] turns arguments into [`Input`]s: files, folders, patterns, lists, standard input,
//!   S3 objects and URLs.
//! * [`Input::open`] returns a [`Reader`], which yields [`Item`]s in order: a [`Record`] that may
//!   contain a page, a damaged record ([`Skipped`]) or a sound record without a page ([`Ignored`]).
//!   This step is sequential, so it does little more than decompress.
//! * [`decode`] converts a record into a [`Page`]: it removes HTTP, transfer and content codings,
//!   detects the media type and converts the content to UTF-8. It is a pure function, so any number
//!   of threads can run it.
//!
//! Damage to one record does not affect the others. A damaged record is skipped with its [`Cause`].
//! A page whose text cannot be used is still a page, with its digest and a reason ([`Reject`]). An
//! [`Error`] means that an input cannot be read at all; it has a hint ([`Error::hint`]) and says
//! who has to act on it ([`Error::fault`]).
//!
//! Every record has a [`Place`]: its ordinal, its position in the stored input, and the [`Start`]
//! at which reading resumes after it. Opening an input there yields exactly the following records:
//! `read(open(next(record))) = rest(record)`.
//!
//! # Example
//!
//! ```
//! use cento_read::{Content, Item, Settings, Start, decode, resolve};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("crawl.warc");
//! std::fs::write(&path, "WARC/1.0\r\n\
//!     WARC-Type: response\r\n\
//!     WARC-Target-URI: http://example.org/\r\n\
//!     Content-Type: application/http\r\n\
//!     Content-Length: 61\r\n\
//!     \r\n\
//!     HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>Hello, world!\n\r\n\r\n")?;
//!
//! let settings = Settings::default();
//! let resolved = resolve(&[path.display().to_string()], &settings)?;
//! let mut reader = resolved.inputs[0].open(&settings, Start::default())?;
//! let mut pages = Vec::new();
//! while let Some(item) = reader.next()? {
//!     match item {
//!         Item::Record(record) => match decode(record, &settings) {
//!             Ok(decoded) => pages.push(decoded.page),
//!             Err(skipped) => eprintln!("{}: {}", skipped.cause, skipped.detail),
//!         },
//!         Item::Skipped(skipped) => eprintln!("{}: {}", skipped.cause, skipped.detail),
//!         Item::Ignored(_) => {}
//!     }
//! }
//! assert_eq!(pages.len(), 1);
//! assert_eq!(pages[0].url, "http://example.org/");
//! assert_eq!(pages[0].content, Content::Html("<p>Hello, world!\n".into()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arc;
#[cfg(test)]
#[path = "../tests/common/archive.rs"]
mod archive;
mod bytes;
mod cause;
mod date;
mod decode;
mod error;
mod fields;
mod format;
mod input;
mod json;
mod page;
mod reader;
mod record;
mod remote;
mod rewrite;
#[cfg(test)]
#[path = "../tests/common/server.rs"]
mod server;
mod settings;
mod single;
mod table;
mod wacz;
mod warc;

pub use cause::Cause;
pub use decode::{decode, decode_file};
pub use error::Error;
pub use fields::{FieldAssignment, FieldMap, Role};
pub use format::Format;
pub use input::{IgnoredCause, IgnoredFiles, Input, Resolved, resolve};
pub use page::{Content, Decoded, Page, Reject, Rejected};
pub use reader::Reader;
pub use record::{Ignored, IgnoredKind, Item, Place, Record, Skipped, Start};
pub use remote::{RemoteErrorKind, RemoteOutput, RemoteSettings, without_credentials};
pub use rewrite::{Fate, RevisitOf, Rewritten, rewrite};
pub use settings::{Limits, Settings};
pub use table::{TableBatches, TableFile};

use format::Packing;
