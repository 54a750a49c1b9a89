//! What a page says, in which words and chunks, at which offsets.
//!
//! # Brief overview
//!
//! A page comes in as HTML or as plain text, already in UTF-8, and goes out as text that can be
//! compared:
//!
//! ```text
//!  HTML  ──► html::Extractor ──► content::select ──┐
//!            title, date, language, links          ├──► text ──► chunks   pieces that are hashed and counted
//!  plain ──► plain::plain_text ────────────────────┘        └──► words    what fingerprints are made of
//! ```
//!
//! - [`html::Extractor`] makes text of HTML, in one pass; [`content::select`] chooses what of it
//!   the page is about; [`plain::plain_text`] tidies what was text from the start.
//! - [`chunk::chunks`] cuts a text into paragraphs, lines, sentences or words, and
//!   [`normal::normalise`] makes a chunk what it is compared as.
//! - [`words::for_each_word`] finds the words of a text in any script, each with its place and its
//!   normal form.
//! - [`url::PageUrl`] is the address of a page in canonical form, with its site and neighbourhoods;
//!   [`url::LinkResolver`] tells where its links lead.
//! - [`date::parse`] and [`language::detect`] read what pages do not say plainly.
//!
//! Three things hold for all of them. Places are byte offsets into the text, on character
//! boundaries, in order. Any input is answered, in linear time, and none makes it panic: what it
//! reads was written by strangers. And the crate is pure: it opens no file and starts no thread, so
//! that a crawler can embed it, and a test can exhaust it.
//!
//! # Example
//!
//! From a page to chunks, words and the sites that it links to:
//!
//! ```
//! use cento_text::chunk::{ChunkKind, chunks};
//! use cento_text::html::{Extractor, Options};
//! use cento_text::normal::{Normalisation, normalise};
//! use cento_text::url::{LinkResolver, PageUrl};
//! use cento_text::words::for_each_word;
//!
//! let html = "<title>Cento</title><h1>Patch­work</h1>
//!     <p>A poem made of   other poets' LINES.
//!     <p>See <a href='https://www.example.co.uk/virgil?line=1#top'>Virgil</a>.";
//! let address = PageUrl::new("HTTP://Example.com:80/poems/../cento.html");
//! assert_eq!(address.canonical(), "http://example.com/cento.html");
//!
//! let mut extractor = Extractor::new();
//! let page = extractor.extract(html, &Options::default());
//! let mut found = Vec::new();
//! let mut chunk = String::new();
//! chunks(&page.text, ChunkKind::Paragraph, |range| {
//!     normalise(&page.text[range], Normalisation::SpaceCase, &mut chunk);
//!     found.push(chunk.clone());
//! });
//! assert_eq!(found, ["patch\u{ad}work", "a poem made of other poets' lines.", "see virgil."]);
//!
//! let mut words = Vec::new();
//! for_each_word(&page.text, |word| {
//!     words.push((page.text[word.range].to_owned(), word.normal.to_owned()));
//! });
//! assert_eq!(words[0], ("Patch\u{ad}work".to_owned(), "patchwork".to_owned()));
//! assert_eq!(words.len(), 10);
//!
//! let mut links = LinkResolver::new(address.canonical(), page.base.as_deref(), false);
//! let mut domains = Vec::new();
//! for reference in page.links() {
//!     domains.extend(links.resolve(reference).map(|link| link.domain.to_owned()));
//! }
//! assert_eq!(domains, ["example.co.uk"]);
//! ```

pub mod chunk;
pub mod content;
pub mod date;
pub mod html;
pub mod language;
pub mod normal;
pub mod plain;
pub mod stored;
pub mod url;
pub mod words;
