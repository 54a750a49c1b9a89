//! A synthetic crawl whose reuse is known, and findings scored against it.
//!
//! # Brief overview
//!
//! - [`Synthesis`] writes archives and `truth.jsonl` from [`Settings`]: the same bytes for the same settings, on any number of
//!   threads, in constant memory.
//! - [`Record`] is one thing that is true of such a crawl; see [`truth`] for all of them.

mod check;
mod edit;
mod error;
mod html;
mod language;
mod layout;
mod pages;
mod prose;
mod random;
mod reading;
pub mod score;
mod settings;
mod site;
mod tell;
#[cfg(test)]
mod tests;
pub mod truth;
mod vocabulary;
mod warc;
mod write;

pub use check::{Check, Checked, truth_of};
pub use error::{Error, Result};
pub use language::{Language, UnknownLanguage};
pub use pages::How;
pub use score::{Line, Score, Scored};
pub use settings::{Kind, Mix, Settings};
pub use truth::Record;
pub use vocabulary::{OFFSET, chance_of_a_gram};
pub use warc::Damage;
pub use write::{Made, Synthesis, TRUTH};
