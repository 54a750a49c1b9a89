//! Which pages of a corpus share text with this one? Answers in milliseconds, from an index of
//! fingerprints.
//!
//! # Brief overview
//!
//! * [`update`] builds the index of a corpus, and extends it after pages were added.
//! * A [`QueryIndex`] is an open index, for any number of threads at once.
//! * An [`Answer`] has the best [`PageMatch`]es of a text or a page, and the number of all.
//!
//! Containments and categories are exactly those of [`cento_find::reuse`], which compares all pages
//! of a corpus with each other. Use that for all pairs, and this crate for one page at a time.
//!
//! ```text
//!   NAME.cento/query/index.json ─▶ segments, mapped into memory
//!   query ─ fingerprints ─▶ lists of pages ─ count ─▶ categories ─ best ─▶ texts ─▶ passages
//! ```
//!
//! An index was 8 to 13 % of the text that it covers where pages have hundreds of words; it is more
//! where they are very short. It is verified while it is used: every block has a checksum, so that
//! a corrupted file is an error rather than a wrong answer.
//!
//! # Example
//!
//! Several threads query one index:
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use cento_query::{IndexResources, QueryIndex, QuerySettings, update};
//!
//! # let folder = tempfile::tempdir()?;
//! # let input = folder.path().join("pages.jsonl");
//! # let hamlet = "To be, or not to be, that is the question: whether 'tis nobler in the mind";
//! # let jaques = "All the world's a stage, and all the men and women merely players; they have";
//! # let lines = [("a", hamlet), ("b", jaques)].map(|(host, text)| {
//! #     serde_json::json!({ "url": format!("http://{host}.example/"), "text": text }).to_string()
//! # });
//! # std::fs::write(&input, lines.join("\n"))?;
//! # let corpus = folder.path().join("pages.cento");
//! # let settings = cento_read::Settings::default();
//! # let inputs = cento_read::resolve(&[input.display().to_string()], &settings)?.inputs;
//! # cento_store::Build::new(inputs, &corpus).run()?;
//! update(&corpus, &IndexResources {
//!     threads: 2,
//!     memory: 256 << 20,
//!     temp: None,
//!     again: false,
//!     progress: cento_flow::Progress::new(),
//! })?;
//! let index = QueryIndex::open(&corpus)?;
//! let settings = QuerySettings::default();
//! let texts = ["whether to be, or not to be, that is the question", "nothing of the kind"];
//! let answers = std::thread::scope(|scope| {
//!     let threads = texts.map(|text| scope.spawn(|| index.query(text, &settings)));
//!     threads.map(|thread| thread.join())
//! });
//! let mut urls = Vec::new();
//! for answer in answers {
//!     let answer = answer.map_err(|_| "a thread panicked")??;
//!     urls.push(answer.matches.into_iter().map(|page| page.url).collect::<Vec<_>>());
//! }
//! assert_eq!(urls, [vec!["http://a.example/".to_owned()], vec![]]);
//! # Ok(())
//! # }
//! ```

mod answer;
mod bits;
mod block;
mod build;
mod entry_block;
mod error;
mod ignored;
mod index;
mod match_table;
mod page_counter;
mod root;
mod segment;
mod segment_writer;
mod shared_text;

pub use answer::{Answer, CategoryPages, PageMatch, QuerySettings, SharedPassage};
pub use build::{IndexResources, UpdatedIndex, summary, update};
pub use error::{Error, Result};
pub use index::QueryIndex;
pub use match_table::{MATCHES, MatchRow};
pub use root::QUERY;
pub use segment::{FORMAT_NEWEST, FORMAT_OLDEST};
