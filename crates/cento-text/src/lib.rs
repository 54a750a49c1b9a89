//! What a page says, in which words and chunks, at which offsets.

pub mod chunk;
pub mod content;
pub mod date;
pub mod html;
pub mod language;
pub mod normal;
pub mod plain;
pub mod url;
pub mod words;
