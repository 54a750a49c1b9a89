//! Fuzz targets: every path by which untrusted bytes enter cento, and the guarantees of each.
//!
//! Each function runs one path on the given bytes and asserts its guarantees. A fuzzer looks for
//! bytes that violate them (`cargo fuzz run --features libfuzzer NAME`). Interesting inputs are
//! kept in `corpus/NAME/`, and a test replays them in every `./check`.
//!
//! Files of cento have checksums, which a fuzzer cannot guess and which whoever forges a file
//! computes. So the targets for these files compute them too ([`forge`]).
//!
//! ```
//! cento_fuzz::html(b"<p>An <b>unclosed page &amp; nothing more");
//! ```

mod analyses;
mod corpora;
mod fixture;
pub mod forge;
mod inputs;
mod label_files;
mod query_index;
mod requests;
mod results;
mod rewriting;
mod run_state;

pub use analyses::analyses;
pub use corpora::corpus;
pub use inputs::{address, arc, archive, html, lines, response, table, text, wacz};
pub use label_files::labels;
pub use query_index::query;
pub use requests::request;
pub use results::findings;
pub use rewriting::rewriting;
pub use run_state::state;

/// Runs one path on bytes; panics if a guarantee is violated.
pub type FuzzTarget = fn(&[u8]);

/// All targets by name.
pub const TARGETS: [(&str, FuzzTarget); 17] = [
    ("archive", archive),
    ("arc", arc),
    ("wacz", wacz),
    ("lines", lines),
    ("table", table),
    ("response", response),
    ("html", html),
    ("text", text),
    ("address", address),
    ("analyses", analyses),
    ("corpus", corpus),
    ("findings", findings),
    ("labels", labels),
    ("query", query),
    ("request", request),
    ("rewriting", rewriting),
    ("state", state),
];

/// Returns seeds of the targets for files of cento, by target: the files of a small corpus, its
/// findings, its index, its labels and an interrupted run, as the targets take them.
pub fn seeds() -> Vec<(&'static str, String, Vec<u8>)> {
    let mut seeds = Vec::new();
    for (target, files) in [
        ("corpus", corpora::seeds()),
        ("findings", results::seeds()),
        ("labels", label_files::seeds()),
        ("query", query_index::seeds()),
        ("rewriting", rewriting::seeds()),
        ("state", run_state::seeds()),
    ] {
        seeds.extend(files.into_iter().map(|(name, bytes)| (target, name, bytes)));
    }
    seeds
}
