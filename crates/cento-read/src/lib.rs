//! What pages are in a file, a folder, an archive or a table.
//!
//! # Brief overview
//!
//! Reading goes in three steps, each with its own type:
//!
//! ```text
//!  what was typed          inputs              records                     pages
//!  ┌──────────────┐       ┌───────┐           ┌────────┐                  ┌──────┐
//!  │ crawl/*.gz - │   →   │ Input │  open →   │ Reader │  Item::Record →  │ Page │
//!  │ @list site/  │       │ Input │           │        │                  │      │
//!  └──────────────┘       └───────┘           └────────┘                  └──────┘
//!    resolve()              sorted              one thread,                 decode()
//!                                               in order                    any thread
//! ```
//!
//! * [`resolve`] finds the [`Input`]s that the user's words name: files, folders, patterns, lists,
//!   standard input, and objects on S3 and on servers of the web.
//! * [`Input::open`] gives a [`Reader`], which yields one [`Item`] after the other: a [`Record`]
//!   that may hold a page, word of one that is damaged ([`Skipped`]), or of one that is sound and
//!   holds no page ([`Ignored`]). This must go in order and is kept cheap: little more than
//!   unpacking.
//! * [`decode`] makes a [`Page`] of a record: it undoes HTTP, transfer and content codings, tells
//!   what the content is, and turns it into UTF-8. This is a pure function, so that every core can
//!   do it.
//!
//! Nothing in an input is fatal to the rest of it. A damaged record is skipped with its [`Cause`];
//! a page that is of no use stays a page, with its digest, and carries the reason ([`Reject`]). An
//! [`Error`] is what keeps an input from being read at all, and comes with a hint about what to do.
//!
//! Every record has a [`Place`]: its ordinal, its bytes in the input as stored, and where to
//! [`Start`] in order to go on after it. Opening an input there gives exactly the records that
//! would have come next: `read(open(next(record))) = rest(record)`.
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
pub use decode::decode;
pub use error::Error;
pub use fields::{FieldAssignment, FieldMap, Role};
pub use format::Format;
pub use input::{IgnoredCause, IgnoredFiles, Input, Resolved, resolve};
pub use page::{Content, Decoded, Page, Reject, Rejected};
pub use reader::Reader;
pub use record::{Ignored, IgnoredKind, Item, Place, Record, Skipped, Start};
pub use remote::{RemoteSettings, RemoteTrouble};
pub use rewrite::{Fate, RevisitOf, Rewritten, rewrite};
pub use settings::{Limits, Settings};

use format::Packing;
