//! Text extraction and segmentation: the text of a page, its words, chunks, links, date and
//! language.
//!
//! # Brief overview
//!
//! The input is HTML or plain text, already decoded to UTF-8. The output is text that can be
//! compared:
//!
//! ```text
//!  HTML  ──► html::Extractor ──► content::select ──┐
//!            title, date, language, links          ├──► text ──► chunks   hashed and counted
//!  plain ──► plain::plain_text ────────────────────┘        └──► words    fingerprinted
//! ```
//!
//! - [`html::Extractor`] converts HTML to text in one pass; [`content::select`] finds the main
//!   content; [`plain::plain_text`] cleans up input that is already text.
//! - [`chunk::chunks`] splits a text into paragraphs, lines, sentences or groups of words, and
//!   [`normal::normalise`] returns the form in which a chunk is compared.
//! - [`words::for_each_word`] finds the words of a text in any script, each with its byte range and
//!   its normal form.
//! - [`url::PageUrl`] is the canonical address of a page, with its site and neighbourhoods;
//!   [`url::LinkResolver`] resolves the links of a page.
//! - [`date::parse`] reads dates in the formats found on the web; [`language::detect`] identifies
//!   the language of a text.
//!
//! Three guarantees hold throughout. Positions are byte offsets into the text, on character
//! boundaries, in ascending order. Every function accepts any input, runs in linear time and never
//! panics, because the input is untrusted. The crate does no I/O and starts no threads, so a
//! crawler can embed it.
//!
//! # Example
//!
//! From HTML to chunks, words and linked domains:
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

mod bits;
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
