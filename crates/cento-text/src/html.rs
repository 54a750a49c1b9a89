//! Converts HTML to text.
//!
//! [`Extractor`] returns a page's visible text, title, date, language and links in one pass. It
//! uses [`token`], a tokenizer that follows the WHATWG standard but searches for the few
//! significant bytes instead of stepping through states. No tree is built: extraction needs only
//! the boundaries of blocks and which elements are hidden.
//!
//! ```
//! use cento_text::html::{Extractor, Options};
//!
//! let mut extractor = Extractor::new();
//! let page = extractor.extract(
//!     "<html lang=de-AT><title>Tag &amp; Nacht</title>
//!      <p>Es  war <b>ein</b>mal<p>ein <a href='/koenig'>K&ouml;nig</a>",
//!     &Options::default(),
//! );
//! assert_eq!(page.text, "Es war einmal\n\nein König");
//! assert_eq!(page.title.as_deref(), Some("Tag & Nacht"));
//! assert_eq!(page.language.as_deref(), Some("de"));
//! assert!(page.links().eq(["/koenig"]));
//! ```

mod entities;
mod extract;
mod json_ld;
mod metadata;
mod microdata;
pub mod outline;
mod part;
mod reference;
pub(crate) mod scan;
mod schema;
mod state;
mod tag;
pub mod token;
mod write;

pub use extract::{Extract, Extractor, LONGEST_LINK, LONGEST_PAGE, MOST_LINKS, Options};
pub use outline::{Container, Outline, TextBlock};
pub use schema::{Declarations, LONGEST_DESCRIPTIONS, SchemaCounts, SchemaKind};
pub use tag::{ContentModel, Tag, TagEdge};
