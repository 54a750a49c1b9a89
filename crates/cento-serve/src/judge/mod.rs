//! Judging: a random sample of a list becomes a session, and people say what they see.

mod confirm;
mod export;
mod log;
mod pages;
mod sample;
mod statistics;

pub(crate) use export::{export_csv, export_lines};
pub(crate) use log::{Judgement, VerdictLog};
pub(crate) use pages::{index, show, start, undo, verdict, write_labels};
pub(crate) use sample::start_sample;
pub(crate) use statistics::json as statistics_json;
