//! The site of a corpus: its findings as lists and views, judging, and an interface for programs.
//!
//! # Brief overview
//!
//! * [`ServeSettings`] say which corpus is served, on which address, and with which token.
//! * [`SiteServer::bind`] loads the findings into memory and listens; [`SiteServer::run`] answers
//!   requests until a [`Stopper`] stops it.
//!
//! ```text
//!   request ─ server: time limits ─▶ guard: host, origin, token ─▶ routes ─┬─▶ lists  in memory
//!                                                                          ├─▶ views  read, align
//!                                                                          ├─▶ judge  append, sync
//!                                                                          ├─▶ ask    an index
//!                                                                          └─▶ detect labels
//!   response ◀─ headers: nothing but our own style and modules ◀── cento-report renders ◀──┘
//! ```
//!
//! # Guarantees
//!
//! * **Nothing from a page is ever markup.** All text passes [`cento_report::escape`], and the
//!   content security policy forbids everything but the files of this crate.
//! * **The site belongs to its user.** It listens on the loopback interface unless there is a
//!   token, and answers neither other names nor other sites.
//! * **A request has a bounded cost.** Lists are sorted when they are loaded; views read a bounded
//!   amount of text, a bounded number at a time; slow clients are disconnected.
//! * **A confirmed verdict is on the disk.**
//!
//! # Example
//!
//! ```
//! use std::io::{Read, Write};
//! use std::net::TcpStream;
//!
//! use cento_serve::{ServeSettings, SiteServer, Stopper};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let input = folder.path().join("pages.jsonl");
//! # std::fs::write(&input, r#"{"url": "http://a.example/", "text": "To be, or not to be"}"#)?;
//! # let corpus = folder.path().join("pages.cento");
//! # let settings = cento_read::Settings::default();
//! # let inputs = cento_read::resolve(&[input.display().to_string()], &settings)?.inputs;
//! # cento_store::Build::new(inputs, &corpus).run()?;
//! let server = SiteServer::bind(&ServeSettings::new(&corpus))?;
//! let address = server.address();
//! let stopper = Stopper::new();
//! let running = {
//!     let stopper = stopper.clone();
//!     std::thread::spawn(move || server.run(&stopper))
//! };
//!
//! let mut stream = TcpStream::connect(address)?;
//! let request = format!("GET /health HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
//! stream.write_all(request.as_bytes())?;
//! let mut response = String::new();
//! stream.read_to_string(&mut response)?;
//! assert!(response.starts_with("HTTP/1.1 200 OK"));
//!
//! stopper.stop();
//! running.join().map_err(|_| "the server panicked")??;
//! # Ok(())
//! # }
//! ```

mod api;
mod ask;
mod assets;
mod detect;
mod error;
mod guard;
mod judge;
mod lists;
mod metrics;
mod multipart;
mod openapi;
mod question_index;
mod respond;
mod routes;
mod server;
mod settings;
mod state;
mod streamed;
mod views;

pub use error::{Error, Result};
pub use server::{SiteServer, Stopper};
pub use settings::{ClientLimits, ServeSettings};
